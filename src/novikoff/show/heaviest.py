"""The heaviest features: those with the largest weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from novikoff.show.style import DARK, INK, LIGHT, Display, axes, hide_frame, last_step, legend_below

BIAS = "(bias)"


class Bar(NamedTuple):
    """A named weight, and its class (None for two classes, which share their weights)."""

    name: str
    weight: float
    label: Any = None


@dataclass(eq=False)
class HeaviestDisplay(Display):
    """The weights of largest absolute value, with the names of their features, heaviest on top.

    With two classes, `classes`, a positive weight favours the second and a negative one the first. With more,
    or with sequences, every weight belongs to a class, and favours or disfavours it.

    >>> from novikoff import Perceptron
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], ["no", "yes", "yes", "no", "no", "yes"]
    >>> model = Perceptron(readout="last", fit_intercept=False, shuffle=False).fit(X, y)
    >>> HeaviestDisplay.from_estimator(model).bars
    (Bar(name='x0', weight=3.0, label=None), Bar(name='x1', weight=1.0, label=None))
    """

    bars: tuple[Bar, ...]
    classes: tuple[Any, ...] = ()

    @classmethod
    def from_estimator(cls, estimator: Any, *, n: int = 20, label: Any = None) -> Self:
        """Create from a fitted linear, online, sequence or structured perceptron, or a pipeline that ends in one.

        Shows the n heaviest nonzero weights, of one class if `label` names it.
        """
        if n < 1:
            raise ValueError(f"n={n} must be at least 1")
        bars, classes = _weights(estimator)
        if label is not None:
            bars = _only(bars, label)
        heaviest = sorted((bar for bar in bars if bar.weight != 0), key=lambda bar: -abs(bar.weight))
        shared = len(classes) == 2 and all(bar.label is None for bar in bars)
        return cls(tuple(heaviest[:n]), tuple(classes) if shared else ())

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `kwargs` go to `barh`."""
        ax = axes(ax, (6.8, min(1.6 + 0.3 * len(self.bars), 14)))
        weights = np.array([bar.weight for bar in self.bars])
        names = [bar.name if bar.label is None else f"{bar.name} → {bar.label}" for bar in self.bars]
        against, favour = self.classes or ("other classes", "the class")
        for chosen, colour, hatch, favoured in (
            (weights < 0, DARK, "//", against),
            (weights > 0, LIGHT, "", favour),
        ):
            look = {
                "color": colour,
                "hatch": hatch,
                "edgecolor": "white",
                "linewidth": 0,
                "label": f"favours {favoured}",
                **kwargs,
            }
            ax.barh(np.flatnonzero(chosen), weights[chosen], **look)
        ax.axvline(0, color=INK, linewidth=1)
        ax.set_yticks(range(len(names)), names)
        ax.set(xlabel="weight", title=f"The {len(names)} heaviest weights", ylim=(len(names) - 0.4, -0.6))
        hide_frame(ax)
        legend_below(ax)
        return self._drawn(ax)


def _weights(estimator: Any) -> tuple[list[Bar], Sequence[Any]]:
    """Return all weights of any learner, and the classes."""
    model = last_step(estimator)
    if hasattr(model, "coef_"):  # of any library, after any pipeline steps
        classes = model.classes_.tolist()
        return _of_coefficients(estimator, classes), classes
    plain = model.to_model() if hasattr(model, "to_model") else model
    if not hasattr(plain, "weights_by_name") or getattr(plain, "readout", None) == "vote":
        raise ValueError(f"this {type(model).__name__} has no weights of features to show: a kernel or a vote has none")
    bars = [Bar(BIAS if name is None else str(name), weight, label) for label, name, weight in plain.weights_by_name()]
    return bars, getattr(model, "classes", getattr(model, "classes_", ()))


def _of_coefficients(estimator: Any, classes: Sequence[Any]) -> list[Bar]:
    """Return all weights of a linear model, with the names of its columns."""
    model = last_step(estimator)
    names = [*_feature_names(estimator, np.shape(model.coef_)[1]), BIAS]
    table = np.column_stack([model.coef_, np.ravel(model.intercept_)])
    labels = [None] if len(table) == 1 else list(classes)
    return [
        Bar(str(name), weight, label)
        for label, row in zip(labels, table.tolist(), strict=True)
        for name, weight in zip(names, row, strict=True)
    ]


def _feature_names(estimator: Any, n_columns: int) -> list[Any]:
    """Return the feature names from the last step before the model, or those of the data."""
    model = last_step(estimator)
    if model is not estimator and len(estimator.steps) > 1:
        try:
            return list(estimator[:-1].get_feature_names_out())
        except AttributeError:
            return [f"x{j}" for j in range(n_columns)]
    names = model.to_model().names if hasattr(model, "to_model") else getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_columns)] if names is None else list(names)


def _only(bars: list[Bar], label: Any) -> list[Bar]:
    known = list(dict.fromkeys(bar.label for bar in bars))
    if label not in known:
        raise ValueError(
            "these weights have no label; omit label"
            if known == [None]
            else f"label {label!r} is not one of the model's, {known}"
        )
    return [bar for bar in bars if bar.label == label]
