"""Vowpal Wabbit's text: `label |namespace feature:value feature |other feature`, one example a line.

A namespace is a column that maps the names of features to their values; the one without a name is called `|`, and the
label's column `label`. A feature without a value has 1, one with a word (`colour:red`) is the feature `colour=red`, and
a scale (`|size:0.5`) multiplies the values of its namespace. Tags are names of examples, and skipped. An importance
other than 1 is rejected: for a perceptron, repeating an example is not the same as scaling it.
"""

import math
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from novikoff.data.batches import Records
from novikoff.data.delimited import Piece
from novikoff.data.jsonlines import pieces
from novikoff.data.streams import FileSource, OpenedFile
from novikoff.data.tables import Types, nearest, records_of
from novikoff.engine.ahead import ahead

if TYPE_CHECKING:
    import pyarrow as pa

LABEL, UNNAMED = "label", "|"
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
NOT_FINITE = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)


def look(
    file: OpenedFile, types: dict[str, "pa.DataType"], only: Collection[str] | None, words: Collection[str]
) -> Iterator[Records]:
    """Yield all namespaces in each piece, or some; `types` is updated to their types, and the label's."""
    import pyarrow as pa

    for records in _parsed(file, None):
        names = [name for name in records.columns.schema.names if only is None or name in only]
        for field in map(records.columns.schema.field, names):
            known = types.get(field.name, pa.null())
            types[field.name] = known if pa.types.is_null(field.type) or known == pa.float64() else field.type
        yield records_of(records.columns.select(names), records.file, records.line, True)


def read_records(file: OpenedFile, types: Types) -> Iterator[Records]:
    """Yield the namespaces in `types`; those that a piece does not have are empty."""
    return _parsed(file, types)


def _parsed(file: OpenedFile, types: Types | None) -> Iterator[Records]:
    source = file.source

    def parsed(piece: Piece) -> Records:
        columns = _columns(piece, source)
        asked = columns if types is None else _as_asked(columns, types, source)
        return records_of(asked, source.name, piece.line, True)

    return ahead(parsed, pieces(file), file.n_jobs)


def _as_asked(columns: "pa.RecordBatch", types: Types, source: FileSource) -> "pa.RecordBatch":
    import pyarrow as pa

    found = []
    for name, kind in types.items():
        if name in columns.schema.names:
            found.append(columns.column(name).cast(kind))
        elif pa.types.is_map(kind):
            found.append(pa.array([[]] * columns.num_rows, kind))
        else:
            hint = nearest(name, columns.schema.names)
            raise ValueError(f"{source.name} has no column {name!r}; in Vowpal Wabbit's text {hint}")
    return pa.RecordBatch.from_arrays(found, names=list(types))


def _columns(piece: Piece, source: FileSource) -> "pa.RecordBatch":
    """Return the label, and the features of each namespace, of all lines of a piece."""
    import pyarrow as pa

    lines = piece.decoded(source.name).replace("\r\n", "\n").rstrip("\n").split("\n")
    labels: list[float | None] = []
    found: dict[str, tuple[list[int], list[str], list[float]]] = {}
    for row, line in enumerate(lines):
        try:
            head, bar, rest = line.partition("|")
            if not line.strip():
                raise ValueError(
                    "this line is empty; examples of several lines are not supported, so write each in one"
                )
            if not bar:
                raise ValueError("there is no | before the features; write label |namespace feature:value")
            labels.append(_label(head))
            for segment in rest.split("|"):
                first, *tokens = segment.replace("\t", " ").split(" ")
                space, scale = _space(first)
                rows, names, values = found.setdefault(space, ([], [], []))
                for token in filter(None, tokens):
                    name, value = _feature(token, scale) if ":" in token else (token, scale)
                    rows.append(row)
                    names.append(name)
                    values.append(value)
        except ValueError as error:
            raise ValueError(f"{source.name}, line {piece.line + row}: {error}") from None
    columns = {LABEL: _as_labels(labels)}
    for space, (rows, names, values) in found.items():
        ends = pa.array(np.searchsorted(rows, np.arange(len(lines) + 1)).astype(np.int32))
        columns[space] = pa.MapArray.from_arrays(ends, pa.array(names, pa.string()), pa.array(values, pa.float64()))
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _as_labels(values: list[float | None]) -> "pa.Array":
    """Convert labels to integers, if all are; to nulls, if there are none."""
    import pyarrow as pa

    known = [value for value in values if value is not None]
    if any(not value.is_integer() or abs(value) >= 2**53 for value in known):
        return pa.array(values, pa.float64())
    return pa.array([None if value is None else int(value) for value in values], pa.int64() if known else pa.null())


def _label(head: str) -> float | None:
    """Parse the text before the first bar: a label, unless the example has none."""
    words = _without_tag(head)
    for word in words:
        if not NUMBER.fullmatch(word) or math.isinf(float(word)):
            how = "write a number before the first |, and a tag with an apostrophe or right before the bar"
            raise ValueError(f"{word!r:.60} is not a label; {how}")
    if len(words) > 1 and float(words[1]) != 1:
        raise ValueError(f"the importance {words[1]} is not 1; repeat the line, or omit the importance")
    if len(words) > 2 and float(words[2]) != 0:
        raise ValueError(f"the initial prediction {words[2]} is not 0; a perceptron has none, so omit it")
    if len(words) > 3:
        raise ValueError(f"{len(words)} numbers are before the first |; write one, the label")
    return float(words[0]) if words else None


def _without_tag(head: str) -> list[str]:
    """Return the words of a head without a tag: the last word if it begins with an apostrophe, or directly precedes the
    bar.

    >>> _without_tag("1 1.0 'news"), _without_tag("-1 news"), _without_tag("-1 ")
    (['1', '1.0'], ['-1'], ['-1'])
    """
    words = head.split()
    return words[:-1] if words and (words[-1].startswith("'") or not head[-1].isspace()) else words


def _space(token: str) -> tuple[str, float]:
    """Parse the name of a namespace and its scale."""
    name, colon, scale = token.partition(":")
    if colon and not (name and NUMBER.fullmatch(scale) and math.isfinite(float(scale))):
        raise ValueError(f"{token!r:.60} is not a namespace; write |name, or |name:scale with a number")
    if name == LABEL:
        raise ValueError(f"a namespace is called {LABEL!r}, as the column of labels is; rename it")
    return name or UNNAMED, float(scale) if colon else 1.0


def _feature(token: str, scale: float) -> tuple[str, float]:
    """Parse the name of a feature with a value, and this value."""
    name, _, written = token.partition(":")
    if not name:
        raise ValueError(f"{token!r:.60} has no name; features without names are not supported, so write name:value")
    if NUMBER.fullmatch(written):
        value = float(written) * scale
        if not math.isfinite(value):
            raise ValueError(f"the value of {token!r:.60} overflows float64; divide it by a power of ten")
        return name, value
    if ":" in written:
        raise ValueError(f"{token!r:.60} has two colons; write name:value")
    if not written or NOT_FINITE.fullmatch(written):
        how = "write a number, or omit the feature"
        raise ValueError(f"the value of {token!r:.60} is missing or not finite; {how}")
    return f"{name}={written}", scale
