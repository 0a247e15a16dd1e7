"""What a run says about new rows holds: runs on rows from a known source, and a count of how often a bound fails.

The source: points of a normal distribution in the plane, on whose two sides of a line the labels differ, but for some
that are flipped. So the share of new rows that weights get wrong is known from an angle.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import (
    KernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    SequencePerceptron,
    Stopped,
    StructuredPerceptron,
)
from novikoff.learn.linear.memory import read_out
from novikoff.learn.linear.space import perceptron
from tests import lecture
from tests.draws import draws

RUNS = draws(400)
CONFIDENCE = 0.8
ANGLES = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False) + 1e-3
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def draw(chance, n, flipped):
    X = chance.normal(size=(n, 2))
    right = np.where(X[:, 0] >= 0, 1, -1)
    return X, np.where(chance.random(n) < flipped, -right, right)


def risk(weights, flipped):
    """The share of new rows that a plane through 0 gets wrong; without weights, all are taken for +1."""
    x, y = weights[:2]
    if x == 0 and y == 0:
        return 0.5
    apart = math.acos(max(-1.0, min(1.0, x / math.hypot(x, y)))) / math.pi
    return flipped + (1.0 - 2.0 * flipped) * apart


def risk_of_vote(model, flipped):
    wrong = np.mean((model.decision_function(CIRCLE) >= 0) != (CIRCLE[:, 0] >= 0))
    return flipped + (1.0 - 2.0 * flipped) * wrong


def learned(chance, n, flipped, **options):
    X, y = draw(chance, n, flipped)
    seed = int(chance.integers(2**31))
    found = perceptron(X, y, fit_intercept=False, random_state=seed, **options)
    return X, y, found


def statement(run, name, confidence=CONFIDENCE, **how):
    return next((one for one in run.generalisation(confidence, **how).statements if one.name == name), None)


def failures(trial, seed=0):
    """How often what was said to be at most so much is more, of all runs."""
    chance = np.random.default_rng(seed)
    return sum(trial(chance) for _ in range(RUNS)) / RUNS


# -- every bound, by simulation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("flipped", [0.0, 0.1])
@pytest.mark.parametrize(("readout", "max_iter"), [("last", None), ("last", 2), ("average", 3)])
def test_the_compression_bound_holds(flipped, readout, max_iter):
    def trial(chance):
        epochs = max_iter if max_iter or not flipped else 20
        _, _, found = learned(chance, 60, flipped, readout=readout, max_iter=epochs)
        bound = statement(found.run, "compression")
        return risk(read_out(found.memory, readout)[0], flipped) > bound.at_most

    assert failures(trial) <= 1 - CONFIDENCE


@pytest.mark.parametrize(("n", "flipped"), [(1, 0.0), (10, 0.0), (30, 0.1), (100, 0.3)])
def test_the_progressive_bound_holds_for_the_mean_of_the_first_pass(n, flipped):
    def trial(chance):
        X, y, found = learned(chance, n, flipped, max_iter=1, shuffle=False)
        before = [[0.0, 0.0], *(seen.weights for seen in lecture.perceptron(X, y, range(n), bias=False))]
        bound = statement(found.run, "progressive", random_order=True)
        return np.mean([risk(weights, flipped) for weights in before[:n]]) > bound.at_most

    assert failures(trial) <= 1 - CONFIDENCE


@pytest.mark.parametrize("flipped", [0.0, 0.1])
def test_the_vote_of_one_pass_keeps_its_bounds(flipped):
    """Also the better of two, each with half of the doubt."""
    alone, best = [], []

    def trial(chance):
        X, y = draw(chance, 60, flipped)
        seed = int(chance.integers(2**31))
        model = Perceptron(readout="vote", max_iter=1, fit_intercept=False, random_state=seed).fit(X, y)
        share = risk_of_vote(model, flipped)
        alone.append(share > statement(model.run_, "first vote").at_most)
        best.append(share > model.run_.generalisation(CONFIDENCE).delivered.at_most)
        return alone[-1] or best[-1]

    assert failures(trial) <= 1 - CONFIDENCE


@pytest.mark.parametrize("flipped", [0.0, 0.2])
def test_rows_held_out_bound_the_predictor_that_is_delivered(flipped):
    outside = []

    def trial(chance):
        _, _, found = learned(chance, 60, flipped, held_out=0.4, max_iter=3)
        known = found.run.generalisation(CONFIDENCE).delivered
        assert known.name == "held out"
        share = risk(read_out(found.memory, "average")[0], flipped)
        outside.append(not known.at_least <= share <= known.at_most)
        return outside[-1]

    assert failures(trial) <= 1 - CONFIDENCE
    assert sum(outside) > 0  # the interval is not absurdly wide


def test_folds_bound_the_mean_of_their_models():
    def trial(chance):
        X, y = draw(chance, 60, 0.1)
        places, errors, risks = np.arange(60) % 3, [], []
        for fold in range(3):
            found = perceptron(X[places != fold], y[places != fold], fit_intercept=False, random_state=0, max_iter=3)
            weights = read_out(found.memory, "average")[0]
            guessed = np.where(X[places == fold] @ weights[:2] >= 0, 1, -1)
            errors.append(int(np.sum(guessed != y[places == fold])))
            risks.append(risk(weights, 0.1))
        run = replace(found.run, fold_rows=(20, 20, 20), fold_errors=tuple(errors))
        return np.mean(risks) > statement(run, "folds").at_most

    assert failures(trial) <= 1 - CONFIDENCE


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize(("readout", "max_iter"), [("last", 3), ("vote", 1)])
def test_leave_one_out_bounds_the_mean_in_expectation(readout, max_iter):
    chance, said, true = np.random.default_rng(1), [], []
    for _ in range(RUNS):
        X, y = draw(chance, 40, 0.1)
        seed = int(chance.integers(2**31))
        model = Perceptron(readout=readout, max_iter=max_iter, fit_intercept=False, random_state=seed)
        found = statement(model.fit(X, y).run_, "leave one out")
        assert found.confidence is None
        said.append(found.at_most)
        true.append(risk(model.coef_[0], 0.1) if readout == "last" else risk_of_vote(model, 0.1))
    assert np.mean(true) <= np.mean(said)


# -- what they rest on ------------------------------------------------------------------------------------------------

COORDINATES = st.integers(-3, 3)
PROBLEMS = st.lists(st.tuples(COORDINATES, COORDINATES, st.sampled_from([-1, 1])), min_size=1, max_size=12)


@given(PROBLEMS, st.integers(1, 4), st.sampled_from(["mistake", "predict"]))
def test_the_rows_that_were_mistaken_determine_the_last_weights(problem, max_iter, tie):
    X, y = np.array([row[:2] for row in problem], dtype=float), np.array([row[2] for row in problem])
    options = {"readout": "last", "max_iter": max_iter, "shuffle": False, "tie": tie}
    found = perceptron(X, y, record_mistakes=True, **options)
    kept = np.unique(found.mistakes.rows)
    assert found.run.mistaken_rows == len(kept)
    others = np.setdiff1d(np.arange(len(y)), kept)
    scores = X[others] @ found.memory.weights[0, :2] + found.memory.weights[0, 2]
    assert found.run.errors_elsewhere == np.count_nonzero((scores >= 0) != (y[others] > 0))
    if len(kept):
        again = perceptron(X[kept], y[kept], **options)
        assert again.memory.weights.tolist() == found.memory.weights.tolist()


def test_without_a_mistake_and_with_nothing_but_mistakes():
    X, y = np.ones((20, 1)), np.ones(20, dtype=int)
    never = perceptron(X, y, tie="predict", random_state=0).run
    assert (never.mistakes, never.mistaken_rows) == (0, 0)
    assert statement(never, "compression").at_most == pytest.approx(1 - (CONFIDENCE_LEFT / 2) ** (1 / 20))
    always = perceptron(X, np.tile([1, -1], 10), shuffle=False, max_iter=1, tie="mistake").run
    assert always.mistakes == 20
    assert statement(always, "progressive", random_order=True).at_most == 1
    assert not always.generalisation(random_order=True).is_known


CONFIDENCE_LEFT = 1 - CONFIDENCE


def test_one_row_says_next_to_nothing():
    run = perceptron([[1.0]], [1], random_state=0).run
    assert statement(run, "progressive").at_most == statement(run, "compression").at_most == 1
    assert not run.generalisation().is_known


# -- who says nothing -------------------------------------------------------------------------------------------------


def test_rows_in_the_order_given_prove_nothing_unless_somebody_answers_for_it():
    _, _, found = learned(np.random.default_rng(0), 400, 0.0, shuffle=False, readout="last", max_iter=None)
    assert found.run.order == "given"
    known = found.run.generalisation()
    assert (known.statements, known.delivered) == ((), None)
    assert "in the order given" in known.why_not
    assert known.in_words == "not measured; training error 0.0 %"
    assert "Expected error" not in str(found.run)
    sure = found.run.generalisation(random_order=True)
    assert {one.name for one in sure.statements} == {"progressive", "first vote", "leave one out", "compression"}
    assert sure.delivered.name == "compression"


def test_learning_in_parts_is_one_pass_if_somebody_answers_for_its_order():
    X, y = draw(np.random.default_rng(0), 200, 0.1)
    model = Perceptron().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert model.run_.generalisation().statements == ()
    found = statement(model.run_, "progressive", random_order=True)
    assert found.wrong == model.n_mistakes_ / 200
    assert model.run_.generalisation(random_order=True).delivered is None  # the errors on other rows are not known


def test_a_kernel_is_determined_by_its_support_unless_all_rows_have_settled_its_width():
    X, y = draw(np.random.default_rng(0), 100, 0.0)
    model = KernelPerceptron(kernel="rbf", gamma=0.5, max_iter=None, random_state=0).fit(X, y)
    assert model.run_.mistaken_rows == len(model.support_)
    assert statement(model.run_, "compression").predictor.endswith(f"which {len(model.support_)} of 100 rows determine")
    assert KernelPerceptron(kernel="rbf", random_state=0).fit(X, y).run_.generalisation().statements == ()
    many = KernelPerceptron(kernel="rbf", gamma=0.5, random_state=0).fit(X, np.arange(100) % 3)
    assert many.run_.generalisation(random_order=True).statements == ()


def test_an_online_learner_has_judged_itself_on_the_way():
    X, y = draw(np.random.default_rng(0), 200, 0.1)
    model = OnlinePerceptron()
    wrong = model.learn_many([{"x": x, "y": z} for x, z in X.tolist()], y.tolist())
    assert model.run.generalisation().statements == ()
    assert statement(model.run, "progressive", random_order=True).wrong == wrong / 200


def test_structures_whose_search_may_miss_the_best_promise_nothing():
    model = StructuredPerceptron(lambda x, y: {(x, y): 1}, lambda weights, x: "a")
    model.partial_fit([1, 2, 3], ["a", "b", "a"])
    assert model.run_.generalisation(random_order=True).statements == ()


def test_a_run_that_was_cut_short_or_went_on_is_not_determined_by_its_mistakes():
    X, y = draw(np.random.default_rng(0), 200, 0.1)
    stopped = perceptron(X, y, random_state=0, watch=lambda history: Stopped.TIME_LIMIT).run
    assert statement(stopped, "compression") is None
    assert statement(stopped, "progressive") is not None  # the first pass was complete
    first = perceptron(X, y, random_state=0, max_iter=2)
    on = perceptron(X, y, random_state=0, max_iter=2, start=first.memory).run
    assert on.order is None
    assert on.generalisation(random_order=True).statements == ()


def test_a_table_whose_columns_were_encoded_by_the_same_rows_needs_rows_held_out():
    pd = pytest.importorskip("pandas")
    X, y = draw(np.random.default_rng(0), 200, 0.1)
    table = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "side": np.where(X[:, 1] > 0, "up", "down")})
    known = Perceptron(random_state=0).fit(table, y).run_.generalisation()
    assert known.statements == ()
    assert "learned from the same rows" in known.why_not
    known = Perceptron(random_state=0, held_out=0.2).fit(table, y).run_.generalisation()
    assert [one.name for one in known.statements] == ["held out"]


SAMPLE = draw(np.random.default_rng(5), 4000, 0.1)


def of_a_kernel(X, y, seed, **options):
    model = KernelPerceptron(kernel="poly", degree=1, gamma=1.0, random_state=seed, **options).fit(X, y)
    return model.run_, np.mean(model.predict(SAMPLE[0]) != SAMPLE[1])


def of_a_chain(X, y, seed, **options):
    model = SequencePerceptron(random_state=seed, **options).fit([x[None] for x in X], [[label] for label in y])
    return model.run_, 1.0 - model.score([x[None] for x in SAMPLE[0]], [[label] for label in SAMPLE[1]])


def of_a_structure(X, y, seed, **options):
    def features(x, label):
        return {0: x[0] * label, 1: x[1] * label}

    def decode(weights, x):
        return 1 if weights[0] * x[0] + weights[1] * x[1] >= 0 else -1

    model = StructuredPerceptron(features, decode, random_state=seed, **options).fit(X.tolist(), y.tolist())
    weights = [model.weights[0], model.weights[1]]
    return model.run_, risk(weights, 0.1)


@pytest.mark.parametrize("learner", [of_a_kernel, of_a_chain, of_a_structure])
def test_bounds_hold_in_every_space(learner):
    """As far as runs in it say anything: compression where the errors elsewhere are known, and rows held out."""

    def trial(chance):
        X, y = draw(chance, 60, 0.1)
        seed = int(chance.integers(2**31))
        run, share = learner(X, y, seed, max_iter=3)
        compressed = statement(run, "compression")
        judged, judged_share = learner(X, y, seed, max_iter=3, held_out=0.4)
        held_out = statement(judged, "held out")
        assert judged.held_out_rows + judged.n_rows == 60
        return (compressed is not None and share > compressed.at_most) or judged_share > held_out.at_most

    chance = np.random.default_rng(0)
    assert sum(trial(chance) for _ in range(60)) / 60 <= 1 - CONFIDENCE


def test_structures_say_what_their_mistakes_say_of_new_ones():
    X, y = draw(np.random.default_rng(0), 300, 0.0)
    run, _ = of_a_structure(X, y, 0, readout="last", max_iter=50)
    found = statement(run, "compression")
    assert found.at_most < 0.5
    assert statement(run, "progressive").wrong == run.mistakes_per_epoch[0] / 300


def test_sequences_by_which_epochs_were_chosen_say_less_of_new_ones():
    X, y = draw(np.random.default_rng(0), 100, 0.0)
    run, chosen = of_a_chain(X, y, 0)[0], of_a_chain(X, y, 0, early_stopping=True, validation_fraction=0.2)[0]
    assert statement(chosen, "progressive") == statement(run, "progressive")
    assert statement(chosen, "compression").at_most > statement(run, "compression").at_most
    assert of_a_chain(X, y, 0, cost=1.0)[0].generalisation().statements == ()


# -- how it is said ---------------------------------------------------------------------------------------------------


def test_a_record_says_in_a_line_what_is_to_be_expected():
    X, y = draw(np.random.default_rng(0), 1000, 0.03)
    run = perceptron(X, y, random_state=0, held_out=0.3).run
    assert f"{run.held_out_errors} errors on {run.held_out_rows} rows that were held out" in str(run.generalisation())
    line = str(run).splitlines()[-1]
    share = run.held_out_errors / run.held_out_rows
    assert line.startswith(f"Expected error: held-out error {100 * share:.1f} %, at most ")
    assert line.endswith(" % (95 % confidence).")


def test_the_error_of_the_first_pass_is_not_called_the_models():
    """Half of the rows were wrong when they were new; what is known of the model are its training errors."""
    X, y = draw(np.random.default_rng(0), 100, 0.4)
    run = perceptron(X, y, random_state=0, max_iter=3, lead=0).run
    assert run.errors / run.n_rows < run.mistakes_per_epoch[0] / run.n_rows
    known = run.generalisation()
    assert known.in_words == f"not measured; training error {100 * run.errors / run.n_rows:.1f} %"
    of_first_pass = next(statement for statement in known.statements if statement.name == "progressive")
    assert "of the first pass" in of_first_pass.predictor


def test_a_confidence_that_is_none_is_refused():
    run = perceptron([[1.0], [-1.0]], [1, -1], random_state=0).run
    with pytest.raises(ValueError, match="confidence=2"):
        run.generalisation(2)
