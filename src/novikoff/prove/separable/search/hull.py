"""The margin as a distance: how far the origin is from the convex hull of the points.

The largest margin of a plane through labelled examples is the length of the shortest vector in the hull of the points
z = y (x, 1): any plane bounds that length from below, by its smallest product with a point, and any point of the hull
bounds it from above. So a search keeps a bracket, and the bracket is right whenever the search stops. Where the hull
contains the origin no plane separates, and the few points that carry the origin are the proof (Gordan).

Two ways lead to the nearest point. *Cutting planes*: solve a small working set to the last digit, look at all points
once, add those that are on the wrong side of the answer, again. Where there are more than a thousand of both points
and coordinates, the factorisation behind that costs too much, and *coordinate descent* on the multipliers of the
points takes over; it needs one row at a time, and cutting planes finish what it found if few points carry it.

All here is float64 and proves nothing by itself; `rows` and `weights`, or the `separator`, are what an exact proof
starts from.
"""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.hull import descend, descend_by_products, settle, squared_lengths, survey
from novikoff.engine.rows import as_rows
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Points

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

ROUNDING = 2.0**-52
# Within these no square of a coordinate overflows or vanishes; other data are scaled by a power of two.
SAFE_LENGTHS = (2.0**-200, 2.0**200)
# Of points or coordinates, whichever are fewer: beyond, coordinate descent finds the points that matter.
MOST_FOR_CUTTING = 1000
# A working set with more numbers than this is represented by its products, not by its coordinates.
MOST_COORDINATES = 4_000_000
# Seconds of coordinate descent for who sets no clock: on points that no plane separates it would never end.
PATIENCE = 40.0
# Rounds of cutting planes without progress, and what counts as progress.
STALLS = 5
PROGRESS = 1e-13


@dataclass(frozen=True, eq=False)
class Nearest:
    """The point of the hull that is nearest to the origin, and what it says about the margin.

    `rows` carry the point with `weights` that are positive and add up to 1; `separator` is the plane, of length 1, with
    the largest margin that was found. The margin lies between `lower` and `upper`, up to rounding. `settled` says that
    they agree to the tolerance, or that `upper` is nothing but rounding: then the points cannot be separated with a
    margin that float64 could see, and `rows` are linearly independent once a constant is appended to each.
    """

    rows: Numbers
    weights: Floats
    point: Floats
    separator: Floats
    lower: float
    upper: float
    passes: int
    settled: bool


@dataclass(frozen=True, eq=False)
class NearestByProducts:
    """The nearest point where only products are known: the sum of the points times `weights`, one for each.

    The separator is the sum of the points times `alpha`, of length 1 unless its length is lost in rounding.
    """

    weights: Floats
    alpha: Floats
    lower: float
    upper: float
    settled: bool


def nearest_point(points: Points, *, tolerance: float = 1e-6, clock: Clock | None = None) -> Nearest:
    """The point of the hull of `points` that is nearest to the origin, up to a relative gap of `tolerance`.

    >>> from novikoff.prove.separable.points import Points
    >>> nearest = nearest_point(Points.of([[3.0, 1.0], [1.0, 3.0], [5.0, 5.0]], [1, 1, 1], fit_intercept=False))
    >>> nearest.rows.tolist(), nearest.weights.round(6).tolist(), nearest.point[:2].round(6).tolist()
    ([0, 1], [0.5, 0.5], [2.0, 2.0])
    """
    if points.n_points == 0:
        raise ValueError("there are no points, so none is nearest")
    rows = as_rows(points.rows)
    largest, first_zero, first_bad = survey(rows.matrix, rows.n_rows)
    if first_bad < rows.n_rows:
        raise ValueError(f"row {first_bad} contains NaN or infinity: a point has finite coordinates")
    scale = _safe_scale(max(largest, abs(points.constant)))
    plain = Points(rows.as_scipy() if rows.is_sparse else rows.matrix, points.signs, points.constant)
    scaled = plain if scale == 1.0 else Points(plain.rows * scale, plain.signs, plain.constant * scale)
    if points.constant == 0.0 and first_zero < rows.n_rows:
        search = _of_one_row(_InSpace(scaled), int(first_zero))
    elif min(points.n_points, points.dimension) <= MOST_FOR_CUTTING:
        search = _cut(_InSpace(scaled), tolerance, clock)
    else:
        search = _descend(_InSpace(scaled), tolerance, clock)
    search = _look(_InSpace(scaled), search) if search.separator is None else search
    assert search.separator is not None
    return Nearest(
        rows=search.rows,
        weights=search.weights,
        point=scaled.combine(search.rows, search.weights) / scale,
        separator=search.separator,
        lower=search.lower / scale,
        upper=search.upper / scale,
        passes=search.passes,
        settled=search.settled,
    )


def nearest_in_feature_space(
    gram: Floats,
    signs: NDArray[Any],
    constant: float,
    *,
    tolerance: float = 1e-6,
    clock: Clock | None = None,
) -> NearestByProducts:
    """As `nearest_point`, for points of which only the kernel matrix is known: <z_i, z_j> = y_i y_j (K_ij + constant).

    The squared length of a point is a sum of products, so rounding hides any length below about a millionth of the
    longest point's.

    >>> nearest = nearest_in_feature_space(np.array([[4.0, -2.0], [-2.0, 1.0]]), np.array([1, -1]), 0.0)
    >>> nearest.weights.tolist(), round(nearest.lower, 6), round(nearest.upper, 6)
    ([0.0, 1.0], 1.0, 1.0)
    """
    sign = np.asarray(signs, dtype=np.float64)
    G = np.asarray(gram, dtype=np.float64)
    if G.shape != (len(sign), len(sign)) or len(sign) == 0:
        raise ValueError(f"the kernel matrix has shape {G.shape}, but there are {len(sign)} signs")
    largest = max(float(np.abs(G).max()), abs(constant))
    if not math.isfinite(largest):
        raise ValueError("the kernel matrix contains NaN or infinity")
    # The square of a power of two, so that lengths are scaled by a power of two as well.
    root = 2.0 ** -(math.frexp(largest)[1] // 2) if largest else 1.0
    G = (G * root * root + constant * root * root) * np.outer(sign, sign)
    source = _ByProducts(G)
    if np.diagonal(G).min() <= 0:
        search = _of_one_row(source, int(np.argmin(np.diagonal(G))))
    elif len(G) <= MOST_FOR_CUTTING:
        search = _cut(source, tolerance, clock)
    else:
        search = _descend(source, tolerance, clock)
    search = _look(source, search) if search.separator is None else search
    assert search.separator is not None
    weights = np.zeros(len(G))
    weights[search.rows] = search.weights
    return NearestByProducts(weights, search.separator * root, search.lower / root, search.upper / root, search.settled)


# -- where the points are ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """A working set written out; `columns` says which coordinates of the space these are, if they are any."""

    matrix: Floats
    columns: NDArray[Any] | None


class _Source(Protocol):
    """Points, as far as the search needs them."""

    @property
    def n_points(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def rounding(self) -> float:
        """How short a point of the hull is nothing but rounding, relative to the points that carry it."""
        ...

    def coordinates(self, rows: Numbers) -> _Coordinates: ...

    def length(self, rows: Numbers, weights: Floats) -> float:
        """Of the sum of some points, each times its weight."""
        ...

    def separator(self, rows: Numbers, weights: Floats, coordinates: _Coordinates, direction: Floats) -> Floats:
        """The direction, given in the coordinates of a working set, as a vector of length 1."""
        ...

    def margins(self, separator: Floats) -> Floats:
        """The product of every point with a separator of length 1."""
        ...

    def every(self, step: int) -> "_Source":
        """Every so many-th point."""
        ...

    def descent(self) -> "_Descent": ...


class _Descent(Protocol):
    """Coordinate descent on the multipliers."""

    @property
    def alpha(self) -> Floats: ...

    def epoch(self, order: Numbers) -> float:
        """Visit the points in order, and tell by how much the worst product was off."""
        ...


@dataclass(frozen=True, eq=False)
class _InSpace:
    """Points in coordinates, dense or CSR."""

    points: Points
    rounding: float = 4 * ROUNDING

    @property
    def n_points(self) -> int:
        return self.points.n_points

    @property
    def dimension(self) -> int:
        return self.points.dimension

    def coordinates(self, rows: Numbers) -> _Coordinates:
        columns = np.arange(self.dimension)
        if self.points.is_sparse:
            used = np.unique(self.points.rows[rows].indices)
            columns = np.append(used, self.dimension - 1)  # columns of zeros change no product
        if len(rows) * len(columns) > MOST_COORDINATES and len(columns) > len(rows):
            return _Coordinates(_from_products(self.points.gram(rows)), None)
        if len(columns) == self.dimension:
            return _Coordinates(self.points.take(rows), columns)
        narrow = Points(self.points.rows[rows][:, columns[:-1]], self.points.signs[rows], self.points.constant)
        return _Coordinates(narrow.take(np.arange(len(rows))), columns)

    def length(self, rows: Numbers, weights: Floats) -> float:
        return float(np.linalg.norm(self.points.combine(rows, weights)))

    def separator(self, rows: Numbers, weights: Floats, coordinates: _Coordinates, direction: Floats) -> Floats:
        if coordinates.columns is None:
            w = self.points.combine(rows, weights)
        else:
            w = np.zeros(self.dimension)
            w[coordinates.columns] = direction
        length = float(np.linalg.norm(w))
        return w / length if length > 0 else np.eye(1, self.dimension)[0]

    def margins(self, separator: Floats) -> Floats:
        return self.points.products(separator)

    def every(self, step: int) -> "_InSpace":
        points = self.points
        rows = points.rows[::step] if points.is_sparse else np.ascontiguousarray(points.rows[::step])
        return _InSpace(Points(rows, points.signs[::step], points.constant))

    def descent(self) -> "_DescentInSpace":
        rows = as_rows(self.points.rows)
        squares = squared_lengths(rows.matrix, rows.n_rows, self.points.constant)
        alpha, w = np.zeros(self.n_points), np.zeros(self.dimension)
        return _DescentInSpace(self.points, rows.matrix, squares, alpha, w)


@dataclass(frozen=True, eq=False)
class _DescentInSpace:
    points: Points
    matrix: Any
    squares: Floats
    alpha: Floats
    w: Floats

    def epoch(self, order: Numbers) -> float:
        points = self.points
        return sum(descend(self.matrix, points.signs, points.constant, self.squares, order, self.alpha, self.w))


@dataclass(frozen=True, eq=False)
class _ByProducts:
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

    def coordinates(self, rows: Numbers) -> _Coordinates:
        return _Coordinates(_from_products(self.G[np.ix_(rows, rows)]), None)

    def length(self, rows: Numbers, weights: Floats) -> float:
        return math.sqrt(max(float(weights @ self.G[np.ix_(rows, rows)] @ weights), 0.0))

    def separator(self, rows: Numbers, weights: Floats, coordinates: _Coordinates, direction: Floats) -> Floats:
        length = self.length(rows, weights)
        alpha = np.zeros(self.n_points)
        alpha[rows] = weights / length if length > 0 else weights
        return alpha

    def margins(self, separator: Floats) -> Floats:
        return np.asarray(self.G @ separator)

    def every(self, step: int) -> "_ByProducts":
        return _ByProducts(self.G[::step, ::step])

    def descent(self) -> "_DescentByProducts":
        n = self.n_points
        return _DescentByProducts(np.ascontiguousarray(self.G), np.zeros(n), np.zeros(n))


@dataclass(frozen=True, eq=False)
class _DescentByProducts:
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


def _safe_scale(longest: float) -> float:
    if longest == 0 or SAFE_LENGTHS[0] <= longest <= SAFE_LENGTHS[1]:
        return 1.0
    return 2.0 ** min(-math.frexp(longest)[1], 1000)


# -- the bracket ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Search:
    """The best that was found so far."""

    rows: Numbers
    weights: Floats
    separator: Floats | None = None
    lower: float = -math.inf
    upper: float = math.inf
    passes: int = 0
    settled: bool = False

    def with_point(self, rows: Numbers, weights: Floats, upper: float) -> "_Search":
        return replace(self, rows=rows, weights=weights, upper=upper) if upper < self.upper else self

    def with_separator(self, separator: Floats, lower: float) -> "_Search":
        better = self.separator is None or lower > self.lower
        best = replace(self, separator=separator, lower=lower) if better else self
        return replace(best, passes=best.passes + 1)

    def agrees(self, tolerance: float) -> bool:
        return self.upper - self.lower <= tolerance * self.upper


def _of_one_row(source: _Source, row: int) -> _Search:
    """A row of zeros is the nearest point, and nothing else needs to be said."""
    rows, weights = np.array([row]), np.ones(1)
    return _Search(rows, weights, upper=source.length(rows, weights), settled=True)


def _look(source: _Source, search: _Search) -> _Search:
    """Give a search that ended early a plane: the one that its point makes."""
    coordinates = source.coordinates(search.rows)
    direction = search.weights @ coordinates.matrix
    separator = source.separator(search.rows, search.weights, coordinates, direction)
    return search.with_separator(separator, float(source.margins(separator).min()))


# -- cutting planes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Working:
    """A few points, and the nearest point of their hull: `active` are the positions of those that carry it."""

    rows: Numbers
    coordinates: _Coordinates
    active: Numbers
    weights: Floats

    @property
    def support(self) -> Numbers:
        return self.rows[self.active]


def _cut(source: _Source, tolerance: float, clock: Clock | None, start: _Search | None = None) -> _Search:
    return _cut_from(source, tolerance, clock, start)[0]


def _cut_from(source: _Source, tolerance: float, clock: Clock | None, start: _Search | None) -> tuple[_Search, Numbers]:
    """Solve a working set, look at all points, add the worst; also returns the last working set."""
    size = min(source.n_points, source.dimension)
    batch, most_rows = 3 * size + 10, 6 * size + 50
    if start is None:
        search = _Search(np.zeros(1, dtype=np.int64), np.ones(1))
        rows = _first_rows(source, most_rows, clock)
        working = _Working(rows, source.coordinates(rows), np.zeros(0, dtype=np.int64), np.zeros(0))
    else:
        search, rows = start, start.rows
        batch, most_rows = MOST_FOR_CUTTING, max(3 * MOST_FOR_CUTTING, len(rows))
        working = _Working(rows, source.coordinates(rows), np.arange(len(rows)), start.weights)
    stalls = 0
    while True:
        working, direction, is_nothing = _solve(source, working, clock)
        upper = source.length(working.support, working.weights)
        before = search
        search = search.with_point(working.support, working.weights, upper)
        if is_nothing:
            working = _leaner(source, working, clock)
            upper = source.length(working.support, working.weights)
            carried = replace(search, rows=working.support, weights=working.weights, upper=upper)
            return replace(carried, settled=True), working.rows
        if _is_late(clock) and search.separator is not None:
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
        if len(new) == 0 or stalls == STALLS or _is_late(clock):
            break
        if len(new) > batch:
            new = new[np.argpartition(margins[new], batch)[:batch]]
        working = _exchange(source, working, margins, new, most_rows)
    return search, working.rows


def _leaner(source: _Source, working: _Working, clock: Clock | None) -> _Working:
    """Without the points that rounding alone keeps, if the others carry the origin as well."""
    points = working.coordinates.matrix[working.active]
    shares = working.weights * np.linalg.norm(points, axis=1)
    keep = np.flatnonzero(shares > 1e-12 * shares.max()) if shares.max() > 0 else np.zeros(0, dtype=np.int64)
    if len(keep) in (0, len(shares)):
        return working
    coordinates = _Coordinates(points[keep], working.coordinates.columns)
    few = _Working(working.support[keep], coordinates, np.arange(len(keep)), working.weights[keep])
    few, _, is_nothing = _solve(source, few, clock)
    return few if is_nothing else working


def _first_rows(source: _Source, most: int, clock: Clock | None) -> Numbers:
    """All rows if they are few, else the working set of a sample: passes over a sixteenth cost a sixteenth."""
    n = source.n_points
    if n <= most:
        return np.arange(n)
    step = 16
    if n < step * most // 2:
        return np.unique(np.linspace(0, n - 1, most // 2).astype(np.int64))
    return step * _cut_from(source.every(step), 1e-3, clock, None)[1]


def _exchange(source: _Source, working: _Working, margins: Floats, new: Numbers, most: int) -> _Working:
    """Add new rows; if that makes too many, those that lie farthest from the plane leave."""
    urgency = margins[working.rows]
    urgency[working.active] = -np.inf
    keep = np.sort(np.argsort(urgency)[: max(most - len(new), len(working.active))])
    rows = np.concatenate([working.rows[keep], new])
    return _Working(rows, source.coordinates(rows), np.searchsorted(keep, working.active), working.weights)


def _solve(source: _Source, working: _Working, clock: Clock | None) -> tuple[_Working, Floats, bool]:
    """The nearest point of the hull of a working set, a separator's direction, and whether that point is the origin.

    The least-squares problem behind it appends a coordinate c to every point. Its residual is the separator, and it is
    most accurate where c is of the size of the distance that is sought; so c follows it.
    """
    points = working.coordinates.matrix
    lengths = np.linalg.norm(points, axis=1)
    least = max(float(lengths.max()) * 2.0**-30, 1e-100)
    active, weights = working.active, working.weights
    reached = float(np.linalg.norm(weights @ points[active])) if len(active) else float(lengths.min())
    stacked = np.hstack([points, np.zeros((len(points), 1))])
    residual = np.zeros(stacked.shape[1])
    most_steps = 10 + 200_000_000 // (stacked.shape[1] * min(stacked.shape))  # about a second
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
            if is_nothing or _is_late(clock) or (is_done and c <= 32 * max(reached, least)):
                return replace(working, active=active, weights=weights), -residual[:-1], is_nothing


def _factors(stacked: Floats, active: Numbers, weights: Floats) -> tuple[Numbers, Floats, Floats, Floats, int]:
    """What `settle` works on: the active rows, their weights, and their orthogonal and triangular factors."""
    most = min(stacked.shape)
    k = len(active)
    room = (np.zeros(most, dtype=np.int64), np.zeros(most), np.zeros((most, stacked.shape[1])), np.zeros((most, most)))
    if k == 0 or k > most:
        return *room, 0
    Q, R = np.linalg.qr(stacked[active].T)
    if np.abs(np.diagonal(R)).min() <= 1e-13 * np.linalg.norm(R, axis=0).max():
        return *room, 0  # not independent: begin again, one at a time
    room[0][:k], room[1][:k], room[2][:k], room[3][:k, :k] = active, weights, Q.T, R
    return *room, k


def _is_late(clock: Clock | None) -> bool:
    return clock is not None and clock.is_over()


# -- coordinate descent -----------------------------------------------------------------------------------------------


def _descend(source: _Source, tolerance: float, clock: Clock | None) -> _Search:
    """Epochs of coordinate descent in random order, with a look at the bracket now and then.

    On points that no plane separates the multipliers grow for ever, and fastest on the points that are to blame. So
    after some epochs cutting planes try those, and also finish what is nearly finished if few points carry it.
    """
    descent = source.descent()
    clock = clock or Clock(PATIENCE)
    started = clock.now()
    generator = np.random.default_rng(0)
    search = _Search(np.zeros(1, dtype=np.int64), np.ones(1))
    alpha_before = descent.alpha.copy()
    next_try = 50
    for epoch in itertools.count(1):
        off = descent.epoch(generator.permutation(source.n_points))
        if off > tolerance and epoch % 10 and not _is_late(clock):
            continue
        search = _with_multipliers(source, search, descent.alpha)
        if search.agrees(tolerance):
            return replace(search, settled=True)
        if _is_late(clock):
            break
        if epoch >= next_try:
            next_try *= 4
            # An attempt that fails may cost about as much as the descent up to it.
            until = clock.within(max(2.0, clock.now() - started))
            search = _try_few(source, search, descent.alpha, descent.alpha - alpha_before, tolerance, until)
            alpha_before = descent.alpha.copy()
            if search.settled:
                break
    return search


def _with_multipliers(source: _Source, search: _Search, alpha: Floats) -> _Search:
    rows = np.flatnonzero(alpha)
    weights = alpha[rows] / alpha[rows].sum()
    coordinates = _Coordinates(np.zeros((0, 0)), None)
    separator = source.separator(rows, weights, coordinates, np.zeros(0))
    search = search.with_point(rows, weights, source.length(rows, weights))
    return search.with_separator(separator, float(source.margins(separator).min()))


def _try_few(
    source: _Source, search: _Search, alpha: Floats, growth: Floats, tolerance: float, clock: Clock | None
) -> _Search:
    """Cutting planes from the points that carry the nearest one, or from the fastest growers if none separates."""
    rows = np.flatnonzero(alpha)
    if search.lower > 0 and (len(rows) > 3 * MOST_FOR_CUTTING or search.lower < 0.9 * search.upper):
        return search
    if search.lower <= 0 and len(rows) > MOST_FOR_CUTTING:
        rows = np.sort(rows[np.argpartition(-growth[rows], MOST_FOR_CUTTING)[:MOST_FOR_CUTTING]])
    start = replace(search, rows=rows, weights=alpha[rows] / alpha[rows].sum(), upper=math.inf)
    found = _cut(source, tolerance, clock, start)
    if found.upper <= search.upper:
        return found
    found = replace(found, rows=search.rows, weights=search.weights, upper=search.upper)
    return replace(found, settled=found.agrees(tolerance))
