"""Draw theory_third_note.png: separators that a perceptron ends with, and the distance of the third note's proof.

python docs/pictures/theory_third_note.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron, Separator, Steps, certify, follow_proof

RED, BLUE = "#c0392b", "#2166ac"


def two_sides(n=120, gap=0.16, seed=2):
    """Points on two sides of a line, none closer to it than the gap."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(0, 6, (n, 2))
    score = X @ [0.8, 0.6] - 4.2
    far = abs(score) > gap
    return X[far], np.where(score[far] > 0, 1, -1)


def draw_line(ax, w, b, **how):
    x = np.array([-1.0, 7.0])
    ax.plot(x, -(w[0] * x + b) / w[1], **how)


def draw_separators(ax, X, y, widest):
    for seed in range(12):
        learner = Perceptron(readout="last", max_iter=None, random_state=seed).fit(X, y)
        draw_line(ax, learner.coef_[0], learner.intercept_[0], color="#999999", linewidth=1)
    draw_line(ax, widest.weights, widest.bias, color="black", linewidth=2.5, label="the widest")
    ax.plot([], [], color="#999999", label="where a perceptron stops")
    ax.scatter(*X[y > 0].T, c=RED, marker="o", s=24, zorder=3)
    ax.scatter(*X[y < 0].T, c=BLUE, marker="s", s=22, zorder=3)
    ax.set(xlim=(-0.2, 6.2), ylim=(-0.2, 6.2), xticks=[], yticks=[], title="Twelve orders, twelve separators")
    ax.legend(loc="lower left")


def draw_distance(ax):
    """Along the worked example of the second note: 25, 20, 10, 5."""
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    proof = follow_proof(Steps.of_rows(X, [-1, 1, 1, -1, -1, 1], [0, 2, 4], fit_intercept=False), Separator([1, 0]))
    k = np.arange(proof.bound + 1)
    ax.plot(k, proof.distance[0] - k * proof.radius**2, color=RED, linestyle="--", label=r"its ceiling, $25 - 5k$")
    ax.plot(proof.distance, "o-", color=BLUE, label=r"$\alpha_k$")
    for i, distance in enumerate(proof.distance):
        ax.annotate(f"{distance:.0f}", (i, distance), xytext=(7, 6), textcoords="offset points", color=BLUE)
    ax.set(xlabel="mistakes k", ylim=(0, 27), title=r"$\alpha_k$ falls by at least $R^2 = 5$, never below 0")
    ax.legend(loc="upper right", frameon=False)


def main(folder=Path(__file__).parent):
    X, y = two_sides()
    widest = certify(X, y).separator
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw_separators(left, X, y, widest)
    draw_distance(right)
    figure.savefig(folder / "theory_third_note.png", dpi=110)


if __name__ == "__main__":
    main()
