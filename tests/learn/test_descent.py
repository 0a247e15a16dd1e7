"""Gradient descent on the hinge at 0 is the perceptron, step by step; in batches it goes down the same surface."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from novikoff.learn.linear.notes import batch_descent, perceptron_criterion, stochastic_descent
from novikoff.learn.linear.space import perceptron

WHOLE = st.integers(-5, 5)


@st.composite
def examples(draw):
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n, d), elements=WHOLE.map(float)))
    y = draw(arrays(np.int64, n, elements=st.sampled_from([-1, 1])))
    y[:2] = [1, -1]
    return X, y


@given(examples(), st.integers(1, 3))
def test_each_gradient_step_is_the_perceptrons(data, epochs):
    X, y = data
    asked = {"fit_intercept": False, "shuffle": False, "max_iter": epochs, "record_mistakes": True}
    learned = perceptron(X, y, **asked)
    made = np.zeros(epochs * len(X), dtype=bool)
    made[learned.mistakes.times] = True
    steps = np.tile(X * y[:, None], (epochs, 1)) * made[:, None]
    path = stochastic_descent(X, y, epochs=epochs)
    assert np.array_equal(np.diff(path, axis=0), steps)


@given(examples(), st.sampled_from([0.25, 2.0, 8.0, 0.1]))
def test_the_rate_scales_the_path_and_changes_no_mistake(data, rate):
    assert np.array_equal(stochastic_descent(*data, rate=rate), rate * stochastic_descent(*data))


def test_a_rate_of_a_tenth_ends_at_a_tenth():
    ended = [stochastic_descent([[3], [2], [1], [2]], [-1, 1, 1, -1], epochs=3, rate=rate)[-1, 0] for rate in (1, 0.1)]
    assert ended == [-1.0, -0.1]


@given(examples(), st.lists(WHOLE, min_size=3, max_size=3))
def test_the_batch_rule_goes_straight_down_the_criterion(data, begin):
    X, y = data
    start = np.array(begin[: X.shape[1]]) + 0.3
    if (np.abs(X @ start) < 1e-3).any():
        return  # there the criterion has a kink
    path = batch_descent(X, y, start=start, rate=1.0, max_steps=1)
    step = path[-1] - start
    for axis in np.eye(len(start)) * 1e-5:
        slope = (perceptron_criterion(X, y, start + axis) - perceptron_criterion(X, y, start - axis)) / 2e-5
        assert np.isclose(-slope, step @ axis * 1e5, atol=1e-6)


@given(examples(), st.lists(WHOLE, min_size=6, max_size=6))
def test_the_criterion_is_0_where_no_example_is_wrong_and_convex_between(data, numbers):
    X, y = data
    one, other = np.array(numbers[: X.shape[1]]), np.array(numbers[3 : 3 + X.shape[1]])
    at_one, at_other, between = perceptron_criterion(X, y, [one, other, (one + other) / 2])
    assert (at_one == 0) == ((X @ one) * y >= 0).all()
    assert between <= (at_one + at_other) / 2 + 1e-9


def test_a_batch_ends_where_all_are_right():
    X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    path = batch_descent(X, y, start=[-3, 0.5], rate=0.2)
    assert perceptron_criterion(X, y, path)[-1] == 0
    assert (np.array(X) @ path[-1] * y > 0).all()
