"""A hash of labelled data that does not depend on how they are stored."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

BLOCK = 4096


def fingerprint(X: Any, y: ArrayLike) -> str:
    """SHA-256 of the shape, of every entry that is not 0 with its place, and of the labels.

    Dense and CSR, float32 and float64, any order in memory: the same numbers have the same fingerprint.

    >>> from scipy.sparse import csr_matrix
    >>> fingerprint([[1, 0], [0, 2]], [1, -1]) == fingerprint(csr_matrix([[1.0, 0.0], [0.0, 2.0]]), [1, -1])
    True
    """
    rows = _canonical(X) if hasattr(X, "tocsr") else np.asarray(X)
    digest = hashlib.sha256(repr(tuple(int(size) for size in rows.shape)).encode())
    for start in range(0, rows.shape[0], BLOCK):
        block = rows[start : start + BLOCK]
        counts, columns, values = _sparse_entries(block) if hasattr(X, "tocsr") else _dense_entries(block)
        for part in (counts.astype("<i8"), columns.astype("<u4"), values.astype("<f8")):
            digest.update(np.ascontiguousarray(part).data)
    digest.update(repr(np.asarray(y).tolist()).encode())
    return digest.hexdigest()


def _canonical(X: Any) -> Any:
    rows = X.tocsr().copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _sparse_entries(block: Any) -> tuple[Any, Any, Any]:
    return np.diff(block.indptr), block.indices, block.data


def _dense_entries(block: Any) -> tuple[Any, Any, Any]:
    present = block != 0
    return present.sum(axis=1), np.nonzero(present)[1], block[present]
