"""Draw theory_second_note.png: the note's six points, two losses, and what scaling does to a folded bias.

python docs/pictures/theory_second_note.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from novikoff import Perceptron

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"
X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
Y = np.array([-1, 1, 1, -1, -1, 1])


def draw_example(ax):
    learner = Perceptron(readout="last", fit_intercept=False, shuffle=False, record_mistakes=True).fit(X, Y)
    rows = learner.mistake_rows_
    walk = np.cumsum(Y[rows, None] * X[rows], axis=0)
    for k, w in enumerate(walk):
        along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
        ax.plot(*np.outer(along, [-4, 4]), color=GREY, alpha=0.3 + 0.35 * k, linewidth=1 + k / 2)
        ax.annotate(
            "", w, (0, 0), arrowprops={"arrowstyle": "->", "color": GREY, "alpha": 0.3 + 0.35 * k, "linewidth": 1.6}
        )
        ax.annotate(f"$w_{k + 2}$", w, xytext=(4, 3), textcoords="offset points", color=GREY)
    ax.scatter(*X[Y > 0].T, c=RED, marker="o", s=45, zorder=3)
    ax.scatter(*X[Y < 0].T, c=BLUE, marker="s", s=40, zorder=3)
    ax.scatter(*X[rows].T, s=170, facecolors="none", edgecolors="black", linewidths=1.2, zorder=4)
    ax.set(xlim=(-2.4, 3.9), ylim=(-2.8, 2.8), aspect="equal", title="Three mistakes (ringed) to (3, 1)")


def draw_losses(ax):
    margin = np.linspace(-2, 2, 401)
    ax.plot(margin, np.maximum(0, 1 - margin), color=GREY, linestyle="--", label="hinge: max(0, 1 - s)")
    ax.plot(margin, np.maximum(0, -margin), color=RED, label="perceptron: max(0, -s)")
    ax.set(xlabel=r"s = y $\theta\cdot$x", title="Two losses")
    ax.legend(frameon=False)


def draw_scaling(ax):
    table, flower = load_iris(return_X_y=True)
    factors = 2.0 ** np.arange(-7, 8)
    for fit_intercept, colour, words in ((True, RED, "bias folded in"), (False, BLUE, "no bias")):
        learner = Perceptron(readout="last", max_iter=None, shuffle=False, fit_intercept=fit_intercept)
        mistakes = [learner.fit(table * factor, flower == 0).n_mistakes_ for factor in factors]
        ax.loglog(factors, mistakes, "o-", color=colour, label=words, markersize=4)
    ax.set(xlabel="every length times", ylabel="mistakes", title="Scaling all points (setosa)")
    ax.legend(frameon=False)


def main(folder=Path(__file__).parent):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12.5, 3.9), layout="constrained")
    draw_example(left)
    draw_losses(middle)
    draw_scaling(right)
    figure.savefig(folder / "theory_second_note.png", dpi=110)


if __name__ == "__main__":
    main()
