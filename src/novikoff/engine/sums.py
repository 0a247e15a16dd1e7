"""Sums that are rounded once, or not at all: they decide where rounding in the order of summation could."""

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Veltkamp's number: it splits a float64 into two halves of at most 26 bits, whose products are exact.
SPLITTER = 2.0**27 + 1.0
# Between these, neither halves nor products overflow, and the rounding error of a product does not underflow.
LEAST_TO_SPLIT, LARGEST_TO_SPLIT = 2.0**-960, 2.0**990


def exact_sum(values: Floats, coefficients: Floats) -> float:
    """Return the sum of a_j v_j, rounded once: each product is split into its rounded value and the error (Dekker).

    >>> exact_sum(np.array([0.1, 0.2, 0.3]), np.array([3.0, 3.0, -3.0])) == 3 * (0.1 + 0.2 - 0.3)
    False
    >>> exact_sum(np.array([1.0, 2.0**-60, -1.0]), np.array([3.0, 1.0, 3.0])) == 2.0**-60
    True
    """
    with np.errstate(all="ignore"):
        products = values * coefficients
    used = np.abs(products[(values != 0) & (coefficients != 0)])
    largest = max(np.abs(part).max(initial=0.0) for part in (values, coefficients, products))
    if largest > LARGEST_TO_SPLIT or used.min(initial=1.0) < LEAST_TO_SPLIT:
        return _sum_of_fractions(values, coefficients)
    (high, low), (upper, lower) = halves(values), halves(coefficients)
    rest = ((high * upper - products) + high * lower + low * upper) + low * lower
    return math.fsum([*products.tolist(), *rest.tolist()])


def _sum_of_fractions(values: Floats, coefficients: Floats) -> float:
    """Return the same for numbers of any size; infinite if the sum is beyond the range of float64."""
    if not (np.isfinite(values).all() and np.isfinite(coefficients).all()):
        return float(values @ coefficients)
    pairs = zip(values.tolist(), coefficients.tolist(), strict=True)
    total = sum((Fraction(v) * Fraction(a) for v, a in pairs), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def halves(values: Floats) -> tuple[Floats, Floats]:
    """Return two parts of at most 26 bits that add up to each value, so that their products are exact."""
    shifted = values * SPLITTER
    high = shifted - (shifted - values)
    return high, values - high


def as_whole_multiples(values: Iterable[float]) -> list[int]:
    """Return floats as integer multiples of one power of two, so that sums of them are exact.

    >>> as_whole_multiples([0.5, -3.0, 0.25])
    [2, -12, 1]
    """
    ratios = [value.as_integer_ratio() for value in values]
    unit = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (unit // denominator) for numerator, denominator in ratios]
