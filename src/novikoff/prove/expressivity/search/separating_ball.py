"""Learning a circle: the ball that contains one class and excludes the other (third note, 30.2).

Lift every point x to (x, ||x||^2). A hyperplane <a, x> + c ||x||^2 + d = 0 cuts the paraboloid above a sphere with
centre -a/(2c) and squared radius ||a||^2/(4c^2) - d/c. The note's theorem, "separable by a circle if and only if the
lifted points are separable by a plane", needs a condition: c must be positive. With c < 0 one gets the *outside* of a
circle, and a red ring around blue points separates after lifting though no circle contains only red. So c > 0 is
required by one more point, the unit vector along the lift, which may appear in the proof that there is no ball.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import as_whole, dot
from novikoff.prove.exact.codec import Label
from novikoff.prove.exact.floats import (
    as_integers,
    fraction_root_up,
    lowest_exponent,
    nearest_float,
    power_of_two,
    root_down,
)
from novikoff.prove.expressivity.ball import (
    Ball,
    BallData,
    Labelled,
    NoBall,
    distance_squares,
    read_label,
)
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.search.gordan import Face, Whole, decide


def separating_ball(
    X: ArrayLike, y: ArrayLike, *, inside: Any = None, time_limit: float | None = None
) -> Ball | NoBall:
    """Find a circle, sphere or ball that contains the class `inside` (by default the second of the sorted labels) and
    excludes the other, or prove that there is none; both exact, and both with `check(X, y)`, which proves it again. A
    `NoBall` is false.

    >>> print(separating_ball([[0, 0], [1, 0], [0, 1], [5, 5], [-5, 0]], ["in", "in", "in", "out", "out"], inside="in"))
    The ball around (0.0196078, 0.0196078) with radius 3.00012 holds every 'in' and nothing else.

    A ring around a centre can be excluded, but not contained:

    >>> ring, labels = [[2, 0], [-2, 0], [0, 2], [0, -2], [0, 0]], ["ring"] * 4 + ["centre"]
    >>> bool(separating_ball(ring, labels, inside="centre")), bool(separating_ball(ring, labels, inside="ring"))
    (True, False)
    """
    examples = Labelled.of(X, y)
    chosen = examples.classes[1] if inside is None else read_label(inside)
    if chosen not in examples.classes:
        raise ValueError(f"inside={inside!r} is not one of the labels {list(examples.classes)}")
    held = np.array([label == chosen for label in examples.labels])
    lifted = LiftedFace.of(examples.points, np.where(held, -1, 1).astype(np.int8))
    answer = decide(lifted, Clock(time_limit))
    if answer.vector is not None:
        return _ball(lifted, answer.vector, examples, chosen)
    if answer.obstruction is not None:
        return _no_ball(lifted, answer.obstruction.rows, answer.obstruction.weights, examples, chosen)
    raise TimeoutError("whether a ball separates the classes was not decided in time; raise time_limit")


@dataclass(frozen=True, eq=False)
class LiftedFace(Face):
    """Points on the paraboloid, exactly: integer coordinates X 2^e, their squared length in units of 2^(2e), and 1.

    The unit vector along the lift counts as one more point: its product with a hyperplane is the coefficient c.
    """

    exponent: int = 0
    whole: NDArray[np.object_] = field(default_factory=lambda: np.empty((0, 0), dtype=object))
    squares: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, dtype=object))

    @classmethod
    def of(cls, points: Floats, signs: NDArray[np.int8]) -> "LiftedFace":
        unit = [0] * points.shape[1] + [1, 0]
        with np.errstate(over="ignore"):
            rows = np.hstack([points, np.einsum("ij,ij->i", points, points)[:, None]])
        exponent = lowest_exponent(points)
        whole = as_integers(points, exponent)
        squares = (whole * whole).sum(axis=1)
        return cls(Points(rows, signs, 1.0), [unit], exponent, whole, squares)

    def as_floats(self) -> Points:
        """Return floats with each column scaled to at most 1, so that nothing overflows."""
        rows, _ = self.as_whole(np.arange(len(self.whole) + 1))
        scales = self._scales()
        floats = np.array([[float(Fraction(v, s)) for v, s in zip(row, scales, strict=True)] for row in rows])
        return Points(floats, np.ones(len(floats), dtype=np.int8), 0.0)

    def as_whole(self, which: NDArray[np.int64]) -> tuple[list[Whole], int]:
        rows = []
        for i in which.tolist():
            if i == len(self.whole):
                rows.append(list(self.extra[0]))
            else:
                sign = int(self.points.signs[i])
                rows.append([sign * int(v) for v in self.whole[i]] + [sign * int(self.squares[i]), sign])
        return rows, 0

    def whole_columns(self, which: NDArray[np.int64]) -> list[tuple[int, ...]]:
        rows, _ = self.as_whole(which)
        return [column for column in zip(*rows, strict=True) if any(column)]

    def whole_coordinates(self, direction: Floats) -> Whole:
        """Convert a direction from the units of the floats to those of the integers."""
        ratios = [Fraction(value) / scale for value, scale in zip(direction.tolist(), self._scales(), strict=True)]
        return as_whole(ratios)

    def is_separated_by(self, vector: Whole) -> bool:
        rows, _ = self.as_whole(np.arange(len(self.whole) + 1))
        return all(dot(row, vector) > 0 for row in rows)

    def _scales(self) -> list[int]:
        columns = [*self.whole.T.tolist(), self.squares.tolist()]
        return [max((abs(int(v)) for v in column), default=1) or 1 for column in columns] + [1]


def _ball(face: LiftedFace, vector: Whole, examples: Labelled, inside: Label) -> Ball:
    """Return the ball of a hyperplane, its surface halfway between the farthest inner and the nearest outer point."""
    *a, c, _ = vector
    step = power_of_two(face.exponent)
    center = [Fraction(-v, 2 * c) * step for v in a]
    floats = [nearest_float(v) for v in center]
    # Prefer a centre in floats, if it also separates.
    for candidate in ([Fraction(v) for v in floats] if np.isfinite(floats).all() else center, center):
        distances = list(zip(distance_squares(examples.points, candidate), examples.labels, strict=True))
        farthest = max(distance for distance, label in distances if label == inside)
        nearest = min(distance for distance, label in distances if label != inside)
        if farthest < nearest:
            return Ball.of(candidate, _between(farthest, nearest), inside, BallData.of(examples))
    raise ArithmeticError("a plane that separates the lifted points must cut out a ball that separates the points")


def _between(farthest: Fraction, nearest: Fraction) -> Fraction:
    """Return a squared radius between two squared distances: of a float if one fits, halfway if possible."""
    middle = fraction_root_up(farthest) / 2 + root_down(nearest) / 2
    square = Fraction(middle) ** 2 if math.isfinite(middle) else nearest
    return square if farthest <= square < nearest else (farthest + nearest) / 2


def _no_ball(face: LiftedFace, rows: NDArray[np.int64], weights: Whole, examples: Labelled, inside: Label) -> NoBall:
    """Return the obstruction in the units of the data: the lift is in squares of the unit."""
    n = len(face.whole)
    pairs = sorted(zip(rows.tolist(), weights, strict=True))
    own = [(row, Fraction(weight)) for row, weight in pairs if row < n]
    extra = sum(weight for row, weight in pairs if row == n)
    return NoBall(
        inside,
        tuple(row for row, _ in own),
        tuple(weight for _, weight in own),
        extra * power_of_two(2 * face.exponent),
        BallData.of(examples),
    )
