"""Points for linear programs: distinct, of about the same size, with those that cancel each other set apart.

Tables have many equal rows, and equal rows with opposite labels lie on every weak separator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.floats import power_of_two
from novikoff.prove.exact.modular import PRIME, centred
from novikoff.prove.exact.refined import WholeMatrix, mantissas_of, trailing_zeros
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import exact_sum, signs_of_products, whole_matrix

Numbers = NDArray[np.int64]

LEAST = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Scaled:
    """Points with rows and columns divided by powers of two so that entries are about 1.

    Exact results are about the original points.
    """

    points: Points
    rows: NDArray[np.integer]
    columns: NDArray[np.integer]

    @classmethod
    def of(cls, points: Points) -> "Scaled":
        columns = np.frexp(points.largest_by_column())[1]
        scales = np.ldexp(1.0, np.minimum(-columns, 1000))  # a column of tiny floats stays small
        return cls(points, np.frexp(points.largest_by_row(scales))[1], columns)

    @property
    def n_points(self) -> int:
        return self.points.n_points

    @property
    def dimension(self) -> int:
        return self.points.dimension

    @property
    def is_sparse(self) -> bool:
        """Whether all points can be stored as a CSR matrix."""
        return self.points.is_sparse and not isinstance(self.points, KeslerPoints)

    def products(self, b: Floats) -> Floats:
        """The product with every point."""
        return np.ldexp(self.points.products(np.ldexp(b, -self.columns)), -self.rows)

    def written(self, which: Numbers) -> Any:
        """Some points as a dense matrix, or CSR if they are sparse."""
        part = self.points.written_out(which)
        if not part.is_sparse:
            return np.ldexp(part.take(np.arange(len(which))), -self.columns - self.rows[which, None])
        matrix = part.signed()
        matrix.data = np.ldexp(matrix.data, -self.columns[matrix.indices])
        matrix.data = np.ldexp(matrix.data, -np.repeat(self.rows[which], np.diff(matrix.indptr)))
        return matrix

    def whole(self, which: Numbers) -> tuple[WholeMatrix, int]:
        """The same in whole multiples of a power of two, from the original points, as scaled floats may underflow; and
        the exponent of that power."""
        few, exponent = self._given(which)
        shifts = exponent - self.columns[few.indices] - np.repeat(self.rows[which], np.diff(few.indptr))
        lowest = shifts + trailing_zeros(few.data)
        unit = int(lowest.min()) if len(lowest) else 0
        moves = shifts - unit
        numbers = (few.data.astype(object) << np.maximum(moves, 0)) >> np.maximum(-moves, 0)
        return WholeMatrix.of(numbers, few.indices, few.indptr, few.n_columns), unit

    def _given(self, which: Numbers) -> tuple[WholeMatrix, int]:
        """Some original points in whole multiples of a power of two, and its exponent."""
        return whole_matrix(self.points, which)

    def distinct(self, which: Numbers) -> "Distinct":
        """The distinct ones of some points."""
        found = Distinct.of(self.points.part(which))
        return Distinct(which[found.single], which[found.opposites], which[found.opposed])

    def part(self, which: Numbers) -> "Scaled":
        return Scaled(self.points.part(which), self.rows[which], self.columns)

    def unscaled_weights(self, which: Numbers, weights: Sequence[Fraction]) -> list[int]:
        """Weights of scaled points as whole weights of the original points."""
        return as_whole([w * power_of_two(-int(e)) for w, e in zip(weights, self.rows[which], strict=True)])

    def unscaled(self, vector: Sequence[int]) -> list[int]:
        """A vector for the original points."""
        return as_whole([value * power_of_two(-int(e)) for value, e in zip(vector, self.columns, strict=True)])

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        """The exact sign of the product with every point."""
        return signs_of_products(self.points, self.unscaled(vector))

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool:
        """Whether some original points, each times a whole number, add up to 0."""
        return not any(exact_sum(self.points, which, weights)[0])


@dataclass(frozen=True, eq=False)
class Distinct:
    """One of each set of equal points; `opposites` are the negatives of the points `opposed`, in the same order."""

    single: Numbers
    opposites: Numbers
    opposed: Numbers

    @classmethod
    def of(cls, points: Points) -> "Distinct":
        keys, signs = points.keys()
        unique, place = np.unique(keys, return_inverse=True)
        positive, negative = np.full((2, len(unique)), -1, dtype=np.int64)
        numbers = np.arange(len(keys))[::-1]  # of equal ones, keep the first, which is assigned last
        for target, chosen in ((positive, signs >= 0), (negative, signs < 0)):
            some = numbers[chosen[::-1]]
            target[place[some]] = some
        both = (positive >= 0) & (negative >= 0)
        order = np.argsort(positive[both])
        single = np.sort(np.where(positive >= 0, positive, negative)[~both])
        return cls(single, positive[both][order], negative[both][order])


@dataclass(frozen=True, eq=False)
class ScaledRows(Scaled):
    """Rows of whole numbers for the search for a face; vectors and weights are in the units of these rows.

    The points are the same rows modulo the prime used to find spans.
    """

    whole_rows: WholeMatrix
    matrix: Any

    @classmethod
    def of_rows(cls, whole: WholeMatrix) -> "ScaledRows":
        from scipy.sparse import csr_array

        def sparse(data: Floats) -> Any:
            return csr_array((data, whole.indices.copy(), whole.indptr.copy()), shape=(whole.n_rows, whole.n_columns))

        mantissas, exponents = mantissas_of(whole.data)
        columns = np.full(whole.n_columns, LEAST)
        np.maximum.at(columns, whole.indices, exponents)
        exponents = exponents - columns[whole.indices]
        rows = largest_of_rows(exponents, whole.indptr)
        data = np.ldexp(mantissas, exponents - np.repeat(rows, np.diff(whole.indptr)))
        residues = sparse(centred((whole.data % PRIME).astype(np.float64)))
        points = Points(residues, np.ones(whole.n_rows, dtype=np.int8), 0.0)
        return cls(points, rows, np.where(columns == LEAST, 0, columns), whole, sparse(data))

    @property
    def dimension(self) -> int:
        """The number of columns, without a constant."""
        return self.whole_rows.n_columns

    @property
    def is_sparse(self) -> bool:
        return True

    def products(self, b: Floats) -> Floats:
        return np.asarray(self.matrix @ b)

    def written(self, which: Numbers) -> Any:
        return self.matrix[which]

    def part(self, which: Numbers) -> "ScaledRows":
        of_points = (self.points.part(which), self.rows[which], self.columns)
        return ScaledRows(*of_points, self.whole_rows.in_rows(which), self.matrix[which])

    def distinct(self, which: Numbers) -> Distinct:
        """All points: duplicates are not removed."""
        return Distinct(which, which[:0], which[:0])

    def _given(self, which: Numbers) -> tuple[WholeMatrix, int]:
        return self.whole_rows.in_rows(which), 0

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        return np.sign(self.whole_rows.times(self.unscaled(vector))).astype(np.int8)

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool:
        return not self.whole_rows.combined(which.tolist(), weights)


def largest_of_rows(values: Numbers, indptr: Numbers) -> Numbers:
    """The largest value of every row, 0 for an empty one."""
    largest = np.zeros(len(indptr) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        largest[filled] = np.maximum.reduceat(values, indptr[filled])
    return largest
