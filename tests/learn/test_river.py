"""The perceptron among River's own: its checks, its pipelines, its evaluations."""

import pickle
import sys

import pytest
from river import (
    base,
    checks,
    compose,
    datasets,
    evaluate,
    feature_extraction,
    linear_model,
    metrics,
    preprocessing,
)

from novikoff.learn.online.perceptron import OnlinePerceptron, predict_reveal_learn
from novikoff.learn.online.river import RiverPerceptron


def rivers_checks():
    """Of every set of parameters that River asks for; of those with a rule for ties, each read-out with one rule."""
    for place, params in enumerate(RiverPerceptron._unit_test_params()):
        if place % 4 in (1, 2):
            continue
        for check in checks.yield_checks(RiverPerceptron(**params)):
            yield pytest.param(params, check, id=f"{'-'.join(map(str, params.values()))}-{check.__name__}")


@pytest.mark.parametrize(("params", "check"), list(rivers_checks()))
def test_it_passes_rivers_own_checks(params, check):
    assert RiverPerceptron(**params)._unit_test_skips() == set()
    check(RiverPerceptron(**params))


def test_it_is_a_classifier_of_rivers_for_many_labels():
    model = OnlinePerceptron(readout="last", tie="predict", fit_intercept=False, classes=["b", "a"]).to_river()
    assert isinstance(model, base.Classifier)
    assert model._multiclass
    chosen = {"readout": "last", "fit_intercept": False, "tie": "predict", "classes": ("a", "b"), "scale": False}
    chosen |= {"lead": 0.0}
    assert model._get_params() == chosen
    assert model.learn_one({"x": 1.0}, "a") is None
    with pytest.raises(NotImplementedError, match="not how likely a label is"):
        model.predict_proba_one({"x": 1.0})


def test_a_learner_that_is_not_rivers_yet_says_how_it_becomes_so():
    model = preprocessing.StandardScaler() | OnlinePerceptron()
    for attempt in (lambda: model.learn_one({"x": 1.0}, True), lambda: model.predict_one({"x": 1.0}), model.clone):
        with pytest.raises(AttributeError, match=r"put OnlinePerceptron\(...\).to_river\(\) into its pipelines"):
            attempt()


@pytest.mark.parametrize(
    "steps",
    [
        lambda: compose.Select("popup_window", "https"),
        lambda: compose.Discard("https") + compose.Select("https"),
        lambda: preprocessing.MinMaxScaler(),
        lambda: compose.FuncTransformer(dict),
    ],
)
def test_pipelines_and_their_clones_do_what_their_steps_do(steps):
    model = steps() | OnlinePerceptron(lead=0.5).to_river()
    by_hand, online = steps(), OnlinePerceptron(lead=0.5)
    clone = model.clone({"RiverPerceptron": {"readout": "last"}})
    for x, y in datasets.Phishing().take(60):
        by_hand.learn_one(x)
        point = by_hand.transform_one(x)
        online.learn_one(point, y)
        for pipeline in (model, clone):
            pipeline.learn_one(x, y)
        assert model.predict_one(x) == online.predict_one(point)
    assert model["RiverPerceptron"].online.run == online.run
    learner = clone["RiverPerceptron"].online
    assert (learner.readout, learner.mistakes, learner.narrow) == ("last", online.mistakes, online.narrow)


def test_it_learns_words_that_were_never_seen():
    model = feature_extraction.BagOfWords() | OnlinePerceptron().to_river()
    for text, label in [("good fun", "praise"), ("dull talk", "blame")] * 3:
        model.learn_one(text, label)
    assert [model.predict_one(text) for text in ("good to the end", "dull to the end")] == ["praise", "blame"]


@pytest.mark.parametrize(("dataset", "at_least"), [(datasets.Phishing(), 0.85), (datasets.ImageSegments(), 0.8)])
def test_it_learns_in_a_pipeline_under_rivers_evaluation(dataset, at_least):
    model = compose.Pipeline(preprocessing.StandardScaler(), OnlinePerceptron().to_river())
    accuracy = evaluate.progressive_val_score(dataset.take(700), model, metrics.Accuracy())
    assert accuracy.get() > at_least
    assert model["RiverPerceptron"].online.examples == 700


def test_it_does_what_the_learner_does():
    online, model = OnlinePerceptron(), OnlinePerceptron().to_river()
    for x, y in datasets.ImageSegments().take(100):
        assert model.predict_one(x) == online.predict_one(x)
        model.learn_one(x, y)
        online.learn_one(x, y)
    assert model.online.run == online.run


def test_it_goes_on_from_what_was_learned_and_a_clone_does_not():
    online = OnlinePerceptron()
    online.learn_many([{"a": 1}, {"a": -1}], ["p", "q"])
    model = online.to_river()
    assert model.predict_one({"a": -3}) == "q"
    model.learn_one({"a": 5}, "q")
    assert (model.online.examples, online.examples) == (3, 2)
    assert model.clone().predict_one({"a": -3}) is None
    assert pickle.loads(pickle.dumps(model)).online.run == model.online.run


def test_the_protocol_runs_rivers_models_too():
    rounds = list(predict_reveal_learn(linear_model.Perceptron(), datasets.Phishing().take(50)))
    assert len(rounds) == 50
    assert rounds[-1].mistakes == sum(prediction != truth for prediction, truth, _ in rounds) > 0


def test_without_river_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.delitem(sys.modules, "novikoff.learn.online.river")
    with pytest.raises(ImportError, match=r'pip install "novikoff\[bench\]", or pip install river'):
        OnlinePerceptron().to_river()
