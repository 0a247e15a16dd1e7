"""Draw criterion.png: the criterion of the perceptron over two weights, with two ways down, and from above.

After Duda and Hart's figure 5.9. J_p(w) is the sum of max(0, -y <w, x>) over the examples: flat pieces that rise from
the solution region, where it is 0. A perceptron goes down example by example, the batch rule along the whole gradient.

python docs/pictures/criterion.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import Perceptron, batch_descent, perceptron_criterion

BLUE, ORANGE, BLACK, REGION = "#1b4b7f", "#ec9a3c", "#222222", "#f3c48c"

# Three examples with folded labels, as in Duda and Hart's figure.
X = np.array([[-2.0, -1.5], [-0.5, 2.0], [1.0, 2.0]])
Y = np.ones(3, dtype=int)
REACH = 3.7


def perceptron_mistakes():
    """The rows of the mistakes, in order, until all are right."""
    signs = np.array([1, -1, 1])
    learner = Perceptron(readout="last", max_iter=None, fit_intercept=False, shuffle=False, record_mistakes=True)
    return learner.fit(X * signs[:, None], signs).mistake_rows_


def draw_surface(ax, path, batch):
    axis = np.linspace(-REACH, REACH, 61)
    first, second = np.meshgrid(axis, axis)
    heights = perceptron_criterion(X, Y, np.stack([first, second], axis=-1).reshape(-1, 2)).reshape(first.shape)
    top = heights.max()
    # The painter's order by depth gets paths on a surface wrong; here it is known.
    ax.computed_zorder = False
    look = {"linewidth": 0, "rstride": 1, "cstride": 1, "antialiased": False}
    ax.plot_surface(first, second, heights, cmap="Greys", vmin=-0.35 * top, vmax=1.4 * top, zorder=1, **look)
    solved = np.where(heights == 0, 0.0, np.nan)
    ax.plot_surface(first, second, solved, color=REGION, shade=False, zorder=2, **look)
    ax.scatter([], [], [], marker="s", s=60, color=REGION, label="every row is right, or a tie")
    for steps, colour, marks, label in (
        (batch, BLUE, "s-", f"in batches, {len(batch) - 1} steps"),
        (path, BLACK, "o-", f"example by example, {len(path) - 1} mistakes"),
    ):
        heights = perceptron_criterion(X, Y, steps)
        ax.plot(*steps.T, heights, marks, color=colour, markersize=4, linewidth=2, zorder=4, label=label)
    ax.set(xlabel="weight w₁", ylabel="weight w₂", zlabel="criterion", title="The criterion, and two ways down")
    ax.view_init(elev=32, azim=65)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)


def draw_from_above(ax, path, batch):
    """Weight space: every example is right about one side of a line through 0, and all of them in the cone."""
    axis = np.linspace(-REACH, REACH, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    smallest = (grid @ X.T).min(axis=-1)
    ax.contourf(axis, axis, smallest, levels=[0.0, smallest.max()], colors=[REGION], zorder=0)
    ax.fill([], [], color=REGION, label="every row is right")
    heights = perceptron_criterion(X, Y, grid.reshape(-1, 2)).reshape(len(axis), len(axis))
    ax.contour(axis, axis, heights, levels=10, colors="#999999", linewidths=0.8, zorder=1)
    for i, (a, b) in enumerate(X):
        ax.axline((0, 0), (-b, a), color=ORANGE, linestyle="--", linewidth=0.9, label="a row scores 0" if not i else "")
    arrows = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.007, "color": BLACK, "zorder": 4}
    ax.quiver(*path[:-1].T, *np.diff(path, axis=0).T, **arrows)
    ax.plot(*path[-1], "*", color=BLACK, markersize=14, zorder=5, label=f"after {len(path) - 1} mistakes")
    ax.plot(*batch.T, "s-", color=BLUE, markersize=4, linewidth=2, zorder=4, label="in batches")
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", xlabel="weight w₁", ylabel="weight w₂")
    ax.set_title("The same from above, with its level lines")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)


def main(folder=Path(__file__).parent):
    path = np.vstack([np.zeros(2), np.cumsum(X[perceptron_mistakes()], axis=0)])
    batch = batch_descent(X, Y, start=[2.5, -3.0], rate=0.35)
    figure = plt.figure(figsize=(12.5, 5.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.15, 1))
    draw_surface(left.add_subplot(projection="3d"), path, batch)
    draw_from_above(right.add_subplot(), path, batch)
    figure.savefig(folder / "criterion.png", dpi=100)


if __name__ == "__main__":
    main()
