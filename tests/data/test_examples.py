"""Examples are the same in whatever form they are: in memory, in blocks, or in a cache on the disk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff.data.examples import Examples
from novikoff.engine.rows import as_rows
from novikoff.features import examples as filling
from novikoff.features.examples import cached
from novikoff.learn.linear.files import learn_from
from novikoff.prove.separable.search.certify import certify
from tests.draws import draws

FORMS = {"dense": np.asarray, "csr": sparse.csr_array}
NAMES = np.array(["no", "yes", "maybe", "never"])


def drawn(seed, n_classes, n_rows=40):
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (n_rows, 5)) / 8.0
    X[generator.random(X.shape) < 0.5] = 0.0
    y = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n_rows - n_classes)])
    return X, NAMES[:n_classes][y]


def cut(X, y, size):
    return [(X[start : start + size], y[start : start + size]) for start in range(0, len(y), size)]


def all_forms(X, y, size):
    """The same examples in memory, in blocks, and in a cache."""
    whole = Examples.of(X, y)
    yield whole
    inner = whole.block(0).labels
    blocks = [(as_rows(part), labels) for part, labels in cut(X, inner, size)]
    yield Examples.in_blocks(blocks, len(whole.classes), whole.classes)
    with pytest.MonkeyPatch.context() as patch:
        writer = filling.CacheWriter
        patch.setattr(filling, "CacheWriter", lambda path, **how: writer(path, **how, block_rows=size))
        with cached(cut(X, y, 7)) as on_disk:
            yield on_disk


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 99), n_classes=st.integers(2, 4), size=st.integers(1, 40))
def test_every_form_counts_the_same(form, seed, n_classes, size):
    X, y = drawn(seed, n_classes)
    X = FORMS[form](X)
    for examples in all_forms(X, y, size):
        assert (examples.n_rows, examples.n_columns) == X.shape
        assert examples.n_entries == (X.nnz if form == "csr" else X.size)
        assert examples.is_sparse == (form == "csr")
        assert examples.classes.tolist() == sorted(set(y.tolist()))
        assert examples.counts == tuple(np.count_nonzero(y == name) for name in examples.classes)
        assert examples.starts.tolist() == [block.first for block in examples.blocks()] + [len(y)]


@pytest.mark.parametrize("form", FORMS)
@given(
    seed=st.integers(0, 99),
    n_classes=st.integers(2, 4),
    size=st.integers(1, 40),
    some=st.sets(st.integers(0, 39), min_size=1),
)
def test_every_form_has_the_same_rows_and_labels(form, seed, n_classes, size, some):
    X, y = drawn(seed, n_classes)
    wanted = np.array(sorted(some))
    for examples in all_forms(FORMS[form](X), y, size):
        assert np.concatenate([batch.labels for batch in examples]).tolist() == y.tolist()
        assert (np.vstack([batch.rows.as_array() for batch in examples]) == X).all()
        taken = examples.take(wanted)
        assert (taken.rows.as_array() == X[wanted]).all()
        assert examples.labels_of(taken.labels).tolist() == y[wanted].tolist()
        matrix, labels = examples.in_one_piece()
        assert (np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix) == X).all()
        assert labels.tolist() == y.tolist()


@settings(max_examples=draws(10))
@given(seed=st.integers(0, 99), n_classes=st.integers(2, 4))
def test_every_form_is_learned_and_certified_alike(seed, n_classes):
    X, y = drawn(seed, n_classes, 20)
    learned = [learn_from(examples, shuffle=False, max_iter=3) for examples in all_forms(X, y, 9)]
    assert all((one.memory.weights == learned[0].memory.weights).all() for one in learned)
    assert all(one.run.mistakes_per_epoch == learned[0].run.mistakes_per_epoch for one in learned)
    expected = certify(X, y)
    for examples in all_forms(X, y, 9):
        found = certify(examples)
        assert (found.verdict, found.data_hash) == (expected.verdict, expected.data_hash)
        found.check(examples)
        expected.check(examples)


def test_examples_on_disk_are_not_written_again(monkeypatch):
    X, y = drawn(0, 2)
    with cached([(X, y)]) as examples:
        monkeypatch.setattr(filling, "CacheWriter", None)
        learn_from(examples, max_iter=3)
        certify(examples).check(examples)


def test_other_classes_than_those_of_the_examples_are_kept_apart():
    X, y = drawn(0, 2)
    learned = learn_from(Examples.of(X, y), classes=["maybe", "no", "yes"])
    assert learned.classes.tolist() == ["maybe", "no", "yes"]
    assert learned.memory.n_classes == 3
