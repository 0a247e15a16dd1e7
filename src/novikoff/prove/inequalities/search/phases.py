"""The perceptron rescaled as by Dunagan and Vempala (2008), phase by phase, for solvable systems Ax > 0.

Each phase runs the perceptron for 16 m^2 mistakes. If that is not enough the margin is small, and a random unit vector,
pushed back from every row that it violates by more than sigma = 1/(32 m), has a positive product with the centre of the
solutions with constant probability. Stretching the space twofold along it then widens the margin by a factor
1 + 1/(3 m), and otherwise costs less than that. `solve_inequalities` is faster, and not random.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from novikoff.engine.inequalities import perceptron_epochs, walk
from novikoff.prove.inequalities.search.solve import System
from novikoff.prove.separable.points import Floats

# The most mistakes in a phase, divided by m^2.
PATIENCE = 16.0
# Random directions in a phase: all of them fail once in 5,000 phases.
DRAWS = 64


class Phase(NamedTuple):
    """A phase: its unit rows, its weights, the mistakes on each row, the direction along which the space is stretched
    next, and in the last phase the solution, in the coordinates of the system."""

    rows: Floats
    weights: Floats
    mistakes: Floats
    direction: Floats | None
    solution: Floats | None


def dunagan_vempala(system: System, generator: np.random.Generator, patience: float = PATIENCE) -> Iterator[Phase]:
    """Perceptron, random direction, stretch; again, until a solution is found."""
    m = system.unit.shape[1]
    B = np.eye(m)
    while True:
        C = system.unit @ B
        C /= np.linalg.norm(C, axis=1)[:, None]
        w, counts = np.zeros(m), np.zeros(len(C))
        most = math.ceil(patience * m * m)
        _, converged = perceptron_epochs(C, w, counts, most, (most + 1) * len(C))
        x, direction = w if converged else None, None
        if x is None or not system.is_solved_by(B @ x):
            direction = _random_direction(C, generator)
            x = direction if np.all(C @ direction > 0) and system.is_solved_by(B @ direction) else None
        yield Phase(C, w, counts, direction, None if x is None else B @ x)
        if x is not None or direction is None:
            return
        B = B + np.outer(B @ direction, direction)


def _random_direction(C: Floats, generator: np.random.Generator) -> Floats:
    """Return a unit vector that violates no row by more than sigma, from a random start.

    If there is a solution, a start succeeds with probability at least 1/8.
    """
    m = C.shape[1]
    sigma = 1 / (32 * m)
    patience = math.ceil(math.log(max(m, 2)) / sigma**2)
    for _ in range(DRAWS):
        start = generator.standard_normal(m)
        x = np.asarray(start / np.linalg.norm(start))
        _, is_done = walk(C, x, sigma, patience)
        length = float(np.linalg.norm(x))
        if is_done and length > 1e-12:
            return x / length
    raise ArithmeticError(f"{DRAWS} random directions came to nothing: there may be no solution")
