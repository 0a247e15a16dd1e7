"""Rounds: all shards learn an epoch from common weights, or one after the other from the weights of the one before.

Both are learners in the sense of `learn/epochs.py`, whose loop, limits and reasons to stop are those of all, and
`Shards` is a space in the sense of `learn/fit.py`: a cluster has the examples.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.agreeing import Cluster
from novikoff.cluster.mixing import Mixing, Mixture
from novikoff.cluster.worker import Change, Learning, Passed
from novikoff.engine.rounding import up
from novikoff.learn.cycles import Cycle, Lookout
from novikoff.learn.epochs import Epochs, Learner, Watch
from novikoff.learn.fit import Space
from novikoff.learn.linear.memory import LinearMemory, Mixed
from novikoff.learn.linear.space import CountedRows
from novikoff.learn.run import Stopped
from novikoff.options import Options, Readout

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shards(Space):
    """The space of a sharded perceptron. `after` is called after every round, and `take_up` before the first.

    A trial, by which a lead is chosen, is not shown, and leaves no checkpoint: who was killed in it begins anew.
    """

    mixing: Mixing = "uniform"
    after: "Callable[[Rounds], None]" = lambda rounds: None
    take_up: "Callable[[Rounds], None]" = lambda rounds: None
    whole: Cluster | None = None

    def over(self, examples: Cluster, options: Options) -> "Shards":
        return replace(self, whole=examples)

    @property
    def shards(self) -> int:
        """Of how many learners the weights are mixed."""
        return 1 if self.mixing == "none" or self.whole is None else len(self.whole.shards)

    def learner(self, examples: Cluster, options: Options, start: Any = None) -> "Rounds":
        seed = int(options.random_state) if options.shuffle else None
        how = Learning(options.tie, seed, options.readout == "average", float(options.lead))
        is_run = examples is self.whole
        after = self.after if is_run else lambda rounds: None
        memory = examples.agreed.new_memory()
        rounds: Rounds
        if self.mixing == "none":
            rounds = PassedRounds(examples, how, memory, after, options=options)
        else:
            rounds = MixedRounds(examples, how, memory, after, mixing=self.mixing)
        if is_run:
            self.take_up(rounds)
        return rounds


@dataclass
class Rounds(Learner):
    """What both have: the history, the mistakes of every round, and what is called after each."""

    cluster: Cluster
    how: Learning
    history: LinearMemory
    after: Callable[["Rounds"], None]
    epochs: Epochs = field(init=False)
    returning: None = None
    seconds: float = 0.0  # of the last round
    shared: Any = field(init=False)  # how shards learn, as an engine shares it

    def __post_init__(self) -> None:
        self.shared = self.cluster.engine.share(self.how)
        self.epochs = Epochs(self.cluster.n_rows)
        self.history.longest, self.history.lead = self.cluster.agreed.longest, self.how.lead

    @property
    def counted(self) -> float:
        """K, or the number of mistakes where nothing is mixed."""
        return self.history.counted

    def wrong(self, examples: Cluster, readout: Readout) -> NDArray[np.bool_]:
        self.settle()
        bits = examples.call("errors", self.history, readout)
        sizes = np.diff(examples.agreed.starts).tolist()
        return np.concatenate(
            [np.unpackbits(part, count=size).astype(bool) for part, size in zip(bits, sizes, strict=True)]
        )


@dataclass
class MixedRounds(Rounds):
    """Rounds in which all shards learn at once, and what they learned is mixed.

    `summed` is the sum of the weights after every example, in whatever shard.
    """

    mixing: Mixing = "uniform"
    mixture: Mixture = field(init=False)
    summed: Floats = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mixture = Mixture(self.history.weights)
        self.summed = np.zeros_like(self.history.weights)

    def learn(self, watch: Watch) -> Stopped | None:
        """A round, and what it adds to the weights."""
        if self.epochs.cycle is not None:
            return Stopped.CYCLE
        began = time.monotonic()
        changes = self._changes()
        made = [change.updates for change in changes]
        for change in changes:
            if change.summed is not None:
                self.summed = self.summed + change.summed
        if any(made):
            parts = [change.change for change in changes]
            self.mixture = self.mixture.with_changes(parts, made, self.history.step_square, self.mixing)
        self._count(sum(made), sum(change.narrow for change in changes))
        is_nothing = sum(made) > 0 and not np.any(sum((change.change for change in changes[1:]), changes[0].change))
        if is_nothing and (cycle := self._cancelled()) is not None:
            self.epochs.cycle = cycle
        self.seconds = time.monotonic() - began
        self.after(self)
        return Stopped.CYCLE if self.epochs.cycle is not None else None

    def _changes(self, *, number: int | None = None, record: bool = False) -> list[Change]:
        """What all shards learn in the next round; in that of a number, once more."""
        number = self.epochs.steps // self.epochs.n_rows if number is None else number
        mixture = self.mixture
        return self.cluster.call("learn", self.shared, mixture.weights, mixture.updates_at_least, number, record)

    def _count(self, made: int, narrow: int) -> None:
        n_rows = self.cluster.n_rows
        self.epochs.count(np.zeros(made, dtype=np.int64), n_rows, np.arange(made) < narrow)
        self.history.examples += n_rows
        self.history.narrow += narrow
        self.remember()

    def remember(self) -> None:
        """Let the history know what the mixture is."""
        mixture = self.mixture
        self.history.weights, self.history.mistakes = mixture.weights, mixture.updates - self.history.narrow
        fewer = mixture.updates - mixture.counted
        self.history.mixed = Mixed(float(fewer) if float(fewer) >= fewer else up(float(fewer)), mixture.moved)

    def _cancelled(self) -> Cycle | None:
        """The mistakes of the round that has just changed nothing, if they cancel without rounding: an obstruction.

        The weights are as they were, and a round is a function of these, so it can be asked for again, with its rows.
        """
        done = self.epochs.begun
        counted = CountedRows.of(self.cluster, self.history)  # type: ignore[arg-type]
        if counted is None:
            return None
        for change in self._changes(number=done - 1, record=True):
            assert change.rows is not None
            assert change.rivals is not None
            counted.count(change.rows, change.rivals)
        return counted.cancelled(done - 1, done, Watch())

    def settle(self) -> None:
        """Have the average as a memory has it."""
        self.history.drift = self.history.examples * self.history.weights - self.summed

    def counts(self, readout: Readout, stopped: Stopped) -> dict[str, Any]:
        mixed = {"mixed_mistakes": float(self.history.counted), "shards": len(self.cluster.shards)}
        return {"errors": int(self.wrong(self.cluster, readout).sum()), **mixed}


@dataclass
class PassedRounds(Rounds):
    """Rounds in which the weights go from shard to shard: the run of one machine, in the order given."""

    options: Options = field(default_factory=Options)
    mistaken: NDArray[np.bool_] = field(init=False)
    counted_rows: CountedRows | None = field(init=False)
    lookout: Lookout = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.history.longest = 0.0
        self.mistaken = np.zeros(self.cluster.n_rows, dtype=np.bool_)
        repeats = self.options.epochs != 1
        self.counted_rows = CountedRows.of(self.cluster, self.history) if repeats else None  # type: ignore[arg-type]
        self.lookout = Lookout(self.counted_rows, self.cluster.n_rows)

    def learn(self, watch: Watch) -> Stopped | None:
        if self.epochs.cycle is not None and self.options.wants_convergence:
            return Stopped.CYCLE
        began = time.monotonic()
        for number in range(len(self.cluster.shards)):
            [passed] = self.cluster.call("go_on", self.shared, self.history, self.options.min_margin, on=[number])
            self._note(passed)
            stopped = passed.stopped or watch.cut_short()
            if stopped is not None:
                return stopped
        if self.epochs.flawless is None and (cycle := self.lookout.look(self.epochs.begun, Watch())) is not None:
            self.epochs.cycle = cycle
        self.seconds = time.monotonic() - began
        self.after(self)
        return Stopped.CYCLE if self.epochs.cycle is not None and self.options.wants_convergence else None

    def _note(self, passed: Passed) -> None:
        seen, narrow = (getattr(passed.memory, name) - getattr(self.history, name) for name in ("examples", "narrow"))
        memory = passed.memory.copy()  # what comes from another machine may be read-only
        for name in ("weights", "drift", "examples", "mistakes", "narrow", "longest"):
            setattr(self.history, name, getattr(memory, name))
        self.epochs.count(passed.at, seen, np.arange(len(passed.at)) < narrow)
        self.mistaken[passed.deciding] = True
        if self.counted_rows is not None and len(passed.rows):
            self.counted_rows.count(passed.rows, passed.rivals)

    def counts(self, readout: Readout, stopped: Stopped) -> dict[str, Any]:
        wrong = self.wrong(self.cluster, readout)
        return {
            "errors": int(wrong.sum()),
            "errors_elsewhere": int((wrong & ~self.mistaken).sum()),
            "encoded": self.cluster.agreed.terms.encoding is not None,
            "order": "given",
            "mistaken_rows": int(self.mistaken.sum()),
        }
