"""The memory of a structured perceptron: weights by feature, the sum of the differences that were added."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import fsum, hypot
from typing import Any, NamedTuple, NoReturn

from novikoff.engine.rounding import UNIT_ROUNDOFF, root_up, up
from novikoff.engine.rule import is_added
from novikoff.learn.history import History
from novikoff.options import Readout


class FeatureWeights(dict[Any, float]):
    """Weights by feature. They are read-only, and a feature never seen has the weight 0.

    >>> weights = FeatureWeights({"short": 2.0})
    >>> weights["short"], weights["unheard of"]
    (2.0, 0.0)
    >>> weights.score({"short": 3, "unheard of": 1})
    6.0
    """

    __slots__ = ()

    def __missing__(self, feature: Any) -> float:
        return 0.0

    def score(self, vector: Mapping[Any, Any]) -> float:
        """The sum of weight times value, correctly rounded, so that no order of the features matters."""
        return fsum([self[feature] * value for feature, value in vector.items()])

    def __reduce__(self) -> Any:
        return FeatureWeights, (dict(self),)

    def _unchangeable(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("these weights are read-only: the perceptron changes them, on its mistakes")

    __setitem__ = __delitem__ = __ior__ = _unchangeable
    clear = pop = popitem = setdefault = update = _unchangeable


class RivalStructure(NamedTuple):
    """A guess that is not gold: the difference of the two, its length, rounded up, its score, and the loss."""

    guess: Any
    difference: dict[Any, float]
    length: float
    lead: float
    loss: float


@dataclass
class StructureMemory(History):
    """The memory of a structured perceptron.

    (examples x weights - drift) is the sum of the weights after each example. `longest` is R itself, the length of the
    longest difference added, rounded up. `square` is ||w||^2, updated by ||w + d||^2 = ||w||^2 + 2 <w, d> + ||d||^2,
    and good enough to know when to compute it exactly. `astray` counts the search errors of the last epoch. `saved` has
    the values to restore if a call fails.
    """

    weights: FeatureWeights = field(default_factory=FeatureWeights)
    drift: dict[Any, float] = field(default_factory=dict)
    mistakes: int = 0
    search_errors: int = 0
    largest_loss: float = 0.0
    square: float = 0.0
    saved: dict[Any, tuple[float | None, float | None]] | None = None
    astray: int = 0

    def learn(self, rival: RivalStructure | None) -> bool:
        """Count an example, with the guess that the decoder preferred to gold; on a mistake, add the difference."""
        mistake = rival is not None and is_added(rival.lead, rival.loss, ties_are_mistakes=True, wins_ties=False)
        if rival is not None and mistake:
            self._add(rival)
        self.examples += 1
        self.mistakes += mistake
        self.search_errors += rival is not None and not mistake
        return mistake

    def _add(self, rival: RivalStructure) -> None:
        changed, moved = {}, {}
        for feature, value in rival.difference.items():
            changed[feature] = self.weights[feature] + value
            moved[feature] = self.drift.get(feature, 0.0) + self.examples * value
        if self.saved is not None:
            for feature in changed:
                if feature not in self.saved:
                    self.saved[feature] = self.weights.get(feature), self.drift.get(feature)
        dict.update(self.weights, changed)
        self.drift.update(moved)
        self.longest = max(self.longest, rival.length)
        self.largest_loss = max(self.largest_loss, rival.loss)
        self.square += 2.0 * rival.lead + rival.length * rival.length

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Restore the memory if anything fails, at the cost of the changes, not of the whole memory."""
        scalars = {name: value for name, value in vars(self).items() if isinstance(value, int | float)}
        self.saved = {}
        try:
            yield
        except BaseException:
            vars(self).update(scalars)
            for feature, (weight, drift) in self.saved.items():
                _put_back(self.weights, feature, weight)
                _put_back(self.drift, feature, drift)
            raise
        finally:
            self.saved = None

    @property
    def weights_length(self) -> float:
        return hypot(*self.weights.values())

    @property
    def radius(self) -> float:
        return self.longest

    @property
    def step_square(self) -> float:
        """R^2 + 2 max loss: a mistake adds at most that to ||w||^2. A difference is rounded by at most u R itself."""
        return self.longest**2 + 2.0 * self.largest_loss

    @property
    def terms(self) -> int:
        return 0

    def rules_out(self, margin: float) -> bool:
        """Whether the mistakes prove that no unit vector has this margin."""
        return self.square <= 1.0001 * (self.mistakes * margin) ** 2 and self.margin_at_most < margin

    def deciding_weights(self, readout: Readout) -> FeatureWeights:
        """The last weights, or the sum of the weights after each example; those that are 0 are omitted.

        Decisions are made by the sum: of whole numbers it is exact, and tied structures have equal scores. After a
        division one of them may be a little ahead.
        """
        past, n = (self.drift, self.examples or 1) if readout == "average" else ({}, 1)
        weights = ((name, n * weight - past.get(name, 0.0)) for name, weight in self.weights.items())
        return FeatureWeights((name, weight) for name, weight in weights if weight)

    def read_out(self, readout: Readout) -> FeatureWeights:
        """The last weights, or the mean of the weights after each example; those that are 0 are omitted."""
        n = (self.examples or 1) if readout == "average" else 1
        return FeatureWeights((name, weight / n) for name, weight in self.deciding_weights(readout).items())


def length_up(vector: Mapping[Any, float]) -> float:
    """The length of a vector, rounded up; of whole numbers, to the very next float.

    >>> length_up({"a": 3.0, "b": 4.0}), length_up({"a": 0.3, "b": 0.4}) > 0.5
    (5.0, True)
    """
    square = fsum([value * value for value in vector.values()])
    if square < 2.0**53 and all(map(float.is_integer, vector.values())):
        return root_up(square)
    return up(hypot(*vector.values()) * (1.0 + 4.0 * UNIT_ROUNDOFF))


def _put_back(values: dict[Any, float], feature: Any, value: float | None) -> None:
    """Restore the value that a feature had, or remove the feature."""
    if value is None:
        dict.pop(values, feature, None)
    else:
        dict.__setitem__(values, feature, value)
