"""Exact linear algebra on whole numbers and fractions, through python-flint."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

from novikoff.engine.clock import UNLIMITED, Clock, OutOfTimeError
from novikoff.prove.exact.modular import Independent, independent, lifted, taken

Whole = Sequence[int]

# Multiplications modulo a prime between two checks of the clock.
PIECE = 200_000_000
# Bits from which Python's own arithmetic, which is quadratic, is too slow.
LONG = 20_000
# Below this, it writes and reads digits itself.
FEW_DIGITS = 10**1000
# Vectors, squared, times coordinates, times bits: below this, finding shorter ones takes at most a second.
MOST_TO_SHORTEN = 500_000_000


def as_matrix(rows: Iterable[Iterable[Any]]) -> Any:
    """Rows of whole numbers as a FLINT matrix (fmpz_mat)."""
    from flint import fmpz_mat

    return fmpz_mat([list(map(int, row)) for row in rows])


def null_vectors(rows: Sequence[Whole], dimension: int, clock: Clock = UNLIMITED) -> list[list[int]]:
    """A basis, in whole numbers, of the vectors orthogonal to all rows; reduced to short ones if that is quick.

    Raises OutOfTimeError if time runs out, and MemoryError if its numbers are too long for memory.

    >>> null_vectors([[1, 2, 3]], 3)
    [[1, 1, -1], [2, -1, 0]]
    """
    if not rows:
        return _unit_vectors(dimension)
    matrix = as_matrix(rows)
    while True:  # until the prime is lucky: then as many rows are independent, and the basis is orthogonal to all
        chosen = independent(matrix, clock)
        basis = None if chosen is None else null_vectors_of(matrix, chosen, clock)
        if basis is None:
            if math.isfinite(clock.left()):
                raise OutOfTimeError
            raise MemoryError("a basis of what is orthogonal to these rows has more digits than fit into memory")
        if not basis or not any((matrix * as_matrix(basis).transpose()).entries()):
            return basis if not basis else _shortened(basis)


def only_null_vector(rows: Sequence[Whole], dimension: int, clock: Clock) -> list[int] | None:
    """The one vector, up to a factor, orthogonal to all rows; None if there are more, or none, or time runs out.

    >>> only_null_vector([[1, 2]], 2, Clock(None))
    [2, -1]
    """
    if dimension == 1 and not rows:
        return [1]
    if len(rows) < dimension - 1:
        return None
    matrix = as_matrix(rows)
    chosen = independent(matrix, clock)
    if chosen is None or len(chosen.rows) != dimension - 1:
        return None
    basis = null_vectors_of(matrix, chosen, clock)
    if not basis or any((matrix * as_matrix(basis).transpose()).entries()):
        return None
    return _primitive(basis[0])


def null_vectors_of(matrix: Any, chosen: Independent, clock: Clock) -> list[list[int]] | None:
    """A basis of the vectors orthogonal to the chosen independent rows, which may span all rows or not."""
    free = sorted(set(range(matrix.ncols())) - set(chosen.columns))
    if not chosen.rows:
        return _unit_vectors(matrix.ncols())
    regular = taken(matrix, chosen.rows, chosen.columns)
    size = max(1, PIECE // len(chosen.rows) ** 2)
    basis: list[list[int]] = []
    for start in range(0, len(free), size):
        some = free[start : start + size]
        found = lifted(regular, taken(matrix, chosen.rows, some), clock)
        if found is None:
            return None
        for place, column in enumerate(some):
            vector = [0] * matrix.ncols()
            vector[column] = -int(found.denominator)
            for i, pivot in enumerate(chosen.columns):
                vector[pivot] = int(found.numerators[i, place])
            basis.append(vector)
    return basis


def _unit_vectors(dimension: int) -> list[list[int]]:
    return [[int(i == j) for j in range(dimension)] for i in range(dimension)]


def _shortened(basis: list[list[int]]) -> list[list[int]]:
    """The same lattice with shorter vectors, unless that would take long."""
    vectors = [_primitive(vector) for vector in basis]
    bits = max(max(map(abs, vector)) for vector in vectors).bit_length()
    if len(vectors) ** 2 * len(vectors[0]) * bits > MOST_TO_SHORTEN:
        return vectors
    return [[int(v) for v in vector] for vector in as_matrix(vectors).lll().tolist()]


def rank(rows: Sequence[Whole]) -> int:
    """How many of the rows are linearly independent.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    return int(as_matrix(rows).rank()) if rows else 0


def spans(some: Sequence[Whole], every: Sequence[Whole], clock: Clock) -> bool:
    """Whether every row is a combination of `some`; raises OutOfTimeError if time runs out.

    >>> spans([[1, 2]], [[1, 2], [2, 4]], Clock(None)), spans([[1, 2]], [[1, 3]], Clock(None))
    (True, False)
    """
    normals = null_vectors(some, len(every[0]), clock)
    return not normals or not any((as_matrix(every) * as_matrix(normals).transpose()).entries())


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The product of two vectors of whole numbers or fractions."""
    if len(a) != len(b):
        raise ValueError(f"vectors of lengths {len(a)} and {len(b)} have no inner product")
    return sum(map(mul, a, b))


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


def quotient(above: int, below: int) -> Fraction:
    """A fraction of whole numbers of any length: Python's own gcd takes minutes for a megabyte.

    >>> quotient(6, -4), quotient(0, 5)
    (Fraction(-3, 2), Fraction(0, 1))
    """
    from flint import fmpz

    if below == 0:
        raise ZeroDivisionError("a fraction with the denominator 0")
    if max(above.bit_length(), below.bit_length()) < LONG:
        return Fraction(above, below)
    numerator, denominator = fmpz(above), fmpz(below)
    divisor = numerator.gcd(denominator) * (1 if below > 0 else -1)
    found = object.__new__(Fraction)  # as the class itself does for coprime numbers
    found._numerator, found._denominator = int(numerator // divisor), int(denominator // divisor)  # type: ignore
    return found


def decimal(whole: int) -> str:
    """The digits of a whole number, however many: Python's `str` refuses more than a few thousand, for security.

    >>> len(decimal(10**5000))
    5001
    """
    if abs(whole) < FEW_DIGITS:
        return str(int(whole))
    from flint import fmpz

    return str(fmpz(int(whole)))


def from_decimal(digits: str) -> int:
    """The whole number with these digits.

    >>> from_decimal(decimal(-(7**9000))) == -(7**9000)
    True
    """
    if len(digits) <= 1000:
        return int(digits)
    from flint import fmpz

    return int(fmpz(digits))
