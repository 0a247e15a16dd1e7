"""Tables that state the types of their columns: Parquet and Arrow files, and tables of pandas, polars or pyarrow.

A column has the type that it has in a file of the same content (see `data/tables.py`), so a table in memory and its
file have the same encoding, model and certificate. As in Parquet, and unlike in CSV, the word "7" stays a word. The
index of a pandas table is not a column.
"""

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from novikoff.data.batches import Records
from novikoff.data.streams import FileSource, compression, is_elsewhere, opened
from novikoff.data.tables import (
    BLOCK_BYTES,
    Types,
    cast_columns,
    check_columns,
    check_no_duplicates,
    is_number,
    plain_type,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from novikoff.data.reading import Reader

NAME = "the table"


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns, in memory."""
    in_arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return _is_pandas(X) or (in_arrow and hasattr(X, "schema"))


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")  # a pandas table exists only if pandas is imported
    return pandas is not None and isinstance(X, pandas.DataFrame)


def read_frame(
    frame: Any,
    *,
    label: str | None = None,
    types: Mapping[str, str | None] | None = None,
    block_bytes: int = BLOCK_BYTES,
    labels: NDArray[Any] | None = None,
) -> "Reader":
    """Return a reader of a table in memory; `labels`, one per row, may be given apart from it."""
    from novikoff.data.reading import Reader

    table = as_arrow(frame)
    if labels is not None and labels.shape != (table.num_rows,):
        raise ValueError(
            f"{NAME} has {table.num_rows} rows, but labels of shape {labels.shape}: one label per row is required"
        )
    return Reader((NAME,), ("memory",), label, types, block_bytes, n_jobs=1, table=table, labels=labels)


def has_names(frame: Any) -> bool:
    """Whether its columns have names: a pandas table whose columns are only numbered is a matrix."""
    return not _is_pandas(frame) or any(isinstance(name, str) for name in frame.columns)


def column_names(frame: Any) -> list[str]:
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


# -- reading ----------------------------------------------------------------------------------------------------------


def look(source: FileSource, types: dict[str, "pa.DataType"], only: Collection[str] | None) -> Iterator[Records]:
    """Yield all columns, whose types the file states; if only some types are requested, nothing else is read."""
    with _opened(source) as (_, schema):
        types |= {field.name: plain_type(field.type) for field in schema if only is None or field.name in only}
    return read_records(source, types) if only is None else iter(())


def read_records(source: FileSource, types: Types) -> Iterator[Records]:
    """Yield the columns in `types`. There are no line numbers; records are counted from 1."""
    row = 1
    with _opened(source) as (table, schema):
        check_columns(types, schema.names, source.name)
        for batch in _batches(source, table, list(types)):
            yield Records(cast_columns(batch, types), None, source.name, row, "row")
            row += batch.num_rows


def row_groups(source: FileSource) -> list[tuple[int, int]]:
    """Return the bytes and the rows of every row group of a Parquet file."""
    with _opened(source) as (table, _):
        facts = [table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)]
        return [(group.total_byte_size, group.num_rows) for group in facts]


def _batches(source: FileSource, table: Any, names: list[str]) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    def rows_in_a_block(n_bytes: int, n_rows: int) -> int:
        return max(1, source.block_bytes * max(n_rows, 1) // max(n_bytes, 1))

    if source.table is not None:
        yield from table.select(names).to_batches(rows_in_a_block(table.nbytes, table.num_rows))
        return
    if source.format == "parquet":
        facts = table.metadata
        size = sum(facts.row_group(group).total_byte_size for group in range(facts.num_row_groups))
        groups = list(range(facts.num_row_groups) if source.part is None else range(*source.part))
        in_a_block = rows_in_a_block(size, facts.num_rows)
        # On one processor, a pool of threads for the columns costs a quarter of the time.
        yield from table.iter_batches(in_a_block, row_groups=groups, columns=names, use_threads=pa.cpu_count() > 1)
        return
    streamed = not hasattr(table, "num_record_batches")
    for batch in table if streamed else map(table.get_batch, range(table.num_record_batches)):
        step = rows_in_a_block(batch.nbytes, batch.num_rows)
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)


@contextmanager
def _opened(source: FileSource) -> Iterator[tuple[Any, "pa.Schema"]]:
    import pyarrow as pa
    from pyarrow import parquet

    if source.table is not None:
        yield source.table, source.table.schema
        return
    kind = "a Parquet file" if source.format == "parquet" else "an Arrow file"
    with opened(source.path) as file:
        head = file.read(8)
    if not head:
        raise ValueError(f"{source.name} is empty")
    if compression(head):
        raise ValueError(f"{source.name} is {kind} inside of a compressed one; decompress it first")
    try:
        with opened(source.path) if is_elsewhere(source.path) else pa.OSFile(source.path) as file:
            if source.format == "parquet":
                table = parquet.ParquetFile(file)
                schema = table.schema_arrow
            else:
                table = pa.ipc.open_file(file) if head.startswith(b"ARROW1") else pa.ipc.open_stream(file)
                schema = table.schema
            check_no_duplicates(schema.names, source.name)
            yield table, schema
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ValueError(f"{source.name} cannot be read as {kind}: {reason}; it is damaged or incomplete") from None
