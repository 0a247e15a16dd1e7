"""Examples whose features have names: mappings from feature name to number; and their running scales.

A running scale standardises each number of an example by the mean and standard deviation known so far. The theorem
applies to points: those of a learner with running scales are the examples as they were scaled when it saw them.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from math import copysign, hypot, sqrt
from typing import Any, NamedTuple

# An example longer than this could make a score, or the sum of scores that an average is, overflow float64.
LONGEST = 2.0**480

# Times a float, these give a float. Any other value is checked further.
PLAIN_NUMBERS = frozenset((float, int, bool))


class Intercept:
    """The name of the feature that is 1 in every example. Being a class, it equals no other name."""


class OneHot(tuple[Any, ...]):
    """The feature of a string value: {"colour": "red"} is {OneHot("colour", "red"): 1}, shown as colour=red.

    It begins with its own class, so it equals no other name, not even the tuple ("colour", "red").
    """

    __slots__ = ()

    def __new__(cls, name: Hashable, value: str) -> "OneHot":
        return super().__new__(cls, (cls, name, value))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self[1:]

    def __repr__(self) -> str:
        return f"{self[1]}={self[2]}"


def as_numbers(x: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the example itself if its values are plain numbers, else a converted one; reject invalid values."""
    if not isinstance(x, Mapping):
        kind = type(x).__name__
        raise TypeError(f"an example must map feature names to numbers, such as {{'height': 1.8}}, but got a {kind}")
    plain = PLAIN_NUMBERS.issuperset(map(type, x.values()))
    example = x if plain else dict(_as_number(name, value) for name, value in x.items())
    try:
        if hypot(*example.values()) <= LONGEST:
            return example
    except OverflowError:
        pass
    raise ValueError(_what_is_wrong(example))


def are_plain(values: Iterable[Any]) -> bool:
    """Whether numbers are plain, as their sum then is, or at least become plain in sums and products with floats."""
    try:
        return type(sum(values, 0.0)) is float
    except TypeError:
        return False


def _as_number(name: Hashable, value: Any) -> tuple[Hashable, float]:
    if type(value) in PLAIN_NUMBERS:
        return name, value
    if isinstance(value, str):
        return OneHot(name, str(value)), 1.0
    try:
        if hasattr(value, "__float__") or hasattr(value, "__index__"):  # float() would also read bytes
            return name, float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    how = "give a number, or a string for a one-hot feature, or omit the feature, which means 0"
    raise ValueError(f"feature {name!r} has the value {value!r}, which is not a number; {how}")


def _what_is_wrong(example: Mapping[Any, Any]) -> str:
    for name, value in example.items():
        if value != value:
            return f"feature {name!r} is NaN; impute it, or omit the feature, which means 0"
        if abs(value) == math.inf:
            return f"feature {name!r} is {value}; replace it by a finite number"
    name = max(example, key=lambda feature: abs(example[feature]))
    return f"feature {name!r} makes the example longer than {LONGEST:.1g}, and scores could overflow; scale it down"


# At prediction, a value may be any number of deviations from the mean in training; beyond this it is clipped.
FURTHEST = 2.0**20

# Below this, a quotient has underflowed.
SMALLEST = 5e-324


class RunningScale(NamedTuple):
    """The statistics of a feature: the number of values, their mean, and the sum of squared deviations."""

    values: int
    mean: float
    squares: float


# The statistics of a feature not seen in training; it has no deviation.
NOTHING = (0, 0.0, 0.0, -1.0)


class RunningScales:
    """The scales of features by name.

    Strings, which are one-hot features, and booleans are not scaled. A feature that an example omits is not counted for
    it. A number that has had only one value so far is replaced by its sign: 1, 0 or -1.

    >>> scales = RunningScales()
    >>> [scales.learn({"year": year}) for year in (1990, 2000)]
    [{'year': 1.0}, {'year': 1.0}]
    >>> scales.scaled({"year": 1990, "colour": 7})
    {'year': -1.0, 'colour': 7}
    """

    def __init__(self, scales: Iterable[tuple[Hashable, RunningScale]] = ()) -> None:
        # Every scale is followed by its deviation, so that a prediction computes no square root.
        self._known: dict[Any, tuple[int, float, float, float]] = {
            name: (*scale, _deviation(scale.values, scale.squares)) for name, scale in scales
        }

    @property
    def by_name(self) -> dict[Any, RunningScale]:
        return {name: RunningScale(*known[:3]) for name, known in self._known.items()}

    def learn(self, example: Mapping[Any, Any]) -> dict[Any, Any]:
        """Update the scales with an example, and scale it: in one loop, because a stream spends its time here."""
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
        """Scale an example by the scales so far; a number without a scale is not changed."""
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
    """Return the standard deviation; 0 if there was only one value so far."""
    return sqrt(squares / values or SMALLEST) if squares else 0.0
