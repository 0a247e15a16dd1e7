"""Scores of rows, dense or CSR, that decide: a score is the float64 sum of a row's products in column order.

The fastest order is used where its rounding cannot decide; where it could, the row is scored again in column order,
whatever the order of storage. So the same values make the same decisions in every layout, bit for bit.
"""

import numpy as np

from novikoff.engine.access import (
    REORDERED,
    dense_dot,
    dot,
    dot_in_column_order,
    is_whole,
)
from novikoff.engine.jit import by_layout, jit, part
from novikoff.engine.rounding import OUTWARDS, UNIT_ROUNDOFF, WHOLE_UP_TO

# Below this, products may have underflowed, and the relative error bound does not hold.
TINY = 1e-290


@part
def is_ascending(X, row):
    """Whether the columns of a sparse row ascend."""
    for j in range(X.indptr[row] + np.uint64(1), X.indptr[row + np.uint64(1)]):
        if X.indices[j] < X.indices[j - np.uint64(1)]:
            return False
    return True


@part(allocates=True)
def column_order(X, row):
    """Return the places of a sparse row's entries, by ascending columns (Shell sort). Few rows need it."""
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
    dense_dot,
    _sparse_deciding_dot,
    "<x, w>, added up from the first column to the last, in any order of storage.",
    allocates=True,
)


@part
def careful_sum_of_squares(values):
    """Return the sum of the squares of some numbers, and its rounding error (Knuth's two-sum)."""
    total = rest = 0.0
    for value in values:
        square = np.float64(value) * value
        new_total = total + square
        step = new_total - total
        rest += (total - (new_total - step)) + (square - step)
        total = new_total
    return total, rest


def _dense_deciding_squares(X, row):
    total, rest = careful_sum_of_squares(X[row])
    return total + rest


def _sparse_deciding_squares(X, row):
    first, last = np.int64(X.indptr[row]), np.int64(X.indptr[row + np.uint64(1)])
    total, rest = careful_sum_of_squares(X.data[first:last])
    if not is_ascending(X, row):
        # The error of both parts together is at most n^2 u^2 (Ogita, Rump and Oishi 2005): the order hardly ever
        # affects the rounded result.
        size = np.float64(last - first)
        error = 8.0 * (size * UNIT_ROUNDOFF) * (size * UNIT_ROUNDOFF) * total
        if total + (rest - error) != total + (rest + error):
            total, rest = careful_sum_of_squares(X.data[column_order(X, row)])
    return total + rest


deciding_squares = by_layout(
    _dense_deciding_squares,
    _sparse_deciding_squares,
    "<x, x>, added up from the first column to the last, in any order of storage, with what rounding loses: off by a "
    "unit or two in the last place at most.",
    allocates=True,
)


@part
def folded_square(X, row, constant):
    """Return the squared length of a folded row, never below the exact value, to which it is equal for integers.

    R^2 is the largest of these: the same float64 number in every layout, so that a lead is the same, too.
    """
    square = deciding_squares(X, row) + constant
    return square if square < WHOLE_UP_TO and is_whole(X, row) else square * OUTWARDS


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


# Dense rows are scored one class after the other, and W is classes x columns; sparse rows are scored for all classes at
# once, entry by entry, and W is columns x classes.


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
    allocates=True,
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
    """Return the class with the highest score among all but the right one; the first of them if they tie."""
    best = 1 if right == 0 else 0
    for label in range(best + 1, scores.size):
        if label != right and scores[label] > scores[best]:
            best = label
    return best


@part
def has_a_match(scores, best, doubt):
    """Whether the score of another class is so close to that of `best` that the order of a sum could swap them."""
    for label in range(scores.size):
        if label != best and abs(scores[label] - scores[best]) <= doubt:
            return True
    return False


@jit(work=lambda X, W, constant, roundoff, scores: scores.shape[1] * (1 + (X[0] if isinstance(X, tuple) else X).size))
def fill_winners(X, W, constant, roundoff, scores):
    """Score every row for every class so that the best class is that of column order; `scores` is rows x classes.

    `roundoff` times the sum of the absolute values of a row's entries bounds the error of its scores. Returns in how
    many rows the order of the sum could have decided.
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


# -- scores to return, in column order --------------------------------------------------------------------------------


def _dense_fill_scores(X, W, constant, scores):
    # For many classes four rows at a time, because each addition to a sum has to wait for the last.
    n_rows, last = scores.shape[0], W.shape[1] - 1
    together = 0 if scores.shape[1] == 1 else n_rows - n_rows % 4
    for i in range(0, together, 4):
        for label in range(scores.shape[1]):
            a = b = c = d = 0.0
            for j in range(X.shape[1]):
                w = W[label, j]
                a += X[i, j] * w
                b += X[i + 1, j] * w
                c += X[i + 2, j] * w
                d += X[i + 3, j] * w
            bias = constant * W[label, last]
            scores[i, label], scores[i + 1, label] = a + bias, b + bias
            scores[i + 2, label], scores[i + 3, label] = c + bias, d + bias
    for i in range(together, n_rows):
        class_scores_in_column_order(X, np.uint64(i), W, constant, scores[i])


def _sparse_fill_scores(X, W, constant, scores):
    for i in range(scores.shape[0]):
        row = np.uint64(i)
        if is_ascending(X, row):
            class_scores(X, row, W, constant, scores[i])
        else:
            class_scores_in_column_order(X, row, W, constant, scores[i])


_fill_scores = by_layout(_dense_fill_scores, _sparse_fill_scores, "As `fill_scores`.", allocates=True)


@jit(work=lambda X, W, constant, scores: scores.shape[1] * (1 + (X[0] if isinstance(X, tuple) else X).size))
def fill_scores(X, W, constant, scores):
    """Score every row for every class, in column order; `scores` is rows x classes. One weight vector is one class."""
    _fill_scores(X, W, constant, scores)
