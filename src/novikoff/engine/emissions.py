"""A token and the weights of its features: the score of every label, and what a mistake adds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import by_layout, part
from novikoff.engine.pool import open_place, place_of
from novikoff.engine.prefetch import touch


class Found(NamedTuple):
    """Room for the blocks of a sparse token: where they begin, how many weights they have, and the factors."""

    begins: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    factors: NDArray[np.float64]

    @classmethod
    def room(cls, n_entries: int) -> "Found":
        room = max(n_entries, 1)
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
    n_labels = np.uint64(scores.shape[1])
    for place in range(last - first):
        row, token = np.uint64(place), np.uint64(first + place)
        _ask_for_weights(indptr, indices, token + np.uint64(1), blocks, labels, values, n_labels)
        n_found = 0
        for j in range(indptr[token], indptr[token + np.uint64(1)]):
            column = indices[j]
            begins[n_found], sizes[n_found] = blocks[column, 0], blocks[column, 1]
            factors[n_found] = data[j]
            n_found += blocks[column, 1] != 0
        for k in range(n_labels):
            scores[row, k] = 0.0
        at = 0
        while at < n_found:
            a, p = begins[at], factors[at]
            if sizes[at] != n_labels:
                for entry in range(a, a + sizes[at]):
                    scores[row, labels[entry]] += p * values[entry]
                at += 1
            elif at + 3 < n_found and sizes[at + 1] == sizes[at + 2] == sizes[at + 3] == n_labels:
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


@part(inline="always")
def _ask_for_weights(indptr, indices, token, blocks, labels, values, n_labels):
    """Start loading the weights of a token's features, and where those of the next are, if there are such tokens."""
    one = np.uint64(1)
    if token + one + one < indptr.size:
        for j in range(indptr[token + one], indptr[token + one + one]):
            touch(blocks, np.uint64(2) * np.uint64(indices[j]))
    if token + one < indptr.size:
        for j in range(indptr[token], indptr[token + one]):
            column = indices[j]
            size = np.uint64(blocks[column, 1])
            if size != 0:
                begin = np.uint64(blocks[column, 0])
                for entry in range(begin, begin + size, np.uint64(8)):
                    touch(values, entry)
                if size != n_labels:
                    touch(labels, begin)


# Sparse tokens leave out features without weight and take rows four at a time, so that scores are loaded and stored
# less often; meanwhile the memory is asked for the weights of the next token. All tokens of a sequence are scored in
# one call, and a part of the pool is never taken as an array of its own, because Numba counts who uses an array.
score_tokens = by_layout(
    _dense_score_tokens,
    _sparse_score_tokens,
    "The scores of all labels at the tokens from `first` to `last`, from their features alone: sums in column order.",
)


# -- learning ---------------------------------------------------------------------------------------------------------


def _dense_score_token(X, token, label, emissions, n_labels):
    score = 0.0
    for j in range(X.shape[1]):
        place = place_of(emissions, j, label, n_labels)
        if place >= 0:
            score += np.float64(X[token, j]) * emissions.values[place]
    return score


def _sparse_score_token(X, token, label, emissions, n_labels):
    score = 0.0
    for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
        place = place_of(emissions, X.indices[j], label, n_labels)
        if place >= 0:
            score += np.float64(X.data[j]) * emissions.values[place]
    return score


score_token = by_layout(_dense_score_token, _sparse_score_token, "The score of one label at a token, in column order.")


def _dense_open_token(X, token, label, emissions, drift, n_labels):
    for j in range(X.shape[1]):
        if open_place(emissions, drift, j, label, n_labels) < 0:
            return False
    return True


def _sparse_open_token(X, token, label, emissions, drift, n_labels):
    for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
        if open_place(emissions, drift, X.indices[j], label, n_labels) < 0:
            return False
    return True


open_token = by_layout(
    _dense_open_token,
    _sparse_open_token,
    "Make places for the weights of a token's features and a label; whether the pool had room for all of them.",
)


def _dense_add_token(X, token, amount, label, emissions, age, drift, n_labels):
    growth = size = 0.0
    for j in range(X.shape[1]):
        step = amount * np.float64(X[token, j])
        place = place_of(emissions, j, label, n_labels)
        old = emissions.values[place]
        emissions.values[place] += step
        drift[place] += age * step
        growth += step * (2.0 * old + step)
        size += abs(step) * (2.0 * abs(old) + abs(step))
    return growth, size


def _sparse_add_token(X, token, amount, label, emissions, age, drift, n_labels):
    growth = size = 0.0
    for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
        step = amount * np.float64(X.data[j])
        place = place_of(emissions, X.indices[j], label, n_labels)
        old = emissions.values[place]
        emissions.values[place] += step
        drift[place] += age * step
        growth += step * (2.0 * old + step)
        size += abs(step) * (2.0 * abs(old) + abs(step))
    return growth, size


add_token = by_layout(
    _dense_add_token,
    _sparse_add_token,
    """Add the token's features to the weights of a label, whose places are open, and `age` times to their drift.

    Returns by how much the squared length of the weights has grown, and the sum of what was added up for it.
    """,
)
