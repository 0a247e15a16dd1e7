"""Encoded examples in one file, for epochs after the first: read block by block, by mapping, checked before use.

The file: `MAGIC`; the blocks (see `novikoff.data.cache_blocks`); one `INDEX` entry a block; a trailer. All positions
follow from the index, and must add up to the size of the file. Every block has a checksum, and so has the index.
Whatever a file says is checked before it is believed, so that a damaged one is an error, never a crash or a wrong
number.

Only one block is mapped at a time: the memory that a pass needs is that of a block, however long the file.
"""

import mmap
import os
import struct
import zlib
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from novikoff.data.cache_blocks import ALIGNMENT, INDEX, Entry, Indexed, rows_of
from novikoff.engine.rows import Rows

MAGIC = b"novikoff cache, version 1\n".ljust(ALIGNMENT, b"\0")
TRAILER = struct.Struct("<QQQ32sI4x")  # blocks, columns, codes, fingerprint, checksum of index and trailer


@dataclass(frozen=True)
class Cache(Indexed):
    """A complete cache in a file. `fingerprint` is a SHA-256 of its rows and codes, whatever batches they came in."""

    path: Path
    n_columns: int
    n_codes: int
    fingerprint: str
    entries: tuple[Entry, ...]
    places: tuple[int, ...]
    verified: set[int] = field(default_factory=set, repr=False)

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
        return rows_of(entry, arrays, self.n_columns), codes

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
    index_start, index, trailer = _index_and_trailer(path)
    _, n_columns, n_codes, fingerprint, _ = TRAILER.unpack(trailer)
    if sealed_index(index, n_columns, n_codes, fingerprint) != index + trailer:
        _is_damaged(path, "the checksum of its index is wrong")
    entries = tuple(Entry(*fields[:-1]) for fields in np.frombuffer(index, INDEX).tolist())
    for number, entry in enumerate(entries):
        if not entry.is_possible(n_columns):
            _is_damaged(path, f"its index describes an impossible block {number}")
    places = tuple(accumulate((entry.places()[-1] for entry in entries), initial=len(MAGIC)))
    if places[-1] != index_start:
        _is_damaged(path, "its blocks do not fill the file")
    known = set(range(len(entries))) if is_ours else set[int]()
    return Cache(path, n_columns, n_codes, fingerprint.hex(), entries, places, known)


def sealed_index(index: bytes, n_columns: int, n_codes: int, fingerprint: bytes) -> bytes:
    """The end of a file: its index, and a trailer with the checksum of both."""
    counts = (len(index) // INDEX.itemsize, n_columns, n_codes, fingerprint)
    checksum = zlib.crc32(TRAILER.pack(*counts, 0), zlib.crc32(index))
    return index + TRAILER.pack(*counts, checksum)


def _index_and_trailer(path: Path) -> tuple[int, bytes, bytes]:
    """Where the index of a file begins, the index, and the trailer, as they are written there."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is not a cache that this version has written; make it anew")
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
    raise ValueError(f"{path} is truncated or damaged: {what}; make the cache anew")
