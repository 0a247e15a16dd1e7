"""Exact arithmetic on floats: a float is a whole number times a power of two."""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import down, up


def lowest_exponent(values: ArrayLike) -> int:
    """The largest e for which every value is a whole number times 2^e (0 if all are 0).

    >>> lowest_exponent([0.5, 12.0])
    -1
    """
    whole, exponents = _whole_parts(values)
    used = whole != 0
    if not np.any(used):
        return 0
    lowest_bits = whole[used] & -whole[used]
    return int((exponents[used] + np.log2(lowest_bits).astype(np.int64)).min())


def lowest_exponents(rows: ArrayLike) -> NDArray[np.int64]:
    """The same, row by row.

    >>> lowest_exponents([[0.5, 12.0], [0.0, 0.0], [8.0, 24.0]]).tolist()
    [-1, 0, 3]
    """
    whole, exponents = _whole_parts(rows)
    lowest_bits = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
    none = np.iinfo(np.int64).max
    lowest = np.where(whole != 0, exponents + lowest_bits, none).min(axis=1, initial=none)
    return np.where(lowest == none, 0, lowest)


def as_integers(values: ArrayLike, exponent: "int | NDArray[np.int64]") -> NDArray[np.object_]:
    """Whole numbers n with values = n 2^exponent, exactly; exponents may be given row by row, as a column.

    >>> as_integers([0.5, -3.0, 0.0], -1).tolist()
    [1, -6, 0]
    """
    whole, exponents = _whole_parts(values)
    shifts = np.where(whole == 0, 0, exponents - exponent)
    left, right = np.maximum(shifts, 0).astype(object), np.maximum(-shifts, 0).astype(object)
    return np.asarray((whole.astype(object) << left) >> right, dtype=object)


def residues(values: ArrayLike, exponent: int, prime: int) -> NDArray[np.int64]:
    """The same whole numbers modulo a prime below 2^31.

    >>> residues([0.5, -3.0, 2.0**40], -1, 7).tolist()
    [1, 1, 4]
    """
    whole, exponents = _whole_parts(values)
    shifts = np.where(whole == 0, 0, exponents - exponent)
    powers = np.array([pow(2, shift, prime) for shift in range(max(int(shifts.max(initial=0)), 0) + 1)])
    return (whole >> np.maximum(-shifts, 0)) % prime * powers[np.maximum(shifts, 0)] % prime


def root_down(value: Fraction) -> float:
    """The largest float that is not above the square root.

    >>> root_down(Fraction(25)), Fraction(root_down(Fraction(2))) ** 2 <= 2
    (5.0, True)
    """
    root = min(_root(value), sys.float_info.max)
    while Fraction(root) ** 2 > value:
        root = down(root)
    while root < sys.float_info.max and Fraction(up(root)) ** 2 <= value:
        root = up(root)
    return root


def fraction_root_up(value: Fraction) -> float:
    """The smallest float that is not below the square root; infinite if there is none.

    >>> fraction_root_up(Fraction(25)), fraction_root_up(Fraction(1, 10**900)) > 0
    (5.0, True)
    """
    root = _root(value)
    while math.isfinite(root) and Fraction(root) ** 2 < value:
        root = up(root)
    while 0 < root < math.inf and Fraction(down(root)) ** 2 >= value:
        root = down(root)
    return root


def _root(value: Fraction) -> float:
    """The square root to within a few floats, however large or small."""
    if value == 0:
        return 0.0
    above, below = value.numerator, value.denominator
    half = (above.bit_length() - below.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt((above << max(-2 * half, 0)) / (below << max(2 * half, 0))), half)
    except OverflowError:
        return math.inf


def nearest_float(value: Fraction) -> float:
    """The nearest float; infinite beyond their range.

    >>> nearest_float(Fraction(10**400)), nearest_float(Fraction(1, 3))
    (inf, 0.3333333333333333)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_up(value: Fraction) -> float:
    """The smallest float that is not below; infinite beyond their range.

    >>> float_up(Fraction(1, 3)) > Fraction(1, 3), float_up(Fraction(1, 10**400)) > 0
    (True, True)
    """
    nearest = nearest_float(value)
    return nearest if nearest >= value else up(nearest)


def scaled_floats(vector: Sequence[int]) -> NDArray[np.float64]:
    """Whole numbers of any size, divided by the largest of them.

    >>> scaled_floats([10**400, -(10**400) // 4, 0]).tolist()
    [1.0, -0.25, 0.0]
    """
    largest = max(map(abs, vector), default=0)
    return np.array([value / largest if value else 0.0 for value in vector])  # correctly rounded, however long


def length_of(vector: NDArray[np.float64]) -> float:
    """The length of a vector, right up to a few roundings: scaled, and summed exactly."""
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0:
        return 0.0
    scaled = vector / largest
    return largest * math.sqrt(math.fsum(scaled * scaled))


def power_of_two(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _whole_parts(values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """53-bit whole numbers and exponents with values = whole 2^exponent."""
    floats = np.asarray(values, dtype=np.float64)
    if not np.isfinite(floats).all():
        raise ValueError("only finite numbers are exact")
    mantissas, exponents = np.frexp(floats)
    return np.ldexp(mantissas, 53).astype(np.int64), exponents.astype(np.int64) - 53
