"""Access to a row, dense or CSR: the only place where the two layouts differ.

A kernel calls these functions as if there were one layout, and the loop is chosen by the type of `X`: a C-ordered
matrix, or a `Csr` triple (see `engine/rows.py`). `row` is an unsigned number. A row may be shorter than `w`, whose last
entry is then the intercept.
"""

from typing import Any

import numpy as np

from novikoff.engine.jit import by_layout

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
    for j in range(X.shape[1]):  # two short loops, which vectorise
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
