import numpy as np
import pytest

from novikoff import KernelPerceptron, Perceptron, certify
from novikoff.show.mistakes import MistakesDisplay

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def test_the_line_is_the_sum_of_the_steps():
    display = MistakesDisplay((5, 3, 1, 0), bound=20).plot()
    assert lines(display.ax_)["mistakes so far"].get_xydata().tolist() == [[1, 5], [2, 8], [3, 9], [4, 9]]
    (steps,) = display.ax_.patches
    assert steps.get_data().values.tolist() == [5, 3, 1, 0]
    assert steps.get_data().edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_the_bound_is_in_the_picture():
    display = MistakesDisplay((5, 3, 1, 0), bound=20).plot()
    assert set(lines(display.ax_)["the bound (R/γ)²"].get_ydata()) == {20}  # noqa: RUF001
    assert display.ax_.get_ylim()[0] == 0
    assert display.ax_.get_ylim()[1] > 20
    assert display.ax_.get_yscale() == "linear"
    assert display.ax_.get_title() == "9 mistakes made in 4 epochs; the theorem allows 20"


def test_a_far_bound_does_not_flatten_the_mistakes():
    display = MistakesDisplay((5, 3, 1, 0), bound=12_345).plot()
    assert display.ax_.get_yscale() == "symlog"
    assert "allows 12,345" in display.ax_.get_title()


def test_a_bound_beyond_the_floats_is_drawn():
    display = MistakesDisplay((1, 0), bound=10**700).plot()
    display.figure_.canvas.draw()
    assert display.ax_.get_title().endswith("allows 10^701")


def test_without_a_bound_none_is_claimed():
    display = MistakesDisplay((1,)).plot()
    assert display.ax_.get_title() == "1 mistake made in 1 epoch"
    assert len(display.ax_.lines) == 1


def test_the_numbers_are_those_of_the_run_and_the_certificate():
    model = Perceptron(readout="last", max_iter=None, random_state=0).fit(X, Y)
    certificate = certify(X, Y)
    display = MistakesDisplay.from_estimator(model, certificate=certificate)
    assert display.mistakes_per_epoch == model.run_.mistakes_per_epoch
    assert display.mistakes == model.n_mistakes_
    assert display.bound == certificate.mistake_bound


def test_a_learner_that_saw_no_epochs_is_refused():
    with pytest.raises(ValueError, match="no epochs"):
        MistakesDisplay.from_estimator(Perceptron().partial_fit(X, Y))


def test_a_certificate_of_another_question_is_refused():
    model = Perceptron().fit(X, Y)
    with pytest.raises(ValueError, match="fit_intercept"):
        MistakesDisplay.from_estimator(model, certificate=certify(X, Y, fit_intercept=False))
    with pytest.raises(ValueError, match="labels"):
        MistakesDisplay.from_estimator(model, certificate=certify(X, Y == 1))
    with pytest.raises(ValueError, match="spaces"):
        MistakesDisplay.from_estimator(KernelPerceptron().fit(X, Y), certificate=certify(X, Y))
