"""Exact linear algebra modulo primes: which rows are independent, and solutions lifted from a prime.

*Elimination* is modulo a small prime, by products of matrices of floats that do not round: residues are between -p/2
and p/2, so that sums of `PANEL` products of two of them are whole numbers below 2^53, and products of float matrices
are by far the fastest. Rows that are independent modulo a prime are independent; the converse fails if the prime
divides certain determinants.

*Solving* in rationals has intermediate numbers of thousands of digits, even where the answer has few, and cannot be
interrupted. So a system is solved modulo one prime of 62 bits, in milliseconds, and the solution is then lifted, one
power of the prime after the other (Dixon 1982), until rational reconstruction succeeds. Its result is substituted into
the equations, exactly: a prime can be unlucky, an answer cannot be wrong.

Primes are random, so that no data are unlucky every time.
"""

import secrets
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock

Floats = NDArray[np.float64]

# Columns that are eliminated one by one before all others are updated at once.
PANEL = 64
# A vector orthogonal to this many random normals is orthogonal to all, except once in 10^13.
DRAWN = 2
# The largest size of a lifted solution: entries times digits of 8 bytes; memory holds a few copies.
MOST_DIGITS = 20_000_000
# Reconstructed fractions are accepted if the modulus has this many more bits than they need.
SPARE_BITS = 30
# Multiplications modulo a prime per second, on a slow machine.
STEPS_PER_SECOND = 5e8
# Steps of Euclid's algorithm between two checks of the clock.
STEPS = 512
# Primes to try before a system is considered singular.
TRIES = 3


def small_prime() -> int:
    """A random prime just below 2^23, one of tens of thousands."""
    odd = np.arange(3, 2**11.5 + 1, 2, dtype=np.int64)
    while True:
        drawn = 2**23 - 1 - 2 * secrets.randbelow(2**19)
        if (drawn % odd).all():
            return drawn


# The prime shared by computations whose results are compared.
PRIME = small_prime()


# -- elimination ------------------------------------------------------------------------------------------------------


class Echelon(NamedTuple):
    """Independent rows and columns of a matrix, as many as its rank, and its echelon form."""

    rows: list[int]
    columns: list[int]
    upper: Floats

    def normals(self) -> Floats:
        """Random vectors, as columns, orthogonal to all rows: random entries in the free columns, which determine those
        in the pivot columns."""
        normals = random_residues(self.upper.shape[1])
        normals[self.columns] = 0.0
        for row, column in reversed(list(enumerate(self.columns))):
            total = centred(centred(self.upper[row, column + 1 :, None] * normals[column + 1 :]).sum(axis=0))
            normals[column] = centred(-total * centred(float(pow(int(self.upper[row, column]), -1, PRIME))))
        return normals


def centred(numbers: Any, prime: int | None = None) -> Any:
    """Whole numbers below 2^53, modulo the prime, between -p/2 and p/2."""
    p = prime or PRIME
    return numbers - p * np.rint(numbers * (1.0 / p))


def multiplied(matrix: Floats, vectors: Floats) -> Floats:
    """The product of two matrices of residues."""
    total = np.zeros((len(matrix), vectors.shape[1]))
    for start in range(0, len(vectors), PANEL):
        some = slice(start, start + PANEL)
        total = centred(total + centred(matrix[:, some] @ vectors[some]))
    return total


def eliminated(matrix: Floats, prime: int | None = None) -> Echelon:
    """The echelon form of a matrix of residues.

    >>> found = eliminated(np.array([[0.0, 2, 4], [0, 1, 2], [0, 1, 3]]))
    >>> found.rows, found.columns, found.normals()[1:].any()
    ([0, 2], [1, 2], np.False_)
    """
    A, p = np.array(matrix, dtype=np.float64), prime or PRIME
    order, columns = np.arange(len(A)), list[int]()
    for start in range(0, A.shape[1], PANEL):
        stop, rank = min(start + PANEL, A.shape[1]), len(columns)
        if rank == len(A):
            break
        new, lower = _panel(A[:, start:stop], rank, A, order, p)
        columns += [start + column for column in new]
        k = len(new)
        if k and stop < A.shape[1]:
            rest = A[rank:, stop:]
            for i in range(1, k):
                rest[i] = centred(rest[i] - lower[i, :i] @ rest[:i], p)
            rest[k:] = centred(rest[k:] - lower[k:] @ rest[:k], p)
    return Echelon(order[: len(columns)].tolist(), columns, A[: len(columns)])


def _panel(panel: Floats, rank: int, A: Floats, order: NDArray[np.int64], p: int) -> tuple[list[int], Floats]:
    """Eliminate some columns from the rows without a pivot; returns the pivot columns and the multipliers."""
    lower = np.zeros((len(A) - rank, panel.shape[1]))
    columns: list[int] = []
    for column in range(panel.shape[1]):
        k = len(columns)
        at = rank + k
        nonzero = np.flatnonzero(panel[at:, column])
        if len(nonzero) == 0:
            if at == len(A):
                break
            continue
        pivot = at + int(nonzero[0])
        if pivot != at:
            for table in (A, order):
                table[[at, pivot]] = table[[pivot, at]]
            lower[[k, pivot - rank]] = lower[[pivot - rank, k]]
        inverse = float(pow(int(panel[at, column]), -1, p))
        times = centred(panel[at + 1 :, column] * centred(np.float64(inverse), p), p)
        panel[at + 1 :, column:] = centred(panel[at + 1 :, column:] - np.outer(times, panel[at, column:]), p)
        lower[k + 1 :, k] = times
        columns.append(column)
    return columns, lower[:, : len(columns)]


def random_residues(size: int) -> Floats:
    """Random vectors, as the columns of a matrix."""
    drawn = np.random.default_rng(size).integers(-PRIME // 2, PRIME // 2, (size, DRAWN))
    return np.asarray(drawn, dtype=np.float64)


class Independent(NamedTuple):
    """Rows and columns of a matrix, as many as its rank, that are linearly independent."""

    rows: list[int]
    columns: list[int]


def independent(matrix: Any, clock: Clock) -> Independent | None:
    """Independent rows and columns of an fmpz_mat, as many as its rank unless the prime is unlucky.

    None if too little time is left: this is the longest step that cannot be interrupted.

    >>> from flint import fmpz_mat
    >>> independent(fmpz_mat([[0, 2, 4], [0, 1, 2], [0, 1, 3]]), Clock(None))
    Independent(rows=[0, 2], columns=[1, 2])
    """
    from flint import nmod_mat

    n_rows, n_columns = matrix.nrows(), matrix.ncols()
    if 2 * n_rows * n_columns * min(n_rows, n_columns) / STEPS_PER_SECOND > clock.left():
        return None
    prime = small_prime()
    residues = np.array([int(value) for value in nmod_mat(matrix, prime).entries()], dtype=np.float64)
    found = eliminated(centred(residues.reshape(n_rows, n_columns), prime), prime)
    return Independent(found.rows, found.columns)


# -- solutions --------------------------------------------------------------------------------------------------------


class Fractions(NamedTuple):
    """A matrix of fractions: numerators (fmpz_mat) and their common denominator (fmpz)."""

    numerators: Any
    denominator: Any


def drawn_prime() -> int:
    """A random prime of 62 bits: of these, one in 10^15 divides a given number of thousands of digits.

    >>> drawn_prime().bit_length()
    62
    """
    from flint import fmpz

    while not fmpz(drawn := 2**61 + secrets.randbelow(2**61)).is_prime():
        pass
    return drawn


def lifted(matrix: Any, right: Any, clock: Clock) -> Fractions | None:
    """The solution of a regular square system, for every column of the right-hand side.

    None if the time, or the memory allowed for it, runs out; raises ZeroDivisionError if the matrix is singular.

    >>> from flint import fmpz_mat
    >>> lifted(fmpz_mat([[2, 0], [1, 3]]), fmpz_mat([[1], [1]]), Clock(None))
    Fractions(numerators=[3]
    [1], denominator=6)
    """
    from flint import fmpz, fmpz_mat, nmod_mat

    size = (right.nrows(), right.ncols())
    if 0 in size:
        return Fractions(right, fmpz(1))
    prime, inverse = _inverted(matrix)
    p = fmpz(prime)
    left, value, modulus, next_try = right, fmpz_mat(*size), fmpz(1), 2
    for digits in range(1, max(MOST_DIGITS // (size[0] * size[1]), 4) + 2):
        if clock.is_over():
            return None
        digit = fmpz_mat(*size, [int(value) for value in (inverse * nmod_mat(left, prime)).entries()])
        value, modulus = value + digit * modulus, modulus * p
        left = fmpz_mat(*size, [value // p for value in (left - matrix * digit).entries()])
        if digits >= next_try:
            next_try = next_try + 1 + next_try // 2
            found = _read_off(value, modulus, clock)
            if found is not None and matrix * found.numerators == right * found.denominator:
                return found
    return None


def _inverted(matrix: Any) -> tuple[int, Any]:
    """A prime, and the inverse of a matrix modulo it; raises ZeroDivisionError if there is none modulo several."""
    from flint import nmod_mat

    for tries in count(1):
        prime = drawn_prime()
        try:
            return prime, nmod_mat(matrix, prime).inv()
        except ZeroDivisionError:
            if tries == TRIES:
                raise
    raise AssertionError("the primes do not end")


def _read_off(values: Any, modulus: Any, clock: Clock) -> Fractions | None:
    """Rational reconstruction: the fractions with small numerators and denominators that equal values modulo a power of
    a prime.

    None if they need more digits than the modulus has.
    """
    from flint import fmpz, fmpz_mat

    bound = modulus.isqrt() >> SPARE_BITS
    denominator, numerators = fmpz(1), []
    for value in values.entries():
        part = denominator_of(value * denominator % modulus, modulus, bound, bound, clock)
        if part is None:
            return None
        denominator *= part
    for value in values.entries():
        value = value * denominator % modulus
        numerators.append(value - modulus if 2 * value > modulus else value)
    return Fractions(fmpz_mat(values.nrows(), values.ncols(), numerators), denominator)


def denominator_of(value: Any, modulus: Any, small: Any, most: Any, clock: Clock) -> Any:
    """The smallest multiplier, at most `most`, that makes a value small modulo the modulus (Wang 1981); None if there
    is none, or time runs out.

    >>> from flint import fmpz
    >>> denominator_of(fmpz(pow(7, -1, 10**9 + 7) * 5 % (10**9 + 7)), fmpz(10**9 + 7), 1000, 1000, Clock(None))
    7
    """
    before, now, factor_before, factor = modulus, min(value, modulus - value), 0, 1
    for step in count(1):
        if now <= small:
            return abs(factor) if abs(factor) <= most else None
        quotient, rest = divmod(before, now)
        before, now, factor_before, factor = now, rest, factor, factor_before - quotient * factor
        if abs(factor) > most or (step % STEPS == 0 and clock.is_over()):
            return None
    raise AssertionError("the steps go on forever")


def taken(matrix: Any, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """The submatrix of these rows and columns of an fmpz_mat."""
    from flint import fmpz_mat

    return fmpz_mat(len(rows), len(columns), [matrix[i, j] for i in rows for j in columns])
