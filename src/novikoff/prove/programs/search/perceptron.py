"""A linear program by the perceptron: every question "is there a point that costs less than v?" is a separation.

With unknown weights (x, t), every constraint is an example that must lie on its side of a plane through the origin, as
`program_as_separation` has it, and so is c.x < v. The rescaled perceptron answers with a plane, which is a point x/t,
or with examples that cancel, whose weights are the multipliers that prove a bound of the cost. Question by question the
two come together. Limits are relaxed by a little first, because a program need not have a point that obeys them
strictly. Which constraints are tight then says where to begin in whole numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.inequalities.check import Combination
from novikoff.prove.inequalities.search.solve import solve_inequalities
from novikoff.prove.programs.program import Program, Vector
from novikoff.prove.programs.search.highs import BASIC, LOWER, UPPER, Guess

# Limits are relaxed by this, relative to 1 and themselves, and v is found up to this.
RELAXED = 2.0**-24
PRECISION = 1e-6
# How far v falls, by powers of this, before the program is believed to be unbounded.
FALL, MOST_FALL = 32.0, 1e12
# Where in the interval the next v is: multipliers often are the best ones, so that it is not far above what they prove.
AIM = 1 / 16
MOST_QUESTIONS = 100
# What has a multiplier is this much less likely to be in the basis.
HELD = 1e-6


class _Answer(NamedTuple):
    """A point, or multipliers of the rows of `_examples` that rule one out; and the steps that it took."""

    point: Vector | None
    weights: Vector | None
    steps: int


def guess_of_perceptron(program: Program, clock: Clock) -> Guess | None:
    """A basis, a point and multipliers, found by separations; None if there is no point, or no time."""
    examples = _examples(program)
    found = _separated(examples, len(program.c), clock)
    steps, best, weights = found.steps, found.point, found.weights
    if best is not None:
        high, low, fall = float(program.c @ best), -math.inf, 1.0
        for _ in range(MOST_QUESTIONS):
            if clock.is_over() or fall > MOST_FALL or high - low <= PRECISION * (1 + abs(high)):
                break
            aim = high - fall * (1 + abs(high)) if low == -math.inf else low + AIM * (high - low)
            found = _separated(np.vstack([examples, np.append(-program.c, aim)]), len(program.c), clock)
            steps, fall = steps + found.steps, FALL * fall
            if found.point is not None:
                best, high = found.point, min(float(program.c @ found.point), aim)
            elif found.weights is not None and found.weights[-1] > 0:
                weights = found.weights[:-1] / found.weights[-1]
                low = aim + float(weights[-1])
            else:
                break
    return _guess(program, best, weights, steps)


def _examples(program: Program) -> Vector:
    """One row for each inequality, two for each equation, then the bounds, then t > 0: all must be positive."""
    A, A_eq, n = program.A_ub.toarray(), program.A_eq.toarray(), len(program.c)
    low, high = np.flatnonzero(np.isfinite(program.lower)), np.flatnonzero(np.isfinite(program.upper))
    sides = [
        (-A, program.b_ub),
        (-A_eq, program.b_eq),
        (A_eq, -program.b_eq),
        (np.eye(n)[low], -program.lower[low]),
        (-np.eye(n)[high], program.upper[high]),
    ]
    relaxed = [np.column_stack([rows, limits + RELAXED * (1 + np.abs(limits))]) for rows, limits in sides]
    return np.vstack([*relaxed, np.append(np.zeros(n), 1.0)])


def _separated(examples: Vector, n: int, clock: Clock) -> _Answer:
    answer = solve_inequalities(examples, time_limit=max(clock.left(), 1e-3) if math.isfinite(clock.left()) else None)
    if answer.x is not None:
        t = answer.x[n]
        return _Answer(np.array([float(value / t) for value in answer.x[:n]]), None, answer.iterations)
    return _Answer(None, _as_vector(answer.combination, len(examples)), answer.iterations)


def _as_vector(combination: Combination | None, size: int) -> Vector | None:
    if combination is None:
        return None
    most, weights = max(combination.weights), np.zeros(size)
    weights[list(combination.rows)] = [weight / most for weight in combination.weights]
    return weights


def _guess(program: Program, x: Vector | None, weights: Vector | None, steps: int) -> Guess:
    """The basis of variables that are far from their bounds and have no multiplier, as far as they are independent."""
    from scipy.linalg import qr

    m_ub, m_eq, n = len(program.b_ub), len(program.b_eq), len(program.c)
    m = m_ub + m_eq
    point = np.clip(np.zeros(n), program.lower, program.upper) if x is None else x
    y, held = np.zeros(m), np.zeros(n + m)
    if weights is not None:
        ub, plus, minus, *bounds = np.split(weights, np.cumsum([m_ub, m_eq, m_eq]))
        y = np.concatenate([-ub, minus - plus])
        low, high = np.isfinite(program.lower), np.isfinite(program.upper)
        held[:n][low] += bounds[0][: low.sum()]
        held[:n][high] += bounds[0][low.sum() : low.sum() + high.sum()]
        held[n:] = np.abs(y)
    values = np.append(point, program.rows @ point)
    lower = np.concatenate([program.lower, np.full(m_ub, -np.inf), program.b_eq])
    upper = np.append(program.upper, program.limits)
    distance = np.minimum(np.abs(values - lower), np.abs(upper - values)) / (1 + np.abs(values))
    weight = np.minimum(distance, 1.0) + RELAXED**2
    weight[held > RELAXED * max(held.max(initial=0.0), 1.0)] *= HELD
    columns: Any = np.hstack([program.rows.toarray(), -np.eye(m)]) * weight
    order = qr(columns, mode="r", pivoting=True)[1] if m else np.zeros(0, dtype=int)
    states = np.where(np.abs(upper - values) < np.abs(values - lower), UPPER, LOWER).astype(np.int8)
    states[order[:m]] = BASIC
    return Guess(states, point, y, steps, x is not None and weights is not None)
