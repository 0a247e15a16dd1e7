"""Lifting to the paraboloid."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from novikoff import Paraboloid, Perceptron


@parametrize_with_checks([Paraboloid()])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_lift_appends_the_squared_length_and_can_be_undone(d):
    X = np.random.default_rng(0).standard_normal((20, d))
    lift = Paraboloid().fit(X)
    assert lift.transform(X)[:, -1] == pytest.approx((X**2).sum(axis=1))
    assert (lift.inverse_transform(lift.transform(X)) == X).all()


def test_names_are_kept():
    frame = pd.DataFrame({"width": [1.0, 2.0], "height": [3.0, 4.0]})
    assert Paraboloid().fit(frame).get_feature_names_out().tolist() == ["width", "height", "squared_length"]
    assert Paraboloid().fit(frame.to_numpy()).get_feature_names_out().tolist() == ["x0", "x1", "squared_length"]


def test_sparse_rows_are_refused_with_the_reason():
    with pytest.raises(TypeError, match="distances from the origin"):
        Paraboloid().fit(sparse.csr_matrix([[1.0]]))


def test_other_widths_are_refused_on_the_way_back():
    with pytest.raises(ValueError, match="3 columns"):
        Paraboloid().fit([[1.0, 2.0]]).inverse_transform([[1.0, 2.0]])


def test_a_ring_is_learned_after_lifting_and_not_before():
    angles = np.linspace(0, 2 * np.pi, 40)
    ring = 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    X, y = np.vstack([ring, 0.4 * ring]), np.repeat(["ring", "centre"], 40)
    flat = Perceptron(random_state=0).fit(X, y)
    lifted = make_pipeline(Paraboloid(), Perceptron(random_state=0, max_iter=None)).fit(X, y)
    assert lifted.score(X, y) == 1.0
    assert flat.score(X, y) < 0.9
