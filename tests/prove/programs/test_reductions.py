"""Separation as a linear program, and a linear program as a separation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog as highs

from novikoff.prove.programs.search.linprog import linprog
from novikoff.prove.programs.search.reductions import program_as_separation, separation_as_program
from novikoff.prove.separable.search.certify import certify
from tests.draws import draws
from tests.exact_lp import verdict

TRIANGLE = {"c": [-5, -5], "A_ub": [[2, 1], [1, 3]], "b_ub": [4, 6]}  # the optimum is -14, at (6/5, 8/5)


def separator(problem):
    """A separating plane through the origin, or None."""
    vector = certify(problem.X, problem.y, fit_intercept=False).vector
    return None if vector is None else [float(v) for v in vector[:-1]]


@settings(deadline=None, max_examples=draws(40))
@given(st.data())
def test_the_program_decides_separability(data):
    n = data.draw(st.integers(2, 7))
    X = data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=n, max_size=n))
    y = [1, -1, *data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))]
    result = linprog(*separation_as_program(X, y))
    assert result.certificate.arithmetic == "exact"
    assert (result.fun == -1) == (verdict(X, y) == "separable")
    assert result.fun in (0, -1)
    if result.fun == -1:
        *w, b, t = result.x
        assert t == 1
        assert (np.array(y) * (np.array(X) @ w + b) > 0).all()


def test_the_notes_own_program_is_solved_by_zero_weights():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1, -1, 1])
    folded = y[:, None] * np.column_stack([X, np.ones(3)])
    assert highs(np.zeros(2), -folded, np.zeros(3), bounds=(None, None)).status == 0  # yet no plane separates them
    assert linprog(np.zeros(2), -folded, -np.ones(3), bounds=(None, None)).status == 2
    assert linprog(*separation_as_program(X, y)).fun == 0


def test_without_an_intercept_planes_pass_through_the_origin():
    X, y = [[1.0], [2.0]], [-1, 1]
    assert linprog(*separation_as_program(X, y)).fun == -1
    assert linprog(*separation_as_program(X, y, fit_intercept=False)).fun == 0


@pytest.mark.parametrize(("value", "reached"), [(-13.99, True), (-14, False), (-14.01, False), (0, True)])
def test_a_value_is_beaten_if_and_only_if_the_examples_are_separable(value, reached):
    problem = program_as_separation(**TRIANGLE, value=value)
    plane = separator(problem)
    assert (plane is not None) == reached
    if reached:
        x = problem.point(plane)
        assert (x > 0).all()
        assert (np.array(TRIANGLE["A_ub"]) @ x < TRIANGLE["b_ub"]).all()
        assert -5 * x.sum() < value


def test_bisection_with_a_perceptron_finds_the_optimum():
    low, high = -100.0, 0.0
    while high - low > 1e-6:
        value = (low + high) / 2
        beaten = separator(program_as_separation(**TRIANGLE, value=value)) is not None
        low, high = (low, value) if beaten else (value, high)
    assert high == pytest.approx(linprog(**TRIANGLE).fun, abs=1e-6)


def test_equations_are_solved_before():
    program = {"c": [1, 0, 0], "A_eq": [[1, 1, 1], [2, 2, 2]], "b_eq": [3, 6], "bounds": (0, 2)}
    problem = program_as_separation(**program)
    assert problem.X.shape[1] == 3  # two directions are left, and t
    x = problem.point(separator(problem))
    assert x.sum() == pytest.approx(3)
    assert ((x > 0) & (x < 2)).all()


def test_a_program_without_a_strict_point_is_no_separation():
    assert separator(program_as_separation([1.0], bounds=(2, 2))) is None
    assert linprog([1.0], bounds=(2, 2)).fun == 2


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="give one label per row"):
        separation_as_program([[1.0], [2.0]], [1, -1, 1])
    with pytest.raises(ValueError, match="the equations contradict each other"):
        program_as_separation([1.0], A_eq=[[1], [1]], b_eq=[1, 2])
    with pytest.raises(ValueError, match="the last weight is -1"):
        program_as_separation(**TRIANGLE).point([1, 1, -1])
