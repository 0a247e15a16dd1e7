"""Ax > 0 with tiny margins: how many steps the theorems allow, and systems on which the perceptron gives up."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from novikoff.learn.linear.space import perceptron
from novikoff.prove.inequalities.check import Outcome
from novikoff.prove.inequalities.search.phases import dunagan_vempala
from novikoff.prove.inequalities.search.solve import Ellipsoid, System, smooth_steps, solve_inequalities
from tests.draws import draws
from tests.exact_lp import margin_square
from tests.prove.inequalities.systems import badly_scaled, exponential, needle, skewed, unit


@st.composite
def separable_systems(draw):
    """Whole rows on one side of a plane."""
    columns = draw(st.integers(1, 4))
    numbers = st.integers(-4, 4)
    normal = draw(st.lists(numbers, min_size=columns, max_size=columns).filter(any))
    rows = draw(st.lists(st.lists(numbers, min_size=columns, max_size=columns), min_size=1, max_size=7))
    sides = [sum(a * b for a, b in zip(row, normal, strict=True)) for row in rows]
    signed = [[a if side > 0 else -a for a in row] for row, side in zip(rows, sides, strict=True) if side]
    return signed or [normal]


def margin_of(A):
    """The margin of the rows divided by their lengths, by exact arithmetic on what float64 makes of them."""
    rows = unit(A)
    return math.sqrt(margin_square(rows, np.ones(len(rows)), fit_intercept=False))


def mistakes_by_the_lecture(rows):
    w, mistakes = [0.0] * len(rows[0]), 0
    while True:
        before = mistakes
        for a in rows:
            if sum(v * u for v, u in zip(a, w, strict=True)) <= 0:
                w, mistakes = [v + u for v, u in zip(a, w, strict=True)], mistakes + 1
        if mistakes == before:
            return mistakes


# -- the theorems -----------------------------------------------------------------------------------------------------


@given(A=separable_systems())
@settings(max_examples=draws(40))
def test_no_method_takes_more_steps_than_its_theorem_allows(A):
    n, m, rho = len(A), len(A[0]), margin_of(A)
    perceptron, rescaled = (solve_inequalities(A, method=method) for method in ("perceptron", "rescaled"))
    smooth = next(k for k, step in enumerate(smooth_steps(unit(np.array(A, dtype=float)))) if step.smallest > 0)
    assert perceptron.iterations <= 1 / rho**2 * (1 + 1e-9)
    assert smooth <= 2 * math.sqrt(2 * math.log(n)) / rho
    assert rescaled.rescalings <= 3.33 * m * math.log(1 + 1 / rho)
    assert perceptron.margin <= rho * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_perceptron_makes_the_mistakes_of_the_lecture(seed):
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((30, 5))
    A *= np.sign(A @ generator.standard_normal(5))[:, None]
    assert solve_inequalities(A, method="perceptron").iterations == mistakes_by_the_lecture(unit(A).tolist())


@pytest.mark.parametrize("margin", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("seed", range(3))
def test_rescalings_stay_within_their_bound_on_tiny_margins(margin, seed):
    A = needle(100, 10, margin, seed)
    answer = solve_inequalities(A, method="rescaled")
    assert answer
    assert 0 < answer.rescalings <= 3.33 * 10 * math.log(1 + 1 / margin)


@pytest.mark.parametrize("seed", range(3))
def test_the_smooth_perceptron_keeps_its_invariant(seed):
    """||xA||^2/2 <= min_p (<Ay, p> + mu d(p)) - ||y||^2/2: the minimum over p is -mu log mean exp(-Ay/mu)."""
    A = unit(skewed(50, 8, 1e-3, seed))
    for k, step in enumerate(itertools.islice(smooth_steps(A), 1_000)):
        length = np.linalg.norm(step.weights @ A)
        mu = 4 / ((k + 1) * (k + 2))
        smallest = -mu * (logsumexp(-(A @ step.y) / mu) - math.log(50))
        assert length**2 / 2 <= smallest - step.y @ step.y / 2 + 1e-13
        assert step.weights.min() >= 0
        assert step.weights.sum() == pytest.approx(1)
        assert step.length == pytest.approx(length, abs=1e-12)
        assert step.smallest == pytest.approx((A @ step.y).min(), abs=1e-12)
        assert step.smallest > 0 or step.length <= 2 * math.sqrt(2 * math.log(50)) / (k + 1)


@given(seed=st.integers(0, 10**6), spread=st.floats(0.0, 3.0))
@settings(max_examples=draws(40))
def test_no_rescaling_loses_a_solution(seed, spread):
    """Any combination of rows, good or bad, leaves an ellipsoid that holds the solutions of length 1."""
    generator = np.random.default_rng(seed)
    solution = unit(generator.standard_normal((1, 5)))[0]
    A = unit(generator.standard_normal((30, 5)) * 10.0 ** -generator.uniform(0, spread, 5))
    A *= np.where(A @ solution >= 0, 1.0, -1.0)[:, None]
    ellipsoid = Ellipsoid.ball(A)
    for _ in range(8):
        ellipsoid = ellipsoid.squeezed(generator.dirichlet(np.full(30, 0.3)))
        inside = np.linalg.solve(ellipsoid.axes, solution)
        assert np.linalg.norm(inside) <= 1 + 1e-9
        assert ellipsoid.log_det == pytest.approx(-2 * np.linalg.slogdet(ellipsoid.axes)[1], abs=1e-9)


# -- systems with tiny margins ----------------------------------------------------------------------------------------

SYSTEMS = {
    "needle 200 x 20, 1e-4": needle(200, 20, 1e-4, seed=0),
    "needle 200 x 20, 1e-7": needle(200, 20, 1e-7, seed=0),
    "needle 2,000 x 50, 1e-5": needle(2_000, 50, 1e-5, seed=0),
    "needle 2,000 x 50, 1e-7": needle(2_000, 50, 1e-7, seed=1),
    "skewed 500 x 30": skewed(500, 30, 1e-5, seed=0),
    "skewed 1,000 x 50": skewed(1_000, 50, 1e-4, seed=1),
    "badly scaled needle": badly_scaled(needle(500, 30, 1e-6, seed=2), seed=2),
    "badly scaled skewed": badly_scaled(skewed(200, 20, 1e-3, seed=2), seed=2),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_with_tiny_margins_are_solved(name):
    answer = solve_inequalities(SYSTEMS[name], time_limit=60)
    assert answer.outcome is Outcome.SOLVED
    assert answer.method == "rescaled"
    answer.check(SYSTEMS[name])


def test_the_perceptron_stops_after_a_million_mistakes_and_says_what_to_do():
    answer = solve_inequalities(needle(200, 20, 1e-6, seed=0), method="perceptron")
    assert (answer.outcome, answer.iterations) == (Outcome.UNDECIDED, 1_000_000)
    assert 1e-6 <= answer.potential[-1] < 1e-2
    assert 'use method="rescaled"' in str(answer)


@pytest.mark.parametrize("n", [20, 40, 50])
def test_exponential_rows_are_solved(n):
    answer = solve_inequalities(exponential(n))
    assert answer
    # x_j exceeds the sum of those before it, and so doubles.
    x = [Fraction(v) for v in answer.x.tolist()]
    assert all(x[j] > sum(x[:j]) for j in range(n))
    answer.check(exponential(n))


def test_rescaling_alone_admits_where_float64_ends():
    answer = solve_inequalities(exponential(60), method="rescaled")
    assert answer.outcome is Outcome.UNDECIDED
    assert "too small for float64" in str(answer)


@pytest.mark.parametrize("seed", range(3))
def test_a_tiny_violation_is_told_from_a_tiny_margin(seed):
    """A needle whose rows lean the other way has no solution at all, by as little as it had one before."""
    A = needle(200, 12, 1e-7, seed)
    broken = np.vstack([A, -A.mean(axis=0)])
    assert solve_inequalities(A).outcome is Outcome.SOLVED
    answer = solve_inequalities(broken)
    assert answer.outcome is Outcome.NO_SOLUTION
    answer.check(broken)


@pytest.mark.parametrize("patience", [1.0, 16.0])
def test_dunagan_and_vempala_stretch_until_a_phase_has_a_solution(patience):
    A = needle(60, 6, 1e-3, seed=1)
    runs = [list(dunagan_vempala(System(A), np.random.default_rng(seed), patience)) for seed in (5, 5, 6)]
    for seen in runs:
        assert [phase.solution is None for phase in seen[:-1]] == [True] * (len(seen) - 1)
        assert (A @ seen[-1].solution > 0).all()
        assert all(phase.mistakes.sum() == math.ceil(patience * 36) for phase in seen[:-1])
        assert all(np.allclose(np.linalg.norm(phase.rows, axis=1), 1) for phase in seen)
    first, again, other = (seen[-1].solution.tolist() for seen in runs)
    assert first == again != other


# -- the note's own margins, in mistakes ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 11))
def test_the_plain_run_on_doubling_unknowns_makes_a_third_of_four_to_the_n_mistakes(n):
    A = np.eye(n) - np.tril(np.ones((n, n)), -1)
    learned = perceptron(A, np.ones(n), fit_intercept=False, shuffle=False, max_iter=None, record_mistakes=True)
    assert learned.run.mistakes == (4**n - 1) // 3
    last = int(np.count_nonzero(learned.mistakes.rows == n - 1))
    assert last == learned.memory.weights[0, n - 1] >= 2 ** (n - 1)
    assert n > 6 or mistakes_by_the_lecture(A.tolist()) == learned.run.mistakes


@pytest.mark.parametrize(("year", "mistakes"), [(1997, 234_591), (1998, 4_015)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_cars_as_the_note_stores_them_take_many_mistakes(year, mistakes, fit_intercept):
    cars = [[4, 1997, 6], [0, year, 3]]
    run = perceptron(cars, [1, -1], fit_intercept=fit_intercept, shuffle=False, max_iter=None).run
    assert run.mistakes == mistakes
    scaled = [[1, -np.sign(year - 1997), 1], [-1, np.sign(year - 1997), -1]]
    assert perceptron(scaled, [1, -1], shuffle=False, max_iter=None).run.mistakes == 1
