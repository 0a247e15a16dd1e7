"""A lead: examples that are right by too little are learned, too; counted apart, and within the bound of the
theorem."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import KernelPerceptron, Perceptron, Steps, certify, follow_proof, load, mistake_bound, save
from novikoff.learn.kernel.space import kernel_perceptron
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.space import LinearMemory, learn_online, perceptron
from novikoff.learn.run import Stopped

LEADS = st.sampled_from([0.125, 0.5, 1.0, 4.0])


def eighths(seed, n=25, d=4):
    """Rows whose numbers are exact in floats, and labels of three classes."""
    generator = np.random.default_rng(seed)
    return generator.integers(-9, 10, (n, d)) / 8.0, generator.integers(0, 3, n)


def tenths(seed, n=60, d=17):
    """Rows of few values: many scores are at a lead but for rounding."""
    generator = np.random.default_rng(seed)
    values = generator.choice([-0.3, -0.2, -0.1, 0.1, 0.2, 0.3], (n, d))
    return values * (generator.random((n, d)) < 0.7), generator.integers(0, 3, n)


def separable(seed, n=30, d=3, n_classes=2):
    """Whole numbers that a plane, or three, separate."""
    generator = np.random.default_rng(seed)
    X, W = generator.integers(-9, 10, (n, d)), generator.integers(-9, 10, (n_classes, d))
    scores = X @ W.T
    best = np.sort(scores, axis=1)
    clear = best[:, -1] > best[:, -2]
    X, y = X[clear], np.argmax(scores, axis=1)[clear]
    return X, y, len(np.unique(y)) == n_classes


def lecture(X, y, rows, n_classes, lead, bias):
    """Mistakes and narrow ones after the definition, in fractions; of two classes, labels are 0 and 1."""
    X = [[Fraction(float(v)) for v in x] + [Fraction(int(bias))] for x in X]
    W = [[Fraction(0)] * len(X[0]) for _ in range(n_classes)]
    longest, updates = Fraction(0), []
    for row in rows:
        x, right = X[row], int(y[row])
        longest = max(longest, sum(v * v for v in x))
        scores = [sum(a * b for a, b in zip(w, x, strict=True)) for w in W]
        rival = max((c for c in range(n_classes) if c != right), key=lambda c: (scores[c], -c))
        ahead = scores[right] - scores[rival]
        if ahead <= 2 * Fraction(lead) * longest:
            W[right] = [a + b for a, b in zip(W[right], x, strict=True)]
            W[rival] = [a - b for a, b in zip(W[rival], x, strict=True)]
            updates.append((row, rival, ahead > 0))
    return updates


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("bias", [True, False])
@given(seed=st.integers(0, 9_999), lead=LEADS)
def test_mistakes_and_narrow_ones_are_those_of_the_definition(n_classes, bias, seed, lead):
    """Two classes with weights of their own have Kesler's lead of 2 tau R^2, and one weight vector has tau R^2."""
    X, y = eighths(seed)
    y = np.minimum(y, n_classes - 1)
    labels = 2 * y - 1 if n_classes == 2 else y
    options = {"n_classes": n_classes, "fit_intercept": bias, "shuffle": False, "max_iter": 3}
    learned = perceptron(X, labels, lead=lead, record_mistakes=True, **options)
    rows = [*range(25)] * 3
    expected = lecture(X, y, rows[: learned.run.examples], n_classes, lead, bias)
    assert learned.mistakes.rows.tolist() == [row for row, _, _ in expected]
    assert learned.mistakes.wrong.tolist() == [rival for _, rival, _ in expected]
    narrow = sum(is_narrow for *_, is_narrow in expected)
    assert (learned.run.narrow, learned.run.mistakes) == (narrow, len(expected) - narrow)
    assert sum(learned.run.narrow_per_epoch) == narrow
    assert sum(learned.run.updates_per_epoch) == learned.run.updates == len(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=st.integers(0, 9_999), lead=LEADS, cut=st.integers(1, 59))
def test_dense_and_sparse_and_one_call_or_many_learn_the_same(n_classes, seed, lead, cut):
    X, y = tenths(seed)
    y = np.minimum(y, n_classes - 1)
    labels = 2 * y - 1 if n_classes == 2 else y
    options = {"n_classes": n_classes, "lead": lead, "shuffle": False, "max_iter": 1}
    first = perceptron(X, labels, record_mistakes=True, **options)
    csr = sparse.csr_array(X)
    backwards = sparse.csr_array((csr.data.copy(), csr.indices.copy(), csr.indptr), shape=csr.shape)
    for start, stop in zip(csr.indptr, csr.indptr[1:], strict=False):
        backwards.data[start:stop] = csr.data[start:stop][::-1]
        backwards.indices[start:stop] = csr.indices[start:stop][::-1]
    for other in (csr, backwards):
        again = perceptron(other, labels, record_mistakes=True, **options)
        assert again.mistakes.rows.tolist() == first.mistakes.rows.tolist()
        assert (again.memory.weights == first.memory.weights).all()
        assert again.run == first.run
    memory = LinearMemory.empty(X.shape[1], n_classes)
    for part in (slice(None, cut), slice(cut, None)):
        learn_online(memory, X[part], labels[part], lead=lead)
    assert (memory.weights == first.memory.weights).all()
    assert (memory.drift == first.memory.drift).all()
    assert (memory.mistakes, memory.narrow, memory.longest) == (
        first.memory.mistakes,
        first.memory.narrow,
        first.memory.longest,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=st.integers(0, 9_999), lead=LEADS)
def test_a_lead_does_not_look_at_ties(n_classes, seed, lead):
    X, y = eighths(seed)
    y = np.minimum(y, n_classes - 1)
    fits = [Perceptron(lead=lead, tie=tie, random_state=0).fit(X, y) for tie in ("mistake", "predict")]
    assert (fits[0].coef_ == fits[1].coef_).all()
    assert fits[0].run_ == fits[1].run_


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=st.integers(0, 9_999), lead=LEADS)
def test_updates_obey_the_bound_and_the_last_weights_have_the_margin(n_classes, seed, lead):
    X, y, whole = separable(seed, n_classes=n_classes)
    if not whole:
        return
    model = Perceptron(lead=lead, max_iter=None, readout="last", record_mistakes=True, random_state=seed).fit(X, y)
    run, certificate = model.run_, certify(X, y)
    assert run.stopped is Stopped.NO_MISTAKES
    gamma = certificate.margin.lower
    assert run.updates <= mistake_bound(run.radius, gamma, n_classes=n_classes, lead=lead)
    assert run.updates <= certificate.update_bound(lead)
    assert run.margin_at_least <= certificate.margin.upper <= run.margin_at_most
    assert run.margin_at_least >= certificate.margin.lower * lead / (1 + 2 * lead) * (1 - 1e-9)
    assert run.margin_at_least <= smallest_margin(model, X, y)
    steps = Steps.of_rows(X, y, model.mistake_rows_, model.mistake_guesses_, lead=lead)
    proof = follow_proof(steps, certificate.vector)
    assert proof.holds
    assert proof.bound >= proof.mistakes == run.updates
    assert f"the bound (1 + 2 * {lead:g}) (R/gamma)^2 allows" in str(proof)


def smallest_margin(model, X, y):
    """The margin of the model's last weights, in fractions; a little more than the exact root."""
    W = [[Fraction(float(v)) for v in line] for line in np.column_stack([model.coef_, model.intercept_])]
    places = np.searchsorted(model.classes_, y).tolist()
    smallest = None
    for x, place in zip(X.tolist(), places, strict=True):
        scores = [sum(a * b for a, b in zip(w, [*x, 1], strict=True)) for w in W]
        if len(W) == 1:
            ahead = scores[0] if place else -scores[0]
        else:
            ahead = scores[place] - max(score for c, score in enumerate(scores) if c != place)
        smallest = ahead if smallest is None else min(smallest, ahead)
    length = sum(v * v for line in W for v in line)
    return float(smallest) / float(length) ** 0.5 * (1 + 1e-12)


def test_the_proof_notices_a_step_beyond_the_lead_and_a_lead_that_was_not_said():
    X, y = [[2.0], [-1.0]], [1, -1]
    model = Perceptron(lead=1.0, fit_intercept=False, shuffle=False, record_mistakes=True, max_iter=None).fit(X, y)
    rows = model.mistake_rows_.tolist()
    u = [1.0]
    assert follow_proof(Steps.of_rows(X, y, rows, fit_intercept=False, lead=1.0), u).holds
    without = follow_proof(Steps.of_rows(X, y, rows, fit_intercept=False), u)
    assert not without.holds
    assert "its score was positive" in without.verdict
    beyond = follow_proof(Steps.of_rows(X, y, [*rows, 0, 0, 0], fit_intercept=False, lead=1.0), u)
    assert not beyond.holds
    assert "its score was above the lead" in beyond.verdict


def test_rows_that_made_r_longer_decide_the_run_even_if_they_were_never_added():
    """[8, 0] is right by more than the lead when it comes; without it, the lead would be smaller, and so the
    weights."""
    X, y = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.0]] + [[8.0, 0.0]] + [[0.0, 1.0]] * 40, [1, 1, 1] + [1] + [1] * 40
    options = {"fit_intercept": False, "shuffle": False, "lead": 0.1, "max_iter": 1, "record_mistakes": True}
    labels = [*y, -1]
    rows = [*X, [0.0, -1.0]]
    learned = perceptron(rows, labels, **options)
    added = set(learned.mistakes.rows.tolist())
    assert 3 not in added
    less = perceptron([x for i, x in enumerate(rows) if i != 3], [v for i, v in enumerate(labels) if i != 3], **options)
    assert less.memory.weights.tolist() != learned.memory.weights.tolist()
    assert learned.run.mistaken_rows == len(added) + 1


def test_an_epoch_in_which_r_grew_does_not_end_a_run_that_goes_on():
    """After a warm start the short rows are ahead of the old lead when they are visited, and not of the new one."""
    model = Perceptron(lead=1.0, fit_intercept=False, shuffle=False, max_iter=None, warm_start=True, readout="last")
    model.fit([[1.0], [-1.0]], [1, -1])
    assert model.coef_.tolist() == [[2.0]]
    model.fit([[1.0], [-1.0], [1.75]], [1, -1, 1])
    run = model.run_
    assert run.stopped is Stopped.NO_MISTAKES
    assert run.margin_at_least > 0
    assert model.coef_[0, 0] > 1.75**2


def test_counts_records_and_what_goes_on_survive_a_file(tmp_path):
    X, y = eighths(3)
    model = Perceptron(lead=0.5, readout="vote", random_state=0).fit(X, y)
    save(model, tmp_path / "model.novikoff")
    again = load(tmp_path / "model.novikoff")
    assert again.run_ == model.run_
    assert (again.n_narrow_, again.lead) == (model.n_narrow_, 0.5)
    assert again.n_narrow_ > 0
    assert (again.decision_function(X) == model.decision_function(X)).all()
    parts = Perceptron(lead=0.5).partial_fit(X[:9], y[:9], classes=[0, 1, 2])
    save(parts, tmp_path / "parts.novikoff")
    for learner in (parts, load(tmp_path / "parts.novikoff")):
        learner.partial_fit(X[9:], y[9:])
        whole = perceptron(X, y, n_classes=3, lead=0.5, shuffle=False, max_iter=1).memory
        assert (learner.model_.memory.weights == whole.weights).all()
        assert learner.n_narrow_ == whole.narrow


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vote_with_a_lead_is_that_of_every_weight_vector(n_classes):
    X, y = tenths(5)
    y = np.minimum(y, n_classes - 1)
    model = Perceptron(lead=1.0, readout="vote", record_mistakes=True, shuffle=False, max_iter=2).fit(X, y)
    folded = np.column_stack([X, np.ones(len(X))])
    W, votes = np.zeros((n_classes, folded.shape[1])), np.zeros((len(X), n_classes))
    updates = iter(zip(model.mistake_rows_.tolist(), model.mistake_guesses_.tolist(), strict=True))
    update = next(updates, None)
    for row in [*range(len(X))] * 2:
        if update is not None and update[0] == row:
            W[y[row]] += folded[row]
            W[update[1]] -= folded[row]
            update = next(updates, None)
        scores = folded @ W.T
        best = (scores[:, 1] - scores[:, 0] >= 0).astype(int) if n_classes == 2 else np.argmax(scores, axis=1)
        votes[np.arange(len(X)), best] += 1
    shares = votes / votes.sum(axis=1, keepdims=True)
    expected = shares[:, 1] - shares[:, 0] if n_classes == 2 else shares
    assert np.abs(model.decision_function(X) - expected).max() <= 2 / len(X)


def test_files_and_blocks_learn_what_memory_does(tmp_path):
    X, y = tenths(7)
    labels = np.where(y > 0, 1, -1)
    for epochs in (1, 3):
        options = {"lead": 0.5, "shuffle": False, "max_iter": epochs}
        whole = perceptron(X, labels, **options)
        parts = learn_from([(X[:20], labels[:20]), (X[20:], labels[20:])], **options)
        assert (parts.memory.weights == whole.memory.weights).all()
        assert (parts.run.mistakes, parts.run.narrow) == (whole.run.mistakes, whole.run.narrow)
        assert parts.run.narrow_per_epoch == whole.run.narrow_per_epoch


@pytest.mark.parametrize("lead", [-1.0, float("nan"), float("inf"), "much", True, None])
def test_a_lead_that_is_no_number_from_0_on_is_refused(lead):
    with pytest.raises(ValueError, match="lead="):
        perceptron([[1.0], [-1.0]], [1, -1], lead=lead)


def test_the_record_says_what_was_narrow():
    X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    options = {"fit_intercept": False, "shuffle": False, "record_mistakes": True, "readout": "last"}
    model = Perceptron(lead=0.5, **options).fit(X, y)
    words = str(model.run_)
    assert "(an epoch without a mistake or narrow example)." in words
    assert "Made 2 mistakes and 3 narrow ones on 18 examples; by epoch: 2, 0, 0; narrow: 2, 1, 0." in words
    assert "The last weights separate the examples with a margin of at least 0.49029" in words
    steps = model.run_.steps(X, y, model.mistake_rows_, fit_intercept=False)
    assert [step.mark for step in steps].count("≈") == 3
    assert [step.mark for step in steps].count("✗") == 2


# -- in the space of a kernel -----------------------------------------------------------------------------------------


def kernel_lecture(X, y, rows, lead):
    """Two classes, K(x, z) = (<x, z> + 1)^2, in fractions."""
    X = [[Fraction(float(v)) for v in x] for x in X]
    K = [[(sum(a * b for a, b in zip(x, z, strict=True)) + 1) ** 2 for z in X] for x in X]
    counts, longest, updates = [0] * len(X), Fraction(0), []
    for row in rows:
        longest = max(longest, K[row][row])
        ahead = int(y[row]) * sum(count * int(y[j]) * K[j][row] for j, count in enumerate(counts))
        if ahead <= Fraction(lead) * longest:
            counts[row] += 1
            updates.append((row, ahead > 0))
    return updates


POLY = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}


@given(seed=st.integers(0, 9_999), lead=LEADS)
def test_a_kernel_learns_the_mistakes_and_the_narrow_ones_of_the_definition(seed, lead):
    X, y = eighths(seed, n=15, d=2)
    labels = np.where(y > 0, 1, -1)
    options = {"lead": lead, "shuffle": False, "max_iter": 3, "record_mistakes": True, **POLY}
    learned = kernel_perceptron(X, labels, **options)
    expected = kernel_lecture(X, labels, ([*range(15)] * 3)[: learned.run.examples], lead)
    assert learned.mistakes.rows.tolist() == [row for row, _ in expected]
    assert learned.run.narrow == sum(narrow for _, narrow in expected)
    assert learned.run.updates == len(expected)


@given(seed=st.integers(0, 9_999), lead=LEADS, cut=st.integers(1, 39))
def test_a_kernel_learns_the_same_from_dense_and_sparse_rows_in_one_call_or_many(seed, lead, cut):
    X, y = tenths(seed, n=40, d=6)
    options = {"lead": lead, "kernel": "poly", "degree": 2, "gamma": 1.0}
    whole = KernelPerceptron(**options).partial_fit(X, y, classes=[0, 1, 2])
    csr = KernelPerceptron(**options).partial_fit(sparse.csr_array(X), y, classes=[0, 1, 2])
    parts = KernelPerceptron(**options).partial_fit(X[:cut], y[:cut], classes=[0, 1, 2])
    if cut < len(X):
        parts.partial_fit(X[cut:], y[cut:])
    for other in (csr, parts):
        assert other.model_.memory.by_class.tolist() == whole.model_.memory.by_class.tolist()
        assert (other.n_narrow_, other.n_mistakes_) == (whole.n_narrow_, whole.n_mistakes_)
        assert other.support_.tolist() == whole.support_.tolist()


@given(seed=st.integers(0, 999), lead=LEADS)
def test_with_a_kernel_the_bound_the_margin_and_the_proof_follow_the_lead(seed, lead):
    X, y = eighths(seed, n=12, d=2)
    y = (y > 0).astype(int)
    if len(np.unique(X, axis=0)) < len(X) or len(np.unique(y)) < 2:
        return
    model = KernelPerceptron(kernel="rbf", gamma=2.0, lead=lead, max_iter=None, readout="last", record_mistakes=True)
    run = model.fit(X, y).run_
    assert run.stopped is Stopped.NO_MISTAKES
    K = np.exp(-2.0 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    certificate = certify(K, y, kernel="precomputed", fit_intercept=False)
    assert run.updates <= mistake_bound(run.radius, certificate.margin.lower * (1 - 1e-6), lead=lead)
    assert certificate.margin.lower * lead / (1 + 2 * lead) * (1 - 1e-6) <= run.margin_at_least
    assert run.margin_at_least <= certificate.margin.upper * (1 + 1e-6)
    proof = follow_proof(Steps.of_kernel(K, y, model.mistake_rows_, lead=lead), certificate.coefficients)
    assert proof.holds


def test_a_kernel_with_a_lead_survives_a_file(tmp_path):
    X, y = eighths(3, n=30)
    for budget in (None, 6):
        model = KernelPerceptron(lead=0.5, budget=budget, random_state=0).fit(X, y)
        save(model, tmp_path / "model.novikoff", force=True)
        again = load(tmp_path / "model.novikoff")
        assert again.run_ == model.run_
        assert again.n_narrow_ == model.n_narrow_ > 0
        assert (again.partial_fit(X, y).dual_coef_ == model.partial_fit(X, y).dual_coef_).all()


def test_a_budget_goes_with_a_lead():
    X, y = eighths(4, n=60)
    model = KernelPerceptron(lead=0.25, budget=9, random_state=0).fit(X, y)
    assert len(model.support_) <= 9
    assert model.n_narrow_ > 0
