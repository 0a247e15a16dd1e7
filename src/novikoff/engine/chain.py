"""The perceptron's hot loop on label sequences: predict by Viterbi, and correct every mistake."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.emissions import open_place, place_of
from novikoff.engine.jit import jit, part
from novikoff.engine.viterbi import best_path, searched, second_path


class Drift(NamedTuple):
    """What the average of the weights is computed from: a number for every place in their pool, and for every link."""

    emissions: NDArray[np.float64]
    links: NDArray[np.float64]


class Demand(NamedTuple):
    """The margin by which a sequence must win: `cost` for every label that differs, or the `lead` times `longest[0]`.

    `longest` has the largest squared length of a difference so far: as computed, and with a bound on its rounding.
    """

    cost: float
    lead: float
    longest: NDArray[np.float64]


def _learned(X, starts, gold, order, demand, examples, weights, *_):
    return order.size * searched(X, weights.n_labels) / max(1, starts.size - 1)


@jit(work=_learned)
def sequence_epoch(X, starts, gold, order, demand, examples, weights, drift, scratch, at, narrow):
    """Visit sequences in order; on a mistake add the features of the gold labels, subtract those of the guess.

    With a lead, a correct sequence is compared with the second best, and added, too, unless it is ahead by enough:
    `narrow` marks the updates with that reason, and `at` has the steps of all. Returns how many updates there were, how
    many labels were wrong, and how many sequences were visited: all, unless the pool of weights needs more room.
    """
    made = wrong = 0
    path, longest = scratch.path, demand.longest
    for step in range(order.size):
        first, last = starts[order[step]], starts[order[step] + np.uint64(1)]
        best_path(X, first, last, gold, demand.cost, weights, scratch)
        differ = 0
        for place in range(last - first):
            differ += path[place] != gold[first + place]
        if differ == 0:
            if not (demand.lead > 0.0 and second_path(last - first, weights, scratch)):
                continue
            if _ahead(X, first, last, gold, path, weights, drift, False) > demand.lead * longest[0]:
                continue
        ahead = _ahead(X, first, last, gold, path, weights, drift, True)
        if np.isnan(ahead):
            return made, wrong, step
        _add_difference(X, first, last, gold, path, weights, np.float64(examples + step), drift, ahead, longest)
        at[made], narrow[made] = step, differ == 0 and ahead > 0.0
        made += 1
        wrong += differ
    return made, wrong, order.size


@part
def _ahead(X, first, last, gold, path, weights, drift, opens):
    """Return <w, d>, where d = features of the gold labels - features of the path.

    If it `opens` places, every weight of d gets one; without room for them, the result is NaN.
    """
    table, emissions = weights.links.table, weights.emissions
    blocks, labels, values = emissions.blocks, emissions.labels, emissions.values
    outside = table.shape[0] - 1
    ahead = 0.0
    for place in range(last - first):
        token, right, guess = np.uint64(first + place), gold[first + place], path[place]
        if right != guess:
            for label, sign in ((right, 1.0), (guess, -1.0)):
                score = 0.0
                for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
                    column, x = X.indices[j], np.float64(X.data[j])
                    found = place_of(blocks, labels, column, label, outside)
                    if found >= 0:
                        score += x * values[found]
                    elif opens and open_place(emissions, drift.emissions, column, label, outside) < 0:
                        return np.nan
                ahead += sign * score
    right_before = guess_before = outside
    for place in range(last - first + 1):
        right, guess = (gold[first + place], path[place]) if place < last - first else (outside, outside)
        if right != guess or right_before != guess_before:
            ahead += table[right_before, right] - table[guess_before, guess]
        right_before, guess_before = right, guess
    return ahead


@part
def _add_difference(X, first, last, gold, path, weights, age, drift, ahead, longest):
    """w <- w + d, and drift <- drift + age d; `ahead` is <w, d> before."""
    links, link_drift = weights.links, drift.links
    table = links.table
    blocks, labels, values = weights.emissions.blocks, weights.emissions.labels, weights.emissions.values
    value_drift = drift.emissions
    outside = table.shape[0] - 1
    growth = size = 0.0
    for place in range(last - first):
        token, right, guess = np.uint64(first + place), gold[first + place], path[place]
        if right != guess:
            for label, amount in ((right, 1.0), (guess, -1.0)):
                more = much = 0.0
                for j in range(X.indptr[token], X.indptr[token + np.uint64(1)]):
                    column, x = X.indices[j], np.float64(X.data[j])
                    found, step = place_of(blocks, labels, column, label, outside), amount * x
                    old = values[found]
                    values[found] += step
                    value_drift[found] += age * step
                    more += step * (2.0 * old + step)
                    much += abs(step) * (2.0 * abs(old) + abs(step))
                growth += more
                size += much
    right_before = guess_before = outside
    for place in range(last - first + 1):
        right, guess = (gold[first + place], path[place]) if place < last - first else (outside, outside)
        if right != guess or right_before != guess_before:
            for a, b, amount in ((right_before, right, 1.0), (guess_before, guess, -1.0)):
                old = table[a, b]
                table[a, b] += amount
                link_drift[a, b] += age * amount
                growth += amount * (2.0 * old + amount)
                size += 2.0 * abs(old) + 1.0
                if a != outside:
                    _keep_up(links, a, b, old)
        right_before, guess_before = right, guess

    # ||w + d||^2 = ||w||^2 + 2 <w, d> + ||d||^2
    square = growth - 2.0 * ahead
    terms = 4.0 * (last - first + 1) * (blocks.shape[0] + 4)
    longest[0] = max(longest[0], square)
    longest[1] = max(longest[1], square + terms * 2.0**-52 * size)


@part
def _keep_up(links, a, b, old):
    """Update the bounds that save scanning all links, after that of label b after label a has changed."""
    table, most = links.table, links.most
    if table[a, b] >= most[b]:
        most[b] = table[a, b]
    elif old == most[b]:
        most[b] = table[0, b]
        for before in range(1, table.shape[0] - 1):
            most[b] = max(most[b], table[before, b])
