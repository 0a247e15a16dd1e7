"""The columns in standard deviations, inside the model: if asked for, or if their numbers are not comparable."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from novikoff import KernelPerceptron, Perceptron, load, save
from novikoff.data.held_out import HeldOut
from novikoff.learn.run import Stopped

LEARNERS = [Perceptron, KernelPerceptron]


def uneven(seed=0, n=300):
    """The label depends on columns that a third one, of years, drowns."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 4)) * [1.0, 1.0, 300.0, 0.01] + [0.0, 0.0, 2000.0, 0.0]
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_scaled_model_is_that_of_rows_that_were_scaled_before(learner):
    X, y = uneven()
    model = learner(scale=True, random_state=0).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = learner(random_state=0).fit(Z, y)
    assert model.predict(X).tolist() == other.predict(Z).tolist()
    assert model.decision_function(X) == pytest.approx(other.decision_function(Z), rel=1e-6, abs=1e-6)
    assert model.n_mistakes_ == other.n_mistakes_
    assert model.run_.radius == pytest.approx(other.run_.radius)


@pytest.mark.parametrize("learner", LEARNERS)
def test_scales_and_names_are_in_the_file_and_rows_to_predict_stay_as_they_are(learner, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = uneven()
    table = pandas.DataFrame(X, columns=["a", "b", "year", "tiny"])
    model = learner(scale=True, random_state=0).fit(table, y)
    save(model, tmp_path / "model.novikoff")
    again = load(tmp_path / "model.novikoff")
    assert (again.decision_function(table) == model.decision_function(table)).all()
    assert again.feature_names_in_.tolist() == ["a", "b", "year", "tiny"]
    assert again.run_ == model.run_
    assert (
        again.partial_fit(table, y).decision_function(table) == model.partial_fit(table, y).decision_function(table)
    ).all()


def test_sparse_columns_are_divided_and_not_centred():
    X, y = uneven()
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model = Perceptron(scale=True, random_state=0).fit(rows, y)
    Z = StandardScaler(with_mean=False).fit_transform(sparse.csr_matrix(rows))
    other = Perceptron(random_state=0).fit(Z, y)
    assert model.predict(rows).tolist() == other.predict(Z).tolist()


def test_constant_columns_huge_ones_and_tiny_ones_can_be_scaled():
    X = np.column_stack([np.full(6, 7.0), [1e200, -1e200] * 3, [1e-200, -1e-200] * 3, [0.0] * 6])
    model = Perceptron(scale=True, readout="last").fit(X, [1, 0] * 3)
    assert model.run_.stopped is Stopped.NO_MISTAKES
    assert model.predict(X).tolist() == [1, 0] * 3
    assert model.run_.radius == pytest.approx(3**0.5)


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_held_out_have_no_say_in_the_scales(learner):
    X, y = uneven()
    held = HeldOut.share(0.3, 5).which(0, len(X))
    X[held] *= 100.0
    model = learner(scale=True, held_out=0.3, random_state=5).fit(X, y)
    assert model.model_.encoding.scaling.deviations == pytest.approx(X[~held].std(axis=0))
    assert model.run_.held_out_rows == held.sum()
    assert [statement.name for statement in model.run_.generalisation(random_order=True).statements] == ["held out"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_columns_of_one_size_stay_as_they_are(learner):
    X = np.random.default_rng(0).normal(size=(60, 5)) * [1, 2, 3, 4, 5]
    assert learner(random_state=0).fit(X, np.arange(60) % 2).run_.scaled is None
    assert learner(random_state=0).fit([[1000.0, 0.0], [-1000.0, 1.0]], [0, 1]).run_.scaled is None


@pytest.mark.parametrize("asked", [{"readout": "last", "max_iter": 500}, {"fit_intercept": False}, {"scale": False}])
def test_who_asks_for_the_standard_perceptron_has_columns_as_they_are(asked):
    X, y = uneven()
    model = Perceptron(random_state=0, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, y).run_.scaled is None


def test_weights_and_intercept_are_those_of_the_columns_as_given():
    X, y = uneven()
    model = Perceptron(random_state=0).fit(X, y)
    assert model.run_.scaled is not None
    assert X @ model.coef_[0] + model.intercept_[0] == pytest.approx(model.decision_function(X), rel=1e-9, abs=1e-9)
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model = Perceptron(scale=True, random_state=0).fit(rows, y)
    assert rows @ model.coef_[0] + model.intercept_[0] == pytest.approx(model.decision_function(rows), rel=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_auto_scales_columns_that_are_not_comparable_and_says_why(learner, tmp_path):
    X, y = uneven()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = learner(scale="auto", random_state=0).fit(X, y)
        even = learner(scale="auto", random_state=0).fit(X[:, :2], y)
    other = learner(scale=True, random_state=0).fit(X, y)
    assert (model.decision_function(X) == other.decision_function(X)).all()
    assert model.run_.scaled == "column 2 is 197,431 times as large as column 3"
    assert f"Columns standardised: {model.run_.scaled}" in str(model.run_)
    assert model.run_.scaled in model.run_._repr_html_()
    assert other.run_.scaled == "as requested"
    assert even.run_.scaled is None
    assert (even.predict(X[:, :2]) == learner(random_state=0).fit(X[:, :2], y).predict(X[:, :2])).all()
    save(model, tmp_path / "model.novikoff")
    assert load(tmp_path / "model.novikoff").run_ == model.run_
    parts = learner(scale="auto").partial_fit(X, y)  # the first rows cannot know
    assert (parts.decision_function(X) == learner(scale=False).partial_fit(X, y).decision_function(X)).all()


def test_rows_that_are_held_out_do_not_decide_whether_to_scale():
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    held = HeldOut.share(0.3, 5).which(0, 60)
    X[held, 0] = 1e6
    assert Perceptron(scale="auto", held_out=0.3, random_state=5).fit(X, y).run_.scaled is None


def test_auto_leaves_alone_what_has_no_columns_to_scale():
    assert KernelPerceptron(kernel="precomputed", scale="auto").fit(np.eye(3), [0, 1, 0]).run_.scaled is None
    assert Perceptron(scale="auto").fit([(np.eye(2), [0, 1])]).run_.scaled is None
    with pytest.raises(ValueError, match="scale='always' must be True or False, or 'auto'"):
        Perceptron(scale="always").fit(np.eye(3), [0, 1, 0])


def test_what_cannot_be_scaled_is_refused():
    with pytest.raises(ValueError, match="scale=True is for rows of numbers"):
        KernelPerceptron(kernel="precomputed", scale=True).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match="scale=True is for a matrix"):
        Perceptron(scale=True).fit([(np.eye(2), [0, 1])])
