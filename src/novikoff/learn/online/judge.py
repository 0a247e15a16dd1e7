"""What is a mistake, exactly: on arrival, or, where labels come late, as it was served; and what is narrow."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from novikoff.engine.rule import is_added
from novikoff.features.names import RunningScales, as_numbers
from novikoff.learn.online.labels import Labels
from novikoff.learn.online.readout import OnlineReadout, OnlineReadouts
from novikoff.learn.online.weights import dot
from novikoff.options import Tie, check_options


class Served(NamedTuple):
    """What the last weights said of an example when it was predicted, kept until its label comes.

    `first` is the best label and `second` the next. `sure` is False at a tie that is a mistake whatever the label.
    `mistakes` is how many updates the learner had made. `point` is the example as it was scaled then, if it was.
    `narrow` says that the best label was ahead of the next by no more than the lead.
    """

    first: Any
    second: Any
    sure: bool
    mistakes: int
    point: dict[Any, Any] | None = None
    narrow: bool = False


class OnlineJudge(OnlineReadouts):
    """A memory that tells mistakes, and adds them."""

    def __init__(
        self,
        labels: Labels,
        readout: OnlineReadout,
        half_life: float,
        fit_intercept: bool,
        tie: Tie,
        lead: float,
        scale: bool,
    ) -> None:
        if isinstance(lead, str) and lead == "auto":
            raise ValueError(
                'lead="auto" judges by rows that are put aside, and a stream has none to spare; let two models learn '
                "it, with lead=0 and lead=0.2, say, and keep the one whose predictions were wrong less often"
            )
        check_options(tie=tie, lead=lead)
        super().__init__(labels, readout, half_life, fit_intercept, lead)
        self.tie, self.scale = tie, scale
        self._scales = RunningScales() if scale else None
        self.rival: Any = None  # of more than two classes, the one that the last update was taken from

    def scaled_one(self, x: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """An example in numbers, as it is scaled now; right after `learn_one`, as it was learned.

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
        """What the last weights say of an example, for `learn_served` when its label comes; `classes` must be known."""
        if not self.classes_are_fixed:
            raise ValueError("what is judged as served needs classes=[...] from the start: no label may be new later")
        example = self.scaled_one(x)
        scores = [dot(weights, example) for weights in self._weights]
        if len(self.classes) == 2:
            first = int(scores[0] >= 0.0)
            second, ahead = 1 - first, abs(scores[0])
        else:
            first = scores.index(max(scores))
            second = _best_other(scores, first)
            ahead = scores[first] - scores[second]
        sure = ahead > 0.0 or (self.tie == "predict" and not self.lead)
        narrow = sure and self.lead > 0.0 and ahead <= self._asked_lead(self._square_with(example))
        point = dict(example) if self.scale else None
        return Served(self.classes[first], self.classes[second], sure, self.updates, point, narrow)

    def learn_served(self, x: Mapping[Any, Any], y: Hashable, served: Served) -> bool:
        """Learn an example whose label came late, judged as it was served: on a mistake then, add the example now.

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
        self._labels.check(y)
        waited = self.updates - served.mistakes
        places, said = self._labels.places, {served.first, served.second}
        if waited < 0 or len(said) < 2 or not said <= places.keys():
            raise ValueError(f"{served!r} was not served by this model")
        if self._scales is not None:
            if served.point is None or served.point.keys() != example.keys():
                raise ValueError(f"{served!r} has no point, or that of another example, and this model scales")
            self._scales.learn(example)
            example = as_numbers(served.point)  # what the bound speaks of is what was served
        if self.examples >= self._trial_at:
            self._hold_trial(example, y)
        mistake = y != served.first or not served.sure
        narrow = served.narrow and not mistake
        self._let_r_grow(example)
        if mistake or narrow:
            rival = served.second if y == served.first else served.first
            signs = self._labels.signs
            self._add_to(example, [(0, signs[y])] if signs else [(places[y], 1.0), (places[rival], -1.0)])
            self.waited += waited
        self._count(mistake, narrow)
        return mistake

    def _learn(self, example: Mapping[Any, Any], y: Hashable) -> tuple[bool, bool]:
        """Add an example if it is a mistake, or else narrow, and say which."""
        self._let_r_grow(example)
        scores = [dot(weights, example) for weights in self._weights]
        if self._labels.signs:
            sign = self._labels.signs[y]
            mistake, narrow = self._judged(sign * scores[0], wins_ties=sign > 0.0)
            where = [(0, sign)]
        elif len(scores) > 2:
            right = self._labels.places[y]
            rival = _best_other(scores, right)
            mistake, narrow = self._judged(scores[right] - scores[rival], wins_ties=right < rival)
            where = [(right, 1.0), (rival, -1.0)]
        else:
            return False, False  # one label alone is nothing to be mistaken about
        if mistake or narrow:
            self._add_to(example, where)
        return mistake, narrow

    def _add_to(self, example: Mapping[Any, Any], where: list[tuple[int, float]]) -> None:
        """Add an example to its class, with its sign, and subtract it from its rival, if that has its own weights."""
        for place, sign in where:
            self._add(place, example, sign)
        self.rival = self.classes[where[1][0]] if len(where) > 1 else None

    def _judged(self, ahead: float, wins_ties: bool) -> tuple[bool, bool]:
        """Whether an example that is ahead of its rival by so much is a mistake, or else narrow."""
        ties_are_mistakes = self.tie == "mistake" or self.lead > 0.0
        mistake = is_added(ahead, 0.0, ties_are_mistakes, wins_ties)
        return mistake, not mistake and self.lead > 0.0 and is_added(ahead, self._asked_lead(self._square), True, False)

    def _asked_lead(self, square: float) -> float:
        """By how much an example must be ahead: lead R^2, or, of Kesler's vectors, twice that."""
        return self.lead * (square if self._labels.signs else 2.0 * square)


def _best_other(scores: list[float], place: int) -> int:
    return max((other for other in range(len(scores)) if other != place), key=scores.__getitem__)
