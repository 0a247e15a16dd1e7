"""The face of a cone, as `separable` finds it, and its null space, in which questions about signs are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole, solution
from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.exact.elimination import PRIME, centred
from novikoff.prove.exact.floats import power_of_two
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.existence.conclude import Combination
from novikoff.prove.existence.families import Cone
from novikoff.prove.existence.rows import FULL, Echelon, NullSpace, Numbers, Sparse, WholeRows, fraction, rational
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search import face
from novikoff.prove.separable.search.distinct import Distinct

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Face:
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


def find_face(cone: Cone, clock: Clock, exactly: bool = False) -> Face | None:
    """The face of a cone with its proof; None if it could not be proved in time. Raises OutOfTimeError."""
    proof = face.find_face(ScaledCone.of(cone.whole), clock, cone.is_equation, exactly=exactly)
    if proof is None:
        return None
    is_strict = np.zeros(cone.whole.n_rows, dtype=bool)
    is_strict[proof.beyond] = True
    null_space = NullSpace.of(cone.whole, np.flatnonzero(~is_strict), clock)
    obstruction = None
    if proof.rows is not None and proof.weights is not None:
        obstruction = Combination(tuple(proof.rows.tolist()), tuple(proof.weights))
    free = [] if proof.weak is None else null_space.free_numbers(proof.weak)
    return Face(is_strict, proof.weak, free, obstruction, null_space)


@dataclass(frozen=True, eq=False)
class ScaledCone:
    """Whole rows as the search for a face wants them; vectors and weights are in the units of the whole rows."""

    whole_rows: WholeRows
    matrix: Any
    rows: Numbers
    columns: Numbers
    is_sparse: bool = True

    @classmethod
    def of(cls, whole_rows: WholeRows) -> "ScaledCone":
        return cls(whole_rows, *whole_rows.as_floats())

    @property
    def n_points(self) -> int:
        return self.whole_rows.n_rows

    @property
    def dimension(self) -> int:
        return self.whole_rows.size

    @cached_property
    def for_spans(self) -> Points:
        """Of the whole rows; a constant 0 comes last."""
        from scipy.sparse import csr_array

        whole = self.whole_rows
        numbers = centred((whole.data % PRIME).astype(np.float64))
        shape = (whole.n_rows, whole.size)
        matrix = csr_array((numbers, whole.indices.copy(), whole.indptr.copy()), shape=shape)
        matrix.sum_duplicates()
        matrix.data = centred(matrix.data)
        return Points(matrix, np.ones(whole.n_rows, dtype=np.int8), 0.0)

    def products(self, b: Floats) -> Floats:
        return np.asarray(self.matrix @ b)

    def written(self, which: Numbers) -> Any:
        return self.matrix[which]

    def part(self, which: Numbers) -> "ScaledCone":
        return ScaledCone(self.whole_rows.take(which), self.matrix[which], self.rows[which], self.columns)

    def distinct(self, which: Numbers) -> Distinct:
        """None are sought for."""
        return Distinct(which, which[:0], which[:0])

    def whole(self, which: Numbers) -> WholeMatrix:
        few = [self.whole_rows.row(row) for row in which.tolist()]
        unit = self.unit(which)
        shifts = [(self.columns - int(self.rows[row]) - unit).tolist() for row in which.tolist()]
        numbers = [v << shift[place] for row, shift in zip(few, shifts, strict=True) for place, v in row.items()]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in few])]).astype(np.int64)
        places = np.array([place for row in few for place in row], dtype=np.int64)
        return WholeMatrix.of(numbers, places, indptr, self.dimension)

    def unit(self, which: Numbers) -> int:
        few = self.whole_rows.take(which)
        shifts = self.columns[few.indices] - np.repeat(self.rows[which], np.diff(few.indptr))
        return int(shifts.min(initial=0))

    def unscaled_weights(self, which: Numbers, weights: Sequence[Fraction]) -> list[int]:
        return as_whole([w * power_of_two(-int(e)) for w, e in zip(weights, self.rows[which], strict=True)])

    def unscaled(self, vector: Sequence[int]) -> list[int]:
        return as_whole([value * power_of_two(int(e)) for value, e in zip(vector, self.columns, strict=True)])

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        return self.whole_rows.signs(self.unscaled(vector))

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool:
        return not self.whole_rows.combined(which.tolist(), weights)


def solved(rows: Sequence[Sparse], target: Sparse, size: int, clock: Clock) -> dict[int, Any] | None:
    """How many times each of some rows gives the target; None if they do not."""
    if not target or not rows:
        return None if target else {}
    if size <= FULL:
        numbers = [in_lowest_terms([row.get(place, 0) for place in range(size)], keep=True) for row in rows]
        *right, below = in_lowest_terms([*(target.get(place, 0) for place in range(size)), 1])
        found = solution([whole for whole, _ in numbers], right, clock)
        if found is None and clock.is_over():
            raise OutOfTimeError
        scales = [scale for _, scale in numbers]
        if found is None:
            return None
        return {i: rational(n * s / below) for i, (n, s) in enumerate(zip(found, scales, strict=True))}
    counts = np.bincount([place for row in rows for place in row], minlength=size)
    echelon = Echelon(np.argsort(np.argsort(counts, kind="stable")).tolist())
    for i, row in enumerate(rows):
        if clock.is_over():
            raise OutOfTimeError
        echelon.insert(row, i)
    return echelon.combination(target)


def in_lowest_terms(values: Sequence[Any], keep: bool = False) -> Any:
    """Numbers in the same proportions as whole numbers; if asked for, also what they were multiplied by."""
    numbers = [fraction(value) for value in values]
    whole = as_whole(numbers)
    if not keep:
        return whole
    first = next((i for i, value in enumerate(numbers) if value), None)
    return whole, fraction(1) if first is None else whole[first] / numbers[first]


def projected(rows: Sequence[Sparse], size: int, units: Numbers | None = None) -> tuple[Any, Numbers]:
    """Rows of fractions as CSR floats near 1, and the exponents of the units of the columns, if not given."""
    from scipy.sparse import csr_array

    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([k for row in rows for k in row], dtype=np.int64)
    parts = [_parts(value) for row in rows for value in row.values()]
    mantissas, exponents = np.array([m for m, _ in parts]), np.array([e for _, e in parts], dtype=np.int64)
    if units is None:
        units = np.full(size, np.iinfo(np.int64).min)
        np.maximum.at(units, indices, exponents)
        units[units == np.iinfo(np.int64).min] = 0
    shifted = exponents - units[indices]
    largest = np.zeros(len(rows), dtype=np.int64)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        largest[filled] = np.maximum.reduceat(shifted, indptr[filled])
    data = np.ldexp(mantissas, shifted - np.repeat(largest, np.diff(indptr)))
    return csr_array((data, indices, indptr), shape=(len(rows), size)), units


def _parts(value: Any) -> tuple[float, int]:
    """A mantissa near 1 and an exponent, for a number of any size."""
    exact = fraction(value)
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    scaled = exact / (1 << exponent) if exponent >= 0 else exact * (1 << -exponent)
    return float(scaled), exponent


def rounded(free: Floats, units: Numbers, bits: int) -> list[Any]:
    """Free numbers as fractions, in their own units, rounded to so many bits after the point."""
    from flint import fmpq

    values = []
    for value, unit in zip(free.tolist(), units.tolist(), strict=True):
        above, below = float(value).as_integer_ratio()
        shift = -bits - unit
        whole = ((above << bits) + below // 2) // below
        values.append(fmpq(whole << shift) if shift >= 0 else fmpq(whole, 1 << -shift))
    return values
