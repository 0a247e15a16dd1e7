"""Labelled examples as points z = y (x, 1), with bias and label folded in, for proofs.

A hyperplane separates the examples if and only if some vector has a positive product with every point. The points are
not stored: products and sums are computed from the rows, dense or CSR.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.threads import over_rows
from novikoff.features.fold import signs
from novikoff.prove.exact.floats import lowest_exponent, residues
from novikoff.prove.exact.given_numbers import matrix_of_examples
from novikoff.prove.exact.modular import PRIME, centred
from novikoff.prove.separable.margin import radius

Floats = NDArray[np.float64]

# Rows per block of a dense matrix.
BLOCK = 4096
# Entries per block of a sparse one.
ENTRIES = 1 << 20


@dataclass(frozen=True, eq=False)
class Points:
    """The points y_i (x_i, constant), where the constant is 1 with a bias and 0 without."""

    rows: Any
    signs: NDArray[np.int8]
    constant: float

    @classmethod
    def of(cls, X: Any, y: ArrayLike, fit_intercept: bool = True) -> "Points":
        labels = signs(y)
        rows = matrix_of_examples(X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        if rows.shape[0] != len(labels):
            raise ValueError(f"y has {len(labels)} labels, but X has {rows.shape[0]} rows")
        return cls(rows, labels, float(fit_intercept))

    def scaled(self, rows: Any, scale: float) -> "Points":
        """The points times a power of two, from the same rows in another layout."""
        return Points(rows if scale == 1.0 else rows * scale, self.signs, self.constant * scale)

    def written_out(self, which: NDArray[np.int64] | None = None) -> "Points":
        """Some points, or all, stored as rows."""
        return self if which is None else self.part(which)

    @property
    def is_sparse(self) -> bool:
        return hasattr(self.rows, "tocsr")

    @property
    def n_points(self) -> int:
        return int(self.rows.shape[0])

    @property
    def dimension(self) -> int:
        """The dimension of the folded space: one more than the columns."""
        return int(self.rows.shape[1]) + 1

    @property
    def _starts(self) -> range:
        """The starts of blocks of dense rows."""
        return range(0, self.n_points, BLOCK)

    @cached_property
    def widest(self) -> int:
        """A bound on the nonzero coordinates of a point, the constant included."""
        return 1 + (int(np.diff(self.rows.indptr).max(initial=0)) if self.is_sparse else self.dimension - 1)

    @cached_property
    def radius(self) -> float:
        """R: the length of the longest point, rounded up (infinite if it overflows)."""
        return radius(self.rows, fit_intercept=self.constant == 1.0)

    @cached_property
    def exponents(self) -> tuple[int, int]:
        """A pair (e, f): all coordinates are whole multiples of 2^e and smaller than 2^f."""
        blocks = [self.rows.data] if self.is_sparse else [self.rows[start : start + BLOCK] for start in self._starts]
        lowest = min((lowest_exponent(np.append(block, self.constant)) for block in blocks), default=0)
        return lowest, self.bits

    @cached_property
    def bits(self) -> int:
        """An f with all coordinates smaller than 2^f."""
        blocks = [self.rows.data] if self.is_sparse else [self.rows[start : start + BLOCK] for start in self._starts]
        largest = max((float(np.abs(block).max(initial=self.constant)) for block in blocks), default=0.0)
        return math.frexp(largest)[1]

    def products(self, w: Floats) -> Floats:
        """<z, w> for every point, in threads: those of BLAS for a dense matrix, our own for sparse rows."""
        numbers = self.rows.nnz if self.is_sparse else 0
        parts = over_rows(lambda start, stop: self._span(start, stop) @ w[:-1], self.n_points, numbers)
        return self.signs * (np.concatenate(parts).astype(np.float64).ravel() + self.constant * w[-1])

    def _span(self, start: int, stop: int) -> Any:
        """The rows from `start` to `stop`, without copying entries."""
        if (start, stop) == (0, self.n_points):
            return self.rows
        starts = self.rows.indptr[start : stop + 1]
        entries = slice(starts[0], starts[-1])
        return type(self.rows)(
            (self.rows.data[entries], self.rows.indices[entries], starts - starts[0]),
            shape=(stop - start, self.rows.shape[1]),
        )

    def is_zero_along(self, coordinates: NDArray[np.bool_]) -> bool:
        """Whether every point has 0 in all of these coordinates."""
        if coordinates[-1] and self.constant:
            return False
        if self.is_sparse:
            return not np.any(self.rows.data[coordinates[self.rows.indices]])
        columns = np.flatnonzero(coordinates[:-1]).tolist()
        return not any(np.any(self.rows[:, column]) for column in columns)

    def combine(self, which: NDArray[np.int64], weights: Floats) -> Floats:
        """The sum of some points, each times its weight."""
        signed = weights * self.signs[which]
        return np.append(np.asarray(self.rows[which].T @ signed).ravel(), self.constant * signed.sum())

    def part(self, which: NDArray[np.int64]) -> "Points":
        """Some of the points; not copied if these are all, in order."""
        if len(which) == self.n_points and np.array_equal(which, np.arange(self.n_points)):
            return self
        return Points(self.rows[which], self.signs[which], self.constant)

    def narrow(self, which: NDArray[np.int64]) -> "Points":
        """Some of the points, without the columns in which all of them are 0."""
        few = self.written_out(which)
        return few.in_columns(few.columns_of(np.arange(few.n_points)))

    def columns_of(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns in which some of the chosen points differ from 0, ascending."""
        chosen = self.part(which).rows
        if self.is_sparse:
            return np.unique(chosen.indices[chosen.data != 0]).astype(np.int64)
        return np.flatnonzero(chosen.any(axis=0))

    def in_columns(self, columns: NDArray[np.int64]) -> "Points":
        """The points in these columns only; not copied if these are all."""
        return self if len(columns) == self.dimension - 1 else Points(self.rows[:, columns], self.signs, self.constant)

    def take(self, which: NDArray[np.int64]) -> Floats:
        """Some points as a dense matrix."""
        few = self.written_out(which)
        written = np.empty((few.n_points, few.dimension))
        written[:, :-1] = few.rows.toarray() if few.is_sparse else few.rows
        written[:, -1] = few.constant
        written *= few.signs[:, None]
        return written

    def with_entries(self, entries: Floats) -> Any:
        """The rows, without labels and constants, with other values for their entries."""
        if not self.is_sparse:
            return entries
        from scipy.sparse import csr_array

        return csr_array((entries, self.rows.indices, self.rows.indptr), shape=self.rows.shape)

    def signed(self) -> Any:
        """All points as a separate CSR matrix, if they are sparse."""
        from scipy.sparse import csr_array

        rows = self.rows
        data, indices, indptr = rows.data.astype(np.float64), rows.indices, rows.indptr
        if self.constant:
            data = np.insert(data, indptr[1:], self.constant)
            indices = np.insert(indices, indptr[1:], self.dimension - 1)
            indptr = indptr + np.arange(len(indptr), dtype=indptr.dtype)
        else:
            indices, indptr = indices.copy(), indptr.copy()
        data *= np.repeat(self.signs, np.diff(indptr))
        return csr_array((data, indices, indptr), shape=(self.n_points, self.dimension))

    @cached_property
    def in_residues(self) -> "Points":
        """The points, all times the same power of two, modulo the prime: whole numbers between -p/2 and p/2.

        Points that are such whole numbers already are not copied.
        """
        lowest, highest = self.exponents
        if lowest >= 0 and highest < PRIME.bit_length():
            return self
        entries = self.rows.data if self.is_sparse else self.rows
        numbers = np.empty(entries.shape)
        step = ENTRIES if self.is_sparse else BLOCK
        for start in range(0, len(entries), step):
            numbers[start : start + step] = centred(residues(entries[start : start + step], lowest, PRIME))
        constant = float(centred(residues([self.constant], lowest, PRIME))[0])
        return Points(self.with_entries(numbers), self.signs, constant)

    # -- sizes and equality -------------------------------------------------------------------------------------------

    def largest_by_column(self) -> Floats:
        """The largest absolute value in every coordinate."""
        if self.is_sparse:
            largest = np.zeros(self.dimension)
            np.maximum.at(largest, self.rows.indices, np.abs(self.rows.data))
        else:
            above, below = self.rows.max(axis=0, initial=0.0), self.rows.min(axis=0, initial=0.0)
            largest = np.append(np.maximum(above, -below).astype(np.float64), 0.0)
        largest[-1] = self.constant if self.n_points else 0.0
        return largest

    def largest_by_row(self, scales: Floats) -> Floats:
        """The largest absolute value of every point, with scaled coordinates."""
        constant = self.constant * scales[-1]
        if not self.is_sparse:
            largest = np.empty(self.n_points)
            for start in self._starts:
                some = self.rows[start : start + BLOCK] * scales[:-1]
                largest[start : start + BLOCK] = np.abs(some).max(axis=1, initial=constant)
            return largest
        values = np.abs(self.rows.data * scales[self.rows.indices])
        return _by_row(np.maximum, values, self.rows.indptr, constant)

    def keys(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """A number for every point, the same for copies and their negatives, and a sign that distinguishes these."""
        entries = self.rows.data if self.is_sparse else self.rows
        keys, turn = list(as_bytes(self.with_entries(0.0 + entries))), self.signs.copy()
        if not self.constant:  # else the negative of a point has the same row, and the other label
            for place, negative in enumerate(as_bytes(self.with_entries(0.0 - entries))):
                if negative < keys[place]:
                    keys[place], turn[place] = negative, -turn[place]
        found: dict[bytes, int] = {}
        return np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64), turn

    def gram(self, which: NDArray[np.int64]) -> Floats:
        """The products of some points with each other."""
        few = self.written_out(which)
        products = few.rows @ few.rows.T
        plain = products.toarray() if few.is_sparse else products
        sign = few.signs.astype(np.float64)
        return (np.asarray(plain, dtype=np.float64) + few.constant**2) * np.outer(sign, sign)


def _by_row(of: Any, values: NDArray[Any], indptr: NDArray[Any], initial: Any) -> NDArray[Any]:
    """A sum or a maximum over the entries of every row of a CSR matrix and an initial value."""
    found = np.full(len(indptr) - 1, initial)
    used = np.flatnonzero(np.diff(indptr))
    if len(used):
        found[used] = of(found[used], of.reduceat(values, indptr[used]))
    return found


def as_bytes(rows: Any) -> Iterator[bytes]:
    """Every row of a matrix, dense or CSR, as bytes, the same for its copies."""
    if hasattr(rows, "tocsr"):
        starts = rows.indptr.tolist()
        return map(add, _pieces(rows.indices, starts), _pieces(rows.data, starts))
    return _pieces(rows, (np.arange(len(rows) + 1) * rows.shape[1]).tolist())


def _pieces(array: NDArray[Any], starts: list[int]) -> Iterator[bytes]:
    whole, size = array.tobytes(), array.itemsize
    return (whole[start * size : stop * size] for start, stop in pairwise(starts))
