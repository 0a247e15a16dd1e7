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


def _dense_score_labels(X, token, emissions, found, scores, row):
    blocks, labels, values = emissions.blocks, emissions.labels, emissions.values
    n_labels = np.uint64(scores.shape[1])
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


def _sparse_score_labels(X, token, emissions, found, scores, row):
    _ask_for_weights(X, token + np.uint64(1), emissions, scores.shape[1])
    blocks, labels, values = emissions.blocks, emissions.labels, emissions.values
    begins, sizes, factors = found.begins, found.sizes, found.factors
    n_labels = np.uint64(scores.shape[1])
    n_found = 0
    for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
        column = X.indices[j]
        begins[n_found], sizes[n_found] = blocks[column, 0], blocks[column, 1]
        factors[n_found] = X.data[j]
        n_found += blocks[column, 1] != 0
    for k in range(n_labels):
        scores[row, k] = 0.0
    at = 0
    while at < n_found:
        a, p = begins[at], factors[at]
        if sizes[at] != n_labels:
            for place in range(a, a + sizes[at]):
                scores[row, labels[place]] += p * values[place]
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


@part
def _ask_for_weights(X, token, emissions, n_labels):
    """Start loading the weights of a token's features, and where those of the next are, if there are such tokens."""
    one = np.uint64(1)
    if token + one + one < X.indptr.size:
        for j in range(X.indptr[token + one], X.indptr[token + one + one]):
            touch(emissions.blocks, np.uint64(2) * np.uint64(X.indices[j]))
    if token + one < X.indptr.size:
        for j in range(X.indptr[token], X.indptr[token + one]):
            column = X.indices[j]
            size = np.uint64(emissions.blocks[column, 1])
            if size != 0:
                begin = np.uint64(emissions.blocks[column, 0])
                for place in range(begin, begin + size, np.uint64(8)):
                    touch(emissions.values, place)
                if size != n_labels:
                    touch(emissions.labels, begin)


# Sparse tokens leave out features without weight and take rows four at a time, so that scores are loaded and stored
# less often; meanwhile the memory is asked for the weights of the next token. A part of the pool is never taken as an
# array of its own, because Numba counts references to it.
score_labels = by_layout(
    _dense_score_labels,
    _sparse_score_labels,
    "The scores of all labels at a token, from its features alone, go to a row of `scores`: sums in column order.",
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
