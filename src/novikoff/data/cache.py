"""Encoded examples in one file, for epochs after the first: read block by block, by mapping, checked before use.

The cache knows rows of numbers and codes of labels, and nothing of what encoded them. Its blocks hold what was
appended, in order, in pieces of `BLOCK_BYTES` or `BLOCK_ROWS` at most, wherever the appended batches began and ended.

The file: `MAGIC`; the blocks; one `INDEX` entry a block; a trailer. A block is its values, the columns and the row
pointers of its entries if it is sparse, and its codes, each starting at a multiple of 64 bytes. All positions follow
from the index, and must add up to the size of the file. Every block has a checksum, and so has the index. Whatever a
file says is checked before it is believed, so that a damaged one is an error, never a crash or a wrong number.

Only one block is mapped at a time: the memory that a pass needs is that of a block, however long the file. Blocks for
which there is room need no file: they are `Held` in memory, all of them, or none.
"""

import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.data.blocks import Width
from novikoff.data.whole_file import WholeFile
from novikoff.engine.ahead import Behind
from novikoff.engine.rows import Csr, Rows, as_rows, csr_rows

BLOCK_BYTES = 8_000_000
BLOCK_ROWS = 65_536

# What an entry counts towards the size of a block: a float64, and a 32-bit column, whatever is written in the end.
DENSE_COST, SPARSE_COST = 8, 12

ALIGNMENT = 64
MAGIC = b"novikoff cache, version 1\n".ljust(ALIGNMENT, b"\0")
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
TRAILER = struct.Struct("<QQQ32sI4x")  # blocks, columns, codes, fingerprint, checksum of index and trailer

VALUE_TYPES: dict[int, np.dtype[Any]] = {4: np.dtype("<f4"), 8: np.dtype("<f8")}
INDEX_TYPES: dict[int, np.dtype[Any]] = {4: np.dtype("<u4"), 8: np.dtype("<u8")}
CODE_TYPES: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}

# So many values are looked at first, to see whether short ones would do.
LOOKED_AT = 64

# From here on, 32-bit indices could no longer be viewed as signed ones.
MOST_SMALL_INDICES = 2**31


@dataclass(frozen=True)
class Entry:
    """What the index says of a block."""

    rows: int
    entries: int
    columns: int
    checksum: int
    value_bytes: int
    index_bytes: int
    code_bytes: int

    def arrays(self) -> list[tuple[np.dtype[Any], int]]:
        """The arrays of the block: values, then columns and row pointers if it is sparse, then codes."""
        values, codes = (VALUE_TYPES[self.value_bytes], self.entries), (CODE_TYPES[self.code_bytes], self.rows)
        if not self.index_bytes:
            return [values, codes]
        index = INDEX_TYPES[self.index_bytes]
        return [values, (index, self.entries), (index, self.rows + 1), codes]

    def is_possible(self, n_columns: int) -> bool:
        """Whether there can be such a block in a cache of so many columns."""
        dense = self.index_bytes == 0 and self.columns == n_columns and self.entries == self.rows * self.columns
        sparse = self.index_bytes in INDEX_TYPES and self.columns == 0
        return (dense or sparse) and self.value_bytes in VALUE_TYPES and self.code_bytes in CODE_TYPES and self.rows > 0

    def places(self) -> list[int]:
        """Where its arrays begin, counted from its own beginning, and where it ends."""
        return list(accumulate((_padded(kind.itemsize * count) for kind, count in self.arrays()), initial=0))


def _padded(size: int) -> int:
    return size + -size % ALIGNMENT


# ---------------------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------------------


class CacheWriter:
    """Writes a cache: `with CacheWriter(path) as cache: cache.append(rows, codes)`.

    The file has its name only when it is complete; if anything fails before, nothing is left of it. Blocks of no more
    than `room` bytes in all are not written, but `held`. `n_jobs` threads may be used, this one among them.

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
        self,
        path: str | os.PathLike[str],
        *,
        block_bytes: int = BLOCK_BYTES,
        block_rows: int = BLOCK_ROWS,
        room: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.held: Held | None = None
        self._room = room
        self._kept: list[_Block] = []
        self._file: WholeFile | None = None
        self._width = Width()
        self._block_bytes, self._block_rows = block_bytes, block_rows
        self._pending: list[tuple[Rows, NDArray[Any]]] = []
        self._held_rows = self._held_bytes = 0
        self._n_codes = 0
        self._seal = _Seal()
        self._behind = Behind(n_jobs)

    def __enter__(self) -> Self:
        if self._room <= 0:
            self._begin_file()
        return self

    def append(self, rows: Rows, codes: NDArray[Any], *, copied: bool = True) -> None:
        """Add examples with the codes of their labels: 0, 1, and so on. Both are copied, unless nobody will write to
        them any more.
        """
        self._check(rows, codes)
        start = 0
        while start < rows.n_rows:
            stop = self._full_at(rows, start)
            if stop == start:
                self._flush()
                continue
            part = rows if (start, stop) == (0, rows.n_rows) else rows.part(start, stop)
            self._pending.append((_copied(part), codes[start:stop].copy()) if copied else (part, codes[start:stop]))
            self._held_rows += part.n_rows
            self._held_bytes += _cost(part)
            start = stop

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except BaseException as failed:
            kind, error = type(failed), failed
            raise
        finally:
            self._pending.clear()
            self._kept.clear()
            if self.held is None:
                self._behind.close()
            if self._file is not None:
                self._file.__exit__(kind, error, trace)

    def _check(self, rows: Rows, codes: NDArray[Any]) -> None:
        if codes.shape != (rows.n_rows,) or codes.dtype.kind not in "iu":
            raise ValueError(f"{rows.n_rows} rows need as many whole codes, not {codes.dtype} of shape {codes.shape}")
        if len(codes) and int(codes.min()) < 0:
            raise ValueError(f"the code {int(codes.min())} is negative; codes count from 0")
        self._width.add(rows)

    def _full_at(self, rows: Rows, start: int) -> int:
        """The row before which the block in hand is full."""
        if self._pending and self._pending[-1][0].is_sparse != rows.is_sparse:
            return start
        room = max(self._block_bytes - self._held_bytes, 0)
        if rows.is_sparse:
            ends = rows.matrix.indptr[start : start + self._block_rows + 1]
            by_bytes = int(np.searchsorted(ends, int(ends[0]) + room // SPARSE_COST, side="right")) - 1
        else:
            by_bytes = room // max(DENSE_COST * rows.n_columns, 1)
        least = 0 if self._pending else 1  # a row that is longer than a block has a block of its own
        return min(start + max(least, min(by_bytes, self._block_rows - self._held_rows)), rows.n_rows)

    def _flush(self) -> None:
        """Have the block in hand written, while the next one is put together."""
        self._behind.do(partial(self._write_block, self._pending))
        self._pending = []
        self._held_rows = self._held_bytes = 0

    def _write_block(self, pending: list[tuple[Rows, NDArray[Any]]]) -> None:
        parts, codes = [part for part, _ in pending], [part for _, part in pending]
        n_rows = sum(part.n_rows for part in parts)
        top = max(int(part.max()) for part in codes)
        kinds = [*_arrays(parts), (np.min_scalar_type(top), codes)]
        arrays = [_joined(pieces, kind) for kind, pieces in kinds]
        columns = 0 if (sparse := parts[0].is_sparse) else parts[0].n_columns
        sizes = (arrays[0].itemsize, arrays[1].itemsize if sparse else 0, arrays[-1].itemsize)
        block = _Block(Entry(n_rows, sum(part.n_entries for part in parts), columns, 0, *sizes), arrays)
        self._n_codes = max(self._n_codes, top + 1)
        self._room -= sum(array.nbytes for array in arrays)
        if self._room >= 0:
            self._kept.append(block)
            return
        if self._file is None:
            self._begin_file()
        self._write(block)

    def _begin_file(self) -> None:
        """From now on blocks are written, and first those that there was room for."""
        self._file = WholeFile(self.path, sync=False).__enter__()  # whoever loses a cache makes it anew
        self._file.write(MAGIC)
        for block in self._kept:
            self._write(block)
        self._kept.clear()

    def _write(self, block: "_Block") -> None:
        assert self._file is not None
        self._seal.add(block)
        for content in block.contents():
            self._file.write(content)

    def _finish(self) -> None:
        if self._pending:
            self._flush()
        self._behind.wait()
        if self._file is None:
            self.held = Held(self._width.n_columns, tuple(self._kept), self._behind)
            self.held.take_fingerprint()
            return
        index, digest = self._seal.index(), self._seal.digest()
        counts = (len(self._seal.entries), self._width.n_columns, self._n_codes, digest)
        checksum = zlib.crc32(TRAILER.pack(*counts, 0), zlib.crc32(index))
        self._file.write(index + TRAILER.pack(*counts, checksum))


class _Block(NamedTuple):
    """A block that is complete: what the index says of it, but for the checksum, and its arrays."""

    entry: Entry
    arrays: list[NDArray[Any]]

    def contents(self) -> Iterator[Any]:
        """Its bytes, array by array."""
        for array in self.arrays:
            yield array.view(np.uint8)
            yield bytes(-array.nbytes % ALIGNMENT)


class _Seal:
    """The checksums of blocks, in an index of them, and the SHA-256 of all."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._hash = hashlib.sha256()

    def add(self, block: _Block) -> None:
        checksum = 0
        for content in block.contents():
            self._hash.update(content)
            checksum = zlib.crc32(content, checksum)
        self.entries.append(replace(block.entry, checksum=checksum))

    def index(self) -> bytes:
        return np.array([(*astuple(entry), 0) for entry in self.entries], dtype=INDEX).tobytes()

    def digest(self) -> bytes:
        self._hash.update(self.index())
        return self._hash.digest()


def _joined(pieces: Iterable[NDArray[Any]], kind: np.dtype[Any]) -> NDArray[Any]:
    """Pieces of an array, one after the other."""
    flat = [piece.reshape(-1) for piece in pieces]
    if len(flat) == 1:
        return np.ascontiguousarray(flat[0], dtype=kind)
    return np.concatenate(flat, dtype=kind, casting="unsafe")  # each fits, which was looked at


def _cost(rows: Rows) -> int:
    """What rows count towards the size of a block."""
    return (SPARSE_COST if rows.is_sparse else DENSE_COST) * rows.n_entries


def _copied(rows: Rows) -> Rows:
    """Rows that do not change when the buffer they came in is used again."""
    if not rows.is_sparse:
        return as_rows(rows.matrix.copy())
    data, indices, indptr = rows.matrix
    return csr_rows(data.copy(), indices.copy(), indptr.copy(), rows.n_columns)


def _arrays(parts: list[Rows]) -> list[tuple[np.dtype[Any], Iterable[NDArray[Any]]]]:
    """The arrays of a block, each in pieces, and the smallest types that hold them exactly."""
    if not parts[0].is_sparse:
        values = [part.matrix for part in parts]
        return [(_value_type(values), values)]
    values = [part.matrix.data[: part.n_entries] for part in parts]
    columns = [part.matrix.indices[: part.n_entries] for part in parts]
    ends = list(accumulate((len(part) for part in values), initial=0))
    largest = max(ends[-1], *(int(part.max(initial=0)) for part in columns))
    index = INDEX_TYPES[4 if largest < MOST_SMALL_INDICES else 8]
    pointers = (part.matrix.indptr[1:] + index.type(end) for part, end in zip(parts, ends[:-1], strict=True))
    return [(_value_type(values), values), (index, columns), (index, chain([np.zeros(1)], pointers))]


def _value_type(values: list[NDArray[Any]]) -> np.dtype[Any]:
    """float32 if it holds every value exactly: then the same mistakes are made. A few values tell most others apart."""
    few = (part[:1] if part.ndim == 2 else part[:LOOKED_AT] for part in values)
    return VALUE_TYPES[4 if all(map(_is_short, few)) and all(map(_is_short, values)) else 8]


def _is_short(values: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.array_equal(values.astype(np.float32), values)


# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------


class Held:
    """A cache in memory. Another thread takes its fingerprint, while it is used; `close` ends that thread."""

    def __init__(self, n_columns: int, blocks: tuple[_Block, ...], behind: Behind) -> None:
        self.n_columns, self.entries = n_columns, tuple(block.entry for block in blocks)
        self.starts = _starts(self.entries)
        self._blocks, self._behind = blocks, behind
        self._fingerprint = ""

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def fingerprint(self) -> str:
        self._behind.wait()
        return self._fingerprint

    def take_fingerprint(self) -> None:
        """Have it taken."""

        def take() -> None:
            seal = _Seal()
            for block in self._blocks:
                seal.add(block)
            self._fingerprint = seal.digest().hex()

        self._behind.do(take)

    def close(self) -> None:
        self._behind.close()

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, number: int) -> tuple[Rows, NDArray[Any]]:
        entry, (*arrays, codes) = self._blocks[number]
        return _rows_of(entry, arrays, self.n_columns), codes


def _starts(entries: Iterable[Entry]) -> NDArray[np.int64]:
    """The numbers of the first rows of blocks, and how many rows there are in all."""
    return np.array([0, *accumulate(entry.rows for entry in entries)], dtype=np.int64)


def _rows_of(entry: Entry, arrays: Sequence[NDArray[Any]], n_columns: int) -> Rows:
    if entry.index_bytes:
        return csr_rows(*Csr(*arrays), n_columns)
    return as_rows(arrays[0].reshape(entry.rows, entry.columns))


@dataclass(frozen=True)
class Cache:
    """A complete cache. `fingerprint` is a SHA-256 of its rows and codes, whatever batches they came in."""

    path: Path
    n_columns: int
    n_codes: int
    fingerprint: str
    entries: tuple[Entry, ...]
    starts: NDArray[np.int64]
    places: tuple[int, ...]
    verified: set[int] = field(default_factory=set, repr=False)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    def __len__(self) -> int:
        return len(self.entries)

    def close(self) -> None:
        """There is nothing to end: blocks are mapped only as long as they are used."""

    def __getitem__(self, number: int) -> tuple[Rows, NDArray[Any]]:
        """The rows of a block and their codes: views of the file, which is mapped as long as they are used."""
        entry, start = self.entries[number], self.places[number]
        *places, size = entry.places()
        mapped, offset = self._mapped(start, size)
        if number not in self.verified and zlib.crc32(memoryview(mapped)[offset : offset + size]) != entry.checksum:
            _is_damaged(self.path, f"the checksum of block {number} is wrong")
        *arrays, codes = (
            np.ndarray(count, kind, mapped, offset + place)
            for (kind, count), place in zip(entry.arrays(), places, strict=True)
        )
        if number not in self.verified:
            self._verify(number, arrays, codes)
            self.verified.add(number)
        return _rows_of(entry, arrays, self.n_columns), codes

    def _mapped(self, start: int, size: int) -> tuple[mmap.mmap, int]:
        """The file's bytes from `start` on, and where they begin in what had to be mapped."""
        surplus = start % mmap.ALLOCATIONGRANULARITY
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size < start + size:
                _is_damaged(self.path, "it has become shorter")
            return mmap.mmap(file.fileno(), surplus + size, access=mmap.ACCESS_READ, offset=start - surplus), surplus

    def _verify(self, number: int, arrays: list[NDArray[Any]], codes: NDArray[Any]) -> None:
        """No kernel may be led outside its arrays, even by a file whose checksums are right."""
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
    """The cache in a file; its index is checked here, and each block when it is first used.

    Nobody reads a block a second time to check it. So whoever has just written all of them, and says that they are
    `is_ours`, need not read them for that at all.
    """
    path = Path(path)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is not a cache that this version has written; make it anew")
        if size < len(MAGIC) + TRAILER.size:
            _is_damaged(path, "it ends before its index")
        file.seek(size - TRAILER.size)
        trailer = file.read(TRAILER.size)
        n_blocks, n_columns, n_codes, fingerprint, checksum = TRAILER.unpack(trailer)
        index_start = size - TRAILER.size - n_blocks * INDEX.itemsize
        if index_start < len(MAGIC):
            _is_damaged(path, "it ends before its index")
        file.seek(index_start)
        index = file.read(n_blocks * INDEX.itemsize)
    if zlib.crc32(TRAILER.pack(n_blocks, n_columns, n_codes, fingerprint, 0), zlib.crc32(index)) != checksum:
        _is_damaged(path, "the checksum of its index is wrong")
    entries = tuple(Entry(*fields[:-1]) for fields in np.frombuffer(index, INDEX).tolist())
    for number, entry in enumerate(entries):
        if not entry.is_possible(n_columns):
            _is_damaged(path, f"its index describes an impossible block {number}")
    places = tuple(accumulate((entry.places()[-1] for entry in entries), initial=len(MAGIC)))
    if places[-1] != index_start or TRAILER.pack(n_blocks, n_columns, n_codes, fingerprint, checksum) != trailer:
        _is_damaged(path, "its blocks do not fill the file")
    known = set(range(len(entries))) if is_ours else set[int]()
    return Cache(path, n_columns, n_codes, fingerprint.hex(), entries, _starts(entries), places, known)


def _is_damaged(path: Path, what: str) -> NoReturn:
    raise ValueError(f"{path} is truncated or damaged: {what}; make the cache anew")
