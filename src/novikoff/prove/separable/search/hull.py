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

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Rows, as_rows, check_finite
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search.coordinate_descent import descend_by_coordinates
from novikoff.prove.separable.search.cutting_planes import MOST_FOR_CUTTING, Search, cut, of_one_row, with_own_plane
from novikoff.prove.separable.search.hull_points import Floats, Numbers, PointsByProducts, PointsInSpace, Source

# Within these no square of a coordinate overflows or vanishes; other data are scaled by a power of two.
SAFE_LENGTHS = (2.0**-200, 2.0**200)


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


def nearest_point(
    points: Points, *, tolerance: float = 1e-6, clock: Clock | None = None, patience: float = math.inf
) -> Nearest:
    """The point of the hull of `points` that is nearest to the origin, up to a relative gap of `tolerance`.

    Where coordinate descent looks for it, `patience` is after how many epochs it ends if nothing separates.

    >>> from novikoff.prove.separable.points import Points
    >>> nearest = nearest_point(Points.of([[3.0, 1.0], [1.0, 3.0], [5.0, 5.0]], [1, 1, 1], fit_intercept=False))
    >>> nearest.rows.tolist(), nearest.weights.round(6).tolist(), nearest.point[:2].round(6).tolist()
    ([0, 1], [0.5, 0.5], [2.0, 2.0])
    """
    if points.n_points == 0:
        raise ValueError("there are no points, so none is nearest")
    rows = as_rows(points.rows)
    check_finite(rows)
    largest = max(abs(float(rows.entries.max(initial=0.0))), abs(float(rows.entries.min(initial=0.0))))
    scale = _safe_scale(max(largest, abs(points.constant)))
    scaled = points.scaled(rows.as_scipy() if rows.is_sparse else rows.matrix, scale)
    zero_row = points.first_zero(_first_zero(rows))
    search, separator = _search(PointsInSpace(scaled), zero_row, tolerance, clock, patience)
    return Nearest(
        rows=search.rows,
        weights=search.weights,
        point=scaled.combine(search.rows, search.weights) / scale,
        separator=separator,
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
    shortest = int(np.argmin(np.diagonal(G)))
    zero_row = shortest if G[shortest, shortest] <= 0 else None
    search, separator = _search(PointsByProducts(G), zero_row, tolerance, clock)
    weights = np.zeros(len(G))
    weights[search.rows] = search.weights
    return NearestByProducts(weights, separator * root, search.lower / root, search.upper / root, search.settled)


def _search(
    source: Source, zero_row: int | None, tolerance: float, clock: Clock | None, patience: float = math.inf
) -> tuple[Search, Floats]:
    """What is found in the way that suits so many points, and a separator."""
    if zero_row is not None:
        search = of_one_row(source, zero_row)
    elif min(source.n_points, source.dimension) <= MOST_FOR_CUTTING:
        search, _ = cut(source, tolerance, clock)
    else:
        search = descend_by_coordinates(source, tolerance, clock, patience)
    search = with_own_plane(source, search) if search.separator is None else search
    assert search.separator is not None
    return search, search.separator


def _first_zero(rows: Rows) -> int:
    """The first row without an entry other than 0; one more than the last if there is none."""
    is_zero = np.ones(rows.n_rows, dtype=bool)
    if rows.is_sparse:
        lengths = np.diff(rows.matrix.indptr.astype(np.int64))
        is_zero[np.repeat(np.arange(rows.n_rows), lengths)[rows.entries[: rows.n_entries] != 0.0]] = False
    else:
        is_zero = ~np.any(rows.matrix, axis=1)
    return int(np.argmax(is_zero)) if is_zero.any() else rows.n_rows


def _safe_scale(longest: float) -> float:
    if longest == 0 or SAFE_LENGTHS[0] <= longest <= SAFE_LENGTHS[1]:
        return 1.0
    return 2.0 ** min(-math.frexp(longest)[1], 1000)
