"""The one door for labels: each must be there, and all of one kind, and the error names the row."""

import numpy as np
import pandas as pd
import pytest

from novikoff import KernelPerceptron, OnlinePerceptron, Perceptron, SequencePerceptron
from novikoff.data.labels import LabelCodes, checked_labels, sorted_classes
from novikoff.features.fold import signs
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.space import perceptron

X = np.array([[1.0], [2.0], [3.0], [4.0]])
NAN = float("nan")

MISSING = {
    "nan": [0, 1, NAN, 1],
    "nan in an array": np.array([0.0, 1.0, NAN, 1.0]),
    "nan in float32": np.array([0.0, 1.0, NAN, 1.0], dtype=np.float32),
    "nan among objects": np.array([0, 1, NAN, 1], dtype=object),
    "nan among words": np.array(["a", "b", NAN, "b"], dtype=object),
    "None": [0, 1, None, 1],
    "None among words": ["a", "b", None, "b"],
    "NA": pd.Series([0, 1, None, 1], dtype="Int64"),
    "NA among words": pd.Series(["a", "b", None, "b"], dtype="string"),
    "masked": np.ma.array([0, 1, 0, 1], mask=[0, 0, 1, 0]),
}
MIXED = {
    "a word among numbers": [1, "a", 1, 2],
    "a word among objects": np.array([1, "a", 1, 2], dtype=object),
    "bytes among words": np.array(["a", b"b", "a", "b"], dtype=object),
    "a word, a number and nothing": [1, "a", None, 1],
    "things without an order": [{}, {}, {}, {}],
    "lists": [[1], [1, 2], [3], [4]],
}
DOORS = {
    "checked_labels": checked_labels,
    "signs": signs,
    "LabelCodes": lambda y: (
        LabelCodes().codes(np.asarray(y)) if not isinstance(y, np.ma.MaskedArray) else checked_labels(y)
    ),
    "batches": lambda y: learn_from([(X, y)]),
    "perceptron": lambda y: perceptron(X, y),
    "multiclass perceptron": lambda y: perceptron(X, y, n_classes=3),
    "Perceptron": lambda y: Perceptron().fit(X, y),
    "partial_fit": lambda y: Perceptron().partial_fit(X, y),
    "KernelPerceptron": lambda y: KernelPerceptron().fit(X, y),
    "a kernel of objects": lambda y: KernelPerceptron(kernel=lambda a, b: float(a == b)).fit(["p", "q", "r", "s"], y),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("labels", MISSING)
def test_a_missing_label_is_an_error_that_names_its_row(door, labels):
    with pytest.raises(ValueError, match=r"the label of row 2 .*is missing"):
        DOORS[door](MISSING[labels])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("labels", MIXED)
def test_labels_of_different_kinds_are_an_error_with_a_sentence(door, labels):
    try:
        array = np.asarray(MIXED[labels])
    except ValueError:
        array = None
    if door == "LabelCodes" and (array is None or array.dtype.kind == "U"):
        pytest.skip("a list is an array by then")
    with pytest.raises(ValueError, match=r"label"):
        DOORS[door](MIXED[labels])


@pytest.mark.parametrize("labels", [[1, "a", 1, 2], np.array([1, "a", 1, 2], dtype=object)])
def test_the_error_shows_one_of_either_kind(labels):
    with pytest.raises(ValueError, match="1 in row 0 and 'a' in row 1 of y are of different types"):
        checked_labels(labels)


def test_the_example_of_a_word_a_number_and_nothing_names_the_missing_one():
    with pytest.raises(ValueError, match="row 2 is missing"):
        Perceptron().fit(X[:3], [1, "a", None])


@pytest.mark.parametrize(
    "labels",
    [[0, 1, 1], [True, False, True], ["a", "b", "a"], [0, 1.5, 2], [b"a", b"b", b"a"], [True, 2, 3.0],
     np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), np.array([2**70, 1], dtype=object)],
)  # fmt: skip
def test_good_labels_pass_as_they_are(labels):
    assert checked_labels(labels).tolist() == np.asarray(labels).tolist()


def test_an_infinite_label_is_no_class():
    with pytest.raises(ValueError, match="label inf in row 1"):
        signs([0.0, np.inf])


def test_named_classes_go_through_the_same_door():
    for classes in ([0, NAN], ["a", None], [1, "a"]):
        for named in (sorted_classes, lambda names: Perceptron().partial_fit(X, [0, 1, 0, 1], classes=names)):
            with pytest.raises(ValueError, match=r"classes"):
                named(classes)
        with pytest.raises(ValueError, match="classes"):
            KernelPerceptron().partial_fit(X, [0, 1, 0, 1], classes=classes)


def test_labels_of_another_kind_than_before_are_an_error_with_a_sentence():
    for first, second in (([0, 1, 0, 1], ["a", "b", "a", "b"]), (["a", "b", "a", "b"], [0, 1, 0, 1])):
        for model in (Perceptron().partial_fit(X, first), Perceptron().partial_fit(X, first, classes=first[:2])):
            with pytest.raises(ValueError, match="label"):
                model.partial_fit(X, second)
        with pytest.raises(ValueError, match="label"):
            KernelPerceptron().partial_fit(X, first).partial_fit(X, second)
        with pytest.raises(ValueError, match="label"):
            learn_from([(X, first), (X, second)])


@pytest.mark.parametrize("label", [None, NAN, pd.NA, pd.NaT])
def test_the_online_perceptron_learns_no_missing_label(label):
    model = OnlinePerceptron()
    with pytest.raises(ValueError, match="means missing"):
        model.learn_one({"x": 1}, label)
    with pytest.raises(ValueError, match=r"example 1: .*means missing"):
        model.learn_many([{"x": 1}, {"x": 2}], [1, label])
    with pytest.raises(ValueError, match="classes"):
        OnlinePerceptron(classes=["a", label])
    assert model.examples == 0


def test_a_tagger_learns_no_label_that_is_nan():
    with pytest.raises(ValueError, match="token 1 of sequence 0 is nan, which equals no label"):
        SequencePerceptron().fit([[{"w": 1.0}, {"w": 2.0}]], [["a", NAN]])
    with pytest.raises(ValueError, match="is not hashable"):
        SequencePerceptron().fit([[{"w": 1.0}, {"w": 2.0}]], [["a", ["b"]]])
