"""Iterative parameter mixing: what a round of all shards does to the common weights, and what that proves.

Every shard i learns an epoch from the common weights w, which changes them by d_i with k_i mistakes. *Uniform* mixing
(McDonald, Hall, Mann 2010) adds the mean of the changes. *Adaptive* mixing adds as much of their sum D as the proof
allows: eta D, with the largest eta of at most 1 that keeps ||w||^2 <= R^2 K. Either way a mistake counts by its share,
1/S or eta, and K is the sum of all that count. By convexity, or by the choice of eta, ||w||^2 <= R^2 K stays true;
every unit vector u that separates with margin gamma has <w, u> >= K gamma; and so

    K gamma <= <w, u> <= ||w|| <= sqrt(K) R,    that is    K <= (R/gamma)^2    and    gamma <= ||w||/K.

With a lead tau, k counts updates, mistakes and narrow ones, and (1 + 2 tau) R^2 takes the place of R^2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, down, up
from novikoff.prove.exact.floats import root_down

Floats = NDArray[np.float64]
Mixing = Literal["uniform", "adaptive", "none"]
MIXINGS: tuple[Mixing, ...] = ("uniform", "adaptive", "none")


@dataclass(frozen=True, eq=False)
class Mixture:
    """Common weights, and the numbers of the proof: K, exactly; the updates made; by how much rounding moved w."""

    weights: Floats
    counted: Fraction = Fraction(0)
    updates: int = 0
    moved: float = 0.0

    @property
    def updates_at_least(self) -> int:
        """A number of updates with ||w||^2 <= R^2 times it, whatever was rounded."""
        return math.ceil(self.counted) + 1

    def with_changes(self, changes: Sequence[Floats], made: Sequence[int], square: float, mixing: Mixing) -> "Mixture":
        """The weights after a round; no update adds more than `square` to ||w||^2."""
        total = np.zeros_like(self.weights)
        for change in changes:  # in the order of the shards: sums of floats depend on it
            total += change
        k, n_shards = sum(made), len(changes)
        if mixing == "uniform":
            weights, counted = self.weights + total / n_shards, self.counted + Fraction(k, n_shards)
        else:
            eta = largest_step(self.weights, total, self.counted, k, square, n_shards)
            weights, counted = self.weights + eta * total, self.counted + Fraction(eta) * k
        moved = up(self.moved + self._moves(made, square, n_shards))
        return replace(self, weights=weights, counted=counted, updates=self.updates + k, moved=moved)

    def _moves(self, made: Sequence[int], square: float, n_shards: int) -> float:
        """How much a round may have moved the weights by rounding.

        The weights of a shard are never longer than sqrt(K + k_i) R. Each of its k_i additions rounds them by at most u
        times that, and so do the difference, each addition of the sum, its scaling and the last addition.
        """
        longest = math.sqrt(square * (float(self.counted) + max(made) + 1))
        steps = sum(made) + (n_shards + 4) ** 2
        return 2.0 * UNIT_ROUNDOFF * longest * steps


def largest_step(w: Floats, change: Floats, counted: Fraction, k: int, square: float, n_shards: int) -> float:
    """The largest eta of at most 1 with ||w + eta D||^2 <= R^2 (K + eta k), rounded down; never below 1/S.

    It is the larger root of ||D||^2 eta^2 + (2 w D - R^2 k) eta + (||w||^2 - R^2 K) = 0. The coefficients are rounded
    up, which makes the root smaller. As ||w + D/S||^2 <= R^2 (K + k/S) by convexity, 1/S is always small enough.

    >>> largest_step(np.array([0.0]), np.array([4.0]), Fraction(0), 4, 1.0, 4)
    0.25
    >>> largest_step(np.array([0.0, 0.0]), np.array([1.0, 1.0]), Fraction(0), 2, 1.5, 2)
    1.0
    """
    a = Fraction(_product_up(change, change))
    b = 2 * Fraction(_product_up(w, change)) - Fraction(square) * k
    c = Fraction(_product_up(w, w)) - Fraction(square) * counted
    least = down(1.0 / n_shards) if n_shards & (n_shards - 1) else 1.0 / n_shards
    if a + b + c <= 0:
        return 1.0
    disc = b * b - 4 * a * c
    if disc < 0:
        return least
    root = (Fraction(root_down(disc)) - b) / (2 * a)
    eta = float(root)
    return min(1.0, max(least, eta if Fraction(eta) <= root else down(eta)))


def _product_up(a: Floats, b: Floats) -> float:
    """A number not below the sum of the products; added up without BLAS, whose order depends on the machine."""
    products = (a * b).ravel()
    slack = (len(products) + 3) * UNIT_ROUNDOFF * float(np.abs(products).sum())
    return up(float(products.sum()) + up(slack)) if slack else 0.0
