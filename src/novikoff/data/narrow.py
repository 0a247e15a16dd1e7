"""Sparse rows restricted to the columns that they use, so that memory follows the entries and not the largest index.

In a narrow row, column j stands for column `columns[j]`, where `columns` ascend. The order of the entries does not
change, so no sum does.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Rows, csr_rows

Table = NDArray[np.int64]

# Up to this many numbers, one for every column costs less than looking columns up.
FEW = 1 << 22

# Beyond this many numbers, unused columns get none.
MANY = 1 << 24

# Up to this many columns, one is looked up in a table of all; beyond, in the sorted table of those in use.
MOST_LISTED = 1 << 26


def is_too_wide(n_columns: int, n_entries: int, n_vectors: int = 1) -> bool:
    """Whether a number for every column would be many more numbers than there are entries, or simply too many.

    >>> is_too_wide(1_000_000, 10), is_too_wide(300_000_001, 10), is_too_wide(10_000_000, 10**9)
    (False, True, False)
    >>> is_too_wide(10_000_000, 10**9, 20)
    True
    """
    return n_columns * n_vectors > FEW and (n_columns > n_entries or n_columns * n_vectors > MANY)


def used_columns(parts: Iterable[Rows]) -> Table:
    """Return the columns in which sparse rows have entries, ascending."""
    used = np.empty(0, dtype=np.int64)
    for rows in parts:
        indices = rows.matrix.indices[: rows.n_entries]
        if _is_worth_a_list(rows):
            is_used = np.zeros(rows.n_columns, dtype=np.bool_)
            is_used[indices] = True
            indices = np.flatnonzero(is_used)
        used = np.union1d(used, indices.astype(np.int64)) if len(used) else np.unique(indices).astype(np.int64)
    return used


def _is_worth_a_list(rows: Rows) -> bool:
    return rows.n_columns <= min(MOST_LISTED, 16 * rows.n_entries)


def narrow(rows: Rows, columns: Table) -> Rows:
    """Restrict sparse rows to some columns; entries in others are dropped.

    >>> from scipy.sparse import csr_array
    >>> from novikoff.engine.rows import as_rows
    >>> wide = as_rows(csr_array(([1.0, 2.0, 3.0], [5, 900_000_000, 7], [0, 2, 3]), shape=(2, 900_000_001)))
    >>> narrow(wide, np.array([5, 900_000_000])).as_array().tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    data, indices, indptr = rows.matrix
    data, indices = data[: rows.n_entries], indices[: rows.n_entries]
    if _is_worth_a_list(rows):
        unknown = np.uint32(len(columns))
        place_of = np.full(rows.n_columns, unknown, dtype=np.uint32)
        place_of[columns] = np.arange(len(columns), dtype=np.uint32)
        places = place_of[indices]
        known = places != unknown
    else:
        wanted = indices.astype(np.int64)
        places = np.searchsorted(columns, wanted).astype(np.uint32)
        known = places < len(columns)
        known[known] = columns[places[known]] == wanted[known]
    if not known.all():
        indptr = np.concatenate([[0], np.cumsum(known)])[indptr.astype(np.int64)]
        data, places = data[known], places[known]
    return rows.ordered_alike(csr_rows(data, places, indptr.astype(np.uint32), len(columns)))
