"""Draw three_answers.png: weights learned from a table, a margin that is proved, and a coefficient that is infinite.

python docs/pictures/three_answers.py
"""

from io import StringIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from novikoff import Perceptron, certify, existence
from novikoff.data import read
from novikoff.data.samples import sample

RED, BLUE, GREY, GREEN = "#c0392b", "#2166ac", "#555555", "#2b7a4b"


def draw_weights(ax):
    """The heaviest weights of a model of cars."""
    model = Perceptron(random_state=0).fit(read(pd.read_csv(StringIO(sample("cars.csv"))), label="sport_car"))
    heaviest = np.argsort(-abs(model.coef_[0]))[:7][::-1]
    weights = model.coef_[0][heaviest]
    names = [model.encoding_.feature_names[place] for place in heaviest]
    ax.barh(names, weights, color=np.where(weights > 0, RED, BLUE))
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_title("Is it a sports car?\nweights with names, from a CSV file", fontsize=11)
    ax.set_xlabel(f"no  ◀  weight  ▶  yes      ({model.run_.errors} of {model.run_.n_rows} rows wrong)", color=GREY)


def draw_margin(ax):
    """The widest line between two classes, and what it proves."""
    generator = np.random.default_rng(4)
    X = generator.uniform(-2, 2, (90, 2)).round(2)
    side = X @ [1.0, -0.6] + 0.3
    X, side = X[abs(side) > 0.35], side[abs(side) > 0.35]
    certificate = certify(X, side > 0)
    run = Perceptron(readout="last", max_iter=None, random_state=0).fit(X, side > 0).run_
    (a, b), c = certificate.separator.weights, certificate.separator.bias
    line, reach = np.array([-3.0, 3.0]), abs(X @ [a, b] + c).min()
    for offset, style in ((0, "-"), (reach, "--"), (-reach, "--")):
        ax.plot(line, (offset - c - a * line) / b, color=GREEN, linestyle=style, linewidth=2 if offset == 0 else 1)
    ax.scatter(*X[side > 0].T, c=RED, marker="o", s=28, zorder=3)
    ax.scatter(*X[side < 0].T, c=BLUE, marker="s", s=24, zorder=3)
    ax.set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[], yticks=[])
    ax.set_title("Can a line separate them?\nproved, with the widest margin", fontsize=11)
    ax.set_xlabel(f"{run.mistakes} mistakes made; the theorem allows {certificate.mistake_bound}", color=GREY)


def draw_estimates(ax):
    """Newton's method for a logistic regression: one coefficient settles, the other grows as long as one computes."""
    X = np.array([[1, 0, 30], [1, 0, 40], [1, 1, 30], [1, 1, 40], [1, 1, 50], [1, 1, 60]], dtype=float)
    y, beta, path = np.array([0, 0, 1, 0, 1, 0]), np.zeros(3), []
    for _ in range(16):
        p = 1 / (1 + np.exp(-X @ beta))
        beta = beta + np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]), X.T @ (y - p))
        path.append(beta)
    path, steps = np.array(path), np.arange(1, len(path) + 1)
    found = existence(X[:, 1:], y)
    ax.plot(steps, path[:, 1], color=RED, marker="o", markersize=4, label="dose")
    ax.plot(steps, 10 * path[:, 2], color=BLUE, marker="s", markersize=4, label="age (per 10 years)")
    ax.set_title("Which estimates are infinite?\nproved, where software just stops", fontsize=11)
    ax.set_xlabel(f"iterations of logistic regression; {len(found.diverging)} of 3 are infinite", color=GREY)
    ax.set_xticks([1, 4, 8, 12, 16])
    ax.legend(frameon=False, loc="upper left")


def main(folder=Path(__file__).parent):
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.1), layout="constrained")
    for ax, draw in zip(axes, (draw_weights, draw_margin, draw_estimates), strict=True):
        draw(ax)
        for edge in ("top", "right"):
            ax.spines[edge].set_visible(draw is draw_margin)
    figure.savefig(folder / "three_answers.png", dpi=110)


if __name__ == "__main__":
    main()
