"""`novikoff score`: count the errors of a model on a labelled table."""

from collections import Counter
from typing import Any

import click

from novikoff.cli import documents, options
from novikoff.cli.files import load_model
from novikoff.cli.options import Result, Rows, TableOptions
from novikoff.cli.predict import warn_of_the_unknown
from novikoff.cli.progress import progress
from novikoff.cli.render import columns, in_words, listed, warn

# More classes than this do not fit beside each other.
WIDEST_TABLE = 10


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@options.scored
@options.jobs
@options.answering
def score(model: str, file: str, table: TableOptions) -> Result:
    """Count the errors of MODEL on the labelled table FILE."""
    from novikoff.cli.tables import open_for
    from novikoff.learn.measures import RocScores, by_class
    from novikoff.learn.model import Classifier
    from novikoff.say.words import counted

    loaded = load_model(model, Classifier)
    reader = open_for(loaded, file, table, labelled=True)
    pairs, unseen, missing = Counter[tuple[Any, Any]](), Counter[str](), Counter[str]()
    known, scores = loaded.classes.tolist(), RocScores(loaded.classes.tolist())
    with progress() as bar:
        for batch in bar.over(reader, "scoring"):
            decided = loaded.decide(batch)
            pairs.update(zip(batch.labels.tolist(), decided.labels.tolist(), strict=True))
            scores.add(decided, batch.labels)
            unseen.update(decided.unseen)
            missing.update(decided.missing)
    if not pairs:
        raise ValueError(f"{file} has no examples to score")
    rows, right = pairs.total(), sum(pairs[name, name] for name in known)
    unknown = Counter[Any]()  # labels that the model does not know, which count as errors
    for (truth, _), count in pairs.items():
        if truth not in known:
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
        auc=scores.area(),
        confusion=[[pairs[truth, guess] for guess in known] for truth in known],
        unknown_labels=dict(sorted(unknown.items(), key=str)),
        unseen=unseen,
        missing=missing,
    )
    if unknown:
        rows_of_them = counted(unknown.total(), "row has a label", "rows have labels")
        warn(
            f"{rows_of_them} not seen in training, which counts as an error: "
            f"{listed(sorted(unknown, key=str), 8)}; known are {listed(known, 8)}. "
            f"If the labels of {file} are in another column, name it with --label",
        )
    warn_of_the_unknown(unseen, missing)
    return Result(document, file, lambda: rows_of(document))


def rows_of(document: dict[str, Any]) -> Rows:
    """Show the errors, how well every class is found, and the confusion matrix."""
    names = list(map(in_words, document["classes"]))
    table = None
    if len(names) <= WIDEST_TABLE:
        counts = zip(names, document["confusion"], strict=True)
        lines = [(name, *(f"{count:,}" for count in line)) for name, line in counts]
        table = columns(("truth \\ guess", *names), lines)
    measures = ("precision", "recall", "f1")
    found = [(in_words(of["class"]), *(f"{of[name]:.2%}" for name in measures)) for of in document["by_class"]]
    unknown = [f"{name} ({count:,})" for name, count in document["unknown_labels"].items()]
    return [
        ("rows", f"{document['rows']:,}"),
        ("errors", f"{document['errors']:,} ({document['errors'] / document['rows']:.2%})"),
        ("accuracy", f"{document['accuracy']:.2%}"),
        ("AUC", None if document["auc"] is None else f"{document['auc']:.4f}"),
        ("classes", columns(("", "precision", "recall", "F1"), found)),
        ("confusion", table),
        ("unknown", f"{listed(unknown, 8)}: labels that the model does not know" if unknown else None),
    ]
