"""The search for the best label sequence (Viterbi), and for the k best.

Tokens are the rows of a matrix, dense or CSR (see `engine/rows.py`), and a sequence is a run of rows. A label's score
at a token is the sum of the token's features times their weights for it (see `engine/emissions.py`). `links.table[a,
b]` is the weight of label b right after label a, and the last row and column stand for the outside: `table[-1, b]`
begins a sequence with b, `table[a, -1]` ends it with a. A link of minus infinity is forbidden.

Ties go to the first label, read from the end of the sequence.

Among many labels few can come before the best one, and the search looks no further than it must: the labels before are
taken from the best one down, and a label is done with as soon as not even its best link could gain anything from those
that are left. Sums are rounded, but never to the wrong side of each other: if x <= y, then x + z, rounded, is not above
y + z, rounded. So the scores are those of the full search, bit for bit, and with them the answer and its ties.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.emissions import Found, score_labels
from novikoff.engine.jit import jit, part
from novikoff.engine.pool import Emissions

# From so many labels on, looking for what can be left out is quicker than to look at everything, four links at a time.
MANY_LABELS = 32
# A label before which only so few of all labels may stand is compared with all of these.
FEW = 8


class Links(NamedTuple):
    """The weights of label after label, the outside being the last, and what spares looking at all of them.

    `most` has the largest link to every label from any other. Labels before which few may stand have these in `before`,
    from `starts[label]` to `starts[label + 1]`.
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
    """The weights of a chain: features x labels, and labels x labels with the outside last."""

    emissions: Emissions
    links: Links

    @classmethod
    def of(cls, emissions: NDArray[np.float64], links: NDArray[np.float64]) -> "Weights":
        """The weights in these tables."""
        return cls(Emissions.of_table(emissions), Links.of(links))

    @property
    def n_features(self) -> int:
        return len(self.emissions.blocks)

    @property
    def n_labels(self) -> int:
        return len(self.links.table) - 1


class Scratch(NamedTuple):
    """Room for Viterbi.

    `scores` has, token by token, the score of the best path to every label, `reach` the best predecessor's share of
    it, `path` the labels in the end; `found` is for the weights of a token, `limits` for the largest links to labels,
    `rest` for labels that may come before, `open` for those to which that matters.
    """

    scores: NDArray[np.float64]
    reach: NDArray[np.float64]
    path: NDArray[np.int64]
    found: Found
    limits: NDArray[np.float64]
    rest: NDArray[np.int64]
    open: NDArray[np.int64]

    @classmethod
    def room(cls, n_labels: int, n_tokens: int, n_entries: int) -> "Scratch":
        return cls(
            np.empty((max(n_tokens, 1), n_labels)),
            np.empty(n_labels),
            np.empty(max(n_tokens, 1), dtype=np.int64),
            Found.room(n_entries),
            np.empty(n_labels),
            np.empty(n_labels, dtype=np.int64),
            np.empty(n_labels, dtype=np.int64),
        )


# -- the best ---------------------------------------------------------------------------------------------------------


@part
def best_path(X, first, last, gold, cost, weights, scratch):
    """The best label sequence of the tokens from `first` to `last` goes to `scratch.path`; returns its score.

    Every label other than `gold` gets `cost` on top, so that a sequence must win by its distance (0: it need not).
    """
    table, most, scores, path = weights.links.table, weights.links.most, scratch.scores, scratch.path
    n_labels, n_tokens = scratch.reach.size, last - first
    if n_labels >= MANY_LABELS:
        for label in range(n_labels):  # those with few labels before them are compared with all of these
            has_few = weights.links.starts[label] < weights.links.starts[label + 1]
            scratch.limits[label] = -np.inf if has_few else most[label]
    for place in range(n_tokens):
        score_labels(X, np.uint64(first + place), weights.emissions, scratch.found, scores, np.uint64(place))
        if cost != 0.0:
            for label in range(n_labels):
                if label != gold[first + place]:
                    scores[place, label] += cost
        if place == 0:
            for label in range(n_labels):
                scores[0, label] += table[n_labels, label]
        elif n_labels < MANY_LABELS:
            _step(scores, np.uint64(place), table, scratch.reach)
        else:
            _step_among_many(scores, np.uint64(place), weights.links, scratch)
    if n_tokens == 0:
        return 0.0
    path[n_tokens - 1] = _best_before(scores, n_tokens - 1, table, most, n_labels)
    for place in range(n_tokens - 1, 0, -1):
        path[place - 1] = _best_before(scores, place - 1, table, most, path[place])
    return scores[n_tokens - 1, path[n_tokens - 1]] + table[path[n_tokens - 1], n_labels]


@part
def _step(scores, now, table, reach):
    """scores[now, b] += max over a of scores[now - 1, a] + table[a, b], with four a at a time.

    Which a it was is found out afterwards, for the one label of each token that lies on the best path.
    """
    n_labels, then = reach.size, now - np.uint64(1)
    for b in range(n_labels):
        reach[b] = -np.inf
    for a in range(np.uint64(0), np.uint64(n_labels - n_labels % 4), np.uint64(4)):
        _reach_from(scores, then, table, a, a + np.uint64(1), a + np.uint64(2), a + np.uint64(3), reach)
    for a in range(n_labels - n_labels % 4, n_labels):
        p = scores[then, a]
        for b in range(n_labels):
            first = p + table[a, b]
            reach[b] = first if first > reach[b] else reach[b]
    for b in range(n_labels):
        scores[now, b] += reach[b]


@part
def _step_among_many(scores, now, links, scratch):
    """The same, without the labels before that cannot make a difference."""
    table, reach, limits, rest, open_labels = links.table, scratch.reach, scratch.limits, scratch.rest, scratch.open
    n_labels, then = reach.size, now - np.uint64(1)
    best, second = 0, -np.inf
    for a in range(1, n_labels):
        if scores[then, a] > scores[then, best]:
            second = scores[then, best]
            best = a
        elif scores[then, a] > second:
            second = scores[then, a]
    top, lowest = scores[then, best], np.inf
    for b in range(n_labels):
        reach[b] = top + table[best, b]
        needed = reach[b] - limits[b]
        lowest = needed if needed < lowest else lowest
    lowest -= abs(lowest) * 2.0**-50
    n_rest = 0
    for a in range(n_labels):
        rest[n_rest] = a
        n_rest += (scores[then, a] >= lowest) & (a != best)
    if 3 * n_rest > n_labels:
        _step(scores, now, table, reach)
        return
    for root in range(n_rest // 2 - 1, -1, -1):
        _sink(scores, then, rest, root, n_rest)
    n_open = _count_open(second, limits, reach)
    while n_rest > 0 and 8 * n_open > n_labels:  # four of the rest at a time, for all labels
        a = b = c = d = rest[0]
        n_rest = _pop(scores, then, rest, n_rest)
        if n_rest > 2:
            b, n_rest = rest[0], _pop(scores, then, rest, n_rest)
            c, n_rest = rest[0], _pop(scores, then, rest, n_rest)
            d, n_rest = rest[0], _pop(scores, then, rest, n_rest)
        _reach_from(scores, then, table, a, b, c, d, reach)
        if n_rest > 0:
            n_open = _count_open(scores[then, rest[0]], limits, reach)
    if n_rest > 0 and n_open > 0:  # one at a time, for the few labels that may gain
        n_open = 0
        for b in range(n_labels):
            open_labels[n_open] = b
            n_open += scores[then, rest[0]] + limits[b] > reach[b]
    while n_rest > 0 and n_open > 0:
        a = rest[0]
        n_rest = _pop(scores, then, rest, n_rest)
        still = 0
        for place in range(n_open):
            b = open_labels[place]
            reach[b] = max(reach[b], scores[then, a] + table[a, b])
            open_labels[still] = b
            still += scores[then, a] + limits[b] > reach[b]
        n_open = still
    for b in range(n_labels):
        for place in range(links.starts[b], links.starts[b + 1]):
            a = links.before[place]
            reach[b] = max(reach[b], scores[then, a] + table[a, b])
        scores[now, b] += reach[b]


@part
def _count_open(score, limits, reach):
    """How many labels may gain from a label before with this score."""
    count = 0
    for b in range(reach.size):
        count += score + limits[b] > reach[b]
    return count


@part
def _reach_from(scores, then, table, a, b, c, d, reach):
    """What every label gets from four labels before it, if that is more."""
    p, q, r, s = scores[then, a], scores[then, b], scores[then, c], scores[then, d]
    for label in range(reach.size):
        first, second = p + table[a, label], q + table[b, label]
        third, fourth = r + table[c, label], s + table[d, label]
        first = first if first > second else second
        third = third if third > fourth else fourth
        first = first if first > third else third
        reach[label] = first if first > reach[label] else reach[label]


@part
def _pop(scores, then, heap, size):
    """Take the best label off a heap, and return how many are left."""
    heap[0] = heap[size - 1]
    _sink(scores, then, heap, 0, size - 1)
    return size - 1


@part
def _sink(scores, then, heap, root, size):
    """Let a label sink in a heap of labels, the best of which is on top."""
    label = heap[root]
    while 2 * root + 1 < size:
        child = 2 * root + 1
        if child + 1 < size and scores[then, heap[child + 1]] > scores[then, heap[child]]:
            child += 1
        if not scores[then, heap[child]] > scores[then, label]:
            break
        heap[root] = heap[child]
        root = child
    heap[root] = label


@part
def _best_before(scores, then, table, most, label):
    """The label before this one, the first of equals; links are not looked at where even the largest gains nothing."""
    best, best_score = 0, scores[then, 0] + table[0, label]
    for previous in range(1, scores.shape[1]):
        if scores[then, previous] + most[label] > best_score:
            score = scores[then, previous] + table[previous, label]
            if score > best_score:
                best, best_score = previous, score
    return best


@part
def second_path(n_tokens, weights, scratch):
    """Put the second best path in the place of the best one, which `best_path` has just found; whether there is one.

    Any other path has a last label that differs. What a label costs there, if all behind it stays and all before it is
    the best for it, is a difference of two sums that the search has made.
    """
    table, most, scores, path = weights.links.table, weights.links.most, scratch.scores, scratch.path
    n_labels = scratch.reach.size
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
    for place in range(where, 0, -1):
        path[place - 1] = _best_before(scores, place - 1, table, most, path[place])
    return True


def searched(X: Any, n_labels: int) -> int:
    """How many numbers Viterbi looks at in all tokens."""
    n_entries, n_tokens = (X.data.size, X.indptr.size) if hasattr(X, "indptr") else (X.size, X.shape[0])
    return n_labels * (n_entries + n_tokens * n_labels)


@jit(work=lambda X, starts, weights, *_: searched(X, weights.n_labels))
def label_sequences(X, starts, weights, scratch, labels, scores):
    """The best labels of every token, and the score of every sequence."""
    nobody = labels[:0]
    for number in range(starts.size - 1):
        first, last = starts[number], starts[number + 1]
        scores[number] = best_path(X, first, last, nobody, 0.0, weights, scratch)
        for place in range(last - first):
            labels[first + place] = scratch.path[place]


# -- the k best -------------------------------------------------------------------------------------------------------


@jit(work=lambda X, first, last, weights, found, scores, *_: scores.size * weights.n_labels)
def best_paths(X, first, last, weights, found, scores, backs, ranks, paths, totals):
    """The k best label sequences of the tokens from `first` to `last`, best first; returns how many there are.

    For every token and label, `scores` has the k best ways to get there, `backs` and `ranks` say where each came from:
    the label before, and which of its ways. Of ways with equal scores, the earlier label comes first.
    """
    links = weights.links.table
    n_tokens, n_labels, k = scores.shape
    now = np.empty((1, n_labels))
    for place in range(n_tokens):
        score_labels(X, np.uint64(first + place), weights.emissions, found, now, np.uint64(0))
        for label in range(n_labels):
            top, back, rank = scores[place, label], backs[place, label], ranks[place, label]
            for way in range(k):
                top[way] = -np.inf
            if place == 0:
                top[0] = now[0, label] + links[n_labels, label]
                continue
            for previous in range(n_labels):
                for way in range(k):
                    candidate = scores[place - 1, previous, way] + links[previous, label]
                    if not _insert(candidate, previous, way, top, back, rank):
                        break
            for way in range(k):
                top[way] += now[0, label]

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
