"""`novikoff tag`: label sequences, from and to CoNLL files: train, run and score taggers."""

import io
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.commands import DONE, INTERRUPTED, LazyGroup
from novikoff.cli.files import load_model, save_model
from novikoff.cli.options import Result, ReviewOptions, Rows, grouped, is_json
from novikoff.cli.progress import progress
from novikoff.cli.render import columns, json_lines, listed, rows_of_run, sink
from novikoff.options import Choice

if TYPE_CHECKING:
    from novikoff.data.held_out import HeldOut
    from novikoff.data.sentences import Sentences
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.run import Run

SHOWN = 10
SCHEMES = ("IOB1", "IOB2", "IOBES", "BILOU")
COMMANDS = {
    "train": "Learn a tagger from labelled sentences.",
    "run": "Add a column of labels to sentences.",
    "score": "Report accuracy, and precision, recall and F1 of chunks.",
}


@click.group(cls=LazyGroup, lazy=COMMANDS, home=__name__)
def tag() -> None:
    """Label sequences: train, run and score taggers on CoNLL files.

    A CoNLL file has one token a line, its columns side by side, and an empty line after each sentence.
    """


@dataclass(frozen=True)
class ConllOptions:
    """The layout of a CoNLL file, as far as it was given."""

    columns: str | None
    separator: str | None
    comment: str | None

    def read(self, file: str, tagger: "Tagger | None" = None, *, labelled: bool = True) -> "Sentences":
        """Read the sentences of a file; "-" is standard input.

        For a tagger its columns are those of the training file, perhaps without the label, unless others are named.
        """
        from novikoff.data.sentences import read_conll, read_to_label
        from novikoff.data.streams import check_is_file

        source: Any = sys.stdin.buffer
        if file != "-":
            check_is_file(file)
            source = file
        names = tuple(name.strip() for name in self.columns.split(",")) if self.columns else ()
        known = () if tagger is None else tagger.features.columns
        how = {"separator": self.separator, "comment": self.comment}
        if tagger is None or names or labelled:
            sentences = read_conll(source, names or (None if tagger is None else (*known, "label")), **how)
        else:
            sentences = read_to_label(source, known, set(map(str, tagger.labels)), **how)
        if not sentences.n_tokens:
            raise ValueError(f"{file} has no tokens")
        return sentences


layout = grouped(
    "layout",
    ConllOptions,
    options.option("--columns", None, "A,B,...", "The names of the file's columns."),
    options.option(
        "--separator",
        None,
        "C",
        'The column separator: one character, or "tab".  [default: blanks and tabs]',
        callback=lambda context, parameter, value: "\t" if value in ("tab", "\\t") else value,
    ),
    options.option("--comment", None, "C", "Skip lines that start with this."),
)


# -- train ------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("file", type=options.FILE)
@options.option(
    "--templates",
    options.PATH,
    "FILE",
    "The feature templates, one per line, in our syntax or CRF++'s.  [default: by the columns]",
)
@layout
@click.option("--label", metavar="COL", help="The label column.  [default: the last]")
@options.model
@options.force
@options.option("--start", options.PATH, "MODEL", "Continue training this tagger.")
@options.option("--constraint", SCHEMES, None, "Predict only legal label sequences of this scheme.")
@options.option("--min-count", options.AT_LEAST_ONE, "N", "Ignore features that occur less often.", 1)
@options.learning("early_stopping", "validation_fraction", "n_iter_no_change", "held_out")
@options.option("--folds", options.AT_LEAST_TWO, "N", "Estimate the error by N-fold cross-validation.")
@options.review
@options.option(
    "--cost",
    click.FloatRange(min=0),
    "C",
    "The cost added to each wrong label while learning, so that the correct sequence wins by a margin.",
    0.0,
)
@options.learning("lead", "readout", readout=Choice(words=("average", "last")))
@options.learning("max_iter", "shuffle", "random_state", "min_margin", "time_limit", random_state=0)
@options.answering
def train(
    file: str,
    templates: str | None,
    layout: ConllOptions,
    label: str | None,
    target: Path,
    start: str | None,
    folds: int | None,
    review: ReviewOptions,
    **learning: Any,
) -> Result:
    """Learn a tagger from the labelled sentences in FILE.

    Columns that are not named are word and label if there are two, else word, pos and chunk.

    Templates say which parts of a token and its neighbours are features: word[0], pos[-1], pos[-1]|pos[0],
    suffix2(word[0]); there are lower, shape, prefixN and suffixN. By default, of the first column: the words two before
    to two after, pairs of neighbours, prefixes, suffixes and shape; of the second the same window with pairs and
    triples; of others the neighbours. Ctrl-C stops after the epoch that is running, and
    keeps the weights that it ends with.

    With --start, training goes on from the weights of that tagger: new features and labels are added, and one mistake
    bound holds for all sentences of all runs.
    """
    from novikoff.data.held_out import HeldOut
    from novikoff.features.templates import default_templates, read_templates
    from novikoff.learn.chain.tagger import Tagger, judged_by_folds, learn_tagger

    if folds is not None and start is not None:
        raise ValueError("--folds trains from the beginning, so it cannot be combined with --start")
    if folds is not None and learning["held_out"] is not None:
        raise ValueError("--held-out and --folds cannot be combined; choose one")
    review.check(learning["held_out"], file)
    before = None if start is None else load_model(start, Tagger)
    sentences = layout.read(file, before)
    label = label or sentences.columns[-1]
    gold = sentences.column(label)
    share, seed = learning["held_out"], learning["random_state"]
    aside = None if share is None else HeldOut.share(share, seed)
    review.check_size(aside, len(gold), "sequence")
    features = tuple(name for name in sentences.columns if name != label)
    chosen = None if templates is None else read_templates(templates, sentences.columns)
    if chosen is None and before is None:
        chosen = default_templates(features)
    most = None if learning["early_stopping"] else learning["max_iter"]
    with progress() as bar, bar.learning(len(gold), most) as watched:

        def watch(history: Any) -> None:
            watched.progress(history)
            watched.watch(history)

        made: dict[str, Any] = {"templates": chosen, "columns": features, "start": before}
        tagger = learn_tagger(sentences, gold, **made, watch=watch, **learning)
        if folds is not None and not watched.interrupted:
            bar.stage(f"cross-validating ({folds} folds)")
            same = {**learning, "templates": tagger.parameters["templates"], "columns": features}
            del same["held_out"]
            tagger = replace(tagger, run=replace(tagger.run, **judged_by_folds(sentences, gold, folds, **same)))
        if review.review is not None and not watched.interrupted:
            bar.stage("reviewing")
            tagger = _reviewed(tagger, sentences, label, layout, review, aside)
    save_model(tagger, target)
    run = documents.described_run(tagger.run)
    document = documents.document(
        "tag train",
        data={
            "file": file, "sentences": len(gold), "tokens": sum(map(len, gold)), "labels": tagger.labels,
            "features": tagger.weights.n_features, "templates": len(tagger.made_with()["templates"]),
        },
        run={**run, "wrong_tokens": tagger.run.wrong_tokens, "validation_errors": tagger.run.validation_errors},
        weights=documents.described_weights(tagger, SHOWN),
        model=target,
        **documents.described_model(tagger),
    )  # fmt: skip
    code = INTERRUPTED if watched.interrupted else DONE
    return Result(document, file, lambda: rows_of_training(document, tagger.run), code)


def _reviewed(
    tagger: "Tagger",
    sentences: "Sentences",
    label: str,
    layout: ConllOptions,
    asked: ReviewOptions,
    aside: "HeldOut | None",
) -> "Tagger":
    """Return the tagger with what held-out sentences, or another file's, prove of labels that are not reviewed."""
    from novikoff.learn.review import ENOUGH_SEQUENCES, review_tagger

    seen, others = range(len(sentences)), sentences
    if aside is not None:
        kept, held = aside.parted(len(sentences), "sequence")
        seen, others = kept.tolist(), sentences.some(held.tolist())
    elif asked.review_file is not None:
        others = layout.read(asked.review_file, tagger)
    some = sentences.some(list(seen[:: 1 + len(seen) // ENOUGH_SEQUENCES]))
    return replace(tagger, review=review_tagger(tagger, some, others, others.column(label), **asked.asked))


def rows_of_training(document: dict[str, Any], run: "Run") -> Rows:
    """Show what was read, what was learned, and where the model is."""
    from novikoff.say.words import counted

    data = document["data"]
    went_on = run.examples > run.epochs * (run.n_rows or 0)  # sentences held out now may have been learned then
    how = "novikoff tag score on new sentences measures it" if went_on else "add --held-out 0.2"
    return [
        ("read", f"{counted(data['sentences'], 'sentence')}, {counted(data['tokens'], 'token')}"),
        ("features", f"{data['features']:,} with weights, by {counted(data['templates'], 'template')}"),
        ("labels", listed(data["labels"], 24)),
        *rows_of_run(document, run, data["labels"], hint=f" ({how})"),
        ("model", document["model"]),
    ]


# -- run --------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@layout
@options.out("The output file.  [default: standard output]")
@click.option("--review", is_flag=True, help="Add a column: whether the sentence needs review, by train --review.")
@options.answering
def run(model: str, file: str, layout: ConllOptions, target: Path | None, review: bool) -> Result | None:
    """Write the sentences in FILE with one more column: the labels that MODEL gives them.

    FILE has the columns of the training file, with or without the labels. If MODEL needs only words, FILE may be plain
    text, one sentence or one token per line. With --json, standard output has one object per sentence: its number
    and its labels.
    """
    from novikoff.data.sentences import write_conll
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.review import review_of
    from novikoff.say import reviews as say

    tagger = load_model(model, Tagger)
    sentences = layout.read(file, tagger, labelled=False)
    sent: list[bool] = []
    if review:
        proved, found = review_of(tagger), tagger.label_with_scores(sentences)
        labels, sent = [one.labels for one in found], proved.to_review([one.margin for one in found]).tolist()
    else:
        labels = tagger.label(sentences)
    text = {"predicted": [[str(label) for label in names] for names in labels]}
    if review:
        text["review"] = [[str(one).lower()] * len(names) for one, names in zip(sent, labels, strict=True)]
    lines = io.BytesIO()
    if is_json() and target is None:
        known: dict[str, list[Any]] = {"labels": labels, **({"review": sent} if review else {})}
        lines.write(json_lines("sentence", known))
    else:
        write_conll(target or lines, sentences, text, separator=layout.separator)
    if target is None:
        with sink(None) as write:
            write(lines.getvalue())
        return None
    document = documents.document(
        "tag run", model=model, file=file, out=target, sentences=len(labels), tokens=sentences.n_tokens,
        **({"to_review": sum(sent)} if review else {}),
    )  # fmt: skip
    rows = [
        ("labelled", f"{len(labels):,} sentences, {sentences.n_tokens:,} tokens"),
        ("review", say.sent(sum(sent), len(sent), "sentence") if review else None),
        ("written", str(target)),
    ]
    return Result(document, file, lambda: rows)


# -- score ------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@layout
@click.option("--label", metavar="COL", help="The label column.  [default: the last]")
@options.option("--scheme", (*SCHEMES, "none"), None, "How labels mark chunks, if they do.", "IOB2")
@options.answering
def score(model: str, file: str, layout: ConllOptions, label: str | None, scheme: str) -> Result:
    """Count the labels and the chunks that MODEL gets right on the labelled sentences in FILE.

    Chunks are scored as the shared tasks score them: type, first and last token have to be right.
    """
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.measures import score_chunks

    tagger = load_model(model, Tagger)
    sentences = layout.read(file, tagger)
    gold = sentences.column(label or sentences.columns[-1])
    found = [[str(name) for name in names] for names in tagger.label(sentences)]
    right = sum(a == b for truth, guess in zip(gold, found, strict=True) for a, b in zip(truth, guess, strict=True))
    chunks = None
    if scheme != "none":
        scores = score_chunks(gold, found, scheme)
        counts = {**scores.by_type, "all": scores.overall}
        chunks = [
            {"type": name, "precision": c.precision, "recall": c.recall, "f1": c.f1,
             "gold": c.gold, "found": c.found, "correct": c.correct}
            for name, c in counts.items()
        ]  # fmt: skip
    document = documents.document(
        "tag score", model=model, file=file, sentences=len(gold), tokens=sentences.n_tokens, right_tokens=right,
        accuracy=right / sentences.n_tokens, chunks=chunks,
    )  # fmt: skip
    return Result(document, file, lambda: rows_of_score(document))


def rows_of_score(document: dict[str, Any]) -> Rows:
    """Show the accuracy, and precision, recall and F1 of the chunks."""
    table = None
    if document["chunks"] is not None:
        header = ("type", "precision", "recall", "F1", "gold", "found", "correct")
        rows = [
            (c["type"] or "(none)", *(f"{c[k]:.2%}" for k in ("precision", "recall", "f1")),
             *(f"{c[k]:,}" for k in ("gold", "found", "correct")))
            for c in document["chunks"]
        ]  # fmt: skip
        table = columns(header, rows)
    return [
        ("read", f"{document['sentences']:,} sentences, {document['tokens']:,} tokens"),
        ("labels", f"{document['right_tokens']:,} right ({document['accuracy']:.2%})"),
        ("chunks", table),
    ]
