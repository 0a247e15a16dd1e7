"""Draw kernels.png: two moons, the boundary of a kernel perceptron, and the rows that carry it.

python docs/pictures/kernels.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from novikoff import KernelPerceptron

RED, BLUE, GREY = "#c0392b", "#2166ac", "#555555"


def draw(ax, X, y, model, title):
    x, z = np.meshgrid(np.linspace(-1.8, 2.8, 220), np.linspace(-1.3, 1.8, 160))
    scores = model.decision_function(np.column_stack([x.ravel(), z.ravel()])).reshape(x.shape)
    ax.contourf(x, z, scores >= 0, levels=[-0.5, 0.5, 1.5], colors=["#dbe7f3", "#f6dfdc"])
    ax.contour(x, z, scores, levels=[0], colors=GREY, linewidths=2)
    for label, colour, marker in ((0, BLUE, "s"), (1, RED, "o")):
        ax.scatter(*X[y == label].T, c=colour, marker=marker, s=20, zorder=3)
    ax.scatter(*X[model.support_].T, s=90, facecolors="none", edgecolors="black", linewidths=1.2, zorder=4)
    ax.set(xticks=[], yticks=[], aspect="equal", title=title)


def main(folder=Path(__file__).parent):
    X, y = make_moons(300, noise=0.27, random_state=0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for ax, readout, words in ((left, "last", "last weights"), (right, "average", "average")):
        model = KernelPerceptron(kernel="rbf", gamma=5.0, readout=readout, max_iter=3, random_state=0)
        model.fit(X, y)
        draw(ax, X, y, model, f"{words}: {len(model.support_)} support rows (ringed)")
    figure.savefig(folder / "kernels.png", dpi=110)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # three epochs are not meant to converge
    main()
