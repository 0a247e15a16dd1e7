"""Learning a circle: the ball that contains one class and excludes the other (third note, 30.2).

Lift every point x to (x, ||x||^2). A hyperplane <a, x> + c ||x||^2 + d = 0 cuts the paraboloid above a sphere with
centre -a/(2c) and squared radius ||a||^2/(4c^2) - d/c. The note's theorem, "separable by a circle if and only if the
lifted points are separable by a plane", needs a condition: c must be positive. With c < 0 one gets the *outside* of a
circle, and a red ring around blue points separates after lifting though no circle contains only red. So c > 0 is
required by one more point, the unit vector along the lift, which may appear in the proof that there is no ball.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.expressivity.ball import (
    Ball,
    BallClaims,
    BallData,
    Labelled,
    NoBall,
    NoBallWitnesses,
    distance_squares,
)
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search.gordan import Answer, Contradiction, Whole, cancelling, of_face
from novikoff.prove.separable.search.minimum_norm import nearest_point
from novikoff.prove.separable.search.scaled import ScaledRows


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
    if inside is not None and inside not in examples.classes:
        raise ValueError(f"inside={inside!r} is not one of the labels {list(examples.classes)}")
    chosen = examples.classes[1 if inside is None else examples.classes.index(inside)]
    signs = np.array([-1 if label == chosen else 1 for label in examples.labels], dtype=object)
    # In integers: coordinates in units of a power of two, their squared length in units of its square, and 1. The last
    # row is the unit vector along the lift: its product with a hyperplane is the coefficient c.
    exponent = lowest_exponent(examples.points)
    whole = as_integers(examples.points, exponent)
    lifted = np.column_stack([whole, (whole * whole).sum(axis=1), np.ones(len(whole), dtype=object)])
    answer = _decided([*(lifted * signs[:, None]).tolist(), [0] * whole.shape[1] + [1, 0]], Clock(time_limit))
    if answer.vector is not None:
        return _ball(answer.vector, power_of_two(exponent), examples, chosen)
    if answer.obstruction is not None:
        return _no_ball(answer.obstruction, power_of_two(exponent), examples, chosen)
    raise TimeoutError("whether a ball separates the classes was not decided in time; raise time_limit")


def _decided(rows: list[Whole], clock: Clock) -> Answer:
    """A vector with a positive product with every row, or an obstruction; neither if time runs out."""
    # Each column is scaled to at most 1, so that floats do not overflow.
    scales = [max(map(abs, column)) or 1 for column in zip(*rows, strict=True)]
    floats = np.array([[float(Fraction(v, s)) for v, s in zip(row, scales, strict=True)] for row in rows])
    nearest = nearest_point(Points(floats, np.ones(len(rows), dtype=np.int8), 0.0), clock=clock)
    if nearest.lower > 0:
        separator = nearest.separator[: len(scales)].tolist()
        vector = as_whole([Fraction(value) / scale for value, scale in zip(separator, scales, strict=True)])
        if all(dot(row, vector) > 0 for row in rows):
            return Answer(vector=vector)
    carriers = np.sort(nearest.rows)
    found = cancelling(carriers, [rows[row] for row in carriers.tolist()], clock)
    if found is not None:
        return Answer(obstruction=found)
    return of_face(ScaledRows.of_rows(WholeMatrix.of_table(rows, len(scales))), clock, exactly=True) or Answer()


def _ball(vector: Whole, unit: Fraction, examples: Labelled, inside: Label) -> Ball:
    """Return the ball of a hyperplane, its surface halfway between the farthest inner and the nearest outer point."""
    *a, c, _ = vector
    center = [Fraction(-v, 2 * c) * unit for v in a]
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


def _no_ball(obstruction: Contradiction, unit: Fraction, examples: Labelled, inside: Label) -> NoBall:
    """Return the obstruction in the units of the data: the lift is in squares of the unit."""
    weights = dict(sorted(zip(obstruction.rows.tolist(), map(Fraction, obstruction.weights), strict=True)))
    extra = weights.pop(len(examples.labels), Fraction(0))
    witnesses = NoBallWitnesses(tuple(weights), tuple(weights.values()), extra * unit**2)
    return NoBall(BallData.of(examples), BallClaims(False, inside), witnesses)
