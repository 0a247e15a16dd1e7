"""Encoded examples in one temporary file, for epochs after the first: written once, then memory-mapped block by block.

The cache has rows of numbers and codes of labels, and does not depend on their encoding. Its blocks hold what was
appended, in order, in pieces of at most `BLOCK_BYTES` or `BLOCK_ROWS`, independent of the appended batches. A block has
its values, the columns and the row pointers of its entries if it is sparse, and its codes: each in the smallest type
that holds all of it exactly, and each at a multiple of 64 bytes. Only the process that wrote the file reads it, so
where the arrays are is kept in memory.

Only one block is mapped at a time: a pass needs the memory of one block, however long the file.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Width, stacked
from novikoff.data.whole_file import WholeFile
from novikoff.engine.rows import Csr, Rows, as_rows, csr_rows

BLOCK_BYTES = 8_000_000
BLOCK_ROWS = 65_536

# The bytes of an entry in the size of a block: a float64, and a 32-bit column, though less may be written.
DENSE_COST, SPARSE_COST = 8, 12

ALIGNMENT = 64

# Above this, 32-bit indices could not be viewed as signed ones.
MOST_SMALL_INDICES = 2**31


class CacheBlock(NamedTuple):
    """Where a block is: its first byte, its size and rows, and the place, type and length of its arrays, codes last."""

    start: int
    size: int
    n_rows: int
    arrays: tuple[tuple[int, str, int], ...]

    @property
    def is_sparse(self) -> bool:
        return len(self.arrays) > 2


@dataclass(frozen=True)
class Cache:
    """The examples in a file. The `fingerprint`, a SHA-256 of all rows and codes, is the same for any batches."""

    path: Path
    blocks: list[CacheBlock]
    n_columns: int
    fingerprint: str

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The numbers of the first rows of blocks, followed by the number of all rows."""
        return np.array([0, *accumulate(block.n_rows for block in self.blocks)], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def n_entries(self) -> int:
        """The number of stored values; in sparse rows, zeros are not stored."""
        return sum(block.arrays[0][2] for block in self.blocks)

    @property
    def is_sparse(self) -> bool:
        return all(block.is_sparse for block in self.blocks)

    def __getitem__(self, number: int) -> tuple[Rows, NDArray[Any]]:
        """Return the rows of a block and their codes: views of the file, which is mapped as long as they are used."""
        block = self.blocks[number]
        if self.path.stat().st_size < block.start + block.size:
            raise ValueError(f"{self.path} is damaged: it was truncated; rebuild the cache")
        content = np.memmap(self.path, np.uint8, "r", block.start, block.size)
        *arrays, codes = (np.frombuffer(content, kind, count, place) for place, kind, count in block.arrays)
        if block.is_sparse:
            return csr_rows(*Csr(*arrays), self.n_columns), codes
        return as_rows(arrays[0].reshape(block.n_rows, -1)), codes


class CacheWriter(WholeFile):
    """Writes a cache: `with CacheWriter(path) as writer: writer.append(rows, codes)`; then `writer.cache` has it.

    The file gets its name only when it is complete; after an error, nothing is left of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with CacheWriter(Path(folder, "cache")) as writer:
    ...         writer.append(as_rows([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]))
    ...         writer.append(as_rows([[5.0, 6.0]]), np.array([0]))
    ...     rows, codes = writer.cache[0]
    >>> rows.as_array().tolist(), codes.tolist()
    ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1, 0])
    """

    cache: Cache

    def __init__(
        self, path: str | os.PathLike[str], *, block_bytes: int = BLOCK_BYTES, block_rows: int = BLOCK_ROWS
    ) -> None:
        super().__init__(path, sync=False)  # a lost cache is written again
        self._block_bytes, self._block_rows = block_bytes, block_rows
        self._width = Width()
        self._pending: list[tuple[Rows, NDArray[Any]]] = []
        self._pending_rows = self._pending_bytes = 0
        self._blocks: list[CacheBlock] = []
        self._hash = hashlib.sha256()

    def append(self, rows: Rows, codes: NDArray[Any]) -> None:
        """Add a copy of examples, with the codes of their labels: 0, 1, and so on."""
        if codes.shape != (rows.n_rows,):
            raise ValueError(f"{rows.n_rows} rows need as many labels, not an array of shape {codes.shape}")
        self._width.add(rows)
        start = 0
        while start < rows.n_rows:
            stop = self._full_at(rows, start)
            if stop == start:
                self._flush()
                continue
            part = rows if (start, stop) == (0, rows.n_rows) else rows.part(start, stop)
            self._pending.append((_copied(part), codes[start:stop].copy()))
            self._pending_rows += part.n_rows
            self._pending_bytes += (SPARSE_COST if rows.is_sparse else DENSE_COST) * part.n_entries
            start = stop

    def _full_at(self, rows: Rows, start: int) -> int:
        """Return the row before which the current block is full."""
        if self._pending and self._pending[-1][0].is_sparse != rows.is_sparse:
            return start
        room = max(self._block_bytes - self._pending_bytes, 0)
        if rows.is_sparse:
            ends = rows.matrix.indptr[start : start + self._block_rows + 1]
            by_bytes = int(np.searchsorted(ends, int(ends[0]) + room // SPARSE_COST, side="right")) - 1
        else:
            by_bytes = room // max(DENSE_COST * rows.n_columns, 1)
        least = 0 if self._pending else 1  # a row larger than a block has a block of its own
        return min(start + max(least, min(by_bytes, self._block_rows - self._pending_rows)), rows.n_rows)

    def _flush(self) -> None:
        if not self._pending:
            return
        parts, of_parts = zip(*self._pending, strict=True)
        rows, codes = stacked(parts), np.concatenate(of_parts)
        first = sum(self._blocks[-1][:2]) if self._blocks else 0
        listed, end = [], 0
        for array in (*_arrays(rows), codes.astype(np.min_scalar_type(int(codes.max())))):
            listed.append((end, array.dtype.str, len(array)))
            padded: tuple[Any, ...] = (array.view(np.uint8), bytes(-array.nbytes % ALIGNMENT))
            for content in padded:
                self._hash.update(content)
                self.write(content)
                end += len(content)
        self._blocks.append(CacheBlock(first, end, rows.n_rows, tuple(listed)))
        self._pending.clear()
        self._pending_rows = self._pending_bytes = 0

    def _finish(self) -> None:
        self._flush()
        super()._finish()
        self._hash.update(repr(self._blocks).encode())
        self.cache = Cache(self.path, self._blocks, self._width.n_columns, self._hash.hexdigest())


def _arrays(rows: Rows) -> list[NDArray[Any]]:
    """Return the arrays of a block without its codes, in the smallest types that hold them exactly."""
    if not rows.is_sparse:
        return [_shortest(rows.matrix.reshape(-1))]
    data, indices, indptr = rows.matrix
    index = np.uint32 if max(rows.n_entries, int(indices.max(initial=0))) < MOST_SMALL_INDICES else np.uint64
    return [_shortest(data[: rows.n_entries]), *(part.astype(index) for part in (indices[: rows.n_entries], indptr))]


def _shortest(values: NDArray[Any]) -> NDArray[Any]:
    """Convert to float32 if that holds every value exactly: mistakes stay the same."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        short = values.astype(np.float32)
    return short if np.array_equal(short, values) else values.astype(np.float64, copy=False)


def _copied(rows: Rows) -> Rows:
    """Copy rows, whose buffer may be reused."""
    if not rows.is_sparse:
        return as_rows(rows.matrix.copy())
    data, indices, indptr = rows.matrix
    return csr_rows(data.copy(), indices.copy(), indptr.copy(), rows.n_columns)
