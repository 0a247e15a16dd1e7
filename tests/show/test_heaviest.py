import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from novikoff import KernelPerceptron, OnlinePerceptron, Perceptron, SequencePerceptron, StructuredPerceptron
from novikoff.show.heaviest import Bar, HeaviestDisplay

TABLE = pd.DataFrame({"length": [-1, 1, 1, -1, -1, 1], "width": [2, 0, 1, 0, -2, -1]})
Y = ["no", "yes", "yes", "no", "no", "yes"]


def test_the_bars_are_the_weights_by_name_heaviest_first():
    model = Perceptron(readout="last", shuffle=False).fit(TABLE, Y)
    display = HeaviestDisplay.from_estimator(model).plot()
    named = {"length": model.coef_[0, 0], "width": model.coef_[0, 1], "(bias)": model.intercept_[0]}
    assert {bar.name: bar.weight for bar in display.bars} == {k: v for k, v in named.items() if v}
    sizes = [abs(bar.weight) for bar in display.bars]
    assert sizes == sorted(sizes, reverse=True)
    drawn = {round(patch.get_y() + patch.get_height() / 2): patch.get_width() for patch in display.ax_.patches}
    assert [drawn[i] for i in range(len(sizes))] == [bar.weight for bar in display.bars]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [bar.name for bar in display.bars]


def test_the_sign_speaks_for_a_class():
    display = HeaviestDisplay.from_estimator(Perceptron(random_state=0).fit(TABLE, Y)).plot()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["favours no", "favours yes"]


def test_many_classes_name_theirs_and_one_can_be_chosen():
    model = Perceptron(random_state=0).fit(TABLE, list("abcabc"))
    display = HeaviestDisplay.from_estimator(model, n=4).plot()
    assert len(display.bars) == 4
    assert "→" in display.ax_.get_yticklabels()[0].get_text()
    assert {bar.label for bar in HeaviestDisplay.from_estimator(model, label="b").bars} == {"b"}
    with pytest.raises(ValueError, match="'z' is not one"):
        HeaviestDisplay.from_estimator(model, label="z")


def test_a_pipeline_gives_the_names_of_its_features():
    model = make_pipeline(CountVectorizer(), Perceptron(random_state=0, fit_intercept=False))
    model.fit(["red fast", "green slow"], ["car", "tractor"])
    names = {bar.name for bar in HeaviestDisplay.from_estimator(model).bars}
    assert names == {"red", "fast", "green", "slow"}


def test_an_online_model_has_its_names():
    model = OnlinePerceptron(readout="last", fit_intercept=False)
    model.learn_many([{"a": 1.0}, {"b": 2.0}], ["no", "yes"])
    display = HeaviestDisplay.from_estimator(model)
    assert (
        display.bars == (Bar("b", 2.0), Bar("a", -1.0)) or {b.name: b.weight for b in display.bars} == model.weights()
    )
    assert display.classes == model.classes


def test_a_sequence_model_has_features_and_labels():
    words = [[{"w": word} for word in text.split()] for text in ("the cat sleeps", "dogs bark")]
    model = SequencePerceptron(templates=["w[0]"], random_state=0)
    model.fit(words, [["DET", "NOUN", "VERB"], ["NOUN", "VERB"]])
    bars = HeaviestDisplay.from_estimator(model, n=3).bars
    assert [(b.name, b.label, b.weight) for b in bars] == [(str(w.name), w.label, w.weight) for w in model.heaviest(3)]
    assert {bar.label for bar in HeaviestDisplay.from_estimator(model, label="DET").bars} == {"DET"}


def test_a_structured_model_has_features():
    def features(x, y):
        return {(x, y): 1.0}

    def decode(weights, x):
        return max("ab", key=lambda y: (weights[x, y], y))

    model = StructuredPerceptron(features=features, decode=decode, random_state=0).fit(["p", "q"], ["a", "b"])
    bars = HeaviestDisplay.from_estimator(model).bars
    assert [(bar.name, bar.weight) for bar in bars] == [(str(name), weight) for name, weight in model.heaviest()]
    with pytest.raises(ValueError, match="omit label"):
        HeaviestDisplay.from_estimator(model, label="a")


@pytest.mark.parametrize("model", [KernelPerceptron(), Perceptron(readout="vote")])
def test_a_model_without_weights_says_so(model):
    with pytest.raises(ValueError, match="no weights of features"):
        HeaviestDisplay.from_estimator(model.fit(TABLE, Y))


def test_no_bars_are_no_picture():
    with pytest.raises(ValueError, match="at least 1"):
        HeaviestDisplay.from_estimator(Perceptron().fit(TABLE, Y), n=0)
    assert np.isfinite(HeaviestDisplay((Bar("a", 1.0),)).plot().ax_.get_ylim()).all()
