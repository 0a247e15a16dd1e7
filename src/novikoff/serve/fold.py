"""The model is the fold of its log: `start` makes it of the first event, `apply` adds the events of a row.

Nothing here knows of time, disks or requests. Live, after a kill, or years later: the same log makes the same model,
bit for bit. A challenger is one more learner on the same stream, and a rollback is nothing to fold: it changes which
part of the log is.

A rollback erases nothing. It is an event itself, number r, which says that the model is again what it was after event
s < r. So the events s + 1, ..., r - 1 are still in the log, and no longer on the path.
"""

from collections.abc import Iterable, Mapping
from itertools import starmap
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from novikoff.features.names import as_numbers
from novikoff.learn.online.perceptron import OnlinePerceptron, Served
from novikoff.serve import events
from novikoff.serve.events import Example, Label, Prediction, Revealed, Row, Settings
from novikoff.serve.files import learner_of
from novikoff.serve.tally import Curve, Drift

_PAIR = attrgetter("x", "y")


class Part(NamedTuple):
    """Events from `start` to `end`, both included."""

    start: int
    end: int


FOR_EVER = 2**62


class Path(NamedTuple):
    """The parts of the log that made a model, in order, and the event that last promoted a challenger."""

    parts: tuple[Part, ...] = (Part(0, FOR_EVER),)
    promoted: int = 0

    def has(self, seq: int) -> bool:
        """Whether an event is on the path."""
        return any(part.start <= seq <= part.end for part in self.parts)

    def promoting(self, seq: int) -> "Path":
        return Path(self.parts, seq)


def path_to(seq: int, rollbacks: Iterable[tuple[int, int]]) -> tuple[Part, ...]:
    """The parts that lead to an event; `rollbacks` are pairs of their number and of what they went back to.

    >>> path_to(9, [(4, 1), (7, 5)])
    (Part(start=0, end=1), Part(start=4, end=5), Part(start=7, end=9))
    >>> path_to(3, [(4, 1), (7, 5)])
    (Part(start=0, end=3),)
    """
    parts, end = [], seq
    for number, target in sorted(rollbacks, reverse=True):
        if number <= end:
            parts.append(Part(number, end))
            end = target
    parts.append(Part(0, end))
    return tuple(reversed(parts))


class Counts(msgspec.Struct):
    """What is counted besides what the learner itself counts: labels revealed, and wrong answers among them.

    A mistake waits for its label while others are learned; `waited` is the sum of how many those were.
    """

    revealed: int = 0
    wrong: int = 0
    waited: int = 0
    longest_wait: int = 0
    curve: Curve = msgspec.field(default_factory=Curve)
    drift: Drift = msgspec.field(default_factory=Drift)


class Mistake(NamedTuple):
    """An example that was added, a mistake or, with a lead, a narrow one: its number, the examples learned before it,
    and the class it was taken from.

    Without a rival it is the other one of two. `point` has the numbers of the example as they were scaled when it was
    added, if they were: that is what the weights are a sum of.
    """

    seq: int
    before: int
    rival: Label | None
    point: dict[str, float] | None = None


class Line:
    """A learner on its way through the stream. `number` is the event with which it came; that of the first is 0."""

    def __init__(
        self, number: int, settings: Settings, learner: OnlinePerceptron, counts: Counts | None = None
    ) -> None:
        self.number, self.settings, self.learner = number, settings, learner
        self.counts = Counts() if counts is None else counts
        self.mistakes: list[Mistake] = []  # those that are not in the store yet

    def learn(self, first: int, examples: list[Example]) -> list[bool]:
        """Learn examples, of which the first has the number `first`, and say which were mistakes."""
        learner, before = self.learner, self.learner.examples
        if len(learner.classes) <= 2 and learner.classes_are_fixed and not learner.scale and not learner.lead:
            flags = list(starmap(learner.learn_one, map(_PAIR, examples)))
            if True in flags:
                self.mistakes += [Mistake(first + i, before + i, None) for i, flag in enumerate(flags) if flag]
        else:
            flags = []
            for i, example in enumerate(examples):
                made = learner.updates
                flags.append(learner.learn_one(example.x, example.y))
                if learner.updates > made:
                    point = scaled_numbers(learner, example.x)
                    self.mistakes.append(Mistake(first + i, before + i, self._rival(example.y), point))
        self._count(first, flags)
        return flags

    def reveal(self, seq: int, revealed: Revealed, path: Path) -> bool:
        """Learn an example whose label has come, judged as the settings say.

        What was served by weights that a rollback or a promotion has since taken back is judged on arrival.
        """
        learner, said, y = self.learner, revealed.prediction, revealed.y
        here = path.has(said.seq) and said.seq >= path.promoted
        made, before = learner.updates, learner.examples
        if self.settings.judge == "served" and said.served is not None and here:
            flag, point = learner.learn_served(said.x, y, _as_served(said.served, said)), said.point
        else:
            flag, point = learner.learn_one(said.x, y), scaled_numbers(learner, said.x)
        if learner.updates > made:
            self.mistakes.append(Mistake(seq, before, self._rival(y), point))
            waited = made - said.mistakes if here else 0
            self.counts.waited += waited
            self.counts.longest_wait = max(self.counts.longest_wait, waited)
        self._count(seq, [flag])
        return flag

    def _rival(self, y: Label) -> Label | None:
        """The class from which a mistake was taken; a third may come later, so of two it is named."""
        classes = self.learner.classes
        return classes[classes[0] == y] if len(classes) == 2 else self.learner.rival

    def _count(self, first: int, flags: list[bool]) -> None:
        self.counts.curve.add(flags)
        self.counts.drift.add(flags, first)


def scaled_numbers(learner: OnlinePerceptron, x: Mapping[str, Any]) -> dict[str, float] | None:
    """The numbers of an example as they are scaled now; None if they are not. Texts and flags never are."""
    if not learner.scale:
        return None
    numbers = {name: value for name, value in x.items() if type(value) is float and type(name) is str}
    return dict(learner.scaled_one(numbers))


def _as_served(served: Served, said: Prediction) -> Served:
    """What the last weights said of an example, with the point of which they said it."""
    return served if said.point is None else served._replace(point=dict(as_numbers({**said.x, **said.point})))


class Rival:
    """A challenger, and how it and the model did on the examples since it came: each predicts before it learns."""

    def __init__(self, line: Line, wrong: int = 0, model_wrong: int = 0, examples: int = 0) -> None:
        self.line = line
        self.wrong, self.model_wrong, self.examples = wrong, model_wrong, examples


class State:
    """A model after the event `seq`."""

    def __init__(self, seq: int, line: Line, challengers: dict[str, Rival], path: Path) -> None:
        self.seq, self.line, self.challengers, self.path = seq, line, challengers, path

    @property
    def learner(self) -> OnlinePerceptron:
        return self.line.learner

    def all_lines(self) -> list[Line]:
        return [self.line, *(rival.line for rival in self.challengers.values())]


class Ready(NamedTuple):
    """A challenge whose learner has been made: that of a file may take long."""

    name: str
    settings: Settings
    learner: OnlinePerceptron


def start(row: Row) -> State:
    """The model of the first event of a log; a learner of a file goes on from there."""
    (settings,) = events.decode("create", row.body)
    return begin(settings, learner_of(settings))


def begin(settings: Settings, learner: OnlinePerceptron) -> State:
    """A model with these settings, and the learner that they make."""
    return State(0, Line(0, plain(settings), learner), {}, Path())


def plain(settings: Settings) -> Settings:
    """The settings without the file, which is what the learner began with and not how it learns."""
    return msgspec.structs.replace(settings, file=None)


def apply(state: State, row: Row, content: list[Any] | None = None, upto: int | None = None) -> list[bool]:
    """Fold a row of the log into the state, as far as `upto`, and say which examples were mistakes.

    `content` is what the row holds, if it is at hand. A rollback is applied by whoever knows the earlier state.
    """
    if row.first != state.seq + 1:
        raise ValueError(f"the log has a gap: event {row.first} follows {state.seq}")
    held = events.decode(row.kind, row.body) if content is None else content
    if len(held) != row.size:
        raise ValueError(f"row {row.first} of the log has {len(held)} events and should have {row.size}")
    part = held if upto is None else held[: max(upto - row.first + 1, 0)]
    flags = _FOLDS[row.kind](state, row.first, part) if part else []
    state.seq = row.first + len(part) - 1
    return flags


def _learn(state: State, first: int, examples: list[Example]) -> list[bool]:
    if not state.challengers:
        return state.line.learn(first, examples)
    flags: list[bool] = []
    for seq, example in enumerate(examples, start=first):
        _compare(state, example.x, example.y)
        flags += state.line.learn(seq, [example])
        for rival in state.challengers.values():
            rival.line.learn(seq, [example])
    return flags


def _reveal(state: State, first: int, revealed: list[Revealed]) -> list[bool]:
    flags = []
    for seq, each in enumerate(revealed, start=first):
        said, y = each.prediction, each.y
        _compare(state, said.x, y)
        flags.append(state.line.reveal(seq, each, state.path))
        state.line.counts.revealed += 1
        state.line.counts.wrong += said.label != y
        for rival in state.challengers.values():
            rival.line.learn(seq, [Example(said.x, y)])
    return flags


def _compare(state: State, x: Mapping[str, Any], y: Label) -> None:
    if not state.challengers:
        return
    wrong = state.learner.predict_one(x) != y
    for rival in state.challengers.values():
        rival.examples += 1
        rival.wrong += rival.line.learner.predict_one(x) != y
        rival.model_wrong += wrong


def _challenge(state: State, seq: int, content: list[events.Challenge | Ready]) -> list[bool]:
    (challenge,) = content
    settings = challenge.settings
    learner = challenge.learner if isinstance(challenge, Ready) else learner_of(settings)
    state.challengers[challenge.name] = Rival(Line(seq, plain(settings), learner))
    return []


def _promote(state: State, seq: int, content: list[events.Challenger]) -> list[bool]:
    (promoted,) = content
    state.line = state.challengers.pop(promoted.name).line
    state.path = state.path.promoting(seq)
    return []


def _retire(state: State, seq: int, content: list[events.Challenger]) -> list[bool]:
    (retired,) = content
    del state.challengers[retired.name]
    return []


def _nothing(state: State, seq: int, content: list[Any]) -> list[bool]:
    return []


_FOLDS: dict[str, Any] = {
    "learn": _learn,
    "reveal": _reveal,
    "challenge": _challenge,
    "promote": _promote,
    "retire": _retire,
    "rollback": _nothing,
}
