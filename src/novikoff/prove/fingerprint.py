"""A hash of labelled data that depends neither on how they are stored nor on the pieces in which they come."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

BLOCK = 4096

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def fingerprint(X: Any, y: ArrayLike) -> str:
    """SHA-256 of the shape, of every entry that is not 0 with its place, and of the labels.

    Dense and CSR, float32 and float64, any order in memory: the same numbers have the same fingerprint.

    >>> from scipy.sparse import csr_matrix
    >>> fingerprint([[1, 0], [0, 2]], [1, -1]) == fingerprint(csr_matrix([[1.0, 0.0], [0.0, 2.0]]), [1, -1])
    True
    """
    rows = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    digest = Fingerprint(rows.shape)
    digest.add(rows)
    return digest.with_labels([np.asarray(y).tolist()])


class Fingerprint:
    """The fingerprint of rows that come piece by piece, in pieces of any size; their labels come last.

    >>> digest = Fingerprint((2, 2))
    >>> digest.add(np.array([[1, 0]]))
    >>> digest.add(np.array([[0, 2]]))
    >>> digest.with_labels([[1], [-1]]) == fingerprint([[1, 0], [0, 2]], [1, -1])
    True
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._digest = hashlib.sha256(repr(tuple(int(size) for size in shape)).encode())
        self._waiting: list[Entries] = []
        self._n_waiting = 0

    def add(self, rows: Any) -> None:
        """The next rows, dense or CSR."""
        start = 0
        while start < rows.shape[0]:
            stop = min(start + BLOCK - self._n_waiting, rows.shape[0])
            block = rows[start:stop]
            self._waiting.append(_sparse_entries(block) if hasattr(block, "tocsr") else _dense_entries(block))
            self._n_waiting += stop - start
            if self._n_waiting == BLOCK:
                self._flush()
            start = stop

    def with_labels(self, labels: Iterable[list[Any]]) -> str:
        """The fingerprint, once all rows are in: from the labels, in pieces of any size."""
        self._flush()
        self._digest.update(b"[")
        between = ""
        for part in labels:
            if part:
                self._digest.update((between + repr(part)[1:-1]).encode())
                between = ", "
        self._digest.update(b"]")
        return self._digest.hexdigest()

    def _flush(self) -> None:
        for parts, kind in zip(zip(*self._waiting, strict=True), ("<i8", "<u4", "<f8"), strict=False):
            for part in parts:
                self._digest.update(np.ascontiguousarray(part.astype(kind, copy=False)).data)
        self._waiting.clear()
        self._n_waiting = 0


def _sparse_entries(block: Any) -> Entries:
    rows = block.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return np.diff(rows.indptr), rows.indices, rows.data


def _dense_entries(block: Any) -> Entries:
    present = block != 0
    return present.sum(axis=1), np.nonzero(present)[1], block[present]
