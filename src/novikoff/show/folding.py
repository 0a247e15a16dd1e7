"""Before and after folding the labels: the note's second simplification, and Duda and Hart's "normalized" samples."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.features.fold import fold_labels, signs
from novikoff.prove.separable.margin import Separator
from novikoff.show.style import (
    DARK,
    INK,
    LIGHT,
    MARKERS,
    Display,
    Floats,
    as_learned,
    halo,
    labels_for,
    legend_below,
    linear_of_two_classes,
    pyplot,
    weights_as_learned,
)
from novikoff.show.weight_space import Region, class_of_sign, draw_region, solution_region, two_coordinates

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate


@dataclass(eq=False)
class FoldingDisplay(Display):
    """Left the examples, right the same with every negative one turned to the other side of the origin.

    Before, w must have the two classes on its two sides. After, all examples on one: <w, y x> > 0. The solution region
    is the same. Two coordinates: two columns without an intercept, or one column and the folded 1. `plot` takes and
    leaves two axes.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> display = FoldingDisplay.from_separator(Separator([3.0, 1.0]), X, y, fit_intercept=False)
    >>> display.points[0].tolist(), display.folded[0].tolist()
    ([-1.0, 2.0], [1.0, -2.0])
    """

    points: Floats
    folded: Floats
    signs: NDArray[np.int8]
    classes: dict[int, Any]
    weights: Floats
    region: Region | None
    names: tuple[str, str]

    @classmethod
    def from_separator(cls, separator: Separator, X: Any, y: ArrayLike, *, fit_intercept: bool = True) -> Self:
        """From any weights, and the examples with their two labels."""
        points, labels = two_coordinates(X, fit_intercept), labels_for(X, y)
        folded = fold_labels(points, labels)
        weights = separator.folded if fit_intercept else separator.weights
        names = ("x", "1") if fit_intercept else ("x₁", "x₂")
        return cls(points, folded, signs(labels), class_of_sign(labels), weights, solution_region(folded), names)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike) -> Self:
        """From a fitted linear classifier of two classes."""
        model = linear_of_two_classes(estimator)
        weights, biases = weights_as_learned(model)
        plane = Separator(weights[0], float(biases[0]))
        return cls.from_separator(plane, as_learned(model, X), y, fit_intercept=model.fit_intercept)

    @classmethod
    def from_certificate(cls, certificate: "Certificate", X: Any, y: ArrayLike) -> Self:
        """From the certificate of separable data: with the widest plane."""
        plane = certificate.separator
        if not isinstance(plane, Separator):
            raise ValueError(f"the certificate has no plane that separates two classes. {certificate}")
        return cls.from_separator(plane, X, y, fit_intercept=certificate.fit_intercept)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on the two axes `ax`, or on a new figure with two; `kwargs` go to the points' `scatter`."""
        plt = pyplot()
        pair = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")[1] if ax is None else np.ravel(ax)
        if len(pair) != 2:
            raise ValueError(f"folding is drawn on two axes, before and after; ax has {len(pair)}")
        reach = 1.2 * float(np.abs(self.points).max()) or 1.0
        is_right = bool((self.folded @ self.weights > 0).all())
        words = (": a class on each side", ": every row on one side") if is_right else ("", "")
        titles = ("Before folding" + words[0], "After folding" + words[1])
        for axis, points, title in zip(pair, (self.points, self.folded), titles, strict=True):
            draw_region(axis, self.region, 2 * reach)
            self._draw_plane(axis, reach)
            self._draw_points(axis, points, is_folded=points is self.folded, style=kwargs)
            axis.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel=self.names[0], ylabel=self.names[1])
            axis.set_aspect("equal")
            axis.set_title(title)
            legend_below(axis, 2)
        self.ax_, self.figure_ = pair, pair[0].figure
        return self

    def _draw_plane(self, ax: Any, reach: float) -> None:
        w = self.weights / np.linalg.norm(self.weights)
        along = np.array([-w[1], w[0]]) * 3 * reach
        ax.plot(*np.column_stack([-along, along]), color=INK, linewidth=2, label="⟨w,x⟩ = 0")
        ax.annotate(
            "",
            0.45 * reach * w,
            xytext=(0, 0),
            arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 2},
            zorder=4,
        )
        halo(ax.annotate("w", 0.53 * reach * w, ha="center", va="center", fontsize=13, zorder=5))

    def _draw_points(self, ax: Any, points: Floats, *, is_folded: bool, style: dict[str, Any]) -> None:
        for sign, name in self.classes.items():
            place, colour = (1, LIGHT) if sign > 0 else (0, DARK)
            chosen = points[self.signs == sign]
            look = {"s": 42, "marker": MARKERS[place], "zorder": 3, "c": colour, "edgecolors": INK, "linewidths": 0.5}
            label = str(name)
            if is_folded and sign < 0:  # hollow, with a ghost where it was
                ax.scatter(*-chosen.T, **{**look, **style, "alpha": 0.18, "edgecolors": "none"})
                look |= {"c": "white", "edgecolors": colour, "linewidths": 1.8}
                label += ", turned"
            ax.scatter(*chosen.T, **{**look, **style}, label=label)
