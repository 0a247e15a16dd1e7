"""What lies beyond an obstruction, by a few linear programs in floats, whose answers are then proved.

One obstruction at a time, facial reduction takes as many rounds as there are dimensions left. Linear programs find the
whole face at once: the points on which every weak separator vanishes, a combination of them that is 0 and spans them,
and a weak separator that has all others strictly on its side. HiGHS solves them in floats. What it finds is a vertex,
that is, a choice of equations, and these are solved exactly. Whatever cannot be proved is not claimed.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole, dot, solution
from novikoff.prove.exact.clock import Clock
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.proofs import vanishes, weakly_separates

Numbers = NDArray[np.int64]

# Of points whose largest coordinate is about 1, a product below this is 0 as far as a linear program can tell.
ZERO = 1e-6
# What is orthogonal to others but for this share of the longest lies in their span as far as floats can tell.
DEPENDENT = 1e-9
# A weak separator is rounded to so many bits, or to more if that is too few to prove it.
BITS = (12, 26, 52)


@dataclass(frozen=True, eq=False)
class WholeFace:
    """Points and positive whole numbers whose combination is 0, and a weak separator; None if there seems to be none.

    That the points span all on which every weak separator vanishes, and that this one vanishes on no others, is not
    proved here.
    """

    rows: Numbers
    weights: list[int]
    weak: list[int] | None


def whole_face(points: Points, clock: Clock) -> WholeFace | None:
    """The points on which every weak separator vanishes; None if it could not be proved that a combination is 0."""
    if clock.is_over():
        return None
    scaled = _Equilibrated.of(points)
    on_face = _face(scaled.Z, clock)
    if on_face is None or not on_face.any():
        return None
    face = np.flatnonzero(on_face)
    spanning = face[_spanning(scaled.Z[face])]
    combination = _combination(scaled, face, spanning, clock)
    if combination is None or not vanishes(points, *combination):
        return None
    weak = None if on_face.all() else _weak_separator(points, scaled, ~on_face, spanning, clock)
    return WholeFace(*combination, weak)


@dataclass(frozen=True, eq=False)
class _Equilibrated:
    """The different ones of some points, columns and rows divided by powers of two until their entries are about 1."""

    Z: Floats
    which: Numbers
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]

    @classmethod
    def of(cls, points: Points) -> "_Equilibrated":
        Z = points.take(np.arange(points.n_points)) + 0.0
        _, first = np.unique(Z, axis=0, return_index=True)
        which = np.sort(first)
        Z = Z[which]
        columns = np.frexp(np.abs(Z).max(axis=0))[1]
        Z = np.ldexp(Z, -columns)
        rows = np.frexp(np.abs(Z).max(axis=1))[1]
        return cls(np.ldexp(Z, -rows[:, None]), which, rows, columns)

    def whole(self, rows: Numbers) -> list[list[int]]:
        return as_integers(self.Z[rows], lowest_exponent(self.Z[rows])).tolist()


def _solved(clock: Clock, c: Floats, **program: Any) -> Floats | None:
    """The vertex that solves a linear program; None if there is none, or not in time."""
    from scipy.optimize import linprog

    seconds = clock.left()
    if seconds == 0:
        return None
    options = {"time_limit": seconds} if np.isfinite(seconds) else {}
    result = linprog(c, method="highs-ds", options=options, **program)
    return np.asarray(result.x) if result.status == 0 else None


def _face(Z: Floats, clock: Clock) -> NDArray[np.bool_] | None:
    """Which points every weak separator vanishes on: those are dropped that one of them has on its side, until none
    has any."""
    from scipy.sparse import csr_array

    on_face = np.ones(len(Z), dtype=bool)
    while on_face.any():
        left = Z[on_face]
        b = _solved(clock, -left.sum(axis=0), A_ub=csr_array(-left), b_ub=np.zeros(len(left)), bounds=(-1, 1))
        if b is None:
            return None
        is_beyond = left @ b > ZERO
        if not is_beyond.any():
            break
        on_face[np.flatnonzero(on_face)[is_beyond]] = False
    return on_face


def _spanning(Z: Floats) -> Numbers:
    """Points that are a basis of what all of them span, as far as floats can tell.

    From a few points at first; those that these do not span join them, until there are none.
    """
    few = np.unique(np.linspace(0, len(Z) - 1, min(len(Z), 4 * Z.shape[1])).astype(np.int64))
    lengths = np.linalg.norm(Z, axis=1)
    while True:
        basis, Q = _basis(Z, few)
        rest = np.linalg.norm(Z - (Z @ Q) @ Q.T, axis=1)
        rest[basis] = 0.0
        new = np.flatnonzero(rest > 10 * DEPENDENT * lengths.max())
        if len(new) == 0 or len(basis) == Z.shape[1]:
            return basis
        few = np.union1d(basis, new[np.argsort(-rest[new])[: 4 * Z.shape[1]]])


def _basis(Z: Floats, few: Numbers) -> tuple[Numbers, Floats]:
    """Points, of a few, that are a basis of what these span, and an orthonormal one."""
    from scipy.linalg import qr

    Q, R, pivots = qr(Z[few].T, mode="economic", pivoting=True)
    lengths = np.abs(np.diagonal(R))
    rank = int((lengths > DEPENDENT * lengths.max()).sum())
    return np.sort(few[pivots[:rank]]), Q[:, :rank]


def _combination(
    scaled: _Equilibrated, face: Numbers, spanning: Numbers, clock: Clock
) -> tuple[Numbers, list[int]] | None:
    """Positive weights, of points that include the spanning ones, with which they should add up to 0.

    Some multiple of every spanning point, and the least that cancels them. The multiples are drawn at random, lest too
    many vertices be equally good.
    """
    multiples = np.random.default_rng(0).integers(512, 1024, len(spanning))
    Z = scaled.Z[face]
    equations = _spanning(Z[np.isin(face, spanning)].T)
    right = -(multiples @ scaled.Z[spanning])[equations]
    mu = _solved(clock, np.ones(len(face)), A_eq=Z[:, equations].T, b_eq=right)
    if mu is None:
        return None
    moving = face[mu > 0]
    exact = scaled.whole(np.concatenate([spanning, moving]))
    fixed = exact[: len(spanning)]
    pairs = [dot([int(m) for m in multiples], column) for column in zip(*fixed, strict=True)]
    found = solution(exact[len(spanning) :], [-value for value in pairs], clock)
    if found is None or min(found) < 0:
        return None
    weights = {row: Fraction(int(m)) for row, m in zip(spanning.tolist(), multiples, strict=True)}
    for row, weight in zip(moving.tolist(), found, strict=True):
        weights[row] = weights.get(row, Fraction(0)) + weight
    rows = np.array(sorted(row for row, weight in weights.items() if weight), dtype=np.int64)
    return scaled.which[rows], as_whole([weights[row] * power_of_two(-int(scaled.rows[row])) for row in rows.tolist()])


def _weak_separator(
    points: Points, scaled: _Equilibrated, is_beyond: NDArray[np.bool_], spanning: Numbers, clock: Clock
) -> list[int] | None:
    """A vector that is orthogonal to the spanning points, exactly, and has the points beyond on its side.

    The one whose least product with these is largest, as far as floats can tell; then some of its coordinates are
    rounded, and the others follow from them.
    """
    S, beyond = scaled.Z[spanning], scaled.Z[is_beyond]
    dimension = S.shape[1]
    largest_margin = np.append(np.zeros(dimension), -1.0)
    equations = np.hstack([S, np.zeros((len(S), 1))])
    inequalities = np.hstack([-beyond, np.ones((len(beyond), 1))])
    bounds = [(-1, 1)] * dimension + [(0, None)]
    sides = {"A_eq": equations, "b_eq": np.zeros(len(S)), "A_ub": inequalities, "b_ub": np.zeros(len(beyond))}
    found = _solved(clock, largest_margin, bounds=bounds, **sides)
    if found is None:
        return None
    determined = _spanning(S.T)
    free = np.setdiff1d(np.arange(dimension), determined)
    exact = scaled.whole(spanning)
    for bits in BITS:
        rounded = [int(v) for v in np.rint(found[free] * 2.0**bits)]
        target = [-sum(row[j] * v for j, v in zip(free.tolist(), rounded, strict=True)) for row in exact]
        others = solution([[row[j] for row in exact] for j in determined.tolist()], target, clock)
        if others is None:
            return None
        whole = dict(zip([*free.tolist(), *determined.tolist()], [*map(Fraction, rounded), *others], strict=True))
        weak = as_whole([whole[j] * power_of_two(-int(scaled.columns[j])) for j in range(dimension)])
        if weakly_separates(points, weak):
            return weak
    return None
