"""Draw separability.png: the four cases of separability, each with its verdict.

python docs/pictures/separability.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import certify

RED, BLUE, GREY, GREEN = "#c0392b", "#2166ac", "#555555", "#2b7a4b"

# Red points, then blue ones.
CASES = {
    "Separable through the origin": ([[1, 2], [2, 1], [0.5, 1.5]], [[-1, -2], [-2, -0.5], [-0.5, -1.5]]),
    "Separable with a bias only": ([[1, 2], [2, 1.5], [2.5, 2.5]], [[0.5, 0.75], [0.25, 0.3], [1.25, 0.25]]),
    "Quasi-separable: some lie on the line": ([[-1, -1], [1.5, 1.5], [-1, 1.5]], [[0.5, 0.5], [1.5, -0.5], [0, -1.5]]),
    "Overlapping": ([[-1, -1], [1, 1], [1.5, -0.5]], [[-1, 1], [1, -1], [0.25, 0.25]]),
}


def line_of(certificate):
    """The widest line; in the case in between, the one that some examples lie on; none if there is none."""
    if certificate.separator is not None:
        return *certificate.separator.weights, certificate.separator.bias
    if certificate.verdict.value == "quasi-separable":
        return -1.0, 1.0, 0.0
    return None


def draw(ax, title, positive, negative):
    positive, negative = np.array(positive), np.array(negative)
    X, y = np.vstack([positive, negative]), [1] * len(positive) + [-1] * len(negative)
    through_origin = certify(X, y, fit_intercept=False).verdict.value == "separable"
    certificate = certify(X, y, fit_intercept=not through_origin)
    ax.scatter(*positive.T, c=RED, marker="o", s=62, zorder=3)
    ax.scatter(*negative.T, c=BLUE, marker="s", s=56, zorder=3)
    ax.plot(0, 0, "+", color=GREY, markersize=11, zorder=2)
    line = line_of(certificate)
    if line is not None:
        a, b, c = line
        point, along = -c * np.array([a, b]) / (a * a + b * b), np.array([-b, a]) / np.hypot(a, b)
        ax.plot(*np.column_stack([point - 9 * along, point + 9 * along]), color=GREEN, linewidth=2)
    ax.set(xlim=(-2.9, 2.9), ylim=(-2.9, 2.9), xticks=[], yticks=[], aspect="equal")
    ax.set_title(title, fontsize=11)
    ax.set_xlabel(f"certify: {certificate.verdict.value}", color=GREY)


def main(folder=Path(__file__).parent):
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.9), layout="constrained")
    for ax, (title, (positive, negative)) in zip(axes, CASES.items(), strict=True):
        draw(ax, title, positive, negative)
    figure.savefig(folder / "separability.png", dpi=110)


if __name__ == "__main__":
    main()
