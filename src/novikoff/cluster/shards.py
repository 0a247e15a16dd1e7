"""The logical shards of a data set: files, row groups of Parquet files, and ranges of bytes in files of lines.

They depend on the files alone, never on the number of workers, so that the same data give the same bits on one machine
and on a hundred. A CSV file is one shard, because only a reader that begins at its start knows which line ends are
inside quotes; so is a compressed file.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from novikoff.data.files import files_of, format_of
from novikoff.data.frames import read_frame, row_groups
from novikoff.data.reading import Reader, named_part, read
from novikoff.data.streams import STANDARD_INPUT, FileSource, Stamp, TableForm, compression, opened, stamp_of

if TYPE_CHECKING:
    from novikoff.data.svmlight import ZeroBased

# The approximate size of a shard: bytes of a file, or rows of a table in the memory of a cluster.
SHARD_BYTES = 1 << 26
SHARD_ROWS = 1 << 18

# Formats in which a line end is never quoted.
CUT_BY_BYTES = ("jsonl", "svmlight")


@dataclass(frozen=True)
class FileShard:
    """A file, or a part of one, as it was when the work began.

    `rows_before` is the number of rows of the data set before it, where its files record that.
    """

    file: str
    format: str
    part: tuple[int, int] | None
    stamp: Stamp
    rows_before: int | None = None
    form: TableForm = field(default_factory=TableForm)

    @property
    def name(self) -> str:
        return named_part(self.file, self.format, self.part)

    @property
    def is_table(self) -> bool:
        return self.format != "svmlight"

    def reader(
        self, label: str | None, types: Mapping[str, str | None] | None = None, zero_based: "ZeroBased" = "auto"
    ) -> Reader:
        """Return its reader; refuse a file that has changed since."""
        if stamp_of(self.file) != self.stamp:
            raise OSError(f"{self.file} has changed since the work began; start over when it is complete")
        if not self.is_table:
            return replace(read(self.file, format=self.format, zero_based=zero_based), parts=(self.part,))
        reader = read(self.file, label=label, format=self.format, types=types)
        return replace(reader, parts=(self.part,), form=self.form)


@dataclass(frozen=True)
class TableShard:
    """Some rows of a table whose pieces are in the memory of a cluster: pieces, and which rows of each."""

    pieces: tuple[tuple[Any, int, int], ...]
    first: int

    is_table = True
    format = "table"

    @property
    def rows_before(self) -> int:
        return self.first

    @property
    def name(self) -> str:
        n_rows = sum(stop - start for _, start, stop in self.pieces)
        return f"rows {self.first} to {self.first + n_rows - 1} of the data set"

    def reader(
        self, label: str | None, types: Mapping[str, str | None] | None = None, zero_based: "ZeroBased" = "auto"
    ) -> Reader:
        import pyarrow as pa
        import ray

        tables = ray.get([piece for piece, _, _ in self.pieces])
        parts = [table.slice(a, b - a) for table, (_, a, b) in zip(tables, self.pieces, strict=True)]
        return read_frame(pa.concat_tables(parts, promote_options="default"), label=label, types=types)


Shard = FileShard | TableShard


def shards_of(source: Any, *, format: str | None = None, shard_bytes: int = SHARD_BYTES) -> list[Shard]:
    """Return the shards of files (a path, a pattern, a list of them, or a reader of them), or of a `ray.data.Dataset`.

    They are in the order of the data.
    """
    if shard_bytes < 1:
        raise ValueError(f"shard_bytes is {shard_bytes}, but a shard has at least one byte")
    if hasattr(source, "to_arrow_refs"):
        return list(_shards_of_dataset(source, SHARD_ROWS))
    is_reader = isinstance(source, Reader)
    files, form = (source.files, source.form) if is_reader else (files_of(source), TableForm())
    if files == (STANDARD_INPUT,):
        raise ValueError("standard input cannot be read by several machines; save it to files, and name these")
    formats = source.formats if is_reader else [format or format_of(file, None) for file in files]
    if len({kind == "svmlight" for kind in formats}) > 1:
        raise ValueError(f"{files[0]}: svmlight text and tables do not make one data set; read them separately")
    if "vw" in formats:
        raise ValueError(f"{files[0]}: Vowpal Wabbit's text is read on one machine only; omit the cluster")
    rows: int | None = 0
    shards: list[Shard] = []
    for file, kind in zip(files, formats, strict=True):
        for part, n_rows in _parts(file, kind, shard_bytes):
            shards.append(FileShard(file, kind, part, stamp_of(file), rows, form))
            rows = None if rows is None or n_rows is None else rows + n_rows
    return shards


def _shards_of_dataset(dataset: Any, shard_rows: int) -> Iterator[TableShard]:
    """Yield shards of about as many rows, whatever the blocks of the data set, which depend on the cluster."""
    if not dataset.context.execution_options.preserve_order:
        raise ValueError(
            "the data set does not keep the order of its rows, so that no two runs would see the same; before it is "
            "made, set ray.data.DataContext.get_current().execution_options.preserve_order = True"
        )
    ray = import_module("ray")
    pieces = dataset.to_arrow_refs()
    count = ray.remote(num_cpus=0)(lambda table: table.num_rows)
    sizes: list[int] = ray.get([count.remote(piece) for piece in pieces])
    n_rows = sum(sizes)
    if n_rows == 0:
        raise ValueError("the data set has no rows; there is nothing to learn from")
    n_shards = -(-n_rows // shard_rows)
    starts = list(itertools.accumulate(sizes, initial=0))
    for number in range(n_shards):
        first, last = n_rows * number // n_shards, n_rows * (number + 1) // n_shards
        parts = (
            (piece, max(first - start, 0), min(last - start, size))
            for piece, start, size in zip(pieces, starts, sizes, strict=False)
        )
        yield TableShard(tuple(part for part in parts if part[1] < part[2]), first)


def _parts(file: str, format: str, shard_bytes: int) -> list[tuple[tuple[int, int] | None, int | None]]:
    """Return the parts of a file, and how many rows each has, if that is known."""
    if format == "parquet":
        groups = row_groups(FileSource(file, file, format))
        ends = even_ends([size for size, _ in groups], shard_bytes)
        rows = [n_rows for _, n_rows in groups]
        if len(ends) <= 2:
            return [(None, sum(rows))]
        return [((a, b), sum(rows[a:b])) for a, b in itertools.pairwise(ends)]
    size, _ = stamp_of(file)
    if format not in CUT_BY_BYTES or size <= shard_bytes or _is_compressed(file):
        return [(None, None)]
    n_parts = -(-size // shard_bytes)
    return [(part, None) for part in itertools.pairwise([size * i // n_parts for i in range(n_parts + 1)])]


def even_ends(sizes: Sequence[int], most: int) -> list[int]:
    """Return where to cut a sequence so that parts are about even, and about `most` at most, if its pieces are.

    >>> even_ends([5, 5, 5, 5], 10), even_ends([5, 5], 100), even_ends([50, 50], 10)
    ([0, 2, 4], [0, 2], [0, 1, 2])
    """
    total, n_parts = sum(sizes), min(max(1, -(-sum(sizes) // most)), max(1, len(sizes)))
    ends, done = [0], 0
    for number, size in enumerate(sizes):
        done += size
        if done * n_parts >= len(ends) * total and len(ends) < n_parts:
            ends.append(number + 1)
    return [*ends, len(sizes)] if ends[-1] != len(sizes) else ends


def _is_compressed(file: str) -> bool:
    with opened(file) as stream:
        return compression(stream.read(4)) is not None
