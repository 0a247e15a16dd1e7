"""Linear programs over the cone of all b with <z, b> >= 0: in floats by HiGHS, and in whole numbers where floats cannot
tell a number from 0.

A *dictionary* names as many points as there are dimensions, whose products with b are its coordinates, and gives the
products of others, and b itself, as their combinations. To maximise a product over the cone, points are exchanged until
no coordinate improves it, which proves that it is never positive; or until one does and lowers nothing: that is a
direction. Bland's rule (1977) keeps it from going round in circles. The entries are determinants with one common
denominator (Edmonds 1967), so that nothing is rounded. Points that are not in the dictionary join when a direction has
them on its wrong side.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact.algebra import as_whole, solution
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.separable.points import Floats

# Of points whose largest coordinate is about 1, a product below this is 0 as far as a program can tell.
ZERO = 1e-7


def largest_sum(goal: Floats, Z: Any, E: Any, clock: Clock) -> tuple[Floats, Floats] | None:
    """The vector b in the unit box with Z b >= 0 and E b = 0 that has the largest product with a goal; and multiples of
    the rows of Z, and of E, that cancel the goal, as far as that is possible.

    The program that is solved is the dual one, which has as many equations as b has coordinates: the least that is left
    of the goal. None if it was not solved in time.
    """
    from scipy.sparse import csc_array, eye_array, hstack

    size = len(goal)
    table = hstack([csc_array(Z.T), csc_array(E.T), eye_array(size), -eye_array(size)], format="csc")
    costs = np.concatenate([np.zeros(Z.shape[0] + E.shape[0]), np.ones(2 * size)])
    least = np.zeros(len(costs))
    least[Z.shape[0] : Z.shape[0] + E.shape[0]] = -np.inf
    bounds = np.stack([least, np.full(len(costs), np.inf)], axis=1)
    found = solved(clock, c=costs, A_eq=table, b_eq=-goal, bounds=bounds)
    if found is None:
        return None
    is_used = np.bincount(table.indices, minlength=size) > 2  # a coordinate that no row has may stay at 0
    return np.where(is_used, -found.eqlin.marginals, 0.0), found.x[: Z.shape[0] + E.shape[0]]


def solved(clock: Clock, **program: Any) -> Any:
    """The answer to a linear program; None if there is none, or not in time."""
    from scipy.optimize import linprog

    seconds = clock.left()
    if seconds == 0:
        return None
    options = {"time_limit": seconds} if np.isfinite(seconds) else {}
    result = linprog(**program, method="highs-ds", options=options)
    return result if result.status == 0 else None


# -- in whole numbers -------------------------------------------------------------------------------------------------


Numbers = NDArray[np.int64]
Sparse = Mapping[int, Any]

# Exchanges by the largest improvement, which is quick, for every point; after them, Bland's rule, which always ends.
GREEDY = 4
# Points that join at a time.
JOINING = 8


class Pivoted(NamedTuple):
    """A direction of the cone, in whole numbers, with a positive product and its column; or the multiples of points
    which add up to the negative of what was to be maximised."""

    direction: list[int] | None
    column: int
    multiples: dict[int, Fraction]


class Dictionary:
    """At first b gives itself: `names` are the points whose products are the coordinates, None where it is one of b's.

    `rows` are those of the points that are in, `b` those of b; all entries are to be divided by `unit`.
    """

    def __init__(self, dimension: int, clock: Clock) -> None:
        from flint import fmpz

        self.clock, self.unit = clock, fmpz(1)
        self.names: list[int | None] = [None] * dimension
        self.b = [[fmpz(int(i == j)) for j in range(dimension)] for i in range(dimension)]
        self.rows: dict[int, list[Any]] = {}

    def given(self, z: Sparse) -> list[Any]:
        """The product of a vector with b, in the coordinates."""
        terms = [(value, self.b[place]) for place, value in z.items() if value]
        return [sum(value * row[j] for value, row in terms) for j in range(len(self.names))]

    def direction(self, column: int) -> list[int]:
        """The b with 1 (or another positive number) in one coordinate, and 0 in all others."""
        return [int(row[column]) for row in self.b]

    def join(self, name: int, z: Sparse) -> None:
        self.rows[name] = self.given(z)

    def exchange(self, name: int, column: int) -> None:
        """Let a point that is in be a coordinate, instead of what was."""
        if self.clock.is_over():
            raise OutOfTimeError
        row = self.rows.pop(name)
        pivot, unit, before = row[column], self.unit, self.names[column]

        def without(other: list[Any]) -> list[Any]:
            times = other[column]
            if times == 0:
                return [pivot * value // unit for value in other]
            new = [(pivot * value - times * own) // unit for value, own in zip(other, row, strict=True)]
            new[column] = times
            return new

        self.rows = {key: without(other) for key, other in self.rows.items()}
        self.b = [without(other) for other in self.b]
        if before is not None:
            own = [-value for value in row]
            own[column] = unit
            self.rows[before] = own
        self.names[column], self.unit = name, pivot
        if pivot < 0:
            self.unit = -pivot
            self.rows = {key: [-value for value in other] for key, other in self.rows.items()}
            self.b = [[-value for value in other] for other in self.b]

    def drop(self, column: int, names: Iterable[int] = ()) -> None:
        """Leave a coordinate at 0, and let some points go."""
        for name in names:
            self.rows.pop(name, None)
        for row in (*self.rows.values(), *self.b):
            del row[column]
        del self.names[column]

    def anchor(self, moved: Callable[[list[int]], Mapping[int, Sparse]]) -> None:
        """Let points be all coordinates; `moved` is one that a direction does not have at 0, if there is one. If not,
        the coordinate does not matter."""
        for column in range(len(self.names) - 1, -1, -1):
            found = moved(self.direction(column))
            if not found:
                self.drop(column)
            for name, z in found.items():
                self.join(name, z)
                self.exchange(name, column)

    def maximised(self, goal: Sparse, wrong: Callable[[list[int]], Mapping[int, Sparse]]) -> Pivoted:
        """The largest product of b with a goal; `wrong` are points with a negative product with a direction, if any."""
        exchanges = 0
        while True:
            gains = self.given(goal)
            better = [j for j, gain in enumerate(gains) if gain > 0]
            if not better:
                pairs = zip(self.names, gains, strict=True)
                return Pivoted(None, -1, {int(n or 0): Fraction(int(-g), int(self.unit)) for n, g in pairs if g})
            is_greedy = exchanges < GREEDY * (len(self.rows) + len(gains))
            column = max(better, key=gains.__getitem__) if is_greedy else min(better, key=self._name)
            falling = [name for name, row in self.rows.items() if row[column] < 0]
            if falling:
                self.exchange(min(falling), column)
                exchanges += 1
                continue
            direction = self.direction(column)
            new = wrong(direction)
            if not new:
                return Pivoted(direction, column, {})
            for name, z in new.items():
                self.join(name, z)

    def _name(self, column: int) -> int:
        name = self.names[column]
        return -1 if name is None else name


class ExactFace(NamedTuple):
    """Layers of points beyond the face, each with a direction; and weights of points that add up to 0 and span it."""

    layers: list[tuple[Numbers, list[int]]]
    weights: dict[int, Fraction]

    def weak_separator(self, points: WholeMatrix) -> list[int]:
        """The sum of the directions, an earlier one so many times that it outweighs those after it."""
        weak = [0] * points.n_columns
        for rows, b in reversed(self.layers):
            pairs = zip(points.times(weak)[rows].tolist(), points.times(b)[rows].tolist(), strict=True)
            times = max(-after // own + 1 for after, own in pairs)
            weak = [value + max(times, 1) * more for value, more in zip(weak, b, strict=True)]
        return as_whole([Fraction(value) for value in weak])


def exact_face(points: WholeMatrix, fixed: Numbers, candidates: Numbers, clock: Clock) -> ExactFace:
    """The face of some candidates among points, where others are fixed on it; OutOfTimeError if there is no time.

    >>> points = WholeMatrix.of([1, 1, 1, -1], np.array([0, 0, 1, 0]), np.array([0, 1, 3, 4]), 2)
    >>> found = exact_face(points, np.arange(0), np.arange(3), Clock(None))
    >>> [(rows.tolist(), b) for rows, b in found.layers], found.weights
    ([([1], [0, 1])], {0: Fraction(1, 1), 2: Fraction(1, 1)})
    """
    cone, left = Dictionary(points.n_columns, clock), candidates

    def products(b: list[int]) -> NDArray[Any]:
        if clock.is_over():
            raise OutOfTimeError
        return points.times(b)[left]

    def wrong(b: list[int]) -> dict[int, Sparse]:
        found = products(b)
        worst = np.argsort(found, kind="stable")[:JOINING]
        return {row: points.row(row) for row in left[worst[found[worst] < 0]].tolist() if row not in cone.rows}

    for row in fixed.tolist():
        cone.join(row, points.row(row))
        column = next((j for j, value in enumerate(cone.rows[row]) if value), None)
        if column is None:
            del cone.rows[row]
        else:
            cone.exchange(row, column)
            cone.drop(column)
    cone.anchor(lambda b: {row: points.row(row) for row in left[np.flatnonzero(products(b))[:1]].tolist()})
    layers: list[tuple[Numbers, list[int]]] = []
    weights: dict[int, Fraction] = {}
    while cone.names and not weights:
        base = [int(name or 0) for name in cone.names]
        goal = points.combined(base, [1] * len(base))
        found = cone.maximised(goal, wrong)
        if found.direction is None:
            weights = {row: found.multiples.get(row, Fraction(0)) + (row in base) for row in {*base, *found.multiples}}
        else:
            is_beyond = products(found.direction) > 0
            layers.append((left[is_beyond], found.direction))
            cone.drop(found.column, left[is_beyond].tolist())
            left = left[~is_beyond]
    return ExactFace(layers, _with_fixed(points, fixed, weights, clock))


def _with_fixed(points: WholeMatrix, fixed: Numbers, weights: dict[int, Fraction], clock: Clock) -> dict[int, Fraction]:
    """Weights of points that add up to 0 but for the span of fixed ones, and the multiples of these that cancel it."""
    rows = list(weights)
    whole = as_whole([weights[row] for row in rows])
    weights = dict(zip(rows, map(Fraction, whole), strict=True))
    total = points.combined(rows, whole)
    if not total:
        return weights
    places = sorted({place for row in fixed.tolist() for place in points.row(row)} | total.keys())
    columns = [[points.row(row).get(place, 0) for place in places] for row in fixed.tolist()]
    found = solution(columns, [-total.get(place, 0) for place in places], clock)
    if found is None:
        raise OutOfTimeError
    return weights | {row: value for row, value in zip(fixed.tolist(), found, strict=True) if value}
