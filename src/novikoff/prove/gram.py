"""Facts about examples in the feature space of a kernel, from the matrix of their products alone, in float64.

A separator is a combination of the examples, w = sum a_i z_i, and so is the nearest point of their hull. Products come
from the kernel matrix: <z_i, z_j> = y_i y_j (K_ij + 1), the 1 for the bias. What can be known is limited by rounding:
lengths below sqrt(n u) R are not told from 0.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, root_up
from novikoff.features.fold import signs

Floats = NDArray[np.float64]


def kernel_bracket(
    gram: Floats, labels: NDArray[np.int8], constant: float, alpha: Floats, weights: Floats
) -> tuple[float, float]:
    """min_i <z_i, w>/||w|| and ||sum weights z||, each moved outwards by what rounding may have done."""
    n = len(alpha)
    slack = 4.0 * (n + 4) * UNIT_ROUNDOFF * kernel_radius(gram, constant) ** 2
    products = (gram + constant) * np.outer(labels, labels)
    scores = products @ alpha
    size = float(np.abs(alpha).sum())
    length_square = float(alpha @ scores) + slack * size**2
    lower = (float(scores.min()) - slack * size) / np.sqrt(length_square) if length_square > 0 else 0.0
    share = weights / weights.sum()
    upper = np.sqrt(max(float(share @ products @ share), 0.0) + slack)
    return float(lower) * (1 - n * UNIT_ROUNDOFF), float(upper) * (1 + n * UNIT_ROUNDOFF)


def kernel_radius(gram: Floats, constant: float) -> float:
    """R: the length of the longest example in feature space, its bias included."""
    return root_up(float(gram.diagonal().max()) + constant)


def checked_gram(K: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[np.int8]]:
    gram = np.asarray(K, dtype=np.float64)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"a kernel matrix has as many columns as rows; this one has the shape {gram.shape}")
    if len(np.asarray(y)) != len(gram):
        raise ValueError(f"y has {len(np.asarray(y))} labels, but the kernel matrix has {len(gram)} rows")
    if not np.isfinite(gram).all():
        row, column = np.argwhere(~np.isfinite(gram))[0]
        raise ValueError(f"the kernel matrix contains NaN or infinity in row {row}, column {column}")
    scale = float(np.abs(gram).max(initial=0.0))
    if not np.allclose(gram, gram.T, rtol=1e-10, atol=1e-12 * scale):
        row, column = np.unravel_index(int(np.argmax(np.abs(gram - gram.T))), gram.shape)
        raise ValueError(f"the kernel matrix is not symmetric: row {row}, column {column} differs from its mirror")
    if gram.diagonal().min() < 0:
        row = int(np.argmin(gram.diagonal()))
        raise ValueError(f"K(x, x) is negative for row {row}: this is no positive semidefinite kernel")
    classes = np.unique(np.asarray(y))
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; with a kernel ask for one against the rest, y == label")
    return (gram + gram.T) / 2, signs(y)
