"""Linear programs in floats, by HiGHS."""

from typing import Any

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Floats

# Of points whose largest coordinate is about 1, a product below this is 0 as far as a program can tell.
ZERO = 1e-7


def largest_sum(goal: Floats, Z: Any, E: Any, clock: Clock) -> tuple[Floats, Floats] | None:
    """The vector b in the unit box with Z b >= 0 and E b = 0 that has the largest product with a goal; and multiples of
    the rows of Z, and of E, that cancel the goal, as far as that is possible.

    The program that is solved is the dual one, which has as many equations as b has coordinates: the least that is left
    of the goal. None if it was not solved in time.
    """
    from scipy.sparse import csc_array, eye_array, hstack

    size = len(goal)
    table = hstack([csc_array(Z.T), csc_array(E.T), eye_array(size), -eye_array(size)], format="csc")
    costs = np.concatenate([np.zeros(Z.shape[0] + E.shape[0]), np.ones(2 * size)])
    least = np.zeros(len(costs))
    least[Z.shape[0] : Z.shape[0] + E.shape[0]] = -np.inf
    bounds = np.stack([least, np.full(len(costs), np.inf)], axis=1)
    found = solved(clock, c=costs, A_eq=table, b_eq=-goal, bounds=bounds)
    return None if found is None else (-found.eqlin.marginals, found.x[: Z.shape[0] + E.shape[0]])


def solved(clock: Clock, **program: Any) -> Any:
    """The answer to a linear program; None if there is none, or not in time."""
    from scipy.optimize import linprog

    seconds = clock.left()
    if seconds == 0:
        return None
    options = {"time_limit": seconds} if np.isfinite(seconds) else {}
    result = linprog(**program, method="highs-ds", options=options)
    return result if result.status == 0 else None
