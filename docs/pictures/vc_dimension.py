"""Draw vc_dimension.png: why half-planes shatter no four points, boxes no five, and triangles no eight.

python docs/pictures/vc_dimension.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"


def draw(ax, points, red, title):
    points, red = np.array(points, dtype=float), np.array(red)
    ax.scatter(*points[red].T, c=RED, marker="o", s=70, zorder=3)
    ax.scatter(*points[~red].T, c=BLUE, marker="s", s=62, zorder=3)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.margins(0.18)
    ax.set_title(title, fontsize=11)


def main(folder=Path(__file__).parent):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 5.0), layout="constrained")
    four = [[0, 0], [3, 2.6], [3.4, 0.3], [0.4, 3]]
    draw(left, four, [True, True, False, False], "Half-planes: the two hulls meet,\nso no line goes between them")
    for i, j, colour in ((0, 1, RED), (2, 3, BLUE)):
        left.plot(*np.array([four[i], four[j]]).T, color=colour, linewidth=2)

    five = [[0, 1.6], [3.6, 2], [1.6, 0], [2.1, 3.4], [2.2, 1.7]]
    draw(middle, five, [True] * 4 + [False], "Boxes: the outermost four\nhold the fifth in their box")
    middle.add_patch(plt.Rectangle((0, 0), 3.6, 3.4, fill=False, color=GREY, linewidth=1.6))

    turns = np.linspace(0, 2 * np.pi, 9)[:-1]
    eight = np.column_stack([np.cos(turns), np.sin(turns)])
    inside = np.arange(8) % 2 == 0
    draw(right, eight, inside, "Triangles: a side cuts off one blue corner,\nand there are four")
    right.add_patch(plt.Polygon(eight, fill=False, color="#cccccc"))
    for x, y in eight[~inside]:
        along = 0.75 * np.array([-y, x])
        right.plot(*np.column_stack([0.85 * np.array([x, y]) - along, 0.85 * np.array([x, y]) + along]), color=GREY)
    figure.savefig(folder / "vc_dimension.png", dpi=110)


if __name__ == "__main__":
    main()
