"""Exact solutions of linear systems in pieces that look at the clock.

Elimination in rationals makes numbers of thousands of digits on its way, even where the answer has few, and nobody can
interrupt it. So everything is done modulo one prime of 62 bits, in which a system of hundreds of equations takes
milliseconds, and the solution is then *lifted*, one power of the prime after the other (Dixon 1982), until it can be
read off as fractions. What is read off is put into the equations, exactly: a prime can be unlucky, an answer cannot be
wrong. The prime is drawn at random, lest there are data for which it is always unlucky.
"""

import secrets
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from novikoff.prove.exact.clock import Clock

# What is lifted takes no more memory than this: entries times digits of 8 bytes, a few times.
MOST_DIGITS = 20_000_000
# Fractions count as read off if there are so many more bits than they need.
SPARE_BITS = 30
# Multiplications modulo a prime, on a slow machine.
STEPS_PER_SECOND = 5e8
# Steps of Euclid's algorithm between two looks at the clock.
STEPS = 512


class Independent(NamedTuple):
    """Rows and columns of a matrix, as many as its rank, that are linearly independent modulo a prime."""

    rows: list[int]
    columns: list[int]
    prime: int


class Fractions(NamedTuple):
    """A matrix of fractions: whole numbers (fmpz_mat), and what all of them are to be divided by (fmpz)."""

    numerators: Any
    denominator: Any


def drawn_prime() -> int:
    """One of the many primes of 62 bits, at random: one in 10^15 of them divides a given number of thousands of digits.

    >>> drawn_prime().bit_length()
    62
    """
    from flint import fmpz

    while not fmpz(drawn := 2**61 + secrets.randbelow(2**61)).is_prime():
        pass
    return drawn


def independent(matrix: Any, clock: Clock) -> Independent | None:
    """Independent rows and columns modulo a prime, hence independent; maximal unless the prime is unlucky.

    None if there is not time enough: this is the longest piece that cannot be interrupted.

    >>> from flint import fmpz_mat
    >>> independent(fmpz_mat([[0, 2, 4], [0, 1, 2], [0, 1, 3]]), Clock(None))[:2]
    ([0, 2], [1, 2])
    """
    from flint import nmod_mat

    n_rows, n_columns = matrix.nrows(), matrix.ncols()
    if 2 * n_rows * n_columns * min(n_rows, n_columns) / STEPS_PER_SECOND > clock.left():
        return None
    prime = drawn_prime()
    reduced = nmod_mat(matrix, prime)
    columns = _pivots(*reduced.rref())
    return Independent(_pivots(*reduced.transpose().rref()), columns, prime)


def _pivots(reduced: Any, rank: int) -> list[int]:
    """Where the rows of a matrix in reduced echelon form begin."""
    found: list[int] = []
    for i in range(rank):
        found.append(next(j for j in count(found[-1] + 1 if found else 0) if reduced[i, j] != 0))
    return found


def lifted(matrix: Any, right: Any, prime: int, clock: Clock) -> Fractions | None:
    """The solution of a square system that is regular modulo a prime, for every column of the right-hand side.

    None if the time, or the memory that this may take, is used up; a ZeroDivisionError if the system is not regular.

    >>> from flint import fmpz_mat
    >>> lifted(fmpz_mat([[2, 0], [1, 3]]), fmpz_mat([[1], [1]]), drawn_prime(), Clock(None))
    Fractions(numerators=[3]
    [1], denominator=6)
    """
    from flint import fmpz, fmpz_mat, nmod_mat

    size, p = (right.nrows(), right.ncols()), fmpz(prime)
    if 0 in size:
        return Fractions(right, fmpz(1))
    inverse = nmod_mat(matrix, prime).inv()
    left, digits, next_try = right, _Digits(p), 2
    most = max(MOST_DIGITS // (size[0] * size[1]), 4)
    while digits.count <= most:
        if clock.is_over():
            return None
        digit = fmpz_mat(*size, [int(value) for value in (inverse * nmod_mat(left, prime)).entries()])
        digits.add(digit)
        left = fmpz_mat(*size, [value // p for value in (left - matrix * digit).entries()])
        if digits.count >= next_try:
            next_try = next_try + 1 + next_try // 2
            found = _read_off(digits.value(), p**digits.count, clock)
            if found is not None and matrix * found.numerators == right * found.denominator:
                return found
    return None


class _Digits:
    """A matrix of whole numbers, digit by digit, in powers of a base; parts of equal length are joined."""

    def __init__(self, base: Any) -> None:
        self.base, self.count = base, 0
        self._parts: list[tuple[int, Any]] = []  # how many digits, and what they make

    def add(self, digit: Any) -> None:
        self.count += 1
        self._parts.append((1, digit))
        while len(self._parts) > 1 and self._parts[-1][0] == self._parts[-2][0]:
            self._join()

    def _join(self) -> None:
        n_high, high = self._parts.pop()
        n_low, low = self._parts.pop()
        self._parts.append((n_low + n_high, low + high * self.base**n_low))

    def value(self) -> Any:
        while len(self._parts) > 1:
            self._join()
        return self._parts[0][1]


def _read_off(values: Any, modulus: Any, clock: Clock) -> Fractions | None:
    """The fractions with small numerators and denominators that whole numbers stand for, modulo a power of a prime.

    None if they need more digits than the modulus has.
    """
    from flint import fmpz, fmpz_mat

    bound = modulus.isqrt() >> SPARE_BITS
    denominator, numerators = fmpz(1), []
    for value in values.entries():
        part = denominator_of(value * denominator % modulus, modulus, bound, clock)
        if part is None:
            return None
        denominator *= part
    for value in values.entries():
        value = value * denominator % modulus
        numerators.append(value - modulus if 2 * value > modulus else value)
    return Fractions(fmpz_mat(values.nrows(), values.ncols(), numerators), denominator)


def denominator_of(value: Any, modulus: Any, bound: Any, clock: Clock) -> Any:
    """The smallest number that makes a value small modulo the modulus (Wang 1981); None if there is none.

    >>> from flint import fmpz
    >>> denominator_of(fmpz(pow(7, -1, 10**9 + 7) * 5 % (10**9 + 7)), fmpz(10**9 + 7), 1000, Clock(None))
    7
    """
    if value <= bound or modulus - value <= bound:
        return 1
    before, now, factor_before, factor = modulus, value, 0, 1
    for step in count(1):
        quotient = before // now
        before, now = now, before - quotient * now
        factor_before, factor = factor, factor_before - quotient * factor
        if now <= bound:
            break
        if abs(factor) > bound or (step % STEPS == 0 and clock.is_over()):
            return None
    return abs(factor) if abs(factor) <= bound else None


def taken(matrix: Any, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """Some rows and columns of an fmpz_mat."""
    from flint import fmpz_mat

    return fmpz_mat(len(rows), len(columns), [matrix[i, j] for i in rows for j in columns])
