"""Find x with Ax > 0 in every row, or prove that there is none, even if the margin is tiny."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.clock import Clock, check_time_limit
from novikoff.prove.exact.codec import Combination
from novikoff.prove.inequalities.check import (
    Inequalities,
    Outcome,
    derived,
    exact_sum,
    fingerprint,
    margin_bound,
)
from novikoff.prove.inequalities.search.perceptron import dunagan_vempala, perceptron
from novikoff.prove.inequalities.search.rescaled import rescaled, rounding_of_a_margin
from novikoff.prove.inequalities.search.system import SearchLimits, SearchResult, System
from novikoff.prove.separable.points import Floats

# The most mistakes of the perceptron with `auto`: most systems need no more.
FEW_MISTAKES = 1_000


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
    A : one inequality per row; dense, or sparse, which is made dense. Its floats are taken as exact.
    method : "perceptron" (about 1/rho^2 steps for margin rho), "rescaled" (Dadush, Vegh and Zambelli, about
        log 1/rho), "dunagan-vempala" (the same, randomised and slow), or "auto": a short perceptron run, then
        "rescaled", and where float64 is too coarse, `certify`'s cutting planes and rationals.
    min_margin : stop as soon as no solution can have this margin (of rows and x of length 1).
    time_limit : seconds after which to stop as undecided.
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

    These rows contradict each other: their sum, with these weights, is 0.

    >>> nothing = solve_inequalities([[1, 0], [-1, 1], [-1, -2]])
    >>> nothing.combination
    Combination(rows=(0, 1, 2), weights=(3, 2, 1))
    >>> nothing.check([[1, 0], [-1, 1], [-1, -2]])
    """
    _check_parameters(method, min_margin, time_limit)
    asked = None if min_margin is None else float(min_margin)
    system = System.of(A)
    clock = Clock(time_limit)
    if system.first_zero_row is not None:
        zero = Combination((system.first_zero_row,), (1,))
        return _result(system, SearchResult(method, combination=zero), asked)
    # A reported bound includes its rounding error, so a method must get below the margin by as much.
    least = 0.0 if asked is None else asked - rounding_of_a_margin(system.unit)
    limits = SearchLimits(clock, least)
    if method == "dunagan-vempala":
        found = dunagan_vempala(system, limits, np.random.default_rng(random_state))
    else:
        found = METHODS[method](system, limits)
    return _result(system, found, asked)


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
    floats = _as_floats(x)
    return replace(found, x=floats if system.is_solved_by(floats) else np.array(x, dtype=object))


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


def _as_floats(whole: Any) -> Floats:
    """Whole numbers of any size as floats in the same proportions, up to rounding."""
    shift = max(max(abs(v) for v in whole).bit_length() - 1000, 0)
    return np.array([float(v >> shift) if shift else float(v) for v in whole])


METHODS: dict[str, Callable[[System, SearchLimits], SearchResult]] = {
    "auto": _auto,
    "perceptron": perceptron,
    "rescaled": rescaled,
}


def _result(system: System, found: SearchResult, min_margin: float | None) -> Inequalities:
    """The claims that the check derives from what was found, and no others."""
    combination, dual = found.combination, None
    if combination is None and found.dual is not None:
        dual = _dual(system, found.dual, _margin_at_most(system, found), min_margin if found.x is None else None)
        if not any(exact_sum(system.rows, dual)[0]):
            combination, dual = dual, None
    proved = derived(system.rows, found.x, combination, dual, min_margin)
    return Inequalities(
        outcome=proved.outcome,
        n_rows=system.n_rows,
        n_columns=system.dimension,
        sha256=fingerprint(system.rows),
        x=found.x,
        combination=combination,
        dual=dual,
        margin=proved.margin,
        margin_at_most=proved.margin_at_most,
        min_margin=min_margin,
        method=found.method,
        iterations=found.iterations,
        rescalings=found.rescalings,
        potential=found.potential,
        stopped=found.stopped if proved.outcome is Outcome.UNDECIDED else "",
    )


def _dual(system: System, weights: Floats, believed: float, min_margin: float | None) -> Combination:
    """Rows and weights that bound the margin; the best ones, if the given ones do not prove the bound in floats."""
    dual = system.weighted(weights)
    if min_margin is None or believed >= min_margin or not any(exact_sum(system.rows, dual)[0]):
        return dual
    if margin_bound(system.rows, dual) < min_margin:
        return dual
    return system.weighted(nearest_to_the_origin(system.unit))


def nearest_to_the_origin(unit_rows: Floats) -> Floats:
    """Weights of the rows whose combination is shortest, in floats: nonnegative least squares (Lawson and Hanson).

    A margin that rescaling rules out by the volume of an ellipsoid, one combination of rows rules out, too.
    """
    from scipy.optimize import nnls

    weights, _ = nnls(np.vstack([unit_rows.T, np.ones(len(unit_rows))]), np.append(np.zeros(unit_rows.shape[1]), 1.0))
    return np.asarray(weights)


def _check_parameters(method: str, min_margin: float | None, time_limit: float | None) -> None:
    known = [*METHODS, "dunagan-vempala"]
    if method not in known:
        raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(known)}")
    if min_margin is not None and not 0 < min_margin <= 1:
        raise ValueError(
            f"min_margin={min_margin!r} must be above 0 and at most 1: rows and x count as vectors of length 1"
        )
    check_time_limit(time_limit)
