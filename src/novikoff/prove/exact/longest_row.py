"""The squared length of the longest row of a matrix, exactly, without exact arithmetic on every row.

Floats with a bound on their error leave the rows that may be longest. These may still be many, such as rows of whole
numbers, or of length 1. If their entries have few digits, floats add their squares exactly; if not, their squares are
added in two parts, which tells lengths apart that agree to thirty digits, and whole numbers are left for very few.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.threads import over_rows
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two

Floats = NDArray[np.float64]

# Rows that are looked at together, so that no copy of the whole matrix is ever made.
BLOCK = 1 << 14
# And if they are looked at a dozen times, so many that they stay in the cache.
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
    return max(_longest_of(_rows(matrix, part), exponent) for part in parts)


def _largest(matrix: Any) -> float:
    """The largest magnitude of an entry; NaN if one is."""
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
    """The rows that may be longest, as far as floats can tell.

    A sum of n squares is off by at most (n + 4) u of itself, the rounding of whole numbers to floats included. What
    underflows is nothing beside the longest row, whose square is above 2^-802.
    """
    scale = np.float64(1.0 if abs(exponent) < PLAIN else 2.0 ** min(-exponent, 1000))
    blocks = (matrix.shape[0] + BLOCK - 1) // BLOCK

    def work(first: int, last: int) -> Floats:
        return np.concatenate([rows.squares(scale) for rows in _all_rows(matrix, first, last)])

    numbers = matrix.nnz if hasattr(matrix, "tocsr") else matrix.size
    squares = np.concatenate(over_rows(work, blocks, numbers))
    slack = 4 * (matrix.shape[1] + 8) * UNIT_ROUNDOFF
    return np.flatnonzero(squares >= squares.max() * (1 - slack))


# -- rows, dense or CSR -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows: their entries, and for CSR where each row begins."""

    entries: NDArray[Any]
    starts: NDArray[Any] | None

    @property
    def widest(self) -> int:
        return int(self.entries.shape[1] if self.starts is None else np.diff(self.starts).max(initial=0))

    def squares(self, scale: np.float64) -> Floats:
        """The squared lengths, times the square of a scale."""
        scaled = self.entries if scale == 1 and self.entries.dtype == np.float64 else self.entries * scale
        return np.einsum("ij,ij->i", scaled, scaled) if self.starts is None else self.sums(scaled * scaled)

    def sums(self, values: Floats) -> Floats:
        """Of values in the places of the entries, row by row."""
        if self.starts is None:
            return np.asarray(values.sum(axis=1))
        from scipy.sparse import csr_array

        shape = (len(self.starts) - 1, 1)
        return np.asarray(csr_array((values, np.zeros(len(values), np.int64), self.starts), shape=shape) @ np.ones(1))

    def distinct(self, which: NDArray[np.int64]) -> list[NDArray[Any]]:
        """The magnitudes of some rows in ascending order, without repetitions."""
        entries = self.entries if self.starts is None else np.split(self.entries, self.starts[1:-1])
        sorted_rows = (np.sort(np.abs(entries[row])) for row in which.tolist())
        return list({row.tobytes(): row for row in sorted_rows}.values())


def _all_rows(matrix: Any, first: int, last: int) -> Iterator[_Rows]:
    """All rows of some blocks."""
    for start in range(first * BLOCK, min(last * BLOCK, matrix.shape[0]), BLOCK):
        if hasattr(matrix, "tocsr"):
            starts = matrix.indptr[start : start + BLOCK + 1]
            yield _Rows(matrix.data[starts[0] : starts[-1]], starts - starts[0])
        else:
            yield _Rows(matrix[start : start + BLOCK], None)


def _rows(matrix: Any, which: NDArray[np.int64]) -> _Rows:
    chosen = matrix[which]
    return _Rows(chosen.data, chosen.indptr) if hasattr(matrix, "tocsr") else _Rows(chosen, None)


# -- among those that may be longest ----------------------------------------------------------------------------------


def _longest_of(rows: _Rows, exponent: int) -> Fraction:
    """The largest squared length of some rows; no entry is larger than 2^exponent."""
    if rows.entries.dtype.kind == "f" or exponent <= 53:  # otherwise floats may have rounded them
        if _have_few_digits(rows, exponent):
            return Fraction(float(rows.squares(np.float64(1)).max()))
        which = _nearly_longest(rows, exponent)
    else:
        which = np.arange(len(rows.squares(np.float64(1))))
    return max(map(_whole_square, rows.distinct(which)))


def _have_few_digits(rows: _Rows, exponent: int) -> bool:
    """Whether the entries have at most 20 binary digits from 2^exponent downwards, so that floats do not round."""
    if abs(exponent) >= PLAIN or rows.widest >= 2**12:
        return False
    whole = np.rint(rows.entries * np.float64(2.0 ** (20 - exponent)))
    return bool(np.array_equal(whole * 2.0 ** (exponent - 20), rows.entries))


def _nearly_longest(rows: _Rows, exponent: int) -> NDArray[np.int64]:
    """The rows whose squared length is the largest, or less by very little.

    Adding 2^top to a term and subtracting it again takes a multiple of 2^(top - 53) from it and leaves no more than
    that; with so few terms that no sum of what was taken is rounded (Rump, Ogita and Oishi 2008).
    """
    half = -exponent // 2
    scaled = rows.entries * np.float64(2.0**half) * np.float64(2.0 ** (-exponent - half))
    terms = _exact_squares(np.where(np.abs(scaled) < 2.0**-200, 0.0, scaled))
    count = math.frexp(3 * max(rows.widest, 1))[1]
    sums, top = [], count + 1
    for _ in range(2):
        taken = [(2.0**top + term) - 2.0**top for term in terms]
        terms = [term - part for term, part in zip(terms, taken, strict=True)]
        sums.append(rows.sums(taken[0] + taken[1] + taken[2]))
        top += count + 1 - 53
    behind = (sums[0] - sums[0].max()) + sums[1]
    error = 2.0 ** (top + 1) + 2 * UNIT_ROUNDOFF * np.abs(behind)
    return np.flatnonzero(behind + error >= (behind - error).max())


def _exact_squares(values: Floats) -> list[Floats]:
    """Three floats for each of some values of at most 1, which add up to its square (Dekker 1971)."""
    shifted = values * (2.0**27 + 1)
    high = shifted - (shifted - values)
    low = values - high
    return [high * high, 2 * high * low, low * low]


def _whole_square(entries: NDArray[Any]) -> Fraction:
    if entries.dtype.kind != "f":
        return Fraction(sum(int(value) ** 2 for value in entries))
    exponent = lowest_exponent(entries)
    return sum(value * value for value in as_integers(entries, exponent).tolist()) * power_of_two(2 * exponent)
