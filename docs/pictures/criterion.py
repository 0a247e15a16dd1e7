"""Draw criterion.png: the criterion of the perceptron over two weights, with two ways down, and from above.

python docs/pictures/criterion.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from novikoff import CriterionDisplay, WeightSpaceDisplay

BLUE = "#1b4b7f"

# Three examples with folded labels, as in Duda and Hart's figure.
X = np.array([[-2.0, -1.5], [-0.5, 2.0], [1.0, 2.0]])
Y = np.ones(3, dtype=int)


def perceptron_mistakes():
    """The rows of the mistakes, in order, until all are right."""
    w, rows = np.zeros(2), []
    while (X @ w <= 0).any():
        for row, example in enumerate(X):
            if w @ example <= 0:
                w = w + example
                rows.append(row)
    return rows


def main(folder=Path(__file__).parent):
    mistakes = perceptron_mistakes()
    display = CriterionDisplay.from_mistakes(X, Y, mistakes, fit_intercept=False, start=[2.5, -3.0], rate=0.35)
    figure = plt.figure(figsize=(12.5, 5.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.15, 1))
    display.plot(ax=left.add_subplot(projection="3d"))
    above = right.add_subplot()
    WeightSpaceDisplay.from_mistakes(X, Y, mistakes, fit_intercept=False).plot(ax=above)
    reach = 1.05 * float(np.abs(np.vstack([display.path, display.batch])).max())
    axis = np.linspace(-reach, reach, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    heights = display.heights(grid.reshape(-1, 2)).reshape(len(axis), len(axis))
    above.contour(axis, axis, heights, levels=10, colors="#999999", linewidths=0.8, zorder=1)
    above.plot(*display.batch.T, "s-", color=BLUE, markersize=4, linewidth=2, zorder=4, label="in batches")
    above.set(xlim=(-reach, reach), ylim=(-reach, reach), title="The same from above, with its level lines")
    above.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
    figure.savefig(folder / "criterion.png", dpi=100)


if __name__ == "__main__":
    main()
