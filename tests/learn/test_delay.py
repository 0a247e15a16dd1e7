"""Labels that come late: both ways to judge keep their bounds, whatever the delays."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.keep.models import load, save
from novikoff.learn.online.perceptron import OnlinePerceptron, Served
from tests.draws import draws
from tests.late import NAMES, as_example, late_streams, product, rounds, squares

laws = settings(deadline=None, max_examples=draws(40))

TIES = st.sampled_from(["mistake", "predict"])


def play(points, delays, n_classes, judge, tie):
    model = OnlinePerceptron(classes=range(n_classes), fit_intercept=False, tie=tie)
    served = {}
    for comes, i, x, y in rounds(points, delays):
        if not comes:
            served[i] = model.serve_one(as_example(x))
        elif judge == "served":
            model.learn_served(as_example(x), y, served[i])
        else:
            model.learn_one(as_example(x), y)
    return model


def lecture(points, delays, n_classes, tie):
    """Every class has weights; a mistake when served is added when the label comes. Whole numbers, so exact."""
    W = [[0] * len(NAMES) for _ in range(n_classes)]
    scores, said, mistakes, waited = {}, {}, 0, 0
    for comes, i, x, y in rounds(points, delays):
        if not comes:
            scores[i], said[i] = [product(w, x) for w in W], mistakes
            continue
        # Of two classes the second wins a tie (a score of 0 predicts +1), of more the first.
        order = sorted(range(n_classes), key=lambda c: (-scores[i][c], -c if n_classes == 2 else c))
        rival = order[0] if order[0] != y else order[1]
        if order[0] != y or (tie == "mistake" and scores[i][rival] == scores[i][y]):
            for c, sign in ((y, 1), (rival, -1)):
                W[c] = [a + sign * b for a, b in zip(W[c], x, strict=True)]
            mistakes, waited = mistakes + 1, waited + mistakes - said[i]
    return W, mistakes, waited


@laws
@given(st.data(), st.integers(2, 4), TIES)
def test_judged_as_served_is_what_the_lecture_computes(data, n_classes, tie):
    _, points, delays = data.draw(late_streams(n_classes))
    model = play(points, delays, n_classes, "served", tie)
    W, mistakes, waited = lecture(points, delays, n_classes, tie)
    assert (model.mistakes, model.waited) == (mistakes, waited)
    for c in range(n_classes):
        expected = dict(zip(NAMES, W[c], strict=True))
        last = copy.deepcopy(model)
        last.readout = "last"
        assert last.weights(c) == {name: weight for name, weight in expected.items() if weight}


@laws
@given(st.data(), st.integers(2, 4), TIES, st.sampled_from(["arrival", "served"]))
def test_mistakes_never_exceed_the_bound_of_their_judge(data, n_classes, tie, judge):
    """k <= (1 + 2 tau) (R/gamma)^2, and 2 R^2 for more classes than two; tau = 0 where labels are judged on arrival."""
    W, points, delays = data.draw(late_streams(n_classes))
    model = play(points, delays, n_classes, judge, tie)
    k, waited = model.mistakes, model.waited
    step, margin_square, u_square = squares(W, points)
    assert waited == 0 or judge == "served"
    assert k * k * margin_square <= (k + 2 * waited) * step * u_square
    assert sum(pair.real**2 for weights in model.to_state().weights for pair in weights.values()) <= step * (
        k + 2 * waited
    )


@laws
@given(late_streams(2), TIES)
def test_without_a_delay_both_judge_alike(stream, tie):
    _, points, _ = stream
    at_once = [0] * len(points)
    arrival, served = (play(points, at_once, 2, judge, tie) for judge in ("arrival", "served"))
    assert (arrival.mistakes, arrival.weights()) == (served.mistakes, served.weights())
    assert served.waited == 0


def test_the_bound_is_needed_the_same_example_served_ten_times_is_wrong_ten_times():
    model = OnlinePerceptron(classes=["no", "yes"], fit_intercept=False)
    served = [model.serve_one({"a": 1}) for _ in range(10)]
    assert all(model.learn_served({"a": 1}, "no", early) for early in served)
    assert (model.mistakes, model.waited) == (10, 45)


@laws
@given(st.data(), st.lists(st.sampled_from([0.1, 0.2, 0.3, -0.1, -0.3, 0.7, 1e-17, 1e16]), min_size=3, max_size=3))
def test_a_quick_loop_decides_as_the_slow_one_after_late_labels(data, values):
    """Late labels make weights longer than sqrt(k) R, and the doubt of the quick loops grows with them."""
    x = dict(zip(NAMES, values, strict=True))
    model = OnlinePerceptron(classes=[0, 1], readout="last")
    served = [model.serve_one(x) for _ in range(30)]
    for early in served:
        model.learn_served(x, 1, early)
    asked = dict(zip(NAMES, data.draw(st.permutations(values)), strict=True))
    assert model.predict_one(asked) == int(model.decision_one(asked) >= 0)
    assert model.weights_length <= model.radius * (model.mistakes + 2 * model.waited) ** 0.5


def test_what_was_not_served_by_the_model_is_refused_and_nothing_is_changed():
    model = OnlinePerceptron(classes=["no", "yes"])
    for served in (Served("no", "yes", True, 1), Served("no", "no", True, 0), Served("no", "maybe", True, 0)):
        with pytest.raises(ValueError, match="was not served by this model"):
            model.learn_served({"a": 1}, "yes", served)
    with pytest.raises(ValueError, match="is not in classes"):
        model.learn_served({"a": 1}, "maybe", model.serve_one({"a": 1}))
    with pytest.raises(ValueError, match="needs classes="):
        OnlinePerceptron().serve_one({"a": 1})
    assert model.examples == 0


def test_a_model_file_keeps_the_delays(tmp_path):
    model = OnlinePerceptron(classes=["no", "yes"])
    for early in [model.serve_one({"a": 1}) for _ in range(3)]:
        model.learn_served({"a": 1}, "no", early)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.waited, loaded.run) == (3, model.run)
