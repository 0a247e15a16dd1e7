import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from novikoff import KernelPerceptron, Perceptron, Separator, certify, margins, multiclass_margins
from novikoff.show.boundary import BoundaryDisplay
from novikoff.show.margins import MarginsDisplay
from novikoff.show.proof import ProofDisplay
from tests.draws import draws

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])


def bars(display):
    return {patch.get_label(): patch.get_data() for patch in display.ax_.patches}


@settings(max_examples=draws(25))
@given(st.lists(st.floats(-5, 5, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-3), min_size=1))
def test_every_row_is_counted_on_its_side(values):
    import matplotlib.pyplot as plt

    display = MarginsDisplay(np.array(values)).plot()
    drawn = bars(display)
    plt.close(display.figure_)
    wrong = sum(v <= 0 for v in values)
    assert drawn["correct"].values.sum() == len(values) - wrong
    assert display.mistaken == wrong
    if wrong:
        counts, edges, _ = drawn["mistaken"]
        assert counts.sum() == wrong
        assert counts[edges[:-1] >= 0].sum() == 0


def test_the_margins_are_those_of_the_library():
    model = Perceptron(readout="last", random_state=0).fit(X, Y)
    display = MarginsDisplay.from_estimator(model, X, Y)
    plane = Separator(model.coef_[0], model.intercept_[0])
    assert display.margins.tolist() == margins(X, Y, plane).tolist()
    assert display.smallest == margins(X, Y, plane).min()


def test_many_classes_have_the_margins_of_kesler():
    iris = load_iris()
    model = Perceptron(random_state=0, scale=False).fit(iris.data, iris.target)
    display = MarginsDisplay.from_estimator(model, iris.data, iris.target).plot()
    expected = multiclass_margins(iris.data, iris.target, model.coef_, model.intercept_)
    assert display.margins.tolist() == expected.tolist()
    wrong = int((model.predict(iris.data) != iris.target).sum())
    assert display.ax_.get_title() == f"Margins of 150 rows: {wrong} mistaken"


def test_the_smallest_margin_of_the_widest_plane_is_gamma():
    certificate = certify(X, Y)
    display = MarginsDisplay.from_certificate(certificate, X, Y)
    assert np.isclose(display.smallest, certificate.margin.lower)
    three = [[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]]
    certificate = certify(three, ["a", "b", "c"])
    display = MarginsDisplay.from_certificate(certificate, three, ["a", "b", "c"])
    assert np.isclose(display.smallest, certificate.margin.lower)


def test_rows_of_one_class_keep_the_sign_that_the_model_gives_them():
    model = Perceptron(readout="last", random_state=0).fit(X, Y)
    whole = MarginsDisplay.from_estimator(model, X, Y).margins
    assert MarginsDisplay.from_estimator(model, X[Y < 0], Y[Y < 0]).margins.tolist() == whole[Y < 0].tolist()


@pytest.mark.parametrize("labels", [Y, np.array([0, 1, 1, 2, 2, 1])])
def test_a_kernel_shows_scores(labels):
    model = KernelPerceptron(random_state=0).fit(X, labels)
    display = MarginsDisplay.from_estimator(model, X, labels)
    assert "score" in display.quantity
    assert np.array_equal(display.margins > 0, model.predict(X) == labels)


def test_a_certificate_without_a_plane_is_refused():
    xor, labels = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    with pytest.raises(ValueError, match="overlapping"):
        MarginsDisplay.from_certificate(certify(xor, labels), xor, labels)


def test_a_strange_label_is_named():
    with pytest.raises(ValueError, match="label 7 in row 1"):
        MarginsDisplay.from_estimator(Perceptron().fit(X, Y), X[:2], [1, 7])


def test_margins_are_those_of_the_rows_as_they_were_learned():
    """A model that scales, or encodes a table, has weights for what it makes of the rows."""
    pandas = pytest.importorskip("pandas")
    X, y = np.array([[1000.0, 1.0], [1010.0, 2.0], [1000.0, 3.0], [1020.0, 4.0]]), np.array([0, 0, 1, 1])
    options = {"readout": "last", "max_iter": None, "shuffle": False, "record_mistakes": True}
    scaled = Perceptron(scale=True, **options).fit(X, y)
    table = pandas.DataFrame(X, columns=["a", "b"])
    of_table = Perceptron(scale=True, **options).fit(table, y)
    for model, rows in ((scaled, X), (of_table, table)):
        display = MarginsDisplay.from_estimator(model, rows, y)
        assert display.smallest > 0
        assert display.smallest <= model.run_.margin_at_most
        assert ProofDisplay.from_estimator(model, rows, y).mistakes == model.n_mistakes_
        assert BoundaryDisplay.from_estimator(model, rows, y).geometric_margin is None
