"""The training rows choose the lead, or the number of epochs; then all rows are learned."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.held_out import HeldOut
from novikoff.engine.rows import as_rows
from novikoff.learn import fit as choosing
from novikoff.learn.fit import FEWEST_ROWS, FOLDS, MOST_CHOSEN, SMALL, TINY, Trial, leads_tried, settled
from novikoff.learn.kernel.space import kernel_perceptron
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.memory import decider
from novikoff.learn.linear.space import perceptron
from novikoff.learn.run import Stopped
from novikoff.options import Options
from tests.clock import Clock

perceptron, kernel_perceptron = partial(perceptron, lead="auto"), partial(kernel_perceptron, lead="auto")
LEARNERS = [perceptron, kernel_perceptron]


def noisy(seed=0, n=300, columns=5):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, columns))
    return X, np.where(X[:, 0] + 0.7 * generator.normal(size=n) > 0, 1, -1)


def wide(seed):
    """Not a small table; a lead helps with every other seed, as of some texts."""
    if seed % 2:
        return noisy(seed, n=400, columns=60)
    generator = np.random.default_rng(seed)
    y = np.where(generator.random(800) < 0.5, 1, -1)
    X = (generator.random((800, 600)) < 0.02).astype(float)
    X[:, :40] = generator.random((800, 40)) < 0.06 + 0.04 * y[:, None] * np.where(np.arange(40) % 2, 1, -1)
    return X, y


def wrong(learned, X, y):
    return decider(learned.memory, "average").classes(as_rows(X)) != (y + 1) // 2


EPOCHS = st.one_of(st.none(), st.integers(1, 10_000))


@given(epochs=EPOCHS)
def test_trying_all_leads_costs_less_than_learning(epochs):
    trial = Trial.within(epochs)
    assert len(trial.tried) * (trial.epochs * trial.share + trial.share) <= (epochs or 10)
    assert len(trial.tried) * trial.epochs * trial.share <= 0.5 * (epochs or 10)
    assert 0 < trial.share <= 0.5


@given(epochs=EPOCHS, shards=st.integers(1, 4), small=st.booleans())
def test_a_trial_has_the_leads_of_its_own_epochs(epochs, shards, small):
    trial = Trial.within(epochs, shards, small=small)
    assert trial.leads[0] == trial.tried[0] == 0
    assert list(trial.leads) == sorted(set(trial.leads))
    assert all(0 < tried <= lead <= MOST_CHOSEN for lead, tried in zip(trial.leads[1:], trial.tried[1:], strict=True))
    assert trial.leads[-1] < (epochs or 10)
    assert trial.tried == trial.leads or not small


@given(data=st.data(), apart=st.sampled_from([0.0, 2.0]))
def test_a_lead_has_to_be_better_than_none_and_the_smallest_of_equals_is_chosen(data, apart):
    leads = (0.0, 0.25, 1.0, 4.0)
    trial = Trial(leads, leads, 1, errors_apart=apart)
    rows = {lead: np.array(data.draw(st.lists(st.booleans(), min_size=12, max_size=12)), dtype=float) for lead in leads}
    chosen = trial.best(rows)
    if chosen:
        better, worse = ((rows[0.0] > rows[chosen]).sum(), (rows[0.0] < rows[chosen]).sum())
        assert better - worse > apart * np.sqrt(better + worse)
    if not apart:
        fewest = min(part.sum() for part in rows.values())
        assert chosen == min(lead for lead in leads if rows[lead].sum() == fewest)


def test_a_small_advantage_of_a_rough_trial_is_not_one():
    none, some = np.zeros(100), np.zeros(100)
    none[:10], some[10:17] = 1, 1
    rough, folds = Trial.within(10), Trial.within(10, small=True)
    assert rough.best({0.0: none, 0.25: some, rough.leads[-1]: none}) == 0.0
    assert folds.best({lead: some if lead == 0.25 else none for lead in folds.leads}) == 0.25


@pytest.mark.parametrize("epochs", [1, 2, 10])
def test_the_lead_is_the_one_that_did_better_on_rows_that_it_did_not_learn(epochs):
    """The rough trial by hand, on a table that is not small."""
    found = set()
    for seed in range(4):
        X, y = wide(seed)
        trial = Trial.within(epochs)
        judging = HeldOut(seed, trial.share).which(0, len(X))
        some = HeldOut(seed, min(1.0, 2 * trial.share), trial.share).which(0, len(X))
        errors = {}
        for lead, tried in zip(trial.leads, trial.tried, strict=True):
            learned = perceptron(X[some], y[some], lead=tried, max_iter=trial.epochs, random_state=seed)
            errors[lead] = wrong(learned, X[judging], y[judging]).astype(float)
        run = perceptron(X, y, max_iter=epochs, random_state=seed).run
        assert (run.lead, run.leads_tried) == (trial.best(errors), len(trial.leads))
        found.add(run.lead > 0)
    assert epochs < 10 or found == {False, True}


def test_small_tables_choose_by_folds(monkeypatch):
    monkeypatch.setattr(choosing, "TINY", 0)
    found = set()
    for seed in range(6):
        X, y = noisy(seed, n=80)
        trial = Trial.within(30, small=True)
        errors = {lead: [] for lead in trial.leads}
        for fold in HeldOut.folds(FOLDS, seed):
            judging = fold.which(0, len(X))
            for lead in trial.leads:
                learned = perceptron(X[~judging], y[~judging], lead=lead, max_iter=30, random_state=seed)
                errors[lead].append(wrong(learned, X[judging], y[judging]))
        joined = {lead: np.concatenate(parts).astype(float) for lead, parts in errors.items()}
        run = perceptron(X, y, random_state=seed).run
        assert (run.lead, run.leads_tried) == (trial.best(joined), 4)
        found.add(run.lead)
    assert len(found) > 1


@pytest.mark.parametrize("n", [TINY // 4, TINY // 4 + 1, SMALL // 4, SMALL // 4 + 1])
def test_what_is_small_goes_by_rows_and_columns(n):
    X, y = noisy(n=n, columns=4)
    assert perceptron(X, y, max_iter=7, random_state=0).run.leads_tried == (4 if TINY < n * 4 <= SMALL else 3)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_chosen_lead_is_that_of_a_run_that_was_told_it(learner):
    X, y = noisy()
    chosen = learner(X, y, max_iter=10, random_state=0)
    told = learner(X, y, max_iter=10, lead=chosen.run.lead, random_state=0)
    assert chosen.run.lead in Trial.within(10, small=True).leads
    assert replace(chosen.run, leads_tried=0) == told.run
    assert (chosen.run.leads_tried, told.run.leads_tried) == (3, 0)
    assert f"Lead {chosen.run.lead:.4g}, chosen on" in str(chosen.run)
    assert "chosen" not in str(told.run)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("asked", [{"readout": "last"}, {"max_iter": 1, "shuffle": False}, {"lead": 0.0}])
def test_who_asked_for_the_standard_perceptron_gets_it(learner, asked):
    run = learner(*noisy(n=80), random_state=0, **asked).run
    assert (run.lead, run.leads_tried) == (0.0, 0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_too_few_rows_take_no_lead(learner):
    X, y = noisy(n=FEWEST_ROWS)
    assert learner(X[1:], y[1:], random_state=0).run.leads_tried == 0
    assert learner(X[1:], y[1:], random_state=0).run.lead == 0.0
    assert learner(X, y, random_state=0).run.leads_tried > 0


def test_a_class_that_only_those_rows_have_that_judge_decides_nothing():
    X, _ = noisy(n=60)
    y = -np.ones(60, dtype=int)
    y[0] = 1
    assert perceptron(X, y, random_state=0).run.lead == 0.0


def test_in_the_order_given_nothing_is_left_to_chance():
    X, y = noisy(n=80)
    runs = [perceptron(X, y, shuffle=False).run for _ in range(4)]
    assert runs[0].leads_tried == 3
    assert all(run == runs[0] for run in runs)


@pytest.mark.parametrize(("n", "epochs"), [(1, 30), (2_999, 30), (3_000, 10), (10**9, 10)])
def test_few_rows_have_more_epochs(n, epochs):
    assert settled(Options(), n).max_iter == epochs
    assert settled(Options(max_iter=7), n).max_iter == 7
    assert settled(Options(max_iter=None), n).max_iter is None


def test_a_run_has_the_epochs_of_its_rows_without_those_held_out():
    X, y = noisy(n=3_000, columns=2)
    assert perceptron(X, y, lead=0, random_state=0).run.epochs == 10
    assert perceptron(X, y, lead=0, random_state=0, held_out=0.1).run.epochs == 30


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lead": "much"}, "or 'auto'"),
        ({"max_iter": "many"}, "max_iter='many' must be a whole number of at least 1, or 'auto', or None"),
        ({"early_stopping": True, "validation_fraction": 1.5}, "validation_fraction=1.5 must be a fraction"),
    ],
)
@pytest.mark.parametrize("learner", LEARNERS)
def test_wrong_wishes_are_refused(learner, asked, message):
    with pytest.raises(ValueError, match=message):
        learner(*noisy(), **asked)


def test_who_goes_on_keeps_its_lead_and_cannot_put_rows_aside():
    X, y = noisy()
    first = perceptron(X, y, lead=0.5, random_state=0)
    again = perceptron(X, -y, start=first.memory, random_state=0)
    assert (again.run.lead, again.run.leads_tried) == (0.5, 0)
    with pytest.raises(ValueError, match="early_stopping needs a new start"):
        perceptron(X, y, start=first.memory, early_stopping=True)


def test_batches_choose_as_a_matrix_does():
    X, y = noisy()
    options = {"lead": "auto", "early_stopping": True, "random_state": 0}
    whole = perceptron(X, y, **options)
    parts = learn_from([(X[:100], y[:100]), (X[100:], y[100:])], **options)
    assert whole.run.leads_tried == 3
    assert parts.run == whole.run
    assert (parts.memory.weights == whole.memory.weights).all()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
def test_the_validation_part_chooses_the_epochs_and_then_all_rows_are_learned(learner, readout):
    X, y = noisy()
    options = {"readout": readout, "random_state": 3, "lead": 0.0}
    asked = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2, "max_iter": 20}
    learned = learner(X, y, **options, **asked)
    errors = learned.run.validation_errors
    best = int(np.argmin(errors)) + 1
    assert learned.run.epochs == best
    assert len(errors) == min(best + 2, 20)
    assert learned.run.stopped is (Stopped.VALIDATION if best < 20 else Stopped.MAX_ITER)
    told = learner(X, y, **options, max_iter=best)
    assert (learned.run.mistakes_per_epoch, learned.run.radius) == (told.run.mistakes_per_epoch, told.run.radius)


# ---------------------------------------------------------------------------------------------------------------------
# What rows that chose say about new ones
# ---------------------------------------------------------------------------------------------------------------------


def far_apart(n=400):
    X, _ = noisy(n=n)
    X[:, 0] += 3 * np.sign(X[:, 0])
    return X, np.where(X[:, 0] > 0, 1, -1)


def bounds(run, confidence=0.95):
    return {said.name: said.at_most for said in run.generalisation(confidence).statements}


def test_what_holds_for_every_lead_with_a_share_of_the_doubt_holds_for_the_chosen_one():
    X, y = far_apart()
    chosen = perceptron(X, y, random_state=0).run
    told = perceptron(X, y, lead=chosen.lead, random_state=0).run
    assert chosen.leads_tried == 3
    shared = bounds(told, 1 - 0.05 / 3)
    del shared["leave one out"]  # in expectation: with one row less, another lead might have been chosen
    assert bounds(chosen) == pytest.approx(shared)
    assert set(shared) == {"progressive", "first vote", "compression"}
    assert chosen.generalisation().delivered.confidence == 0.95


def test_the_number_of_epochs_that_was_chosen_costs_doubt_too_but_not_in_the_first_pass():
    X, y = far_apart()
    chosen = perceptron(X, y, lead=0.0, early_stopping=True, random_state=0).run
    epochs = chosen.validation_errors.index(min(chosen.validation_errors)) + 1
    told = perceptron(X, y, lead=0.0, max_iter=epochs, random_state=0).run
    shared = bounds(told, 1 - 0.05 / (epochs * (epochs + 1)))
    assert bounds(chosen)["compression"] == pytest.approx(shared["compression"])
    assert bounds(chosen)["progressive"] == bounds(told)["progressive"]
    assert "leave one out" not in bounds(chosen)


def test_rows_that_were_held_out_judge_the_chosen_lead_with_all_of_the_confidence():
    X, y = noisy()
    chosen = perceptron(X, y, held_out=0.2, random_state=0).run
    told = perceptron(X, y, held_out=0.2, lead=chosen.lead, random_state=0).run
    assert bounds(chosen)["held out"] == bounds(told)["held out"]


# ---------------------------------------------------------------------------------------------------------------------
# Time
# ---------------------------------------------------------------------------------------------------------------------


def test_choosing_counts_towards_the_time_limit(clock):
    X, y = noisy()
    run = perceptron(X, y, early_stopping=True, time_limit=1e-6, max_iter=None, random_state=0).run
    assert run.stopped in (Stopped.TIME_LIMIT, Stopped.VALIDATION)


@pytest.mark.parametrize("columns", [5, 60])
def test_trials_and_learning_share_the_time_that_there_is(columns):
    X, y = noisy(columns=columns)
    asked = {"early_stopping": True, "n_iter_no_change": 10**6, "max_iter": 10**6, "time_limit": 1.0}
    clock = Clock(tick=0.001)
    with clock.in_place():
        began = clock.now
        perceptron(X, y, **asked, random_state=0)
    assert 0.5 < clock.now - began < 1.2  # the trials and the look for a number of epochs ran out of theirs


def test_too_few_rows_have_no_leads_to_choose_from():
    class Rows:
        n_rows, n_columns = FEWEST_ROWS, 3

    assert leads_tried(Rows(), 30) == Trial.within(30).leads
    Rows.n_rows -= 1
    assert leads_tried(Rows(), 30) == ()
