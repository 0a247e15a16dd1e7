"""Draw theory_third_note.png: separators that a perceptron ends with, and the distance of the third note's proof.

python docs/pictures/theory_third_note.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron, Steps, certify, follow_proof

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


def draw_distance(ax, X, y, widest):
    learner = Perceptron(readout="last", max_iter=None, random_state=0, record_mistakes=True).fit(X, y)
    proof = follow_proof(Steps.of_rows(X, y, learner.mistake_rows_), widest)
    k = np.arange(proof.mistakes + 1)
    first = proof.distance[0]
    ax.plot(k, proof.distance / first, color=BLUE, label=r"$\alpha_k/\alpha_0$")
    ax.plot(k, proof.distance_ceiling / first, color=RED, label=r"its ceiling, $1 - k\gamma^2/R^2$")
    share = proof.distance[-1] / first
    ax.set(
        xlabel="mistakes k",
        ylim=(0, 1.05),
        title=rf"After {proof.mistakes} mistakes, $\alpha_k$ is {share:.0%} of $\alpha_0$",
    )
    ax.legend(loc="lower left", frameon=False)


def main(folder=Path(__file__).parent):
    X, y = two_sides()
    widest = certify(X, y).separator
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw_separators(left, X, y, widest)
    draw_distance(right, X, y, widest)
    figure.savefig(folder / "theory_third_note.png", dpi=110)


if __name__ == "__main__":
    main()
