"""Rounds: all shards learn an epoch from common weights, or one after the other from the weights of the one before.

Both are learners in the sense of `learn/epochs.py`, with the loop, limits and stop reasons of all, and
`Shards` is a space in the sense of `learn/fit.py`, whose examples are in a cluster.

Where shards learn at once, shard i changes the common weights w by d_i, with k_i mistakes, and the changes are mixed.
*Uniform* mixing (McDonald, Hall, Mann 2010) adds their mean. *Adaptive* mixing adds as much of their sum D as the proof
allows: eta D, with the largest eta of at most 1 that keeps ||w||^2 <= R^2 K. Either way a mistake counts with a factor,
1/S or eta, and K is the sum of these. By convexity, or by the choice of eta, ||w||^2 <= R^2 K stays true;
every unit vector u that separates with margin gamma has <w, u> >= K gamma; and so

    K gamma <= <w, u> <= ||w|| <= sqrt(K) R,    that is    K <= (R/gamma)^2    and    gamma <= ||w||/K.

With a lead tau, k counts updates, on mistakes and narrow examples, and (1 + 2 tau) R^2 takes the place of R^2.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.agreeing import Cluster
from novikoff.cluster.worker import Change, Learning, Passed
from novikoff.engine.rounding import UNIT_ROUNDOFF, down, up
from novikoff.learn.epochs import Epochs, Learner, Lookout, Watch
from novikoff.learn.fit import Space
from novikoff.learn.linear.learner import CountedRows
from novikoff.learn.linear.memory import LinearMemory, Mixed
from novikoff.learn.run import Cycle, Stopped
from novikoff.options import Options, Readout
from novikoff.prove.exact.floats import root_down

Floats = NDArray[np.float64]
Mixing = Literal["uniform", "adaptive", "none"]
MIXINGS: tuple[Mixing, ...] = ("uniform", "adaptive", "none")


@dataclass(frozen=True, eq=False)
class Mixture:
    """Common weights, and the numbers of the proof: K, exactly; the updates made; by how much rounding moved w."""

    weights: Floats
    counted: Fraction = Fraction(0)
    updates: int = 0
    moved: float = 0.0

    @property
    def updates_at_least(self) -> int:
        """A number of updates with ||w||^2 <= R^2 times it, in spite of rounding."""
        return math.ceil(self.counted) + 1

    def with_changes(self, changes: Sequence[Floats], made: Sequence[int], square: float, mixing: Mixing) -> "Mixture":
        """Return the weights after a round; no update adds more than `square` to ||w||^2."""
        total = np.zeros_like(self.weights)
        for change in changes:  # in the order of the shards: sums of floats depend on it
            total += change
        k, n_shards = sum(made), len(changes)
        if mixing == "uniform":
            weights, counted = self.weights + total / n_shards, self.counted + Fraction(k, n_shards)
        else:
            eta = largest_step(self.weights, total, self.counted, k, square, n_shards)
            weights, counted = self.weights + eta * total, self.counted + Fraction(eta) * k
        moved = up(self.moved + self._moves(made, square, n_shards))
        return replace(self, weights=weights, counted=counted, updates=self.updates + k, moved=moved)

    def _moves(self, made: Sequence[int], square: float, n_shards: int) -> float:
        """Return how much rounding may have moved the weights in a round.

        The weights of a shard are never longer than sqrt(K + k_i) R. Each of its k_i additions rounds them by at most u
        times that, and so do the difference, each addition of the sum, its scaling and the last addition.
        """
        longest = math.sqrt(square * (float(self.counted) + max(made) + 1))
        steps = sum(made) + (n_shards + 4) ** 2
        return 2.0 * UNIT_ROUNDOFF * longest * steps


def largest_step(w: Floats, change: Floats, counted: Fraction, k: int, square: float, n_shards: int) -> float:
    """Return the largest eta of at most 1 with ||w + eta D||^2 <= R^2 (K + eta k), rounded down; never below 1/S.

    It is the larger root of ||D||^2 eta^2 + (2 w D - R^2 k) eta + (||w||^2 - R^2 K) = 0. The coefficients are rounded
    up, which makes the root smaller. As ||w + D/S||^2 <= R^2 (K + k/S) by convexity, 1/S is always small enough.

    >>> largest_step(np.array([0.0]), np.array([4.0]), Fraction(0), 4, 1.0, 4)
    0.25
    >>> largest_step(np.array([0.0, 0.0]), np.array([1.0, 1.0]), Fraction(0), 2, 1.5, 2)
    1.0
    """
    a = Fraction(_product_up(change, change))
    b = 2 * Fraction(_product_up(w, change)) - Fraction(square) * k
    c = Fraction(_product_up(w, w)) - Fraction(square) * counted
    least = down(1.0 / n_shards) if n_shards & (n_shards - 1) else 1.0 / n_shards
    if a + b + c <= 0:
        return 1.0
    disc = b * b - 4 * a * c
    if disc < 0:
        return least
    root = (Fraction(root_down(disc)) - b) / (2 * a)
    eta = float(root)
    return min(1.0, max(least, eta if Fraction(eta) <= root else down(eta)))


def _product_up(a: Floats, b: Floats) -> float:
    """Return an upper bound of the sum of the products; added without BLAS, whose order depends on the machine."""
    products = (a * b).ravel()
    slack = (len(products) + 3) * UNIT_ROUNDOFF * float(np.abs(products).sum())
    return up(float(products.sum()) + up(slack)) if slack else 0.0


@dataclass(frozen=True)
class Shards(Space):
    """The space of a sharded perceptron. `after` is called after every round, and `take_up` before the first.

    A trial, by which a lead is chosen, is not shown and writes no checkpoint: a run killed in it starts over.
    """

    mixing: Mixing = "uniform"
    after: "Callable[[Rounds], None]" = lambda rounds: None
    take_up: "Callable[[Rounds], None]" = lambda rounds: None
    whole: Cluster | None = None

    def over(self, examples: Cluster, options: Options) -> "Shards":
        return replace(self, whole=examples)

    @property
    def shards(self) -> int:
        """How many learners' weights are mixed."""
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
    """What both kinds of rounds have: the history, the mistakes of every round, and the callback after each."""

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

    `summed` is the sum of the weights after every example, in all shards.
    """

    mixing: Mixing = "uniform"
    mixture: Mixture = field(init=False)
    summed: Floats = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mixture = Mixture(self.history.weights)
        self.summed = np.zeros_like(self.history.weights)

    def learn(self, watch: Watch) -> Stopped | None:
        """Learn a round, and add its mixture to the weights."""
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
        """Return what all shards learn in the next round; with a number, repeat that round."""
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
        """Update the history from the mixture."""
        mixture = self.mixture
        self.history.weights, self.history.mistakes = mixture.weights, mixture.updates - self.history.narrow
        fewer = mixture.updates - mixture.counted
        self.history.mixed = Mixed(float(fewer) if float(fewer) >= fewer else up(float(fewer)), mixture.moved)

    def _cancelled(self) -> Cycle | None:
        """Return the mistakes of the round that has just changed nothing, if they cancel exactly: an obstruction.

        The weights are unchanged, and a round is a function of them, so it can be repeated, recording its rows.
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
        """Store the average in the form that a memory has."""
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
