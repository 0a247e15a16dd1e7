"""The rescaled perceptron (Dadush, Vegh and Zambelli 2020): about m^2 log(1/rho) smooth steps in m dimensions.

All solutions of length at most 1 lie in the unit ball. Keep an ellipsoid that contains them: {y: y'Ry <= 1}, at first
the ball. Transform the rows to coordinates in which the ellipsoid is a ball, and run the smooth perceptron there. It
finds a solution, or a convex combination x of the rows with length at most 1/(11 m), which shrinks the ellipsoid by a
constant factor. It always contains the solutions, so the number of rescalings is bounded.

Why. Let c_i be the rows in the new coordinates, of length 1. A solution y in the ellipsoid has 0 <= <c_i, y> <= 1, and
if eps = ||sum x_i c_i||, then sum x_i <c_i, y>^2 <= sum x_i <c_i, y> <= eps. So for every t > 0

    ||y||^2 + t sum x_i <c_i, y>^2 <= 1 + t eps,

which is a new ellipsoid. Its det R has grown by the factor prod (1 + t lambda_j)/(1 + t eps), where the lambda_j are
the eigenvalues of sum x_i c_i c_i', of sum 1. The paper takes t = 1: the factor is at least 2/(1 + eps)^m, which is
above 2 e^(-1/11) once eps <= 1/(11 m). Here t is the best of 1, 2, 4, ...: never worse, and many times better where
the rows bound the solutions on all sides. If some solution has margin rho, the solutions contain a ball of radius
rho/(1 + rho), so log det R is at most 2 m log(1 + 1/rho): there are at most 3.33 m log(1 + 1/rho) rescalings.

The smooth perceptron (Soheili and Pena 2012) needs about sqrt(log n)/rho steps where the perceptron needs 1/rho^2. The
perceptron moves towards one violated row, the smooth one towards a mixture of all rows, the softmin of their products:
weights proportional to exp(-<a_i, y>/mu), with a mu that shrinks. That makes the problem smooth, and Nesterov's
acceleration applies. With n rows of length 1, after k steps either Ay > 0, or the mixture x has
||x A|| <= 2 sqrt(2 log n)/(k + 1): so a solution is found within 2 sqrt(2 log n)/rho steps.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from novikoff.prove.inequalities.search.system import ROUNDING, Proofs, SearchLimits, SearchResult, System
from novikoff.prove.separable.points import Floats


class SmoothStep(NamedTuple):
    """A candidate y with its smallest product, and a convex combination `weights` of the rows with its length."""

    y: Floats
    smallest: float
    weights: Floats
    length: float


def smooth_steps(A: Floats) -> Iterator[SmoothStep]:
    """The smooth perceptron on unit rows, step by step, forever.

    It keeps ||x A||^2/2 <= min_p (<Ay, p> + mu d(p)) - ||y||^2/2, where d is the entropy of p above its minimum: while
    Ay > 0 fails, the right side is at most mu log n, and mu = 4/((k + 1)(k + 2)).
    """
    mu = 2.0
    y = A.mean(axis=0)
    Ay = np.vecdot(A, y)  # BLAS would synchronise its threads for far longer than such a product takes
    x = softmin(Ay, mu)
    xA = pA = np.einsum("i,ij->j", x, A)
    for k in itertools.count():
        yield SmoothStep(y, float(Ay.min()), x, math.sqrt(float(xA @ xA)))
        theta = 2 / (k + 3)
        y = (1 - theta) * (y + theta * xA) + theta**2 * pA
        mu *= 1 - theta
        Ay = np.vecdot(A, y)
        p = softmin(Ay, mu)
        pA = np.einsum("i,ij->j", p, A)
        x = (1 - theta) * x + theta * p
        xA = (1 - theta) * xA + theta * pA


def softmin(products: Floats, mu: float) -> Floats:
    """Weights of sum 1, proportional to exp(-product/mu)."""
    p = np.exp((products.min() - products) / mu)
    return np.asarray(p / p.sum())


# The least that a rescaling adds to log det R.
LEAST_GAIN = math.log(2) - 1 / 11
STEPS = 2.0 ** np.arange(41)
# Seconds for the last attempt at an exact combination.
LAST_ATTEMPT = 10.0


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """The set {axes v: ||v|| <= 1}, with R = (axes axes')^-1. It contains every solution of length at most 1.

    Storing the axes instead of R halves the loss of digits: their condition is 1/rho where R's is 1/rho^2. `rows` are
    the unit rows in its coordinates, divided by their `lengths` there.
    """

    unit: Floats
    axes: Floats
    log_det: float = 0.0

    @classmethod
    def ball(cls, unit_rows: Floats) -> "Ellipsoid":
        return cls(unit_rows, np.eye(unit_rows.shape[1]))

    @cached_property
    def lengths(self) -> Floats:
        return np.asarray(np.linalg.norm(self.unit @ self.axes, axis=1))

    @cached_property
    def rows(self) -> Floats:
        return np.asarray(self.unit @ self.axes / np.maximum(self.lengths, 1e-300)[:, None])

    def squeezed(self, weights: Floats) -> "Ellipsoid":
        """Return the smaller ellipsoid that a convex combination of the rows gives, with the best t."""
        eps = float(np.linalg.norm(weights @ self.rows))
        eigenvalues, vectors = np.linalg.eigh((self.rows.T * weights) @ self.rows)
        spectrum = np.maximum(eigenvalues, 0.0)
        gains = np.log1p(STEPS[:, None] * spectrum).sum(axis=1) - len(spectrum) * np.log1p(STEPS * eps)
        best = int(np.argmax(gains))
        axes = vectors * np.sqrt((1 + STEPS[best] * eps) / (1 + STEPS[best] * spectrum))
        return Ellipsoid(self.unit, self.axes @ axes, self.log_det + float(gains[best]))

    def is_lost_to_rounding(self) -> bool:
        """Whether some row is only rounding error in the coordinates of the ellipsoid."""
        return bool(self.lengths.min() < 64 * ROUNDING * np.linalg.norm(self.axes))

    def margin_at_most(self) -> float:
        """The largest margin rho with log det R <= 2 m log(1 + 1/rho), which holds if a solution has it."""
        exponent = self.log_det / (2 * len(self.axes))
        return 1 / math.expm1(exponent) if exponent > 0 else math.inf

    def combined_margin_at_most(self, weights: Floats) -> float:
        """A bound on the margin rho of a unit solution y: eps >= sum x_i <c_i, y> >= rho sum x_i / length_i."""
        return float(np.linalg.norm(weights @ self.rows)) / float((weights / self.lengths).sum())


def rounding_of_a_margin(unit_rows: Floats) -> float:
    """A bound on the rounding error in the length of a convex combination of unit rows."""
    return 4 * (sum(unit_rows.shape) + 8) * ROUNDING


def rescaled(system: System, limits: SearchLimits, last_attempt: float = LAST_ATTEMPT) -> SearchResult:
    """The rescaled perceptron with a smooth inner loop, until a solution, a proof, or the limits of float64.

    At these limits an exact combination is tried once more, for `last_attempt` seconds.
    """
    ellipsoid, bound = Ellipsoid.ball(system.unit), math.inf
    dual: Floats | None = None
    shortest = math.inf
    potential = [0.0]
    iterations = 0
    proofs = Proofs(system, limits, first=2)
    while True:
        x, weights, smaller, steps = _inner(ellipsoid, limits, proofs, iterations)
        iterations += steps
        bound = min(bound, ellipsoid.combined_margin_at_most(weights))
        weights = weights / ellipsoid.lengths
        length = float(np.linalg.norm(weights @ system.unit)) / float(weights.sum())
        if length < shortest:
            dual, shortest = weights, length
        if smaller is not None:
            ellipsoid = smaller
            bound = min(bound, ellipsoid.margin_at_most())
            potential.append(ellipsoid.log_det)
        combination = proofs.attempt(len(potential), weights) if x is None else None
        stopped = limits.reached(bound)
        if not stopped and (smaller is None or bound < ROUNDING or ellipsoid.is_lost_to_rounding()):
            stopped = "the margin, if there is one, is too small for float64"
            if x is None and combination is None and last_attempt:
                combination = system.cancelling(weights, limits.clock.within(last_attempt))
        if x is not None or combination or stopped:
            history = (iterations, len(potential) - 1, tuple(potential))
            return SearchResult("rescaled", x, combination, dual, *history, stopped, bound)


def _inner(
    ellipsoid: Ellipsoid, limits: SearchLimits, proofs: Proofs, before: int
) -> tuple[Floats | None, Floats, Ellipsoid | None, int]:
    """Smooth steps until a solution or a rescaling that gains enough; returns it, the weights, and the number of steps.

    A rescaling is tried once eps is below 1/(2 m), and whenever it has become a fifth smaller. Below 1/(11 m) it gains
    enough, which happens within 28 m sqrt(2 log n) steps unless float64 is too coarse.
    """
    n, m = ellipsoid.rows.shape
    most = 28 * m * math.sqrt(2 * math.log(n)) + 10
    next_try = 1 / (2 * m)
    for k, step in enumerate(smooth_steps(ellipsoid.rows)):
        if step.smallest > 0 and proofs.solves(before + k, y := ellipsoid.axes @ step.y):
            return y, step.weights, None, k
        if step.length <= next_try:
            smaller = ellipsoid.squeezed(step.weights)
            if smaller.log_det - ellipsoid.log_det >= LEAST_GAIN:
                return None, step.weights, smaller, k + 1
            next_try = 0.8 * step.length
        if k > most or (k % 64 == 0 and limits.reached(math.inf)):
            return None, step.weights, None, k
    raise AssertionError("the steps go on forever")
