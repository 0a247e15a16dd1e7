"""Linear programs by the perceptron: SciPy's calling convention, and a proof with every answer.

The program becomes a self-dual cone (Goldman and Tucker), projection and rescaling (Chubanov; Peña and Soheili) finds
which of its coordinates can be positive, and that says which constraints hold with equality. From there linear
equations give the answer in fractions. Where they do not, because floats cannot tell what the program is, exact pivots
go on from the guess. Nothing is called proved that the independent check in `programs.check` does not confirm.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.exact.floats import nearest_float
from novikoff.prove.programs.check import Numbers, ProgramCertificate, fractions, products
from novikoff.prove.programs.program import Program, Vector, read_program
from novikoff.prove.programs.search.active_set import Guess, choose_pivots, point, read_guess, row_multipliers
from novikoff.prove.programs.search.answers import Candidate, contradictory_bounds, infeasible, optimal, unbounded
from novikoff.prove.programs.search.homogeneous import SelfDualCone, nonnegative_form, self_dual_cone
from novikoff.prove.programs.search.pivoting import decide_exactly
from novikoff.prove.programs.search.projection import Stretch, maximum_support

DEFAULTS = {"tolerance": 1e-8, "time_limit": 60.0}
WORTH_EXACT_WORK = 1e-4  # a guess whose claims fail by more in floats will fail in fractions too
RETRY_AFTER = 8  # rescalings, each of which halves the error of the guess
ROUNDING = 1e-12  # what violates more may be another answer seen from afar, and is looked at until floats end
MOST_RESCALINGS = 300  # where floats see what a program is, a fifth of them is plenty
CHANCES_TO_BE_EXACT = 2  # for what violates less; then come exact pivots

Solver = Callable[[], Candidate | None]


class Status(IntEnum):
    """SciPy's codes for how a linear program ended; 4, numerical difficulties, cannot happen in exact arithmetic."""

    OPTIMAL = 0
    LIMIT = 1
    INFEASIBLE = 2
    UNBOUNDED = 3


@dataclass
class Effort:
    """What a search may use, what it has used, its last guess, and the best optimum that it could not prove."""

    clock: Clock
    iterations: int = 0
    rescalings: int = 0
    guess: Guess | None = None
    nearest: Candidate | None = None


def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "perceptron",
    options: dict[str, Any] | None = None,
) -> Any:
    """Minimise c.x where A_ub x <= b_ub, A_eq x = b_eq and x within bounds, as `scipy.optimize.linprog` does.

    Returns SciPy's `OptimizeResult`: `x`, `fun`, `status` (0 optimal, 1 time limit, 2 infeasible, 3 unbounded),
    `message`, `nit` (iterations of the smooth perceptron), `slack`, `con`, marginals in `ineqlin`, `eqlin`, `lower` and
    `upper`, and besides `rescalings` and the `certificate`: the optimum with its multipliers, a Farkas vector, or a
    ray, in fractions, whose `check` takes the program again. If there is more than one optimum, x lies inside the face
    that they form, as a rule.

    The statuses 0, 2 and 3 are proved in exact arithmetic, of the numbers as they were given. When the time is used up,
    the status is 1 and `success` is False. A program that rounding has made infeasible is infeasible. In both cases
    `approximate` has a point and multipliers that obey everything up to `options["tolerance"]` (1e-8, relative to 1 and
    the limits), if such were found; with status 1 they are also in `x` and `fun`. `options["time_limit"]` is in seconds
    (60).

    >>> result = linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6])
    >>> result.status, result.fun, result.x.tolist(), result.certificate.arithmetic
    (0, -5.0, [3.0, 1.0], 'exact')
    >>> print(linprog([1, 1], A_ub=[[1, 1]], b_ub=[-1]).message)
    Infeasible (exact): no point obeys all constraints.
    """
    if method != "perceptron":
        raise ValueError(f"method is {method!r}, but this solver has only 'perceptron'; SciPy's linprog has others")
    settings = _settings(options)
    program = read_program(c, A_ub, b_ub, A_eq, b_eq, bounds)
    return solved(program, Clock(settings["time_limit"]), settings["tolerance"])


def solved(program: Program, clock: Clock, tolerance: float = DEFAULTS["tolerance"]) -> Any:
    """SciPy's result for a program, found before the clock is over."""
    effort = Effort(clock)
    # On matrices of this size threads cost more than they bring.
    with threadpool_limits(1, user_api="blas"), np.errstate(over="raise", invalid="raise", divide="raise"):
        answer = solve(program, effort)
    certificate = answer and answer.certificate(program)
    nearest = effort.nearest
    near = nearest is not None and 0 < nearest.violation <= tolerance and (answer is None or answer.x is None)
    return _result(program, certificate, nearest.certificate(program) if nearest and near else None, effort)


def solve(program: Program, effort: Effort) -> Candidate | None:
    """What the program is, proved; or None if the time was used up before."""
    crossed = np.flatnonzero(program.lower > program.upper)
    if crossed.size:
        return contradictory_bounds(program, int(crossed[0]))
    try:
        for found in _candidates(program, effort):
            if found.violation == 0:
                return found
        return _pivoted(program, effort.guess, effort.clock)
    except OutOfTimeError:
        return None


def _candidates(program: Program, effort: Effort) -> Iterator[Candidate]:
    """The best candidate that each guess at what is tight leads to, until floats are of no more use."""
    feasibility = cache(lambda: solve(program.with_cost(np.zeros_like(program.c)), Effort(effort.clock)))
    chances = CHANCES_TO_BE_EXACT
    try:
        for cone, stretch in _settled(program, effort):
            try:
                effort.guess = read_guess(program, cone, stretch.point, stretch.positive)
                found = _candidate(program, effort.guess, feasibility, effort.clock)
            except FloatingPointError:  # this guess lies beyond the range of floats; the next may not
                continue
            if found.claim == "optimal":
                effort.nearest = _better(effort.nearest, found)
            yield found
            chances -= found.violation <= ROUNDING
            if chances == 0:
                return
    except FloatingPointError:  # the program itself lies beyond the range of floats, once its bounds are shifted
        return


def _settled(program: Program, effort: Effort) -> Iterator[tuple[SelfDualCone, Stretch]]:
    """What projection and rescaling find, whenever two rescalings agree, and again when it is more precise."""
    cone = self_dual_cone(nonnegative_form(program))
    before = np.zeros(len(cone.partner), dtype=np.bool_)
    wait = 0
    for stretch in itertools.islice(maximum_support(cone.stretched, cone.partner, effort.clock), MOST_RESCALINGS):
        effort.rescalings += 1
        effort.iterations += stretch.iterations
        settled = np.array_equal(before, stretch.positive)
        before, wait = stretch.positive, wait - 1 if settled else 0
        if settled and wait <= 0:
            wait = RETRY_AFTER
            yield cone, stretch


def _candidate(program: Program, guess: Guess, feasibility: Solver, clock: Clock) -> Candidate:
    """The best candidate that a guess leads to; its violation says whether it is proved."""
    pivots = choose_pivots(program, guess)

    def x(exactly: Clock | None) -> Any:
        return point(program, guess, pivots, exactly)

    def y(exactly: Clock | None) -> Any:
        return row_multipliers(program, guess, pivots, exactly)

    if guess.t:
        return _best(clock, lambda exactly: optimal(program, x(exactly), y(exactly)))
    contradiction = _best(clock, lambda exactly: infeasible(program, y(exactly)))
    if contradiction.violation == 0 or program.c @ x(None) >= 0:
        return contradiction
    start = feasibility()
    if start is None or start.x is None:
        return start or contradiction
    ray = _best(clock, lambda exactly: unbounded(program, start.x or (), x(exactly)))
    return _better(contradiction, ray)


def _best(clock: Clock, candidate: Callable[[Clock | None], Candidate]) -> Candidate:
    """The candidate in floats, or in fractions if that is promising."""
    in_floats = candidate(None)
    if not 0 < in_floats.violation <= WORTH_EXACT_WORK:
        return in_floats
    try:
        return _better(in_floats, candidate(clock))
    except (ZeroDivisionError, OutOfTimeError):  # what floats took for nonsingular is singular, or it took too long
        return in_floats


def _better(one: Candidate | None, other: Candidate) -> Candidate:
    return one if one is not None and one.violation < other.violation else other


def _pivoted(program: Program, guess: Guess | None, clock: Clock) -> Candidate:
    """What exact pivots find, from the last guess if there is one."""
    found = decide_exactly(program, guess, clock)
    if found.answer == "optimal":
        proved = optimal(program, found.x, found.y)
    elif found.answer == "infeasible":
        proved = infeasible(program, found.y)
    else:
        proved = unbounded(program, found.x, found.ray)
    if proved.violation != 0:
        raise ArithmeticError("exact pivots must end with what the check confirms")
    return proved


# -- SciPy's result -----------------------------------------------------------------------------------------------


def _settings(options: dict[str, Any] | None) -> dict[str, float]:
    given = dict(options or {})
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}; the options are {sorted(DEFAULTS)}")
    settings = {**DEFAULTS, **{name: value for name, value in given.items() if value is not None}}
    for name, value in settings.items():
        if not (isinstance(value, (int, float, np.number)) and value > 0):
            raise ValueError(f"option {name!r} is {value!r}; it must be a positive number")
    return {name: float(value) for name, value in settings.items()}


NOT_PROVED = "The time limit was reached before an answer could be proved; raise options['time_limit']."


def _result(
    program: Program, certificate: ProgramCertificate | None, approximate: ProgramCertificate | None, effort: Effort
) -> Any:
    from scipy.optimize import OptimizeResult

    status = Status.LIMIT if certificate is None else Status[certificate.claim.upper()]
    message = NOT_PROVED if certificate is None else certificate.sentence
    message += f" {approximate.sentence}" if approximate else ""
    result = OptimizeResult(
        {"x": None, "fun": None, "success": status is Status.OPTIMAL, "status": int(status), "message": message}
    )
    result.update(nit=effort.iterations, rescalings=effort.rescalings, certificate=certificate, approximate=approximate)
    result.update(dict.fromkeys(("slack", "con", "ineqlin", "eqlin", "lower", "upper")))
    shown = certificate or approximate
    if shown is not None and shown.x and shown.multipliers:
        (value,) = _floats(products(program.c[None, :], shown.x))
        residuals = _residuals(program, shown.x)
        result.update(x=_floats(shown.x), fun=float(value), slack=residuals[0], con=residuals[1])
        names = ("ineqlin", "eqlin", "lower", "upper")
        for name, residual, values in zip(names, residuals, shown.multipliers, strict=True):
            result[name] = OptimizeResult(residual=residual, marginals=_floats(values))
    return result


def _residuals(program: Program, x: Numbers) -> tuple[Vector, Vector, Vector, Vector]:
    """What is left to every limit and bound; infinite where there is none."""
    left = [b - got for b, got in zip(fractions(program.limits), products(program.rows, x), strict=True)]
    above, below = (
        np.array([_floats([sign * (v - Fraction(b))])[0] if math.isfinite(b) else math.inf for v, b in pairs])
        for sign, pairs in (
            (1, zip(x, program.lower.tolist(), strict=True)),
            (-1, zip(x, program.upper.tolist(), strict=True)),
        )
    )
    m_ub = len(program.b_ub)
    return _floats(left[:m_ub]), _floats(left[m_ub:]), above, below


def _floats(values: Numbers) -> Vector:
    return np.array([nearest_float(value) for value in values])
