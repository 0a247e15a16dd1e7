"""Which points are on the face and which beyond it, as floats see it, by facial reduction.

Points that cancel each other lie on every weak separator, so the question goes on in the orthogonal complement of what
they span. There, many that were different are parallel, and two that point in opposite directions cancel each other
again; so whole groups leave at a time. When nothing is parallel any more, the nearest point of the hull decides: either
its carriers cancel, or it separates all that are left. Nothing of it is believed, but linear programs need not begin
from nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.search.distinct import Distinct, Numbers, ScaledRows, dense
from novikoff.prove.separable.search.hull import nearest_point
from novikoff.prove.separable.spanning import spanning

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
