"""Exact verdicts: strict separation or an obstruction, and, where there is an obstruction, what lies beyond it.

A positive combination of points that is 0 (an *obstruction*) proves that nothing separates. Its points lie on every
weak separator, so the question goes on in the orthogonal complement of their span, with the points that are left: that
is facial reduction. It ends, after at most as many rounds as the space has dimensions, with a weak separator
(quasi-separable) or with an obstruction that spans all points (overlapping).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.algebra import as_whole, null_vectors, solution
from novikoff.prove.hull import Nearest, nearest_point
from novikoff.prove.points import Floats, Points
from novikoff.prove.products import signs_of_products, whole_points
from novikoff.prove.proofs import as_whole_floats
from novikoff.prove.rational import nearest_point_exactly

# Up to so many coordinates in all, a question that floats cannot decide is answered in rationals.
SMALL = 40_000

# How often a face is reduced in a space of more dimensions than this: never. Its complement would have to be written
# out.
LARGEST_COMPLEMENT = 2_000

Whole = list[int]


@dataclass(frozen=True)
class Obstruction:
    """Points and positive whole numbers whose combination is 0."""

    rows: NDArray[np.int64]
    weights: Whole


@dataclass(frozen=True)
class Answer:
    """A vector with a positive product with every point, or an obstruction, or neither: then floats could not tell."""

    nearest: Nearest | None
    vector: Whole | None = None
    obstruction: Obstruction | None = None


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
            units = np.array([[float(Fraction(v, _largest(vector))) for v in vector] for vector in self.basis])
            rows = np.stack([self.points.products(unit)[self.left] for unit in units], axis=1)
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
            rows = [[_dot(row, vector) for vector in self.basis] for row in rows]
        return rows, min(exponent, 0)

    def whole_columns(self, which: NDArray[np.int64]) -> list[tuple[int, ...]]:
        """The coordinates of points, in ascending order, that are not all 0, one after the other."""
        rows = (
            self.as_whole(which)[0]
            if self.basis or self.extra
            else whole_points(self.points.narrow(self.left[which]))[0]
        )
        return [column for column in zip(*rows, strict=True) if any(column)]

    def outside(self, coordinates: Sequence[int]) -> Whole:
        """A vector given in coordinates of the basis, in the whole space."""
        if self.basis is None:
            return list(coordinates)
        return [_dot(coordinates, column) for column in zip(*self.basis, strict=True)]

    def is_separated_by(self, vector: Whole) -> bool:
        if not all(_dot(unit, vector) > 0 for unit in self.extra):
            return False
        return bool(np.all(signs_of_products(self.points.part(self.left), vector) > 0))

    def whole_coordinates(self, direction: Floats) -> Whole:
        """A direction that was found in floats, in whole multiples of the basis."""
        if self.basis is None:
            return as_whole_floats(direction)
        pairs = zip(direction.tolist(), self.basis, strict=True)
        return as_whole([Fraction(value) / _largest(vector) for value, vector in pairs])


def decide(face: Face, deadline: float, tolerance: float = 1e-6) -> Answer:
    """Strictly separable or not, proved exactly; by floats first, by rationals if these fail and the data are small."""
    nearest = None
    size = len(face.left) + len(face.extra)
    floats = face.as_floats()
    if math.isfinite(floats.radius):
        nearest = nearest_point(floats, tolerance=tolerance, deadline=deadline)
        answer = _from_floats(face, nearest)
        if answer is not None:
            return answer
    if size * face.dimension <= SMALL:
        rows, _ = face.as_whole(np.arange(size))
        exact = nearest_point_exactly(rows, deadline)
        if exact is not None and any(exact.direction):
            return Answer(nearest, vector=face.outside(exact.direction))
        if exact is not None:
            order = np.argsort(exact.rows)
            weights = [exact.weights[place] for place in order]
            return Answer(nearest, obstruction=Obstruction(np.array(exact.rows)[order], weights))
    return Answer(nearest)


def _from_floats(face: Face, nearest: Nearest) -> Answer | None:
    """What a float solution suggests, if it can be proved."""
    if nearest.lower > 0:
        direction = nearest.separator[: face.dimension]
        vector = face.outside(face.whole_coordinates(direction))
        return Answer(nearest, vector=vector) if face.is_separated_by(vector) else None
    if len(nearest.rows) > face.dimension + 1:
        return None
    carriers = np.sort(nearest.rows)
    combinations = null_vectors(face.whole_columns(carriers), len(carriers))
    if len(combinations) != 1:
        return None
    weights = combinations[0] if combinations[0][0] > 0 else [-weight for weight in combinations[0]]
    if min(weights) <= 0:
        return None
    return Answer(nearest, obstruction=Obstruction(carriers, weights))


@dataclass(frozen=True)
class Beyond:
    """What facial reduction found: the whole obstruction, what it does not span, and a weak separator if there is one.

    `settled` is False if neither a weak separator nor a spanning obstruction could be proved.
    """

    obstruction: Obstruction
    left: NDArray[np.int64]
    weak_separator: Whole | None
    settled: bool


def reduce_faces(points: Points, obstruction: Obstruction, deadline: float) -> Beyond:
    """Go on beyond an obstruction until a weak separator or a spanning obstruction is found."""
    everything = np.arange(points.n_points)
    if points.dimension > LARGEST_COMPLEMENT:
        return Beyond(obstruction, everything, None, settled=False)
    while True:
        rows, _ = whole_points(points, obstruction.rows)
        complement = null_vectors(rows, points.dimension)
        left = _outside_the_span(points, complement, deadline)
        if left is None:
            return Beyond(obstruction, everything, None, settled=False)
        if len(left) == 0:
            return Beyond(obstruction, left, None, settled=True)
        face = Face(points, left, complement)
        answer = decide(face, deadline)
        if answer.vector is not None:
            return Beyond(obstruction, left, answer.vector, settled=True)
        if answer.obstruction is None or time.monotonic() > deadline:
            return Beyond(obstruction, left, None, settled=False)
        found = Obstruction(left[answer.obstruction.rows], answer.obstruction.weights)
        obstruction = _joined(points, obstruction, found)


def _outside_the_span(points: Points, complement: list[Whole], deadline: float) -> NDArray[np.int64] | None:
    """The points that have a product with some vector of the complement; None if that takes too long."""
    outside = np.zeros(points.n_points, dtype=bool)
    for normal in complement:
        if time.monotonic() > deadline:
            return None
        outside |= signs_of_products(points, normal) != 0
    return np.flatnonzero(outside)


def _joined(points: Points, face: Obstruction, found: Obstruction) -> Obstruction:
    """One obstruction of a face and of what vanishes in its complement.

    The sum of what was found lies in the span of the face: cancel it there, and add so much of the face's own
    combination, which is 0, that every weight is positive.
    """
    every = np.concatenate([face.rows, found.rows])
    rows, _ = whole_points(points, every)
    own, new = rows[: len(face.rows)], rows[len(face.rows) :]
    total = [-_dot(found.weights, column) for column in zip(*new, strict=True)]
    correction = solution(own, total)
    if correction is None:
        raise ArithmeticError("a combination that vanishes in the complement of a face must lie in its span")
    lift = max(-c / w for c, w in zip(correction, face.weights, strict=True))
    times = max(math.floor(lift), 0) + 1
    weights = [c + times * w for c, w in zip(correction, face.weights, strict=True)]
    return Obstruction(every, as_whole([*weights, *map(Fraction, found.weights)]))


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(left * right for left, right in zip(a, b, strict=True))


def _largest(vector: Sequence[int]) -> int:
    return max(map(abs, vector))
