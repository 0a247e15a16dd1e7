import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from novikoff import KernelPerceptron, Perceptron, Separator, certify
from novikoff.show.boundary import BoundaryDisplay

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array(["blue", "red", "red", "blue", "blue", "red"])
SIGNS = np.array([-1, 1, 1, -1, -1, 1])


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def contour_points(ax, level):
    """All points of the contour lines of one level."""
    found = [
        path.vertices
        for collection in ax.collections
        if getattr(collection, "levels", None) is not None and not collection.filled
        for at, path in zip(collection.levels, collection.get_paths(), strict=True)
        if at == level
    ]
    return np.vstack(found)


def test_the_line_is_where_the_score_is_0_and_the_band_where_the_nearest_row_is():
    model = Perceptron(readout="last", shuffle=False, max_iter=None).fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y).plot()
    plane = Separator(model.coef_[0], model.intercept_[0])
    nearest = (SIGNS * plane.distance(X)).min()
    assert display.geometric_margin == nearest
    assert np.allclose(plane.score(contour_points(display.ax_, 0.0)), 0)
    assert np.allclose(plane.distance(contour_points(display.ax_, display.band)), nearest)
    assert np.allclose(plane.distance(contour_points(display.ax_, -display.band)), -nearest)


def test_the_widest_plane_has_the_certified_margin_and_support():
    certificate = certify(X, Y)
    display = BoundaryDisplay.from_certificate(certificate, X, Y).plot()
    assert display.geometric_margin == certificate.geometric_margin
    assert tuple(display.ringed) == certificate.support.rows
    (words,) = [words for words in legend(display) if "margin" in words]
    assert 0 <= certificate.geometric_margin - float(words.split("±")[1]) < 1e-3


def test_rows_in_the_way_are_ringed_when_nothing_separates():
    xor, labels = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    display = BoundaryDisplay.from_certificate(certify(xor, labels), xor, labels).plot()
    assert display.scores is None
    assert display.ringed.tolist() == [0, 1, 2, 3]
    assert display.ax_.get_title().startswith("No hyperplane")


def test_mistakes_and_support_rows_are_marked():
    model = Perceptron(readout="last", shuffle=False, record_mistakes=True).fit(X, Y)
    certificate = certify(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y, certificate=certificate, resolution=20).plot()
    assert display.mistaken.tolist() == sorted(set(model.mistake_rows_.tolist()))
    assert {"blue", "red", "support row", "mistaken while learning", "decision boundary"} <= set(legend(display))
    rings = [c for c in display.ax_.collections if c.get_label() == "support row"]
    assert np.array_equal(rings[0].get_offsets(), X[list(certificate.support.rows)])


def test_a_kernel_draws_a_curve_with_its_support_rows():
    points, moon = make_moons(60, noise=0.05, random_state=0)
    model = KernelPerceptron(gamma=2.0, readout="last", max_iter=None, random_state=0).fit(points, moon)
    display = BoundaryDisplay.from_estimator(model, points, moon, resolution=80).plot()
    assert display.ringed.tolist() == sorted(model.support_.tolist())
    assert display.geometric_margin is None
    assert np.isclose(display.band, np.abs(model.decision_function(points)).min())
    steps = np.diff(contour_points(display.ax_, 0.0), axis=0)
    assert np.linalg.matrix_rank(steps[:20]) == 2


def test_no_band_is_drawn_when_a_row_is_wrong():
    xor, labels = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), [1, 1, -1, -1]
    display = BoundaryDisplay.from_estimator(Perceptron(random_state=0).fit(xor, labels), xor, labels, resolution=20)
    assert display.band is None
    assert not any("margin" in words for words in legend(display.plot()))


def test_a_vote_has_a_boundary_and_no_band():
    model = Perceptron(readout="vote", random_state=0).fit(X, Y)
    assert BoundaryDisplay.from_estimator(model, X, Y, resolution=20).band is None


def test_many_classes_have_their_regions():
    iris = load_iris()
    petals = iris.data[:, 2:]
    model = Perceptron(random_state=0).fit(petals, iris.target)
    display = BoundaryDisplay.from_estimator(model, petals, iris.target, resolution=40)
    winner = np.argmax(display.leads(), axis=0)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(display.across, display.up)])
    assert np.array_equal(winner.ravel(), model.predict(grid))
    assert legend(display.plot()) == ["0", "1", "2", "decision boundary"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_table_name_the_axes(frame):
    table = frame({"length": X[:, 0], "width": X[:, 1]})
    display = BoundaryDisplay.from_estimator(Perceptron(random_state=0).fit(table, Y), table, Y, resolution=20).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")


def test_a_pipeline_is_drawn_in_the_coordinates_of_its_data():
    model = make_pipeline(StandardScaler(), Perceptron(readout="last", max_iter=None, random_state=0))
    display = BoundaryDisplay.from_estimator(model.fit(X * [1, 10], Y), X * [1, 10], Y, resolution=20)
    assert display.geometric_margin is None
    assert display.up.max() > 20


def test_what_cannot_be_drawn_is_refused():
    iris = load_iris()
    model = Perceptron(random_state=0).fit(iris.data, iris.target)
    with pytest.raises(ValueError, match="needs 2 columns"):
        BoundaryDisplay.from_estimator(model, iris.data, iris.target)
    petals = iris.data[:, 2:]
    with pytest.raises(ValueError, match="many classes"):
        BoundaryDisplay.from_certificate(certify(petals, iris.target), petals, iris.target)
    with pytest.raises(ValueError, match="one label per row"):
        BoundaryDisplay.from_certificate(certify(X, Y), X, Y[:3])
    fitted = Perceptron(record_mistakes=True, shuffle=False).fit(X, Y)
    with pytest.raises(ValueError, match="pass the rows that were fitted"):
        BoundaryDisplay.from_estimator(fitted, X[:2], Y[:2], resolution=5)
