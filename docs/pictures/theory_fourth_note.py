"""Draw theory_fourth_note.png: labels folded in, and the walk of the weights into the region of solutions.

python docs/pictures/theory_fourth_note.py
"""

from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron
from novikoff.features.fold import fold_labels, unit_length

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"
X = np.array([[2.6, -2.1], [2, 3.5], [1.0, 2.2], [3, 0.6], [-2.5, -1.2], [-1.5, -3], [1.1, -2.4], [-2.2, 0.9]])
Y = np.array([1, 1, 1, 1, -1, -1, -1, -1])


def draw_points(ax, points, title):
    ax.axhline(0, color="#dddddd", zorder=0)
    ax.axvline(0, color="#dddddd", zorder=0)
    ax.scatter(*points[Y > 0].T, c=RED, marker="o", s=40, zorder=3)
    ax.scatter(*points[Y < 0].T, c=BLUE, marker="s", s=36, zorder=3)
    ax.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal", xticks=[], yticks=[], title=title)


def draw_weights(ax, folded):
    """Every example demands <w, x> > 0: a half-plane of weights. What is left of the plane is the region."""
    span = np.linspace(-4, 4, 400)
    grid = np.stack(np.meshgrid(span, span), axis=-1)
    solved = (grid @ folded.T > 0).all(axis=-1)
    ax.contourf(span, span, solved, levels=[0.5, 1.5], colors=["#d9ead3"])
    for x in folded:
        along = np.array([-x[1], x[0]]) / np.linalg.norm(x)
        ax.plot(*np.outer(along, [-6, 6]), color="#bbbbbb", linewidth=0.8)
    learner = Perceptron(readout="last", max_iter=None, fit_intercept=False, shuffle=False, record_mistakes=True)
    rows = learner.fit(folded * Y[:, None], Y).mistake_rows_
    walk = np.vstack([np.zeros(2), np.cumsum(folded[rows], axis=0)])
    for before, after in pairwise(walk):
        ax.annotate("", after, before, arrowprops={"arrowstyle": "->", "color": GREY, "linewidth": 1.8})
    for k, w in enumerate(walk):
        ax.plot(*w, "o", color="black", markersize=4)
        ax.annotate(f"$w_{k}$", w, xytext=(5, -11), textcoords="offset points")
    ax.set(xlim=(-2, 2), ylim=(-1.2, 2.8), aspect="equal", xticks=[], yticks=[])
    ax.set_title("The weights walk into the region (green)")


def main(folder=Path(__file__).parent):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12.5, 4.6), layout="constrained")
    folded = fold_labels(X, Y)
    draw_points(left, X, "Two classes")
    draw_points(middle, folded, "Labels folded in: all on one side")
    draw_weights(right, unit_length(folded))
    figure.savefig(folder / "theory_fourth_note.png", dpi=110)


if __name__ == "__main__":
    main()
