"""The three proofs, followed along real runs: every law for every space."""

import operator
import warnings
from fractions import Fraction
from math import floor, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import (
    KernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    Separator,
    SequencePerceptron,
    Steps,
    StructuredPerceptron,
    certify,
    follow_proof,
    margins,
    radius,
)
from novikoff.features.names import Intercept
from novikoff.learn.run import Stopped
from tests.examples import WORKED_X, WORKED_Y, exponential_rows, separable, separable_integers

LAST = {"readout": "last", "max_iter": None, "record_mistakes": True, "random_state": 0}
WORKED = {"X": WORKED_X, "y": WORKED_Y, "fit_intercept": False}
ACROSS = Separator([1.0, 0.0])


def run(X, y, **options):
    return Perceptron(**{**LAST, **options}).fit(X, y).mistake_rows_


def followed(X, y, rows, separator, guesses=None, fit_intercept=True):
    return follow_proof(Steps.of_rows(X, y, rows, guesses, fit_intercept=fit_intercept), separator)


# -- one run of every learner: its steps, a separator, and the same vectors as plain lists of fractions ----------------


def three_corners():
    generator = np.random.default_rng(1)
    centres = np.array([[4, 0], [-2, 4], [-2, -4]])
    X = np.vstack([centre + generator.integers(-1, 2, (8, 2)) for centre in centres]).astype(float)
    return X, np.repeat(["a", "b", "c"], 8)


def two_classes():
    X, y, w = separable(np.random.default_rng(0), 40, 3, 0.1)
    rows = run(X, y)
    z = [[*x, 1.0] for x in X[rows]]
    steps = Steps.of_rows(X, y, rows)
    return steps, Separator(w), [[label * v for v in x] for label, x in zip(y[rows], z, strict=True)], [*w, 0.0]


def many_classes():
    X, y = three_corners()
    model = Perceptron(**LAST).fit(X, y)
    planes = certify(X, y).separator
    added = []
    for row, guess in zip(model.mistake_rows_, model.mistake_guesses_, strict=True):
        parts = {"a": [0] * 3, "b": [0] * 3, "c": [0] * 3}
        parts[y[row]], parts[guess] = [*X[row], 1], [-v for v in (*X[row], 1)]
        added.append([v for part in parts.values() for v in part])
    u = [v for weights, bias in zip(*planes, strict=True) for v in (*weights, bias)]
    return Steps.of_rows(X, y, model.mistake_rows_, model.mistake_guesses_), planes, added, u


def a_kernel():
    """(<x, z> + 1)^2 of whole numbers is exact, and its feature space can be written out, up to a root of 2."""
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, -1, -1])
    K = (X @ X.T + 1.0) ** 2
    rows = KernelPerceptron(kernel="precomputed", **LAST).fit(K, y).mistake_rows_
    a = certify(K, y, kernel="precomputed", fit_intercept=False).coefficients
    space = [(1.0, *(sqrt(2) * x), *(x * x), sqrt(2) * x[0] * x[1]) for x in X]
    u = [sum(a[i] * y[i] * space[i][j] for i in range(4)) for j in range(6)]
    return Steps.of_kernel(K, y, rows), a, [[y[row] * v for v in space[row]] for row in rows], u


def as_lists(vectors, u):
    names = sorted({name for vector in [*vectors, u] for name in vector}, key=repr)
    return [[vector.get(name, 0) for name in names] for vector in vectors], [u.get(name, 0) for name in names]


def between(gold, guess):
    return {name: gold.get(name, 0) - guess.get(name, 0) for name in {**gold, **guess}}


SENTENCES = ["the cat sleeps", "a dog barks", "dogs bark", "the dog sleeps a sleep"]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N", "V", "D", "N"]]


def sequences(cost=0.0):
    words = [[{"w": word} for word in sentence.split()] for sentence in SENTENCES]
    model = SequencePerceptron(templates=["w[0]", "w[-1]"], cost=cost, **LAST).fit(words, TAGS)
    kept = model.mistake_rows_, model.mistake_guesses_
    loss = (lambda gold, guess: cost * sum(map(operator.ne, gold, guess))) if cost else None
    phi, u = model.tagger_.joint_features, model.tagger_.named_weights()
    steps = Steps.of_structures(phi, words, TAGS, *kept, loss=loss)
    added = [between(phi(words[row], TAGS[row]), phi(words[row], guess)) for row, guess in zip(*kept, strict=True)]
    return steps, u, *as_lists(added, u)


def subject_features(x, y):
    return {("subject", y[0]): 1, ("object", y[1]): 1, ("apart", len(y[0]) - len(y[1])): 0.1}


GOLD = [("dog", "bone"), ("cat", "bone"), ("cat", "mouse"), ("mouse", "bone"), ("dog", "stick"), ("dog", "cat")]
PAIRS = [pair[::-1] for pair in GOLD]


def structures(loss=None):
    def decode(weights, x, gold=None):
        def value(y):
            return weights.score(subject_features(x, y)) + (loss(gold, y) if gold and loss else 0)

        return max([x, x[::-1]], key=value)

    model = StructuredPerceptron(subject_features, decode, loss=loss, **LAST).fit(PAIRS, GOLD)
    kept, u = (model.mistake_rows_, model.mistake_guesses_), dict(model.weights)
    steps = Steps.of_structures(subject_features, PAIRS, GOLD, *kept, loss=loss)
    added = [
        between(subject_features(None, GOLD[row]), subject_features(None, guess))
        for row, guess in zip(*kept, strict=True)
    ]
    return steps, u, *as_lists(added, u)


def one_by_one(n_classes):
    X, labels = three_corners()
    chosen = [row for row, label in enumerate(labels) if n_classes == 3 or label != "c"]
    model, made = OnlinePerceptron(readout="last"), []
    while True:
        before = model.mistakes
        for row in chosen:
            x, label = dict(zip("xy", X[row].tolist(), strict=True)), str(labels[row])
            rival = model.rival_one(x, label)
            if model.learn_one(x, label):
                made.append((x, label, rival))
        if model.mistakes == before and before:
            break
    if n_classes == 2:
        u = {**model.weights(), Intercept: model.intercept()}
        added = [{n: v if label == "b" else -v for n, v in {**x, Intercept: 1}.items()} for x, label, _ in made]
    else:
        weights = {label: {**model.weights(label), Intercept: model.intercept(label)} for label in model.classes}
        u = {(name, label): v for label, part in weights.items() for name, v in part.items()}
        folded = [({**x, Intercept: 1}, label, rival) for x, label, rival in made]
        added = [{(n, c): s * v for c, s in ((a, 1), (b, -1)) for n, v in x.items()} for x, a, b in folded]
    return Steps.of_features(*zip(*made, strict=True), classes=model.classes), u, *as_lists(added, u)


def separable_grid():
    w, generator = np.array([3.0, -1.0, 2.0]), np.random.default_rng(5)
    X = generator.integers(-9, 10, (30, 3)).astype(float)
    X = X[abs(X @ w) > 2]
    return X, np.sign(X @ w), w


SPACES = {
    "two classes": two_classes,
    "many classes": many_classes,
    "a kernel": a_kernel,
    "sequences": sequences,
    "sequences with a cost": lambda: sequences(cost=0.5),
    "structures": structures,
    "structures with a loss": lambda: structures(loss=lambda gold, guess: float(gold != guess)),
    "one by one, two classes": lambda: one_by_one(2),
    "one by one, many classes": lambda: one_by_one(3),
}


@pytest.fixture(scope="module", params=SPACES)
def space(request):
    return SPACES[request.param]()


def test_every_inequality_of_the_three_proofs_holds(space):
    steps, separator, *_ = space
    proof = follow_proof(steps, separator)
    assert proof.holds
    assert 0 < proof.mistakes <= proof.bound
    assert "Every inequality held" in str(proof)


def test_the_numbers_are_those_of_a_plain_loop_over_fractions(space):
    steps, separator, added, u = space
    proof = follow_proof(steps, separator)
    z = [[Fraction(float(v)) for v in vector] for vector in added]
    u = [Fraction(float(v)) for v in u]
    u_length = sqrt(dot(u, u))
    S, gamma = Fraction(proof.step_square), Fraction(proof.margin)
    w = [Fraction(0)] * len(u)
    for k, step in enumerate([*z, None]):
        close = {"rel": 1e-9, "abs": 1e-9 * float(S)}
        alpha = dot(w, w) - 2 * S / gamma * dot(w, u) / Fraction(u_length) + S**2 / gamma**2
        assert proof.length[k] == pytest.approx(sqrt(dot(w, w)), **close)
        assert proof.progress[k] == pytest.approx(float(dot(w, u)) / u_length, **close)
        assert proof.distance[k] == pytest.approx(float(alpha), rel=1e-6, abs=1e-6)
        if k:
            assert proof.cosine[k] == pytest.approx(float(dot(w, u)) / u_length / sqrt(dot(w, w)), rel=1e-9)
        if step is not None:
            assert proof.score_before[k] == pytest.approx(float(dot(w, step)), **close)
            w = [a + b for a, b in zip(w, step, strict=True)]
            assert proof.score_after[k] == pytest.approx(float(dot(w, step)), **close)
    k = proof.made
    assert proof.progress_floor == pytest.approx(k * proof.margin)
    assert proof.length_ceiling == pytest.approx(np.sqrt(k * proof.step_square))
    assert proof.cosine_floor == pytest.approx(np.sqrt(k / proof.step_square) * proof.margin)
    assert proof.distance_ceiling == pytest.approx(float(S**2 / gamma**2) - k * proof.step_square)
    assert floor(S / gamma**2 - Fraction(1e-9)) <= proof.bound <= floor(S / gamma**2 + Fraction(1e-9))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_what_a_separator_measures_does_not_depend_on_its_length(space):
    steps, separator, *_ = space
    if isinstance(separator, dict):
        longer = {name: 4 * value for name, value in separator.items()}
    elif isinstance(separator, Separator):
        longer = Separator(4 * separator.weights, 4 * separator.bias)
    else:
        flat = np.ravel(np.column_stack(separator)) if hasattr(separator, "biases") else separator
        longer = [4 * value for value in flat]
    one, other = follow_proof(steps, separator), follow_proof(steps, longer)
    assert one.bound == other.bound
    assert one.margin == other.margin
    assert (one.progress == other.progress).all()


def test_steps_that_were_no_mistakes_are_found_out(space):
    """The last step again and again: its score is raised by its own square, so soon it is no mistake."""
    steps, separator, *_ = space
    again = 500
    forged = Steps(
        steps.points,
        np.append(steps.order, [steps.order[-1]] * again),
        None if steps.allowed is None else [*steps.allowed, *[steps.allowed[-1]] * again],
        per_row=steps.per_row,
        names=steps.names,
        in_feature_space=steps.in_feature_space,
    )
    proof = follow_proof(forged, separator)
    assert not proof.holds
    assert not proof.was_mistake.all()
    assert "was not a mistake" in str(proof)


def test_a_separator_that_does_not_separate_is_refused(space):
    steps, separator, *_ = space
    if isinstance(separator, dict):
        turned = {name: -value for name, value in separator.items()}
    elif isinstance(separator, Separator):
        turned = Separator(-separator.weights, -separator.bias)
    else:
        flat = np.ravel(np.column_stack(separator)) if hasattr(separator, "biases") else separator
        turned = [-value for value in flat]
    with pytest.raises(ValueError, match="does not separate"):
        follow_proof(steps, turned)


# -- two classes, closer -----------------------------------------------------------------------------------------------


@given(separable_integers(), st.sampled_from(["mistake", "predict"]))
def test_every_inequality_holds_on_every_separable_run(data, tie):
    X, y, W = data
    assume(len(np.unique(y)) == 2)
    assert followed(X, y, run(X, y, tie=tie), Separator(W[0, :-1], W[0, -1])).holds


@given(st.integers(0, 9_999))
def test_rounding_raises_no_false_alarm_on_data_with_one_decimal(seed):
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (12, 3)) / 10
    w = np.array([0.3, -0.7, 0.2])
    keep = abs(X @ w) > 1e-9
    X, y = X[keep], np.where(X[keep] @ w > 0, 1, -1)
    assume(len(np.unique(y)) == 2)
    assert followed(X, y, run(X, y, fit_intercept=False), Separator(w), fit_intercept=False).holds


@given(st.integers(0, 9_999))
def test_rounding_raises_no_false_alarm_in_the_space_of_a_kernel(seed):
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (12, 2)) / 10
    X = np.unique(X, axis=0)
    y = np.where(generator.random(len(X)) < 0.5, 1, -1)
    assume(len(np.unique(y)) == 2)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    certificate = certify(X, y, kernel="rbf", gamma=1.0, fit_intercept=False)
    assume(certificate.coefficients is not None and certificate.mistake_bound < 100_000)
    model = KernelPerceptron(kernel="rbf", gamma=1.0, max_iter=50, record_mistakes=True, random_state=0)
    rows = model.fit(X, y).mistake_rows_
    proof = follow_proof(Steps.of_kernel(K, y, rows), certificate.coefficients)
    assert proof.holds
    assert proof.arithmetic == "float64"


def test_equalities_are_no_violations():
    """Copies of one point: every inequality but Cauchy's is an equality, in numbers that floats round."""
    x = np.array([[0.1, 0.7, 0.3]])
    proof = followed(np.vstack([x, -x]), [1, -1], [0], Separator(x[0]), fit_intercept=False)
    assert proof.holds
    assert proof.bound == 1
    assert proof.cosine[1] == pytest.approx(1.0)
    assert proof.progress[1] == proof.progress_floor[1]
    assert proof.distance[1] == 0


def test_the_bound_is_that_of_all_rows_not_only_of_the_mistakes():
    X, y, w = separable(np.random.default_rng(0), 50, 3, 0.1)
    proof = followed(X, y, run(X, y, fit_intercept=False), Separator(5 * w), fit_intercept=False)
    assert proof.radius == radius(X, False)
    assert proof.margin == pytest.approx(margins(X, y, Separator(w), False).min())


def test_many_classes_have_the_bound_of_their_certificate():
    X, y = three_corners()
    certificate = certify(X, y)
    steps, planes, *_ = many_classes()
    for separator in (planes, certificate.vector):
        assert follow_proof(steps, separator).bound == certificate.mistake_bound
    assert steps.radius == pytest.approx(sqrt(2) * radius(X))


def test_the_cosine_may_fall_but_its_floor_does_not():
    rows = exponential_rows(6)
    X, y = np.vstack([rows, -rows]), [1] * 6 + [-1] * 6
    proof = followed(
        X, y, run(X, y, fit_intercept=False, shuffle=False), Separator(2.0 ** np.arange(6)), fit_intercept=False
    )
    assert proof.holds
    assert (np.diff(proof.cosine) < 0).any()
    assert (np.diff(proof.cosine_floor) > 0).all()
    assert (np.diff(proof.distance) <= -proof.step_square * (1 - 1e-12)).all()


def test_rows_that_were_no_mistakes_are_found_out():
    proof = followed(rows=[0, 2, 2, 2, 2, 2], separator=ACROSS, **WORKED)
    assert not proof.holds
    assert proof.was_mistake.tolist() == [True, True, False, False, False, False]
    assert not proof.length_held.all()
    assert not proof.distance_held.all()
    assert "Mistake number 3 was not a mistake" in str(proof)


def test_sparse_rows_and_other_labels_have_the_same_proof():
    X, y, w = separable(np.random.default_rng(2), 40, 3, 0.1)
    rows, names = run(X, y), np.where(y > 0, "red", "blue")
    dense = followed(X, y, rows, Separator(w))
    csr = followed(sparse.csr_matrix(X), names, rows, Separator(w))
    assert dense.holds
    assert csr.holds
    assert (dense.progress == csr.progress).all()


def test_a_run_without_mistakes_has_a_proof_too():
    proof = followed(rows=[], separator=ACROSS, **WORKED)
    assert proof.holds
    assert proof.mistakes == 0


def test_long_runs_are_shown_in_few_lines():
    rows = exponential_rows(8)
    X, y = np.vstack([rows, -rows]), [1] * 8 + [-1] * 8
    made = run(X, y, fit_intercept=False, shuffle=False)
    proof = followed(X, y, made, Separator(2.0 ** np.arange(8)), fit_intercept=False)
    assert len(made) > 3_000
    assert proof.holds
    assert len(str(proof).splitlines()) < 20


def test_a_margin_that_only_whole_numbers_see_is_followed():
    big = 10**30
    X, y = np.array([[1.0, 0.0], [0.0, -1.0]]), [1, -1]
    proof = followed(X, y, [0], [big, 1, 0], fit_intercept=False)
    assert proof.holds
    assert proof.margin == pytest.approx(1e-30)


def test_a_beam_is_followed_on_the_parts_of_gold_that_its_guesses_were_compared_with():
    def features(x, y):
        return dict.fromkeys(enumerate(y), 1)

    steps = Steps.of_structures(
        features, ["x"], ["abc"], [0, 0], ["b", "ac"], part=lambda gold, guess: gold[: len(guess)]
    )
    assert follow_proof(steps, {(0, "a"): 1.0, (1, "b"): 1.0, (1, "c"): -1.0, (0, "b"): -1.0}).holds


@pytest.mark.parametrize(
    ("rows", "separator", "words"),
    [
        ([6], ACROSS, "row numbers from 0 to 5"),
        ([-1], ACROSS, "row numbers from 0 to 5"),
        ([0], Separator([0.0, 1.0]), "does not separate: row 0"),
        ([0], Separator([1.0, 0.0], 0.5), "without an intercept"),
        ([0], Separator([1.0]), "for rows of 1 numbers, but X has 2"),
        ([0], {"x": 1.0}, "have none"),
        ([0], [0, 0, 0], "0 everywhere"),
    ],
)
def test_what_cannot_be_followed_is_refused(rows, separator, words):
    with pytest.raises(ValueError, match=words):
        followed(rows=rows, separator=separator, **WORKED)


def test_steps_that_make_no_sense_are_refused():
    X, y = three_corners()
    with pytest.raises(ValueError, match="two are needed"):
        Steps.of_rows(X, y, [0])
    with pytest.raises(ValueError, match="1 mistakes, but 2 guesses"):
        Steps.of_rows(X, y, [0], ["b", "c"])
    with pytest.raises(ValueError, match="was no mistake"):
        Steps.of_rows(X, y, [0], ["a"])
    with pytest.raises(ValueError, match="no class of y"):
        Steps.of_rows(X, y, [0], ["d"])
    with pytest.raises(ValueError, match="no step to follow"):
        Steps.of_structures(dict, [], [], [], [])
    with pytest.raises(ValueError, match="pass the predicted label of each mistake"):
        Steps.of_features([{"x": 1}], ["a"], classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="number for every row"):
        follow_proof(Steps.of_kernel(np.eye(2), [1, -1], [0]), ACROSS)


# -- ties -------------------------------------------------------------------------------------------------------------


def followed_by_its_own_weights(seed, **asked):
    """Whether the weights of a tagger that converged on random words separate; None if it did not converge."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 5, random.integers(2, 6)).tolist()
    words = [[{"w": f"w{random.integers(6)}"} for _ in range(length)] for length in lengths]
    tags = [[str(random.integers(3)) for _ in sentence] for sentence in words]
    options = {"templates": ["w[0]", "w[-1]"], **LAST, "max_iter": 50, **asked}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SequencePerceptron(**options).fit(words, tags)
    if model.run_.stopped is not Stopped.NO_MISTAKES or not len(model.mistake_rows_):
        return None
    cost = asked.get("cost", 0.0)
    loss = (lambda gold, guess: cost * sum(map(operator.ne, gold, guess))) if cost else None
    steps = Steps.of_structures(
        model.tagger_.joint_features,
        words,
        tags,
        model.mistake_rows_,
        model.mistake_guesses_,
        loss=loss,
        lead=asked.get("lead", 0.0),
    )
    return separates(steps, model.tagger_.named_weights())


def separates(steps, weights):
    """Whether the proof holds with these weights; if they are refused, then because of a score of 0."""
    if steps.smallest(steps.vector(weights))[0] == 0:
        with pytest.raises(ValueError, match="its score is 0"):
            follow_proof(steps, weights)
        return False
    return follow_proof(steps, weights).holds


@pytest.mark.parametrize("asked", [{"lead": 1.0}, {"cost": 1.0}])
def test_a_tagger_that_converged_with_a_lead_or_a_cost_separates(asked):
    found = [followed_by_its_own_weights(seed, **asked) for seed in range(8)]
    assert True in found
    assert False not in found


def test_a_tagger_without_either_may_leave_ties_and_only_ties():
    assert {True, False} <= {followed_by_its_own_weights(seed) for seed in range(12)}


@pytest.mark.parametrize(("tie", "expected"), [("mistake", {True}), ("predict", {True, False})])
def test_weights_that_converged_separate_if_a_tie_is_a_mistake(tie, expected):
    found = set()
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.integers(-2, 3, (6, 3)).astype(float)
        y = np.where(X @ [1.0, 2.0, -3.0] > 0, 1, -1)
        if len(set(y.tolist())) == 2 and (X @ [1.0, 2.0, -3.0]).all():
            model = Perceptron(tie=tie, fit_intercept=False, **LAST).fit(X, y)
            steps = Steps.of_rows(X, y, model.mistake_rows_, fit_intercept=False)
            found.add(separates(steps, Separator(model.coef_.ravel())))
    assert found == expected


def test_a_near_tie_of_float64_is_granted_and_named():
    X, y = [[0.0, -0.1], [0.2, 0.6], [-0.8, 0.5], [-0.5, 0.4], [0.6, 0.9]], [1, 1, -1, -1, 1]
    steps = Steps.of_rows(X, y, [0, 1, 2, 0], fit_intercept=False)  # in float64 0.6 - 0.1 is 0.5
    proof = follow_proof(steps, certify(X, y, fit_intercept=False).separator)
    assert proof.holds
    assert proof.near_ties == 1
    assert proof.verdict == "Every inequality held, allowing 1 near-tie in float64."
