"""The simplex method in fractions, from a good guess: the last resort, where floats cannot tell what a program is.

Let r = Ax. All variables, x and r, have bounds, and a tableau writes some of them, the basic ones, as combinations of
the rest. While a basic one is out of its bounds, it changes places with another one that can move; if none can, its row
of the tableau is the proof that the program has no solution (Dutertre and de Moura 2006). Then the cost, one more row,
falls step by step, until no variable can make it smaller, or one can forever (Dantzig). The smallest number among the
candidates is taken (Bland 1977), so that it cannot go round in circles. Everything is exact, and every pivot looks at
the clock. From the guess that projection and rescaling make it is a few pivots to the end.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.programs.check import Numbers
from novikoff.prove.programs.program import Program, Vector
from novikoff.prove.programs.search.active_set import Guess, Pivots, as_fraction, choose_pivots, rational


class Decision(NamedTuple):
    """What the program is; x, the multipliers y of the rows, or the ray, as the answer needs them."""

    answer: str
    x: Numbers = ()
    y: Numbers = ()
    ray: Numbers = ()


def decide_exactly(program: Program, guess: Guess | None, clock: Clock) -> Decision:
    """What the program is, exactly; raises OutOfTimeError when the clock is over."""
    tableau = Tableau(program, clock)
    if guess is not None:
        tableau.start_from(guess, choose_pivots(program, guess))
    tableau.place()
    broken = tableau.repair()
    if broken is not None:
        return Decision("infeasible", y=tableau.multipliers_of_row(*broken))
    endless = tableau.descend()
    if endless is not None:
        return Decision("unbounded", x=tableau.x(), ray=tableau.ray(*endless))
    return Decision("optimal", x=tableau.x(), y=tableau.multipliers())


class Tableau:
    """Basic variables as combinations of the others; the last row is the cost.

    Variable j < n is x_j, variable n + i is the product of row i with x.
    """

    def __init__(self, program: Program, clock: Clock) -> None:
        self.n, self.m = len(program.c), len(program.limits)
        self.clock = clock
        self.rows: list[list[Any]] = []
        for row in (*program.rows, program.c):
            self._look()
            self.rows.append(_rationals(row))
        self.outside = list(range(self.n))
        self.basic = list(range(self.n, self.n + self.m))
        unlimited = np.full(len(program.b_ub), -np.inf)
        self.lower = _rationals(np.concatenate([program.lower, unlimited, program.b_eq]))
        self.upper = _rationals(np.concatenate([program.upper, program.b_ub, program.b_eq]))
        zero = rational(0.0)
        self.values: list[Any] = [zero] * (self.n + self.m)

    def _look(self) -> None:
        """At the clock."""
        if self.clock.is_over():
            raise OutOfTimeError

    # -- where it starts ----------------------------------------------------------------------------------------------

    def start_from(self, guess: Guess, pivots: Pivots) -> None:
        """Exchange the rows that are guessed to be tight for variables that are guessed to be loose."""
        start = np.where(guess.loose, guess.x, guess.bounds) if guess.t else guess.bounds
        self.values[: self.n] = _rationals(np.where(np.isfinite(start), start, 0.0))
        columns = set(pivots.columns.tolist())
        for i in pivots.rows.tolist():
            row = self.rows[i]
            sizes = {s: abs(float(row[s])) for s in columns if row[s]}
            if sizes:
                s = max(sizes, key=sizes.__getitem__)
                columns.discard(s)
                self.exchange(i, s)

    def place(self) -> None:
        """Put every variable that is not basic within its bounds, and compute the basic ones."""
        for v in self.outside:
            value, low, high = self.values[v], self.lower[v], self.upper[v]
            if v >= self.n:
                value = high  # a row that is tight
            if low is not None and value < low:
                value = low
            if high is not None and value > high:
                value = high
            self.values[v] = value
        for i, v in enumerate(self.basic):
            self.values[v] = _dot(self.rows[i], [self.values[u] for u in self.outside])

    # -- the two phases -----------------------------------------------------------------------------------------------

    def repair(self) -> tuple[int, int] | None:
        """Move all basic variables into their bounds; or return a row that contradicts them, and its sign."""
        while True:
            broken = min(((v, i) for i, v in enumerate(self.basic) if self._misses(v)), default=None)
            if broken is None:
                return None
            v, i = broken
            sign = self._misses(v)
            s = self._first(self.rows[i], sign)
            if s is None:
                return i, sign
            target = self.lower[v] if sign > 0 else self.upper[v]
            self.move(s, (target - self.values[v]) / self.rows[i][s])
            self.exchange(i, s)

    def descend(self) -> tuple[int, int] | None:
        """Lower the cost until it is smallest; or return a variable, and its direction, that lowers it forever."""
        while True:
            s = self._first(self.rows[-1], -1)
            if s is None:
                return None
            direction = -1 if self.rows[-1][s] > 0 else 1
            limit = self._ratio_test(s, direction)
            if limit is None:
                return s, direction
            step, _, i = limit
            self.move(s, direction * step)
            if i >= 0:
                self.exchange(i, s)

    def _misses(self, v: int) -> int:
        """+1 if a variable must grow to get into its bounds, -1 if it must fall, 0 if it is within."""
        if self.lower[v] is not None and self.values[v] < self.lower[v]:
            return 1
        return -1 if self.upper[v] is not None and self.values[v] > self.upper[v] else 0

    def _first(self, row: list[Any], sign: int) -> int | None:
        """The place of the first variable that can move so that the row's value grows (sign 1) or falls (-1)."""
        able = []
        for s, v in enumerate(self.outside):
            if row[s]:
                grows = (row[s] > 0) == (sign > 0)
                bound = self.upper[v] if grows else self.lower[v]
                if bound is None or self.values[v] != bound:
                    able.append((v, s))
        return min(able)[1] if able else None

    def _ratio_test(self, s: int, direction: int) -> tuple[Any, int, int] | None:
        """How far variable s can go, which variable stops it, and its row: -1 if that is its own bound."""
        limits = []
        entering = self.outside[s]
        own = self.upper[entering] if direction > 0 else self.lower[entering]
        if own is not None:
            limits.append((abs(own - self.values[entering]), entering, -1))
        for i, v in enumerate(self.basic):
            rate = direction * self.rows[i][s]
            bound = self.upper[v] if rate > 0 else self.lower[v]
            if rate and bound is not None:
                limits.append(((bound - self.values[v]) / rate, v, i))
        return min(limits, default=None)

    # -- moves --------------------------------------------------------------------------------------------------------

    def move(self, s: int, step: Any) -> None:
        """Move a variable that is not basic, and all basic ones with it."""
        self.values[self.outside[s]] += step
        for row, v in zip(self.rows, self.basic, strict=False):
            if row[s]:
                self.values[v] += row[s] * step

    def exchange(self, i: int, s: int) -> None:
        """Let the basic variable of row i and the variable of column s change places."""
        pivot = self.rows[i][s]
        new = [-value / pivot if value else value for value in self.rows[i]]
        new[s] = 1 / pivot
        entries = [(j, value) for j, value in enumerate(new) if value and j != s]
        for k, row in enumerate(self.rows):
            self._look()
            factor = row[s]
            if k != i and factor:
                for j, value in entries:
                    row[j] += factor * value
                row[s] = factor * new[s]
        self.rows[i] = new
        self.basic[i], self.outside[s] = self.outside[s], self.basic[i]

    # -- what it says -------------------------------------------------------------------------------------------------

    def x(self) -> Numbers:
        return [as_fraction(value) for value in self.values[: self.n]]

    def multipliers(self) -> Numbers:
        """Of the rows: what the cost is made of, besides the bounds."""
        return self._of_rows(zip(self.outside, self.rows[-1], strict=True))

    def multipliers_of_row(self, i: int, sign: int) -> Numbers:
        """Of the rows, for a basic variable that cannot get into its bounds."""
        parts = [(self.basic[i], rational(float(sign)))]
        parts += [(v, -sign * value) for v, value in zip(self.outside, self.rows[i], strict=True)]
        return self._of_rows(parts)

    def _of_rows(self, parts: Iterable[tuple[int, Any]]) -> Numbers:
        y: list[Any] = [rational(0.0)] * self.m
        for v, value in parts:
            if v >= self.n:
                y[v - self.n] = value
        return [as_fraction(value) for value in y]

    def ray(self, s: int, direction: int) -> Numbers:
        """The direction in which x moves when a variable does."""
        way = [rational(0.0)] * (self.n + self.m)
        way[self.outside[s]] = rational(float(direction))
        for row, v in zip(self.rows, self.basic, strict=False):
            way[v] = direction * row[s]
        return [as_fraction(value) for value in way[: self.n]]


def _dot(a: list[Any], b: list[Any]) -> Any:
    total = rational(0.0)
    for one, other in zip(a, b, strict=True):
        if one and other:
            total += one * other
    return total


def _rationals(values: Vector) -> list[Any]:
    """Floats as FLINT's fractions; None where there is no bound."""
    return [rational(value) if np.isfinite(value) else None for value in values.tolist()]
