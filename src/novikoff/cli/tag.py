"""`novikoff tag`: label sequences, from and to CoNLL files."""

import click

from novikoff.cli.lazy import Lazy, LazyGroup

COMMANDS = {
    "train": Lazy("novikoff.cli.tag_train:train", "Learn a tagger from labelled sentences."),
    "run": Lazy("novikoff.cli.tag_run:run", "Add a column of labels to sentences."),
    "score": Lazy("novikoff.cli.tag_score:score", "Count right labels and right chunks on labelled sentences."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def tag() -> None:
    """Label sequences: train, run and score taggers on CoNLL files.

    A CoNLL file has one token a line, its columns side by side, and an empty line after each sentence.
    """
