"""A score of exactly 0 predicts +1: known runs, plain models, learning rates, and kernels whose values cancel."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from novikoff import KernelPerceptron, Perceptron, save
from novikoff.data.batches import Batch
from novikoff.engine.rows import as_rows
from novikoff.keep.models import load_plain
from novikoff.learn.kernel.kernels import Vectors

SEEDS = range(100)


def tables(n_classes=2):
    """Small whole numbers, so that scores of 0 and equal scores are common."""
    for seed in SEEDS:
        generator = np.random.default_rng(seed)
        n, d = generator.integers(3, 7), generator.integers(1, 4)
        X = generator.integers(-2, 3, (n, d))
        y = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n)])[:n]
        if len(set(y.tolist())) == n_classes:
            yield X, y, generator.integers(-2, 3, (8, d))


def signs(scores):
    return [1 if score >= 0 else -1 for score in scores]


def test_the_average_of_a_known_run_is_zero_on_its_second_row_and_predicts_plus_one():
    X, y = [[0, 1], [-1, -1], [2, -2], [1, 2]], [1, 1, -1, 1]
    model = Perceptron(shuffle=False, max_iter=3, fit_intercept=False).fit(X, y)
    assert model.decision_function(X)[1] == 0.0
    assert model.predict(X)[1] == 1
    assert model.run_.errors == int((model.predict(X) != y).sum())


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_plain_model_predicts_what_the_estimator_predicts(tmp_path, readout):
    for X, y, strangers in islice(tables(), 20):
        model = Perceptron(readout=readout, shuffle=False, max_iter=3, fit_intercept=False).fit(X, y)
        save(model, tmp_path / "model")
        plain = load_plain(tmp_path / "model").predict(Batch(as_rows(strangers), None))
        assert plain.tolist() == model.predict(strangers).tolist()


@pytest.mark.parametrize("readout", ["last", "average"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_no_learning_rate_changes_a_prediction(readout):
    for X, y, strangers in tables():
        model = Perceptron(readout=readout, shuffle=False, max_iter=3, fit_intercept=False).fit(X, y)
        expected = model.predict(strangers).tolist()
        for rate in (1 / 3, 1e-320, 1e300):
            model.set_params(eta0=rate)
            assert model.predict(strangers).tolist() == expected
            assert (model.decision_function(strangers) >= 0).astype(int).tolist() == expected


def mirrored(seed):
    """Points and their mirror images with opposite labels, each a mistake, and points on the mirror: there all cancels,
    but not in the order in which they were learned."""
    generator = np.random.default_rng(seed)
    X, signs = np.empty((0, 2)), np.empty(0)
    while len(X) < 24:
        pair, sign = generator.standard_normal((2, 2)), generator.choice([-1.0, 1.0], 2)
        new, labels = np.vstack([pair, pair * [-1.0, 1.0]]), np.concatenate([sign, -sign])
        K = np.exp(-0.5 * np.square(np.vstack([X, new])[:, None] - new).sum(axis=2))
        before = np.array([K[: len(X) + i, i] @ np.concatenate([signs, labels[:i]]) for i in range(4)])
        if np.all(labels * before <= 0):
            X, signs = np.vstack([X, new]), np.concatenate([signs, labels])
    return X, (signs > 0).astype(int), np.column_stack([np.zeros(40), np.linspace(-2, 2, 40)])


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_gaussian_kernel_predicts_what_its_values_say_in_exact_arithmetic(readout):
    ties = 0
    for seed in range(40):
        X, y, mirror = mirrored(seed)
        options = {"gamma": 0.5, "shuffle": False, "max_iter": 1 + seed % 2, "record_mistakes": True}
        model = KernelPerceptron(readout=readout, **options).fit(X, y)
        rows = [*range(24)] * model.n_iter_
        points, memory = Vectors.of(X), model.model_.memory
        K = memory.kernel.between(points, Vectors.of(mirror), in_column_order=True)
        exact = [[Fraction(value) for value in column] for column in K.T.tolist()]
        mistakes, at = model.mistake_rows_.tolist(), 0
        scores, history = [Fraction(0)] * len(mirror), [[] for _ in mirror]
        for row in rows:
            if at < len(mistakes) and mistakes[at] == row:
                scores = [s + (2 * int(y[row]) - 1) * column[row] for s, column in zip(scores, exact, strict=True)]
                at += 1
            for past, score in zip(history, scores, strict=True):
                past.append(score)
        assert at == len(mistakes)
        expected = {
            "last": [past[-1] for past in history],
            "average": [sum(past) for past in history],
            "vote": [sum(signs(past)) for past in history],
        }[readout]
        ties += sum(score == 0 for past in history for score in past[len(past) // 2 :])
        assert (2 * model.predict(mirror) - 1).tolist() == signs(expected), seed
    assert ties > 100
