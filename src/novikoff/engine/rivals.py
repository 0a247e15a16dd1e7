"""The hot loop behind the margin of many classes: coordinate descent on Kesler's points, without writing them out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import add, dot_in_column_order
from novikoff.engine.jit import jit

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@jit
def descend_against_rivals(
    X: Any, labels: Numbers, constant: float, squares: Floats, order: Numbers, alpha: Floats, W: Floats
) -> tuple[float, float]:
    """As `hull.descend`, for rows against every other class: x in the place of its own, -x in that of the rival.

    `alpha` has a line a row, and W a line a class; `squares` are the squared lengths of the rows. All points of a row
    share its products with W, so a row is read once for all its rivals.
    """
    n_classes, bias = W.shape[0], W.shape[1] - 1
    scores, amounts = np.empty(n_classes), np.empty(n_classes)
    shortfall, excess = 0.0, 0.0
    for i in order:
        if squares[i] == 0.0:
            continue
        row, own = np.uint64(i), labels[i]
        for k in range(n_classes):
            scores[k] = dot_in_column_order(X, row, W[k]) + constant * W[k, bias]
            amounts[k] = 0.0
        for place in range(n_classes - 1):
            rival = place + (place >= own)
            gap = 1.0 - (scores[own] - scores[rival])
            if gap > 0.0:
                shortfall = max(shortfall, gap)
            elif alpha[i, place] == 0.0:
                continue
            else:
                excess = max(excess, -gap)
            new = max(0.0, alpha[i, place] + gap / (2.0 * squares[i]))
            amount = new - alpha[i, place]
            alpha[i, place] = new
            amounts[own] += amount
            amounts[rival] -= amount
            scores[own] += amount * squares[i]
            scores[rival] -= amount * squares[i]
        for k in range(n_classes):
            if amounts[k] != 0.0:
                add(X, row, amounts[k], W[k])
                W[k, bias] += amounts[k] * constant
    return shortfall, excess
