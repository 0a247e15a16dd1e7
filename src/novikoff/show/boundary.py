"""The decision boundary in two dimensions: straight or curved, with its margin band, support rows and mistakes."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import at_least
from novikoff.prove.separable.margin import Separator
from novikoff.prove.separable.question import Problem
from novikoff.show.style import (
    GREY,
    INK,
    PAPER,
    Display,
    Floats,
    as_learned,
    axes,
    class_colours,
    draw_points,
    labels_for,
    last_step,
    legend_below,
    matrix_of,
    ring,
    rows_within,
    signs_under,
    tint,
)

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate

WHY = "a picture of the plane"
NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(eq=False)
class BoundaryDisplay(Display):
    """The decision regions of the classes, for examples with two features.

    `scores` are those of the points of the grid `across` x `up`: one number for two classes, one per class for more;
    None if nothing separates the rows. `band` is the smallest score y f(x) of a row, if every row is correct: no row
    lies between the dashed lines. For a hyperplane the band is twice the `geometric_margin` wide. `widest` are the
    scores of the boundary with the largest margin, for comparison. `ringed` rows are support rows, or prove that there
    is no boundary, as `ringed_as` states; `mistaken` are the rows on which the learner ever made a mistake.

    >>> from novikoff import Perceptron
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> model = Perceptron(readout="last", shuffle=False, record_mistakes=True).fit(X, y)
    >>> display = BoundaryDisplay.from_estimator(model, X, y, resolution=20)
    >>> display.mistaken.tolist(), display.band, display.scores.shape
    ([0, 1, 2, 4], 2.0, (20, 20))
    """

    X: Floats
    y: NDArray[Any]
    classes: tuple[Any, ...]
    across: Floats
    up: Floats
    scores: Floats | None = None
    band: float | None = None
    geometric_margin: float | None = None
    widest: Floats | None = None
    ringed: NDArray[np.int64] = field(default_factory=lambda: NO_ROWS)
    ringed_as: str = "support row"
    mistaken: NDArray[np.int64] = field(default_factory=lambda: NO_ROWS)
    names: tuple[str, str] = ("x₁", "x₂")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, certificate: "Certificate | None" = None, resolution: int = 250
    ) -> Self:
        """Create from a fitted classifier, linear, with a kernel, or a pipeline, and the rows it was fitted on.

        The support rows of a kernel perceptron are ringed, or those of the `certificate`, if given.
        """
        points, labels = matrix_of(X, 2, WHY), labels_for(X, y)
        classes = tuple(np.asarray(estimator.classes_).tolist())
        across, up = grid_axis(points[:, 0], resolution), grid_axis(points[:, 1], resolution)
        grid = _like(X, grid_points(across, up))
        scores = estimator.decision_function(grid).reshape(len(up), len(across), -1)
        display = cls(points, labels, classes, across, up, scores, names=_names(X))
        if len(classes) == 2:
            display.scores = scores[:, :, 0]
            display.band, display.geometric_margin = _widths(estimator, X, signs_under(labels, classes))
        model = last_step(estimator)
        display.mistaken = rows_within(getattr(model, "mistake_rows_", NO_ROWS), len(points))
        display.ringed = rows_within(getattr(model, "support_", NO_ROWS), len(points))
        if certificate is not None and certificate.support is not None:
            display.ringed = rows_within(certificate.support.rows, len(points))
        return display

    @classmethod
    def from_certificate(cls, certificate: "Certificate", X: Any, y: ArrayLike, *, resolution: int = 250) -> Self:
        """Create from a certificate of two classes: the hyperplane of maximum margin and its support rows, or the rows
        that prove there is none."""
        points, labels = matrix_of(X, 2, WHY), labels_for(X, y)
        if not certificate.problem.has_one_plane:
            raise ValueError(
                f"the certificate is about {certificate.problem.about}; it has no single plane to draw: use "
                "BoundaryDisplay.from_estimator"
            )
        across, up = grid_axis(points[:, 0], resolution), grid_axis(points[:, 1], resolution)
        display = cls(points, labels, certificate.classes, across, up, names=_names(X))
        plane = certificate.separator
        if isinstance(plane, Separator):
            display.scores = plane.score(grid_points(across, up)).reshape(len(up), len(across))
            display.band = float((signs_under(labels, certificate.classes) * plane.score(points)).min())
            display.geometric_margin = certificate.geometric_margin
            display.ringed = rows_within(certificate.support.rows if certificate.support else (), len(points))
        elif certificate.obstruction is not None:
            display.ringed = rows_within(certificate.obstruction.rows, len(points))
            display.ringed_as = "rows that cancel"
        return display

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `kwargs` go to the points' `scatter`."""
        # Both axes have the same scale, unless the picture would be too narrow.
        shape = float(np.ptp(self.up) / np.ptp(self.across))
        is_equal = 1 / 4 < shape < 4
        height = 5.4 * shape if is_equal else 4.0
        ax = axes(ax, (6.4 * min(1, 6.5 / height), min(height, 6.5) + 1.7))
        self._draw_regions(ax)
        draw_points(ax, self.X, self.y, self.classes, **kwargs)
        self._draw_boundary(ax)
        if len(self.ringed):
            ring(ax, self.X[self.ringed], self.ringed_as)
        if len(self.mistaken):
            self._mark_mistaken(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self._title())
        ax.set(xlim=(self.across[0], self.across[-1]), ylim=(self.up[0], self.up[-1]))
        if is_equal:
            ax.set_aspect("equal")
        legend_below(ax, 2)
        return self._drawn(ax)

    def leads(self) -> list[Floats]:
        """Return by how much every class beats the best other, at every point of the grid."""
        if self.scores is None:
            return []
        if self.scores.ndim == 2:
            return [-self.scores, self.scores]
        rivals = [np.delete(self.scores, c, axis=2).max(axis=2) for c in range(len(self.classes))]
        return [self.scores[:, :, c] - rival for c, rival in enumerate(rivals)]

    def _draw_regions(self, ax: Any) -> None:
        for lead, colour in zip(self.leads(), class_colours(len(self.classes)), strict=False):
            if lead.max() > 0:
                ax.contourf(self.across, self.up, lead, levels=[0.0, float(lead.max()) + 1.0], colors=[tint(colour)])

    def _draw_boundary(self, ax: Any) -> None:
        if self.scores is None:
            return
        for lead in self.leads()[1:] if self.scores.ndim == 2 else self.leads():
            if lead.min() < 0 < lead.max():
                ax.contour(self.across, self.up, lead, levels=[0.0], colors=INK, linewidths=2)
        ax.plot([], [], color=INK, linewidth=2, label="decision boundary")
        if self.widest is not None:
            ax.contour(self.across, self.up, self.widest, levels=[0.0], colors=GREY, linestyles="dotted")
            ax.plot([], [], color=GREY, linestyle="dotted", label="maximum-margin separator")
        if self.band is not None:
            self._draw_band(ax, self.scores, self.band)

    def _draw_band(self, ax: Any, scores: Floats, band: float) -> None:
        ax.contourf(self.across, self.up, scores, levels=[-band, band], colors=[PAPER], alpha=0.7)
        edges = [edge for edge in (-band, band) if scores.min() < edge < scores.max()]
        if edges:
            ax.contour(self.across, self.up, scores, levels=edges, colors=INK, linewidths=1, linestyles="dashed")
        ax.plot([], [], color=INK, linewidth=1, linestyle="dashed", label=self._band_in_words())

    def _mark_mistaken(self, ax: Any) -> None:
        points = self.X[self.mistaken]
        # White under black: visible on dark and light points.
        ax.scatter(*points.T, marker="x", s=44, c=PAPER, linewidths=3.2, zorder=5)
        ax.scatter(*points.T, marker="x", s=36, c=INK, linewidths=1.4, zorder=6, label="mistaken while learning")

    def _band_in_words(self) -> str:
        if self.geometric_margin is None:
            return "margin band: no row scores less"
        return f"margin band: ± {at_least(self.geometric_margin, 4)}"

    def _title(self) -> str:
        if self.scores is None:
            return f"N{Problem.BINARY.no_separator[1:]}" if len(self.ringed) else "No separator is known"
        if self.scores.ndim == 3:
            return f"Decision regions of {len(self.classes)} classes"
        if self.band is None:
            return "Decision boundary"
        if self.geometric_margin is not None:
            return f"Every row is at least {at_least(self.geometric_margin, 4)} from the boundary"
        return "Every row is on the correct side of the boundary"


def _widths(estimator: Any, X: Any, signs: NDArray[np.int8]) -> tuple[float | None, float | None]:
    """Return the smallest score, and a hyperplane's smallest distance, if every row is correct; a vote has neither."""
    model = last_step(estimator)
    coefficients = getattr(model, "coef_", None)
    if coefficients is None and not hasattr(model, "dual_coef_"):
        return None, None
    band = float((signs * estimator.decision_function(X)).min())
    if band <= 0:
        return None, None
    rows = matrix_of(X, 2, WHY)
    # Distances to the hyperplane are those of the picture only if the rows were learned as they are drawn.
    as_drawn = model is estimator and np.array_equal(as_learned(model, X), rows)
    if coefficients is None or not as_drawn or not np.any(coefficients):
        return band, None
    plane = Separator(coefficients[0], float(np.ravel(model.intercept_)[0]))
    return band, float((signs * plane.distance(rows)).min())


def grid_axis(values: Floats, resolution: int) -> Floats:
    """Return evenly spaced values over the range of the numbers, and slightly beyond."""
    spread = float(np.ptp(values)) or 1.0
    return np.linspace(values.min() - 0.12 * spread, values.max() + 0.12 * spread, resolution)


def grid_points(across: Floats, up: Floats) -> Floats:
    """Return the points of a grid as rows."""
    x, z = np.meshgrid(across, up)
    return np.column_stack([x.ravel(), z.ravel()])


def _like(X: Any, grid: Floats) -> Any:
    """Return the grid as a data frame of the same type, if the examples are one: models identify columns by name."""
    if not hasattr(X, "columns"):
        return grid
    names = {"columns": X.columns} if hasattr(X, "iloc") else {"schema": list(X.columns)}
    return type(X)(grid, **names)


def _names(X: Any) -> tuple[str, str]:
    first, second = getattr(X, "columns", ("x₁", "x₂"))
    return str(first), str(second)
