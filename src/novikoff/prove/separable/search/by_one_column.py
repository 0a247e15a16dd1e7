"""A weak separator of many classes for who cannot look for better ones: a column and a threshold.

If no number of a column is larger in a class than in any other class, then the threshold between them tells that class
from all others, weakly: minus the column, plus the threshold, is its score, and 0 is that of the others. In pictures,
most columns at the edge will do: they are 0 in some class, and never negative.
"""

import numpy as np

from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Floats
from novikoff.prove.separable.proofs import as_whole_floats


def one_column(points: KeslerPoints) -> list[int] | None:
    """A vector that no point is on the wrong side of, nor all points on; None if no column gives one.

    >>> points = KeslerPoints.of_places(np.array([[0.0], [2.0], [3.0]]), np.array([0, 1, 2]), 3, True)
    >>> one_column(points)
    [-1, 0, 0, 0, 0, 0, 0]
    """
    lows, highs = _ranges(points)
    for own in range(points.n_classes):
        low, high = np.delete(lows, own, axis=0).min(axis=0), np.delete(highs, own, axis=0).max(axis=0)
        # The same column, and its negative.
        for sign, ends in ((-1.0, (lows[own], highs[own], low, high)), (1.0, (-highs[own], -lows[own], -high, -low))):
            found = _threshold(*ends, has_bias=points.bias != 0.0)
            if found is not None:
                column, threshold = found
                W = np.zeros((points.n_classes, points.width))
                W[own, column], W[own, -1] = sign, threshold / (points.bias or 1.0)
                return [*as_whole_floats(W.ravel()), 0]
    return None


def _threshold(lowest: Floats, highest: Floats, low: Floats, high: Floats, has_bias: bool) -> tuple[int, float] | None:
    """The first column in which a class, from lowest to highest, is not above the others, from low to high, and where
    its threshold is: at 0 if that will do."""
    at_zero = (highest <= 0) & (low >= 0)
    thresholds = np.where(at_zero, 0.0, highest)
    fits = (highest <= low) if has_bias else at_zero
    columns = np.flatnonzero(fits & ((lowest < thresholds) | (high > thresholds)))
    return (int(columns[0]), float(thresholds[columns[0]])) if len(columns) else None


def _ranges(points: KeslerPoints) -> tuple[Floats, Floats]:
    """The smallest and the largest number of every class in every column."""
    lows, highs = np.full((2, points.n_classes, points.width - 1), [[[np.inf]], [[-np.inf]]])
    for own in np.unique(points.labels).tolist():
        rows = points.rows[points.labels == own]
        low, high = rows.min(axis=0), rows.max(axis=0)
        lows[own], highs[own] = (low.toarray(), high.toarray()) if hasattr(rows, "tocsr") else (low, high)
    return lows, highs
