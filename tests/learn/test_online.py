"""Laws of the online perceptron. The oracles are loops after the lecture, in exact arithmetic."""

import copy
import itertools
import math
import pickle
import random
from collections import Counter, defaultdict
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.features.names import Intercept, OneHot
from novikoff.learn.linear.space import LinearMemory, learn_online
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.perceptron import OnlinePerceptron, predict_reveal_learn
from tests.draws import draws

laws = settings(deadline=None, max_examples=draws(30))

NAMES = "abcd"
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), st.integers(-3, 3))
TABLE_ROWS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(-3, 3)))
BINARY = st.lists(st.tuples(EXAMPLES | TABLE_ROWS, st.sampled_from([-1, 1])), max_size=40)
MULTICLASS = st.lists(st.tuples(EXAMPLES | TABLE_ROWS, st.sampled_from("uvw")), max_size=40)
# Sums of these depend on their order, and often cancel up to rounding.
AWKWARD = st.sampled_from([0.1, 0.2, 0.3, -0.1, -0.3, 0.7, 1e-17, 1e16])
# Products and squares of these lose their last bits, or all.
TINY = st.sampled_from([0.0, 1e-160, -1e-160, 3e-162, -3e-162, 5e-324])
TIES = st.sampled_from(["mistake", "predict"])


def folded(x, fit_intercept):
    return {**x, "the bias": int(fit_intercept)}


def dot(w, x):
    return sum(Fraction(value) * w.get(name, 0) for name, value in x.items())


def added(w, x, sign):
    return {name: w.get(name, 0) + sign * Fraction(x.get(name, 0)) for name in {*w, *x}}


def lecture_of_many_classes(stream, tie, classes=()):
    """The weights of every class at the end, and which examples were mistakes; labels appear as they come."""
    W, mistakes = {label: {} for label in classes}, []
    for x, y in stream:
        x, W = folded(x, True), {label: W.get(label, {}) for label in sorted({*W, y})}
        scores = {label: dot(w, x) for label, w in W.items()}
        others = [label for label in W if label != y]
        rival = max(others, key=scores.get) if others else None
        first = list(W)[::-1] if len(W) == 2 else list(W)  # of two, the second is +1 and wins a tie
        if tie == "mistake":
            mistakes.append(rival is not None and scores[rival] >= scores[y])
        else:
            mistakes.append(max(first, key=scores.get) != y)
        if mistakes[-1]:
            W = {**W, y: added(W[y], x, 1), rival: added(W[rival], x, -1)}
    return W, mistakes


def nonzero(w, bias=False):
    return {name: weight for name, weight in w.items() if weight and (bias or name != "the bias")}


def state(model):
    return asdict(model.to_state())


def test_the_example_of_the_notes_has_its_weights_and_its_mistakes():
    model = OnlinePerceptron(readout="last", fit_intercept=False, classes=[False, True])
    stream = [((-1, 2), False), ((1, 0), True), ((1, 1), True), ((-1, 0), False), ((-1, -2), False), ((1, -1), True)]
    weights = [(0, 0)]
    pattern = ""
    for (a, b), label in stream:
        pattern += "x" if model.learn_one({"a": a, "b": b}, label) else "."
        weights.append((model.weights()["a"], model.weights()["b"]))
    assert pattern == "x.x.x."
    assert list(dict.fromkeys(weights)) == [(0, 0), (1, -2), (2, -1), (3, 1)]
    assert (model.mistakes, model.examples) == (3, 6)


@laws
@given(MULTICLASS, TIES, st.booleans())
def test_more_labels_than_two_are_learned_by_the_best_other_class(stream, tie, known):
    classes = ["u", "v", "w"] if known else None
    model = OnlinePerceptron(readout="last", tie=tie, classes=classes)
    W, mistakes = lecture_of_many_classes(stream, tie, classes or ())
    assert [model.learn_one(x, y) for x, y in stream] == mistakes
    assert model.classes == tuple(W)
    if len(W) > 2:
        assert {label: model.weights(label) for label in W} == {label: nonzero(w) for label, w in W.items()}
        assert {label: model.intercept(label) for label in W} == {label: w.get("the bias", 0) for label, w in W.items()}


@laws
@given(MULTICLASS.filter(lambda stream: len({y for _, y in stream}) == 3), EXAMPLES)
def test_the_multiclass_average_is_the_mean_of_all_weights(stream, question):
    model = OnlinePerceptron(readout="average")
    model.learn_many(*zip(*stream, strict=True))
    totals = dict.fromkeys("uvw", Fraction(0))
    for seen in range(1, len(stream) + 1):
        W, _ = lecture_of_many_classes(stream[:seen], "mistake")
        for label, w in W.items():
            totals[label] += dot(w, folded(question, True))
    means = {label: total / len(stream) for label, total in totals.items()}
    assert model.decision_one(question) == pytest.approx(
        {label: float(mean) for label, mean in means.items()}, abs=1e-9
    )


def test_two_labels_come_apart_into_minus_and_plus_when_a_third_appears():
    model = OnlinePerceptron(readout="last")
    model.learn_many([{"a": 1}, {"a": 2, "b": 1}, {"a": -2}], ["m", "z", "m"])
    before = model.weights(), model.intercept(), model.mistakes
    model.learn_one({}, "b")  # sorts before the others
    assert model.classes == ("b", "m", "z")
    assert model.weights("z") == before[0]
    assert model.weights("m") == {name: -weight for name, weight in before[0].items()}
    assert model.weights("b") == {}
    assert (model.intercept("b"), model.mistakes) == (1.0, before[2] + 1)


@laws
@given(MULTICLASS)
def test_learn_many_equals_a_loop_of_learn_one(stream):
    one, many = OnlinePerceptron(), OnlinePerceptron()
    mistakes = sum(one.learn_one(x, y) for x, y in stream)
    assert many.learn_many((x for x, _ in stream), (y for _, y in stream)) == mistakes
    assert state(one) == state(many)


@laws
@given(st.lists(st.tuples(TABLE_ROWS, st.integers(0, 2)), min_size=1, max_size=30), st.sampled_from([2, 3]), TIES)
def test_the_kernels_make_the_same_mistakes_and_have_the_same_weights(stream, n_classes, tie):
    rows = np.array([[x[name] for name in NAMES] for x, _ in stream], dtype=np.float64)
    labels = np.array([y % n_classes for _, y in stream])
    memory = LinearMemory.empty(len(NAMES), n_classes)
    learn_online(memory, rows, 2 * labels - 1 if n_classes == 2 else labels, tie=tie)
    model = OnlinePerceptron(readout="last", tie=tie, classes=range(n_classes))
    model.learn_many([x for x, _ in stream], labels.tolist())
    assert (model.mistakes, model.examples) == (memory.mistakes, memory.examples)
    shown = [(model.weights(label), model.intercept(label)) for label in range(n_classes)][-len(memory.weights) :]
    assert [[*map(w.get, NAMES, [0.0] * 4), bias] for w, bias in shown] == memory.weights.tolist()
    model.readout = "average"
    shown = [(model.weights(label), model.intercept(label)) for label in range(n_classes)][-len(memory.weights) :]
    assert [[*map(w.get, NAMES, [0.0] * 4), bias] for w, bias in shown] == memory.average().tolist()
    assert model.radius == pytest.approx(memory.longest**0.5)
    assert model.margin_at_most == pytest.approx(memory.margin_at_most)


@laws
@given(
    st.lists(st.tuples(st.dictionaries(st.sampled_from(NAMES), AWKWARD), st.sampled_from("uvw")), max_size=30),
    st.sampled_from(["uv", "uvw"]),
    st.sampled_from(["last", "average"]),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_features_does_not_matter(stream, labels, readout, chance):
    straight, shuffled = OnlinePerceptron(readout=readout), OnlinePerceptron(readout=readout)
    for x, y in stream:
        names = list(x)
        chance.shuffle(names)
        other, y = {name: x[name] for name in names}, labels[ord(y) % len(labels)]
        assert straight.predict_one(x) == shuffled.predict_one(other)
        assert straight.decision_one(x) == shuffled.decision_one(other)
        assert straight.learn_one(x, y) == shuffled.learn_one(other, y)


@pytest.mark.parametrize("readout", ["last", "average"])
def test_scores_that_vanish_up_to_rounding_are_decided_in_one_way(readout):
    model = OnlinePerceptron(readout=readout, fit_intercept=False, classes=[-1, 1])
    model.learn_one({"a": 9, "b": 9, "c": 9, "d": -9}, 1)
    chance = random.Random(0)
    for _ in range(50):
        a, b, c = (chance.randint(1, 9) for _ in range(3))
        x = {"a": a / 10, "b": b / 10, "c": c / 10, "d": (a + b + c) / 10}
        orders = [dict(order) for order in itertools.permutations(x.items())]
        assert len({model.predict_one(order) for order in orders}) == 1
        assert len({copy.deepcopy(model).learn_one(order, 1) for order in orders}) == 1


def test_the_bound_on_the_margin_covers_the_rounding_of_the_weights():
    model = OnlinePerceptron(fit_intercept=False, classes=[-1, 1])
    stream = [({"a": 1e16}, 1)] + [({"a": 1.5}, -1)] * 40  # each 1.5 is rounded to 2
    assert model.learn_many([x for x, _ in stream], [y for _, y in stream]) == 41
    assert model.weights_length == 1e16 - 80
    assert Fraction(model.margin_at_most) >= Fraction(10**16 - 60, 41)


@laws
@given(
    st.lists(
        st.tuples(
            st.fixed_dictionaries(dict.fromkeys(NAMES, AWKWARD)) | st.fixed_dictionaries(dict.fromkeys(NAMES, TINY)),
            st.sampled_from([-1, 1]),
        ),
        max_size=40,
    ),
    st.sampled_from(["last", "average"]),
    st.booleans(),
)
def test_rows_of_a_table_are_decided_as_the_correctly_rounded_score_does(stream, readout, fit_intercept):
    model = OnlinePerceptron(readout=readout, fit_intercept=fit_intercept, classes=[-1, 1])
    w, total = {}, {}
    for x, y in stream:
        folded_x = {**x, "the bias": float(fit_intercept)}
        score, mean = (math.fsum(part.get(name, 0.0) * v for name, v in folded_x.items()) for part in (w, total))
        assert model.predict_one(x) == (1 if (score if readout == "last" else mean) >= 0 else -1)
        assert model.learn_one(x, y) == (y * score <= 0)
        if y * score <= 0:
            w = {name: w.get(name, 0.0) + y * value for name, value in folded_x.items()}
        state = model.to_state().weights[0].items()
        total = {
            "the bias" if name is Intercept else name: model.examples * pair.real - pair.imag for name, pair in state
        }
    assert nonzero(w) == {name: weight for name, weight in last_weights(model).items() if weight}


def last_weights(model):
    return {name: pair.real for name, pair in model.to_state().weights[0].items() if name is not Intercept}


@pytest.mark.parametrize("readout", ["last", "average"])
def test_long_weights_are_decided_as_the_correctly_rounded_score_does(readout):
    """After 10^12 mistakes weights may have grown to 10^6 R, and examples are nearly orthogonal to them."""
    chance, mistakes, seen = random.Random(1), 10**12, 10**13
    for _ in range(200):
        w = {name: chance.uniform(-1e6, 1e6) for name in NAMES}
        drift = {name: chance.uniform(-1e18, 1e18) if readout == "average" else 0.0 for name in NAMES}
        weights = {Intercept: 0j, **{name: complex(w[name], drift[name]) for name in NAMES}}
        before = OnlineState((-1, 1), (weights,), seen, mistakes, longest=4.0, classes_are_fixed=True)
        model = OnlinePerceptron.from_state(before, readout=readout, fit_intercept=False)
        deciding = w if readout == "last" else {name: seen * w[name] - drift[name] for name in NAMES}
        x = {name: chance.uniform(-1, 1) for name in NAMES}
        widest = max(deciding, key=lambda name: abs(deciding[name]))
        x[widest] -= sum(x[name] * deciding[name] for name in NAMES) / deciding[widest]
        expected = 1 if math.fsum(x[name] * deciding[name] for name in NAMES) >= 0 else -1
        assert model.predict_one(x) == expected
        y, score = chance.choice([-1, 1]), math.fsum(x[name] * w[name] for name in NAMES)
        assert model.learn_one(x, y) == (y * score <= 0)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, Fraction, Decimal, bool])
def test_numbers_of_every_kind_are_learned_as_floats(kind):
    chance = random.Random(0)
    strange, plain = OnlinePerceptron(classes=[0, 1]), OnlinePerceptron(classes=[0, 1])
    for _ in range(100):
        x = {name: kind(chance.randint(-9, 9)) for name in NAMES}
        y = int(x["a"] + x["b"] > x["c"])
        same = {name: float(value) for name, value in x.items()}
        assert strange.predict_one(x) == plain.predict_one(same)
        assert strange.learn_one(x, y) == plain.learn_one(same, y)
    assert state(strange) == state(plain)
    assert {type(pair) for pair in strange.to_state().weights[0].values()} == {complex}


@pytest.mark.parametrize("width", [1, 2, 20])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_quick_loops_decide_as_the_correctly_rounded_score_does(width, missing):
    chance = random.Random(width)
    names = [f"feature {number}" for number in range(width)]
    w, bias, model = dict.fromkeys(names, 0.0), 0.0, OnlinePerceptron(readout="last", classes=[-1, 1])
    for _ in range(500):
        x = {name: chance.gauss(0, 1) for name in names if chance.random() >= missing}
        y = 1 if sum(x.values()) + chance.gauss(0, width**0.5 / 2) > 0 else -1
        score = math.fsum([bias, *(w[name] * value for name, value in x.items())])
        assert model.predict_one(x) == (1 if score >= 0 else -1)
        assert model.learn_one(x, y) == (y * score <= 0)
        if y * score <= 0:
            bias += y
            for name, value in x.items():
                w[name] += y * value
    assert model.weights() == nonzero(w)
    assert 50 < model.mistakes < 300


def test_a_string_is_a_one_hot_feature():
    texts, numbers = OnlinePerceptron(), OnlinePerceptron()
    for colour, size, label in [("red", 1, "p"), ("blue", 2, "q"), ("red", 3, "p"), ("green", -1, "q")]:
        told = texts.learn_one({"colour": colour, "size": size}, label)
        assert told == numbers.learn_one({colour: 1, "size": size}, label)
        assert texts.predict_one({"colour": colour}) == numbers.predict_one({colour: 1})
    assert texts.run == numbers.run
    assert texts.weights()[OneHot("colour", "blue")] == numbers.weights()["blue"] != 0
    assert "colour=blue" in repr(texts.weights())


def test_a_one_hot_feature_equals_no_name_that_a_user_has():
    model = OnlinePerceptron(readout="last", fit_intercept=False, classes=[-1, 1])
    model.learn_one({"colour": "red", ("colour", "red"): 5, "colour=red": 7}, 1)
    assert model.weights() == {OneHot("colour", "red"): 1.0, ("colour", "red"): 5.0, "colour=red": 7.0}
    assert pickle.loads(pickle.dumps(OneHot("colour", "red"))) == OneHot("colour", "red")


BAD_VALUES = [None, [1], math.nan, math.inf, -math.inf, 10**400, 1e200, b"1", 1j, Decimal("sNaN"), np.float32("nan")]


@pytest.mark.parametrize("value", BAD_VALUES, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("labels", ["", "u", "uv", "uvw"])
def test_bad_values_are_named_and_leave_the_model_as_it_was(value, labels):
    model = OnlinePerceptron()
    model.learn_many([{"a": 1, "b": 2}] * len(labels), labels)
    before = state(model)
    bad = {"a": 1, "b": value}
    for attempt in (
        lambda: model.learn_one(bad, "new"),
        lambda: model.learn_one(bad, "u"),
        lambda: model.predict_one(bad),
        lambda: model.decision_one(bad),
        lambda: model.learn_many([{"a": 1}, bad], ["u", "new"]),
    ):
        with pytest.raises(ValueError, match="feature 'b'"):
            attempt()
    assert state(model) == before


@pytest.mark.parametrize("x", [[1, 2], None, "text", 7, np.ones(2)], ids=repr)
def test_what_is_no_mapping_is_refused(x):
    model = OnlinePerceptron(classes=[0, 1])
    with pytest.raises(TypeError, match="must map feature names to numbers"):
        model.learn_one(x, 1)
    with pytest.raises(TypeError, match="must map feature names to numbers"):
        model.predict_one(x)
    assert model.examples == 0


def test_bad_labels_are_refused_and_leave_the_model_as_it_was():
    model = OnlinePerceptron(classes=["no", "yes"])
    model.learn_one({"a": 1}, "no")
    before = state(model)
    with pytest.raises(ValueError, match=r"label 'perhaps' is not in classes=\['no', 'yes'\]"):
        model.learn_one({"b": 1}, "perhaps")
    with pytest.raises(TypeError, match=r"label \['no'\] is not hashable"):
        model.learn_one({"b": 1}, ["no"])
    with pytest.raises(ValueError, match=r"example 1: label 'maybe' .* \(none of the examples was learned\)"):
        model.learn_many([{"a": 1}, {"b": 2}], ["yes", "maybe"])
    with pytest.raises(ValueError, match="2 examples and 1 labels"):
        model.learn_many([{"a": 1}, {"b": 2}], ["yes"])
    assert state(model) == before
    with pytest.raises(ValueError, match="NaN"):
        OnlinePerceptron().learn_one({"a": 1}, math.nan)


@pytest.mark.parametrize("number", [np.float32, np.float64, np.float16, Fraction, Decimal])
def test_numbers_of_any_kind_are_learned_as_the_floats_they_are(number):
    chance = random.Random(5)
    strange, plain = OnlinePerceptron(), OnlinePerceptron()
    for _ in range(60):
        x = {name: number(chance.gauss(0, 1)) for name in NAMES}
        exact = {name: float(value) for name, value in x.items()}
        assert strange.predict_one(x) == plain.predict_one(exact)
        y = chance.random() < 0.5
        assert strange.learn_one(x, y) == plain.learn_one(exact, y)
    assert strange.weights() == plain.weights()
    assert {type(weight) for weight in strange.weights().values()} == {float}


def test_truth_values_and_whole_numbers_are_numbers():
    model = OnlinePerceptron(readout="last", fit_intercept=False, classes=[0, 1])
    model.learn_one({"bool": True, "numpy": np.True_, "int": np.int64(2), "no": False}, 1)
    assert model.weights() == {"bool": 1.0, "numpy": 1.0, "int": 2.0}


def test_a_mapping_that_makes_up_missing_values_is_neither_misread_nor_changed():
    for made_up in (Counter({"a": 3, "c": 0.5}), defaultdict(float, {"a": 3, "c": 0.5})):
        model, plain = OnlinePerceptron(readout="last"), OnlinePerceptron(readout="last")
        for one, x in ((model, made_up), (plain, dict(made_up))):
            one.learn_many([{"a": 1, "b": 1}, {"a": -1, "b": 3}], ["p", "q"])
            one.learn_one(x, "p")
            one.learn_one(x, "q")
        assert made_up == {"a": 3, "c": 0.5}
        assert model.weights() == plain.weights()
        assert model.weights()["c"] == 0.5


def test_before_a_second_label_there_is_nothing_to_be_mistaken_for():
    model = OnlinePerceptron()
    assert model.predict_one({"a": 1}) is None
    assert model.decision_one({"a": 1}) == 0.0
    assert (model.radius, model.margin_at_most, model.weights()) == (0.0, math.inf, {})
    assert model.learn_many([{"a": 3}, {"a": 4}], ["only", "only"]) == 0
    assert model.predict_one({"a": 1}) == "only"
    assert (model.examples, model.mistakes, model.weights("only")) == (2, 0, {})
    assert model.radius == pytest.approx(17**0.5)


def test_labels_are_sorted_or_else_in_order_of_appearance():
    model = OnlinePerceptron(readout="last")
    assert model.learn_many([{"a": 1}, {"a": -1}], ["z", "b"]) == 1
    assert model.classes == ("b", "z")
    assert model.weights() == {"a": 1.0} == model.weights("z")
    assert model.weights("b") == {"a": -1.0}
    model.learn_one({"c": 1}, 3)
    assert model.classes == ("z", "b", 3)
    assert model.weights("z")["a"] == 1.0
    assert OnlinePerceptron(classes=[2, "two"]).classes == (2, "two")


def test_equal_labels_are_one_label():
    model = OnlinePerceptron()
    model.learn_many([{"a": 1}] * 4, [True, np.bool_(False), 1, np.float64(0)])
    assert model.classes == (False, True)


def test_predicting_changes_nothing():
    for labels in ("uvuv", "uvwu"):
        model = OnlinePerceptron()
        model.learn_many([{"a": 1, "b": 2}, {"a": -1, "b": 1}, {"b": 2}, {"a": 7, "b": -1}], labels)
        before = state(model)
        for x in ({"a": 1, "b": 1}, {"a": 100}, {"new": 3.0}, {"b": "text"}, {}):
            model.predict_one(x)
            model.decision_one(x)
        assert state(model) == before


@laws
@given(MULTICLASS, MULTICLASS)
def test_pickling_midway_changes_nothing(before, after):
    model = OnlinePerceptron()
    model.learn_many([x for x, _ in before], [y for _, y in before])
    stored = pickle.loads(pickle.dumps(model))
    for one in (model, stored):
        one.learn_many([x for x, _ in after], [y for _, y in after])
    assert state(model) == state(stored)


def test_the_record_says_what_happened():
    model = OnlinePerceptron()
    model.learn_many([{"a": 3}, {"a": -4}], ["p", "q"])
    assert (model.run.mistakes, model.run.examples, model.run.stopped, model.run.mistakes_per_epoch) == (1, 2, None, ())
    assert model.run.readout == "average"
    assert model.run.weights_length == model.weights_length == pytest.approx(17**0.5)
    assert "still learning" in str(model.run)
    assert repr(model) == "OnlinePerceptron(): 1 mistake on 2 examples"


@pytest.mark.parametrize(
    ("choice", "why"),
    [
        ({"readout": "vote"}, "replays every mistake"),
        ({"readout": "best"}, "choose one of auto, average"),
        ({"tie": "toss"}, "choose one of mistake, predict"),
        ({"classes": ["one"]}, "at least two"),
        ({"classes": ["a", "b", "a"]}, "each of them once"),
        ({"classes": "ab"}, "at least two"),
    ],
)
def test_wrong_choices_are_explained(choice, why):
    with pytest.raises(ValueError, match=why):
        OnlinePerceptron(**choice)


def test_weights_of_many_classes_are_asked_for_by_label():
    model = OnlinePerceptron(classes=["u", "v", "w"])
    with pytest.raises(ValueError, match="pass the label of one"):
        model.weights()
    with pytest.raises(ValueError, match="label 'x' is not among"):
        model.intercept("x")


def test_the_protocol_predicts_before_it_learns_and_draws_one_pair_at_a_time():
    drawn = []

    def stream():
        for pair in [({"a": 1}, "p"), ({"a": -1}, "q"), ({"a": 2}, "p"), ({"a": -2}, "p")]:
            drawn.append(pair)
            yield pair

    model = OnlinePerceptron(readout="last")
    rounds = predict_reveal_learn(model, stream())
    assert drawn == []
    assert next(rounds) == (None, "p", 1)
    assert len(drawn) == model.examples == 1
    assert [*rounds] == [("p", "q", 2), ("p", "p", 2), ("q", "p", 3)]
    assert model.mistakes == 2


@laws
@given(BINARY)
def test_the_protocol_counts_the_models_mistakes_when_a_tie_predicts(stream):
    model = OnlinePerceptron(readout="last", tie="predict", classes=[-1, 1])
    for played in predict_reveal_learn(model, stream):
        assert played.mistakes == model.mistakes


@laws
@given(MULTICLASS, TIES, st.sampled_from([None, list("uvw")]))
def test_a_mistake_subtracts_the_example_from_the_rival_that_was_asked_for(stream, tie, classes):
    """The weights are the sum of the mistakes, each with its rival, also if classes are learned as they come."""
    model = OnlinePerceptron(readout="last", tie=tie, classes=classes)
    total = Counter()
    for x, label in stream:
        rival = model.rival_one(x, label)
        assert rival in {*model.classes, None} - {label}
        if model.learn_one(x, label):
            total.update({(name, label): value for name, value in x.items()})
            total.subtract({(name, rival): value for name, value in x.items()})
    found = {(name, label): weight for label in model.classes for name, weight in model.weights(label).items()}
    assert found == {key: value for key, value in total.items() if value}
