"""Weight space, after Duda and Hart (1973), as in the fourth note: every example is a half-plane of weights.

Weights w classify an example y x correctly if <w, y x> > 0: w lies on one side of a line through the origin. The
intersection of these half-planes is the solution region, a cone. A mistake adds y x, which is a step perpendicular to
the violated line, towards its correct side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.features.fold import fold_bias, fold_labels, signs
from novikoff.say.words import counted
from novikoff.show.style import (
    DARK,
    GREY,
    INK,
    LIGHT,
    Display,
    Floats,
    as_learned,
    axes,
    halo,
    labels_for,
    legend_below,
    linear_of_two_classes,
    matrix_of,
    recorded_mistakes,
)

REGION = "#dcdcdc"
Region = tuple[float, float]


@dataclass(eq=False)
class WeightSpaceDisplay(Display):
    """The solution region, and the path of the weights into it, for two weights.

    There are two weights if X has two columns and no intercept, or one column and an intercept. `examples` are y x (or
    y (x, 1)), `path` has the weights after 0, 1, 2, ... mistakes, `region` the two angles between which the solution
    region lies, None if there is none.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> display = WeightSpaceDisplay.from_mistakes(X, y, [0, 2, 4], fit_intercept=False)
    >>> display.path.tolist()
    [[0.0, 0.0], [1.0, -2.0], [2.0, -1.0], [3.0, 1.0]]
    >>> [round(math.degrees(angle), 1) for angle in display.region]
    [-26.6, 26.6]
    """

    examples: Floats
    signs: NDArray[np.int8]
    classes: dict[int, Any]
    path: Floats
    region: Region | None
    names: tuple[str, str]

    @classmethod
    def from_mistakes(cls, X: Any, y: ArrayLike, mistake_rows: ArrayLike, *, fit_intercept: bool = True) -> Self:
        """Create from the row of every mistake, in order, of a run that started from weights 0."""
        points = two_coordinates(X, fit_intercept)
        labels = labels_for(X, y)
        examples = fold_labels(points, labels)
        rows = np.asarray(mistake_rows, dtype=np.int64).ravel()
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(examples)):
            raise ValueError(f"mistake_rows must be row numbers from 0 to {len(examples) - 1}")
        path = np.vstack([np.zeros((1, 2)), np.cumsum(examples[rows], axis=0)])
        classes = dict(sorted(zip(signs(labels).tolist(), labels.tolist(), strict=True)))
        names = ("weight w", "bias b") if fit_intercept else ("weight w₁", "weight w₂")
        return cls(examples, signs(labels), classes, path, solution_region(examples), names)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike) -> Self:
        """Create from a Perceptron of two classes that was fitted on X and y with record_mistakes=True."""
        model = linear_of_two_classes(estimator)
        X = as_learned(model, X)
        return cls.from_mistakes(X, y, recorded_mistakes(model), fit_intercept=model.fit_intercept)

    @property
    def mistakes(self) -> int:
        """The number of steps of the path."""
        return len(self.path) - 1

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `kwargs` go to the arrows' `quiver`."""
        ax = axes(ax, (6.4, 5.8))
        low, high = _limits(self.path)
        far = 3 * float(np.abs([low, high]).max())
        draw_region(ax, self.region, far)
        self._draw_constraints(ax, far)
        self._draw_path(ax, kwargs)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=self.names[0], ylabel=self.names[1])
        ax.set_aspect("equal")
        ax.set_title(self._title())
        legend_below(ax, 2)
        return self._drawn(ax)

    def _draw_constraints(self, ax: Any, far: float) -> None:
        from matplotlib.collections import LineCollection

        lengths = np.linalg.norm(self.examples, axis=1)
        for sign, name in self.classes.items():
            colour, style = (LIGHT, "--") if sign > 0 else (DARK, "-")
            chosen = self.examples[(self.signs == sign) & (lengths > 0)]
            along = np.column_stack([-chosen[:, 1], chosen[:, 0]]) / np.linalg.norm(chosen, axis=1)[:, None] * far
            label = f"a row of {name} scores 0"
            ax.add_collection(
                LineCollection(
                    list(np.stack([-along, along], axis=1)),
                    colors=colour,
                    linestyles=style,
                    linewidths=0.9,
                    label=label,
                )
            )

    def _draw_path(self, ax: Any, kwargs: dict[str, Any]) -> None:
        steps = np.diff(self.path, axis=0)
        style = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.007, "color": INK, "zorder": 4, **kwargs}
        if self.mistakes:
            ax.quiver(*self.path[:-1].T, *steps.T, **style)
        ax.plot(0, 0, "o", color=INK, zorder=5, label="the start, w = 0")
        ax.plot(
            *self.path[-1], "*", color=INK, markersize=14, zorder=5, label=f"after {counted(self.mistakes, 'mistake')}"
        )
        for k, point in enumerate(self.path[1:-1], start=1) if self.mistakes <= 12 else ():
            number = ax.annotate(f"{k}", point, xytext=(6, 5), textcoords="offset points", fontsize=10, zorder=6)
            halo(number)

    def _title(self) -> str:
        if self.region is None:
            return "Weight space: no weights are right about every row"
        smallest = float((self.examples @ self.path[-1]).min())
        return "Weight space: the mistakes lead into the region" if smallest > 0 else "Weight space: not there yet"


def two_coordinates(X: Any, fit_intercept: bool) -> Floats:
    """Return the examples as two-dimensional vectors: two columns, or one column and the folded 1 of the bias."""
    columns = np.shape(X)[1] if len(np.shape(X)) == 2 else 0
    if columns + fit_intercept != 2:
        raise ValueError(
            f"X has shape {np.shape(X)} and fit_intercept={fit_intercept}, but a plane of weights has two: two columns "
            "without an intercept, or one column with it"
        )
    points = matrix_of(X, columns, "a plane of weights")
    return np.asarray(fold_bias(points) if fit_intercept else points, dtype=np.float64)


def solution_region(examples: Floats) -> Region | None:
    """Return the angles between which w has a positive product with every example; None if there are none.

    The examples must lie in an open half-plane: then their directions leave a gap of more than half a turn.

    >>> low, high = solution_region(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> math.degrees(low), math.degrees(high)
    (0.0, 90.0)
    >>> solution_region(np.array([[1.0, 0.0], [-1.0, 0.0]])) is None
    True
    """
    if not np.any(examples, axis=1).all():
        return None
    angles = np.sort(np.arctan2(examples[:, 1], examples[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2 * math.pi))
    widest = int(np.argmax(gaps))
    spread = 2 * math.pi - float(gaps[widest])
    if spread >= math.pi - 1e-12:  # angles are rounded: opposite examples must not leave a tiny region
        return None
    first = float(angles[(widest + 1) % len(angles)])
    return first + spread - math.pi / 2, first + math.pi / 2


def draw_region(ax: Any, region: Region | None, far: float) -> None:
    """Draw the cone between two angles, from the origin to beyond the picture."""
    if region is None:
        return
    angles = np.linspace(*region, 30)
    corners = far * np.column_stack([np.cos(angles), np.sin(angles)])
    ax.fill(*np.vstack([np.zeros((1, 2)), corners]).T, color=REGION, label="every row is right", zorder=0)
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1)
    ax.axvline(0, color=GREY, linewidth=0.6, zorder=1)


def _limits(path: Floats) -> tuple[Sequence[float], Sequence[float]]:
    """Return the limits of a square around the path, with some space."""
    low, high = path.min(axis=0), path.max(axis=0)
    reach = 0.62 * (float((high - low).max()) or 2.0)
    middle = (low + high) / 2
    return (middle - reach).tolist(), (middle + reach).tolist()
