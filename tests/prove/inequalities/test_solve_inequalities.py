"""Ax > 0: every method against linear programs, degenerate systems, and input that is invalid."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from novikoff import CertificateError, Outcome, solve_inequalities
from novikoff.prove.inequalities.check import SystemWitnesses
from tests.draws import draws
from tests.exact_lp import best_worst
from tests.prove.inequalities.systems import exponential, needle, skewed

METHODS = ["auto", "perceptron", "rescaled"]
small_systems = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.lists(st.integers(-3, 3), min_size=columns, max_size=columns), min_size=1, max_size=7)
)


def has_a_solution(A):
    """Whether some x has Ax > 0, by the exact simplex method."""
    return best_worst([[Fraction(v) for v in row] for row in A]).value > 0


def highs_finds_a_solution(A):
    """Whether some x has Ax >= 1, which is the same up to a factor."""
    bounds = (None, None)
    return linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=bounds, method="highs").status == 0


def solves(A, x):
    """The definition, in fractions."""
    return all(
        sum(Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)) > 0 for row in np.asarray(A).tolist()
    )


def cancels(A, combination):
    """Gordan's alternative, in fractions."""
    rows = [[Fraction(a) for a in np.asarray(A, dtype=float)[i].tolist()] for i in combination.rows]
    total = [sum(w * a for w, a in zip(combination.weights, column, strict=True)) for column in zip(*rows, strict=True)]
    return min(combination.weights) > 0 and not any(total)


# -- every method, against oracles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@given(A=small_systems)
@settings(max_examples=draws(25))
def test_every_method_agrees_with_exact_linear_programming(method, A):
    answer = solve_inequalities(A, method=method)
    assert answer.outcome is (Outcome.SOLVED if has_a_solution(A) else Outcome.NO_SOLUTION)
    assert answer.arithmetic == "exact"
    assert solves(A, answer.x.tolist()) if answer else cancels(A, answer.combination)
    answer.check(A)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_every_method_agrees_with_highs_on_floats(method, seed):
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((40, 6))
    if seed % 2:
        A *= np.sign(A @ generator.standard_normal(6))[:, None]
    answer = solve_inequalities(A, method=method)
    assert bool(answer) == highs_finds_a_solution(A) == bool(seed % 2)
    assert solves(A, answer.x.tolist()) if answer else cancels(A, answer.combination)
    answer.check(A)


@given(A=small_systems, exponents=st.lists(st.integers(-320, 320), min_size=7, max_size=7))
@settings(max_examples=draws(40))
def test_rows_and_columns_of_any_length_make_no_difference(A, exponents):
    wild = np.array(A, dtype=float)
    with np.errstate(all="ignore"):
        wild *= 2.0 ** np.array(exponents[: len(wild)], dtype=float)[:, None]
        wild *= 2.0 ** np.array(exponents[-wild.shape[1] :], dtype=float)
    answer = solve_inequalities(wild)
    assert answer.outcome is (Outcome.SOLVED if has_a_solution(A) else Outcome.NO_SOLUTION)
    answer.check(wild)


def test_sparse_and_whole_rows_are_the_same_system():
    A = [[1, 0, 0], [-1, 1, 0], [-3, -1, 2]]
    dense = solve_inequalities(np.array(A, dtype=float))
    assert solve_inequalities(sparse.csr_matrix(A)).x.tolist() == solve_inequalities(A).x.tolist() == dense.x.tolist()


# -- degenerate systems -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_zeros_has_no_solution(method):
    answer = solve_inequalities([[1, 2], [0, 0], [3, 4]], method=method)
    assert answer.combination == ((1,), (1,))
    answer.check([[1, 2], [0, 0], [3, 4]])


def test_without_columns_there_is_no_solution():
    assert solve_inequalities(np.zeros((2, 0))).outcome is Outcome.NO_SOLUTION


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("A", "is_solvable"),
    [
        ([[5.0]], True),
        ([[5.0], [-1.0]], False),
        ([[1.0, 2.0, 3.0, 4.0]], True),  # fewer rows than columns
        ([[1, 2], [1, 2], [1, 2]], True),  # duplicates
        ([[1, 2, 3], [2, 1, 3], [1, 1, 2]], True),  # of rank 2
        ([[1, 2, 3], [2, 1, 3], [-1, -1, -2]], False),
        ([[1, 0], [-1, 0], [0, 1], [1, 1]], False),  # margin exactly 0: two rows cancel, the others agree
        ([[1, 0, 0], [0, 1, 0], [-1, -1, 0], [0, 0, 1]], False),
    ],
)
def test_degenerate_systems_are_decided(method, A, is_solvable):
    answer = solve_inequalities(A, method=method)
    assert answer.outcome is (Outcome.SOLVED if is_solvable else Outcome.NO_SOLUTION)
    answer.check(A)


def test_a_solution_that_no_float64_vector_is_comes_in_whole_numbers():
    # x_1/x_2 must lie between two neighbouring ratios of Fibonacci numbers: the simplest such ratio needs 54 bits.
    A = np.array([[-3416454622906707.0, 5527939700884757.0], [5527939700884757.0, -8944394323791464.0]])
    answer = solve_inequalities(A)
    assert answer.x.dtype == object
    assert min(answer.x.tolist()) >= 8944394323791464
    assert solves(A, answer.x.tolist())
    answer.check(A)


def test_what_float64_takes_for_a_solution_is_not_believed():
    # In float64 the last product is 1e16 + 1 - 1e16 = 0, or 2, depending on the order; exactly it is 1.
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1e16, 1.0, -1e16]])
    answer = solve_inequalities(A)
    assert solves(A, answer.x.tolist())
    x = tuple(map(Fraction, [1.0, 1.0, 1.0 + 2**-52]))
    wrong = replace(answer, witnesses=SystemWitnesses(x))
    with pytest.raises(CertificateError, match="positive product"):
        wrong.check(A)


def test_a_product_that_is_0_but_not_in_float64_is_a_mistake():
    # After the first two rows the weights are (0, -sqrt 2), up to rounding, and the third row is orthogonal to them.
    A = [[1, -1], [-3, -3], [-1, 0]]
    answer = solve_inequalities(A, method="perceptron", time_limit=10)
    assert answer
    assert solves(A, answer.x.tolist())


# -- what the result says ---------------------------------------------------------------------------------------------


def test_the_margin_of_the_solution_is_at_most_the_largest():
    A = needle(60, 5, 0.01, seed=3)
    for method in METHODS:
        answer = solve_inequalities(A, method=method)
        assert 0 < answer.margin <= 0.01 * (1 + 1e-9)


@pytest.mark.parametrize("A", [needle(100, 10, 1e-6, seed=0), skewed(200, 20, 1e-6, seed=0), exponential(25)])
def test_the_potential_grows_by_a_constant_with_every_rescaling(A):
    answer = solve_inequalities(A, method="rescaled")
    assert len(answer.potential) == answer.rescalings + 1
    assert np.all(np.diff(answer.potential) >= math.log(2) - 1 / 11)


def test_the_result_prints_as_sentences():
    assert str(solve_inequalities([[1, 0], [0, 1]])) == (
        "Solved (proved): the solution x of 2 inequalities in 2 unknowns has margin 0.707106. "
        "The method perceptron took 2 mistakes."
    )
    nothing = str(solve_inequalities([[2.0], [-1.0]], method="rescaled"))
    assert nothing.startswith("No solution (proved): of 2 inequalities in 1 unknown, rows (the first is 0) cancel")
    assert "exactly: 1 x row 0 + 2 x row 1 = 0." in nothing


@pytest.mark.parametrize("claim", ["x", "combination", "shape", "margin"])
def test_a_false_claim_is_found(claim):
    A, B = [[1, 0], [-1, 2]], [[1, 0], [-1, 0]]
    solved, nothing = solve_inequalities(A), solve_inequalities(B)
    wrong = {
        "x": (solved, B),
        "combination": (nothing, A),
        "shape": (solved, [[1.0, 0.0]]),
        "margin": (replace(solved, claims=solved.claims._replace(margin=0.9)), A),
    }
    answer, system = wrong[claim]
    with pytest.raises(CertificateError):
        answer.check(system)


@pytest.mark.parametrize("method", ["perceptron", "rescaled"])
def test_the_time_limit_ends_every_method(method, clock):
    clock.tick = 0.001
    answer = solve_inequalities(skewed(2000, 40, 1e-9, seed=0), method=method, time_limit=0.01)
    assert answer.outcome is Outcome.UNDECIDED
    assert "time limit was reached" in str(answer)


def test_a_time_limit_that_is_over_leaves_auto_undecided():
    answer = solve_inequalities(needle(2000, 40, 1e-7, seed=0), time_limit=1e-9)
    assert answer.outcome is Outcome.UNDECIDED


# -- input that is invalid ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([1.0, 2.0], "1 dimension"),
        (np.zeros((0, 3)), "no rows"),
        ([[1.0, 2.0], [math.nan, 0.0]], "row 1, column 0"),
        ([[1.0, math.inf]], "row 0, column 1"),
        ([["a", "b"]], "convert it to real numbers"),
        (np.array([[1j]]), "convert it to real numbers"),
        ([[1, 2**53 + 1]], "row 0, column 1 of A is 9007199254740993"),
    ],
)
def test_a_system_that_makes_no_sense_is_refused(A, message):
    with pytest.raises(ValueError, match=message):
        solve_inequalities(A)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "simplex"}, "choose one of auto, perceptron"),
        ({"time_limit": 0}, "positive number of seconds"),
        ({"time_limit": -1.0}, "positive number of seconds"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve_inequalities([[1.0]], **arguments)
