"""What an online perceptron remembers: the sum of its mistakes, by name, and how long and how many they were.

*Order.* A mapping has no columns, so no order of features may matter. The score is the correctly rounded sum of its
products (`math.fsum`). The quick loops add in the order given, or measure distances, and trust a sign only beyond
their own rounding error, for which the theorem has the bound: after k updates ||w|| <= sqrt(k (1 + 2 lead)) R, or
sqrt(k (1 + 2 lead) + 2 sum tau) R if labels come late and mistakes are judged as served.
"""

import math
import sys
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import fsum, hypot
from typing import Any

from novikoff.engine.rounding import OUTWARDS, UNIT_ROUNDOFF, WHOLE_UP_TO, up
from novikoff.features.names import Intercept, RunningScale
from novikoff.learn.history import History
from novikoff.learn.online.labels import Labels
from novikoff.learn.online.past import Average, Fading
from novikoff.learn.online.row import DISTANCES, Row
from novikoff.learn.online.weights import Weights, add_to, no_weights

# Where nothing is known of the examples to come, weights are not put in a row that is longer than this.
LONGEST_ROW = 1024

SMALLEST_NORMAL = sys.float_info.min


@dataclass(frozen=True, eq=False)
class OnlineState:
    """All that an `OnlinePerceptron` has learned; `labels` are in order of appearance.

    There is one vector of weights for two labels (or fewer, so far), one a label for more. Every number in it is
    weight + i drift, and the drift is what the read-out has to know of the past (`novikoff.learn.online.past`), with
    its ages from `origin`. `trials` are the wrong predictions of the last weights and of their average. `longest` is
    the length of the longest example without the constant, and `square` is R^2, which a lead goes by; without one it is
    not measured. `waited` is the sum of the delays of mistakes that were judged as served. `scales` is None for a
    learner that takes its examples as they come.
    """

    labels: tuple[Hashable, ...]
    weights: tuple[Weights, ...]
    examples: int
    mistakes: int
    longest: float
    classes_are_fixed: bool
    waited: int = 0
    scales: dict[Any, RunningScale] | None = None
    origin: int = 0
    trials: tuple[float, float] = (0.0, 0.0)
    narrow: int = 0
    square: float = 0.0


class OnlineMemory(History):
    """The history of a stream. A name has a weight since the first update that had it."""

    mistakes: int = 0

    def __init__(self, labels: Labels, past: Average | Fading, fit_intercept: bool, lead: float) -> None:
        self.examples = self.mistakes = self.narrow = 0
        self.lead = float(lead)
        self.waited = 0  # the updates between predicting and learning, summed over the mistakes judged as served
        self._labels, self._past = labels, past
        self._by_name = [no_weights() for _ in range(len(labels.classes) if len(labels.classes) > 2 else 1)]
        self._row: Row | None = None  # while every update has the same names, as in a table, and of two classes
        self._row_is_ahead = False  # of the weights by name
        self._constant = 1.0 if fit_intercept else 0.0
        self._longest = 0.0  # without the constant
        self._square = 0.0  # R^2, with a lead
        self._settle()

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels known so far: sorted, or in order of appearance if they cannot be sorted."""
        return self._labels.classes

    @property
    def classes_are_fixed(self) -> bool:
        """Whether the labels were given beforehand."""
        return self._labels.are_fixed

    def feature_names(self) -> list[Any]:
        """The features that have a weight, be it 0, in order of appearance."""
        return [name for name in dict.fromkeys(chain(*self._by_name)) if name is not Intercept]

    @property
    def radius(self) -> float:
        """R: the length of the longest example so far, its constant included, rounded up."""
        return up(hypot(self._longest, self._constant) * (1.0 + 4.0 * UNIT_ROUNDOFF)) if self.examples else 0.0

    @property
    def weights_length(self) -> float:
        """The length of the last weights: ||w||, or ||W|| of all classes."""
        return hypot(*(pair.real for weights in self._weights for pair in weights.values()))

    @property
    def vector_square(self) -> float:
        """R^2; with more than two classes what is added has the length sqrt(2) R."""
        return self.radius**2 * min(len(self._by_name), 2)

    @property
    def step_square(self) -> float:
        """The same times 1 + 2 lead + 2 tau, tau being the mean delay."""
        delay = self.waited / self.updates if self.waited else 0.0
        return (1.0 + 2.0 * self.lead + 2.0 * delay) * self.vector_square

    @property
    def terms(self) -> int:
        return 0

    @property
    def _weights(self) -> list[Weights]:
        """The weights by name: one dictionary for two classes (or fewer, so far), one a class for more."""
        if self._row_is_ahead:
            self._row.write_back(self._by_name[0])  # type: ignore[union-attr]
            self._row_is_ahead = False
        return self._by_name

    def _add(self, place: int, example: Mapping[Any, Any], sign: float) -> None:
        """Add an example."""
        if self.examples > self._past.old_after:
            self._renew()
        weights = self._weights[place]
        add_to(weights, example, complex(sign, sign * self._past.age(self.examples)), self._constant)
        self._row = Row.if_all(example, weights) if self._labels.signs else None

    def _add_to_row(self, values: tuple[Any, ...], sign: float, mistake: bool) -> None:
        """The same, if these are the values of all names in the row; and count it."""
        if self.examples > self._past.old_after:
            self._renew()
        self._row.add(values, sign, sign * self._past.age(self.examples), self._constant)  # type: ignore[union-attr]
        self._row_is_ahead = True
        self.examples += 1
        if mistake:
            self.mistakes += 1
        else:
            self.narrow += 1
        if self.mistakes + self.narrow > self._settled_until:
            self._settle()

    def _renew(self) -> None:
        """Count ages from now on, before they become too large."""
        share = self._past.share(self.examples)
        for weights in self._weights:
            weights.update({name: complex(pair.real, share * pair.imag) for name, pair in weights.items()})
        self._past.begin(self.examples)
        if self._row is not None:
            self._row = Row(self._row.names, self._by_name[0])

    def _count(self, mistake: bool, narrow: bool = False) -> None:
        self.examples += 1
        self.mistakes += mistake
        self.narrow += narrow
        self._settle()

    def _let_r_grow(self, example: Mapping[Any, Any]) -> None:
        """Let R be no less than the length of an example."""
        self._longest = max(self._longest, hypot(*example.values()))
        self._square = self._square_with(example)

    def _square_with(self, example: Mapping[Any, Any]) -> float:
        """R^2, once the example is among those seen; without a lead it is not needed."""
        return max(self._square, folded_square(example.values(), self._constant)) if self.lead else 0.0

    def _is_no_longer(self, example: Mapping[Any, Any]) -> bool:
        """Whether R^2, by which a lead goes, would stay what it is."""
        return self.lead > 0.0 and folded_square(example.values(), self._constant) <= self._square

    def _settle(self) -> None:
        """Settle what a quick loop may trust: up to `_short`, an example is not longer than R; beyond `_doubt`, the
        sign of a score is right; beyond `_clear`, so is that an example is ahead by the lead, and below `_unclear`,
        that it is not.

        Sums of products are in doubt by their number times |w| |x|, distances by |w|^2 + |x|^2 (`row`), and squares may
        underflow. That is settled for some updates to come, too.
        """
        updates = self.mistakes + self.narrow
        self._settled_until = updates + updates // 4
        steps = (1.0 + 2.0 * self.lead) * self._settled_until + 2.0 * self.waited
        square = self._longest * self._longest + self._constant
        products = 4.0 * UNIT_ROUNDOFF * (len(self._by_name[0]) + 2) * math.sqrt(steps)
        self._doubt = square * max(products, DISTANCES * (steps + 1.0)) + SMALLEST_NORMAL
        self._short = self._longest * (1.0 - 8.0 * UNIT_ROUNDOFF) if self.lead else self._longest
        threshold = self.lead * self._square
        self._clear, self._unclear = threshold + self._doubt, threshold - self._doubt

    def _let_in(self, labels: Iterable[Hashable]) -> None:
        """Let these be the labels. Two classes share one weight vector w; apart, they have -w and +w."""
        weights, before = self._weights, self.classes
        self._labels.set(labels)
        self._row = None
        if len(before) == 2:
            weights.insert(0, {name: -pair for name, pair in weights[0].items()})
        if len(self.classes) > 2:
            old = dict(zip(before, weights, strict=False))
            weights[:] = [old.get(label) or no_weights() for label in self.classes]

    def _go_on_from(self, state: OnlineState) -> None:
        self._labels.set(state.labels)
        self._labels.are_fixed = state.classes_are_fixed
        self._by_name = list(state.weights)
        self.examples, self.mistakes, self.waited = state.examples, state.mistakes, state.waited
        self.narrow, self._longest, self._square = state.narrow, state.longest, state.square
        self._past.begin(state.origin)
        names = dict.fromkeys(self.feature_names()) if len(self._by_name[0]) <= LONGEST_ROW else {}
        self._row = Row.if_all(names, self._by_name[0]) if self._labels.signs else None
        self._settle()


def folded_square(values: Iterable[Any], constant: float) -> float:
    """The squared length of an example with its constant, never below the exact value, which it is for whole numbers.

    It is the `folded_square` of the kernels, added up in no order.
    """
    numbers = [float(value) for value in values]
    square = fsum([value * value for value in numbers]) + constant
    return square if square < WHOLE_UP_TO and all(map(float.is_integer, numbers)) else square * OUTWARDS
