"""A weak separator of many classes for who cannot look for better ones: a column and a threshold.

If no number of a column is larger in a class than in any other class, then the threshold between them tells that class
from all others, weakly: minus the column, plus the threshold, is its score, and 0 is that of the others. In pictures,
most columns at the edge will do: they are 0 in some class, and never negative.
"""

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Floats
from novikoff.prove.separable.proofs import as_whole_floats


def one_column(points: KeslerPoints) -> list[int] | None:
    """A vector that no point is on the wrong side of, nor all points on; None if no column gives one.

    Of all that do it is the one in which the class lies farthest from the others, on average: if these are a sample,
    it is the likeliest to be one for all points.

    >>> points = KeslerPoints.of_places(np.array([[0.0], [2.0], [3.0]]), np.array([0, 1, 2]), 3, True)
    >>> one_column(points)
    [-1, 0, 0, 0, 0, 0, 0]
    """
    best, found = -1.0, None
    lows, highs, means = _by_class(points)
    for own in np.unique(points.labels).tolist():
        others = np.arange(points.n_classes) != own
        low, high = lows[others].min(axis=0), highs[others].max(axis=0)
        apart = np.abs(np.nanmean(means[others], axis=0) - means[own])
        # The same column, and its negative.
        for sign, ends in ((-1.0, (lows[own], highs[own], low, high)), (1.0, (-highs[own], -lows[own], -high, -low))):
            fits, thresholds = _thresholds(*ends, has_bias=points.bias != 0.0)
            column = int(np.argmax(np.where(fits, apart, -1.0)))
            if fits[column] and apart[column] > best:
                W = np.zeros((points.n_classes, points.width))
                W[own, column], W[own, -1] = sign, thresholds[column] / (points.bias or 1.0)
                best, found = float(apart[column]), [*as_whole_floats(W.ravel()), 0]
    return found


def _thresholds(
    lowest: Floats, highest: Floats, low: Floats, high: Floats, has_bias: bool
) -> tuple[NDArray[np.bool_], Floats]:
    """In which columns a class, from lowest to highest, is not above the others, from low to high, and where the
    threshold is: at 0 if that will do."""
    at_zero = (highest <= 0) & (low >= 0)
    thresholds = np.where(at_zero, 0.0, highest)
    fits = (highest <= low) if has_bias else at_zero
    return fits & ((lowest < thresholds) | (high > thresholds)), thresholds


def _by_class(points: KeslerPoints) -> tuple[Floats, Floats, Floats]:
    """The smallest, the largest and the mean number of every class in every column."""
    table = np.full((points.n_classes, points.width - 1, 3), [np.inf, -np.inf, np.nan]).transpose(2, 0, 1)
    for own in np.unique(points.labels).tolist():
        rows = points.rows[points.labels == own]
        low, high = rows.min(axis=0), rows.max(axis=0)
        is_sparse = hasattr(rows, "tocsr")
        table[0, own], table[1, own] = (low.toarray(), high.toarray()) if is_sparse else (low, high)
        table[2, own] = rows.mean(axis=0, dtype=np.float64)
    return table[0], table[1], table[2]
