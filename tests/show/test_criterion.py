"""The criterion as a surface: two paths that lie on it, and end where it is 0."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import CriterionDisplay, Perceptron

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])


def fitted(**options):
    return Perceptron(readout="last", max_iter=None, record_mistakes=True, shuffle=False, **options)


def test_both_ways_end_where_every_row_is_right():
    display = CriterionDisplay.from_estimator(fitted(fit_intercept=False).fit(X, Y), X, Y)
    for path in (display.path, display.batch):
        assert display.heights(path)[-1] == 0
        assert (X @ path[-1] * Y > 0).all()
    assert display.heights(display.batch)[0] > 0, "it begins on the wrong side"


def test_one_column_and_a_bias_are_two_weights_too():
    column, labels = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["a", "a", "b", "b"])
    display = CriterionDisplay.from_estimator(fitted().fit(column, labels), column, labels)
    assert display.names == ("weight w", "bias b")
    assert display.heights(display.path)[-1] == 0


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=2))
def test_a_height_is_the_sum_of_what_the_mistakes_lack(weights):
    display = CriterionDisplay.from_mistakes(X, Y, [0, 2, 4], fit_intercept=False)
    losses = [max(0.0, -label * float(x @ weights)) for x, label in zip(X, Y, strict=True)]
    assert display.heights(weights) == pytest.approx(sum(losses))


def test_without_a_solution_it_is_drawn_nevertheless():
    display = CriterionDisplay.from_mistakes([[1, 1], [-1, -1], [1, -1]], [1, 1, -1], [0, 1, 2], fit_intercept=False)
    assert display.heights(display.batch).min() > 0
    display.plot()


def test_flat_axes_are_refused():
    display = CriterionDisplay.from_mistakes(X, Y, [0, 2, 4], fit_intercept=False)
    with pytest.raises(ValueError, match='projection="3d"'):
        display.plot(ax=plt.subplots()[1])
