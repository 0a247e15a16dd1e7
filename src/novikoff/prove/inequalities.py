"""Find x with Ax > 0 in every row, or prove that there is none, also where the margin is tiny."""

import enum
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import at_least, at_most, decimal_digits
from novikoff.prove.dunagan_vempala import dunagan_vempala
from novikoff.prove.elementary import perceptron, von_neumann
from novikoff.prove.points import Floats
from novikoff.prove.rescaled import replayed_margin_at_most, rescaled, rounding_of_a_margin
from novikoff.prove.search import Found, Limits
from novikoff.prove.smooth import smooth
from novikoff.prove.system import Combination, System

# With `auto`, the perceptron itself may make so many mistakes: most systems ask for no more.
FEW_MISTAKES = 1_000


class Outcome(enum.Enum):
    """What became of a system of inequalities."""

    SOLVED = "solved"
    NO_SOLUTION = "no solution"
    MARGIN_RULED_OUT = "margin ruled out"
    UNDECIDED = "undecided"


class InequalitiesError(ValueError):
    """A claim about a system of inequalities is not true of it."""


@dataclass(frozen=True, eq=False)
class Inequalities:
    """What was found out about a system Ax > 0, and why one should believe it. True if it was solved.

    `x` solves every row, exactly; it is float64, or whole numbers (dtype object) where no float64 vector was found.
    `combination` has rows and positive whole weights that add up to exactly 0, so that nothing solves them (Gordan).
    Both are called `exact`. Otherwise the answer is `float64`, and `stopped` says what ended the search.

    Margins are those of rows divided by their lengths: `margin` is that of x, rounded down, and no solution has one
    above `margin_at_most` (float64), which `duals` prove: convex combinations of the rows, one a rescaling for the
    rescaled perceptron. `iterations` are mistakes or steps. `potential` is what the method watches: log det R after
    every rescaling for `rescaled`, else a bound on the margin, now and then.
    """

    outcome: Outcome
    arithmetic: str
    method: str
    n_rows: int
    n_columns: int
    x: NDArray[Any] | None
    combination: Combination | None
    margin: float | None
    margin_at_most: float
    min_margin: float | None
    iterations: int
    rescalings: int
    potential: tuple[float, ...]
    duals: tuple[Floats, ...]
    stopped: str = ""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.SOLVED

    def __str__(self) -> str:
        return " ".join(filter(None, [self._what(), self._how(), self._what_next()]))

    def __repr__(self) -> str:
        return f"<Inequalities: {self}>"

    def _what(self) -> str:
        system = f"{self.n_rows:,} inequalit{'y' if self.n_rows == 1 else 'ies'} in {_count(self.n_columns, 'unknown')}"
        if self.margin is not None:
            return f"Solved (exact): the solution x of {system} has margin {at_least(self.margin)}."
        if self.combination is not None:
            return f"No solution (exact): of {system}, {_in_words(self.combination)}."
        bound = f"no solution has a margin above {at_most(self.margin_at_most)}"
        if self.outcome is Outcome.MARGIN_RULED_OUT:
            return f"Margin ruled out (float64): of {system}, {bound}, and {self.min_margin:g} was asked for."
        known = f", but {bound}" if math.isfinite(self.margin_at_most) else ""
        return f"Undecided (float64): {system} may have a solution or none{known}."

    def _how(self) -> str:
        if not self.iterations:
            return ""
        steps = _count(self.iterations, "mistake" if self.method == "perceptron" else "step")
        scaled = f" and {_count(self.rescalings, 'rescaling')}" if self.rescalings else ""
        if self.method == "cutting-planes":
            return f"The rescaled perceptron took {steps}{scaled}, then came cutting planes and exact arithmetic."
        return f"The method {self.method} took {steps}{scaled}."

    def _what_next(self) -> str:
        if self.outcome is not Outcome.UNDECIDED:
            return ""
        advice = 'try method="auto"'
        if self.method in ("perceptron", "von-neumann", "smooth", "dunagan-vempala"):
            advice = 'for small margins use method="rescaled"'
        if self.method == "cutting-planes" or "time" in self.stopped:
            advice = "give it more time"
        return f"It stopped because {self.stopped}; {advice}."

    def check(self, A: Any) -> None:
        """Prove every claim again from the rows; raises `InequalitiesError` naming the first that fails."""
        system = System.of(A)
        if system.rows.shape != (self.n_rows, self.n_columns):
            shape = f"{self.n_rows} x {self.n_columns}"
            raise InequalitiesError(f"A is {system.n_rows} x {system.dimension}, but this is about a system of {shape}")
        if self.x is not None and not system.is_solved_by(self.x):
            raise InequalitiesError("x does not have a positive product with every row")
        if self.x is not None and not (self.margin is not None and self.margin <= system.margin(self.x)):
            raise InequalitiesError("the margin of x is smaller than claimed")
        if self.combination is not None and not system.is_cancelled_by(self.combination):
            raise InequalitiesError("the rows, times their weights, do not add up to 0 with positive weights")
        if self.duals and any(len(dual) != self.n_rows or dual.min() < 0 for dual in self.duals):
            raise InequalitiesError("a dual is no convex combination of the rows")
        if self.duals and replayed_margin_at_most(system.unit, self.duals, self.rescalings) > self.margin_at_most * (
            1 + 1e-6
        ):
            raise InequalitiesError("the combinations of rows do not rule out every margin above margin_at_most")


def solve_inequalities(
    A: Any,
    *,
    method: str = "auto",
    min_margin: float | None = None,
    time_limit: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Inequalities:
    """Find x with Ax > 0 in every row, or prove that none exists.

    Parameters
    ----------
    A : one inequality a row; dense, or sparse and then written out. Its floats are taken as exact.
    method : "perceptron" or "von-neumann" (about 1/rho^2 steps for margin rho), "smooth" (Soheili and Pena, about
        1/rho), "rescaled" (Dadush, Vegh and Zambelli, about log 1/rho), "dunagan-vempala" (the same, randomised
        and slow), or "auto": a short perceptron run, then "rescaled", and where float64 ends, `certify`'s
        cutting planes and rationals.
    min_margin : stop as soon as no solution can have this margin (of rows and x of length 1).
    time_limit : seconds after which to give up as undecided.
    random_state : for "dunagan-vempala"; the others are deterministic.

    Returns
    -------
    Inequalities : `outcome`, `x` or `combination`, both proved in exact arithmetic on the rows as given, `margin`,
        `margin_at_most`, `iterations`, `rescalings`, `potential`; it prints as a sentence, and `check(A)` proves it
        again.

    Examples
    --------
    >>> answer = solve_inequalities([[1, 0], [-1, 1], [-3, 2]])
    >>> answer.outcome, answer.x.round(3).tolist()
    (<Outcome.SOLVED: 'solved'>, [0.293, 0.707])

    Each of these rows rules out what the others ask for: their sum, with these weights, is 0.

    >>> nothing = solve_inequalities([[1, 0], [-1, 1], [-1, -2]])
    >>> nothing.combination
    Combination(rows=(0, 1, 2), weights=(3, 2, 1))
    >>> nothing.check([[1, 0], [-1, 1], [-1, -2]])
    """
    _check_parameters(method, min_margin, time_limit)
    system = System.of(A)
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    if system.first_zero_row is not None:
        zero = Combination((system.first_zero_row,), (1,))
        return _result(system, Found(method, combination=zero), min_margin)
    # A bound is raised by its rounding before it is reported, so a method must get below the margin by as much.
    least = 0.0 if min_margin is None else min_margin - rounding_of_a_margin(system.unit)
    limits = Limits(deadline, least)
    if method == "dunagan-vempala":
        found = dunagan_vempala(system, limits, np.random.default_rng(random_state))
    else:
        found = METHODS[method](system, limits)
    return _result(system, found, min_margin)


def _auto(system: System, limits: Limits) -> Found:
    """The cheapest method that decides: perceptron, rescaled perceptron, cutting planes and rationals."""
    found = perceptron(system, limits, FEW_MISTAKES)
    if _is_final(system, found, limits):
        return found
    found = rescaled(system, limits, last_attempt=0.0)
    if _is_final(system, found, limits):
        return found
    x, combination = system.decided(limits.deadline)
    found = replace(found, method="cutting-planes", combination=combination)
    if x is None:
        return found
    floats = _as_floats(x)
    return replace(found, x=floats if system.is_solved_by(floats) else np.array(x, dtype=object))


def _is_final(system: System, found: Found, limits: Limits) -> bool:
    if found.x is not None or found.combination is not None:
        return True
    return bool(limits.reached(_margin_at_most(system, found)))


def _margin_at_most(system: System, found: Found) -> float:
    if found.combination is not None:
        return 0.0
    if math.isinf(found.margin_at_most):
        return replayed_margin_at_most(system.unit, found.duals[-1:], rescalings=0)
    return found.margin_at_most + rounding_of_a_margin(system.unit)


def _as_floats(whole: Any) -> Floats:
    """Whole numbers of any size, in the same proportions up to rounding, as floats."""
    shift = max(max(abs(v) for v in whole).bit_length() - 1000, 0)
    return np.array([float(v >> shift) if shift else float(v) for v in whole])


METHODS: dict[str, Callable[[System, Limits], Found]] = {
    "auto": _auto,
    "perceptron": perceptron,
    "von-neumann": von_neumann,
    "smooth": smooth,
    "rescaled": rescaled,
}


def _result(system: System, found: Found, min_margin: float | None) -> Inequalities:
    """The outcome of what was found, and the margins."""
    margin_at_most = _margin_at_most(system, found)
    outcome = Outcome.UNDECIDED
    if found.x is not None:
        outcome = Outcome.SOLVED
    elif found.combination is not None:
        outcome = Outcome.NO_SOLUTION
    elif min_margin is not None and margin_at_most < min_margin:
        outcome = Outcome.MARGIN_RULED_OUT
    is_exact = outcome in (Outcome.SOLVED, Outcome.NO_SOLUTION)
    return Inequalities(
        outcome=outcome,
        arithmetic="exact" if is_exact else "float64",
        method=found.method,
        n_rows=system.n_rows,
        n_columns=system.dimension,
        x=found.x,
        combination=found.combination,
        margin=None if found.x is None else system.margin(found.x),
        margin_at_most=margin_at_most,
        min_margin=min_margin,
        iterations=found.iterations,
        rescalings=found.rescalings,
        potential=found.potential,
        duals=() if found.combination else found.duals,
        stopped="" if is_exact else found.stopped,
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _in_words(combination: Combination) -> str:
    rows, weights = combination
    if max(weights) >= 10**12:
        digits = decimal_digits(max(weights))
        shown = ", ".join(map(str, rows[:6])) + (", ..." if len(rows) > 6 else "")
        return f"rows {shown}, times whole weights of up to {digits} digits, add up to 0"
    shown = " + ".join(f"{weight:,} x row {row}" for row, weight in zip(rows[:6], weights[:6], strict=True))
    return shown + (f" + {len(rows) - 6} more" if len(rows) > 6 else "") + " = 0"


def _check_parameters(method: str, min_margin: float | None, time_limit: float | None) -> None:
    known = [*METHODS, "dunagan-vempala"]
    if method not in known:
        raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(known)}")
    if min_margin is not None and not 0 < min_margin <= 1:
        raise ValueError(
            f"min_margin={min_margin!r} must be above 0 and at most 1: rows and x count as vectors of length 1"
        )
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} must be a positive number of seconds, or None")
