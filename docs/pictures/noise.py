"""Draw noise.png: a linear program, and the perceptron's three read-outs, as labels flip.

python docs/pictures/noise.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

from novikoff.engine.rows import as_rows
from novikoff.learn.linear.memory import decider
from novikoff.learn.linear.space import perceptron

COLOURS = {"linear program": "#555555", "last": "#c0392b", "average": "#2166ac", "vote": "#7fb3d5"}
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
SEEDS, N_TRAIN, N_TEST, DIMENSION = 10, 200, 2_000, 10


def drawn(seed):
    """Gaussian points, labelled by a plane through 0; none of the training points is close to it."""
    generator = np.random.default_rng(seed)
    u = generator.standard_normal(DIMENSION)
    X = generator.standard_normal((4 * N_TRAIN, DIMENSION))
    X = X[np.abs(X @ u) > 0.3 * np.linalg.norm(u)][:N_TRAIN]
    test = generator.standard_normal((N_TEST, DIMENSION))
    return X, np.sign(X @ u).astype(int), test, np.sign(test @ u).astype(int), generator


def errors(seed, share):
    """The test error of each method, in per cent, after a share of the training labels was flipped; None: no answer."""
    X, y, test, truth, generator = drawn(seed)
    flipped = generator.permutation(N_TRAIN)[: round(share * N_TRAIN)]
    y[flipped] *= -1
    found = {"linear program": None}
    folded = y[:, None] * np.hstack([X, np.ones((N_TRAIN, 1))])  # every score is to be at least 1
    answer = linprog(np.zeros(DIMENSION + 1), A_ub=-folded, b_ub=-np.ones(N_TRAIN), bounds=(None, None))
    if answer.status == 0:
        found["linear program"] = np.mean(np.sign(test @ answer.x[:-1] + answer.x[-1]) != truth)
    for readout in ("last", "average", "vote"):
        learned = perceptron(X, y, readout=readout, random_state=seed)
        found[readout] = np.mean(np.where(decider(learned.memory, readout).score(as_rows(test)) >= 0, 1, -1) != truth)
    return {name: None if value is None else 100 * value for name, value in found.items()}


def main(folder=Path(__file__).parent):
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    table = [[errors(seed, share) for seed in range(SEEDS)] for share in SHARES]
    for name, colour in COLOURS.items():
        answers = [[run[name] for run in runs if run[name] is not None] for runs in table]
        shown = [(100 * share, np.mean(found)) for share, found in zip(SHARES, answers, strict=True) if found]
        ax.plot(*zip(*shown, strict=True), "o-", color=colour, label=name, markersize=4)
    ax.axvline(2, color=COLOURS["linear program"], linestyle=":")
    ax.text(2.4, ax.get_ylim()[1] * 0.93, "from here on the linear program has no solution", color="#555555")
    ax.set(xlabel="labels flipped, in per cent", ylabel="test errors, in per cent", ylim=(0, None))
    ax.legend(frameon=False, loc="lower right")
    figure.savefig(folder / "noise.png", dpi=110)


if __name__ == "__main__":
    main()
