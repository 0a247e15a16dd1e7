"""Which points every weak separator vanishes on, as far as floats can tell.

Facial reduction in floats: points that cancel each other lie on every weak separator, so the question goes on in the
orthogonal complement of what they span. There, many that were different are parallel, and two that point in opposite
directions cancel each other again; so whole groups leave at a time. When nothing is parallel any more, the nearest
point of the hull decides: either its carriers cancel, or it separates all that are left. Where it is too near to 0 for
that, or where there are too many dimensions, linear programs go on: they drop points that some weak separator has on
its side until there are none.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.search.cutting_planes import MOST_FOR_CUTTING
from novikoff.prove.separable.search.distinct import Distinct, Numbers, Scaled, dense
from novikoff.prove.separable.search.hull import nearest_point
from novikoff.prove.separable.search.spanning import Span, whole_space

# Directions are equal if all coordinates of their unit vectors are, to so many bits.
BITS = 24
# A hull of unit vectors that is nearer than this to the origin contains it, one that is farther does not; in between,
# nobody knows.
NEAR, FAR = 1e-10, 1e-9
# A separator need not have the largest margin.
TOLERANCE = 0.2
# Of points whose largest coordinate is about 1, a product below this is 0 as far as a linear program can tell.
ZERO = 1e-6
# Coordinates that are written out at a time.
MOST_FLOATS = 20_000_000
# So many points, times the dimension, join a program at a time.
JOINING = 4


@dataclass(frozen=True, eq=False)
class LikelyFace:
    """`span` contains the points of the face; `opposites` and `spanning` are a basis of it.

    Every one of the `opposites` has its negative, one of the `opposed`, in turn. Some positive combination of those
    `seen`, and of the opposites, is 0. All others lie `beyond`, and b has them on its side (None if there are none, or
    if only programs have seen them).
    """

    scaled: Scaled
    span: Span
    opposites: Numbers
    opposed: Numbers
    spanning: Numbers
    seen: Numbers
    beyond: Numbers
    b: Floats | None

    @classmethod
    def of(cls, points: Points, known: Numbers, clock: Clock) -> "LikelyFace | None":
        """None if there is no time, or if floats cannot tell. Points of an obstruction may be known."""
        scaled, distinct = Scaled.of(points), Distinct.of(points)
        opposites, span = whole_space(scaled).with_points(distinct.opposites)
        opposed = distinct.opposed[np.searchsorted(distinct.opposites, opposites)]
        search = _Reduction(scaled, distinct.single, span, [np.sort(known)], clock)
        search.join(np.sort(known))
        found = search.run()
        if found is None:
            return None
        beyond, b = found
        sample = np.setdiff1d(distinct.single, beyond)
        sample = np.random.default_rng(0).permutation(sample)[: JOINING * scaled.dimension]
        seen = np.unique(np.concatenate([*search.seen, sample]))
        spanning, whole = span.with_points(seen)
        return cls(scaled, whole, opposites, opposed, spanning, seen, beyond, b)


@dataclass(eq=False)
class _Reduction:
    """What is known to be on the face spans `span`; the `candidates` are not in it."""

    scaled: Scaled
    candidates: Numbers
    span: Span
    seen: list[Numbers]
    clock: Clock
    wrong: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def join(self, rows: Numbers) -> None:
        """Let points be on the face, and all that they span with it."""
        _, self.span = self.span.with_points(rows)
        self.candidates = self.candidates[self.span.are_outside(self.candidates)]

    def run(self) -> tuple[Numbers, Floats | None] | None:
        """The points beyond the face, and a vector that has them on its side; None if nobody can tell."""
        while len(self.candidates):
            if self.clock.is_over():
                return None
            self.clock.tell(f"looking beyond an obstruction, {self.span.complement.shape[1]:,} dimensions left")
            sample = self._sample()
            unit = self._directions(sample)
            distinct = Distinct.of(Points(np.rint(np.ldexp(unit, BITS)), np.ones(len(unit), dtype=np.int8), 0.0))
            if len(distinct.opposites):
                self._join_opposites(sample[distinct.opposites], sample[distinct.opposed])
                continue
            if min(len(distinct.single), unit.shape[1]) > MOST_FOR_CUTTING:
                return self._by_programs()
            few = Points(unit[distinct.single], np.ones(len(distinct.single), dtype=np.int8), 0.0)
            nearest = nearest_point(few, tolerance=TOLERANCE, clock=self.clock)
            if nearest.lower > FAR:
                b = self.span.complement @ nearest.separator[:-1]
                if not self._add_wrong(b):
                    return self.candidates, b
            elif nearest.upper < NEAR:
                rows = np.sort(sample[distinct.single[nearest.rows]])
                self.seen.append(rows)
                self.join(rows)
            else:
                return self._by_programs()
        return self.candidates, None

    def _sample(self) -> Numbers:
        """The candidates, or as many as can be written out: every so many-th, and those that were on a wrong side."""
        most = max(MOST_FLOATS // self.span.complement.shape[1], 1)
        if len(self.candidates) <= most:
            return self.candidates
        step = -(-len(self.candidates) // most)
        return np.union1d(self.candidates[::step], np.intersect1d(self.candidates, self.wrong))

    def _add_wrong(self, b: Floats) -> bool:
        """Remember the candidates that a vector has on its wrong side; whether there were new ones."""
        products = self.scaled.products(b)[self.candidates]
        is_wrong = (products <= 0) & ~np.isin(self.candidates, self.wrong)
        worst = np.argsort(products)[: min(int(is_wrong.sum()), JOINING * self.scaled.dimension)]
        self.wrong = np.union1d(self.wrong, self.candidates[worst])
        return len(worst) > 0

    def _directions(self, sample: Numbers) -> Floats:
        """Some candidates in coordinates of the complement, of length 1."""
        inside = dense(self.scaled.written(sample) @ self.span.complement)
        return inside / np.linalg.norm(inside, axis=1)[:, None]

    def _join_opposites(self, rows: Numbers, others: Numbers) -> None:
        """Let pairs of opposite directions be on the face."""
        basis, _ = self.span.with_points(rows)
        places = np.searchsorted(rows, basis)
        self.seen += [basis, others[places]]
        self.join(basis)

    def _by_programs(self) -> tuple[Numbers, Floats | None] | None:
        """Drop those that some weak separator has on its side, until none has any: what is left is on the face."""
        size, joining = len(self.candidates), JOINING * self.scaled.dimension
        on, working = np.ones(size, dtype=bool), np.zeros(size, dtype=bool)
        working[np.random.default_rng(0).permutation(size)[:joining]] = True
        working[np.searchsorted(self.candidates, self.span.with_points(self.candidates)[0])] = True
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
                needed, _ = self.span.with_points(self.candidates[on], self.candidates[on & working])
                places = np.searchsorted(self.candidates, needed)
                if working[places].all():
                    break
                working[places] = True
        self.seen.append(self.candidates[on & working])
        return self.candidates[~on], None

    def _largest_sum(self, used: Numbers) -> Floats | None:
        """A vector of the complement whose products with some candidates are not negative, and have the largest sum."""
        N = self.span.complement
        inside = self.scaled.written(used) @ N
        total = np.asarray(inside.sum(axis=0)).ravel() / max(len(used), 1)
        sides = {"A_ub": -_sparse(inside), "b_ub": np.zeros(len(used))}
        found = solved(self.clock, -total, bounds=(-1, 1), **sides)
        return None if found is None else N @ found


def solved(clock: Clock, c: Floats, **program: Any) -> Floats | None:
    """The vertex that solves a linear program; None if there is none, or not in time."""
    from scipy.optimize import linprog

    seconds = clock.left()
    if seconds == 0:
        return None
    options = {"time_limit": seconds} if np.isfinite(seconds) else {}
    result = linprog(c, method="highs-ds", options=options, **program)
    return np.asarray(result.x) if result.status == 0 else None


def _sparse(matrix: Any) -> Any:
    """A matrix as a linear program wants it."""
    from scipy.sparse import csr_array

    return csr_array(matrix)
