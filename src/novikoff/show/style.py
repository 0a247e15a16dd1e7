"""Shared code of the pictures: matplotlib imported on use, colours and shapes that work in greyscale, safe rounding.

Two classes differ by shape, by lightness and by hue, blue and orange, which are distinct in every common kind of colour
vision. More classes use cividis, designed for that, whose lightness rises steadily.
"""

import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

DARK, LIGHT = "#1b4b7f", "#ec9a3c"
INK, GREY, PAPER = "#222222", "#6b6b6b", "#ffffff"
# The largest number that is drawn: matplotlib computes axis limits in floats.
DRAWABLE = 10**150
MARKERS = "so^DvPX*<>"
MOST_NAMED = 26  # in a legend
ALPHA, GAMMA, MINUS = "\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER GAMMA}", "\N{MINUS SIGN}"

Floats = NDArray[np.float64]


class Display:
    """A picture. Its constructor stores plain data, `plot` draws them and sets `ax_` and `figure_`."""

    ax_: Any
    figure_: Any

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


def pyplot() -> Any:
    """Return matplotlib.pyplot; raise ImportError with the command to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('pictures need matplotlib, which is an extra: pip install "novikoff[plot]"') from error
    return plt


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def svg(draw: Callable[[Any], Any], size: tuple[float, float] = (7.2, 4.2)) -> str | None:
    """Return a drawing on a new figure as a data URL, for self-contained pages; None without matplotlib.

    An image is isolated: nothing in it, such as names from the data, can affect the page around it.
    """
    if not can_draw():
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = BytesIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "novikoff", "text.parse_math": False, "font.size": 10.5}
    with rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glyphs that this font lacks: the browser has other fonts
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.draw_without_rendering()  # a first layout, so that the saved one has room for the legend
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    # To keep pages small: positions to a hundredth of a point, as no more is visible, and the style of similar marks
    # stated once, around them.
    drawn = re.sub(rb' (d|x|y)="[^"]*"', lambda place: re.sub(rb"(\.\d\d)\d+", rb"\1", place[0]), file.getvalue())
    drawn = re.sub(rb'<use [^>]*( style="[^"]*")/>(\s*<use [^>]*\1/>)+', _look_said_once, drawn)
    return f"data:image/svg+xml;base64,{b64encode(drawn).decode()}"


def _look_said_once(marks: re.Match[bytes]) -> bytes:
    return b"<g" + marks[1] + b">" + marks[0].replace(marks[1], b"") + b"</g>"


def axes(ax: Any, size: tuple[float, float] = (6.4, 4.6)) -> Any:
    """Return the axes to draw on: those given, or those of a new figure."""
    plt = pyplot()
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def class_colours(n_classes: int) -> list[str]:
    """Return one colour per class, from dark to light."""
    if n_classes <= 2:
        return [DARK, LIGHT][:n_classes]
    pyplot()
    from matplotlib import colormaps, colors

    return [colors.to_hex(colormaps["cividis"](share)) for share in np.linspace(0.05, 0.95, n_classes)]


def tint(colour: str, share: float = 0.22) -> Any:
    """Return a colour mixed with white, for areas behind points."""
    from matplotlib import colors

    return tuple(1 - share * (1 - part) for part in colors.to_rgb(colour))


def draw_points(ax: Any, points: Floats, labels: NDArray[Any], classes: Sequence[Any], **kwargs: Any) -> list[Any]:
    """Draw the points of every class in its shape and colour; `kwargs` go to `scatter`."""
    style = {"s": 34, "edgecolors": INK, "linewidths": 0.5, "zorder": 3, **kwargs}
    return [
        ax.scatter(
            *points[labels == name].T, **{"c": colour, "marker": MARKERS[i % len(MARKERS)], **style, "label": name}
        )
        for i, (name, colour) in enumerate(zip(classes, class_colours(len(classes)), strict=True))
    ]


def ring(ax: Any, points: Floats, label: str) -> Any:
    """Draw rings around points."""
    return ax.scatter(*points.T, s=150, facecolors="none", edgecolors=INK, linewidths=1.4, zorder=4, label=label)


def legend_below(ax: Any, columns: int = 2, points: float = 38) -> None:
    """Draw the legend below the picture, this many points lower to leave room for the axis."""
    from matplotlib.transforms import ScaledTranslation

    lower = ax.transAxes + ScaledTranslation(0, -points / 72, ax.figure.dpi_scale_trans)
    handles = ax.get_legend_handles_labels()[0][:MOST_NAMED]
    look = {"bbox_to_anchor": (0.5, 0), "bbox_transform": lower, "ncols": columns, "frameon": False}
    ax.legend(handles=handles, loc="upper center", **look)


def hide_frame(ax: Any) -> None:
    """Hide the top and right sides of the frame."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def typeset(formula: str) -> str:
    """Return text with its ASCII formulas in Unicode symbols, for pages.

    >>> typeset("2 (R/gamma)^2 <= 7") == f"2 (R/{GAMMA})\N{SUPERSCRIPT TWO} \N{LESS-THAN OR EQUAL TO} 7"
    True
    """
    return formula.replace("gamma", GAMMA).replace("^2", "²").replace("<=", "≤").replace(">=", "≥")


def matrix_of(X: Any, n_columns: int, why: str) -> Floats:
    """Return the examples as a dense matrix with as many columns as the picture has dimensions."""
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != n_columns:
        raise ValueError(
            f"X has shape {np.shape(X)}, but {why} needs {n_columns} columns: choose them before fitting, as in "
            f"X[:, :{n_columns}]"
        )
    return points


def as_learned(estimator: Any, X: Any) -> Any:
    """Return the examples as the model learned them: a model of ours may scale and encode its input."""
    return estimator.rows_as_learned(X) if hasattr(estimator, "rows_as_learned") else X


def weights_as_learned(estimator: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the weights for the examples as learned, and the intercepts; our `coef_` are for the columns as given."""
    if not hasattr(estimator, "rows_as_learned"):
        return estimator.coef_, np.ravel(estimator.intercept_)
    weights = estimator.to_model().weights()
    return weights[:, :-1], weights[:, -1]


def labels_for(X: Any, y: ArrayLike) -> NDArray[Any]:
    """Return the labels, one per row."""
    labels = np.asarray(y)
    if labels.shape != (np.shape(X)[0],):
        raise ValueError(f"y has shape {labels.shape}, but X has {np.shape(X)[0]} rows: one label per row is required")
    return labels


def places_under(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.int64]:
    """Return the indices of labels among the classes of a model."""
    strange = ~np.isin(labels, np.asarray(classes))
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(f"label {labels.tolist()[row]!r} in row {row} is not one of the model's, {list(classes)}")
    return np.searchsorted(np.asarray(classes), labels)


def signs_under(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.int8]:
    """Return labels as -1 and +1 by the two classes of a model, even if only one of them occurs."""
    return np.where(places_under(labels, classes) == 1, np.int8(1), np.int8(-1))


def last_step(estimator: Any) -> Any:
    """Return the learner itself, or the last step of a pipeline."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def rows_within(rows: Any, n_rows: int) -> NDArray[np.int64]:
    """Return distinct row numbers; raise ValueError if the examples have no such rows."""
    numbers = np.unique(np.asarray(rows, dtype=np.int64))
    if len(numbers) and numbers[-1] >= n_rows:
        raise ValueError(f"row {numbers[-1]} is to be marked, but X has {n_rows} rows; pass the rows that were fitted")
    return numbers


def recorded_mistakes(estimator: Any) -> NDArray[np.int64]:
    """Return the row of every mistake; raise ValueError if the model did not record them."""
    rows = getattr(last_step(estimator), "mistake_rows_", None)
    if rows is None:
        raise ValueError(
            f"this {type(last_step(estimator)).__name__} recorded no mistakes; fit it with record_mistakes=True"
        )
    return np.asarray(rows, dtype=np.int64)
