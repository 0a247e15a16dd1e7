"""Exact arithmetic on floats: a float is a whole number times a power of two."""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, down, up
from novikoff.engine.threads import over_rows


def lowest_exponent(values: ArrayLike, scales: "int | NDArray[np.int64]" = 0) -> int:
    """The largest e such that every value is a whole multiple of 2^e, or of 2^(e + its scale); 0 if all are 0.

    >>> lowest_exponent([0.5, 12.0]), lowest_exponent([0.5, 12.0], np.array([-5, 0]))
    (-1, 2)
    """
    whole, exponents = _whole_parts(values)
    used = whole != 0
    if not np.any(used):
        return 0
    lowest_bits = whole[used] & -whole[used]
    lowest = exponents[used] + np.log2(lowest_bits).astype(np.int64)
    return int((lowest - np.broadcast_to(scales, whole.shape)[used]).min())


def lowest_exponents(rows: ArrayLike) -> NDArray[np.int64]:
    """The lowest exponent of each row.

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
    """The whole numbers of `as_integers`, modulo a prime below 2^31.

    >>> residues([0.5, -3.0, 2.0**40], -1, 7).tolist()
    [1, 1, 4]
    """
    whole, exponents = _whole_parts(values)
    shifts = np.where(whole == 0, 0, exponents - exponent)
    powers = np.array([pow(2, shift, prime) for shift in range(max(int(shifts.max(initial=0)), 0) + 1)])
    return (whole >> np.maximum(-shifts, 0)) % prime * powers[np.maximum(shifts, 0)] % prime


def root_down(value: Fraction) -> float:
    """The square root, rounded down to a float.

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
    """The square root, rounded up to a float; infinite beyond their range.

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
    """A fraction rounded up to a float; infinite beyond their range.

    >>> float_up(Fraction(1, 3)) > Fraction(1, 3), float_up(Fraction(1, 10**400)) > 0
    (True, True)
    """
    nearest = nearest_float(value)
    return nearest if nearest >= value else up(nearest)


def scaled_floats(vector: Sequence[int]) -> NDArray[np.float64]:
    """Whole numbers of any size, divided by the largest magnitude.

    >>> scaled_floats([10**400, -(10**400) // 4, 0]).tolist()
    [1.0, -0.25, 0.0]
    """
    largest = max(map(abs, vector), default=0)
    return np.array([value / largest if value else 0.0 for value in vector])  # correctly rounded, however long


def length_of(vector: NDArray[np.float64]) -> float:
    """The length of a vector, up to a few roundings: scaled, and summed exactly."""
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


# -- the longest row --------------------------------------------------------------------------------------------------

# Floats with a bound on their error select the rows that may be longest. These may still be many, such as rows of whole
# numbers, or of length 1. If their entries have few digits, floats add their squares exactly; if not, their squares are
# added up exactly and rounded once, and few rows need whole numbers.


Floats = NDArray[np.float64]

# Rows per block, so that the whole matrix is never copied.
BLOCK = 1 << 14
# Rows per block that stay in the cache, for a dozen passes over them.
SMALL_BLOCK = 1 << 11
# Within these exponents no square overflows, or vanishes beside a larger one.
PLAIN = 400


def longest_square(matrix: Any) -> Fraction:
    """The largest squared length of a row of a matrix, dense or CSR without repeated entries.

    >>> longest_square(np.array([[0.5, 0.5], [0.0, -1.0]]))
    Fraction(1, 1)
    """
    if matrix.dtype == object:
        return max(sum((Fraction(value) ** 2 for value in row), Fraction(0)) for row in matrix)
    largest = _largest(matrix)
    if not math.isfinite(largest):
        raise ValueError("X contains NaN or infinity: a point has finite coordinates")
    if largest == 0:
        return Fraction(0)
    exponent = math.frexp(largest)[1]
    candidates = _candidates(matrix, exponent)
    parts = (candidates[start : start + SMALL_BLOCK] for start in range(0, len(candidates), SMALL_BLOCK))
    return max(_longest_of(matrix[part], exponent) for part in parts)


def _largest(matrix: Any) -> float:
    """The largest magnitude of an entry; NaN if any is NaN."""
    entries = matrix.data if hasattr(matrix, "tocsr") else matrix
    largest = 0.0
    for start in range(0, len(entries), BLOCK):
        part = entries[start : start + BLOCK]
        if part.size:
            high, low = float(part.max()), float(part.min())
            if math.isnan(high):
                return math.nan
            largest = max(largest, high, -low)
    return largest


def _candidates(matrix: Any, exponent: int) -> NDArray[np.int64]:
    """The rows that may be longest, by floats with a bound on their error.

    A sum of n squares has a relative error of at most (n + 4) u, the rounding of whole numbers to floats included. What
    underflows is negligible beside the longest row, whose square is above 2^-802.
    """
    scale = np.float64(1.0 if abs(exponent) < PLAIN else 2.0 ** min(-exponent, 1000))
    n_rows, is_sparse = matrix.shape[0], hasattr(matrix, "tocsr")

    def squares(first: int, last: int) -> Floats:
        found = []
        for start in range(first * BLOCK, min(last * BLOCK, n_rows), BLOCK):
            rows = matrix[start : start + BLOCK]
            rows = rows if scale == 1 and rows.dtype == np.float64 else rows * scale
            found.append(rows.multiply(rows).sum(axis=1) if is_sparse else np.einsum("ij,ij->i", rows, rows))
        return np.concatenate([np.asarray(part).ravel() for part in found])

    numbers = matrix.nnz if is_sparse else matrix.size
    every = np.concatenate(over_rows(squares, -(-n_rows // BLOCK), numbers))
    slack = 4 * (matrix.shape[1] + 8) * UNIT_ROUNDOFF
    return np.flatnonzero(every >= every.max() * (1 - slack))


def _longest_of(rows: Any, exponent: int) -> Fraction:
    """The largest squared length of some rows, none of them empty; no entry is larger than 2^exponent."""
    entries, starts = _flat(rows)
    if entries.dtype.kind != "f" and exponent > 53:  # floats may round them
        return Fraction(max(_sums(entries.astype(object) ** 2, starts)))
    lowest, widest = lowest_exponent(entries), int(np.diff(starts).max())
    if abs(exponent) < PLAIN and 2 * (exponent - lowest) + widest.bit_length() <= 53:  # floats do not round
        return Fraction(float(_sums(entries.astype(np.float64) ** 2, starts).max()))
    entries, starts = _flat(rows[_nearly_longest(entries, starts, exponent)])
    return max(_sums(as_integers(entries, lowest) ** 2, starts)) * power_of_two(2 * lowest)


def _flat(rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The entries of rows, dense or CSR, and where each row starts and the last one ends."""
    if hasattr(rows, "tocsr"):
        return rows.data, rows.indptr
    return rows.ravel(), np.arange(len(rows) + 1) * rows.shape[1]


def _sums(values: NDArray[Any], starts: NDArray[Any]) -> NDArray[Any]:
    """The sums of values, one for each entry, row by row."""
    return np.asarray(np.add.reduceat(values, starts[:-1]))


def _nearly_longest(entries: NDArray[Any], starts: NDArray[Any], exponent: int) -> NDArray[np.int64]:
    """The rows whose squared length, rounded once, is the largest: numbers are split into two of at most 26 bits, whose
    products are exact (Dekker 1971), and added up exactly. What is too small to be split is less than that rounding."""
    half = -exponent // 2
    scaled = entries * np.float64(2.0**half) * np.float64(2.0 ** (-exponent - half))
    scaled = np.where(np.abs(scaled) < 2.0**-200, 0.0, scaled)
    shifted = scaled * (2.0**27 + 1.0)
    high = shifted - (shifted - scaled)
    low = scaled - high
    terms = np.column_stack([high * high, 2 * high * low, low * low]).ravel().tolist()
    sums = np.array([math.fsum(terms[3 * start : 3 * stop]) for start, stop in pairwise(starts.tolist())])
    return np.flatnonzero(sums >= sums.max() * (1 - 4 * UNIT_ROUNDOFF))
