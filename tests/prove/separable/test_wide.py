"""Sparse data in thousands of dimensions: overlapping, quasi-separable and separable, decided and proved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff import certify
from novikoff.prove.exact.algebra import rank
from novikoff.prove.separable import proofs
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search import gordan
from tests.draws import draws

SEEDS = st.integers(0, 2**32 - 1)


def texts(n, d, words, noise, seed=0):
    """Short texts of words, and labels that the words explain, but for some."""
    random = np.random.default_rng(seed)
    places, starts = random.integers(0, d, n * words), np.arange(0, n * words + 1, words)
    X = sparse.csr_array((np.ones(n * words), places, starts), shape=(n, d))
    X.sum_duplicates()
    y = X @ random.standard_normal(d) > 0
    return X, y ^ (random.random(n) < noise)


def test_noisy_texts_of_many_words_overlap():
    X, y = texts(6_000, 1_200, 4, 0.4)
    certificate = certify(X, y)
    assert certificate.verdict.value == "overlapping"
    certificate.check(X, y)


def test_a_word_of_one_label_makes_noisy_texts_quasi_separable():
    X, y = texts(6_000, 1_200, 4, 0.4)
    X = X.tolil()
    X[:, 7] = 0.0
    X[y.argmax(), 7] = 1.0
    X = sparse.csr_array(X)
    certificate = certify(X, y)
    assert certificate.verdict.value == "quasi-separable"
    certificate.check(X, y)


def test_what_the_descent_gives_up_too_early_is_separated_all_the_same(monkeypatch):
    monkeypatch.setattr(gordan, "EPOCHS", 0)
    X, y = texts(1_500, 1_100, 4, 0.0)
    certificate = certify(X, y, tolerance=0.5)
    assert certificate.verdict.value == "separable"
    certificate.check(X, y)


@settings(max_examples=draws(40))
@given(SEEDS, st.booleans(), st.booleans())
def test_a_span_of_many_points_contains_what_a_span_of_few_does(seed, is_sparse, has_constant):
    random = np.random.default_rng(seed)
    rows = random.integers(-1, 2, (30, 4)) @ random.integers(-1, 2, (4, 6))
    table = sparse.csr_array(rows.astype(float)) if is_sparse else rows.astype(float)
    points = Points(table, np.ones(30, dtype=np.int8), float(has_constant))
    which = np.sort(random.permutation(30)[: random.integers(1, 8)])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proofs, "MOST_NUMBERS", 24)
        try:
            span = proofs.Span.of(points, which)
        except MemoryError:
            return
        has_all = span.has_all(points)
    whole = [[*row, int(has_constant)] for row in rows.tolist()]
    assert has_all == (rank([whole[row] for row in which]) == rank(whole))
