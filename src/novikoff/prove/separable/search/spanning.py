"""What points span, as far as floats can tell, and which of them are enough."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.clock import Clock
from novikoff.prove.exact.modular import STEPS_PER_SECOND
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import whole_points
from novikoff.prove.separable.search.distinct import Numbers, Scaled, dense

# What is orthogonal to others but for this share of the longest lies in their span as far as floats can tell.
DEPENDENT = 1e-9
# So many random vectors tell whether a point lies in a span.
DRAWN = 2
# So many points, times the dimensions that are not spanned yet, are looked at first.
FEW = 2


@dataclass(frozen=True, eq=False)
class Span:
    """The vectors that are orthogonal to the columns of `complement`, which are orthonormal."""

    scaled: Scaled
    complement: Floats

    @property
    def is_everything(self) -> bool:
        return self.complement.shape[1] == 0

    def are_outside(self, which: Numbers) -> NDArray[np.bool_]:
        """Which of some points it does not contain."""
        if self.is_everything or len(which) == 0:
            return np.zeros(len(which), dtype=bool)
        return self._rests(which) > 10 * DEPENDENT

    def _rests(self, which: Numbers) -> Floats:
        """About how far the points are from it: their products with random vectors of the complement."""
        random = np.random.default_rng(0).standard_normal((self.complement.shape[1], DRAWN))
        drawn = [np.abs(self.scaled.products(w)[which]) for w in (self.complement @ random).T]
        return np.asarray(np.max(drawn, axis=0))

    def with_points(self, which: Numbers, first: Numbers | None = None) -> tuple[Numbers, "Span"]:
        """Some of the points that span, with this, what all of them do, and that span.

        From a few at first, among the `first` if there are any; those that these do not span join them, until there
        are none.
        """
        if self.is_everything or len(which) == 0:
            return which[:0], self
        few = first if first is not None and len(first) else which
        few = few[np.unique(np.linspace(0, len(few) - 1, FEW * self.complement.shape[1]).astype(np.int64))]
        while True:
            basis, span = self._spanned(few)
            if span.is_everything:
                return basis, span
            rests = span._rests(which)
            rests[np.searchsorted(which, basis)] = 0.0
            new = np.flatnonzero(rests > 10 * DEPENDENT)
            most = FEW * span.complement.shape[1]
            more = np.union1d(basis, which[new[np.argsort(-rests[new])[:most]]])
            if len(new) == 0 or np.array_equal(more, few):
                return basis, span
            few = more

    def _spanned(self, few: Numbers) -> tuple[Numbers, "Span"]:
        from scipy.linalg import qr

        inside = dense(self.scaled.written(few) @ self.complement)
        basis = np.sort(few[_pivots(inside)])
        Q, _ = qr(inside[np.searchsorted(few, basis)].T)
        return basis, Span(self.scaled, self.complement @ Q[:, len(basis) :])


def whole_space(scaled: Scaled) -> Span:
    """What no point spans: only 0."""
    return Span(scaled, np.eye(scaled.dimension)[:, scaled.points.largest_by_column() > 0])


def independent_columns(rows: Floats) -> Numbers:
    """As many columns of a matrix as its rank that are independent."""
    return np.sort(_pivots(rows.T))


def _pivots(rows: Floats) -> Numbers:
    """Of rows whose entries were about 1, some that are a basis of what all of them span."""
    from scipy.linalg import qr

    if 0 in rows.shape:
        return np.zeros(0, dtype=np.int64)
    R, pivots = qr(rows.T, mode="r", pivoting=True)
    lengths = np.abs(np.diagonal(R))
    return np.asarray(pivots[: int((lengths > DEPENDENT * max(lengths.max(initial=0.0), 1.0)).sum())], dtype=np.int64)


# The arithmetic of whole arrays modulo this prime needs no more than 64 bits.
PRIME = 2**31 - 1


def likely_outside(points: Points, rows: Numbers, clock: Clock) -> NDArray[np.bool_] | None:
    """Which points do not lie in the span of some, given as rows: certain if so, and nearly certain if not.

    They are multiplied by a random vector that is orthogonal to the rows modulo a prime. None if there is no time.
    """
    normal = _random_normal(points, rows, clock)
    if normal is None:
        return None
    return points.products_modulo(normal, PRIME) != 0 if normal.any() else np.zeros(points.n_points, dtype=bool)


def _random_normal(points: Points, rows: Numbers, clock: Clock) -> NDArray[np.int64] | None:
    from flint import nmod_mat

    if 2 * len(rows) ** 2 * points.dimension / STEPS_PER_SECOND > clock.left():
        return None
    exact, _ = whole_points(points, rows)
    matrix = nmod_mat(len(exact), points.dimension, [value % PRIME for row in exact for value in row], PRIME)
    reduced, rank = matrix.rref()
    table = np.array([[int(v) for v in row] for row in reduced.tolist()[:rank]], dtype=np.int64)
    table = table.reshape(rank, points.dimension)
    normal = np.random.default_rng(0).integers(0, PRIME, points.dimension)
    pivots = (table != 0).argmax(axis=1)
    normal[pivots] = 0
    normal[pivots] = -(table * normal % PRIME).sum(axis=1) % PRIME
    return normal
