"""The nearest point of a hull in exact arithmetic: Wolfe's algorithm (1976) over the rationals.

It narrows the bracket of a margin that floats leave wide, on small data, such as coordinates of 1e-17 and 1e17 in one
row. It terminates: every major cycle makes the point strictly shorter, and it is the affine minimiser of the points
that carry it.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import Whole, as_matrix, as_whole
from novikoff.prove.exact.modular import lifted


class ExactNearest(NamedTuple):
    """The points that carry the nearest point, their weights, and a multiple of it, all 0 if it is the origin."""

    rows: list[int]
    weights: list[int]
    direction: list[int]


def nearest_point_exactly(points: Sequence[Whole], clock: Clock) -> ExactNearest | None:
    """The point nearest to the origin in the hull of points of whole numbers; None if time runs out.

    >>> nearest_point_exactly([[2, 1], [2, -1]], Clock(None))
    ExactNearest(rows=[0, 1], weights=[1, 1], direction=[4, 0])
    """
    if clock.is_over():
        return None
    table = as_matrix(points)
    carriers, weights = [min(range(len(points)), key=lambda i: sum(v * v for v in points[i]))], [1]
    while True:
        x = as_matrix([weights]) * as_matrix(points[i] for i in carriers)
        square = (x * x.transpose())[0, 0]
        scores = (table * x.transpose()).entries()
        worst = min(range(len(points)), key=scores.__getitem__)
        if scores[worst] * sum(weights) >= square:
            return ExactNearest(carriers, weights, [int(v) for v in x.entries()])
        moved = _towards_the_minimiser(points, [*carriers, worst], [*weights, 0], clock)
        if moved is None:
            return None
        carriers, weights = moved


def _towards_the_minimiser(
    points: Sequence[Whole], carriers: list[int], weights: list[int], clock: Clock
) -> tuple[list[int], list[int]] | None:
    """Wolfe's minor cycles: move to the nearest point of the affine hull, removing points whose weight reaches 0."""
    while True:
        target = _affine_minimiser([points[i] for i in carriers], clock)
        if target is None:
            return None
        if min(target) > 0:
            return carriers, target
        total, goal_total = sum(weights), sum(target)
        # In a common scale: from weights/total towards target/goal_total, until the first weight reaches 0.
        now = [Fraction(weight, total) for weight in weights]
        goal = [Fraction(weight, goal_total) for weight in target]
        step = min(a / (a - b) for a, b in zip(now, goal, strict=True) if b <= 0 and a > b)
        moved = [a + step * (b - a) for a, b in zip(now, goal, strict=True)]
        kept = [place for place, weight in enumerate(moved) if weight > 0]
        carriers, weights = [carriers[place] for place in kept], as_whole([moved[place] for place in kept])


def _affine_minimiser(points: list[Whole], clock: Clock) -> list[int] | None:
    """Weights of any sign and positive sum whose combination of the points, divided by their sum, is shortest."""
    from flint import fmpz_mat

    rows = as_matrix(points)
    size = len(points)
    table: list[list[Any]] = [[*line, 1] for line in (rows * rows.transpose()).tolist()]
    table.append([1] * size + [0])
    found = lifted(fmpz_mat(table), fmpz_mat([[0]] * size + [[1]]), clock)
    if found is None:
        return None
    sign = 1 if found.denominator > 0 else -1
    return [sign * int(found.numerators[i, 0]) for i in range(size)]
