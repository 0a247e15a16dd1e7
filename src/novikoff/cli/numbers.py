"""Tables whose columns are numbers, taken as they are: neither centred nor scaled: a circle would not stay one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cli.tables import with_label
from novikoff.data.batches import Batch
from novikoff.data.reading import read
from novikoff.data.tables import nearest

if TYPE_CHECKING:
    from novikoff.data.batches import Records
    from novikoff.data.svmlight import ZeroBased

# Whole numbers up to this are float64 as they are.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True, eq=False)
class Numbers:
    """The names of the columns, the numbers, and the labels if there are any."""

    names: tuple[str, ...]
    X: NDArray[np.float64]
    labels: NDArray[Any] | None


def read_numbers(
    file: str,
    label: str | None,
    format: str | None,
    ignore: tuple[str, ...],
    zero_based: "ZeroBased",
    form: Mapping[str, Any],
) -> Numbers:
    """All rows of a file, but for the columns to ignore."""
    reader = with_label(read(file, label=label, format=format, zero_based=zero_based, **form))
    if not reader.is_table and ignore:
        raise ValueError("svmlight text has no named columns; leave --ignore away")
    pieces = list(_pieces(reader, set(ignore)))
    if not pieces:
        raise ValueError(f"{file} has no rows")
    width = max(X.shape[1] for _, X, _ in pieces)
    X = np.vstack([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for _, X, _ in pieces])
    labels = None if pieces[0][2] is None else np.concatenate([labels for _, _, labels in pieces])
    return Numbers(pieces[0][0] or tuple(f"column {j}" for j in range(width)), X, labels)


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


def _column(records: "Records", name: str) -> NDArray[np.float64]:
    import pyarrow as pa

    column = records.columns.column(records.columns.schema.get_field_index(name))
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise ValueError(f"the column {name!r} of {records.file} has no numbers; leave it out by --ignore {name}")
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(f"{records.file}: {name!r} is missing {row} rows after line {records.line}; drop that row")
    values = column.to_numpy(zero_copy_only=False)
    if pa.types.is_integer(column.type) and len(values) and max(int(values.max()), -int(values.min())) > LARGEST_WHOLE:
        raise ValueError(
            f"the column {name!r} of {records.file} has whole numbers that float64 would round; divide them"
        )
    return np.asarray(values, dtype=np.float64)
