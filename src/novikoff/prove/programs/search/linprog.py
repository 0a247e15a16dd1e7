"""Linear programs: SciPy's calling convention, and a proof with every answer.

HiGHS finds a basis in floats, or the perceptron a point; integer arithmetic proves the answer for the program as given,
or continues from there until something is proved. Only what the independent check in `programs.check` confirms is
called proved.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from novikoff.engine.clock import Clock, OutOfTimeError, check_time_limit
from novikoff.prove.exact.floats import nearest_float, power_of_two
from novikoff.prove.exact.ratios import Ratios, Vector, WholeRows
from novikoff.prove.programs.check import Multipliers, Program, ProgramCertificate, read_program
from novikoff.prove.programs.search.reductions import guess_of_perceptron
from novikoff.prove.separable.search.highs import Guess, solved_in_floats
from novikoff.prove.separable.search.simplex import Decision, SingularError, WholeProgram, decided_from

# Seconds.
TIME_LIMIT = 60.0
# Matrix entries that are converted to integers, or multiplied by them, per second.
ENTRIES_PER_SECOND = 500_000


# SciPy's codes; 1 is the time limit, and 4, numerical difficulties, cannot happen in exact arithmetic.
STATUS = {"optimal": 0, "infeasible": 2, "unbounded": 3}


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
    small programs. The statuses 0, 2 and 3 are proved in exact arithmetic, for the numbers as given: a program that
    rounding has made infeasible is infeasible. If the time limit is reached, which is `options["time_limit"]` in
    seconds (60), the status is 1, `success` is False, and nothing is claimed.

    >>> result = linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6])
    >>> result.status, result.fun, result.x.tolist(), result.certificate.arithmetic
    (0, -5.0, [3.0, 1.0], 'exact')
    >>> print(linprog([1, 1], A_ub=[[1, 1]], b_ub=[-1]).message)
    Infeasible (proved): no point obeys all constraints.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, but this solver has only {' and '.join(map(repr, METHODS))}")
    settings = {"time_limit": TIME_LIMIT} | {name: v for name, v in (options or {}).items() if v is not None}
    if set(settings) != {"time_limit"}:
        raise ValueError(f"unknown option {min(set(settings) - {'time_limit'})!r}; the only one is 'time_limit'")
    check_time_limit(settings["time_limit"])
    clock = Clock(float(settings["time_limit"]))
    return solved(read_program(c, A_ub, b_ub, A_eq, b_eq, bounds), clock, method)


def solved(program: Program, clock: Clock, method: str = "highs") -> Any:
    """Return SciPy's result for a program: a proved answer, or none if the time limit is reached first."""
    crossed = np.flatnonzero(program.lower > program.upper)
    if crossed.size:
        return _result(program, _contradictory_bounds(program, int(crossed[0])))
    guess: Guess | None = None
    try:
        with threadpool_limits(1, user_api="blas"):  # on systems of this size threads cost more than they save
            guess = METHODS[method](program, clock)
            iterations = 0 if guess is None else guess.iterations
            if clock.is_over() or program.rows.nnz > ENTRIES_PER_SECOND * clock.left():
                return _result(program, None, iterations)
            form = _whole(program)
            decision = decided_from(form, form.slack_basis() if guess is None else guess.states, clock)
            return _result(program, _proved(program, decision), iterations, decision.pivots)
    except (OutOfTimeError, SingularError):
        return _result(program, None, 0 if guess is None else guess.iterations)


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
        return ProgramCertificate.of(program, x=found.x, ray=found.ray)
    target = program.c if found.claim == "optimal" else np.zeros_like(program.c)
    return ProgramCertificate.of(program, x=found.x, multipliers=_completed(program, found.y or Ratios([]), target))


def _contradictory_bounds(program: Program, j: int) -> ProgramCertificate:
    """Return a proof that the lower bound of a variable exceeds its upper one."""
    unit = Ratios(int(i == j) for i in range(len(program.c)))
    rows = (Ratios([0] * len(program.b_ub)), Ratios([0] * len(program.b_eq)))
    return ProgramCertificate.of(program, multipliers=Multipliers(*rows, unit, Ratios(-v for v in unit.numerators)))


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


# -- SciPy's result -----------------------------------------------------------------------------------------------


NOT_PROVED = "The time limit was reached before an answer could be proved; raise options['time_limit']."


def _result(program: Program, certificate: ProgramCertificate | None, iterations: int = 0, pivots: int = 0) -> Any:
    from scipy.optimize import OptimizeResult

    status = 1 if certificate is None else STATUS[certificate.claim]
    message = NOT_PROVED if certificate is None else certificate.sentence
    result = OptimizeResult({"x": None, "fun": None, "success": status == 0, "status": status, "message": message})
    result.update(nit=iterations, pivots=pivots, certificate=certificate)
    names, rows = ("ineqlin", "eqlin", "lower", "upper"), (len(program.b_ub), len(program.b_eq))
    result.update(dict.fromkeys(("slack", "con", *names)))
    if certificate is not None and certificate.value is not None:
        x = Ratios.of(certificate.x)
        whole = WholeRows.of(program.constraints, program.bounds)
        sizes = zip(whole.excesses(x).tolist(), whole.exponents, strict=True)
        excess = [nearest_float(over * power_of_two(exponent) / x.denominator) for over, exponent in sizes]
        left = np.where(np.isfinite(program.bounds), excess * np.where(program.sides < 0, 1.0, -1.0), np.inf)
        residuals = np.split(left, np.cumsum([*rows, len(program.c)]))
        result.update(x=x.floats(), fun=nearest_float(certificate.value), slack=residuals[0], con=residuals[1])
        for name, residual, values in zip(names, residuals, certificate.multipliers, strict=True):
            result[name] = OptimizeResult(residual=residual, marginals=Ratios.of(values).floats())
    return result
