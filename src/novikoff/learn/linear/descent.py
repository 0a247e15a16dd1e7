"""The perceptron as gradient descent: on max(0, -s), the hinge at 0, with s = y <w, x> (second and fourth note).

The criterion of the perceptron is J_p(w), the sum of these losses over the examples (Duda and Hart 1973, section 5.5):
how far the mistakes are on their wrong side, together. It is convex, made of flat pieces, and 0 exactly in the solution
region and on its edge. Where s < 0 the gradient of a loss is -y x, and where s > 0 it is 0. At s = 0 it has a kink, and
of the slopes there the perceptron takes the one that learns.

A step down along one example at a time is the perceptron; along the gradient of all examples it is the batch rule. Fold
a bias in first (`features.fold`).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.features.fold import fold_labels

Floats = NDArray[np.float64]


def perceptron_criterion(X: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """J_p of one weight vector, or of every row of many.

    >>> perceptron_criterion([[1, 0], [0, 2]], [1, -1], [[1, 1], [1, -1], [-3, 1]]).tolist()
    [2.0, 0.0, 5.0]
    """
    scores = np.asarray(weights, dtype=np.float64) @ fold_labels(X, y).T
    return np.asarray(np.maximum(-scores, 0.0).sum(axis=-1))


def stochastic_descent(X: ArrayLike, y: ArrayLike, *, epochs: int = 1, rate: float = 1.0) -> Floats:
    """The weights before the first example and after each: one gradient step an example, from zero weights.

    The mistakes are a perceptron's, whatever the rate: from zero weights a rate multiplies the weights and changes no
    sign, so steps are decided at rate 1 and scaled when they are returned. In floats that matters, as 3 times 0.1 is
    not 0.3.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> stochastic_descent(X, y).tolist()
    [[0.0, 0.0], [1.0, -2.0], [1.0, -2.0], [2.0, -1.0], [2.0, -1.0], [3.0, 1.0], [3.0, 1.0]]
    """
    examples = fold_labels(X, y).astype(np.float64)
    path = [np.zeros(examples.shape[1])]
    for example in np.tile(examples, (epochs, 1)):
        gradient = -example if path[-1] @ example <= 0 else np.zeros_like(example)
        path.append(path[-1] - gradient)
    return rate * np.array(path)


def batch_descent(
    X: ArrayLike, y: ArrayLike, *, start: ArrayLike | None = None, rate: float = 1.0, max_steps: int = 100
) -> Floats:
    """The weights before and after each step of the batch rule: add `rate` times the sum of all mistakes.

    It ends when there are none, or after `max_steps`.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> batch_descent(X, y, start=[-2, 1], rate=0.5).tolist()
    [[-2.0, 1.0], [1.0, 1.0], [2.0, -0.5]]
    """
    examples = fold_labels(X, y).astype(np.float64)
    path = [np.zeros(examples.shape[1]) if start is None else np.array(start, dtype=np.float64)]
    for _ in range(max_steps):
        mistakes = examples[examples @ path[-1] <= 0]
        if not len(mistakes):
            break
        path.append(path[-1] + rate * mistakes.sum(axis=0))
    return np.array(path)
