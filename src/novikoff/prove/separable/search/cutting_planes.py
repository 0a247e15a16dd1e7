"""Cutting planes: solve a small working set to the last digit, test all points, add the worst, repeat."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.engine.descent import descend, descend_against_rivals
from novikoff.engine.gram import squared_lengths
from novikoff.engine.hull import settle
from novikoff.engine.rows import as_rows
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Points

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

ROUNDING = 2.0**-52
# A working set with more numbers than this is represented by its products, not by its coordinates.
MOST_COORDINATES = 4_000_000
# The most steps of conjugate gradients, and the reduction of the squared residual at which they stop.
MOST_GRADIENTS, ENOUGH = 50, 1e-6


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A working set as a dense matrix; `columns` are its coordinates in the space, None if it has its own."""

    matrix: Floats
    columns: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class PointsInSpace:
    """Points in coordinates, dense or CSR.

    A point of the hull shorter than `rounding`, relative to the points that carry it, is only rounding error.
    """

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
            return Coordinates(points_with_products(few.gram(everything)), None)
        return Coordinates(few.in_columns(columns[:-1]).take(everything), columns)

    def length(self, rows: Numbers, weights: Floats) -> float:
        """The length of a linear combination of some points."""
        return float(np.linalg.norm(self.points.combine(rows, weights)))

    def separator(self, rows: Numbers, weights: Floats, coordinates: Coordinates, direction: Floats) -> Floats:
        """The direction, given in the coordinates of a working set, as a vector of length 1."""
        if coordinates.columns is None:
            w = self.points.combine(rows, weights)
        else:
            w = np.zeros(self.dimension)
            w[coordinates.columns] = direction
        length = float(np.linalg.norm(w))
        return w / length if length > 0 else np.eye(1, self.dimension)[0]

    def margins(self, separator: Floats) -> Floats:
        """The product of every point with a separator of length 1."""
        return self.points.products(separator)

    def every(self, step: int) -> "PointsInSpace":
        """Every `step`-th point."""
        return PointsInSpace(self.points.written_out(np.arange(0, self.n_points, step)), self.rounding)

    def parts(self) -> Iterator[tuple["PointsInSpace", Numbers]]:
        """Subsets of the points that might cancel, with their numbers, the likeliest first: of Kesler's points those of
        two classes. If no hyperplane separates two classes, no weights for all classes do."""
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
    """Coordinate descent on the multipliers `alpha`."""

    points: Points
    matrix: Any
    squares: Floats
    alpha: Floats
    w: Floats

    def epoch(self, order: Numbers) -> float:
        """Visit the points in order, and return the error of the worst product."""
        points = self.points
        return sum(descend(self.matrix, points.signs, points.constant, self.squares, order, self.alpha, self.w))

    def refine(self) -> None:
        """Move all nonzero multipliers at once, by conjugate gradients, clipped at 0 (More and Toraldo 1991): epochs
        soon find which are nonzero, but their sizes slowly."""
        free = np.flatnonzero(self.alpha)
        few, every, alpha = self.points.part(free), np.arange(len(free)), self.alpha[free]
        residual, step = 1.0 - few.products(self.w), np.zeros(len(free))
        scaled = residual / self.squares[free]
        direction, size = scaled, float(residual @ scaled)
        first = size
        for _ in range(MOST_GRADIENTS):
            image = few.products(few.combine(every, direction))
            curvature = float(direction @ image)
            if not curvature > 0.0 or size <= ENOUGH * first:
                break
            step, residual = step + (size / curvature) * direction, residual - (size / curvature) * image
            scaled = residual / self.squares[free]
            before, size = size, float(residual @ scaled)
            direction = scaled + (size / before) * direction
        goal = float(self.w @ self.w) / 2 - float(alpha.sum())
        for share in (1.0, 0.5, 0.25, 0.125):
            new = np.maximum(alpha + share * step, 0.0)
            w = few.combine(every, new)
            if float(w @ w) / 2 - float(new.sum()) < goal:
                self.alpha[free], self.w[:] = new, w
                break


@dataclass(frozen=True, eq=False)
class DescentAgainstRivals:
    """Coordinate descent for Kesler's points: all points of a row, in turn."""

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

    def refine(self) -> None:
        pass


Descent = DescentInSpace | DescentAgainstRivals


def points_with_products(G: Floats) -> Floats:
    """Points with the given products: the rows of L, where G = L L^T (Cholesky with pivots, up to rounding)."""
    from scipy.linalg.lapack import dpstrf

    L, pivots, rank, _ = dpstrf(G, lower=1, tol=4 * ROUNDING * float(np.diagonal(G).max()))
    points = np.zeros((len(G), max(int(rank), 1)))
    points[pivots - 1, :rank] = np.tril(L)[:, :rank]
    return points


# -- cutting planes ---------------------------------------------------------------------------------------------------


# The most points or coordinates, whichever are fewer; beyond, coordinate descent finds the points that matter.
MOST_FOR_CUTTING = 1000
# Rounds without progress before stopping, and the least progress.
STALLS = 5
PROGRESS = 1e-13


@dataclass(frozen=True, eq=False)
class Nearest:
    """The point of the hull nearest to the origin, so far, and its bounds on the margin.

    `rows` carry the point with `weights` that are positive and add up to 1; `separator` is the vector of length 1 with
    the largest margin found, empty if none was tried; for a kernel, its coefficients. The margin lies between `lower`
    and `upper`, up to rounding. `settled` means that they agree to the tolerance, or that `upper` is only rounding
    error: then the points have no margin that float64 could resolve, and `rows` are linearly independent with a
    constant appended to each.
    """

    rows: Numbers
    weights: Floats
    separator: Floats = field(default_factory=lambda: np.zeros(0))
    lower: float = -math.inf
    upper: float = math.inf
    passes: int = 0
    settled: bool = False

    def with_point(self, rows: Numbers, weights: Floats, upper: float) -> "Nearest":
        return replace(self, rows=rows, weights=weights, upper=upper) if upper < self.upper else self

    def with_separator(self, separator: Floats, lower: float) -> "Nearest":
        better = not len(self.separator) or lower > self.lower
        best = replace(self, separator=separator, lower=lower) if better else self
        return replace(best, passes=best.passes + 1)

    def agrees(self, tolerance: float) -> bool:
        return self.upper - self.lower <= tolerance * self.upper


def of_one_row(source: PointsInSpace, row: int) -> Nearest:
    """The result for a row of zeros, which is the nearest point itself."""
    rows, weights = np.array([row]), np.ones(1)
    return Nearest(rows, weights, upper=source.length(rows, weights), settled=True)


def with_own_plane(source: PointsInSpace, search: Nearest) -> Nearest:
    """Add a separator to a search that ended early: its point, scaled to length 1."""
    coordinates = source.coordinates(search.rows)
    direction = search.weights @ coordinates.matrix
    separator = source.separator(search.rows, search.weights, coordinates, direction)
    return search.with_separator(separator, float(source.margins(separator).min()))


@dataclass(frozen=True, eq=False)
class Working:
    """A working set, and the nearest point of its hull: `active` are the positions of those that carry it."""

    rows: Numbers
    coordinates: Coordinates
    active: Numbers
    weights: Floats

    @property
    def support(self) -> Numbers:
        return self.rows[self.active]


def cut(source: PointsInSpace, tolerance: float, clock: Clock, start: Nearest | None = None) -> tuple[Nearest, Numbers]:
    """Solve a working set, test all points, add the worst; returns the nearest point and the last working set."""
    size = min(source.n_points, source.dimension)
    batch, most_rows = 3 * size + 10, 6 * size + 50
    if start is None:
        search = Nearest(np.zeros(1, dtype=np.int64), np.ones(1))
        rows = _first_rows(source, most_rows, clock)
        working = Working(rows, source.coordinates(rows), np.zeros(0, dtype=np.int64), np.zeros(0))
    else:
        search, rows = start, start.rows
        batch, most_rows = MOST_FOR_CUTTING, max(3 * MOST_FOR_CUTTING, len(rows))
        working = Working(rows, source.coordinates(rows), np.arange(len(rows)), start.weights)
    stalls = 0
    while True:
        working, direction, is_nothing = _solve(source, working, clock)
        upper = source.length(working.support, working.weights)
        before = search
        search = search.with_point(working.support, working.weights, upper)
        if is_nothing:
            working = _without_negligible(source, working, clock)
            upper = source.length(working.support, working.weights)
            carried = replace(search, rows=working.support, weights=working.weights, upper=upper)
            return replace(carried, settled=True), working.rows
        if clock.is_over() and len(search.separator):
            break
        separator = source.separator(working.support, working.weights, working.coordinates, direction)
        margins = source.margins(separator)
        search = search.with_separator(separator, float(margins.min()))
        if search.agrees(tolerance):
            return replace(search, settled=True), working.rows
        least = PROGRESS * search.upper
        has_gained = before.upper - search.upper > least or search.lower - before.lower > least
        stalls = 0 if has_gained else stalls + 1
        is_wrong = margins < upper * (1 - tolerance / 4)
        is_wrong[working.rows] = False
        new = np.flatnonzero(is_wrong)
        if len(new) == 0 or stalls == STALLS or clock.is_over():
            break
        if len(new) > batch:
            new = new[np.argpartition(margins[new], batch)[:batch]]
        working = _exchange(source, working, margins, new, most_rows)
    return search, working.rows


def _without_negligible(source: PointsInSpace, working: Working, clock: Clock) -> Working:
    """The same without points that only rounding keeps, if the others carry the origin as well."""
    points = working.coordinates.matrix[working.active]
    shares = working.weights * np.linalg.norm(points, axis=1)
    keep = np.flatnonzero(shares > 1e-12 * shares.max(initial=0.0))
    if len(keep) in (0, len(shares)):
        return working
    coordinates = Coordinates(points[keep], working.coordinates.columns)
    few = Working(working.support[keep], coordinates, np.arange(len(keep)), working.weights[keep])
    few, _, is_nothing = _solve(source, few, clock)
    return few if is_nothing else working


def _first_rows(source: PointsInSpace, most: int, clock: Clock) -> Numbers:
    """All rows if they are few, else the working set of a sample: passes over a sixteenth cost a sixteenth."""
    n = source.n_points
    if n <= most:
        return np.arange(n)
    step = 16
    if n < step * most // 2:
        return np.unique(np.linspace(0, n - 1, most // 2).astype(np.int64))
    return step * cut(source.every(step), 1e-3, clock)[1]


def _exchange(source: PointsInSpace, working: Working, margins: Floats, new: Numbers, most: int) -> Working:
    """Add new rows; if there are too many, remove those farthest from the hyperplane."""
    urgency = margins[working.rows]
    urgency[working.active] = -np.inf
    keep = np.sort(np.argsort(urgency)[: max(most - len(new), len(working.active))])
    rows = np.concatenate([working.rows[keep], new])
    return Working(rows, source.coordinates(rows), np.searchsorted(keep, working.active), working.weights)


def _solve(source: PointsInSpace, working: Working, clock: Clock) -> tuple[Working, Floats, bool]:
    """The nearest point of the hull of a working set, a separator's direction, and whether that point is the origin.

    The underlying least-squares problem appends a coordinate c to every point. Its residual is the separator, and it is
    most accurate where c is about the distance of the hull; so c is adapted to it.
    """
    points = working.coordinates.matrix
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(points, axis=1)
    least = max(float(lengths.max()) * 2.0**-30, 1e-100)
    active, weights = working.active, working.weights
    reached = float(np.linalg.norm(weights @ points[active])) if len(active) else float(lengths.min())
    stacked = np.hstack([points, np.zeros((len(points), 1))])
    residual = np.zeros(stacked.shape[1])
    # Steps without a check of the clock: less than a second, even where each step solves a system from scratch.
    most_steps = 10 + 5_000_000 // (stacked.shape[1] * min(stacked.shape))
    while True:
        c = 2.0 ** math.frexp(max(reached, least))[1]
        stacked[:, -1] = c
        places, shares, Qt, R, k = _factors(stacked, active, weights)
        is_done = False
        while not is_done and c <= 32 * max(reached, least):
            k, steps = settle(stacked, np.hypot(lengths, c), places, shares, Qt, R, k, residual, most_steps)
            active, weights = places[:k].copy(), shares[:k] / shares[:k].sum()
            reached = float(np.linalg.norm(weights @ points[active]))
            is_nothing = reached <= math.sqrt(k + 10) * source.rounding * float(weights @ lengths[active])
            is_done = steps < most_steps or is_nothing
            if is_nothing or clock.is_over() or (is_done and c <= 32 * max(reached, least)):
                return replace(working, active=active, weights=weights), -residual[:-1], is_nothing


def _factors(stacked: Floats, active: Numbers, weights: Floats) -> tuple[Numbers, Floats, Floats, Floats, int]:
    """The input of `settle`: the active rows, their weights, and their orthogonal and triangular factors."""
    most = min(stacked.shape)
    k = len(active)
    room = (np.zeros(most, dtype=np.int64), np.zeros(most), np.zeros((most, stacked.shape[1])), np.zeros((most, most)))
    if k == 0 or k > most:
        return *room, 0
    Q, R = np.linalg.qr(stacked[active].T)
    if np.abs(np.diagonal(R)).min() <= 1e-13 * np.linalg.norm(R, axis=0).max():
        return *room, 0  # not independent: start again, one at a time
    room[0][:k], room[1][:k], room[2][:k], room[3][:k, :k] = active, weights, Q.T, R
    return *room, k
