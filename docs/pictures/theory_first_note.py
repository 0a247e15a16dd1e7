"""Draw theory_first_note.png: the cosine of the proof along a run, and mistakes that grow with the dimension.

python docs/pictures/theory_first_note.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron, Steps, certify, follow_proof, solve_inequalities

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"


def two_classes(n=400, dimension=8, gap=0.1, seed=3):
    """Points in a ball, on two sides of a plane through the origin, none closer to it than the gap."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1, 1, (20 * n, dimension))
    score = X.sum(axis=1) / np.sqrt(dimension)
    far = abs(score) > gap
    return X[far][:n], np.where(score[far][:n] > 0, 1, -1)


def exponential(n):
    """Every unknown must exceed the sum of those before it, so the margin is about 2^-n."""
    return np.eye(n) - np.tril(np.ones((n, n)), -1)


def draw_cosine(ax):
    X, y = two_classes()
    widest = certify(X, y, fit_intercept=False).separator
    learner = Perceptron(readout="last", max_iter=None, fit_intercept=False, record_mistakes=True, random_state=1)
    proof = follow_proof(Steps.of_rows(X, y, learner.fit(X, y).mistake_rows_, fit_intercept=False), widest)
    k = np.arange(proof.mistakes + 1)
    ax.axhline(1, color=GREY, linewidth=1)
    ax.plot(k, proof.cosine, color=BLUE, label="cosine of w and u")
    many = np.arange(1, 3 * proof.mistakes)
    ax.plot(many, np.sqrt(many) * proof.margin / proof.radius, color=RED, label=r"its floor, $\sqrt{k}\,\gamma/R$")
    ax.plot([0], [0], "o", markerfacecolor="white", markeredgecolor=BLUE)
    ax.annotate("0/0", (0, 0), xytext=(7, -3), textcoords="offset points", color=BLUE)
    ax.set(
        xlabel="mistakes k",
        title=f"{proof.mistakes} mistakes; the floor reaches 1 at {proof.bound}",
        ylim=(-0.05, 1.08),
    )
    ax.legend(loc="lower right", frameon=False)


def draw_growth(ax):
    dimensions = np.arange(2, 12)
    mistakes, bounds = [], []
    for n in dimensions:
        A = exponential(n)
        mistakes.append(solve_inequalities(A, method="perceptron").iterations)
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        y = np.where(np.arange(n) == 0, -1, 1)
        bounds.append(certify(A / lengths * y[:, None], y, fit_intercept=False).mistake_bound)
    ax.semilogy(dimensions, bounds, "s-", color=RED, label=r"the bound $1/\gamma^2$")
    ax.semilogy(dimensions, mistakes, "o-", color=BLUE, label="mistakes")
    ax.set(xlabel="dimension n", title=r"A margin of about $2^{-n}$")
    ax.legend(frameon=False)


def main(folder=Path(__file__).parent):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    draw_cosine(left)
    draw_growth(right)
    figure.savefig(folder / "theory_first_note.png", dpi=110)


if __name__ == "__main__":
    main()
