"""Epoch after epoch, until one makes no mistake or a limit is reached: the only loop over epochs, for every space.

A space learns one epoch and counts its mistakes; limits, the clock, Ctrl-C, and whoever watches are dealt with here.
With a lead, an example that is right by too little is learned like a mistake, and no epoch with one is the last.
"""

import contextlib
import math
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from novikoff.engine.clock import now
from novikoff.learn.cycles import Cycle, Lookout, Returning
from novikoff.learn.history import READOUTS, TIES, History, Stopped

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Of how many epochs the mistakes are recorded one by one: enough to look at, and a bound on memory and files.
RECORDED_EPOCHS = 1000

# Beyond this every example counts, for as long as anybody has patience.
MOST_LEAD = 1e6

# What is called with the history between epochs, and may return the reason to stop.
Watcher = Callable[[Any], Stopped | None]


@dataclass(frozen=True)
class Limits:
    """When to stop, if no epoch is free of mistakes before.

    `max_epochs` (None: no limit), `min_margin`: as soon as the mistakes prove that no separator has that margin,
    `time_limit` in seconds, and `watch`, which may also raise KeyboardInterrupt, as a Ctrl-C would. `progress` is
    called with the history now and then, also in the middle of an epoch. Weights that return end a run of which
    convergence was asked; where an average over some epochs was, they are only recorded.
    """

    max_epochs: int | None = 10
    min_margin: float | None = None
    time_limit: float | None = None
    watch: Watcher | None = None
    progress: Callable[[Any], None] | None = None
    readout: str = "average"

    @property
    def wants_convergence(self) -> bool:
        """Whether a run that cannot converge is to stop: the last weights, a margin, or no end but success."""
        return self.readout == "last" or self.min_margin is not None or self.max_epochs is None

    def __post_init__(self) -> None:
        check_choices(max_epochs=self.max_epochs, min_margin=self.min_margin, time_limit=self.time_limit)


@dataclass
class Interrupt:
    """Ctrl-C during a run: noted, and heard where weights and counts agree. A second one is Python's own.

    A kernel that was called has changed the weights; an exception between that and the counting would leave a record
    that is not of these weights. A handler that somebody else has installed stays in force.
    """

    asked: bool = False

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        ours = threading.current_thread() is threading.main_thread()
        if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        try:
            signal.signal(signal.SIGINT, self._note)
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: Any) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def put_off_interrupt() -> Iterator[None]:
    """Hear Ctrl-C at the end: the examples of one call are learned whole, or not at all."""
    interrupt = Interrupt()
    with interrupt.noted():
        yield
    if interrupt.asked:
        raise KeyboardInterrupt


@dataclass(frozen=True)
class Watch:
    """What can end a run in the middle of an epoch, once the clock is running."""

    min_margin: float | None = None
    deadline: float = math.inf
    interrupt: Interrupt = field(default_factory=Interrupt)
    progress: Callable[[Any], None] | None = None

    @classmethod
    def over(cls, limits: Limits) -> "Watch":
        limit = limits.time_limit
        deadline = math.inf if limit is None else now() + limit
        return cls(limits.min_margin, deadline, progress=limits.progress)

    def reason_to_stop(self, history: History) -> Stopped | None:
        if self.progress is not None:
            self.progress(history)
        if self.min_margin is not None and history.margin_at_most < self.min_margin:
            return Stopped.MARGIN_RULED_OUT
        return self.cut_short()

    def cut_short(self) -> Stopped | None:
        """Whether there is no time to go on."""
        if self.interrupt.asked:
            return Stopped.INTERRUPTED
        return Stopped.TIME_LIMIT if now() > self.deadline else None

    def is_over(self) -> bool:
        return self.cut_short() is not None

    def patience(self, history: History, most: int) -> int:
        """How many updates may come before the margin can be ruled out: each shortens w by at most R."""
        if self.min_margin is None:
            return most
        surplus = history.weights_length - history.updates * self.min_margin
        soonest = surplus / (math.sqrt(history.step_square) + self.min_margin)
        return int(min(max(soonest, 1.0), most))


@dataclass
class Epochs:
    """The updates of a run, epoch by epoch: its mistakes, and those that were only narrow. `flawless` is the first
    epoch that went through without one, and did not begin before epoch `settled`: while R grows, a lead does, too.

    `counts` and `narrow` have the updates, and the narrow ones among them, of the first epochs; `unfinished` and
    `unfinished_narrow` those so far of the one that has not ended yet. `cycle` has mistakes that add up to 0, once they
    are found.
    """

    n_rows: int
    steps: int = 0
    flawless: int | None = None
    unfinished: int = 0
    counts: list[int] = field(default_factory=list)
    cycle: Cycle | None = None
    unfinished_narrow: int = 0
    narrow: list[int] = field(default_factory=list)
    settled: int = 0

    @property
    def begun(self) -> int:
        """How many epochs were begun, up to the first without a mistake."""
        return -(-self.steps // self.n_rows) if self.flawless is None else self.flawless + 1

    def count(self, at: "NDArray[Any]", seen: int, narrow: "NDArray[Any] | None" = None) -> None:
        """Count the updates at these of the next `seen` steps, and which of them were narrow."""
        import numpy as np  # learners of plain Python do without it

        before, offset = divmod(self.steps, self.n_rows)
        epoch, n_epochs = (offset + at.astype(np.int64)) // self.n_rows, -(-(offset + seen) // self.n_rows)
        made, spared = (
            np.bincount(which, minlength=n_epochs) for which in (epoch, epoch[:0] if narrow is None else epoch[narrow])
        )
        made[:1] += self.unfinished
        spared[:1] += self.unfinished_narrow
        self.steps += seen
        finished = self.steps // self.n_rows - before
        self.unfinished = int(made[finished]) if finished < len(made) else 0
        self.unfinished_narrow = int(spared[finished]) if finished < len(spared) else 0
        none = before + np.flatnonzero(made[:finished] == 0)
        none = none[none >= self.settled]
        if self.flawless is None and len(none):
            self.flawless = int(none[0])
        self._record(made[:finished].tolist(), spared[:finished].tolist())

    def count_one(self, update: bool, narrow: bool = False) -> None:
        """Count one step, as `count` does, for learners that go example by example."""
        self.unfinished += update
        self.unfinished_narrow += narrow
        self.steps += 1
        if self.steps % self.n_rows == 0:
            done = self.steps // self.n_rows - 1
            if self.flawless is None and self.unfinished == 0 and done >= self.settled:
                self.flawless = done
            self._record([self.unfinished], [self.unfinished_narrow])
            self.unfinished = self.unfinished_narrow = 0

    def _record(self, updates: list[int], narrow: list[int]) -> None:
        room = RECORDED_EPOCHS - len(self.counts)
        self.counts.extend(updates[:room])
        self.narrow.extend(narrow[:room])

    def recorded(self) -> dict[str, Any]:
        """What a record has of the epochs: their mistakes, how many were begun, and a cycle if there was one."""
        updates, narrow, most = self.counts, self.narrow, min(self.begun, RECORDED_EPOCHS)
        if self.steps % self.n_rows:
            updates, narrow = [*updates, self.unfinished], [*narrow, self.unfinished_narrow]
        mistakes = tuple(made - spared for made, spared in zip(updates, narrow, strict=True))[:most]
        return {
            "per_epoch": mistakes,
            "narrow_per_epoch": tuple(narrow[:most]) if any(narrow) else (),
            "epochs": self.begun,
            "cycle": self.cycle,
        }


class Space(Protocol):
    """Examples in the space in which they are added."""

    @property
    def history(self) -> History: ...

    @property
    def epochs(self) -> Epochs: ...

    @property
    def returning(self) -> Returning | None:
        """What notices that the weights return; None where it cannot be noticed."""
        ...

    def learn(self, watch: Watch) -> Stopped | None:
        """Learn an epoch, and count its mistakes; the reason if it was ended in the middle."""
        ...


def run(space: Space, limits: Limits) -> Stopped:
    """Learn epochs until one makes no mistake; why it ended. Ctrl-C ends the run, not the program."""
    watch = Watch.over(limits)
    with watch.interrupt.noted():
        try:
            stopped = _until_stopped(space, limits, watch)
        except KeyboardInterrupt:
            return Stopped.INTERRUPTED
    return Stopped.INTERRUPTED if watch.interrupt.asked else stopped


def _until_stopped(space: Space, limits: Limits, watch: Watch) -> Stopped:
    lookout = Lookout(space.returning, space.epochs.n_rows)
    while True:
        stopped = space.learn(watch)
        if space.epochs.flawless is not None:
            return Stopped.NO_MISTAKES
        stopped = stopped or watch.reason_to_stop(space.history)
        if stopped is None and (cycle := lookout.look(space.epochs.begun, watch.is_over)) is not None:
            space.epochs.cycle = cycle
            stopped = Stopped.CYCLE if limits.wants_convergence else None
        if stopped is None and space.epochs.begun == limits.max_epochs:
            stopped = Stopped.MAX_EPOCHS
        if stopped is None and limits.watch is not None:
            stopped = limits.watch(space.history)
        if stopped is not None:
            return stopped


def check_choices(**choices: Any) -> None:
    """Say which parameter is wrong, and what it may be."""
    if choices.get("readout", "last") not in READOUTS:
        raise ValueError(f"readout={choices['readout']!r} is unknown; choose one of {', '.join(READOUTS)}")
    if choices.get("tie", "mistake") not in TIES:
        raise ValueError(f"tie={choices['tie']!r} is unknown; choose one of {', '.join(TIES)}")
    epochs = choices.get("max_epochs")
    if epochs is not None and (isinstance(epochs, bool) or int(epochs) != epochs or epochs < 1):
        raise ValueError(f"max_epochs={epochs!r} must be a whole number of at least 1, or None for no limit")
    lead = choices.get("lead", 0.0)
    if isinstance(lead, bool) or not isinstance(lead, int | float) or not 0 <= lead <= MOST_LEAD:
        raise ValueError(f"lead={lead!r} must be a number from 0 to {MOST_LEAD:g}, in units of R^2")
    for name in ("min_margin", "time_limit", "learning_rate"):
        value = choices.get(name)
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"{name}={value!r} must be a positive number")
