"""The notes' simplifications."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.features.fold import fold_bias, fold_labels, signs, unit_length, zero_one_step
from tests import lecture


def test_signs_are_the_sorted_labels():
    assert signs([1, -1, 1]).tolist() == [1, -1, 1]
    assert signs([1.0, 1.0]).tolist() == [1, 1]
    assert signs(["b", "a"]).tolist() == [1, -1]
    assert signs([3, 7, 3]).tolist() == [-1, 1, -1]
    assert signs([False, True]).tolist() == [-1, 1]


@pytest.mark.parametrize("y", [["a"], ["a", "b", "c"], [[1, -1]], [0, 0]])
def test_labels_that_are_not_two_are_refused(y):
    with pytest.raises(ValueError, match="y has"):
        signs(y)


def test_folding_the_bias_keeps_every_score():
    X, w, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]), 7.0
    assert (fold_bias(X) @ np.append(w, b)).tolist() == (X @ w + b).tolist()


def test_a_vector_separates_if_all_folded_examples_have_a_positive_score():
    X, y, w = np.array([[1.0, 2.0], [-3.0, 1.0]]), [1, -1], np.array([1.0, 0.0])
    assert (fold_labels(X, y) @ w > 0).all() == (np.sign(X @ w) == y).all()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_unit_length_is_one_even_where_squares_overflow(scale):
    X = scale * np.random.default_rng(0).standard_normal((20, 3))
    assert np.linalg.norm(unit_length(X), axis=1) == pytest.approx(1.0, abs=1e-15)


def test_a_zero_row_has_no_direction():
    with pytest.raises(ValueError, match="row 1 is zero"):
        unit_length([[1.0, 0.0], [0.0, 0.0]])
    assert unit_length(fold_bias([[0.0, 0.0]])).tolist() == [[0.0, 0.0, 1.0]]


@given(st.integers(0, 9_999), st.floats(0.1, 10))
def test_the_rule_for_labels_zero_and_one_is_the_same_rule(seed, learning_rate):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-5, 6, (30, 3)).astype(float), generator.integers(0, 2, 30)
    w, scaled = np.zeros(3), np.zeros(3)
    run = lecture.perceptron(X, 2 * y - 1, range(30), bias=False, tie="predict")
    for x, label, seen in zip(X, y, run, strict=True):
        w = zero_one_step(w, x, label)
        scaled = zero_one_step(scaled, x, label, learning_rate=2.0 ** round(learning_rate))
        assert w.tolist() == seen.weights[:3]
    assert scaled.tolist() == (2.0 ** round(learning_rate) * w).tolist()


def test_other_labels_than_zero_and_one_are_refused_there():
    with pytest.raises(ValueError, match="labels 0 and 1"):
        zero_one_step([0.0], [1.0], -1)
