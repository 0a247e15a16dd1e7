"""The tokens of a sequence and the weights of their features: the scores of labels, and access to entries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import by_layout
from novikoff.engine.prefetch import touch


class Found(NamedTuple):
    """Room for the blocks of two sparse tokens: where they begin, how many weights they have, and the factors."""

    begins: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    factors: NDArray[np.float64]

    @classmethod
    def room(cls, n_entries: int) -> "Found":
        room = 2 * max(n_entries, 1)
        return cls(np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.uint64), np.empty(room))


def _dense_score_tokens(X, first, last, emissions, found, scores):
    blocks, labels, values = emissions.blocks, emissions.labels, emissions.values
    n_labels = np.uint64(scores.shape[1])
    for place in range(last - first):
        row, token = np.uint64(place), np.uint64(first + place)
        for k in range(n_labels):
            scores[row, k] = 0.0
        for j in range(X.shape[1]):
            x = np.float64(X[token, j])
            if x != 0.0:
                begin, size = np.uint64(blocks[j, 0]), np.uint64(blocks[j, 1])
                if size == n_labels:
                    for k in range(n_labels):
                        scores[row, k] += x * values[begin + k]
                else:
                    for k in range(size):
                        scores[row, labels[begin + k]] += x * values[begin + k]


def _sparse_score_tokens(X, first, last, emissions, found, scores):
    indptr, indices, data = X.indptr, X.indices, X.data
    blocks, labels, values = emissions.blocks, emissions.labels, emissions.values
    begins, sizes, factors = found.begins, found.sizes, found.factors
    n_labels, n_tokens, one, half = np.uint64(scores.shape[1]), last - first, np.uint64(1), begins.size // 2
    at = ready = 0
    for place in range(n_tokens + 1):
        n_found = half * (place % 2)
        begin_here = n_found
        if place < n_tokens:
            token = np.uint64(first + place)
            for j in range(indptr[token], indptr[token + one]):
                column = np.uint64(indices[j])
                begin, size = np.uint64(blocks[column, 0]), np.uint64(blocks[column, 1])
                begins[n_found], sizes[n_found], factors[n_found] = begin, size, data[j]
                n_found += size != 0
                for entry in range(begin, begin + size, np.uint64(8)):
                    touch(values, entry)
                touch(labels, begin if size != n_labels else np.uint64(0))
            if place + 1 < n_tokens:
                for j in range(indptr[token + one], indptr[token + one + one]):
                    touch(blocks, np.uint64(2) * np.uint64(indices[j]))
        if place > 0:
            row = np.uint64(place - 1)
            for k in range(n_labels):
                scores[row, k] = 0.0
            while at < ready:
                a, p = begins[at], factors[at]
                if sizes[at] != n_labels:
                    for entry in range(a, a + sizes[at]):
                        scores[row, labels[entry]] += p * values[entry]
                    at += 1
                elif at + 3 < ready and sizes[at + 1] == sizes[at + 2] == sizes[at + 3] == n_labels:
                    b, c, d = begins[at + 1], begins[at + 2], begins[at + 3]
                    q, r, s = factors[at + 1], factors[at + 2], factors[at + 3]
                    for k in range(n_labels):
                        first_two = (scores[row, k] + p * values[a + k]) + q * values[b + k]
                        scores[row, k] = (first_two + r * values[c + k]) + s * values[d + k]
                    at += 4
                else:
                    for k in range(n_labels):
                        scores[row, k] += p * values[a + k]
                    at += 1
        at, ready = begin_here, n_found


# Sparse tokens leave out features without weight and take rows four at a time, so that scores are loaded and stored
# less often. Their weights are asked for one token ahead, and where these are, two: the memory brings them meanwhile.
# All tokens of a sequence are scored in one call, and a part of the pool is never taken as an array of its own, because
# Numba counts who uses an array.
score_tokens = by_layout(
    _dense_score_tokens,
    _sparse_score_tokens,
    "The scores of all labels at the tokens from `first` to `last`, from their features alone: sums in column order.",
)


def _dense_prefetch_tokens(X, first, last):
    n_columns = np.uint64(X.shape[1])
    for j in range(np.uint64(first) * n_columns, np.uint64(last) * n_columns, np.uint64(64 // X.itemsize)):
        touch(X, j)


def _sparse_prefetch_tokens(X, first, last):
    start, stop = X.indptr[np.uint64(first)], X.indptr[np.uint64(last)]
    for j in range(start, stop, 64 // X.data.itemsize):
        touch(X.data, j)
    for j in range(start, stop, 64 // X.indices.itemsize):
        touch(X.indices, j)


prefetch_tokens = by_layout(
    _dense_prefetch_tokens, _sparse_prefetch_tokens, "Ask the memory for tokens that are needed soon."
)


# -- one entry after the other ----------------------------------------------------------------------------------------


def _dense_entries(X, token):
    return 0, X.shape[1]


def _sparse_entries(X, token):
    return X.indptr[token], X.indptr[token + np.uint64(1)]


def _dense_entry(X, token, j):
    return j, np.float64(X[token, j])


def _sparse_entry(X, token, j):
    return X.indices[j], np.float64(X.data[j])


entries = by_layout(_dense_entries, _sparse_entries, "Where the entries of a token begin and end.", inline="always")
entry = by_layout(_dense_entry, _sparse_entry, "The column of an entry, and its number.", inline="always")
