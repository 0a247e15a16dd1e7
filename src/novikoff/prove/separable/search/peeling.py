"""Points that a single coordinate has on one side: sparse data lose most of their rows and columns by these alone.

A word that occurs in texts of one label only is a weak separator by itself: it has those texts on its side, and all
others on it. They are beyond the face, and without them other words occur on one side only; so points are peeled off,
layer by layer, until every coordinate that is left has both signs. What is left is the question about the face.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.separable.points import Floats

# How much more than enough an outer layer counts, so that rounding does not matter.
SLACK = 4


@dataclass(frozen=True, eq=False)
class Peeled:
    """The points that are left, and for every layer that was peeled off its points and its direction."""

    left: NDArray[np.int64]
    layers: list[tuple[NDArray[np.int64], Floats]]

    @classmethod
    def of(cls, Z: Any, is_equation: NDArray[np.bool_]) -> "Peeled":
        """Of a CSR of points; columns of those that are equations stay."""
        rows = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
        is_fixed = np.bincount(Z.indices[is_equation[rows]], minlength=Z.shape[1]) > 0
        is_left = np.ones(Z.shape[0], dtype=bool)
        layers: list[tuple[NDArray[np.int64], Floats]] = []
        while True:
            used = is_left[rows]
            above = np.bincount(Z.indices[used & (Z.data > 0)], minlength=Z.shape[1]) > 0
            below = np.bincount(Z.indices[used & (Z.data < 0)], minlength=Z.shape[1]) > 0
            direction = np.where(is_fixed, 0.0, above.astype(np.float64) - below)
            peeled = np.unique(rows[used & (direction[Z.indices] != 0)])
            if len(peeled) == 0:
                return cls(np.flatnonzero(is_left), layers)
            is_left[peeled] = False
            layers.append((peeled, direction))

    def joined(self, Z: Any, inner: list[int]) -> list[int]:
        """A vector that has all that were peeled off on its side, as far as floats can tell, and others as one of those
        that are left (perhaps 0) has them."""
        largest = max(map(abs, inner)) or 1
        vector = [int(v) for v in inner]
        floats = np.array([v / largest for v in vector])
        for peeled, direction in reversed(self.layers):
            few = Z[peeled]
            own, before = few @ direction, few @ floats
            need = float(np.max(-before / own, initial=0.0))
            times = 2.0 ** max(math.frexp(need * SLACK)[1], 0) if need > 0 else 1.0
            # In units of the largest entry, so that whole numbers stay whole.
            for place in np.flatnonzero(direction).tolist():
                vector[place] += int(times) * largest * int(direction[place])
            floats = floats + times * direction
        return vector
