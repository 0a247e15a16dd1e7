"""Draw review.png: the error among accepted rows against the share accepted, and the thresholds that are proved.

python docs/pictures/review.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron
from novikoff.engine.chances import binomial_chance_at_most

ALLOWED = {0.01: "#08306b", 0.02: "#2166ac", 0.05: "#7fb3d5"}
N_TRAIN, N_HELD_OUT, DIMENSION = 4_000, 2_000, 8


def main(folder=Path(__file__).parent):
    chance = np.random.default_rng(0)
    X = chance.standard_normal((N_TRAIN + N_HELD_OUT, DIMENSION))
    y = X.sum(axis=1) + 1.2 * chance.standard_normal(len(X)) > 0
    X_train, X_held_out, y_held_out = X[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]
    model = Perceptron(random_state=0).fit(X_train, y[:N_TRAIN])
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for error, colour in ALLOWED.items():
        review = model.review(X_train, X_held_out, y_held_out, error=error)
        share = 100 * review.n_accepted / N_HELD_OUT
        ax.plot([0, share], [100 * error] * 2, color=colour, linestyle=":")
        ax.plot([share] * 2, [0, 100 * error], color=colour, linestyle=":")
        ax.plot(share, 100 * error, "o", color=colour, label=f"{100 * error:.0f} % allowed: {share:.0f} % accepted")
    counts = list(zip(review.accepted, review.wrong, strict=True))  # of the last, whose grid starts strictest
    shares = [100 * n / N_HELD_OUT for n, _ in counts]
    bounds = [100 * binomial_chance_at_most(wrong, n, 1 - review.confidence) for n, wrong in counts]
    ax.plot(shares, [100 * wrong / n for n, wrong in counts], color="#555555", label="error on held-out rows")
    ax.plot(shares, bounds, color="#c0392b", label="upper bound, 95 % confidence")
    ax.set(xlabel="accepted, in per cent of the rows", ylabel="error among them, in per cent")
    ax.set(xlim=(0, 100), ylim=(0, None))
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(folder / "review.png", dpi=110)


if __name__ == "__main__":
    main()
