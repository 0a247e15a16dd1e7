"""Measures of classification, against their definitions and against scikit-learn."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from novikoff.learn.measures import area_under_curve, by_class

scored = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=30)


@given(scored)
def test_the_area_is_how_often_a_positive_row_is_ahead_of_a_negative_one(rows):
    above = [score for score, positive in rows if positive]
    below = [score for score, positive in rows if not positive]
    pairs = [(a > b) + (a == b) / 2 for a in above for b in below]
    area = area_under_curve(*zip(*rows, strict=True))
    if not pairs:
        assert area is None
    else:
        assert area == sum(pairs) / len(pairs)
        assert np.isclose(area, roc_auc_score(*reversed(list(zip(*rows, strict=True)))))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30))
def test_precision_recall_and_f1_are_those_of_scikit_learn(rows):
    truth, guess = zip(*rows, strict=True)
    expected = precision_recall_fscore_support(truth, guess, labels=list("abc"), zero_division=0)
    found = by_class("abc", Counter(rows))
    for name, values in zip(("precision", "recall", "f1"), expected, strict=False):
        np.testing.assert_allclose([getattr(of, name) for of in found], values)


def test_a_label_that_the_model_does_not_know_lowers_precision_and_no_recall():
    found = by_class(["no", "yes"], {("yes", "yes"): 3, ("maybe", "yes"): 1})
    assert (found[1].precision, found[1].recall) == (0.75, 1.0)
