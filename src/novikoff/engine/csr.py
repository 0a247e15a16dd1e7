"""SciPy's sparse matrices in canonical CSR: columns in ascending order, no duplicate entries.

A matrix may store duplicates of an entry, whose value is then their sum. SciPy adds them up in the order of storage,
with rounding at each step, so the value depends on that order. Here it is the correctly rounded sum.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_csr(X: Any) -> Any:
    """Return a sparse matrix or array in CSR format, without summing duplicates."""
    if X.format == "csr":
        return X
    if X.format not in ("coo", "bsr"):
        return X.tocsr()
    from scipy.sparse import csr_array

    entries = X.tocoo(copy=False)
    order = np.argsort(entries.row, kind="stable")
    kind = np.int32 if max(entries.nnz, *entries.shape) < 2**31 else np.int64
    counts = np.bincount(entries.row, minlength=entries.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(kind)
    return csr_array((entries.data[order], entries.col[order].astype(kind), indptr), shape=entries.shape)


def without_repeats(csr: Any) -> Any:
    """Return the same CSR matrix with ascending columns and every entry once, its value the correctly rounded sum.

    A matrix that is like that already is returned as it is; no input is changed. Sums are float64 whatever the type of
    the parts, so that they do not depend on its precision.

    >>> from scipy.sparse import csr_array
    >>> without_repeats(csr_array(([1e16, 1.0, -1e16], [0, 0, 0], [0, 3]), shape=(1, 2))).toarray().tolist()
    [[1.0, 0.0]]
    """
    check_structure(csr)
    if csr.has_canonical_format:
        return csr
    csr = csr.copy()
    if csr.data.dtype.kind not in "iuf":
        csr.sum_duplicates()  # booleans, which have no sum; other types are rejected elsewhere
        return csr
    csr.sort_indices()
    n_entries = int(csr.indptr[-1])
    data, indices = csr.data[:n_entries], csr.indices[:n_entries]
    rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    begins = np.ones(n_entries, dtype=bool)
    begins[1:] = (indices[1:] != indices[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(begins)
    if len(starts) == n_entries:
        return csr
    sums = _summed(data, starts, rows, indices)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[starts], minlength=csr.shape[0]))])
    result = type(csr)((sums, indices[starts], indptr.astype(csr.indptr.dtype)), shape=csr.shape)
    result.has_canonical_format = True
    return result


def check_structure(csr: Any) -> None:
    """Raise an error if the arrays are not a valid matrix, before any loop uses them."""
    n_rows, n_columns = csr.shape
    indptr, indices = csr.indptr, csr.indices
    stored = min(len(indices), len(csr.data))
    if len(indptr) != n_rows + 1 or indptr[0] != 0 or indptr[-1] > stored or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError("X is a broken CSR matrix: its indptr does not ascend from 0 to the number of entries")
    if indices.dtype.kind == "i" and indices.flags.c_contiguous:
        indices = indices.view(f"u{indices.itemsize}")  # a negative index is a huge one: one check is enough
    if len(indices) and not 0 <= int(indices.max()) < n_columns:
        raise ValueError(f"X is a broken CSR matrix: a column index lies outside its {n_columns} columns")


def _summed(
    data: NDArray[Any], starts: NDArray[np.int64], rows: NDArray[np.int64], columns: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the sum of each part of the data, from one start to the next."""
    sizes = np.diff(starts, append=len(data))
    sums = data[starts].astype(np.float64)
    repeated = np.flatnonzero(sizes > 1)
    parts = data[np.repeat(sizes > 1, sizes)]
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(parts.astype(np.float64)).max()) * int(sizes.max())
    if largest < 2.0**53 and np.array_equal(parts, np.rint(parts)):
        sums[repeated] = np.add.reduceat(data.astype(np.float64), starts)[repeated]  # integers: nothing to round
        return sums
    for place in repeated.tolist():
        start = int(starts[place])
        total = _rounded_sum(data[start : start + int(sizes[place])].tolist())
        if total is None:
            raise ValueError(
                f"X has {sizes[place]} duplicate entries in row {rows[start]}, column {columns[start]}, and their sum "
                "is beyond the range of float64; divide X by a power of ten"
            )
        sums[place] = total
    return sums


def _rounded_sum(values: list[float] | list[int]) -> float | None:
    """Return the sum, rounded once; NaN and infinities propagate; None if the sum of finite numbers overflows."""
    if not all(map(math.isfinite, values)):
        return float(sum(values))
    try:
        return math.fsum(values) if isinstance(values[0], float) else float(sum(values))
    except OverflowError:  # of a partial sum: perhaps not of the whole
        try:
            return float(sum(map(Fraction, values)))
        except OverflowError:
            return None
