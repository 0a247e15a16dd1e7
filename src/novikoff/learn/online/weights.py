"""Weights by name, and what a mean of them needs of the past.

A weight and its drift (`past`) are the two parts of one complex number, weight + i drift. So one look-up finds both,
one product with a value multiplies both, and one sum adds a mistake to both. In text, where most names are rare,
look-ups take most of the time.

While every example has the same names, as in a table, the weights form a row, and no name is looked up. The distance of
two vectors gives their product: <w, x> = (|w|^2 + |x|^2 - |w - x|^2)/2. The standard library measures distances in one
call, three times as fast as it adds up products. The rounding error of this is far below the least score that is
trusted (`memory`).
"""

from collections.abc import Hashable, Iterable, Mapping
from decimal import Decimal, localcontext
from functools import cache
from itertools import repeat
from math import dist, fsum, hypot, inf
from operator import add, itemgetter, sub
from typing import Any

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.features.names import Intercept

NamedWeights = dict[Any, complex]

NONE = repeat(0.0)  # the weights of names that have none


def no_weights() -> NamedWeights:
    """The weights before the first mistake."""
    return {Intercept: 0j}


def dot(weights: NamedWeights, example: Mapping[Any, Any]) -> float:
    """The score of an example, correctly rounded, so that no order of its features matters."""
    return fsum(
        [weights[Intercept].real, *[value * weights[name].real for name, value in example.items() if name in weights]]
    )


def dot_of_mean(weights: NamedWeights, example: Mapping[Any, Any], whole: float, share: float) -> float:
    """The same for the weights whole * weight - share * drift, a multiple of a mean of the past ones."""
    pairs = [(1.0, weights[Intercept]), *[(value, weights[name]) for name, value in example.items() if name in weights]]
    return fsum([value * (whole * pair.real - share * pair.imag) for value, pair in pairs])


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
        """Put the weights and the drift back under their names."""
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


# -- the past ---------------------------------------------------------------------------------------------------------
#
# What a read-out needs of the past is one more sum, to which only mistakes add. The weights after n examples are w, the
# sum of the mistakes. A mean of the weights after each example lacks a part of every mistake, the more the later it
# came: it is w - share(n) P, with P the sum of age(b) z over the mistakes z, of which b examples came before. So
# examples that are right need no work.

OLD = 32  # half-lives


class Average:
    """The mean of the weights after each example (Freund & Schapire 1999): a mistake lacks b of n parts."""

    origin, old_after = 0, inf

    def age(self, before: int) -> float:
        return float(before)

    def share(self, examples: int) -> float:
        return 1.0 / examples

    def lacks(self, before: int, examples: int) -> float:
        """The part of a mistake that is missing: share times age."""
        return before / examples

    def whole(self, examples: int) -> float:
        """The sum of the parts of a mistake that has been there from the start."""
        return 1.0

    def begin(self, origin: int) -> None:
        """Do nothing: ages are numbers of examples."""


class Fading:
    """The mean in which the weights after an example count half as much as those that came `half_life` later.

    With g = 2^(1/half_life), the weights after example s of n have the part g^(s - n), so a mistake lacks g^(b - n).
    Ages are counted from `origin`, which moves with the mistakes, so that none is too large to be told from the others.

    >>> fading = Fading(half_life=10)
    >>> round(fading.age(30) * fading.share(40), 12)
    0.5
    """

    def __init__(self, half_life: float, origin: int = 0) -> None:
        self.half_life = half_life
        self.begin(origin)

    def begin(self, origin: int) -> None:
        """Count ages from here on; after `old_after` examples the origin must move."""
        self.origin, self.old_after = origin, origin + OLD * self.half_life

    def age(self, before: int) -> float:
        return _power(self.half_life, before - self.origin)

    def share(self, examples: int) -> float:
        return 1.0 / _power(self.half_life, examples - self.origin)

    def lacks(self, before: int, examples: int) -> float:
        """The part of a mistake that is missing: share times age."""
        return 1.0 / _power(self.half_life, examples - before)

    def whole(self, examples: int) -> float:
        """The sum of the parts of a mistake that has been there from the start, relative to an infinite past."""
        return 1.0 - 1.0 / _power(self.half_life, examples)


@cache
def _growth(half_life: float) -> float:
    """2^(1/half_life), the same on every machine, unlike powers of floats."""
    with localcontext() as context:
        context.prec = 40
        return float(Decimal(2) ** (1 / Decimal(half_life)))


def _power(half_life: float, exponent: int) -> float:
    """The growth to a power, by squaring: products of floats are the same everywhere. It may be infinite."""
    result, square = 1.0, _growth(half_life)
    while exponent:
        if exponent & 1:
            result *= square
        square *= square
        exponent >>= 1
    return result
