"""Scores of rows, dense or CSR, that decide: a score is the float64 sum of a row's products in column order.

The fastest order is used where its rounding cannot decide; where it could, the row is scored again in column order, in
whatever order its entries are stored. So the same values make the same decisions in every layout, bit for bit.
"""

import numpy as np

from novikoff.engine.access import REORDERED, careful_squares, dot, dot_in_column_order, is_whole
from novikoff.engine.jit import by_layout, jit, part
from novikoff.engine.rounding import OUTWARDS, WHOLE_UP_TO

# Below this, products may have underflowed, and the relative error bound says nothing.
TINY = 1e-290


@part
def is_ascending(X, row):
    """Whether the columns of a sparse row ascend."""
    for j in range(X.indptr[row] + np.uint64(1), X.indptr[row + np.uint64(1)]):
        if X.indices[j] < X.indices[j - np.uint64(1)]:
            return False
    return True


@part
def column_order(X, row):
    """The places of a sparse row's entries, by ascending columns (Shell's sort). Few rows need it."""
    first, last = np.int64(X.indptr[row]), np.int64(X.indptr[row + np.uint64(1)])
    size = last - first
    places = np.empty(size, dtype=np.int64)
    for t in range(size):
        places[t] = first + t
    gap = size // 2
    while gap > 0:
        for t in range(gap, size):
            place, s = places[t], np.int64(t)
            while s >= gap and X.indices[places[s - gap]] > X.indices[place]:
                places[s] = places[s - gap]
                s -= gap
            places[s] = place
        gap //= 2
    return places


def _sparse_deciding_dot(X, row, w):
    if is_ascending(X, row):
        return dot_in_column_order(X, row, w)
    total = 0.0
    for j in column_order(X, row):
        total += X.data[j] * w[X.indices[j]]
    return total


deciding_dot = by_layout(
    lambda X, row, w: dot_in_column_order(X, row, w),
    _sparse_deciding_dot,
    "<x, w>, added up from the first column to the last, in whatever order they are stored.",
)


def _sparse_deciding_squares(X, row):
    if is_ascending(X, row):
        return careful_squares(X, row)
    total = rest = 0.0
    for j in column_order(X, row):
        square = np.float64(X.data[j]) * X.data[j]
        new_total = total + square
        step = new_total - total
        rest += (total - (new_total - step)) + (square - step)
        total = new_total
    return total + rest


deciding_squares = by_layout(
    lambda X, row: careful_squares(X, row),
    _sparse_deciding_squares,
    "<x, x>, added up carefully from the first column to the last, in whatever order they are stored.",
)


@part
def folded_square(X, row, constant):
    """The squared length of a folded row, never below the exact value, which it is for whole numbers.

    R^2 is the largest of these: the same float64 number in every layout, so that a lead is the same, too.
    """
    square = deciding_squares(X, row) + constant
    return square if square < WHOLE_UP_TO and is_whole(X, row) else square * OUTWARDS


@jit
def fill_scores(X, w, constant, scores):
    """Score every row, in column order."""
    bias = w.size - 1
    for i in range(scores.size):
        scores[i] = deciding_dot(X, np.uint64(i), w) + constant * w[bias]


def _dense_dot_and_size(X, row, w):
    total = size = 0.0
    for j in range(X.shape[1]):
        step = X[row, j] * w[j]
        total += step
        size += abs(step)
    return total, size


def _sparse_dot_and_size(X, row, w):
    total = size = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        step = X.data[j] * w[X.indices[j]]
        total += step
        size += abs(step)
    return total, size


dot_and_size = by_layout(
    _dense_dot_and_size,
    _sparse_dot_and_size,
    "<x, w>, in the fastest order, and the sum of what was added up, without signs.",
    fastmath=REORDERED,
)


@jit
def fill_signs(X, w, constant, roundoff, scores):
    """Score every row so that the signs are those of `fill_scores`; `roundoff` bounds the relative error of a sum.

    Returns in how many rows the order of the sum could have decided.
    """
    bias, doubtful = constant * w[w.size - 1], 0
    for i in range(scores.size):
        row = np.uint64(i)
        score, size = dot_and_size(X, row, w)
        score += bias
        if size > 0.0 and abs(score) <= roundoff * (size + abs(bias)) + TINY:
            score = deciding_dot(X, row, w) + bias
            doubtful += 1
        scores[i] = score
    return doubtful


# -- more than two classes: one weight vector a class, prediction by argmax -------------------------------------------


# Dense rows meet one class after the other, and W is classes x columns; sparse rows meet all classes at once, entry by
# entry, and W is columns x classes.


count_classes = by_layout(
    lambda X, W: W.shape[0], lambda X, W: W.shape[1], "How many classes W has, in the layout that goes with X."
)


def _dense_class_scores(X, row, W, constant, scores):
    for label in range(scores.size):
        w = W[label]
        scores[label] = dot(X, row, w) + constant * w[w.size - 1]


def _dense_class_scores_in_column_order(X, row, W, constant, scores):
    for label in range(scores.size):
        w = W[label]
        scores[label] = dot_in_column_order(X, row, w) + constant * w[w.size - 1]


def _sparse_class_scores(X, row, W, constant, scores):
    for label in range(scores.size):
        scores[label] = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        column, x = X.indices[j], X.data[j]
        for label in range(scores.size):
            scores[label] += x * W[column, label]
    for label in range(scores.size):
        scores[label] += constant * W[W.shape[0] - 1, label]


def _sparse_class_scores_in_column_order(X, row, W, constant, scores):
    for label in range(scores.size):
        scores[label] = 0.0
    for j in column_order(X, row):
        column, x = X.indices[j], X.data[j]
        for label in range(scores.size):
            scores[label] += x * W[column, label]
    for label in range(scores.size):
        scores[label] += constant * W[W.shape[0] - 1, label]


class_scores = by_layout(
    _dense_class_scores, _sparse_class_scores, "The score of a row for every class, in the fastest order."
)
class_scores_in_column_order = by_layout(
    _dense_class_scores_in_column_order,
    _sparse_class_scores_in_column_order,
    "The score of a row for every class, each added up from the first column to the last.",
)


def _dense_add_to_class(X, row, amount, constant, W, label):
    for j in range(X.shape[1]):
        W[label, j] += amount * X[row, j]
    W[label, W.shape[1] - 1] += amount * constant


def _sparse_add_to_class(X, row, amount, constant, W, label):
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        W[X.indices[j], label] += amount * X.data[j]
    W[W.shape[0] - 1, label] += amount * constant


add_to_class = by_layout(_dense_add_to_class, _sparse_add_to_class, "W[label] <- W[label] + amount (x, constant).")


def _dense_absolute(X, row):
    total = 0.0
    for j in range(X.shape[1]):
        total += abs(X[row, j])
    return total


def _sparse_absolute(X, row):
    total = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        total += abs(X.data[j])
    return total


absolute = by_layout(_dense_absolute, _sparse_absolute, "The sum of |x_j|, in the fastest order.", fastmath=REORDERED)


@part
def best_other(scores, right):
    """The class with the highest score among all but the right one; the first of them if they tie."""
    best = 1 if right == 0 else 0
    for label in range(best + 1, scores.size):
        if label != right and scores[label] > scores[best]:
            best = label
    return best


@part
def has_a_match(scores, best, doubt):
    """Whether some other class scores so much like `best` that the order of a sum could make them change places."""
    for label in range(scores.size):
        if label != best and abs(scores[label] - scores[best]) <= doubt:
            return True
    return False


@jit(work=lambda X, W, constant, roundoff, scores: scores.shape[1] * (1 + (X[0] if isinstance(X, tuple) else X).size))
def fill_winners(X, W, constant, roundoff, scores):
    """Score every row for every class so that the best class is that of column order; `scores` is rows x classes.

    `roundoff` times the sum of a row's entries, without signs, bounds the error of its scores. Returns in how many rows
    the order of the sum could have decided.
    """
    doubtful = 0
    for i in range(scores.shape[0]):
        row = np.uint64(i)
        class_scores(X, row, W, constant, scores[i])
        best = best_other(scores[i], -1)
        if has_a_match(scores[i], best, roundoff * (absolute(X, row) + constant) + TINY):
            class_scores_in_column_order(X, row, W, constant, scores[i])
            doubtful += 1
    return doubtful
