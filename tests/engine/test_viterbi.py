"""Viterbi finds what brute force finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff.engine.rows import as_rows
from novikoff.engine.viterbi import Weights
from novikoff.features.tokens import Tokens
from novikoff.learn.chain.space import best_label_sequences, label_tokens
from tests.chains import OUTSIDE, ranked_paths

SETTINGS = settings(deadline=None, max_examples=60)


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
