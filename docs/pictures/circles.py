"""Draw circles.png: a circle that holds one class, and points that no circle holds.

python docs/pictures/circles.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import separating_ball

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"


def cloud(seed=4):
    """Points in a disc, and around it."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2.2, 2.2, (90, 2))
    distance = np.linalg.norm(X - [0.3, -0.2], axis=1)
    keep = abs(distance - 1.2) > 0.12
    return X[keep], distance[keep] < 1.2


def ring(seed=1):
    """A ring, and a few points in its middle."""
    generator = np.random.default_rng(seed)
    angles = generator.uniform(0, 2 * np.pi, 40)
    radius = generator.uniform(1.5, 2.1, 40)
    around = np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    return np.vstack([around, generator.normal(0, 0.35, (12, 2))]), np.arange(52) < 40


def draw_points(ax, X, held):
    ax.scatter(*X[held].T, c=RED, marker="o", s=34, label="to be held", zorder=3)
    ax.scatter(*X[~held].T, c=BLUE, marker="s", s=30, label="to be kept out", zorder=3)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color("#bbbbbb")


def main(folder=Path(__file__).parent):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    X, held = cloud()
    ball = separating_ball(X, held)
    draw_points(left, X, held)
    left.add_patch(plt.Circle(ball.center, ball.radius, fill=False, color=GREY, linewidth=2))
    left.plot(*ball.center, "+", color=GREY, markersize=10)
    left.set_title("A circle that holds red and keeps blue out")

    X, held = ring()
    nothing = separating_ball(X, held)
    draw_points(right, X, held)
    rows = list(nothing.rows)
    right.scatter(*X[rows].T, s=170, facecolors="none", edgecolors=GREY, linewidths=2, zorder=4)
    right.set_title("No circle holds this ring: the marked points prove it")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(folder / "circles.png", dpi=110)


if __name__ == "__main__":
    main()
