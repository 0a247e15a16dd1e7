"""The plain function: why it stops, what its record says, and what it refuses."""

import math
import os
import signal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Stopped
from novikoff.learn.linear.space import LinearMemory, grow, learn_online, perceptron
from tests.examples import WORKED_X, WORKED_Y, separable

XOR_X, XOR_Y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, -1, -1])


def test_it_stops_after_the_first_epoch_without_a_mistake():
    learned = perceptron(WORKED_X, WORKED_Y, fit_intercept=False, shuffle=False, max_iter=2)
    assert learned.run.stopped is Stopped.NO_MISTAKES
    assert learned.run.mistakes_per_epoch == (3, 0)
    assert learned.run.examples == learned.memory.examples == 12


def test_at_the_edge_the_last_allowed_epoch_may_be_the_one_without_a_mistake():
    one = perceptron(WORKED_X, WORKED_Y, fit_intercept=False, shuffle=False, max_iter=1)
    assert one.run.stopped is Stopped.MAX_ITER
    assert one.run.mistakes_per_epoch == (3,)


@pytest.mark.parametrize("n", [3, 50, 2_000])
def test_epochs_and_examples_are_counted_exactly(n):
    X, y, _ = separable(np.random.default_rng(n), n, 4, 0.02)
    learned = perceptron(X, y, max_iter=None, random_state=0, record_mistakes=True)
    assert learned.run.stopped is Stopped.NO_MISTAKES
    assert learned.run.mistakes_per_epoch[-1] == 0
    assert 0 not in learned.run.mistakes_per_epoch[:-1]
    assert learned.run.examples == learned.run.epochs * n
    assert sum(learned.run.mistakes_per_epoch) == learned.run.mistakes == len(learned.mistakes.rows)
    assert (np.diff(learned.mistakes.times) > 0).all()
    per_epoch = np.bincount(learned.mistakes.times // n, minlength=learned.run.epochs)
    assert per_epoch.tolist() == list(learned.run.mistakes_per_epoch)


@given(st.integers(0, 9_999), st.integers(2, 4))
def test_margin_at_most_is_never_below_what_exact_arithmetic_proves(seed, n_classes):
    generator = np.random.default_rng(seed)
    X, y = generator.standard_normal((12, 3)), generator.integers(0, n_classes, 12)
    labels = 2 * y - 1 if n_classes == 2 else y
    learned = perceptron(X, labels, n_classes=n_classes, max_iter=5, random_state=seed, record_mistakes=True)
    W = [[Fraction(0)] * 4 for _ in range(n_classes)]
    for row, right, wrong in zip(learned.mistakes.rows, learned.mistakes.right, learned.mistakes.wrong, strict=True):
        for j, value in enumerate([*X[row].tolist(), 1.0]):
            W[right][j] += Fraction(value)
            W[wrong][j] -= Fraction(value)
    square = sum(v**2 for w in W for v in w) / (2 if n_classes == 2 else 1)
    k = learned.run.mistakes
    assert Fraction(learned.run.margin_at_most) ** 2 * k**2 >= square
    assert learned.run.margin_at_most == pytest.approx(math.sqrt(square) / k, rel=1e-12)


def test_before_the_first_mistake_every_margin_is_possible():
    learned = perceptron([[1.0]], [1], tie="predict", fit_intercept=False)
    assert learned.run.mistakes == 0
    assert learned.run.margin_at_most == math.inf
    assert "R <= 1." in str(learned.run)


def test_time_runs_out(clock):
    clock.tick = 0.01
    learned = perceptron(XOR_X, XOR_Y, max_iter=None, time_limit=0.05)
    assert learned.run.stopped is Stopped.TIME_LIMIT
    assert learned.run.mistakes > 0


def test_an_interrupt_ends_the_run_and_keeps_what_was_learned():
    def press_ctrl_c(memory):
        if memory.examples >= 5 * len(XOR_X):
            os.kill(os.getpid(), signal.SIGINT)

    learned = perceptron(XOR_X, XOR_Y, max_iter=None, watch=press_ctrl_c)
    assert learned.run.stopped is Stopped.INTERRUPTED
    assert learned.run.mistakes == learned.memory.mistakes > 0


def test_a_run_may_go_on_where_another_ended():
    X, y, _ = separable(np.random.default_rng(1), 100, 3, 0.001)
    options = {"shuffle": False, "record_mistakes": True}
    whole = perceptron(X, y, max_iter=6, **options)
    first = perceptron(X, y, max_iter=2, **options)
    before = first.memory.weights.copy()
    second = perceptron(X, y, max_iter=4, start=first.memory, **options)
    assert (second.memory.weights == whole.memory.weights).all()
    assert (second.memory.average() == whole.memory.average()).all()
    assert second.run.mistakes == whole.run.mistakes
    assert (first.memory.weights == before).all()


def test_new_classes_start_from_zero_and_keep_the_past():
    memory = LinearMemory.empty(2, 2)
    learn_online(memory, [[1.0, 0.0], [0.0, 1.0]], [1, -1])
    grown = grow(memory, [0, 2], 3)
    assert grown.weights.tolist() == [(-memory.weights[0]).tolist(), [0, 0, 0], memory.weights[0].tolist()]
    assert grown.average()[2] == pytest.approx(memory.average()[0])
    assert (grown.examples, grown.mistakes, grown.longest) == (memory.examples, memory.mistakes, memory.longest)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"readout": "best"}, "readout='best'"),
        ({"tie": "coin"}, "tie='coin'"),
        ({"max_iter": -1}, "max_iter=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"min_margin": 0.0}, "min_margin=0.0"),
        ({"min_margin": math.nan}, "min_margin=nan"),
        ({"time_limit": -3}, "time_limit=-3"),
        ({"start": LinearMemory.empty(9)}, "3 columns.*learned on 9"),
        ({"start": LinearMemory.empty(3), "readout": "vote"}, "a vote needs all mistakes"),
    ],
)
def test_a_wrong_parameter_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        perceptron(np.eye(3), [1, -1, 1], **options)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.eye(2), [0, 1], "label .*0.* in row 0 must be -1 or .1"),
        (np.eye(2), [1], "one label per row"),
        (np.empty((0, 2)), [], "no rows"),
        ([[1.0, math.nan]], [1], "NaN in row 0, column 1"),
    ],
)
def test_wrong_examples_are_named(X, y, words):
    with pytest.raises(ValueError, match=words):
        perceptron(X, y)


def test_the_record_reads_as_sentences():
    text = str(perceptron(XOR_X, XOR_Y, max_iter=15, random_state=0).run)
    assert text.startswith("Stopped after 15 epochs: reached max_iter.\nMade ")
    assert ", ..." in text
    assert "errors on 4 training rows." in text
    memory = LinearMemory.empty(1)
    learn_online(memory, [[1.0]], [1])
    assert "Made 1 mistake on 1 example so far; still learning." in str(memory.recorded("last"))
