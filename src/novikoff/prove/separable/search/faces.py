"""Exact verdicts: strict separation or an obstruction, and, where there is an obstruction, what lies beyond it.

A positive combination of points that is 0 (an *obstruction*) proves that nothing separates. Its points lie on every
weak separator, so the question goes on in the orthogonal complement of their span, with the points that are left: that
is facial reduction. It ends, after at most as many rounds as the space has dimensions, with a weak separator
(quasi-separable) or with an obstruction that spans all points (overlapping).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole, dot, joined_weights, null_vectors, only_null_vector
from novikoff.prove.exact.clock import Clock
from novikoff.prove.exact.floats import scaled_floats
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import signs_of_many_products, signs_of_products, whole_points
from novikoff.prove.separable.proofs import as_whole_floats
from novikoff.prove.separable.search.by_one_column import one_column
from novikoff.prove.separable.search.distinct import Scaled
from novikoff.prove.separable.search.exact_hull import ExactNearest, nearest_point_exactly
from novikoff.prove.separable.search.face import find_face
from novikoff.prove.separable.search.hull import Nearest, nearest_point
from novikoff.prove.separable.spanning import spanning

# Up to so many coordinates in all, a question that floats cannot decide is answered in rationals.
SMALL = 40_000

# How often a face is reduced in a space of more dimensions than this: never. Its complement would have to be written
# out.
LARGEST_COMPLEMENT = 2_000

# Coordinates that are written out in whole numbers, and in floats.
MOST_COORDINATES = 5_000_000
MOST_FLOATS = 50_000_000
# Beyond so many coordinates in all, linear programs find the whole face.
SMALL_FACE = 15_000
# Epochs of coordinate descent after which, if nothing separates, an obstruction is more likely.
EPOCHS = 50

Whole = list[int]


@dataclass(frozen=True)
class Obstruction:
    """Points and positive whole numbers whose combination is 0."""

    rows: NDArray[np.int64]
    weights: Whole


@dataclass(frozen=True)
class Answer:
    """A vector with a positive product with every point, or an obstruction, or neither: then floats could not tell.

    If the vector is that of the nearest point in rationals, `exact` is what carries that. If what lies beyond the
    obstruction was found with it, that is `beyond`.
    """

    nearest: Nearest | None
    vector: Whole | None = None
    obstruction: Obstruction | None = None
    exact: ExactNearest | None = None
    beyond: "ReducedFaces | None" = None

    def widened(self, face: "Face") -> "Answer":
        """The answer about a face, given the one without its columns of zeros."""
        columns, dimension = face.points.columns_of(face.left), face.points.dimension
        nearest = self.nearest
        if nearest is not None:
            point, separator = np.zeros((2, dimension))
            point[[*columns, -1]], separator[[*columns, -1]] = nearest.point, nearest.separator
            nearest = replace(nearest, point=point, separator=separator)
        vector = None if self.vector is None else widened(self.vector, columns, dimension)
        beyond = self.beyond
        if beyond is not None and beyond.weak_separator is not None:
            beyond = replace(beyond, weak_separator=widened(beyond.weak_separator, columns, dimension))
        return Answer(nearest, vector, self.obstruction, self.exact, beyond)


@dataclass(frozen=True, eq=False)
class Face:
    """Some of the points, seen in the orthogonal complement of others; `basis` spans it (None: the whole space).

    `extra` are vectors that count as points, too: unit vectors, for questions about a coordinate. They come last.
    """

    points: Points
    left: NDArray[np.int64]
    basis: list[Whole] | None = None
    extra: list[Whole] = field(default_factory=list)

    @property
    def dimension(self) -> int:
        return self.points.dimension if self.basis is None else len(self.basis)

    def as_floats(self) -> Points:
        """The points in coordinates of the basis, each of its vectors divided by its largest entry."""
        if self.basis is None and not self.extra and len(self.left) == self.points.n_points:
            return self.points
        if self.basis is None:
            rows, extra = self.points.take(self.left), np.array(self.extra, dtype=np.float64)
        else:
            units = np.array([scaled_floats(vector) for vector in self.basis])
            part = self.points.part(self.left)
            with np.errstate(all="ignore"):
                rows = np.stack([part.products(unit) for unit in units], axis=1)
            extra = np.array(self.extra, dtype=np.float64).reshape(-1, self.points.dimension) @ units.T
        if self.extra:
            rows = np.vstack([rows, extra])
        return Points(rows, np.ones(len(rows), dtype=np.int8), 0.0)

    def as_whole(self, which: NDArray[np.int64]) -> tuple[list[Whole], int]:
        """Points, in ascending order, in coordinates of the basis, exactly, in units of a power of two."""
        real = which[which < len(self.left)]
        rows, exponent = whole_points(self.points, self.left[real]) if len(real) else ([], 0)
        shift = max(exponent, 0)
        rows = [[value << shift for value in row] for row in rows]
        ones = 1 << -min(exponent, 0)
        rows += [[value * ones for value in self.extra[i - len(self.left)]] for i in which[which >= len(self.left)]]
        if self.basis is not None:
            rows = [[dot(row, vector) for vector in self.basis] for row in rows]
        return rows, min(exponent, 0)

    def whole_columns(self, which: NDArray[np.int64]) -> list[tuple[int, ...]] | None:
        """The coordinates of points, in ascending order, that are not all 0, one after the other.

        None if there are so few that more than one combination of the points is 0, or too many to be written out.
        """
        is_plain = self.basis is None and not self.extra
        columns = self.points.columns_of(self.left[which]) if is_plain else range(self.dimension)
        if len(columns) + 2 < len(which) or len(columns) * len(which) > MOST_COORDINATES:
            return None
        rows, _ = whole_points(self.points.narrow(self.left[which])) if is_plain else self.as_whole(which)
        return [column for column in zip(*rows, strict=True) if any(column)]

    def without_columns_of_zeros(self) -> "Face":
        """The same question in the columns that matter; this one itself if that makes no difference."""
        if self.basis is not None or self.extra or not self.points.is_sparse:
            return self
        columns = self.points.columns_of(self.left)
        few = self.points.in_columns(columns)
        return self if few is self.points else replace(self, points=few)

    def outside(self, coordinates: Sequence[int]) -> Whole:
        """A vector given in coordinates of the basis, in the whole space."""
        vector = list(coordinates)
        if self.basis is not None:
            vector = [dot(coordinates, column) for column in zip(*self.basis, strict=True)]
        # Without a constant every point is 0 in the last place, and what stands there is of no use but to be refused.
        return vector if self.points.constant else [*vector[:-1], 0]

    def is_separated_by(self, vector: Whole) -> bool:
        if not all(dot(unit, vector) > 0 for unit in self.extra):
            return False
        return bool(np.all(signs_of_products(self.points.part(self.left), vector) > 0))

    def whole_coordinates(self, direction: Floats) -> Whole:
        """A direction that was found in floats, in whole multiples of the basis."""
        if self.basis is None:
            return as_whole_floats(direction)
        pairs = zip(direction.tolist(), self.basis, strict=True)
        return as_whole([Fraction(value) / _largest(vector) for value, vector in pairs])


def decide(face: Face, clock: Clock, tolerance: float = 1e-6) -> Answer:
    """Strictly separable or not, proved exactly; by floats first, by rationals if these fail and the data are small."""
    clock.tell("looking for a separator")
    narrow = face.without_columns_of_zeros()
    return _decide(face, clock, tolerance) if narrow is face else _decide(narrow, clock, tolerance).widened(face)


def _decide(face: Face, clock: Clock, tolerance: float) -> Answer:
    nearest = None
    size = len(face.left) + len(face.extra)
    if size * face.dimension > MOST_FLOATS and (face.basis is not None or face.extra):
        return Answer(None)
    floats = face.as_floats()
    is_plain = face.basis is None and not face.extra and not face.points.is_by_rivals
    is_finite = is_plain or bool(np.isfinite(floats.rows.data if floats.is_sparse else floats.rows).all())
    if is_finite and math.isfinite(floats.radius):
        patience = EPOCHS if is_plain else math.inf
        nearest = nearest_point(floats, tolerance=tolerance, clock=clock, patience=patience)
        answer = _from_floats(face, nearest, clock)
        if answer is not None:
            return answer
    if size * face.dimension <= SMALL:
        rows, _ = face.as_whole(np.arange(size))
        exact = nearest_point_exactly(rows, clock, None if nearest is None else nearest.rows.tolist())
        if exact is not None and any(exact.direction):
            return Answer(nearest, vector=face.outside(exact.direction), exact=exact)
        if exact is not None:
            order = np.argsort(exact.rows)
            weights = [exact.weights[place] for place in order]
            return Answer(nearest, obstruction=Obstruction(np.array(exact.rows)[order], weights))
    elif face.dimension > LARGEST_COMPLEMENT and face.points.is_by_rivals:
        return Answer(nearest)
    elif face.basis is None and not face.extra and nearest is not None and nearest.lower <= 0:
        return _by_the_face(face, nearest, clock, tolerance)
    return Answer(nearest)


def _by_the_face(face: Face, nearest: Nearest, clock: Clock, tolerance: float) -> Answer:
    """An obstruction, or a separator, where floats lost patience; if neither is found, they go on."""
    found = _at_once(face.points.part(face.left), clock)
    if found is not None and len(found.obstruction.rows):
        return Answer(nearest, obstruction=found.obstruction, beyond=found)
    if found is not None and found.weak_separator is not None:
        return Answer(nearest, vector=found.weak_separator)
    if nearest.settled or face.points.is_by_rivals:
        return Answer(nearest)
    nearest = nearest_point(face.as_floats(), tolerance=tolerance, clock=clock)
    return _from_floats(face, nearest, clock) or Answer(nearest)


def _from_floats(face: Face, nearest: Nearest, clock: Clock) -> Answer | None:
    """What a float solution suggests, if it can be proved."""
    if nearest.lower > 0:
        direction = nearest.separator[: face.dimension]
        vector = face.outside(face.whole_coordinates(direction))
        return Answer(nearest, vector=vector) if face.is_separated_by(vector) else None
    carriers = np.sort(nearest.rows)
    if len(carriers) == 0:
        return None
    columns = face.whole_columns(carriers)
    weights = None if columns is None else only_null_vector(columns, len(carriers), clock)
    if weights is not None:
        weights = weights if weights[0] > 0 else [-weight for weight in weights]
        if min(weights) > 0:
            return Answer(nearest, obstruction=Obstruction(carriers, weights))
    return _among_few(face, nearest, carriers, clock)


def _among_few(face: Face, nearest: Nearest, carriers: NDArray[np.int64], clock: Clock) -> Answer | None:
    """An obstruction of some of the points that floats believe to carry the origin, if they are few."""
    if not nearest.settled or len(carriers) * face.dimension > SMALL:
        return None
    exact = nearest_point_exactly(face.as_whole(carriers)[0], clock)
    if exact is None or any(exact.direction):
        return None
    order = np.argsort(exact.rows)
    rows, weights = carriers[np.array(exact.rows)[order]], [exact.weights[place] for place in order]
    return Answer(nearest, obstruction=Obstruction(rows, weights))


@dataclass(frozen=True)
class ReducedFaces:
    """What facial reduction found: the whole obstruction, what it does not span, and a weak separator if there is one.

    `settled` is False if neither a weak separator nor a spanning obstruction could be proved.
    """

    obstruction: Obstruction
    left: NDArray[np.int64]
    weak_separator: Whole | None
    settled: bool


def reduce_faces(points: Points, obstruction: Obstruction, clock: Clock) -> ReducedFaces:
    """Go on beyond an obstruction until a weak separator or a spanning obstruction is found."""
    columns = points.columns_of(np.arange(points.n_points))
    is_wide = len(columns) >= LARGEST_COMPLEMENT or len(obstruction.rows) * (len(columns) + 1) > MOST_COORDINATES
    if isinstance(points, KeslerPoints) and is_wide:
        weak = one_column(points)
        return ReducedFaces(obstruction, np.arange(points.n_points), weak, settled=weak is not None)
    if _spans_the_space(points, obstruction, clock):
        return ReducedFaces(obstruction, np.arange(0), None, settled=True)
    if points.n_points * points.dimension > SMALL_FACE:
        at_once = _at_once(points, clock, obstruction.rows)
        if at_once is not None:
            return at_once
    if is_wide:
        return ReducedFaces(obstruction, np.arange(points.n_points), None, settled=False)
    few = points.in_columns(columns)
    beyond = _one_by_one(few, obstruction, clock)
    if few is points or beyond.weak_separator is None:
        return beyond
    return replace(beyond, weak_separator=widened(beyond.weak_separator, columns, points.dimension))


def _one_by_one(points: Points, obstruction: Obstruction, clock: Clock) -> ReducedFaces:
    """One obstruction after the other, each in the complement of those before it."""
    while True:
        rows, _ = whole_points(points, obstruction.rows)
        complement = null_vectors(rows, points.dimension, clock)
        left = np.arange(points.n_points) if complement is None else _outside(points, complement, clock)
        if complement is None or clock.is_over():
            return ReducedFaces(obstruction, left, None, settled=False)
        if len(left) == 0:
            return ReducedFaces(obstruction, left, None, settled=True)
        answer = decide(Face(points, left, complement), clock)
        if answer.vector is not None:
            return ReducedFaces(obstruction, left, answer.vector, settled=True)
        joined = None
        if answer.obstruction is not None:
            found = Obstruction(left[answer.obstruction.rows], answer.obstruction.weights)
            joined = _joined(points, obstruction, found, clock)
        if joined is None:
            return ReducedFaces(obstruction, left, None, settled=False)
        obstruction = joined


def _outside(points: Points, normals: list[Whole], clock: Clock) -> NDArray[np.int64]:
    """The points that are not orthogonal to all normals; only some, if there is no time."""
    is_outside = np.zeros(points.n_points, dtype=bool)
    for signs in signs_of_many_products(points, normals):
        is_outside |= signs != 0
        if is_outside.all() or clock.is_over():
            break
    return np.flatnonzero(is_outside)


def _spans_the_space(points: Points, obstruction: Obstruction, clock: Clock) -> bool:
    """Whether its points are certain to span everything: then nothing lies beyond."""
    span = spanning(points, obstruction.rows, clock)
    return span is not None and len(span.rows) == points.dimension - (points.constant == 0)


def _at_once(points: Points, clock: Clock, known: NDArray[np.int64] | None = None) -> ReducedFaces | None:
    """The whole obstruction, and a weak separator if there is one. Points of an obstruction may be known."""
    columns = points.columns_of(np.arange(points.n_points))
    few = points.in_columns(columns)
    found = find_face(Scaled.of(few), clock, known=known)
    if found is None or found.rows is None:
        return None
    weak = found.weak if few is points or found.weak is None else widened(found.weak, columns, points.dimension)
    return ReducedFaces(Obstruction(found.rows, found.weights or []), found.beyond, weak, settled=True)


def _joined(points: Points, face: Obstruction, found: Obstruction, clock: Clock) -> Obstruction | None:
    """One obstruction of a face and of what vanishes in its complement; None if that takes too long."""
    every = np.concatenate([face.rows, found.rows])
    if len(every) * points.dimension > MOST_COORDINATES:
        return None
    rows, _ = whole_points(points, every)
    own, new = rows[: len(face.rows)], rows[len(face.rows) :]
    weights = joined_weights(own, face.weights, new, found.weights, clock)
    return None if weights is None else Obstruction(every, weights)


def widened(vector: Whole, columns: NDArray[np.int64], dimension: int) -> Whole:
    """A vector that was found in some columns, and the constant's, in the whole space."""
    wide = [0] * dimension
    for column, value in zip(columns.tolist(), vector[:-1], strict=True):
        wide[column] = value
    wide[-1] = vector[-1]
    return wide


def _largest(vector: Sequence[int]) -> int:
    return max(map(abs, vector))
