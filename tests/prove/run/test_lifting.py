"""Data that nothing separates, in the space in which something does."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff import Perceptron, Separator, follow_proof, freund_schapire_bound, lift_inseparable

NUMBERS = st.integers(-4, 4)


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n)), dtype=float)
    y = np.array([1, -1, *(draw(st.sampled_from([-1, 1])) for _ in range(n - 2))])
    u = draw(st.lists(NUMBERS, min_size=d, max_size=d).filter(any))
    fit_intercept = draw(st.booleans())
    plane = Separator(u, draw(NUMBERS) if fit_intercept else 0.0)
    return X, y, plane, draw(st.sampled_from([0.1, 0.5, 1.0, 3.0])), fit_intercept


@given(problems(), st.integers(1, 4), st.sampled_from(["mistake", "predict"]))
def test_the_proof_holds_there_and_its_bound_is_that_of_freund_and_schapire(problem, passes, tie):
    X, y, plane, margin, bias = problem
    if not np.any(X) and not bias:
        return
    options = {"fit_intercept": bias, "shuffle": False, "tie": tie}
    learner = Perceptron(max_iter=passes, record_mistakes=True, **options).fit(X, y)
    lifted = lift_inseparable(np.tile(X, (passes, 1)), np.tile(y, passes), plane, margin, fit_intercept=bias)
    epochs = np.repeat(np.arange(learner.run_.epochs), learner.run_.mistakes_per_epoch)
    proof = follow_proof(lifted.steps(learner.mistake_rows_ + len(y) * epochs), lifted.separator)
    assert proof.holds
    known = freund_schapire_bound(X, y, separator=plane, margin=margin, passes=passes, fit_intercept=bias)
    if known.deviation == 0:  # the plane has a margin of at least that
        assert proof.bound <= known.bound
        return
    assert proof.margin == pytest.approx(margin / lifted.stretch, rel=1e-9)
    assert (proof.radius / proof.margin) ** 2 == pytest.approx(known.value, rel=1e-9)


@given(problems(), st.integers(1, 3), st.sampled_from(["mistake", "predict"]))
def test_the_same_mistakes_are_made_there(problem, passes, tie):
    X, y, plane, margin, bias = problem
    options = {"fit_intercept": bias, "tie": tie, "record_mistakes": True}
    here, there = Perceptron(**options), Perceptron(**options)
    visits = np.tile(X, (passes, 1)), np.tile(y, passes)
    lifted = lift_inseparable(*visits, plane, margin, fit_intercept=bias)
    here.partial_fit(*visits)
    there.partial_fit(lifted.X, lifted.y)
    assert here.mistake_rows_.tolist() == there.mistake_rows_.tolist()


def test_with_a_margin_that_all_examples_have_nothing_is_lifted():
    X, y = csr_array(np.array([[2.0], [-1.0]])), [1, -1]
    lifted = lift_inseparable(X, y, Separator([1.0]), 0.5, fit_intercept=False)
    assert (lifted.delta, lifted.stretch) == (0.0, 1.0)
    proof = follow_proof(lifted.steps([0]), lifted.separator)
    assert (proof.margin, proof.bound) == (1.0, 4)


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_a_margin_that_is_none_is_refused(margin):
    with pytest.raises(ValueError, match="margin"):
        lift_inseparable([[1.0], [2.0]], [1, -1], Separator([1.0]), margin)


def test_the_bound_names_the_margin_of_the_space_behind_it():
    X, y = [[1.0, 3.0], [2.0, -1.0], [1.0, 0.0], [-2.0, 1.0], [-1.0, -2.0], [0.5, 0.5]], [1, 1, 1, -1, -1, -1]
    bound = freund_schapire_bound(X, y, passes=3)
    lifted = lift_inseparable(X * 3, y * 3, bound.separator, bound.margin)
    assert bound.projection.endswith(f"gamma/Z = {bound.margin / lifted.stretch:.6g}")
    assert freund_schapire_bound([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]).projection is None
