"""The minimum-norm point of a hull: the margin as the distance of the origin from the convex hull of the points.

The largest margin of a hyperplane between labelled examples is the length of the shortest vector in the hull of the
points z = y (x, 1): any hyperplane bounds it from below, by its smallest product with a point, and any point of the
hull bounds it from above. So a search has a bracket, valid whenever the search stops. If the hull contains the origin,
no hyperplane separates, and the few points that carry the origin are the proof (Gordan).

There are two methods. *Cutting planes*: solve a small working set to the last digit, test all points once, add those
on the wrong side, repeat. With more than a thousand points and more than a thousand coordinates, its factorisation is
too expensive, and *coordinate descent* on the multipliers of the points is used; it needs one row at a time, and
cutting planes finish its result if few points carry it.

All of this is float64 and proves nothing; exact proofs start from its `rows` and `weights`, or its `separator`.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.engine.rows import as_rows, check_finite
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search.cutting_planes import (
    MOST_FOR_CUTTING,
    ROUNDING,
    Accuracy,
    Floats,
    Nearest,
    Numbers,
    Working,
    cut,
    descent_on,
    points_with_products,
    unit,
)

# Lengths whose squares neither overflow nor underflow; other data are scaled by a power of two.
SAFE_LENGTHS = (2.0**-200, 2.0**200)


def nearest_point(
    points: Points, *, tolerance: float = 1e-6, clock: Clock = UNLIMITED, patience: float = math.inf
) -> Nearest:
    """The point of the hull of `points` that is nearest to the origin, up to a relative gap of `tolerance`.

    Coordinate descent stops after `patience` epochs if nothing separates.

    >>> from novikoff.prove.separable.points import Points
    >>> nearest = nearest_point(Points.of([[3.0, 1.0], [1.0, 3.0], [5.0, 5.0]], [1, 1, 1], fit_intercept=False))
    >>> nearest.rows.tolist(), nearest.weights.round(6).tolist(), round(nearest.upper**2, 6)
    ([0, 1], [0.5, 0.5], 8.0)
    """
    if points.n_points == 0:
        raise ValueError("there are no points, so none is nearest")
    rows = as_rows(points.rows)
    check_finite(rows)
    largest = max(abs(float(rows.entries.max(initial=0.0))), abs(float(rows.entries.min(initial=0.0))))
    scale = _safe_scale(max(largest, abs(points.constant)))
    scaled = points.scaled(rows.as_scipy() if rows.is_sparse else rows.matrix, scale)
    zeros = np.empty(0) if points.constant else np.flatnonzero(scaled.largest_by_row(np.ones(scaled.dimension)) == 0)
    found = _search(scaled, int(zeros[0]) if len(zeros) else None, Accuracy(tolerance), clock, patience)
    return replace(found, lower=found.lower / scale, upper=found.upper / scale)


def nearest_in_feature_space(
    gram: Floats,
    signs: NDArray[Any],
    constant: float,
    *,
    tolerance: float = 1e-6,
    clock: Clock = UNLIMITED,
) -> Nearest:
    """As `nearest_point`, for points given by a kernel matrix: <z_i, z_j> = y_i y_j (K_ij + constant).

    The separator has a coefficient for every point: it is the combination of the points with these, of length 1 unless
    that is lost to rounding. As squared lengths are sums of products, rounding hides any length below about a millionth
    of the longest point's.

    >>> nearest = nearest_in_feature_space(np.array([[4.0, -2.0], [-2.0, 1.0]]), np.array([1, -1]), 0.0)
    >>> nearest.rows.tolist(), round(nearest.lower, 6), round(nearest.upper, 6)
    ([1], 1.0, 1.0)
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
    shortest = int(np.argmin(np.diagonal(G)))
    zero_row = shortest if G[shortest, shortest] <= 0 else None
    points = Points(points_with_products(G), np.ones(len(G), dtype=np.int8), 0.0)
    found = _search(points, zero_row, Accuracy(tolerance, math.sqrt(16 * ROUNDING)), clock, math.inf)
    coefficients = np.zeros(len(G))
    coefficients[found.rows] = found.weights
    coefficients /= math.sqrt(max(float(coefficients @ G @ coefficients), 0.0)) or 1.0
    lower = float((G @ coefficients).min())
    return replace(found, separator=coefficients * root, lower=lower / root, upper=found.upper / root)


def _search(points: Points, zero_row: int | None, accuracy: Accuracy, clock: Clock, patience: float) -> Nearest:
    """The nearest point by the method for this many points, with a separator."""
    if zero_row is not None:
        rows, weights = np.array([zero_row]), np.ones(1)
        found = Nearest(rows, weights, upper=float(np.linalg.norm(points.combine(rows, weights))), settled=True)
    elif min(points.n_points, points.dimension) <= MOST_FOR_CUTTING:
        found, _ = cut(points, accuracy, clock)
    else:
        found = descend_by_coordinates(points, accuracy, clock, patience)
    if len(found.separator):
        return found
    working = Working.of(points, found.rows, np.arange(len(found.rows)), found.weights)
    separator = working.separator(points, found.weights @ working.matrix)
    return found.with_separator(separator, float(points.products(separator).min()))


def _safe_scale(longest: float) -> float:
    if longest == 0 or SAFE_LENGTHS[0] <= longest <= SAFE_LENGTHS[1]:
        return 1.0
    return 2.0 ** min(-math.frexp(longest)[1], 1000)


# -- coordinate descent -----------------------------------------------------------------------------------------------


# Seconds that an attempt may take even if descent has taken less so far.
LEAST_ATTEMPT = 2.0


def descend_by_coordinates(points: Points, accuracy: Accuracy, clock: Clock, patience: float = math.inf) -> Nearest:
    """Epochs of coordinate descent in random order, with an occasional test of the bracket.

    On points that no hyperplane separates the multipliers diverge, and fastest on the points of an obstruction. So
    after some epochs cutting planes try those, and also finish a search that is nearly done if few points carry the
    nearest one. As long as nothing separates, they also try each part of the points that might cancel, the likeliest
    first. Stops after about `patience` epochs if nothing separates by then.
    """
    started = clock.now()
    search, parts = Nearest(np.zeros(1, dtype=np.int64), np.ones(1)), _parts(points)
    tolerance = accuracy.tolerance
    cancelling = _cancelling(next(parts, None), accuracy, clock, clock.within(LEAST_ATTEMPT))
    if cancelling is not None:
        return cancelling
    descent = descent_on(points)
    generator = np.random.default_rng(0)
    alpha_before = descent.alpha.copy()
    next_try = 50
    for epoch in itertools.count(1):
        off = descent.epoch(generator.permutation(points.n_points))
        if off > tolerance and epoch % 10 and not clock.is_over():
            continue
        search = _with_multipliers(points, search, descent.alpha)
        if search.agrees(tolerance):
            return replace(search, settled=True)
        if clock.is_over() or (search.lower <= 0 and epoch >= patience):
            break
        # A failed attempt may cost about as much as the descent before it.
        until = clock.within(max(LEAST_ATTEMPT, clock.now() - started))
        cancelling = _cancelling(next(parts, None), accuracy, clock, until) if search.lower <= 0 else None
        if cancelling is not None:
            return cancelling
        if search.lower > 0:
            descent.refine()
        if epoch >= next_try:
            next_try *= 4
            search = _try_few(points, search, descent.alpha, descent.alpha - alpha_before, accuracy, until)
            alpha_before = descent.alpha.copy()
            if search.settled:
                break
    return search


def _parts(points: Points) -> Iterator[tuple[Points, Numbers]]:
    """Subsets of the points that might cancel, with their numbers, the likeliest first: of Kesler's points those of two
    classes. If no hyperplane separates two classes, no weights for all classes do."""
    if isinstance(points, KeslerPoints):
        for pair in points.pairs():
            yield points.between(*pair)


def _cancelling(part: tuple[Points, Numbers] | None, accuracy: Accuracy, clock: Clock, until: Clock) -> Nearest | None:
    """The points of a part that carry the origin, by their numbers among all; None if none do.

    Cutting planes terminate by themselves; descent needs a limit, `until`.
    """
    if part is None:
        return None
    points, numbers = part
    is_small = min(points.n_points, points.dimension) <= MOST_FOR_CUTTING
    found = cut(points, accuracy, clock)[0] if is_small else descend_by_coordinates(points, accuracy, until)
    if not found.settled or found.lower > 0:
        return None
    return Nearest(numbers[found.rows], found.weights, upper=found.upper, settled=True)


def _with_multipliers(points: Points, search: Nearest, alpha: Floats) -> Nearest:
    rows = np.flatnonzero(alpha)
    weights = alpha[rows] / alpha[rows].sum()
    nearest = points.combine(rows, weights)
    search = search.with_point(rows, weights, float(np.linalg.norm(nearest)))
    separator = unit(nearest)
    return search.with_separator(separator, float(points.products(separator).min()))


def _try_few(
    points: Points, search: Nearest, alpha: Floats, growth: Floats, accuracy: Accuracy, clock: Clock
) -> Nearest:
    """Cutting planes from the points that carry the nearest one, or with the fastest growth if nothing separates."""
    rows = np.flatnonzero(alpha)
    if search.lower > 0 and (len(rows) > 3 * MOST_FOR_CUTTING or search.lower < 0.9 * search.upper):
        return search
    if search.lower <= 0 and len(rows) > MOST_FOR_CUTTING:
        rows = np.sort(rows[np.argpartition(-growth[rows], MOST_FOR_CUTTING)[:MOST_FOR_CUTTING]])
    start = replace(search, rows=rows, weights=alpha[rows] / alpha[rows].sum(), upper=math.inf)
    found = cut(points, accuracy, clock, start)[0]
    if found.upper <= search.upper:
        return found
    found = replace(found, rows=search.rows, weights=search.weights, upper=search.upper)
    return replace(found, settled=found.agrees(accuracy.tolerance))
