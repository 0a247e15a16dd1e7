"""`novikoff predict`: add a column of predictions to a table, piece by piece."""

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.files import load_model, out_target
from novikoff.cli.options import Output, Result, TableOptions
from novikoff.cli.progress import progress

if TYPE_CHECKING:
    from novikoff.cli.files import Target
    from novikoff.data.batches import Batch, Records
    from novikoff.learn.model import Classifier, Decided
    from novikoff.learn.review import Review


# As much as a pipe takes at once.
PIECE = 1 << 16


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@options.written
@options.out("Where to write the CSV.  [default: standard output]", "OUT")
@options.force
@click.option("--column", default="prediction", show_default=True, metavar="NAME", help="The name of the new column.")
@click.option("--scores", is_flag=True, help="Add the scores as well: one column, or one per class of more than two.")
@click.option("--review", is_flag=True, help="Add a column: whether the prediction needs review, by fit --review.")
@options.jobs
@options.answering
def predict(
    model: str,
    file: str,
    table: TableOptions,
    out: str | None,
    force: bool,
    column: str,
    scores: bool,
    review: bool,
    output: Output,
) -> Result | None:
    """Write the table FILE as CSV, with a column of what MODEL predicts.

    The table is read and written piece by piece: it may be larger than memory, and it may come through a pipe ("-").
    With --json, standard output has one object a row: its number, the prediction and the scores.
    """
    from novikoff.cli.tables import open_unlabelled
    from novikoff.learn.model import Classifier
    from novikoff.learn.review import review_of

    target = out_target(out, force)
    loaded = load_model(model, Classifier)
    reader = open_unlabelled(file, table, loaded)
    proved = review_of(loaded) if review else None
    writer = CsvWriter(loaded, column, scores, output.json and target is None, reader.form.decimal, proved)
    with progress(output.quiet or target is None) as bar, sink(target) as write:
        for batch in bar.over(reader, "predicting"):
            write(writer.lines(batch))
    return predicted(output, model, file, target, writer)


def predicted(output: Output, model: str, file: str, target: "Target | None", writer: "CsvWriter") -> Result | None:
    """Report what was predicted and written, and which values were not seen in training."""
    warn_of_the_unknown(output, writer.unseen, writer.missing)
    if target is None:
        return None
    document = documents.document(
        "predict", model=model, file=file, out=target, rows=writer.n_rows, predicted=writer.predicted,
        unseen=writer.unseen, missing=writer.missing, **({} if writer.review is None else {"to_review": writer.n_sent}),
    )  # fmt: skip
    return Result(document, lambda: panel(document))


@dataclass
class CsvWriter:
    """Predictions as lines of CSV or of JSON, and what to report about them in the end."""

    model: "Classifier"
    column: str
    scores: bool
    as_json: bool
    decimal: str | None = None
    review: "Review | None" = None
    n_rows: int = 0
    n_sent: int = 0
    predicted: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)

    def lines(self, batch: "Batch | Records") -> bytes:
        """Return what to write for a batch, the header before the first."""
        from novikoff.cli.tables import with_points
        from novikoff.data.batches import Records

        known = with_points(batch, self.model.encoding, self.decimal) if isinstance(batch, Records) else batch
        decided = self.model.decide(known)
        first, self.n_rows = self.n_rows, self.n_rows + len(decided.labels)
        self.unseen.update(decided.unseen)
        self.missing.update(decided.missing)
        labels = decided.labels.tolist()
        self.predicted.update(Counter(map(str, labels)))
        sent = {} if self.review is None else {"review": self.review.to_review(decided.leads).tolist()}
        self.n_sent += sum(sent.get("review", ()))
        if self.as_json:
            return self._json(labels, decided, first, sent)
        return self._csv(batch, {self.column: labels, **sent, **self._score_columns(decided)}, with_header=first == 0)

    def _score_columns(self, decided: "Decided") -> dict[str, list[float]]:
        if not self.scores:
            return {}
        if decided.scores.ndim == 1:
            return {"score": decided.scores.tolist()}
        return {
            f"score of {name}": column.tolist()
            for name, column in zip(self.model.classes, decided.scores.T, strict=True)
        }

    def _csv(self, batch: "Batch | Records", extra: dict[str, list[Any]], with_header: bool) -> bytes:
        import csv
        import io

        from novikoff.cli.tables import as_text, csv_names, csv_rows
        from novikoff.data.batches import Records

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = csv_names(batch) if isinstance(batch, Records) else []
        twice = next((name for name in extra if name in names), None)
        if twice is not None:
            how = "choose another name with --column" if twice == self.column else "rename that column"
            raise ValueError(f"{batch.file} has a column {twice!r} already; {how}")
        if with_header:
            writer.writerow([*names, *extra])
        if isinstance(batch, Records):
            writer.writerows(csv_rows(batch, extra))
        else:
            writer.writerows(zip(*(map(as_text, values) for values in extra.values()), strict=True))
        return text.getvalue().encode()

    def _json(self, labels: list[Any], decided: "Decided", first: int, more: dict[str, list[bool]]) -> bytes:
        from novikoff.cli.render import as_json

        scores = decided.scores.tolist()
        lines = (
            as_json({"row": first + row, "prediction": label, "score": score} | {k: v[row] for k, v in more.items()})
            for row, (label, score) in enumerate(zip(labels, scores, strict=True))
        )
        return "".join(f"{line}\n" for line in lines).encode()


@contextlib.contextmanager
def sink(target: "Target | None") -> Iterator[Callable[[bytes], None]]:
    """Yield what takes the lines: a file that gets its name at the end, or standard output, at once."""
    if target is not None:
        from novikoff.data.whole_file import WholeFile

        with WholeFile(target.path) as file:
            yield file.write
        return
    from novikoff.cli.render import on_a_terminal

    stream = sys.stdout.buffer

    def write(lines: bytes) -> None:
        shown = on_a_terminal(lines.decode()).encode() if sys.stdout.isatty() else lines
        # In small pieces: a pipe that is closed in the middle of a long one may go unnoticed.
        for start in range(0, len(shown), PIECE):
            stream.write(shown[start : start + PIECE])
            stream.flush()

    yield write


def warn_of_the_unknown(output: Output, unseen: dict[str, int], missing: dict[str, int]) -> None:
    """Warn of values that were not seen in training."""
    from novikoff.cli.render import warn
    from novikoff.say.words import unknown_values

    for sentence in unknown_values(unseen, missing):
        warn(output, sentence)


def panel(document: dict[str, Any]) -> Any:
    """Show how many rows, and how many of each class."""
    from novikoff.cli.render import facts, listed
    from novikoff.say.reviews import sent

    to_review = document.get("to_review")
    counts = [f"{name} ({count:,})" for name, count in sorted(document["predicted"].items())]
    return facts(
        f"novikoff predict {document['file']}",
        [
            ("rows", f"{document['rows']:,}"),
            ("predicted", listed(counts)),
            ("review", None if to_review is None else sent(to_review, document["rows"])),
            ("written", document["out"]),
        ],
    )
