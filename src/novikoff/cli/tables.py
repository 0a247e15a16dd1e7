"""Files as commands open them: with labels to learn from; with all columns, to be written out again; as numbers."""

import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records
from novikoff.data.delimited import layout_of, pieces
from novikoff.data.reading import Reader, read
from novikoff.data.streams import FileSource, TableForm, compression
from novikoff.data.tables import NAMED_VALUES, as_numpy, nearest

if TYPE_CHECKING:
    from novikoff.cli.options import TableOptions
    from novikoff.features.encode import Encoding
    from novikoff.learn.model import Classifier

HEADER_BYTES = 1 << 16

# Integers up to this are exact in float64.
LARGEST_WHOLE = 2**53


def with_label(reader: Reader) -> Reader:
    """Return the same; a label that is a number, and no column's name, is a position: 1, 2, ... or -1, -2, ..."""
    label = reader.label
    if label is None or not reader.is_text or not label.lstrip("-").isdecimal():
        return reader
    names, place = reader.layout().names, int(label)
    if label in names or not 1 <= abs(place) <= len(names):
        return reader
    return replace(reader, label=names[place - 1 if place > 0 else place])


def written_form(reader: Reader) -> dict[str, Any]:
    """Return how the table is written, where that is not as usual, for a model to store."""
    if not reader.is_text:
        return {}
    form, decimal = reader.form, reader.layout().decimal
    usual = {"header": (form.header, True), "names": (form.names, None), "na_values": (form.na_values, ())}
    return {name: value for name, (value, default) in {**usual, "decimal": (decimal, ".")}.items() if value != default}


def remembered_form(model: "Classifier", form: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a table is written: as the one that a model was trained on, unless options differ."""
    names = ("header", "names", "na_values", "decimal")
    known = {name: model.parameters[name] for name in names if name in model.parameters}
    if form.get("header"):
        known.pop("names", None)
    return {**known, **form}


def open_unlabelled(file: str, table: "TableOptions", model: "Classifier") -> Reader:
    """Return a reader of all columns, in one pass. Numbers of text files stay as they are written."""
    arrived, encoding = _looked_at_standard_input() if file == "-" else None, model.encoding
    reader = read(file, format=table.format, zero_based=counted_from(model))
    if reader.is_text:
        reader = replace(reader, form=TableForm(**remembered_form(model, table.form)))
    if not reader.is_table:
        if model.takes_a_table:
            raise ValueError(f"{file} is svmlight text, but the model was learned from a table with named columns")
        return reader
    if encoding is None or not model.takes_a_table:
        raise ValueError(f"{file} is a table, but the model was learned from numbers without names")
    if reader.formats[0] == "vw":
        return replace(reader, label=None)
    if reader.formats[0] in ("csv", "tsv"):
        return replace(reader, types=_types(_header(reader, arrived), encoding))
    return reader if arrived is None else replace(reader, types=encoding.types)


def counted_from(model: "Classifier") -> bool:
    """Whether indices of svmlight text begin with 0, as they did in training."""
    zero_based: bool = model.parameters.get("zero_based", True)
    return zero_based


def _types(names: tuple[str, ...], encoding: "Encoding") -> dict[str, str]:
    """Return every column as text, but for categories, which have the types of training."""
    needed = {name: "string" if encoding.columns[name].is_number else kind for name, kind in encoding.types.items()}
    return dict.fromkeys(names, "string") | needed


def _looked_at_standard_input() -> bytes:
    """Return what has arrived there, without consuming it."""
    look = getattr(sys.stdin.buffer, "peek", None)
    return b"" if look is None else look(1)


def _header(reader: Reader, arrived: bytes | None) -> tuple[str, ...]:
    """Return the names in the first line; none where that line has not arrived yet."""
    source = FileSource(reader.files[0], reader.files[0], reader.formats[0], reader.form)
    if arrived is None:
        return layout_of(source).names
    if b"\n" not in arrived or compression(arrived) is not None:
        return ()
    return pieces(io.BytesIO(arrived), source, HEADER_BYTES)[0].names


def with_points(records: Records, encoding: "Encoding | None", decimal: str | None) -> Records:
    """Return the same with decimal points, where numbers came as text with decimal commas."""
    if decimal != "," or encoding is None:
        return records
    import pyarrow as pa
    from pyarrow import compute

    table = records.columns
    for name, kind in encoding.columns.items():
        at = table.schema.get_field_index(name)
        if kind.is_number and at >= 0 and pa.types.is_string(table.column(at).type):
            table = table.set_column(at, name, compute.replace_substring(table.column(at), ",", "."))
    return replace(records, columns=table)


def csv_names(records: Records) -> list[str]:
    """Return the columns that a CSV can have: not those of features with names of their own."""
    return [field.name for field in records.columns.schema if str(field.type) != NAMED_VALUES]


def csv_rows(records: Records, extra: Mapping[str, list[Any]]) -> Iterator[tuple[str, ...]]:
    """Yield the records with further columns, row by row, as text."""
    parts = [map(as_text, records.columns.column(name).to_pylist()) for name in csv_names(records)]
    parts += [map(as_text, values) for values in extra.values()]
    return zip(*parts, strict=True)


def as_text(value: Any) -> str:
    """Return a value as CSV has it.

    >>> [as_text(value) for value in (None, True, 0.1, 2.0, "word")]
    ['', 'true', '0.1', '2.0', 'word']
    """
    if value is None:
        return ""
    if value is True or value is False:
        return "true" if value else "false"
    return str(value)


# -- as numbers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The names of the columns, the numbers, and the labels if there are any."""

    names: tuple[str, ...]
    X: NDArray[np.float64]
    labels: NDArray[Any] | None


def read_numbers(file: str, table: "TableOptions") -> NumberTable:
    """Read all rows of a file, but for the columns to ignore, as they are: neither centred nor scaled."""
    said = {"label": table.label, "format": table.format, "zero_based": table.zero_based, **table.form}
    reader = with_label(read(file, **said))
    if not reader.is_table and table.ignore:
        raise ValueError("svmlight text has no named columns; omit --ignore")
    parts = list(_pieces(reader, set(table.ignore)))
    if not parts:
        raise ValueError(f"{file} has no rows")
    width = max(X.shape[1] for _, X, _ in parts)
    X = np.vstack([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for _, X, _ in parts])
    labels = None if parts[0][2] is None else np.concatenate([labels for _, _, labels in parts])
    return NumberTable(parts[0][0] or tuple(f"column {j}" for j in range(width)), X, labels)


def _pieces(reader: Any, ignore: set[str]) -> Iterator[tuple[tuple[str, ...], NDArray[np.float64], Any]]:
    for piece in reader:
        if isinstance(piece, Batch):
            yield (), piece.rows.as_array(), piece.labels
        else:
            names = tuple(name for name in piece.columns.schema.names if name not in ignore)
            for name in ignore - set(piece.columns.schema.names):
                raise ValueError(f"{piece.file} has no column {name!r}; {nearest(name, piece.columns.schema.names)}")
            columns = [_column(piece, name) for name in names]
            yield names, np.column_stack(columns) if columns else np.empty((len(piece.labels), 0)), piece.labels


def _column(records: Records, name: str) -> NDArray[np.float64]:
    import pyarrow as pa

    column = records.columns.column(records.columns.schema.get_field_index(name))
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise ValueError(f"the column {name!r} of {records.file} has no numbers; omit it with --ignore {name}")
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(f"{records.file}: {name!r} is missing {row} rows after line {records.line}; drop that row")
    values = as_numpy(column)
    if pa.types.is_integer(column.type) and len(values) and max(int(values.max()), -int(values.min())) > LARGEST_WHOLE:
        raise ValueError(
            f"the column {name!r} of {records.file} has whole numbers that float64 would round; divide them"
        )
    return np.asarray(values, dtype=np.float64)
