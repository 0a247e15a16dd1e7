"""Draw expressivity.png: the subsets of four points that circles cut out, and the one that they do not.

python docs/pictures/expressivity.py
"""

from itertools import combinations
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import dichotomies, separating_ball

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"
POINTS = np.array([[0.0, 0.0], [3.0, 0.0], [2.0, 2.0], [0.0, 3.0]])


def circle_around(subset):
    """A circle that holds the subset and nothing else: found by lifting, or far away, or around everything."""
    inside = np.isin(np.arange(len(POINTS)), subset)
    if inside.all():
        return POINTS.mean(axis=0), 3.0
    if not inside.any():
        return np.array([3.2, 3.2]), 0.5
    ball = separating_ball(POINTS, inside)
    return ball.center, ball.radius


def main(folder=Path(__file__).parent):
    cut_out = set(dichotomies(POINTS, "balls"))
    subsets = [subset for size in range(5) for subset in combinations(range(4), size)]
    figure, axes = plt.subplots(2, 8, figsize=(12, 3.6), layout="constrained")
    for ax, subset in zip(axes.flat, subsets, strict=True):
        inside = np.isin(np.arange(4), subset)
        ax.scatter(*POINTS[inside].T, c=RED, marker="o", s=42, zorder=3)
        ax.scatter(*POINTS[~inside].T, c=BLUE, marker="s", s=36, zorder=3)
        ax.set(xlim=(-1.6, 4.6), ylim=(-1.6, 4.6), xticks=[], yticks=[], aspect="equal")
        if subset in cut_out:
            center, radius = circle_around(subset)
            ax.add_patch(plt.Circle(center, radius, fill=False, color=GREY, linewidth=1.6))
        else:
            ax.set_title("no circle", color=GREY, fontsize=11)
            ax.set_facecolor("#f0f0f0")
    figure.savefig(folder / "expressivity.png", dpi=110)


if __name__ == "__main__":
    main()
