"""`novikoff score`: count the errors of a model on a labelled table."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.files import load_model
from novikoff.cli.options import Output, Result, TableOptions
from novikoff.cli.progress import progress

if TYPE_CHECKING:
    from novikoff.data.reading import Reader
    from novikoff.learn.model import Classifier

# More classes than this do not fit beside each other.
WIDEST_TABLE = 10


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@options.scored
@options.jobs
@options.answering
def score(model: str, file: str, table: TableOptions, output: Output) -> Result:
    """Count the errors of MODEL on the labelled table FILE."""
    from novikoff.learn.measures import RocScores
    from novikoff.learn.model import Classifier

    loaded = load_model(model, Classifier)
    reader = open_labelled(file, table, loaded)
    pairs, unseen, missing = Counter[tuple[Any, Any]](), Counter[str](), Counter[str]()
    known, scores = loaded.classes.tolist(), RocScores(loaded.classes.tolist())
    with progress(output.quiet) as bar:
        for batch in bar.over(reader, "scoring"):
            decided = loaded.decide(batch)
            pairs.update(zip(batch.labels.tolist(), decided.labels.tolist(), strict=True))
            scores.add(decided, batch.labels)
            unseen.update(decided.unseen)
            missing.update(decided.missing)
    if not pairs:
        raise ValueError(f"{file} has no examples to score")
    return answer_counts(output, model, file, known, pairs, unseen, missing, scores.area())


def answer_counts(
    output: Output,
    model: str,
    file: str,
    known: list[Any],
    pairs: Mapping[tuple[Any, Any], int],
    unseen: Mapping[str, int],
    missing: Mapping[str, int],
    auc: float | None,
) -> Result:
    """Answer with the errors, from confusion counts; a label that the model does not know counts as wrong."""
    from novikoff.cli.predict import warn_of_the_unknown
    from novikoff.cli.render import listed, warn
    from novikoff.learn.measures import by_class
    from novikoff.say.words import counted

    rows, right = sum(pairs.values()), sum(pairs.get((name, name), 0) for name in known)
    unknown = Counter[Any]()
    for (truth, _), count in pairs.items():
        if count and truth not in known:
            unknown[truth] += count
    document = documents.document(
        "score",
        model=model,
        file=file,
        rows=rows,
        errors=rows - right,
        accuracy=right / rows,
        classes=known,
        by_class=[
            {"class": name, "precision": found.precision, "recall": found.recall, "f1": found.f1}
            for name, found in zip(known, by_class(known, pairs), strict=True)
        ],
        auc=auc,
        confusion=[[pairs.get((truth, guess), 0) for guess in known] for truth in known],
        unknown_labels=dict(sorted(unknown.items(), key=str)),
        unseen=unseen,
        missing=missing,
    )
    if unknown:
        rows_of_them = counted(unknown.total(), "row has a label", "rows have labels")
        warn(
            output,
            f"{rows_of_them} not seen in training, which counts as an error: "
            f"{listed(sorted(unknown, key=str), 8)}; known are {listed(known, 8)}. "
            f"If the labels of {file} are in another column, name it with --label",
        )
    warn_of_the_unknown(output, dict(unseen), dict(missing))
    return Result(document, lambda: panel(document))


def open_labelled(file: str, table: TableOptions, model: "Classifier") -> "Reader":
    """Return the reader of a labelled file whose columns are those of the model."""
    from novikoff.cli.tables import counted_from, remembered_form, with_label
    from novikoff.data.reading import read
    from novikoff.data.streams import TableForm

    if not model.takes_a_table:
        reader = read(file, format=table.format, zero_based=counted_from(model))
        if reader.is_table:
            raise ValueError(f"{file} is a table, but the model was learned from numbers without names")
        return reader
    label = table.label or model.parameters.get("label")
    if label is None:
        raise ValueError("the model does not record its label column; name it with --label")
    assert model.encoding is not None
    reader = read(file, label=label, format=table.format, types=model.encoding.types)
    return (
        with_label(replace(reader, form=TableForm(**remembered_form(model, table.form)))) if reader.is_text else reader
    )


def panel(document: dict[str, Any]) -> Any:
    """Show the errors, how well every class is found, and the confusion matrix."""
    from novikoff.cli.render import columns, facts, in_words, listed

    names = list(map(in_words, document["classes"]))
    table = None
    if len(names) <= WIDEST_TABLE:
        counts = zip(names, document["confusion"], strict=True)
        lines = [(name, *(f"{count:,}" for count in line)) for name, line in counts]
        table = columns(("truth \\ guess", *names), lines)
    measures = ("precision", "recall", "f1")
    found = [(in_words(of["class"]), *(f"{of[name]:.2%}" for name in measures)) for of in document["by_class"]]
    unknown = [f"{name} ({count:,})" for name, count in document["unknown_labels"].items()]
    return facts(
        f"novikoff score {document['file']}",
        [
            ("rows", f"{document['rows']:,}"),
            ("errors", f"{document['errors']:,} ({document['errors'] / document['rows']:.2%})"),
            ("accuracy", f"{document['accuracy']:.2%}"),
            ("AUC", None if document["auc"] is None else f"{document['auc']:.4f}"),
            ("classes", columns(("", "precision", "recall", "F1"), found)),
            ("confusion", table),
            ("unknown", f"{listed(unknown, 8)}: labels that the model does not know" if unknown else None),
        ],
    )
