"""`novikoff predict`: add a column of predictions to a table, piece by piece."""

import csv
import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.files import load_model
from novikoff.cli.options import Result, TableOptions, is_json
from novikoff.cli.progress import progress
from novikoff.cli.render import json_lines, listed, sink, warn

if TYPE_CHECKING:
    from novikoff.data.batches import Batch, Records


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@options.written
@options.out("Where to write the CSV.  [default: standard output]")
@click.option("--column", default="prediction", show_default=True, metavar="NAME", help="The name of the new column.")
@click.option("--scores", is_flag=True, help="Add the scores as well: one column, or one per class of more than two.")
@click.option("--review", is_flag=True, help="Add a column: whether the prediction needs review, by fit --review.")
@options.jobs
@options.answering
def predict(
    model: str,
    file: str,
    table: TableOptions,
    target: Path | None,
    column: str,
    scores: bool,
    review: bool,
) -> Result | None:
    """Write the table FILE as CSV, with a column of what MODEL predicts.

    The table is read and written piece by piece: it may be larger than memory, and it may come through a pipe ("-").
    With --json, standard output has one object a row: its number, the prediction and the scores.
    """
    from novikoff.cli.tables import open_for, with_points
    from novikoff.data.batches import Records
    from novikoff.learn.model import Classifier
    from novikoff.learn.review import review_of
    from novikoff.say.reviews import sent as sent_in_words

    loaded = load_model(model, Classifier)
    reader = open_for(loaded, file, table, labelled=False)
    proved, in_objects = review_of(loaded) if review else None, is_json() and target is None
    n_rows, n_sent = 0, 0
    predicted, unseen, missing = (Counter[str]() for _ in range(3))
    with progress(is_shown=target is not None) as bar, sink(target) as write:
        for batch in bar.over(reader, "predicting"):
            is_table = isinstance(batch, Records)
            decided = loaded.decide(with_points(batch, loaded.encoding, reader.form.decimal) if is_table else batch)
            labels = decided.labels.tolist()
            sent = {} if proved is None else {"review": proved.to_review(decided.leads).tolist()}
            if in_objects:
                known = {"prediction": labels, "score": decided.scores.tolist(), **sent}
                write(json_lines("row", known, first=n_rows))
            else:
                more = score_columns(decided.scores, loaded.classes) if scores else {}
                write(csv_lines(batch, column, {column: labels, **sent, **more}, with_header=n_rows == 0))
            n_rows, n_sent = n_rows + len(labels), n_sent + sum(sent.get("review", ()))
            predicted.update(map(str, labels))
            unseen.update(decided.unseen)
            missing.update(decided.missing)
    warn_of_the_unknown(unseen, missing)
    if target is None:
        return None
    document = documents.document(
        "predict", model=model, file=file, out=target, rows=n_rows, predicted=predicted,
        unseen=unseen, missing=missing, **({} if proved is None else {"to_review": n_sent}),
    )  # fmt: skip
    return Result(
        document,
        file,
        lambda: [
            ("rows", f"{n_rows:,}"),
            ("predicted", listed([f"{name} ({count:,})" for name, count in sorted(predicted.items())])),
            ("review", None if proved is None else sent_in_words(n_sent, n_rows)),
            ("written", document["out"]),
        ],
    )


def score_columns(scores: Any, classes: Any) -> dict[str, list[float]]:
    """Return the scores as columns: one, or one for each of more than two classes."""
    if scores.ndim == 1:
        return {"score": scores.tolist()}
    return {f"score of {name}": column.tolist() for name, column in zip(classes, scores.T, strict=True)}


def csv_lines(batch: "Batch | Records", column: str, extra: dict[str, list[Any]], *, with_header: bool) -> bytes:
    """Return a batch with further columns as CSV; features with names of their own are not among its columns."""
    from novikoff.data.batches import Records
    from novikoff.data.tables import NAMED_VALUES

    known: dict[str, list[Any]] = {}
    if isinstance(batch, Records):
        kept = [field.name for field in batch.columns.schema if str(field.type) != NAMED_VALUES]
        known = {name: batch.columns.column(name).to_pylist() for name in kept}
    for name in extra:
        if name in known:
            how = "choose another name with --column" if name == column else "rename that column"
            raise ValueError(f"{batch.file} has a column {name!r} already; {how}")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if with_header:
        writer.writerow([*known, *extra])
    values = ([{True: "true", False: "false"}.get(v, v) if type(v) is bool else v for v in column]
              for column in (*known.values(), *extra.values()))  # fmt: skip
    writer.writerows(zip(*values, strict=True))
    return text.getvalue().encode()


def warn_of_the_unknown(unseen: Mapping[str, int], missing: Mapping[str, int]) -> None:
    """Warn of values that were not seen in training."""
    from novikoff.say.words import unknown_values

    for sentence in unknown_values(unseen, missing):
        warn(sentence)
