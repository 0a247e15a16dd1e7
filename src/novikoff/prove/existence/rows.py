"""Sparse rows of integers, and their exact null space, also with thousands of columns.

Every coefficient has its own power of two: entries n stand for n 2^e, where e depends on the coefficient alone, so that
columns of very different units still give short integers.

A null space is found by elimination. Columns with few entries, most of them indicators, are eliminated one after the
other: a row of indicators stays a difference of two of them after any subtraction. A few full columns remain, for which
dense matrices are faster: they start with some rows, and add those not yet spanned, until there are none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import UNLIMITED, Clock, OutOfTimeError
from novikoff.prove.exact.algebra import as_whole, null_vectors_of
from novikoff.prove.exact.floats import as_integers, lowest_exponents
from novikoff.prove.exact.modular import independent
from novikoff.prove.exact.refined import WholeMatrix

Numbers = NDArray[np.int64]
# The nonzero entries of a row: integers, or FLINT's fractions.
Sparse = dict[int, Any]

# Up to this many columns, all count as full.
FULL = 300
# Beyond, a column is full if at least this fraction of the rows has an entry there.
FULL_SHARE = 0.05

# Rows that are added between two checks of the time limit.
BLOCK = 100_000

NONE = np.iinfo(np.int64).max


def rational(value: Any) -> Any:
    """Return an integer or Fraction as a rational of FLINT, which is faster."""
    from flint import fmpq

    return fmpq(value.numerator, value.denominator) if isinstance(value, int | Fraction) else value


# -- integers ---------------------------------------------------------------------------------------------------------


def whole_rows(rows: Any) -> tuple[WholeMatrix, Numbers]:
    """Return CSR floats as integers, and the exponents of their units, one for each column.

    >>> from scipy.sparse import csr_array
    >>> whole, exponents = whole_rows(csr_array([[0.5, 4.0], [0.0, 2.0**60]]))
    >>> whole.row(0), whole.row(1), exponents.tolist()
    ({0: 1, 1: 1}, {1: 288230376151711744}, [-1, 2])
    """
    used = rows.data != 0
    values, places = rows.data[used], rows.indices[used].astype(np.int64)
    exponents = np.full(rows.shape[1], NONE)
    np.minimum.at(exponents, places, lowest_exponents(values[:, None]))
    exponents[exponents == NONE] = 0
    indptr = np.append(0, np.cumsum(used))[rows.indptr]
    return WholeMatrix(_whole_numbers(values, exponents[places]), places, indptr, rows.shape[1]), exponents


def _whole_numbers(values: NDArray[np.float64], exponents: Numbers) -> NDArray[Any]:
    """Return integers n with values = n 2^exponent, in 64 bits if sums of two fit."""
    mantissas, powers = np.frexp(values)
    if (powers - exponents).max(initial=0) > 61:
        return as_integers(values, exponents)
    whole, shifts = np.ldexp(mantissas, 53).astype(np.int64), powers - 53 - exponents
    return np.where(shifts >= 0, whole << np.maximum(shifts, 0), whole >> np.maximum(-shifts, 0))


class Term(NamedTuple):
    """For each new row an integer row, times a sign, with its columns shifted to the right."""

    matrix: WholeMatrix
    rows: Numbers
    signs: Numbers
    moved: Numbers


def sums_of(terms: Sequence[Term], n_rows: int, n_columns: int, clock: Clock) -> WholeMatrix:
    """Return row by row the sum of at most two terms; raise OutOfTimeError if there is no time."""
    none = np.zeros(0, dtype=np.int64)
    values, columns, counts = [none], [none], [none]
    for start in clock.through(range(0, n_rows, BLOCK)):
        block = slice(start, min(start + BLOCK, n_rows))
        parts = [(matrix.in_rows(rows[block]), signs[block], moved[block]) for matrix, rows, signs, moved in terms]
        sizes = [np.diff(part.indptr) for part, _, _ in parts]
        data = np.concatenate(
            [part.data * np.repeat(signs, n) for (part, signs, _), n in zip(parts, sizes, strict=True)]
        )
        places = [
            part.indices + np.repeat(moved + n_columns * np.arange(len(n)), n)
            for (part, _, moved), n in zip(parts, sizes, strict=True)
        ]
        order = np.argsort(np.concatenate(places), kind="stable")
        place = np.concatenate(places)[order]
        first = np.flatnonzero(np.append(True, np.diff(place) != 0)[: len(place)])
        sums = np.add.reduceat(data[order], first) if len(first) else data
        place, sums = place[first][sums != 0], sums[sums != 0]
        values.append(sums)
        columns.append(place % n_columns)
        counts.append(np.bincount(place // n_columns, minlength=block.stop - start))
    indptr = np.append(0, np.cumsum(np.concatenate(counts)))
    return WholeMatrix(np.concatenate(values), np.concatenate(columns), indptr, n_columns)


def in_lowest_terms(rows: Sequence[Sparse], size: int) -> WholeMatrix:
    """Return rows of fractions as integer rows, each scaled as needed."""
    indptr = np.append(0, np.cumsum([len(row) for row in rows], dtype=np.int64))
    numbers = [value for row in rows if row for value in as_whole(list(row.values()))]
    return WholeMatrix.of(numbers, np.array([place for row in rows for place in row], dtype=np.int64), indptr, size)


# -- null spaces ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NullSpace:
    """All vectors orthogonal to some rows: every coefficient is a combination of `dimension` free coordinates."""

    dimension: int
    expressions: tuple[Sparse, ...]

    @classmethod
    def of(cls, whole: WholeMatrix, clock: Clock = UNLIMITED) -> "NullSpace":
        """Eliminate the columns with few entries, then the full ones; raise OutOfTimeError if there is no time."""
        size, counts = whole.n_columns, np.bincount(whole.indices, minlength=whole.n_columns)
        is_full = np.ones(size, dtype=bool) if size <= FULL else counts > FULL_SHARE * whole.n_rows
        full = np.flatnonzero(is_full).tolist()
        thin = np.lexsort((counts, is_full))[: size - len(full)].tolist()
        order = {place: i for i, place in enumerate([*thin, *full])}
        echelon = SparseEchelon(order)
        if thin:
            rows = (whole.row(row) for row in range(whole.n_rows))
            left = [echelon.insert(row, len(thin)) for row in clock.through(rows)]
            core = [{order[place] - len(thin): value for place, value in row.items()} for row in left if row]
            whole = in_lowest_terms(core, len(full))
        basis = _null_of_full(whole, clock)
        expressions: list[Sparse] = [{} for _ in order]
        for i, place in enumerate(full):
            expressions[place] = {k: vector[i] for k, vector in enumerate(basis) if vector[i]}
        free = [place for place in thin if place not in echelon.pivots]
        for k, place in enumerate(free, start=len(basis)):
            expressions[place] = {k: 1}
        echelon.back_substituted(expressions)
        return cls(len(basis) + len(free), tuple(expressions))

    def is_fixed(self, coefficient: int) -> bool:
        """Whether this coefficient is 0 in all these vectors: the unit vector lies in the span of the rows."""
        return not self.expressions[coefficient]

    def vector(self, free: Sequence[Any]) -> list[Any]:
        """Return the vector with these free coordinates, in fractions."""
        from flint import fmpq

        return [sum((value * free[k] for k, value in part.items()), fmpq(0)) for part in self.expressions]

    def free_numbers(self, vector: Sequence[Any]) -> list[Any]:
        """Return the free coordinates of one of these vectors."""
        from flint import fmpq

        free = [fmpq(0)] * self.dimension
        for value, part in zip(vector, self.expressions, strict=True):
            if len(part) == 1:
                (k,) = part
                free[k] = fmpq(value) / part[k]
        return free

    def times(self, row: Sparse) -> Sparse:
        """Return the product of a sparse vector with every basis vector; empty if it lies in the span."""
        total: Sparse = {}
        for place, value in row.items():
            for k, factor in self.expressions[place].items():
                total[k] = total.get(k, 0) + value * factor
        return {k: value for k, value in total.items() if value != 0}


class SparseEchelon:
    """Integer rows, each with 0 in the leading columns of those before it."""

    def __init__(self, order: Mapping[int, int]) -> None:
        self._order = order
        self.pivots: dict[int, Sparse] = {}

    def insert(self, row: Sparse, most: int) -> Sparse:
        """Add a row, reduced by those already in; return the remainder of a row that cannot be added, because its
        leading column's place in the order is at least `most`."""
        left = {place: value for place, value in row.items() if value}
        while left:
            first = min(left, key=self._order.__getitem__)
            if self._order[first] >= most:
                break
            if first not in self.pivots:
                self.pivots[first] = left
                return {}
            pivot = self.pivots[first]
            common = math.gcd(left[first], pivot[first])
            own, times = pivot[first] // common, left[first] // common
            if own != 1:
                left = {place: own * value for place, value in left.items()}
            for place, value in pivot.items():
                left[place] = left.get(place, 0) - times * value
            left = {place: value for place, value in left.items() if value}
            if own not in (1, -1):
                common = math.gcd(*left.values())
                left = {place: value // common for place, value in left.items()}
        return left

    def back_substituted(self, expressions: list[Sparse]) -> None:
        """Fill in the expressions of all leading columns, given those of the others."""
        for first in sorted(self.pivots, key=self._order.__getitem__, reverse=True):
            row, total = self.pivots[first], dict[int, Any]()
            lead = rational(row[first])
            for place, value in row.items():
                if place != first:
                    for k, factor in expressions[place].items():
                        total[k] = total.get(k, 0) - value * factor / lead
            expressions[first] = {k: value for k, value in total.items() if value != 0}


def with_scale(values: Sequence[Any]) -> tuple[list[int], Any]:
    """Return proportional integers, and the factor that gives them."""
    whole = as_whole(values)
    return whole, next((rational(n) / value for n, value in zip(whole, values, strict=True) if value), rational(1))


def _null_of_full(whole: WholeMatrix, clock: Clock) -> list[list[int]]:
    """Return a basis of the null space.

    Each basis vector is nonzero in one column where all others are 0; its other entries are in the leading columns.
    """
    n, d = whole.n_rows, whole.n_columns
    if 0 in (n, d):
        return [[int(i == k) for i in range(d)] for k in range(d)]
    random = np.random.default_rng(0)
    few = np.unique(np.linspace(0, n - 1, min(n, 2 * d)).astype(np.int64))
    while True:
        matrix = whole.in_rows(few).written_out()
        chosen = independent(matrix, clock)
        basis = None if chosen is None else null_vectors_of(matrix, chosen, clock)
        if chosen is None or basis is None:
            raise OutOfTimeError
        outside = _outside(whole, basis, random)
        if len(outside) == 0:
            return basis
        few = np.union1d(few[chosen.rows], random.permutation(outside)[: 2 * d])


def _outside(whole: WholeMatrix, basis: list[list[int]], random: Any) -> Numbers:
    """Return rows that are not orthogonal to the basis, found with a random combination of it, or with one vector."""
    outside = np.zeros(0, dtype=np.int64)
    if not basis:
        return outside
    times = [int(v) for v in random.integers(1, 2**20, len(basis))]
    mixed = [sum(t * v for t, v in zip(times, column, strict=True)) for column in zip(*basis, strict=True)]
    for vector in (mixed, *basis):
        outside = np.flatnonzero(whole.times(vector) != 0)
        if len(outside):
            break
    return outside
