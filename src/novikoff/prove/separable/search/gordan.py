"""Gordan's alternative (1873), decided exactly: a separator or an obstruction; and the points beyond an obstruction.

A positive combination of points that is 0 (an *obstruction*) proves that nothing separates. Its points lie on every
weak separator; all points that do are the *face*. `face.py` finds it, with a weak separator if there are points beyond
(quasi-separable), or with an obstruction that spans all points (overlapping).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import only_null_vector
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import signs_of_products, whole_points
from novikoff.prove.separable.proofs import as_whole_floats, spanning
from novikoff.prove.separable.search.cutting_planes import Nearest
from novikoff.prove.separable.search.face import find_face
from novikoff.prove.separable.search.minimum_norm import nearest_point
from novikoff.prove.separable.search.scaled import Scaled

# The most dimensions in which the complement of a face is computed.
LARGEST_COMPLEMENT = 2_000

# The most coordinates stored as whole numbers.
MOST_COORDINATES = 5_000_000
# Coordinates in all up to which a face is found in whole numbers alone, which is faster than loading SciPy.
TINY = 2_000
# Epochs of coordinate descent after which, if nothing separates, an obstruction is more likely.
EPOCHS = 50

Whole = list[int]


@dataclass(frozen=True)
class Contradiction:
    """Points and positive whole numbers whose combination is 0."""

    rows: NDArray[np.int64]
    weights: Whole


@dataclass(frozen=True)
class Answer:
    """A vector with a positive product with every point, or an obstruction, or neither: then floats failed.

    If it is `settled`, the obstruction spans the face, and the points `left` are beyond it; if there are any, there is
    a `weak_separator`, which has a positive product with these and 0 with all others.
    """

    nearest: Nearest | None = None
    vector: Whole | None = None
    obstruction: Contradiction | None = None
    left: NDArray[np.int64] | None = None
    weak_separator: Whole | None = None
    settled: bool = False


def decide(points: Points, clock: Clock, tolerance: float = 1e-6) -> Answer:
    """Decide strict separability, with an exact proof: by the nearest point of the hull, or by the face."""
    clock.tell("searching for a separator")
    nearest, is_by_rivals = None, isinstance(points, KeslerPoints)
    if math.isfinite(points.radius):
        patience = math.inf if is_by_rivals else EPOCHS
        nearest = nearest_point(points, tolerance=tolerance, clock=clock, patience=patience)
        answer = _from_floats(points, nearest, clock)
        if answer is not None:
            return answer
    if points.dimension > LARGEST_COMPLEMENT and is_by_rivals:
        return Answer(nearest)
    found = _at_once(points, clock)
    if found is not None and (found.obstruction is not None or found.vector is not None):
        return replace(found, nearest=nearest)
    if nearest is None or nearest.settled or is_by_rivals:
        return Answer(nearest)
    nearest = nearest_point(points, tolerance=tolerance, clock=clock)  # without the limit of its patience
    return _from_floats(points, nearest, clock) or Answer(nearest)


def _from_floats(points: Points, nearest: Nearest, clock: Clock) -> Answer | None:
    """The answer that a float solution suggests, if it can be proved."""
    if nearest.lower > 0:
        vector = as_whole_floats(nearest.separator)
        vector[-1] *= int(points.constant != 0)
        return Answer(nearest, vector=vector) if np.all(signs_of_products(points, vector) > 0) else None
    carriers = np.sort(nearest.rows)
    n_columns = len(points.columns_of(carriers))
    is_hopeless = n_columns + 2 < len(carriers) and not nearest.settled  # many combinations of them are 0
    if is_hopeless or n_columns * len(carriers) > MOST_COORDINATES or len(carriers) == 0:
        return None
    found = cancelling(carriers, whole_points(points.narrow(carriers))[0], clock)
    return None if found is None else Answer(nearest, obstruction=found)


def cancelling(numbers: NDArray[np.int64], rows: Sequence[Whole], clock: Clock) -> Contradiction | None:
    """The obstruction of points that carry the origin in floats, given as whole numbers."""
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    weights = only_null_vector(columns, len(rows), clock)
    if weights is None:
        return None
    weights = weights if weights[0] > 0 else [-weight for weight in weights]
    return Contradiction(numbers, weights) if min(weights) > 0 else None


def reduce_faces(points: Points, obstruction: Contradiction, clock: Clock) -> Answer:
    """Extend an obstruction until a weak separator or a spanning obstruction is found."""
    every, dimension = np.arange(points.n_points), points.dimension
    is_wide = dimension > LARGEST_COMPLEMENT or len(obstruction.rows) * dimension > MOST_COORDINATES
    if isinstance(points, KeslerPoints) and is_wide:
        weak = one_column(points)
        return Answer(obstruction=obstruction, left=every, weak_separator=weak, settled=weak is not None)
    span = spanning(points, obstruction.rows, clock)
    if span is not None and len(span.rows) == dimension - (points.constant == 0):  # nothing can be beyond
        return Answer(obstruction=obstruction, left=every[:0], settled=True)
    return _at_once(points, clock) or Answer(obstruction=obstruction, left=every)


def _at_once(points: Points, clock: Clock) -> Answer | None:
    return of_face(Scaled.of(points), clock, exactly=points.n_points * points.dimension <= TINY)


def of_face(rows: Scaled, clock: Clock, exactly: bool) -> Answer | None:
    """A separator; or an obstruction that spans the face, and a weak separator if there is one. None if there is no
    time, or `exactly` is False and floats fail."""
    found = find_face(rows, clock, exactly=exactly)
    if found is None or found.rows is None:
        return None
    if len(found.beyond) == rows.n_points:
        return Answer(vector=found.weak)
    obstruction = Contradiction(found.rows, found.weights or [])
    return Answer(obstruction=obstruction, left=found.beyond, weak_separator=found.weak, settled=True)


# -- by one column ----------------------------------------------------------------------------------------------------

# If no value of a column in one class is larger than any in the other classes, then a threshold separates that class
# weakly from all others: its score is the threshold minus the column, and 0 is that of the others. In images, most
# columns at the edge qualify: they are 0 in some class, and never negative.


def one_column(points: KeslerPoints) -> list[int] | None:
    """A weak separator from one column, or None if there is none.

    Of all such columns, it is the one in which the class is farthest from the others on average: if the points are a
    sample, it is the most likely to hold for all points.

    >>> points = KeslerPoints.of_places(np.array([[0.0], [2.0], [3.0]]), np.array([0, 1, 2]), 3, True)
    >>> one_column(points)
    [-1, 0, 0, 0, 0, 0, 0]
    """
    best, found = -1.0, None
    if points.width == 1:
        return None
    lows, highs, means = _by_class(points)
    for own in np.unique(points.labels).tolist():
        others = np.arange(points.n_classes) != own
        low, high = lows[others].min(axis=0), highs[others].max(axis=0)
        apart = np.abs(np.nanmean(means[others], axis=0) - means[own])
        # The column, and its negative.
        for sign, ends in ((-1.0, (lows[own], highs[own], low, high)), (1.0, (-highs[own], -lows[own], -high, -low))):
            fits, thresholds = _thresholds(*ends, has_bias=points.bias != 0.0)
            column = int(np.argmax(np.where(fits, apart, -1.0)))
            if fits[column] and apart[column] > best:
                W = np.zeros((points.n_classes, points.width))
                W[own, column], W[own, -1] = sign, thresholds[column] / (points.bias or 1.0)
                best, found = float(apart[column]), [*as_whole_floats(W.ravel()), 0]
    return found


def _thresholds(
    lowest: Floats, highest: Floats, low: Floats, high: Floats, has_bias: bool
) -> tuple[NDArray[np.bool_], Floats]:
    """In which columns a class, from lowest to highest, is not above the others, from low to high, and the threshold:
    0 if possible."""
    at_zero = (highest <= 0) & (low >= 0)
    thresholds = np.where(at_zero, 0.0, highest)
    fits = (highest <= low) if has_bias else at_zero
    return fits & ((lowest < thresholds) | (high > thresholds)), thresholds


def _by_class(points: KeslerPoints) -> tuple[Floats, Floats, Floats]:
    """The minimum, the maximum and the mean of every class in every column."""
    table = np.full((points.n_classes, points.width - 1, 3), [np.inf, -np.inf, np.nan]).transpose(2, 0, 1)
    for own in np.unique(points.labels).tolist():
        rows = points.rows[points.labels == own]
        low, high = rows.min(axis=0), rows.max(axis=0)
        is_sparse = hasattr(rows, "tocsr")
        table[0, own], table[1, own] = (low.toarray(), high.toarray()) if is_sparse else (low, high)
        table[2, own] = rows.mean(axis=0, dtype=np.float64)
    return table[0], table[1], table[2]
