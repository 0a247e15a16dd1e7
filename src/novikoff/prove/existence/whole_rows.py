"""Sparse rows of floats as rows of whole numbers, and their products with vectors of whole numbers, exactly.

Every coefficient has its own power of two: entries n stand for n 2^e, where e depends on the coefficient alone, so that
columns of very different units still give short whole numbers. An entry may be split into several parts of the same
coefficient, which are then added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.floats import as_integers

Numbers = NDArray[np.int64]

# Sums below this are taken in 64 bits, without overflow.
SAFE = 2**62


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Rows in compressed form; entries n mean n 2^exponent.

    `given` are floats, which become whole numbers when they are needed, or whole numbers: of 64 bits where they fit,
    else Python's.
    """

    indptr: Numbers
    indices: Numbers
    given: NDArray[Any]
    size: int
    exponents: Numbers

    @classmethod
    def of(cls, rows: Any, coefficient: Numbers, size: int) -> "WholeRows":
        """From CSR floats; `coefficient` says to which coefficient each column belongs."""
        used = rows.data != 0
        kept = np.concatenate([[0], np.cumsum(used)])[rows.indptr]
        values, places = rows.data[used], coefficient[rows.indices[used]]
        none = np.iinfo(np.int64).max
        exponents = np.full(size, none)
        np.minimum.at(exponents, places, _lowest_exponents(values))
        exponents[exponents == none] = 0
        return cls(kept.astype(np.int64), places.astype(np.int64), values, size, exponents)

    @cached_property
    def data(self) -> NDArray[Any]:
        """The entries as whole numbers."""
        return self._whole(slice(None))

    def _whole(self, part: slice) -> NDArray[Any]:
        given, exponents = self.given[part], self.exponents[self.indices[part]]
        return given if given.dtype != np.float64 else whole_numbers(given, exponents)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def largest(self) -> int:
        """The largest entry, without its sign."""
        return max(abs(int(self.data.min())), abs(int(self.data.max()))) if len(self.data) else 0

    @cached_property
    def widest(self) -> int:
        """The most entries of a row."""
        return int(np.diff(self.indptr).max(initial=0))

    def products(self, vector: Sequence[int]) -> NDArray[Any]:
        """The product of every row with a vector in the units of the entries, exactly."""
        most = max(map(abs, vector), default=0)
        fits = most < SAFE and most * self.largest * max(self.widest, 1) < SAFE
        numbers = np.array(vector, dtype=np.int64 if fits and self.data.dtype != object else object)
        terms = self.data * numbers[self.indices]
        sums = np.zeros(self.n_rows, dtype=terms.dtype)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            sums[filled] = np.add.reduceat(terms, self.indptr[filled])
        return sums

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        """The sign of every product."""
        products = self.products(vector)
        return (products > 0).astype(np.int8) - (products < 0).astype(np.int8)

    def combined(self, rows: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
        """The sum of some rows, each times a whole number, in the units of the entries; zeros are left out."""
        total: dict[int, int] = {}
        for row, weight in zip(rows, weights, strict=True):
            for place, value in self.entries(row):
                total[place] = total.get(place, 0) + weight * value
        return {place: value for place, value in total.items() if value}

    def entries(self, row: int) -> list[tuple[int, int]]:
        """The coefficients and numbers of a row; a coefficient may stand several times."""
        part = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
        return list(zip(self.indices[part].tolist(), self._whole(part).tolist(), strict=True))

    def row(self, row: int) -> dict[int, int]:
        """The entries of a row that are not 0."""
        return self.combined([row], [1])

    def written_out(self, rows: Sequence[int]) -> list[list[int]]:
        """Some rows with their zeros."""
        table = [[0] * self.size for _ in rows]
        for full, row in zip(table, rows, strict=True):
            for place, value in self.entries(row):
                full[place] += value
        return table

    def take(self, rows: Numbers) -> "WholeRows":
        """Some of the rows."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(self.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        return WholeRows(indptr, self.indices[places], self.given[places], self.size, self.exponents)

    # -- units --------------------------------------------------------------------------------------------------------

    def in_units(self, vector: Sequence[int]) -> list[int]:
        """A vector that multiplies the floats, as one that multiplies the entries; times a power of two."""
        lowest = int(self.exponents.min(initial=0))
        return [value << (int(e) - lowest) for value, e in zip(vector, self.exponents, strict=True)]

    def from_units(self, vector: Sequence[int]) -> list[int]:
        """The way back; times a power of two."""
        highest = int(self.exponents.max(initial=0))
        return [value << (highest - int(e)) for value, e in zip(vector, self.exponents, strict=True)]

    def as_floats(self) -> tuple[Any, Numbers, Numbers]:
        """The rows as CSR floats near 1: entries divided by 2^rows and times 2^columns, which are returned."""
        from scipy.sparse import csr_array

        mantissas, exponents = _as_floats(self.given)
        columns = np.full(self.size, np.iinfo(np.int64).min)
        np.maximum.at(columns, self.indices, exponents)
        exponents = exponents - columns[self.indices]
        rows = np.zeros(self.n_rows, dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            rows[filled] = np.maximum.reduceat(exponents, self.indptr[filled])
        data = np.ldexp(mantissas, exponents - np.repeat(rows, np.diff(self.indptr)))
        matrix = csr_array((data, self.indices.copy(), self.indptr.copy()), shape=(self.n_rows, self.size))
        matrix.sum_duplicates()
        columns[columns == np.iinfo(np.int64).min] = 0
        return matrix, rows, (self.exponents if self.given.dtype == np.float64 else 0) - columns


def _lowest_exponents(values: NDArray[np.float64]) -> Numbers:
    """For every float the largest e for which it is a whole number times 2^e."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    return exponents.astype(np.int64) - 53 + np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)


def whole_numbers(values: NDArray[np.float64], exponents: Numbers) -> NDArray[Any]:
    """Whole numbers n with values = n 2^exponent, in 64 bits if all fit.

    >>> whole_numbers(np.array([0.5, -3.0]), np.array([-1, 0])).tolist()
    [1, -3]
    """
    mantissas, powers = np.frexp(values)
    if (powers - exponents).max(initial=0) > 62:
        return as_integers(values, exponents)
    whole, shifts = np.ldexp(mantissas, 53).astype(np.int64), powers - 53 - exponents
    return np.where(shifts >= 0, whole << np.maximum(shifts, 0), whole >> np.maximum(-shifts, 0))


def _as_floats(data: NDArray[Any]) -> tuple[NDArray[np.float64], Numbers]:
    """Mantissas and exponents of floats, or of whole numbers of any length."""
    if data.dtype != object:
        mantissas, powers = np.frexp(data.astype(np.float64))
        return mantissas, powers.astype(np.int64)
    lengths = np.array([int(value).bit_length() for value in data], dtype=np.int64)
    shifts = np.maximum(lengths - 60, 0)
    short = np.array([int(value) >> int(shift) for value, shift in zip(data, shifts, strict=True)], dtype=np.float64)
    mantissas, powers = np.frexp(short)
    return mantissas, powers.astype(np.int64) + shifts
