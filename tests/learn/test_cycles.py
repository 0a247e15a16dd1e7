"""A run whose weights return has found its own proof that there is no separator; and what a long run leaves behind."""

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff import (
    Certificate,
    Perceptron,
    SequencePerceptron,
    Stopped,
    StructuredPerceptron,
    certify,
    load,
    save,
)
from novikoff.data.examples import Examples
from novikoff.learn.epochs import LOOKED_AT, RECORDED_EPOCHS, ROWS_PER_LOOK, Epochs, Learner, Watch, next_look
from novikoff.learn.kernel.space import kernel_perceptron
from novikoff.learn.linear.space import perceptron
from novikoff.learn.structure.space import StructureMemory
from novikoff.options import Options
from novikoff.say import runs as say

XOR, SIGNS = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
FOR_EVER = {"readout": "last", "max_iter": None, "shuffle": False}


@pytest.mark.parametrize("n_rows", [1, 7, 1000, 10**6])
def test_later_epochs_are_looked_at_ever_more_seldom_but_never_less_than_once_in_so_many_rows(n_rows):
    ends = [0]
    while len(ends) < 1000:
        ends.append(next_look(ends[-1], n_rows))
    steps = np.diff(ends)
    assert steps[: 2 * LOOKED_AT].tolist() == [1] * (2 * LOOKED_AT)
    assert steps.max() <= max(1, ROWS_PER_LOOK // n_rows)


def test_xor_ends_in_the_second_epoch_in_every_space():
    def decode(weights, x):
        return max((1, -1), key=lambda y: weights.score(features(x, y)))

    def features(x, y):
        return {"bias": y, **{name: value * y for name, value in enumerate(x)}}

    with pytest.warns(UserWarning, match="no separator exists"):
        structured = StructuredPerceptron(features, decode, **FOR_EVER).fit(XOR, SIGNS)
    poly = {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 1.0}
    runs = [
        perceptron(XOR, SIGNS, **FOR_EVER).run,
        perceptron(csr_array(np.array(XOR)), SIGNS, **FOR_EVER).run,
        kernel_perceptron(XOR, SIGNS, **poly, **FOR_EVER).run,
        structured.run_,
    ]
    for run in runs:
        assert (run.stopped, run.epochs) == (Stopped.CYCLE, 2)
        assert (run.cycle.rows, run.cycle.times) == ((0, 1, 2, 3), (1, 1, 1, 1))


def test_xor_as_sequences_ends_after_a_few_epochs():
    with pytest.warns(UserWarning, match="no separator exists"):
        run = SequencePerceptron(**FOR_EVER).fit([np.array([[*x, 1.0]]) for x in XOR], [[y] for y in SIGNS]).run_
    assert (run.stopped, run.epochs) == (Stopped.CYCLE, 4)
    assert run.cycle.rows == (0, 1, 2, 3)
    assert run.cycle.rivals == ((-1,), (-1,), (1,), (1,))


def structured(**options):
    def features(x, y):
        return {"bias": y, **{name: value * y for name, value in enumerate(x)}}

    def decode(weights, x):
        return max((1, -1), key=lambda y: weights.score(features(x, y)))

    return StructuredPerceptron(features, decode, **options).fit(XOR, SIGNS).run_


def sequences(**options):
    return SequencePerceptron(**options).fit([np.array([[*x, 1.0]]) for x in XOR], [[y] for y in SIGNS]).run_


POLY = {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 1.0}
SPACES = {
    "linear": lambda **options: perceptron(XOR, SIGNS, **options).run,
    "three classes": lambda **options: perceptron([*XOR, [9, 9]], [0, 0, 1, 1, 2], n_classes=3, **options).run,
    "kernel": lambda **options: kernel_perceptron(XOR, SIGNS, **POLY, **options).run,
    "structure": structured,
    "chain": sequences,
}


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.filterwarnings("ignore:.*no separator exists")
@pytest.mark.parametrize("space", SPACES)
def test_the_time_limit_holds_also_where_mistakes_are_made_again_and_added_up(space, clock):
    clock.tick = 1.0
    whole = SPACES[space](**FOR_EVER)
    assert whole.stopped is Stopped.CYCLE
    for limit in (0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55):
        began = clock.now
        run = SPACES[space](time_limit=limit, **FOR_EVER)
        assert clock.now - began <= limit + 6  # looks at the clock, each of which takes a second
        assert (run.stopped, run.cycle) in ((Stopped.TIME_LIMIT, None), (Stopped.CYCLE, whole.cycle))


def test_a_period_is_not_learned_again_once_it_is_late():
    period, learned = 1000, []

    class Endless(Learner):
        def learn(self, watch):
            learned.append(watch)
            return watch.cut_short()

    class Clock(Watch):
        def cut_short(self):
            return Stopped.TIME_LIMIT if len(learned) == 3 else None

    examples = Examples.of([[1.0], [2.0]], ["no", "yes"])
    assert Endless(examples, StructureMemory(), Options(lead=0.0, shuffle=False)).cancelled(0, period, Clock()) is None
    assert len(learned) == 3


def test_rows_that_cancel_are_those_of_the_whole_table_if_some_were_held_out():
    X, y = np.array(XOR * 5), np.array(SIGNS * 5)
    run = perceptron(X, y, held_out=0.3, random_state=1, **FOR_EVER).run
    assert run.held_out_rows > 0
    rows, times = np.array(run.cycle.rows), np.array(run.cycle.times)
    assert not (times * y[rows] @ np.hstack([X, np.ones((20, 1))])[rows]).any()
    assert rows.max() >= run.n_rows


def test_where_an_average_was_asked_for_the_run_goes_on_and_records_it():
    run = perceptron(XOR, SIGNS, shuffle=False, max_iter=7).run
    assert (run.stopped, run.epochs, run.cycle.until) == (Stopped.MAX_ITER, 7, 2)


def test_a_shuffled_run_cannot_notice():
    assert perceptron(XOR, SIGNS, readout="last", max_iter=50, random_state=0).run.cycle is None


def test_weights_that_return_because_they_were_rounded_prove_nothing():
    """1e17 - 1 is 1e17 again, and the mistake in between is no 0."""
    run = perceptron([[1e17], [1.0]], [1, -1], fit_intercept=False, readout="last", shuffle=False, max_iter=50).run
    assert (run.stopped, run.cycle) == (Stopped.MAX_ITER, None)


@given(st.data())
def test_the_mistakes_in_between_are_a_certificate(data):
    number = st.integers(-3, 3)
    X = data.draw(st.lists(st.lists(number, min_size=2, max_size=2), min_size=2, max_size=6))
    y = [1, -1, *(data.draw(st.sampled_from([-1, 1])) for _ in X[2:])]
    run = perceptron(X, y, **FOR_EVER).run
    assert (run.stopped is Stopped.CYCLE) == (certify(X, y).verdict.value != "separable")
    if run.cycle is not None:
        certificate = Certificate.from_mistakes(X, y, np.repeat(run.cycle.rows, run.cycle.times))
        certificate.check(X, y)
        assert certificate.obstruction[:2] == (run.cycle.rows, run.cycle.times)


@given(st.data())
def test_a_chain_that_returns_has_label_sequences_that_cancel(data):
    words = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3)
    sentences = data.draw(st.lists(words, min_size=1, max_size=4))
    labels = [[data.draw(st.sampled_from("AB")) for _ in sentence] for sentence in sentences]
    tokens = [[{"w": word} for word in sentence] for sentence in sentences]
    options = {"templates": ["w[0]"], "cost": data.draw(st.sampled_from([0.0, 1.0]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SequencePerceptron(**options, **FOR_EVER).fit(tokens, labels)
    run = model.run_
    assert (run.stopped is Stopped.CYCLE) == (run.cycle is not None)
    if run.cycle is None:
        assert run.stopped is Stopped.NO_MISTAKES
        return
    total = Counter()
    for row, times, guess in zip(run.cycle.rows, run.cycle.times, run.cycle.rivals, strict=True):
        for answer, sign in ((labels[row], times), (list(guess), -times)):
            for feature, value in model.tagger_.joint_features(tokens[row], answer).items():
                total[feature] += sign * value
    assert run.cycle.rows
    assert not any(total.values())


def test_a_chain_notices_nothing_where_rounded_sums_return():
    """1e17 - 1 is 1e17 again, for the weights of both labels; only whole differences prove anything."""
    X, y = [np.array([[1e17]]), np.array([[1.0]])], [["a"], ["b"]]
    with pytest.warns(UserWarning, match="still made"):
        run = SequencePerceptron(readout="last", shuffle=False, max_iter=50).fit(X, y).run_
    assert run.stopped is Stopped.MAX_ITER


def test_a_model_file_keeps_the_mistakes_that_cancel(tmp_path):
    with pytest.warns(UserWarning, match="no separator exists"):
        model = Perceptron(**FOR_EVER).fit([*XOR, [9, 9]], [*SIGNS, 2])
    assert model.run_.cycle.rivals is not None
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").run_ == model.run_
    with pytest.warns(UserWarning, match="no separator exists"):
        chain = SequencePerceptron(**FOR_EVER).fit([np.array([[*x, 1.0]]) for x in XOR], [[y] for y in SIGNS])
    save(chain, tmp_path / "chain")
    assert load(tmp_path / "chain").run_ == chain.run_


# -- long runs --------------------------------------------------------------------------------------------------------


def test_a_long_run_records_its_first_epochs_and_counts_them_all(tmp_path):
    most = 3 * RECORDED_EPOCHS
    with pytest.warns(UserWarning, match="the last of 3,000 epochs still made mistakes"):
        model = Perceptron(readout="last", max_iter=most, random_state=0).fit(XOR, SIGNS)
    run = model.run_
    assert (run.epochs, len(run.mistakes_per_epoch), run.examples) == (most, RECORDED_EPOCHS, 4 * most)
    assert f"({most:,} in all)" in say.made(run)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").run_ == run


def test_a_long_run_of_sequences_records_its_first_epochs_alone(tmp_path):
    X, y = [np.array([[*x, 1.0]]) for x in XOR], [[y] for y in SIGNS]
    model = SequencePerceptron(max_iter=2 * RECORDED_EPOCHS, random_state=0).fit(X, y)
    for counts in (model.run_.mistakes_per_epoch, model.run_.wrong_tokens_per_epoch, model.run_.seconds_per_epoch):
        assert len(counts) == RECORDED_EPOCHS


@given(st.integers(1, 5), st.lists(st.lists(st.booleans(), max_size=9), max_size=9))
def test_epochs_are_counted_alike_step_by_step_and_call_by_call(n_rows, calls):
    together, one_by_one = Epochs(n_rows), Epochs(n_rows)
    for made in calls:
        together.count(np.flatnonzero(made), len(made))
        for mistake in made:
            one_by_one.count_one(mistake)
    assert together == one_by_one
    steps = [mistake for made in calls for mistake in made]
    expected = [sum(steps[start : start + n_rows]) for start in range(0, len(steps), n_rows)]
    ended = [i for i, made in enumerate(expected) if made == 0 and (i + 1) * n_rows <= len(steps)]
    expected = expected[: ended[0] + 1] if ended else expected
    assert together.recorded() == {
        "per_epoch": tuple(expected),
        "narrow_per_epoch": (),
        "epochs": len(expected),
        "cycle": None,
    }


def test_a_cycle_names_its_classes_in_every_way_in_and_survives_a_file(tmp_path):
    X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], [-1.0, -1.0, 1.0, 1.0, 2.0]
    model = Perceptron(shuffle=False, max_iter=200).fit(X, y)
    assert min(model.run_.cycle.rivals) == -1.0
    assert model.run_.cycle == Perceptron(shuffle=False, max_iter=200).fit([(np.array(X), np.array(y))]).run_.cycle
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").run_ == model.run_
