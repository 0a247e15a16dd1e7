"""The directions in which a likelihood never falls: a cone, given by inequalities z.b >= 0 and equations z.b = 0.

Along a direction b for which some z.b > 0 the likelihood grows for ever, and its maximum lies at infinity. If z.b = 0
in every row, it does not change at all: then columns are collinear, which is another matter. So all questions about the
existence of an estimate are questions about this cone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.existence.whole_rows import Numbers, WholeRows

# A difference of two numbers that are multiples of the same power of two and shorter than this many bits is exact.
BITS = 52


@dataclass(frozen=True, eq=False)
class Cone:
    """Rows of floats, exactly those meant, of which some are equations, and the names of the coefficients.

    `coefficient` gives the coefficient that a column belongs to. `owner` is the row of the data that a row of the cone
    speaks of. In a chain of comparisons, such as that of events in time, `after` is the row of the data that it is
    compared with, which has been left behind itself if anything before it has; -1 where there is no chain.
    """

    rows: Any
    is_equation: NDArray[np.bool_]
    names: tuple[str, ...]
    coefficient: Numbers
    owner: Numbers
    after: Numbers | None = None

    @classmethod
    def of(cls, rows: Any, is_equation: NDArray[np.bool_], names: Sequence[str], owner: Numbers) -> "Cone":
        """A cone with a column for every coefficient."""
        return cls(rows, is_equation, tuple(names), np.arange(len(names)), owner)

    @property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def whole(self) -> WholeRows:
        return WholeRows.of(self.rows, self.coefficient, self.size)

    def separated_rows(self, is_strict: NDArray[np.bool_]) -> tuple[int, ...]:
        """The rows of the data behind the rows of the cone that are strict."""
        if self.after is None:
            return tuple(np.unique(self.owner[is_strict]).tolist())
        left_behind: set[int] = set()
        for row, before, strict in zip(self.owner.tolist(), self.after.tolist(), is_strict.tolist(), strict=True):
            if strict or before in left_behind:
                left_behind.add(row)
        return tuple(sorted(left_behind))


def split(X: Any) -> tuple[Any, Numbers]:
    """CSR columns as sums of shorter columns, so that differences of their rows are exact; and whose parts they are.

    >>> from scipy.sparse import csr_array
    >>> parts, column = split(csr_array([[2.0**60 + 2.0**10], [1.0]]))
    >>> parts.toarray().tolist(), column.tolist()
    ([[1.152921504606847e+18, 1024.0], [0.0, 1.0]], [0, 0])
    """
    from scipy.sparse import csr_array, hstack

    whole = WholeRows.of(X, np.arange(X.shape[1]), X.shape[1])
    highest = np.zeros(X.shape[1], dtype=np.int64)
    np.maximum.at(highest, X.indices, np.frexp(X.data)[1])
    counts = np.maximum(-((whole.exponents - highest) // BITS), 1)  # rounded up
    left, pieces, columns = X.data.copy(), [], []
    for part in range(int(counts.max(initial=1)) - 1, -1, -1):
        unit = (whole.exponents + BITS * part)[X.indices]
        high = np.where(part < counts[X.indices], np.ldexp(np.trunc(np.ldexp(left, -unit)), unit), 0.0)
        if part == 0:
            high = left
        left = left - high
        which = np.flatnonzero(part < counts)
        pieces.append(csr_array((high, X.indices, X.indptr), shape=X.shape)[:, which])
        columns.append(which)
    return hstack(pieces, format="csr"), np.concatenate(columns)
