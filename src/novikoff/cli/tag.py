"""`novikoff tag`: label sequences, from and to CoNLL files: train, run and score taggers."""

import io
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.commands import Lazy, LazyGroup
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.files import default_model, load_model, model_target, out_target
from novikoff.cli.options import Output, Result, grouped
from novikoff.cli.progress import progress
from novikoff.options import Choice

if TYPE_CHECKING:
    from novikoff.data.sentences import Sentences
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.run import Run

SHOWN = 10
COMMANDS = {
    "train": Lazy("novikoff.cli.tag:train", "Learn a tagger from labelled sentences."),
    "run": Lazy("novikoff.cli.tag:run", "Add a column of labels to sentences."),
    "score": Lazy("novikoff.cli.tag:score", "Report accuracy, and precision, recall and F1 of chunks."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def tag() -> None:
    """Label sequences: train, run and score taggers on CoNLL files.

    A CoNLL file has one token a line, its columns side by side, and an empty line after each sentence.
    """


@dataclass(frozen=True)
class ConllOptions:
    """How a CoNLL file is laid out, as far as that was said."""

    columns: str | None
    separator: str | None
    comment: str | None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.columns.split(",")) if self.columns else ()

    @property
    def between(self) -> str | None:
        """What stands between columns."""
        return "\t" if self.separator in ("tab", "\\t") else self.separator

    def read(self, file: str, names: tuple[str, ...]) -> "Sentences":
        """The sentences of a file; "-" is standard input."""
        from novikoff.data.conll import read_conll
        from novikoff.data.streams import check_is_file

        if file != "-":
            check_is_file(file)
        source = sys.stdin.buffer if file == "-" else file
        sentences = read_conll(source, names, separator=self.between, comment=self.comment)
        if not sentences.n_tokens:
            raise ValueError(f"{file} has no tokens")
        return sentences

    def read_for(self, tagger: "Tagger", file: str, *, labelled: bool) -> "Sentences":
        """The same with the columns of the training file, perhaps without the label, unless others are named."""
        known, names = tagger.features.columns, self.names
        if not names and file == "-":
            names = (*known, "label") if labelled else known
        elif not names:
            with open(file, encoding="utf-8", errors="replace") as opened:
                first = next((line for line in opened if line.strip()), "")
            names = known if len(first.split()) == len(known) and not labelled else (*known, "label")
        return self.read(file, names)


layout = grouped(
    "layout",
    ConllOptions,
    click.option("--columns", metavar="A,B,...", help="The names of the file's columns."),
    click.option(
        "--separator",
        metavar="C",
        help='The column separator: one character, or "tab".  [default: blanks and tabs]',
    ),
    click.option("--comment", metavar="C", help="Skip lines that start with this."),
)


# -- train ------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("file", type=options.FILE)
@click.option(
    "--templates", type=click.Path(), metavar="FILE",
    help="The feature templates, one per line, in our syntax or CRF++'s.  [default: by the columns]",
)  # fmt: skip
@layout
@click.option("--label", metavar="COL", help="The label column.  [default: the last]")
@options.model
@options.force
@click.option(
    "--constraint",
    type=click.Choice(["IOB1", "IOB2", "IOBES", "BILOU"]),
    help="Predict only legal label sequences of this scheme.",
)
@options.number("--min-count", options.AT_LEAST_ONE, "N", "Ignore features that occur less often.", 1)
@options.learning("early_stopping", "validation_fraction", "n_iter_no_change", "held_out")
@options.number("--folds", options.AT_LEAST_TWO, "N", "Estimate the error by N-fold cross-validation.")
@options.number(
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
    model: str | None,
    force: bool,
    folds: int | None,
    output: Output,
    **learning: Any,
) -> Result:
    """Learn a tagger from the labelled sentences in FILE.

    Templates say which parts of a token and its neighbours are features: word[0], pos[-1], pos[-1]|pos[0],
    suffix2(word[0]); there are lower, shape, prefixN and suffixN. By default, of the first column: the words two before
    to two behind, pairs of neighbours, prefixes, suffixes and shape; of the second the same window with pairs and
    triples; of others the neighbours. Ctrl-C stops after the epoch that is running, and
    keeps the weights that it ends with.
    """
    from novikoff.features.templates import default_templates, read_templates
    from novikoff.learn.chain.tagger import judged_by_folds, learn_tagger

    if folds is not None and learning["held_out"] is not None:
        raise ValueError("--held-out and --folds cannot be combined; choose one")
    target = model_target(model or default_model(file), force)
    sentences = layout.read(file, layout.names or ("word", "pos", "chunk"))
    label = label or sentences.columns[-1]
    gold = sentences.column(label)
    features = tuple(name for name in sentences.columns if name != label)
    chosen = default_templates(features) if templates is None else read_templates(templates, sentences.columns)
    most = None if learning["early_stopping"] else learning["max_iter"]
    with progress(output.quiet) as bar, bar.learning(len(gold), most) as watched:

        def watch(history: Any) -> None:
            watched.progress(history)
            watched.watch(history)

        tagger = learn_tagger(sentences, gold, templates=chosen, columns=features, watch=watch, **learning)
        if folds is not None and not watched.interrupted:
            bar.stage(f"learning {folds} times without a part")
            same = {**learning, "templates": tagger.parameters["templates"], "columns": features}
            del same["held_out"]
            tagger = replace(tagger, run=replace(tagger.run, **judged_by_folds(sentences, gold, folds, **same)))
    target.save(tagger)
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
    return Result(document, lambda: train_panel(document, tagger.run), INTERRUPTED if watched.interrupted else DONE)


def train_panel(document: dict[str, Any], run: "Run") -> Any:
    """What was read, what was learned, and where the model is."""
    from novikoff.cli import wording
    from novikoff.cli.render import facts, listed
    from novikoff.say import runs as say
    from novikoff.say.words import counted

    data = document["data"]
    size = f"{counted(data['sentences'], 'sentence')}, {counted(data['tokens'], 'token')}"
    return facts(
        f"novikoff tag train {data['file']}",
        [
            ("read", size),
            ("features", f"{data['features']:,} with weights, by {counted(data['templates'], 'template')}"),
            ("labels", listed(data["labels"], 24)),
            ("expected", f"error {expected_error(run)}"),
            ("weights", wording.weights(document["weights"], run, data["labels"])),
            ("ended", wording.ending(run)),
            ("mistakes", say.made(run)),
            ("errors", say.wrong(run)),
            ("bound", wording.bound(None, run)),
            ("model", document["model"]),
        ],
    )


def expected_error(run: "Run") -> str:
    """The fraction of new sentences with a wrong label, if sentences that were not learned measured it.

    The errors of the first pass are those of weights that had hardly learned yet, so they are no estimate.
    """
    from novikoff.learn.new_rows import in_percent
    from novikoff.say.words import counted

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


# -- run --------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@layout
@options.out("The output file.  [default: standard output]", "OUT")
@options.force
@options.answering
def run(model: str, file: str, layout: ConllOptions, out: str | None, force: bool, output: Output) -> Result | None:
    """Write the sentences in FILE with one more column: the labels that MODEL gives them.

    FILE has the columns of the training file, with or without the labels. With --json, standard output has one object a
    sentence: its number and its labels.
    """
    from novikoff.cli.render import as_json, facts, on_a_terminal
    from novikoff.data.conll import write_conll
    from novikoff.learn.chain.tagger import Tagger

    target = out_target(out, force)
    tagger = load_model(model, Tagger)
    sentences = layout.read_for(tagger, file, labelled=False)
    labels = tagger.label(sentences)
    if output.json and target is None:
        for number, found in enumerate(labels):
            click.echo(as_json({"sentence": number, "labels": found}))
        return None
    text = {"predicted": [[str(label) for label in found] for found in labels]}
    shown = io.BytesIO() if target is None and sys.stdout.isatty() else None
    stream = shown or sys.stdout.buffer if target is None else target.path
    write_conll(stream, sentences, text, separator=layout.between)
    if shown is not None:
        click.echo(on_a_terminal(shown.getvalue().decode()), nl=False)
    if target is None:
        return None
    document = documents.document(
        "tag run", model=model, file=file, out=target, sentences=len(labels), tokens=sentences.n_tokens
    )
    size = f"{len(labels):,} sentences, {sentences.n_tokens:,} tokens"
    rows = [("labelled", size), ("written", str(target))]
    return Result(document, lambda: facts(f"novikoff tag run {file}", rows))


# -- score ------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@layout
@click.option("--label", metavar="COL", help="The label column.  [default: the last]")
@click.option(
    "--scheme",
    type=click.Choice(["IOB1", "IOB2", "IOBES", "BILOU", "none"]),
    default="IOB2",
    show_default=True,
    help="How labels mark chunks, if they do.",
)
@options.answering
def score(model: str, file: str, layout: ConllOptions, label: str | None, scheme: str, output: Output) -> Result:
    """Count the labels and the chunks that MODEL gets right on the labelled sentences in FILE.

    Chunks are scored as the shared tasks score them: type, first and last token have to be right.
    """
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.chunk_scores import score_chunks

    tagger = load_model(model, Tagger)
    sentences = layout.read_for(tagger, file, labelled=True)
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
    return Result(document, lambda: score_panel(document))


def score_panel(document: dict[str, Any]) -> Any:
    """The accuracy, and precision, recall and F1 of the chunks."""
    from novikoff.cli.render import columns, facts

    table = None
    if document["chunks"] is not None:
        header = ("type", "precision", "recall", "F1", "gold", "found", "correct")
        rows = [
            (c["type"] or "(none)", *(f"{c[k]:.2%}" for k in ("precision", "recall", "f1")),
             *(f"{c[k]:,}" for k in ("gold", "found", "correct")))
            for c in document["chunks"]
        ]  # fmt: skip
        table = columns(header, rows)
    return facts(
        f"novikoff tag score {document['file']}",
        [
            ("read", f"{document['sentences']:,} sentences, {document['tokens']:,} tokens"),
            ("labels", f"{document['right_tokens']:,} right ({document['accuracy']:.2%})"),
            ("chunks", table),
        ],
    )
