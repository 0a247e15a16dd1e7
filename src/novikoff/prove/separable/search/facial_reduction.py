"""Which points are on the face and which beyond it, as floats see it, by facial reduction.

Points that cancel each other lie on every weak separator, so the question goes on in the orthogonal complement of what
they span. There, many that were different are parallel, and two that point in opposite directions cancel each other
again; so whole groups leave at a time. When nothing is parallel any more, the nearest point of the hull decides: either
its carriers cancel, or it separates all that are left. Nothing of it is believed before it was tried on all points, but
linear programs need not begin from nothing.

Points are taken as linear programs want them: each once, of about the same size, and those that cancel each other set
apart. Tables have many equal rows, and equal rows with opposite labels lie on every weak separator. Which rows are
equal is told by 64-bit keys: two different rows may have the same one, in theory, and then one of them is forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import exact_sum, signs_of_products
from novikoff.prove.separable.proofs import spanning
from novikoff.prove.separable.search.minimum_norm import nearest_point

Numbers = NDArray[np.int64]


class ScaledRows(Protocol):
    """Points divided by powers of two, coordinates and rows, until their entries are about 1, and what is exact."""

    @property
    def n_points(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def for_spans(self) -> Points: ...

    def products(self, b: Floats) -> Floats: ...

    def written(self, which: Numbers) -> Any: ...

    def whole(self, which: Numbers) -> WholeMatrix: ...

    def unit(self, which: Numbers) -> int: ...

    def distinct(self, which: Numbers) -> "Distinct": ...

    def part(self, which: Numbers) -> "ScaledRows": ...

    def unscaled_weights(self, which: Numbers, weights: Sequence[Fraction]) -> list[int]: ...

    def unscaled(self, vector: Sequence[int]) -> list[int]: ...

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]: ...

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool: ...


@dataclass(frozen=True, eq=False)
class Scaled:
    """Points whose coordinates and which themselves are divided by powers of two until their entries are about 1."""

    points: Points
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]

    @classmethod
    def of(cls, points: Points) -> "Scaled":
        columns = np.frexp(points.largest_by_column())[1]
        scales = np.ldexp(1.0, np.minimum(-columns, 1000))  # a column of the smallest floats stays small
        return cls(points, np.frexp(points.largest_by_row(scales))[1], columns)

    @property
    def n_points(self) -> int:
        return self.points.n_points

    @property
    def dimension(self) -> int:
        return self.points.dimension

    @property
    def for_spans(self) -> Points:
        return self.points

    @property
    def is_sparse(self) -> bool:
        """And may be written out."""
        return self.points.is_sparse and not self.points.is_by_rivals

    def products(self, b: Floats) -> Floats:
        """With every point."""
        return np.ldexp(self.points.products(np.ldexp(b, -self.columns)), -self.rows)

    def written(self, which: Numbers) -> Any:
        """Some points: a matrix, or a CSR of those that are sparse."""
        part = self.points.written_out(which)
        if not part.is_sparse:
            return np.ldexp(part.take(np.arange(len(which))), -self.columns - self.rows[which, None])
        matrix = part.signed()
        matrix.data = np.ldexp(matrix.data, -self.columns[matrix.indices])
        matrix.data = np.ldexp(matrix.data, -np.repeat(self.rows[which], np.diff(matrix.indptr)))
        return matrix

    def whole(self, which: Numbers) -> WholeMatrix:
        """The same in whole multiples of a power of two: of the points themselves, as scaled floats may underflow."""
        entries, scales, few = self._entries(which)
        numbers = as_integers(entries, scales + self.unit(which))
        if few is None:
            return WholeMatrix.of_table(numbers.tolist(), self.dimension)
        return WholeMatrix.of(numbers, few.indices, few.indptr, self.dimension)

    def unit(self, which: Numbers) -> int:
        """The exponent of that power of two."""
        return lowest_exponent(*self._entries(which)[:2])

    def _entries(self, which: Numbers) -> tuple[Floats, NDArray[np.int64], Any]:
        """The entries of some points, and the exponents that they are divided by; and the CSR that has them, if any."""
        part = self.points.written_out(which)
        if not part.is_sparse:
            table = part.take(np.arange(len(which)))
            return table, (self.columns + self.rows[which, None]).astype(np.int64), None
        few = part.signed()
        few.eliminate_zeros()
        scales = self.columns[few.indices] + np.repeat(self.rows[which], np.diff(few.indptr))
        return few.data, scales.astype(np.int64), few

    def distinct(self, which: Numbers) -> "Distinct":
        """Which of some points are different."""
        found = Distinct.of(self.points.part(which))
        return Distinct(which[found.single], which[found.opposites], which[found.opposed])

    def part(self, which: Numbers) -> "Scaled":
        return Scaled(self.points.part(which), self.rows[which], self.columns)

    def unscaled_weights(self, which: Numbers, weights: Sequence[Fraction]) -> list[int]:
        """Weights of some points as whole weights of the points as they are."""
        return as_whole([w * power_of_two(-int(e)) for w, e in zip(weights, self.rows[which], strict=True)])

    def unscaled(self, vector: Sequence[int]) -> list[int]:
        """A vector for the points as they are."""
        return as_whole([value * power_of_two(-int(e)) for value, e in zip(vector, self.columns, strict=True)])

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        """The exact sign of the product with every point."""
        return signs_of_products(self.points, self.unscaled(vector))

    def add_up_to_nothing(self, which: Numbers, weights: list[int]) -> bool:
        """Whether some points as they are, each times a whole number, do so."""
        return not any(exact_sum(self.points, which, weights)[0])


@dataclass(frozen=True, eq=False)
class Distinct:
    """One of all points that are equal; `opposites` are equal to the negatives of others, `opposed`, in turn."""

    single: Numbers
    opposites: Numbers
    opposed: Numbers

    @classmethod
    def of(cls, points: Points) -> "Distinct":
        keys, signs = points.keys()
        unique, place = np.unique(keys, return_inverse=True)
        positive, negative = np.full((2, len(unique)), -1, dtype=np.int64)
        numbers = np.arange(len(keys))[::-1]  # of equal ones the first, which is written last
        for target, chosen in ((positive, signs >= 0), (negative, signs < 0)):
            some = numbers[chosen[::-1]]
            target[place[some]] = some
        both = (positive >= 0) & (negative >= 0)
        order = np.argsort(positive[both])
        single = np.sort(np.where(positive >= 0, positive, negative)[~both])
        return cls(single, positive[both][order], negative[both][order])


def dense(matrix: Any) -> Floats:
    """A matrix or CSR, written out."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "tocsr") else matrix, dtype=np.float64)


# -- reduction --------------------------------------------------------------------------------------------------------


# Directions are equal if all coordinates of their unit vectors are, to so many bits.
BITS = 24
# A hull of unit vectors that is nearer than this to the origin contains it, one that is farther does not; in between,
# nobody knows.
NEAR, FAR = 1e-12, 1e-11
# A separator need not have the largest margin.
TOLERANCE = 0.2
# Coordinates that are written out at a time.
MOST_FLOATS = 20_000_000
# In so many dimensions, sparse points are written out.
MOST_DENSE = 300
# In more dimensions, no basis is written out.
MOST_WIDE = 1_000
# Epochs after which descent gives up, if nothing separates.
EPOCHS = 50
# What rounding leaves of a 0.
NOTHING = 1e-12


class Likely(NamedTuple):
    """Points that cancel each other but for the fixed ones, those beyond, and a vector that has them on its side."""

    seen: Numbers
    beyond: Numbers
    b: Floats


def reduced(scaled: ScaledRows, candidates: Numbers, fixed: Numbers, known: Numbers, clock: Clock) -> Likely | None:
    """The face of some points, those of an obstruction that is known, and others that are fixed on it; None if floats
    cannot tell."""
    points, seen, spanned = scaled.for_spans, known, np.concatenate([fixed, known])
    while not clock.is_over():
        span = spanning(points, spanned, clock)
        if span is None:
            return None
        candidates = candidates[span.are_outside(points)[candidates]]
        if len(candidates) == 0:
            return Likely(seen, candidates, np.zeros(scaled.dimension))
        clock.tell(f"looking beyond an obstruction, {scaled.dimension - len(span.rows):,} dimensions left")
        basis = _complement(scaled.written(span.rows))
        if basis is None or (isinstance(basis, np.ndarray) and len(candidates) * basis.shape[1] > MOST_FLOATS):
            return None
        unit = _directions(scaled.written(candidates) @ basis)
        if not np.isfinite(unit.data if hasattr(unit, "tocsr") else unit).all():  # some are lost in rounding
            return None
        distinct = Distinct.of(_as_points(_rounded(unit)))
        if len(distinct.opposites):
            new = np.concatenate([candidates[distinct.opposites], candidates[distinct.opposed]])
        else:
            some = _as_points(unit[distinct.single])
            nearest = nearest_point(some, tolerance=TOLERANCE, clock=clock, patience=EPOCHS)
            if nearest.lower > FAR:
                return Likely(seen, candidates, basis @ nearest.separator[:-1])
            if nearest.upper >= NEAR:
                return None
            new = candidates[distinct.single[nearest.rows]]
        seen, spanned = np.concatenate([seen, new]), np.concatenate([span.rows, new])
    return None


def _complement(rows: Any) -> Any:
    """A basis, as columns, of what is orthogonal to some independent rows; None if it would have too many numbers.

    In many dimensions, few sparse rows are solved for some of their columns, so that the basis is sparse, too.
    """
    from scipy.linalg import qr, solve
    from scipy.sparse import coo_array

    table, dimension = dense(rows), rows.shape[1]
    is_small = dimension - len(table) <= MOST_DENSE or not hasattr(rows, "tocsr")
    if is_small or 4 * len(table) > dimension:
        if dimension > MOST_WIDE:
            return None
        return qr(table.T)[0][:, len(table) :] if len(table) else np.eye(dimension)
    pivots = qr(table, mode="r", pivoting=True)[1]
    solved, free = pivots[: len(table)], np.sort(pivots[len(table) :])
    others = -solve(table[:, solved], table[:, free])
    places, columns = np.nonzero(np.abs(others) > NOTHING)
    numbers = np.concatenate([np.ones(len(free)), others[places, columns]])
    where = (np.concatenate([free, solved[places]]), np.concatenate([np.arange(len(free)), columns]))
    return coo_array((numbers, where), shape=(dimension, len(free))).tocsr()


def _directions(rows: Any) -> Any:
    """Rows of length 1; a matrix of them, or a CSR."""
    with np.errstate(all="ignore"):
        if not hasattr(rows, "tocsr"):
            return rows / np.linalg.norm(rows, axis=1)[:, None]
        lengths = np.sqrt(np.asarray((rows * rows).sum(axis=1)).ravel())
        rows.data /= np.repeat(lengths, np.diff(rows.indptr))
        return rows


def _rounded(unit: Any) -> Any:
    """Directions in whole numbers, so that equal ones are equal."""
    if not hasattr(unit, "tocsr"):
        return np.rint(np.ldexp(unit, BITS))
    rounded = unit.copy()
    rounded.data = np.rint(np.ldexp(unit.data, BITS))
    rounded.eliminate_zeros()
    return rounded


def _as_points(rows: Any) -> Points:
    return Points(rows, np.ones(rows.shape[0], dtype=np.int8), 0.0)
