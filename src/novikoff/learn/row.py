"""The weights of a table: while every example has the same names, they stand in a row, and no name is looked up."""

from collections.abc import Hashable, Iterable, Mapping
from operator import add, itemgetter, sub
from typing import Any

from novikoff.features.names import Intercept


class Row:
    """Weights and drift of two classes, in the order in which `columns` takes the values out of an example."""

    __slots__ = ("columns", "constant", "drift", "names", "past", "weights", "width")

    def __init__(self, names: Iterable[Hashable], weights: Mapping[Any, float], drift: Mapping[Any, float]) -> None:
        self.names = tuple(names)
        self.width = len(self.names)
        self.columns = itemgetter(*self.names)
        self.weights, self.drift = list(self.columns(weights)), list(self.columns(drift))
        self.constant, self.past = weights[Intercept], drift[Intercept]

    @classmethod
    def if_all(
        cls, example: Iterable[Hashable], weights: Mapping[Any, float], drift: Mapping[Any, float]
    ) -> "Row | None":
        """A row, if there is a weight for the names of this example and for no others. One name alone is none."""
        names = tuple(example)
        return cls(names, weights, drift) if 1 < len(names) == len(weights) - 1 else None

    def add(self, values: tuple[Any, ...], sign: float, age: float, constant: float) -> None:
        """On a mistake, add the example; its sign times the examples before it, which is `age`, goes to the drift."""
        self.weights = list(map(add if sign > 0.0 else sub, self.weights, values))
        self.drift = [past + age * value for past, value in zip(self.drift, values, strict=True)]
        self.constant += sign * constant
        self.past += age * constant

    def write_back(self, weights: dict[Any, float], drift: dict[Any, float]) -> None:
        """Put the weights and the drift back under their names."""
        weights.update(zip(self.names, self.weights, strict=True))
        drift.update(zip(self.names, self.drift, strict=True))
        weights[Intercept], drift[Intercept] = self.constant, self.past
