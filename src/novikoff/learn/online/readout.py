"""The weights that predict: the last ones, their average, or a mean that fades (Freund & Schapire 1999)."""

import math
from collections.abc import Hashable, Mapping
from math import dist, hypot
from operator import mul
from typing import Any, Literal

from novikoff.features.names import Intercept, as_numbers
from novikoff.learn.model import NamedWeight, heaviest_first
from novikoff.learn.online.labels import Labels
from novikoff.learn.online.memory import OnlineMemory
from novikoff.learn.online.past import Average, Fading
from novikoff.learn.online.weights import NONE, dot, dot_of_mean

OnlineReadout = Literal["auto", "average", "last", "recent"]

# With readout="auto" the average predicts, unless it was wrong more often lately than the last weights. Both are tried
# on every sixteenth example; after 355 trials what was seen before counts half.
TRIED_EVERY = 16
KEPT, AHEAD = 511 / 512, 3.0

# What ends a quick loop: an unknown label, a string, a label that is not hashable, an x that is no mapping.
NOT_QUICK = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)


class OnlineReadouts(OnlineMemory):
    """A memory that answers. Which of its weights do so makes no difference to what is learned."""

    def __init__(
        self, labels: Labels, readout: OnlineReadout, half_life: float, fit_intercept: bool, lead: float
    ) -> None:
        _check_readout(readout)
        if not 1.0 <= half_life < 2.0**53:
            raise ValueError(f"half_life={half_life!r} must be a number of examples of at least 1")
        super().__init__(labels, Fading(half_life) if readout == "recent" else Average(), fit_intercept, lead)
        self.half_life = half_life
        self._trials = (0.0, 0.0)
        self.readout = readout

    @property
    def readout(self) -> OnlineReadout:
        """Which weights predict. It may be changed, but "recent" has to be chosen from the start."""
        return self._readout

    @readout.setter
    def readout(self, readout: OnlineReadout) -> None:
        _check_readout(readout)
        if (readout == "recent") != isinstance(self._past, Fading):
            raise ValueError("readout='recent' keeps another sum of the past than the others; choose it from the start")
        self._readout = readout
        self._in_charge: str = readout
        self._trial_at = math.inf  # after how many examples
        self._judge(self._trials, self.examples)

    @property
    def predicts_with(self) -> str:
        """The weights that predict now; they change only if `readout` is "auto"."""
        return self._in_charge

    def weights(self, label: Hashable = None) -> dict[Any, float]:
        """The weights of the features for a label, as the read-out has them; those that are 0 are left out.

        Of two labels, either has the weights of the other with the opposite sign; without a label, the second is meant.
        """
        return {name: weight for name, weight in self._read_out(label).items() if weight and name is not Intercept}

    def intercept(self, label: Hashable = None) -> float:
        """The weight of the constant 1 for a label, as the read-out has it."""
        return self._read_out(label)[Intercept]

    def weights_by_name(self) -> list[NamedWeight]:
        """The weights that are not 0, of all classes, the largest in size first."""
        labels = self.classes if len(self.classes) > 2 else (None,)
        parts = ((label, {**self.weights(label), None: self.intercept(label)}) for label in labels)
        return heaviest_first(
            NamedWeight(label, name, weight) for label, part in parts for name, weight in part.items()
        )

    def _predict(self, x: Mapping[Any, Any], readout: str) -> Any:
        labels = self._labels
        if labels.signs:
            last, mean = self._sure_scores(x, readout != "last")
            score = last if readout == "last" else mean
            if score:
                return labels.classes[score > 0.0]
        scores = self._scores(as_numbers(x), readout)
        if labels.signs:
            return labels.classes[scores[0] >= 0.0]
        return labels.classes[scores.index(max(scores))] if labels.classes else None

    def _sure_scores(self, x: Mapping[Any, Any], averaged: bool) -> tuple[float, float]:
        """The scores of the last weights and of the mean, for two classes, where their signs are beyond doubt; else 0.

        The mean is at most as long as the weights were, and the part of the past at most twice.
        """
        row, doubt = self._row, self._doubt
        share = self._past.share(self.examples) if averaged and self.examples else 0.0
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
        whole, share, _ = self._mean(readout)
        return [dot_of_mean(weights, example, whole, share) for weights in self._weights]

    def _mean(self, readout: str) -> tuple[float, float, float]:
        """The mean is (the first * the weights - the second * their drift)/the third."""
        n = self.examples
        if readout == "last" or not n:
            return 1.0, 0.0, 1.0
        return (n, 1.0, n) if readout == "average" else (1.0, self._past.share(n), self._past.whole(n))

    def _read_out(self, label: Hashable) -> dict[Any, float]:
        classes, places = self.classes, self._labels.places
        if label is None and len(classes) > 2:
            raise ValueError(f"each of the {len(classes)} classes has its own weights; pass the label of one")
        if label is not None and label not in places:
            raise ValueError(f"label {label!r} is not among the classes known so far, {list(classes)!r}")
        sign, place = (self._labels.signs.get(label, 1.0), 0) if len(classes) <= 2 else (1.0, places[label])
        whole, share, divisor = self._mean(self._in_charge)
        return {
            name: sign * (whole * pair.real - share * pair.imag) / divisor
            for name, pair in self._weights[place].items()
        }

    def _hold_trial(self, example: Mapping[Any, Any], y: Hashable) -> None:
        """Let the last weights and their average predict, and see which is wrong."""
        self._settle_trial(self._predict(example, "last") != y, self._predict(example, "average") != y)

    def _hold_quick_trial(self, last: float, past: float, past_doubt: float) -> bool:
        """The same by the scores of the last weights and of their drift, for the right label; or False, if their signs
        are in doubt."""
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
        """Put those in charge that were wrong less often, until the next trial, after so many examples or later."""
        self._trials = trials
        if self._readout == "auto":
            self._in_charge = "last" if trials[0] + AHEAD < trials[1] else "average"
            self._trial_at = -(-examples // TRIED_EVERY) * TRIED_EVERY


def _check_readout(readout: str) -> None:
    if readout == "vote":
        raise ValueError(
            "readout='vote' replays every mistake at each prediction, so a stream would have to keep them all; choose "
            "'average', which predicts much the same, or Perceptron(readout='vote') on data at hand"
        )
    if readout not in ("auto", "average", "last", "recent"):
        raise ValueError(f"readout={readout!r} is unknown; choose one of auto, average, last, recent")
