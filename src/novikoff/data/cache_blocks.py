"""Blocks of encoded examples: rows of numbers and codes of labels, in the smallest types that hold them exactly.

A block is its values, the columns and the row pointers of its entries if it is sparse, and its codes. In a file, each
of these arrays starts at a multiple of 64 bytes. The `Entry` of a block in the index says how long they are, and of
which types; a `Seal` takes its checksum. Blocks for which there is room need no file: they are `Held` in memory, all of
them, or none.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.ahead import Behind
from novikoff.engine.rows import Csr, Rows, as_rows, csr_rows

BLOCK_BYTES = 8_000_000
BLOCK_ROWS = 65_536

# What an entry counts towards the size of a block: a float64, and a 32-bit column, whatever is written in the end.
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


class Indexed:
    """What the entries of all blocks tell of a cache, wherever it is."""

    entries: tuple[Entry, ...]

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The numbers of the first rows of blocks, and how many rows there are in all."""
        return np.array([0, *accumulate(entry.rows for entry in self.entries)], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def n_entries(self) -> int:
        """How many numbers are stored, in sparse rows not the zeros."""
        return sum(entry.entries for entry in self.entries)

    @property
    def is_sparse(self) -> bool:
        """Whether all blocks are."""
        return all(entry.index_bytes for entry in self.entries)


class PackedBlock(NamedTuple):
    """A complete block: its entry in the index, without the checksum; its arrays; one more than its largest code."""

    entry: Entry
    arrays: list[NDArray[Any]]
    n_codes: int

    def contents(self) -> Iterator[Any]:
        """Its bytes, array by array."""
        for array in self.arrays:
            yield array.view(np.uint8)
            yield bytes(-array.nbytes % ALIGNMENT)


def packed(parts: Sequence[Rows], codes: Sequence[NDArray[Any]]) -> PackedBlock:
    """A block of some rows, all dense or all sparse, and their codes."""
    n_rows = sum(part.n_rows for part in parts)
    top = max(int(part.max()) for part in codes)
    kinds = [*_arrays(parts), (np.min_scalar_type(top), codes)]
    arrays = [_joined(pieces, kind) for kind, pieces in kinds]
    columns = 0 if (sparse := parts[0].is_sparse) else parts[0].n_columns
    sizes = (arrays[0].itemsize, arrays[1].itemsize if sparse else 0, arrays[-1].itemsize)
    entry = Entry(n_rows, sum(part.n_entries for part in parts), columns, 0, *sizes)
    return PackedBlock(entry, arrays, top + 1)


def _joined(pieces: Iterable[NDArray[Any]], kind: np.dtype[Any]) -> NDArray[Any]:
    """Pieces of an array, one after the other."""
    flat = [piece.reshape(-1) for piece in pieces]
    if len(flat) == 1:
        return np.ascontiguousarray(flat[0], dtype=kind)
    return np.concatenate(flat, dtype=kind, casting="unsafe")  # each fits, which was looked at


def _arrays(parts: Sequence[Rows]) -> list[tuple[np.dtype[Any], Iterable[NDArray[Any]]]]:
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


class Seal:
    """The checksums of blocks, in an index of them, and the SHA-256 of all."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._hash = hashlib.sha256()

    def add(self, block: PackedBlock) -> None:
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


class Held(Indexed):
    """A cache in memory. Another thread takes its fingerprint, while it is used; `close` ends that thread."""

    def __init__(self, n_columns: int, blocks: tuple[PackedBlock, ...], behind: Behind) -> None:
        self.n_columns, self.entries = n_columns, tuple(block.entry for block in blocks)
        self._blocks, self._behind = blocks, behind
        self._fingerprint = ""

    @property
    def fingerprint(self) -> str:
        self._behind.wait()
        return self._fingerprint

    def take_fingerprint(self) -> None:
        """Have it taken."""

        def take() -> None:
            seal = Seal()
            for block in self._blocks:
                seal.add(block)
            self._fingerprint = seal.digest().hex()

        self._behind.do(take)

    def close(self) -> None:
        self._behind.close()

    def __getitem__(self, number: int) -> tuple[Rows, NDArray[Any]]:
        entry, (*arrays, codes), _ = self._blocks[number]
        return rows_of(entry, arrays, self.n_columns), codes


def rows_of(entry: Entry, arrays: Sequence[NDArray[Any]], n_columns: int) -> Rows:
    """The rows of a block, from its arrays without the codes."""
    if entry.index_bytes:
        return csr_rows(*Csr(*arrays), n_columns)
    return as_rows(arrays[0].reshape(entry.rows, entry.columns))
