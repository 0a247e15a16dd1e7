"""Gordan's alternative (1873), decided exactly: a separator or an obstruction; and the points beyond an obstruction.

A positive combination of points that is 0 (an *obstruction*) proves that nothing separates. Its points lie on every
weak separator; all points that do are the *face*. `face.py` finds it, with a weak separator if there are points beyond
(quasi-separable), or with an obstruction that spans all points (overlapping).
"""

import math
from dataclasses import dataclass, field

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
from novikoff.prove.separable.search.wolfe import ExactNearest, nearest_point_exactly

# Coordinates in all up to which rationals decide what floats cannot.
SMALL = 40_000

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

    @classmethod
    def of(cls, exact: ExactNearest, numbers: NDArray[np.int64]) -> "Contradiction":
        """The points with these numbers that carry the origin."""
        order = np.argsort(exact.rows)
        return cls(numbers[np.array(exact.rows)[order]], [exact.weights[place] for place in order])


@dataclass(frozen=True)
class Answer:
    """A vector with a positive product with every point, or an obstruction, or neither: then floats failed.

    If the vector is the nearest point in rationals, `exact` has the points that carry it. `beyond` has the reduced
    faces, if they were found with the obstruction.
    """

    nearest: Nearest | None
    vector: Whole | None = None
    obstruction: Contradiction | None = None
    exact: ExactNearest | None = None
    beyond: "ReducedFaces | None" = None


@dataclass(frozen=True, eq=False)
class Face:
    """Points, followed by any `extra` vectors that count as points, which a subclass represents."""

    points: Points
    extra: list[Whole] = field(default_factory=list)

    def as_floats(self) -> Points:
        return self.points

    def as_whole(self, which: NDArray[np.int64]) -> tuple[list[Whole], int]:
        """Points, by ascending numbers, as whole numbers in units of a power of two, and its exponent."""
        return whole_points(self.points, which)

    def whole_columns(self, which: NDArray[np.int64]) -> list[tuple[int, ...]] | None:
        """The nonzero columns of points, by ascending numbers.

        None if they are so few that more than one combination of the points is 0, or too many to store.
        """
        columns = self.points.columns_of(which)
        if len(columns) + 2 < len(which) or len(columns) * len(which) > MOST_COORDINATES:
            return None
        rows, _ = whole_points(self.points.narrow(which))
        return [column for column in zip(*rows, strict=True) if any(column)]

    def whole_coordinates(self, direction: Floats) -> Whole:
        """A direction in floats as whole numbers."""
        return as_whole_floats(direction)

    def is_separated_by(self, vector: Whole) -> bool:
        return bool(np.all(signs_of_products(self.as_floats(), vector) > 0))

    def vector(self, whole: Whole) -> Whole:
        """A vector with 0 in the place of the constant if there is none."""
        return whole if self.points.constant else [*whole[:-1], 0]


def decide(face: Face, clock: Clock, tolerance: float = 1e-6) -> Answer:
    """Decide strict separability, with an exact proof: by floats, or by rationals if these fail and data are small."""
    clock.tell("searching for a separator")
    nearest = None
    size = face.points.n_points + len(face.extra)
    floats = face.as_floats()
    is_by_rivals = isinstance(face.points, KeslerPoints)
    is_plain = not face.extra and not is_by_rivals
    is_finite = is_plain or bool(np.isfinite(floats.rows.data if floats.is_sparse else floats.rows).all())
    if is_finite and math.isfinite(floats.radius):
        patience = EPOCHS if is_plain else math.inf
        nearest = nearest_point(floats, tolerance=tolerance, clock=clock, patience=patience)
        answer = _from_floats(face, nearest, clock)
        if answer is not None:
            return answer
    if size * face.points.dimension <= SMALL:
        rows, _ = face.as_whole(np.arange(size))
        exact = nearest_point_exactly(rows, clock, None if nearest is None else nearest.rows.tolist())
        if exact is not None and any(exact.direction):
            return Answer(nearest, vector=face.vector(exact.direction), exact=exact)
        if exact is not None:
            return Answer(nearest, obstruction=Contradiction.of(exact, np.arange(size)))
    elif face.points.dimension > LARGEST_COMPLEMENT and is_by_rivals:
        return Answer(nearest)
    elif not face.extra and nearest is not None and nearest.lower <= 0:
        return _by_the_face(face, nearest, clock, tolerance)
    return Answer(nearest)


def _by_the_face(face: Face, nearest: Nearest, clock: Clock, tolerance: float) -> Answer:
    """An obstruction or a separator by the face, after floats gave up; if it finds neither, they continue."""
    found = _at_once(face.points, clock)
    if found is not None and len(found.obstruction.rows):
        return Answer(nearest, obstruction=found.obstruction, beyond=found)
    if found is not None and found.weak_separator is not None:
        return Answer(nearest, vector=found.weak_separator)
    if nearest.settled or isinstance(face.points, KeslerPoints):
        return Answer(nearest)
    nearest = nearest_point(face.as_floats(), tolerance=tolerance, clock=clock)
    return _from_floats(face, nearest, clock) or Answer(nearest)


def _from_floats(face: Face, nearest: Nearest, clock: Clock) -> Answer | None:
    """The answer that a float solution suggests, if it can be proved."""
    if nearest.lower > 0:
        direction = nearest.separator[: face.points.dimension]
        vector = face.vector(face.whole_coordinates(direction))
        return Answer(nearest, vector=vector) if face.is_separated_by(vector) else None
    carriers = np.sort(nearest.rows)
    if len(carriers) == 0:
        return None
    columns = face.whole_columns(carriers)
    weights = None if columns is None else only_null_vector(columns, len(carriers), clock)
    if weights is not None:
        weights = weights if weights[0] > 0 else [-weight for weight in weights]
        if min(weights) > 0:
            return Answer(nearest, obstruction=Contradiction(carriers, weights))
    return _among_few(face, nearest, carriers, clock)


def _among_few(face: Face, nearest: Nearest, carriers: NDArray[np.int64], clock: Clock) -> Answer | None:
    """An obstruction among the points that carry the origin in floats, if they are few."""
    if not nearest.settled or len(carriers) * face.points.dimension > SMALL:
        return None
    exact = nearest_point_exactly(face.as_whole(carriers)[0], clock)
    if exact is None or any(exact.direction):
        return None
    return Answer(nearest, obstruction=Contradiction.of(exact, carriers))


@dataclass(frozen=True)
class ReducedFaces:
    """The result beyond an obstruction: one that spans the face, the points outside its span, and any weak separator.

    `settled` is False if neither a weak separator nor a spanning obstruction could be proved.
    """

    obstruction: Contradiction
    left: NDArray[np.int64]
    weak_separator: Whole | None
    settled: bool


def reduce_faces(points: Points, obstruction: Contradiction, clock: Clock) -> ReducedFaces:
    """Extend an obstruction until a weak separator or a spanning obstruction is found."""
    every, dimension = np.arange(points.n_points), points.dimension
    is_wide = dimension > LARGEST_COMPLEMENT or len(obstruction.rows) * dimension > MOST_COORDINATES
    if isinstance(points, KeslerPoints) and is_wide:
        weak = one_column(points)
        return ReducedFaces(obstruction, every, weak, settled=weak is not None)
    if _spans_the_space(points, obstruction, clock):
        return ReducedFaces(obstruction, every[:0], None, settled=True)
    return _at_once(points, clock) or ReducedFaces(obstruction, every, None, settled=False)


def _spans_the_space(points: Points, obstruction: Contradiction, clock: Clock) -> bool:
    """Whether its points certainly span the space: then no points are beyond."""
    span = spanning(points, obstruction.rows, clock)
    return span is not None and len(span.rows) == points.dimension - (points.constant == 0)


def _at_once(points: Points, clock: Clock) -> ReducedFaces | None:
    """An obstruction that spans the face, and a weak separator if there is one."""
    found = find_face(Scaled.of(points), clock, exactly=points.n_points * points.dimension <= TINY)
    if found is None or found.rows is None:
        return None
    return ReducedFaces(Contradiction(found.rows, found.weights or []), found.beyond, found.weak, settled=True)


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
