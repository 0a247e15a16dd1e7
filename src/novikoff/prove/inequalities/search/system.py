"""A system of strict inequalities Ax > 0: its rows, exact proofs about them, and what the methods share: when they
stop, when they try a proof, and their result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.codec import Combination
from novikoff.prove.inequalities.check import as_whole_vector, exact_sum
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import signs_of_products
from novikoff.prove.separable.search.gordan import Answer, decide
from novikoff.prove.separable.search.scaled import Scaled

ROUNDING = 2.0**-52
OUT_OF_TIME = "the time limit was reached"


@dataclass(frozen=True, eq=False)
class System:
    """The rows of A, unchanged.

    The methods use `unit`, the rows divided by their lengths. What they find is proved on the rows themselves, which
    are exact: a float is a rational number.
    """

    rows: Floats

    @cached_property
    def unit(self) -> Floats:
        """The rows divided by their lengths."""
        shrunk = self.rows / np.abs(self.rows).max(axis=1, keepdims=True)
        return np.asarray(shrunk / np.linalg.norm(shrunk, axis=1, keepdims=True))

    # -- proofs -------------------------------------------------------------------------------------------------------

    def is_solved_by(self, x: Sequence[Any] | NDArray[Any]) -> bool:
        """Whether every row has a positive product with x, exactly."""
        return self.first_violated(x) is None

    def first_violated(self, x: Sequence[Any] | NDArray[Any]) -> int | None:
        """The first row whose product with x is not positive, exactly; None if x solves all."""
        vector = x if isinstance(x, np.ndarray) else np.array(x, dtype=object)
        whole = as_whole_vector(vector, self.rows.shape[1])
        violated = signs_of_products(self._points, [*whole, 0]) <= 0
        return int(np.argmax(violated)) if violated.any() else None

    def cancelling(self, weights: Floats, clock: Clock) -> Combination | None:
        """An exact combination that is 0, of rows with approximate weights, if there is one.

        The rows with the largest weights come first: fewer are decided faster, in rationals if necessary.
        """
        count = min(len(self.rows), 3 * (self.rows.shape[1] + 1))
        heaviest = np.sort(np.argpartition(-weights, count - 1)[:count])
        weighed = np.flatnonzero(weights > 1e-9 * weights.max())
        for which in (heaviest, weighed) if len(weighed) > count else (heaviest,):
            if combination := self._combination(which, self._decided(which, clock)):
                return combination
        return None

    def decided(self, clock: Clock) -> tuple[Sequence[int] | None, Combination | None]:
        """Cutting planes in floats, then Wolfe's algorithm in rationals: a solution, a combination, or neither."""
        everything = np.arange(len(self.rows))
        answer = self._decided(everything, clock)
        if answer.vector is None:
            return None, self._combination(everything, answer)
        x = self._scaled.unscaled(answer.vector)[:-1]
        return (x if self.is_solved_by(x) else None), None

    def _decided(self, which: NDArray[np.int64], clock: Clock) -> Answer:
        """Decide some rows, scaled so that all entries are about 1, as rounding could hide smaller ones."""
        return decide(self._equilibrated.part(which), clock)

    def _combination(self, which: NDArray[np.int64], answer: Answer) -> Combination | None:
        if answer.obstruction is None:
            return None
        rows = which[answer.obstruction.rows]
        weights = self._scaled.unscaled_weights(rows, list(map(Fraction, answer.obstruction.weights)))
        ascending = sorted(zip(rows.tolist(), weights, strict=True))
        combination = Combination(tuple(row for row, _ in ascending), tuple(weight for _, weight in ascending))
        return None if any(exact_sum(self.rows, combination)) else combination

    @cached_property
    def _points(self) -> Points:
        return Points(self.rows, np.ones(len(self.rows), dtype=np.int8), 0.0)

    @cached_property
    def _scaled(self) -> Scaled:
        return Scaled.of(self._points)

    @cached_property
    def _equilibrated(self) -> Points:
        return replace(self._points, rows=self._scaled.written(np.arange(len(self.rows)))[:, :-1])


# Seconds for the first attempt at an exact proof. With at most FEW_NUMBERS every attempt is quick, and has no time
# limit of its own, so that the answer does not depend on the load of the machine.
FIRST_ATTEMPT = 0.05
FEW_NUMBERS = 10_000


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a method found: a solution, an exact combination, or neither, and then why it stopped."""

    method: str
    x: Any = None
    combination: Combination | None = None
    iterations: int = 0
    rescalings: int = 0
    potential: tuple[float, ...] = ()
    stopped: str = ""


class Proofs:
    """Attempts at an exact proof during a search in floats, so few that they never cost much more than the search.

    An exact combination is tried after `first` steps, and then whenever their number has quadrupled, for about as long
    as the search has taken so far. A candidate for a solution is tried immediately; if exact arithmetic rejects one,
    float64 is near its limits, and the wait for the next doubles every time.
    """

    def __init__(self, system: System, clock: Clock, first: int = 64) -> None:
        self._system, self._clock, self._next = system, clock, first
        self._next_candidate, self._wait = 0, 1
        self._started = clock.now()

    def solves(self, count: int, x: Floats) -> bool:
        if count < self._next_candidate:
            return False
        self._wait *= 2
        self._next_candidate = count + self._wait
        return self._system.is_solved_by(x)

    def attempt(self, count: int, weights: Floats) -> Combination | None:
        if count < self._next:
            return None
        self._next = 4 * count
        clock = self._clock
        if self._system.rows.size > FEW_NUMBERS:
            clock = clock.within(FIRST_ATTEMPT + clock.now() - self._started)
        return self._system.cancelling(weights, clock)
