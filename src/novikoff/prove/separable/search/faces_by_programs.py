"""What lies beyond an obstruction: the face that floats suggest, proved.

One obstruction at a time, exact facial reduction takes as many rounds as there are dimensions left. So floats find the
whole face first: the points on which every weak separator vanishes. Then a linear program finds a combination of them
that is 0 and spans them. What it finds is a vertex, that is, a choice of equations, and these are solved exactly; so
are those that make a weak separator orthogonal to the face. Whatever cannot be proved is not claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole, dot, solution
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import signs_of_products
from novikoff.prove.separable.proofs import vanishes
from novikoff.prove.separable.search.distinct import Numbers, dense
from novikoff.prove.separable.search.hull import nearest_point
from novikoff.prove.separable.search.likely_face import LikelyFace, solved
from novikoff.prove.separable.search.spanning import independent_columns

# A weak separator is rounded to so many bits, or to more if that is too few to prove it.
BITS = (12, 26, 52)
# How often other multiples are tried for a combination.
TRIES = 3


@dataclass(frozen=True, eq=False)
class WholeFace:
    """Points and positive whole numbers whose combination is 0, and a weak separator; None if there seems to be none.

    That the points span all on which the weak separator vanishes is not proved here.
    """

    rows: Numbers
    weights: list[int]
    weak: list[int] | None


def whole_face(points: Points, clock: Clock, known: Numbers | None = None) -> WholeFace | None:
    """The points on which every weak separator vanishes; None if it could not be proved that a combination is 0.

    Those of an obstruction may be `known`: they are on the face, and so is what they span.
    """
    if clock.is_over():
        return None
    face = LikelyFace.of(points, np.zeros(0, dtype=np.int64) if known is None else known, clock)
    if face is None:
        return None
    combination = _combination(face, clock)
    if combination is None or not vanishes(points, *combination):
        return None
    return WholeFace(*combination, _weak_separator(face, clock) if len(face.beyond) else None)


# -- a combination that is 0 ------------------------------------------------------------------------------------------


def _combination(face: LikelyFace, clock: Clock) -> tuple[Numbers, list[int]] | None:
    """Positive weights of points that span the face with which they add up to 0."""
    if len(face.spanning) == 0 and len(face.opposites) == 0:
        scaled = face.scaled
        zeros = np.flatnonzero(scaled.points.largest_by_row(np.ones(scaled.dimension)) == 0)[:1]
        return (zeros, [1]) if len(zeros) else None
    clock.tell("proving what was found")
    for seed in range(TRIES):
        # Drawn at random, lest too many vertices be equally good.
        multiples = np.random.default_rng(seed).integers(512, 1024, len(face.spanning))
        moving = _vertex(face, multiples, clock)
        if moving is None:
            return None
        found = _solved_exactly(face, multiples.tolist(), moving, clock)
        if found is not None or clock.is_over():
            return found
    return None


def _vertex(face: LikelyFace, multiples: NDArray[np.int64], clock: Clock) -> Numbers | None:
    """The points whose weights are not 0 where the least cancels some multiples of the spanning points; the opposites
    count as one point each, with a weight of any sign."""
    Z, E, S = (dense(face.scaled.written(which)) for which in (face.seen, face.opposites, face.spanning))
    equations = independent_columns(np.vstack([S, E]))
    table = np.vstack([Z, E])[:, equations].T
    costs = np.append(np.ones(len(Z)), np.zeros(len(E)))
    bounds = np.array([(0, np.inf)] * len(Z) + [(-np.inf, np.inf)] * len(E))
    mu = solved(clock, costs, A_eq=table, b_eq=-(multiples @ S)[equations], bounds=bounds)
    return None if mu is None else np.append(face.seen, face.opposites)[mu != 0]


def _solved_exactly(
    face: LikelyFace, multiples: Sequence[int], moving: Numbers, clock: Clock
) -> tuple[Numbers, list[int]] | None:
    """The weights of the points that move, and those of the others, as whole numbers; None if one is negative."""
    exact = face.scaled.whole(np.concatenate([face.spanning, moving]))
    fixed = exact[: len(face.spanning)]
    goal = [-dot(multiples, column) for column in zip(*fixed, strict=True)] or [0] * face.scaled.dimension
    found = solution(exact[len(fixed) :], goal, clock) if len(moving) else []
    if found is None:
        return None
    other = dict(zip(face.opposites.tolist(), face.opposed.tolist(), strict=True))
    weights = dict.fromkeys([*other.keys(), *other.values()], Fraction(1))
    weights |= {row: Fraction(m) for row, m in zip(face.spanning.tolist(), multiples, strict=True)}
    for row, weight in zip(moving.tolist(), found, strict=True):
        if weight < 0 and row not in other:
            return None
        row = other[row] if weight < 0 else row
        weights[row] = weights.get(row, Fraction(0)) + abs(weight)
    rows = np.array(sorted(row for row, weight in weights.items() if weight), dtype=np.int64)
    scales = face.scaled.unscaled_weights(rows)
    return rows, as_whole([weights[row] * scale for row, scale in zip(rows.tolist(), scales, strict=True)])


# -- a weak separator -------------------------------------------------------------------------------------------------


def _weak_separator(face: LikelyFace, clock: Clock) -> list[int] | None:
    """A vector that is orthogonal to the face, exactly, and has the points beyond on its side.

    Some coordinates of one that floats found are rounded, and the others follow from them.
    """
    b = face.b if face.b is not None else _separating(face, clock)
    if b is None:
        return None
    spanning = np.concatenate([face.spanning, face.opposites])
    exact = face.scaled.whole(spanning)
    determined = independent_columns(dense(face.scaled.written(spanning)))
    for bits in BITS:
        weak = _rounded(face, np.ldexp(b / np.abs(b).max(), bits), exact, determined, clock)
        if weak is None:
            return None
        signs = signs_of_products(face.scaled.points, weak)
        if signs.min() >= 0 and np.all(signs[face.beyond] > 0):
            return weak
    return None


def _separating(face: LikelyFace, clock: Clock) -> Floats | None:
    """A vector of the complement that has the points beyond on its side."""
    inside = dense(face.scaled.written(face.beyond) @ face.span.complement)
    nearest = nearest_point(Points(inside, np.ones(len(inside), dtype=np.int8), 0.0), tolerance=0.2, clock=clock)
    return face.span.complement @ nearest.separator[:-1] if nearest.lower > 0 else None


def _rounded(
    face: LikelyFace, b: Floats, exact: list[list[int]], determined: Numbers, clock: Clock
) -> list[int] | None:
    """A vector near b that is orthogonal to some points, given in whole numbers."""
    free = np.setdiff1d(np.arange(len(b)), determined)
    rounded = [int(v) for v in np.rint(b[free])]
    target = [-sum(row[j] * v for j, v in zip(free.tolist(), rounded, strict=True)) for row in exact]
    columns = [[row[j] for row in exact] for j in determined.tolist()]
    others = solution(columns, target, clock) if columns else []
    if others is None:
        return None
    whole = dict(zip([*free.tolist(), *determined.tolist()], [*map(Fraction, rounded), *others], strict=True))
    return as_whole([whole[j] * scale for j, scale in enumerate(face.scaled.unscaled_vector())])
