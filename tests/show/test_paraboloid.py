import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from novikoff import Paraboloid, Perceptron, separating_ball
from novikoff.show.paraboloid import ParaboloidDisplay

X = np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 1.0], [5.0, 5.0], [-5.0, 0.0], [2.0, -4.0]])
Y = np.array(["in", "in", "in", "out", "out", "out"])


def rim(display):
    turn = np.linspace(0, 6, 11)
    return display.center + display.radius * np.column_stack([np.cos(turn), np.sin(turn)])


@pytest.mark.parametrize("origin", [(0.0, 0.0), (2.0, -1.0)])
def test_the_plane_meets_the_paraboloid_above_the_circle_and_separates(origin):
    display = ParaboloidDisplay.from_points(X, Y, inside="in", origin=origin)
    assert np.allclose(display.plane(rim(display)), display.lift(rim(display)))
    assert np.array_equal(display.lift(X) < display.plane(X), Y == "in")


def test_the_circle_is_that_of_the_library():
    ball = separating_ball(X, Y, inside="in")
    display = ParaboloidDisplay.from_ball(ball, X, Y).plot()
    assert display.center.tolist() == ball.center.tolist()
    assert display.radius == ball.radius
    above, below = display.ax_.lines[:2]
    assert np.allclose(np.linalg.norm(np.column_stack(below.get_data_3d()[:2]) - ball.center, axis=1), ball.radius)
    assert np.allclose(above.get_data_3d()[2], (np.array(above.get_data_3d()[:2]) ** 2).sum(axis=0))


@pytest.mark.parametrize("labels", [Y, np.where(Y == "in", "z", "a")])
def test_a_pipeline_has_the_circle_that_it_learned(labels):
    model = make_pipeline(Paraboloid(), Perceptron(readout="last", max_iter=None, random_state=0)).fit(X, labels)
    display = ParaboloidDisplay.from_estimator(model, X, labels)
    assert np.array_equal(np.linalg.norm(X - display.center, axis=1) < display.radius, display.inside)
    assert np.allclose(model.decision_function(rim(display)), 0, atol=1e-8)


def test_what_is_no_circle_is_refused():
    with pytest.raises(ValueError, match="No ball holds every 'ring'"):
        ParaboloidDisplay.from_points([[2, 0], [-2, 0], [0, 0]], ["ring", "ring", "centre"])
    with pytest.raises(ValueError, match="pipeline of Paraboloid"):
        ParaboloidDisplay.from_estimator(Perceptron().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="three dimensions"):
        ParaboloidDisplay.from_points(X, Y, inside="in").plot(ax=plt.subplots()[1])
