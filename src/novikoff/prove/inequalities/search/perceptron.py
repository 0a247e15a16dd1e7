"""The perceptron for Ax > 0, and its randomised rescaling by Dunagan and Vempala (2008).

With unit rows a_i the perceptron needs about 1/rho^2 steps when the margin is rho. If the hull of the rows contains the
origin there is no solution, and the average of the rows that were added converges to the origin.

Rescaling makes that a polynomial in log(1/rho). Each phase runs the perceptron for 16 m^2 mistakes. If that is not
enough the margin is small, and a random unit vector, pushed back from every row that it violates by more than
sigma = 1/(32 m), has a positive product with the centre of the solutions with constant probability. Stretching the
space twofold along it then widens the margin by a factor 1 + 1/(3 m), and otherwise costs less than that.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from novikoff.engine.inequalities import perceptron_epochs, walk
from novikoff.prove.inequalities.search.system import Proofs, SearchLimits, SearchResult, System
from novikoff.prove.separable.points import Floats

MOST_MISTAKES = 1_000_000
# Rows between two checks of the clock.
MOST_PATIENCE = 1_000_000


def perceptron(system: System, limits: SearchLimits, most_mistakes: int = MOST_MISTAKES) -> SearchResult:
    """Rosenblatt's rule: while some row has <a, w> <= 0, add it to w (Block 1962, Novikoff 1962).

    At most 1/rho^2 mistakes. After k of them w/k is a convex combination of the rows, so rho <= ||w||/k.
    """
    w, counts = np.zeros(system.dimension), np.zeros(system.n_rows)
    mistakes, patience = 0, system.n_rows
    history: list[float] = []
    proofs = Proofs(system, limits)
    while True:
        made, is_free = perceptron_epochs(system.unit, w, counts, most_mistakes - mistakes, patience)
        patience = min(2 * patience, MOST_PATIENCE)
        wrong = system.first_violated(w) if is_free else None
        if is_free and wrong is not None:  # positive in float64 only
            w += system.unit[wrong]
            counts[wrong] += 1
            made += 1
        mistakes += made
        bound = float(np.linalg.norm(w)) / mistakes
        if mistakes >= 2 ** len(history):
            history.append(bound)
        x = w if is_free and wrong is None else None
        combination = proofs.attempt(mistakes, counts) if x is None else None
        stopped = f"{mistakes:,} mistakes were made" if mistakes >= most_mistakes else limits.reached(bound)
        if x is not None or combination or stopped:
            return SearchResult("perceptron", x, combination, counts / mistakes, mistakes, 0, tuple(history), stopped)


# The most mistakes and steps of the walk together.
MOST_STEPS = 100_000_000
CHUNK = 100_000
# Random directions in a phase: all of them fail once in 5,000 phases.
DRAWS = 64


# The most mistakes in a phase, divided by m^2.
PATIENCE = 16.0


class Phase(NamedTuple):
    """A phase: its unit rows, its weights, the mistakes on each row, and the direction along which the space is
    stretched next, if any."""

    rows: Floats
    weights: Floats
    mistakes: Floats
    direction: Floats | None


def dunagan_vempala(
    system: System,
    limits: SearchLimits,
    generator: np.random.Generator,
    *,
    patience: float = PATIENCE,
    watch: Callable[[Phase], None] | None = None,
) -> SearchResult:
    """Perceptron, random direction, stretch; again. `potential` has ||w||/k of every phase, in its own coordinates.

    It bounds the margin in those coordinates, which rescaling widens. `watch` is called with every phase.
    """
    A, m = system.unit, system.dimension
    B = np.eye(m)
    iterations, rescalings = 0, 0
    potential: list[float] = []
    proofs = Proofs(system, limits, first=1)
    while True:
        C = A @ B
        lengths = np.linalg.norm(C, axis=1)
        C /= lengths[:, None]
        w, counts, converged = _few_mistakes(C, math.ceil(patience * m * m), limits)
        iterations += int(counts.sum())
        potential.append(float(np.linalg.norm(w) / counts.sum()))
        weights = counts / lengths / (counts / lengths).sum()
        x = B @ w if converged and system.is_solved_by(B @ w) else None
        combination = proofs.attempt(rescalings + 1, weights) if x is None else None
        stopped = limits.reached(float(np.linalg.norm(weights @ A)))
        if iterations >= MOST_STEPS:
            stopped = f"{iterations:,} steps were made"
        direction = None
        if x is None and not combination and not stopped:
            direction, steps = _random_direction(C, generator, limits)
            iterations += steps
            if direction is None:
                stopped = limits.reached(math.inf) or f"{DRAWS} random directions came to nothing"
            else:
                x = B @ direction if np.all(C @ direction > 0) and system.is_solved_by(B @ direction) else None
                B = B + np.outer(B @ direction, direction)
                rescalings += 1
        if watch is not None:
            watch(Phase(C, w, counts, direction))
        if x is not None or combination or stopped:
            found = (iterations, rescalings, tuple(potential), stopped)
            return SearchResult("dunagan-vempala", x, combination, weights, *found)


def _few_mistakes(C: Floats, most: int, limits: SearchLimits) -> tuple[Floats, Floats, bool]:
    """The perceptron on unit rows, for at most `most` mistakes: the weights, the counts, whether it converged."""
    w, counts = np.zeros(C.shape[1]), np.zeros(len(C))
    made, converged = 0, False
    while not converged and made < most:
        more, converged = perceptron_epochs(C, w, counts, most - made, MOST_PATIENCE)
        made += more
        if limits.reached(math.inf):
            break
    return w, counts, converged


def _random_direction(C: Floats, generator: np.random.Generator, limits: SearchLimits) -> tuple[Floats | None, int]:
    """A unit vector that violates no row by more than sigma, from a random start; and the number of steps.

    If there is a solution, a start succeeds with probability at least 1/8. None if all starts failed.
    """
    m = C.shape[1]
    sigma = 1 / (32 * m)
    patience = math.ceil(math.log(max(m, 2)) / sigma**2)
    steps = 0
    for _ in range(DRAWS):
        start = generator.standard_normal(m)
        x = np.asarray(start / np.linalg.norm(start))
        taken, is_done = 0, False
        while not is_done and taken < patience and not limits.reached(math.inf):
            more, is_done = walk(C, x, sigma, min(CHUNK, patience - taken))
            taken += more
        steps += taken
        length = float(np.linalg.norm(x))
        if is_done and length > 1e-12:
            return x / length, steps
    return None, steps
