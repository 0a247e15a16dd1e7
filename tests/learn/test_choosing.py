"""A share of the training rows chooses the lead, or the number of epochs; then all rows are learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import KernelPerceptron, Perceptron, load, save
from novikoff.data.held_out import HeldOut
from novikoff.learn.choosing import MOST_CHOSEN, Trial, leads_within, with_fewest
from novikoff.learn.history import Stopped
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.space import perceptron
from tests.clock import Clock

LEARNERS = [Perceptron, KernelPerceptron]


def noisy(seed=0, n=300):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 5))
    return X, X[:, 0] + 0.7 * generator.normal(size=n) > 0


EPOCHS = st.one_of(st.none(), st.integers(1, 10_000))


@given(epochs=EPOCHS)
def test_trying_all_leads_costs_less_than_learning(epochs):
    trial = Trial.within(epochs)
    assert len(trial.tried) * (trial.epochs * trial.share + trial.share) <= (epochs or 10)
    assert 0 < trial.share <= 0.5


@given(epochs=EPOCHS)
def test_a_trial_has_the_lead_of_its_own_epochs_which_is_smaller(epochs):
    trial = Trial.within(epochs)
    assert trial.leads[0] == trial.tried[0] == 0
    assert 0 < trial.tried[1] <= trial.leads[1] <= MOST_CHOSEN
    assert trial.leads[1] < (epochs or 10)


@given(st.dictionaries(st.floats(0, 4), st.integers(0, 5), min_size=1))
def test_the_fewest_errors_choose_and_the_largest_lead_of_equals(errors):
    chosen = with_fewest(errors)
    assert errors[chosen] == min(errors.values())
    assert all(errors[lead] > errors[chosen] for lead in errors if lead > chosen)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("epochs", [1, 2, 10])
def test_the_lead_is_the_one_that_did_better_on_rows_that_it_did_not_learn(learner, epochs):
    X, y = noisy(seed=epochs)
    options = {"random_state": 3} | ({"gamma": 0.5} if learner is KernelPerceptron else {})
    trial = Trial.within(epochs)
    judging = HeldOut(3, trial.share).which(0, len(X))
    some = HeldOut(3, min(1.0, 2 * trial.share), trial.share).which(0, len(X))
    errors = []
    for lead in trial.tried:
        tried = learner(lead=lead, max_iter=trial.epochs, **options).fit(X[some], y[some])
        errors.append((tried.predict(X[judging]) != y[judging]).sum())
    chosen = learner(lead="auto", max_iter=epochs, **options).fit(X, y)
    assert chosen.lead_ == trial.leads[int(errors[1] <= errors[0])]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_chosen_lead_is_that_of_a_run_that_was_told_it(learner):
    X, y = noisy()
    chosen = learner(lead="auto", random_state=0).fit(X, y)
    told = learner(lead=chosen.lead_, random_state=0).fit(X, y)
    assert chosen.lead_ in leads_within(10)
    assert (chosen.decision_function(X) == told.decision_function(X)).all()
    assert (chosen.n_mistakes_, chosen.n_narrow_) == (told.n_mistakes_, told.n_narrow_)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_the_validation_part_chooses_the_epochs_and_then_all_rows_are_learned(learner, readout):
    X, y = noisy()
    options = {"readout": readout, "random_state": 3, "max_iter": 20}
    model = learner(early_stopping=True, validation_fraction=0.3, n_iter_no_change=2, **options).fit(X, y)
    errors = model.run_.validation_errors
    best = int(np.argmin(errors)) + 1
    assert model.n_iter_ == best
    assert len(errors) == min(best + 2, 20)
    assert model.run_.stopped is (Stopped.VALIDATION if best < 20 else Stopped.MAX_ITER)
    told = learner(**(options | {"max_iter": best})).fit(X, y)
    assert (model.decision_function(X) == told.decision_function(X)).all()
    held = HeldOut.share(0.3, 3).which(0, len(X))
    part = learner(**(options | {"max_iter": best}))
    if learner is KernelPerceptron:
        part.gamma = 1.0 / (X.shape[1] * X.var())
    assert int((part.fit(X[~held], y[~held]).predict(X[held]) != y[held]).sum()) == errors[best - 1]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("asked", [{"lead": "auto"}, {"early_stopping": True, "validation_fraction": 0.2}])
def test_rows_that_chose_say_nothing_about_new_ones_and_rows_held_out_do(learner, asked):
    X, y = noisy()
    known = learner(random_state=0, gamma=1.0) if learner is KernelPerceptron else learner(random_state=0)
    run = known.set_params(**asked).fit(X, y).run_
    assert run.generalisation(random_order=True).statements == ()
    run = known.set_params(held_out=0.2).fit(X, y).run_
    assert [statement.name for statement in run.generalisation().statements] == ["held out"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_was_chosen_survives_a_file(learner, tmp_path):
    X, y = noisy()
    model = learner(lead="auto", early_stopping=True, validation_fraction=0.2, random_state=0).fit(X, y)
    save(model, tmp_path / "model.novikoff")
    again = load(tmp_path / "model.novikoff")
    assert (again.run_, again.lead_, again.lead) == (model.run_, model.lead_, "auto")
    assert "The validation part chose" in str(again.run_)


def test_batches_choose_as_a_matrix_does():
    X, y = noisy()
    labels = np.where(y, 1, -1)
    options = {"lead": "auto", "early_stopping": True, "validation_fraction": 0.2, "random_state": 0}
    whole = perceptron(X, labels, **options)
    parts = learn_from([(X[:100], labels[:100]), (X[100:], labels[100:])], **options)
    assert parts.run == whole.run
    assert (parts.memory.weights == whole.memory.weights).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_that_come_in_parts_cannot_choose_a_lead(learner):
    with pytest.raises(ValueError, match="partial_fit needs a number, such as lead=1"):
        learner(lead="auto").partial_fit([[1.0], [-1.0]], [0, 1])


def test_who_goes_on_keeps_its_lead_and_cannot_put_rows_aside():
    X, y = noisy()
    model = Perceptron(lead="auto", warm_start=True, random_state=0).fit(X, y)
    lead = model.lead_
    assert model.fit(X[::-1], ~y[::-1]).lead_ == lead
    with pytest.raises(ValueError, match="early_stopping needs a new start"):
        model.set_params(early_stopping=True, validation_fraction=0.2).fit(X, y)


def test_too_few_rows_take_a_lead():
    assert Perceptron(lead="auto", random_state=0).fit([[1.0], [-1.0]], [0, 1]).lead_ == leads_within(10)[1]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lead": "much"}, "or 'auto'"),
        (
            {"early_stopping": True, "validation_fraction": 1.5},
            "validation_fraction=1.5 must be a fraction",
        ),
        ({"early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 0}, "n_iter_no_change=0 must be"),
    ],
)
@pytest.mark.parametrize("learner", LEARNERS)
def test_wrong_wishes_are_refused(learner, asked, message):
    X, y = noisy()
    with pytest.raises(ValueError, match=message):
        learner(**asked).fit(X, y)


def test_choosing_counts_towards_the_time_limit(clock):
    X, y = noisy()
    model = Perceptron(
        lead="auto", early_stopping=True, validation_fraction=0.2, time_limit=1e-6, max_iter=None, random_state=0
    ).fit(X, y)
    assert model.run_.stopped in (Stopped.TIME_LIMIT, Stopped.VALIDATION)


@pytest.mark.parametrize("learner", LEARNERS)
def test_trials_and_learning_share_the_time_that_there_is(learner):
    X, y = noisy()
    asked = {
        "lead": "auto",
        "early_stopping": True,
        "validation_fraction": 0.2,
        "n_iter_no_change": 10**6,
        "max_iter": 10**6,
        "time_limit": 1.0,
    }
    clock = Clock(tick=0.01)
    with clock.in_place():
        began = clock.now
        learner(**asked, random_state=0).fit(X, y)
    assert 0.5 < clock.now - began < 1.2  # both trials and the look for a number of epochs ran out of theirs
