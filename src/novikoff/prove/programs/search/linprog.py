"""Linear programs: SciPy's calling convention, and a proof with every answer.

HiGHS finds a basis in floats, or the perceptron a point; integer arithmetic proves the answer for the program as given,
or continues from there until something is proved. Only what the independent check in `programs.check` confirms is
called proved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact.floats import nearest_float
from novikoff.prove.exact.ratios import Ratios, Vector, WholeRows, dot, nearest
from novikoff.prove.programs.check import Multipliers, ProgramCertificate
from novikoff.prove.programs.program import Program, read_program
from novikoff.prove.programs.search.reductions import guess_of_perceptron
from novikoff.prove.separable.search.highs import Guess, solved_in_floats
from novikoff.prove.separable.search.simplex import Decision, SingularError, WholeProgram, decided_from

DEFAULTS = {"tolerance": 1e-8, "time_limit": 60.0}
# Matrix entries that are converted to integers, or multiplied by them, per second.
ENTRIES_PER_SECOND = 500_000


class Status(IntEnum):
    """SciPy's codes for how a linear program ended; 4, numerical difficulties, cannot happen in exact arithmetic."""

    OPTIMAL = 0
    LIMIT = 1
    INFEASIBLE = 2
    UNBOUNDED = 3


@dataclass
class Effort:
    """The time limit of a search, the pivots it has used, and the guess in floats."""

    clock: Clock
    guess: Guess | None = None
    pivots: int = 0


def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    options: dict[str, Any] | None = None,
) -> Any:
    """Minimise c.x where A_ub x <= b_ub, A_eq x = b_eq and x within bounds, as `scipy.optimize.linprog` does.

    Returns SciPy's `OptimizeResult`: `x`, `fun`, `status` (0 optimal, 1 time limit, 2 infeasible, 3 unbounded),
    `message`, `nit` (iterations of the method), `slack`, `con`, marginals in `ineqlin`, `eqlin`, `lower` and `upper`,
    and also `pivots` (steps of the simplex method in integers) and the `certificate`: the optimum with its multipliers,
    a Farkas vector, or a ray, in fractions, whose `check` takes the program again. Matrices may be sparse.

    With `method="highs"` HiGHS finds a starting basis, with `method="perceptron"` the rescaled perceptron does, for
    small programs. The statuses 0, 2 and 3 are proved in exact arithmetic, for the numbers as given. If the time limit
    is reached, the status is 1 and `success` is False. A program that rounding has made infeasible is infeasible. In
    both cases `approximate` has a point and multipliers that satisfy all conditions up to `options["tolerance"]` (1e-8,
    relative to 1 and the limits), if such were found; with status 1 they are also in `x` and `fun`.
    `options["time_limit"]` is in seconds (60).

    >>> result = linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6])
    >>> result.status, result.fun, result.x.tolist(), result.certificate.arithmetic
    (0, -5.0, [3.0, 1.0], 'exact')
    >>> print(linprog([1, 1], A_ub=[[1, 1]], b_ub=[-1]).message)
    Infeasible (proved): no point obeys all constraints.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, but this solver has only {' and '.join(map(repr, METHODS))}")
    settings = _settings(options)
    clock = Clock(settings["time_limit"])
    program = read_program(c, A_ub, b_ub, A_eq, b_eq, bounds)
    return solved(program, clock, settings["tolerance"], method)


def solved(program: Program, clock: Clock, tolerance: float = DEFAULTS["tolerance"], method: str = "highs") -> Any:
    """Return SciPy's result for a program, within the time limit."""
    effort = Effort(clock)
    with threadpool_limits(1, user_api="blas"):  # on systems of this size threads cost more than they save
        answer = solve(program, effort, method)
    near = None if answer is not None and answer.x is not None else _nearly_optimal(program, effort)
    return _result(program, answer, near if near is not None and 0 < near.violation <= tolerance else None, effort)


def solve(program: Program, effort: Effort, method: str = "highs") -> ProgramCertificate | None:
    """Return a proved answer; None if the time limit is reached first."""
    crossed = np.flatnonzero(program.lower > program.upper)
    if crossed.size:
        return _contradictory_bounds(program, int(crossed[0]))
    try:
        effort.guess = METHODS[method](program, effort.clock)
        if effort.clock.is_over() or program.rows.nnz > ENTRIES_PER_SECOND * effort.clock.left():
            return None
        form = _whole(program)
        states = form.slack_basis() if effort.guess is None else effort.guess.states
        decision = decided_from(form, states, effort.clock)
    except (OutOfTimeError, SingularError):
        return None
    effort.pivots = decision.pivots
    proved = _proved(program, decision)
    if proved.violation != 0:
        raise ArithmeticError("what integers decide must be what the check confirms")
    return proved


def _whole(program: Program) -> WholeProgram:
    """Return the program in integers."""
    lower = np.concatenate([program.lower, np.full(len(program.b_ub), -np.inf), program.b_eq])
    return WholeProgram(
        WholeRows.of(program.rows, program.limits),
        WholeRows.of(program.rows.T.tocsr(), program.c),
        lower,
        np.concatenate([program.upper, program.limits]),
        program.rows,
    )


def _proved(program: Program, found: Decision) -> ProgramCertificate:
    if found.claim == "unbounded":
        return ProgramCertificate.of(program, found.claim, found.x, ray=found.ray)
    target = program.c if found.claim == "optimal" else np.zeros_like(program.c)
    return ProgramCertificate.of(program, found.claim, found.x, _completed(program, found.y or Ratios([]), target))


def _contradictory_bounds(program: Program, j: int) -> ProgramCertificate:
    """Return a proof that the lower bound of a variable exceeds its upper one."""
    n, m_ub, m_eq = len(program.c), len(program.b_ub), len(program.b_eq)
    unit = [int(i == j) for i in range(n)]
    both = Multipliers(Ratios([0] * m_ub), Ratios([0] * m_eq), Ratios(unit), Ratios([-v for v in unit]))
    return ProgramCertificate.of(program, "infeasible", multipliers=both)


def _completed(program: Program, rows: Ratios, target: Vector) -> Multipliers:
    """Complete multipliers of the rows with those of the bounds, so that they combine to the target."""
    columns = WholeRows.of(program.rows.T.tocsr(), target, most=0)
    least = min(columns.exponents, default=0)
    pairs = zip(columns.excesses(rows).tolist(), columns.exponents, strict=True)
    rest = [-value << exponent - least for value, exponent in pairs]
    m_ub, denominator = len(program.b_ub), rows.denominator << -least
    lower, upper = [max(v, 0) for v in rest], [min(v, 0) for v in rest]
    return Multipliers(rows[:m_ub], rows[m_ub:], Ratios(lower, denominator), Ratios(upper, denominator))


def _guess_of_highs(program: Program, clock: Clock) -> Guess | None:
    row_lower = np.concatenate([np.full(len(program.b_ub), -np.inf), program.b_eq])
    bounds = (program.lower, program.upper)
    return solved_in_floats(program.c, program.rows, (row_lower, program.limits), bounds, clock)


METHODS: dict[str, Callable[[Program, Clock], Guess | None]] = {
    "highs": _guess_of_highs,
    "perceptron": guess_of_perceptron,
}


def _nearly_optimal(program: Program, effort: Effort) -> ProgramCertificate | None:
    """Return the optimum found in floats, with its violation; None if that would take too long."""
    guess = effort.guess
    if guess is None or not guess.is_optimal or not np.isfinite([*guess.x, *guess.y]).all():
        return None
    if effort.clock.is_over() and program.rows.nnz > ENTRIES_PER_SECOND:
        return None
    m_ub = len(program.b_ub)
    y = np.append(np.minimum(guess.y[:m_ub], 0.0), guess.y[m_ub:])
    x = Ratios.of(np.clip(guess.x, program.lower, program.upper))
    return ProgramCertificate.of(program, "optimal", x, _completed(program, Ratios.of(y), program.c))


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
    iterations = 0 if effort.guess is None else effort.guess.iterations
    result.update(nit=iterations, pivots=effort.pivots, certificate=certificate, approximate=approximate)
    result.update(dict.fromkeys(("slack", "con", "ineqlin", "eqlin", "lower", "upper")))
    shown = certificate or approximate
    if shown is not None and shown.x is not None and shown.multipliers is not None:
        x = Ratios.of(shown.x)
        residuals = _residuals(program, x)
        value = shown.value if shown.value is not None else dot(program.c, x)
        result.update(x=x.floats(), fun=nearest_float(value), slack=residuals[0], con=residuals[1])
        names = ("ineqlin", "eqlin", "lower", "upper")
        for name, residual, values in zip(names, residuals, shown.multipliers, strict=True):
            result[name] = OptimizeResult(residual=residual, marginals=Ratios.of(values).floats())
    return result


def _residuals(program: Program, x: Ratios) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the slack to every limit and bound; infinite where there is none."""
    rows, m_ub = WholeRows.of(program.rows, program.limits, most=0), len(program.b_ub)
    pairs = zip(rows.excesses(x).tolist(), rows.exponents, strict=True)
    left = np.array([nearest(-value, x.denominator << -exponent) for value, exponent in pairs])
    sides = []
    for sign, bounds in ((1, program.lower), (-1, program.upper)):
        limits = Ratios.of(np.where(np.isfinite(bounds), bounds, 0.0))
        both = x.denominator * limits.denominator
        pairs = zip(x.over(both), limits.over(both), strict=True)
        distances = np.array([nearest(sign * (value - bound), both) for value, bound in pairs])
        sides.append(np.where(np.isfinite(bounds), distances, np.inf))
    return left[:m_ub], left[m_ub:], sides[0], sides[1]
