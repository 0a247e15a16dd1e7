"""Exact linear algebra on whole numbers and fractions, through python-flint."""

import math
from collections.abc import Sequence
from fractions import Fraction

Whole = Sequence[int]

PRIME = 2**61 - 1


def null_vectors(rows: Sequence[Whole], dimension: int) -> list[list[int]]:
    """A basis, in small whole numbers, of the vectors that are orthogonal to all rows.

    >>> null_vectors([[1, 2, 3]], 3)
    [[1, 1, -1], [2, -1, 0]]
    """
    from flint import fmpz_mat

    if not rows:
        return [[int(i == j) for j in range(dimension)] for i in range(dimension)]
    columns, nullity = fmpz_mat([list(map(int, row)) for row in rows]).nullspace()
    if nullity == 0:
        return []
    vectors = [[int(v) for v in vector] for vector in columns.transpose().tolist()[:nullity]]
    reduced = fmpz_mat([_primitive(vector) for vector in vectors]).lll()
    return [[int(v) for v in vector] for vector in reduced.tolist()]


def rank(rows: Sequence[Whole]) -> int:
    """How many of the rows are linearly independent.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    from flint import fmpz_mat

    return int(fmpz_mat([list(map(int, row)) for row in rows]).rank()) if rows else 0


def independent_columns(rows: Sequence[Whole]) -> list[int]:
    """Columns that are linearly independent, as many as there can be.

    They are found modulo a large prime: independent there means independent, and that too few are found is next to
    impossible. Whoever relies on their number asks for the `rank`.

    >>> independent_columns([[1, 2, 0], [2, 4, 1]])
    [0, 2]
    """
    from flint import nmod_mat

    table = nmod_mat([[int(value) % PRIME for value in row] for row in rows], PRIME)
    reduced, pivots = table.rref()
    return [next(j for j, value in enumerate(line) if int(value)) for line in reduced.tolist()[:pivots]]


def solution(columns: Sequence[Whole], target: Whole) -> list[Fraction] | None:
    """Some numbers that combine the columns to the target, or None if there are none.

    >>> solution([[1, 0], [1, 2]], [3, 4])
    [Fraction(1, 1), Fraction(2, 1)]
    >>> solution([[1, 1]], [1, 2]) is None
    True
    """
    from flint import fmpq_mat, fmpz_mat

    table = [[int(column[i]) for column in columns] + [int(target[i])] for i in range(len(target))]
    reduced, pivots = fmpq_mat(fmpz_mat(table)).rref()
    numbers = [Fraction(0)] * len(columns)
    for line in reduced.tolist()[:pivots]:
        pivot = next(j for j, value in enumerate(line) if value != 0)
        if pivot == len(columns):
            return None
        numbers[pivot] = Fraction(int(line[-1].p), int(line[-1].q))
    return numbers


def joined_weights(own: Sequence[Whole], weights: Whole, new: Sequence[Whole], found: Whole) -> list[int]:
    """Positive weights of old and new rows whose combination is 0, in whole numbers, the old ones first.

    The old rows with their weights add up to 0, and the new ones to something in the span of the old: cancel it there,
    and add so much of the combination that is 0 that every weight is positive.

    >>> joined_weights([[1, 0], [-1, 0]], [1, 1], [[3, 1], [0, -1]], [1, 1])
    [1, 4, 1, 1]
    """
    total = [-sum(f * v for f, v in zip(found, column, strict=True)) for column in zip(*new, strict=True)]
    correction = solution(own, total)
    if correction is None:
        raise ArithmeticError("a combination that vanishes in the complement of a face must lie in its span")
    lift = max(-c / w for c, w in zip(correction, weights, strict=True))
    times = max(math.floor(lift), 0) + 1
    return as_whole([*(c + times * w for c, w in zip(correction, weights, strict=True)), *map(Fraction, found)])


def as_whole(numbers: Sequence[Fraction]) -> list[int]:
    """Fractions in the same proportions, as whole numbers without a common divisor.

    >>> as_whole([Fraction(1, 2), Fraction(1, 3)])
    [3, 2]
    """
    denominator = math.lcm(*(number.denominator for number in numbers))
    return _primitive([int(number * denominator) for number in numbers])


def _primitive(vector: Whole) -> list[int]:
    divisor = math.gcd(*map(int, vector)) or 1
    return [int(v) // divisor for v in vector]


def decimal(whole: int) -> str:
    """The digits of a whole number, however many: Python itself stops at some thousands, to be safe from attackers.

    >>> len(decimal(10**5000))
    5001
    """
    from flint import fmpz

    return str(fmpz(int(whole)))


def from_decimal(digits: str) -> int:
    """The whole number with these digits.

    >>> from_decimal(decimal(-(7**9000))) == -(7**9000)
    True
    """
    from flint import fmpz

    return int(fmpz(digits))
