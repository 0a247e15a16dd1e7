import numpy as np
import pytest

from novikoff import KernelPerceptron, Perceptron, Separator, Steps, certify, follow_proof
from novikoff.show.proof import ProofDisplay

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])


def fitted(**options):
    return Perceptron(readout="last", shuffle=False, record_mistakes=True, max_iter=None, **options).fit(X, Y)


def curve(ax, start):
    (found,) = [line for line in ax.lines if line.get_label().startswith(start)]
    return found.get_xydata()


ACROSS = Separator([1.0, 0.0])


def followed(rows, separator=ACROSS, points=X, labels=Y):
    return follow_proof(Steps.of_rows(points, labels, rows, fit_intercept=False), separator)


def test_the_curves_are_those_of_the_three_proofs():
    proof = followed([0, 2, 4])
    ax, cosine, distance = ProofDisplay(proof).plot(scale="linear").ax_
    assert curve(ax, "‖w‖")[:, 1].tolist() == proof.length.tolist()
    assert curve(ax, "⟨w,u⟩")[:, 1].tolist() == proof.progress.tolist()
    k, floor = curve(ax, "k·").T
    assert np.allclose(floor, k * proof.margin)
    k, ceiling = curve(ax, "√k·R").T
    assert np.allclose(ceiling, np.sqrt(k) * proof.radius)
    assert curve(cosine, "cos")[:, 1].tolist() == proof.cosine.tolist()
    assert curve(distance, "αₖ")[:, 1] == pytest.approx(proof.distance)
    k, ceiling = curve(distance, "R⁴").T
    assert np.allclose(ceiling, proof.radius**4 / proof.margin**2 - k * proof.radius**2)
    assert ceiling[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_two_outer_curves_meet_where_the_mark_is(scale):
    display = ProofDisplay.from_estimator(fitted(), X, Y).plot(scale=scale)
    ax = display.ax_[0]
    floor, ceiling = curve(ax, "k·"), curve(ax, "√k·R")
    (mark,) = [line for line in ax.lines if line.get_marker() == "D"]
    assert np.allclose(floor[-1], ceiling[-1])
    assert np.allclose(mark.get_xydata()[0], floor[-1])
    assert np.isclose(mark.get_xdata()[0], (display.proof.radius / display.proof.margin) ** 2)
    assert (floor[:-1, 1] <= ceiling[:-1, 1]).all()


def test_the_bound_in_words_is_that_of_the_certificate():
    display = ProofDisplay.from_estimator(fitted(), X, Y).plot()
    (words,) = [text.get_text() for text in display.ax_[0].texts]
    assert words.endswith(f"at most {certify(X, Y).mistake_bound} mistakes")
    assert display.bound <= display.crossing


def test_a_crossing_far_away_makes_the_axes_logarithmic():
    narrow = Separator([1.0, 0.0], 0.999)
    near, far = (ProofDisplay.from_estimator(fitted(), X, Y, separator=s) for s in (None, narrow))
    assert near.plot().ax_[0].get_xscale() == "linear"
    assert far.plot().ax_[0].get_xscale() == "log"
    assert far.bound > near.bound


def test_a_margin_beyond_the_floats_is_drawn():
    thin = np.array([[1.0, 5e-324], [1.0, -5e-324]])
    display = ProofDisplay(followed([0], Separator([0.0, 1.0]), thin, [1, -1]))
    assert display.bound > 10**640
    display.plot().figure_.canvas.draw()
    for ax in display.ax_:
        assert all(np.isfinite(limit) for limit in (*ax.get_xlim(), *ax.get_ylim()))


def test_the_title_says_when_an_inequality_failed():
    assert "not every inequality held" in ProofDisplay(followed([0, 0])).plot().ax_[0].get_title()


def test_many_classes_have_a_picture_too():
    corners, names = np.array([[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]]), ["a", "b", "c"]
    model = Perceptron(readout="last", max_iter=None, record_mistakes=True, random_state=0).fit(corners, names)
    display = ProofDisplay.from_estimator(model, corners, names)
    assert display.holds
    assert display.mistakes == model.n_mistakes_
    assert display.bound == certify(corners, names).mistake_bound


def test_two_axes_are_one_too_few():
    with pytest.raises(ValueError, match="one axis or on three"):
        ProofDisplay(followed([0, 2, 4])).plot(ax=[None, None])


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="record_mistakes=True"):
        ProofDisplay.from_estimator(Perceptron().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="KernelPerceptron"):
        ProofDisplay.from_estimator(KernelPerceptron(record_mistakes=True).fit(X, Y), X, Y)
    xor, labels = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    with pytest.raises(ValueError, match="overlapping"):
        ProofDisplay.from_estimator(Perceptron(record_mistakes=True).fit(xor, labels), xor, labels)
