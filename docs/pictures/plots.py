"""Draw plots.png, all displays in one, and plots_*.png, each alone.

python docs/pictures/plots.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, make_moons

from novikoff import (
    BoundaryDisplay,
    ConfusionDisplay,
    HeaviestDisplay,
    KernelPerceptron,
    MarginsDisplay,
    MistakesDisplay,
    Perceptron,
    ProofDisplay,
    WeightSpaceDisplay,
    certify,
)

TOGETHER = (
    *("proof", "boundary", "weight_space"),
    *("mistakes", "kernel", "margins"),
    *("confusion", "regions", "heaviest"),
)
LAST = {"readout": "last", "max_iter": None, "record_mistakes": True}


def through_the_origin(n, gap, seed):
    """Two classes that a line through the origin separates, with some room."""
    X = np.random.default_rng(seed).normal(0, 1.4, (n, 2))
    distance = X @ [0.8, 0.6]
    far_enough = abs(distance) > gap
    return X[far_enough], np.where(distance > 0, "red", "blue")[far_enough]


def high_dimensions():
    """Few points with labels by chance, in so many dimensions that some plane separates them."""
    generator = np.random.default_rng(0)
    return generator.normal(0, 1, (60, 100)), generator.choice(["blue", "red"], 60)


def displays():
    """Every display, by the name of its picture."""
    iris = load_iris(as_frame=True)
    petals, setosa = iris.data.iloc[:, 2:], np.where(iris.target == 0, "setosa", "other")
    species = iris.target_names[iris.target]
    line = Perceptron(**LAST, random_state=2, scale=False).fit(petals, setosa)
    many, colours = high_dimensions()
    long_walk = Perceptron(**LAST, random_state=0).fit(many, colours)
    X, y = through_the_origin(24, 0.3, seed=25)
    walk = Perceptron(**LAST, fit_intercept=False, shuffle=False).fit(X, y)
    moons, moon = make_moons(120, noise=0.05, random_state=0)
    curved = KernelPerceptron(kernel="rbf", gamma=2.0, readout="last", max_iter=None, random_state=9)
    curved.fit(moons, moon)
    regions = Perceptron(random_state=0, scale=False)
    three = Perceptron(random_state=0, scale=False).fit(iris.data, species)
    return {
        "mistakes": MistakesDisplay.from_estimator(long_walk, certificate=certify(many, colours)),
        "proof": ProofDisplay.from_estimator(long_walk, many, colours),
        "boundary": BoundaryDisplay.from_estimator(line, petals, setosa, certificate=certify(petals, setosa)),
        "weight_space": WeightSpaceDisplay.from_estimator(walk, X, y),
        "margins": MarginsDisplay.from_estimator(three, iris.data, species),
        "kernel": BoundaryDisplay.from_estimator(curved, moons, moon),
        "regions": BoundaryDisplay.from_estimator(regions.fit(petals, species), petals, species),
        "confusion": ConfusionDisplay.from_estimator(three, iris.data, species),
        "heaviest": HeaviestDisplay.from_estimator(three, n=12),
    }


def main(folder=Path(__file__).parent):
    drawn = displays()
    for name, display in drawn.items():
        display.plot()
        display.figure_.savefig(folder / f"plots_{name}.png", dpi=90)
        plt.close(display.figure_)
    figure = plt.figure(figsize=(19, 16.5), layout="constrained")
    for part, name in zip(figure.subfigures(3, 3).flat, TOGETHER, strict=True):
        drawn[name].plot(ax=part.add_subplot())
    figure.savefig(folder / "plots.png", dpi=60)


if __name__ == "__main__":
    main()
