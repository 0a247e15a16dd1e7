"""Encoded examples in one temporary file, for epochs after the first: written once, then memory-mapped block by block.

The cache has rows of numbers and codes of labels, and does not depend on their encoding. Its blocks hold what was
appended, in order, in pieces of at most `BLOCK_BYTES` or `BLOCK_ROWS`, independent of the appended batches. A block has
its values, the columns and the row pointers of its entries if it is sparse, and its codes: each in the smallest type
that holds all of it exactly, and each at a multiple of 64 bytes.

The file: `MAGIC`; the blocks; one `INDEX` entry per block, with the lengths and types of its arrays; a trailer. All
positions follow from the index, and must add up to the size of the file. Every block has a checksum, and so has the
index. Everything is checked before it is used, so that a damaged file is an error, never a crash or a wrong number.

Only one block is mapped at a time: a pass needs the memory of one block, however long the file.
"""

import hashlib
import os
import struct
import zlib
from dataclasses import astuple, dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn, Self

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
INDEX = np.dtype(
    [
        ("rows", "<u8"),
        ("entries", "<u8"),
        ("columns", "<u8"),  # of dense rows
        ("checksum", "<u4"),
        ("value_bytes", "u1"),
        ("index_bytes", "u1"),  # 0: dense
        ("code_bytes", "u1"),
        ("zero", "u1"),
    ]
)

VALUE_TYPES: dict[int, np.dtype[Any]] = {4: np.dtype("<f4"), 8: np.dtype("<f8")}
INDEX_TYPES: dict[int, np.dtype[Any]] = {4: np.dtype("<u4"), 8: np.dtype("<u8")}
CODE_TYPES: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}

MAGIC = b"novikoff cache, version 1\n".ljust(ALIGNMENT, b"\0")
TRAILER = struct.Struct("<QQQ32sI4x")  # blocks, columns, codes, fingerprint, checksum of index and trailer

# How many values are checked first, to see whether float32 is enough.
LOOKED_AT = 64

# Above this, 32-bit indices could not be viewed as signed ones.
MOST_SMALL_INDICES = 2**31


@dataclass(frozen=True)
class CacheEntry:
    """The entry of a block in the index."""

    rows: int
    entries: int
    columns: int
    checksum: int
    value_bytes: int
    index_bytes: int
    code_bytes: int

    def arrays(self) -> list[tuple[np.dtype[Any], int]]:
        """Return the arrays of the block: values, then columns and row pointers if it is sparse, then codes."""
        values, codes = (VALUE_TYPES[self.value_bytes], self.entries), (CODE_TYPES[self.code_bytes], self.rows)
        if not self.index_bytes:
            return [values, codes]
        index = INDEX_TYPES[self.index_bytes]
        return [values, (index, self.entries), (index, self.rows + 1), codes]

    def is_possible(self, n_columns: int) -> bool:
        """Whether this is a possible block in a cache with `n_columns` columns."""
        dense = self.index_bytes == 0 and self.columns == n_columns and self.entries == self.rows * self.columns
        sparse = self.index_bytes in INDEX_TYPES and self.columns == 0
        return (dense or sparse) and self.value_bytes in VALUE_TYPES and self.code_bytes in CODE_TYPES and self.rows > 0

    def places(self) -> list[int]:
        """Return the offsets of its arrays, relative to its start, and of its end."""
        return list(accumulate((_padded(kind.itemsize * count) for kind, count in self.arrays()), initial=0))


def _padded(size: int) -> int:
    return size + -size % ALIGNMENT


# -- writing ----------------------------------------------------------------------------------------------------------


def _arrays(rows: Rows) -> list[NDArray[Any]]:
    """Return the arrays of a block without its codes, in the smallest types that hold them exactly."""
    if not rows.is_sparse:
        return [_shortest(rows.matrix.reshape(-1))]
    data, indices, indptr = rows.matrix
    index = INDEX_TYPES[4 if max(rows.n_entries, int(indices.max(initial=0))) < MOST_SMALL_INDICES else 8]
    return [_shortest(data[: rows.n_entries]), *(part.astype(index) for part in (indices[: rows.n_entries], indptr))]


def _shortest(values: NDArray[Any]) -> NDArray[Any]:
    """Convert to float32 if that holds every value exactly: mistakes stay the same. A few values are tried first."""
    return values.astype(VALUE_TYPES[4 if _is_short(values[:LOOKED_AT]) and _is_short(values) else 8], copy=False)


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
        columns = 0 if rows.is_sparse else rows.n_columns
        sizes = (arrays[0].itemsize, arrays[1].itemsize if rows.is_sparse else 0, arrays[-1].itemsize)
        self._entries.append(CacheEntry(rows.n_rows, rows.n_entries, columns, checksum, *sizes))
        self._n_codes = max(self._n_codes, top + 1)
        self._pending.clear()
        self._pending_rows = self._pending_bytes = 0

    def _finish(self) -> None:
        if self._pending:
            self._flush()
        index = np.array([(*astuple(entry), 0) for entry in self._entries], dtype=INDEX).tobytes()
        self._hash.update(index)
        self.write(sealed_index(index, self._width.n_columns, self._n_codes, self._hash.digest()))
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
    """A complete cache in a file. `fingerprint` is a SHA-256 of its rows and codes, the same for any batches."""

    path: Path
    n_columns: int
    n_codes: int
    fingerprint: str
    entries: tuple[CacheEntry, ...]
    places: tuple[int, ...]
    verified: set[int] = field(default_factory=set, repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The numbers of the first rows of blocks, followed by the number of all rows."""
        return np.array([0, *accumulate(entry.rows for entry in self.entries)], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def n_entries(self) -> int:
        """The number of stored values; in sparse rows, zeros are not stored."""
        return sum(entry.entries for entry in self.entries)

    @property
    def is_sparse(self) -> bool:
        """Whether all blocks are."""
        return all(entry.index_bytes for entry in self.entries)

    def __getitem__(self, number: int) -> tuple[Rows, NDArray[Any]]:
        """Return the rows of a block and their codes: views of the file, which is mapped as long as they are used."""
        entry, start = self.entries[number], self.places[number]
        *places, size = entry.places()
        if self.path.stat().st_size < start + size:
            _is_damaged(self.path, "it was truncated")
        block = np.asarray(np.memmap(self.path, np.uint8, "r", start, size))
        if number not in self.verified and zlib.crc32(block.data) != entry.checksum:
            _is_damaged(self.path, f"the checksum of block {number} is wrong")
        *arrays, codes = (
            block[place : place + kind.itemsize * count].view(kind)
            for (kind, count), place in zip(entry.arrays(), places, strict=True)
        )
        if number not in self.verified:
            self._verify(number, arrays, codes)
            self.verified.add(number)
        if entry.index_bytes:
            return csr_rows(*Csr(*arrays), self.n_columns), codes
        return as_rows(arrays[0].reshape(entry.rows, entry.columns)), codes

    def _verify(self, number: int, arrays: list[NDArray[Any]], codes: NDArray[Any]) -> None:
        """Check that no kernel can read outside its arrays, even if the checksums are right."""
        if int(codes.max()) >= self.n_codes:
            _is_damaged(self.path, f"block {number} has a code beyond the last")
        if len(arrays) == 1:
            return
        data, indices, indptr = arrays
        if indptr[0] != 0 or indptr[-1] != len(data) or np.any(indptr[1:] < indptr[:-1]):
            _is_damaged(self.path, f"the row pointers of block {number} do not ascend to the number of entries")
        if len(indices) and int(indices.max()) >= self.n_columns:
            _is_damaged(self.path, f"block {number} has a column beyond the last")


def open_cache(path: str | os.PathLike[str], *, is_ours: bool = False) -> Cache:
    """Open the cache in a file; its index is checked here, and each block when it is first used.

    If it `is_ours`, just written by this process, the blocks are not checked.
    """
    path = Path(path)
    index_start, index, trailer = _index_and_trailer(path)
    _, n_columns, n_codes, fingerprint, _ = TRAILER.unpack(trailer)
    if sealed_index(index, n_columns, n_codes, fingerprint) != index + trailer:
        _is_damaged(path, "the checksum of its index is wrong")
    entries = tuple(CacheEntry(*fields[:-1]) for fields in np.frombuffer(index, INDEX).tolist())
    for number, entry in enumerate(entries):
        if not entry.is_possible(n_columns):
            _is_damaged(path, f"its index describes an impossible block {number}")
    places = tuple(accumulate((entry.places()[-1] for entry in entries), initial=len(MAGIC)))
    if places[-1] != index_start:
        _is_damaged(path, "its blocks do not fill the file")
    known = set(range(len(entries))) if is_ours else set[int]()
    return Cache(path, n_columns, n_codes, fingerprint.hex(), entries, places, known)


def sealed_index(index: bytes, n_columns: int, n_codes: int, fingerprint: bytes) -> bytes:
    """Return the end of a file: its index, and a trailer with the checksum of both."""
    counts = (len(index) // INDEX.itemsize, n_columns, n_codes, fingerprint)
    checksum = zlib.crc32(TRAILER.pack(*counts, 0), zlib.crc32(index))
    return index + TRAILER.pack(*counts, checksum)


def _index_and_trailer(path: Path) -> tuple[int, bytes, bytes]:
    """Return where the index of a file begins, its bytes, and those of the trailer."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is not a cache that this version has written; rebuild it")
        if size < len(MAGIC) + TRAILER.size:
            _is_damaged(path, "it ends before its index")
        file.seek(size - TRAILER.size)
        trailer = file.read(TRAILER.size)
        n_blocks, *_ = TRAILER.unpack(trailer)
        index_start = size - TRAILER.size - n_blocks * INDEX.itemsize
        if index_start < len(MAGIC):
            _is_damaged(path, "it ends before its index")
        file.seek(index_start)
        return index_start, file.read(n_blocks * INDEX.itemsize), trailer


def _is_damaged(path: Path, what: str) -> NoReturn:
    raise ValueError(f"{path} is truncated or damaged: {what}; rebuild the cache")
