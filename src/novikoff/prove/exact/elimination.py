"""Elimination modulo a small prime, by products of matrices of floats that do not round.

Residues are between -p/2 and p/2, so that sums of `PANEL` products of two of them are whole numbers below 2^53, and
floats multiply matrices far faster than anything else. Rows that are independent modulo a prime are independent; the
converse fails if the prime divides some determinants, so it is drawn at random, lest there are data for which it always
does.
"""

import secrets
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _drawn_prime() -> int:
    """One of some ten thousands just below 2^23."""
    odd = np.arange(3, 2**11.5 + 1, 2, dtype=np.int64)
    while True:
        drawn = 2**23 - 1 - 2 * secrets.randbelow(2**19)
        if (drawn % odd).all():
            return drawn


PRIME = _drawn_prime()
# Columns that are eliminated one by one, before the others follow all at once.
PANEL = 64
# What is orthogonal to so many random vectors is orthogonal to all, but once in 10^13.
DRAWN = 2


class Echelon(NamedTuple):
    """Independent rows and columns of a matrix, as many as its rank, and random vectors, the columns of `normals`, that
    are orthogonal to all."""

    rows: list[int]
    columns: list[int]
    normals: Floats


def centred(numbers: Any) -> Any:
    """Whole numbers below 2^53, modulo the prime, between -p/2 and p/2."""
    return numbers - PRIME * np.rint(numbers * (1.0 / PRIME))


def multiplied(matrix: Floats, vectors: Floats) -> Floats:
    """The product of two matrices of residues."""
    total = np.zeros((len(matrix), vectors.shape[1]))
    for start in range(0, len(vectors), PANEL):
        some = slice(start, start + PANEL)
        total = centred(total + centred(matrix[:, some] @ vectors[some]))
    return total


def eliminated(matrix: Floats) -> Echelon:
    """The echelon form of a matrix of residues.

    >>> found = eliminated(np.array([[0.0, 2, 4], [0, 1, 2], [0, 1, 3]]))
    >>> found.rows, found.columns, found.normals[1:].any()
    ([0, 2], [1, 2], np.False_)
    """
    A = np.array(matrix, dtype=np.float64)
    order, columns = np.arange(len(A)), list[int]()
    for start in range(0, A.shape[1], PANEL):
        stop, rank = min(start + PANEL, A.shape[1]), len(columns)
        if rank == len(A):
            break
        new, lower = _panel(A[:, start:stop], rank, A, order)
        columns += [start + column for column in new]
        k = len(new)
        if k and stop < A.shape[1]:
            rest = A[rank:, stop:]
            for i in range(1, k):
                rest[i] = centred(rest[i] - lower[i, :i] @ rest[:i])
            rest[k:] = centred(rest[k:] - lower[k:] @ rest[:k])
    return Echelon(order[: len(columns)].tolist(), columns, _normals(A[: len(columns)], columns))


def _panel(panel: Floats, rank: int, A: Floats, order: NDArray[np.int64]) -> tuple[list[int], Floats]:
    """Eliminate some columns from the rows that lead none yet; which lead, and how many times each row took them."""
    lower = np.zeros((len(A) - rank, panel.shape[1]))
    columns: list[int] = []
    for column in range(panel.shape[1]):
        k = len(columns)
        at = rank + k
        nonzero = np.flatnonzero(panel[at:, column])
        if len(nonzero) == 0:
            if at == len(A):
                break
            continue
        pivot = at + int(nonzero[0])
        if pivot != at:
            for table in (A, order):
                table[[at, pivot]] = table[[pivot, at]]
            lower[[k, pivot - rank]] = lower[[pivot - rank, k]]
        inverse = float(pow(int(panel[at, column]), -1, PRIME))
        times = centred(panel[at + 1 :, column] * centred(np.float64(inverse)))
        panel[at + 1 :, column:] = centred(panel[at + 1 :, column:] - np.outer(times, panel[at, column:]))
        lower[k + 1 :, k] = times
        columns.append(column)
    return columns, lower[:, : len(columns)]


def _normals(upper: Floats, columns: list[int]) -> Floats:
    """Random numbers in the columns that lead no row, and what follows from them in the others."""
    normals = random_residues(upper.shape[1])
    normals[columns] = 0.0
    for row in range(len(columns) - 1, -1, -1):
        column = columns[row]
        total = centred(centred(upper[row, column + 1 :, None] * normals[column + 1 :]).sum(axis=0))
        normals[column] = centred(-total * centred(float(pow(int(upper[row, column]), -1, PRIME))))
    return normals


def random_residues(size: int) -> Floats:
    """Some random vectors, the columns of a matrix."""
    drawn = np.random.default_rng(size).integers(-PRIME // 2, PRIME // 2, (size, DRAWN))
    return np.asarray(drawn, dtype=np.float64)
