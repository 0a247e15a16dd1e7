"""Labelled examples as the proofs see them: points z = y (x, 1), the bias and the label folded in.

A plane separates the examples exactly if some vector has a positive product with every point. The points are never
written out: products and sums are taken from the rows as they are, dense or CSR.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.features.fold import signs
from novikoff.prove.exact.given_numbers import matrix_of_examples
from novikoff.prove.separable.margin import radius

Floats = NDArray[np.float64]


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

    @property
    def is_sparse(self) -> bool:
        return hasattr(self.rows, "tocsr")

    @property
    def n_points(self) -> int:
        return int(self.rows.shape[0])

    @property
    def dimension(self) -> int:
        """Of the folded space: one more than the columns."""
        return int(self.rows.shape[1]) + 1

    @cached_property
    def widest(self) -> int:
        """The most coordinates, the constant included, in which a point may differ from 0."""
        return 1 + (int(np.diff(self.rows.indptr).max(initial=0)) if self.is_sparse else self.dimension - 1)

    @cached_property
    def radius(self) -> float:
        """R: the length of the longest point, rounded up (infinite if it overflows)."""
        return radius(self.rows, fit_intercept=self.constant == 1.0)

    def products(self, w: Floats) -> Floats:
        """<z, w> for every point."""
        return self.signs * (np.asarray(self.rows @ w[:-1], dtype=np.float64).ravel() + self.constant * w[-1])

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
        """Some of the points; all of them, in order, are not copied."""
        if len(which) == self.n_points and np.array_equal(which, np.arange(self.n_points)):
            return self
        return Points(self.rows[which], self.signs[which], self.constant)

    def narrow(self, which: NDArray[np.int64]) -> "Points":
        """Some of the points, without the columns in which all of them are 0."""
        columns = self.columns_of(which)
        return Points(self.rows[which][:, columns], self.signs[which], self.constant)

    def columns_of(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns in which some of the chosen points differ from 0, ascending."""
        chosen = self.rows[which]
        if self.is_sparse:
            return np.unique(chosen.indices[chosen.data != 0]).astype(np.int64)
        return np.flatnonzero(chosen.any(axis=0))

    def in_columns(self, columns: NDArray[np.int64]) -> "Points":
        """The points without the other columns; not copied if there are none."""
        return self if len(columns) == self.dimension - 1 else Points(self.rows[:, columns], self.signs, self.constant)

    def take(self, which: NDArray[np.int64]) -> Floats:
        """Some points, written out."""
        chosen = self.rows[which]
        dense = chosen.toarray() if self.is_sparse else chosen
        constants = np.full((len(which), 1), self.constant)
        return np.hstack([np.asarray(dense, dtype=np.float64), constants]) * self.signs[which, None]

    def gram(self, which: NDArray[np.int64]) -> Floats:
        """The products of some points with each other."""
        chosen = self.rows[which]
        products = chosen @ chosen.T
        plain = products.toarray() if self.is_sparse else products
        sign = self.signs[which].astype(np.float64)
        return (np.asarray(plain, dtype=np.float64) + self.constant**2) * np.outer(sign, sign)
