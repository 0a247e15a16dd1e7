"""The criterion of the perceptron as a surface over two weights, after Duda and Hart's figure 5.9 (fourth note).

J_p(w) is the sum of max(0, -y <w, x>) over the examples: flat pieces that rise from the solution region, where it is 0.
A perceptron goes down example by example, the batch rule along the gradient of the whole.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from novikoff.features.fold import fold_labels
from novikoff.learn.linear.descent import batch_descent, perceptron_criterion
from novikoff.say.words import counted
from novikoff.show.style import (
    DARK,
    INK,
    LIGHT,
    Display,
    Floats,
    as_learned,
    labels_for,
    linear_of_two_classes,
    pyplot,
    recorded_mistakes,
)
from novikoff.show.weight_space import solution_region, two_coordinates, weight_names

NODES = 61
MOST_STEPS = 100


@dataclass(eq=False)
class CriterionDisplay(Display):
    """The surface J_p over two weights, with the path of a perceptron on it, and that of the batch rule.

    There are two weights if X has two columns and no intercept, or one column and an intercept. `examples` are y x (or
    y (x, 1)); `path` and `batch` have the weights after every step.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> display = CriterionDisplay.from_mistakes(X, y, [0, 2, 4], fit_intercept=False, start=[-2.0, 3.0], rate=0.25)
    >>> display.heights(display.path).tolist()
    [0.0, 4.0, 0.0, 0.0]
    >>> display.heights(display.batch).tolist()
    [17.0, 10.75, 4.5, 0.5, 0.0]
    """

    examples: Floats
    path: Floats
    batch: Floats
    names: tuple[str, str]

    @classmethod
    def from_mistakes(
        cls,
        X: Any,
        y: ArrayLike,
        mistake_rows: ArrayLike,
        *,
        fit_intercept: bool = True,
        start: ArrayLike | None = None,
        rate: float | None = None,
    ) -> Self:
        """From the row of every mistake, in order, of a run that began with weights 0.

        The batch rule begins at `start`, opposite to the solution region unless named, and adds `rate` times the sum of
        its mistakes; unless named, the rate makes the first step about a quarter of the way to 0.
        """
        examples = fold_labels(two_coordinates(X, fit_intercept), labels_for(X, y)).astype(np.float64)
        rows = np.asarray(mistake_rows, dtype=np.int64).ravel()
        path = np.vstack([np.zeros((1, 2)), np.cumsum(examples[rows], axis=0)])
        begin = _opposite(examples, path) if start is None else np.asarray(start, dtype=np.float64)
        pull = examples[examples @ begin <= 0].sum(axis=0)
        step = 0.25 * float(np.linalg.norm(begin)) / (float(np.linalg.norm(pull)) or 1.0) if rate is None else rate
        batch = batch_descent(examples, np.ones(len(examples)), start=begin, rate=step, max_steps=MOST_STEPS)
        return cls(examples, path, batch, weight_names(fit_intercept))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike) -> Self:
        """From a Perceptron of two classes that was fitted to X and y with record_mistakes=True."""
        model = linear_of_two_classes(estimator)
        X = as_learned(model, X)
        return cls.from_mistakes(X, y, recorded_mistakes(model), fit_intercept=model.fit_intercept)

    def heights(self, weights: ArrayLike) -> Floats:
        """J_p of every row of weights."""
        return perceptron_criterion(self.examples, np.ones(len(self.examples)), weights)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, which must have three dimensions, or on a new figure; `kwargs` go to `plot_surface`."""
        plt = pyplot()
        if ax is None:
            ax = plt.figure(figsize=(7, 6), layout="constrained").add_subplot(projection="3d")
        if not hasattr(ax, "plot_surface"):
            raise ValueError('a surface needs axes of three dimensions: figure.add_subplot(projection="3d")')
        # The painter's order by depth gets paths on a surface wrong; here it is known.
        ax.computed_zorder = False
        self._draw_surface(ax, kwargs)
        self._draw_path(ax, self.batch, DARK, "s-", f"in batches, {counted(len(self.batch) - 1, 'step')}")
        self._draw_path(ax, self.path, INK, "o-", f"example by example, {counted(len(self.path) - 1, 'mistake')}")
        ax.set(xlabel=self.names[0], ylabel=self.names[1], zlabel="criterion")
        ax.set_title("The criterion, and two ways down")
        begin = self.batch[0]
        ax.view_init(elev=32, azim=math.degrees(math.atan2(begin[1], begin[0])) + 115)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
        return self._drawn(ax)

    def _draw_surface(self, ax: Any, style: dict[str, Any]) -> None:
        reach = 1.1 * float(np.abs(np.vstack([self.path, self.batch])).max()) or 1.0
        axis = np.linspace(-reach, reach, NODES)
        first, second = np.meshgrid(axis, axis)
        heights = self.heights(np.stack([first, second], axis=-1).reshape(-1, 2)).reshape(first.shape)
        top = float(heights.max()) or 1.0
        look = {"cmap": "Greys", "alpha": 0.8, "vmin": -0.35 * top, "vmax": 1.4 * top, "linewidth": 0, "zorder": 1}
        ax.plot_surface(first, second, heights, **{**look, **style}, rstride=1, cstride=1, antialiased=False)
        solved = np.where(heights == 0, 0.0, np.nan)
        if np.isfinite(solved).any():
            ax.plot_surface(first, second, solved, color=LIGHT, alpha=0.55, linewidth=0, zorder=2, shade=False)
            ax.scatter([], [], [], marker="s", s=60, color=LIGHT, alpha=0.55, label="every row is right, or a tie")

    def _draw_path(self, ax: Any, path: Floats, colour: str, marks: str, label: str) -> None:
        ax.plot(*path.T, self.heights(path), marks, color=colour, markersize=4, linewidth=2, zorder=4, label=label)


def _opposite(examples: Floats, path: Floats) -> Floats:
    """Weights that are wrong about as much as can be, as long as the longest of the path."""
    region = solution_region(examples)
    angle = sum(region) / 2 if region else 0.9
    length = float(np.linalg.norm(path, axis=1).max()) or 1.0
    return np.array([-length * math.cos(angle), -length * math.sin(angle)])
