"""Weights by name. A weight and its drift (`past`) are the two parts of one complex number, weight + i drift.

So one look-up finds both, one product with a value takes both along, and one sum adds a mistake to both. In text, where
most names are rare, the look-ups are what takes time.
"""

from collections.abc import Mapping
from itertools import repeat
from math import fsum
from typing import Any

from novikoff.features.names import Intercept

Weights = dict[Any, complex]

NONE = repeat(0.0)  # the weights of names that have none


def no_weights() -> Weights:
    """The weights before the first mistake."""
    return {Intercept: 0j}


def dot(weights: Weights, example: Mapping[Any, Any]) -> float:
    """The score of an example, correctly rounded, so that no order of its features matters."""
    return fsum(
        [weights[Intercept].real, *[value * weights[name].real for name, value in example.items() if name in weights]]
    )


def dot_of_mean(weights: Weights, example: Mapping[Any, Any], whole: float, share: float) -> float:
    """The same for the weights whole * weight - share * drift, a multiple of a mean of the past ones."""
    pairs = [(1.0, weights[Intercept]), *[(value, weights[name]) for name, value in example.items() if name in weights]]
    return fsum([value * (whole * pair.real - share * pair.imag) for value, pair in pairs])


def add_to(weights: Weights, example: Mapping[Any, Any], step: complex, constant: float) -> None:
    """On a mistake, add the example: its sign times it to the weights, its signed age times it to the drift."""
    so_far = weights.get
    for name, value in example.items():
        weights[name] = so_far(name, 0.0) + step * value
    weights[Intercept] += step * constant
