"""The model is the fold of its log: `start` builds it from the first event, `apply` adds the events of a row.

Nothing here depends on time, disks or requests. Live, after a crash, or years later, the same log makes the same model,
bit for bit. A rollback is not folded: it changes which part of the log is.

A rollback erases nothing. It is an event itself, number r, which restores the model to its state after event s < r. So
the events s + 1, ..., r - 1 stay in the log, but are no longer on the path.
"""

import math
import tempfile
from collections.abc import Iterable, Mapping
from itertools import starmap
from operator import attrgetter
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import msgspec

from novikoff.features.names import as_numbers
from novikoff.keep.models import load_plain, save
from novikoff.learn.online.perceptron import OnlinePerceptron, Served
from novikoff.serve import events
from novikoff.serve.events import Example, Label, LogRow, Prediction, Revealed, Settings
from novikoff.serve.tally import DriftWindow, MistakeCurve

_PAIR = attrgetter("x", "y")
PARAMETERS = ("readout", "tie", "fit_intercept", "scale", "lead", "classes")


class Stretch(NamedTuple):
    """Events from `start` to `end`, both included."""

    start: int
    end: int


FOR_EVER = 2**62

# The parts of the log that made a model, in order.
Path = tuple[Stretch, ...]
WHOLE: Path = (Stretch(0, FOR_EVER),)


def path_to(seq: int, rollbacks: Iterable[tuple[int, int]]) -> Path:
    """Return the parts that lead to an event; `rollbacks` are pairs of their number and the event they went back to.

    >>> path_to(9, [(4, 1), (7, 5)])
    (Stretch(start=0, end=1), Stretch(start=4, end=5), Stretch(start=7, end=9))
    >>> path_to(3, [(4, 1), (7, 5)])
    (Stretch(start=0, end=3),)
    """
    parts, end = [], seq
    for number, target in sorted(rollbacks, reverse=True):
        if number <= end:
            parts.append(Stretch(number, end))
            end = target
    parts.append(Stretch(0, end))
    return tuple(reversed(parts))


def is_on(path: Path, seq: int) -> bool:
    """Whether an event is on the path."""
    return any(part.start <= seq <= part.end for part in path)


class Counts(msgspec.Struct):
    """Counts that the learner itself does not keep: labels revealed, and wrong answers among them.

    A mistake waits for its label while others are learned; `waited` is the sum of their numbers.
    """

    revealed: int = 0
    wrong: int = 0
    waited: int = 0
    longest_wait: int = 0
    curve: MistakeCurve = msgspec.field(default_factory=MistakeCurve)
    drift: DriftWindow = msgspec.field(default_factory=DriftWindow)


class Mistake(NamedTuple):
    """An example that was added, a mistake or, with a lead, a narrow one: its number, the examples learned before it,
    and the class it was subtracted from.

    Without a rival, that is the other one of two. `point` has the numbers of the example as scaled when it was added,
    if they were: the weights are a sum of these.
    """

    seq: int
    before: int
    rival: Label | None
    point: dict[str, float] | None = None
    is_narrow: bool = False


class ModelState:
    """A model after the event `seq`, and the path to it; `mistakes` are those that are not in the store yet."""

    def __init__(
        self,
        seq: int,
        settings: Settings,
        learner: OnlinePerceptron,
        counts: Counts | None = None,
        parts: Path = WHOLE,
    ) -> None:
        self.seq, self.settings, self.learner, self.parts = seq, settings, learner, parts
        self.counts = Counts() if counts is None else counts
        self.mistakes: list[Mistake] = []

    def go_on_from(self, rollback: int) -> None:
        """Become the state after the event `rollback`, which went back to this one."""
        *parts, last = self.parts
        self.parts = (*parts, Stretch(last.start, self.seq), Stretch(rollback, FOR_EVER))
        self.seq = rollback

    def learn(self, first: int, examples: list[Example]) -> list[bool]:
        """Learn examples, numbered from `first`; return which were mistakes."""
        learner, before = self.learner, self.learner.examples
        if len(learner.classes) <= 2 and learner.classes_are_fixed and not learner.scale and not learner.lead:
            flags = list(starmap(learner.learn_one, map(_PAIR, examples)))
            if True in flags:
                self.mistakes += [Mistake(first + i, before + i, None) for i, flag in enumerate(flags) if flag]
        else:
            flags = []
            for i, example in enumerate(examples):
                made = learner.updates
                flag = learner.learn_one(example.x, example.y)
                flags.append(flag)
                if learner.updates > made:
                    point = scaled_numbers(learner, example.x)
                    self.mistakes.append(Mistake(first + i, before + i, self._rival(example.y), point, not flag))
        self._count(first, flags)
        return flags

    def reveal(self, seq: int, revealed: Revealed) -> bool:
        """Learn an example whose label was revealed, judged according to the settings.

        If the weights that served it did not lead to the present ones, since they were rolled back, it is judged on
        arrival.
        """
        learner, said, y = self.learner, revealed.prediction, revealed.y
        made, before, is_here = learner.updates, learner.examples, is_on(self.parts, said.seq)
        if self.settings.judge == "served" and said.served is not None and is_here:
            flag, point = learner.learn_served(said.x, y, _as_served(said.served, said)), said.point
        else:
            flag, point = learner.learn_one(said.x, y), scaled_numbers(learner, said.x)
        if learner.updates > made:
            self.mistakes.append(Mistake(seq, before, self._rival(y), point, not flag))
            waited = made - said.mistakes if is_here else 0
            self.counts.waited += waited
            self.counts.longest_wait = max(self.counts.longest_wait, waited)
        self.counts.revealed += 1
        self.counts.wrong += said.label != y
        self._count(seq, [flag])
        return flag

    def _rival(self, y: Label) -> Label | None:
        """Return the class a mistake was subtracted from; a third class may come later, so of two it is named."""
        classes = self.learner.classes
        return classes[classes[0] == y] if len(classes) == 2 else self.learner.rival

    def _count(self, first: int, flags: list[bool]) -> None:
        self.counts.curve.add(flags)
        self.counts.drift.add(flags, first)


def scaled_numbers(learner: OnlinePerceptron, x: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the numbers of an example as they are scaled now; None if they are not. Texts and flags never are."""
    if not learner.scale:
        return None
    numbers = {name: value for name, value in x.items() if type(value) is float and type(name) is str}
    return dict(learner.scaled_one(numbers))


def _as_served(served: Served, said: Prediction) -> Served:
    """Return what the last weights predict for an example, with the scaled point."""
    return served if said.point is None else served._replace(point=dict(as_numbers({**said.x, **said.point})))


def to_file(learner: OnlinePerceptron) -> bytes:
    """Return a model file, which `novikoff predict` and `novikoff.load` read."""
    with tempfile.TemporaryDirectory() as folder:
        path = FilePath(folder, "model.novikoff")
        save(learner, path)
        return path.read_bytes()


def from_file(content: bytes) -> OnlinePerceptron:
    """Return the online perceptron of a model file; raise a ValueError that says what is wrong for anything else."""
    with tempfile.TemporaryDirectory() as folder:
        path = FilePath(folder, "model.novikoff")
        path.write_bytes(content)
        try:
            learner = load_plain(path)
        except (ValueError, TypeError, MemoryError) as error:
            raise ValueError(str(error).replace(str(path), "the file")) from None
    if not isinstance(learner, OnlinePerceptron):
        raise ValueError(
            f"the file has a {type(learner).__name__}, and a service learns with an OnlinePerceptron, from examples "
            "with named features: make one with novikoff online, or use this model with novikoff predict"
        )
    return learner


def learner_of(settings: Settings) -> OnlinePerceptron:
    """Return a learner with these settings, or that of their file."""
    if settings.file is not None:
        return from_file(settings.file)
    return OnlinePerceptron(**{name: getattr(settings, name) for name in PARAMETERS})


def settled(settings: Settings) -> tuple[Settings, OnlinePerceptron]:
    """Return the final settings and their learner: a file has its own parameters, and must have all that the others
    need, and nothing that a log cannot hold.

    Raise ValueError for invalid settings.
    """
    learner = learner_of(settings)
    given = [name for name in PARAMETERS if getattr(settings, name) != getattr(Settings(), name)]
    if settings.file is not None and given:
        raise ValueError(f"a model file has its own {' and '.join(given)}; omit these")
    if settings.judge == "served" and not learner.classes_are_fixed:
        raise ValueError('judge="served" needs classes from the start: no label may be new when it is revealed')
    as_learned = {name: getattr(learner, name) for name in PARAMETERS}
    as_learned["classes"] = list(learner.classes) if learner.classes_are_fixed else None
    wanted = msgspec.structs.replace(settings, **as_learned)
    try:
        events.decode("create", events.encode([wanted]))
        labels = msgspec.convert(list(learner.classes), list[Label])
    except (msgspec.MsgspecError, TypeError) as error:
        raise ValueError(f"the file has parameters or labels that a service cannot store: {error}") from None
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise ValueError("the file has an infinite label, which JSON cannot represent")
    return wanted, learner


def start(row: LogRow) -> ModelState:
    """Build the model of the first event of a log; a learner from a file continues."""
    (settings,) = events.decode("create", row.body)
    return begin(settings, learner_of(settings))


def begin(settings: Settings, learner: OnlinePerceptron) -> ModelState:
    """Build a model with these settings, and the learner that they make; the file is not how it learns."""
    return ModelState(0, msgspec.structs.replace(settings, file=None), learner)


def apply(state: ModelState, row: LogRow, content: list[Any] | None = None, upto: int | None = None) -> list[bool]:
    """Fold a row of the log into the state, up to `upto`; return which examples were mistakes.

    `content` is the decoded row, if at hand. A rollback is not folded: the earlier state continues from it.
    """
    if row.first != state.seq + 1:
        raise ValueError(f"the log has a gap: event {row.first} follows {state.seq}")
    held = events.decode(row.kind, row.body) if content is None else content
    if len(held) != row.size:
        raise ValueError(f"row {row.first} of the log has {len(held)} events and should have {row.size}")
    part = held if upto is None else held[: max(upto - row.first + 1, 0)]
    if row.kind == "learn":
        flags = state.learn(row.first, part)
    elif row.kind == "reveal":
        flags = [state.reveal(seq, each) for seq, each in enumerate(part, start=row.first)]
    else:
        raise ValueError(f"event {row.first} of the log is a {row.kind}, which cannot be replayed")
    state.seq = row.first + len(part) - 1
    return flags
