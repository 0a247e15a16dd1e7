"""Running scales: each number of an example in standard deviations from its mean, as far as both are known by then.

The theorem speaks of points. A learner that scales as it goes learns from the points as they were scaled when it saw
them, and what the theorem says, it says of these.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from novikoff.features.names import OneHot

# A value that is predicted may be any number of deviations from the mean of those learned; beyond this it is cut off.
FURTHEST = 2.0**20


class Scale(NamedTuple):
    """What is known of a feature: how many values, their mean, and the sum of the squares of their deviations."""

    values: int
    mean: float
    squares: float


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
        self.by_name: dict[Any, Scale] = dict(scales)

    def learn(self, example: Mapping[Any, Any]) -> dict[Any, Any]:
        """The example as it is scaled now that it has been seen."""
        scales = self.by_name
        for name, value in example.items():
            if type(value) is not bool and type(name) is not OneHot:
                values, mean, squares = scales.get(name) or (0, 0.0, 0.0)
                off = value - mean
                mean += off / (values + 1)
                scales[name] = Scale(values + 1, mean, squares + off * (value - mean))
        return self.scaled(example)

    def scaled(self, example: Mapping[Any, Any]) -> dict[Any, Any]:
        """The example in the scales so far; a number that has none yet stays as it is."""
        return {name: self._scaled(name, value) for name, value in example.items()}

    def _scaled(self, name: Hashable, value: Any) -> Any:
        scale = self.by_name.get(name)
        if scale is None or type(value) is bool:
            return value
        if scale.squares == 0.0:
            return float((value > 0) - (value < 0))
        deviation = math.sqrt(scale.squares / scale.values or 5e-324)  # the quotient may underflow
        return max(-FURTHEST, min((value - scale.mean) / deviation, FURTHEST))
