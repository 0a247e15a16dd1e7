"""Laws of what predicts online: a mean with a half-life, and whichever of two was wrong less often lately."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.learn.online import memory as readouts
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.learn.online.weights import Fading
from tests.draws import draws

laws = settings(deadline=None, max_examples=draws(30))

EXAMPLES = st.dictionaries(st.sampled_from("abc"), st.integers(-3, 3))
STREAMS = st.lists(st.tuples(EXAMPLES, st.sampled_from("uvw")), min_size=1, max_size=40)
TWO = st.lists(st.tuples(EXAMPLES, st.sampled_from("uv")), min_size=1, max_size=40)
HALF_LIVES = st.sampled_from([1, 2.5, 10, 1e6])


def vectors(model):
    """The weights of every class by name, with the constant."""
    labels = model.classes if len(model.classes) > 2 else [None]
    return {
        (label, name): weight
        for label in labels
        for name, weight in {**model.weights(label), None: model.intercept(label)}.items()
    }


@given(stream=STREAMS | TWO, half_life=HALF_LIVES)
@laws
def test_recent_weights_are_the_mean_in_which_later_ones_count_more(stream, half_life):
    last = OnlinePerceptron(readout="last", classes=["u", "v", "w"])
    recent = OnlinePerceptron(readout="recent", half_life=half_life, classes=["u", "v", "w"])
    history = []
    for x, y in stream:
        assert last.learn_one(x, y) == recent.learn_one(x, y)
        history.append(vectors(last))
    parts = [2.0 ** ((s - len(history)) / half_life) for s in range(1, len(history) + 1)]
    names = {name for weights in history for name in weights}
    found = vectors(recent)
    for name in names:
        mean = sum(part * weights.get(name, 0.0) for part, weights in zip(parts, history, strict=True)) / sum(parts)
        assert math.isclose(found.get(name, 0.0), mean, rel_tol=1e-6, abs_tol=1e-6)


@given(stream=TWO, half_life=HALF_LIVES)
@laws
def test_recent_weights_decide_by_their_own_score(stream, half_life):
    model = OnlinePerceptron(readout="recent", half_life=half_life, classes=["u", "v"])
    for x, y in stream:
        score = model.decision_one(x)
        by_hand = model.intercept() + sum(value * model.weights().get(name, 0.0) for name, value in x.items())
        assert math.isclose(score, by_hand, rel_tol=1e-9, abs_tol=1e-9)
        assert model.predict_one(x) == "uv"[score >= 0.0]
        model.learn_one(x, y)


def test_a_long_stream_does_not_outgrow_its_floats():
    draw = random.Random(0)
    model = OnlinePerceptron(readout="recent", half_life=1, classes=[False, True])
    for _ in range(3000):
        x = {"a": draw.uniform(-1, 1), "b": draw.uniform(-1, 1)}
        model.learn_one(x, x["a"] > 0.2)
        assert math.isfinite(model.decision_one(x))
    assert model.to_state().origin > 2000
    wrong = [model.predict_one({"a": a / 10, "b": 0.0}) != (a > 2) for a in range(-10, 11)]
    assert sum(wrong) <= 3


def test_a_mistake_after_a_long_time_without_any_is_learned():
    model = OnlinePerceptron(readout="recent", half_life=1, classes=[False, True])
    for x, y in [({"a": 1.0, "b": 2.0}, True), ({"a": -3.0, "b": 1.0}, False)] * 3000:
        model.learn_one(x, y)
    for answer in (True, False):
        for _ in range(20):
            model.learn_one({"a": 2.0, "b": 2.0}, answer)
        assert math.isfinite(model.decision_one({"a": 1.0, "b": 1.0}))
        assert model.predict_one({"a": 2.0, "b": 2.0}) == answer


@given(half_life=HALF_LIVES)
@laws
def test_moving_the_origin_changes_next_to_nothing(half_life):
    fading, moved = Fading(half_life), Fading(half_life, origin=10)
    for before in range(10, 30, 5):
        a, b = fading.age(before) * fading.share(31), moved.age(before) * moved.share(31)
        assert math.isclose(a, b, rel_tol=1e-12)
        assert math.isclose(a, fading.lacks(before, 31), rel_tol=1e-12)


@given(stream=st.lists(st.tuples(EXAMPLES, st.sampled_from("uvw")), min_size=1, max_size=100))
@laws
def test_whichever_was_wrong_less_often_lately_predicts(stream):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readouts, "AHEAD", 0.5)
        patch.setattr(readouts, "TRIED_EVERY", 3)
        follow_the_trials(stream)


def follow_the_trials(stream):
    auto, last, average = (OnlinePerceptron(readout=readout) for readout in ("auto", "last", "average"))
    wrong = [0.0, 0.0]
    for number, (x, y) in enumerate(stream):
        assert auto.predicts_with == ("last" if wrong[0] + 0.5 < wrong[1] else "average")
        chosen = last if auto.predicts_with == "last" else average
        assert auto.predict_one(x) == chosen.predict_one(x)
        assert auto.decision_one(x) == chosen.decision_one(x)
        if number % 3 == 0:
            wrong = [readouts.KEPT * w + (m.predict_one(x) != y) for w, m in zip(wrong, (last, average), strict=True)]
        for model in (auto, last, average):
            model.learn_one(x, y)
    assert auto.run == (last if auto.predicts_with == "last" else average).run


def wrong_predictions(readout, turns):
    """On a stream whose plane turns, or stays, with a tenth of the labels wrong if it stays."""
    draw, model, wrong = random.Random(1), OnlinePerceptron(readout=readout, classes=[False, True]), 0
    for number in range(8000):
        x = {f"f{i}": draw.gauss(0, 1) for i in range(5)}
        angle = number / 400 if turns else 1.0
        y = math.cos(angle) * x["f0"] + math.sin(angle) * x["f1"] > 0
        y = y if turns or draw.random() > 0.1 else not y
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
    return wrong / 8000


@pytest.mark.parametrize("turns", [True, False])
def test_by_default_neither_a_world_that_changes_nor_one_that_is_noisy_costs_much(turns):
    best = min(wrong_predictions("last", turns), wrong_predictions("average", turns))
    worst = max(wrong_predictions("last", turns), wrong_predictions("average", turns))
    assert worst > best + 0.04
    assert wrong_predictions("auto", turns) < best + 0.01


@pytest.mark.parametrize(
    ("name", "value"), [("half_life", 0.5), ("half_life", math.nan), ("readout", "vote"), ("readout", "mean")]
)
def test_what_makes_no_sense_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        OnlinePerceptron(**{name: value})


@given(stream=TWO)
@laws
def test_the_readout_may_be_changed_but_for_recent(stream):
    changed, average = OnlinePerceptron(readout="last"), OnlinePerceptron(readout="average")
    for model in (changed, average):
        model.learn_many(*zip(*stream, strict=True))
    changed.readout = "average"
    assert vectors(changed) == vectors(average)
    with pytest.raises(ValueError, match="from the start"):
        changed.readout = "recent"
    assert changed.readout == "average"
