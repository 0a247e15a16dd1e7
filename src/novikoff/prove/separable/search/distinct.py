"""Points as linear programs want them: each once, of about the same size, and those that cancel each other set apart.

Tables have many equal rows, and equal rows with opposite labels lie on every weak separator: what they span need not be
looked for. Which rows are equal is told by 64-bit keys. Two different rows may have the same key, in theory, and then
one of them is forgotten here; nothing that is found here is believed before it was tried on all points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import exact_sum, signs_of_products

Numbers = NDArray[np.int64]


class ScaledRows(Protocol):
    """Points divided by powers of two, coordinates and rows, until their entries are about 1, and what is exact."""

    @property
    def n_points(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def for_spans(self) -> Points: ...

    def products(self, b: Floats) -> Floats: ...

    def written(self, which: Numbers) -> Any: ...

    def whole(self, which: Numbers) -> WholeMatrix: ...

    def unit(self, which: Numbers) -> int: ...

    def distinct(self, which: Numbers) -> "Distinct": ...

    def part(self, which: Numbers) -> "ScaledRows": ...

    def unscaled_weights(self, which: Numbers, weights: Sequence[Fraction]) -> list[int]: ...

    def unscaled(self, vector: Sequence[int]) -> list[int]: ...

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]: ...

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool: ...


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
    def n_points(self) -> int:
        return self.points.n_points

    @property
    def dimension(self) -> int:
        return self.points.dimension

    @property
    def for_spans(self) -> Points:
        return self.points

    @property
    def is_sparse(self) -> bool:
        """And may be written out."""
        return self.points.is_sparse and not self.points.is_by_rivals

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

    def whole(self, which: Numbers) -> WholeMatrix:
        """The same in whole multiples of a power of two."""
        from scipy.sparse import csr_array

        few = csr_array(self.written(which))
        few.eliminate_zeros()
        return WholeMatrix.of(as_integers(few.data, self.unit(which)), few.indices, few.indptr, self.dimension)

    def unit(self, which: Numbers) -> int:
        """The exponent of that power of two."""
        few = self.written(which)
        return lowest_exponent(few.data if hasattr(few, "tocsr") else few)

    def distinct(self, which: Numbers) -> "Distinct":
        """Which of some points are different."""
        found = Distinct.of(self.points.part(which))
        return Distinct(which[found.single], which[found.opposites], which[found.opposed])

    def part(self, which: Numbers) -> "Scaled":
        return Scaled(self.points.part(which), self.rows[which], self.columns)

    def unscaled_weights(self, which: Numbers, weights: Sequence[Fraction]) -> list[int]:
        """Weights of some points as whole weights of the points as they are."""
        return as_whole([w * power_of_two(-int(e)) for w, e in zip(weights, self.rows[which], strict=True)])

    def unscaled(self, vector: Sequence[int]) -> list[int]:
        """A vector for the points as they are."""
        return as_whole([value * power_of_two(-int(e)) for value, e in zip(vector, self.columns, strict=True)])

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        """The exact sign of the product with every point."""
        return signs_of_products(self.points, self.unscaled(vector))

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool:
        """Whether some points as they are, each times a whole number, do so."""
        return not any(exact_sum(self.points, which, weights)[0])


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
