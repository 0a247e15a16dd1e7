"""Coordinate descent on the multipliers of the hard-margin problem: also finds the shortest vector in a hull.

A step costs O(entries of a row), so it is for points that are too many or too wide for `engine/hull.py`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import add, dot_in_column_order
from novikoff.engine.jit import jit

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@jit(work=lambda X, signs, constant, squares, order, alpha, w: order.size * w.size)
def descend(
    X: Any, signs: NDArray[np.int8], constant: float, squares: Floats, order: Numbers, alpha: Floats, w: Floats
) -> tuple[float, float]:
    """Run one epoch of coordinate descent on min ||w||^2 / 2 with <z, w> >= 1 for every point; w = sum of alpha z.

    Every step makes one point's product exactly 1, or its multiplier 0. Returns the largest shortfall 1 - <z, w> found
    in a step, and the largest excess of a point with a positive multiplier.
    """
    bias = w.size - 1
    shortfall, excess = 0.0, 0.0
    for i in order:
        if squares[i] == 0.0:
            continue
        row = np.uint64(i)
        gap = 1.0 - signs[i] * (dot_in_column_order(X, row, w) + constant * w[bias])
        if gap > 0.0:
            shortfall = max(shortfall, gap)
        elif alpha[i] == 0.0:
            continue
        else:
            excess = max(excess, -gap)
        new = max(0.0, alpha[i] + gap / squares[i])
        amount = signs[i] * (new - alpha[i])
        alpha[i] = new
        if amount != 0.0:
            add(X, row, amount, w)
            w[bias] += amount * constant
    return shortfall, excess


# -- many classes: Kesler's points, without writing them out ---------------------------------------------------------


@jit(work=lambda X, labels, constant, squares, order, alpha, W: order.size * W.size, allocates=True)
def descend_against_rivals(
    X: Any, labels: Numbers, constant: float, squares: Floats, order: Numbers, alpha: Floats, W: Floats
) -> tuple[float, float]:
    """As `descend`, for rows against every rival class: x in the block of its own class, -x in that of the rival.

    `alpha` has one line per row, and W one per class; `squares` are the squared lengths of the rows. All points of a
    row share its products with W, so a row is read once for all its rivals.
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
