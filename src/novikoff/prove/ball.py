"""Learning a circle: the ball that holds one class and keeps the other out (third note, 30.2).

Lift every point x to (x, ||x||^2). A plane <a, x> + c ||x||^2 + d = 0 above cuts the paraboloid in a sphere below, with
centre -a/(2c) and squared radius ||a||^2/(4c^2) - d/c. The note's theorem, "separable by a circle if and only if the
lifted points are separable by a plane", needs one more word: c must be positive. With c < 0 the inside of the plane is
the *outside* of a circle, and a red ring around blue points separates after lifting though no circle holds red. So
c > 0 is demanded as one more point, the unit vector along the lift, and it may appear in the proof that there is no
ball.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.clock import Clock
from novikoff.prove.exact import as_integers, fraction_root_up, lowest_exponent, power_of_two, root_down
from novikoff.prove.faces import Face, Whole, decide
from novikoff.prove.points import Floats, Points


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball with every example of the class `inside` in it, and no other: proved exactly.

    `center` and `radius` are floats; `exact_center` and `exact_radius_square` are the ball of the proof.

    >>> ball = Ball.of([Fraction(1), Fraction(2)], Fraction(25), "red")
    >>> ball.contains([[4.0, 6.0], [9.0, 9.0]]).tolist()
    [True, False]
    """

    center: Floats
    radius: float
    inside: Any
    exact_center: tuple[Fraction, ...]
    exact_radius_square: Fraction

    @classmethod
    def of(cls, center: Sequence[Fraction], radius_square: Fraction, inside: Any) -> "Ball":
        floats = np.array([float(value) for value in center])
        return cls(floats, math.sqrt(radius_square), inside, tuple(center), radius_square)

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Which points lie in the ball or on its surface; exactly, since floats are rationals."""
        points = np.asarray(X, dtype=np.float64)
        return np.array([self._distance_square(x) <= self.exact_radius_square for x in points.tolist()])

    def _distance_square(self, x: list[float]) -> Fraction:
        return sum(((Fraction(v) - c) ** 2 for v, c in zip(x, self.exact_center, strict=True)), Fraction(0))

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        center = ", ".join(f"{value:.6g}" for value in self.center)
        return f"The ball around ({center}) with radius {self.radius:.6g} holds every {self.inside!r} and nothing else."


@dataclass(frozen=True)
class NoBall:
    """No ball holds the class `inside` and keeps the other out: the lifted points cancel.

    The rows, lifted to (x, ||x||^2, 1), each times its label (-1 inside, +1 outside) and its positive weight, add up to
    -`lift_weight` times the unit vector along ||x||^2. A plane with a positive coefficient there would have a positive
    product with the left side and a negative one with the right.
    """

    inside: Any
    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    lift_weight: Fraction

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows))
        return f"No ball holds every {self.inside!r} and nothing else: rows {rows} stand in the way."


def separating_ball(
    X: ArrayLike, y: ArrayLike, *, inside: Any = None, time_limit: float | None = None
) -> Ball | NoBall:
    """The circle, sphere or ball that holds the class `inside` (the second of the sorted labels unless named) and keeps
    the other out, or the proof that there is none; both exact. A `NoBall` is false.

    >>> print(separating_ball([[0, 0], [1, 0], [0, 1], [5, 5], [-5, 0]], ["in", "in", "in", "out", "out"], inside="in"))
    The ball around (0.0196078, 0.0196078) with radius 3.00012 holds every 'in' and nothing else.

    A ring around a centre can be kept out, but not held:

    >>> ring, labels = [[2, 0], [-2, 0], [0, 2], [0, -2], [0, 0]], ["ring"] * 4 + ["centre"]
    >>> bool(separating_ball(ring, labels, inside="centre")), bool(separating_ball(ring, labels, inside="ring"))
    (True, False)
    """
    points = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y)
    _check(points, labels)
    classes = np.unique(labels)
    chosen = classes[1] if inside is None else inside
    if chosen not in classes:
        raise ValueError(f"inside={inside!r} is not one of the labels {classes.tolist()}")
    held = labels == chosen
    lifted = LiftedFace.of(points, np.where(held, -1, 1).astype(np.int8))
    answer = decide(lifted, Clock(time_limit))
    name = chosen.item() if hasattr(chosen, "item") else chosen
    if answer.vector is not None:
        return _ball(lifted, answer.vector, points, held, name)
    if answer.obstruction is not None:
        return _no_ball(lifted, answer.obstruction.rows, answer.obstruction.weights, name)
    raise TimeoutError("whether a ball separates the classes was not decided in time; raise time_limit")


@dataclass(frozen=True, eq=False)
class LiftedFace(Face):
    """Points on the paraboloid, exactly: whole coordinates X 2^e, their squared length in units of 2^(2e), and 1.

    The unit vector along the lift counts as one more point: its product with a plane is the coefficient c.
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
        return cls(Points(rows, signs, 1.0), np.arange(len(points)), None, [unit], exponent, whole, squares)

    def as_floats(self) -> Points:
        """In units in which no coordinate is larger than 1, so that nothing overflows; each column has its own."""
        rows, _ = self.as_whole(np.arange(len(self.left) + 1))
        scales = self._scales()
        floats = np.array([[float(Fraction(v, s)) for v, s in zip(row, scales, strict=True)] for row in rows])
        return Points(floats, np.ones(len(floats), dtype=np.int8), 0.0)

    def as_whole(self, which: NDArray[np.int64]) -> tuple[list[Whole], int]:
        rows = []
        for i in which.tolist():
            if i == len(self.left):
                rows.append(list(self.extra[0]))
            else:
                sign = int(self.points.signs[i])
                rows.append([sign * int(v) for v in self.whole[i]] + [sign * int(self.squares[i]), sign])
        return rows, 0

    def whole_columns(self, which: NDArray[np.int64]) -> list[tuple[int, ...]]:
        rows, _ = self.as_whole(which)
        return [column for column in zip(*rows, strict=True) if any(column)]

    def whole_coordinates(self, direction: Floats) -> Whole:
        """A direction that was found in the float units, in the whole ones."""
        ratios = [Fraction(value) / scale for value, scale in zip(direction.tolist(), self._scales(), strict=True)]
        denominator = math.lcm(*(ratio.denominator for ratio in ratios))
        return [int(ratio * denominator) for ratio in ratios]

    def is_separated_by(self, vector: Whole) -> bool:
        rows, _ = self.as_whole(np.arange(len(self.left) + 1))
        return all(sum(a * b for a, b in zip(row, vector, strict=True)) > 0 for row in rows)

    def _scales(self) -> list[int]:
        columns = [*self.whole.T.tolist(), self.squares.tolist()]
        return [max((abs(int(v)) for v in column), default=1) or 1 for column in columns] + [1]


def _ball(face: LiftedFace, vector: Whole, points: Floats, held: NDArray[np.bool_], inside: Any) -> Ball:
    """The ball below the plane, its surface half-way between the farthest point inside and the nearest outside."""
    *a, c, _ = vector
    step = power_of_two(face.exponent)
    center = [Fraction(-v, 2 * c) * step for v in a]
    # A centre in floats is nicer, if it also separates.
    for candidate in ([Fraction(float(v)) for v in center], center):
        ball = Ball.of(candidate, Fraction(0), inside)
        distances = [ball._distance_square(x) for x in points.tolist()]
        farthest = max(d for d, is_held in zip(distances, held, strict=True) if is_held)
        nearest = min(d for d, is_held in zip(distances, held, strict=True) if not is_held)
        if farthest < nearest:
            return Ball.of(candidate, _between(farthest, nearest), inside)
    raise ArithmeticError("a plane that separates the lifted points must cut out a ball that separates the points")


def _between(farthest: Fraction, nearest: Fraction) -> Fraction:
    """A squared radius between two squared distances: of a float if one fits, half-way if it can."""
    middle = (fraction_root_up(farthest) + root_down(nearest)) / 2
    square = Fraction(middle) ** 2
    return square if farthest <= square < nearest else (farthest + nearest) / 2


def _no_ball(face: LiftedFace, rows: NDArray[np.int64], weights: Whole, inside: Any) -> NoBall:
    """The obstruction in the units of the data: the lift counts squares of the unit."""
    n = len(face.left)
    own = [(int(row), Fraction(weight)) for row, weight in zip(rows, weights, strict=True) if row < n]
    extra = sum(weight for row, weight in zip(rows, weights, strict=True) if row == n)
    return NoBall(
        inside,
        tuple(row for row, _ in own),
        tuple(weight for _, weight in own),
        extra * power_of_two(2 * face.exponent),
    )


def _check(points: Floats, labels: NDArray[Any]) -> None:
    if points.ndim != 2:
        raise ValueError(f"X has {points.ndim} dimension(s); examples are the rows of a matrix")
    if labels.shape != (len(points),):
        raise ValueError(f"y has shape {labels.shape}, but X has {len(points)} rows: one label a row is needed")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise ValueError(f"X contains NaN or infinity in row {row}, column {column}; impute or drop it first")
    if len(np.unique(labels)) != 2:
        raise ValueError(f"y has {len(np.unique(labels))} classes; a ball tells two apart")
