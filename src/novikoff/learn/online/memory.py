"""The memory of an online perceptron: the sum of its mistakes, by name, and how long and how many they were.

*Order.* A mapping has no columns, so the order of features must not matter. The score is the correctly rounded sum of
its products (`math.fsum`). The quick loops add in the order given, or measure distances, and trust a sign only beyond
their own rounding error, which the theorem bounds: after k updates ||w|| <= sqrt(k (1 + 2 lead)) R, or
sqrt(k (1 + 2 lead) + 2 sum tau) R if labels come late and mistakes are judged as served.
"""

import math
import sys
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import dist, fsum, hypot
from operator import mul
from typing import Any, Literal

from novikoff.data.missing import is_missing
from novikoff.engine.rounding import OUTWARDS, UNIT_ROUNDOFF, WHOLE_UP_TO, up
from novikoff.features.names import Intercept, RunningScale, as_numbers
from novikoff.learn.model import NamedWeight, heaviest_first
from novikoff.learn.online.weights import (
    DISTANCES,
    NONE,
    NamedWeights,
    WeightRow,
    add_to,
    dot,
    dot_of_sum,
    no_weights,
)
from novikoff.learn.run import History

OnlineReadout = Literal["auto", "average", "last"]

# With readout="auto" the average predicts, unless it was recently wrong more often than the last weights. Both are
# tested on every sixteenth example; the half-life of past tests is 355 tests.
TRIED_EVERY = 16
KEPT, AHEAD = 511 / 512, 3.0

# What ends a quick loop: an unknown label, a string, an unhashable label, an x that is no mapping.
NOT_QUICK = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)

# Where nothing is known of later examples, a row of weights is no longer than this.
LONGEST_ROW = 1024

SMALLEST_NORMAL = sys.float_info.min


@dataclass(frozen=True, eq=False)
class OnlineState:
    """All that an `OnlinePerceptron` has learned; `labels` are in order of appearance.

    There is one weight vector for two labels (or fewer, so far), one per label for more. Every number in it is
    weight + i drift, the drift being what the average needs of the past (`novikoff.learn.online.weights`). `trials` are
    the wrong predictions of the last weights and of their average. `longest` is the length of the longest example
    without the constant, and `square` is R^2, measured only with a lead. `waited` is the sum of the delays of mistakes
    that were judged as served. `scales` is None for a learner that does not scale.
    """

    labels: tuple[Hashable, ...]
    weights: tuple[NamedWeights, ...]
    examples: int = 0
    mistakes: int = 0
    longest: float = 0.0
    classes_are_fixed: bool = False
    waited: int = 0
    scales: dict[Any, RunningScale] | None = None
    trials: tuple[float, float] = (0.0, 0.0)
    narrow: int = 0
    square: float = 0.0


class OnlineMemory(History):
    """The history of a stream, with predictions. A name has a weight from the first update that had it.

    The last weights predict, or their average (Freund & Schapire 1999), which makes no difference to what is learned.
    """

    mistakes: int = 0

    def __init__(self, state: OnlineState, readout: OnlineReadout, fit_intercept: bool, lead: float) -> None:
        self.lead = float(lead)
        self._constant = 1.0 if fit_intercept else 0.0
        self.classes_are_fixed = state.classes_are_fixed
        self._set_labels(state.labels)
        self._by_name = list(state.weights)
        self._row_is_ahead = False  # of the weights by name
        self.examples, self.mistakes, self.narrow = state.examples, state.mistakes, state.narrow
        self.waited = state.waited  # the updates between predicting and learning, of the mistakes judged as served
        self._longest = state.longest  # without the constant
        self._square = state.square  # R^2, with a lead
        self._trials = state.trials
        names = dict.fromkeys(self.feature_names()) if len(self._by_name[0]) <= LONGEST_ROW else {}
        # For two classes, while every update has the same names, as in a table.
        self._row = WeightRow.if_all(names, self._by_name[0]) if self._signs else None
        self._settle()
        self.readout = readout

    @staticmethod
    def begin(classes: Iterable[Hashable] | None) -> OnlineState:
        """The state before the first example."""
        labels = () if classes is None else tuple(_as_classes(classes))
        weights = tuple(no_weights() for _ in range(len(labels) if len(labels) > 2 else 1))
        return OnlineState(labels, weights, classes_are_fixed=classes is not None)

    def _set_labels(self, labels: Iterable[Hashable]) -> None:
        """Set the labels, in order of appearance. `classes` are sorted, or in that order if they cannot be sorted."""
        appeared = list(labels)
        self.classes: tuple[Any, ...] = _in_order(appeared)
        places = {label: place for place, label in enumerate(self.classes)}
        self._places = {label: places[label] for label in appeared}
        self._signs = dict(zip(self.classes, (-1.0, 1.0), strict=True)) if len(appeared) == 2 else {}

    def _check_label(self, label: Hashable) -> None:
        try:
            known = label in self._places
        except TypeError:
            raise TypeError(f"label {label!r} is not hashable; use a string, a number or a tuple of them") from None
        if not known and self.classes_are_fixed:
            how = "name it there, or omit classes, and labels are learned as they come"
            raise ValueError(f"label {label!r} is not in classes={list(self.classes)!r}; {how}")
        if not known and is_missing(label):
            raise ValueError(f"the label {label!r} means missing, as NaN and None do; omit such examples")

    def feature_names(self) -> list[Any]:
        """The features that have a weight, possibly 0, in order of appearance."""
        return [name for name in dict.fromkeys(chain(*self._by_name)) if name is not Intercept]

    @property
    def radius(self) -> float:
        """R: the length of the longest example so far, including its constant, rounded up."""
        return up(hypot(self._longest, self._constant) * (1.0 + 4.0 * UNIT_ROUNDOFF)) if self.examples else 0.0

    @property
    def weights_length(self) -> float:
        return hypot(*(pair.real for weights in self._weights for pair in weights.values()))

    @property
    def vector_square(self) -> float:
        """R^2; with more than two classes the vector added has the length sqrt(2) R."""
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
    def _weights(self) -> list[NamedWeights]:
        """The weights by name: one dictionary for two classes (or fewer, so far), one per class for more."""
        if self._row_is_ahead:
            self._row.write_back(self._by_name[0])  # type: ignore[union-attr]
            self._row_is_ahead = False
        return self._by_name

    def _add(self, place: int, example: Mapping[Any, Any], sign: float) -> None:
        weights = self._weights[place]
        add_to(weights, example, complex(sign, sign * self.examples), self._constant)
        self._row = WeightRow.if_all(example, weights) if self._signs else None

    def _add_to_row(self, values: tuple[Any, ...], sign: float, mistake: bool) -> None:
        """Add an example with these values of all names in the row, and count it."""
        self._row.add(values, sign, sign * self.examples, self._constant)  # type: ignore[union-attr]
        self._row_is_ahead = True
        self.examples += 1
        if mistake:
            self.mistakes += 1
        else:
            self.narrow += 1
        if self.mistakes + self.narrow > self._settled_until:
            self._settle()

    def _count(self, mistake: bool, narrow: bool = False) -> None:
        self.examples += 1
        self.mistakes += mistake
        self.narrow += narrow
        self._settle()

    def _let_r_grow(self, example: Mapping[Any, Any]) -> None:
        self._longest = max(self._longest, hypot(*example.values()))
        self._square = self._square_with(example)

    def _square_with(self, example: Mapping[Any, Any]) -> float:
        """R^2, this example included; without a lead it is not needed."""
        return max(self._square, folded_square(example.values(), self._constant)) if self.lead else 0.0

    def _is_no_longer(self, example: Mapping[Any, Any]) -> bool:
        """Whether R^2, to which a lead is relative, would stay the same."""
        return self.lead > 0.0 and folded_square(example.values(), self._constant) <= self._square

    def _settle(self) -> None:
        """Set the limits of the quick loops: up to `_short`, an example is not longer than R; beyond `_doubt`, the sign
        of a score is certain; beyond `_clear`, it is certain that an example is ahead by the lead, and below
        `_unclear`, that it is not.

        The error of sums of products grows with their number times |w| |x|, that of distances with |w|^2 + |x|^2
        (`weights`), and squares may underflow. The limits hold for some later updates, too.
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
        """Set the labels. Two classes share one weight vector w; apart, they have -w and +w."""
        weights, before = self._weights, self.classes
        self._set_labels(labels)
        self._row = None
        if len(before) == 2:
            weights.insert(0, {name: -pair for name, pair in weights[0].items()})
        if len(self.classes) > 2:
            old = dict(zip(before, weights, strict=False))
            weights[:] = [old.get(label) or no_weights() for label in self.classes]

    # -- read-outs --------------------------------------------------------------------------------------------------

    @property
    def readout(self) -> OnlineReadout:
        """Which weights predict; it may be changed."""
        return self._readout

    @readout.setter
    def readout(self, readout: OnlineReadout) -> None:
        _check_readout(readout)
        self._readout = readout
        self._in_charge: str = readout
        self._trial_at = math.inf  # after how many examples
        self._judge(self._trials, self.examples)

    @property
    def predicts_with(self) -> str:
        """The weights that predict now; they change only if `readout` is "auto"."""
        return self._in_charge

    def weights(self, label: Hashable = None) -> dict[Any, float]:
        """The weights of the features for a label, as the read-out has them; those that are 0 are omitted.

        Of two labels, either has the weights of the other with the opposite sign; without a label, the second is meant.
        """
        return {name: weight for name, weight in self._read_out(label).items() if weight and name is not Intercept}

    def intercept(self, label: Hashable = None) -> float:
        """The intercept for a label, as the read-out has it."""
        return self._read_out(label)[Intercept]

    def weights_by_name(self) -> list[NamedWeight]:
        """The weights that are not 0, of all classes, the largest absolute value first."""
        labels = self.classes if len(self.classes) > 2 else (None,)
        parts = ((label, {**self.weights(label), None: self.intercept(label)}) for label in labels)
        return heaviest_first(
            NamedWeight(label, name, weight) for label, part in parts for name, weight in part.items()
        )

    def _predict(self, x: Mapping[Any, Any], readout: str) -> Any:
        if self._signs:
            last, mean = self._sure_scores(x, readout != "last")
            score = last if readout == "last" else mean
            if score:
                return self.classes[score > 0.0]
        scores = self._scores(as_numbers(x), readout)
        if self._signs:
            return self.classes[scores[0] >= 0.0]
        return self.classes[scores.index(max(scores))] if self.classes else None

    def _sure_scores(self, x: Mapping[Any, Any], averaged: bool) -> tuple[float, float]:
        """The scores of the last weights and of the mean, for two classes, where their signs are certain; else 0.

        The mean is at most as long as the weights were, and the part of the past at most twice.
        """
        row, doubt = self._row, self._doubt
        share = 1.0 / self.examples if averaged and self.examples else 0.0
        mean_doubt = 4.0 * doubt
        try:
            if row is not None and len(x) == row.width and type(x) is dict:
                values = row.columns(x)
                length, away = hypot(*values), dist(row.weights, values)
                square = length * length
                last = mean = row.base + 0.5 * (square - away * away)
                if share:
                    mean -= share * row.past_score(values, square)
                    mean_doubt += share * row.past_doubt
            else:
                weights = self._weights[0]
                length = hypot(*x.values())
                both = sum(map(mul, x.values(), map(weights.get, x, NONE)), weights[Intercept])
                last = both.real
                mean = last - share * both.imag
                if type(both) is not complex:
                    return 0.0, 0.0
            if length <= self._longest:
                return last if abs(last) > doubt else 0.0, mean if abs(mean) > mean_doubt else 0.0
        except NOT_QUICK:
            pass
        return 0.0, 0.0

    def _scores(self, example: Mapping[Any, Any], readout: str) -> list[float]:
        """The scores of the last weights, or of a multiple of their mean: a score of 0 is 0 before it is divided."""
        if readout == "last" or not self.examples:
            return [dot(weights, example) for weights in self._weights]
        return [dot_of_sum(weights, example, self.examples) for weights in self._weights]

    def _read_out(self, label: Hashable) -> dict[Any, float]:
        classes, places = self.classes, self._places
        if label is None and len(classes) > 2:
            raise ValueError(f"each of the {len(classes)} classes has its own weights; pass the label of one")
        if label is not None and label not in places:
            raise ValueError(f"label {label!r} is not among the classes known so far, {list(classes)!r}")
        sign, place = (self._signs.get(label, 1.0), 0) if len(classes) <= 2 else (1.0, places[label])
        weights, n = self._weights[place], self.examples
        if self._in_charge == "last" or not n:
            return {name: sign * pair.real for name, pair in weights.items()}
        return {name: sign * (n * pair.real - pair.imag) / n for name, pair in weights.items()}

    def _hold_trial(self, example: Mapping[Any, Any], y: Hashable) -> None:
        """Predict with the last weights and with their average, and count which is wrong."""
        self._settle_trial(self._predict(example, "last") != y, self._predict(example, "average") != y)

    def _hold_quick_trial(self, last: float, past: float, past_doubt: float) -> bool:
        """The same from the scores of the last weights and of their drift, for the right label; False if their signs
        are uncertain."""
        share = 1.0 / (self.examples or 1)
        average = last - share * past
        if abs(last) <= self._doubt or abs(average) <= 4.0 * self._doubt + share * past_doubt:
            return False
        self._settle_trial(last < 0.0, average < 0.0)
        return True

    def _settle_trial(self, last_is_wrong: bool, average_is_wrong: bool) -> None:
        last, average = self._trials
        self._judge((KEPT * last + last_is_wrong, KEPT * average + average_is_wrong), self.examples + 1)

    def _judge(self, trials: tuple[float, float], examples: int) -> None:
        """Predict with those that were wrong less often, until the next trial, after so many examples or later."""
        self._trials = trials
        if self._readout == "auto":
            self._in_charge = "last" if trials[0] + AHEAD < trials[1] else "average"
            self._trial_at = -(-examples // TRIED_EVERY) * TRIED_EVERY


def folded_square(values: Iterable[Any], constant: float) -> float:
    """The squared length of an example with its constant: exact for whole numbers, and never too small.

    It is the `folded_square` of the kernels, added up in no order.
    """
    numbers = [float(value) for value in values]
    square = fsum([value * value for value in numbers]) + constant
    return square if square < WHOLE_UP_TO and all(map(float.is_integer, numbers)) else square * OUTWARDS


def _as_classes(classes: Iterable[Hashable]) -> list[Hashable]:
    labels: list[Hashable] = [classes] if isinstance(classes, str) else list(classes)
    if len(labels) < 2 or len(set(labels)) < len(labels) or any(map(is_missing, labels)):
        raise ValueError(f"classes={classes!r} must be a list of at least two labels, each of them once")
    return labels


def _in_order(labels: list[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(labels)


def _check_readout(readout: str) -> None:
    if readout == "vote":
        raise ValueError(
            "readout='vote' replays every mistake at each prediction, so a stream would have to keep them all; choose "
            "'average', which predicts much the same, or Perceptron(readout='vote') on data at hand"
        )
    if readout not in ("auto", "average", "last"):
        raise ValueError(f"readout={readout!r} is unknown; choose one of auto, average, last")
