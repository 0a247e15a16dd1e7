"""Linear equations in whole numbers, solved exactly and in small steps (Dixon 1982).

The matrix is inverted once, modulo a prime p. Then every step finds one more digit, in base p, of a solution modulo
p, p^2, p^3, ...: about as much work as one product of the matrix and a vector, after which one can look at the clock.
From enough digits the fractions are rebuilt, and tried on the equations; so nothing depends on luck.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from novikoff.prove.exact.clock import Clock

# Of about 61 bits: two of their digits fit into no machine word, but one does.
PRIMES = (2**61 - 1, 2**61 - 31)


class OutOfTimeError(Exception):
    """The clock ran out in the middle of a computation."""


def solve_whole(A: Sequence[Sequence[int]], b: Sequence[int], clock: Clock) -> list[Fraction]:
    """The solution of Ax = b for a square matrix; ZeroDivisionError if A is singular.

    >>> solve_whole([[2, 1], [1, 3]], [3, 5], Clock(None))
    [Fraction(4, 5), Fraction(7, 5)]
    """
    from flint import fmpz_mat

    matrix, right = fmpz_mat([list(row) for row in A]), fmpz_mat([[value] for value in b])
    inverse, prime = _inverse(matrix)
    residual, digits, power = list(b), [0] * len(b), 1
    count, attempt = 0, 4
    while True:
        if clock.is_over():
            raise OutOfTimeError
        digit = _times_modulo(inverse, residual, prime)
        applied = matrix * fmpz_mat([[value] for value in digit])
        residual = [(r - int(applied[i, 0])) // prime for i, r in enumerate(residual)]
        digits = [sofar + power * value for sofar, value in zip(digits, digit, strict=True)]
        power *= prime
        count += 1
        if count == attempt or not any(residual):
            attempt = attempt * 3 // 2
            found = _rebuilt(digits, power, clock)
            if found is not None and _solves(matrix, right, *found):
                numerators, denominator = found
                return [Fraction(value, denominator) for value in numerators]


def _inverse(matrix: Any) -> tuple[Any, int]:
    from flint import nmod_mat

    for prime in PRIMES:
        try:
            return nmod_mat(matrix, prime).inv(), prime
        except ZeroDivisionError:
            continue
    raise ZeroDivisionError("the matrix is singular")  # or both primes divide its determinant, which is as rare


def _times_modulo(inverse: Any, vector: list[int], prime: int) -> list[int]:
    from flint import nmod_mat

    product = inverse * nmod_mat(len(vector), 1, [value % prime for value in vector], prime)
    return [int(value) for value in product.entries()]


def _rebuilt(digits: list[int], power: int, clock: Clock) -> tuple[list[int], int] | None:
    """Numerators and their common denominator, if there are small ones that are the digits modulo the power."""
    bound = math.isqrt(power // 2)
    denominator = 1
    for value in digits:
        residue = value * denominator % power
        if min(residue, power - residue) > bound:
            denominator *= _denominator(residue, power, bound, clock)
        if denominator > bound:
            return None
    residues = [value * denominator % power for value in digits]
    return [residue - power if 2 * residue > power else residue for residue in residues], denominator


def _denominator(residue: int, power: int, bound: int, clock: Clock) -> int:
    """The smallest q for which q times the residue is small: Euclid's algorithm, stopped half-way (Wang 1981)."""
    large, small = power, residue
    before, now = 0, 1
    steps = 0
    while small > bound:
        quotient = large // small
        large, small = small, large - quotient * small
        before, now = now, before - quotient * now
        steps += 1
        if steps % 1024 == 0 and clock.is_over():
            raise OutOfTimeError
    return abs(now)


def _solves(matrix: Any, right: Any, numerators: list[int], denominator: int) -> bool:
    from flint import fmpz_mat

    return bool(matrix * fmpz_mat([[value] for value in numerators]) == right * denominator)
