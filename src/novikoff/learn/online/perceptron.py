"""The protocol of online learning: predict, reveal, learn, one example at a time, features by name.

An example is a mapping from feature name to number and a weight vector is a dictionary, so features and labels need not
be known beforehand: new ones may appear at any time.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from math import copysign, dist, hypot
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from novikoff.engine.rule import is_added
from novikoff.features.names import Intercept, RunningScales, are_plain, as_numbers
from novikoff.learn.epochs import put_off_interrupt
from novikoff.learn.online.memory import NOT_QUICK, OnlineMemory, OnlineReadout, OnlineState
from novikoff.learn.online.weights import NONE, dot
from novikoff.learn.run import Run
from novikoff.options import Tie, check_options
from novikoff.say import runs as say

if TYPE_CHECKING:
    from novikoff.learn.online.river import RiverPerceptron


class Served(NamedTuple):
    """What the last weights predicted for an example, kept until its label arrives.

    `first` is the best label and `second` the next. `sure` is False at a tie that is a mistake whatever the label.
    `mistakes` is the number of updates at that time. `point` is the example as it was scaled then, if it was. `narrow`
    says that the best label was ahead of the next by no more than the lead.
    """

    first: Any
    second: Any
    sure: bool
    mistakes: int
    point: dict[Any, Any] | None = None
    narrow: bool = False


class OnlyAfterToRiver:
    """An attribute that River requires of the steps of its pipelines, and that `OnlinePerceptron` lacks."""

    def __get__(self, model: Any, kind: Any = None) -> NoReturn:
        raise AttributeError(
            "not a River estimator: put OnlinePerceptron(...).to_river() into its pipelines and evaluations"
        )


class OnlinePerceptron(OnlineMemory):
    """The perceptron as the notes run it: predict, see the truth, and on a mistake add the example.

    Theorem (Block 1962, Novikoff 1962): on a stream of examples of length at most R that some unit vector separates
    with margin gamma, `learn_one` finds at most (R/gamma)^2 mistakes, for a stream of any length and order.

    Parameters
    ----------
    readout : the weights that predict: "last", "average" (Freund & Schapire 1999: the mean of the weights after each
        example), or "auto": whichever of the two was wrong less often recently. It makes no difference to what is
        learned.
    fit_intercept, tie : as of `Perceptron`.
    classes : the labels, if they are known beforehand; else each is learned when it first appears.
    scale : whether to standardise numbers by their mean and deviation so far (`RunningScales`). R, gamma and the
        theorem are then those of the points as they were scaled when they were learned.
    lead : as of `Perceptron`; R is the longest example so far, this one included.

    Examples map feature names (any hashables) to numbers. A string instead of a number is a one-hot feature (`OneHot`),
    and an omitted feature is 0. Labels are any hashables. `classes` has them sorted, or in order of appearance if they
    cannot be sorted; the second of two is +1. With one label, no mistake is possible. From the third on each has its
    own weights (Kesler's construction): a mistake adds the example to the weights of its class and subtracts it from
    those of the best other class.

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
        lead: float = 0.0,
    ) -> None:
        if isinstance(lead, str) and lead == "auto":
            raise ValueError(
                'lead="auto" needs validation rows, and a stream has none; let two models learn '
                "it, with lead=0 and lead=0.2, say, and keep the one whose predictions were wrong less often"
            )
        check_options(tie=tie, lead=lead)
        super().__init__(self.begin(classes), readout, fit_intercept, lead)
        self.fit_intercept, self.tie, self.scale = fit_intercept, tie, scale
        self._scales = RunningScales() if scale else None
        self.rival: Any = None  # with more than two classes, the one that the last update was subtracted from

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
        divisor = 1 if self._in_charge == "last" else self.examples or 1
        scores = [_divided(score, divisor) for score in self._scores(self.scaled_one(x), self._in_charge)]
        return scores[0] if len(self.classes) <= 2 else dict(zip(self.classes, scores, strict=True))

    def learn_one(self, x: Mapping[Any, Any], y: Hashable) -> bool:
        """Learn an example, and return whether the last weights were mistaken about it.

        With a lead, narrow examples are learned, too: `updates` counts all that were added. If the example or its label
        is invalid, nothing is changed.
        """
        if self._scales is not None:
            x = self._scaled_to_learn(x, y, self._scales)
        row = self._row
        try:
            sign = self._signs[y]
            if row is not None and len(x) == row.width and type(x) is dict:  # a subclass may make up missing values
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

        Call it before `learn_one`, which adds the example to the weights of `y` and subtracts it from those of this.
        """
        example = self.scaled_one(x)
        of_class = dict(zip(self.classes, self._class_scores(example), strict=False))
        return max((label for label in of_class if label != y), key=of_class.__getitem__, default=None)

    def learn_many(self, examples: Iterable[Mapping[Any, Any]], labels: Iterable[Hashable]) -> int:
        """Learn examples in the order given, exactly as `learn_one` would, and return the number of mistakes.

        All are checked first: if one of them is invalid, none is learned. Ctrl-C takes effect at the end.
        """
        seen, truths = list(examples), list(labels)
        if len(seen) != len(truths):
            raise ValueError(
                f"there are {len(seen)} examples and {len(truths)} labels: one label per example is required"
            )
        for row, (x, y) in enumerate(zip(seen, truths, strict=True)):
            try:
                seen[row] = as_numbers(x)
                self._check_label(y)
            except (TypeError, ValueError) as error:
                raise type(error)(f"example {row}: {error} (none of the examples was learned)") from None
        with put_off_interrupt():
            return sum(map(self.learn_one, seen, truths))

    def scaled_one(self, x: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """An example as numbers, scaled as of now; right after `learn_one`, as it was learned.

        >>> from novikoff import OnlinePerceptron
        >>> model = OnlinePerceptron(scale=True)
        >>> model.learn_many([{"price": 30_000.0}, {"price": 10_000.0}], ["sports car", "van"])
        1
        >>> model.scaled_one({"price": 10_000.0, "colour": "red"})
        {'price': -1.0, colour=red: 1.0}
        """
        example = as_numbers(x)
        return example if self._scales is None else self._scales.scaled(example)

    def serve_one(self, x: Mapping[Any, Any]) -> Served:
        """Predict with the last weights, for `learn_served` when the label arrives; `classes` must be known."""
        if not self.classes_are_fixed:
            raise ValueError("serve_one needs classes=[...] from the start: labels cannot be added later")
        example = self.scaled_one(x)
        scores = self._class_scores(example)
        first = int(scores[1] >= 0.0) if self._signs else scores.index(max(scores))
        second = _best_other(scores, first)
        ahead = scores[first] - scores[second]
        sure = ahead > 0.0 or (self.tie == "predict" and not self.lead)
        narrow = sure and self.lead > 0.0 and ahead <= 2.0 * self.lead * self._square_with(example)
        point = dict(example) if self.scale else None
        return Served(self.classes[first], self.classes[second], sure, self.updates, point, narrow)

    def learn_served(self, x: Mapping[Any, Any], y: Hashable, served: Served) -> bool:
        """Learn an example whose label comes late, judged as it was served: if it was a mistake then, add it now.

        If tau mistakes were learned in between, on average over the mistakes judged so, there are at most
        (1 + 2 tau) (R/gamma)^2 of them: <w, z> <= 0 held when it was served, and each of the tau mistakes has added at
        most R^2 to it since. `learn_one` judges on arrival instead: at most (R/gamma)^2 mistakes, whatever the delay.
        With a lead it is (1 + 2 lead + 2 tau) (R/gamma)^2 updates, and what was narrow when it was served is learned.

        >>> from novikoff import OnlinePerceptron
        >>> model = OnlinePerceptron(classes=["no", "yes"], fit_intercept=False)
        >>> served = [model.serve_one({"a": 1}), model.serve_one({"a": 2})]
        >>> model.learn_served({"a": 1}, "yes", served[0]), model.learn_served({"a": 2}, "yes", served[1])
        (True, True)
        >>> model.mistakes, model.waited
        (2, 1)
        """
        example = as_numbers(x)
        self._check_label(y)
        waited = self.updates - served.mistakes
        said = {served.first, served.second}
        if waited < 0 or len(said) < 2 or not said <= self._places.keys():
            raise ValueError(f"{served!r} was not served by this model")
        if self._scales is not None:
            if served.point is None or served.point.keys() != example.keys():
                raise ValueError(f"{served!r} has no point, or that of another example, and this model scales")
            self._scales.learn(example)
            example = as_numbers(served.point)  # the bound refers to the point as served
        if self.examples >= self._trial_at:
            self._hold_trial(example, y)
        mistake = y != served.first or not served.sure
        narrow = served.narrow and not mistake
        self._let_r_grow(example)
        if mistake or narrow:
            self._add_to(example, y, served.second if y == served.first else served.first)
            self.waited += waited
        self._count(mistake, narrow)
        return mistake

    @property
    def run(self) -> Run:
        """The record of what happened so far, as of every learner."""
        record: Run = self.recorded(self._in_charge, order="given")
        return record

    def to_state(self) -> OnlineState:
        """All that was learned; the weights are not copied."""
        return OnlineState(
            labels=tuple(self._places),
            weights=tuple(self._weights),
            examples=self.examples,
            mistakes=self.mistakes,
            longest=self._longest,
            classes_are_fixed=self.classes_are_fixed,
            waited=self.waited,
            scales=None if self._scales is None else self._scales.by_name,
            trials=self._trials,
            narrow=self.narrow,
            square=self._square,
        )

    @classmethod
    def from_state(cls, state: OnlineState, **parameters: Any) -> "OnlinePerceptron":
        """A learner that continues from this state, bit for bit as the original would."""
        model = cls(**parameters, scale=state.scales is not None)
        if state.scales is not None:
            model._scales = RunningScales(state.scales.items())
        OnlineMemory.__init__(model, state, model.readout, model.fit_intercept, model.lead)
        return model

    clone = _supervised = OnlyAfterToRiver()

    def to_river(self) -> "RiverPerceptron":
        """A classifier for River's pipelines and evaluations, with the same parameters, that continues from here.

        What was learned so far is copied, and the two are then independent. A `clone()` is new, as everywhere in River.
        """
        try:
            from novikoff.learn.online.river import RiverPerceptron
        except ImportError as missing:
            how = 'pip install "novikoff[bench]", or pip install river'
            raise ImportError(f"to_river() needs River, which could not be imported ({missing}); {how}") from missing
        return RiverPerceptron.going_on_from(self)

    def __repr__(self) -> str:
        defaults = {"readout": "auto", "fit_intercept": True, "tie": "mistake", "scale": False, "lead": 0.0}
        shown = [f"{name}={getattr(self, name)!r}" for name in defaults if getattr(self, name) != defaults[name]]
        shown += [f"classes={list(self.classes)!r}"] if self.classes_are_fixed else []
        return f"OnlinePerceptron({', '.join(shown)}): {say.made(self.run)}"

    def _scaled_to_learn(self, x: Mapping[Any, Any], y: Hashable, scales: RunningScales) -> dict[Any, Any]:
        """An example in the scales, to which it is added first; if anything is wrong with it, it is not."""
        example = as_numbers(x)
        self._check_label(y)
        return scales.learn(example)

    def _learn_slowly(self, x: Mapping[Any, Any], y: Hashable) -> bool:
        """Learn an example that is new in some way, or whose score is too close to the limit."""
        example = as_numbers(x)
        self._check_label(y)
        if example is not x:
            return self.learn_one(example, y)
        if self.examples >= self._trial_at:
            self._hold_trial(example, y)
        if y not in self._places:
            self._let_in([*self._places, y])
        mistake, narrow = self._learn(example, y)
        self._count(mistake, narrow)
        return mistake

    def _learn(self, example: Mapping[Any, Any], y: Hashable) -> tuple[bool, bool]:
        """Add an example if it is a mistake, or else narrow; return the two as flags."""
        self._let_r_grow(example)
        if len(self.classes) < 2:
            return False, False  # with one label, no mistake is possible
        scores, right = self._class_scores(example), self._places[y]
        rival = _best_other(scores, right)
        # Of two the second wins ties, of more the first.
        wins_ties, ahead = (right < rival) != bool(self._signs), scores[right] - scores[rival]
        mistake = is_added(ahead, 0.0, self.tie == "mistake" or self.lead > 0.0, wins_ties)
        narrow = not mistake and self.lead > 0.0 and is_added(ahead, 2.0 * self.lead * self._square, True, False)
        if mistake or narrow:
            self._add_to(example, y, self.classes[rival])
        return mistake, narrow

    def _class_scores(self, example: Mapping[Any, Any]) -> list[float]:
        """The score of every class by the last weights; of two, one is the other's with the opposite sign."""
        scores = [dot(weights, example) for weights in self._weights]
        return [-scores[0], scores[0]] if self._signs else scores

    def _add_to(self, example: Mapping[Any, Any], y: Hashable, rival: Hashable) -> None:
        """Add an example to its class, with its sign, and subtract it from its rival, if that has its own weights."""
        signs, places = self._signs, self._places
        for place, sign in [(0, signs[y])] if signs else [(places[y], 1.0), (places[rival], -1.0)]:
            self._add(place, example, sign)
        self.rival = None if signs else rival


class Round(NamedTuple):
    """One round of the protocol: the prediction, the truth, and the number of wrong predictions so far."""

    prediction: Any
    truth: Any
    mistakes: int


def predict_reveal_learn(model: Any, examples: Iterable[tuple[Any, Any]]) -> Iterator[Round]:
    """Run the protocol (Littlestone 1988) over pairs of example and label, with any model that has `predict_one` and
    `learn_one`, River's too.

    An example is predicted, its label revealed, both are learned, and the round is yielded; the next pair is not drawn
    before the next round is requested. `mistakes` counts wrong predictions. A perceptron's own count is the theorem's:
    there a tie is a mistake even if +1 would be right, the last weights are tested even if their average predicts, and
    the very first label is no mistake, while here it was not predicted.

    >>> model = OnlinePerceptron()
    >>> for played in predict_reveal_learn(model, [({"x": 1}, "right"), ({"x": -1}, "left"), ({"x": 2}, "right")]):
    ...     print(played)
    Round(prediction=None, truth='right', mistakes=1)
    Round(prediction='right', truth='left', mistakes=2)
    Round(prediction='right', truth='right', mistakes=2)
    >>> model.mistakes
    1
    """
    mistakes = 0
    for x, y in examples:
        prediction = model.predict_one(x)
        mistakes += bool(prediction != y)
        model.learn_one(x, y)
        yield Round(prediction, y, mistakes)


def _best_other(scores: list[float], place: int) -> int:
    return max((other for other in range(len(scores)) if other != place), key=scores.__getitem__)


def _divided(score: float, divisor: float) -> float:
    """A score over a divisor; if it is not 0, it does not become 0."""
    return score / divisor or copysign(5e-324, score) if score else 0.0
