"""Draw paraboloid.png: a plane above, a circle below (third note, 30.2).

Points are lifted to (x, ||x||^2). The plane that separates them there cuts the paraboloid above a circle.

python docs/pictures/paraboloid.py
"""

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import separating_ball

BLUE, ORANGE, BLACK, GREY = "#1b4b7f", "#ec9a3c", "#222222", "#6b6b6b"


def disc():
    """Points in a disc, and around it."""
    X = np.random.default_rng(4).uniform(-2.2, 2.2, (60, 2))
    distance = np.linalg.norm(X - [0.5, -0.3], axis=1)
    far_enough = abs(distance - 1.2) > 0.15
    return X[far_enough], (distance < 1.2)[far_enough]


def lift(points):
    """The height of the paraboloid above points."""
    return (points * points).sum(axis=-1)


def circle(n=97):
    turn = np.linspace(0, 2 * math.pi, n)
    return np.column_stack([np.cos(turn), np.sin(turn)])


def main(folder=Path(__file__).parent):
    X, held = disc()
    ball = separating_ball(X, held, inside=True)
    center, radius = np.array(ball.center), ball.radius
    ax = plt.figure(figsize=(7, 6.2), layout="constrained").add_subplot(projection="3d")
    # The painter's order by depth gets surfaces wrong that cross each other; here it is known.
    ax.computed_zorder = False
    rim = center + radius * circle()
    top = 1.05 * max(lift(X).max(), lift(rim).max())
    floor = -0.5 * top

    rings = np.sqrt(np.linspace(0, top, 24))[:, None, None] * circle(49)
    ax.plot_wireframe(*np.moveaxis(rings, 2, 0), lift(rings), color="#b5b5b5", linewidth=0.5, rstride=2, cstride=3)
    plane = center + radius * np.array([0.0, 1.45])[:, None, None] * circle(49)
    # The same height as the paraboloid's above the circle, and only there.
    height = 2 * plane @ center + radius**2 - center @ center
    ax.plot_surface(*np.moveaxis(plane, 2, 0), height, color=BLUE, alpha=0.22, linewidth=0, shade=False, zorder=2)

    ax.plot(*rim.T, lift(rim), color=BLACK, linewidth=2, zorder=3, label="where the plane cuts")
    ax.plot(*rim.T, floor, color=BLACK, linewidth=2, linestyle="--", zorder=1, label="the circle below")
    for x, y in rim[::8]:
        ax.plot([x, x], [y, y], [floor, x * x + y * y], color=GREY, linewidth=0.6, linestyle=":", zorder=1)
    for points, colour, marker, label in ((X[~held], BLUE, "s", "outside"), (X[held], ORANGE, "o", "inside")):
        look = {"c": colour, "marker": marker, "depthshade": False}
        ax.scatter(*points.T, lift(points), s=34, edgecolors=BLACK, linewidths=0.5, zorder=4, label=label, **look)
        ax.scatter(*points.T, floor, s=12, linewidths=0, zorder=2, **look)

    ax.set(xlabel="x₁", ylabel="x₂", zlabel="squared length", zlim=(floor, top), title="A plane above, a circle below")
    ax.set_zticks([tick for tick in ax.get_zticks() if 0 <= tick <= top])
    # From the plane's lower side, and a little beside it: one sees its face, and that it is tilted.
    ax.view_init(elev=17, azim=math.degrees(math.atan2(-center[1], -center[0])) + 38)
    ax.set_box_aspect((1, 1, 0.85), zoom=1.08)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
    ax.figure.savefig(folder / "paraboloid.png", dpi=90)


if __name__ == "__main__":
    main()
