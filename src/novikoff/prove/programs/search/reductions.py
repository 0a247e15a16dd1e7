"""Separation is a linear program, and a linear program is a separation: the third note's two remarks, made precise.

So the perceptron solves linear programs: every question "is there a point that costs less than v?" is a separation.
With unknown weights (x, t), every constraint is an example to classify by a hyperplane through the origin, and so is
c.x < v. The rescaled perceptron answers with a hyperplane, which is a point x/t, or with examples that cancel, whose
weights are the multipliers that prove a bound of the cost. Each question narrows the gap. Limits are relaxed
slightly first, because a program need not have a strictly feasible point. The tight constraints then give a starting
basis for the integer simplex method.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.clock import Clock
from novikoff.features.fold import signs
from novikoff.prove.exact.ratios import Vector
from novikoff.prove.inequalities.search.solve import solve_inequalities
from novikoff.prove.programs.check import Program, read_program
from novikoff.prove.separable.search.highs import BASIC, LOWER, UPPER, Guess


def separation_as_program(X: Any, y: ArrayLike, fit_intercept: bool = True) -> tuple[Any, ...]:
    """Return the arguments of `linprog`, in its order, of the program whose optimum is -1 if a hyperplane separates the
    examples strictly, and 0 if none does.

    The note's own program requires y (<w, x> + b) >= 0, and w = 0, b = 0 solves it for any examples. Here the least
    score t is maximised instead, where y (<w, x> + b) >= t for all examples and t <= 1. Zero weights have t = 0, and a
    hyperplane with a positive least score can be scaled to t = 1. The variables are w, then b if there is an intercept,
    then t.

    >>> from novikoff.prove.programs.search.linprog import linprog
    >>> linprog(*separation_as_program([[0.0], [1.0], [3.0]], [-1, -1, 1])).fun
    -1.0
    >>> linprog(*separation_as_program([[0.0], [1.0], [3.0]], [-1, 1, -1])).fun
    0.0
    """
    matrix = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    labels = signs(y)
    if matrix.ndim != 2 or len(matrix) != len(labels):
        raise ValueError(f"X has shape {matrix.shape} and y has {len(labels)} labels; give one label per row")
    folded = np.column_stack([matrix, np.ones(len(matrix))]) if fit_intercept else matrix
    A: Vector = np.hstack([-labels[:, None] * folded, np.ones((len(folded), 1))])
    d = folded.shape[1]
    bounds = [(None, None)] * d + [(None, 1.0)]
    return np.append(np.zeros(d), -1.0), A, np.zeros(len(A)), None, None, bounds


@dataclass(frozen=True, eq=False)
class Separation:
    """Examples in `X` with labels in `y`; a hyperplane through the origin separates them if and only if the program has
    a strictly feasible point that costs less than the given value.

    `point` maps the hyperplane's weights to that point.
    """

    X: Vector
    y: NDArray[np.int8]
    start: Vector
    directions: Vector

    def point(self, weights: ArrayLike) -> Vector:
        """Return the point of the program that corresponds to a separating hyperplane."""
        *v, t = np.asarray(weights, dtype=np.float64)
        if t <= 0:
            raise ValueError(f"the last weight is {t}; a hyperplane that separates these examples has a positive one")
        found: Vector = self.start + self.directions @ (np.asarray(v) / t)
        return found


def program_as_separation(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    *,
    value: float | None = None,
) -> Separation:
    """Return examples that a hyperplane through the origin separates if and only if some x is strictly feasible.

    With unknown weights (x, t), the inequality a.x < b is the example (a, -b) on the negative side, a lower bound
    x_j > l is (e_j, -l) on the positive one, c.x < value is (c, -value) on the negative one, and (0, 1) on the positive
    one means t > 0. Equations are solved first: x = start + directions v, with v in place of x. Without a value
    only the constraints count. Bisection over the value, with a perceptron to separate, finds the optimum of any
    program with a strictly feasible point; a program without one, such as 0 <= x <= 0, is not a separation, and
    `linprog(method="perceptron")` relaxes its limits slightly.

    >>> problem = program_as_separation([-1.0], A_ub=[[2.0]], b_ub=[6.0], value=-2.5)
    >>> problem.X.tolist(), problem.y.tolist()
    ([[2.0, -6.0], [1.0, 0.0], [-1.0, 2.5], [0.0, 1.0]], [-1, 1, -1, 1])
    >>> problem.point([2.8, 1.0]).tolist()
    [2.8]
    """
    return _separation(read_program(c, A_ub, b_ub, A_eq, b_eq, bounds), value)


def _separation(program: Program, value: float | None, relaxed: float = 0.0) -> Separation:
    """Return the examples; limits are relaxed by this, relative to 1 and themselves."""
    start, directions = _solve_equations(program.A_eq.toarray(), program.b_eq)
    n = len(program.c)
    low, high = np.flatnonzero(np.isfinite(program.lower)), np.flatnonzero(np.isfinite(program.upper))
    cost, limit = (np.zeros((0, n)), []) if value is None else (program.c[None, :], [float(value)])
    rows = np.vstack([program.A_ub.toarray(), np.eye(n)[high], np.eye(n)[low], cost])
    limits = np.concatenate([program.b_ub, program.upper[high], program.lower[low]])
    y = np.repeat([-1, 1, -1, 1], [len(program.b_ub) + len(high), len(low), len(cost), 1]).astype(np.int8)
    limits = np.append(limits - y[: len(limits)] * relaxed * (1 + np.abs(limits)), limit)
    X = np.column_stack([rows @ directions, rows @ start - limits])
    positive = np.append(np.zeros(directions.shape[1]), 1.0)
    return Separation(np.vstack([X, positive]), y, start, directions)


def _solve_equations(A: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return a solution, and a basis of the null space."""
    from scipy.linalg import null_space

    n = A.shape[1]
    if len(A) == 0:
        return np.zeros(n), np.eye(n)
    start: Vector = np.linalg.lstsq(A, b, rcond=None)[0].astype(np.float64)
    if not np.allclose(A @ start, b, rtol=1e-9, atol=1e-9 * max(float(np.abs(b).max()), 1e-300)):
        raise ValueError("the equations contradict each other: A_eq x = b_eq has no solution")
    largest = np.abs(A).max(axis=1, keepdims=True)
    return start, np.asarray(null_space(A / np.where(largest > 0, largest, 1.0)))


# Limits are relaxed by this, relative to 1 and themselves, and v is found up to this.
RELAXED = 2.0**-24
PRECISION = 1e-6
# How far v falls, by powers of this, before the program is assumed to be unbounded.
FALL, MOST_FALL = 32.0, 1e12
# Where in the interval the next v is: close to the proved bound, as multipliers are often the best ones.
AIM = 1 / 16
MOST_QUESTIONS = 100
# The factor by which a multiplier makes a variable less likely to be in the basis.
HELD = 1e-6


class _Answer(NamedTuple):
    """A point, or multipliers of the examples that rule one out; and the number of steps."""

    point: Vector | None
    weights: Vector | None
    steps: int


def guess_of_perceptron(program: Program, clock: Clock) -> Guess | None:
    """Return a basis, found by separations; None if the equations contradict each other."""
    try:
        found = _separated(_separation(program, None, RELAXED), clock)
    except ValueError:
        return None
    steps, best, weights = found.steps, found.point, found.weights
    if best is not None:
        high, low, fall = float(program.c @ best), -math.inf, 1.0
        for _ in range(MOST_QUESTIONS):
            if clock.is_over() or fall > MOST_FALL or high - low <= PRECISION * (1 + abs(high)):
                break
            aim = high - fall * (1 + abs(high)) if low == -math.inf else low + AIM * (high - low)
            found = _separated(_separation(program, aim, RELAXED), clock)
            steps, fall = steps + found.steps, FALL * fall
            if found.point is not None:
                best, high = found.point, min(float(program.c @ found.point), aim)
            elif found.weights is not None and found.weights[-2] > 0:
                weights = found.weights / found.weights[-2]  # of the cost
                low = aim + float(weights[-1])
            else:
                break
    return _guess(program, best, weights, steps)


def _separated(problem: Separation, clock: Clock) -> _Answer:
    left = max(clock.left(), 1e-3) if math.isfinite(clock.left()) else None
    answer = solve_inequalities(problem.X * problem.y[:, None], time_limit=left)
    if answer.x is not None:
        return _Answer(problem.point([float(value / answer.x[-1]) for value in answer.x]), None, answer.iterations)
    if answer.combination is None:
        return _Answer(None, None, answer.iterations)
    rows, whole = answer.combination
    weights = np.zeros(len(problem.X))
    weights[list(rows)] = [weight / max(whole) for weight in whole]
    return _Answer(None, weights, answer.iterations)


def _guess(program: Program, x: Vector | None, weights: Vector | None, steps: int) -> Guess:
    """Return a basis of independent variables, preferably far from their bounds and without a multiplier."""
    from scipy.linalg import qr

    m_ub, n = len(program.b_ub), len(program.c)
    m = m_ub + len(program.b_eq)
    point = np.clip(np.zeros(n), program.lower, program.upper) if x is None else x
    held = np.zeros(n + m)
    if weights is not None:
        low, high = np.flatnonzero(np.isfinite(program.lower)), np.flatnonzero(np.isfinite(program.upper))
        ub, of_high, of_low, _ = np.split(weights, np.cumsum([m_ub, len(high), len(low)]))
        held[n : n + m_ub] = ub
        held[high] += of_high
        held[low] += of_low
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
    return Guess(states, point, np.zeros(m), steps, False)
