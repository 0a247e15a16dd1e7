"""Laws of what predicts online: whichever of two was wrong less often lately."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.learn.online import memory as readouts
from novikoff.learn.online.perceptron import OnlinePerceptron
from tests.draws import draws

laws = settings(deadline=None, max_examples=draws(30))

EXAMPLES = st.dictionaries(st.sampled_from("abc"), st.integers(-3, 3))
STREAMS = st.lists(st.tuples(EXAMPLES, st.sampled_from("uvw")), min_size=1, max_size=40)
TWO = st.lists(st.tuples(EXAMPLES, st.sampled_from("uv")), min_size=1, max_size=40)


def vectors(model):
    """The weights of every class by name, with the constant."""
    labels = model.classes if len(model.classes) > 2 else [None]
    return {
        (label, name): weight
        for label in labels
        for name, weight in {**model.weights(label), None: model.intercept(label)}.items()
    }


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


@pytest.mark.parametrize("readout", ["vote", "mean"])
def test_what_makes_no_sense_is_refused(readout):
    with pytest.raises(ValueError, match="readout"):
        OnlinePerceptron(readout=readout)


@given(stream=TWO)
@laws
def test_the_readout_may_be_changed(stream):
    changed, average = OnlinePerceptron(readout="last"), OnlinePerceptron(readout="average")
    for model in (changed, average):
        model.learn_many(*zip(*stream, strict=True))
    changed.readout = "average"
    assert vectors(changed) == vectors(average)
