"""The classical method for Ax > 0, with unit rows a_i: the perceptron's own.

It needs about 1/rho^2 steps when the margin is rho. If the hull of the rows contains the origin there is no solution,
and the average of the rows that were added goes to the origin.
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
