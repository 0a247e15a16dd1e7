"""The theorem of Block and Novikoff, and what the notes say around it."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from novikoff import Perceptron, Separator, Stopped, margins, mistake_bound, radius
from novikoff.features.fold import fold_bias, fold_labels, unit_length
from novikoff.learn.linear.space import perceptron
from tests import lecture
from tests.examples import WORKED_X, WORKED_Y, exponential_rows, separable, separable_integers


def run(X, y, **options):
    return perceptron(X, y, **{"readout": "last", "max_iter": None, "record_mistakes": True, **options})


@given(separable_integers(), st.integers(1, 4), st.integers(1, 3))
def test_the_bound_knows_neither_the_number_of_rows_nor_of_columns(data, copies, zero_columns):
    X, y, W = data
    assume(len(y))
    bound = mistake_bound(radius(X), margins(X, y, Separator(W[0, :-1], W[0, -1])).min())
    wide = np.hstack([X, np.zeros((len(X), zero_columns))])
    assert run(np.tile(wide, (copies, 1)), np.tile(y, copies), random_state=0).run.mistakes <= bound


@pytest.mark.parametrize("tie", ["mistake", "predict"])
def test_the_worked_example_of_the_second_note_digit_by_digit(tie):
    seen = list(lecture.perceptron(WORKED_X, WORKED_Y, range(6), bias=False, tie=tie))
    assert [one.mistake for one in seen] == [True, False, True, False, True, False]
    assert [one.weights[:2] for one in seen if one.mistake] == [[1, -2], [2, -1], [3, 1]]
    for rows, weights in ((1, [1, -2]), (3, [2, -1]), (6, [3, 1])):
        model = Perceptron(fit_intercept=False, tie=tie, readout="last", record_mistakes=True)
        model.partial_fit(WORKED_X[:rows], WORKED_Y[:rows], classes=[-1, 1])
        assert model.coef_.tolist() == [weights]
    assert model.mistake_rows_.tolist() == [0, 2, 4]


@given(st.integers(0, 999), st.sampled_from([100.0, 0.01]))
def test_without_intercept_scaling_all_points_changes_neither_mistakes_nor_bound(seed, factor):
    X, y, w = separable(np.random.default_rng(seed), 30, 3, 0.05)
    plain, scaled = (run(points, y, fit_intercept=False, shuffle=False) for points in (X, factor * X))
    assert plain.mistakes.rows.tolist() == scaled.mistakes.rows.tolist()
    ratios = [radius(points, False) / margins(points, y, Separator(w), False).min() for points in (X, factor * X)]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-12)


def test_with_intercept_scaling_the_points_does_change_the_mistakes():
    X, y, _ = separable(np.random.default_rng(0), 30, 3, 0.05, bias=0.5)
    assert run(X, y, shuffle=False).run.mistakes != run(100 * X, y, shuffle=False).run.mistakes


@given(separable_integers(), st.floats(1e-3, 1e3))
def test_the_learning_rate_never_changes_a_mistake(data, learning_rate):
    X, y, _ = data
    assume(len(np.unique(y)) == 2)
    models = [Perceptron(eta0=rate, record_mistakes=True, random_state=0).fit(X, y) for rate in (1.0, learning_rate)]
    assert models[0].mistake_rows_.tolist() == models[1].mistake_rows_.tolist()
    assert models[1].coef_ == pytest.approx(learning_rate * models[0].coef_)
    assert (models[0].predict(X) == models[1].predict(X)).all()


@given(separable_integers())
def test_folding_the_labels_changes_no_mistake_when_ties_are_mistakes(data):
    X, y, _ = data
    assume(len(y))
    X = fold_bias(X)
    plain = run(X, y, fit_intercept=False, shuffle=False)
    folded = run(fold_labels(X, y), np.ones(len(y)), fit_intercept=False, shuffle=False)
    assert plain.mistakes.rows.tolist() == folded.mistakes.rows.tolist()


def test_folding_the_labels_can_change_mistakes_when_a_tie_predicts_plus_one():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([-1, -1])
    options = {"fit_intercept": False, "shuffle": False, "tie": "predict"}
    assert run(X, y, **options).mistakes.rows.tolist() == [0, 1]
    assert run(fold_labels(X, y), [1, 1], **options).mistakes.rows.tolist() == []


@given(st.integers(0, 999))
def test_unit_length_changes_the_bound_to_a_better_one(seed):
    X, y, w = separable(np.random.default_rng(seed), 40, 3, 0.05)
    u = Separator(w)
    scaled = unit_length(X)
    bound = mistake_bound(radius(X, False), margins(X, y, u, False).min())
    unit_bound = mistake_bound(radius(scaled, False), margins(scaled, y, u, False).min())
    assert run(scaled, y, fit_intercept=False).run.mistakes <= unit_bound <= bound


def test_unit_length_changes_the_mistakes():
    X, y, _ = separable(np.random.default_rng(3), 40, 3, 0.05)
    lengths = np.exp(np.random.default_rng(4).standard_normal(40))[:, None]
    mistakes = [
        run(p, y, fit_intercept=False, shuffle=False).mistakes.rows.tolist() for p in (X * lengths, unit_length(X))
    ]
    assert mistakes[0] != mistakes[1]


@pytest.mark.parametrize("n", [4, 7, 10])
def test_a_tiny_margin_forces_exponentially_many_mistakes(n):
    learned = run(exponential_rows(n), np.ones(n), fit_intercept=False, shuffle=False)
    assert learned.run.stopped is Stopped.NO_MISTAKES
    assert learned.run.mistakes >= 2 ** (n - 1)
    if n == 10:
        assert learned.run.mistakes == pytest.approx(350_000, rel=0.05)


@given(st.integers(0, 9999), st.floats(0.1, 3.0))
def test_one_pass_over_inseparable_data_obeys_the_bound_of_freund_and_schapire(seed, gamma):
    generator = np.random.default_rng(seed)
    X, y = generator.standard_normal((60, 4)), generator.choice([-1, 1], 60)
    u = generator.standard_normal(4)
    u /= np.linalg.norm(u)
    deviation = math.sqrt(sum(max(0.0, gamma - label * (u @ x)) ** 2 for x, label in zip(X, y, strict=True)))
    made = run(X, y, fit_intercept=False, max_iter=1, random_state=seed).run.mistakes
    assert made <= ((radius(X, False) + deviation) / gamma) ** 2


def test_inseparable_data_never_converge():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, -1, -1])
    learned = run(X, y, max_iter=2_000, random_state=0)
    assert learned.run.stopped is Stopped.MAX_ITER
    assert min(learned.run.mistakes_per_epoch) > 0


def test_random_labels_are_learned_by_nobody():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((6_000, 10)), generator.choice([-1, 1], 6_000)
    accuracy = Perceptron(random_state=0).fit(X[:3_000], y[:3_000]).score(X[3_000:], y[3_000:])
    assert abs(accuracy - 0.5) < 0.04  # more than four standard deviations


@pytest.mark.parametrize("seed", range(20))
def test_a_margin_of_one_hundredth_is_always_found(seed):
    X, y, _ = separable(np.random.default_rng(seed), 300, 5, 0.01)
    model = Perceptron(readout="last", max_iter=None, random_state=seed).fit(X, y)
    assert model.run_.stopped is Stopped.NO_MISTAKES
    assert model.score(X, y) == 1.0
    assert model.run_.errors == 0


def subgradient_descent(X, y, rows, subgradient):
    """Stochastic subgradient descent with step 1, from zero, on a loss of y and score."""
    w = np.zeros(X.shape[1])
    for row in rows:
        w = w - subgradient(y[row], X[row] @ w) * X[row]
        yield w


def of_the_perceptron_loss(label, score):
    """max(0, -y s): the subgradient in s is -y where y s < 0, and we choose it at the kink too."""
    return -label if label * score <= 0 else 0.0


def of_the_hinge_loss(label, score):
    """max(0, 1 - y s)."""
    return -label if label * score <= 1 else 0.0


@given(st.integers(0, 999))
def test_the_perceptron_is_subgradient_descent_on_its_own_loss(seed):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-5, 6, (20, 3)).astype(float), generator.choice([-1, 1], 20)
    *_, w = subgradient_descent(X, y, [*range(20)] * 3, of_the_perceptron_loss)
    learned = run(X, y, fit_intercept=False, shuffle=False, max_iter=3)
    if learned.run.epochs == 3:
        assert learned.memory.weights[0, :-1].tolist() == w.tolist()


def test_descent_on_the_hinge_loss_with_margin_one_is_something_else():
    X, y = np.array([[2.0, 0.0], [0.3, 0.0], [-1.0, 1.0]]), np.array([1, 1, -1])
    *_, perceptron_like = subgradient_descent(X, y, range(3), of_the_perceptron_loss)
    *_, hinge_like = subgradient_descent(X, y, range(3), of_the_hinge_loss)
    assert (
        run(X, y, fit_intercept=False, shuffle=False, max_iter=1).memory.weights[0, :-1].tolist()
        == perceptron_like.tolist()
    )
    assert perceptron_like.tolist() != hinge_like.tolist()
