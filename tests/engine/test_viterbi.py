"""Viterbi finds what brute force finds."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff.engine.emissions import FIRST_POOL, Emissions, open_place
from novikoff.engine.jit import patience
from novikoff.engine.rows import as_rows
from novikoff.engine.threads import on_cores
from novikoff.engine.viterbi import Scratch, Weights, best_path
from novikoff.features.tokens import Tokens
from novikoff.learn.chain.space import best_label_sequences, label_tokens
from tests.chains import OUTSIDE, ranked_paths
from tests.draws import draws

SETTINGS = settings(deadline=None, max_examples=draws(30))


@st.composite
def chains(draw):
    """Weights, tokens and the weights again by name; quarters, so that sums are exact and ties are common."""
    n_labels, width = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n_tokens = draw(st.integers(0, 4))
    quarter = st.integers(-6, 6).map(lambda v: v / 4)
    fill = lambda *shape: np.array(draw(st.lists(quarter, min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))))  # noqa: E731
    emissions, links = fill(width, n_labels).reshape(width, n_labels), fill(n_labels + 1, n_labels + 1)
    links = links.reshape(n_labels + 1, n_labels + 1)
    tokens = fill(n_tokens, width).reshape(n_tokens, width)
    forbidden = draw(st.sets(st.tuples(st.integers(0, n_labels), st.integers(0, n_labels)), max_size=2))
    return emissions, links, tokens, forbidden


def by_name(emissions, links):
    n_labels = emissions.shape[1]
    name = lambda label: OUTSIDE if label == n_labels else label  # noqa: E731
    weights = {("emission", j, label): emissions[j, label] for j in range(len(emissions)) for label in range(n_labels)}
    for (before, after), weight in np.ndenumerate(links):
        weights["link", name(before), name(after)] = weight
    return weights, {label: name(label) for label in range(n_labels + 1)}


def as_tokens(tokens, layout):
    matrix = as_rows(csr_array(tokens) if layout == "sparse" else tokens)
    return Tokens(matrix, np.array([0, len(tokens)]))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@given(chain=chains(), k=st.integers(1, 12))
@SETTINGS
def test_the_best_paths_are_those_of_brute_force(layout, chain, k):
    emissions, links, tokens, forbidden = chain
    weights, names = by_name(emissions, links)
    illegal = {(names[before], names[after]) for before, after in forbidden}
    expected = ranked_paths(weights, tokens.tolist(), emissions.shape[1], lambda *pair: pair not in illegal)
    for before, after in forbidden:
        links[before, after] = -np.inf
    if not len(tokens):
        expected = [(0.0, ())]  # nothing to label, nothing to score
    found = best_label_sequences(Weights.of(emissions, links), as_tokens(tokens, layout), k)[0]
    assert found.scores.tolist() == [score for score, _ in expected[:k]]
    assert len({tuple(path) for path in found.paths.tolist()}) == len(found.paths)
    for path, score in zip(found.paths.tolist(), found.scores, strict=True):
        assert (score, tuple(path)) in expected

    if expected:
        labels, scores = label_tokens(Weights.of(emissions, links), as_tokens(tokens, layout))
        assert (scores[0], tuple(labels)) == expected[0]
    else:
        with pytest.raises(ValueError, match="sequence 0 has no label sequence that the constraint allows"):
            label_tokens(Weights.of(emissions, links), as_tokens(tokens, layout))


def full_search(emissions, table, tokens, gold, cost):
    """Viterbi without anything left out, in NumPy: the best path from the end, the first of equals, and its score."""
    n_labels = emissions.shape[1]
    scores, backs = [], []
    for place, token in enumerate(tokens):
        now = np.zeros(n_labels)
        for x, row in zip(token, emissions, strict=True):
            now = now + x * row
        now = now + cost * (np.arange(n_labels) != gold[place])
        ways = table[n_labels, :n_labels][None, :] if place == 0 else scores[-1][:, None] + table[:n_labels, :n_labels]
        backs.append(ways.argmax(axis=0))
        scores.append(now + ways.max(axis=0))
    ends = scores[-1] + table[:n_labels, n_labels]
    path = [int(ends.argmax())]
    for back in reversed(backs[1:]):
        path.append(int(back[path[-1]]))
    return path[::-1], ends.max()


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("forbidden", ["none", "some", "most"])
@given(seed=st.integers(0, 2**32), n_labels=st.integers(1, 70), cost=st.sampled_from([0.0, 1.0, 0.3]))
@settings(deadline=None, max_examples=draws(30))
def test_nothing_is_left_out_that_matters_to_a_full_search(layout, forbidden, seed, n_labels, cost):
    rng = np.random.default_rng(seed)
    width, length, spread = 6, int(rng.integers(1, 9)), rng.choice([0.25, 1.0, 8.0])
    emissions = np.round(spread * rng.normal(size=(width, n_labels)) * 4) / 4 * (rng.random((width, n_labels)) < 0.5)
    table = np.round(rng.normal(size=(n_labels + 1, n_labels + 1)) * 4) / 4
    if forbidden != "none":
        legal = rng.random(table.shape) < (0.7 if forbidden == "some" else 0.06)
        legal[0], legal[:, 0] = True, True
        table[~legal] = -np.inf
    tokens = rng.integers(-1, 3, size=(length, width)).astype(float)
    gold = rng.integers(n_labels, size=length)
    weights, scratch = Weights.of(emissions, table), Scratch.room(n_labels, length)
    with np.errstate(invalid="ignore"):
        score = best_path(as_tokens(tokens, layout).rows.matrix, 0, length, gold, cost, weights, scratch)
    assert (scratch.path[:length].tolist(), score) == full_search(emissions, table, tokens, gold, cost)


@pytest.mark.parametrize("n_labels", [1, 2, 7, 8, 9, 22, 32])
def test_compiled_or_interpreted_on_one_thread_or_two_the_labels_are_the_same(n_labels):
    rng = np.random.default_rng(n_labels)
    weights = Weights.of(rng.normal(size=(5, n_labels)), rng.normal(size=(n_labels + 1, n_labels + 1)))
    rows = as_rows(csr_array(rng.normal(size=(60, 5))))
    tokens = Tokens(rows, np.array([0, 1, 1, *range(8, 61, 4)]))
    found = []
    for numbers, n_jobs in ((np.inf, 1), (0, 1), (0, 2)):
        with patience(numbers), on_cores(n_jobs), mock.patch("novikoff.engine.threads.WORTH_A_THREAD", 1):
            found.append([part.tobytes() for part in label_tokens(weights, tokens)])
    assert found[0] == found[1] == found[2]


@given(seed=st.integers(0, 2**32), n_labels=st.integers(1, 40))
@settings(deadline=None, max_examples=draws(30))
def test_weights_of_touched_pairs_are_those_of_a_table(seed, n_labels):
    rng = np.random.default_rng(seed)
    emissions, drift, table = Emissions.none(8), np.zeros(FIRST_POOL), np.zeros((8, n_labels))
    for _ in range(int(rng.integers(0, 300))):
        feature, label = int(rng.integers(8)), int(rng.integers(n_labels))
        place = open_place(emissions, drift, feature, label, n_labels)
        emissions.values[place] += 1.0
        drift[place] -= 2.0
        table[feature, label] += 1.0
    assert emissions.table(n_labels).tolist() == table.tolist()
    assert emissions._replace(values=drift).table(n_labels).tolist() == (-2 * table).tolist()
    assert emissions.used.sum() == table.sum()
    packed = Emissions.of_table(table)
    assert packed.table(n_labels).tolist() == table.tolist()
    assert [part.tolist() for part in packed.entries()] == [part.tolist() for part in emissions.entries()]


def test_a_pool_that_is_full_says_so_and_grows():
    emissions, drift = Emissions.none(FIRST_POOL), np.zeros(FIRST_POOL)
    places = [open_place(emissions, drift, feature, 0, 100) for feature in range(FIRST_POOL // 2 + 1)]
    assert places[-1] == -1
    assert min(places[:-1]) >= 0
    longer = emissions.longer()
    assert open_place(longer, np.zeros(longer.values.size), FIRST_POOL // 2, 0, 100) == FIRST_POOL
