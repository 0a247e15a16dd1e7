"""Exact solutions of large sparse systems by refinement: solve in floats, correct in whole numbers (Wan 2006).

A factorisation in floats gives some digits of a solution. The residual is computed in whole numbers, without rounding,
and the same factors give the next digits from it, and so on, until fractions with a common denominator can be
reconstructed. These are substituted into the equations, exactly: floats can fail to find an answer, but it cannot be
wrong. Elimination modulo a prime does the same where floats fail, but fills in sparse matrices.
"""

import math
import random
from collections.abc import Callable, Sequence
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import as_matrix
from novikoff.prove.exact.modular import denominator_of, lifted

Numbers = NDArray[Any]
Floats = NDArray[np.float64]
Whole64 = NDArray[np.int64]

# Bits of a digit: floats have 53, minus those lost to the condition of the matrix.
DIGIT = 40
# The fewest bits that a digit must add, or floats have failed, and the most.
LEAST_STEP, MOST_STEP = 4, 50
# The most bits of a residual, unless the absolute sum of a row times a digit has more.
MOST_LEFT = 60
# Reconstructed fractions are accepted if there are twice this many more bits than they need.
SPARE_BITS = 24
EQUILIBRATIONS = 3
# Whole numbers below this stay in 64 bits.
SAFE = 2**62
# Solutions with more bits are not worth the time.
MOST_BITS = 400_000
# Up to this many equations, elimination modulo primes solves what floats cannot; and up to FEW, fractions do at once.
MOST_DENSE = 300
FEW = 24
# Columns, cubed, eliminated per second on a slow machine: those of sparse factors that fill in, and those of a dense
# matrix; and the most rows of the latter.
SPARSE_RATE, FULL_RATE = 5e9, 3e10
MOST_FULL = 8_000


class Solution(NamedTuple):
    """Numerators and their common denominator."""

    numerators: list[int]
    denominator: int


class WholeMatrix(NamedTuple):
    """A CSR matrix of whole numbers: int64, or Python integers."""

    data: Numbers
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    n_columns: int

    @classmethod
    def of(cls, numbers: Any, indices: Numbers, indptr: Numbers, n_columns: int) -> "WholeMatrix":
        """The matrix, in int64 if all numbers fit."""
        values = np.array(numbers, dtype=object)
        if all(abs(value) < SAFE for value in values.tolist()):
            values = values.astype(np.int64)
        return cls(values, indices.astype(np.int64), indptr.astype(np.int64), n_columns)

    @classmethod
    def of_table(cls, rows: Sequence[Sequence[int]], n_columns: int) -> "WholeMatrix":
        """Convert dense rows."""
        entries = [(place, value) for row in rows for place, value in enumerate(row) if value]
        counts = [sum(1 for value in row if value) for row in rows]
        places = np.array([place for place, _ in entries], dtype=np.int64)
        return cls.of([value for _, value in entries], places, np.append(0, np.cumsum(counts)), n_columns)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def transposed(self) -> "WholeMatrix":
        order = np.argsort(self.indices, kind="stable")
        rows = np.repeat(np.arange(self.n_rows), np.diff(self.indptr))[order]
        counts = np.bincount(self.indices, minlength=self.n_columns)
        return WholeMatrix(self.data[order], rows, np.append(0, np.cumsum(counts)), self.n_rows)

    def in_rows(self, rows: NDArray[np.int64]) -> "WholeMatrix":
        """Some of the rows, in their order."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(counts))
        places = np.repeat(self.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        return WholeMatrix(self.data[places], self.indices[places], indptr, self.n_columns)

    def in_columns(self, columns: NDArray[np.int64]) -> "WholeMatrix":
        """Some of the columns, in their order."""
        place = np.full(self.n_columns, -1)
        place[columns] = np.arange(len(columns))
        kept = place[self.indices] >= 0
        indptr = np.append(0, np.cumsum(kept))[self.indptr]
        return WholeMatrix(self.data[kept], place[self.indices[kept]], indptr, len(columns))

    def written_out(self) -> Any:
        """The matrix as a FLINT matrix."""
        table = np.zeros((self.n_rows, self.n_columns), dtype=object)
        np.add.at(table, (np.repeat(np.arange(self.n_rows), np.diff(self.indptr)), self.indices), self.data)
        return as_matrix(table.tolist())

    def row(self, row: int) -> dict[int, int]:
        """The entries of a row."""
        part = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
        return dict(zip(self.indices[part].tolist(), self.data[part].tolist(), strict=True))

    def combined(self, rows: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
        """The sum of some rows, each times a whole number; zeros are omitted."""
        total: dict[int, int] = {}
        for row, weight in zip(rows, weights, strict=True):
            for place, value in self.row(row).items():
                total[place] = total.get(place, 0) + weight * value
        return {place: value for place, value in total.items() if value}

    def times(self, vector: Any) -> Numbers:
        """The exact product with a vector of whole numbers; in int64 if everything fits."""
        numbers = vector if isinstance(vector, np.ndarray) else np.array(vector, dtype=object)
        if not numbers.any():
            return np.zeros(self.n_rows, dtype=self.data.dtype)
        most = max(self.largest, 1) * max(int(np.diff(self.indptr).max(initial=0)), 1)
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
    def row_bits(self) -> int:
        """A bound on the bits of the absolute sum of a row."""
        return self.largest.bit_length() + int(np.diff(self.indptr).max(initial=0)).bit_length()

    @property
    def largest(self) -> int:
        """The largest magnitude of an entry."""
        return max(int(self.data.max()), -int(self.data.min())) if len(self.data) else 0


class Regular:
    """A square matrix that floats can factorise: sparse, or dense if that is quicker.

    Rows and columns are equilibrated by powers of two, without rounding, so the scaling of rows to whole numbers does
    not matter. In sparse factors, about `core` columns fill in.
    """

    def __init__(self, matrix: WholeMatrix, core: int = 0) -> None:
        from scipy.sparse import csc_array

        self.matrix = matrix
        self._lifts: dict[bool, _Lift] = {}
        rows = np.repeat(np.arange(matrix.n_rows), np.diff(matrix.indptr))
        mantissas, exponents = mantissas_of(matrix.data)
        self._scales = _equilibrating(mantissas, exponents, rows, matrix)
        data = np.ldexp(mantissas, exponents + self._scales[0][rows] + self._scales[1][matrix.indices])
        columns = csc_array((data, (rows, matrix.indices)), shape=(matrix.n_rows, matrix.n_rows))
        sparse, full = _seconds(matrix.n_rows, core)
        is_full = full < sparse or (len(data) > matrix.n_rows**2 / 10 and full < math.inf)
        self._solve = _full_factors(columns) if is_full else _sparse_factors(columns)

    @classmethod
    def of(cls, matrix: WholeMatrix, clock: Clock, core: int = 0) -> "Regular | None":
        """Factorise a matrix; None if it is singular in floats, or if there is too little time."""
        if min(_seconds(matrix.n_rows, core)) > clock.left():
            return None
        try:
            return cls(matrix, core)
        except RuntimeError:
            return None

    def near(self, right: Floats, transpose: bool = False) -> Floats:
        """The solution in floats."""
        into, out = self._scales[::-1] if transpose else self._scales
        return np.asarray(np.ldexp(self._solve(np.ldexp(right, into), transpose), out))

    def solve(self, right: Any, clock: Clock, transpose: bool = False) -> Solution | None:
        """The exact solution for a right-hand side of whole numbers; None if time runs out or floats fail.

        >>> matrix = WholeMatrix(np.array([2, 1, 3]), np.array([0, 0, 1]), np.array([0, 1, 3]), 2)
        >>> Regular(matrix).solve([1, 1], Clock(None))
        Solution(numerators=[3, 1], denominator=6)
        """
        if transpose not in self._lifts:
            matrix = self.matrix.transposed() if transpose else self.matrix
            into, out = self._scales[::-1] if transpose else self._scales
            self._lifts[transpose] = _Lift(matrix, into, out, lambda right: self._solve(right, transpose))
        found = self._lifts[transpose].solve(right, clock)
        return found or by_elimination(self.matrix.transposed() if transpose else self.matrix, right, clock)


class _Lift:
    """The solution of a system digit by digit, where floats solve an equilibrated copy.

    With x_j = 2^out_j u_j, all u_j are of similar size, and a digit of u is `DIGIT` bits of every u_j. The scaled rows
    are whole numbers V again.
    """

    def __init__(self, matrix: WholeMatrix, into: Whole64, out: Whole64, solve: Callable[[Floats], Floats]) -> None:
        self._near, self._out = solve, out
        rows = np.repeat(np.arange(matrix.n_rows), np.diff(matrix.indptr))
        lowest = trailing_zeros(matrix.data) + out[matrix.indices]
        shifts = np.full(matrix.n_rows, np.iinfo(np.int64).max)
        np.minimum.at(shifts, rows, lowest)
        self._shifts = -np.where(np.diff(matrix.indptr) > 0, shifts, 0)
        moves = out[matrix.indices] + self._shifts[rows]
        data = (matrix.data.astype(object) << np.maximum(moves, 0)) >> np.maximum(-moves, 0)
        self._V = WholeMatrix.of(data, matrix.indices, matrix.indptr, matrix.n_columns)
        # From the residual in the units of V to that of the equilibrated copy.
        self._into = into - self._shifts

    def solve(self, right: Any, clock: Clock) -> Solution | None:
        spare = int(max(-self._shifts.min(initial=0), 0))
        left = np.array(
            [int(v) << s for v, s in zip(right, (self._shifts + spare).tolist(), strict=True)], dtype=object
        )
        start = self._first_digits(left, clock)
        if start is None:
            return None
        found = self._fractions(*start, clock)
        if found is None:
            return None
        exponents = self._out - spare
        least = int(exponents.min(initial=0))
        numerators = [n << e for n, e in zip(found.numerators, (exponents - least).tolist(), strict=True)]
        return _reduced(numerators, found.denominator, least)

    def _first_digits(self, left: Numbers, clock: Clock) -> tuple[Numbers, Numbers] | None:
        """The residual after the digits before the point, and these digits."""
        digits, before = np.zeros(len(left), dtype=object), math.inf
        while True:
            solution = self._near(_ldexp(left, self._into))
            size = _exponent(solution)
            if size is None or clock.is_over():
                return None
            if size <= DIGIT // 2:
                return left, digits
            if size >= before:
                return None
            before = size
            more = max(size - DIGIT, 0)
            digit = _whole(np.rint(np.ldexp(solution, -more))) << more
            digits, left = digits + digit, left - self._V.times(digit)

    def _fractions(self, left: Numbers, digits: Numbers, clock: Clock) -> Solution | None:
        residual, value, bits, next_try = _Residual(left, self._V), digits, 0, 0
        while bits < MOST_BITS and not clock.is_over():
            if residual.is_zero():
                return Solution(value.tolist(), 1 << bits)
            if bits >= next_try:
                next_try = bits + 2 * DIGIT + bits // 3
                answer = _read_off(value.tolist(), bits, self._V.row_bits, residual.bits, clock)
                if answer is not None:
                    return answer
            solution = self._near(np.ldexp(residual.floats, self._into + residual.unit))
            size = _exponent(solution)
            step = 0 if size is None else min(DIGIT - size, MOST_STEP)
            if step < LEAST_STEP:
                return None
            digit = np.rint(np.ldexp(solution, step)).astype(np.int64)
            if not residual.subtract(digit, step):
                return None
            value, bits = (value << step) + digit.astype(object), bits + step
        return None


class _Residual:
    """The exact residual of a right-hand side.

    Arithmetic modulo 2^64 gives it up to a multiple of that, and floats, with errors below 2^62, determine the
    multiple. Where entries are too long for this, they are Python integers, and floats have units of 2^unit.
    """

    def __init__(self, left: Numbers, V: WholeMatrix) -> None:
        from scipy.sparse import csr_array

        width = int(np.diff(V.indptr).max(initial=0)) + 8
        self._V, self._left, self._is_long = V, left, V.row_bits + DIGIT + width.bit_length() - 50 > 62
        self.unit = V.row_bits if self._is_long else 0
        shape = (V.n_rows, V.n_columns)
        self._near = csr_array((self._in_floats(V.data), V.indices, V.indptr), shape=shape)
        self.floats = self._in_floats(left)
        if not self._is_long:
            self._low = csr_array((_modulo(V.data), V.indices, V.indptr), shape=shape)
            self._left = _modulo(left)

    def _in_floats(self, numbers: Numbers) -> Floats:
        return _ldexp(numbers, np.full(len(numbers), -self.unit))

    @property
    def bits(self) -> int:
        """An upper bound on the bits of the residual."""
        return self.unit + (_exponent(self.floats) or 0) + 1

    def is_zero(self) -> bool:
        return not self._left.any() and not self.floats.any()

    def subtract(self, digit: Whole64, step: int) -> bool:
        """Replace the residual by 2^step times it, minus V digit; False if floats cannot show that it is small."""
        near = np.ldexp(self.floats, step) - self._near @ digit.astype(np.float64)
        if not np.abs(near).max(initial=0.0) < 2.0 ** max(self._V.row_bits - self.unit + DIGIT, MOST_LEFT):
            return False
        if self._is_long:
            self._left = (self._left << step) - self._V.times(digit)
            self.floats = self._in_floats(self._left)
        else:
            self._left = (self._left << np.uint64(step)) - self._low @ digit.view(np.uint64)
            low = self._left.view(np.int64).astype(np.float64)
            self.floats = low + np.ldexp(np.rint(np.ldexp(near - low, -64)), 64)
        return True


def _modulo(numbers: Numbers) -> NDArray[np.uint64]:
    """Whole numbers modulo 2^64."""
    if numbers.dtype != object:
        return numbers.astype(np.int64).view(np.uint64)
    return np.array([value & 2**64 - 1 for value in numbers.tolist()], dtype=np.uint64)


def _seconds(size: int, core: int) -> tuple[float, float]:
    """The estimated times to factorise a matrix as sparse, and as dense if memory allows."""
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


def by_elimination(matrix: WholeMatrix, right: Any, clock: Clock) -> Solution | None:
    """The solution of a small system without floats; None if it is singular or not small."""
    if matrix.n_rows > MOST_DENSE or clock.is_over():
        return None
    left, column = matrix.written_out(), as_matrix([right]).transpose()
    try:
        if matrix.n_rows <= FEW:
            numerators, denominator = left.solve(column).numer_denom()
            return Solution([int(n) for n in numerators.entries()], int(denominator))
        found = lifted(left, column, clock)
    except ZeroDivisionError:
        return None
    return None if found is None else Solution([int(n) for n in found.numerators.entries()], int(found.denominator))


def mantissas_of(numbers: Numbers) -> tuple[Floats, Whole64]:
    """Mantissas near 1 and exponents of whole numbers, or fractions, of any length."""
    if numbers.dtype != object:
        mantissas, powers = np.frexp(numbers.astype(np.float64))
        return mantissas, powers.astype(np.int64)
    pairs = [(int(value.numerator), int(value.denominator)) for value in numbers.tolist()]
    powers = np.array([abs(n).bit_length() - d.bit_length() for n, d in pairs], dtype=np.int64)
    shifted = [(n << max(-e, 0)) / (d << max(e, 0)) for (n, d), e in zip(pairs, powers.tolist(), strict=True)]
    return np.array(shifted, dtype=np.float64), powers


def _ldexp(values: Numbers, exponents: Whole64) -> Floats:
    mantissas, shifts = mantissas_of(values)
    with np.errstate(over="ignore"):  # overflow is detected later
        return np.ldexp(mantissas, shifts + exponents)


def _equilibrating(
    mantissas: Floats, exponents: Whole64, rows: Whole64, matrix: WholeMatrix
) -> tuple[Whole64, Whole64]:
    """Exponents for rows and columns that bring the entries near 1: alternately, by the mean of the extremes."""
    used = mantissas != 0
    size = np.log2(np.abs(mantissas[used])) + exponents[used]
    places, counts = (rows[used], matrix.indices[used]), (matrix.n_rows, matrix.n_columns)
    scales = [np.zeros(count) for count in counts]
    for side in (0, 1) * EQUILIBRATIONS:
        rest = size + scales[1 - side][places[1 - side]]
        largest, smallest = np.full(counts[side], -np.inf), np.full(counts[side], np.inf)
        np.maximum.at(largest, places[side], rest)
        np.minimum.at(smallest, places[side], rest)
        filled = largest > -np.inf
        scales[side][filled] = -(largest[filled] + smallest[filled]) / 2
    return np.rint(scales[0]).astype(np.int64), np.rint(scales[1]).astype(np.int64)


def trailing_zeros(values: Numbers) -> Whole64:
    """How often 2 divides each of some whole numbers; 0 times for a 0."""
    if values.dtype != object:
        return np.log2(np.maximum(values & -values, 1)).astype(np.int64)
    return np.array([max((value & -value).bit_length() - 1, 0) for value in values.tolist()], dtype=np.int64)


def _exponent(values: Floats) -> int | None:
    """An e with all values below 2^e; None if a value is not finite."""
    largest = float(np.abs(values).max(initial=0.0))
    return math.frexp(largest)[1] if largest < math.inf else None


def _whole(values: Floats) -> Numbers:
    return np.array([int(value) for value in values.tolist()], dtype=object)


def _read_off(digits: list[int], bits: int, row_bits: int, left_bits: int, clock: Clock) -> Solution | None:
    """The fractions with the smallest common denominator near the digits divided by 2^bits.

    They solve the system if the residual plus the error of rounding the digits to fractions is less than 1 in whole
    numbers: `left_bits` bounds the residual, and `row_bits` the absolute sum of a row.
    """
    from flint import fmpz

    if bits < 2 * SPARE_BITS + row_bits:
        return None
    # A random combination has the common denominator, up to a small factor.
    weights = random.Random(0).choices(range(1, 1 << 16), k=len(digits))
    denominator = _denominator(sum(map(mul, weights, digits)) % (1 << bits), bits, clock)
    numbers = [fmpz(value) for value in digits]
    modulus, half, most = fmpz(1) << bits, fmpz(1) << bits - 1, fmpz(1) << bits - row_bits - 2
    while denominator and denominator.bit_length() <= bits - 2 - left_bits:
        numerators, times = [], fmpz(denominator)
        for value in numbers:
            exact = value * times
            numerators.append(exact + half >> bits)
            if abs(exact - (numerators[-1] << bits)) >= most:
                break
        else:
            return Solution([int(value) for value in numerators], denominator)
        part = _denominator(int(exact % modulus), bits, clock)
        denominator *= part if part and part > 1 else 0
    return None


def _denominator(value: int, bits: int, clock: Clock) -> int | None:
    """The smallest multiplier that makes a value small modulo 2^bits; None if there is none."""
    from flint import fmpz

    small, most = fmpz(1) << bits // 2 + SPARE_BITS - 2, fmpz(1) << bits // 2 - SPARE_BITS
    found = denominator_of(fmpz(value), fmpz(1) << bits, small, most, clock)
    return None if found is None else int(found)


def _reduced(numerators: list[int], denominator: int, exponent: int) -> Solution:
    """The numerators times a power of two, with common powers of two cancelled."""
    every = math.gcd(denominator, *(value & -value for value in numerators)) if denominator % 2 == 0 else 1
    denominator, numerators = denominator // every, [value // every for value in numerators]
    if exponent < 0:
        twos = min(((v & -v).bit_length() - 1 for v in numerators if v), default=-exponent)
        fewer = min(twos, -exponent)
        return Solution([value >> fewer for value in numerators], denominator << -exponent - fewer)
    return Solution([value << exponent for value in numerators], denominator)
