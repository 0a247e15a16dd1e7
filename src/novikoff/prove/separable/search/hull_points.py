"""Points of which the search for the nearest one in their hull asks little: written out, or by their products alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.descent import descend, descend_by_products, squared_lengths
from novikoff.engine.rivals import descend_against_rivals
from novikoff.engine.rows import as_rows
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Points

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

ROUNDING = 2.0**-52
# A working set with more numbers than this is represented by its products, not by its coordinates.
MOST_COORDINATES = 4_000_000


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A working set written out; `columns` says which coordinates of the space these are, if they are any."""

    matrix: Floats
    columns: NDArray[Any] | None


class Source(Protocol):
    """Points, as far as the search needs them."""

    @property
    def n_points(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def rounding(self) -> float:
        """How short a point of the hull is nothing but rounding, relative to the points that carry it."""
        ...

    def coordinates(self, rows: Numbers) -> Coordinates: ...

    def length(self, rows: Numbers, weights: Floats) -> float:
        """Of the sum of some points, each times its weight."""
        ...

    def separator(self, rows: Numbers, weights: Floats, coordinates: Coordinates, direction: Floats) -> Floats:
        """The direction, given in the coordinates of a working set, as a vector of length 1."""
        ...

    def margins(self, separator: Floats) -> Floats:
        """The product of every point with a separator of length 1."""
        ...

    def every(self, step: int) -> "Source":
        """Every so many-th point."""
        ...

    def parts(self) -> Iterator[tuple["Source", Numbers]]:
        """Some of the points, and their numbers, that might cancel each other: the likeliest first."""
        ...

    def descent(self) -> "Descent": ...


class Descent(Protocol):
    """Coordinate descent on the multipliers."""

    @property
    def alpha(self) -> Floats: ...

    def epoch(self, order: Numbers) -> float:
        """Visit the points in order, and tell by how much the worst product was off."""
        ...


@dataclass(frozen=True, eq=False)
class PointsInSpace:
    """Points in coordinates, dense or CSR."""

    points: Points
    rounding: float = 4 * ROUNDING

    @property
    def n_points(self) -> int:
        return self.points.n_points

    @property
    def dimension(self) -> int:
        return self.points.dimension

    def coordinates(self, rows: Numbers) -> Coordinates:
        columns = np.arange(self.dimension)
        few = self.points.written_out(rows)
        if few.is_sparse:
            used = np.unique(few.rows.indices)
            columns = np.append(used, self.dimension - 1)  # columns of zeros change no product
        everything = np.arange(len(rows))
        if len(rows) * len(columns) > MOST_COORDINATES and len(columns) > len(rows):
            return Coordinates(_from_products(few.gram(everything)), None)
        return Coordinates(few.in_columns(columns[:-1]).take(everything), columns)

    def length(self, rows: Numbers, weights: Floats) -> float:
        return float(np.linalg.norm(self.points.combine(rows, weights)))

    def separator(self, rows: Numbers, weights: Floats, coordinates: Coordinates, direction: Floats) -> Floats:
        if coordinates.columns is None:
            w = self.points.combine(rows, weights)
        else:
            w = np.zeros(self.dimension)
            w[coordinates.columns] = direction
        length = float(np.linalg.norm(w))
        return w / length if length > 0 else np.eye(1, self.dimension)[0]

    def margins(self, separator: Floats) -> Floats:
        return self.points.products(separator)

    def every(self, step: int) -> "PointsInSpace":
        return PointsInSpace(self.points.written_out(np.arange(0, self.n_points, step)))

    def parts(self) -> Iterator[tuple[Source, Numbers]]:
        """Of Kesler's points those of two classes: what no plane separates, no weights for all classes do."""
        points = self.points
        if isinstance(points, KeslerPoints):
            for pair in points.pairs():
                some, numbers = points.between(*pair)
                yield PointsInSpace(some), numbers

    def descent(self) -> "Descent":
        rows = as_rows(self.points.rows)
        squares = np.empty(rows.n_rows)
        if isinstance(self.points, KeslerPoints):
            squared_lengths(rows.matrix, self.points.bias, squares)
            return DescentAgainstRivals(
                self.points,
                rows.matrix,
                squares,
                np.zeros((rows.n_rows, self.points.others)),
                np.zeros((self.points.n_classes, self.points.width)),
            )
        squared_lengths(rows.matrix, self.points.constant, squares)
        alpha, w = np.zeros(self.n_points), np.zeros(self.dimension)
        return DescentInSpace(self.points, rows.matrix, squares, alpha, w)


@dataclass(frozen=True, eq=False)
class DescentInSpace:
    points: Points
    matrix: Any
    squares: Floats
    alpha: Floats
    w: Floats

    def epoch(self, order: Numbers) -> float:
        points = self.points
        return sum(descend(self.matrix, points.signs, points.constant, self.squares, order, self.alpha, self.w))


@dataclass(frozen=True, eq=False)
class DescentAgainstRivals:
    """Of Kesler's points: all of a row, one after the other."""

    points: KeslerPoints
    matrix: Any
    squares: Floats
    by_row: Floats
    W: Floats

    @property
    def alpha(self) -> Floats:
        return self.by_row.ravel()

    def epoch(self, order: Numbers) -> float:
        rows, place = np.divmod(order, self.points.others)
        labels, bias = self.points.labels, self.points.bias
        rows = rows[place == 0]
        return sum(descend_against_rivals(self.matrix, labels, bias, self.squares, rows, self.by_row, self.W))


@dataclass(frozen=True, eq=False)
class PointsByProducts:
    """Points of which only the products with each other are known."""

    G: Floats
    # The rounding of a squared length is that of its terms, so that of a length is the root.
    rounding: float = math.sqrt(16 * ROUNDING)

    @property
    def n_points(self) -> int:
        return len(self.G)

    @property
    def dimension(self) -> int:
        return len(self.G)

    def coordinates(self, rows: Numbers) -> Coordinates:
        return Coordinates(_from_products(self.G[np.ix_(rows, rows)]), None)

    def length(self, rows: Numbers, weights: Floats) -> float:
        return math.sqrt(max(float(weights @ self.G[np.ix_(rows, rows)] @ weights), 0.0))

    def separator(self, rows: Numbers, weights: Floats, coordinates: Coordinates, direction: Floats) -> Floats:
        length = self.length(rows, weights)
        alpha = np.zeros(self.n_points)
        alpha[rows] = weights / length if length > 0 else weights
        return alpha

    def margins(self, separator: Floats) -> Floats:
        return np.asarray(self.G @ separator)

    def every(self, step: int) -> "PointsByProducts":
        return PointsByProducts(self.G[::step, ::step])

    def parts(self) -> Iterator[tuple[Source, Numbers]]:
        return iter(())

    def descent(self) -> "DescentByProducts":
        n = self.n_points
        return DescentByProducts(np.ascontiguousarray(self.G), np.zeros(n), np.zeros(n))


@dataclass(frozen=True, eq=False)
class DescentByProducts:
    G: Floats
    alpha: Floats
    products: Floats

    def epoch(self, order: Numbers) -> float:
        return sum(descend_by_products(self.G, order, self.alpha, self.products))


def _from_products(G: Floats) -> Floats:
    """Points with the given products: the rows of L, where G = L L^T (Cholesky with pivots, up to rounding)."""
    from scipy.linalg.lapack import dpstrf

    L, pivots, rank, _ = dpstrf(G, lower=1, tol=4 * ROUNDING * float(np.diagonal(G).max()))
    points = np.zeros((len(G), max(int(rank), 1)))
    points[pivots - 1, :rank] = np.tril(L)[:, :rank]
    return points
