"""The nearest point of the hull: its bracket holds, and where there is no margin its rows prove it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls

from novikoff.engine.clock import Clock
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.search import cutting_planes, minimum_norm
from novikoff.prove.separable.search.minimum_norm import nearest_in_feature_space, nearest_point

# -- slow oracles -----------------------------------------------------------------------------------------------------


def solved(matrix, right):
    """The solution of a square system in fractions, None if it is not unique."""
    rows = [[Fraction(v) for v in row] + [Fraction(b)] for row, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next((r for r in range(i, n) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def squared_margin(Z):
    """By trying every set of points: the shortest vector among the minimisers that lie inside their simplex."""
    Z = [[Fraction(float(v)) for v in z] for z in Z]
    products = [[sum(a * b for a, b in zip(z, t, strict=True)) for t in Z] for z in Z]
    shortest = min(products[i][i] for i in range(len(Z)))
    for size in range(2, len(Z) + 1):
        for chosen in itertools.combinations(range(len(Z)), size):
            system = [[products[i][j] for j in chosen] + [1] for i in chosen] + [[1] * size + [0]]
            solution = solved(system, [0] * size + [1])
            if solution and min(solution[:-1]) >= 0:
                shortest = min(shortest, -solution[-1])  # the multiplier of "weights add up to 1"
    return shortest


def null_vectors(Z):
    """A basis of all exact weights with which the rows of Z add up to nothing."""
    equations = [[Fraction(float(v)) for v in column] for column in np.asarray(Z).T]
    width, pivots = len(Z), []
    for j in range(width):
        row = next((e for e in equations if e[j] and not any(e[:j])), None)
        if row is None:
            continue
        equations.remove(row)
        row = [v / row[j] for v in row]
        eliminate = lambda e, row=row, j=j: [a - e[j] * b for a, b in zip(e, row, strict=True)]  # noqa: E731
        equations = [eliminate(e) for e in equations]
        pivots = [(i, eliminate(p)) for i, p in pivots] + [(j, row)]
    bound = dict(pivots)
    free = [j for j in range(width) if j not in bound]
    return [[-bound[j][f] if j in bound else Fraction(int(j == f)) for j in range(width)] for f in free]


def nnls_margin(Z):
    stacked = np.vstack([Z.T, np.ones(len(Z))])
    weights = nnls(stacked, np.append(np.zeros(Z.shape[1]), 1.0))[0]
    return float(np.linalg.norm(weights @ Z) / weights.sum())


# -- what must hold of every answer -----------------------------------------------------------------------------------


def check(points, nearest, gamma):
    Z = points.take(np.arange(points.n_points))
    longest = np.linalg.norm(Z, axis=1).max()
    slack = 1e-9 * gamma + 1e-14 * longest
    assert nearest.lower - slack <= gamma <= nearest.upper + slack
    assert np.isfinite(nearest.lower)
    assert len(np.unique(nearest.rows)) == len(nearest.rows)
    assert (nearest.weights > 0).all()
    assert nearest.weights.sum() == pytest.approx(1)
    assert nearest.upper == pytest.approx(np.linalg.norm(nearest.weights @ Z[nearest.rows]), abs=1e-12 * longest)
    assert np.linalg.norm(nearest.separator) == pytest.approx(1)
    assert nearest.lower == pytest.approx((Z @ nearest.separator).min(), rel=1e-9, abs=1e-12 * longest)


def check_obstruction(points, nearest):
    """The rows carry the origin exactly, with weights of one sign, and no other way."""
    Z = points.take(nearest.rows)
    assert nearest.settled
    assert nearest.upper <= 1e-12 * np.linalg.norm(points.take(np.arange(points.n_points)), axis=1).max()
    assert len(nearest.rows) <= points.dimension + 1
    basis = null_vectors(Z)
    assert len(basis) == 1
    assert min(basis[0]) * max(basis[0]) >= 0
    assert np.linalg.matrix_rank(np.hstack([Z, np.ones((len(Z), 1))])) == len(Z)


def points_of(Z, bias=False):
    return Points.of(np.asarray(Z, dtype=np.float64), np.ones(len(Z), dtype=int), fit_intercept=bias)


def separable_gaussians(seed, n, d, margin):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    w = generator.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w >= 0, 1, -1)
    return X + margin * np.outer(y, w), y


@st.composite
def small_integers(draw, most_points=6, most_columns=3):
    n, d = draw(st.integers(1, most_points)), draw(st.integers(1, most_columns))
    X = draw(st.lists(st.lists(st.integers(-4, 4), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    return np.array(X, dtype=np.float64), np.array(y), draw(st.booleans())


@st.composite
def crowded_integers(draw):
    """Many points of a tiny grid around the origin, all positive: duplicates, and most often no margin."""
    n, d = draw(st.integers(3, 30)), draw(st.integers(1, 4))
    return np.array(draw(st.lists(st.lists(st.integers(-1, 2), min_size=d, max_size=d), min_size=n, max_size=n)))


# -- laws -------------------------------------------------------------------------------------------------------------


@given(small_integers())
def test_the_bracket_holds_and_closes_on_every_small_set(data):
    X, y, bias = data
    points = Points.of(X, y, bias)
    nearest = nearest_point(points, tolerance=1e-9)
    square = squared_margin(points.take(np.arange(len(X))))
    check(points, nearest, math.sqrt(square))
    assert nearest.settled
    if square == 0:
        check_obstruction(points, nearest)
    else:
        assert nearest.lower >= nearest.upper * (1 - 1e-9) > 0


@given(crowded_integers())
def test_points_around_the_origin_carry_it_exactly(Z):
    points = points_of(Z)
    nearest = nearest_point(points)
    assume(nearest.lower <= 0)
    check_obstruction(points, nearest)


@given(small_integers(), st.sampled_from([900, -900, 450, -60]))
def test_a_power_of_two_scales_the_answer_and_nothing_else(data, exponent):
    X, y, _ = data
    plain = nearest_point(Points.of(X, y, False), tolerance=1e-9)
    scaled = nearest_point(Points.of(np.ldexp(X, exponent), y, False), tolerance=1e-9)
    assert scaled.settled == plain.settled
    assert scaled.rows.tolist() == plain.rows.tolist()
    assert scaled.weights == pytest.approx(plain.weights)
    assert math.ldexp(scaled.lower, -exponent) == pytest.approx(plain.lower, rel=1e-12, abs=1e-14)
    assert math.ldexp(scaled.upper, -exponent) == pytest.approx(plain.upper, rel=1e-12, abs=1e-14)


@given(small_integers())
def test_sparse_and_dense_points_have_the_same_nearest_point(data):
    X, y, bias = data
    dense = nearest_point(Points.of(X, y, bias))
    compressed = nearest_point(Points.of(sparse.csr_array(X), y, bias))
    assert compressed.upper == pytest.approx(dense.upper, rel=1e-9, abs=1e-12)
    assert (compressed.lower > 0) == (dense.lower > 0)
    if dense.lower > 0:
        assert compressed.lower == pytest.approx(dense.lower, rel=1e-9)


@pytest.mark.parametrize("margin", [0.3, 1e-3])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array, np.asfortranarray])
def test_a_tall_set_is_solved_to_the_last_digits(margin, as_given):
    X, y = separable_gaussians(0, 6_000, 8, margin)
    points = Points.of(as_given(X), y)
    nearest = nearest_point(points, tolerance=1e-10)
    assert nearest.settled
    assert nearest.passes < 30
    check(points, nearest, nnls_margin(points.take(np.arange(len(y)))))
    assert nearest.upper - nearest.lower <= 1e-10 * nearest.upper


def test_one_wrong_label_among_thousands_is_found():
    X, y = separable_gaussians(1, 6_000, 4, 0.1)
    y[np.argmax(np.abs(X[:, 0]))] *= -1
    points = Points.of(X, y)
    nearest = nearest_point(points)
    check_obstruction(points, nearest)
    assert nearest.lower < 0


@pytest.mark.parametrize(
    "Z",
    [
        [[3.0, 4.0]],
        [[0.0, 0.0]],
        [[1.0, 2.0], [0.0, 0.0], [3.0, 1.0]],
        [[1.0, 2.0], [-1.0, -2.0]],
        [[1.0, 2.0]] * 5 + [[-2.0, -4.0]] * 5,
        [[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0]],  # some points on the plane
        [[1.0, 1.0, 2.0], [2.0, 2.0, 4.0], [-1.0, -1.0, -2.0], [3.0, 3.0, 6.0]],  # collinear columns
        [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]],  # fewer points than columns
        [[1e8, 1.0], [-1e8, 1.0]],
        [[1e6, 0.0], [-1.0, 1e-3], [-1.0, -1e-3]],
    ],
    ids=str,
)
def test_degenerate_sets_are_no_exception(Z):
    points = points_of(Z)
    nearest = nearest_point(points, tolerance=1e-9)
    square = squared_margin(Z)
    check(points, nearest, math.sqrt(square))
    if square == 0:
        check_obstruction(points, nearest)


def test_a_row_of_zeros_is_the_whole_obstruction():
    nearest = nearest_point(points_of([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]]))
    assert nearest.rows.tolist() == [2]
    assert nearest.upper == 0


@pytest.mark.parametrize("delta", [1e-5, 1e-7, 1e-10, 1e-13, 1e-17])
def test_a_margin_near_the_rounding_still_has_its_bracket(delta):
    generator = np.random.default_rng(0)
    Z = np.hstack([generator.standard_normal((40, 3)), delta * (1 + generator.random((40, 1)))])
    Z[::2, :3] = -Z[1::2, :3]
    Z[:2, 3] = delta
    turn = np.linalg.qr(generator.standard_normal((4, 4)))[0]
    nearest = nearest_point(points_of(Z @ turn))
    assert np.isfinite([nearest.lower, nearest.upper]).all()
    assert nearest.lower - 1e-14 <= delta <= nearest.upper + 1e-14
    if delta >= 1e-7:
        assert nearest.upper == pytest.approx(delta, rel=1e-4)
        assert nearest.lower > 0


@given(st.integers(0, 99))
def test_rows_of_very_different_lengths_keep_the_bracket(seed):
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((12, 3)) * 10.0 ** generator.integers(-6, 7, (12, 1)) + [1e-3, 0, 0]
    nearest = nearest_point(points_of(Z))
    longest = np.linalg.norm(Z, axis=1).max()
    assert -longest <= nearest.lower <= nearest.upper + 1e-14 * longest
    assert nearest.upper <= np.linalg.norm(Z, axis=1).min() * (1 + 1e-12)
    assert nearest.settled


def test_a_clock_that_is_over_leaves_an_honest_bracket():
    X, y = separable_gaussians(0, 3_000, 20, 0.05)
    points = Points.of(X, y)
    gamma = nearest_point(points).upper
    nearest = nearest_point(points, tolerance=1e-12, clock=Clock(-1))
    check(points, nearest, gamma)
    assert not nearest.settled


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_have_finite_coordinates(bad):
    with pytest.raises(ValueError, match="NaN or infinity in row 1, column 0"):
        nearest_point(points_of([[1.0, 2.0], [bad, 0.0]]))


def test_no_points_have_no_nearest():
    with pytest.raises(ValueError, match="no points"):
        nearest_point(points_of(np.zeros((0, 2))))


# -- coordinate descent -----------------------------------------------------------------------------------------------


def cut_only_up_to(monkeypatch, size):
    for module in (minimum_norm, cutting_planes):
        monkeypatch.setattr(module, "MOST_FOR_CUTTING", size)


@pytest.fixture
def descent_only(monkeypatch):
    """Make everything look too large for cutting planes alone."""
    cut_only_up_to(monkeypatch, 4)


@pytest.mark.usefixtures("descent_only")
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_descent_and_cutting_planes_find_the_same_margin(as_given):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((30, 80)) * (generator.random((30, 80)) < 0.2)
    points = Points.of(as_given(X), np.where(generator.random(30) < 0.5, -1, 1))
    nearest = nearest_point(points)
    assert nearest.settled
    check(points, nearest, nnls_margin(points.take(np.arange(30))))
    assert nearest.upper - nearest.lower <= 1e-6 * nearest.upper


@pytest.mark.parametrize("seed", range(5))
def test_all_multipliers_move_at_once_to_a_larger_dual_and_the_weights_with_them(seed):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((40, 60)) * (generator.random((40, 60)) < 0.3)
    points = Points.of(sparse.csr_array(X), np.where(generator.random(40) < 0.5, -1, 1))
    descent = cutting_planes.descent_on(points)
    for _ in range(3):
        descent.epoch(np.arange(40))
    before = descent.alpha.sum() - descent.w @ descent.w / 2
    descent.refine()
    assert descent.alpha.min() >= 0
    assert descent.w == pytest.approx(points.combine(np.arange(40), descent.alpha), rel=1e-9, abs=1e-9)
    assert descent.alpha.sum() - descent.w @ descent.w / 2 >= before


@pytest.mark.usefixtures("descent_only")
@pytest.mark.parametrize("most_coordinates", [10**6, 4_000])
@pytest.mark.parametrize("size", [2, 12])
def test_a_few_guilty_rows_in_wide_sparse_data_are_found(monkeypatch, most_coordinates, size):
    """Whole-numbered rows of which the last `size` add up to nothing: two opposite copies, or twelve."""
    monkeypatch.setattr(cutting_planes, "MOST_COORDINATES", most_coordinates)
    generator = np.random.default_rng(0)
    Z = generator.integers(-9, 10, (60, 300)) * (generator.random((60, 300)) < 0.05)
    Z[-1] = -Z[-size:-1].sum(axis=0)
    points = Points.of(sparse.csr_array(Z.astype(np.float64)), np.ones(60, dtype=int), fit_intercept=False)
    nearest = nearest_point(points, clock=Clock(None))
    check_obstruction(points, nearest)
    assert sorted(nearest.rows.tolist()) == list(range(60 - size, 60))


@pytest.mark.usefixtures("descent_only")
def test_descent_gives_up_in_time_and_says_so(monkeypatch, clock):
    clock.tick = 0.1
    monkeypatch.setattr(minimum_norm, "_try_few", lambda source, search, *rest: search)
    generator = np.random.default_rng(0)
    points = Points.of(generator.standard_normal((200, 10)), np.where(generator.random(200) < 0.5, -1, 1))
    nearest = nearest_point(points, clock=Clock(40.0))
    assert not nearest.settled
    assert nearest.lower < 0 < nearest.upper < 0.1


# -- products alone ---------------------------------------------------------------------------------------------------


def check_products(G, nearest):
    assert nearest.weights.min() >= 0
    assert nearest.weights.sum() == pytest.approx(1)
    square = nearest.weights @ G[np.ix_(nearest.rows, nearest.rows)] @ nearest.weights
    assert nearest.upper**2 == pytest.approx(square, rel=1e-6, abs=1e-12 * G.max())
    assert nearest.lower == pytest.approx((G @ nearest.separator).min(), rel=1e-6, abs=1e-12 * G.max())


@given(small_integers())
def test_products_alone_lead_to_the_same_margin(data):
    X, y, bias = data
    K, constant = X @ X.T, float(bias)
    G = np.outer(y, y) * (K + constant)
    nearest = nearest_in_feature_space(K, y, constant)
    gamma = math.sqrt(squared_margin(Points.of(X, y, bias).take(np.arange(len(X)))))
    check_products(G, nearest)
    assert nearest.settled
    slack = 1e-6 * math.sqrt(np.diagonal(G).max())
    assert nearest.lower - slack <= gamma <= nearest.upper + slack
    assert nearest.upper - slack <= gamma * (1 + 1e-6)


@pytest.mark.parametrize("most_for_cutting", [1000, 20])
@pytest.mark.parametrize("exponent", [0, 600, -600])
def test_a_gaussian_kernel_separates_what_no_plane_does(monkeypatch, most_for_cutting, exponent):
    cut_only_up_to(monkeypatch, most_for_cutting)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((150, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    X += 0.3 * np.sign(X)
    K = np.ldexp(np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)), exponent)
    nearest = nearest_in_feature_space(K, y, 0.0)
    assert nearest.settled
    assert 0 < nearest.lower <= nearest.upper <= nearest.lower * (1 + 2e-6)
    assert (np.outer(y, y) * K @ nearest.separator).min() == pytest.approx(nearest.lower)
    one = nearest_in_feature_space(np.ldexp(K, -exponent), y, 0.0)
    assert nearest.upper == pytest.approx(math.ldexp(one.upper, exponent // 2), rel=1e-6)


@pytest.mark.parametrize("most_for_cutting", [1000, 20])
def test_points_that_overlap_in_feature_space_end_with_nothing_above_them(monkeypatch, most_for_cutting):
    cut_only_up_to(monkeypatch, most_for_cutting)
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((120, 3)), np.where(generator.random(120) < 0.5, -1, 1)
    nearest = nearest_in_feature_space(X @ X.T, y, 1.0, clock=Clock(None))
    assert nearest.settled
    assert nearest.lower < 0 <= nearest.upper < 1e-6


def test_a_kernel_matrix_fits_its_signs():
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        nearest_in_feature_space(np.ones((2, 3)), np.array([1, -1]), 0.0)
    with pytest.raises(ValueError, match="NaN"):
        nearest_in_feature_space(np.full((2, 2), np.nan), np.array([1, -1]), 0.0)
