"""Sparse rows among the columns that they use, so that memory follows the entries and not the largest index.

A table of columns, ascending, stands for all of them: the j-th column of a narrow row is `columns[j]`. The order of the
entries stays, and so does every sum.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Rows, csr_rows

Table = NDArray[np.int64]

# As long as there are no more numbers than this, one for every column costs less than to look columns up.
FEW = 1 << 22


def is_too_wide(n_columns: int, n_entries: int, n_vectors: int = 1) -> bool:
    """Whether a number for every column would be many more numbers than there are entries.

    >>> is_too_wide(1_000_000, 10), is_too_wide(300_000_001, 10), is_too_wide(300_000_001, 10**9)
    (False, True, False)
    """
    return n_columns * n_vectors > FEW and n_columns > n_entries


def used_columns(parts: Iterable[Rows]) -> Table:
    """The columns in which sparse rows have entries, ascending."""
    used = np.empty(0, dtype=np.int64)
    for rows in parts:
        indices = rows.matrix.indices[: int(rows.matrix.indptr[-1])]
        used = np.union1d(used, np.unique(indices).astype(np.int64))
    return used


def narrow(rows: Rows, columns: Table) -> Rows:
    """Sparse rows among some columns; what lies in others is left out.

    >>> from scipy.sparse import csr_array
    >>> from novikoff.engine.rows import as_rows
    >>> wide = as_rows(csr_array(([1.0, 2.0, 3.0], [5, 900_000_000, 7], [0, 2, 3]), shape=(2, 900_000_001)))
    >>> narrow(wide, np.array([5, 900_000_000])).as_array().tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    data, indices, indptr = rows.matrix
    end = int(indptr[-1])
    wanted = indices[:end].astype(np.int64)
    places = np.searchsorted(columns, wanted)
    known = places < len(columns)
    known[known] = columns[places[known]] == wanted[known]
    kept = np.concatenate([[0], np.cumsum(known)])[indptr.astype(np.int64)]
    return csr_rows(data[:end][known], places[known].astype(np.uint32), kept.astype(np.uint32), len(columns))
