"""Points from a small CSV: any two columns of numbers, and a column that says which points are red."""

import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import Any

from novikoff.lab.state import MOST_POINTS, StateError

MOST_ROWS = 5_000

# Larger numbers have differences, or squares, beyond float64.
LARGEST = 1e150

# Rescaled points fill a box of this half-width, on a fine binary grid, so that the integers of a proof stay small.
HALF_WIDTH, GRID = 2.5, 64


@dataclass(frozen=True)
class PastedTable:
    """Named columns of strings, as in the file."""

    names: list[str]
    rows: list[list[str]]

    def column(self, name: Any, what: str) -> list[str]:
        if name not in self.names:
            raise StateError(what, f"there is no column {name!r}; the columns are {', '.join(self.names)}")
        return [row[self.names.index(name)] for row in self.rows]


def read_table(text: Any) -> PastedTable:
    """Parse a table: a line of names, then rows of as many values; commas, semicolons or tabs between them."""
    text = text.lstrip("\ufeff") if isinstance(text, str) else ""
    if not text.strip():
        raise StateError("text", "the file is empty; a CSV begins with a line of column names")
    first = text.lstrip().splitlines()[0]
    delimiter = max(",;\t", key=first.count)
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=delimiter) if line]
    except csv.Error as error:
        raise StateError("text", f"the file is not CSV: {error}") from None
    names, rows = [name.strip() for name in lines[0]], lines[1:]
    if len(rows) > MOST_ROWS:
        raise StateError("text", f"the file has {len(rows)} rows, and the lab reads at most {MOST_ROWS}")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise StateError("text", f"row {number} has {len(row)} values, but the first line names {len(names)}")
    return PastedTable(names, rows)


def describe_table(document: Any) -> dict[str, Any]:
    """Describe the columns of a table: which are numbers, and which values each of the others has.

    >>> described = describe_table({"text": "doors,hp,sport\\n2,300,yes\\n4,90,no\\n"})
    >>> described["numbers"], described["values"]["sport"]
    (['doors', 'hp'], ['yes', 'no'])
    """
    table = read_table(_part(document, "text"))
    columns = {name: table.column(name, "text") for name in table.names}
    numbers = [name for name, values in columns.items() if values and all(_number(v) is not None for v in values)]
    values = {name: [value for value, _ in Counter(column).most_common(12)] for name, column in columns.items()}
    return {"names": table.names, "numbers": numbers, "values": values, "rows": len(table.rows)}


def points_of_table(document: Any) -> dict[str, Any]:
    """Return the points of two columns; red are those whose label is `red`. Rows beyond the limit are omitted.

    With `rescale` both columns are moved and scaled into one box, and rounded to a fine grid.
    """
    table = read_table(_part(document, "text"))
    xs, ys = (_numbers(table, _part(document, axis), axis) for axis in ("x", "y"))
    labels, red = table.column(_part(document, "label"), "label"), _part(document, "red")
    if red not in labels:
        raise StateError("red", f"no row has the value {red!r} in that column; choose one that occurs")
    if _part(document, "rescale"):
        xs, ys = _rescaled(xs), _rescaled(ys)
    points = [[x, y, 1 if label == red else -1] for x, y, label in zip(xs, ys, labels, strict=True)]
    return {"points": points[:MOST_POINTS], "left_out": max(0, len(points) - MOST_POINTS)}


def _part(document: Any, name: str) -> Any:
    if not isinstance(document, dict) or name not in document:
        raise StateError(name, f"{name!r} is missing from the request")
    return document[name]


def _numbers(table: PastedTable, name: Any, what: str) -> list[float]:
    values = [_number(value) for value in table.column(name, what)]
    for row, value in enumerate(values, start=2):
        if value is None:
            raise StateError(what, f"row {row} has no number in the column {name!r}")
    return [value for value in values if value is not None]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= LARGEST else None


def _rescaled(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    middle, half = (low + high) / 2, (high - low) / 2 or 1.0
    return [round((value - middle) / half * HALF_WIDTH * GRID) / GRID + 0.0 for value in values]
