"""Draw four_points.png: why four points are too many for circles, for a quadrangle and for a point inside a triangle.

python docs/pictures/four_points.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import separating_ball

RED, BLUE, GREY, GREEN = "#c0392b", "#2166ac", "#555555", "#2b7a4b"
NAMES = "pqrs"
QUADRANGLE = np.array([[0.0, 0.0], [2.0, 2.0], [3.0, 0.0], [0.0, 3.0]])
TRIANGLE = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, 1.0]])


def draw_points(ax, points, inside):
    for i, (x, y) in enumerate(points):
        ax.plot(x, y, "o" if i in inside else "s", color=RED if i in inside else BLUE, markersize=9, zorder=4)
        name = ax.annotate(NAMES[i], (x, y), xytext=(9, 9), textcoords="offset points", fontsize=13, fontstyle="italic")
        name.set_zorder(5)
    ax.set(xticks=[], yticks=[], aspect="equal")


def draw_circle(ax, center, radius, **style):
    ax.add_patch(plt.Circle(center, radius, fill=False, linewidth=1.8, **style))


def circle_through(one, other, towards):
    """A circle that just holds two points, with its centre beside the middle of them."""
    middle = (one + other) / 2
    center = middle + 0.9 * (towards - middle) / np.linalg.norm(towards - middle)
    return center, 1.02 * float(np.linalg.norm(one - center))


def draw_possible(ax):
    """One diagonal has a circle."""
    ball = separating_ball(QUADRANGLE, [True, True, False, False])
    draw_points(ax, QUADRANGLE, (0, 1))
    draw_circle(ax, ball.center, ball.radius, color=RED)
    ax.set(xlim=(-1.6, 4.4), ylim=(-1.6, 4.4), title="{p, q} has a circle")


def draw_impossible(ax):
    """If the other had one, a line would go between two segments that cross."""
    p, q, r, s = QUADRANGLE
    draw_points(ax, QUADRANGLE, (2, 3))
    for one, other in ((p, q), (r, s)):
        ax.plot(*np.column_stack([one, other]), color=GREY, linestyle="--")
    for towards in (p, q):
        draw_circle(ax, *circle_through(r, s, towards), color=RED, linestyle=":")
    ax.set(xlim=(-1.6, 4.4), ylim=(-1.6, 4.4), title="so {r, s} has none: the segments cross")


def draw_inside(ax):
    """A circle is convex."""
    draw_points(ax, TRIANGLE, (0, 1, 2))
    ax.fill(*TRIANGLE[:3].T, color=GREEN, alpha=0.18, zorder=1)
    center = np.array([2.0, (9 - 4) / 6])  # as far from p and q as from r
    draw_circle(ax, center, 1.03 * float(np.linalg.norm(TRIANGLE[0] - center)), color=RED, linestyle=":")
    ax.set(xlim=(-1.0, 5.0), ylim=(-2.2, 3.8), title="{p, q, r} has none: s is in their triangle")


def main(folder=Path(__file__).parent):
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.3), layout="constrained")
    for ax, draw in zip(axes, (draw_possible, draw_impossible, draw_inside), strict=True):
        draw(ax)
    figure.get_layout_engine().set(h_pad=0.15)
    figure.savefig(folder / "four_points.png", dpi=110)


if __name__ == "__main__":
    main()
