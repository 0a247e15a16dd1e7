import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, SequencePerceptron
from novikoff.show.confusion import ConfusionDisplay

LABELS = st.sampled_from("abc")


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_every_row_is_counted_once(pairs):
    display = ConfusionDisplay.from_predictions(*zip(*pairs, strict=True), classes="abc")
    for i, right in enumerate("abc"):
        for j, guess in enumerate("abc"):
            assert display.counts[i, j] == pairs.count((right, guess))
    assert display.errors == sum(right != guess for right, guess in pairs)


def test_the_cells_show_the_counts_and_the_shades_the_shares():
    display = ConfusionDisplay.from_predictions([0, 0, 0, 1], [0, 0, 1, 1]).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["2", "1", "0", "1"]
    assert np.allclose(display.ax_.images[0].get_array(), [[2 / 3, 1 / 3], [0, 1]])
    assert display.ax_.get_title() == "1 of 4 wrong"


def test_the_errors_are_those_of_the_model():
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = np.random.default_rng(1).integers(0, 3, 80)
    model = Perceptron(random_state=0).fit(X, y)
    assert ConfusionDisplay.from_estimator(model, X, y).errors == round(80 * (1 - model.score(X, y)))


def test_sequences_are_counted_by_token():
    words = [[{"w": word} for word in text.split()] for text in ("the cat sleeps", "dogs bark")]
    tags = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    model = SequencePerceptron(templates=["w[0]"], random_state=0).fit(words, tags)
    assert ConfusionDisplay.from_estimator(model, words, tags).counts.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 2]]


def test_many_classes_leave_the_numbers_out():
    labels = list(range(40))
    assert not ConfusionDisplay.from_predictions(labels, labels).plot().ax_.texts


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="3 right labels, but 2"):
        ConfusionDisplay.from_predictions([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="label 'c' in row 1"):
        ConfusionDisplay.from_predictions(["a", "c"], ["a", "b"], classes=["a", "b"])
    with pytest.raises(ValueError, match="no labels"):
        ConfusionDisplay.from_predictions([], [])
