"""The search for the best label sequence (Viterbi), and for the k best.

Tokens are the rows of a CSR matrix (see `engine/rows.py`), and a sequence is a run of rows. A label's score
at a token is the sum of the token's features times their weights for it (see `engine/emissions.py`). `links.table[a,
b]` is the weight of label b right after label a, and the last row and column are those of the boundary: `table[-1, b]`
begins a sequence with b, `table[a, -1]` ends it with a. A link of minus infinity is forbidden.

Ties go to the first label, read from the end of the sequence.

The search is pruned: the best previous label is tried first, and another one only if its score plus the largest links
could give more than that to some label. Rounding is monotone: if x <= y, then x + z, rounded, is not above y + z,
rounded. So the scores are those of the full search, bit for bit, and with them the answer and its ties.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.emissions import Emissions, score_tokens
from novikoff.engine.jit import jit, part

# A label with at most this many allowed predecessors is compared with all of them.
FEW = 8


class Links(NamedTuple):
    """The weights of label after label, the boundary being the last, and bounds that save scanning all of them.

    `most` has the largest link to every label from any other. Labels with few predecessors have these in `before`, from
    `starts[label]` to `starts[label + 1]`.
    """

    table: NDArray[np.float64]
    most: NDArray[np.float64]
    starts: NDArray[np.int64]
    before: NDArray[np.int64]

    @classmethod
    def of(cls, table: NDArray[np.float64]) -> "Links":
        n_labels = len(table) - 1
        may_follow = np.isfinite(table[:-1, :-1])
        may_follow[:, may_follow.sum(axis=0) > n_labels // FEW] = False
        after, before = np.nonzero(may_follow.T)
        starts = np.searchsorted(after, np.arange(n_labels + 1)).astype(np.int64)
        return cls(table, table[:-1].max(axis=0, initial=-np.inf), starts, before.astype(np.int64))

    def copy(self) -> "Links":
        return Links(self.table.copy(), self.most.copy(), self.starts, self.before)


class Weights(NamedTuple):
    """The weights of a chain: features x labels, and labels x labels with the boundary last."""

    emissions: Emissions
    links: Links

    @classmethod
    def of(cls, emissions: NDArray[np.float64], links: NDArray[np.float64]) -> "Weights":
        """Return the weights of these tables."""
        return cls(Emissions.of_table(emissions), Links.of(links))

    @property
    def n_features(self) -> int:
        return len(self.emissions.blocks)

    @property
    def n_labels(self) -> int:
        return len(self.links.table) - 1


class Scratch(NamedTuple):
    """Scratch arrays for Viterbi.

    `scores` has, token by token, the score of the best path to every label, `reach` that of the best one before it,
    `path` the resulting labels; `limits` is for the largest links to labels.
    """

    scores: NDArray[np.float64]
    reach: NDArray[np.float64]
    path: NDArray[np.int64]
    limits: NDArray[np.float64]

    @classmethod
    def room(cls, n_labels: int, n_tokens: int) -> "Scratch":
        scores, reach = np.empty((2, max(n_tokens, 1), n_labels))
        return cls(scores, reach, np.empty(len(scores), dtype=np.int64), np.empty(n_labels))


# -- the best ---------------------------------------------------------------------------------------------------------


@part
def best_path(X, first, last, gold, cost, weights, scratch):
    """Put the best label sequence of the tokens from `first` to `last` into `scratch.path`; return its score.

    Every label other than `gold` gets `cost` on top, so that gold must win by the Hamming distance times `cost`.
    """
    score_tokens(X, first, last, weights.emissions, scratch.scores)
    if cost != 0.0:
        _add_cost(scratch.scores, first, last, gold, cost)
    _search(scratch.scores, last - first, weights.links, scratch.reach, scratch.limits)
    return _follow_back(
        scratch.scores, scratch.reach, last - first, weights.links.table, weights.links.most, scratch.path
    )


@part
def _add_cost(scores, first, last, gold, cost):
    """Add `cost` to the scores of all labels but `gold`."""
    for place in range(last - first):
        for label in range(scores.shape[1]):
            if label != gold[first + place]:
                scores[place, label] += cost


@part
def _search(scores, n_tokens, links, reach, limits):
    """From token to token, scores[now, b] += max over a of scores[now - 1, a] + table[a, b].

    `reach` has the maxima. The maximising a is determined afterwards, only for the labels on the best path.
    """
    table, most, starts = links.table, links.most, links.starts
    n_labels, one = np.uint64(scores.shape[1]), np.uint64(1)
    for b in range(n_labels):
        # A label with few predecessors is compared with all of them, whatever their scores are.
        limits[b] = -np.inf if starts[b] < starts[b + one] else most[b]
        if n_tokens > 0:
            scores[0, b] += table[n_labels, b]
    for now in range(one, np.uint64(n_tokens)):
        _look_back(scores, now, links, reach, limits)
        for b in range(n_labels):
            scores[now, b] += reach[now, b]


@part
def _look_back(scores, now, links, reach, limits):
    """reach[now, b] = max over a of scores[now - 1, a] + table[a, b].

    The score of the best previous label plus the largest link to b is almost an upper bound for every b. So it is tried
    first, and of the others only those that could improve some b.
    """
    table, starts, before = links.table, links.starts, links.before
    n_labels, one, then = np.uint64(scores.shape[1]), np.uint64(1), now - np.uint64(1)
    best, top, lowest = np.uint64(0), scores[then, 0], np.inf
    for a in range(n_labels):
        if scores[then, a] > top:
            best, top = np.uint64(a), scores[then, a]
    for b in range(n_labels):
        reach[now, b] = top + table[best, b]
        needed = reach[now, b] - limits[b]
        lowest = needed if needed < lowest else lowest
    lowest -= abs(lowest) * 2.0**-50
    for a in range(n_labels):
        if scores[then, a] >= lowest and a != best:
            for b in range(n_labels):
                score = scores[then, a] + table[a, b]
                reach[now, b] = score if score > reach[now, b] else reach[now, b]
    if before.size > 0:
        for b in range(n_labels):
            for place in range(starts[b], starts[b + one]):
                reach[now, b] = max(reach[now, b], scores[then, before[place]] + table[before[place], b])


@part
def _follow_back(scores, reach, n_tokens, table, most, path):
    """Trace the best path back from its end to its beginning; return its score."""
    if n_tokens == 0:
        return 0.0
    end, outside = n_tokens - 1, scores.shape[1]
    path[end], total = 0, scores[end, 0] + table[0, outside]
    for label in range(1, outside):
        if scores[end, label] + table[label, outside] > total:
            path[end], total = label, scores[end, label] + table[label, outside]
    _fill_back(scores, reach, end, table, most, path)
    return total


@part
def _fill_back(scores, reach, last, table, most, path):
    """Fill in the best labels before that of the token `last`: the first to attain the maximum. Links are skipped where
    even the largest would not be enough."""
    for place in range(last, 0, -1):
        label, before = path[place], 0
        sought, limit = reach[place, label], most[label]
        while before < scores.shape[1] - 1:
            score = scores[place - 1, before]
            if score + limit >= sought and score + table[before, label] == sought:
                break
            before += 1
        path[place - 1] = before


@part
def second_path(n_tokens, weights, scratch):
    """Replace the best path, which `best_path` has just found, by the second best; return whether there is one.

    Any other path has a last label that differs. The cost of a label there, with all after it unchanged and the best
    path to it before, is a difference of two sums that the search has computed.
    """
    table, scores, path = weights.links.table, scratch.scores, scratch.path
    n_labels = scores.shape[1]
    least, where, instead = np.inf, -1, 0
    for place in range(n_tokens - 1, -1, -1):
        after = path[place + 1] if place + 1 < n_tokens else n_labels
        best = scores[place, path[place]] + table[path[place], after]
        for label in range(n_labels):
            loss = best - (scores[place, label] + table[label, after])
            if label != path[place] and loss < least:
                least, where, instead = loss, place, label
    if where < 0:
        return False
    path[where] = instead
    _fill_back(scores, scratch.reach, where, table, weights.links.most, path)
    return True


def searched(X: Any, n_labels: int) -> int:
    """Return how many numbers Viterbi processes in all tokens."""
    return n_labels * (X.data.size + X.indptr.size * n_labels)


@jit(work=lambda X, starts, weights, *_: searched(X, weights.n_labels))
def label_sequences(X, starts, weights, scratch, labels, scores):
    """Find the best labels of all tokens, and the score of every sequence."""
    nobody = labels[:0]
    for number in range(starts.size - 1):
        first, last = starts[number], starts[number + 1]
        scores[number] = best_path(X, first, last, nobody, 0.0, weights, scratch)
        for place in range(last - first):
            labels[first + place] = scratch.path[place]


# -- the k best -------------------------------------------------------------------------------------------------------


@jit(work=lambda X, first, last, weights, scores, *_: scores.size * weights.n_labels, allocates=True)
def best_paths(X, first, last, weights, scores, backs, ranks, paths, totals):
    """Find the k best label sequences of the tokens from `first` to `last`, best first; return how many there are.

    For every token and label, `scores` has the k best paths to it, `backs` and `ranks` where each came from: the label
    before, and which of its paths. Of paths with equal scores, the earlier label comes first.
    """
    links = weights.links.table
    n_tokens, n_labels, k = scores.shape
    now = np.empty((n_tokens, n_labels))
    score_tokens(X, first, last, weights.emissions, now)
    for place in range(n_tokens):
        for label in range(n_labels):
            top, back, rank = scores[place, label], backs[place, label], ranks[place, label]
            for way in range(k):
                top[way] = -np.inf
            if place == 0:
                top[0] = now[place, label] + links[n_labels, label]
                continue
            for previous in range(n_labels):
                for way in range(k):
                    candidate = scores[place - 1, previous, way] + links[previous, label]
                    if not _insert(candidate, previous, way, top, back, rank):
                        break
            for way in range(k):
                top[way] += now[place, label]

    end_label, end_rank = np.empty(k, dtype=backs.dtype), np.empty(k, dtype=ranks.dtype)
    for way in range(k):
        totals[way] = -np.inf
    for label in range(n_labels):
        for way in range(k):
            candidate = scores[n_tokens - 1, label, way] + links[label, n_labels]
            if not _insert(candidate, label, way, totals, end_label, end_rank):
                break
    n_paths = 0
    while n_paths < k and totals[n_paths] > -np.inf:
        label, way = end_label[n_paths], end_rank[n_paths]
        for place in range(n_tokens - 1, -1, -1):
            paths[n_paths, place] = label
            label, way = backs[place, label, way], ranks[place, label, way]
        n_paths += 1
    return n_paths


@part
def _insert(score, label, way, top, back, rank):
    """Insert a path among the best so far if it is better than the last of them; return whether it was inserted."""
    place = top.size
    while place > 0 and score > top[place - 1]:
        place -= 1
    if place == top.size:
        return False
    for later in range(top.size - 1, place, -1):
        top[later], back[later], rank[later] = top[later - 1], back[later - 1], rank[later - 1]
    top[place], back[place], rank[place] = score, label, way
    return True
