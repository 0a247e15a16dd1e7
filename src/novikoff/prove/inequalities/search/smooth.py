"""The smooth perceptron (Soheili and Pena 2012): about sqrt(log n)/rho steps where the perceptron needs 1/rho^2.

The perceptron moves towards one violated row. The smooth one moves towards a mixture of all rows, the softmin of their
products: weights proportional to exp(-<a_i, y>/mu), with a mu that shrinks. That makes the problem smooth, and
Nesterov's acceleration applies. With n rows of length 1, after k steps either Ay > 0, or the mixture x has
||x A|| <= 2 sqrt(2 log n)/(k + 1): so a solution is found within 2 sqrt(2 log n)/rho steps.
The rescaled perceptron takes its steps.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from novikoff.engine.inequalities import mixture, products
from novikoff.prove.separable.points import Floats


class Step(NamedTuple):
    """A candidate y with its smallest product, and a convex combination `weights` of the rows with its length."""

    y: Floats
    smallest: float
    weights: Floats
    length: float


def smooth_steps(A: Floats) -> Iterator[Step]:
    """The smooth perceptron on unit rows, step by step, forever.

    It keeps ||x A||^2/2 <= min_p (<Ay, p> + mu d(p)) - ||y||^2/2, where d is the entropy of p above its minimum: while
    Ay > 0 fails, the right side is at most mu log n, and mu = 4/((k + 1)(k + 2)).
    """
    columns = np.ascontiguousarray(A.T)
    Ay, pA = np.empty(len(A)), np.empty(A.shape[1])
    mu = 2.0
    y = A.mean(axis=0)
    products(columns, y, Ay)
    x = softmin(Ay, mu)
    mixture(A, x, pA)
    xA = pA.copy()
    for k in itertools.count():
        yield Step(y, float(Ay.min()), x, math.sqrt(float(xA @ xA)))
        theta = 2 / (k + 3)
        y = (1 - theta) * (y + theta * xA) + theta**2 * pA
        mu *= 1 - theta
        products(columns, y, Ay)
        p = softmin(Ay, mu)
        mixture(A, p, pA)
        x = (1 - theta) * x + theta * p
        xA = (1 - theta) * xA + theta * pA


def softmin(products: Floats, mu: float) -> Floats:
    """Weights of sum 1, proportional to exp(-product/mu)."""
    p = np.exp((products.min() - products) / mu)
    return np.asarray(p / p.sum())
