"""The protocol of online learning: predict, reveal, learn, one example at a time, features by name.

An example is a mapping from feature name to number and a weight vector is a dictionary, so no list of features or
labels is needed to begin with: one that was never seen before is no event.
"""

from collections.abc import Hashable, Iterable, Mapping
from math import copysign, dist, hypot
from operator import mul
from typing import TYPE_CHECKING, Any, NoReturn

from novikoff.features.names import Intercept, RunningScales, are_plain, as_numbers
from novikoff.learn.epochs import put_off_interrupt
from novikoff.learn.online.judge import OnlineJudge
from novikoff.learn.online.labels import Labels
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.readout import NOT_QUICK, OnlineReadout
from novikoff.learn.online.weights import NONE, dot
from novikoff.learn.run import Run
from novikoff.options import Tie
from novikoff.say import runs as say

if TYPE_CHECKING:
    from novikoff.learn.online.river import RiverPerceptron


class OnlyAfterToRiver:
    """What River asks of the steps of its pipelines, and an `OnlinePerceptron` has not."""

    def __get__(self, model: Any, kind: Any = None) -> NoReturn:
        raise AttributeError(
            "not a River estimator: put OnlinePerceptron(...).to_river() into its pipelines and evaluations"
        )


class OnlinePerceptron(OnlineJudge):
    """The perceptron as the notes run it: predict, see the truth, and on a mistake add the example.

    Theorem (Block 1962, Novikoff 1962): on a stream of examples of length at most R that some unit vector separates
    with margin gamma, `learn_one` finds at most (R/gamma)^2 mistakes, however long the stream and whatever its order.

    Parameters
    ----------
    readout : the weights that predict: "last", "average" (Freund & Schapire 1999: the mean of the weights after each
        example), "recent" (that mean, with a half-life), or "auto": of the first two, those that were wrong less often
        lately. It makes no difference to what is learned.
    fit_intercept : whether every example carries one more feature, of value 1.
    tie : whether a score of 0 is a "mistake", the theorem's own rule, or is to "predict" +1.
    classes : the labels, if they are known beforehand; else each is learned when it first appears.
    scale : whether numbers are learned in standard deviations from their mean, as far as both are known by then
        (`RunningScales`), so that no column drowns the others because of its unit. R, gamma and the theorem then speak
        of the points as they were scaled when they were learned, and weights are per deviation.
    half_life : with readout="recent", after how many examples weights count half as much in the mean.
    lead : an example is learned unless it is right by more than lead R^2 (of many classes, ahead of the best other one
        by more than 2 lead R^2), R being the longest example so far, this one included. 0 is the textbook. With more,
        `tie` does not matter, `narrow` counts the examples that were right and learned, and there are at most
        (1 + 2 lead) (R/gamma)^2 `updates`, mistakes and narrow ones together.

    Examples map feature names (any hashables) to numbers. A string instead of a number is a one-hot feature (`OneHot`),
    and a feature that is left out is 0. Labels are any hashables. `classes` has them sorted, or in order of appearance
    if they cannot be sorted; the second of two is +1. One label alone is nothing to be mistaken about. From the third
    on each has its own weights (Kesler's construction): a mistake adds the example to the weights of its class and
    subtracts it from those of the best other class.

    The example of the notes, whose weights are (0, 0), (1, -2), (2, -1) and (3, 1):

    >>> model = OnlinePerceptron(readout="last", fit_intercept=False, classes=[-1, +1])
    >>> for a, b, label in [(-1, 2, -1), (1, 0, 1), (1, 1, 1), (-1, 0, -1), (-1, -2, -1), (1, -1, 1)]:
    ...     print(model.learn_one({"a": a, "b": b}, label), model.weights())
    True {'a': 1.0, 'b': -2.0}
    False {'a': 1.0, 'b': -2.0}
    True {'a': 2.0, 'b': -1.0}
    False {'a': 2.0, 'b': -1.0}
    True {'a': 3.0, 'b': 1.0}
    False {'a': 3.0, 'b': 1.0}
    >>> model
    OnlinePerceptron(readout='last', fit_intercept=False, classes=[-1, 1]): 3 mistakes on 6 examples
    >>> model.run.margin_at_most <= 10**0.5 / 3 + 1e-12
    True
    """

    def __init__(
        self,
        *,
        readout: OnlineReadout = "auto",
        fit_intercept: bool = True,
        tie: Tie = "mistake",
        classes: Iterable[Hashable] | None = None,
        scale: bool = False,
        half_life: float = 1000,
        lead: float = 0.0,
    ) -> None:
        super().__init__(Labels(classes), readout, half_life, fit_intercept, tie, lead, scale)
        self.fit_intercept = fit_intercept

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label of an example: +1 at score 0, the first of the best classes, None while no label is known."""
        if self._scales is not None:
            x = self.scaled_one(x)
        return self._predict(x, self._in_charge)

    def decision_one(self, x: Mapping[Any, Any]) -> float | dict[Any, float]:
        """The read-out's score of an example: for the second of two classes, or, of more, for each.

        >>> model = OnlinePerceptron(readout="last", fit_intercept=False)
        >>> model.learn_many([{"legs": 2}, {"legs": 4}, {"legs": 6, "of": "a fly"}], ["bird", "cat", "fly"])
        2
        >>> model.decision_one({"legs": 1, "of": "a fly"})
        {'bird': -4.0, 'cat': -3.0, 'fly': 7.0}
        """
        _, _, divisor = self._mean(self._in_charge)
        scores = [_divided(score, divisor) for score in self._scores(self.scaled_one(x), self._in_charge)]
        return scores[0] if len(self.classes) <= 2 else dict(zip(self.classes, scores, strict=True))

    def learn_one(self, x: Mapping[Any, Any], y: Hashable) -> bool:
        """Learn an example, and say whether the last weights were mistaken about it.

        With a lead, narrow examples are learned, too: `updates` counts all that were added. If anything is wrong with
        the example or its label, nothing is changed.
        """
        if self._scales is not None:
            x = self._scaled_to_learn(x, y, self._scales)
        row = self._row
        try:
            sign = self._labels.signs[y]
            if row is not None and len(x) == row.width and type(x) is dict:  # no dict may make up a missing value
                values = row.columns(x)
                length, away = hypot(*values), dist(row.weights, values)
                ahead = sign * (row.base + 0.5 * (length * length - away * away))
            else:
                row, weights = None, self._weights[0]
                length = hypot(*x.values())
                both = sum(map(mul, x.values(), map(weights.get, x, NONE)), weights[Intercept])
                ahead = sign * both.real
        except NOT_QUICK:
            return self._learn_slowly(x, y)
        if length <= self._short or self._is_no_longer(x):
            if self.examples >= self._trial_at:
                past = both.imag if row is None else row.past_score(values, length * length)
                past_doubt = 0.0 if row is None else row.past_doubt
                if not self._hold_quick_trial(ahead, sign * past, past_doubt):
                    return self._learn_slowly(x, y)
            if ahead > self._clear:
                self.examples += 1
                return False
            mistake = ahead < -self._doubt
            if mistake or self._doubt < ahead < self._unclear:
                if row is not None and are_plain(values):
                    self._add_to_row(values, sign, mistake)
                    return mistake
                if row is None and type(both) is complex:
                    self._add(0, x, sign)
                    self._count(mistake, not mistake)
                    return mistake
        return self._learn_slowly(x, y)

    def rival_one(self, x: Mapping[Any, Any], y: Hashable) -> Any:
        """The class that an example of label `y` is mistaken for, if it is: the best other one for the last weights.

        Asked before `learn_one`, which adds the example to the weights of `y` and subtracts it from those of this.
        """
        example = self.scaled_one(x)
        scores = [dot(weights, example) for weights in self._weights]
        both = dict(zip(self.classes, scores if len(self.classes) > 2 else [-scores[0], scores[0]], strict=False))
        return max((label for label in both if label != y), key=both.__getitem__, default=None)

    def learn_many(self, examples: Iterable[Mapping[Any, Any]], labels: Iterable[Hashable]) -> int:
        """Learn examples in the order given, exactly as `learn_one` would, and return the number of mistakes.

        All are looked at first: if anything is wrong with one of them, none is learned. Ctrl-C is heard at the end.
        """
        seen, truths = list(examples), list(labels)
        if len(seen) != len(truths):
            raise ValueError(
                f"there are {len(seen)} examples and {len(truths)} labels: one label per example is required"
            )
        for row, (x, y) in enumerate(zip(seen, truths, strict=True)):
            try:
                seen[row] = as_numbers(x)
                self._labels.check(y)
            except (TypeError, ValueError) as error:
                raise type(error)(f"example {row}: {error} (none of the examples was learned)") from None
        with put_off_interrupt():
            return sum(map(self.learn_one, seen, truths))

    @property
    def run(self) -> Run:
        """The record of what happened so far, as every learner keeps it."""
        record: Run = self.recorded(self._in_charge, order="given")
        return record

    def to_state(self) -> OnlineState:
        """All that was learned; the weights are not copied."""
        return OnlineState(
            labels=tuple(self._labels.places),
            weights=tuple(self._weights),
            examples=self.examples,
            mistakes=self.mistakes,
            longest=self._longest,
            classes_are_fixed=self.classes_are_fixed,
            waited=self.waited,
            scales=None if self._scales is None else self._scales.by_name,
            origin=self._past.origin,
            trials=self._trials,
            narrow=self.narrow,
            square=self._square,
        )

    @classmethod
    def from_state(cls, state: OnlineState, **parameters: Any) -> "OnlinePerceptron":
        """The learner that goes on from here, bit by bit as the one whose state it was."""
        model = cls(**parameters, scale=state.scales is not None)
        if state.scales is not None:
            model._scales = RunningScales(state.scales.items())
        model._go_on_from(state)
        model._judge(state.trials, state.examples)
        return model

    clone = _supervised = OnlyAfterToRiver()

    def to_river(self) -> "RiverPerceptron":
        """A classifier for River's pipelines and evaluations, with the same parameters, that goes on from here.

        What was learned so far is copied, and the two go their own ways. A `clone()` is new, as everywhere in River.
        """
        try:
            from novikoff.learn.online.river import RiverPerceptron
        except ImportError as missing:
            how = 'pip install "novikoff[bench]", or pip install river'
            raise ImportError(f"to_river() needs River, which could not be imported ({missing}); {how}") from missing
        return RiverPerceptron.going_on_from(self)

    def __repr__(self) -> str:
        defaults = {"readout": "auto", "fit_intercept": True, "tie": "mistake", "scale": False, "half_life": 1000}
        defaults["lead"] = 0.0
        shown = [f"{name}={getattr(self, name)!r}" for name in defaults if getattr(self, name) != defaults[name]]
        shown += [f"classes={list(self.classes)!r}"] if self.classes_are_fixed else []
        return f"OnlinePerceptron({', '.join(shown)}): {say.made(self.run)}"

    def _scaled_to_learn(self, x: Mapping[Any, Any], y: Hashable, scales: RunningScales) -> dict[Any, Any]:
        """An example in the scales to which it has been added; if anything is wrong with it, it is not."""
        example = as_numbers(x)
        self._labels.check(y)
        return scales.learn(example)

    def _learn_slowly(self, x: Mapping[Any, Any], y: Hashable) -> bool:
        """Learn an example that is new in some way, or too close to call."""
        example = as_numbers(x)
        self._labels.check(y)
        if example is not x:
            return self.learn_one(example, y)
        if self.examples >= self._trial_at:
            self._hold_trial(example, y)
        if y not in self._labels.places:
            self._let_in([*self._labels.places, y])
        mistake, narrow = self._learn(example, y)
        self._count(mistake, narrow)
        return mistake


def _divided(score: float, divisor: float) -> float:
    """A score over a divisor, without becoming 0 if it is not."""
    return score / divisor or copysign(5e-324, score) if score else 0.0
