"""From a guess at which constraints hold with equality, the point and the multipliers, in floats or in fractions.

Let G be the rows that hold with equality, restricted to the variables that are not at a bound. The point solves
G x = h, the multipliers solve G'y = c. Both systems may be over- and underdetermined, so a nonsingular part of G as
large as possible is chosen, by QR with pivoting; the unknowns outside it keep the values they were guessed at, and the
equations outside it must follow from the rest. Whether they do, and whether all signs are right, the check will say.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from novikoff.prove.exact.algebra import regular_solution
from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.programs.program import Mask, Program, Vector
from novikoff.prove.programs.search.homogeneous import NOWHERE, Places, SelfDualCone, equilibrate

RANK_TOLERANCE = 1e-9


class Guess(NamedTuple):
    """A point of the self-dual cone, read as a guess at an answer.

    `t` is positive, and x and y are divided by it, if the program is believed to have an optimum. If not, x is a
    direction and y are multipliers of a contradiction. `tight` are the inequalities that hold with equality, or have a
    multiplier, and `loose` the variables without an active bound.
    """

    t: float
    x: Vector
    y: Vector
    tight: Mask
    loose: Mask
    bounds: Vector


def read_guess(program: Program, cone: SelfDualCone, point: Vector, positive: Mask) -> Guess:
    """The guess that a nearly nonnegative point makes, and the coordinates that are believed to be positive."""
    form, half = cone.form, len(point) // 2
    t, v, s, y = cone.read(np.maximum(point, 0.0))
    has_optimum = bool(positive[half - 1]) and t > 0
    v_positive = positive[:half]  # with t last: where there is no bound, any place will do
    if has_optimum:
        v, s, y = v / t, s / t, y / t
    m_ub = len(program.b_ub)
    tight = ~v_positive[form.row_slack]
    at_lower = (form.lower_slack != NOWHERE) & ~v_positive[form.lower_slack]
    at_upper = (form.upper_slack != NOWHERE) & ~v_positive[form.upper_slack]
    fixed = program.lower == program.upper
    x = form.unfold @ v[: form.unfold.shape[1]] + (form.shift if has_optimum else 0.0)
    multipliers = np.concatenate([np.where(tight, -s[form.row_slack], 0.0), y[m_ub : len(program.limits)]])
    bounds = np.where(at_lower | fixed, program.lower, np.where(at_upper, program.upper, 0.0))
    return Guess(t if has_optimum else 0.0, x, multipliers, tight, ~(at_lower | at_upper | fixed), bounds)


class Pivots(NamedTuple):
    """Rows and columns of a nonsingular part of the active rows, as large as possible."""

    rows: Places
    columns: Places


def choose_pivots(program: Program, guess: Guess) -> Pivots:
    """QR with column pivoting chooses the columns, and then the rows."""
    rows = np.append(np.flatnonzero(guess.tight), len(program.b_ub) + np.arange(len(program.b_eq)))
    columns = np.flatnonzero(guess.loose)
    G = program.rows[np.ix_(rows, columns)]
    r, k = equilibrate(G)
    G = G * r[:, None] * k
    chosen = _independent_columns(G)
    return Pivots(rows[_independent_columns(G[:, chosen].T)], columns[chosen])


def _independent_columns(G: Vector) -> Places:
    if G.size == 0:
        return np.zeros(0, dtype=np.intp)
    R, order = linalg.qr(G, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    return order[: int((diagonal > RANK_TOLERANCE * max(diagonal[0], 1e-300)).sum())]


def point(program: Program, guess: Guess, pivots: Pivots, exactly: Clock | None = None) -> Any:
    """x with the active constraints as equations; a direction if there is no optimum. With a clock, in fractions."""
    limits = program.limits if guess.t else np.zeros_like(program.limits)
    start = np.where(guess.loose, guess.x, guess.bounds if guess.t else 0.0)
    return complete(program.rows, limits, start, pivots.rows, pivots.columns, exactly)


def row_multipliers(program: Program, guess: Guess, pivots: Pivots, exactly: Clock | None = None) -> Any:
    """y that combines the active rows to the cost, on the loose variables; to 0 if there is no optimum."""
    cost = program.c if guess.t else np.zeros_like(program.c)
    return complete(program.rows.T, cost, guess.y, pivots.columns, pivots.rows, exactly)


def complete(
    T: Vector, target: Vector, start: Vector, equations: Places, unknowns: Places, exactly: Clock | None = None
) -> Any:
    """v with (T v)_i = target_i for the equations, equal to `start` except in the unknowns.

    >>> complete(np.array([[2.0, 1.0]]), np.array([4.0]), np.array([0.0, 3.0]), [0], [0], exactly=Clock(None))
    [Fraction(1, 2), Fraction(3, 1)]
    """
    if exactly is None:
        return _complete_in_floats(T, target, start, equations, unknowns)
    return _complete_exactly(T, target, start, equations, unknowns, exactly)


def _complete_in_floats(T: Vector, target: Vector, start: Vector, equations: Places, unknowns: Places) -> Vector:
    v = start.copy()
    if len(equations):
        part = T[np.ix_(equations, unknowns)]
        r, k = equilibrate(part)
        factors = linalg.lu_factor(part * r[:, None] * k)
        for _ in range(3):  # the first step solves, the others refine
            v[unknowns] += k * linalg.lu_solve(factors, r * (target[equations] - T[equations] @ v))
    return v


def _complete_exactly(
    T: Vector, target: Vector, start: Vector, equations: Places, unknowns: Places, clock: Clock
) -> list[Fraction]:
    from flint import fmpz_mat

    v = [Fraction(value) for value in start.tolist()]
    if len(equations) == 0:
        return v
    kept = np.ones(len(start), dtype=np.bool_)
    kept[unknowns] = False
    rest = [
        Fraction(target[i]) - sum((Fraction(T[i, j]) * v[j] for j in np.flatnonzero(kept & (T[i] != 0))), Fraction(0))
        for i in equations
    ]
    part = T[np.ix_(equations, unknowns)]
    _, k = equilibrate(part)
    scaled = part * k  # by powers of two, so that the whole numbers are short; it is exact, or left alone
    if not np.array_equal(scaled / k, part):
        scaled, k = part, np.ones(len(k))
    exponents = [lowest_exponent(row) for row in scaled]
    whole = [as_integers(row, exponent).tolist() for row, exponent in zip(scaled, exponents, strict=True)]
    right = [value / power_of_two(exponent) for value, exponent in zip(rest, exponents, strict=True)]
    denominator = math.lcm(*(value.denominator for value in right))
    found = regular_solution(fmpz_mat(whole), fmpz_mat([[int(value * denominator)] for value in right]), clock)
    if found is None:
        raise OutOfTimeError
    for place, j in enumerate(unknowns):
        solved = Fraction(int(found.numerators[place, 0]), int(found.denominator))
        v[j] = solved * Fraction(k[place]) / denominator
    return v


def rational(value: float) -> Any:
    """A float as one of FLINT's fractions."""
    from flint import fmpq

    return fmpq(*float(value).as_integer_ratio())


def as_fraction(value: Any) -> Fraction:
    """One of FLINT's fractions as one of Python's."""
    return Fraction(int(value.p), int(value.q))
