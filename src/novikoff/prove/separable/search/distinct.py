"""Points as linear programs want them: each once, of about the same size, and those that cancel each other set apart.

Tables have many equal rows, and equal rows with opposite labels lie on every weak separator: what they span need not be
looked for. Which rows are equal is told by 64-bit keys. Two different rows may have the same key, in theory, and then
one of them is forgotten here; nothing that is found here is believed before it was tried on all points.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.separable.points import Floats, Points

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Scaled:
    """Points whose coordinates and which themselves are divided by powers of two until their entries are about 1."""

    points: Points
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]

    @classmethod
    def of(cls, points: Points) -> "Scaled":
        columns = np.frexp(points.largest_by_column())[1]
        return cls(points, np.frexp(points.largest_by_row(np.ldexp(1.0, -columns)))[1], columns)

    @property
    def dimension(self) -> int:
        return self.points.dimension

    def products(self, b: Floats) -> Floats:
        """With every point."""
        return np.ldexp(self.points.products(np.ldexp(b, -self.columns)), -self.rows)

    def written(self, which: Numbers) -> Any:
        """Some points: a matrix, or a CSR of those that are sparse."""
        part = self.points.written_out(which)
        if not part.is_sparse:
            return np.ldexp(part.take(np.arange(len(which))), -self.columns - self.rows[which, None])
        matrix = part.signed()
        matrix.data = np.ldexp(matrix.data, -self.columns[matrix.indices])
        matrix.data = np.ldexp(matrix.data, -np.repeat(self.rows[which], np.diff(matrix.indptr)))
        return matrix

    def whole(self, which: Numbers) -> list[list[int]]:
        """The same, dense, in whole multiples of a power of two."""
        few = dense(self.written(which))
        return as_integers(few, lowest_exponent(few)).tolist()

    def unscaled_weights(self, which: Numbers) -> list[Any]:
        """What the weights of some points have to be multiplied by to become those of the points as they are."""
        return [power_of_two(-int(exponent)) for exponent in self.rows[which]]

    def unscaled_vector(self) -> list[Any]:
        """The same for the coordinates of a vector."""
        return [power_of_two(-int(exponent)) for exponent in self.columns]


@dataclass(frozen=True, eq=False)
class Distinct:
    """One of all points that are equal; `opposites` are equal to the negatives of others, `opposed`, in turn."""

    single: Numbers
    opposites: Numbers
    opposed: Numbers

    @classmethod
    def of(cls, points: Points) -> "Distinct":
        keys, signs = points.keys()
        unique, place = np.unique(keys, return_inverse=True)
        positive, negative = np.full((2, len(unique)), -1, dtype=np.int64)
        numbers = np.arange(len(keys))[::-1]  # of equal ones the first, which is written last
        for target, chosen in ((positive, signs >= 0), (negative, signs < 0)):
            some = numbers[chosen[::-1]]
            target[place[some]] = some
        both = (positive >= 0) & (negative >= 0)
        order = np.argsort(positive[both])
        single = np.sort(np.where(positive >= 0, positive, negative)[~both])
        return cls(single, positive[both][order], negative[both][order])


def dense(matrix: Any) -> Floats:
    """A matrix or CSR, written out."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "tocsr") else matrix, dtype=np.float64)
