"""Separators, and the two numbers of the theorem: margin and radius.

With a bias, an example is folded: one more coordinate of value 1. The *margin* of an example is its signed distance
from the hyperplane in that folded space, y (<w, x> + b) / ||(w, b)||, because there the perceptron adds examples. The
distance in the original space, with ||w|| alone as denominator, is `Separator.distance`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.features.fold import signs
from novikoff.prove.exact.floats import fraction_root_up, length_of, longest_square
from novikoff.prove.exact.given_numbers import matrix_of_examples


@dataclass(frozen=True, eq=False)
class Separator:
    """An oriented hyperplane <w, x> + b = 0.

    The second note writes a hyperplane as w.x = b and then folds b in with a plus: the sign of b differs between its
    two definitions. Here it is plus throughout.

    >>> line = Separator([3.0, 4.0], -5.0)
    >>> line.sign([[3.0, 4.0], [0.0, 0.0], [1.0, 0.5]]).tolist()
    [1, -1, 1]
    >>> line.distance([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [4.0, -1.0]
    """

    weights: NDArray[np.float64]
    bias: float = 0.0

    def __init__(self, weights: ArrayLike, bias: float = 0.0) -> None:
        w = np.array(weights, dtype=np.float64).ravel()
        if not (np.isfinite(w).all() and math.isfinite(bias)):
            raise ValueError("a separator has finite weights and a finite bias")
        if not np.any(w) and bias == 0:
            raise ValueError("all weights and the bias are 0: this is not a hyperplane")
        w.flags.writeable = False
        object.__setattr__(self, "weights", w)
        object.__setattr__(self, "bias", float(bias))

    @property
    def folded(self) -> NDArray[np.float64]:
        """Weights and bias in one vector, the bias last."""
        return np.append(self.weights, self.bias)

    def score(self, X: Any) -> NDArray[np.float64]:
        """<w, x> + b for every row."""
        if len(np.shape(X)) != 2 or np.shape(X)[1] != len(self.weights):
            raise ValueError(f"X has shape {np.shape(X)}, but the separator is for rows of {len(self.weights)} numbers")
        return np.asarray(_as_matrix(X) @ self.weights, dtype=np.float64).ravel() + self.bias

    def sign(self, X: Any) -> NDArray[np.int8]:
        """The predicted label of every row, -1 or +1; a score of 0 predicts +1."""
        return np.where(self.score(X) >= 0, np.int8(1), np.int8(-1))

    def positive_side(self, X: Any) -> NDArray[np.bool_]:
        """Which rows lie in the open half-space <w, x> + b > 0."""
        return self.score(X) > 0

    def negative_side(self, X: Any) -> NDArray[np.bool_]:
        """Which rows lie in the open half-space <w, x> + b < 0."""
        return self.score(X) < 0

    def distance(self, X: Any) -> NDArray[np.float64]:
        """The signed distance of every row from the hyperplane in the original space (||w|| = 1)."""
        length = length_of(self.weights)
        if length == 0:
            raise ValueError("all weights are 0, and only the bias is left: this is not a hyperplane")
        return self.score(X) / length


def margins(X: Any, y: ArrayLike, separator: Separator, fit_intercept: bool = True) -> NDArray[np.float64]:
    """The margin of every example: positive on its own side, negative on the wrong one.

    The smallest is the margin of the separator on the data; the largest such margin over all separators is the gamma of
    the theorem. Without an intercept the separator must pass through the origin.

    >>> margins([[2.0, 0.0], [-1.0, 5.0]], [1, -1], Separator([1.0, 0.0]), fit_intercept=False).tolist()
    [2.0, 1.0]
    """
    if not fit_intercept and separator.bias != 0:
        raise ValueError(f"the separator has bias {separator.bias}, but without an intercept it must be 0")
    labels = _labels_for(X, y)
    return labels * separator.score(X) / length_of(separator.folded)


def multiclass_margins(
    X: Any, y: ArrayLike, weights: ArrayLike, biases: ArrayLike | None = None
) -> NDArray[np.float64]:
    """The multiclass margin of every example: the score of its class minus the best other, for ||W|| = 1.

    `weights` has one row per class in sorted order of the labels; the norm is Frobenius', and includes `biases` if
    given (the folded space, as everywhere). A perceptron makes at most 2 (R/gamma)^2 mistakes, with gamma the smallest
    of these margins.

    >>> multiclass_margins([[1.0, 0.0], [0.0, 1.0]], ["a", "b"], [[3.0, 0.0], [0.0, 4.0]]).tolist()
    [0.6, 0.8]
    """
    W = np.asarray(weights, dtype=np.float64)
    b = np.zeros(len(W)) if biases is None else np.asarray(biases, dtype=np.float64)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != len(W):
        raise ValueError(f"y has {len(classes)} classes, but there are {len(W)} rows of weights")
    scores = np.asarray(_as_matrix(X) @ W.T) + b
    right = scores[np.arange(len(labels)), labels]
    scores[np.arange(len(labels)), labels] = -np.inf
    return (right - scores.max(axis=1)) / length_of(np.append(W.ravel(), b))


def radius(X: Any, fit_intercept: bool = True) -> float:
    """R: the length of the longest example, with its folded 1 if there is an intercept, rounded up to a float.

    >>> radius([[3.0, 4.0], [1.0, 1.0]], fit_intercept=False)
    5.0
    """
    return fraction_root_up(radius_square(X, fit_intercept))


def radius_square(X: Any, fit_intercept: bool = True) -> Fraction:
    """R squared, exactly.

    >>> radius_square([[1.0, 0.5]], fit_intercept=False)
    Fraction(5, 4)
    """
    matrix: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if matrix.shape[0] == 0:
        raise ValueError("X has no rows, so the radius is undefined")
    if hasattr(matrix, "tocsr") and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return longest_square(matrix) + int(fit_intercept)


def _as_matrix(X: Any) -> Any:
    return matrix_of_examples(X.tocsr().astype(np.float64) if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64))


def _labels_for(X: Any, y: ArrayLike) -> NDArray[np.int8]:
    labels = signs(y)
    if len(labels) != np.shape(X)[0]:
        raise ValueError(f"y has {len(labels)} labels, but X has {np.shape(X)[0]} rows")
    return labels
