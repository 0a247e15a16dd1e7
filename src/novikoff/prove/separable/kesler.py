"""Kesler's construction: multiclass separability by argmax as separability of points in a larger space.

Weights W classify a row x of class c correctly if <W_c, x> > <W_r, x> for every other class r. That is a positive
product of the long vector of all weights with one that has x in place c and -x in place r. So a row becomes one point
per rival, each of length sqrt(2) ||x||: hence the mistake bound 2 (R/gamma)^2. Only a few points are stored at a time:
their products with a vector are differences of the products of the rows with its parts.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.exact.floats import fraction_root_up
from novikoff.prove.separable.margin import radius_square
from novikoff.prove.separable.points import Floats, Points

# Rows, evenly spaced, from which the most similar classes are estimated.
ENOUGH_FOR_MEANS = 10_000


@dataclass(frozen=True, eq=False)
class KeslerPoints(Points):
    """One point for every row and rival; the coordinates are the weights and the bias of every class in turn.

    `labels` are the indices of the classes of the rows; `bias` is 1 with an intercept and 0 without. As points they
    have signs of 1 and a constant of 0.
    """

    labels: NDArray[np.int64]
    n_classes: int
    bias: float

    @classmethod
    def of_places(cls, rows: Any, labels: NDArray[Any], n_classes: int, fit_intercept: bool) -> "KeslerPoints":
        """The points of rows, dense or CSR, and the indices of their classes."""
        signs = np.ones(rows.shape[0] * (n_classes - 1), dtype=np.int8)
        return cls(rows, signs, 0.0, np.asarray(labels, dtype=np.int64), n_classes, float(fit_intercept))

    @property
    def is_sparse(self) -> bool:
        """True: a stored point has entries for two classes of many."""
        return True

    @cached_property
    def _plain(self) -> Points:
        """The rows as points themselves."""
        return Points(self.rows, np.ones(self.rows.shape[0], dtype=np.int8), self.bias)

    @property
    def others(self) -> int:
        """The number of rivals of a class."""
        return self.n_classes - 1

    @property
    def n_points(self) -> int:
        return int(self.rows.shape[0]) * self.others

    @property
    def width(self) -> int:
        """The number of coordinates of one class."""
        return int(self.rows.shape[1]) + 1

    @property
    def dimension(self) -> int:
        return self.width * self.n_classes + 1

    @cached_property
    def widest(self) -> int:
        return 2 * self._plain.widest + 1

    @cached_property
    def radius(self) -> float:
        return fraction_root_up(2 * radius_square(self.rows, fit_intercept=self.bias == 1.0))

    @cached_property
    def exponents(self) -> tuple[int, int]:
        return self._plain.exponents

    @cached_property
    def bits(self) -> int:
        return self._plain.bits

    def scaled(self, rows: Any, scale: float) -> "KeslerPoints":
        return replace(self, rows=rows if scale == 1.0 else rows * scale, bias=self.bias * scale)

    # -- products -----------------------------------------------------------------------------------------------------

    def products(self, w: Floats) -> Floats:
        W = np.asarray(w[:-1]).reshape(self.n_classes, self.width)
        scores = np.asarray(self.rows @ W[:, :-1].T, dtype=np.float64) + self.bias * W[:, -1]
        return self._differences(scores)

    @cached_property
    def in_residues(self) -> "KeslerPoints":
        plain = self._plain.in_residues
        return self if plain is self._plain else replace(self, rows=plain.rows, bias=plain.constant)

    def _differences(self, scores: NDArray[Any]) -> NDArray[Any]:
        """The score of every row's own class minus that of each rival."""
        rows = np.arange(len(self.labels))
        own = scores[rows, self.labels]
        return (own[:, None] - scores[rows[:, None], _rivals(self.labels, self.n_classes)]).ravel()

    def differences_of(
        self, which: NDArray[np.int64], products: Callable[..., list[NDArray[np.int64]]], tables: Sequence[Floats]
    ) -> list[NDArray[np.int64]]:
        """Products of some points with vectors, tables with a line per coordinate, from products of rows with parts of
        the vectors: that of the own class minus that of the rival."""
        rows, place = np.divmod(which, self.others)
        numbers, lines = np.unique(rows, return_inverse=True)
        own = self.labels[rows]
        rivals = place + (place >= own)
        found = []
        for table in tables:
            parts = list(table[:-1].reshape(self.n_classes, self.width, -1))
            scores = np.stack(products(self._plain, numbers, parts), axis=1)
            found.append(scores[lines, own] - scores[lines, rivals])
        return found

    def combine(self, which: NDArray[np.int64], weights: Floats) -> Floats:
        rows, place = np.divmod(which, self.others)
        numbers, lines = np.unique(rows, return_inverse=True)
        own = self.labels[rows]
        amounts = np.zeros((len(numbers), self.n_classes))
        np.add.at(amounts, (lines, own), weights)
        np.add.at(amounts, (lines, place + (place >= own)), -weights)
        total = np.zeros((self.n_classes, self.width))
        total[:, :-1] = np.asarray((self.rows[numbers].T @ amounts).T)
        total[:, -1] = self.bias * amounts.sum(axis=0)
        return np.append(total.ravel(), 0.0)

    def by_class(self, which: NDArray[np.int64], weights: Sequence[int]) -> Iterator[tuple[Points, Any, list[int]]]:
        """A combination of points as one of rows for every class: the rows as points, which of them, and weights."""
        amounts: list[dict[int, int]] = [{} for _ in range(self.n_classes)]
        rows, place = np.divmod(which, self.others)
        own = self.labels[rows]
        rivals = place + (place >= own)
        for row, plus, minus, weight in zip(rows.tolist(), own.tolist(), rivals.tolist(), weights, strict=True):
            amounts[plus][row] = amounts[plus].get(row, 0) + weight
            amounts[minus][row] = amounts[minus].get(row, 0) - weight
        for of_class in amounts:
            yield self._plain, np.array(list(of_class), dtype=np.int64), list(of_class.values())

    def is_zero_along(self, coordinates: NDArray[np.bool_]) -> bool:
        by_class = coordinates[:-1].reshape(self.n_classes, self.width)
        return self._plain.is_zero_along(np.asarray(by_class.any(axis=0)))

    # -- a few points, stored -----------------------------------------------------------------------------------------

    def part(self, which: NDArray[np.int64]) -> Points:
        if len(which) == self.n_points and np.array_equal(which, np.arange(self.n_points)):
            return self
        return self.written_out(which)

    def written_out(self, which: NDArray[np.int64] | None = None) -> Points:
        """Some points, or all, as rows of a CSR matrix."""
        from scipy.sparse import csr_array

        which = np.arange(self.n_points) if which is None else which
        source, place = np.divmod(which, self.others)
        own = self.labels[source]
        rivals = place + (place >= own)
        rows = Points(csr_array(self.rows[source]), np.ones(len(which), dtype=np.int8), self.bias).signed()
        rows.eliminate_zeros()
        lengths = np.diff(rows.indptr)
        plus = rows.indices.astype(np.int64) + np.repeat(own * self.width, lengths)
        minus = rows.indices.astype(np.int64) + np.repeat(rivals * self.width, lengths)
        point = np.repeat(np.arange(len(which)), lengths)
        entries = (np.concatenate([rows.data, -rows.data]), (np.tile(point, 2), np.concatenate([plus, minus])))
        shape = (len(which), self.width * self.n_classes)
        return Points(csr_array(entries, shape=shape), np.ones(len(which), dtype=np.int8), 0.0)

    def columns_of(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """As for `Points`; for all points at once, the columns of the rows, and the bias, in every class."""
        if len(which) < self.n_points:
            return self.written_out(which).columns_of(np.arange(len(which)))
        return self._in_every_class(self._plain.columns_of(np.arange(self.rows.shape[0])))

    def _in_every_class(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The coordinates of some columns of the rows, and of the bias, in all classes."""
        places = np.append(columns, self.width - 1)
        return (np.arange(self.n_classes)[:, None] * self.width + places).ravel().astype(np.int64)

    def in_columns(self, columns: NDArray[np.int64]) -> Points:
        """The points without the other columns, stored unless every class keeps the same ones."""
        if len(columns) == self.dimension - 1:
            return self
        first = columns[columns < self.width - 1]
        if np.array_equal(self._in_every_class(first), columns):
            return replace(self, rows=self.rows[:, first])
        return self.written_out().in_columns(columns)

    # -- two classes of many ------------------------------------------------------------------------------------------

    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of classes, first those that the line between their means separates worst."""
        step = -(-len(self.labels) // ENOUGH_FOR_MEANS)
        rows, labels = self.rows[::step], self.labels[::step]
        members = np.zeros((len(labels), self.n_classes))
        members[np.arange(len(labels)), labels] = 1.0
        means = (rows.T @ members).T / np.maximum(members.sum(axis=0), 1.0)[:, None]
        scores = np.asarray(rows @ means.T, dtype=np.float64)

        def distance(pair: tuple[int, int]) -> float:
            gaps = [np.subtract(*scores[labels == own][:, pair].T) for own in pair]
            if min(map(len, gaps)) == 0:
                return math.inf
            apart, spread = gaps[0].mean() - gaps[1].mean(), math.sqrt(sum(gap.var() for gap in gaps))
            return float(apart / max(spread, 1e-300))

        with np.errstate(all="ignore"):
            return sorted(itertools.combinations(range(self.n_classes), 2), key=distance)

    def between(self, first: int, second: int) -> tuple[Points, NDArray[np.int64]]:
        """The points of two classes against each other, and their numbers.

        They are the points of the two-class problem, and a combination of them that is 0 is one of all points.
        """
        rows = np.flatnonzero((self.labels == first) | (self.labels == second))
        own = self.labels[rows]
        rivals = first + second - own
        signs = np.where(own == first, 1, -1).astype(np.int8)
        return Points(self.rows[rows], signs, self.bias), rows * self.others + rivals - (rivals > own)

    # -- sizes and equality -------------------------------------------------------------------------------------------

    def largest_by_column(self) -> Floats:
        return np.append(np.tile(self._plain.largest_by_column(), self.n_classes), 0.0)

    def largest_by_row(self, scales: Floats) -> Floats:
        of_one = scales[:-1].reshape(self.n_classes, self.width)[0]
        return np.repeat(self._plain.largest_by_row(of_one), self.others)

    def keys(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        numbers, signs = self._plain.keys()
        rivals, own = _rivals(self.labels, self.n_classes), self.labels[:, None]
        pairs = np.minimum(own, rivals) * self.n_classes + np.maximum(own, rivals)
        keys = numbers[:, None] * self.n_classes**2 + pairs
        return keys.ravel(), (np.where(own < rivals, 1, -1) * signs[:, None]).ravel().astype(np.int8)


def kesler_points(X: Any, y: ArrayLike, fit_intercept: bool = True) -> KeslerPoints:
    """One point for every row and rival."""
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {classes.tolist()}; at least two are required")
    rows = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    return KeslerPoints.of_places(rows, labels, len(classes), fit_intercept)


def rows_and_rivals(y: ArrayLike, numbers: NDArray[np.int64]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The rows and the rivals of points."""
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    rows, place = np.divmod(numbers, len(classes) - 1)
    rivals = _rivals(labels, len(classes))[rows, place]
    return tuple(rows.tolist()), tuple(classes[rivals].tolist())


def point_numbers(y: ArrayLike, rows: Sequence[int], rivals: Sequence[Any] | None) -> NDArray[np.int64]:
    """The numbers of the points of these rows, alone or against these classes."""
    which = np.asarray(rows, dtype=np.int64)
    if rivals is None:
        return which
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    rival = np.searchsorted(classes, np.asarray(rivals, dtype=classes.dtype))
    return which * (len(classes) - 1) + rival - (rival > labels[which])


def _rivals(labels: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """For every row, all other classes, in order."""
    order = np.arange(n_classes - 1)[None, :]
    return order + (order >= labels[:, None])
