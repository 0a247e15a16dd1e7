"""The perceptron's hot loops on label sequences: Viterbi, and the mistakes it makes.

Tokens are the rows of a matrix, dense or CSR (see `engine/rows.py`), and a sequence is a run of rows. `emissions` has
a row for every feature and a column for every label: a label's score at a token is the sum of the token's features
times their weights, in column order. `links[a, b]` is the weight of label b right after label a, and the last row and
column stand for the outside: `links[-1, b]` begins a sequence with b, `links[a, -1]` ends it with a. A link of minus
infinity is forbidden.

Ties go to the first label, read from the end of the sequence.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import dot_in_column_order
from novikoff.engine.jit import by_layout, jit, part
from novikoff.engine.prefetch import touch


class Weights(NamedTuple):
    """The weights of a chain: features x labels, and labels x labels with the outside last.

    `used` says which features have any weight. Most of the rare ones have none, and not to fetch their zeros from
    memory makes a chain a quarter faster.
    """

    emissions: NDArray[np.float64]
    links: NDArray[np.float64]
    used: NDArray[np.bool_]

    @classmethod
    def of(cls, emissions: NDArray[np.float64], links: NDArray[np.float64]) -> "Weights":
        return cls(emissions, links, np.any(emissions != 0.0, axis=1))


class Scratch(NamedTuple):
    """Room for Viterbi.

    `scores` has, token by token, the score of the best path to every label, `reach` the best predecessor's share of
    it, `path` the labels in the end, `entries` those entries of a sparse token that matter.
    """

    scores: NDArray[np.float64]
    reach: NDArray[np.float64]
    path: NDArray[np.int64]
    entries: NDArray[np.uint64]

    @classmethod
    def room(cls, n_labels: int, n_tokens: int, n_entries: int) -> "Scratch":
        return cls(
            np.empty((max(n_tokens, 1), n_labels)),
            np.empty(n_labels),
            np.empty(max(n_tokens, 1), dtype=np.int64),
            np.empty(n_entries, dtype=np.uint64),
        )


# -- access to a token ------------------------------------------------------------------------------------------------


def _dense_score_labels(X, token, weights, entries, scores):
    for label in range(scores.size):
        scores[label] = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[token, j])
        if x != 0.0:
            for label in range(scores.size):
                scores[label] += x * weights.emissions[j, label]


def _sparse_score_labels(X, token, weights, entries, scores):
    _ask_for_weights(X, token + np.uint64(1), weights)
    emissions, indices, data = weights.emissions, X.indices, X.data
    found = 0
    for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
        entries[found] = j
        found += weights.used[indices[j]]
    for k in range(scores.size):
        scores[k] = 0.0
    for place in range(0, found - 3, 4):
        a, b, c, d = entries[place], entries[place + 1], entries[place + 2], entries[place + 3]
        e, f, g, h = indices[a], indices[b], indices[c], indices[d]
        p, q, r, s = np.float64(data[a]), np.float64(data[b]), np.float64(data[c]), np.float64(data[d])
        for k in range(scores.size):
            first_two = (scores[k] + p * emissions[e, k]) + q * emissions[f, k]
            scores[k] = (first_two + r * emissions[g, k]) + s * emissions[h, k]
    for place in range(found - found % 4, found):
        a = entries[place]
        e, p = indices[a], np.float64(data[a])
        for k in range(scores.size):
            scores[k] += p * emissions[e, k]


@part
def _ask_for_weights(X, token, weights):
    """Start loading the weights of a token's features, if there is such a token."""
    if token + np.uint64(1) < X.indptr.size:
        n_labels = np.uint64(weights.emissions.shape[1])
        for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
            column = X.indices[j]
            if weights.used[column]:
                first = np.uint64(column) * n_labels
                for place in range(first, first + n_labels, np.uint64(8)):
                    touch(weights.emissions, place)


# Sparse tokens leave out features without weight and take the others four at a time, so that scores are loaded and
# stored less often; meanwhile the memory is asked for the weights of the next token. A row of weights is never taken as
# an array of its own, because Numba counts references to it. Together that is more than twice as fast.
score_labels = by_layout(
    _dense_score_labels,
    _sparse_score_labels,
    "The score of every label at a token, from its features alone: sums in column order.",
)


def _dense_add_token(X, token, amount, label, weights, age, drift):
    growth = size = 0.0
    for j in range(X.shape[1]):
        step, old = amount * X[token, j], weights.emissions[j, label]
        weights.used[j] = weights.used[j] or step != 0.0
        weights.emissions[j, label] += step
        drift.emissions[j, label] += age * step
        growth += step * (2.0 * old + step)
        size += abs(step) * (2.0 * abs(old) + abs(step))
    return growth, size


def _sparse_add_token(X, token, amount, label, weights, age, drift):
    growth = size = 0.0
    for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
        step, column = amount * X.data[j], X.indices[j]
        old = weights.emissions[column, label]
        weights.used[column] = True
        weights.emissions[column, label] += step
        drift.emissions[column, label] += age * step
        growth += step * (2.0 * old + step)
        size += abs(step) * (2.0 * abs(old) + abs(step))
    return growth, size


add_token = by_layout(
    _dense_add_token,
    _sparse_add_token,
    """Add the token's features to the weights of a label, and `age` times to their drift.

    Returns by how much the squared length of the weights has grown, and the sum of what was added up for it.
    """,
)


# -- viterbi ----------------------------------------------------------------------------------------------------------


@part
def best_path(X, first, last, gold, cost, weights, scratch):
    """The best label sequence of the tokens from `first` to `last` goes to `scratch.path`; returns its score.

    Every label other than `gold` gets `cost` on top, so that a sequence must win by its distance (0: it need not).
    """
    links, scores, reach, path = weights.links, scratch.scores, scratch.reach, scratch.path
    n_labels, n_tokens = reach.size, last - first
    for place in range(n_tokens):
        now = scores[place]
        score_labels(X, np.uint64(first + place), weights, scratch.entries, now)
        if cost != 0.0:
            for label in range(n_labels):
                if label != gold[first + place]:
                    now[label] += cost
        if place == 0:
            for label in range(n_labels):
                now[label] += links[n_labels, label]
        else:
            _step(scores[place - 1], links, reach, now)
    if n_tokens == 0:
        return 0.0
    path[n_tokens - 1] = _best_before(scores[n_tokens - 1], links, n_labels)
    for place in range(n_tokens - 1, 0, -1):
        path[place - 1] = _best_before(scores[place - 1], links, path[place])
    return scores[n_tokens - 1, path[n_tokens - 1]] + links[path[n_tokens - 1], n_labels]


@part
def _step(before, links, reach, now):
    """now[b] += max over a of before[a] + links[a, b], with four a at a time.

    Which a it was is found out afterwards, for the one label of each token that lies on the best path.
    """
    n_labels = now.size
    for b in range(n_labels):
        reach[b] = -np.inf
    for a in range(0, n_labels - 3, 4):
        p, q, r, s = before[a], before[a + 1], before[a + 2], before[a + 3]
        for b in range(n_labels):
            first, second = p + links[a, b], q + links[a + 1, b]
            third, fourth = r + links[a + 2, b], s + links[a + 3, b]
            first = first if first > second else second
            third = third if third > fourth else fourth
            first = first if first > third else third
            reach[b] = first if first > reach[b] else reach[b]
    for a in range(n_labels - n_labels % 4, n_labels):
        p = before[a]
        for b in range(n_labels):
            first = p + links[a, b]
            reach[b] = first if first > reach[b] else reach[b]
    for b in range(n_labels):
        now[b] += reach[b]


@part
def _best_before(scores, links, label):
    """The label before this one, the first of equals."""
    best = 0
    for previous in range(1, scores.size):
        if scores[previous] + links[previous, label] > scores[best] + links[best, label]:
            best = previous
    return best


def _searched(X: Any, n_labels: int) -> int:
    """How many numbers Viterbi looks at in all tokens."""
    n_entries, n_tokens = (X.data.size, X.indptr.size) if hasattr(X, "indptr") else (X.size, X.shape[0])
    return n_labels * (n_entries + n_tokens * n_labels)


@jit(work=lambda X, starts, weights, *_: _searched(X, weights.links.shape[0]))
def label_sequences(X, starts, weights, scratch, labels, scores):
    """The best labels of every token, and the score of every sequence."""
    nobody = labels[:0]
    for number in range(starts.size - 1):
        first, last = starts[number], starts[number + 1]
        scores[number] = best_path(X, first, last, nobody, 0.0, weights, scratch)
        for place in range(last - first):
            labels[first + place] = scratch.path[place]


# -- learning ---------------------------------------------------------------------------------------------------------


def _learned(X, starts, gold, order, cost, examples, weights, *_):
    return order.size * _searched(X, weights.links.shape[0]) / max(1, starts.size - 1)


@jit(work=_learned)
def sequence_epoch(X, starts, gold, order, cost, examples, weights, drift, scratch, at, longest):
    """Visit sequences in order; on a mistake add the features of the gold labels, subtract those of the guess.

    Fills `at` with the steps of the mistakes, `longest` with the largest squared length of a difference so far: as
    computed, and with a bound on its rounding error. Returns how many sequences were mistaken, and how many of their
    labels were wrong.
    """
    made = wrong = 0
    path = scratch.path
    for step in range(order.size):
        first, last = starts[order[step]], starts[order[step] + np.uint64(1)]
        best_path(X, first, last, gold, cost, weights, scratch)
        differ = 0
        for place in range(last - first):
            differ += path[place] != gold[first + place]
        if differ > 0:
            _add_difference(X, first, last, gold, path, weights, np.float64(examples + step), drift, longest)
            at[made] = step
            made += 1
            wrong += differ
    return made, wrong


@part
def _add_difference(X, first, last, gold, path, weights, age, drift, longest):
    """w <- w + d, where d = features of the gold labels - features of the path, and drift <- drift + age d."""
    emissions, links = weights.emissions, weights.links
    outside = links.shape[0] - 1

    lead = growth = size = 0.0
    for place in range(last - first):
        token, right, guess = np.uint64(first + place), gold[first + place], path[place]
        if right != guess:
            of_right = dot_in_column_order(X, token, emissions[:, right])
            lead += of_right - dot_in_column_order(X, token, emissions[:, guess])
    right_before = guess_before = outside
    for place in range(last - first + 1):
        right, guess = (gold[first + place], path[place]) if place < last - first else (outside, outside)
        if right != guess or right_before != guess_before:
            lead += links[right_before, right] - links[guess_before, guess]
        right_before, guess_before = right, guess

    for place in range(last - first):
        token, right, guess = np.uint64(first + place), gold[first + place], path[place]
        if right != guess:
            for label, amount in ((right, 1.0), (guess, -1.0)):
                more, much = add_token(X, token, amount, label, weights, age, drift)
                growth += more
                size += much
    right_before = guess_before = outside
    for place in range(last - first + 1):
        right, guess = (gold[first + place], path[place]) if place < last - first else (outside, outside)
        if right != guess or right_before != guess_before:
            for a, b, amount in ((right_before, right, 1.0), (guess_before, guess, -1.0)):
                old = links[a, b]
                links[a, b] += amount
                drift.links[a, b] += age * amount
                growth += amount * (2.0 * old + amount)
                size += 2.0 * abs(old) + 1.0
        right_before, guess_before = right, guess

    # ||w + d||^2 = ||w||^2 + 2 <w, d> + ||d||^2
    square = growth - 2.0 * lead
    terms = 4.0 * (last - first + 1) * (emissions.shape[0] + 4)
    longest[0] = max(longest[0], square)
    longest[1] = max(longest[1], square + terms * 2.0**-52 * size)


# -- the k best -------------------------------------------------------------------------------------------------------


@jit(work=lambda X, first, last, weights, entries, scores, *_: scores.size * weights.links.shape[0])
def best_paths(X, first, last, weights, entries, scores, backs, ranks, paths, totals):
    """The k best label sequences of the tokens from `first` to `last`, best first; returns how many there are.

    For every token and label, `scores` has the k best ways to get there, `backs` and `ranks` say where each came from:
    the label before, and which of its ways. Of ways with equal scores, the earlier label comes first.
    """
    links = weights.links
    n_tokens, n_labels, k = scores.shape
    now = np.empty(n_labels)
    for place in range(n_tokens):
        score_labels(X, np.uint64(first + place), weights, entries, now)
        for label in range(n_labels):
            top, back, rank = scores[place, label], backs[place, label], ranks[place, label]
            for way in range(k):
                top[way] = -np.inf
            if place == 0:
                top[0] = now[label] + links[n_labels, label]
                continue
            for previous in range(n_labels):
                for way in range(k):
                    candidate = scores[place - 1, previous, way] + links[previous, label]
                    if not _insert(candidate, previous, way, top, back, rank):
                        break
            for way in range(k):
                top[way] += now[label]

    end_label, end_rank = np.empty(k, dtype=backs.dtype), np.empty(k, dtype=ranks.dtype)
    for way in range(k):
        totals[way] = -np.inf
    for label in range(n_labels):
        for way in range(k):
            candidate = scores[n_tokens - 1, label, way] + links[label, n_labels]
            if not _insert(candidate, label, way, totals, end_label, end_rank):
                break
    found = 0
    while found < k and totals[found] > -np.inf:
        label, way = end_label[found], end_rank[found]
        for place in range(n_tokens - 1, -1, -1):
            paths[found, place] = label
            label, way = backs[place, label, way], ranks[place, label, way]
        found += 1
    return found


@part
def _insert(score, label, way, top, back, rank):
    """Put a way among the best so far, unless it is no better than the last of them; whether it was put there."""
    place = top.size
    while place > 0 and score > top[place - 1]:
        place -= 1
    if place == top.size:
        return False
    for later in range(top.size - 1, place, -1):
        top[later], back[later], rank[later] = top[later - 1], back[later - 1], rank[later - 1]
    top[place], back[place], rank[place] = score, label, way
    return True
