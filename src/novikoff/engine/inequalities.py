"""The hot loops on a system Ax > 0: the perceptron, Dunagan and Vempala's walk, and two products with A."""

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import jit

Floats = NDArray[np.float64]

# Products that are summed at a time, so that they stay in the nearest cache.
BLOCK = 2048


@jit(work=lambda A, w, counts, most, patience: (patience + len(A)) * A.shape[1])
def perceptron_epochs(A: Floats, w: Floats, counts: Floats, most: int, patience: int) -> tuple[int, bool]:
    """Epochs over the rows: add every row whose product with w is not positive.

    They end after one without mistakes, after `most` mistakes, or once `patience` rows were looked at. Returns the
    number of mistakes, and whether the last epoch made none.
    """
    mistakes = 0
    looked = 0
    while mistakes < most and looked < patience:
        before = mistakes
        for i in range(A.shape[0]):
            a = A[i]
            score = 0.0
            for j in range(a.size):
                score += a[j] * w[j]
            if score <= 0.0:
                for j in range(a.size):
                    w[j] += a[j]
                counts[i] += 1.0
                mistakes += 1
                if mistakes == most:
                    break
        looked += A.shape[0]
        if mistakes == before:
            return mistakes, True
    return mistakes, False


@jit(work=lambda A, x, sigma, most: (1 + most) * A.size)
def walk(A: Floats, x: Floats, sigma: float, most: int) -> tuple[int, bool]:
    """Take from x its part along any unit row with <a, x> < -sigma ||x||, at most `most` times.

    Returns how many steps that took, and whether no such row was left.
    """
    steps = 0
    since = 0
    i = 0
    square = 0.0
    for j in range(x.size):
        square += x[j] * x[j]
    while since < A.shape[0]:
        a = A[i]
        score = 0.0
        for j in range(a.size):
            score += a[j] * x[j]
        since += 1
        if score < -sigma * np.sqrt(square):
            if steps == most:
                return steps, False
            square = 0.0
            for j in range(a.size):
                x[j] -= score * a[j]
                square += x[j] * x[j]
            steps += 1
            since = 0
        i = i + 1 if i + 1 < A.shape[0] else 0
    return steps, True


@jit
def products(columns: Floats, y: Floats, out: Floats) -> None:
    """out <- A y, where `columns` is the transpose of A, one column of A after the other.

    Like `mixture` it adds along the rows of its matrix, in which the compiler can take several entries at a time
    without changing the order of any sum. One thread: systems are too small to share, and waiting for a busy core
    costs a hundred times more than the work.
    """
    n = columns.shape[1]
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for i in range(start, stop):
            out[i] = 0.0
        for j in range(columns.shape[0]):
            factor = y[j]
            for i in range(start, stop):
                out[i] += factor * columns[j, i]


@jit
def mixture(A: Floats, weights: Floats, out: Floats) -> None:
    """out <- the sum of the rows of A, each times its weight; four rows at a time, to touch `out` less often."""
    n = A.shape[0]
    for j in range(out.size):
        out[j] = 0.0
    for i in range(0, n - 3, 4):
        p, q, r, s = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(out.size):
            out[j] += (p * A[i, j] + q * A[i + 1, j]) + (r * A[i + 2, j] + s * A[i + 3, j])
    for i in range(n - n % 4, n):
        for j in range(out.size):
            out[j] += weights[i] * A[i, j]
