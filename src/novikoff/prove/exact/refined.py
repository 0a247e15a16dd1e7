"""Exact solutions of large sparse systems: floats solve, whole numbers correct, again (Wan 2006).

A factorisation in floats gives some digits of a solution. What they leave of the right-hand side is computed in whole
numbers, without rounding, and the same factors give the next digits of it, and so on, until the digits can be read off
as fractions with a common denominator. These are put into the equations, exactly: floats can fail to find an answer,
but it cannot be wrong. Elimination modulo a prime does the same where floats fail, but fills up sparse matrices.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import regular_solution
from novikoff.prove.exact.clock import Clock
from novikoff.prove.exact.modular import denominator_of

Numbers = NDArray[Any]
Floats = NDArray[np.float64]

# Bits of a digit: floats know about 52, less what the condition of the matrix takes.
DIGIT = 40
# Whole numbers below this stay in 64 bits.
SAFE = 2**62
# So many bits of fractions are not worth waiting for.
MOST_BITS = 400_000
# Up to so many equations, numbers of more than 64 bits are eliminated modulo primes: floats gain nothing there.
MOST_DENSE = 300
# Columns, cubed, that are eliminated in a second on a slow machine: sparse ones that fill up, and those of a matrix
# that is written out, which has no more rows than this.
SPARSE_RATE, FULL_RATE = 5e9, 3e10
MOST_FULL = 8_000


class Solution(NamedTuple):
    """Whole numbers, and what all of them are to be divided by."""

    numerators: list[int]
    denominator: int


class WholeMatrix(NamedTuple):
    """A CSR of whole numbers: of 64 bits, or Python's."""

    data: Numbers
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    n_columns: int

    @classmethod
    def of(cls, numbers: Any, indices: Numbers, indptr: Numbers, n_columns: int) -> "WholeMatrix":
        """In 64 bits, if all numbers fit."""
        values = np.array(numbers, dtype=object)
        if all(abs(value) < SAFE for value in values.tolist()):
            values = values.astype(np.int64)
        return cls(values, indices.astype(np.int64), indptr.astype(np.int64), n_columns)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def transposed(self) -> "WholeMatrix":
        order = np.argsort(self.indices, kind="stable")
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))[order]
        counts = np.bincount(self.indices, minlength=self.n_columns)
        return WholeMatrix(self.data[order], rows, np.append(0, np.cumsum(counts)), self.n_rows)

    def in_columns(self, columns: NDArray[np.int64]) -> "WholeMatrix":
        """Some of the columns, in their order."""
        place = np.full(self.n_columns, -1)
        place[columns] = np.arange(len(columns))
        kept = place[self.indices] >= 0
        indptr = np.append(0, np.cumsum(kept))[self.indptr]
        return WholeMatrix(self.data[kept], place[self.indices[kept]], indptr, len(columns))

    def row(self, row: int) -> dict[int, int]:
        """The entries of a row."""
        part = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
        return dict(zip(self.indices[part].tolist(), self.data[part].tolist(), strict=True))

    def combined(self, rows: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
        """The sum of some rows, each times a whole number; zeros are left out."""
        total: dict[int, int] = {}
        for row, weight in zip(rows, weights, strict=True):
            for place, value in self.row(row).items():
                total[place] = total.get(place, 0) + weight * value
        return {place: value for place, value in total.items() if value}

    def times(self, vector: Any) -> Numbers:
        """The product with a vector of whole numbers, exactly; both in 64 bits if all of it fits."""
        numbers = vector if isinstance(vector, np.ndarray) else np.array(vector, dtype=object)
        most = self.largest * max(int(np.diff(self.indptr).max(initial=0)), 1)
        if self.data.dtype == object or int(max(numbers.max(initial=0), -numbers.min(initial=0))) * most >= SAFE:
            terms = self.data.astype(object) * numbers.astype(object)[self.indices]
        else:
            terms = self.data * numbers.astype(np.int64)[self.indices]
        sums = np.zeros(self.n_rows, dtype=terms.dtype)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            sums[filled] = np.add.reduceat(terms, self.indptr[filled])
        return sums

    @property
    def largest(self) -> int:
        """The largest entry, without its sign."""
        return max(int(self.data.max()), -int(self.data.min())) if len(self.data) else 0


class Regular:
    """A square matrix that floats can factorise: sparse, or written out if that is quicker.

    Of sparse factors, about `core` columns fill up.
    """

    def __init__(self, matrix: WholeMatrix, core: int = 0) -> None:
        from scipy.sparse import csc_array

        self.matrix, self._transpose = matrix, matrix.transposed()
        # In units of about its largest entry, lest floats overflow.
        self._shift = matrix.largest.bit_length()
        data = np.array([value / (1 << self._shift) for value in self._transpose.data.tolist()])
        size = (matrix.n_rows, matrix.n_rows)
        columns = csc_array((data, self._transpose.indices, self._transpose.indptr), shape=size)
        is_full = _seconds(matrix.n_rows, core)[1] < _seconds(matrix.n_rows, core)[0]
        self._solve = _full_factors(columns) if is_full else _sparse_factors(columns)

    @classmethod
    def of(cls, matrix: WholeMatrix, clock: Clock, core: int = 0) -> "Regular | None":
        """None if it is singular, as far as floats can tell, or if that takes too long."""
        if min(_seconds(matrix.n_rows, core)) > clock.left():
            return None
        try:
            return cls(matrix, core)
        except RuntimeError:
            return None

    def near(self, right: NDArray[np.float64], transpose: bool = False) -> NDArray[np.float64]:
        """The solution in floats."""
        return np.asarray(np.ldexp(self._solve(right, transpose), -self._shift))

    def solve(self, right: Any, clock: Clock, transpose: bool = False) -> Solution | None:
        """The solution for a right-hand side of whole numbers; None if there is no time, or if floats fail.

        >>> matrix = WholeMatrix(np.array([2, 1, 3]), np.array([0, 0, 1]), np.array([0, 1, 3]), 2)
        >>> Regular(matrix).solve([1, 1], Clock(None))
        Solution(numerators=[3, 1], denominator=6)
        """
        matrix = self._transpose if transpose else self.matrix
        if matrix.data.dtype == object and matrix.n_rows <= MOST_DENSE:
            return _by_elimination(matrix, right, clock)
        left = np.array([int(value) for value in right], dtype=object)
        digits, bits, next_try, most = np.zeros(len(left), dtype=object), 0, 0, math.inf
        while bits < MOST_BITS and not clock.is_over():
            if not left.any():
                return _reduced(Solution(digits.tolist(), 1 << bits))
            size = max(int(left.max()), -int(left.min())).bit_length()
            digit, more = self._digit(left, max(size - 60, 0), transpose)
            if digit is None or size >= most:
                return None
            step = max(more, 0)
            digit = _shifted(digit, step - more)
            left = _shifted(left, step) - matrix.times(digit)
            digits, bits, most = _shifted(digits, step) + digit, bits + step, size + step
            if bits >= next_try:
                next_try = bits + DIGIT + bits // 4
                found = _read_off(digits.tolist(), bits, clock)
                if found is not None and self._is_solved(matrix, found, right):
                    return found
        return None

    def _digit(self, left: Numbers, shift: int, transpose: bool) -> tuple[Numbers | None, int]:
        """The solution for what is left in whole multiples of 2^-more, and more; None if floats have none."""
        floats = np.array([int(value) >> shift for value in left.tolist()], dtype=np.float64)
        solution = self.near(floats, transpose)
        largest = float(np.abs(solution).max(initial=0.0))
        if not 0 < largest < math.inf:
            return None, 0
        more = DIGIT - math.frexp(largest)[1]
        return np.rint(np.ldexp(solution, more)).astype(np.int64).astype(object), more - shift

    @staticmethod
    def _is_solved(matrix: WholeMatrix, found: Solution, right: Any) -> bool:
        products = matrix.times(found.numerators).tolist()
        return all(int(p) == int(r) * found.denominator for p, r in zip(products, right, strict=True))


def _seconds(size: int, core: int) -> tuple[float, float]:
    """About how long it takes to factorise a matrix: as a sparse one, and written out, if memory allows that."""
    return core**3 / SPARSE_RATE, size**3 / FULL_RATE if size <= MOST_FULL else math.inf


def _sparse_factors(columns: Any) -> Callable[[Floats, bool], Floats]:
    from scipy.sparse.linalg import splu

    factors = splu(columns)
    return lambda right, transpose: np.asarray(factors.solve(right, "T" if transpose else "N"))


def _full_factors(columns: Any) -> Callable[[Floats, bool], Floats]:
    from scipy.linalg.lapack import dgetrf, dgetrs

    factors, pivots, is_singular = dgetrf(columns.toarray(order="F"), overwrite_a=True)
    if is_singular:
        raise RuntimeError("the matrix is singular")
    return lambda right, transpose: np.asarray(dgetrs(factors, pivots, right, trans=int(transpose))[0])


def _by_elimination(matrix: WholeMatrix, right: Any, clock: Clock) -> Solution | None:
    from flint import fmpz_mat

    table = np.zeros((matrix.n_rows, matrix.n_columns), dtype=object)
    np.add.at(table, (np.repeat(np.arange(matrix.n_rows), np.diff(matrix.indptr)), matrix.indices), matrix.data)
    try:
        found = regular_solution(fmpz_mat(table.tolist()), fmpz_mat([[int(value)] for value in right]), clock)
    except ZeroDivisionError:
        return None
    return None if found is None else Solution([int(n) for n in found.numerators.entries()], int(found.denominator))


def _shifted(numbers: Numbers, bits: int) -> Numbers:
    return np.asarray(numbers << bits if bits else numbers, dtype=object)


def _read_off(digits: list[int], bits: int, clock: Clock) -> Solution | None:
    """The fractions with the smallest common denominator that numbers, divided by a power of two, are near to."""
    modulus = 1 << bits
    bound = math.isqrt(modulus) >> DIGIT // 2
    denominator = 1
    for value in digits:
        part = denominator_of(value * denominator % modulus, modulus, bound, clock)
        if part is None:
            return None
        denominator *= int(part)
    half = modulus >> 1
    return Solution([value * denominator + half >> bits for value in digits], denominator)


def _reduced(found: Solution) -> Solution:
    divisor = math.gcd(found.denominator, *found.numerators)
    return Solution([value // divisor for value in found.numerators], found.denominator // divisor)
