"""The kernel perceptron's hot loops: a block of examples, one after the other, given all their kernel values.

A block's scores under the weights before it, and the kernel matrix of the block with itself, are all that the online
algorithm needs: on a mistake, one row of that matrix corrects the scores of later examples. A loop stops where a
score is so close to zero that rounding could have decided its sign; its exact value is computed elsewhere.

All arrays have one row per class and one column per example.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import distance, dot_in_column_order, load, squares_in_column_order, unload
from novikoff.engine.jit import jit, part
from novikoff.engine.rule import is_added

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

# Why a loop returned.
DONE, DOUBT, RULED_OUT, FULL = 0, 1, 2, 3


class Pass(NamedTuple):
    """What is known of a block beforehand: the rule for ties, the threshold at or below which an example is added
    (zeros, or the lead times R^2 so far), a bound on the rounding error of each class's scores, and the margin to rule
    out (0: none) against ||w||^2 + slack. With a budget, `is_new` marks the examples that would be new support rows,
    and `room[0]` is how many more of them are allowed; without one, none is marked."""

    ties_are_mistakes: bool
    thresholds: Floats
    doubts: Floats
    min_margin: float
    slack: float
    is_new: Truths
    room: Numbers


# -- products of rows, added up in column order -----------------------------------------------------------------------


def _width(X: Any) -> float:
    """Return how many numbers a row has, on average."""
    return X.data.size / max(1, X.indptr.size - 1) if hasattr(X, "indptr") else X.shape[1]


@jit
def squared_lengths(X: Any, constant: float, squares: Floats) -> None:
    """Fill `squares` with <z, z> for every point."""
    for i in range(squares.size):
        squares[i] = squares_in_column_order(X, np.uint64(i)) + constant * constant


@jit(work=lambda left, right, w, products: products.size * _width(left))
def fill_products(left: Any, right: Any, w: Floats, products: Floats) -> None:
    """Compute the product of every left row with every right row; `w` is scratch for one row, all zeros."""
    for k in range(products.shape[1]):
        load(right, np.uint64(k), w)
        for i in range(products.shape[0]):
            products[i, k] = dot_in_column_order(left, np.uint64(i), w)
        unload(right, np.uint64(k), w)


@jit(work=lambda left, right, distances: distances.size * _width(left))
def fill_distances(left: Any, right: Any, distances: Floats) -> None:
    """Compute the Manhattan distance of every left row to every right row."""
    for k in range(distances.shape[1]):
        for i in range(distances.shape[0]):
            distances[i, k] = distance(left, np.uint64(i), right, np.uint64(k))


# -- the perceptron, in a block ---------------------------------------------------------------------------------------


part(is_added)


@part
def is_doubtful(label: float, score: float, threshold: float, doubt: float) -> bool:
    """Whether rounding could decide if an example is added, or if it is a mistake."""
    return abs(score) <= doubt or abs(label * score - threshold) <= abs(label) * doubt


@jit(work=lambda gram, labels, *_: gram.size * len(labels))
def visit_block(
    gram: Floats,
    labels: Floats,
    scores: Floats,
    start: int,
    certain: bool,
    along: Pass,
    updates: Numbers,
    squares: Floats,
    added: Floats,
    narrow: Truths,
) -> tuple[int, int]:
    """Visit the examples from `start` on, every class separately; on a mistake, add the example y times.

    A label y is a sign, times the weight of the example's class if classes have weights. `scores` are those under the
    weights so far, and are kept up to date; `squares` is ||w||^2, which an update changes by 2 y s + y^2 K(x, x);
    `added` receives the y of every update, `narrow` whether it was right. `certain` means that the scores of the first
    example are exact. Returns the example at which it stopped, and why: with a full budget, before one to add."""
    for i in range(start, labels.shape[1]):
        if i > start or not certain:
            for c in range(labels.shape[0]):
                threshold, doubt = along.thresholds[i], along.doubts[c]
                if updates[c] > 0 and is_doubtful(labels[c, i], scores[c, i], threshold, doubt):
                    return i, DOUBT
        if along.is_new[i]:
            made = 0
            for c in range(labels.shape[0]):
                y, ahead = labels[c, i], labels[c, i] * scores[c, i]
                made += is_added(ahead, along.thresholds[i], along.ties_are_mistakes, y > 0.0)
            if made > 0:
                if along.room[0] == 0:
                    return i, FULL
                along.room[0] -= 1
        for c in range(labels.shape[0]):
            y, s = labels[c, i], scores[c, i]
            if is_added(y * s, along.thresholds[i], along.ties_are_mistakes, y > 0.0):
                added[c, i] = y
                narrow[c, i] = y * s > 0.0
                updates[c] += 1
                squares[c] += 2.0 * y * s + y * y * gram[i, i]
                for j in range(i + 1, labels.shape[1]):
                    scores[c, j] += y * gram[i, j]
        if along.min_margin > 0.0:
            for c in range(labels.shape[0]):
                if updates[c] > 0 and squares[c] + along.slack < (along.min_margin * updates[c]) ** 2:
                    return i + 1, RULED_OUT
    return labels.shape[1], DONE


# -- the vote ---------------------------------------------------------------------------------------------------------


@jit(work=lambda products, which, signs, lives, absolute, relative, scores, *_: which.size * scores.size)
def fill_votes(
    products: Floats,
    which: Numbers,
    signs: Floats,
    lives: Floats,
    absolute: float,
    relative: float,
    scores: Floats,
    sizes: Floats,
    votes: Floats,
    unsure: Any,
) -> None:
    """Let the zero function, and then the function after each mistake, vote on a block, weighted by its lifetime.

    The k-th mistake changes the score of every example by one row of `products`, `signs[k]` times; `scores` and
    `sizes`, which adds up absolute values, are zeros initially. A score whose error bound reaches its absolute value
    makes its row `unsure`.
    """
    weight = 0.0
    for i in range(votes.size):
        votes[i] = lives[0]  # sign(0) = +1
    for k in range(which.size):
        row, sign, life = which[k], signs[k], lives[k + 1]
        weight += abs(sign)
        doubt = absolute * weight
        for i in range(votes.size):
            product = products[row, i]
            scores[i] += sign * product
            sizes[i] += abs(sign * product)
            votes[i] += life if scores[i] >= 0.0 else -life
            unsure[i] |= abs(scores[i]) <= doubt + relative * sizes[i]
