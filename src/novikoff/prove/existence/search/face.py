"""The face of a cone, as `separable` finds it, and its null space, in which questions about signs are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.codec import Combination
from novikoff.prove.exact.modular import PRIME, centred
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.existence.families import Cone
from novikoff.prove.existence.rows import NullSpace, Numbers
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search import face
from novikoff.prove.separable.search.scaled import Distinct, Scaled

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

LEAST = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class ConeFace:
    """What proves which rows vanish along every direction.

    `direction`, in the units of the whole rows, is positive on all rows that do not, and 0 on those that do; `free` are
    its free numbers in the null space of the face. The rows, equations included, with their whole weights add up to 0;
    without them it is only proved that the rows beyond are no part of the face.
    """

    is_strict: Mask
    direction: list[int] | None
    free: list[Any]
    obstruction: Combination | None
    null_space: NullSpace


def face_of(cone: Cone, clock: Clock, exactly: bool = False) -> ConeFace | None:
    """The face of a cone with its proof; None if it could not be proved in time. Raises OutOfTimeError."""
    proof = face.find_face(ScaledCone.of_rows(cone.whole), clock, cone.is_equation, exactly=exactly)
    if proof is None:
        return None
    is_strict = np.zeros(cone.whole.n_rows, dtype=bool)
    is_strict[proof.beyond] = True
    null_space = NullSpace.of(cone.whole.in_rows(np.flatnonzero(~is_strict)), clock)
    obstruction = None
    if proof.rows is not None and proof.weights is not None:
        obstruction = Combination(tuple(proof.rows.tolist()), tuple(proof.weights))
    free = [] if proof.weak is None else null_space.free_numbers(proof.weak)
    return ConeFace(is_strict, proof.weak, free, obstruction, null_space)


@dataclass(frozen=True, eq=False)
class ScaledCone(Scaled):
    """Whole rows as the search for a face wants them; vectors and weights are in the units of the whole rows.

    The points are the same rows modulo the prime by which spans are found.
    """

    whole_rows: WholeMatrix
    matrix: Any

    @classmethod
    def of_rows(cls, whole: WholeMatrix) -> "ScaledCone":
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
        """Without a place for a constant."""
        return self.whole_rows.n_columns

    @property
    def is_sparse(self) -> bool:
        return True

    def products(self, b: Floats) -> Floats:
        return np.asarray(self.matrix @ b)

    def written(self, which: Numbers) -> Any:
        return self.matrix[which]

    def part(self, which: Numbers) -> "ScaledCone":
        of_points = (self.points.part(which), self.rows[which], self.columns)
        return ScaledCone(*of_points, self.whole_rows.in_rows(which), self.matrix[which])

    def distinct(self, which: Numbers) -> Distinct:
        """None are sought for."""
        return Distinct(which, which[:0], which[:0])

    def whole(self, which: Numbers) -> WholeMatrix:
        few, shifts = self.whole_rows.in_rows(which), self._shifts(which)
        numbers = few.data.astype(object) << (shifts - self.unit(which)).astype(object)
        return WholeMatrix.of(numbers, few.indices, few.indptr, self.dimension)

    def unit(self, which: Numbers) -> int:
        return int(self._shifts(which).min(initial=0))

    def _shifts(self, which: Numbers) -> Numbers:
        """What takes the entries of some rows to those of the scaled ones, as exponents."""
        few = self.whole_rows.in_rows(which)
        return np.asarray(-self.columns[few.indices] - np.repeat(self.rows[which], np.diff(few.indptr)), dtype=np.int64)

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        return np.sign(self.whole_rows.times(self.unscaled(vector))).astype(np.int8)

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool:
        return not self.whole_rows.combined(which.tolist(), weights)


def mantissas_of(numbers: NDArray[Any]) -> tuple[Floats, Numbers]:
    """Mantissas near 1 and exponents of whole numbers, or fractions, of any length."""
    if numbers.dtype != object:
        mantissas, powers = np.frexp(numbers.astype(np.float64))
        return mantissas, powers.astype(np.int64)
    pairs = [(int(value.numerator), int(value.denominator)) for value in numbers.tolist()]
    powers = np.array([abs(n).bit_length() - d.bit_length() for n, d in pairs], dtype=np.int64)
    shifted = [(n << max(-e, 0)) / (d << max(e, 0)) for (n, d), e in zip(pairs, powers.tolist(), strict=True)]
    return np.array(shifted, dtype=np.float64), powers


def largest_of_rows(values: Numbers, indptr: Numbers) -> Numbers:
    """The largest value of every row, 0 of one without any."""
    largest = np.zeros(len(indptr) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        largest[filled] = np.maximum.reduceat(values, indptr[filled])
    return largest
