"""Perceptron on readers and batches: what fits into memory and what does not are learned and predicted alike."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from novikoff import Perceptron
from novikoff.data import read
from novikoff.features.encode import learn_encoding

READOUTS = ("last", "average", "vote")


@pytest.fixture(autouse=True)
def _convergence_is_not_the_point():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Perceptron did not converge")
        yield


def examples(seed, n=90, d=4, n_classes=2):
    generator = np.random.default_rng(seed)
    X = generator.integers(-5, 6, (n, d)) / 2
    return X, np.array(["no", "yes", "maybe"])[generator.integers(0, n_classes, n)]


def cut(X, y, size=20):
    return [(X[start : start + size], y[start : start + size]) for start in range(0, len(y), size)]


@pytest.fixture
def table(tmp_path):
    X, y = examples(0)
    colour = np.array(["red", "green", "blue"])[np.arange(len(y)) % 3]
    rows = [f"{','.join(map(repr, x))},{c},{label}" for x, c, label in zip(X.tolist(), colour, y, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,b,c,d,colour,answer", *rows, ""]))
    return read(path, label="answer", block_bytes=500), y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_batches_give_the_model_of_the_matrix(form, readout, n_classes):
    X, y = examples(1, n_classes=n_classes)
    options = {"readout": readout, "random_state": 3, "max_iter": 3, "record_mistakes": True}
    whole, parts = Perceptron(**options).fit(X, y), Perceptron(**options).fit(cut(form(X), y))
    assert parts.classes_.tolist() == whole.classes_.tolist()
    assert parts.n_features_in_ == 4
    assert parts.mistake_rows_.tolist() == whole.mistake_rows_.tolist()
    assert parts.run_ == whole.run_
    assert (parts.decision_function(X) == whole.decision_function(X)).all()
    assert (parts.predict(cut(form(X), y, 7)) == whole.predict(X)).all()
    assert parts.score(cut(X, y)) == whole.score(X, y) == parts.score(X, y)


def test_a_table_is_encoded_learned_and_predicted(table):
    reader, y = table
    model = Perceptron(random_state=0).fit(reader)
    encoding = learn_encoding(reader)
    rows = np.vstack([encoding.encode(records).rows.as_array() for records in reader])
    expected = Perceptron(random_state=0).fit(rows, y)
    assert model.encoding_ == encoding
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "colour"]
    assert model.encoding_.feature_names[4:] == ("colour=blue", "colour=green", "colour=red")
    assert (model.coef_ == expected.coef_).all()
    assert (model.predict(reader) == expected.predict(rows)).all()
    assert model.score(reader) == expected.score(rows, y)


def test_svmlight_text_with_columns_never_seen_is_predicted_without_them(tmp_path):
    (tmp_path / "train.svm").write_text("1 0:1 1:2\n-1 0:-1\n1 1:3\n")
    (tmp_path / "wide.svm").write_text("1 0:1 1:2 7:100\n-1 0:-1 5:3\n")
    (tmp_path / "narrow.svm").write_text("1 0:1\n")
    model = Perceptron(random_state=0).fit(read(tmp_path / "train.svm"))
    assert (model.n_features_in_, model.classes_.tolist()) == (2, [-1.0, 1.0])
    expected = model.decision_function(np.array([[1.0, 2.0], [-1.0, 0.0]]))
    assert (model.decision_function(read(tmp_path / "wide.svm")) == expected).all()
    assert model.decision_function(read(tmp_path / "narrow.svm")) == model.decision_function([[1.0, 0.0]])
    assert model.score(read(tmp_path / "wide.svm")) == 1.0


def test_a_warm_start_goes_on_with_the_same_classes_and_encoding(table):
    reader, _ = table
    options = {"shuffle": False, "record_mistakes": True, "lead": 0}
    whole = Perceptron(max_iter=4, **options).fit(reader)
    parts = Perceptron(max_iter=2, warm_start=True, **options).fit(reader)
    encoding = parts.encoding_
    parts.fit(reader)
    assert parts.encoding_ is encoding
    assert (parts.coef_ == whole.coef_).all()
    assert parts.n_mistakes_ == whole.n_mistakes_


def test_a_matrix_after_a_table_leaves_nothing_of_the_table(table):
    reader, _ = table
    X, y = examples(2)
    model = Perceptron(random_state=0).fit(reader).fit(X, y)
    assert not hasattr(model, "encoding_")
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4
    model.fit(cut(X[:, :3], y))
    assert model.n_features_in_ == 3


def test_learning_goes_on_online_after_batches():
    X, y = examples(3)
    one = Perceptron(random_state=0).fit(cut(X, y)).partial_fit(X, y)
    two = Perceptron(random_state=0).fit(X, y).partial_fit(X, y)
    assert (one.coef_ == two.coef_).all()


def test_a_model_of_a_table_survives_pickle_and_clone(table):
    reader, _ = table
    model = Perceptron(random_state=0).fit(reader)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(reader) == model.predict(reader)).all()
    assert (clone(model).fit(reader).coef_ == model.coef_).all()


def test_one_pass_over_a_generator_of_pairs():
    X, y = examples(4)
    model = Perceptron(max_iter=1, shuffle=False).fit(pair for pair in cut(X, y))
    assert (model.coef_ == Perceptron(max_iter=1, shuffle=False).fit(X, y).coef_).all()


def test_what_is_refused_leaves_the_model_as_it_was():
    X, y = examples(5)
    model = Perceptron(random_state=0).fit(X, y)
    before, coef = model.__dict__.copy(), model.coef_
    for bad, words in (
        ([(X, y), (X * np.nan, y)], "example 90 .*NaN"),
        ([(X, y), (X[:, :2], y)], "rows of 2 columns cannot follow rows of 4"),
        ([(X, np.full(len(y), "same"))], "at least two classes"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(bad)
    with pytest.raises(ValueError, match="omit y"):
        model.fit([(X, y)], y)
    assert model.__dict__.keys() == before.keys()
    assert (model.coef_ == coef).all()


def test_what_cannot_be_predicted_is_said(table):
    reader, _ = table
    X, y = examples(6)
    model = Perceptron(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="need an encoding"):
        model.predict(reader)
    with pytest.raises(ValueError, match="3 columns came where 4 columns"):
        model.predict([(X[:, :3], y)])
    with pytest.raises(ValueError, match="NaN in row 0"):
        model.predict([(X * np.nan, y)])
    with pytest.raises(ValueError, match="no labels to compare"):
        model.score([(X, None)])
    with pytest.raises(ValueError, match="omit y and sample_weight"):
        model.score([(X, y)], y)
    with pytest.raises(ValueError, match="no examples"):
        model.predict(iter([]))
    assert (model.predict([(X, None)]) == model.predict(X)).all()


def test_a_matrix_without_labels_is_refused_as_ever():
    with pytest.raises(ValueError, match="requires y to be passed"):
        Perceptron().fit(np.eye(3))
