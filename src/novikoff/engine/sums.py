"""Sums that are rounded once, or not at all: what decides where the order of a sum could."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Veltkamp's number: it splits a float64 into two halves of at most 26 bits, whose products are exact.
SPLITTER = 2.0**27 + 1.0
# Beyond this, the splitting overflows.
LARGEST_TO_SPLIT = 2.0**990


def exact_sum(values: Floats, coefficients: Floats) -> float:
    """The sum of a_j v_j, rounded once: each product is split into what it is rounded to and the rest (Dekker).

    >>> exact_sum(np.array([0.1, 0.2, 0.3]), np.array([3.0, 3.0, -3.0])) == 3 * (0.1 + 0.2 - 0.3)
    False
    >>> exact_sum(np.array([1.0, 2.0**-60, -1.0]), np.array([3.0, 1.0, 3.0])) == 2.0**-60
    True
    """
    scale = 1.0
    if max(np.abs(values).max(initial=0.0), np.abs(coefficients).max(initial=0.0)) > LARGEST_TO_SPLIT:
        scale, values, coefficients = 2.0**80, values * 2.0**-40, coefficients * 2.0**-40
    products = values * coefficients
    (high, low), (upper, lower) = _halves(values), _halves(coefficients)
    rest = ((high * upper - products) + high * lower + low * upper) + low * lower
    return scale * math.fsum([*products.tolist(), *rest.tolist()])


def _halves(values: Floats) -> tuple[Floats, Floats]:
    shifted = values * SPLITTER
    high = shifted - (shifted - values)
    return high, values - high


def as_whole_multiples(values: Iterable[float]) -> list[int]:
    """Floats as whole multiples of one power of two, so that sums of them are exact.

    >>> as_whole_multiples([0.5, -3.0, 0.25])
    [2, -12, 1]
    """
    ratios = [value.as_integer_ratio() for value in values]
    unit = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (unit // denominator) for numerator, denominator in ratios]
