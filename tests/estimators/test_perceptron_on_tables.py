"""Perceptron on tables in memory: words are encoded, numbers are a matrix, and what is neither is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

from novikoff import KernelPerceptron, Perceptron, load, save

FRAME = pd.DataFrame(
    {
        "doors": [4, 2, 2, 4, 5, 0],
        "weight": [1540.0, 1200.0, 1100.0, 2000.0, None, 4650.0],
        "colour": ["red", "red", "blue", "black", None, "green"],
    }
)
Y = np.array(["yes", "yes", "yes", "no", "no", "no"])


@pytest.fixture
def model():
    return Perceptron(random_state=0, max_epochs=50).fit(FRAME, Y)


def test_words_become_features_with_names(model):
    assert model.encoding_.feature_names == tuple(model.feature_names_in_)
    assert {"doors", "weight is missing", "colour=red", "colour is missing"} <= set(model.feature_names_in_)
    assert (model.predict(FRAME) == Y).all()
    assert model.score(FRAME, Y) == 1.0


def test_columns_may_stand_in_another_order_with_others_beside_them(model):
    other = FRAME[["colour", "weight", "doors"]].assign(more="x")
    assert (model.decision_function(other) == model.decision_function(FRAME)).all()
    assert (model.decision_function(pl.from_pandas(other)) == model.decision_function(FRAME)).all()


def test_rows_are_encoded_one_by_one_as_they_were_in_the_whole(model):
    alone = [model.decision_function(FRAME.iloc[[row]])[0] for row in range(len(FRAME))]
    assert alone == model.decision_function(FRAME).tolist()
    without_a_word = FRAME[FRAME["colour"].isna()]
    assert model.predict(without_a_word).tolist() == ["no"]


def test_a_column_that_is_not_there_is_named(model):
    with pytest.raises(ValueError, match="the table has no column 'colour'; did you mean 'color'"):
        model.predict(FRAME.rename(columns={"colour": "color"}))


def test_online_learning_goes_on_in_the_same_encoding(model):
    seen = model.run_.examples
    model.partial_fit(FRAME, Y)
    assert model.run_.examples == seen + len(Y)
    again = Perceptron(random_state=0, max_epochs=50, warm_start=True).fit(FRAME, Y)
    encoding = again.encoding_
    assert again.fit(FRAME.iloc[:4], Y[:4]).encoding_ is encoding


def test_saving_keeps_the_encoding(model, tmp_path):
    save(model, tmp_path / "cars.novikoff")
    assert (load(tmp_path / "cars.novikoff").decision_function(FRAME) == model.decision_function(FRAME)).all()


def test_a_table_of_numbers_is_a_matrix():
    numbers = FRAME[["doors"]].assign(old=[True, False, False, True, True, True])
    model = Perceptron(random_state=0).fit(numbers, Y)
    assert not hasattr(model, "encoding_")
    assert model.feature_names_in_.tolist() == ["doors", "old"]
    assert (model.coef_ == Perceptron(random_state=0).fit(numbers.to_numpy(dtype=float), Y).coef_).all()
    with pytest.raises(ValueError, match="the column 'colour' is of type string, where numbers are needed"):
        model.predict(FRAME[["doors", "colour"]])


def test_folds_of_a_table_are_tables():
    both = pd.concat([FRAME] * 4, ignore_index=True)
    assert cross_val_score(Perceptron(random_state=0), both, np.tile(Y, 4), cv=3).mean() > 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Perceptron().fit(FRAME), "requires y to be passed.*label="),
        (lambda: Perceptron().fit(FRAME, Y[:3]), r"the table has 6 rows, but labels of shape \(3,\)"),
        (lambda: Perceptron().fit(FRAME, np.linspace(0, 1, 6)), "Unknown label type"),
        (lambda: Perceptron().fit(FRAME.assign(colour=[1, "x", 2, 3, 4, 5]), Y), "the column 'colour' has values that"),
        (
            lambda: Perceptron().fit(pd.DataFrame({"name": [f"car {n}" for n in range(60)]}), np.tile(Y, 10)),
            "the column 'name' has 60 different values in 60 records.* drop the column",
        ),
        (lambda: Perceptron().partial_fit(FRAME, Y), "the column 'colour' is of type string"),
        (lambda: KernelPerceptron().fit(FRAME, Y), "the column 'colour' is of type string"),
    ],
)
def test_what_cannot_be_learned_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
