"""What lies beyond an obstruction, by a few linear programs in floats, whose answers are then proved.

One obstruction at a time, facial reduction takes as many rounds as there are dimensions left. Linear programs find the
whole face at once: the points on which every weak separator vanishes, a combination of them that is 0 and spans them,
and a weak separator that has all others strictly on its side. A program is about a few points at a time: those join
that its answer has on the wrong side. HiGHS solves it in floats. What it finds is a vertex, that is, a choice of
equations, and these are solved exactly. Whatever cannot be proved is not claimed.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole, dot, solution
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import signs_of_products
from novikoff.prove.separable.proofs import vanishes
from novikoff.prove.separable.search.distinct import Distinct, Numbers, Scaled, dense
from novikoff.prove.separable.search.hull import nearest_point
from novikoff.prove.separable.search.spanning import Span, whole_space

# Of points whose largest coordinate is about 1, a product below this is 0 as far as a linear program can tell.
ZERO = 1e-6
# So many points, times the dimension, join a program at a time.
JOINING = 4
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
    search = _Search.of(points, np.zeros(0, dtype=np.int64) if known is None else known, clock)
    face = search.face()
    if face is None:
        return None
    combination = search.combination(face)
    if combination is None or not vanishes(points, *combination):
        return None
    weak = None if face.on.all() else search.weak_separator(face)
    return WholeFace(*combination, weak)


@dataclass(frozen=True, eq=False)
class _Face:
    """Which of the candidates are on the face, those that linear programs have seen, and what all of them span:
    `spanning` are some of those seen that do, together with the opposites."""

    on: NDArray[np.bool_]
    seen: Numbers
    spanning: Numbers
    span: Span


@dataclass(frozen=True, eq=False)
class _Search:
    """The `opposites` are a basis of what points span whose negatives are points, too, the `opposed`. The `basis` is
    one of these and of the known points of an obstruction, and `candidates` are what it does not span."""

    scaled: Scaled
    opposites: Numbers
    opposed: Numbers
    known: Numbers
    basis: Numbers
    candidates: Numbers
    spans: tuple[Span, Span]
    clock: Clock

    @classmethod
    def of(cls, points: Points, known: Numbers, clock: Clock) -> "_Search":
        scaled, distinct = Scaled.of(points), Distinct.of(points)
        opposites, of_opposites = whole_space(scaled).with_points(distinct.opposites)
        opposed = distinct.opposed[np.searchsorted(distinct.opposites, opposites)]
        known = np.sort(known)
        more, of_both = of_opposites.with_points(known)
        candidates = distinct.single[of_both.are_outside(distinct.single)]
        basis = np.concatenate([opposites, more])
        return cls(scaled, opposites, opposed, known, basis, candidates, (of_opposites, of_both), clock)

    def face(self) -> _Face | None:
        """Those are dropped that some weak separator has on its side, until none has any."""
        size, joining = len(self.candidates), JOINING * self.scaled.dimension
        on, working = np.ones(size, dtype=bool), np.zeros(size, dtype=bool)
        working[np.random.default_rng(0).permutation(size)[:joining]] = True
        while on.any():
            b = self._largest_sum(self.candidates[working & on])
            if b is None:
                return None
            products = self.scaled.products(b)[self.candidates]
            wrong = np.flatnonzero(on & ~working & (products < -ZERO))
            beyond = on & (products > ZERO)
            if len(wrong):
                working[wrong[np.argsort(products[wrong])[:joining]]] = True
            elif beyond.any():
                on &= ~beyond
            else:
                needed, _ = self.spans[1].with_points(self.candidates[on], self.candidates[on & working])
                places = np.searchsorted(self.candidates, needed)
                if working[places].all():
                    break
                working[places] = True
        seen = np.union1d(self.known, self.candidates[on & working])
        spanning, span = self.spans[0].with_points(seen)
        return _Face(on, seen, spanning, span)

    def _largest_sum(self, used: Numbers) -> Floats | None:
        """A vector whose products with some candidates are not negative, and have the largest sum."""
        Z, E = self.scaled.written(used), self.scaled.written(self.basis)
        total = np.asarray(Z.sum(axis=0)).ravel() / max(len(used), 1)
        sides = {"A_eq": sparse(E), "b_eq": np.zeros(E.shape[0])} if E.shape[0] else {}
        return _solved(self.clock, -total, A_ub=-sparse(Z), b_ub=np.zeros(len(used)), bounds=(-1, 1), **sides)

    def combination(self, face: _Face) -> tuple[Numbers, list[int]] | None:
        """Positive weights of points that span the face with which they add up to 0."""
        if len(face.spanning) == 0 and len(self.opposites) == 0:
            return self._zero()
        for seed in range(TRIES):
            found = self._combination(face, seed)
            if found is not None or self.clock.is_over():
                return found
        return None

    def _zero(self) -> tuple[Numbers, list[int]] | None:
        """A point that is 0, if there is any."""
        zeros = np.flatnonzero(self.scaled.points.largest_by_row(np.ones(self.scaled.dimension)) == 0)[:1]
        return (zeros, [1]) if len(zeros) else None

    def _combination(self, face: _Face, seed: int) -> tuple[Numbers, list[int]] | None:
        """Some multiple of every spanning point, drawn at random, lest too many vertices be equally good; the least
        that cancels them; and both of every two opposites."""
        used = face.seen
        multiples = np.random.default_rng(seed).integers(512, 1024, len(face.spanning))
        Z, E = self.scaled.written(used), self.scaled.written(self.opposites)
        S = self.scaled.written(face.spanning)
        equations = face.span.independent_columns(np.vstack([dense(S), dense(E)]))
        right = -np.asarray(S.T @ multiples).ravel()[equations]
        table = np.vstack([dense(Z)[:, equations], dense(E)[:, equations]]).T
        costs = np.append(np.ones(len(used)), np.zeros(E.shape[0]))
        bounds = np.array([(0, np.inf)] * len(used) + [(-np.inf, np.inf)] * E.shape[0])
        mu = _solved(self.clock, costs, A_eq=sparse(table), b_eq=right, bounds=bounds)
        if mu is None:
            return None
        moving = np.append(used, self.opposites)[mu != 0]
        free = np.append(np.zeros(len(used), dtype=bool), np.ones(E.shape[0], dtype=bool))[mu != 0]
        exact = self.scaled.whole(np.concatenate([face.spanning, moving]))
        fixed = exact[: len(face.spanning)]
        goal = [-dot([int(m) for m in multiples], column) for column in zip(*fixed, strict=True)]
        found = solution(exact[len(fixed) :], goal or [0] * self.scaled.dimension, self.clock)
        if found is None or any(weight < 0 for weight, any_sign in zip(found, free, strict=True) if not any_sign):
            return None
        weights = dict.fromkeys([*self.opposites.tolist(), *self.opposed.tolist()], Fraction(1))
        weights |= {row: Fraction(int(m)) for row, m in zip(face.spanning.tolist(), multiples, strict=True)}
        other = dict(zip(self.opposites.tolist(), self.opposed.tolist(), strict=True))
        for row, weight in zip(moving.tolist(), found, strict=True):
            row = other[row] if weight < 0 else row
            weights[row] = weights.get(row, Fraction(0)) + abs(weight)
        rows = np.array(sorted(row for row, weight in weights.items() if weight), dtype=np.int64)
        scales = self.scaled.unscaled_weights(rows)
        return rows, as_whole([weights[row] * scale for row, scale in zip(rows.tolist(), scales, strict=True)])

    def weak_separator(self, face: _Face) -> list[int] | None:
        """A vector that is orthogonal to the face, exactly, and has the points beyond on its side.

        The one with the largest margin, as far as floats can tell; then some of its coordinates are rounded, and the
        others follow from them.
        """
        beyond = self.candidates[~face.on]
        N = face.span.complement
        inside = dense(self.scaled.written(beyond) @ N)
        nearest = nearest_point(Points(inside, np.ones(len(beyond), dtype=np.int8), 0.0), clock=self.clock)
        if nearest.lower <= 0:
            return None
        b = N @ nearest.separator[:-1]
        b /= np.abs(b).max()
        spanning = np.concatenate([face.spanning, self.opposites])
        exact = self.scaled.whole(spanning)
        determined = face.span.independent_columns(dense(self.scaled.written(spanning)))
        for bits in BITS:
            weak = self._rounded(np.ldexp(b, bits), exact, determined)
            if weak is None:
                return None
            signs = signs_of_products(self.scaled.points, weak)
            if signs.min() >= 0 and np.all(signs[beyond] > 0):
                return weak
        return None

    def _rounded(self, b: Floats, exact: list[list[int]], determined: Numbers) -> list[int] | None:
        """A vector near b that is orthogonal to some points, given in whole numbers."""
        free = np.setdiff1d(np.arange(len(b)), determined)
        rounded = [int(v) for v in np.rint(b[free])]
        target = [-sum(row[j] * v for j, v in zip(free.tolist(), rounded, strict=True)) for row in exact]
        columns = [[row[j] for row in exact] for j in determined.tolist()]
        others = solution(columns, target, self.clock) if columns else []
        if others is None:
            return None
        whole = dict(zip([*free.tolist(), *determined.tolist()], [*map(Fraction, rounded), *others], strict=True))
        return as_whole([whole[j] * scale for j, scale in enumerate(self.scaled.unscaled_vector())])


def sparse(matrix: Any) -> Any:
    """A matrix as a linear program wants it."""
    from scipy.sparse import csr_array

    return csr_array(matrix)


def _solved(clock: Clock, c: Floats, **program: Any) -> Floats | None:
    """The vertex that solves a linear program; None if there is none, or not in time."""
    from scipy.optimize import linprog

    seconds = clock.left()
    if seconds == 0:
        return None
    options = {"time_limit": seconds} if np.isfinite(seconds) else {}
    result = linprog(c, method="highs-ds", options=options, **program)
    return np.asarray(result.x) if result.status == 0 else None
