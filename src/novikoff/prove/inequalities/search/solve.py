"""Find x with Ax > 0 in every row, or prove that there is none, even if the margin is tiny."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.clock import Clock, check_time_limit
from novikoff.engine.inequalities import perceptron_epochs
from novikoff.prove.exact.codec import Combination
from novikoff.prove.inequalities.check import (
    Inequalities,
    Outcome,
    derived,
    exact_sum,
    fingerprint,
    margin_bound,
    read_rows,
)
from novikoff.prove.inequalities.search.rescaled import rescaled, rounding_of_a_margin
from novikoff.prove.inequalities.search.system import Proofs, SearchLimits, SearchResult, System
from novikoff.prove.separable.points import Floats

# The most mistakes of the perceptron with `auto`: most systems need no more.
FEW_MISTAKES, MOST_MISTAKES = 1_000, 1_000_000
# Rows between two checks of the clock.
MOST_PATIENCE = 1_000_000


def solve_inequalities(
    A: Any, *, method: str = "auto", min_margin: float | None = None, time_limit: float | None = None
) -> Inequalities:
    """Find x with Ax > 0 in every row, or prove that none exists.

    Parameters
    ----------
    A : one inequality per row; dense, or sparse, which is made dense. Its floats are taken as exact.
    method : "perceptron" (about 1/rho^2 steps for margin rho), "rescaled" (Dadush, Vegh and Zambelli, about
        log 1/rho), or "auto": a short perceptron run, then "rescaled", and where float64 is too coarse, `certify`'s
        cutting planes and rationals.
    min_margin : stop as soon as no solution can have this margin (of rows and x of length 1).
    time_limit : seconds after which to stop as undecided.

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

    These rows contradict each other: their sum, with these weights, is 0.

    >>> nothing = solve_inequalities([[1, 0], [-1, 1], [-1, -2]])
    >>> nothing.combination
    Combination(rows=(0, 1, 2), weights=(3, 2, 1))
    >>> nothing.check([[1, 0], [-1, 1], [-1, -2]])
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")
    if min_margin is not None and not 0 < min_margin <= 1:
        raise ValueError(
            f"min_margin={min_margin!r} must be above 0 and at most 1: rows and x count as vectors of length 1"
        )
    check_time_limit(time_limit)
    asked = None if min_margin is None else float(min_margin)
    system = System(read_rows(A))
    zeros = np.flatnonzero(~system.rows.any(axis=1))
    if len(zeros):
        return _result(system, SearchResult(method, combination=Combination((int(zeros[0]),), (1,))), asked)
    # A reported bound includes its rounding error, so a method must get below the margin by as much.
    least = 0.0 if asked is None else asked - rounding_of_a_margin(system.unit)
    return _result(system, METHODS[method](system, SearchLimits(Clock(time_limit), least)), asked)


def perceptron(system: System, limits: SearchLimits, most_mistakes: int = MOST_MISTAKES) -> SearchResult:
    """Rosenblatt's rule: while some row has <a, w> <= 0, add it to w (Block 1962, Novikoff 1962).

    At most 1/rho^2 mistakes. After k of them w/k is a convex combination of the rows, so rho <= ||w||/k. If their hull
    contains the origin there is no solution, and w/k converges to the origin.
    """
    w, counts = np.zeros(system.unit.shape[1]), np.zeros(len(system.unit))
    mistakes, patience = 0, len(system.unit)
    history: list[float] = []
    proofs = Proofs(system, limits)
    while True:
        made, is_free = perceptron_epochs(system.unit, w, counts, most_mistakes - mistakes, patience)
        patience = min(2 * patience, MOST_PATIENCE)
        wrong = system.first_violated(w) if is_free else None
        if is_free and wrong is not None:  # positive in float64 only
            w += system.unit[wrong]
            counts[wrong] += 1
            made += 1
        mistakes += made
        bound = float(np.linalg.norm(w)) / mistakes
        if mistakes >= 2 ** len(history):
            history.append(bound)
        x = w if is_free and wrong is None else None
        combination = proofs.attempt(mistakes, counts) if x is None else None
        stopped = f"{mistakes:,} mistakes were made" if mistakes >= most_mistakes else limits.reached(bound)
        if x is not None or combination or stopped:
            return SearchResult("perceptron", x, combination, counts / mistakes, mistakes, 0, tuple(history), stopped)


def _auto(system: System, limits: SearchLimits) -> SearchResult:
    """The cheapest method that decides: perceptron, rescaled perceptron, cutting planes and rationals."""
    found = perceptron(system, limits, FEW_MISTAKES)
    if _is_final(system, found, limits):
        return found
    found = rescaled(system, limits, last_attempt=0.0)
    if _is_final(system, found, limits):
        return found
    x, combination = system.decided(limits.clock)
    found = replace(found, method="cutting-planes", combination=combination)
    if x is None:
        return found
    whole = np.array(x, dtype=object)
    floats = whole.astype(np.float64) if max(map(abs, x)) < 2**1000 else whole
    return replace(found, x=floats if system.is_solved_by(floats) else whole)


def _is_final(system: System, found: SearchResult, limits: SearchLimits) -> bool:
    if found.x is not None or found.combination is not None:
        return True
    return bool(limits.reached(_margin_at_most(system, found)))


def _margin_at_most(system: System, found: SearchResult) -> float:
    """The method's bound, in floats."""
    if found.dual is None:
        return found.margin_at_most
    length = float(np.linalg.norm(found.dual @ system.unit)) / float(found.dual.sum())
    return min(length, found.margin_at_most) + rounding_of_a_margin(system.unit)


METHODS: dict[str, Callable[[System, SearchLimits], SearchResult]] = {
    "auto": _auto,
    "perceptron": perceptron,
    "rescaled": rescaled,
}


def _result(system: System, found: SearchResult, min_margin: float | None) -> Inequalities:
    """The claims that the check derives from what was found, and no others."""
    combination, dual = found.combination, None
    if combination is None and found.dual is not None:
        dual, believed = system.weighted(found.dual), _margin_at_most(system, found)
        if not any(exact_sum(system.rows, dual)[0]):
            combination, dual = dual, None
        elif found.x is None and min_margin is not None and believed < min_margin <= margin_bound(system.rows, dual):
            dual = system.weighted(nearest_to_the_origin(system.unit))  # ruled out in floats: the best weights prove it
    proved = derived(system.rows, found.x, combination, dual, min_margin)
    return Inequalities(
        proved.outcome, *system.rows.shape, fingerprint(system.rows), found.x, combination, dual, proved.margin,
        proved.margin_at_most, min_margin, found.method, found.iterations, found.rescalings, found.potential,
        found.stopped if proved.outcome is Outcome.UNDECIDED else "",
    )  # fmt: skip


def nearest_to_the_origin(unit_rows: Floats) -> Floats:
    """Weights of the rows whose combination is shortest, in floats: nonnegative least squares (Lawson and Hanson).

    A margin that rescaling rules out by the volume of an ellipsoid, one combination of rows rules out, too.
    """
    from scipy.optimize import nnls

    weights, _ = nnls(np.vstack([unit_rows.T, np.ones(len(unit_rows))]), np.append(np.zeros(unit_rows.shape[1]), 1.0))
    return np.asarray(weights)
