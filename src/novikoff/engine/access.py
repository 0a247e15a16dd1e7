"""Access to a row, dense or CSR: the only place where the two layouts differ.

A kernel calls these functions as if there were one layout, and Numba picks the loop by the type of `X`: a C-ordered
matrix, or a `Csr` triple (see `engine/rows.py`). `row` is an unsigned number. A row may be shorter than `w`, whose last
entry is then the weight of the bias.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from novikoff.engine.jit import jit
from novikoff.engine.prefetch import touch

# Sums may be reordered and fused, but NaN and infinities keep their meaning.
REORDERED: Any = {"fastmath": {"reassoc", "contract", "nsz"}}


def entries(X, row):
    """The stored numbers of a row."""


def dot(X, row, w):
    """<x, w>, in the fastest order."""


def dot_in_column_order(X, row, w):
    """<x, w>, added up from the first column to the last: the score that decides."""


def squares(X, row):
    """<x, x>, in the fastest order."""


def squares_in_column_order(X, row):
    """<x, x>, added up from the first column to the last."""


def distance(left, i, right, k):
    """The sum of |x_j - z_j| over the columns, from the first to the last."""


def add(X, row, amount, w):
    """w <- w + amount x."""


def add_twice(X, row, amount, w, age, drift):
    """w <- w + amount x and drift <- drift + age amount x."""


def load(X, row, w):
    """w <- x, where w is 0 to begin with."""


def unload(X, row, w):
    """w <- 0, after `load`; a dense row need not go, since the next fills all of w."""


def prefetch(X, row):
    """Ask the memory for a row that is needed soon."""


# -- the loops: dense, then sparse ------------------------------------------------------------------------------------


@overload(entries)
def _entries(X, row):
    if isinstance(X, types.Array):
        return lambda X, row: X[row]
    return lambda X, row: X.data[X.indptr[row] : X.indptr[row + np.uint64(1)]]


def _dot(X, row, w):
    if isinstance(X, types.Array):

        def dense(X, row, w):
            x = X[row]
            total = 0.0
            for j in range(x.size):
                total += x[j] * w[j]
            return total

        return dense

    def sparse(X, row, w):
        total = 0.0
        for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
            total += X.data[j] * w[X.indices[j]]
        return total

    return sparse


overload(dot, jit_options=REORDERED)(_dot)
overload(dot_in_column_order)(_dot)


def _squares(X, row):
    if isinstance(X, types.Array):

        def dense(X, row):
            x = X[row]
            total = 0.0
            for j in range(x.size):
                total += np.float64(x[j]) * x[j]
            return total

        return dense

    def sparse(X, row):
        total = 0.0
        for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
            total += np.float64(X.data[j]) * X.data[j]
        return total

    return sparse


overload(squares, jit_options=REORDERED)(_squares)
overload(squares_in_column_order)(_squares)


@jit
def careful_squares(X, row):
    """<x, x>, added up in column order with Kahan's compensation: off by a few units in the last place at most."""
    total = lost = 0.0
    for x in entries(X, row):
        step = np.float64(x) * x - lost
        new_total = total + step
        lost = (new_total - total) - step
        total = new_total
    return total


@jit
def is_whole(X, row):
    """Whether every coordinate is an integer."""
    for x in entries(X, row):
        if x != np.rint(x):
            return False
    return True


@overload(distance)
def _distance(left, i, right, k):
    if isinstance(left, types.Array):

        def dense(left, i, right, k):
            total = 0.0
            for j in range(left.shape[1]):
                total += abs(float(left[i, j]) - float(right[k, j]))
            return total

        return dense

    def sparse(left, i, right, k):
        # Where both have no entry, nothing is added: dense and sparse rows have the same distance, bit for bit.
        total = 0.0
        p, p_end = np.int64(left.indptr[i]), np.int64(left.indptr[i + np.uint64(1)])
        q, q_end = np.int64(right.indptr[k]), np.int64(right.indptr[k + np.uint64(1)])
        while p < p_end or q < q_end:
            if q == q_end or (p < p_end and left.indices[p] < right.indices[q]):
                total += abs(left.data[p])
                p += 1
            elif p == p_end or right.indices[q] < left.indices[p]:
                total += abs(right.data[q])
                q += 1
            else:
                total += abs(float(left.data[p]) - float(right.data[q]))
                p += 1
                q += 1
        return total

    return sparse


@overload(add)
def _add(X, row, amount, w):
    if isinstance(X, types.Array):

        def dense(X, row, amount, w):
            x = X[row]
            for j in range(x.size):
                w[j] += amount * x[j]

        return dense

    def sparse(X, row, amount, w):
        for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
            w[X.indices[j]] += amount * X.data[j]

    return sparse


@overload(add_twice)
def _add_twice(X, row, amount, w, age, drift):
    if isinstance(X, types.Array):

        def dense(X, row, amount, w, age, drift):
            add(X, row, amount, w)  # two short loops, which run on vectors
            add(X, row, age * amount, drift)

        return dense

    def sparse(X, row, amount, w, age, drift):
        for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
            step = amount * X.data[j]
            column = X.indices[j]
            w[column] += step
            drift[column] += age * step

    return sparse


@overload(load)
def _load(X, row, w):
    if isinstance(X, types.Array):

        def dense(X, row, w):
            for j in range(w.size):
                w[j] = X[row, j]

        return dense

    def sparse(X, row, w):
        for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
            w[X.indices[j]] = X.data[j]

    return sparse


@overload(unload)
def _unload(X, row, w):
    if isinstance(X, types.Array):

        def dense(X, row, w):
            pass  # the next row fills all of it

        return dense

    def sparse(X, row, w):
        for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
            w[X.indices[j]] = 0.0

    return sparse


@overload(prefetch)
def _prefetch(X, row):
    if isinstance(X, types.Array):

        def dense(X, row):
            x = X[row]
            for j in range(0, x.size, 64 // X.itemsize):
                touch(x, j)

        return dense

    def sparse(X, row):
        first, last = X.indptr[row], X.indptr[row + np.uint64(1)]
        for j in range(first, last, 64 // X.data.itemsize):
            touch(X.data, j)
        for j in range(first, last, 64 // X.indices.itemsize):
            touch(X.indices, j)

    return sparse
