"""The tokens of a sequence and the weights of their features: the scores of labels, and access to entries.

*The pool* has the weights of features by label, only of those pairs that a mistake has updated: most features are rare,
and most pairs never occur. So a feature has a block of the pool, with its labels and their weights side by side, in the
order of their first updates; a feature that no mistake has updated has no block. A full block moves to one twice as
long, and its place is reused. Long ones are rows: a weight for every label, in their order, which is fastest to look up
and add up.

A weight without a place is 0, so the score of a label is the same sum, in column order, wherever weights are stored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import part

# Labels are numbered by 16 bits, places in the pool by 32; transitions between more labels would not fit into memory.
MOST_LABELS = 1 << 16
MOST_PLACES = (1 << 32) - 1

SHORTEST_BLOCK = 2
# A block is a row from a sixth of all labels on: adding up a row is about six times faster.
ROW = 6
FIRST_POOL = 1 << 10
# How many features are processed at a time.
AT_ONCE = 1 << 14


class Emissions(NamedTuple):
    """The weights of features by label, in a pool.

    `blocks` has, for every feature, the start of its block, and how many weights are in it. `free[0]` is the end of the
    used part of the pool; `free[c]` is 1 + the place of a free block of 2^c weights (0: there is none), and the first
    two labels of such a block encode the place of the next. Weights of free and unused places are 0.
    """

    blocks: NDArray[np.uint32]
    labels: NDArray[np.uint16]
    values: NDArray[np.float64]
    free: NDArray[np.int64]

    @classmethod
    def none(cls, n_features: int, room: int = FIRST_POOL) -> "Emissions":
        """Return an empty pool, with this much room."""
        blocks, free = np.zeros((n_features, 2), dtype=np.uint32), np.zeros(18, dtype=np.int64)
        return cls(blocks, np.zeros(room, dtype=np.uint16), np.zeros(room), free)

    @classmethod
    def of_entries(
        cls, n_labels: int, counts: NDArray[Any], labels: NDArray[Any], values: NDArray[np.float64]
    ) -> "Emissions":
        """Return the pool of these weights: `counts` of each feature, one feature after the other."""
        counts = counts.astype(np.int64)
        capacities = _capacities(counts, n_labels)
        is_row = (counts > 0) & (capacities == n_labels)
        begins, ends = np.cumsum(capacities) - capacities, np.cumsum(counts)
        used = int(capacities.sum())
        if used > MOST_PLACES:
            raise MemoryError(f"{used:,} weights are more than a chain can hold")
        emissions = cls.none(len(counts))
        emissions.blocks[:, 0], emissions.blocks[:, 1] = begins, np.where(is_row, n_labels, counts)
        emissions.free[0] = used
        emissions = emissions._replace(labels=np.zeros(used, dtype=np.uint16), values=np.zeros(used))
        emissions.labels[begins[is_row][:, None] + np.arange(n_labels)] = np.arange(n_labels, dtype=np.uint16)
        for first in range(0, len(counts), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            entries = slice(int(ends[first] - counts[first]), int(ends[some][-1]))
            rank = np.arange(entries.start, entries.stop) - np.repeat(ends[some] - counts[some], counts[some])
            places = np.where(np.repeat(is_row[some], counts[some]), labels[entries], rank)
            places += np.repeat(begins[some], counts[some])
            emissions.labels[places], emissions.values[places] = labels[entries], values[entries]
        return emissions

    @classmethod
    def of_table(cls, table: NDArray[np.float64]) -> "Emissions":
        """Return the pool of a table of features x labels."""
        features, labels = np.nonzero(table)
        counts = np.bincount(features, minlength=len(table))
        return cls.of_entries(table.shape[1], counts, labels, table[features, labels])

    @property
    def used(self) -> NDArray[np.float64]:
        """The used part of the pool: weights, and zeros."""
        return self.values[: self.free[0]]

    def entries(self) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.float64]]:
        """Return the nonzero weights with their features and labels, by feature and label."""
        features, places = self.places(self.values != 0.0)
        return features, self.labels[places], self.values[places]

    def places(self, wanted: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the wanted places of the pool with their features, by feature and label."""
        parts = [self._places(first, wanted) for first in range(0, max(len(self.blocks), 1), AT_ONCE)]
        features, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        return features, places

    def _places(self, first: int, wanted: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the same for some features: all of them at once would take much more memory."""
        blocks = self.blocks[first : first + AT_ONCE].astype(np.int64)
        ends = np.cumsum(blocks[:, 1])
        features = np.repeat(np.arange(first, first + len(blocks), dtype=np.int32), blocks[:, 1])
        places = np.arange(len(features)) + np.repeat(blocks[:, 0] - ends + blocks[:, 1], blocks[:, 1])
        stay = wanted[places]
        features, places = features[stay], places[stay]
        keys = (features.astype(np.int64) << 16) | self.labels[places]
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys, kind="stable")  # nearly sorted already, which a stable sort exploits
            features, places = features[order], places[order]
        return features, places

    def table(self, n_labels: int) -> NDArray[np.float64]:
        """Return all weights as a table of features x labels; for few of them, or for inspection."""
        table = np.zeros((len(self.blocks), n_labels))
        features, labels, values = self.entries()
        table[features, labels] = values
        return table

    def copy(self) -> "Emissions":
        return Emissions(self.blocks.copy(), self.labels.copy(), self.values.copy(), self.free.copy())

    def longer(self) -> "Emissions":
        """Return the same weights with twice the room."""
        return self._replace(labels=twice_as_long(self.labels), values=twice_as_long(self.values))

    def with_room(self, room: int) -> "Emissions":
        """Return the same weights with this much room."""
        size = max(room, self.values.size)
        return self._replace(labels=_padded(self.labels, size), values=_padded(self.values, size))


def twice_as_long(pool: NDArray[Any]) -> NDArray[Any]:
    """Return a pool padded with zeros, in memory that is not touched before it is used."""
    if pool.size >= MOST_PLACES:
        raise MemoryError(f"{pool.size:,} weights are all that a chain can hold")
    return _padded(pool, min(2 * pool.size, MOST_PLACES))


def _padded(pool: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, dtype=pool.dtype)
    longer[: pool.size] = pool
    return longer


def _capacities(sizes: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """Return the lengths of blocks of these sizes."""
    bits = np.ceil(np.log2(np.maximum(sizes, SHORTEST_BLOCK))).astype(np.int64)
    capacities = np.where((ROW << bits) < n_labels, 1 << bits, n_labels)
    return np.where(sizes > 0, capacities, 0)


# -- blocks -----------------------------------------------------------------------------------------------------------


@part
def place_of(blocks, labels, column, label, n_labels):
    """Return the place of the weight of a feature and a label; -1 if it has none."""
    begin, size = np.int64(blocks[column, 0]), np.int64(blocks[column, 1])
    if size == n_labels:
        return begin + label
    for place in range(begin, begin + size):
        if labels[place] == label:
            return place
    return np.int64(-1)


@part
def open_place(emissions, drift, column, label, n_labels):
    """Return the place of the weight of a feature and a label, opening one if needed; -1 if the pool has no room."""
    place = place_of(emissions.blocks, emissions.labels, column, label, n_labels)
    if place >= 0:
        return place
    size = np.int64(emissions.blocks[column, 1])
    if size == _capacity(size, n_labels):
        if not _move(emissions, drift, column, size, n_labels):
            return np.int64(-1)
        if emissions.blocks[column, 1] == n_labels:
            return np.int64(emissions.blocks[column, 0]) + label
    place = np.int64(emissions.blocks[column, 0]) + size
    emissions.labels[place] = label
    emissions.blocks[column, 1] = size + 1
    return place


@part
def _capacity(size, n_labels):
    """Return the length of a block with this many weights."""
    if size == 0:
        return np.int64(0)
    capacity = np.int64(SHORTEST_BLOCK)
    while capacity < size:
        capacity *= 2
    return capacity if ROW * capacity < n_labels else np.int64(n_labels)


@part
def _move(emissions, drift, column, size, n_labels):
    """Move a feature's weights to a block with room for one more; return whether there is one."""
    labels, values, free = emissions.labels, emissions.values, emissions.free
    old, capacity = np.int64(emissions.blocks[column, 0]), _capacity(size + 1, n_labels)
    new = _take(emissions, capacity, n_labels)
    if new < 0:
        return False
    is_row = capacity == n_labels
    if is_row:
        for label in range(n_labels):
            labels[new + label] = label
    for k in range(size):
        place = new + np.int64(labels[old + k]) if is_row else new + k
        labels[place], values[place], drift[place] = labels[old + k], values[old + k], drift[old + k]
        values[old + k] = drift[old + k] = 0.0
    if size > 0:
        kind = _kind(size)
        labels[old], labels[old + 1] = free[kind] & 0xFFFF, free[kind] >> 16
        free[kind] = old + 1
    emissions.blocks[column, 0] = new
    if is_row:
        emissions.blocks[column, 1] = n_labels
    return True


@part
def _take(emissions, capacity, n_labels):
    """Return a block of this length, a free one or the next of the pool; -1 if there is no room."""
    labels, free = emissions.labels, emissions.free
    kind = _kind(capacity)
    if capacity != n_labels and free[kind] > 0:
        block = free[kind] - 1
        free[kind] = np.int64(labels[block]) | (np.int64(labels[block + 1]) << 16)
        return block
    block = free[0]
    if block + capacity > emissions.values.size:
        return np.int64(-1)
    free[0] += capacity
    return block


@part
def _kind(capacity):
    """Return the base-2 logarithm of a length."""
    kind = 0
    while (1 << kind) < capacity:
        kind += 1
    return kind


# -- tokens ---------------------------------------------------------------------------------------------------------


@part
def score_tokens(X, first, last, emissions, scores):
    """Score all labels at the tokens from `first` to `last`, from features alone: sums in column order."""
    blocks, labels, values = emissions.blocks, emissions.labels, emissions.values
    n_labels = np.uint64(scores.shape[1])
    for place in range(last - first):
        row, token = np.uint64(place), np.uint64(first + place)
        for k in range(n_labels):
            scores[row, k] = 0.0
        for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
            x, column = np.float64(X.data[j]), X.indices[j]
            begin, size = np.uint64(blocks[column, 0]), np.uint64(blocks[column, 1])
            if size == n_labels:
                for k in range(n_labels):
                    scores[row, k] += x * values[begin + k]
            else:
                for entry in range(begin, begin + size):
                    scores[row, labels[entry]] += x * values[entry]
