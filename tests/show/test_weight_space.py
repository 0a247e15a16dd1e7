import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.show.weight_space import WeightSpaceDisplay, solution_region
from tests import lecture

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])
WHOLE = st.integers(-6, 6)


def test_the_path_is_that_of_the_lecture():
    model = Perceptron(readout="last", fit_intercept=False, shuffle=False, record_mistakes=True).fit(X, Y)
    display = WeightSpaceDisplay.from_estimator(model, X, Y)
    seen = lecture.perceptron(X, Y, [*range(6), *range(6)], bias=False)
    path = [[0.0, 0.0], *([*s.weights[:2]] for s in seen if s.mistake)]
    assert display.path.tolist() == path
    assert display.path[-1].tolist() == model.coef_[0].tolist()


def test_a_column_and_its_bias_are_two_weights():
    column, labels = [[0.0], [0.8], [2.0], [3.0]], [-1, -1, 1, 1]
    model = Perceptron(readout="last", max_iter=None, random_state=0, record_mistakes=True).fit(column, labels)
    display = WeightSpaceDisplay.from_estimator(model, column, labels).plot()
    assert display.path[-1].tolist() == [model.coef_[0, 0], model.intercept_[0]]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("weight w", "bias b")
    assert "lead into the region" in display.ax_.get_title()


@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=8))
def test_the_region_is_where_every_row_is_right(rows):
    examples = np.array(rows, dtype=float)
    region = solution_region(examples)
    directions = np.linspace(-math.pi, math.pi, 721)
    right = [min(math.cos(t) * a + math.sin(t) * b for a, b in rows) for t in directions]
    if region is None:
        assert max(right) < 1e-9
        return
    low, high = region
    middle = (low + high) / 2
    assert 0 < high - low <= math.pi + 1e-12
    assert min(math.cos(middle) * a + math.sin(middle) * b for a, b in rows) > 0
    for t, smallest in zip(directions, right, strict=True):
        off = (t - middle + math.pi) % (2 * math.pi) - math.pi
        if abs(abs(off) - (high - low) / 2) > 1e-9:
            assert (smallest > 0) == (abs(off) < (high - low) / 2)


def test_the_picture_holds_the_whole_path():
    display = WeightSpaceDisplay.from_mistakes(X, Y, [0, 2, 4], fit_intercept=False).plot()
    for values, (low, high) in zip(display.path.T, (display.ax_.get_xlim(), display.ax_.get_ylim()), strict=True):
        assert low < values.min()
        assert values.max() < high
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words[0] == "every row is right"
    assert "after 3 mistakes" in words


def test_without_a_region_the_title_says_so():
    display = WeightSpaceDisplay.from_mistakes([[1, 1], [2, 2]], [1, -1], [0, 1], fit_intercept=False).plot()
    assert display.region is None
    assert "no weights are right" in display.ax_.get_title()


def test_a_run_without_mistakes_is_a_point():
    display = WeightSpaceDisplay.from_mistakes(X, Y, [], fit_intercept=False).plot()
    display.figure_.canvas.draw()
    assert np.asarray(display.path).tolist() == [[0.0, 0.0]]


def test_three_weights_are_refused():
    model = Perceptron(record_mistakes=True).fit(X, Y)
    with pytest.raises(ValueError, match="two columns without an intercept, or one column with it"):
        WeightSpaceDisplay.from_estimator(model, X, Y)


def test_rows_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="from 0 to 5"):
        WeightSpaceDisplay.from_mistakes(X, Y, [6], fit_intercept=False)
