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
    KernelPerceptron,
    MarginsDisplay,
    MistakesDisplay,
    Perceptron,
    ProofDisplay,
    certify,
)

TOGETHER = ("proof", "boundary", "kernel", "mistakes", "margins", "regions")
LAST = {"readout": "last", "max_iter": None, "record_mistakes": True}


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
    moons, moon = make_moons(120, noise=0.05, random_state=0)
    curved = KernelPerceptron(kernel="rbf", gamma=2.0, readout="last", max_iter=None, random_state=9)
    curved.fit(moons, moon)
    regions = Perceptron(random_state=0, scale=False)
    three = Perceptron(random_state=0, scale=False).fit(iris.data, species)
    return {
        "mistakes": MistakesDisplay.from_estimator(long_walk, certificate=certify(many, colours)),
        "proof": ProofDisplay.from_estimator(long_walk, many, colours),
        "boundary": BoundaryDisplay.from_estimator(line, petals, setosa, certificate=certify(petals, setosa)),
        "margins": MarginsDisplay.from_estimator(three, iris.data, species),
        "kernel": BoundaryDisplay.from_estimator(curved, moons, moon),
        "regions": BoundaryDisplay.from_estimator(regions.fit(petals, species), petals, species),
    }


def main(folder=Path(__file__).parent):
    drawn = displays()
    for name, display in drawn.items():
        display.plot()
        display.figure_.savefig(folder / f"plots_{name}.png", dpi=90)
        plt.close(display.figure_)
    figure = plt.figure(figsize=(19, 11), layout="constrained")
    for part, name in zip(figure.subfigures(2, 3).flat, TOGETHER, strict=True):
        drawn[name].plot(ax=part.add_subplot())
    figure.savefig(folder / "plots.png", dpi=60)


if __name__ == "__main__":
    main()
