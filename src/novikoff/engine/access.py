"""Access to a row, dense or CSR: the only place where the two layouts differ.

A kernel calls these functions as if there were one layout, and the loop is chosen by the type of `X`: a C-ordered
matrix, or a `Csr` triple (see `engine/rows.py`). `row` is an unsigned number. A row may be shorter than `w`, whose last
entry is then the weight of the bias.
"""

from typing import Any

import numpy as np

from novikoff.engine.jit import by_layout
from novikoff.engine.prefetch import touch, touch_early

# Sums may be reordered and fused, but NaN and infinities keep their meaning.
REORDERED: Any = {"reassoc", "contract", "nsz"}


def dense_dot(X, row, w):
    total = 0.0
    for j in range(X.shape[1]):
        total += X[row, j] * w[j]
    return total


def _sparse_dot(X, row, w):
    total = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        total += X.data[j] * w[X.indices[j]]
    return total


dot = by_layout(dense_dot, _sparse_dot, "<x, w>, in the fastest order.", fastmath=REORDERED)
dot_in_column_order = by_layout(
    dense_dot, _sparse_dot, "<x, w>, added up from the first column to the last: the score that decides."
)


def _dense_squares(X, row):
    total = 0.0
    for j in range(X.shape[1]):
        total += np.float64(X[row, j]) * X[row, j]
    return total


def _sparse_squares(X, row):
    total = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        total += np.float64(X.data[j]) * X.data[j]
    return total


squares = by_layout(_dense_squares, _sparse_squares, "<x, x>, in the fastest order.", fastmath=REORDERED)
squares_in_column_order = by_layout(
    _dense_squares, _sparse_squares, "<x, x>, added up from the first column to the last."
)


def dense_careful_squares(X, row):
    total = rest = 0.0
    for j in range(X.shape[1]):
        square = np.float64(X[row, j]) * X[row, j]
        new_total = total + square
        step = new_total - total
        rest += (total - (new_total - step)) + (square - step)
        total = new_total
    return total + rest


def _sparse_careful_squares(X, row):
    total = rest = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        square = np.float64(X.data[j]) * X.data[j]
        new_total = total + square
        step = new_total - total
        rest += (total - (new_total - step)) + (square - step)
        total = new_total
    return total + rest


careful_squares = by_layout(
    dense_careful_squares,
    _sparse_careful_squares,
    "<x, x>, added up with what rounding loses (Knuth's two-sum): off by a unit or two in the last place at most, "
    "and but for the rarest halves the same in every order.",
)


def _dense_is_whole(X, row):
    for j in range(X.shape[1]):
        if X[row, j] != np.rint(X[row, j]):
            return False
    return True


def _sparse_is_whole(X, row):
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        if X.data[j] != np.rint(X.data[j]):
            return False
    return True


is_whole = by_layout(_dense_is_whole, _sparse_is_whole, "Whether every coordinate is an integer.")


def _dense_distance(left, i, right, k):
    total = 0.0
    for j in range(left.shape[1]):
        total += abs(np.float64(left[i, j]) - np.float64(right[k, j]))
    return total


def _sparse_distance(left, i, right, k):
    # Where both have no entry, nothing is added: dense and sparse rows have the same distance, bit for bit.
    total = 0.0
    p, p_end = np.int64(left.indptr[i]), np.int64(left.indptr[i + np.uint64(1)])
    q, q_end = np.int64(right.indptr[k]), np.int64(right.indptr[k + np.uint64(1)])
    while p < p_end or q < q_end:
        if q == q_end or (p < p_end and left.indices[p] < right.indices[q]):
            total += abs(np.float64(left.data[p]))
            p += 1
        elif p == p_end or right.indices[q] < left.indices[p]:
            total += abs(np.float64(right.data[q]))
            q += 1
        else:
            total += abs(np.float64(left.data[p]) - np.float64(right.data[q]))
            p += 1
            q += 1
    return total


distance = by_layout(
    _dense_distance, _sparse_distance, "The sum of |x_j - z_j| over the columns, from the first to the last."
)


def _dense_add(X, row, amount, w):
    for j in range(X.shape[1]):
        w[j] += amount * X[row, j]


def _sparse_add(X, row, amount, w):
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        w[X.indices[j]] += amount * X.data[j]


add = by_layout(_dense_add, _sparse_add, "w <- w + amount x.")


def _dense_add_twice(X, row, amount, w, age, drift):
    for j in range(X.shape[1]):  # two short loops, which run on vectors
        w[j] += amount * X[row, j]
    for j in range(X.shape[1]):
        drift[j] += age * (amount * X[row, j])


def _sparse_add_twice(X, row, amount, w, age, drift):
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        step = amount * X.data[j]
        column = X.indices[j]
        w[column] += step
        drift[column] += age * step


add_twice = by_layout(_dense_add_twice, _sparse_add_twice, "w <- w + amount x and drift <- drift + age amount x.")


def _dense_load(X, row, w):
    for j in range(w.size):
        w[j] = X[row, j]


def _sparse_load(X, row, w):
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        w[X.indices[j]] = X.data[j]


load = by_layout(_dense_load, _sparse_load, "w <- x, where w is 0 to begin with.")


def _dense_unload(X, row, w):
    pass


def _sparse_unload(X, row, w):
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        w[X.indices[j]] = 0.0


unload = by_layout(
    _dense_unload, _sparse_unload, "w <- 0, after `load`; a dense row need not go, since the next fills all of w."
)


# Rows of so many bytes are loaded early, a few rows ahead. Shorter ones may come from anywhere long before they are
# needed; of longer ones only the first lines would be late, and the memory sends the rest unasked.
LONG_ROW, LONGEST_ROW = 1 << 10, 1 << 14

# How many rows ahead.
ROWS_AHEAD = 4


def are_long(bytes_per_row: int) -> bool:
    """Whether rows of so many bytes are to be loaded a few rows ahead."""
    return LONG_ROW <= bytes_per_row <= LONGEST_ROW


def _dense_prefetch(X, row):
    first = row * np.uint64(X.shape[1])
    if X.shape[1] * X.itemsize < LONG_ROW:
        for j in range(0, X.shape[1], 64 // X.itemsize):
            touch(X, first + np.uint64(j))
    else:
        for j in range(0, X.shape[1], 64 // X.itemsize):
            touch_early(X, first + np.uint64(j))


def _sparse_prefetch(X, row):
    first, last = X.indptr[row], X.indptr[row + np.uint64(1)]
    if (last - first) * (X.data.itemsize + X.indices.itemsize) < LONG_ROW:
        for j in range(first, last, 64 // X.data.itemsize):
            touch(X.data, j)
        for j in range(first, last, 64 // X.indices.itemsize):
            touch(X.indices, j)
    else:
        for j in range(first, last, 64 // X.data.itemsize):
            touch_early(X.data, j)
        for j in range(first, last, 64 // X.indices.itemsize):
            touch_early(X.indices, j)


prefetch = by_layout(_dense_prefetch, _sparse_prefetch, "Ask the memory for a row that is needed soon.")
