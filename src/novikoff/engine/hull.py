"""The hot loops behind the margin: the shortest vector in the convex hull of points.

`settle` is an active-set method (Lawson and Hanson's nonnegative least squares, equivalent to Wolfe's minimum-norm
point): finite and exact up to rounding, for a working set of a few thousand points. For points that are too many or too
wide for a factorisation there is `engine/descent.py`.

For few points the active-set method runs in NumPy, so that a small problem needs no compiler; for many, in more than
`SMALL` dimensions, its loops are compiled; between these, they are used if Numba's cache has them. Compiled loops avoid
the threads of BLAS, which synchronise at every short product, and on a busy machine take a hundred times as long as the
product.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import REORDERED
from novikoff.engine.jit import Size, jit, part

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

ROUNDING = 2.0**-52

# How many candidate rows there are between two scans of all rows, and how good the best of them must still be, compared
# with the best one added: measured, both matter little.
CANDIDATES = 64
WORTH = 0.5

SMALL = 64
# Points, squared, times unknowns. Up to FEW, compiled loops save nothing noticeable; up to MORE, less than it takes to
# load Numba; up to MANY, less than it takes to compile them.
FEW, MORE, MANY = 2**16, 2**22, 2**25


# -- the active-set method: its parts, in NumPy and in loops ----------------------------------------------------------


def _inner_in_loops(rows: Floats, i: int, vector: Floats) -> float:
    total = 0.0
    for j in range(vector.size):
        total += rows[i, j] * vector[j]
    return total


@part(loops=_inner_in_loops, fastmath=REORDERED)
def inner(rows: Floats, i: int, vector: Floats) -> float:
    """Return the product of a row with a vector."""
    return float(rows[i] @ vector)


def _squared_in_loops(vector: Floats) -> float:
    total = 0.0
    for j in range(vector.size):
        total += vector[j] * vector[j]
    return total


@part(loops=_squared_in_loops, fastmath=REORDERED)
def squared(vector: Floats) -> float:
    """Return <x, x>."""
    return float(vector @ vector)


def _add_row_in_loops(amount: float, rows: Floats, i: int, vector: Floats) -> None:
    for j in range(vector.size):
        vector[j] += amount * rows[i, j]


@part(loops=_add_row_in_loops)
def add_row(amount: float, rows: Floats, i: int, vector: Floats) -> None:
    """vector <- vector + amount times a row."""
    vector += amount * rows[i]


def _leave_span_in_loops(Qt: Floats, k: int, vector: Floats, along: Floats) -> None:
    for i in range(k):
        along[i] = 0.0
    for _ in range(2):
        for i in range(k):
            along[k + i] = inner(Qt, i, vector)
        for i in range(k):
            add_row(-along[k + i], Qt, i, vector)
            along[i] += along[k + i]


@part(loops=_leave_span_in_loops)
def leave_span(Qt: Floats, k: int, vector: Floats, along: Floats) -> None:
    """Subtract from a vector its projection on the span of the first k rows of `Qt`.

    Its coordinates go to `along`, which has room for them twice. Twice is enough (Kahan and Parlett): what the first
    projection leaves in the span is rounding, and the second removes it.
    """
    along[:k] = 0.0
    for _ in range(2):
        coordinates = np.vecdot(Qt[:k], vector)
        vector -= np.einsum("i,ij->j", coordinates, Qt[:k])
        along[:k] += coordinates


def _back_substitute_in_loops(R: Floats, k: int, solution: Floats) -> None:
    for i in range(k - 1, -1, -1):
        total = 0.0
        for j in range(i + 1, k):
            total += R[i, j] * solution[j]
        solution[i] = (solution[i] - total) / R[i, i]


@part(loops=_back_substitute_in_loops, fastmath=REORDERED)
def back_substitute(R: Floats, k: int, solution: Floats) -> None:
    """Solve R s = r for an upper triangular R of size k; `solution` is r, and then s."""
    solution[:k] = np.linalg.solve(R[:k, :k], solution[:k])


def _drop_row_in_loops(at: int, k: int, active: Numbers, weights: Floats, Qt: Floats, R: Floats) -> None:
    for j in range(at, k - 1):
        active[j] = active[j + 1]
        weights[j] = weights[j + 1]
    for i in range(k):
        for j in range(max(at, i - 1), k - 1):
            R[i, j] = R[i, j + 1]
    for i in range(at, k - 1):  # Givens
        length = math.sqrt(R[i, i] * R[i, i] + R[i + 1, i] * R[i + 1, i])
        if length == 0.0:
            continue
        cosine, sine = R[i, i] / length, R[i + 1, i] / length
        for j in range(i, k - 1):
            first, second = R[i, j], R[i + 1, j]
            R[i, j] = cosine * first + sine * second
            R[i + 1, j] = cosine * second - sine * first
        for j in range(Qt.shape[1]):
            first, second = Qt[i, j], Qt[i + 1, j]
            Qt[i, j] = cosine * first + sine * second
            Qt[i + 1, j] = cosine * second - sine * first


@part(loops=_drop_row_in_loops)
def drop_row(at: int, k: int, active: Numbers, weights: Floats, Qt: Floats, R: Floats) -> None:
    """Remove one active row from the factorisation and make R triangular again; row k - 1 of Qt is dropped."""
    active[at : k - 1], weights[at : k - 1] = active[at + 1 : k], weights[at + 1 : k]
    R[:k, at : k - 1] = R[:k, at + 1 : k]
    if at < k - 1:
        turn, R[at:k, at : k - 1] = np.linalg.qr(R[at:k, at : k - 1], mode="complete")
        Qt[at:k] = turn.T @ Qt[at:k]


def _rise_in_loops(A: Floats, row: int, Qt: Floats, R: Floats, k: int, along: Floats) -> float:
    vector = Qt[k]
    for j in range(vector.size):
        vector[j] = A[row, j]
    leave_span(Qt, k, vector, along)
    height = math.sqrt(squared(vector))
    for i in range(k):
        R[i, k] = along[i]
    for j in range(vector.size):
        vector[j] /= height
    return height


@part(loops=_rise_in_loops, error_model="numpy")
def rise(A: Floats, row: int, Qt: Floats, R: Floats, k: int, along: Floats) -> float:
    """Write a row of A as a combination of the first k rows of `Qt` and a multiple of a new one, which becomes row k.

    Returns the multiple. If it is negligible, row k is meaningless.
    """
    Qt[k] = A[row]
    leave_span(Qt, k, Qt[k], along)
    height = math.sqrt(squared(Qt[k]))
    R[:k, k] = along[:k]
    Qt[k] /= height
    return height


def _steepest_in_loops(A: Floats, lengths: Floats, candidates: Numbers, residual: Floats) -> tuple[int, float]:
    best, where = 0.0, -1
    for t in range(candidates.size):
        row = candidates[t]
        if row >= 0:
            slope = inner(A, row, residual) / lengths[row]
            if slope > best:
                best, where = slope, t
    return where, best


@part(loops=_steepest_in_loops)
def steepest(A: Floats, lengths: Floats, candidates: Numbers, residual: Floats) -> tuple[int, float]:
    """Find the candidate with the steepest angle to the residual; return its place, and its product over its length."""
    slopes = np.where(candidates >= 0, np.vecdot(A[candidates], residual) / lengths[candidates], 0.0)
    where = int(np.argmax(slopes)) if len(slopes) else -1
    return (where, float(slopes[where])) if len(slopes) and slopes[where] > 0.0 else (-1, 0.0)


# -- the active-set method itself -------------------------------------------------------------------------------------


@part
def balance(
    k: int,
    c: float,
    active: Numbers,
    weights: Floats,
    Qt: Floats,
    R: Floats,
    residual: Floats,
    newcomer: int,
    solution: Floats,
) -> int:
    """Move the weights to the least-squares solution on the active rows, and drop those that it would make negative.

    The newcomer starts with weight 0; it is dropped itself only because of rounding.
    """
    last = residual.size - 1
    while k > 0:
        for i in range(k):
            solution[i] = c * Qt[i, last]
        back_substitute(R, k, solution)
        step, blocking = 1.0, -1
        for i in range(k):
            if not solution[i] > 0.0:
                ratio = weights[i] / (weights[i] - solution[i]) if weights[i] > 0.0 else 0.0
                if blocking < 0 or ratio < step:
                    step, blocking = ratio, i
        for i in range(k):
            weights[i] = solution[i] if blocking < 0 else max(weights[i] + step * (solution[i] - weights[i]), 0.0)
        if blocking < 0:
            break
        weights[blocking] = 0.0
        for i in range(k - 1, -1, -1):
            if weights[i] == 0.0 and (i == blocking or active[i] != newcomer):
                drop_row(i, k, active, weights, Qt, R)
                k -= 1
                add_row(c * Qt[k, last], Qt, k, residual)
    return k


@part
def is_nothing(length: float, c: float, lengths: Floats, active: Numbers, weights: Floats, k: int) -> bool:
    """Whether a residual is no longer than the rounding error of its terms."""
    total = c
    for i in range(k):
        total += weights[i] * lengths[active[i]]
    return length <= 2.0 * ROUNDING * total


def _size(A: Floats, lengths: Floats, candidates: Numbers, active: Numbers, *rest: Any) -> Size:
    unknowns, work = len(active), len(A) ** 2 * len(active)
    if work <= MORE:
        return Size.SMALL if work <= FEW else Size.LIGHT
    return Size.MEDIUM if unknowns <= SMALL or work <= MANY else Size.LARGE


@jit(size=_size, allocates=True)
def try_candidates(
    A: Floats,
    lengths: Floats,
    candidates: Numbers,
    active: Numbers,
    weights: Floats,
    Qt: Floats,
    R: Floats,
    k: int,
    residual: Floats,
    most_steps: int,
) -> tuple[int, int]:
    """Add one candidate after the other, the steepest first, until none improves the solution.

    Returns how many rows are active, and how many steps that took. Arguments as in `settle`.
    """
    last = A.shape[1] - 1
    c = A[0, last]
    along, solution = np.empty(2 * R.shape[0]), np.empty(R.shape[0])
    steps, least = 0, -1.0
    k = balance(k, c, active, weights, Qt, R, residual, -1, solution)
    while steps < most_steps:
        length = math.sqrt(squared(residual))
        where, slope = steepest(A, lengths, candidates, residual)
        if where < 0 or slope < least or is_nothing(length, c, lengths, active, weights, k):
            break
        least = max(least, WORTH * slope)
        row = candidates[where]
        candidates[where] = -1
        if k == R.shape[0]:
            continue
        # The factorisation grows by the row, unless that lies in the span of the active ones, up to rounding.
        height = rise(A, row, Qt, R, k, along)
        if not height > 64.0 * ROUNDING * lengths[row] or not Qt[k, last] > 0.0:
            continue
        R[k, k], active[k], weights[k] = height, row, 0.0
        add_row(-inner(Qt, k, residual), Qt, k, residual)
        steps += 1
        k = balance(k + 1, c, active, weights, Qt, R, residual, row, solution)
    return k, steps


def settle(
    A: Floats,
    lengths: Floats,
    active: Numbers,
    weights: Floats,
    Qt: Floats,
    R: Floats,
    k: int,
    residual: Floats,
    most_steps: int,
) -> tuple[int, int]:
    """Nonnegative least squares: weights that bring the sum of the rows of A closest to c e, e the last unit vector.

    The rows of `A` are points with one more coordinate, c. Then the weights are proportional to those of the nearest
    point of the hull, and the residual is, up to its last coordinate, a negative multiple of it.

    `active` lists the k rows with a positive weight, linearly independent, with factors Q (transposed) and R. All are
    updated, and so is `residual`. Returns k and the number of steps; `most_steps` means that it did not finish.
    """
    c, along = float(A[0, -1]), np.empty(2 * len(R))
    candidates = np.empty(0, dtype=np.int64)
    steps, stalls, shortest = 0, 0, math.inf
    while True:
        k, more = try_candidates(A, lengths, candidates, active, weights, Qt, R, k, residual, most_steps - steps)
        steps += more
        residual[:] = 0.0
        residual[-1] = c
        leave_span(Qt, k, residual, along)
        length = math.sqrt(squared(residual))
        stalls = 0 if length < shortest * (1.0 - ROUNDING) else stalls + 1
        shortest = min(shortest, length)
        if steps >= most_steps or stalls > 3 or is_nothing(length, c, lengths, active, weights, k):
            return k, steps
        slopes = np.vecdot(A, residual) / lengths
        slopes[active[:k]] = -1.0
        candidates = np.argsort(-slopes, kind="stable")[:CANDIDATES]
        candidates = candidates[slopes[candidates] > 4.0 * ROUNDING * length]
        if len(candidates) == 0:
            return k, steps
