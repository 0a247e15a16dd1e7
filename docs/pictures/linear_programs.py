"""Draw linear_programs.png: separation as a linear program, and a linear program as a separation.

python docs/pictures/linear_programs.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import certify, linprog, program_as_separation, separation_as_program

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"
X, Y = np.array([[0.0], [0.8], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [-1.0, 1.5]])
B = np.array([2.0, 1.5, 2.8, 1.2, 1.0, 2.4])
COST, VALUE = np.array([-1.0, -1.5]), -2.5


def grid(low, high, size=500):
    axis = np.linspace(low, high, size)
    return np.meshgrid(axis, axis)


def separation(ax):
    """Every example of one coordinate is a half-plane of weights and biases."""
    w, b = grid(-1.5, 6.5)
    b = b - 5.0
    least = np.min([y * (w * x + b) for x, y in zip(X[:, 0], Y, strict=True)], axis=0)
    ax.contourf(w, b, least, levels=[0, 1, 100], colors=["#e4e4e4", "#b9c9dc"])
    for (x,), y in zip(X, Y, strict=True):
        ax.plot([-2, 7], [2 * x, -7 * x], color=RED if y > 0 else BLUE, linewidth=1.2)
    solution = linprog(*separation_as_program(X, Y)).x
    ax.plot(0, 0, "o", color=GREY)
    ax.text(0.25, 0.2, "w = 0, b = 0", color=GREY)
    ax.plot(*solution[:2], "*", color=GREY, markersize=12)
    ax.text(4.8, -4.34, "scores ≥ 0", rotation=-37, ha="center", va="center")
    ax.text(4.3, -5.9, "scores ≥ 1")
    ax.set(xlim=(-1.5, 6.5), ylim=(-6.5, 1.5), xlabel="w", ylabel="b", title="Four examples are four half-planes")


def polygon(ax, x):
    """The program, and the half-plane of the points that cost less than the value."""
    p, q = grid(-2.2, 3.0)
    slack = np.min([b - (a[0] * p + a[1] * q) for a, b in zip(A, B, strict=True)], axis=0)
    cheaper = COST[0] * p + COST[1] * q < VALUE
    ax.contourf(p, q, np.where(slack > 0, 1 + cheaper, 0), levels=[0.5, 1.5, 2.5], colors=["#e4e4e4", "#e8bdb7"])
    for a, b in zip(A, B, strict=True):
        ax.contour(p, q, a[0] * p + a[1] * q, levels=[b], colors=[BLUE], linewidths=1.2, linestyles="-")
    ax.contour(p, q, COST[0] * p + COST[1] * q, levels=[VALUE], colors=[RED], linewidths=1.6, linestyles="-")
    ax.plot(*x, "*", color=GREY, markersize=12)
    ax.text(*(x + 0.12), "x", color=GREY)
    ax.set(xlim=(-2.2, 3.0), ylim=(-2.2, 3.0), aspect="equal", title="Is there a point that costs less than v?")


def examples(ax, x):
    """The same lines as points a / b: x is now the line on which <x, p> = 1."""
    blue = np.vstack([A / B[:, None], np.zeros(2)])
    red = COST / VALUE
    ax.scatter(*blue.T, c=BLUE, marker="s", s=34, zorder=3)
    ax.scatter(*red, c=RED, marker="o", s=46, zorder=3)
    ax.text(*(red + 0.06), "c / v", color=RED)
    axis = np.array([-1.5, 1.5])
    ax.plot(axis, (1 - x[0] * axis) / x[1], color=GREY, linewidth=1.6)
    ax.set(xlim=(-1.25, 1.0), ylim=(-1.25, 1.0), aspect="equal", title="Separate the red point from the blue ones")


def main(folder=Path(__file__).parent):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    separation(left)
    problem = program_as_separation(COST, A, B, bounds=(None, None), value=VALUE)
    plane = certify(problem.X, problem.y, fit_intercept=False).vector
    x = problem.point([float(v) for v in plane[:-1]])
    polygon(middle, x)
    examples(right, x)
    for ax in (middle, right):
        ax.set(xticks=[], yticks=[])
    for ax in (left, middle, right):
        for side in ax.spines.values():
            side.set_color("#bbbbbb")
    figure.savefig(folder / "linear_programs.png", dpi=110)


if __name__ == "__main__":
    main()
