"""The protocol of online learning: predict, reveal, learn, one example at a time, features by name.

An example is a mapping from feature name to number and a weight vector is a dictionary, so no list of features or
labels is needed to begin with: one that was never seen before is no event.

*Order.* A mapping has no columns, so no order of features may matter. The score is the correctly rounded sum of its
products (`math.fsum`). The quick loops add in the order given and trust a sign only beyond their own rounding error,
for which the theorem has the bound: after k mistakes ||w|| <= sqrt(k) R, or sqrt(k + 2 sum tau) R if labels come late
and mistakes are judged as served.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from math import fsum, hypot
from operator import mul
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from novikoff.data.missing import is_missing
from novikoff.engine.rounding import UNIT_ROUNDOFF, up
from novikoff.features.names import Intercept, as_numbers
from novikoff.features.scales import RunningScales, Scale
from novikoff.learn.epochs import put_off_interrupt
from novikoff.learn.history import History, Run, Tie
from novikoff.learn.model import NamedWeight, heaviest_first
from novikoff.learn.past import Average, Fading
from novikoff.learn.row import Row

if TYPE_CHECKING:
    from novikoff.learn.river import RiverPerceptron


OnlineReadout = Literal["auto", "average", "last", "recent"]

# With readout="auto" the average predicts, unless it was wrong more often lately than the last weights. Both are tried
# on every sixteenth example; after 355 trials what was seen before counts half.
TRIED_EVERY = 16
KEPT, AHEAD = 511 / 512, 3.0

ZEROS = repeat(0.0)  # the weights of names that have none

# What ends a quick loop: an unknown label, a string, a label that cannot be hashed, an x that is no mapping.
NOT_QUICK = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)


@dataclass(frozen=True, eq=False)
class OnlineState:
    """All that an `OnlinePerceptron` has learned; `labels` are in order of appearance.

    There is one vector of weights for two labels (or fewer, so far), one a label for more, and as many of drift, which
    is what the read-out has to know of the past (`novikoff.learn.past`), with its ages from `origin`. `trials` are the
    wrong predictions of the last weights and of their average. `longest` is without the constant, and beyond
    `doubt` no order of its sum can change the sign of a score. `waited` is the sum of the delays of mistakes that were
    judged as served. `scales` is None for a learner that takes its examples as they come.
    """

    labels: tuple[Hashable, ...]
    weights: tuple[dict[Any, float], ...]
    drift: tuple[dict[Any, float], ...]
    examples: int
    mistakes: int
    longest: float
    doubt: float
    classes_are_fixed: bool
    has_one_width: bool
    waited: int = 0
    scales: dict[Any, Scale] | None = None
    origin: int = 0
    trials: tuple[float, float] = (0.0, 0.0)


class Served(NamedTuple):
    """What the last weights said of an example when it was predicted, kept until its label comes.

    `first` is the best label and `second` the next. `sure` is False at a tie that is a mistake whatever the label.
    `mistakes` is how many the learner had made. `point` is the example as it was scaled then, if it was.
    """

    first: Any
    second: Any
    sure: bool
    mistakes: int
    point: dict[Any, Any] | None = None


class OnlinePerceptron(History):
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

    mistakes: int = 0

    def __init__(
        self,
        *,
        readout: OnlineReadout = "auto",
        fit_intercept: bool = True,
        tie: Tie = "mistake",
        classes: Iterable[Hashable] | None = None,
        scale: bool = False,
        half_life: float = 1000,
    ) -> None:
        _check_choices(readout, tie, half_life)
        self.fit_intercept, self.tie, self.scale, self.half_life = fit_intercept, tie, scale, half_life
        self._past: Average | Fading = Fading(half_life) if readout == "recent" else Average()
        self._trials = (0.0, 0.0)
        self._in_charge: str = "average"  # the weights that predict now
        self._trial_at = math.inf  # after how many examples
        self._scales = RunningScales() if scale else None
        self.examples = self.mistakes = 0
        self.readout = readout
        self.rival: Any = None  # of more than two classes, the one that the last mistake was taken from
        self.waited = 0  # the mistakes between predicting and learning, summed over the mistakes judged as served
        # One dictionary for two classes (or fewer, so far), one a class for more; drift is the sum P of `learn.past`.
        # A name has a weight since the first mistake that had it.
        self._weights_by_name: list[dict[Any, float]] = [{Intercept: 0.0}]
        self._drift_by_name: list[dict[Any, float]] = [{Intercept: 0.0}]
        self._row: Row | None = None  # while every mistake has the same names, as in a table
        self._row_is_ahead = False  # of the weights by name
        self._constant = 1.0 if fit_intercept else 0.0
        self._longest = 0.0  # without the constant
        self._doubt = 0.0  # beyond this, no order of its sum can change the sign of a score
        self._places: dict[Any, int] = {}  # every label's place in `classes`, in order of appearance
        self._classes: tuple[Any, ...] = ()
        self._signs: dict[Any, float] = {}  # of two labels
        self.classes_are_fixed = classes is not None
        if classes is not None:
            self._make_room(_as_classes(classes))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label of an example: +1 at score 0, the first of the best classes, None while no label is known."""
        if self._scales is not None:
            x = self.scaled_one(x)
        return self._predict(x, self._in_charge)

    def _predict(self, x: Mapping[Any, Any], readout: str) -> Any:
        score = self._sure_score(x, readout) if self._signs else 0.0
        if score:
            return self._classes[score > 0.0]
        scores = self._deciding_scores(as_numbers(x), readout)
        if len(self._classes) == 2:
            return self._classes[scores[0] >= 0.0]
        return self._classes[scores.index(max(scores))] if self._classes else None

    def decision_one(self, x: Mapping[Any, Any]) -> float | dict[Any, float]:
        """The read-out's score of an example: for the second of two classes, or, of more, for each.

        >>> model = OnlinePerceptron(readout="last", fit_intercept=False)
        >>> model.learn_many([{"legs": 2}, {"legs": 4}, {"legs": 6, "of": "a fly"}], ["bird", "cat", "fly"])
        2
        >>> model.decision_one({"legs": 1, "of": "a fly"})
        {'bird': -4.0, 'cat': -3.0, 'fly': 7.0}
        """
        divisor, readout = 1.0, self._in_charge
        if readout != "last" and self.examples:
            divisor = self.examples if readout == "average" else self._past.whole(self.examples)
        scores = [_divided(score, divisor) for score in self._deciding_scores(self.scaled_one(x), readout)]
        return scores[0] if len(self._classes) <= 2 else dict(zip(self._classes, scores, strict=True))

    def learn_one(self, x: Mapping[Any, Any], y: Hashable) -> bool:
        """Learn an example, and say whether the last weights were mistaken about it.

        If anything is wrong with the example or its label, nothing is changed.
        """
        if self._scales is not None:
            x = self._scaled_to_learn(x, y, self._scales)
        if self.examples >= self._trial_at:
            self._hold_trial(x, y)
        row = self._row
        try:
            sign = self._signs[y]
            if row is not None and len(x) == row.width and type(x) is dict:  # no dict may make up a missing value
                values = row.columns(x)
                length = hypot(*values)
                score = sum(map(mul, row.weights, values), row.constant)
            else:
                row, weights = None, self._weights[0]
                length = hypot(*x.values())
                score = sum(map(mul, x.values(), map(weights.get, x, ZEROS)), weights[Intercept])
            lead = sign * score if length <= self._longest and type(score) is float else 0.0
        except NOT_QUICK:
            lead = 0.0
        if lead > self._doubt:
            self.examples += 1
            return False
        if lead < -self._doubt:
            if row is None:
                self._add(0, x, sign)
            else:
                row.add(values, sign, sign * self._past.age(self.examples), self._constant)
                self._row_is_ahead = True
            self._count(True)
            return True
        return self._learn_slowly(x, y)

    def rival_one(self, x: Mapping[Any, Any], y: Hashable) -> Any:
        """The class that an example of label `y` is mistaken for, if it is: the best other one for the last weights.

        Asked before `learn_one`, which adds the example to the weights of `y` and subtracts it from those of this.
        """
        example = self.scaled_one(x)
        scores = [_dot(weights, example) for weights in self._weights]
        both = dict(zip(self._classes, scores if len(self._classes) > 2 else [-scores[0], scores[0]], strict=False))
        return max((label for label in both if label != y), key=both.__getitem__, default=None)

    def learn_many(self, examples: Iterable[Mapping[Any, Any]], labels: Iterable[Hashable]) -> int:
        """Learn examples in the order given, exactly as `learn_one` would, and return the number of mistakes.

        All are looked at first: if anything is wrong with one of them, none is learned. Ctrl-C is heard at the end.
        """
        seen, truths = list(examples), list(labels)
        if len(seen) != len(truths):
            raise ValueError(f"there are {len(seen)} examples and {len(truths)} labels: one label an example is needed")
        for row, (x, y) in enumerate(zip(seen, truths, strict=True)):
            try:
                seen[row] = as_numbers(x)
                self._check_label(y)
            except (TypeError, ValueError) as error:
                raise type(error)(f"example {row}: {error} (none of the examples was learned)") from None
        with put_off_interrupt():
            return sum(map(self.learn_one, seen, truths))

    def serve_one(self, x: Mapping[Any, Any]) -> Served:
        """What the last weights say of an example, for `learn_served` when its label comes; `classes` must be known."""
        if not self.classes_are_fixed:
            raise ValueError("what is judged as served needs classes=[...] from the start: no label may be new later")
        example = self.scaled_one(x)
        scores = [_dot(weights, example) for weights in self._weights]
        if len(self._classes) == 2:
            first = int(scores[0] >= 0.0)
            second, is_tie = 1 - first, scores[0] == 0.0
        else:
            first = scores.index(max(scores))
            second = max((place for place in range(len(scores)) if place != first), key=scores.__getitem__)
            is_tie = scores[first] == scores[second]
        sure = self.tie == "predict" or not is_tie
        point = dict(example) if self.scale else None
        return Served(self._classes[first], self._classes[second], sure, self.mistakes, point)

    def learn_served(self, x: Mapping[Any, Any], y: Hashable, served: Served) -> bool:
        """Learn an example whose label came late, judged as it was served: on a mistake then, add the example now.

        If tau mistakes were learned in between, on average over the mistakes judged so, there are at most
        (1 + 2 tau) (R/gamma)^2 of them: <w, z> <= 0 held when it was served, and each of the tau mistakes has added at
        most R^2 to it since. `learn_one` judges on arrival instead: at most (R/gamma)^2 mistakes, whatever the delay.

        >>> model = OnlinePerceptron(classes=["no", "yes"], fit_intercept=False)
        >>> served = [model.serve_one({"a": 1}), model.serve_one({"a": 2})]
        >>> model.learn_served({"a": 1}, "yes", served[0]), model.learn_served({"a": 2}, "yes", served[1])
        (True, True)
        >>> model.mistakes, model.waited
        (2, 1)
        """
        example = as_numbers(x)
        self._check_label(y)
        waited = self.mistakes - served.mistakes
        if waited < 0 or served.first == served.second or not {served.first, served.second} <= self._places.keys():
            raise ValueError(f"{served!r} was not served by this model")
        if self._scales is not None:
            if served.point is None or served.point.keys() != example.keys():
                raise ValueError(f"{served!r} has no point, or that of another example, and this model scales")
            self._scales.learn(example)
            example = as_numbers(served.point)  # what the bound speaks of is what was served
        if self.examples >= self._trial_at:
            self._hold_trial(example, y)
        mistake = y != served.first or not served.sure
        self._longest = max(self._longest, hypot(*example.values()))
        if mistake:
            rival = served.second if y == served.first else served.first
            two = len(self._classes) == 2
            self.rival = None if two else rival
            for place, sign in [(0, self._signs[y])] if two else [(self._places[y], 1.0), (self._places[rival], -1.0)]:
                self._add(place, example, sign)
            self.waited += waited
        self._count(mistake)
        return mistake

    def scaled_one(self, x: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """An example in numbers, as it is scaled now; right after `learn_one`, as it was learned.

        >>> model = OnlinePerceptron(scale=True)
        >>> model.learn_many([{"price": 30_000.0}, {"price": 10_000.0}], ["sports car", "van"])
        1
        >>> model.scaled_one({"price": 10_000.0, "colour": "red"})
        {'price': -1.0, colour=red: 1.0}
        """
        example = as_numbers(x)
        return example if self._scales is None else self._scales.scaled(example)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels known so far: sorted, or in order of appearance if they cannot be sorted."""
        return self._classes

    def feature_names(self) -> list[Any]:
        """The features that have a weight, be it 0, in order of appearance."""
        return [name for name in dict.fromkeys(chain(*self._weights)) if name is not Intercept]

    @property
    def radius(self) -> float:
        """R: the length of the longest example so far, its constant included, rounded up."""
        return up(hypot(self._longest, self._constant) * (1.0 + 4.0 * UNIT_ROUNDOFF)) if self.examples else 0.0

    @property
    def weights_length(self) -> float:
        """The length of the last weights: ||w||, or ||W|| of all classes."""
        return hypot(*(weight for weights in self._weights for weight in weights.values()))

    @property
    def step_square(self) -> float:
        """R^2; with more than two classes a step has the length sqrt(2) R; with delays, the mean of (1 + 2 tau) R^2."""
        delayed = 1.0 + 2.0 * self.waited / self.mistakes if self.waited else 1.0
        return self.radius**2 * min(len(self._weights), 2) * delayed

    @property
    def terms(self) -> int:
        return 0

    @property
    def run(self) -> Run:
        """The record of what happened so far, as every learner keeps it."""
        record: Run = self.recorded(self._in_charge, order="given")
        return record

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

    def to_state(self) -> OnlineState:
        """All that was learned; the weights are not copied."""
        return OnlineState(
            labels=tuple(self._places),
            weights=tuple(self._weights),
            drift=tuple(self._drift),
            examples=self.examples,
            mistakes=self.mistakes,
            longest=self._longest,
            doubt=self._doubt,
            classes_are_fixed=self.classes_are_fixed,
            has_one_width=self._row is not None,
            waited=self.waited,
            scales=None if self._scales is None else self._scales.by_name,
            origin=self._past.origin,
            trials=self._trials,
        )

    @classmethod
    def from_state(cls, state: OnlineState, **parameters: Any) -> "OnlinePerceptron":
        """The learner that goes on from here, bit by bit as the one whose state it was."""
        model = cls(**parameters, scale=state.scales is not None)
        if state.scales is not None:
            model._scales = RunningScales(state.scales.items())
        if state.labels:
            model._make_room(list(state.labels))
        model._weights_by_name[:], model._drift_by_name[:] = state.weights, state.drift
        model.examples, model.mistakes, model.waited = state.examples, state.mistakes, state.waited
        model._longest, model._doubt = state.longest, state.doubt
        model.classes_are_fixed = state.classes_are_fixed
        if isinstance(model._past, Fading):
            model._past.origin = state.origin
        model._judge(state.trials, state.examples)
        if state.has_one_width:  # no order of a row changes a sign
            names = [name for name in state.weights[0] if name is not Intercept]
            model._row = Row.if_all(names, state.weights[0], state.drift[0])
        return model

    def to_river(self) -> "RiverPerceptron":
        """A classifier for River's pipelines and evaluations, with the same parameters, that goes on from here.

        What was learned so far is copied, and the two go their own ways. A `clone()` is new, as everywhere in River.
        """
        try:
            from novikoff.learn.river import RiverPerceptron
        except ImportError as missing:
            how = 'pip install "novikoff[bench]", or pip install river'
            raise ImportError(f"to_river() needs River, which could not be imported ({missing}); {how}") from missing
        return RiverPerceptron.going_on_from(self)

    def __repr__(self) -> str:
        defaults = {"readout": "auto", "fit_intercept": True, "tie": "mistake", "scale": False, "half_life": 1000}
        shown = [f"{name}={getattr(self, name)!r}" for name in defaults if getattr(self, name) != defaults[name]]
        shown += [f"classes={list(self._classes)!r}"] if self.classes_are_fixed else []
        counts = ((self.mistakes, "mistake"), (self.examples, "example"))
        mistakes, examples = (f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counts)
        return f"OnlinePerceptron({', '.join(shown)}): {mistakes} on {examples}"

    @property
    def readout(self) -> OnlineReadout:
        """Which weights predict. It may be changed, but "recent" has to be chosen from the start."""
        return self._readout

    @readout.setter
    def readout(self, readout: OnlineReadout) -> None:
        _check_choices(readout, self.tie, self.half_life)
        if (readout == "recent") != isinstance(self._past, Fading):
            raise ValueError("readout='recent' keeps another sum of the past than the others; choose it from the start")
        self._readout = readout
        self._in_charge, self._trial_at = readout, math.inf
        self._judge(self._trials, self.examples)

    @property
    def predicts_with(self) -> str:
        """The weights that predict now; they change only if `readout` is "auto"."""
        return self._in_charge

    def _hold_trial(self, x: Mapping[Any, Any], y: Hashable) -> None:
        """Let the last weights and their average predict, and see which is wrong."""
        wrong = self._surely_wrong(x, y)
        if wrong is None:
            example = as_numbers(x)
            self._check_label(y)
            wrong = self._predict(example, "last") != y, self._predict(example, "average") != y
        last, average = self._trials
        self._judge((KEPT * last + wrong[0], KEPT * average + wrong[1]), self.examples + 1)

    def _surely_wrong(self, x: Mapping[Any, Any], y: Hashable) -> tuple[bool, bool] | None:
        """Whether the last weights and their average are wrong, if that is beyond doubt, as it mostly is."""
        try:
            sign = self._signs.get(y, 0.0)
        except TypeError:  # it cannot be hashed
            return None
        last, average = (sign * self._sure_score(x, readout) for readout in ("last", "average"))
        return (last < 0.0, average < 0.0) if last and average else None

    def _judge(self, trials: tuple[float, float], examples: int) -> None:
        """Put those in charge that were wrong less often, until the next trial, after so many examples or later."""
        self._trials = trials
        if self.readout == "auto":
            self._in_charge = "last" if trials[0] + AHEAD < trials[1] else "average"
            self._trial_at = -(-examples // TRIED_EVERY) * TRIED_EVERY

    def _sure_score(self, x: Mapping[Any, Any], readout: str) -> float:
        """The read-out's score, for two classes, if its sign is beyond doubt; else 0."""
        try:
            row, averaged = self._row, readout != "last" and self.examples > 0
            if row is not None and len(x) == row.width and type(x) is dict:
                values = row.columns(x)
                length = hypot(*values)
                score = sum(map(mul, row.weights, values), row.constant)
                past = sum(map(mul, row.drift, values), row.past) if averaged else 0.0
            else:
                length = hypot(*x.values())
                weights, drift = self._weights[0], self._drift_by_name[0]
                score = sum(map(mul, x.values(), map(weights.get, x, ZEROS)), weights[Intercept])
                past = sum(map(mul, x.values(), map(drift.get, x, ZEROS)), drift[Intercept]) if averaged else 0.0
            if averaged:
                score -= past * self._past.share(self.examples)  # at most twice as long as any weights so far
            sure = length <= self._longest and type(score) is float and abs(score) > 4.0 * self._doubt
            return score if sure else 0.0
        except NOT_QUICK:
            return 0.0

    @property
    def _weights(self) -> list[dict[Any, float]]:
        """The weights by name: one dictionary for two classes, one a class for more."""
        if self._row_is_ahead:
            self._row.write_back(self._weights_by_name[0], self._drift_by_name[0])  # type: ignore[union-attr]
            self._row_is_ahead = False
        return self._weights_by_name

    @property
    def _drift(self) -> list[dict[Any, float]]:
        return self._drift_by_name if self._weights else []

    def _scaled_to_learn(self, x: Mapping[Any, Any], y: Hashable, scales: RunningScales) -> dict[Any, Any]:
        """An example in the scales to which it has been added; if anything is wrong with it, it is not."""
        example = as_numbers(x)
        self._check_label(y)
        return scales.learn(example)

    def _learn_slowly(self, x: Mapping[Any, Any], y: Hashable) -> bool:
        """Learn an example that is new in some way, or too close to call."""
        example = as_numbers(x)
        self._check_label(y)
        if example is not x:
            return self.learn_one(example, y)
        if y not in self._places:
            self._make_room([*self._places, y])
        self._longest = max(self._longest, hypot(*example.values()))
        mistake = self._learn_sign(example, y) if len(self._classes) <= 2 else self._learn_argmax(example, y)
        self._count(mistake)
        return mistake

    def _learn_sign(self, example: Mapping[Any, Any], y: Hashable) -> bool:
        sign, score = self._signs.get(y), _dot(self._weights[0], example)
        if sign is None:
            return False
        mistake = sign * score <= 0.0 if self.tie == "mistake" else (score >= 0.0) != (sign > 0.0)
        if mistake:
            self._add(0, example, sign)
        return mistake

    def _learn_argmax(self, example: Mapping[Any, Any], y: Hashable) -> bool:
        right, scores = self._places[y], [_dot(weights, example) for weights in self._weights]
        rival = max((place for place in range(len(scores)) if place != right), key=scores.__getitem__)
        lost_at_a_tie = self.tie == "mistake" or rival < right
        mistake = scores[rival] >= scores[right] if lost_at_a_tie else scores[rival] > scores[right]
        if mistake:
            self.rival = self._classes[rival]
            for place, sign in ((right, 1.0), (rival, -1.0)):
                self._add(place, example, sign)
        return mistake

    def _add(self, place: int, example: Mapping[Any, Any], sign: float) -> None:
        """On a mistake, add the example."""
        weights, drift = self._weights[place], self._drift[place]
        age = sign * self._past.age(self.examples)
        for name, value in example.items():
            weights[name] = weights.get(name, 0.0) + sign * value
            drift[name] = drift.get(name, 0.0) + age * value
        weights[Intercept] += sign * self._constant
        drift[Intercept] += age * self._constant
        self._row = Row.if_all(example, weights, drift) if self._signs else None

    def _count(self, mistake: bool) -> None:
        self.examples += 1
        self.mistakes += mistake
        if isinstance(self._past, Fading) and self._past.is_old(self.examples):
            self._renew(self._past)
        names, square = len(self._weights_by_name[0]), self._longest * self._longest + self._constant
        self._doubt = 4.0 * UNIT_ROUNDOFF * (names + 2) * math.sqrt(self.mistakes + 2 * self.waited) * square

    def _renew(self, fading: Fading) -> None:
        """Count ages from now on, before they become too large."""
        share = fading.share(self.examples)
        for drift in self._drift:
            drift.update({name: share * value for name, value in drift.items()})
        fading.origin, self._row = self.examples, None

    def _deciding_scores(self, example: Mapping[Any, Any], readout: str) -> list[float]:
        """The scores of the last weights, or of the sum of the weights after each example: a mean is divided later,
        because a score of 0 is 0 before."""
        if readout == "last" or not self.examples:
            return [_dot(weights, example) for weights in self._weights]
        n, pairs = self.examples, zip(self._weights, self._drift, strict=True)
        names, share = (Intercept, *example), self._past.share(self.examples)
        if readout == "average":
            return [_dot({name: n * w[name] - past[name] for name in names if name in w}, example) for w, past in pairs]
        return [_dot({name: w[name] - share * past[name] for name in names if name in w}, example) for w, past in pairs]

    def _read_out(self, label: Hashable) -> dict[Any, float]:
        if label is None and len(self._classes) > 2:
            raise ValueError(f"each of the {len(self._classes)} classes has its own weights; pass the label of one")
        if label is not None and label not in self._places:
            raise ValueError(f"label {label!r} is not among the classes known so far, {list(self._classes)!r}")
        sign, place = (self._signs.get(label, 1.0), 0) if len(self._classes) <= 2 else (1.0, self._places[label])
        weights, drift, examples = self._weights[place], self._drift[place], self.examples or 1
        if self._in_charge == "last":
            return {name: sign * weight for name, weight in weights.items()}
        if self._in_charge == "average":
            return {name: sign * (examples * weight - drift[name]) / examples for name, weight in weights.items()}
        share, whole = self._past.share(examples), self._past.whole(examples)
        return {name: sign * (weight - share * drift[name]) / whole for name, weight in weights.items()}

    def _check_label(self, label: Hashable) -> None:
        try:
            known = label in self._places
        except TypeError:
            raise TypeError(f"label {label!r} cannot be hashed; use a string, a number or a tuple of them") from None
        if not known and self.classes_are_fixed:
            how = "name it there, or leave classes out, and labels are learned as they come"
            raise ValueError(f"label {label!r} is not in classes={list(self._classes)!r}; {how}")
        if not known and is_missing(label):
            raise ValueError(f"the label {label!r} stands for none at all, as NaN and None do; leave such examples out")

    def _make_room(self, labels: list[Hashable]) -> None:
        """Let labels in. Two classes share one weight vector w; apart, they have -w and +w."""
        before, self._classes = self._classes, _in_order(labels)
        places = {label: place for place, label in enumerate(self._classes)}
        self._places = {label: places[label] for label in labels}
        weights, drift = self._weights, self._drift
        self._row = None
        self._signs = dict(zip(self._classes, (-1.0, 1.0), strict=True)) if len(labels) == 2 else {}
        for parts in (weights, drift):
            if len(before) == 2:
                parts.insert(0, {name: -weight for name, weight in parts[0].items()})
            if len(labels) > 2:
                old = dict(zip(before, parts, strict=False))
                parts[:] = [old.get(label) or {Intercept: 0.0} for label in self._classes]


def _dot(weights: Mapping[Any, float], example: Mapping[Any, Any]) -> float:
    """The score of an example, correctly rounded, so that no order of its features matters."""
    return fsum([weights[Intercept], *[value * weights.get(name, 0.0) for name, value in example.items()]])


def _divided(score: float, divisor: float) -> float:
    """A score over a divisor, without becoming 0 if it is not."""
    return score / divisor or math.copysign(5e-324, score) if score else 0.0


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


def _check_choices(readout: str, tie: str, half_life: float) -> None:
    if readout == "vote":
        raise ValueError(
            "readout='vote' replays every mistake at each prediction, so a stream would have to keep them all; choose "
            "'average', which predicts much the same, or Perceptron(readout='vote') on data at hand"
        )
    if not 1.0 <= half_life < 2.0**53:
        raise ValueError(f"half_life={half_life!r} must be a number of examples of at least 1")
    readouts = ("auto", "average", "last", "recent")
    for name, value, choices in (("readout", readout, readouts), ("tie", tie, ("mistake", "predict"))):
        if value not in choices:
            raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(choices)}")
