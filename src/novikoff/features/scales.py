"""Running scales: each number of an example in standard deviations from its mean, as far as both are known by then.

The theorem speaks of points. A learner that scales as it goes learns from the points as they were scaled when it saw
them, and what the theorem says, it says of these.
"""

from collections.abc import Hashable, Iterable, Mapping
from math import copysign, sqrt
from typing import Any, NamedTuple

from novikoff.features.names import OneHot

# A value that is predicted may be any number of deviations from the mean of those learned; beyond this it is cut off.
FURTHEST = 2.0**20

# Below, a quotient has underflowed.
SMALLEST = 5e-324


class Scale(NamedTuple):
    """What is known of a feature: how many values, their mean, and the sum of the squares of their deviations."""

    values: int
    mean: float
    squares: float


# Of a feature that was never seen nothing is known, and its deviation is none.
NOTHING = (0, 0.0, 0.0, -1.0)


class RunningScales:
    """The scales of features by name.

    Texts, which are one-hot features, and booleans stay as they are. A feature that is left out stays out: it is
    neither counted nor learned. A number that has had one value so far is 1, 0 or -1, by its sign.

    >>> scales = RunningScales()
    >>> [scales.learn({"year": year}) for year in (1990, 2000)]
    [{'year': 1.0}, {'year': 1.0}]
    >>> scales.scaled({"year": 1990, "colour": 7})
    {'year': -1.0, 'colour': 7}
    """

    def __init__(self, scales: Iterable[tuple[Hashable, Scale]] = ()) -> None:
        # Behind every scale stands the deviation that follows from it, so that a prediction takes no root.
        self._known: dict[Any, tuple[int, float, float, float]] = {
            name: (*scale, _deviation(scale.values, scale.squares)) for name, scale in scales
        }

    @property
    def by_name(self) -> dict[Any, Scale]:
        """The scales so far."""
        return {name: Scale(*known[:3]) for name, known in self._known.items()}

    def learn(self, example: Mapping[Any, Any]) -> dict[Any, Any]:
        """The example as it is scaled now that it has been seen: one loop, because a stream spends its time here."""
        known, point = self._known, {}
        for name, value in example.items():
            if type(value) is bool or type(name) is OneHot:
                point[name] = value
                continue
            values, mean, squares, _ = known.get(name, NOTHING)
            values += 1
            off = value - mean
            mean += off / values
            rest = value - mean
            squares += off * rest
            if squares:
                deviation = sqrt(squares / values or SMALLEST)
                known[name] = values, mean, squares, deviation
                point[name] = rest / deviation
            else:
                known[name] = values, mean, 0.0, 0.0
                point[name] = float((value > 0) - (value < 0))
        return point

    def scaled(self, example: Mapping[Any, Any]) -> dict[Any, Any]:
        """The example in the scales so far; a number that has none yet stays as it is."""
        known, point = self._known.get, {}
        for name, value in example.items():
            _, mean, _, deviation = known(name, NOTHING)
            if deviation > 0.0 and type(value) is not bool:
                value = (value - mean) / deviation
                if not -FURTHEST <= value <= FURTHEST:
                    value = copysign(FURTHEST, value)
            elif deviation == 0.0 and type(value) is not bool:
                value = float((value > 0) - (value < 0))
            point[name] = value
        return point


def _deviation(values: int, squares: float) -> float:
    """The standard deviation; 0 if there was one value so far."""
    return sqrt(squares / values or SMALLEST) if squares else 0.0
