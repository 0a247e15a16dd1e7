"""What the methods for Ax > 0 have in common: what they are given, what they leave behind, when they stop."""

import math
from dataclasses import dataclass

from novikoff.prove.exact.clock import Clock
from novikoff.prove.inequalities.check import Combination
from novikoff.prove.inequalities.search.system import System
from novikoff.prove.separable.points import Floats

# Seconds for the first attempt at an exact proof.
FIRST_ATTEMPT = 0.05


@dataclass(frozen=True, eq=False)
class Found:
    """What a method found: a solution, an exact combination, or neither, and then why it stopped.

    `dual` are weights of the unit rows: their combination bounds the margin from above. `margin_at_most` is what a
    method believes of the margin, in floats.
    """

    method: str
    x: Floats | None = None
    combination: Combination | None = None
    dual: Floats | None = None
    iterations: int = 0
    rescalings: int = 0
    potential: tuple[float, ...] = ()
    stopped: str = ""
    margin_at_most: float = math.inf


@dataclass(frozen=True)
class Limits:
    """When to stop: when the clock is over, or as soon as no solution can have the margin that was asked."""

    clock: Clock
    min_margin: float = 0.0

    def reached(self, margin_at_most: float) -> str:
        """Why to stop now, in words; empty if there is no reason."""
        if margin_at_most < self.min_margin:
            return "the margin asked for is ruled out"
        return "the time is used up" if self.clock.is_over() else ""


class Proofs:
    """Attempts at an exact proof during a search in floats, so few that they never cost much more than the search.

    An exact combination is tried when the count of steps is `first` at least, and then whenever it has become four
    times as large, for about as many seconds as went by before. A candidate for a solution is tried as it comes; if
    exact arithmetic refuses one, float64 is near its end, and the wait for the next becomes twice as long every time.
    """

    def __init__(self, system: System, limits: Limits, first: int = 64) -> None:
        self._system, self._limits, self._next = system, limits, first
        self._next_candidate, self._wait = 0, 1
        self._started = limits.clock.now()

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
        clock = self._limits.clock
        return self._system.cancelling(weights, clock.within(FIRST_ATTEMPT + clock.now() - self._started))
