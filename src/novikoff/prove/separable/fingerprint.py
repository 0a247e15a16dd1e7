"""A hash of what a certificate is about: the numbers, the labels, and everything that says what they mean.

It depends neither on how the numbers are stored nor on the pieces in which they come. `docs/certificates.md` gives it
byte by byte.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.document import canonical

BLOCK = 4096

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Fingerprint:
    """SHA-256 of a header, of every entry that is not 0 with its place, and of the labels; rows come piece by piece.

    Dense and CSR, float32 and float64, any order in memory, pieces of any size: the same numbers have the same
    fingerprint.

    >>> whole, parts = Fingerprint({"rows": 2}), Fingerprint({"rows": 2})
    >>> whole.add(np.array([[1, 0], [0, 2]]))
    >>> parts.add(np.array([[1, 0]])), parts.add(np.array([[0, 2]]))
    (None, None)
    >>> whole.with_labels([np.array([0, 1])]) == parts.with_labels([np.array([0]), np.array([1])])
    True
    """

    def __init__(self, header: Mapping[str, Any], sha256: Callable[[bytes], Any] = hashlib.sha256) -> None:
        self._digest = sha256(canonical(header).encode() + b"\n")
        self._waiting: list[Entries] = []
        self._n_waiting = 0

    def add(self, rows: Any) -> None:
        """The next rows, dense or CSR; no entry of a row may stand twice."""
        start = 0
        while start < rows.shape[0]:
            stop = min(start + BLOCK - self._n_waiting, rows.shape[0])
            block = rows[start:stop]
            self._waiting.append(_sparse_entries(block) if hasattr(block, "tocsr") else _dense_entries(block))
            self._n_waiting += stop - start
            if self._n_waiting == BLOCK:
                self._flush()
            start = stop

    def with_labels(self, places: Iterable[NDArray[Any]]) -> str:
        """The fingerprint, once all rows are in: from the place of every label among the classes, in any pieces."""
        self._flush()
        for part in places:
            self._digest.update(np.ascontiguousarray(part, dtype="<u4").data)
        return self._digest.hexdigest()

    def _flush(self) -> None:
        for parts, kind in zip(zip(*self._waiting, strict=True), ("<u8", "<u8", "<f8"), strict=False):
            for part in parts:
                self._digest.update(np.ascontiguousarray(part.astype(kind, copy=False)).data)
        self._waiting.clear()
        self._n_waiting = 0


def _sparse_entries(block: Any) -> Entries:
    rows = block.copy()
    rows.sort_indices()
    rows.eliminate_zeros()
    return np.diff(rows.indptr), rows.indices, rows.data


def _dense_entries(block: Any) -> Entries:
    present = block != 0
    return present.sum(axis=1), np.nonzero(present)[1], block[present]
