"""Epochs that look ahead make the mistakes of those that do not, and leave the same weights, bit for bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from novikoff.data.examples import Examples
from novikoff.data.order import Order, given_order, random_order
from novikoff.engine import slack as looking_ahead
from novikoff.engine import threads
from novikoff.engine.linear import Rule, Updates, binary_epoch
from novikoff.engine.rows import as_rows, longest_square
from novikoff.engine.slack import Ahead, find_slack
from novikoff.engine.threads import on_cores
from novikoff.learn.linear.space import perceptron
from tests import lecture


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch):
    """Look ahead on few rows, too, however many mistakes there are, and on several threads."""
    monkeypatch.setattr(looking_ahead, "FEWEST_ROWS", 1)
    monkeypatch.setattr(looking_ahead, "RARE", 1)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)


def rows_and_labels(seed, n=40, d=5):
    """Separable but for a few rows; some of whole numbers, some tiny, some twice, and some 0."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)).round(generator.integers(0, 4))
    X *= np.where(generator.random(n) < 0.1, 1e-4, 1.0)[:, None]
    X[generator.integers(n)] = X[generator.integers(n)]
    labels = np.where(X @ generator.standard_normal(d) >= 0, 1, -1)
    if generator.random() < 0.5:
        labels[generator.integers(n)] *= -1
    return X * 10.0 ** generator.integers(-60, 60), labels.astype(np.int8)


def room_for(updates):
    return Updates(np.empty(updates, dtype=np.uint32), np.empty(updates, dtype=np.bool_), np.empty(0, dtype=np.int64))


def passes(X, labels, rule, orders, most, epoch, *, average):
    """What some passes do, in calls that make so many mistakes at most."""
    w, drift = np.zeros(X.n_columns + 1), np.zeros(X.n_columns + 1 if average else 0)
    steps = []
    clock = 0
    for order in orders:
        run, found = epoch(w), room_for(most)
        step = 0
        while step < len(order.visit):
            rest = (Order(order.visit[step:]), rule, np.empty(0), clock, len(steps))
            seen, made = run(X.matrix, labels, *rest, w, drift, found)
            at, narrow, _ = found
            steps += zip((clock + at[:made].astype(np.int64)).tolist(), narrow[:made].tolist(), strict=True)
            step, clock = step + seen, clock + seen
    return steps, w.tolist(), drift.tolist()


def looking(rows, shuffled):
    one = Ahead(rows, shuffled=shuffled, n_rows_in_all=rows.n_rows)

    def epoch(w):
        one.begin(w)
        return one.epoch

    return epoch


@given(
    seed=st.integers(0, 9_999),
    n_jobs=st.integers(1, 3),
    bias=st.sampled_from([0.0, 1.0]),
    ties=st.booleans(),
    lead=st.sampled_from([0.0, 0.0, 0.5]),
    shuffled=st.booleans(),
    average=st.booleans(),
    most=st.sampled_from([1, 3, 1000]),
    kind=st.sampled_from([np.float32, np.float64]),
    layout=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_looking_ahead_changes_no_bit(seed, n_jobs, bias, ties, lead, shuffled, average, most, kind, layout):
    X, labels = rows_and_labels(seed)
    rows = as_rows(layout((X * 1e-25 if kind is np.float32 and np.abs(X).max() > 1e30 else X).astype(kind)))
    longest = longest_square(rows, bias)
    rule = Rule(bias, ties or lead > 0, 8.0 * (rows.widest + 2) * 2.0**-53 * longest, lead, longest)
    generator = np.random.default_rng(seed)
    orders = [random_order(40, generator) if shuffled else given_order(40) for _ in range(12)]
    task = (rows, labels, rule, orders, most)
    expected = passes(*task, lambda w: binary_epoch, average=average)
    with on_cores(n_jobs):
        assert passes(*task, looking(rows, shuffled), average=average) == expected


@given(
    seed=st.integers(0, 9_999),
    n_jobs=st.integers(1, 3),
    blocks=st.integers(1, 3),
    shuffle=st.booleans(),
    lead=st.sampled_from([0.0, 0.25]),
)
def test_a_run_that_looks_ahead_is_the_run_of_the_lecture(seed, n_jobs, blocks, shuffle, lead):
    X, labels = rows_and_labels(seed, n=30)
    parts = zip(np.split(X, blocks), np.split(labels, blocks), strict=True)
    examples = Examples.in_blocks([(as_rows(some), own) for some, own in parts], 2)
    options = {"max_iter": 15, "random_state": seed, "shuffle": shuffle, "record_mistakes": True, "lead": lead}
    with on_cores(n_jobs):
        learned = perceptron(examples, **options)
    if not shuffle and not lead:
        told = lecture.perceptron(X, labels, [*range(30)] * learned.run.epochs, bias=True)
        assert learned.mistakes.rows.tolist() == lecture.mistakes(told)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking_ahead, "FEWEST_ROWS", 10**9)
        plain = perceptron(examples, **options)
    assert learned.run == plain.run
    assert learned.memory.weights.tolist() == plain.memory.weights.tolist()
    assert learned.memory.drift.tolist() == plain.memory.drift.tolist()


@example(seed=0, power=-160, share=1.0)
@example(seed=0, power=150, share=1.0)
@given(seed=st.integers(0, 9_999), power=st.integers(-150, 150), share=st.floats(0.0, 1.0))
def test_weights_that_move_by_less_than_its_slack_do_not_make_a_row_a_mistake(seed, power, share):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((5, 3)) * 10.0**power
    w, y = np.append(generator.standard_normal(3), 0.0), np.ones(5, dtype=np.int8)
    slack = np.empty(5, dtype=np.float32)
    find_slack(as_rows(X).matrix, y, 0.0, 0.0, w, 1e-14, slack)
    for x, room in zip(X, slack.astype(np.float64).tolist(), strict=True):
        if room > 0:
            square = sum(Fraction(value) ** 2 for value in x.tolist())
            score = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), w[:3].tolist(), strict=True))
            assert score > 0
            assert score**2 > square * Fraction(share * room) ** 2  # the worst way to move is along the row itself


def test_rows_with_slack_are_not_read():
    """Rows that turn into NaN after they were looked at would become mistakes if anybody read them."""
    X = np.array([[5.0, 1.0], [-5.0, 1.0], [0.001, 1.0]] * 10)
    labels = np.array([1, -1, 1] * 10, dtype=np.int8)
    rows = as_rows(X)
    one = Ahead(rows, shuffled=False, n_rows_in_all=30)
    rule, w = Rule(0.0, True, 1e-12), np.zeros(3)
    last = (w, np.empty(0), room_for(30))
    task = (rows.matrix, labels, given_order(30), rule, np.empty(0), 0)
    mistakes = 0
    for _ in range(60):
        one.begin(w)
        _, made = one.epoch(*task, mistakes, *last)
        mistakes += made
        if one.looks_ahead and not made:
            break
    slack = one.earlier.slack > one.earlier.distance[1] + 1e-9
    assert slack[::3].all()
    X[slack] = np.nan
    assert one.epoch(*task, mistakes, *last) == (30, 0)
