"""The memory of a structured perceptron on label sequences, and its read-outs."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.chain import Drift
from novikoff.engine.emissions import FIRST_POOL, MOST_PLACES, Emissions, twice_as_long
from novikoff.engine.viterbi import Links, Weights
from novikoff.learn.history import History

# Enough for most corpora. Zeros take no memory before they are touched, but a pool that grows is there twice.
PLACES_PER_FEATURE = 8


@dataclass
class ChainMemory(History):
    """The memory of a chain: the sum of its mistakes, and the drift from which the average follows.

    `is_whole` if all features are whole numbers, so that no comparison was rounded.
    """

    weights: Weights
    drift: Drift
    mistakes: int = 0
    is_whole: bool = True

    @classmethod
    def empty(cls, n_features: int, n_labels: int, allowed: NDArray[np.bool_] | None = None) -> "ChainMemory":
        """An empty memory; links that are not `allowed` (a square table: labels, then the boundary) stay forbidden."""
        table = np.zeros((n_labels + 1, n_labels + 1))
        if allowed is not None:
            table[~allowed] = -np.inf
        emissions = Emissions.none(n_features, _places(n_features))
        drift = Drift(np.zeros(emissions.values.size), np.zeros_like(table))
        return cls(Weights(emissions, Links.of(table)), drift)

    def moved(
        self,
        columns: NDArray[np.int64],
        labels: NDArray[np.int64],
        n_features: int,
        allowed: NDArray[np.bool_],
        *,
        room: bool,
    ) -> "ChainMemory":
        """The same memory with features and labels renumbered, perhaps among more.

        `allowed` are the links of these labels. `room` reserves space for more weights.
        """
        emissions, drift = self.weights.emissions, self.drift.emissions
        old, places = emissions.places((emissions.values != 0.0) | (drift != 0.0))
        n_labels, features = len(allowed) - 1, columns[old]
        numbers = labels[emissions.labels[places]]
        keys = (features << 16) | numbers
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys, kind="stable")
            features, numbers, places = features[order], numbers[order], places[order]
        counts = np.bincount(features, minlength=n_features)
        pools = [Emissions.of_entries(n_labels, counts, numbers, part[places]) for part in (emissions.values, drift)]
        if room:
            pools = [pool.with_room(_places(n_features)) for pool in pools]
        ends = np.append(labels, n_labels)
        tables = [np.zeros(allowed.shape), np.zeros(allowed.shape)]
        tables[0][~allowed] = -np.inf
        for table, before in zip(tables, (self.weights.links.table, self.drift.links), strict=True):
            table[np.ix_(ends, ends)] = before
        return replace(self, weights=Weights(pools[0], Links.of(tables[0])), drift=Drift(pools[1].values, tables[1]))

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Which label may follow which; the sequence boundary is last."""
        return np.isfinite(self.weights.links.table)

    def copy(self) -> "ChainMemory":
        """A copy to continue learning on, while this memory stays as it is."""
        weights = Weights(self.weights.emissions.copy(), self.weights.links.copy())
        return replace(self, weights=weights, drift=Drift(*(part.copy() for part in self.drift)))

    def make_room(self) -> None:
        """Make room for more weights of features."""
        self.weights = self.weights._replace(emissions=self.weights.emissions.longer())
        self.drift = self.drift._replace(emissions=twice_as_long(self.drift.emissions))

    @property
    def n_labels(self) -> int:
        return self.weights.n_labels

    @property
    def weights_length(self) -> float:
        """||w||, of all weights that are not forbidden.

        Not with BLAS, whose threads would keep spinning, and whose sum depends on their number.
        """
        links = self.weights.links.table[np.isfinite(self.weights.links.table)]
        squares = (float(np.einsum("i,i->", part, part)) for part in (self.weights.emissions.used, links))
        return math.hypot(*map(math.sqrt, squares))

    @property
    def terms(self) -> int:
        return self.weights.emissions.used.size + self.weights.links.table.size

    def margin_at_least(self, lead: float) -> float:
        return super().margin_at_least(lead) if self.is_whole else 0.0

    def read_out(self, readout: Any) -> Weights:
        """The weights to predict with: the last ones, or the sum of the weights after each sequence.

        The average is that sum over the `divisor`. The sum is not rounded where features are whole numbers, so label
        sequences that are equally good have equal scores, and the first of them wins.
        """
        if readout == "last" or not self.examples:
            return self.weights
        emissions, links = self.weights
        values = emissions.used * self.examples
        values -= self.drift.emissions[: len(values)]
        return Weights(emissions._replace(values=values), Links.of(links.table * self.examples - self.drift.links))

    def divisor(self, readout: Any) -> int:
        """How many weight vectors are summed in the weights to predict with."""
        return max(self.examples, 1) if readout == "average" else 1


def _places(n_features: int) -> int:
    """How many weights to reserve room for."""
    return min(max(FIRST_POOL, PLACES_PER_FEATURE * n_features), MOST_PLACES)
