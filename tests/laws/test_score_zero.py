"""A score of exactly 0 predicts +1, and equal scores the first class, for every learner and read-out.

The oracle is the lecture's loop in Fractions: the weights after every example, kept one by one, and their exact mean.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from novikoff import KernelPerceptron, OnlinePerceptron, Perceptron, SequencePerceptron, load, save
from novikoff.data.batches import Batch
from novikoff.engine.rows import as_rows
from novikoff.keep.models import load_plain
from novikoff.learn.kernels import Vectors
from tests.chains import ranked_paths, structured_perceptron

SEEDS = range(400)


def dot(w, x):
    return sum((a * b for a, b in zip(w, x, strict=True)), Fraction(0))


def history_of(X, y, epochs):
    """The weights after every example: two classes, -1 and +1, no bias, in the order given."""
    w, history = [Fraction(0)] * len(X[0]), []
    for _ in range(epochs):
        mistakes = 0
        for x, label in zip(X, y, strict=True):
            if label * dot(w, x) <= 0:
                w = [a + label * b for a, b in zip(w, x, strict=True)]
                mistakes += 1
            history.append(w)
        if not mistakes:
            break
    return history


def multiclass_history_of(X, y, n_classes, epochs):
    W, history = [[Fraction(0)] * len(X[0])] * n_classes, []
    for _ in range(epochs):
        mistakes = 0
        for x, right in zip(X, y, strict=True):
            scores = [dot(w, x) for w in W]
            rival = max((c for c in range(n_classes) if c != right), key=scores.__getitem__)
            if scores[rival] >= scores[right]:
                step = {right: 1, rival: -1}
                W = [[a + step.get(c, 0) * b for a, b in zip(w, x, strict=True)] for c, w in enumerate(W)]
                mistakes += 1
            history.append(W)
        if not mistakes:
            break
    return history


def read_outs(history, x):
    """The exact scores of the last weights, of their mean, and of the vote."""
    scores = [dot(w, x) for w in history]
    return {
        "last": scores[-1],
        "average": sum(scores) / len(scores),
        "vote": Fraction(sum(1 if score >= 0 else -1 for score in scores), len(scores)),
    }


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
    model = Perceptron(shuffle=False, max_epochs=3, fit_intercept=False).fit(X, y)
    assert model.decision_function(X)[1] == 0.0
    assert model.predict(X)[1] == 1
    assert model.run_.errors == int((model.predict(X) != y).sum())


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_the_perceptron_predicts_what_exact_arithmetic_predicts(readout, form):
    for X, y, strangers in tables():
        Z = np.vstack([X, strangers])
        model = Perceptron(readout=readout, shuffle=False, max_epochs=3, fit_intercept=False).fit(form(X), y)
        history = history_of(X.tolist(), (2 * y - 1).tolist(), 3)
        expected = signs(read_outs(history, z)[readout] for z in Z.tolist())
        assert (2 * model.predict(form(Z)) - 1).tolist() == expected, (X, y)
        assert signs(model.decision_function(form(Z))) == expected
        assert model.run_.errors == np.count_nonzero(np.array(expected[: len(y)]) != 2 * y - 1)


@pytest.mark.parametrize("readout", ["last", "average"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_equal_scores_of_several_classes_predict_the_first(readout):
    for X, y, strangers in tables(n_classes=3):
        Z = np.vstack([X, strangers])
        model = Perceptron(readout=readout, shuffle=False, max_epochs=3, fit_intercept=False).fit(X, y)
        history = multiclass_history_of(X.tolist(), y.tolist(), 3, 3)
        exact = [[read_outs([W[c] for W in history], z)[readout] for c in range(3)] for z in Z.tolist()]
        expected = [scores.index(max(scores)) for scores in exact]
        assert model.predict(Z).tolist() == expected, (X, y)
        assert np.argmax(model.decision_function(Z), axis=1).tolist() == expected


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_the_kernel_perceptron_predicts_what_exact_arithmetic_predicts(readout):
    for X, y, strangers in tables():
        Z = np.vstack([X, strangers])
        model = KernelPerceptron(kernel="linear", readout=readout, shuffle=False, max_epochs=3).fit(X, y)
        history = history_of(X.tolist(), (2 * y - 1).tolist(), 3)
        expected = signs(read_outs(history, z)[readout] for z in Z.tolist())
        assert (2 * model.predict(Z) - 1).tolist() == expected, (X, y)
        assert signs(model.decision_function(Z)) == expected


@pytest.mark.parametrize("readout", ["last", "average"])
def test_the_online_perceptron_predicts_what_exact_arithmetic_predicts(readout):
    for X, y, strangers in tables():
        Z = np.vstack([X, strangers]).tolist()
        model = OnlinePerceptron(readout=readout, fit_intercept=False, classes=[-1, 1])
        model.learn_many([dict(enumerate(x)) for x in X.tolist()], (2 * y - 1).tolist())
        history = history_of(X.tolist(), (2 * y - 1).tolist(), 1)
        expected = signs(read_outs(history, z)[readout] for z in Z)
        assert [model.predict_one(dict(enumerate(z))) for z in Z] == expected, (X, y)
        assert signs(model.decision_one(dict(enumerate(z))) for z in Z) == expected


@pytest.mark.parametrize("readout", ["last", "average"])
def test_equal_scores_of_several_labels_predict_the_first_online(readout):
    for X, y, strangers in tables(n_classes=3):
        Z = np.vstack([X, strangers]).tolist()
        model = OnlinePerceptron(readout=readout, fit_intercept=False, classes=[0, 1, 2])
        model.learn_many([dict(enumerate(x)) for x in X.tolist()], y.tolist())
        history = multiclass_history_of(X.tolist(), y.tolist(), 3, 1)
        exact = [[read_outs([W[c] for W in history], z)[readout] for c in range(3)] for z in Z]
        assert [model.predict_one(dict(enumerate(z))) for z in Z] == [s.index(max(s)) for s in exact], (X, y)


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_saved_model_predicts_what_exact_arithmetic_predicts(tmp_path, readout):
    for number, (X, y, strangers) in enumerate(tables()):
        if number % 20:
            continue
        model = Perceptron(readout=readout, shuffle=False, max_epochs=3, fit_intercept=False).fit(X, y)
        history = history_of(X.tolist(), (2 * y - 1).tolist(), 3)
        expected = signs(read_outs(history, z)[readout] for z in strangers.tolist())
        save(model, tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert (2 * loaded.predict(strangers) - 1).tolist() == expected, (X, y)
        plain = load_plain(tmp_path / "model").predict(Batch(as_rows(strangers), None))
        assert (2 * plain - 1).tolist() == expected


@pytest.mark.parametrize("readout", ["last", "average"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_no_learning_rate_changes_a_prediction(readout):
    for X, y, strangers in tables():
        model = Perceptron(readout=readout, shuffle=False, max_epochs=3, fit_intercept=False).fit(X, y)
        expected = model.predict(strangers).tolist()
        for rate in (1 / 3, 1e-320, 1e300):
            model.set_params(learning_rate=rate)
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
        options = {"gamma": 0.5, "shuffle": False, "max_epochs": 1 + seed % 2, "record_mistakes": True}
        model = KernelPerceptron(readout=readout, **options).fit(X, y)
        rows = [*range(24)] * model.n_iter_
        points, memory = Vectors.of(X), model._memory
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


def chains(seed):
    """Short sequences of small whole numbers with two or three labels, and other sequences to label."""
    generator = np.random.default_rng(seed)
    labels, d = int(generator.integers(2, 4)), int(generator.integers(1, 3))

    def some(n):
        tokens = [generator.integers(-1, 2, (generator.integers(1, 4), d)).astype(float) for _ in range(n)]
        return [(part.tolist(), generator.integers(0, labels, len(part)).tolist()) for part in tokens]

    return some(3), labels, [tokens for tokens, _ in some(6)]


@pytest.mark.parametrize("readout", ["last", "average"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_label_sequences_of_equal_scores_are_ranked_by_their_labels(tmp_path, readout):
    for seed in range(60):
        sequences, n_labels, strangers = chains(seed)
        if len({label for _, gold in sequences for label in gold}) < n_labels:
            continue
        model = SequencePerceptron(readout=readout, shuffle=False, max_epochs=3)
        model.fit([np.array(tokens) for tokens, _ in sequences], [gold for _, gold in sequences])
        history = [weights for _, weights, _ in structured_perceptron(sequences, n_labels, model.run_.epochs)]
        past = history if readout == "average" else history[-1:]
        exact = {name: sum(Fraction(weights.get(name, 0)) for weights in past) for name in set().union(*past)}
        expected = [list(ranked_paths(exact, tokens, n_labels)[0][1]) for tokens in strangers]
        inputs = [np.array(tokens) for tokens in strangers]
        assert model.predict(inputs) == expected, seed
        save(model, tmp_path / "tagger")
        assert load(tmp_path / "tagger").predict(inputs) == expected
        assert [scored.labels for scored in model.predict_with_scores(inputs)] == expected
