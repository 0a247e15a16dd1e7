"""The hot loops on a system Ax > 0: the perceptron, and Dunagan and Vempala's walk."""

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import jit

Floats = NDArray[np.float64]


@jit(work=lambda A, w, counts, most, patience: (patience + len(A)) * A.shape[1])
def perceptron_epochs(A: Floats, w: Floats, counts: Floats, most: int, patience: int) -> tuple[int, bool]:
    """Run epochs over the rows: add every row whose product with w is not positive.

    They end after an epoch without mistakes, after `most` mistakes, or after `patience` rows. Returns the number of
    mistakes, and whether the last epoch made none.
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
    """Subtract from x its projection on any unit row with <a, x> < -sigma ||x||, at most `most` times.

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
