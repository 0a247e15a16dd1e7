"""Files as commands open them: with labels to learn from; for a model; with all columns, to be written out again."""

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records, stacked
from novikoff.data.delimited import LOOKED_AT, pieces
from novikoff.data.reading import Reader, read
from novikoff.data.streams import FileSource, TableForm, compression
from novikoff.data.tables import as_numpy, nearest

if TYPE_CHECKING:
    from novikoff.cli.options import TableOptions
    from novikoff.features.encode import Encoding
    from novikoff.learn.model import Classifier

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


# -- how a table is written, which a model stores ---------------------------------------------------------------------


def written_form(reader: Reader) -> dict[str, Any]:
    """Return how the table is written, where that is not as usual, for a model to store."""
    if not reader.is_text:
        return {}
    form, usual = replace(reader.form, decimal=reader.layout().decimal), TableForm(decimal=".")
    return {name: value for name, value in vars(form).items() if value != getattr(usual, name)}


def as_remembered(reader: Reader, model: "Classifier | None", form: Mapping[str, Any]) -> Reader:
    """Return a reader of a table that is written as the one that a model was trained on, unless options differ."""
    if not reader.is_text:
        return reader
    known = {name: model.parameters[name] for name in vars(reader.form) if model and name in model.parameters}
    if form.get("header"):
        known.pop("names", None)
    return replace(reader, form=TableForm(**{**known, **form}))


def open_for(model: "Classifier", file: str, table: "TableOptions", *, labelled: bool) -> Reader:
    """Return the reader of a file whose columns are those of a model: with labels; or with all columns, in one pass.

    Without labels, numbers of text files stay as they are written.
    """
    zero_based = model.parameters.get("zero_based", True)
    encoding, reader = model.encoding, read(file, format=table.read_with.get("format"), zero_based=zero_based)
    if encoding is None or not model.takes_a_table:
        if reader.is_table:
            raise ValueError(f"{file} is a table, but the model was learned from numbers without names")
        return reader
    if not reader.is_table:
        raise ValueError(f"{file} is svmlight text, but the model was learned from a table with named columns")
    reader = as_remembered(reader, model, table.form)
    if labelled:
        label = table.label or model.parameters.get("label")
        if label is None:
            raise ValueError("the model does not record its label column; name it with --label")
        return with_label(replace(reader, label=label, types=encoding.types))
    if reader.formats[0] == "vw":
        return replace(reader, label=None)
    if reader.is_text:
        needed = {name: "string" if encoding.columns[name].is_number else kind for name, kind in encoding.types.items()}
        return replace(reader, types=dict.fromkeys(_names(reader), "string") | needed)
    return replace(reader, types=encoding.types) if file == "-" else reader


def _names(reader: Reader) -> tuple[str, ...]:
    """Return the columns of a table in text; standard input is not read beyond its first line for them."""
    arrived = b"" if reader.stream is None else reader.stream.look(LOOKED_AT)
    if b"\n" not in arrived or compression(arrived) is not None:
        return reader.layout().names
    return pieces(FileSource("-", "-", reader.formats[0], reader.form, stream=io.BytesIO(arrived)))[0].names


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


# -- as numbers -------------------------------------------------------------------------------------------------------


class NumberTable(NamedTuple):
    """The names of the columns, the numbers, and the labels if there are any."""

    names: tuple[str, ...]
    X: NDArray[np.float64]
    labels: NDArray[Any] | None


def read_numbers(file: str, table: "TableOptions") -> NumberTable:
    """Read all rows of a file, but for the columns to ignore, as they are: neither centred nor scaled."""
    reader = with_label(read(file, label=table.label, **table.read_with))
    if not reader.is_table and table.ignore:
        raise ValueError("svmlight text has no named columns; omit --ignore")
    parts: list[Any] = list(reader)
    if not parts:
        raise ValueError(f"{file} has no rows")
    labels = None if parts[0].labels is None else np.concatenate([part.labels for part in parts])
    if isinstance(parts[0], Batch):
        X = stacked([part.rows for part in parts]).as_array()
        return NumberTable(tuple(f"column {j}" for j in range(X.shape[1])), X, labels)
    known = parts[0].columns.schema.names
    for name in set(table.ignore) - set(known):
        raise ValueError(f"{parts[0].file} has no column {name!r}; {nearest(name, known)}")
    names = tuple(name for name in known if name not in table.ignore)
    X = np.vstack([np.array([_column(part, name) for name in names]).reshape(len(names), -1).T for part in parts])
    return NumberTable(names, X, labels)


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
