"""How batches of encoded examples become a cache: cut into blocks, which are held in memory or written to a file.

The cache knows rows of numbers and codes of labels, and nothing of what encoded them. Its blocks hold what was
appended, in order, in pieces of `BLOCK_BYTES` or `BLOCK_ROWS` at most, wherever the appended batches began and ended.
"""

import os
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.data.blocks import Width
from novikoff.data.cache_blocks import BLOCK_BYTES, BLOCK_ROWS, DENSE_COST, SPARSE_COST, Held, PackedBlock, Seal, packed
from novikoff.data.cache_file import MAGIC, sealed_index
from novikoff.data.whole_file import WholeFile
from novikoff.engine.ahead import Behind
from novikoff.engine.rows import Rows, as_rows, csr_rows


class CacheWriter:
    """Writes a cache: `with CacheWriter(path) as cache: cache.append(rows, codes)`.

    The file has its name only when it is complete; if anything fails before, nothing is left of it. Blocks of no more
    than `room` bytes in all are not written, but `held`. `n_jobs` threads may be used, this one among them.

    >>> import tempfile
    >>> from novikoff.data.cache_file import open_cache
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
        self._kept: list[PackedBlock] = []
        self._file: WholeFile | None = None
        self._width = Width()
        self._block_bytes, self._block_rows = block_bytes, block_rows
        self._pending: list[tuple[Rows, NDArray[Any]]] = []
        self._pending_rows = self._pending_bytes = 0
        self._n_codes = 0
        self._seal = Seal()
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
            self._pending_rows += part.n_rows
            self._pending_bytes += _cost(part)
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
        room = max(self._block_bytes - self._pending_bytes, 0)
        if rows.is_sparse:
            ends = rows.matrix.indptr[start : start + self._block_rows + 1]
            by_bytes = int(np.searchsorted(ends, int(ends[0]) + room // SPARSE_COST, side="right")) - 1
        else:
            by_bytes = room // max(DENSE_COST * rows.n_columns, 1)
        least = 0 if self._pending else 1  # a row that is longer than a block has a block of its own
        return min(start + max(least, min(by_bytes, self._block_rows - self._pending_rows)), rows.n_rows)

    def _flush(self) -> None:
        """Have the block in hand written, while the next one is put together."""
        self._behind.do(partial(self._write_block, self._pending))
        self._pending = []
        self._pending_rows = self._pending_bytes = 0

    def _write_block(self, pending: list[tuple[Rows, NDArray[Any]]]) -> None:
        block = packed([part for part, _ in pending], [part for _, part in pending])
        self._n_codes = max(self._n_codes, block.n_codes)
        self._room -= sum(array.nbytes for array in block.arrays)
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

    def _write(self, block: PackedBlock) -> None:
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
        self._file.write(sealed_index(index, self._width.n_columns, self._n_codes, digest))


def _cost(rows: Rows) -> int:
    """What rows count towards the size of a block."""
    return (SPARSE_COST if rows.is_sparse else DENSE_COST) * rows.n_entries


def _copied(rows: Rows) -> Rows:
    """Rows that do not change when the buffer they came in is used again."""
    if not rows.is_sparse:
        return as_rows(rows.matrix.copy())
    data, indices, indptr = rows.matrix
    return csr_rows(data.copy(), indices.copy(), indptr.copy(), rows.n_columns)
