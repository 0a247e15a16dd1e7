"""The exact oracle checked by duality, by HiGHS, and on tables whose answer one can see."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

from tests.exact_lp import best_worst, margin_square, maximise, over_the_cone, points, recession_signs, verdict
from tests.tables import categorical_tables, tables, zero_cell_table

VERDICTS = ("separable", "quasi-separable", "overlapping")


@st.composite
def programs(draw):
    """c, A and b of whole numbers, b >= 0, and a last row that keeps the program bounded."""
    m, n, number = draw(st.integers(1, 6)), draw(st.integers(1, 5)), st.integers(-4, 4)
    A = [[draw(number) for _ in range(n)] for _ in range(m)]
    return [draw(number) for _ in range(n)], [*A, [1] * n], [draw(st.integers(0, 3)) for _ in range(m)] + [5]


def dot(a, b):
    return sum(u * v for u, v in zip(a, b, strict=True))


@st.composite
def whole_tables(draw):
    """Whole numbers, so that HiGHS cannot be unsure."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    X = [[draw(st.integers(-2, 2)) for _ in range(d)] for _ in range(n)]
    return np.array(X), np.array([draw(st.sampled_from((-1, 1))) for _ in X])


def floats(Z):
    return np.array(Z, dtype=np.float64)


@given(programs())
def test_the_multipliers_prove_the_optimum(program):
    c, A, b = program
    value, x, multipliers = maximise(c, A, b)
    assert min(x) >= 0
    assert all(dot(row, x) <= limit for row, limit in zip(A, b, strict=True))
    assert min(multipliers) >= 0
    assert all(dot(column, multipliers) >= price for column, price in zip(zip(*A, strict=True), c, strict=True))
    assert value == dot(c, x) == dot(b, multipliers)


@given(programs(), st.fractions(Fraction(1, 9), 9), st.fractions(Fraction(1, 9), 9))
def test_the_multipliers_are_in_the_units_of_the_program(program, of_goal, of_rows):
    c, A, b = program
    c, A = [of_goal * v for v in c], [[of_rows * v for v in row] for row in A]
    value, _, multipliers = maximise(c, A, b)
    assert all(dot(column, multipliers) >= price for column, price in zip(zip(*A, strict=True), c, strict=True))
    assert value == dot(b, multipliers)


@given(programs())
def test_the_simplex_method_agrees_with_highs(program):
    c, A, b = program
    peer = linprog([-v for v in c], A_ub=A, b_ub=b, method="highs")
    assert float(maximise(c, A, b).value) == pytest.approx(-peer.fun, abs=1e-9)


def test_a_program_on_which_the_greatest_coefficient_cycles_ends():
    """Beale's example, 1955."""
    c = [Fraction(3, 4), -150, Fraction(1, 50), -6]
    A = [[Fraction(1, 4), -60, Fraction(-1, 25), 9], [Fraction(1, 2), -90, Fraction(-1, 50), 3], [0, 0, 1, 0]]
    assert maximise(c, A, [0, 0, 1]).value == Fraction(1, 20)


@pytest.mark.parametrize(("A", "b", "words"), [([[-1]], [1], "unbounded"), ([[1]], [-1], "negative")])
def test_programs_without_an_answer_are_refused(A, b, words):
    with pytest.raises(ValueError, match=words):
        maximise([1], A, b)


@given(whole_tables(), st.booleans())
def test_highs_gives_the_same_verdict(table, fit_intercept):
    Z = floats(points(*table, fit_intercept))
    n, D = Z.shape
    worst = linprog([0] * D + [-1], A_ub=np.column_stack([-Z, np.ones(n)]), b_ub=np.zeros(n), bounds=(-1, 1))
    total = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(n), bounds=(-1, 1))
    peer = "separable" if worst.fun < -1e-7 else "quasi-separable" if total.fun < -1e-7 else "overlapping"
    assert verdict(*table, fit_intercept) == peer


@given(whole_tables(), st.booleans())
def test_highs_gives_the_same_signs(table, fit_intercept):
    signs = recession_signs(*table, fit_intercept)
    if verdict(*table, fit_intercept) == "overlapping":
        assert signs == {}
        return
    Z = floats(points(*table, fit_intercept))
    names = [*range(table[0].shape[1]), "intercept"]
    for j, c in enumerate(np.eye(Z.shape[1])):
        up, down = (-linprog(-sign * c, A_ub=-Z, b_ub=[0] * len(Z), bounds=(-1, 1)).fun > 1e-7 for sign in (1, -1))
        assert signs.get(names[j], "") == {(1, 1): "?", (1, 0): "+", (0, 1): "-", (0, 0): ""}[up, down]


@given(whole_tables(), st.booleans())
def test_least_squares_give_the_same_margin(table, fit_intercept):
    """The residual of Σ λ_i (z_i, 1) = (0, 1) with λ >= 0 is γ² / (1 + γ²)."""
    if verdict(*table, fit_intercept) != "separable":
        with pytest.raises(ValueError, match="not separable"):
            margin_square(*table, fit_intercept)
        return
    Z = floats(points(*table, fit_intercept))
    _, residual = nnls(np.vstack([Z.T, np.ones(len(Z))]), np.array([0.0] * Z.shape[1] + [1.0]))
    assert float(margin_square(*table, fit_intercept)) == pytest.approx(residual**2 / (1 - residual**2), rel=1e-9)


@given(tables(both_classes=False))
def test_the_margin_grows_with_the_points(table):
    X, y = table
    if verdict(X, y, False) == "separable":
        square = margin_square(X, y, False)
        assert 0 < square <= min(dot(z, z) for z in points(X, y, False))
        assert margin_square(2 * X, y, False) == 4 * square
        assert margin_square(np.vstack([X, 3 * X]), np.append(y, y), False) == square


@given(tables(both_classes=False), st.booleans())
def test_a_verdict_is_proved_by_its_own_multipliers(table, fit_intercept):
    """Gordan and Stiemke: either a vector that separates, or weights of the points that rule it out."""
    Z = points(*table, fit_intercept)
    found = verdict(*table, fit_intercept)
    value, x, multipliers = best_worst(Z)
    assert (found == "separable") == (value > 0)
    if found == "separable":
        D = len(Z[0])
        assert all(dot(z, x[:D]) - dot(z, x[D : 2 * D]) > 0 for z in Z)
        return
    weights = multipliers[:-1]
    assert sum(weights) >= 1
    assert all(dot(weights, column) == 0 for column in zip(*Z, strict=True))
    value, x, multipliers = over_the_cone([sum(column) for column in zip(*Z, strict=True)], Z)
    if found == "quasi-separable":
        D = len(Z[0])
        products = [dot(z, x[:D]) - dot(z, x[D:]) for z in Z]
        assert min(products) == 0 < max(products)
        return
    weights = [1 + weight for weight in multipliers[:-1]]
    assert min(weights) > 0
    assert all(dot(weights, column) == 0 for column in zip(*Z, strict=True))


@given(tables(both_classes=False), st.booleans(), st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_the_rows_or_on_repeating_one(table, fit_intercept, random):
    X, y = table
    order = random.sample(range(len(y)), len(y))
    order.append(order[0])
    assert verdict(X[order], y[order], fit_intercept) == verdict(X, y, fit_intercept)
    assert recession_signs(X[order], y[order], fit_intercept) == recession_signs(X, y, fit_intercept)


@given(whole_tables(), st.booleans())
def test_the_other_labels_turn_the_signs(table, fit_intercept):
    X, y = table
    turned = {name: {"+": "-", "-": "+", "?": "?"}[sign] for name, sign in recession_signs(X, y, fit_intercept).items()}
    assert recession_signs(X, -y, fit_intercept) == turned


UP = {0: "+", "intercept": "-"}  # beyond some value of the column, all are +1
SEEN = {
    "a zero cell": ([[0], [0], [1], [1]], [-1, 1, 1, 1], True, "quasi-separable", {0: "+"}),
    "a zero cell of the reference": ([[1], [1], [0], [0]], [-1, 1, -1, -1], True, "quasi-separable", UP),
    "no zero cell": ([[0], [0], [1], [1]], [-1, 1, -1, 1], True, "overlapping", {}),
    "two zero cells": ([[0], [1]], [-1, 1], True, "separable", UP),
    "complete separation": ([[1], [2], [3], [4]], [-1, -1, 1, 1], True, "separable", UP),
    "one value of both labels": ([[1], [2], [2], [3]], [-1, -1, 1, 1], True, "quasi-separable", UP),
    "two values of both labels": ([[1], [2], [2], [1]], [-1, -1, 1, 1], True, "overlapping", {}),
    "exclusive or": ([[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1], True, "overlapping", {}),
    "exclusive or without a bias": ([[-1, -1], [-1, 1], [1, -1], [1, 1]], [-1, 1, 1, -1], False, "overlapping", {}),
    "points on the plane": ([[-1, 0], [0, 0], [1, 0], [0, 1]], [1, -1, 1, 1], True, "quasi-separable", {1: "+"}),
    "a point with both labels": ([[2, 5], [2, 5]], [-1, 1], True, "overlapping", {}),
    "a point with both labels and one more": ([[2], [2], [3]], [-1, 1, 1], True, "quasi-separable", UP),
    "only zeros": ([[0, 0], [0, 0]], [-1, 1], True, "overlapping", {}),
    "only zeros without a bias": ([[0, 0], [0, 0]], [1, 1], False, "overlapping", {}),
    "only zeros and one label": ([[0], [0]], [1, 1], True, "separable", {0: "?", "intercept": "+"}),
    "a zero row without a bias": ([[0, 0], [1, 0]], [1, 1], False, "quasi-separable", {0: "+", 1: "?"}),
    "collinear columns": ([[1, 2], [2, 4]], [-1, 1], True, "separable", {0: "?", 1: "?", "intercept": "-"}),
    "collinear columns that overlap": ([[1, 2], [2, 4], [3, 6]], [-1, 1, -1], True, "overlapping", {}),
    "a column that is the bias": ([[1], [1]], [1, 1], True, "separable", {0: "?", "intercept": "?"}),
    "fewer rows than columns": ([[1, 0, 0], [0, 1, 0]], [1, -1], False, "separable", {0: "+", 1: "-", 2: "?"}),
    "one row": ([[3]], [-1], False, "separable", {0: "-"}),
    "one row and a bias": ([[3]], [-1], True, "separable", {0: "?", "intercept": "?"}),
    "one zero row": ([[0]], [1], False, "overlapping", {}),
    "neighbouring floats": ([[1.0], [1.0], [1.0 + 2**-52]], [-1, 1, 1], True, "quasi-separable", UP),
    "tenths that are no tenths": ([[0.1 + 0.2], [0.3]], [1, -1], True, "separable", UP),
    "far apart": ([[1e300, 1e-300], [1e300, -1e-300]], [1, -1], False, "separable", {0: "?", 1: "+"}),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_one_can_see_is_found(name):
    X, y, fit_intercept, expected, signs = SEEN[name]
    assert verdict(X, y, fit_intercept) == expected
    assert recession_signs(X, y, fit_intercept) == signs


def test_the_trial_has_one_infinite_coefficient():
    X, y = zero_cell_table()
    assert verdict(X, y) == "quasi-separable"
    assert recession_signs(X, y) == {0: "+"}
    assert Counter(y[X[:, 0] == 1].tolist()) == {1: 9}
    assert Counter(y[X[:, 0] == 0].tolist()) == {1: 6, -1: 8}


@pytest.mark.parametrize(
    ("X", "y", "fit_intercept", "square"),
    [
        ([[3, 4]], [-1], False, 25),
        ([[3, 4]], [-1], True, 26),
        ([[1], [-1]], [1, -1], True, 1),
        ([[1, 0], [0, 1]], [1, 1], False, Fraction(1, 2)),
        ([[2, 2], [1, 1], [9, 1]], [1, 1, 1], False, 2),
        ([[0.5, 7], [0.5, -7], [0.5, 0]], [1, 1, 1], False, Fraction(1, 4)),
        ([[0], [1]], [-1, 1], True, Fraction(1, 5)),
        ([[1e-300], [-1e-300]], [1, -1], False, Fraction(1e-300) ** 2),
    ],
)
def test_margins_that_one_can_see_are_found(X, y, fit_intercept, square):
    assert margin_square(X, y, fit_intercept) == square


@given(categorical_tables())
def test_a_table_with_a_zero_cell_has_both_labels_and_an_unmixed_row(table):
    X, y = table
    assert set(y.tolist()) == {-1, 1}
    assert any(len(set(y[(x == X).all(axis=1)].tolist())) == 1 for x in X)


@pytest.mark.parametrize("both_classes", [True, False])
def test_every_verdict_comes_up_often(both_classes):
    seen: Counter = Counter()
    labels = set()

    @seed(0)
    @settings(max_examples=300, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(tables(both_classes))
    def draw(table):
        X, y = table
        assert X.dtype == np.float64
        assert np.isfinite(X).all()
        assert X.shape == (len(y), X.shape[1])
        assert 1 <= X.shape[1] <= 4
        assert 1 <= len(y) <= 14
        labels.add(frozenset(y.tolist()))
        seen[verdict(X, y)] += 1

    draw()
    assert all(seen[name] >= 0.15 * seen.total() for name in VERDICTS), seen
    assert labels == {frozenset({-1, 1})} if both_classes else {frozenset({1}), frozenset({-1})} < labels
