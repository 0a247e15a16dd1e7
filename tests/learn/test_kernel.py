"""The kernel perceptron, against the naive double loop."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Stopped
from novikoff.engine.sums import exact_sum
from novikoff.learn.kernel import learner
from novikoff.learn.kernel.kernels import KernelFunction, Vectors, as_points, joined, make_kernel, variance
from novikoff.learn.kernel.memory import KernelMemory, decide
from novikoff.learn.kernel.space import kernel_perceptron, learn_online
from novikoff.learn.linear.space import perceptron
from tests.draws import draws
from tests.lecture import dot

GAMMA, COEF0, DEGREE = 0.3, 1.0, 3

# Every kernel as its definition says, on lists of numbers. NumPy's exp, because others round differently.
NAIVE = {
    "linear": dot,
    "poly": lambda x, z: (GAMMA * dot(x, z) + COEF0) * (GAMMA * dot(x, z) + COEF0) * (GAMMA * dot(x, z) + COEF0),
    "rbf": lambda x, z: float(np.exp(np.array([-GAMMA * (dot(x, x) + dot(z, z) - 2 * dot(x, z))]))[0]),
    "laplacian": lambda x, z: float(np.exp(np.array([-GAMMA * sum(abs(a - b) for a, b in zip(x, z, strict=True))]))[0]),
    "sigmoid": lambda x, z: float(np.tanh(np.array([GAMMA * dot(x, z) + COEF0]))[0]),
}


def exactly(value):
    """A float as the whole number of 2^-1074 that it is."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * (2**1074 // denominator)


def double_loop(X, signs, product, rows, tie):
    """One binary kernel perceptron: sum over all mistakes, for each example. Yields row, mistake, coefficients."""
    a = {}
    products = cache(lambda i, j: exactly(product(X[i], X[j])))
    for row in rows:
        score = sum(coefficient * products(j, row) for j, coefficient in a.items())
        label = int(signs[row])
        mistake = label * score <= 0 if tie == "mistake" else (1 if score >= 0 else -1) != label
        if mistake:
            a[row] = a.get(row, 0) + label
        yield row, mistake, dict(a)


def one_against_the_rest(y, n_classes):
    return [y] if n_classes == 2 else [np.where(y == c, 1, -1) for c in range(n_classes)]


def example(seed, n_classes=2, n=25, d=3, whole=True):
    generator = np.random.default_rng(seed)
    X = generator.integers(-2, 3, (n, d)).astype(float) if whole else generator.standard_normal((n, d))
    y = generator.integers(0, n_classes, n)
    return X, 2 * y - 1 if n_classes == 2 else y


def run(X, y, **options):
    choices = {"gamma": GAMMA, "coef0": COEF0, "degree": DEGREE, "shuffle": False, "max_iter": 3}
    return kernel_perceptron(X, y, **{**choices, "record_mistakes": True, **options})


def histories(X, y, name, n_classes, epochs, tie):
    rows = [*range(len(y))] * epochs
    points = X.tolist()
    return [list(double_loop(points, s, NAIVE[name], rows, tie)) for s in one_against_the_rest(y, n_classes)]


# Every two of these choices come together at least once.
CHOICES = [
    (sparse.csr_matrix, 2, "mistake", 1, False),
    (np.asarray, 3, "predict", 1, True),
    (sparse.csr_matrix, 2, "predict", 1000, True),
    (np.asarray, 2, "predict", 3, False),
    (np.asarray, 3, "mistake", 1000, False),
    (sparse.csr_matrix, 3, "mistake", 3, True),
]


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize(("form", "n_classes", "tie", "block", "whole"), CHOICES)
def test_the_mistakes_are_those_of_the_double_loop_row_by_row(name, form, n_classes, tie, block, whole, monkeypatch):
    monkeypatch.setattr(learner, "BLOCK", block)
    X, y = example(1, n_classes, whole=whole)
    learned = run(form(X), y, kernel=name, n_classes=n_classes, tie=tie)
    expected = [
        (time, row, c)
        for c, history in enumerate(histories(X, y, name, n_classes, learned.run.epochs, tie))
        for time, (row, mistake, _) in enumerate(history)
        if mistake
    ]
    made = learned.mistakes
    found = zip(made.times.tolist(), made.rows.tolist(), made.classes.tolist(), strict=True)
    assert sorted(found) == sorted(expected)
    assert learned.run.mistakes == len(expected) == sum(learned.run.mistakes_per_epoch)


PLACES = {
    "grid": [[float(a), float(b)] for a in (-1, 0, 1) for b in (-1, 0, 1)],
    "simplex": (np.eye(4) * 0.1 + 0.3).tolist(),
    "hexagon": [[math.cos(k * math.pi / 3), math.sin(k * math.pi / 3)] for k in range(6)],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAIVE)
@given(seed=st.integers(0, 9_999), is_sparse=st.booleans(), tie=st.sampled_from(["mistake", "predict"]))
@settings(max_examples=draws(15))
def test_ties_are_decided_as_exact_sums_decide_them(place, name, seed, is_sparse, tie):
    """Few places and random labels: many scores are sums that cancel, up to rounding."""
    generator = np.random.default_rng(seed)
    X, y = np.array(PLACES[place])[generator.integers(0, len(PLACES[place]), 30)], generator.choice([-1, 1], 30)
    learned = run(sparse.csr_matrix(X) if is_sparse else X, y, kernel=name, tie=tie, max_iter=4)
    history = histories(X, y, name, 2, learned.run.epochs, tie)[0]
    assert learned.mistakes.rows.tolist() == [row for row, mistake, _ in history if mistake]
    a = history[-1][2]
    memory = learned.memory
    assert dict(zip(memory.rows.tolist(), memory.coefficients[:, 0].tolist(), strict=True)) == a


@pytest.mark.parametrize("n_classes", [2, 4])
def test_block_sizes_and_layouts_change_nothing(n_classes, monkeypatch):
    X, y = example(5, n_classes, n=300, d=6, whole=False)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    forms = [np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_array]
    made = set()
    for form in forms:
        for block in (1, 7, 64, 1000):
            monkeypatch.setattr(learner, "BLOCK", block)
            learned = run(form(X), y, kernel="rbf", gamma="scale", n_classes=n_classes, shuffle=True, random_state=3)
            made.add(tuple(learned.mistakes.rows.tolist()))
    assert len(made) == 1


@given(st.integers(0, 9_999), st.sampled_from(["mistake", "predict"]))
def test_the_kernel_with_one_added_is_the_perceptron_with_a_bias(seed, tie):
    X, y = example(seed, n=20)
    assume(len(set(y)) == 2)
    linear = perceptron(X, y, shuffle=False, max_iter=4, tie=tie, record_mistakes=True)
    dual = run(X, y, kernel="poly", degree=1, gamma=1.0, coef0=1.0, max_iter=4, tie=tie)
    assert dual.mistakes.rows.tolist() == linear.mistakes.rows.tolist()
    assert dual.run.weights_length == pytest.approx(linear.run.weights_length)
    # ||w||^2 is kept as a sum of terms that may cancel: where w is nearly 0 the bound is looser, on its safe side.
    if linear.run.mistakes:
        assert dual.run.margin_at_most >= linear.run.weights_length / linear.run.mistakes * (1 - 1e-12)
    assert dual.run.margin_at_most == pytest.approx(linear.run.margin_at_most, rel=1e-9, abs=1e-5)
    assert dual.run.radius == pytest.approx(linear.run.radius)
    assert (dual.run.stopped, dual.run.mistakes_per_epoch) == (linear.run.stopped, linear.run.mistakes_per_epoch)


def test_the_same_orders_are_drawn_as_by_the_linear_perceptron():
    X, y = example(0, n=2_000)
    options = {"max_iter": 1, "shuffle": True, "random_state": 7, "record_mistakes": True}
    linear = perceptron(X, y, fit_intercept=False, **options)
    assert run(X, y, kernel="linear", **options).mistakes.rows.tolist() == linear.mistakes.rows.tolist()


def test_an_epoch_without_a_mistake_knows_the_errors_of_its_read_out():
    for seed in range(20):
        X, y = example(seed, 3, n=30, whole=False)
        for readout in ("last", "average"):
            learned = run(X, y, kernel="rbf", gamma=5.0, n_classes=3, max_iter=None, readout=readout)
            scores = decide(learned.memory, as_points(X, "rbf"), readout)
            assert learned.run.errors == np.count_nonzero(np.argmax(scores, axis=1) != y)


def test_min_margin_stops_at_the_first_mistake_that_rules_it_out(monkeypatch):
    X, y = example(2, n=60)
    counts = set()
    for block in (1, 5, 1000):
        monkeypatch.setattr(learner, "BLOCK", block)
        learned = run(X, y, kernel="rbf", max_iter=None, min_margin=0.3)
        counts.add(learned.run.mistakes)
        assert learned.run.stopped is Stopped.MARGIN_RULED_OUT
        assert learned.run.margin_at_most < 0.3
    assert len(counts) == 1
    made = counts.pop()
    rows = [row for row, mistake, _ in histories(X, y, "rbf", 2, learned.run.epochs, "mistake")[0] if mistake]
    for k in range(1, made + 1):
        added = [(1 if y[row] > 0 else -1, X[row].tolist()) for row in rows[:k]]
        length = math.sqrt(sum(a * b * NAIVE["rbf"](x, z) for a, x in added for b, z in added))
        assert (length / k < 0.3) == (k == made)


def test_predicting_in_small_blocks_changes_nothing(monkeypatch):
    X, y = example(3, 3, n=80, whole=False)
    learned = run(X, y, kernel="poly", n_classes=3, readout="vote")
    points = as_points(X, "poly")
    before = {readout: decide(learned.memory, points, readout) for readout in ("last", "average", "vote")}
    monkeypatch.setattr("novikoff.learn.kernel.memory.VALUES", 100)
    for readout, scores in before.items():
        assert decide(learned.memory, points, readout) == pytest.approx(scores, rel=1e-12, abs=1e-12)


def test_a_sigmoid_makes_no_claim():
    X, y = example(0)
    learned = run(X, y, kernel="sigmoid")
    assert learned.run.radius == learned.run.margin_at_most == math.inf
    assert run(X, y, kernel="poly", coef0=-1.0).run.margin_at_most == math.inf


def test_a_matrix_that_is_no_product_leaves_no_claim():
    K = np.array([[1.0, 5.0], [5.0, 1.0]])
    assert run(K, [1, -1], kernel="precomputed", max_iter=5).run.margin_at_most == math.inf


def test_dense_and_sparse_rows_have_the_same_gamma():
    X = np.random.default_rng(0).random((3000, 7))
    X[X < 0.6] = 0.0
    dense, csr = as_points(X, "rbf"), as_points(sparse.csr_matrix(X), "rbf")
    assert variance(dense.rows) == variance(csr.rows) == pytest.approx(X.var())
    assert make_kernel("rbf", dense).gamma == pytest.approx(1 / (7 * X.var()))


@pytest.mark.parametrize("degree", range(1, 9))
def test_powers_are_powers(degree):
    points = as_points(np.random.default_rng(0).standard_normal((5, 3)), "poly")
    K = KernelFunction("poly", 0.7, degree, 1.5).between(points, points)
    assert pytest.approx((0.7 * points.rows.matrix @ points.rows.matrix.T + 1.5) ** degree) == K


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_points_are_joined_in_their_order(form):
    X = np.random.default_rng(0).integers(0, 3, (40, 5)).astype(float)
    points = None
    for start, stop in ((0, 1), (1, 2), (2, 20), (20, 40)):
        points = joined(points, Vectors.of(form(X[start:stop])))
    assert points.rows.as_array().tolist() == X.tolist()
    assert points.squares == pytest.approx((X**2).sum(axis=1))


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.integers(-50, 50)), max_size=20))
def test_the_exact_sum_is_exact_but_for_one_rounding(terms):
    values, whole = (np.array([t[i] for t in terms], dtype=float) for i in range(2))
    assert exact_sum(values, whole) == float(sum((Fraction(v) * a for v, a in terms), Fraction(0)))


# -- with a budget ----------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 9_999),
    st.integers(1, 12),
    st.sampled_from([2, 3]),
    st.sampled_from([4, 256]),
)
def test_there_are_never_more_support_rows_than_the_budget(seed, budget, n_classes, block):
    X, y = example(seed, n_classes, whole=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "BLOCK", block)
        learned = run(X, y, kernel="rbf", n_classes=n_classes, budget=budget, random_state=seed)
    memory = learned.memory
    n_support = len(memory.coefficients)
    assert n_support <= budget
    assert len(memory.support) == len(memory.rows) == len(memory.drift) == n_support
    products = memory.kernel.between(memory.support, memory.support)
    assert memory.projector is None or memory.gram == pytest.approx(products)
    a = memory.coefficients
    assert memory.weights_length == pytest.approx(math.sqrt(np.sum(a * (products @ a))), abs=1e-6)
    assert learned.run.margin_at_most == math.inf
    assert np.isfinite(decide(memory, as_points(X, "rbf"), "average")).all()


@given(st.integers(0, 9_999), st.sampled_from(["rbf", "linear"]), st.sampled_from([2, 3]))
def test_a_budget_that_is_never_full_changes_nothing(seed, name, n_classes):
    X, y = example(seed, n_classes)
    plain = run(X, y, kernel=name, n_classes=n_classes)
    enough = max(1, len(plain.memory.coefficients))
    learned = run(X, y, kernel=name, n_classes=n_classes, budget=enough)
    assert learned.mistakes.rows.tolist() == plain.mistakes.rows.tolist()
    assert learned.memory.rows.tolist() == plain.memory.rows.tolist()
    assert learned.memory.coefficients == pytest.approx(plain.memory.coefficients)
    assert learned.memory.drift == pytest.approx(plain.memory.drift)


@pytest.mark.parametrize("seed", range(5))
def test_the_projectron_adds_projections(seed):
    X, y = example(seed, n=60, whole=False)
    budget, a, rows = 6, np.zeros(6), []
    K = np.array([[NAIVE["rbf"](x, z) for z in X.tolist()] for x in X.tolist()])
    made = []
    for row in range(60):
        if y[row] * (a[: len(rows)] @ K[rows, row] if rows else 0.0) <= 0:
            made.append(row)
            if len(rows) < budget:
                a[len(rows)] = y[row]
                rows.append(row)
            else:
                a += y[row] * np.linalg.solve(K[np.ix_(rows, rows)], K[rows, row])
    learned = run(X, y, kernel="rbf", budget=budget, max_iter=1)
    assert learned.mistakes.rows.tolist() == made
    assert learned.memory.coefficients[:, 0] == pytest.approx(a, rel=1e-6, abs=1e-8)


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "X", "words"),
    [
        ({"kernel": "cubic"}, np.eye(2), "kernel='cubic' is unknown; choose one of linear, poly"),
        ({"gamma": 0.0}, np.eye(2), "gamma=0.0 must be a positive number"),
        ({"gamma": "big"}, np.eye(2), "gamma='big'"),
        ({"degree": 2.5}, np.eye(2), "degree=2.5"),
        ({"coef0": math.nan}, np.eye(2), "coef0=nan"),
        ({"kernel_params": {"a": 1}}, np.eye(2), "kernel_params are for a kernel function"),
        ({"kernel": "precomputed"}, np.ones((2, 3)), r"as many columns as rows, but it has the shape \(2, 3\)"),
        ({"kernel": "precomputed"}, [[1, 2], [3, 1]], "not symmetric: .*row 0, column 1"),
        ({"kernel": "precomputed"}, [[1, math.nan], [math.nan, 1]], "contains NaN in row 0, column 1"),
        ({"kernel": "precomputed"}, [[-1, 0], [0, 1]], r"K\(x, x\) is -1 in row 0"),
        ({"kernel": lambda A, B: np.ones((len(A), len(B))) * math.nan}, np.eye(2), "contains NaN"),
        ({"kernel": lambda A, B: A @ [[1, 2], [0, 1]] @ B.T}, np.eye(2), r"not symmetric: K\(x, z\) = 2"),
        ({"kernel": lambda a, b: 1.0}, np.eye(2), r"returned the shape \(\)"),
        ({"kernel": "poly", "degree": 400, "gamma": 1e3}, np.eye(2), "contains infinity"),
        ({"kernel": "rbf"}, [[1.0, math.nan], [0, 1]], "NaN in row 0, column 1"),
        ({"budget": 0}, np.eye(2), "budget=0 must be a whole number of at least 1"),
        ({"budget": 3, "readout": "vote"}, np.eye(2), 'readout="vote" needs all mistakes'),
        ({"budget": 3, "min_margin": 0.1}, np.eye(2), "min_margin=0.1 needs all mistakes, and budget=3 forgets some"),
        ({"kernel": "sigmoid", "min_margin": 0.1}, np.eye(2), "min_margin=0.1 .*sigmoid.* not positive definite"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_bad_input_is_named(options, X, words):
    with pytest.raises(ValueError, match=words):
        run(X, [1, -1], **options)


def test_a_precomputed_matrix_cannot_be_learned_in_parts():
    with pytest.raises(ValueError, match="cannot learn in parts"):
        learn_online(KernelMemory.empty(KernelFunction("precomputed")), np.eye(2), [1, -1])
