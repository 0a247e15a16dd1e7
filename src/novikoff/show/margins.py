"""The distribution of margins: how far every row is from the boundary, and on which side."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from novikoff.engine.rounding import at_least
from novikoff.prove.separable.margin import Separator, margins, multiclass_margins
from novikoff.show.style import (
    DARK,
    INK,
    LIGHT,
    Display,
    Floats,
    as_learned,
    axes,
    hide_frame,
    labels_for,
    legend_below,
    places_under,
    signs_under,
    weights_as_learned,
)

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate

FOLDED = "margin y(⟨w,x⟩ + b), with ‖(w,b)‖ = 1"
THROUGH_ORIGIN = "margin y⟨w,x⟩, with ‖w‖ = 1"
KESLER = "lead of the right class, with ‖W‖ = 1"
SCORE = "score y·f(x)"
SCORE_LEAD = "lead of the right class in score"


@dataclass(eq=False)
class MarginsDisplay(Display):
    """A histogram of the margins; a row is misclassified if its margin is 0 or less.

    Margins are those of the theorem (`novikoff.margins`, and `multiclass_margins`): divided by the length of the folded
    weights. Models without a weight vector, kernel or voted ones, have scores instead. `quantity` states which.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> display = MarginsDisplay.from_separator(Separator([1.0, 0.0]), X, y, fit_intercept=False)
    >>> display.smallest, display.mistaken
    (1.0, 0)
    """

    margins: Floats
    quantity: str = FOLDED

    @classmethod
    def from_separator(cls, separator: Separator, X: Any, y: ArrayLike, *, fit_intercept: bool = True) -> Self:
        """Create from any hyperplane."""
        return cls(margins(X, y, separator, fit_intercept), FOLDED if fit_intercept else THROUGH_ORIGIN)

    @classmethod
    def from_certificate(cls, certificate: "Certificate", X: Any, y: ArrayLike) -> Self:
        """Create from a certificate of separable data: the margins of its hyperplane or hyperplanes."""
        plane = certificate.separator
        if isinstance(plane, Separator):
            return cls.from_separator(plane, X, y, fit_intercept=certificate.fit_intercept)
        if plane is None:
            raise ValueError(f"the certificate has no plane that separates the rows. {certificate}")
        return cls(multiclass_margins(X, y, plane.weights, plane.biases), KESLER)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike) -> Self:
        """Create from a fitted classifier and any rows."""
        labels = labels_for(X, y)
        classes = tuple(np.asarray(estimator.classes_).tolist())
        coefficients = getattr(estimator, "coef_", None)
        if len(classes) != 2:
            if coefficients is None:
                return cls(_leads(estimator.decision_function(X), labels, classes), SCORE_LEAD)
            return cls(multiclass_margins(as_learned(estimator, X), labels, *weights_as_learned(estimator)), KESLER)
        signs = signs_under(labels, classes)
        if coefficients is None:
            return cls(signs * estimator.decision_function(X), SCORE)
        weights, biases = weights_as_learned(estimator)
        plane = Separator(weights[0], float(biases[0]))
        return cls.from_separator(plane, as_learned(estimator, X), signs, fit_intercept=estimator.fit_intercept)

    @property
    def smallest(self) -> float:
        """The margin of the data with respect to these weights."""
        return float(self.margins.min())

    @property
    def mistaken(self) -> int:
        """How many rows are not strictly on the correct side."""
        return int(np.count_nonzero(self.margins <= 0))

    def plot(self, ax: Any = None, *, bins: int | str = "auto", **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `bins` is a number or one of NumPy's rules, `kwargs` go to `stairs`."""
        ax = axes(ax)
        edges = _edges(self.margins, bins)
        right, wrong = self.margins[self.margins > 0], self.margins[self.margins <= 0]
        ax.stairs(_counts(right, edges), edges, **{"fill": True, "color": LIGHT, "label": "correct", **kwargs})
        if len(wrong):
            look = {"fill": True, "facecolor": DARK, "edgecolor": "white", "hatch": "///", "linewidth": 0}
            ax.stairs(_counts(wrong, edges), edges, **{**look, "label": "mistaken", **kwargs})
        ax.axvline(0, color=INK, linewidth=2, label="boundary")
        ax.axvline(
            self.smallest, color=INK, linewidth=1.4, linestyle="--", label=f"smallest: {at_least(self.smallest, 4)}"
        )
        title = f"Margins of {len(self.margins):,} rows: {self.mistaken:,} mistaken"
        ax.set(xlabel=self.quantity, ylabel="rows", title=title)
        hide_frame(ax)
        legend_below(ax, 4 if len(wrong) else 3)
        return self._drawn(ax)


def _edges(values: Floats, bins: int | str) -> Floats:
    """Return bins of equal width with an edge at 0, so that no bin has rows of both sides."""
    edges = np.histogram_bin_edges(np.append(values, 0.0), bins=bins)
    if len(edges) > 200:
        edges = np.linspace(edges[0], edges[-1], 201)
    width = float(edges[1] - edges[0])
    # One bin more than the quotients give: they are rounded, and a margin of 0 belongs to a bin on the left.
    first, last = np.floor(values.min() / width) - 1, np.ceil(values.max() / width) + 1
    return width * np.arange(min(first, -1), max(last, 1) + 1)


def _counts(values: Floats, edges: Floats) -> Any:
    """Count rows in the half-open bins (a, b]: a margin of 0 is a mistake, and belongs to the left."""
    return np.histogram(-values, -edges[::-1])[0][::-1]


def _leads(scores: Floats, labels: Any, classes: tuple[Any, ...]) -> Floats:
    """Return by how much the correct class beats the best other."""
    rows, places = np.arange(len(labels)), places_under(labels, classes)
    right = scores[rows, places]
    others = scores.copy()
    others[rows, places] = -np.inf
    return np.asarray(right - others.max(axis=1))
