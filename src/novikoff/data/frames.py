"""Tables in memory, of pandas, polars or pyarrow, read as if they were files.

A column has the type that it has in a file of the same content (see `data/tables.py`), so a table in memory and its
file have the same encoding, model and certificate. As in Parquet, and unlike in CSV, the word "7" stays a word. The
index of a pandas table is not a column.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from novikoff.data.batches import Records
from novikoff.data.columnar import rows_in_a_block
from novikoff.data.tables import (
    BLOCK_BYTES,
    cast_columns,
    check_columns,
    check_label,
    check_no_duplicates,
    is_number,
    plain_type,
    records_of,
    type_named,
    with_labels,
)

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "the table"


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns, in memory."""
    in_arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return _is_pandas(X) or (in_arrow and hasattr(X, "schema"))


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")  # a pandas table exists only if pandas is imported
    return pandas is not None and isinstance(X, pandas.DataFrame)


@dataclass(frozen=True)
class FrameReader:
    """A data set in memory, read like a `Reader`. It can be iterated over repeatedly.

    `label` names the column of labels; or `labels` has them, one per record. `types` are as for `read`.
    """

    table: "pa.Table"
    label: str | None
    types: Mapping[str, str | None] | None
    block_bytes: int
    labels: NDArray[Any] | None = None

    is_table = True

    @property
    def column_types(self) -> dict[str, str]:
        """The types of all columns that are read, including the label's, by name."""
        return {name: str(kind) for name, kind in self._types.items()}

    def __iter__(self) -> Iterator[Records]:
        if self.table.num_rows == 0:
            raise ValueError(f"{NAME} has column names, but no records; add at least one")
        step = rows_in_a_block(self.block_bytes, self.table.nbytes, self.table.num_rows)
        row = 0
        for batch in self.table.select(list(self._types)).to_batches(max_chunksize=step):
            stop = row + batch.num_rows
            records = with_labels(records_of(cast_columns(batch, self._types), NAME, row + 1, False), self.label)
            if self.labels is not None:
                records = Records(records.columns, self.labels[row:stop], records.file, records.line)
            yield records
            row = stop

    @cached_property
    def _types(self) -> dict[str, "pa.DataType"]:

        names = self.table.column_names
        if self.label is not None:
            check_label(self.label, names, NAME)
        found = {field.name: plain_type(field.type) for field in self.table.schema}
        if self.types is None:
            return found
        check_columns(self.types, names, NAME)
        given = {name: type_named(kind) if kind else found[name] for name, kind in self.types.items()}
        return given if self.label is None else given | {self.label: given.get(self.label, found[self.label])}


def read_frame(
    frame: Any,
    *,
    label: str | None = None,
    types: Mapping[str, str | None] | None = None,
    block_bytes: int = BLOCK_BYTES,
    labels: NDArray[Any] | None = None,
) -> FrameReader:
    """Return a reader of a table in memory."""
    table = as_arrow(frame)
    if labels is not None and labels.shape != (table.num_rows,):
        raise ValueError(
            f"{NAME} has {table.num_rows} rows, but labels of shape {labels.shape}: one label per row is required"
        )
    return FrameReader(table, label, types, block_bytes, labels)


def has_names(frame: Any) -> bool:
    """Whether its columns have names: a pandas table whose columns are only numbered is a matrix."""
    return not _is_pandas(frame) or any(isinstance(name, str) for name in frame.columns)


def column_names(frame: Any) -> list[str]:
    """Return the names of its columns, as strings."""
    return [str(name) for name in getattr(frame, "column_names", None) or frame.columns]


def columns_to_encode(frame: Any) -> dict[str, str]:
    """Return the columns with neither numbers nor booleans, and their types."""
    if _is_pandas(frame) and all(dtype.kind in "biuf" for dtype in frame.dtypes):
        return {}
    import pyarrow as pa

    types = {field.name: plain_type(field.type) for field in as_arrow(frame).schema}
    plain = (is_number, pa.types.is_boolean, pa.types.is_null)
    return {name: str(kind) for name, kind in types.items() if not any(is_kind(kind) for is_kind in plain)}


def as_arrow(frame: Any) -> "pa.Table":
    """Convert a table to Arrow."""
    import pyarrow as pa

    if not _is_pandas(frame):
        try:
            table = pa.table(frame)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{NAME} cannot be read: {error}; cast or drop the column of that type") from None
        check_no_duplicates(table.column_names, NAME)
        return table
    names = [str(name) for name in frame.columns]
    check_no_duplicates(names, NAME)
    columns = [as_column(frame.iloc[:, place], name) for place, name in enumerate(names)]
    return pa.Table.from_arrays(columns, names=names)


def as_column(series: Any, name: str) -> Any:
    """Convert values to an Arrow column; the missing values of pandas and NumPy are null."""
    import pyarrow as pa

    if hasattr(series.dtype, "fill_value"):  # a sparse column, which Arrow does not support
        series = series.sparse.to_dense()
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ValueError(
            f"the column {name!r} has values that do not make one type ({reason}); make words of them with "
            f".astype(str), or numbers with pandas.to_numeric, or drop the column"
        ) from None
