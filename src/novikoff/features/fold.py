"""The notes' simplifications: fold the bias in, fold the labels in, scale to unit length.

Each reduces the problem to a simpler one. `fold_bias` keeps the scores; R and the margin are then those of the folded
examples. `fold_labels` keeps every mistake that counts ties. `unit_length` keeps the sign of a score, and changes the
mistakes: the bound becomes 1/delta^2 <= (R/gamma)^2.

The order matters: fold the bias first. Scaling afterwards also scales the folded 1; scaling before would omit the bias
from the length, and the theorem would apply to other vectors.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.labels import checked_labels


def signs(y: ArrayLike) -> NDArray[np.int8]:
    """Return labels as -1 and +1: of two labels in sorted order, the second is +1.

    >>> signs(["blue", "red", "blue"]).tolist()
    [-1, 1, -1]
    """
    labels = checked_labels(y)
    classes = np.unique(labels)
    if classes.dtype.kind in "biuf" and np.isin(classes, (-1, 1)).all():
        return labels.astype(np.int8)
    if len(classes) != 2:
        raise ValueError(
            f"y has {len(classes)} distinct label(s), {classes[:5].tolist()}; two are needed, or -1 and +1"
        )
    return np.where(labels == classes[1], np.int8(1), np.int8(-1))


def fold_bias(X: ArrayLike) -> NDArray[Any]:
    """Append the coordinate 1 to every example, so that the bias is one more weight ("add a dimension").

    >>> fold_bias([[3.0, 4.0]]).tolist()
    [[3.0, 4.0, 1.0]]
    """
    points = _as_points(X)
    return np.hstack([points, np.ones((len(points), 1))])


def fold_labels(X: ArrayLike, y: ArrayLike) -> NDArray[Any]:
    """Replace every negative example x by -x, so that all are positive ("avoid negative examples").

    A weight vector separates the examples if and only if every folded example has a positive score.

    >>> fold_labels([[1.0, 2.0], [3.0, 4.0]], [1, -1]).tolist()
    [[1.0, 2.0], [-3.0, -4.0]]
    """
    return _as_points(X) * signs(y)[:, None]


def unit_length(X: ArrayLike) -> NDArray[Any]:
    """Scale every example to length 1 ("normalize lengths"). Fold the bias in first, if there is one.

    The sign of a score does not change, but the mistakes may: long examples no longer cause larger updates. If delta is
    the margin of the scaled examples, a perceptron makes at most 1/delta^2 mistakes, which is at most (R/gamma)^2.

    >>> unit_length([[3.0, 4.0]]).tolist()
    [[0.6, 0.8]]
    """
    points = _as_points(X)
    largest = np.abs(points).max(axis=1, initial=0.0)
    if not largest.all():
        row = int(np.flatnonzero(largest == 0)[0])
        raise ValueError(f"row {row} is zero and has no direction; drop it, or fold the bias in first")
    scaled = points / largest[:, None]  # first by the largest entry, so that no square overflows or underflows
    return scaled / np.sqrt((scaled * scaled).sum(axis=1))[:, None]


def zero_one_step(w: ArrayLike, x: ArrayLike, y: int, learning_rate: float = 1.0) -> NDArray[np.float64]:
    """Do one step of the rule for labels 0 and 1: w <- w + learning_rate (y - h(x)) x, where h(x) is 1 if <w, x> >= 0.

    The difference y - h(x) is 0 when the prediction is right and the sign of the example when it is wrong, so this is
    the rule for labels -1 and +1 under `tie="predict"`. The learning rate only scales the weights.

    >>> zero_one_step([0.0, 0.0], [-1.0, 2.0], 0).tolist()
    [1.0, -2.0]
    """
    if y not in (0, 1):
        raise ValueError(f"the label is {y!r}; this form of the rule has the labels 0 and 1")
    weights, point = np.asarray(w, dtype=np.float64), np.asarray(x, dtype=np.float64)
    prediction = 1 if weights @ point >= 0 else 0
    return weights + learning_rate * (y - prediction) * point


def _as_points(X: ArrayLike) -> NDArray[Any]:
    points = np.asarray(X)
    if points.dtype not in (np.float32, np.float64):
        points = points.astype(np.float64)
    if points.ndim != 2:
        raise ValueError(f"X has {points.ndim} dimension(s); examples are the rows of a matrix")
    return points
