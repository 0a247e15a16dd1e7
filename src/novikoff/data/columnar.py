"""Tables in Parquet files and Arrow files, which state the types of their columns."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from novikoff.data.batches import Records
from novikoff.data.streams import FileSource, OpenedFile, compression, is_elsewhere, opened
from novikoff.data.tables import Types, cast_columns, check_columns, check_no_duplicates, plain_type, records_of

if TYPE_CHECKING:
    import pyarrow as pa


def look(
    file: OpenedFile, types: dict[str, "pa.DataType"], only: Collection[str] | None, words: Collection[str]
) -> Iterator[Records]:
    """Yield all columns, whose types the file states; if only some types are requested, nothing else is read."""
    with _opened(file.source) as (_, schema):
        types |= {field.name: plain_type(field.type) for field in schema if only is None or field.name in only}
    return read_records(file, types) if only is None else iter(())


def read_records(file: OpenedFile, types: Types) -> Iterator[Records]:
    """Yield the columns in `types`. There are no line numbers; records are counted from 1."""
    row = 1
    with _opened(file.source) as (table, schema):
        check_columns(types, schema.names, file.source.name)
        for batch in _batches(file.source, table, list(types), file.block_bytes):
            yield records_of(cast_columns(batch, types), file.source.name, row, False)
            row += batch.num_rows


def row_groups(source: FileSource) -> list[tuple[int, int]]:
    """Return the bytes and the rows of every row group of a Parquet file."""
    with _opened(source) as (table, _):
        facts = [table.metadata.row_group(number) for number in range(table.metadata.num_row_groups)]
        return [(group.total_byte_size, group.num_rows) for group in facts]


def _batches(source: FileSource, table: Any, names: list[str], block_bytes: int) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    if source.format == "parquet":
        facts = table.metadata
        size = sum(facts.row_group(group).total_byte_size for group in range(facts.num_row_groups))
        groups = list(range(facts.num_row_groups) if source.part is None else range(*source.part))
        in_a_block = rows_in_a_block(block_bytes, size, facts.num_rows)
        # On one processor, a pool of threads for the columns costs a quarter of the time.
        yield from table.iter_batches(in_a_block, row_groups=groups, columns=names, use_threads=pa.cpu_count() > 1)
        return
    streamed = not hasattr(table, "num_record_batches")
    for batch in table if streamed else map(table.get_batch, range(table.num_record_batches)):
        step = rows_in_a_block(block_bytes, batch.nbytes, batch.num_rows)
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)


def rows_in_a_block(block_bytes: int, size: int, n_rows: int) -> int:
    """Return the number of rows in a block."""
    return max(1, block_bytes * max(n_rows, 1) // max(size, 1))


@contextmanager
def _opened(source: FileSource) -> Iterator[tuple[Any, "pa.Schema"]]:
    import pyarrow as pa
    from pyarrow import parquet

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
