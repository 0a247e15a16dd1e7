"""`novikoff tag train`: learn a tagger from labelled sentences."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.options import Output
from novikoff.cli.sentences import layout
from novikoff.options import Choice, MaxIter, epochs_for
from novikoff.say import runs as say

if TYPE_CHECKING:
    from novikoff.cli.progress import Bar, DelayedInterrupt
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.run import Run

SHOWN = 10


@click.command()
@click.argument("file", type=options.FILE)
@click.option(
    "--templates", type=click.Path(), metavar="FILE",
    help="The feature templates, one a line, ours or CRF++'s.  [default: by the columns]",
)  # fmt: skip
@layout
@click.option("--label", metavar="COL", help="The column with the labels.  [default: the last]")
@click.option(
    "--model", type=click.Path(), metavar="OUT", help="Where to write the model.  [default: FILE's name with .novikoff]"
)
@options.force
@click.option(
    "--constraint",
    type=click.Choice(["IOB1", "IOB2", "IOBES", "BILOU"]),
    help="Predict only legal label sequences of this scheme.",
)
@options.number("--min-count", options.AT_LEAST_ONE, "N", "How often a feature must occur.", 1)
@options.learning("early_stopping", "validation_fraction", "n_iter_no_change", "held_out")
@options.number("--folds", options.AT_LEAST_TWO, "N", "Judge by N parts: N more taggers, each learned without one.")
@options.number(
    "--cost",
    click.FloatRange(min=0),
    "C",
    "What each wrong label gets on top while learning, so that the right sequence wins by a margin.",
    0.0,
)
@options.learning("lead", "readout", readout=Choice(words=("average", "last")))
@options.learning("max_iter", "shuffle", "random_state", "min_margin", "time_limit", random_state=0)
@options.answering
def train(
    file: str,
    templates: str | None,
    columns: str | None,
    separator: str | None,
    comment: str | None,
    label: str | None,
    model: str | None,
    force: bool,
    random_state: int,
    folds: int | None,
    output: Output,
    **learning: Any,
) -> int:
    """Learn a tagger from the labelled sentences in FILE.

    Templates say which parts of a token and its neighbours are features: word[0], pos[-1], pos[-1]|pos[0],
    suffix2(word[0]); there are lower, shape, prefixN and suffixN. By default, of the first column: the words two before
    to two behind, pairs of neighbours, prefixes, suffixes and shape; of the second the same window with pairs and
    triples; of others the neighbours. Ctrl-C stops after the epoch that is running, and
    keeps the weights that it ends with.
    """
    from novikoff.cli.fit import default_model
    from novikoff.cli.learning import was_interrupted
    from novikoff.cli.outputs import check_model_free
    from novikoff.cli.progress import DelayedInterrupt, progress
    from novikoff.cli.sentences import read_sentences, split_names
    from novikoff.features.template_files import default_templates, read_templates
    from novikoff.keep.models import save
    from novikoff.learn.chain.tagger import judged_by_folds, learn_tagger

    if folds is not None and learning["held_out"] is not None:
        raise ValueError("--held-out and --folds are two ways to judge a model; choose one")

    target = check_model_free(model or default_model(file), force)
    sentences = read_sentences(file, split_names(columns) or ("word", "pos", "chunk"), separator, comment)
    label = label or sentences.columns[-1]
    gold = sentences.column(label)
    features = tuple(name for name in sentences.columns if name != label)
    chosen = default_templates(features) if templates is None else read_templates(templates, sentences.columns)
    with progress(output.quiet) as bar, DelayedInterrupt().installed() as interrupt:
        most = None if learning["early_stopping"] else learning["max_iter"]
        tagger = learn_tagger(
            sentences, gold, templates=chosen, columns=features, random_state=random_state,
            **learning, watch=_watcher(len(gold), most, bar, interrupt),
        )  # fmt: skip
        if folds is not None and not was_interrupted(tagger.run):
            bar.stage(f"learning {folds} times without a part")
            same = {**learning, "templates": tagger.parameters["templates"], "columns": features}
            del same["held_out"]
            judged = judged_by_folds(sentences, gold, folds, random_state=random_state, **same)
            tagger = replace(tagger, run=replace(tagger.run, **judged))
    save(tagger, target, force=force)
    _report(output, file, gold, tagger, str(target))
    return INTERRUPTED if was_interrupted(tagger.run) else DONE


def _watcher(n_sentences: int, max_iter: MaxIter, bar: "Bar", interrupt: "DelayedInterrupt") -> Any:
    epochs = epochs_for(max_iter, n_sentences)
    bar.stage("learning", None if epochs is None else epochs * n_sentences)

    def watch(memory: Any) -> None:
        bar.advance(n_sentences)
        if interrupt.asked:
            interrupt.now()

    return watch


def _report(output: Output, file: str, gold: list[list[str]], tagger: "Tagger", target: str) -> None:
    from novikoff.cli import documents
    from novikoff.cli.render import answer

    run = documents.described_run(tagger.run)
    document = documents.document(
        "tag train",
        data={
            "file": file, "sentences": len(gold), "tokens": sum(map(len, gold)), "labels": tagger.labels,
            "features": tagger.weights.n_features, "templates": len(tagger.parameters["templates"]),
        },
        run={**run, "wrong_tokens": tagger.run.wrong_tokens, "validation_errors": tagger.run.validation_errors},
        weights=documents.described_weights(tagger, SHOWN),
        model=target,
    )  # fmt: skip
    answer(output, document, lambda: panel(document, tagger.run))


def panel(document: dict[str, Any], run: "Run") -> Any:
    """What was read, what was learned, and where the model is."""
    from pathlib import Path

    from novikoff.cli import wording
    from novikoff.cli.render import facts, listed
    from novikoff.engine.words import counted

    data, target = document["data"], Path(document["model"])
    size = f"{counted(data['sentences'], 'sentence')}, {counted(data['tokens'], 'token')}"
    return facts(
        f"novikoff tag train {data['file']}",
        [
            ("read", size),
            ("features", f"{data['features']:,} with weights, by {counted(data['templates'], 'template')}"),
            ("labels", listed(data["labels"], 24)),
            ("expected", f"error {expected_error(run)}"),
            ("learned", wording.weights(document["weights"], run, data["labels"])),
            ("stopped", wording.ending(run)),
            ("mistakes", say.made(run)),
            ("errors", say.wrong(run)),
            ("bound", wording.bound(None, run)),
            ("model", str(target)),
        ],
    )


def expected_error(run: "Run") -> str:
    """The fraction of new sentences with a wrong label, if sentences that were not learned measured it.

    The errors of the first pass are those of weights that had hardly learned yet, so they are no estimate.
    """
    from novikoff.engine.words import counted
    from novikoff.learn.new_rows import in_percent

    if run.fold_rows:
        wrong, rows, where = sum(run.fold_errors), sum(run.fold_rows), "in folds, by taggers learned alike"
    elif run.held_out_rows:
        wrong, rows, where = run.held_out_errors or 0, run.held_out_rows, "held out"
    else:
        trained = 100 * (run.errors or 0) / (run.n_rows or 1)
        return f"not measured (add --held-out 0.2); training error {trained:.1f} % of sentences"
    known = run.generalisation()
    bound = known.folds or known.delivered
    most = "" if bound is None else f"; at most {in_percent(bound.at_most)} (95 % confidence)"
    return f"{100 * wrong / rows:.1f} % of sentences: {wrong:,} of {counted(rows, 'sentence')} {where}{most}"
