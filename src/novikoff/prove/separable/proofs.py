"""The few exact facts that a certificate rests on. None of them knows how the claim was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.exact.algebra import null_vectors, quotient
from novikoff.prove.exact.clock import UNLIMITED, Clock, OutOfTimeError
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.exact.refined import Regular, WholeMatrix
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import (
    exact_sum,
    signs_of_many_products,
    signs_of_products,
    smallest_product,
    whole_matrix,
    whole_points,
)
from novikoff.prove.separable.spanning import Spanning, spanning

# What is written out in whole numbers, some times over, has no more of them than this.
MOST_NUMBERS = 5_000_000


def as_whole_floats(values: ArrayLike) -> list[int]:
    """Floats in the same proportions, as whole numbers."""
    return [int(v) for v in as_integers(values, lowest_exponent(values))]


def lower_square(points: Points, vector: Sequence[int]) -> Fraction | None:
    """The square of the margin that a vector has, min <z, w>^2 / ||w||^2; None if it does not separate.

    Any vector that separates gives a lower bound on gamma, and its square is rational.
    """
    square = sum(v * v for v in vector)
    if square == 0:
        return None
    smallest, _ = smallest_product(points, vector)
    return quotient(smallest.numerator**2, smallest.denominator**2 * square) if smallest > 0 else None


def upper_square(points: Points, rows: NDArray[np.int64], weights: ArrayLike) -> Fraction:
    """The squared length of a convex combination of the points: an upper bound on gamma squared, for any weights.

    Floats or whole numbers of any size; floats cannot cancel points that are longer than 2^53 times the margin.
    """
    numbers = list(weights) if isinstance(weights, list | tuple) else []
    is_whole = bool(numbers) and all(isinstance(number, int) for number in numbers)
    whole = numbers if is_whole else as_whole_floats(weights)
    total, exponent = exact_sum(points, rows, whole)
    return Fraction(sum(v * v for v in total), sum(whole) ** 2) * power_of_two(2 * exponent)


def vanishes(points: Points, rows: NDArray[np.int64], weights: Sequence[int]) -> bool:
    """Gordan: a positive combination of points that is 0 rules out every separator."""
    if len(rows) == 0 or len(rows) != len(weights) or min(weights) <= 0:
        return False
    return not any(exact_sum(points, rows, weights)[0])


def weakly_separates(points: Points, vector: Sequence[int]) -> bool:
    """Whether no point is on the wrong side, and not all are on the plane."""
    signs = signs_of_products(points, vector)
    return bool(signs.min() >= 0 and signs.max() > 0)


@dataclass(frozen=True, eq=False)
class Span:
    """What some points span: the vectors that are 0 but in some coordinates, and orthogonal to `normals` there.

    The coordinates are some columns, ascending, and the constant's, if there is one. Only these are written out, so
    that thousands of columns of zeros cost nothing.
    """

    columns: NDArray[np.int64]
    normals: list[list[int]]

    @classmethod
    def of(cls, points: Points, rows: NDArray[np.int64], clock: Clock = UNLIMITED) -> "Span":
        """The span of some points; OutOfTimeError if there is no time."""
        if len(rows) == 0:
            return cls(np.zeros(0, dtype=np.int64), [[1]])
        columns = points.columns_of(rows)
        few = points.part(rows).in_columns(columns)
        unspanned = [[0] * len(columns) + [1]] if points.constant == 0 else []
        full = few.dimension - len(unspanned)
        is_large = len(columns) * max(len(rows), len(columns) - len(rows)) > MOST_NUMBERS
        found = spanning(few, np.arange(len(rows)), clock) if is_large or len(rows) >= full else None
        if found is not None and len(found.rows) == full:
            return cls(columns, unspanned)
        if is_large:
            return cls(columns, _normals_of_many(few, found, clock))
        whole = whole_points(few)[0]
        if clock is UNLIMITED:
            return cls(columns, null_vectors(whole, few.dimension))
        normals = null_vectors(whole, few.dimension, clock)
        if normals is None:
            raise OutOfTimeError
        return cls(columns, normals)

    def has_all(self, points: Points, clock: Clock = UNLIMITED) -> bool:
        """Whether every point lies in the span; OutOfTimeError if there is no time."""
        is_other = np.ones(points.dimension, dtype=bool)
        is_other[self.columns] = is_other[-1] = False
        if not points.is_zero_along(is_other):
            return False
        few = points.in_columns(self.columns)
        return not any(np.any(signs) for signs in clock.through(signs_of_many_products(few, self.normals)))


def spans_all(points: Points, rows: NDArray[np.int64], clock: Clock = UNLIMITED) -> bool:
    """Stiemke: if the rows of a positive combination that is 0 span all points, there is no weak separator either.

    A weak separator has products >= 0 with these rows and their positive combination is 0, so it is orthogonal to
    each of them, and to everything that they span.
    """
    return Span.of(points, rows, clock).has_all(points, clock)


def _normals_of_many(few: Points, found: Spanning | None, clock: Clock) -> list[list[int]]:
    """A basis of what is orthogonal to many points, if it is small: by sparse systems, solved exactly.

    Independent rows prove that there are no more normals than these, and the products that all of these are.
    """
    if clock.is_over():
        raise OutOfTimeError
    free = [] if found is None else sorted(set(range(few.dimension)) - set(found.columns.tolist()))
    normals = None
    if found is not None and len(free) * few.dimension <= MOST_NUMBERS:
        normals = _solved_for(whole_matrix(few, found.rows), found, free, clock)
    if normals is None or any(np.any(signs) for signs in clock.through(signs_of_many_products(few, normals))):
        n_columns = few.dimension - 1
        raise MemoryError(f"{few.n_points} points in {n_columns} columns are too many to be written out exactly")
    return normals


def _solved_for(rows: WholeMatrix, found: Spanning, free: list[int], clock: Clock) -> list[list[int]] | None:
    """For every free column, the vector that is orthogonal to the rows and has 0 in all other free ones."""
    regular = Regular.of(rows.in_columns(found.columns), clock, found.core)
    normals: list[list[int]] = []
    for column in free:
        right = rows.in_columns(np.array([column])).times(np.ones(1, dtype=np.int64))
        solution = None if regular is None else regular.solve(right, clock)
        if solution is None:
            return None
        normal = np.zeros(rows.n_columns, dtype=object)
        normal[found.columns], normal[column] = solution.numerators, -solution.denominator
        normals.append([int(value) for value in normal])
    return normals
