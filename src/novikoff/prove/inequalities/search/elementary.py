"""Two classical methods for Ax > 0, with unit rows a_i: the perceptron's own, and von Neumann's.

Both keep a point y of the convex hull of the rows (the perceptron up to its length), and both need about 1/rho^2 steps
when the margin is rho. If the hull contains the origin there is no solution, and y goes to the origin.
"""

import numpy as np

from novikoff.engine.inequalities import perceptron_epochs
from novikoff.prove.inequalities.search.methods import Found, Limits, Proofs
from novikoff.prove.inequalities.search.system import System

MOST_MISTAKES = 1_000_000
# Rows that are looked at between two looks at the clock.
MOST_PATIENCE = 1_000_000


def perceptron(system: System, limits: Limits, most_mistakes: int = MOST_MISTAKES) -> Found:
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
        if is_free and wrong is not None:  # positive in float64, but not in truth
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
            return Found("perceptron", x, combination, counts / mistakes, mistakes, 0, tuple(history), stopped)


def von_neumann(system: System, limits: Limits, most_steps: int = MOST_MISTAKES) -> Found:
    """Von Neumann's method (Dantzig 1992): walk from y straight towards the row with the smallest product with y.

    It stops on the way where y is shortest. ||y|| bounds rho from above at every step, and never grows.
    """
    A = system.unit
    weights = np.zeros(system.n_rows)
    weights[0], y = 1.0, A[0].copy()
    steps = 0
    history: list[float] = []
    proofs = Proofs(system, limits)
    while True:
        products = A @ y
        worst = int(np.argmin(products))
        square, score = float(y @ y), float(products[worst])
        if steps + 1 >= 2 ** len(history):
            history.append(square**0.5)
        x = y if score > 0 and proofs.solves(steps, y) else None
        combination = proofs.attempt(steps, weights) if x is None else None
        stopped = f"{steps:,} steps were made" if steps == most_steps else limits.reached(square**0.5)
        if x is not None or combination or stopped:
            return Found("von-neumann", x, combination, weights, steps, 0, tuple(history), stopped)
        theta = (square - score) / (square + 1 - 2 * score)
        weights *= 1 - theta
        weights[worst] += theta
        y = (1 - theta) * y + theta * A[worst]
        steps += 1
