"""Linear programs by the perceptron: SciPy's calling convention, and a proof with every answer.

The program becomes a self-dual cone (Goldman and Tucker), projection and rescaling (Chubanov; Peña and Soheili) finds
which of its coordinates can be positive, and that says which constraints hold with equality. From there linear
equations give the answer in fractions. Nothing is returned that the independent check in `program_check` does not
confirm.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from novikoff.prove.active_set import Guess, choose_pivots, point, read_guess, row_multipliers
from novikoff.prove.homogeneous import SelfDualCone, nonnegative_form, self_dual_cone
from novikoff.prove.program import Program, Vector, read_program
from novikoff.prove.program_check import (
    Numbers,
    ProgramCertificate,
    contradictory_bounds,
    infeasible,
    optimal,
    products,
    ray_violation,
    unbounded,
)
from novikoff.prove.projection import Stretch, maximum_support

DEFAULTS = {"tolerance": 1e-8, "time_limit": 60.0}
WORTH_EXACT_WORK = 1e-4  # a guess whose claims fail by more in floats will fail in fractions too
SECONDS_FOR_400_EQUATIONS = 8.0  # in fractions, twice; it grows with the cube
RETRY_AFTER = 8  # rescalings, each of which halves the error of the guess
ROUNDING = 1e-12  # what violates more may be another answer seen from afar, and is looked at until floats end
CHANCES_TO_BE_EXACT = 3  # for what violates less

Solver = Callable[[], ProgramCertificate | None]


class Status(IntEnum):
    """SciPy's codes for how a linear program ended."""

    OPTIMAL = 0
    LIMIT = 1
    INFEASIBLE = 2
    UNBOUNDED = 3
    NUMERICAL_DIFFICULTIES = 4


@dataclass
class Effort:
    """What a search may use, what it has used, and the best that it found but could not prove."""

    deadline: float
    tolerance: float
    iterations: int = 0
    rescalings: int = 0
    evidence: ProgramCertificate | None = None


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

    Returns SciPy's `OptimizeResult`: `x`, `fun`, `status` (0 optimal, 1 time limit, 2 infeasible, 3 unbounded, 4
    undecided in float64), `message`, `nit` (iterations of the smooth perceptron), `slack`, `con`, marginals in
    `ineqlin`, `eqlin`, `lower` and `upper`, and besides `rescalings` and the `certificate`: the optimum with its
    multipliers, a Farkas vector, or a ray, in fractions, whose `arithmetic` is `exact` or `float64`, and whose `check`
    takes the program again. If there is more than one optimum, x lies inside the face that they form.

    `options` may have `tolerance` (1e-8: how much an answer in float64 may violate, relative to 1 and the limits) and
    `time_limit` in seconds (60).

    >>> result = linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6])
    >>> result.status, result.fun, result.x.tolist(), result.certificate.arithmetic
    (0, -5.0, [3.0, 1.0], 'exact')
    >>> print(linprog([1, 1], A_ub=[[1, 1]], b_ub=[-1]).message)
    Infeasible: multipliers combine the constraints to a contradiction (proved in exact arithmetic).
    """
    if method != "perceptron":
        raise ValueError(f"method is {method!r}, but this solver has only 'perceptron'; SciPy's linprog has others")
    settings = _settings(options)
    program = read_program(c, A_ub, b_ub, A_eq, b_eq, bounds)
    effort = Effort(time.monotonic() + settings["time_limit"], settings["tolerance"])
    # On matrices of this size threads cost more than they bring.
    with threadpool_limits(1, user_api="blas"), np.errstate(over="raise", invalid="raise", divide="raise"):
        try:
            certificate = solve(program, effort)
        except FloatingPointError:  # the program itself lies beyond the range of floats, once its bounds are shifted
            certificate = None
    return _result(program, certificate, effort)


def solve(program: Program, effort: Effort) -> ProgramCertificate | None:
    """A certificate of what the program is, or None if none was found that its check accepts."""
    crossed = np.flatnonzero(program.lower > program.upper)
    if crossed.size:
        return contradictory_bounds(program, int(crossed[0]))
    feasibility = cache(lambda: solve(program.with_cost(np.zeros_like(program.c)), effort))
    best: ProgramCertificate | None = None
    chances = CHANCES_TO_BE_EXACT
    for cone, stretch in _settled(program, effort):
        try:
            guess = read_guess(program, cone, stretch.point, stretch.positive)
            found = _certificate(program, guess, feasibility, effort)
        except FloatingPointError:  # this guess lies beyond the range of floats; the next may not
            continue
        if _accepted(program, found, effort.tolerance):
            best = _better(best, found)
            chances -= best.violation <= ROUNDING
        else:
            effort.evidence = _better(effort.evidence, found)
        if best is not None and (best.violation == 0 or chances == 0):
            break
    return best


def _settled(program: Program, effort: Effort) -> Iterator[tuple[SelfDualCone, Stretch]]:
    """What projection and rescaling find, whenever two rescalings agree, and again when it is more precise."""
    cone = self_dual_cone(nonnegative_form(program))
    before = np.zeros(len(cone.partner), dtype=np.bool_)
    wait = 0
    for stretch in maximum_support(cone.stretched, cone.partner, effort.deadline):
        effort.rescalings += 1
        effort.iterations += stretch.iterations
        settled = np.array_equal(before, stretch.positive)
        before, wait = stretch.positive, wait - 1 if settled else 0
        if settled and wait <= 0:
            wait = RETRY_AFTER
            yield cone, stretch


def _certificate(program: Program, guess: Guess, feasibility: Solver, effort: Effort) -> ProgramCertificate:
    """The best certificate that a guess leads to; its violation says whether it is one."""
    pivots = choose_pivots(program, guess)
    in_time = SECONDS_FOR_400_EQUATIONS * (len(pivots.rows) / 400) ** 3 < effort.deadline - time.monotonic()

    def x(exactly: bool) -> Any:
        return point(program, guess, pivots, exactly)

    def y(exactly: bool) -> Any:
        return row_multipliers(program, guess, pivots, exactly)

    if guess.t:
        return _best(in_time, lambda exactly: optimal(program, x(exactly), y(exactly)))
    contradiction = _best(in_time, lambda exactly: infeasible(program, y(exactly)))
    if contradiction.violation == 0 or program.c @ x(False) >= 0:
        return contradiction
    start = feasibility()
    if start is None or start.x is None:
        return start or contradiction
    ray = _best(in_time, lambda exactly: unbounded(program, start.x or (), x(exactly)))
    return _better(contradiction, ray)


def _best(in_time: bool, certificate: Callable[[bool], ProgramCertificate]) -> ProgramCertificate:
    """The certificate in floats, or in fractions if there is time and it is promising."""
    in_floats = certificate(False)
    if not in_time or not 0 < in_floats.violation <= WORTH_EXACT_WORK:
        return in_floats
    try:
        return _better(in_floats, certificate(True))
    except ZeroDivisionError:  # what floats took for nonsingular is singular
        return in_floats


def _better(one: ProgramCertificate | None, other: ProgramCertificate) -> ProgramCertificate:
    return one if one is not None and one.violation < other.violation else other


def _accepted(program: Program, certificate: ProgramCertificate, tolerance: float) -> bool:
    """An optimum may be approximate, and so may a point. A contradiction or a ray is exact, or it proves nothing.

    In floats a contradiction leaves room for points that are far away, and a ray may end there.
    """
    if certificate.claim == "infeasible":
        return certificate.violation == 0
    if certificate.claim == "unbounded" and ray_violation(program, certificate.ray or ()) > 0:
        return False
    return certificate.violation <= tolerance


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


MESSAGES = {
    Status.OPTIMAL: "Optimal: no point has a smaller cost",
    Status.INFEASIBLE: "Infeasible: multipliers combine the constraints to a contradiction",
    Status.UNBOUNDED: "Unbounded: along a ray the cost falls for ever",
    Status.LIMIT: "The time limit was reached before an answer could be proved; raise options['time_limit'].",
    Status.NUMERICAL_DIFFICULTIES: "Float64 was exhausted before an answer could be proved; scale the program better.",
}


def _result(program: Program, certificate: ProgramCertificate | None, effort: Effort) -> Any:
    from scipy.optimize import OptimizeResult

    status, message = _status(certificate, effort)
    result = OptimizeResult(
        {"x": None, "fun": None, "success": status is Status.OPTIMAL, "status": int(status), "message": message}
    )
    result.update(nit=effort.iterations, rescalings=effort.rescalings, certificate=certificate)
    result.update(dict.fromkeys(("slack", "con", "ineqlin", "eqlin", "lower", "upper")))
    if status is Status.OPTIMAL and certificate is not None and certificate.x and certificate.multipliers:
        x = _floats(certificate.x)
        slack, con = program.b_ub - program.A_ub @ x, program.b_eq - program.A_eq @ x
        (value,) = _floats(products(program.c[None, :], certificate.x))
        result.update(x=x, fun=float(value), slack=slack, con=con)
        residuals = (slack, con, x - program.lower, program.upper - x)
        names = ("ineqlin", "eqlin", "lower", "upper")
        for name, residual, values in zip(names, residuals, certificate.multipliers, strict=True):
            result[name] = OptimizeResult(residual=residual, marginals=_floats(values))
    return result


def _floats(values: Numbers) -> Vector:
    """The nearest floats; infinite beyond their range."""
    limit = Fraction(sys.float_info.max)
    return np.array([float(v) if abs(v) <= limit else math.inf if v > 0 else -math.inf for v in values])


def _status(certificate: ProgramCertificate | None, effort: Effort) -> tuple[Status, str]:
    if certificate is not None:
        exact = certificate.violation == 0
        proof = "proved in exact arithmetic" if exact else f"checked in float64, up to {certificate.violation:.1e}"
        status = Status[certificate.claim.upper()]
        return status, f"{MESSAGES[status]} ({proof})."
    late = time.monotonic() > effort.deadline
    status = Status.LIMIT if late else Status.NUMERICAL_DIFFICULTIES
    evidence = effort.evidence
    if evidence is None or not evidence.violation <= WORTH_EXACT_WORK:
        return status, MESSAGES[status]
    return status, f"{MESSAGES[status]} The evidence says {evidence.claim}, up to {evidence.violation:.1e}."
