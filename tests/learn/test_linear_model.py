"""The plain linear model says what the estimator says."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron
from novikoff.data.batches import Batch, Records
from novikoff.engine.rows import as_rows
from novikoff.features.encode import learn_encoding
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.memory import LinearModel
from tests.keep import samples


def both(seed, n_classes, **options):
    """The same run, plain and as an estimator."""
    X, y = samples.points(seed, n_classes=n_classes)
    rate = options.pop("eta0", 1.0)
    estimator = Perceptron(shuffle=False, eta0=rate, **options).fit(X, y)
    learned = learn_from([(X, y)], shuffle=False, **options)
    return LinearModel.of(learned, {**options, "eta0": rate}), estimator, X


@given(
    seed=st.integers(0, 10**6),
    n_classes=st.sampled_from([2, 3]),
    readout=st.sampled_from(["average", "vote"]),
    form=st.sampled_from(list(samples.FORMS)),
)
def test_it_predicts_what_the_estimator_predicts(seed, n_classes, readout, form):
    model, estimator, X = both(seed, n_classes, readout=readout, eta0=0.25)
    rows = samples.FORMS[form](X)
    decided = model.decide(Batch(as_rows(rows), None))
    assert (decided.scores == estimator.decision_function(rows)).all()
    assert (decided.labels == estimator.predict(rows)).all()
    assert (model.predict(Batch(as_rows(rows), None)) == decided.labels).all()
    assert (decided.unseen, decided.missing) == ({}, {})
    assert model.record == model.run == estimator.run_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_have_names_and_the_largest_come_first(n_classes):
    model, estimator, _ = both(5, n_classes, eta0=2.0)
    named = model.weights_by_name()
    sizes = [abs(weight) for _, _, weight in named]
    assert sizes == sorted(sizes, reverse=True)
    places = {None: 0} if n_classes == 2 else {label: place for place, label in enumerate(model.classes.tolist())}
    for label, name, weight in named:
        row = places[label]
        own = estimator.intercept_[row] if name is None else estimator.coef_[row, int(name.split()[1])]
        assert weight == own
    assert len(named) == np.count_nonzero(estimator.coef_) + np.count_nonzero(estimator.intercept_)


def test_a_vote_has_no_weights():
    model, _, _ = both(5, 2, readout="vote")
    with pytest.raises(ValueError, match="a vote has no weights of its own"):
        model.weights_by_name()


def test_records_go_through_the_encoding_and_what_it_never_saw_is_counted():
    def records(makers, doors):
        return Records(pa.RecordBatch.from_pydict({"maker": makers, "doors": doors}), np.array(["a", "b"] * 2))

    training = records(["x", "y", "x", "y"], [2, 4, 2, 4])
    encoding = learn_encoding([training])
    model = LinearModel.of(learn_from([training], encoding=encoding, random_state=0), {})
    assert model.predict(training).tolist() == ["a", "b", "a", "b"]
    assert [name for _, name, _ in model.weights_by_name()] == [
        name for _, name, _ in sorted(model.weights_by_name(), key=lambda weight: -abs(weight.weight))
    ]
    assert {name for _, name, _ in model.weights_by_name()} <= {None, "maker=x", "maker=y", "doors"}
    decided = model.decide(records(["x", "z", "z", None], [2, 4, None, 4]))
    assert (decided.unseen, decided.missing) == ({"maker": 2}, {"maker": 1, "doors": 1})


def test_what_does_not_fit_is_said():
    model, _, X = both(5, 2)
    with pytest.raises(ValueError, match="4 columns, but the model has 3"):
        model.predict(Batch(as_rows(np.ones((1, 4))), None))
    wider = sparse.csr_array(np.hstack([X, np.ones((len(X), 2))]))
    assert (model.predict(Batch(as_rows(wider), None)) == model.predict(Batch(as_rows(X), None))).all()
    with pytest.raises(ValueError, match="has no encoding for the columns of a table"):
        model.predict(Records(pa.RecordBatch.from_pydict({"x": [1]}), None))
    with pytest.raises(ValueError, match="contains NaN in row 0, column 1"):
        model.predict(Batch(as_rows(np.array([[0.0, np.nan, 0.0]])), None))
    with pytest.raises(ValueError, match="readout='best' is unknown"):
        LinearModel(model.memory, model.classes, readout="best")


def test_one_label_alone_is_always_predicted():
    estimator = Perceptron().partial_fit([[1.0], [2.0]], ["only", "only"])
    model = LinearModel(estimator.model_.memory, estimator.classes_)
    assert model.predict(Batch(as_rows([[5.0], [-5.0]]), None)).tolist() == ["only", "only"]
    assert model.record.stopped is None
