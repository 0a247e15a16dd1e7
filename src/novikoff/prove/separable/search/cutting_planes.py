"""Cutting planes: solve a small working set to the last digit, test all points, add the worst, repeat."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

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


def descent_on(points: Points) -> DescentInSpace | DescentAgainstRivals:
    """The start of coordinate descent on these points: all multipliers are 0."""
    rows = as_rows(points.rows)
    squares = np.empty(rows.n_rows)
    if isinstance(points, KeslerPoints):
        squared_lengths(rows.matrix, points.bias, squares)
        by_row, W = np.zeros((rows.n_rows, points.others)), np.zeros((points.n_classes, points.width))
        return DescentAgainstRivals(points, rows.matrix, squares, by_row, W)
    squared_lengths(rows.matrix, points.constant, squares)
    return DescentInSpace(points, rows.matrix, squares, np.zeros(points.n_points), np.zeros(points.dimension))


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


class Accuracy(NamedTuple):
    """The relative gap at which to stop; and the length, relative to the points that carry it, below which a point of
    the hull is only rounding error."""

    tolerance: float = 1e-6
    rounding: float = 4 * ROUNDING


@dataclass(frozen=True, eq=False)
class Working:
    """A working set, as a dense matrix, and the nearest point of its hull: `active` are the positions of those that
    carry it. The `columns` are the coordinates of the matrix in the space, None if it has its own."""

    rows: Numbers
    matrix: Floats
    columns: NDArray[Any] | None
    active: Numbers
    weights: Floats

    @classmethod
    def of(cls, points: Points, rows: Numbers, active: Numbers, weights: Floats) -> "Working":
        columns = np.arange(points.dimension)
        few = points.written_out(rows)
        if few.is_sparse:  # columns of zeros change no product
            columns = np.append(np.unique(few.rows.indices), points.dimension - 1)
        everything = np.arange(len(rows))
        if len(rows) * len(columns) > MOST_COORDINATES and len(columns) > len(rows):
            return cls(rows, points_with_products(few.gram(everything)), None, active, weights)
        return cls(rows, few.in_columns(columns[:-1]).take(everything), columns, active, weights)

    @property
    def support(self) -> Numbers:
        return self.rows[self.active]

    def length(self, points: Points) -> float:
        """The length of the nearest point."""
        return float(np.linalg.norm(points.combine(self.support, self.weights)))

    def separator(self, points: Points, direction: Floats) -> Floats:
        """A direction in the coordinates of the matrix, or of the nearest point, as a vector of length 1."""
        if self.columns is None:
            return unit(points.combine(self.support, self.weights))
        w = np.zeros(points.dimension)
        w[self.columns] = direction
        return unit(w)


def unit(vector: Floats) -> Floats:
    """A vector scaled to length 1; the first unit vector if it is 0."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else np.eye(1, len(vector))[0]


def cut(points: Points, accuracy: Accuracy, clock: Clock, start: Nearest | None = None) -> tuple[Nearest, Numbers]:
    """Solve a working set, test all points, add the worst; returns the nearest point and the last working set."""
    tolerance, size = accuracy.tolerance, min(points.n_points, points.dimension)
    batch, most_rows = 3 * size + 10, 6 * size + 50
    if start is None:
        search = Nearest(np.zeros(1, dtype=np.int64), np.ones(1))
        rows = _first_rows(points, most_rows, accuracy, clock)
        working = Working.of(points, rows, np.zeros(0, dtype=np.int64), np.zeros(0))
    else:
        search, rows = start, start.rows
        batch, most_rows = MOST_FOR_CUTTING, max(3 * MOST_FOR_CUTTING, len(rows))
        working = Working.of(points, rows, np.arange(len(rows)), start.weights)
    stalls = 0
    while True:
        working, direction, is_nothing = _solve(working, accuracy, clock)
        upper = working.length(points)
        before = search
        search = search.with_point(working.support, working.weights, upper)
        if is_nothing:
            working = _without_negligible(working, accuracy, clock)
            carried = replace(search, rows=working.support, weights=working.weights, upper=working.length(points))
            return replace(carried, settled=True), working.rows
        if clock.is_over() and len(search.separator):
            break
        separator = working.separator(points, direction)
        margins = points.products(separator)
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
        working = _exchange(points, working, margins, new, most_rows)
    return search, working.rows


def _without_negligible(working: Working, accuracy: Accuracy, clock: Clock) -> Working:
    """The same without points that only rounding keeps, if the others carry the origin as well."""
    matrix = working.matrix[working.active]
    shares = working.weights * np.linalg.norm(matrix, axis=1)
    keep = np.flatnonzero(shares > 1e-12 * shares.max(initial=0.0))
    if len(keep) in (0, len(shares)):
        return working
    few = Working(working.support[keep], matrix[keep], working.columns, np.arange(len(keep)), working.weights[keep])
    few, _, is_nothing = _solve(few, accuracy, clock)
    return few if is_nothing else working


def _first_rows(points: Points, most: int, accuracy: Accuracy, clock: Clock) -> Numbers:
    """All rows if they are few, else the working set of a sample: passes over a sixteenth cost a sixteenth."""
    n = points.n_points
    if n <= most:
        return np.arange(n)
    step = 16
    if n < step * most // 2:
        return np.unique(np.linspace(0, n - 1, most // 2).astype(np.int64))
    return step * cut(points.written_out(np.arange(0, n, step)), accuracy._replace(tolerance=1e-3), clock)[1]


def _exchange(points: Points, working: Working, margins: Floats, new: Numbers, most: int) -> Working:
    """Add new rows; if there are too many, remove those farthest from the hyperplane."""
    urgency = margins[working.rows]
    urgency[working.active] = -np.inf
    keep = np.sort(np.argsort(urgency)[: max(most - len(new), len(working.active))])
    rows = np.concatenate([working.rows[keep], new])
    return Working.of(points, rows, np.searchsorted(keep, working.active), working.weights)


def _solve(working: Working, accuracy: Accuracy, clock: Clock) -> tuple[Working, Floats, bool]:
    """The nearest point of the hull of a working set, a separator's direction, and whether that point is the origin.

    The underlying least-squares problem appends a coordinate c to every point. Its residual is the separator, and it is
    most accurate where c is about the distance of the hull; so c is adapted to it.
    """
    points = working.matrix
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
            is_nothing = reached <= math.sqrt(k + 10) * accuracy.rounding * float(weights @ lengths[active])
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
