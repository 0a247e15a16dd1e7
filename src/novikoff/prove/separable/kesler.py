"""Kesler's construction: many classes by argmax as one question about points in a larger space.

A row x of class c is right under weights W if <W_c, x> > <W_r, x> for every other class r. That is a positive product
of the long vector of all weights with one that has x in place c and -x in place r. So a row becomes as many points as
it has rivals, each of length sqrt(2) ||x||: hence the mistake bound 2 (R/gamma)^2.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.separable.points import Points


def kesler_points(X: Any, y: ArrayLike, fit_intercept: bool = True) -> Points:
    """One point for every row and rival; the coordinates are the weights and the bias of every class in turn."""
    from scipy.sparse import csr_matrix, hstack

    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {classes.tolist()}; there is nothing to tell apart")
    rows = csr_matrix(X, dtype=np.float64, copy=True)
    rows.eliminate_zeros()
    folded = hstack([rows, csr_matrix(np.full((rows.shape[0], 1), float(fit_intercept)))], format="csr")
    width, others = folded.shape[1], len(classes) - 1
    source = np.repeat(np.arange(rows.shape[0]), others)
    rivals = _rivals(labels, len(classes)).ravel()
    parts = folded[source]
    lengths = np.diff(parts.indptr)
    plus = parts.indices.astype(np.int64) + np.repeat(labels[source] * width, lengths)
    minus = parts.indices.astype(np.int64) + np.repeat(rivals * width, lengths)
    point = np.repeat(np.arange(len(source)), lengths)
    shape = (len(source), width * len(classes))
    entries = (np.concatenate([parts.data, -parts.data]), (np.tile(point, 2), np.concatenate([plus, minus])))
    return Points(csr_matrix(entries, shape=shape), np.ones(len(source), dtype=np.int8), 0.0)


def rows_and_rivals(y: ArrayLike, numbers: NDArray[np.int64]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Which row, against which class, the points are."""
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    rows, place = np.divmod(numbers, len(classes) - 1)
    rivals = _rivals(labels, len(classes))[rows, place]
    return tuple(rows.tolist()), tuple(classes[rivals].tolist())


def point_numbers(y: ArrayLike, rows: Sequence[int], rivals: Sequence[Any] | None) -> NDArray[np.int64]:
    """The points that these rows are, by themselves or against these classes."""
    which = np.asarray(rows, dtype=np.int64)
    if rivals is None:
        return which
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    rival = np.searchsorted(classes, np.asarray(rivals, dtype=classes.dtype))
    return which * (len(classes) - 1) + rival - (rival > labels[which])


def _rivals(labels: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """For every row, all classes but its own, in order."""
    order = np.arange(n_classes - 1)[None, :]
    return order + (order >= labels[:, None])
