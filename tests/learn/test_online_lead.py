"""A lead online: narrow examples are learned, too, as in one `fit`, and bounds, proofs and files follow."""

import math
import random
import tempfile
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import Steps, follow_proof, load, mistake_bound, save
from novikoff.features.names import Intercept
from novikoff.learn.linear.space import LinearMemory, learn_online
from novikoff.learn.online.memory import folded_square
from novikoff.learn.online.perceptron import OnlinePerceptron
from tests.draws import draws
from tests.late import NAMES, as_example, late_streams, rounds, squares

laws = settings(deadline=None, max_examples=draws(30))

LEADS = st.sampled_from([0.125, 0.5, 1.0, 4.0])
ROWS = st.fixed_dictionaries(dict.fromkeys("abcd", st.integers(-9, 9)))
SOME = st.dictionaries(st.sampled_from("abcd"), st.integers(-9, 9))
AWKWARD = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0.1, 0.2, 0.3, -0.1, -0.3, 0.7, 1e-9]))


def streams(labels, rows=ROWS | SOME):
    return st.lists(st.tuples(rows, st.sampled_from(labels)), min_size=1, max_size=40)


@laws
@given(streams([0, 1, 2]), st.sampled_from([2, 3]), LEADS, st.booleans())
def test_it_learns_what_the_kernels_learn(stream, n_classes, lead, bias):
    rows = np.array([[x.get(name, 0) for name in "abcd"] for x, _ in stream], dtype=np.float64)
    labels = np.array([y % n_classes for _, y in stream])
    memory = LinearMemory.empty(4, n_classes, fit_intercept=bias)
    learn_online(memory, rows, 2 * labels - 1 if n_classes == 2 else labels, lead=lead)
    model = OnlinePerceptron(lead=lead, classes=range(n_classes), fit_intercept=bias, readout="last")
    for (x, _), y in zip(stream, labels.tolist(), strict=True):
        model.learn_one(x, y)
    assert (model.mistakes, model.narrow) == (memory.mistakes, memory.narrow)
    assert model.to_state().square == memory.longest
    weights = [[part.get(name, 0j) for name in [*"abcd", Intercept]] for part in model.to_state().weights]
    assert [[pair.real for pair in part] for part in weights] == memory.weights.tolist()
    assert [[pair.imag for pair in part] for part in weights] == memory.drift.tolist()
    assert model.margin_at_most == pytest.approx(memory.margin_at_most)


@laws
@given(streams("uvw", AWKWARD), st.sampled_from(["uv", "uvw"]), LEADS, st.randoms(use_true_random=False))
def test_the_order_of_the_features_does_not_matter(stream, labels, lead, chance):
    straight, shuffled = OnlinePerceptron(lead=lead), OnlinePerceptron(lead=lead)
    for x, y in stream:
        names = list(x)
        chance.shuffle(names)
        y = labels[ord(y) % len(labels)]
        assert straight.learn_one(x, y) == shuffled.learn_one({name: x[name] for name in names}, y)
        assert (straight.mistakes, straight.narrow) == (shuffled.mistakes, shuffled.narrow)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lead", [0.25, 2.0])
def test_the_quick_loops_decide_as_the_correctly_rounded_score_does(missing, unit, lead):
    """Examples of one length are all as long as the longest, but for rounding."""
    chance, names = random.Random(0), [f"feature {number}" for number in range(12)]
    w, longest, model = dict.fromkeys([*names, None], 0.0), 0.0, OnlinePerceptron(lead=lead, classes=[-1, 1])
    for _ in range(400):
        x = {name: chance.gauss(0, 1) for name in names if chance.random() >= missing}
        length = math.hypot(*x.values()) if unit else 1.0
        x = {name: value / length for name, value in x.items()}
        y = 1 if sum(x.values()) + chance.gauss(0, 1) > 0 else -1
        longest = max(longest, folded_square(x.values(), 1.0))
        ahead = y * math.fsum([w[None], *(w[name] * value for name, value in x.items())])
        before = model.narrow
        assert model.learn_one(x, y) == (ahead <= 0)
        assert model.narrow - before == (0 < ahead <= lead * longest)
        if ahead <= lead * longest:
            for name, value in {**x, None: 1.0}.items():
                w[name] += y * value
    assert model.weights_length == pytest.approx(math.hypot(*w.values()))
    assert model.mistakes > 20 < model.narrow


@laws
@given(st.lists(st.floats(1e-100, 1e100) | st.integers(-9, 9), max_size=6), st.sampled_from([0.0, 1.0]))
def test_a_squared_length_is_never_below_the_exact_one(values, constant):
    exact = sum(Fraction(value) ** 2 for value in values) + Fraction(constant)
    assert exact <= Fraction(folded_square(values, constant)) <= exact * (1 + Fraction(1, 2**48))


@laws
@given(streams("uvw"), LEADS, st.integers(0, 40), st.booleans())
def test_one_or_many_and_a_file_in_between_learn_the_same(stream, lead, cut, scale):
    one, many = OnlinePerceptron(lead=lead, scale=scale), OnlinePerceptron(lead=lead, scale=scale)
    mistakes = sum(one.learn_one(x, y) for x, y in stream)
    assert many.learn_many(*zip(*stream, strict=True)) == mistakes == many.mistakes
    assert asdict(one.to_state()) == asdict(many.to_state())
    early = OnlinePerceptron(lead=lead, scale=scale)
    for x, y in stream[:cut]:
        early.learn_one(x, y)
    loaded = through_a_file(early)
    for x, y in stream[cut:]:
        loaded.learn_one(x, y)
    assert asdict(loaded.to_state()) == asdict(one.to_state())
    assert loaded.run == one.run


def through_a_file(model):
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder, "model"))
        return load(Path(folder, "model"))


@laws
@given(st.data(), st.integers(2, 3), LEADS)
def test_updates_obey_the_bound_and_the_proof_follows_them(data, n_classes, lead):
    W, points, _ = data.draw(late_streams(n_classes))
    model = OnlinePerceptron(lead=lead, classes=range(n_classes), fit_intercept=False)
    added = []
    for x, y in points * 2:
        example, made = as_example(x), model.updates
        rival = model.rival_one(example, y)
        model.learn_one(example, y)
        added += [(example, y, rival)] if model.updates > made else []
    step, margin_square, u_square = squares(W, points)
    k = model.updates
    assert k == len(added) == model.run.updates
    assert k * margin_square <= (1 + 2 * Fraction(lead)) * step * u_square
    assert model.weights_length**2 <= model.step_square * k * (1 + 1e-9)
    if not added:
        return
    separator = {(name, c): w for c, part in enumerate(W) for name, w in zip(NAMES, part, strict=True)}
    if n_classes == 2:
        separator = {name: W[1][i] - W[0][i] for i, name in enumerate(NAMES)}
    told = {"classes": range(n_classes), "fit_intercept": False}
    proof = follow_proof(
        Steps.of_features(*zip(*added, strict=True), lead=lead, seen_radius=model.radius, **told), separator
    )
    assert proof.holds
    assert proof.mistakes == k <= proof.bound
    assert mistake_bound(model.radius, proof.margin, lead=lead) >= (k if n_classes == 2 else 0)


@laws
@given(st.data(), st.integers(2, 3), LEADS)
def test_judged_as_served_what_was_narrow_then_is_learned_now(data, n_classes, lead):
    W, points, delays = data.draw(late_streams(n_classes))
    model = OnlinePerceptron(classes=range(n_classes), fit_intercept=False, lead=lead)
    oracle, longest, served, said = [dict.fromkeys(NAMES, 0) for _ in range(n_classes)], 0, {}, {}
    mistakes = narrow = waited = 0
    for comes, i, x, y in rounds(points, delays):
        example = as_example(x)
        square = sum(value * value for value in example.values())
        if not comes:
            served[i] = model.serve_one(example)
            scores = [sum(w[name] * value for name, value in example.items()) for w in oracle]
            said[i] = scores, Fraction(lead) * 2 * max(longest, square), mistakes + narrow
            continue
        model.learn_served(example, y, served[i])
        scores, asked, made = said[i]
        longest = max(longest, square)
        best = [c for c in range(n_classes) if c != y]
        rival = max(best, key=lambda c: (scores[c], -c))
        ahead = scores[y] - scores[rival]
        if ahead <= asked:
            waited += mistakes + narrow - made
            mistakes, narrow = mistakes + (ahead <= 0), narrow + (ahead > 0)
            for name, value in example.items():
                oracle[y][name] += value
                oracle[rival][name] -= value
    assert (model.mistakes, model.narrow, model.waited) == (mistakes, narrow, waited)
    step, margin_square, u_square = squares(W, points)
    k = model.updates
    assert k * k * margin_square <= (k * (1 + 2 * Fraction(lead)) + 2 * waited) * step * u_square


def test_the_record_counts_mistakes_and_narrow_ones_apart():
    rows = [(-1, 2, -1), (1, 0, 1), (1, 1, 1), (-1, 0, -1), (-1, -2, -1), (1, -1, 1)]
    model = OnlinePerceptron(lead=0.5, fit_intercept=False, classes=[-1, 1], readout="last")
    told = [model.learn_one({"a": a, "b": b}, y) for a, b, y in rows * 3]
    assert told.count(True) == model.mistakes == 2
    assert repr(model) == (
        "OnlinePerceptron(readout='last', fit_intercept=False, lead=0.5, classes=[-1, 1]): "
        "2 mistakes and 3 narrow ones on 18 examples"
    )
    assert "the sum of the mistakes and the narrow ones has length 5.09902" in str(model.run)


@pytest.mark.parametrize("lead", [-1.0, math.nan, math.inf, "much", True, None])
def test_a_lead_that_is_no_number_from_0_on_is_refused(lead):
    with pytest.raises(ValueError, match="lead="):
        OnlinePerceptron(lead=lead)


def test_a_stream_has_no_rows_to_choose_a_lead_by():
    with pytest.raises(ValueError, match="let two models learn it, with lead=0"):
        OnlinePerceptron(lead="auto")
