"""Run epochs until one makes no mistake or a limit is reached: the only loop over epochs, for every space.

A space learns one epoch and counts its mistakes; limits, the clock, Ctrl-C and watchers are handled here. With a lead,
an example that is right by too little is learned like a mistake, and delays convergence like one.
"""

import contextlib
import math
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from novikoff.engine.clock import now
from novikoff.learn.run import Cycle, History, Stopped
from novikoff.options import Options

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The mistakes of this many epochs are recorded one by one: enough to inspect, and a bound on memory and files.
RECORDED_EPOCHS = 1000

# Weights are compared about once per this many rows; in the first epochs, after each.
ROWS_PER_LOOK = 1 << 16
LOOKED_AT = 32

# Making mistakes again takes memory; with more rows, or rows times classes, than this, no cycle is looked for.
MOST_COUNTED = 1 << 22

# Called with the history between epochs; may return the reason to stop.
Watcher = Callable[[Any], Stopped | None]


@dataclass
class Interrupt:
    """Ctrl-C during a run: noted, and handled where weights and counts agree. Python handles a second one.

    A kernel call changes the weights; an exception before they are counted would leave a record that does not match
    them. A handler that others have installed stays in force.
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
    """Delay Ctrl-C to the end: the examples of one call are learned all or none."""
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
    def over(cls, options: Options, progress: Callable[[Any], None] | None) -> "Watch":
        deadline = math.inf if options.time_limit is None else now() + options.time_limit
        return cls(options.min_margin, deadline, progress=progress)

    def reason_to_stop(self, history: History) -> Stopped | None:
        if self.progress is not None:
            self.progress(history)
        if self.min_margin is not None and history.margin_at_most < self.min_margin:
            return Stopped.MARGIN_RULED_OUT
        return self.cut_short()

    def cut_short(self) -> Stopped | None:
        """The reason to stop at once, if there is one."""
        if self.interrupt.asked:
            return Stopped.INTERRUPTED
        return Stopped.TIME_LIMIT if now() > self.deadline else None

    def patience(self, history: History, most: int) -> int:
        """How many updates may come before the margin can be ruled out: each shortens w by at most R."""
        if self.min_margin is None:
            return most
        surplus = history.weights_length - history.updates * self.min_margin
        soonest = surplus / (math.sqrt(history.step_square) + self.min_margin)
        return int(min(max(soonest, 1.0), most))


@dataclass
class Epochs:
    """The updates of a run by epoch: mistakes and narrow ones. `flawless` is the first epoch without one that did not
    begin before epoch `settled`: while R grows, so does a lead.

    `counts` and `narrow` have the updates, and the narrow ones among them, of the first epochs; `unfinished` and
    `unfinished_narrow` those of the current epoch so far, `last` the mistakes of the last complete one. `cycle` has
    mistakes that add up to 0, once found.
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
    last: int = 0

    @property
    def begun(self) -> int:
        """How many epochs were begun, up to the first without a mistake."""
        return -(-self.steps // self.n_rows) if self.flawless is None else self.flawless + 1

    def count(self, at: "NDArray[Any]", seen: int, narrow: "NDArray[Any] | None" = None) -> None:
        """Count the updates, which are `at` some of the next `seen` steps, and which of them were narrow."""
        import numpy as np  # learners in pure Python do not need it

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
        if updates:
            self.last = updates[-1] - narrow[-1]
        room = RECORDED_EPOCHS - len(self.counts)
        self.counts.extend(updates[:room])
        self.narrow.extend(narrow[:room])

    def recorded(self) -> dict[str, Any]:
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


@dataclass
class Learner:
    """A learner of examples, in the space in which they are added.

    It learns epoch by epoch, finds the examples that its read-out gets wrong, and gives the record what it needs. What
    it learns goes into the `history`, a memory. Without a `generator` examples come in the order given.
    """

    examples: Any
    history: Any
    options: Options

    one_by_one = False  # whether every epoch is inspected
    can_return = False  # whether weights that return are noticed, by the methods below

    def __post_init__(self) -> None:
        self.lead = float(self.options.lead)
        self.keep = self.options.record_mistakes
        self.epochs = Epochs(self.examples.n_rows)
        self.generator = self.source_of_chance() if self.options.shuffle else None

    def source_of_chance(self) -> Any:
        import numpy as np  # learners in pure Python do not need it

        return np.random.default_rng(self.options.random_state)

    def learn(self, watch: Watch) -> Stopped | None:
        """Learn an epoch, and count its mistakes; return the reason if it was cut short."""
        raise NotImplementedError

    def settle(self) -> None:
        """Transfer all that was learned to the history; nothing is learned afterwards."""

    def wrong(self, examples: Any, readout: Any) -> Any:
        """Which of some examples the read-out gets wrong now."""
        raise NotImplementedError

    def validation_errors(self, examples: Any, readout: Any) -> int:
        return int(self.wrong(examples, readout).sum())

    def error_weights(self, examples: Any) -> Any:
        """The weight of an error on each of some examples."""
        return 1.0

    def counts(self, readout: Any, stopped: Stopped) -> dict[str, Any]:
        """What the record needs of the examples: errors on them, and what follows for new ones."""
        raise NotImplementedError

    def determined(self, wrong: Any, mistaken: Any, *, mixed: bool) -> dict[str, Any]:
        """The counts of a run which the examples that were ever `mistaken` determine, given those that it gets wrong.

        Not all orders of many shuffled examples are as likely: they are `mixed`.
        """
        return {
            "errors": int(wrong.sum()),
            "order": "given" if self.generator is None else "mixed" if mixed else "random",
            "mistaken_rows": int(mistaken.sum()),
            "errors_elsewhere": int((wrong & ~mistaken).sum()),
        }

    def mistakes(self) -> Any:
        """The mistakes in order, if they were kept."""
        return None

    # Where all epochs have the same order, the weights can return; then the epochs since are learned again.

    def weights_hash(self) -> int:
        raise NotImplementedError

    def cycle(self, made: Any, since: int, until: int, watch: Watch) -> Cycle | None:
        """The mistakes made between these epochs, if they add up to exactly 0; None also if time runs out."""
        raise NotImplementedError

    def again(self, epochs: int) -> "Learner":
        """A learner of the same examples, on a copy of the memory, that keeps its mistakes."""
        options = replace(self.options, record_mistakes=True, max_iter=epochs)
        return replace(self, history=self.history.copy(), options=options)

    def cancelled(self, since: int, until: int, watch: Watch) -> Cycle | None:
        """The same for the weights of now, which are those of both epochs: what was learned between them is learned
        again, on a copy."""
        again = self.again(until - since)
        watch = replace(watch, min_margin=None, progress=None)
        while again.epochs.begun < until - since:
            if (again.learn(watch) or watch.cut_short()) is not None:
                return None
        return self.cycle(again.mistakes(), since, until, watch)


@dataclass
class Lookout:
    """Brent's algorithm: compare weights with one earlier state, which is replaced after 1, 2, 4, ... comparisons.

    A run whose weights return proves that no separator exists. Where every epoch visits the examples in the same order,
    the weights at its end determine all that follows. If they equal those at the end of an earlier epoch, the mistakes
    in between, each as often as it was made, cancel: a positive combination of signed examples that is 0, so that no
    separator exists (Gordan). Weights stay bounded on any data (the perceptron cycling theorem: Minsky & Papert 1969,
    Block & Levin 1970), so on whole numbers every run that does not converge eventually returns. Rounded sums can
    return without their mistakes cancelling, so these are added up without rounding.
    """

    learner: Learner
    next: int = 1
    kept: int | None = None
    since: int = 0
    looks: int = 0
    patience: int = 1

    def look(self, epochs: int, watch: Watch) -> Cycle | None:
        """The cycle that ends after this many epochs, if one does; only the first return is examined."""
        if not self.learner.can_return or epochs < self.next:
            return None
        self.next = next_look(epochs, self.learner.epochs.n_rows)
        state = self.learner.weights_hash()
        if state == self.kept:
            self.next = sys.maxsize
            return self.learner.cancelled(self.since, epochs, watch)
        self.looks += 1
        if self.kept is None or self.looks == self.patience:
            self.kept, self.since, self.looks, self.patience = state, epochs, 0, 2 * self.patience
        return None


def next_look(epochs: int, n_rows: int) -> int:
    """The number of epochs after which to compare weights again. It depends on nothing else, so a run ends in the same
    epoch however its rows are stored, and epochs on few rows can be learned many at a time."""
    return epochs + max(1, min(epochs // LOOKED_AT, ROWS_PER_LOOK // n_rows))


def cancel(parts: Iterable[tuple[Any, float, int]], watch: Watch) -> bool:
    """Whether values, each with its multiplicity, add up to exactly 0 by name; False also if time runs out.

    >>> cancel([("a", 0.1, 2), ("a", -0.2, 1)], Watch()), cancel([("a", x, 1) for x in (0.1, 0.2, -0.3)], Watch())
    (True, False)
    """
    total: dict[Any, Fraction] = defaultdict(Fraction)
    for name, value, times in parts:
        if watch.cut_short() is not None:
            return False
        total[name] += times * Fraction(value)
    return not any(total.values())


@dataclass
class Plateau:
    """scikit-learn's rule: for `patience` epochs in a row, mistakes exceed the fewest so far minus `tol` x rows.

    >>> plateau = Plateau(tol=0.1, patience=2)
    >>> [plateau.is_reached(mistakes, n_rows=10) for mistakes in (5, 4, 4, 4)]
    [False, False, False, True]
    """

    tol: float | None
    patience: int
    fewest: float = math.inf
    since: int = 0

    def is_reached(self, mistakes: int, n_rows: int) -> bool:
        """Whether it is reached, after an epoch with this many mistakes."""
        if self.tol is None:
            return False
        self.since = self.since + 1 if mistakes > self.fewest - self.tol * n_rows else 0
        self.fewest = min(self.fewest, mistakes)
        return self.since >= self.patience


def run(
    learner: Learner,
    options: Options,
    watch: Watcher | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Stopped:
    """Learn epochs until one makes no mistake, and return why it ended. Ctrl-C ends the run, not the program.

    `watch` is called with the history between epochs and may return a reason to stop, or raise KeyboardInterrupt, as a
    Ctrl-C would. `progress` is called with the history now and then, also within an epoch.
    """
    clock = Watch.over(options, progress)
    with clock.interrupt.noted():
        try:
            stopped = _until_stopped(learner, options, watch, clock)
        except KeyboardInterrupt:
            return Stopped.INTERRUPTED
    return Stopped.INTERRUPTED if clock.interrupt.asked else stopped


def _until_stopped(learner: Learner, options: Options, watch: Watcher | None, clock: Watch) -> Stopped:
    lookout = Lookout(learner)
    plateau = Plateau(options.tol, options.n_iter_no_change)
    is_resumed = learner.epochs.steps > 0  # it may have been killed after its last epoch
    while True:
        stopped = None if is_resumed else learner.learn(clock)
        is_resumed = False
        if learner.epochs.flawless is not None:
            return Stopped.NO_MISTAKES
        stopped = stopped or clock.reason_to_stop(learner.history)
        if stopped is None and (cycle := lookout.look(learner.epochs.begun, clock)) is not None:
            learner.epochs.cycle = cycle
            stopped = Stopped.CYCLE if options.wants_convergence else None
        if stopped is None and plateau.is_reached(learner.epochs.last, learner.epochs.n_rows):
            stopped = Stopped.NO_PROGRESS
        if stopped is None and learner.epochs.begun == options.epochs:
            stopped = Stopped.MAX_ITER
        if stopped is None and watch is not None:
            stopped = watch(learner.history)
        if stopped is not None:
            return stopped
