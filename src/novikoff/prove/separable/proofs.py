"""The few exact facts behind certificates, independent of how a claim was found; and points that span all others.

These are found by elimination modulo a prime, which needs no tolerance. Rows of sparse tables are eliminated in place:
a row with a single new column has its pivot there. If no row has one, some columns are set aside, those with the most
entries first, and in the end every other column is a combination of these on the points. So nothing fills in, and only
the columns that were set aside are eliminated as a matrix. Independent modulo a prime means independent; the converse
fails once in billions, and is proved where it is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.clock import UNLIMITED, Clock, OutOfTimeError
from novikoff.prove.exact.algebra import null_vectors, quotient
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.exact.modular import PANEL, PRIME, centred, eliminated, multiplied, random_residues
from novikoff.prove.exact.refined import Regular, WholeMatrix
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import (
    exact_sum,
    signs_of_many_products,
    smallest_product,
    whole_matrix,
    whole_points,
)

Numbers = NDArray[np.int64]

# Points to try, per dimension that is not yet spanned.
FEW = 2
# Up to FULL columns, sparse points are eliminated as a matrix; beyond, rows with more than THIN new columns have no
# pivot among them.
FULL = 400
THIN = 24
# Rows eliminated as a matrix, beyond the number of columns.
SPARE = 20
# Float operations per second, on a slow machine.
STEPS_PER_SECOND = 1e10


@dataclass(frozen=True, eq=False)
class Spanning:
    """`rows` are independent in as many `columns`; the columns of `normals` are random vectors, orthogonal to all of
    them modulo the prime. `core` columns were eliminated as a matrix."""

    rows: Numbers
    columns: Numbers
    normals: Floats
    core: int

    def are_outside(self, points: Points) -> NDArray[np.bool_]:
        """Which points are outside the span: certain if so, and nearly certain if not."""
        if not self.normals.any():
            return np.zeros(points.n_points, dtype=bool)
        residues = points.in_residues
        is_outside = _products(residues, self.normals[:, 0]) != 0
        for normal in self.normals[:, 1:].T:
            inside = np.flatnonzero(~is_outside)
            is_outside[inside] = _products(residues, normal)[inside] != 0
        return is_outside


def spanning(points: Points, which: Numbers, clock: Clock, first: Numbers | None = None) -> Spanning | None:
    """Some of the points `which` that span all of them, chosen from `first` to begin with, if given.

    Starts with a few, and adds points outside their span until there are none. None if time runs out.
    """
    if 4 * len(which) < points.n_points:
        few = None if first is None else np.searchsorted(which, first)
        found = spanning(points.part(which), np.arange(len(which)), clock, few)
        return None if found is None else replace(found, rows=which[found.rows])
    few = which if first is None else first
    few = few[np.unique(np.linspace(0, len(few) - 1, min(len(few), FEW * points.dimension + SPARE)).astype(np.int64))]
    while True:
        found = _spanning_few(points.in_residues, few, clock)
        if found is None:
            return None
        new = which[found.are_outside(points)[which]]
        if len(new) == 0:
            return found
        most = FEW * (points.dimension - len(found.rows))
        few = np.concatenate([found.rows, new[np.unique(np.linspace(0, len(new) - 1, most).astype(np.int64))]])


def _products(residues: Points, w: Floats) -> Floats:
    """The products of points with a vector, both in residues, modulo the prime.

    The vector is split into digits so short that sums of products are whole numbers of less than 53 bits.
    """
    bits = min(52 - residues.bits - residues.widest.bit_length(), PRIME.bit_length())
    total = np.zeros(residues.n_points)
    for shift in range(bits * (PRIME.bit_length() // bits), -1, -bits):
        digit = np.rint(np.ldexp(w, -shift))
        w = w - np.ldexp(digit, shift)
        total = centred(np.ldexp(total, bits) + centred(residues.products(digit)))
    return total


def _spanning_few(residues: Points, few: Numbers, clock: Clock) -> Spanning | None:
    if residues.dimension <= FULL or not residues.is_sparse:
        if 2 * len(few) * residues.dimension**2 / STEPS_PER_SECOND > clock.left():
            return None
        found = eliminated(residues.take(few))
        return Spanning(few[found.rows], np.array(found.columns, dtype=np.int64), found.normals(), residues.dimension)
    rows = _by_row(residues, few)
    used = np.unique(np.concatenate([few[:0], *(columns for columns, _ in rows)]))
    rows = [(np.searchsorted(used, columns), numbers) for columns, numbers in rows]
    leading, aside = _leading(rows, len(used))
    others = np.setdiff1d(np.arange(len(few)), [row for row, _ in leading])
    others = others[: len(aside) + SPARE]
    if 2 * len(others) * len(aside) ** 2 / STEPS_PER_SECOND > clock.left():
        return None
    expressed = _expressed(rows, leading, aside, len(used))
    core = np.array([_combined(expressed, *rows[row]) for row in others.tolist()])
    found = eliminated(core.reshape(len(others), len(aside)))
    normals = random_residues(residues.dimension)
    normals[used] = multiplied(expressed, found.normals())
    return Spanning(
        few[np.array([*(row for row, _ in leading), *others[found.rows]], dtype=np.int64)],
        used[np.array([*(column for _, column in leading), *aside[found.columns]], dtype=np.int64)],
        normals,
        len(aside),
    )


def _by_row(residues: Points, few: Numbers) -> list[tuple[Numbers, Floats]]:
    """Columns and residues of some points."""
    matrix = residues.written_out(few).signed()
    matrix.eliminate_zeros()
    columns = matrix.indices.astype(np.int64)
    return [(columns[a:b], matrix.data[a:b]) for a, b in pairwise(matrix.indptr.tolist())]


def _leading(rows: Sequence[tuple[Numbers, Floats]], dimension: int) -> tuple[list[tuple[int, int]], Numbers]:
    """Rows with their pivot columns, in an order in which each has no other new column; and the columns set aside."""
    used = [columns.tolist() for columns, _ in rows]
    counts = np.bincount(np.concatenate([[], *(columns for columns, _ in rows)]).astype(np.int64), minlength=dimension)
    is_new = np.ones(dimension, dtype=bool)
    rows_of: list[list[int]] = [[] for _ in range(dimension)]
    for row, columns in enumerate(used):
        for column in columns:
            rows_of[column].append(row)
    left = [len(columns) for columns in used]
    heap = [(n, row) for row, n in enumerate(left)]
    heapify(heap)
    leading: list[tuple[int, int]] = []
    aside: list[int] = []
    while heap:
        n, row = heappop(heap)
        if n != left[row] or n == 0:
            continue
        if n > THIN:
            break
        *heavy, column = sorted((c for c in used[row] if is_new[c]), key=lambda c: -counts[c])
        leading.append((row, column))
        aside += heavy
        for gone in (*heavy, column):
            is_new[gone] = False
            for other in rows_of[gone]:
                left[other] -= 1
                heappush(heap, (left[other], other))
    return leading, np.sort(np.append(np.array(aside, dtype=np.int64), np.flatnonzero(is_new)))


def _expressed(rows: Any, leading: list[tuple[int, int]], aside: Numbers, dimension: int) -> Floats:
    """Every column as a combination of those set aside, for vectors orthogonal to the rows."""
    table = np.zeros((dimension, len(aside)))
    table[aside, np.arange(len(aside))] = 1.0
    for row, column in leading:
        columns, numbers = rows[row]
        is_other = columns != column
        inverse = pow(-int(numbers[~is_other][0]), -1, PRIME)
        table[column] = centred(_combined(table, columns[is_other], numbers[is_other]) * centred(np.float64(inverse)))
    return table


def _combined(table: Floats, which: Numbers, numbers: Floats) -> Floats:
    """A linear combination of some rows of a table."""
    total = np.zeros(table.shape[1])
    for start in range(0, len(which), PANEL):
        some = slice(start, start + PANEL)
        total = centred(total + centred(numbers[some] @ table[which[some]]))
    return total


# -- the facts --------------------------------------------------------------------------------------------------------


# The most whole numbers stored, a few times over.
MOST_NUMBERS = 5_000_000


def as_whole_floats(values: ArrayLike) -> list[int]:
    """Floats as whole numbers in the same proportions."""
    return [int(v) for v in as_integers(values, lowest_exponent(values))]


def lower_square(points: Points, vector: Sequence[int]) -> Fraction | None:
    """The square of the margin of a vector, min <z, w>^2 / ||w||^2; None if it does not separate.

    Any vector that separates gives a lower bound on gamma, and its square is rational.
    """
    square = sum(v * v for v in vector)
    if square == 0:
        return None
    smallest, _ = smallest_product(points, vector)
    return quotient(smallest.numerator**2, smallest.denominator**2 * square) if smallest > 0 else None


def upper_square(points: Points, rows: NDArray[np.int64], weights: ArrayLike) -> Fraction:
    """The squared length of a convex combination of the points: an upper bound on gamma squared, for any weights.

    Weights are floats or whole numbers; floats cannot cancel points that are longer than 2^53 times the margin.
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


@dataclass(frozen=True, eq=False)
class Span:
    """The span of some points: the vectors that are 0 outside some coordinates, and orthogonal to `normals` in them.

    The coordinates are some columns, ascending, and that of the constant, if there is one. Only these are stored, so
    thousands of columns of zeros cost nothing.
    """

    columns: NDArray[np.int64]
    normals: list[list[int]]

    @classmethod
    def of(cls, points: Points, rows: NDArray[np.int64], clock: Clock = UNLIMITED) -> "Span":
        """The span of some points; raises OutOfTimeError if time runs out."""
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
        return cls(columns, null_vectors(whole_points(few)[0], few.dimension, clock))

    def has_all(self, points: Points, clock: Clock = UNLIMITED) -> bool:
        """Whether every point lies in the span; raises OutOfTimeError if time runs out."""
        is_other = np.ones(points.dimension, dtype=bool)
        is_other[self.columns] = is_other[-1] = False
        if not points.is_zero_along(is_other):
            return False
        few = points.in_columns(self.columns)
        return not any(np.any(signs) for signs in clock.through(signs_of_many_products(few, self.normals)))


def spans_all(points: Points, rows: NDArray[np.int64], clock: Clock = UNLIMITED) -> bool:
    """Stiemke: if the rows of a positive combination that is 0 span all points, there is no weak separator either.

    A weak separator has products >= 0 with these rows and their positive combination is 0, so it is orthogonal to
    each of them, and to their span.
    """
    return Span.of(points, rows, clock).has_all(points, clock)


def _normals_of_many(few: Points, found: Spanning | None, clock: Clock) -> list[list[int]]:
    """A basis of the vectors orthogonal to many points, if it is small, by exact solutions of sparse systems.

    Independent rows prove that there are no more normals, and products with all points that these are normals.
    """
    if clock.is_over():
        raise OutOfTimeError
    free = [] if found is None else sorted(set(range(few.dimension)) - set(found.columns.tolist()))
    normals = None
    if found is not None and len(free) * few.dimension <= MOST_NUMBERS:
        normals = _solved_for(whole_matrix(few, found.rows)[0], found, free, clock)
    if normals is None or any(np.any(signs) for signs in clock.through(signs_of_many_products(few, normals))):
        n_columns = few.dimension - 1
        raise MemoryError(f"{few.n_points} points in {n_columns} columns are too many for exact arithmetic in memory")
    return normals


def _solved_for(rows: WholeMatrix, found: Spanning, free: list[int], clock: Clock) -> list[list[int]] | None:
    """For every free column, the vector that is orthogonal to the rows and 0 in all other free columns."""
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
