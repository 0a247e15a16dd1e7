"""Rounds: all shards learn an epoch from common weights, and what they learned is mixed.

A round is an epoch in the sense of `learn/epochs.py`, with the loop, limits and stop reasons of all, and `Shards` is a
space in the sense of `learn/fit.py`, whose examples are in a cluster.

Shard i changes the common weights w by d_i, with k_i mistakes. *Uniform* mixing (McDonald, Hall, Mann 2010) adds the
mean of the changes. *Adaptive* mixing adds as much of their sum D as the proof allows: eta D, with the largest eta of
at most 1 that keeps ||w||^2 <= R^2 K. Either way a mistake counts with a factor, 1/S or eta, and K is the sum of these.
By convexity, or by the choice of eta, ||w||^2 <= R^2 K stays true; every unit vector u that separates with margin gamma
has <w, u> >= K gamma; and so

    K gamma <= <w, u> <= ||w|| <= sqrt(K) R,    that is    K <= (R/gamma)^2    and    gamma <= ||w||/K.

With a lead tau, k counts updates, on mistakes and narrow examples, and (1 + 2 tau) R^2 takes the place of R^2.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.agreeing import Cluster
from novikoff.cluster.worker import Change
from novikoff.data.examples import Examples
from novikoff.engine.rounding import UNIT_ROUNDOFF, down, up
from novikoff.learn.epochs import MOST_COUNTED, Learner, Watch
from novikoff.learn.fit import Space
from novikoff.learn.linear.learner import LinearLearner, cycle_of
from novikoff.learn.linear.memory import LinearMemory, Mixed
from novikoff.learn.run import Cycle, Stopped
from novikoff.options import Options, Readout
from novikoff.prove.exact.floats import root_down

Floats = NDArray[np.float64]
Mixing = Literal["uniform", "adaptive", "none"]
MIXINGS: tuple[Mixing, ...] = ("uniform", "adaptive", "none")

# What is called with the rounds so far.
Watcher = Callable[[Any], None]


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
    """The space of a sharded perceptron, for examples that are a `Cluster`; or, for those of a cluster, of one machine.

    `begin` is called with the learner of the run before it learns; not in a trial, by which a lead is chosen: a run
    that is killed in one starts over.
    """

    cluster: Cluster
    mixing: Mixing
    begin: Watcher

    @property
    def shards(self) -> int:
        return 1 if self.mixing == "none" else len(self.cluster.shards)

    def learner(self, examples: Cluster | Examples, options: Options, start: Any = None) -> "Rounds | Visits":
        memory = self.cluster.agreed.new_memory()
        rounds: Rounds | Visits
        if isinstance(examples, Cluster):
            rounds = Rounds(examples, memory, options, self.mixing)
        else:
            rounds = Visits(examples, memory, options, cluster=self.cluster)
        if examples is self.cluster or examples is self.cluster.examples:
            self.begin(rounds)
        return rounds


@dataclass
class Rounds(Learner):
    """Rounds in which all shards learn at once, and what they learned is mixed.

    `summed` is the sum of the weights after every example, in all shards; `seconds` is what the last round took.
    """

    history: LinearMemory
    mixing: Mixing = "uniform"
    after: Watcher = lambda rounds: None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.cluster: Cluster = self.examples
        self.shared = self.cluster.engine.share(self.options)  # how shards learn
        self.history.longest, self.history.lead = self.cluster.agreed.longest, self.lead
        self.mixture = Mixture(self.history.weights)
        self.summed = np.zeros_like(self.history.weights)

    def learn(self, watch: Watch) -> Stopped | None:
        """Learn a round, and add its mixture to the weights."""
        began = time.monotonic()
        changes = self._changes(self.epochs.begun)
        made = [change.updates for change in changes]
        for change in changes:
            if change.summed is not None:
                self.summed = self.summed + change.summed
        if any(made):
            parts = [change.change for change in changes]
            self.mixture = self.mixture.with_changes(parts, made, self.history.step_square, self.mixing)
            if not np.any(sum(parts[1:], parts[0])):
                self.epochs.cycle = self._cancelled()
        self._count(sum(made), sum(change.narrow for change in changes))
        self.seconds = time.monotonic() - began
        self.after(self)
        return Stopped.CYCLE if self.epochs.cycle is not None else None

    def _changes(self, number: int, *, record: bool = False) -> list[Change]:
        """Return what all shards learn in the round of this number."""
        mixture = self.mixture
        return self.cluster.call("learn", self.shared, mixture.weights, mixture.updates_at_least, number, record)

    def _cancelled(self) -> Cycle | None:
        """Return the mistakes of the round that has just changed nothing, if they cancel exactly: an obstruction.

        A round is a function of its weights, so it can be repeated, recording its rows.
        """
        done, cluster = self.epochs.begun, self.cluster
        if cluster.n_rows * self.history.n_classes > MOST_COUNTED:
            return None
        changes = self._changes(done, record=True)
        rows, rivals = (np.concatenate([getattr(change, name) for change in changes]) for name in ("rows", "rivals"))
        return cycle_of(cluster, self.history, rows, rivals, done, done + 1, Watch())  # type: ignore[arg-type]

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

    def settle(self) -> None:
        """Store the average in the form that a memory has."""
        self.history.drift = self.history.examples * self.history.weights - self.summed

    def wrong(self, examples: Cluster, readout: Readout) -> NDArray[np.bool_]:
        self.settle()
        return np.concatenate(examples.call("errors", self.history, readout))

    def counts(self, readout: Readout, stopped: Stopped) -> dict[str, Any]:
        mixed = {"mixed_mistakes": float(self.history.counted), "shards": len(self.cluster.shards)}
        return {"errors": int(self.wrong(self.cluster, readout).sum()), **mixed}


@dataclass
class Visits(LinearLearner):
    """The run of one machine, in the order given: the shards send their blocks."""

    cluster: Cluster | None = None
    after: Watcher = lambda rounds: None
    seconds: float = 0.0

    def learn(self, watch: Watch) -> Stopped | None:
        began = time.monotonic()
        stopped = super().learn(watch)
        self.seconds = time.monotonic() - began
        self.after(self)
        return stopped

    def again(self, epochs: int) -> LinearLearner:
        return LinearLearner(self.examples, self.history.copy(), super().again(epochs).options)

    def _epochs_at_once(self) -> int:
        return 1
