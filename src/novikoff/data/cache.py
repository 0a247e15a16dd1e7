"""Encoded examples in one temporary file, for epochs after the first: written once, then memory-mapped block by block.

The cache has rows of numbers and codes of labels, and does not depend on their encoding. Its blocks hold what was
appended, in order, in pieces of at most `BLOCK_BYTES` or `BLOCK_ROWS`, independent of the appended batches. A block has
its values, the columns and the row pointers of its entries if it is sparse, and its codes: each in the smallest type
that holds all of it exactly, and each at a multiple of 64 bytes.

The file: `MAGIC`; the blocks; the index, which lists the arrays of every block; a trailer. Every block has a checksum,
and so has the index, which are checked before they are used: a damaged file is an error, never a wrong number.

Only one block is mapped at a time: a pass needs the memory of one block, however long the file.
"""

import hashlib
import os
import struct
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn, Self

import msgspec
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
MAGIC = b"novikoff cache, version 2\n".ljust(ALIGNMENT, b"\0")
TRAILER = struct.Struct("<QI")  # the size of the index, and its checksum

# How many values are checked first, to see whether float32 is enough.
LOOKED_AT = 64

# Above this, 32-bit indices could not be viewed as signed ones.
MOST_SMALL_INDICES = 2**31


class CacheEntry(msgspec.Struct, frozen=True, array_like=True):
    """The entry of a block in the index: its rows, its checksum, and the types and lengths of its arrays.

    These are the values, then the columns and row pointers if it is sparse, then the codes.
    """

    rows: int
    checksum: int
    arrays: tuple[tuple[str, int], ...]

    @property
    def is_sparse(self) -> bool:
        return len(self.arrays) > 2

    def places(self) -> list[int]:
        """Return the offsets of its arrays, relative to its start, and of its end."""
        sizes = (np.dtype(kind).itemsize * count for kind, count in self.arrays)
        return list(accumulate((size + -size % ALIGNMENT for size in sizes), initial=0))


class CacheIndex(msgspec.Struct, frozen=True, array_like=True):
    """What is known of all blocks. `fingerprint` is a SHA-256 of all rows and codes."""

    n_columns: int
    n_codes: int
    fingerprint: str
    entries: tuple[CacheEntry, ...]


# -- writing ----------------------------------------------------------------------------------------------------------


def _arrays(rows: Rows) -> list[NDArray[Any]]:
    """Return the arrays of a block without its codes, in the smallest types that hold them exactly."""
    if not rows.is_sparse:
        return [_shortest(rows.matrix.reshape(-1))]
    data, indices, indptr = rows.matrix
    index = np.uint32 if max(rows.n_entries, int(indices.max(initial=0))) < MOST_SMALL_INDICES else np.uint64
    return [_shortest(data[: rows.n_entries]), *(part.astype(index) for part in (indices[: rows.n_entries], indptr))]


def _shortest(values: NDArray[Any]) -> NDArray[Any]:
    """Convert to float32 if that holds every value exactly: mistakes stay the same. A few values are tried first."""
    is_short = _is_short(values[:LOOKED_AT]) and _is_short(values)
    return values.astype(np.float32 if is_short else np.float64, copy=False)


def _is_short(values: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.array_equal(values.astype(np.float32), values)


class CacheWriter(WholeFile):
    """Writes a cache: `with CacheWriter(path) as cache: cache.append(rows, codes)`.

    The file gets its name only when it is complete; after an error, nothing is left of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with CacheWriter(Path(folder, "cache")) as writer:
    ...         writer.append(as_rows([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]))
    ...         writer.append(as_rows([[5.0, 6.0]]), np.array([0]))
    ...     rows, codes = open_cache(Path(folder, "cache"))[0]
    >>> rows.as_array().tolist(), codes.tolist()
    ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1, 0])
    """

    def __init__(
        self, path: str | os.PathLike[str], *, block_bytes: int = BLOCK_BYTES, block_rows: int = BLOCK_ROWS
    ) -> None:
        super().__init__(path, sync=False)  # a lost cache is written again
        self._block_bytes, self._block_rows = block_bytes, block_rows
        self._width = Width()
        self._pending: list[tuple[Rows, NDArray[Any]]] = []
        self._pending_rows = self._pending_bytes = 0
        self._n_codes = 0
        self._entries: list[CacheEntry] = []
        self._hash = hashlib.sha256()

    def __enter__(self) -> Self:
        super().__enter__()
        self.write(MAGIC)
        return self

    def append(self, rows: Rows, codes: NDArray[Any]) -> None:
        """Add a copy of examples, with the codes of their labels: 0, 1, and so on."""
        self._check(rows, codes)
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

    def _check(self, rows: Rows, codes: NDArray[Any]) -> None:
        if codes.shape != (rows.n_rows,) or codes.dtype.kind not in "iu":
            raise ValueError(f"{rows.n_rows} rows need as many whole codes, not {codes.dtype} of shape {codes.shape}")
        if len(codes) and int(codes.min()) < 0:
            raise ValueError(f"the code {int(codes.min())} is negative; codes count from 0")
        self._width.add(rows)

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
        """Write the current block."""
        parts, of_parts = zip(*self._pending, strict=True)
        rows, codes = stacked(parts), np.concatenate(of_parts)
        top, checksum = int(codes.max()), 0
        arrays = [*_arrays(rows), codes.astype(np.min_scalar_type(top))]
        for array in arrays:
            padded: tuple[Any, ...] = (array.view(np.uint8), bytes(-array.nbytes % ALIGNMENT))
            for content in padded:
                self._hash.update(content)
                checksum = zlib.crc32(content, checksum)
                self.write(content)
        listed = tuple((array.dtype.str, len(array)) for array in arrays)
        self._entries.append(CacheEntry(rows.n_rows, checksum, listed))
        self._n_codes = max(self._n_codes, top + 1)
        self._pending.clear()
        self._pending_rows = self._pending_bytes = 0

    def _finish(self) -> None:
        if self._pending:
            self._flush()
        self._hash.update(msgspec.json.encode(self._entries))
        of_all = CacheIndex(self._width.n_columns, self._n_codes, self._hash.hexdigest(), tuple(self._entries))
        index = msgspec.json.encode(of_all)
        self.write(index + TRAILER.pack(len(index), zlib.crc32(index)))
        super()._finish()


def _copied(rows: Rows) -> Rows:
    """Copy rows, whose buffer may be reused."""
    if not rows.is_sparse:
        return as_rows(rows.matrix.copy())
    data, indices, indptr = rows.matrix
    return csr_rows(data.copy(), indices.copy(), indptr.copy(), rows.n_columns)


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cache:
    """A complete cache in a file. Its fingerprint is the same for any batches."""

    path: Path
    index: CacheIndex
    places: tuple[int, ...]
    verified: set[int] = field(default_factory=set, repr=False)

    def __len__(self) -> int:
        return len(self.index.entries)

    @property
    def n_columns(self) -> int:
        return self.index.n_columns

    @property
    def fingerprint(self) -> str:
        return self.index.fingerprint

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The numbers of the first rows of blocks, followed by the number of all rows."""
        return np.array([0, *accumulate(entry.rows for entry in self.index.entries)], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def n_entries(self) -> int:
        """The number of stored values; in sparse rows, zeros are not stored."""
        return sum(entry.arrays[0][1] for entry in self.index.entries)

    @property
    def is_sparse(self) -> bool:
        """Whether all blocks are."""
        return all(entry.is_sparse for entry in self.index.entries)

    def __getitem__(self, number: int) -> tuple[Rows, NDArray[Any]]:
        """Return the rows of a block and their codes: views of the file, which is mapped as long as they are used."""
        entry, start = self.index.entries[number], self.places[number]
        *places, size = entry.places()
        if self.path.stat().st_size < start + size:
            _is_damaged(self.path, "it was truncated")
        block = np.asarray(np.memmap(self.path, np.uint8, "r", start, size))
        if number not in self.verified and zlib.crc32(block.data) != entry.checksum:
            _is_damaged(self.path, f"the checksum of block {number} is wrong")
        self.verified.add(number)
        *arrays, codes = (
            block[place : place + np.dtype(kind).itemsize * count].view(kind)
            for (kind, count), place in zip(entry.arrays, places, strict=True)
        )
        if entry.is_sparse:
            return csr_rows(*Csr(*arrays), self.n_columns), codes
        return as_rows(arrays[0].reshape(entry.rows, -1)), codes


def open_cache(path: str | os.PathLike[str], *, is_ours: bool = False) -> Cache:
    """Open the cache in a file; its index is checked here, and each block when it is first used.

    If it `is_ours`, just written by this process, the blocks are not checked.
    """
    path = Path(path)
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is not a cache that this version has written; rebuild it")
        end = os.fstat(file.fileno()).st_size - TRAILER.size
        file.seek(max(end, 0))
        size, checksum = TRAILER.unpack(file.read(TRAILER.size)) if end >= len(MAGIC) else (0, 0)
        file.seek(max(end - size, 0))
        index = file.read(min(size, max(end, 0)))
    if not index or zlib.crc32(index) != checksum:
        _is_damaged(path, "the checksum of its index is wrong")
    found = msgspec.json.decode(index, type=CacheIndex)
    places = tuple(accumulate((entry.places()[-1] for entry in found.entries), initial=len(MAGIC)))
    return Cache(path, found, places, set(range(len(places))) if is_ours else set())


def _is_damaged(path: Path, what: str) -> NoReturn:
    raise ValueError(f"{path} is truncated or damaged: {what}; rebuild the cache")
