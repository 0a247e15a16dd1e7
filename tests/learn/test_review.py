"""Rows sent to a person: the others are wrong no more often than promised, and the proof can be checked again."""

import copy
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from novikoff import KernelPerceptron, Perceptron, SequencePerceptron, load, save
from novikoff.engine.chances import trials_needed
from novikoff.keep import layout
from novikoff.learn.review import STEPS, Review, _last_proved, leads, thresholds

DRAWS = 2000


def lecture_threshold(grid, scores, wrong, error, doubt):
    """The rule as it is written down: go on while the tail of the binomial distribution says so."""
    chosen = None
    for threshold in grid:
        accepted = [bool(bad) for score, bad in zip(scores, wrong, strict=True) if score >= threshold]
        n, errors = len(accepted), sum(accepted)
        tail = sum(math.comb(n, k) * error**k * (1 - error) ** (n - k) for k in range(errors + 1))
        if n == 0 or tail > doubt:
            return chosen
        chosen = threshold
    return chosen


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.2, 0.4]), st.floats(0.0, 1.0), st.booleans())
def test_the_threshold_is_that_of_the_rule(seed, error, noise, ties):
    chance = np.random.default_rng(seed)
    scores = chance.exponential(size=200)
    scores = np.round(scores) if ties else scores
    wrong = chance.random(200) < noise * np.exp(-scores)
    review = Review.of(scores[100:], scores[:100], wrong[:100], error=error, confidence=0.9)
    grid = thresholds(scores[100:], 100, trials_needed(error, 1.0 - 0.9))
    assert review.thresholds == tuple(grid)
    assert review.threshold == lecture_threshold(grid, scores[:100], wrong[:100], error, 0.1)
    assert review.accepted == tuple(int(np.sum(scores[:100] >= t)) for t in grid)
    assert review.wrong == tuple(int(np.sum(wrong[:100] & (scores[:100] >= t))) for t in grid)
    sent = review.to_review(scores[:100])
    assert np.sum(~sent) == review.n_accepted
    assert np.sum(wrong[:100] & ~sent) == review.n_wrong


# Scores are uniform from 0 to 1; a score s is wrong with the chance slope (1 - s)^power + floor, so that the share of
# errors above a threshold t is slope (1 - t)^power/(power + 1) + floor.
@pytest.mark.parametrize(
    ("slope", "power", "floor", "n"),
    [(0.5, 1, 0.0, 400), (0.5, 2, 0.02, 1000), (0.0, 1, 0.0501, 600), (0.3, 3, 0.045, 600), (0.0, 1, 0.0501, 59)],
)
def test_the_promise_is_broken_no_more_often_than_its_confidence_allows(slope, power, floor, n):
    error, confidence, chance = 0.05, 0.9, np.random.default_rng(0)
    training, broken, accepts = chance.random(500), 0, 0
    for _ in range(DRAWS):
        scores = chance.random(n)
        wrong = chance.random(n) < slope * (1.0 - scores) ** power + floor
        threshold = Review.of(training, scores, wrong, error=error, confidence=confidence).threshold
        accepts += threshold is not None
        broken += threshold is not None and slope * (1.0 - threshold) ** power / (power + 1) + floor > error
    # A promise that is kept as often as it says would be broken this often once in a million runs of this test.
    assert broken <= binom.isf(1e-6, DRAWS, 1.0 - confidence)
    assert accepts > 0
    if slope == 0.0:  # every threshold should fail: the confidence is used, not wasted
        assert broken > DRAWS * (1.0 - confidence) / 10


def test_choosing_the_threshold_by_the_held_out_errors_would_break_it():
    """The same simulation notices a rule that takes the last threshold that passes, whichever failed before."""
    error, doubt, chance, broken = 0.05, 0.1, np.random.default_rng(0), 0
    for _ in range(300):
        scores, wrong = chance.random(600), chance.random(600) < 0.0501
        review = Review.of(chance.random(500), scores, wrong, error=error, confidence=1.0 - doubt)
        counts = np.array([review.accepted, review.wrong])
        broken += bool(np.any(binom.cdf(counts[1], counts[0], error) <= doubt))
    assert broken > binom.isf(1e-6, 300, doubt)


def test_too_few_held_out_rows_is_an_error_that_names_the_number_needed():
    scores = np.linspace(0.0, 1.0, 148)
    with pytest.raises(
        ValueError, match=r"^148 held-out rows cannot prove an error of at most 2 % .* at least 149 are"
    ):
        Review.of(scores, scores, np.zeros(148), error=0.02)
    enough = Review.of(scores, np.ones(149), np.zeros(149), error=0.02)
    assert enough.threshold == 0.0
    assert enough.accepted[-1] == 149
    for error, said in ((1.0, "1.0"), ("a", "'a'")):
        with pytest.raises(ValueError, match=f"error={said} must be a fraction"):
            Review.of(scores, scores, np.zeros(148), error=error)
    with pytest.raises(ValueError, match="confidence=0 must be"):
        Review.of(scores, scores, np.zeros(148), error=0.1, confidence=0)


@given(st.floats(1e-4, 0.9), st.floats(1e-6, 0.9))
def test_the_number_needed_is_the_smallest_that_can_pass(error, doubt):
    needed = trials_needed(error, doubt)
    assert (1 - error) ** needed <= doubt * (1 + 1e-6)
    assert needed == 1 or (1 - error) ** (needed - 1) > doubt * (1 - 1e-6)


def test_if_nothing_passes_everything_goes_to_review():
    scores = np.linspace(0.0, 1.0, 200)
    review = Review.of(scores, scores, np.ones(200), error=0.1)
    assert review.threshold is None
    assert review.to_review(scores).all()
    assert str(review).startswith("all rows go to review: an error of at most 10 % (95 % confidence) is not proved")


def test_a_score_that_is_no_number_is_never_accepted():
    scores = np.where(np.arange(300) % 3, 1.0, np.nan)
    review = Review.of(np.ones(10), scores, np.zeros(300), error=0.1)
    assert review.accepted[-1] == 200
    assert (review.to_review(scores) == np.isnan(scores)).all()


# -- attacks ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def counted():
    chance = np.random.default_rng(3)
    training, scores = chance.random(800), chance.random(600)
    wrong = chance.random(600) < 0.5 * (1.0 - scores) ** 2
    review = Review.of(training, scores, wrong, error=0.05)
    review.check(training, scores, wrong)
    assert review.threshold is not None
    return review, training, scores, wrong


def forged(review, **changes):
    """A review that contradicts nothing in itself."""
    known = {field.name: getattr(review, field.name) for field in fields(review)} | changes
    counts = (known[name] for name in ("thresholds", "accepted", "wrong", "error", "confidence"))
    return Review(**{**known, "threshold": _last_proved(*counts)})


def test_a_moved_threshold_cannot_even_be_written_down(counted):
    review, *_ = counted
    for threshold in {*review.thresholds, None, 0.123} - {review.threshold}:
        with pytest.raises(ValueError, match=r"prove the threshold"):
            replace(review, threshold=threshold)
    for nonsense in (
        {"wrong": review.accepted[::-1]},
        {"accepted": (0,) * len(review.accepted)},
        {"thresholds": review.thresholds[::-1]},
    ):
        with pytest.raises(ValueError, match="contradict each other"):
            replace(review, **nonsense)


def test_forged_counts_are_found(counted):
    review, *data = counted
    fewer = tuple(max(0, n - 1) for n in review.wrong)
    with pytest.raises(ValueError, match=r"not proved: wrong\[\d+\] is \d+, but these rows give \d+"):
        forged(review, wrong=fewer).check(*data)
    more = tuple(min(review.n_rows, n + 1) for n in review.accepted)
    with pytest.raises(ValueError, match=r"not proved: accepted\[0\] is"):
        forged(review, accepted=more).check(*data)
    with pytest.raises(ValueError, match="not proved: n_rows is 700, but these rows give 600"):
        forged(review, n_rows=700).check(*data)


def test_a_grid_that_skips_what_failed_is_found(counted):
    review, training, scores, wrong = counted
    kept = slice(10, None)
    changes = {name: getattr(review, name)[kept] for name in ("thresholds", "accepted", "wrong")}
    with pytest.raises(ValueError, match="the number of thresholds is"):
        forged(review, **changes).check(training, scores, wrong)
    by_held_out = Review.of(scores, scores, wrong, error=0.05)
    with pytest.raises(ValueError, match=r"not proved: thresholds\[0\] is"):
        by_held_out.check(training, scores, wrong)


def test_other_rows_other_errors_and_other_confidences_are_found(counted):
    review, training, scores, wrong = counted
    for other in ((training[::2], scores, wrong), (training, scores**2, wrong), (training, scores, ~wrong)):
        with pytest.raises(ValueError, match="not proved"):
            review.check(*other)
    with pytest.raises(ValueError, match="not proved"):
        forged(review, error=0.01).check(training, scores, wrong)
    with pytest.raises(ValueError, match="void"):
        replace(review, is_void=True).check(training, scores, wrong)


def test_the_grid_depends_on_training_scores_and_the_number_of_rows_alone(counted):
    review, training, scores, _ = counted
    assert review.thresholds == Review.of(training, scores[::-1] ** 3, np.ones(600), error=0.05).thresholds
    assert len(review.thresholds) <= STEPS
    assert review.thresholds[-1] == 0.0


# -- models -----------------------------------------------------------------------------------------------------------


def rows(n, n_classes=2):
    chance = np.random.default_rng(5)
    X = chance.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * chance.normal(size=n), [0.0, 1.0][: n_classes - 1])]


def sentences(n):
    chance = np.random.default_rng(6)
    words = [
        [f"{'xy'[k]}{chance.integers(3)}" for k in chance.integers(2, size=chance.integers(1, 5))] for _ in range(n)
    ]
    odd = chance.random(n) < 0.02
    return words, [["BA"[int(w.startswith("x") != o)] for w in s] for s, o in zip(words, odd, strict=True)]


MODELS = {
    "linear": (lambda: Perceptron(random_state=0), rows, 2),
    "many classes": (lambda: Perceptron(random_state=0), rows, 3),
    "vote": (lambda: Perceptron(readout="vote", max_iter=2, random_state=0), rows, 2),
    "kernel": (lambda: KernelPerceptron(max_iter=2, random_state=0), rows, 2),
    "sequences": (lambda: SequencePerceptron(templates=["w[0]"], max_iter=3, random_state=0), sentences),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_keeps_and_proves_its_review(name, tmp_path):
    make, draw, *more = MODELS[name]
    model, (X, y), n = make(), draw(900, *more), 400
    model.fit(X[:n], y[:n])
    with pytest.raises(AttributeError, match="has no review"):
        _ = model.review_
    with pytest.raises(ValueError, match=r"has no review: call review\(...\) with held-out rows"):
        model.to_review(X)
    review = model.review(X[:n], X[n:], y[n:], error=0.1)
    assert model.review_ == review
    assert review.threshold is not None
    sent = model.to_review(X[n:])
    wrong = np.array([a != b for a, b in zip(model.predict(X[n:]), y[n:], strict=True)])
    assert (500 - sent.sum(), (wrong & ~sent).sum()) == (review.n_accepted, review.n_wrong)
    assert ("sequences" in str(review)) == (name == "sequences")
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.review_ == review
    assert (again.to_review(X[n:]) == sent).all()
    again.check_review(X[:n], X[n:], y[n:])
    with pytest.raises(ValueError, match="not proved"):
        again.check_review(X[:n], X[n:], [*y[-250:], *y[:250]])


@pytest.mark.parametrize("name", MODELS)
def test_training_rows_in_the_place_of_held_out_ones_are_refused(name):
    make, draw, *more = MODELS[name]
    model, (X, y) = make(), draw(400, *more)
    model.fit(X, y)
    with pytest.raises(ValueError, match="the held-out rows are the training rows, which prove nothing"):
        model.review(X, X[:], y, error=0.1)
    assert not hasattr(model, "review_")


def test_label_sequences_may_be_tuples_or_arrays():
    words, tags = sentences(900)
    model = MODELS["sequences"][0]().fit(words[:400], tags[:400])
    known = model.review(words[:400], words[400:], tags[400:], error=0.1)
    for form in (tuple, np.array):
        assert model.review(words[:400], words[400:], list(map(form, tags[400:])), error=0.1) == known
    pairs, names = [["x0", "y0"]] * 300, np.array([["A", "B"]] * 300)
    assert model.fit(pairs[:9], names[:9]).review(pairs[:9], pairs, names, error=0.1).n_wrong == 0


def test_labels_and_scores_of_other_shapes_are_refused():
    X, y = rows(900)
    model = Perceptron(random_state=0).fit(X[:400], y[:400])
    with pytest.raises(ValueError, match=r"y_held_out has the shape \(500, 1\), but one label a row is needed"):
        model.review(X[:400], X[400:], y[400:, None])
    with pytest.raises(ValueError, match="there are 500 held-out rows, but 499 labels"):
        model.review(X[:400], X[400:], y[401:])
    with pytest.raises(ValueError, match=r"lists of one length, not of \(100,\) and \(99,\)"):
        Review.of([1.0], [1.0] * 100, [False] * 99, error=0.1)
    for training in ([], [-1.0, 2.0], [[1.0]]):
        with pytest.raises(ValueError, match="training scores must be a list of numbers of at least 0"):
            Review.of(training, [1.0] * 100, [False] * 100, error=0.1)


def test_a_file_with_a_review_that_makes_no_sense_is_refused(tmp_path, monkeypatch):
    X, y = rows(900)
    model = Perceptron(random_state=0).fit(X[:400], y[:400])
    review = model.review(X[:400], X[400:], y[400:], error=0.1)
    save(model, tmp_path / "model")
    whole = layout.read(tmp_path / "model")
    others = {"threshold": None, "error": 0.01, "wrong": {"tuple": [0]}, "n_rows": 3, "row": "x", "confidence": 2.0}
    for field, other in {**others, "accepted": "x", "thresholds": {"tuple": [-1.0]}, "strange": 1}.items():
        parts = copy.deepcopy(whole)
        parts.header["review"][field] = other
        monkeypatch.setattr("novikoff.keep.models.read", lambda _, parts=parts: parts)
        with pytest.raises(layout.ModelFileError):
            load(tmp_path / "model")
    monkeypatch.setattr("novikoff.keep.models.read", lambda _: copy.deepcopy(whole))
    assert load(tmp_path / "model").review_ == review


def test_what_changes_the_weights_voids_the_review(tmp_path):
    X, y = rows(1500)

    def reviewed(**options):
        model = Perceptron(random_state=0, **options).fit(X[:1000], y[:1000])
        model.review(X[:1000], X[1000:], y[1000:], error=0.1)
        return model

    for model in (
        reviewed().partial_fit(X[:1], y[:1]),
        reviewed(warm_start=True).fit(X, y),
        reviewed().set_params(readout="last"),
        reviewed().set_params(eta0=2.0),
    ):
        save(model, tmp_path / "model")
        for void in (model, load(tmp_path / "model")):
            assert str(void.review_).startswith("void, because the weights that predict have changed")
            with pytest.raises(ValueError, match="is void"):
                void.to_review(X)
            with pytest.raises(ValueError, match="is void"):
                void.check_review(X[:1000], X[1000:], y[1000:])
    assert not hasattr(reviewed().fit(X, y), "review_")
    words, tags = sentences(900)
    model = MODELS["sequences"][0]()
    model.fit(words[:400], tags[:400]).review(words[:400], words[400:], tags[400:], error=0.1)
    assert model.prune(0.1).review_.is_void


def test_leads_are_distances_between_the_two_best():
    assert leads(np.array([[1.0, 4.0, 4.0], [0.0, -1.0, -3.0]])).tolist() == [0.0, 1.0]
    assert leads(np.array([[2.0], [3.0]])).tolist() == [math.inf, math.inf]
