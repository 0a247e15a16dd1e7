"""Separability in exact arithmetic, the slow and obvious way: an oracle that shares nothing with the code it checks.

The simplex method with Bland's rule, which cannot cycle, on a tableau of whole numbers with one common denominator
(Edmonds 1967): every division in a pivot leaves no remainder, so nothing is rounded and nothing needs a tolerance.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

Row = list[Fraction]


class Optimum(NamedTuple):
    """The value, where it is taken, and one multiplier for each constraint, which prove it by duality."""

    value: Fraction
    x: Row
    multipliers: Row


def whole(numbers: Sequence) -> tuple[list[int], int]:
    """The numbers as whole ones, and the common denominator that they were multiplied by."""
    exact = [v if isinstance(v, int | Fraction) else Fraction(v) for v in numbers]
    scale = lcm(*(v.denominator for v in exact))
    return [v.numerator * (scale // v.denominator) for v in exact], scale


def pivot(T: list[list[int]], r: int, s: int, q: int) -> list[list[int]]:
    """The tableau T/q after the variable of row r has changed places with the one of column s.

    The denominator of the new tableau is T[r][s].
    """
    p, pivot_row = T[r][s], T[r]
    new = [[(p * v - row[s] * u) // q for v, u in zip(row, pivot_row, strict=True)] for row in T]
    for row, old in zip(new, T, strict=True):
        row[s] = -old[s]
    new[r] = [*pivot_row[:s], q, *pivot_row[s + 1 :]]
    return new


def maximise(c: Sequence, A: Sequence[Sequence], b: Sequence) -> Optimum:
    """The greatest c·x where Ax <= b and x >= 0. The numbers b may not be negative: we start at x = 0."""
    m, n = len(A), len(c)
    rows = [whole([*row, limit]) for row, limit in zip(A, b, strict=True)]
    goal, goal_scale = whole([*(-Fraction(v) for v in c), 0])
    T, q = [row for row, _ in rows] + [goal], 1
    if any(row[-1] < 0 for row in T):
        raise ValueError("a limit in b is negative: x = 0 is no place to start")
    outside, inside = list(range(n)), list(range(n, n + m))  # x_j is variable j; the slack of row i is variable n + i
    while any(v < 0 for v in T[-1][:-1]):
        _, s = min((outside[j], j) for j in range(n) if T[-1][j] < 0)
        steps = [(Fraction(T[i][-1], T[i][s]), inside[i], i) for i in range(m) if T[i][s] > 0]
        if not steps:
            raise ValueError("the program is unbounded")
        _, _, r = min(steps)
        T, q = pivot(T, r, s, q), T[r][s]
        outside[s], inside[r] = inside[r], outside[s]
    x, multipliers = [Fraction(0)] * n, [Fraction(0)] * m
    for i, variable in enumerate(inside):
        if variable < n:
            x[variable] = Fraction(T[i][-1], q)
    for j, variable in enumerate(outside):
        if variable >= n:
            multipliers[variable - n] = Fraction(T[-1][j], q) * rows[variable - n][1] / goal_scale
    return Optimum(Fraction(T[-1][-1], q) / goal_scale, x, multipliers)


def answer(c, A_ub, b_ub, A_eq, b_eq, bounds) -> tuple[str, Fraction | None]:
    """Whether a program is optimal, infeasible or unbounded, and the smallest cost, with no solver but `maximise`.

    Written as G z <= h with z >= 0, where x = shift + S z. Divided by t, questions start at 0: a point is a z with
    G z <= h t and t = 1, a ray has G z <= 0 and a negative cost, and an optimum comes with its multipliers.
    """
    A_ub, b_ub, A_eq, b_eq = ([] if part is None else part for part in (A_ub, b_ub, A_eq, b_eq))
    rows = [[Fraction(float(v)) for v in row] for row in (*A_ub, *A_eq, *(-np.asarray(row) for row in A_eq))]
    h = [Fraction(float(v)) for v in (*b_ub, *b_eq, *(-v for v in b_eq))]
    shift, S, boxes = [], [], []
    for j, (low, high) in enumerate(bounds):
        unit = [Fraction(int(i == j)) for i in range(len(bounds))]
        shift.append(Fraction(low if low is not None else high if high is not None else 0))
        S += [unit] if low is not None else []
        S += [[-v for v in unit]] if low is None else []
        S += [unit] if low is None and high is None else []
        if low is not None and high is not None:
            boxes.append((len(S) - 1, Fraction(high) - Fraction(low)))
    G = [[dot(row, s) for s in S] for row in rows] + [[Fraction(int(k == j)) for k in range(len(S))] for j, _ in boxes]
    h = [limit - dot(row, shift) for row, limit in zip(rows, h, strict=True)] + [extent for _, extent in boxes]
    cost = [dot([Fraction(float(v)) for v in c], s) for s in S]
    at_shift, n, m = dot([Fraction(float(v)) for v in c], shift), len(S), len(h)
    last = [[0] * n + [1]]
    if maximise([0] * n + [1], [[*g, -v] for g, v in zip(G, h, strict=True)] + last, [0] * m + [1]).value < 1:
        return "infeasible", None
    if maximise([-v for v in cost], [*G, [1] * n], [0] * m + [1]).value > 0:
        return "unbounded", None
    both = [[*g, *[0] * m, -v] for g, v in zip(G, h, strict=True)]
    both += [[*[0] * n, *(-g[j] for g in G), -cost[j]] for j in range(n)]
    both += [[*cost, *h, 0], [0] * (n + m) + [1]]
    best = maximise([0] * (n + m) + [1], both, [0] * (m + n + 1) + [1])
    assert best.value == 1
    return "optimal", at_shift + dot(cost, best.x[:n])


def dot(a: Sequence, b: Sequence) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def points(X, y, fit_intercept: bool = True) -> list[Row]:
    """z = y (x, 1) for every example, or z = y x without the intercept."""
    X, y = (v.tolist() if hasattr(v, "tolist") else v for v in (X, y))
    constant = [1] if fit_intercept else []
    return [[label * Fraction(v) for v in [*x, *constant]] for x, label in zip(X, y, strict=True)]


def best_worst(Z: list[Row]) -> Optimum:
    """The greatest t such that <z, w> >= t for all z, for a w with |w_1| + |w_2| + ... <= 1, written as p - q."""
    D = len(Z[0])
    A = [[-v for v in z] + z + [1] for z in Z] + [[1] * (2 * D) + [0]]
    return maximise([0] * (2 * D) + [1], A, [0] * len(Z) + [1])


def over_the_cone(c: Sequence, Z: list[Row]) -> Optimum:
    """The greatest c·w where <z, w> >= 0 for all z, for a w with |w_1| + |w_2| + ... <= 1, written as p - q."""
    A = [[-v for v in z] + z for z in Z] + [[1] * (2 * len(c))]
    return maximise([*c, *(-v for v in c)], A, [0] * len(Z) + [1])


def verdict(X, y, fit_intercept: bool = True) -> str:
    """One of separable, quasi-separable and overlapping.

    Separable: <z, w> > 0 for all z, for some w. Quasi-separable: not so, but <z, w> >= 0 for all z and > 0 for one.
    """
    Z = points(X, y, fit_intercept)
    if best_worst(Z).value > 0:
        return "separable"
    total = [sum(column) for column in zip(*Z, strict=True)]
    return "quasi-separable" if over_the_cone(total, Z).value > 0 else "overlapping"


def recession_signs(X, y, fit_intercept: bool = True) -> dict[int | str, str]:
    """The signs of w_j where <z, w> >= 0 for all z: +, - or ? (both). A w_j that is always 0 is left out.

    These are the coefficients that logistic regression cannot estimate, and the infinities that they go to. The keys
    are columns of X, and "intercept". Overlapping examples have none, whatever their collinear columns allow.
    """
    if verdict(X, y, fit_intercept) == "overlapping":
        return {}
    Z = points(X, y, fit_intercept)
    D = len(Z[0])
    signs: dict[int | str, str] = {}
    for j in range(D):
        up, down = (over_the_cone([sign * (k == j) for k in range(D)], Z).value > 0 for sign in (1, -1))
        if up or down:
            signs["intercept" if fit_intercept and j == D - 1 else j] = "?" if up and down else "+" if up else "-"
    return signs


def margin_square(X, y, fit_intercept: bool = True) -> Fraction:
    """The square of the margin of separable examples: of the distance from 0 to the convex hull of the points.

    Write v = Σ λ_i z_i and s = Σ λ_i over a support of affinely independent points, and let <z_i, v> + s = 1 on it. If
    no λ_i is negative, and <z_i, v> + s >= 1 off the support, then w = v / s is the nearest point: no z_i has a
    product with w below <w, w> = 1/s - 1. Supports are tried until one is right, if need be all of them. A pivot of
    [G | 1], where G are the products of the points plus 1, takes one point in or out; the last column then holds λ_i
    on the support and 1 - s - <z_i, v> off it.
    """
    if verdict(X, y, fit_intercept) != "separable":
        raise ValueError("the examples are not separable and have no margin")
    Z = points(X, y, fit_intercept)
    numbers, scale = whole([v for z in Z for v in z])
    n, D = len(Z), len(Z[0])
    Z = [numbers[D * i : D * (i + 1)] for i in range(n)]
    T = [[sum(u * v for u, v in zip(a, b, strict=True)) + 1 for b in Z] + [1] for a in Z]
    tried: set[frozenset[int]] = {frozenset()}
    untried = [(frozenset({i}), i, T, 1) for i in range(n)]
    while untried:
        support, moved, T, q = untried.pop()
        if support in tried:
            continue
        tried.add(support)
        T, q = pivot(T, moved, moved, q), T[moved][moved]
        wrong = [-row[-1] if i in support else row[-1] for i, row in enumerate(T)]
        if max(wrong) <= 0:
            return (Fraction(q, sum(T[i][-1] for i in support)) - 1) / scale**2
        movable = [i for i in range(n) if T[i][i] > 0]  # it is 0 for a point in the affine hull of the support
        movable.sort(key=wrong.__getitem__)  # what is most wrong comes last, and is tried first
        untried += [(support ^ {i}, i, T, q) for i in movable]
    raise AssertionError("separable points have a nearest point")
