"""The face: which points lie on every weak separator? Separability and the existence of estimates depend on it.

Given points z, some of them equations, a *weak separator* is a vector b with <z, b> >= 0 for every point, 0 for the
equations, and <z, b> > 0 for at least one point. The *face* is the set of points with <z, b> = 0 for all of them.

A linear program maximises the sum of the products of spanning points over such b in a box. Points with a positive
product are beyond the face, and are removed, until the maximum is 0. Then the spanning points are on the face, hence
all are, and the multipliers of the program prove it: they cancel the sum. That leaves the spanning points with a weight
of at least 1 each, so multipliers may be rounded: the weights of the spanning points that cancel the rounded ones are
the solution of a regular system, which is solved exactly, and remain positive. So proofs do not depend on the accuracy
of floats, and what cannot be proved is not claimed. Where floats fail, the same programs are solved in whole numbers.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.floats import power_of_two, scaled_floats
from novikoff.prove.exact.modular import independent
from novikoff.prove.exact.refined import Regular, WholeMatrix
from novikoff.prove.separable.points import Floats
from novikoff.prove.separable.proofs import Spanning, spanning
from novikoff.prove.separable.search.highs import ZERO, solved_in_floats
from novikoff.prove.separable.search.scaled import Numbers, Scaled
from novikoff.prove.separable.search.simplex import SingularError, largest_product

# The most dimensions of sparse points without peeling.
DIMENSIONS_TO_PEEL = 300
# Initial points of a program per dimension; others are added when they are on the wrong side.
MANY = 8
# In more dimensions, programs take longer than Newton's method; the basis is first chosen from the FIRST times as many
# points as dimensions with the largest weights.
MOST_FOR_PROGRAMS = 1000
FIRST = 2
# Bits of multipliers, and of a weak separator, in turn until they suffice.
BITS = (8, 20, 35, 50)
# A safety factor for the multiples of earlier directions.
SLACK = 4

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FaceProof:
    """`weak` is a weak separator, in whole numbers, that has a positive product with the points `beyond` the face, and
    0 with all others; None if none are beyond. `scaled_weak` is the same for the scaled points.

    `rows` with their `weights`, positive except for equations, add up to 0, and with the equations they span the face
    (Stiemke), which is nearly certain. They are None if there is no proof.
    """

    beyond: Numbers
    scaled_weak: list[int] | None
    weak: list[int] | None
    rows: Numbers | None
    weights: list[int] | None


def find_face(rows: Scaled, clock: Clock, is_equation: Mask | None = None, exactly: bool = False) -> FaceProof | None:
    """The face of points; None if the time limit was reached. With `exactly`, without floats.

    >>> from novikoff.prove.separable.points import Points
    >>> from novikoff.prove.separable.search.scaled import Scaled
    >>> points = Points(np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]]), np.ones(3, dtype=np.int8), 0.0)
    >>> proof = find_face(Scaled.of(points), Clock(None))
    >>> proof.beyond.tolist(), proof.weak, proof.rows.tolist(), proof.weights
    ([1], [0, 1, 0], [0, 2], [1, 1])
    """
    if clock.is_over():
        return None
    equations = np.zeros(rows.n_points, dtype=bool) if is_equation is None else is_equation
    if exactly or not rows.is_sparse or rows.dimension <= DIMENSIONS_TO_PEEL:
        return _Search(rows, equations, clock).proof(exactly)
    Z = rows.written(np.arange(rows.n_points))
    peeled = Peeled.of(Z, equations)
    left = peeled.left
    if not peeled.layers:
        return _Search(rows, equations, clock).proof()
    inner = _Search(rows.part(left), equations[left], clock).proof()
    if inner is None:
        return None
    within = [0] * rows.dimension if inner.scaled_weak is None else inner.scaled_weak
    weak = peeled.joined(Z, within)
    signs = rows.signs(weak)
    is_beyond = np.ones(rows.n_points, dtype=bool)
    is_beyond[left] = False
    is_beyond[left[inner.beyond]] = True
    if signs.min() < 0 or not np.array_equal(signs > 0, is_beyond):
        return None
    on_face = None if inner.rows is None else left[inner.rows]
    return FaceProof(np.flatnonzero(is_beyond), weak, rows.unscaled(weak), on_face, inner.weights)


class _Search:
    """The search; `fixed` are the equations, and the points whose negatives are points, too: these are on the face."""

    def __init__(self, scaled: Scaled, equations: Mask, clock: Clock) -> None:
        self.scaled, self.points, self.clock, self.equations = scaled, scaled.points, clock, equations
        distinct = scaled.distinct(np.flatnonzero(~equations))
        self.single = distinct.single
        self.opposed = dict(zip(distinct.opposites.tolist(), distinct.opposed.tolist(), strict=True))
        self.fixed = np.sort(np.concatenate([np.flatnonzero(equations), distinct.opposites]))
        # Results of programs: some points, and a direction with positive products with them.
        self.layers: list[tuple[Numbers, Any]] = []

    def proof(self, exactly: bool = False) -> FaceProof | None:
        """The proof, by floats, or in whole numbers where floats fail."""
        proof = None if exactly else self._in_floats()
        if (proof is None or proof.rows is None) and not self.clock.is_over():
            with suppress(OutOfTimeError, SingularError):
                return self._in_whole_points() or proof
        return proof

    def _in_floats(self) -> FaceProof | None:
        found = self._by_programs()
        if found is None:
            return None
        basis, multiples = found
        self.clock.tell("proving what was found")
        rows, unit = self.scaled.whole(basis.rows)
        regular = self._regular(basis, rows)
        obstruction = self._obstruction(basis, unit, regular, multiples)
        if not self.layers:
            return None if obstruction is None else FaceProof(self.fixed[:0], None, None, *obstruction)
        weak = self._weak_separator(basis, rows, regular)
        return None if weak is None else FaceProof(*weak, *(obstruction or (None, None)))

    # -- by programs --------------------------------------------------------------------------------------------------

    def _by_programs(self, whole: WholeMatrix | None = None) -> tuple[Spanning, dict[int, Any]] | None:
        """Points that are a basis of the span of the face, and the multiples of points that cancel the sum of those in
        the basis that are not fixed: in floats, or exactly with `whole` points."""
        self.layers = []
        fixed = self._spanning(self.fixed, None, whole)
        if fixed is None:
            return None
        candidates = self.single if whole is not None else self.single[fixed.are_outside(self.points)[self.single]]
        most = max(MANY * self.scaled.dimension, 1)
        working = np.sort(np.random.default_rng(0).permutation(candidates)[:most])
        if self.scaled.dimension > MOST_FOR_PROGRAMS and len(candidates) and whole is None:
            by_weights = self._balanced(candidates, fixed)
            if by_weights is not None or self.clock.is_over():
                return by_weights
        zero = ZERO if whole is None else 0
        while True:
            every, working = self._joined(candidates, fixed.rows), working[np.isin(working, candidates, kind="table")]
            basis = self._spanning(every, np.union1d(fixed.rows, working), whole)
            if basis is None:
                return None
            base = np.setdiff1d(basis.rows, fixed.rows)
            working = np.union1d(working, base)
            if len(base) == 0:
                return basis, {}
            self.clock.tell(f"linear programs: {len(candidates):,} points, {len(base):,} dimensions")
            found = self._program(base, working, fixed.rows, basis, whole)
            if found is None:
                return None
            b, multiples = found
            products = self._products(b, whole)[candidates]
            wrong, is_beyond = np.flatnonzero(products < -zero), products > zero
            if len(wrong):
                working = np.union1d(working, candidates[wrong[np.argsort(products[wrong], kind="stable")[:most]]])
            elif is_beyond.any():
                self.layers.append((candidates[is_beyond], b))
                candidates = candidates[~is_beyond]
            else:
                return basis, dict(zip([*working.tolist(), *fixed.rows.tolist()], multiples, strict=True))

    def _spanning(self, which: Numbers, first: Numbers | None, whole: WholeMatrix | None) -> Spanning | None:
        """Some points that span all of `which`; for whole points with a new prime each time, as one may be unlucky."""
        if whole is None or len(which) == 0:
            return spanning(self.points, which, self.clock, first)
        found = independent(whole.in_rows(which).written_out(), self.clock)
        return found and Spanning(which[found.rows], np.array(found.columns), np.zeros((0, 0)), 0)

    def _products(self, b: Any, whole: WholeMatrix | None) -> NDArray[Any]:
        return self.scaled.products(b) if whole is None else whole.times(b)

    def _program(
        self, base: Numbers, working: Numbers, fixed: Numbers, basis: Spanning, whole: WholeMatrix | None
    ) -> Any:
        """A direction with the largest sum of products with the base, and multiples of the working and the fixed points
        that cancel the base, if possible."""
        if whole is not None:
            goal = whole.in_rows(base).transposed().times(np.ones(len(base), dtype=np.int64)).tolist()
            start = np.flatnonzero(np.isin(np.append(working, fixed), basis.rows)), basis.columns
            b, multiples = largest_product(goal, whole.in_rows(working), whole.in_rows(fixed), self.clock, start)
            return np.array(b or [0] * len(goal), dtype=object), multiples
        goal = np.asarray(self.scaled.written(base).sum(axis=0)).ravel()
        # In many dimensions it may take long, and other methods may succeed.
        is_wide = self.scaled.dimension > MOST_FOR_PROGRAMS
        clock = self.clock.within(self.clock.left() / 2) if is_wide else self.clock
        return largest_sum(goal, self.scaled.written(working), self.scaled.written(fixed), clock)

    def _balanced(self, candidates: Numbers, fixed: Spanning) -> tuple[Spanning, dict[int, float]] | None:
        """The same if all candidates are on the face, by Newton's method; those of largest weight are the basis."""
        self.clock.tell(f"balancing {len(candidates):,} points in {self.scaled.dimension:,} dimensions")
        weights = balanced(self.scaled.written(candidates), self.scaled.written(fixed.rows), self.clock)
        if weights is None:
            return None
        heaviest = candidates[np.argsort(-weights[: len(candidates)], kind="stable")]
        first = np.concatenate([fixed.rows, heaviest[: FIRST * self.scaled.dimension]])
        basis = spanning(self.points, self._joined(candidates, fixed.rows), self.clock, first)
        if basis is None:
            return None
        # In units of the smallest weight in the basis.
        base = np.isin(candidates, basis.rows)
        unit = float(weights[: len(candidates)][base].min(initial=1.0))
        return basis, dict(zip([*candidates.tolist(), *fixed.rows.tolist()], (weights / unit).tolist(), strict=True))

    def _joined(self, *parts: Numbers) -> Numbers:
        """The union of parts, ascending."""
        is_in = np.zeros(self.scaled.n_points, dtype=bool)
        for part in parts:
            is_in[part] = True
        return np.flatnonzero(is_in)

    # -- exactly ------------------------------------------------------------------------------------------------------

    def _in_whole_points(self) -> FaceProof | None:
        self.clock.tell(f"exact pivoting: {len(self.single):,} points in {self.scaled.dimension:,} dimensions")
        whole, _ = self.scaled.whole(np.arange(self.scaled.n_points))
        found = self._by_programs(whole)
        if found is None:
            return None
        basis, multiples = found
        weights = dict.fromkeys(basis.rows.tolist(), Fraction(1)) | dict.fromkeys(self.fixed.tolist(), Fraction(0))
        for row, times in multiples.items():
            weights[row] = weights.get(row, Fraction(0)) + times
        obstruction = self._in_whole_numbers(weights)
        if not self.layers:
            return None if obstruction is None else FaceProof(self.fixed[:0], None, None, *obstruction)
        total = np.zeros(self.scaled.dimension, dtype=object)
        for rows, b in reversed(self.layers):  # each is multiplied so that it dominates those after it
            own, after = whole.times(b)[rows], whole.times(total)[rows]
            total = total + max(int((-after // own).max()) + 1, 1) * b
        weak = as_whole(total.tolist())
        beyond = np.flatnonzero(self.scaled.signs(weak))
        return FaceProof(beyond, weak, self.scaled.unscaled(weak), *(obstruction or (None, None)))

    def _regular(self, basis: Spanning, rows: WholeMatrix) -> Regular | None:
        """The regular system of the basis in its columns."""
        if len(basis.rows) == 0:
            return None
        return Regular.of(rows.in_columns(basis.columns).transposed(), self.clock, basis.core)

    def _obstruction(
        self, basis: Spanning, unit: int, regular: Regular | None, multiples: dict[int, float]
    ) -> tuple[Numbers, list[int]] | None:
        """Points that span the face, with whole weights that add up to 0; the basis is in units of 2^unit."""
        if len(basis.rows) == 0:
            return self._in_whole_numbers({})
        if regular is None:
            return None
        must = np.isin(basis.rows, self.fixed, invert=True)
        in_basis = set(basis.rows.tolist())
        others = np.array([row for row, m in multiples.items() if m and row not in in_basis], dtype=np.int64)
        moving, own_unit = self.scaled.whole(others)
        moving, scale = moving.transposed(), power_of_two(unit - own_unit)
        for bits in BITS:
            times = np.rint(np.ldexp([multiples[row] for row in others.tolist()], bits))
            if np.abs(times).max(initial=0.0) >= 2**60:
                return None
            target = [-int(v) for v in moving.times(times.astype(np.int64))[basis.columns]]
            if not np.all(regular.near(scaled_floats(target))[must] > 0):
                continue
            found = regular.solve(target, self.clock)
            if found is not None and min(np.array(found.numerators, dtype=object)[must], default=1) > 0:
                weights = {
                    row: int(t) * found.denominator * scale for row, t in zip(others.tolist(), times, strict=True)
                }
                weights |= zip(basis.rows.tolist(), map(Fraction, found.numerators), strict=True)
                return self._in_whole_numbers(weights)
            if self.clock.is_over():
                return None
        return None

    def _in_whole_numbers(self, weights: dict[int, Fraction]) -> tuple[Numbers, list[int]] | None:
        """Weights of scaled points as whole weights of the points; a negative weight moves to the negated point.

        If no point has a weight, all that are left are 0, if any, and the first gets weight 1.
        """
        if not weights:
            left = np.setdiff1d(self.single, np.concatenate([self.fixed, *(rows for rows, _ in self.layers)]))
            weights = dict.fromkeys(left[:1].tolist(), Fraction(1))
        for row in weights.keys() & self.opposed.keys():
            weight, other = weights[row], self.opposed[row]
            weights[row], weights[other] = max(weight, Fraction(0)) + 1, max(-weight, Fraction(0)) + 1
        rows = np.array(sorted(row for row, weight in weights.items() if weight), dtype=np.int64)
        whole = self.scaled.unscaled_weights(rows, [weights[row] for row in rows.tolist()])
        return (rows, whole) if self.scaled.add_up_to_nothing(rows, whole) else None

    def _weak_separator(
        self, basis: Spanning, rows: WholeMatrix, regular: Regular | None
    ) -> tuple[Numbers, list[int], list[int]] | None:
        """The points beyond, and a vector, exactly orthogonal to the face, with positive products with them.

        Some coordinates of the vector that floats found are rounded; they determine the others.
        """
        b = self._direction()
        free = np.setdiff1d(np.arange(len(b)), basis.columns)
        known, must = rows.in_columns(free), basis.are_outside(self.points)
        for bits in BITS:
            rounded = np.rint(np.ldexp(b[free] / (np.abs(b).max() or 1.0), bits)).astype(np.int64)
            whole = np.zeros(len(b), dtype=object)
            whole[free] = [int(v) for v in rounded]
            if regular is not None:
                found = regular.solve([-int(v) for v in known.times(rounded)], self.clock, transpose=True)
                if found is None:
                    return None
                whole *= found.denominator
                whole[basis.columns] = found.numerators
            weak = [int(value) for value in whole]
            signs = self.scaled.signs(weak)
            if signs.min() >= 0 and signs.any() and not np.any(signs[must] == 0) and not signs[self.equations].any():
                return np.flatnonzero(signs), weak, self.scaled.unscaled(weak)
            if self.clock.is_over():
                return None
        return None

    def _direction(self) -> Floats:
        """The sum of all directions found, each multiplied so that it dominates those after it."""
        total = np.zeros(self.scaled.dimension)
        for rows, b in reversed(self.layers):
            own, after = self.scaled.products(b)[rows], self.scaled.products(total)[rows]
            total = total + max(SLACK * float(np.max(-after / own, initial=0.0)), 1.0) * b
        return total


def largest_sum(goal: Floats, Z: Any, E: Any, clock: Clock) -> tuple[Floats, list[float]] | None:
    """The vector b in the unit box with Z b >= 0 and E b = 0 that has the largest product with a goal; and multiples of
    the rows of Z, and of E, that cancel the goal as far as possible.

    With fewer rows than coordinates it solves this program, else the dual, with one equation per coordinate of b, which
    minimises the rest of the goal. None if it was not solved in time.
    """
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    size, n_rows = len(goal), Z.shape[0] + E.shape[0]
    if n_rows < size:
        rows, box = csr_array(vstack([csr_array(Z), csr_array(E)])), np.ones(size)
        most = np.append(np.full(Z.shape[0], np.inf), np.zeros(E.shape[0]))
        found = solved_in_floats(-goal, rows, (np.zeros(n_rows), most), (-box, box), clock)
        if found is None or not found.is_optimal:
            return None
        return np.where(np.bincount(rows.indices, minlength=size) > 0, found.x, 0.0), found.y.tolist()
    table = hstack([csr_array(Z.T), csr_array(E.T), eye_array(size), -eye_array(size)], format="csr")
    costs = np.append(np.zeros(n_rows), np.ones(2 * size))
    least = np.zeros(len(costs))
    least[Z.shape[0] : n_rows] = -np.inf
    found = solved_in_floats(costs, table, (-goal, -goal), (least, np.full(len(costs), np.inf)), clock)
    if found is None or not found.is_optimal:
        return None
    is_used = np.diff(table.indptr) > 2  # a coordinate that is 0 in all rows may stay at 0
    return np.where(is_used, -found.y, 0.0), found.x[:n_rows].tolist()


# -- peeling ----------------------------------------------------------------------------------------------------------

# A word that occurs in texts of one label only is a weak separator: it has positive products with these texts, and 0
# with all others. They are beyond the face, and without them further words occur with one label only; so points are
# peeled off, layer by layer, until every remaining coordinate has both signs. Then the others are searched.


@dataclass(frozen=True, eq=False)
class Peeled:
    """The points that are left, and the points and the direction of every layer."""

    left: NDArray[np.int64]
    layers: list[tuple[NDArray[np.int64], Floats]]

    @classmethod
    def of(cls, Z: Any, is_equation: NDArray[np.bool_]) -> "Peeled":
        """Peel a CSR matrix of points, except by columns of equations."""
        rows = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
        is_fixed = np.bincount(Z.indices[is_equation[rows]], minlength=Z.shape[1]) > 0
        is_left = np.ones(Z.shape[0], dtype=bool)
        layers: list[tuple[NDArray[np.int64], Floats]] = []
        while True:
            used = is_left[rows]
            above = np.bincount(Z.indices[used & (Z.data > 0)], minlength=Z.shape[1]) > 0
            below = np.bincount(Z.indices[used & (Z.data < 0)], minlength=Z.shape[1]) > 0
            direction = np.where(is_fixed, 0.0, above.astype(np.float64) - below)
            peeled = np.unique(rows[used & (direction[Z.indices] != 0)])
            if len(peeled) == 0:
                return cls(np.flatnonzero(is_left), layers)
            is_left[peeled] = False
            layers.append((peeled, direction))

    def joined(self, Z: Any, inner: list[int]) -> list[int]:
        """A vector with positive products, up to rounding, with all points that were peeled off, and with the others
        the same signs as `inner` (perhaps 0)."""
        largest = max(map(abs, inner)) or 1
        vector = [int(v) for v in inner]
        floats = np.array([v / largest for v in vector])
        for peeled, direction in reversed(self.layers):
            few = Z[peeled]
            own, before = few @ direction, few @ floats
            need = float(np.max(-before / own, initial=0.0))
            times = 2.0 ** max(math.frexp(need * SLACK)[1], 0) if need > 0 else 1.0
            # In units of the largest entry, so that numbers stay whole.
            for place in np.flatnonzero(direction).tolist():
                vector[place] += int(times) * largest * int(direction[place])
            floats = floats + times * direction
        return vector


# -- balance ----------------------------------------------------------------------------------------------------------

# Where points overlap, the loss sum of log(1 + exp(-<z, b>)) of logistic regression has a minimum, and there the points
# add up to 0, each with a weight 1 / (1 + exp(<z, b>)) > 0: an obstruction of all of them. Newton's method finds it
# with products alone, in thousands of dimensions, where linear programs take long.


# The most rounds, the largest rest of the sum, and a margin that no point has at a minimum in floats.
ROUNDS = 60
NOTHING = 1e-5
FAR = 30.0
# Accuracy of a step: more is of no use, and the final residual is rounding, which no step removes.
ROUGH = 1e-3


def balanced(Z: Any, E: Any, clock: Clock) -> Floats | None:
    """Positive weights of the rows of Z, and some of those of E, that add up to nearly 0; None if there are none.

    Newton's method stops when the sum no longer decreases: the rest is rounding.
    """
    from scipy.sparse import csr_array, vstack
    from scipy.sparse.linalg import LinearOperator, cg

    A = vstack([csr_array(Z), csr_array(E), -csr_array(E)], format="csr")
    At = csr_array(A.T)
    squares = csr_array((At.data**2, At.indices, At.indptr), shape=At.shape)
    b, best, least = np.zeros(A.shape[1]), None, np.inf
    for _ in range(ROUNDS):
        margins = A @ b
        weights = 1.0 / (1.0 + np.exp(np.minimum(margins, 2 * FAR)))
        gradient = At @ weights
        size = float(np.abs(gradient).max(initial=0.0))
        if size >= least and least <= NOTHING:
            break
        if size < least:
            best, least = weights, size
        if margins.max() > FAR or clock.is_over():
            return None
        curvature = weights * (1.0 - weights)
        scales = 1.0 / np.maximum(squares @ curvature, 1e-300)
        hessian = LinearOperator((len(b), len(b)), matvec=lambda v, c=curvature: At @ (c * (A @ v)), dtype=np.float64)
        inverse = LinearOperator((len(b), len(b)), matvec=lambda v, s=scales: s * v, dtype=np.float64)
        with np.errstate(all="ignore"):
            step, _ = cg(hessian, gradient, rtol=ROUGH, maxiter=500, M=inverse)
        if not np.isfinite(step).all():
            break
        b = b + step * min(1.0, 4.0 / max(np.abs(A @ step).max(initial=0.0), 1e-300))
    if best is None or least > NOTHING:
        return None
    of_rows, up, down = np.split(best, [Z.shape[0], Z.shape[0] + E.shape[0]])
    return np.concatenate([of_rows, up - down])
