"""Laws of the structured perceptron. Mostly, a structure is a number, and an input has the vectors of all of them."""

import copy
import itertools
import math
import pickle
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.learn.run import Stopped
from novikoff.learn.structure.perceptron import StructuredPerceptron
from novikoff.learn.structure.space import FeatureWeights
from tests.draws import draws

laws = settings(deadline=None, max_examples=draws(30))

VECTORS = st.dictionaries(st.sampled_from("abcd"), st.integers(-3, 3))
INPUTS = st.lists(VECTORS, min_size=1, max_size=4)
PAIRS = st.tuples(INPUTS, st.integers(0, 3)).map(lambda pair: (pair[0], pair[1] % len(pair[0])))
DATA = st.lists(PAIRS, min_size=1, max_size=12)
FLOATS = st.dictionaries(st.sampled_from("abcd"), st.floats(-3, 3))


def features(x, y):
    return x[y]


def decode(weights, x, gold=None):
    costs = [0 if gold is None else distance(gold, y) for y in range(len(x))]
    return max(range(len(x)), key=lambda y: weights.score(x[y]) + costs[y])


def distance(gold, guess):
    return abs(gold - guess)


def dot(w, x):
    return sum(w.get(name, 0) * Fraction(value) for name, value in x.items())


def lecture(pairs, *, loss=lambda gold, guess: 0):
    """Every weight vector after an example, and the rows and guesses of the mistakes."""
    w, history, mistakes = {}, [], []
    for row, (x, gold) in enumerate(pairs):
        values = [dot(w, vector) + loss(gold, y) for y, vector in enumerate(x)]
        guess = values.index(max(values))
        if guess != gold:
            mistakes.append((row, guess))
            names = {*w, *x[gold], *x[guess]}
            w = {n: w.get(n, 0) + Fraction(x[gold].get(n, 0)) - Fraction(x[guess].get(n, 0)) for n in names}
        history.append(w)
    return history, mistakes


def split(pairs):
    return [x for x, _ in pairs], [y for _, y in pairs]


def differences(pairs):
    for x, gold in pairs:
        for y in range(len(x)):
            if y != gold:
                yield {n: x[gold].get(n, 0) - x[y].get(n, 0) for n in {*x[gold], *x[y]}}, distance(gold, y)


def separated(inputs, u):
    """Each input with the structure that u prefers strictly to all others, if there is one."""
    for x in inputs:
        scores = sorted(((dot(u, vector), y) for y, vector in enumerate(x)), reverse=True)
        if len(x) > 1 and scores[0][0] > scores[1][0]:
            yield x, scores[0][1]


def square(vector):
    return sum(Fraction(value) ** 2 for value in vector.values())


def nonzero(w):
    return {name: weight for name, weight in w.items() if weight}


# -- the algorithm ----------------------------------------------------------------------------------------------------


def test_an_epoch_without_a_mistake_ends_the_run():
    model = StructuredPerceptron(features, decode, readout="last", shuffle=False)
    model.fit([[{"a": 1}, {"b": 1}], [{"c": 1}, {"b": 1}]], [1, 1])
    run = model.run_
    assert (run.stopped, run.mistakes_per_epoch, run.examples) == (Stopped.NO_MISTAKES, (1, 0), 4)
    assert (run.errors, run.n_rows, run.readout) == (0, 2, "last")
    assert math.sqrt(2) <= run.radius <= math.nextafter(math.sqrt(2), 2)
    assert Fraction(run.radius) ** 2 >= 2


def test_the_average_may_err_where_the_last_weights_do_not():
    xs = [[{}, {"a": 0, "b": 3}], [{}, {"a": 1, "b": -1}]]
    model = StructuredPerceptron(features, decode, shuffle=False).fit(xs, [1, 1])
    assert (model.run_.stopped, model.run_.errors) == (Stopped.NO_MISTAKES, 1)
    assert (model.predict(xs), model.score(xs, [1, 1])) == ([1, 0], 0.5)
    model.readout = "last"
    assert (model.predict(xs), model.score(xs, [1, 1])) == ([1, 1], 1.0)


def test_a_seed_gives_the_same_run_again():
    chance = random.Random(0)
    pairs = [([{n: chance.randint(-3, 3) for n in "abcd"} for _ in range(4)], chance.randrange(4)) for _ in range(30)]
    runs = {}
    for seed in (0, 0, 1, np.int64(0), random.Random(0), np.random.default_rng(5), np.random.default_rng(5)):
        model = StructuredPerceptron(features, decode, random_state=seed, max_iter=3).fit(*split(pairs))
        runs.setdefault(str(model.weights), []).append(model)
    assert [len(models) for models in runs.values()] == [4, 1, 2]


# -- the bound --------------------------------------------------------------------------------------------------------


@laws
@given(st.lists(INPUTS, max_size=8), VECTORS.filter(square))
def test_cost_augmented_mistakes_never_exceed_their_bound_and_gold_leads_by_the_loss(inputs, u):
    pairs = list(separated(inputs, u))
    if not pairs:
        return
    model = StructuredPerceptron(features, decode, loss=distance, readout="last", max_iter=None, random_state=0)
    model.fit(*split(pairs))
    margin_square = min(dot(u, d) for d, _ in differences(pairs)) ** 2 / square(u)
    run = model.run_
    assert run.mistakes * margin_square <= Fraction(run.radius) ** 2 + 2 * Fraction(model.largest_loss_)
    assert model.largest_loss_ <= max(loss for _, loss in differences(pairs))
    assert Fraction(min(run.margin_at_most, 1e9)) ** 2 >= margin_square
    assert all(dot(model.weights, d) >= loss for d, loss in differences(pairs))  # at a tie, gold may come first


@laws
@given(DATA)
def test_cost_augmented_training_is_the_lecture_with_the_loss_added(pairs):
    model = StructuredPerceptron(features, decode, loss=distance, readout="last", record_mistakes=True)
    model.partial_fit(*split(pairs))
    history, mistakes = lecture(pairs, loss=distance)
    assert list(zip(model.mistake_rows_, model.mistake_guesses_, strict=True)) == mistakes
    assert model.weights == nonzero(history[-1])


@pytest.mark.parametrize(("labels", "length"), [(2, 3), (4, 4), (10, 6), (40, 6), (200, 8)])
def test_the_bound_does_not_depend_on_the_number_of_structures(labels, length):
    """A label has a code, a word too, and a tagging the sum of the products: from 8 to 10^18 structures an input."""
    rng = np.random.default_rng(labels)
    codes = rng.normal(size=(labels, 12))
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    gold = rng.integers(labels, size=(40, length))
    words = codes[gold] + rng.normal(scale=0.05, size=(40, length, 12))

    def features(x, y):
        return dict(enumerate((x.T @ codes[y]).ravel().tolist()))

    def decode(weights, x):
        W = np.array([weights[i] for i in range(144)]).reshape(12, 12)
        return (x @ W @ codes.T).argmax(axis=1)

    model = StructuredPerceptron(features, decode, readout="last", max_iter=None, random_state=0)
    run = model.fit(words, gold).run_
    u = np.eye(12) / math.sqrt(12)  # a word is much like the code of its label
    scores = words @ u @ codes.T
    np.put_along_axis(scores, gold[..., None], -np.inf, axis=2)
    margin = float(((words @ u * codes[gold]).sum(axis=2) - scores.max(axis=2)).min())
    assert margin > 0
    assert (run.stopped, run.errors) == (Stopped.NO_MISTAKES, 0)
    assert 0 < run.mistakes <= (run.radius / margin) ** 2
    assert run.radius <= 2 * length * np.linalg.norm(words, axis=2).max()
    assert run.margin_at_most >= margin


@laws
@given(st.lists(st.tuples(st.lists(FLOATS, min_size=2, max_size=4), st.integers(0, 1)), min_size=1, max_size=10))
def test_the_margin_is_bounded_by_the_exact_sum_of_the_differences(pairs):
    model = StructuredPerceptron(features, decode, readout="last", record_mistakes=True)
    model.partial_fit(*split(pairs))
    w = {}
    for row, guess in zip(model.mistake_rows_, model.mistake_guesses_, strict=True):
        x, gold = pairs[row]
        w = {n: w.get(n, 0) + Fraction(x[gold].get(n, 0)) - Fraction(x[guess].get(n, 0)) for n in "abcd"}
    k = model.run_.mistakes
    if k:
        assert (k * Fraction(model.run_.margin_at_most)) ** 2 >= square(w)
        assert model.run_.margin_at_most == pytest.approx(float(square(w)) ** 0.5 / k, abs=1e-12)
    else:
        assert model.run_.margin_at_most == math.inf


def test_a_margin_that_is_ruled_out_ends_the_run_with_a_warning():
    pairs = [([{"a": 1}, {"a": -1}], 0), ([{"a": 1}, {"a": -1}], 1)]
    model = StructuredPerceptron(features, decode, min_margin=0.1, max_iter=None, shuffle=False)
    with pytest.warns(UserWarning, match=r"no separator has the margin min_margin=0\.1"):
        model.fit(*split(pairs))
    assert model.run_.stopped is Stopped.MARGIN_RULED_OUT
    assert model.run_.margin_at_most < 0.1
    history, mistakes = lecture(pairs * 10)
    soonest = next(k for k, (row, _) in enumerate(mistakes, 1) if square(history[row]) < Fraction(0.1) ** 2 * k * k)
    assert model.run_.mistakes == soonest


def test_the_bound_on_the_margin_covers_the_rounding_of_the_weights():
    pairs = [([{}, {"a": 1e16}], 1)] + [([{}, {"a": 1.5}], 0)] * 40  # each 1.5 is rounded to 2
    model = StructuredPerceptron(features, decode, readout="last").partial_fit(*split(pairs))
    assert (model.run_.mistakes, model.weights["a"]) == (41, 1e16 - 80)
    assert Fraction(model.run_.margin_at_most) >= Fraction(10**16 - 60, 41)


def test_whoever_wants_the_last_weights_is_told_if_the_run_did_not_converge():
    pairs = [([{"a": 1}, {"a": -1}], 0), ([{"a": 1}, {"a": -1}], 1)]
    with pytest.warns(UserWarning, match="the last of 2 epochs still made") as caught:
        StructuredPerceptron(features, decode, readout="last", max_iter=2).fit(*split(pairs))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StructuredPerceptron(features, decode, max_iter=2).fit(*split(pairs))


# -- inexact search ---------------------------------------------------------------------------------------------------


def test_a_guess_that_scores_below_gold_is_no_mistake_and_changes_nothing():
    model = StructuredPerceptron(features, lambda weights, x: 1, readout="last")
    with pytest.warns(UserWarning, match="1 guess missed a gold structure that scores higher"):
        model.fit([[{"a": 1}, {"b": 1}]], [0])
    assert model.weights == {"a": 1.0, "b": -1.0}  # at first they tie, which is a mistake
    assert (model.run_.mistakes, model.search_errors_, model.run_.errors) == (1, 1, 1)
    assert model.run_.stopped is Stopped.NO_MISTAKES


# -- what is asked of the user ----------------------------------------------------------------------------------------


def test_weights_can_be_read_and_not_changed():
    weights = FeatureWeights({"a": 1.0})
    for change in (
        lambda: weights.update(b=1.0),
        lambda: weights.__setitem__("a", 2.0),
        lambda: weights.pop("a"),
        lambda: weights.setdefault("b", 1.0),
        weights.clear,
    ):
        with pytest.raises(TypeError, match="are read-only"):
            change()
    assert (weights["never seen"], len(weights), "never seen" in weights) == (0.0, 1, False)
    for twin in (copy.deepcopy(weights), pickle.loads(pickle.dumps(weights))):
        assert type(twin) is FeatureWeights
        assert twin == weights


def test_the_weights_that_were_read_out_do_not_change_when_learning_goes_on():
    model = StructuredPerceptron(features, decode, readout="last").partial_fit([[{"a": 1}, {"b": 1}]], [1])
    before = model.weights
    model.partial_fit([[{"b": 1}, {"c": 1}]], [1])
    assert before == {"a": -1.0, "b": 1.0}
    assert model.weights == {"a": -1.0, "c": 1.0}


def test_the_heaviest_features_come_first_whatever_their_sign():
    model = StructuredPerceptron(features, decode, readout="last")
    model.partial_fit([[{"b": 3, "z": 1, "y": 0}, {"a": 1, "c": 1}]], [1])
    assert model.heaviest() == [("b", -3.0), ("a", 1.0), ("c", 1.0), ("z", -1.0)]
    assert model.heaviest(1) == [("b", -3.0)]


def test_its_repr_says_what_differs_from_the_defaults_and_what_happened():
    model = StructuredPerceptron(features, decode, loss=distance, random_state=3)
    assert repr(model) == "StructuredPerceptron(random_state=3, loss=distance): nothing learned yet"
    model = StructuredPerceptron(features, decode).partial_fit([[{"a": 1}, {"b": 1}]], [1])
    assert repr(model) == "StructuredPerceptron(): 1 mistake on 1 example"


def test_structures_may_be_arrays():
    def features(x, y):
        return {"length": len(y), **dict(enumerate(y.tolist()))}

    def decode(weights, x):
        return max(x, key=lambda y: weights.score(features(x, y)))

    x = [np.array([0, 1]), np.array([1]), np.array([1, 0])]
    model = StructuredPerceptron(features, decode, readout="last").fit([x], [x[2]])
    assert model.score([x], [x[2]]) == 1.0


@pytest.mark.parametrize(("gold", "guess"), [((0, 1), [0, 1]), ([(0, 1)], [[0, 1]]), (np.array([0, 1]), (0, 1))])
def test_a_guess_that_differs_from_gold_in_type_only_is_an_error(gold, guess):
    model = StructuredPerceptron(lambda x, y: {"length": len(y)}, lambda weights, x: guess)
    with pytest.raises(TypeError, match=r"differs from the gold structure .* in type only"):
        model.fit(["x"], [gold])


def test_ctrl_c_keeps_what_was_learned():
    calls = itertools.count(1)

    def interrupted(weights, x):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return decode(weights, x)

    xs = [[{"a": 1}, {"b": 1}], [{"b": 1}, {"c": 1}], [{"c": 1}, {"a": 1}]]
    model = StructuredPerceptron(features, interrupted, readout="last", shuffle=False, record_mistakes=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(xs, [1, 1, 1])
    history, mistakes = lecture([(x, 1) for x in xs])
    assert model.weights == nonzero(history[-1])
    assert model.mistake_rows_ == [row for row, _ in mistakes]
    assert (model.run_.stopped, model.run_.examples, model.run_.errors) == (Stopped.INTERRUPTED, 3, None)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_a_call_that_fails_leaves_the_model_as_it_was(learn):
    model = StructuredPerceptron(features, decode, record_mistakes=True)
    model.partial_fit([[{"a": 1}, {"b": 1}], [{"b": 2}, {"c": 3}]], [1, 1])
    before = copy.deepcopy((model.model_.memory, model.run_, model.weights, model.mistake_rows_))
    with pytest.raises(ValueError, match=r"of example 2: feature 'd' is NaN"):
        getattr(model, learn)([[{"c": 1}, {"e": 1}], [{"e": 1}, {"c": 1}], [{"d": math.nan}, {"c": 1}]], [1, 1, 1])
    assert (model.model_.memory, model.run_, model.weights, model.mistake_rows_) == before


@pytest.mark.parametrize(
    ("vector", "error", "words"),
    [
        ([1, 2], TypeError, r"features\(x, gold\) of example 1 is a list; return a mapping"),
        ({"a": math.inf}, ValueError, "of example 1: feature 'a' is inf"),
        ({"a": None}, ValueError, "of example 1: feature 'a' has the value None"),
        ({"a": "red"}, ValueError, r"of example 1: feature 'a' has the value 'red'.*\{\('a', 'red'\): 1\}"),
    ],
)
def test_features_that_are_no_numbers_are_named(vector, error, words):
    model = StructuredPerceptron(features, lambda weights, x: 0)
    with pytest.raises(error, match=words):
        model.partial_fit([[{}, {}], [{}, vector]], [0, 1])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"readout": "vote"}, "no decoder finds it; choose 'average'"),
        ({"readout": "first"}, "readout='first' is unknown"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number"),
        ({"min_margin": -1.0}, "min_margin=-1.0 must be a positive number"),
        ({"decode": lambda weights, x: None}, "decode returned None for example 0"),
        ({"loss": lambda gold, guess: -1}, r"loss\(gold, guess\) of example 0 is -1"),
        ({"decode": None}, "decode=None is not callable"),
        ({"random_state": "now"}, "random_state='now' is not a seed"),
    ],
)
def test_errors_say_what_is_wrong_and_how_to_fix_it(wrong, words):
    model = StructuredPerceptron(features, **{"decode": decode, **wrong})
    with pytest.raises((TypeError, ValueError), match=words):
        model.fit([[{"a": 1}, {"b": 1}]], [1])


def test_as_many_structures_as_inputs_are_needed():
    model = StructuredPerceptron(features, decode)
    with pytest.raises(ValueError, match="there are 2 inputs and 1 structures"):
        model.fit([[{}], [{}]], [0])
    with pytest.raises(ValueError, match="no inputs to fit or score"):
        model.partial_fit([], [])
    with pytest.raises(AttributeError, match="is not fitted yet"):
        model.predict([[{}]])
