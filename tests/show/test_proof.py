import numpy as np
import pytest

from novikoff import KernelPerceptron, Perceptron, Separator, certify, follow_proof
from novikoff.show.proof import ProofDisplay

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
Y = np.array([-1, 1, 1, -1, -1, 1])


def fitted(**options):
    return Perceptron(readout="last", shuffle=False, record_mistakes=True, max_epochs=None, **options).fit(X, Y)


def curve(ax, start):
    (found,) = [line for line in ax.lines if line.get_label().startswith(start)]
    return found.get_xydata()


def test_the_four_curves_are_those_of_the_proof():
    proof = follow_proof(X, Y, [0, 2, 4], Separator([1.0, 0.0]), fit_intercept=False)
    ax = ProofDisplay.from_proof(proof).plot(scale="linear").ax_
    assert curve(ax, "‖w‖")[:, 1].tolist() == proof.length.tolist()
    assert curve(ax, "⟨w,u⟩")[:, 1].tolist() == proof.progress.tolist()
    k, floor = curve(ax, "k·").T
    assert np.allclose(floor, k * proof.margin)
    k, ceiling = curve(ax, "√k·R").T
    assert np.allclose(ceiling, np.sqrt(k) * proof.radius)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_two_outer_curves_meet_where_the_mark_is(scale):
    display = ProofDisplay.from_estimator(fitted(), X, Y).plot(scale=scale)
    floor, ceiling = curve(display.ax_, "k·"), curve(display.ax_, "√k·R")
    (mark,) = [line for line in display.ax_.lines if line.get_marker() == "D"]
    assert np.allclose(floor[-1], ceiling[-1])
    assert np.allclose(mark.get_xydata()[0], floor[-1])
    assert np.isclose(mark.get_xdata()[0], (display.radius / display.margin) ** 2)
    assert (floor[:-1, 1] <= ceiling[:-1, 1]).all()


def test_the_bound_in_words_is_that_of_the_certificate():
    display = ProofDisplay.from_estimator(fitted(), X, Y).plot()
    (words,) = [text.get_text() for text in display.ax_.texts]
    assert words.endswith(f"at most {certify(X, Y).mistake_bound} mistakes")
    assert display.bound <= display.crossing


def test_a_crossing_far_away_makes_the_axes_logarithmic():
    narrow = Separator([1.0, 0.0], 0.999)
    near, far = (ProofDisplay.from_estimator(fitted(), X, Y, separator=s) for s in (None, narrow))
    assert near.plot().ax_.get_xscale() == "linear"
    assert far.plot().ax_.get_xscale() == "log"
    assert far.bound > near.bound


def test_a_margin_beyond_the_floats_is_drawn():
    tiny = np.full(2, 5e-324)
    display = ProofDisplay(tiny, tiny, tiny, tiny, margin=5e-324, radius=1.0, bound=10**640, holds=True)
    display.plot().figure_.canvas.draw()
    assert all(np.isfinite(limit) for limit in (*display.ax_.get_xlim(), *display.ax_.get_ylim()))


def test_the_title_says_when_an_inequality_failed():
    right_already = follow_proof(X, Y, [0, 0], Separator([1.0, 0.0]), fit_intercept=False)
    assert "not every inequality held" in ProofDisplay.from_proof(right_already).plot().ax_.get_title()


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="record_mistakes=True"):
        ProofDisplay.from_estimator(Perceptron().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="KernelPerceptron"):
        ProofDisplay.from_estimator(KernelPerceptron(record_mistakes=True).fit(X, Y), X, Y)
    xor, labels = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    with pytest.raises(ValueError, match="overlapping"):
        ProofDisplay.from_estimator(Perceptron(record_mistakes=True).fit(xor, labels), xor, labels)
