"""The hot loops behind the margin: the shortest vector in the convex hull of points.

Two ways to it, both from the dual side. `settle` is an active-set method (Lawson and Hanson's nonnegative least
squares, which is Wolfe's minimum-norm point in other words): finite and exact up to rounding, for a working set of a
few thousand points. `descend` and `descend_by_products` are coordinate descent on the multipliers of the hard-margin
problem: cheap steps in O(entries of a row), for points that are too many or too wide for a factorisation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import add, dot_in_column_order, entries
from novikoff.engine.jit import jit

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

ROUNDING = 2.0**-52

# How many rows are looked at between two looks at all of them, and how good the best of them must still be, compared
# with the best that was taken: measured, both matter little.
CANDIDATES = 64
WORTH = 0.5


@jit
def survey(X: Any, n_rows: int) -> tuple[float, int, int]:
    """The largest entry, the first row that is zero, and the first that is not finite (`n_rows` if there is none)."""
    largest, first_zero, first_bad = 0.0, n_rows, n_rows
    for i in range(n_rows):
        longest = 0.0
        unbroken = 0.0
        for entry in entries(X, np.uint64(i)):
            longest = max(longest, abs(np.float64(entry)))
            unbroken += np.float64(entry) * 0.0  # NaN as soon as an entry is not finite
        if unbroken != 0.0:
            first_bad = min(first_bad, i)
        if longest == 0.0:
            first_zero = min(first_zero, i)
        largest = max(largest, longest)
    return largest, first_zero, first_bad


@jit
def squared_lengths(X: Any, n_rows: int, constant: float) -> Floats:
    """<z, z> for every point."""
    squares = np.empty(n_rows)
    for i in range(n_rows):
        total = constant * constant
        for entry in entries(X, np.uint64(i)):
            total += np.float64(entry) * np.float64(entry)
        squares[i] = total
    return squares


# -- the active-set method --------------------------------------------------------------------------------------------


@jit
def inner(x: Floats, y: Floats) -> float:
    """<x, y> in eight lanes, which the processor adds up side by side.

    BLAS would be no faster here, and its threads, waiting for each other at every short product, much slower on a
    machine that has other work to do.
    """
    a = b = c = d = e = f = g = h = 0.0
    whole = x.size - x.size % 8
    for j in range(0, whole, 8):
        a += x[j] * y[j]
        b += x[j + 1] * y[j + 1]
        c += x[j + 2] * y[j + 2]
        d += x[j + 3] * y[j + 3]
        e += x[j + 4] * y[j + 4]
        f += x[j + 5] * y[j + 5]
        g += x[j + 6] * y[j + 6]
        h += x[j + 7] * y[j + 7]
    for j in range(whole, x.size):
        a += x[j] * y[j]
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


@jit
def add_multiple(amount: float, x: Floats, y: Floats) -> None:
    """y <- y + amount x."""
    for j in range(x.size):
        y[j] += amount * x[j]


@jit
def back_substitute(R: Floats, k: int, right: Floats, solution: Floats) -> None:
    """Solve R s = right for an upper triangle R of size k."""
    for i in range(k - 1, -1, -1):
        solution[i] = (right[i] - inner(R[i, i + 1 : k], solution[i + 1 : k])) / R[i, i]


@jit
def leave_span(Qt: Floats, k: int, vector: Floats, along: Floats) -> None:
    """Subtract from a vector its part in the span of the first k rows of `Qt`; `along` receives its coordinates.

    Twice is enough (Kahan and Parlett): what the first projection leaves in the span is rounding, and the second
    removes it.
    """
    along[:k] = 0.0
    part = np.empty(k)
    for _ in range(2):
        for i in range(k):
            part[i] = inner(Qt[i], vector)
        for i in range(k):
            add_multiple(-part[i], Qt[i], vector)
            along[i] += part[i]


@jit
def drop_row(at: int, k: int, active: Numbers, weights: Floats, Qt: Floats, R: Floats) -> None:
    """Remove one active row from the factorisation and make R a triangle again (Givens); row k - 1 of Qt leaves it."""
    for j in range(at, k - 1):
        active[j] = active[j + 1]
        weights[j] = weights[j + 1]
    for i in range(k):
        for j in range(max(at, i - 1), k - 1):
            R[i, j] = R[i, j + 1]
    for i in range(at, k - 1):
        length = np.hypot(R[i, i], R[i + 1, i])
        if length == 0.0:
            continue
        cosine, sine = R[i, i] / length, R[i + 1, i] / length
        rotate(R[i, i : k - 1], R[i + 1, i : k - 1], cosine, sine)
        rotate(Qt[i], Qt[i + 1], cosine, sine)


@jit
def rotate(first: Floats, second: Floats, cosine: float, sine: float) -> None:
    """Turn two vectors in their plane."""
    for t in range(first.size):
        a, b = first[t], second[t]
        first[t] = cosine * a + sine * b
        second[t] = cosine * b - sine * a


@jit
def balance(
    k: int, c: float, active: Numbers, weights: Floats, Qt: Floats, R: Floats, residual: Floats, newcomer: int
) -> int:
    """Move the weights to the least-squares solution on the active rows, and drop those that it would make negative.

    The newcomer starts with weight 0; it stays unless it is itself in the way, which only rounding brings about.
    """
    last = Qt.shape[1] - 1
    right = np.empty(k)
    solution = np.empty(k)
    while k > 0:
        for i in range(k):
            right[i] = c * Qt[i, last]
        back_substitute(R, k, right, solution)
        step, blocking = 1.0, -1
        for i in range(k):
            if not solution[i] > 0.0:
                ratio = weights[i] / (weights[i] - solution[i]) if weights[i] > 0.0 else 0.0
                if blocking < 0 or ratio < step:
                    step, blocking = ratio, i
        if blocking < 0:
            weights[:k] = solution[:k]
            break
        for i in range(k):
            weights[i] = max(weights[i] + step * (solution[i] - weights[i]), 0.0)
        weights[blocking] = 0.0
        for i in range(k - 1, -1, -1):
            if weights[i] == 0.0 and (i == blocking or active[i] != newcomer):
                drop_row(i, k, active, weights, Qt, R)
                k -= 1
                add_multiple(c * Qt[k, last], Qt[k], residual)
    return k


@jit
def enter(
    row: int,
    A: Floats,
    least_height: float,
    active: Numbers,
    weights: Floats,
    Qt: Floats,
    R: Floats,
    k: int,
    residual: Floats,
) -> bool:
    """Add a row of A to the factorisation; False if it lies in the span of the active ones, as far as one can see."""
    vector = A[row].copy()
    leave_span(Qt, k, vector, R[:, k])
    height = np.sqrt(inner(vector, vector))
    if not height > least_height or not vector[vector.size - 1] > 0.0:
        return False
    Qt[k] = vector / height
    R[k, k] = height
    active[k] = row
    weights[k] = 0.0
    add_multiple(-inner(Qt[k], residual), Qt[k], residual)
    return True


@jit
def steepest(A: Floats, lengths: Floats, candidates: Numbers, residual: Floats) -> tuple[int, float]:
    """Where among the candidates is the row at the steepest angle to the residual, and its product by its length."""
    best, where = 0.0, -1
    for t in range(candidates.size):
        row = candidates[t]
        if row >= 0:
            slope = inner(A[row], residual) / lengths[row]
            if slope > best:
                best, where = slope, t
    return where, best


@jit
def steepest_rows(A: Floats, lengths: Floats, taken: Numbers, residual: Floats, least: float, most: int) -> Numbers:
    """The rows at the steepest angles to the residual: at most `most`, with slopes above `least`, none of the taken."""
    slopes = np.empty(lengths.size)
    for i in range(lengths.size):
        slopes[i] = inner(A[i], residual) / lengths[i]
    for row in taken:
        slopes[row] = -1.0
    order = np.argsort(-slopes)[:most]
    return order[slopes[order] > least]


@jit
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
    updated, and so is `residual`. Returns k and the steps made; as many as `most_steps` mean that it is not finished.
    """
    last = A.shape[1] - 1
    c = A[0, last]
    along = np.empty(R.shape[0])
    steps, stalls, shortest = 0, 0, np.inf
    k = balance(k, c, active, weights, Qt, R, residual, -1)
    while True:
        residual[:] = 0.0
        residual[last] = c
        leave_span(Qt, k, residual, along)
        length = np.sqrt(inner(residual, residual))
        stalls = 0 if length < shortest * (1.0 - ROUNDING) else stalls + 1
        shortest = min(shortest, length)
        if steps >= most_steps or stalls > 3 or is_nothing(length, c, lengths, active, weights, k):
            return k, steps
        candidates = steepest_rows(A, lengths, active[:k], residual, 4.0 * ROUNDING * length, CANDIDATES)
        if candidates.size == 0:
            return k, steps
        # The candidates are tried until none is left that helps; only then are all rows looked at again.
        least = -1.0
        while steps < most_steps and not is_nothing(length, c, lengths, active, weights, k):
            where, slope = steepest(A, lengths, candidates, residual)
            if where < 0 or slope < least:
                break
            least = max(least, WORTH * slope)
            row = candidates[where]
            candidates[where] = -1
            if k < R.shape[0] and enter(row, A, 64.0 * ROUNDING * lengths[row], active, weights, Qt, R, k, residual):
                steps += 1
                k = balance(k + 1, c, active, weights, Qt, R, residual, row)
                length = np.sqrt(inner(residual, residual))


@jit
def is_nothing(length: float, c: float, lengths: Floats, active: Numbers, weights: Floats, k: int) -> bool:
    """Whether a residual is as short as the rounding of what it is the sum of."""
    total = c
    for i in range(k):
        total += weights[i] * lengths[active[i]]
    return length <= 2.0 * ROUNDING * total


# -- coordinate descent -----------------------------------------------------------------------------------------------


@jit
def descend(
    X: Any, signs: NDArray[np.int8], constant: float, squares: Floats, order: Numbers, alpha: Floats, w: Floats
) -> tuple[float, float]:
    """One epoch of coordinate descent on min ||w||^2 / 2 with <z, w> >= 1 for every point; w = sum of alpha z.

    Every step makes one point's product exactly 1, or its multiplier 0. Returns the largest shortfall 1 - <z, w> that
    a step met, and the largest excess of a point that still had a multiplier.
    """
    bias = w.size - 1
    shortfall, excess = 0.0, 0.0
    for i in order:
        if squares[i] == 0.0:
            continue
        row = np.uint64(i)
        gap = 1.0 - signs[i] * (dot_in_column_order(X, row, w) + constant * w[bias])
        if gap > 0.0:
            shortfall = max(shortfall, gap)
        elif alpha[i] == 0.0:
            continue
        else:
            excess = max(excess, -gap)
        new = max(0.0, alpha[i] + gap / squares[i])
        amount = signs[i] * (new - alpha[i])
        alpha[i] = new
        if amount != 0.0:
            add(X, row, amount, w)
            w[bias] += amount * constant
    return shortfall, excess


@jit
def descend_by_products(G: Floats, order: Numbers, alpha: Floats, products: Floats) -> tuple[float, float]:
    """As `descend`, from the products of the points with each other alone; `products` is G alpha."""
    shortfall, excess = 0.0, 0.0
    for i in order:
        if not G[i, i] > 0.0:
            continue
        gap = 1.0 - products[i]
        if gap > 0.0:
            shortfall = max(shortfall, gap)
        elif alpha[i] == 0.0:
            continue
        else:
            excess = max(excess, -gap)
        new = max(0.0, alpha[i] + gap / G[i, i])
        amount = new - alpha[i]
        alpha[i] = new
        if amount != 0.0:
            for j in range(products.size):
                products[j] += amount * G[i, j]
    return shortfall, excess
