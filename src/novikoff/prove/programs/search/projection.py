"""Projection and rescaling (Chubanov 2015; Peña and Soheili 2017): which coordinates of a subspace can be positive.

Given a linear subspace L, the question is which points of L have no negative coordinate. Let P be the projection onto
L, and let z >= 0 be weights of sum 1. If Pz > 0, it is such a point, with all coordinates positive. If Pz is small, z
bounds them: a point x of L with 0 <= x <= 1 has z_i x_i <= <z, x> = <Pz, x> <= |(Pz)+|_1 for every i. A coordinate that
is bounded by less than 1 is stretched, so that the box is again of side 1, and the search for weights goes on. The
coordinates that can be positive stop being stretched, relative to each other; the rest are stretched forever.

The weights come from the smooth perceptron (Soheili and Peña 2012): the perceptron's search for a vector that has a
positive product with every column of P, accelerated. In a subspace that is its own complement, as here, there is no
such vector, and the search ends with weights that bound some coordinate by 1/2.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.clock import Clock
from novikoff.prove.programs.program import Mask, Vector

STRETCHED_ENOUGH = 1e30
CLOCK_EVERY = 64


class Weights(NamedTuple):
    """What a run of the smooth perceptron ends with: weights z, their image Pz, and the iterations that it took."""

    z: Vector
    image: Vector
    iterations: int
    bounds_a_coordinate: bool


class Stretch(NamedTuple):
    """The state after one rescaling.

    `positive` marks who of each pair of partners has been stretched less: the guess at the support. `point` lies in
    the subspace; it has no negative coordinate up to an error that every rescaling halves.
    """

    positive: Mask
    point: Vector
    iterations: int


def maximum_support(
    stretched: Callable[[Vector], Vector], partner: NDArray[np.intp], clock: Clock
) -> Iterator[Stretch]:
    """Rescale until float64 or the time is exhausted, for a subspace that is its own complement with partners swapped.

    For such a subspace the orthogonal part z - Pz, with partners swapped, lies in the subspace again: small images give
    both bounds and points. `stretched` gives an orthonormal basis of the subspace with its coordinates stretched.

    >>> basis = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> *_, last = maximum_support(lambda stretch: basis, np.array([2, 3, 0, 1]), Clock(None))
    >>> last.positive.tolist()
    [True, False, False, True]
    """
    stretch = np.ones(len(partner))
    while stretch.max() < STRETCHED_ENOUGH:
        weights = smooth_perceptron(stretched(stretch), clock)
        if not weights.bounds_a_coordinate:
            return
        point = (stretch * (weights.z - weights.image))[partner]
        stretch = stretch * _stretches(weights)
        stretch /= stretch.min()  # L is a cone: a smaller box holds the same directions
        yield Stretch(stretch < stretch[partner], point / np.abs(point).max(), weights.iterations)


def _stretches(weights: Weights) -> Vector:
    """By how much the bounds allow every coordinate to be stretched; not beyond float64 where the image vanishes."""
    total = max(float(np.maximum(weights.image, 0).sum()), 1e-12)
    return np.maximum(weights.z / total, 1.0)


def smooth_perceptron(Q: Vector, clock: Clock) -> Weights:
    """Weights z whose image under P = QQ' bounds a coordinate by 1/2, found within 4 n^1.5 iterations.

    Nesterov's excessive gap technique on min |Pz|^2 / 2 over the simplex, where y is the perceptron's weight vector:
    the perceptron answers y with the worst example, this one with the nearest point of the simplex to centre - y/mu.
    After k iterations |Pz| <= 2/(k + 1), unless a vector is found whose products with all columns are positive; and
    |(Pz)+|_1 <= sqrt(n) |Pz|, while some z_i is at least 1/n.
    """
    n = len(Q)
    centre, mu = np.full(n, 1 / n), 2.0
    y = Q @ (Q.T @ centre)
    response = onto_simplex(centre - y / mu)
    answer = Q @ (Q.T @ response)
    z, image = response, answer
    for k in range(int(4 * n**1.5)):
        if np.maximum(image, 0).sum() <= z.max() / 2:
            return Weights(z, image, k, True)
        if k % CLOCK_EVERY == 0 and clock.is_over():
            break
        theta = 2 / (k + 3)
        y = (1 - theta) * (y + theta * image) + theta**2 * answer
        mu *= 1 - theta
        response = onto_simplex(centre - y / mu)
        answer = Q @ (Q.T @ response)
        z, image = (1 - theta) * z + theta * response, (1 - theta) * image + theta * answer
    return Weights(z, image, k, False)


def onto_simplex(v: Vector) -> Vector:
    """The nearest weights: nonnegative numbers of sum 1.

    >>> onto_simplex(np.array([1.0, 1.0, -3.0])).tolist()
    [0.5, 0.5, 0.0]
    """
    falling = np.sort(v)[::-1]
    thresholds = (np.cumsum(falling) - 1) / np.arange(1, len(v) + 1)
    used = int((falling > thresholds).sum())
    return np.maximum(v - thresholds[used - 1], 0.0)
