"""Weights by name, and what their average needs of the past.

The weights after n examples are w, the sum of the mistakes. The average of the weights after each example lacks a part
of every mistake, the more the later it came: it is w - P/n, with P, the drift, the sum of b z over the mistakes z, of
which b examples came before. So examples that are right need no work.

A weight and its drift (`past`) are the two parts of one complex number, weight + i drift. So one look-up finds both,
one product with a value multiplies both, and one sum adds a mistake to both. In text, where most names are rare,
look-ups take most of the time.

While every example has the same names, as in a table, the weights form a row, and no name is looked up. The distance of
two vectors gives their product: <w, x> = (|w|^2 + |x|^2 - |w - x|^2)/2. The standard library measures distances in one
call, three times as fast as it adds up products. The rounding error of this is far below the least score that is
trusted (`memory`).
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import repeat
from math import dist, fsum, hypot
from operator import add, itemgetter, sub
from typing import Any

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.features.names import Intercept

NamedWeights = dict[Any, complex]

NONE = repeat(0.0)  # the weights of names that have none


def no_weights() -> NamedWeights:
    return {Intercept: 0j}


def dot(weights: NamedWeights, example: Mapping[Any, Any]) -> float:
    """The score of an example, correctly rounded, so that no order of its features matters."""
    return fsum(
        [weights[Intercept].real, *[value * weights[name].real for name, value in example.items() if name in weights]]
    )


def dot_of_sum(weights: NamedWeights, example: Mapping[Any, Any], n: int) -> float:
    """The same for n * weight - drift, the sum of the weights after each of n examples."""
    pairs = [(1.0, weights[Intercept]), *[(value, weights[name]) for name, value in example.items() if name in weights]]
    return fsum([value * (n * pair.real - pair.imag) for value, pair in pairs])


def add_to(weights: NamedWeights, example: Mapping[Any, Any], step: complex, constant: float) -> None:
    """On a mistake, add the example: its sign times it to the weights, its signed age times it to the drift."""
    so_far = weights.get
    for name, value in example.items():
        weights[name] = so_far(name, 0.0) + step * value
    weights[Intercept] += step * constant


# |w|, |x| and |w - x| are each within three units of roundoff, and |w - x|^2 is at most 2 (|w|^2 + |x|^2): all in all
# twelve units of |w|^2 + |x|^2.
DISTANCES = 32.0 * UNIT_ROUNDOFF


class WeightRow:
    """Weights and drift of two classes, in the order in which `columns` takes the values out of an example.

    A score is `base` + (|x|^2 - |weights - x|^2)/2. That of the drift (`past_score`) has `past_base`, and an error of
    up to `past_doubt` besides what |x| adds.
    """

    __slots__ = (
        *("base", "columns", "constant", "drift", "is_measured", "names"),
        *("past", "past_base", "past_doubt", "weights", "width"),
    )

    def __init__(self, names: Iterable[Hashable], weights: Mapping[Any, complex]) -> None:
        self.names = tuple(names)
        self.width = len(self.names)
        self.columns = itemgetter(*self.names)
        pairs = self.columns(weights)
        self.weights, self.drift = tuple(pair.real for pair in pairs), [pair.imag for pair in pairs]
        self.constant, self.past = weights[Intercept].real, weights[Intercept].imag
        length = hypot(*self.weights)
        self.base = 0.5 * length * length + self.constant
        self.is_measured = False

    @classmethod
    def if_all(cls, example: Mapping[Any, Any], weights: Mapping[Any, complex]) -> "WeightRow | None":
        """A row, if this example has all names that have weights, at least two, and no others; else None."""
        return cls(example, weights) if 1 < len(example) == len(weights) - 1 else None

    def add(self, values: tuple[Any, ...], sign: float, age: float, constant: float) -> None:
        """On a mistake, add the example; its sign times the examples before it, which is `age`, goes to the drift."""
        drift, self.weights = self.drift, tuple(map(add if sign > 0.0 else sub, self.weights, values))
        for place, value in enumerate(values):
            drift[place] += age * value
        self.constant += sign * constant
        self.past += age * constant
        length = hypot(*self.weights)
        self.base = 0.5 * length * length + self.constant
        self.is_measured = False

    def write_back(self, weights: dict[Any, complex]) -> None:
        weights.update(zip(self.names, map(complex, self.weights, self.drift), strict=True))
        weights[Intercept] = complex(self.constant, self.past)

    def past_score(self, values: tuple[Any, ...], square: float) -> float:
        """The score of the drift, for an example whose squared length this is."""
        if not self.is_measured:
            length = hypot(*self.drift)
            self.past_base = 0.5 * length * length + self.past
            self.past_doubt = DISTANCES * (length * length + self.past * self.past)
            self.is_measured = True
        away = dist(self.drift, values)
        return self.past_base + 0.5 * (square - away * away)
