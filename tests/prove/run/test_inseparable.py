"""The bound of Freund and Schapire, on data that need not be separable."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from novikoff import Separator, mistake_bound, radius
from novikoff.learn.linear.space import perceptron
from novikoff.prove.run.search.freund_schapire import freund_schapire_bound
from tests.draws import draws
from tests.examples import WORKED_X, WORKED_Y, separable, separable_integers

seeds = st.integers(0, 99_999)
ties = st.sampled_from(["mistake", "predict"])


def noisy(seed, n, d, noise=1.0):
    """Gaussian points whose labels a plane knows only roughly."""
    generator = np.random.default_rng(seed)
    X, w = generator.standard_normal((n, d)), generator.standard_normal(d)
    return X, np.where(X @ w + noise * generator.standard_normal(n) > 0, 1, -1)


def folded(X, y, fit_intercept):
    Z = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else np.asarray(X)
    return Z * np.asarray(y)[:, None]


def theorem(Z, v, R, passes):
    """(R ||v|| + sqrt(T) ||xi||)^2, as it is written."""
    return (R * np.linalg.norm(v) + math.sqrt(passes) * np.linalg.norm(np.maximum(1 - Z @ v, 0))) ** 2


def smallest(Z, R, passes, starts=6):
    """The oracle: SciPy from several starts, by slopes first and then without, since there are kinks."""
    generator, (n, d) = np.random.default_rng(0), Z.shape
    found = [passes * n]
    for scale in np.geomspace(0.01, 10, starts):
        v = scale * generator.standard_normal(d) / R
        for method in ("BFGS", "Nelder-Mead"):
            v = optimize.minimize(lambda v: theorem(Z, v, R, passes) ** 0.5, v, method=method).x
        found.append(theorem(Z, v, R, passes))
    return min(found)


@given(seeds, st.integers(1, 4), ties, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5, 100.0]))
def test_no_run_ever_exceeds_it(seed, passes, tie, fit_intercept, shuffle, noise):
    X, y = noisy(seed, 40, 3, noise)
    bound = freund_schapire_bound(X, y, passes=passes, fit_intercept=fit_intercept).bound
    run = perceptron(
        X,
        y,
        fit_intercept=fit_intercept,
        max_iter=passes,
        shuffle=shuffle,
        random_state=seed,
        tie=tie,
        readout="last",
    ).run
    assert run.mistakes <= bound


@given(seeds, st.floats(0.01, 10), st.integers(1, 4), ties, st.booleans())
def test_no_run_ever_exceeds_it_for_any_plane_and_margin(seed, margin, passes, tie, fit_intercept):
    X, y = noisy(seed, 40, 3)
    generator = np.random.default_rng(seed)
    w, b = generator.standard_normal(3), float(generator.standard_normal()) * fit_intercept
    options = {"passes": passes, "fit_intercept": fit_intercept}
    given_both = freund_schapire_bound(X, y, separator=Separator(w, b), margin=margin, **options)
    run = perceptron(X, y, fit_intercept=fit_intercept, max_iter=passes, random_state=seed, tie=tie, readout="last").run
    assert run.mistakes <= given_both.bound
    u = np.append(w, b)[: 3 + fit_intercept] / np.linalg.norm(np.append(w, b))
    expected = theorem(folded(X, y, fit_intercept), u / margin, radius(X, fit_intercept), passes)
    assert given_both.value == pytest.approx(expected, rel=1e-12)
    best_margin = freund_schapire_bound(X, y, separator=Separator(w, b), **options)
    best = freund_schapire_bound(X, y, **options)
    assert best.value <= best_margin.value * (1 + 1e-9)
    assert best_margin.value <= given_both.value * (1 + 1e-9)
    assert max(given_both.lower, best_margin.lower) <= best.value


@given(separable_integers(), st.integers(1, 1000))
def test_on_separable_data_it_is_at_most_the_bound_of_block_and_novikoff(data, passes):
    X, y, W = data
    assume(len(y))
    Z = folded(X, y, True)
    widest = optimize.minimize(
        lambda v: v @ v / 2,
        W[0] / np.min(Z @ W[0]),
        jac=lambda v: v,
        constraints={"type": "ineq", "fun": lambda v: Z @ v - 1, "jac": lambda v: Z},
        options={"ftol": 1e-14, "maxiter": 500},
    ).x
    margin = np.min(Z @ widest) / np.linalg.norm(widest)
    assume(margin > 0)
    found = freund_schapire_bound(X, y, passes=passes)
    assert found.value <= (radius(X) / margin) ** 2 * (1 + 1e-9)
    assert found.gap < 1e-6


@pytest.mark.parametrize("shape", [(30, 5), (20, 60), (60, 60)])
def test_on_separable_data_many_passes_give_the_bound_of_block_and_novikoff(shape):
    X, y, w = separable(np.random.default_rng(1), *shape, 0.2)
    found = freund_schapire_bound(X, y, passes=10**8, fit_intercept=False)
    assert found.deviation < 1e-9
    assert found.gap < 1e-8
    assert found.bound == mistake_bound(radius(X, False), found.margin)
    assert found.margin >= (y * (X @ w)).min()
    assert (y * found.separator.score(X)).min() == pytest.approx(found.margin, rel=1e-9)


@settings(max_examples=draws(25))
@given(seeds, st.integers(1, 12), st.integers(1, 3), st.sampled_from([1, 2, 10, 200]), st.booleans())
def test_no_other_optimiser_finds_less(seed, n, d, passes, fit_intercept):
    X, y = noisy(seed, n, d)
    found = freund_schapire_bound(X, y, passes=passes, fit_intercept=fit_intercept)
    oracle = smallest(folded(X, y, fit_intercept), radius(X, fit_intercept), passes, starts=2)
    assert found.lower <= oracle * (1 + 1e-12)
    assert found.value <= oracle * (1 + 1e-9)
    assert found.gap < 1e-6


@given(seeds, st.sampled_from([1, 3, 1000]), st.booleans(), st.sampled_from([0.0, 1.0, 100.0]))
def test_the_bracket_is_narrow_and_says_what_it_was_computed_with(seed, passes, fit_intercept, noise):
    X, y = noisy(seed, 60, 4, noise)
    found = freund_schapire_bound(X, y, passes=passes, fit_intercept=fit_intercept)
    assert 1 <= found.lower <= found.value <= passes * 60
    assert found.gap < 1e-6
    assert found.bound == math.floor(found.value)
    if found.separator is not None:
        assert np.linalg.norm(found.separator.folded) == pytest.approx(1)
        formula = ((found.radius + math.sqrt(passes) * found.deviation) / found.margin) ** 2
        assert formula == pytest.approx(found.value, rel=1e-9)
        again = freund_schapire_bound(
            X, y, separator=found.separator, margin=found.margin, passes=passes, fit_intercept=fit_intercept
        )
        assert again.value == pytest.approx(found.value, rel=1e-9)
        alone = freund_schapire_bound(X, y, separator=found.separator, passes=passes, fit_intercept=fit_intercept)
        assert alone.margin == pytest.approx(found.margin, rel=1e-4)
        assert alone.value == pytest.approx(found.value, rel=1e-9)


@given(seeds, st.floats(1e-3, 1e3), st.integers(1, 9))
def test_the_value_is_never_rounded_down(seed, margin, root):
    """Against the theorem in rational arithmetic; 1/gamma is rounded once before, hence the last digit."""
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-9, 10, (7, 2)) / 10, generator.choice([-1, 1], 7)
    found = freund_schapire_bound(
        X, y, separator=Separator([0.0, 2.0]), margin=margin, passes=root**2, fit_intercept=False
    )
    gaps = [1 - int(label) * Fraction(x[1]) / Fraction(margin) for label, x in zip(y, X.tolist(), strict=True)]
    longest = max(sum(Fraction(c) ** 2 for c in x) for x in X.tolist())
    R, missing = (Fraction(math.isqrt(int(s * 10**80)), 10**40) for s in (longest, sum(max(g, 0) ** 2 for g in gaps)))
    exact = (R / Fraction(margin) + root * missing) ** 2
    assert exact * (1 - Fraction(1, 2**51)) <= Fraction(found.value) <= exact * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0], [1.0, 2.0]], [1, -1]),
        ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [1, 1, -1, -1]),
        ([[0.0], [0.0], [0.0]], [1, -1, 1]),
    ],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_where_no_plane_helps_every_example_may_be_a_mistake(X, y, fit_intercept):
    found = freund_schapire_bound(X, y, passes=2, fit_intercept=fit_intercept)
    assert found.separator is None
    assert found.margin == found.deviation == math.inf
    assert found.bound == found.value == found.lower == 2 * len(y)
    assert str(found) == (
        f"At most {2 * len(y)} mistakes in 2 passes: one for every example seen. "
        f"No hyperplane and margin give less than {2 * len(y)}."
    )


def test_a_plane_that_is_worse_than_none_is_not_taken():
    found = freund_schapire_bound(WORKED_X, -WORKED_Y, separator=Separator([1.0, 0.0]))
    assert found.separator is None
    assert found.bound == 6
    assert found.lower <= 6


@given(seeds, st.booleans())
def test_more_passes_never_promise_less_and_never_more_than_in_proportion(seed, fit_intercept):
    X, y = noisy(seed, 30, 3)
    values = [freund_schapire_bound(X, y, passes=T, fit_intercept=fit_intercept).value for T in (1, 2, 4, 8)]
    for fewer, more in pairwise(values):
        assert fewer * (1 - 1e-9) <= more <= 2 * fewer * (1 + 1e-9)


@given(seeds, st.sampled_from([-1020, -340, -1, 7, 340, 1000]), st.sampled_from([1, 30]))
def test_without_intercept_scaling_by_a_power_of_two_changes_nothing(seed, exponent, passes):
    X, y = noisy(seed, 20, 3)
    plain = freund_schapire_bound(X, y, passes=passes, fit_intercept=False)
    scaled = freund_schapire_bound(np.ldexp(X, exponent), y, passes=passes, fit_intercept=False)
    if exponent == -1020:  # some of X has lost its last digits
        assert scaled.value == pytest.approx(plain.value, rel=1e-3)
    else:
        assert (scaled.value, scaled.lower) == (plain.value, plain.lower)
        assert scaled.margin == plain.margin * 2.0**exponent


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_huge_and_tiny_examples_have_a_bound(factor):
    X, y = noisy(3, 50, 3)
    found = freund_schapire_bound(X * factor, y, passes=20)
    assert found.gap < 1e-6
    without = freund_schapire_bound(X, y, passes=20, fit_intercept=False)
    if factor > 1:  # the folded 1 is nothing beside such examples
        assert found.value == pytest.approx(without.value, rel=1e-9)


@given(seeds, st.sampled_from([1, 50]), st.booleans())
def test_sparse_equals_dense(seed, passes, fit_intercept):
    X, y = noisy(seed, 30, 4)
    X[np.abs(X) < 0.7] = 0
    dense = freund_schapire_bound(X, y, passes=passes, fit_intercept=fit_intercept)
    for form in (sparse.csr_matrix, sparse.csc_array):
        found = freund_schapire_bound(
            form(X), np.where(y > 0, "red", "blue"), passes=passes, fit_intercept=fit_intercept
        )
        assert found.value == pytest.approx(dense.value, rel=1e-9)
        assert found.lower == pytest.approx(dense.lower, rel=1e-9)


def test_wide_sparse_rows_are_never_written_out():
    generator = np.random.default_rng(0)
    n, d, each = 1_500, 2_000_000, 5
    columns = np.sort(generator.integers(0, 3_000, (n, each)), axis=1) * 600
    X = sparse.csr_matrix(
        (generator.standard_normal(n * each), columns.ravel(), np.arange(0, n * each + 1, each)), (n, d)
    )
    y = np.where(X @ generator.standard_normal(d) + generator.standard_normal(n) > 0, 1, -1)
    found = freund_schapire_bound(X, y, passes=20)
    narrow = freund_schapire_bound(X[:, ::600], y, passes=20)
    assert found.gap < 1e-6
    assert found.value == pytest.approx(narrow.value, rel=1e-8)


@given(seeds, st.integers(2, 4))
def test_copies_of_the_data_are_as_good_as_passes(seed, copies):
    X, y = noisy(seed, 20, 3)
    passes = freund_schapire_bound(X, y, passes=copies)
    rows = freund_schapire_bound(np.tile(X, (copies, 1)), np.tile(y, copies))
    assert rows.value == pytest.approx(passes.value, rel=1e-9)


def test_zero_rows_one_row_one_class_and_single_precision():
    one = freund_schapire_bound([[3.0, 4.0]], [1], passes=7, fit_intercept=False)
    assert one.value == pytest.approx(1, rel=1e-9)
    assert one.bound == 1
    X = np.array([[1.0, 2.0], [0.0, 0.0], [2.0, 1.0], [2.0, 1.0]])
    found = freund_schapire_bound(X, [1, 1, 1, 1], passes=30, fit_intercept=False)
    assert found.gap < 1e-6
    assert found.value >= 30  # the zero row is a mistake every time
    assert freund_schapire_bound(X.astype(np.float32), [1] * 4, passes=30, fit_intercept=False).value == found.value


def test_it_prints_as_two_sentences():
    found = freund_schapire_bound(WORKED_X, WORKED_Y, separator=Separator([1.0, 0.0]), margin=1.0, fit_intercept=False)
    assert str(found).startswith("At most 5 mistakes in 1 pass: ((R + D)/gamma)^2 <= 5.")
    assert "with R = 2.23607, D = " in str(found)
    assert str(found).count(". ") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"passes": 0}, "passes=0"),
        ({"passes": -3}, "passes=-3"),
        ({"passes": 1.5}, "passes=1.5"),
        ({"passes": True}, "passes=True"),
        ({"passes": math.nan}, "passes=nan"),
        ({"separator": Separator([1.0, 0.0]), "margin": 0.0}, "margin=0.0"),
        ({"separator": Separator([1.0, 0.0]), "margin": -1.0}, "margin=-1.0"),
        ({"separator": Separator([1.0, 0.0]), "margin": math.nan}, "margin=nan"),
        ({"separator": Separator([1.0, 0.0]), "margin": math.inf}, "margin=inf"),
        ({"separator": Separator([1.0, 0.0]), "margin": 1e-300}, "margin=1e-300 is so small"),
        ({"margin": 1.0}, "without separator="),
        ({"separator": Separator([1.0])}, "rows of 1 numbers, but X has 2"),
        ({"separator": Separator([1.0, 0.0], 1.0), "fit_intercept": False}, "must be 0"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        freund_schapire_bound(WORKED_X, WORKED_Y, **options)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[math.nan]], [1], "NaN or infinity"),
        ([[1.0]], [1, -1], "2 labels, but X has 1 rows"),
        (np.empty((0, 2)), [], "no rows"),
        ([1.0], [1], "1 dimension"),
    ],
)
def test_bad_data_are_refused(X, y, words):
    with pytest.raises(ValueError, match=words):
        freund_schapire_bound(X, y)
