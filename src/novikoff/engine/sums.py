"""Sums that are rounded once, or not at all: they decide where rounding in the order of summation could."""

import math
from collections.abc import Iterable
from operator import mul

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def exact_sum(values: Floats, coefficients: Floats) -> float:
    """Return the sum of a_j v_j, rounded once; infinite if it is beyond the range of float64.

    >>> exact_sum(np.array([0.1, 0.2, 0.3]), np.array([3.0, 3.0, -3.0])) == 3 * (0.1 + 0.2 - 0.3)
    False
    >>> exact_sum(np.array([1.0, 2.0**-60, -1.0]), np.array([3.0, 1.0, 3.0])) == 2.0**-60
    True
    """
    if not (np.isfinite(values).all() and np.isfinite(coefficients).all()):
        return float(values @ coefficients)
    (own, unit), (times, other) = _multiples(values.tolist()), _multiples(coefficients.tolist())
    total = sum(map(mul, own, times))
    try:
        return total / (unit * other)  # Python rounds the quotient of integers once
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def as_whole_multiples(values: Iterable[float]) -> list[int]:
    """Return floats as integer multiples of one power of two, so that sums of them are exact.

    >>> as_whole_multiples([0.5, -3.0, 0.25])
    [2, -12, 1]
    """
    return _multiples(values)[0]


def _multiples(values: Iterable[float]) -> tuple[list[int], int]:
    """Return floats as integer multiples of one power of two, and its inverse."""
    ratios = [value.as_integer_ratio() for value in values]
    unit = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (unit // denominator) for numerator, denominator in ratios], unit
