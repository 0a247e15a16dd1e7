"""Mixing is what the paper says, and keeps the theorem."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from novikoff import Perceptron, certify
from novikoff.cluster import fit
from novikoff.cluster.rounds import largest_step
from tests.cluster.files import rows, write
from tests.draws import draws

WHOLE = st.integers(-6, 6).map(float)


def mixed_by_hand(shards, rounds, mixing, square, lead=0.0):
    """McDonald, Hall and Mann's loop, with the bias folded in: weights, K, the changes and what each counts for."""
    most = (1 + 2 * lead) * square
    w, counted, steps = np.zeros(shards[0][0].shape[1] + 1), Fraction(0), []
    for _ in range(rounds):
        changes, made = [], 0
        for X, y in shards:
            own = w.copy()
            for x, label in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
                if label * sum((own * x).tolist()) <= lead * square:
                    own, made = own + label * x, made + 1
            changes.append(own - w)
        if not made:
            break
        total, k = sum(changes), Fraction(made)
        if mixing == "uniform":
            step, count = total / len(shards), k / len(shards)
        else:
            eta = largest_step(w, total, counted, made, most, len(shards))
            assert eta == pytest.approx(by_bisection(w, total, float(counted), made, most, len(shards)), rel=1e-6)
            step, count = eta * total, Fraction(eta) * k
        steps.append((step, count, float(count / k)))
        w, counted = w + step, counted + count
    return w, counted, steps


def by_bisection(w, change, counted, made, square, n_shards):
    def holds(eta):
        longer = w + eta * change
        return longer @ longer <= square * (counted + eta * made) * (1 + 1e-12)

    low, high = 1 / n_shards, 1.0
    if holds(high):
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def written(folder, shards):
    """Files without an encoding, so that numbers stay what they are."""
    for number, (X, y) in enumerate(shards):
        table = {f"x{j}": column.tolist() for j, column in enumerate(X.T)}
        write(folder / f"{number}.svm", {**table, "y": ["yes" if label > 0 else "no" for label in y]})
    return sorted(map(str, folder.glob("*.svm")))


def separable(draw):
    """Whole points, told apart by a plane that none of them is near, in shards of both classes."""
    X = draw(arrays(float, (draw(st.integers(8, 24)), 2), elements=WHOLE))
    X[0] = 1.0, 3.0  # every column has an entry
    score = 2 * X[:, 0] - X[:, 1] + 0.5
    return X, np.where(score > 0, 1.0, -1.0)


@st.composite
def in_shards(draw):
    X, y = separable(draw)
    n_shards = draw(st.sampled_from([1, 2, 3, 4]))
    return [(X[i::n_shards], y[i::n_shards]) for i in range(n_shards)]


@pytest.mark.parametrize("lead", [0.0, 0.5])
@pytest.mark.parametrize("mixing", ["uniform", "adaptive"])
@settings(max_examples=draws(30))
@given(shards=in_shards())
def test_mixing_is_a_ten_line_loop_and_k_never_exceeds_the_bound(tmp_path_factory, mixing, lead, shards):
    X, y = np.concatenate([X for X, _ in shards]), np.concatenate([y for _, y in shards])
    if len(set(y.tolist())) < 2:
        return
    seen = []
    files = written(tmp_path_factory.mktemp("shards"), shards)
    model = fit(
        files, mixing=mixing, max_iter=30, shuffle=False, readout="last", zero_based=False, classes=[-1, 1], lead=lead,
        watch=lambda rounds: seen.append((rounds.history.weights[0].copy(), rounds.history.counted)),
    )  # fmt: skip
    square = float((X**2).sum(axis=1).max() + 1)
    weights, counted, _ = mixed_by_hand(shards, 30, mixing, square, lead)
    ours = model.model_.memory
    assert ours.weights[0].tolist() == weights.tolist()
    assert model.run_.mixed_mistakes == pytest.approx(float(counted), rel=1e-12)

    certificate = certify(X, y)
    gamma, R = certificate.margin.lower, certificate.radius
    u = np.append(certificate.separator.weights, certificate.separator.bias)
    for w, K in seen:  # at every round
        length = float(np.linalg.norm(w))
        assert K * gamma <= w @ u * (1 + 1e-9) + 1e-9
        assert w @ u <= length * (1 + 1e-9)
        assert length**2 <= (1 + 2 * lead) * K * R**2 * (1 + 1e-9)
        assert (1 + 2 * lead) * certificate.radius**2 / gamma**2 >= K
    assert model.run_.margin_at_least <= gamma <= model.run_.margin_at_most
    if lead and model.run_.stopped.name == "NO_MISTAKES":
        assert model.run_.margin_at_least >= gamma * lead / (1 + 2 * lead) * (1 - 1e-9)


@given(arrays(float, 3, elements=WHOLE), arrays(float, (3, 3), elements=WHOLE), st.integers(1, 5))
def test_the_largest_step_keeps_the_length_within_the_bound(w, changes, more):
    """From weights as long as the theorem allows, changes as large as mistakes can make them."""
    square = float(max((changes**2).sum(axis=1).max(), 1.0))
    counted = Fraction(float(w @ w)) / Fraction(square) + more
    made = [3, 1, 2]

    def fits(change, k):
        return (w + change) @ (w + change) <= square * (float(counted) + k)

    allowed = [change for change, k in zip(changes, made, strict=True) if fits(change, k)]
    if not allowed:
        return
    total, k = sum(allowed), sum(made[: len(allowed)])
    eta = largest_step(w, total, counted, k, square, len(allowed))
    assert 0 < eta <= 1
    longer = [Fraction(a) + Fraction(eta) * Fraction(b) for a, b in zip(w.tolist(), total.tolist(), strict=True)]
    if eta > 1 / len(allowed):
        assert sum(v * v for v in longer) <= Fraction(square) * (counted + Fraction(eta) * k)
    if 1 / len(allowed) < eta < 1:  # a little more would be too much
        more = w + min(1.0, eta * (1 + 1e-6)) * total
        assert more @ more >= square * (float(counted) + eta * k) * (1 - 1e-9)


def test_a_round_that_changes_nothing_is_an_obstruction(tmp_path):
    """The same point with both labels, in two shards: their mistakes cancel."""
    for number, label in enumerate(["yes", "no"]):
        write(tmp_path / f"{number}.svm", {"x0": [1.0], "x1": [2.0], "y": [label]})
    for mixing in ("uniform", "adaptive"):
        model = fit(str(tmp_path / "*.svm"), mixing=mixing, classes=[-1, 1])
        assert model.run_.stopped.name == "CYCLE"
        assert model.run_.cycle.rows == (0, 1)
        assert model.run_.cycle.times == (1, 1)
        assert "no separator exists" in str(model.run_)


@pytest.mark.parametrize("mixing", ["uniform", "adaptive"])
@settings(max_examples=draws(30))
@given(
    arrays(float, (12, 2), elements=WHOLE),
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=12, max_size=12),
    arrays(float, 3, elements=st.floats(-1, 1)).filter(lambda u: np.linalg.norm(u) > 0.1),
    st.floats(0.1, 3.0),
)
def test_on_any_data_k_is_bounded_by_what_a_plane_lacks(mixing, X, labels, u, gamma):
    """K <= ((R + D)/gamma)^2 for every unit vector u and every gamma, whether or not anything separates."""
    y, shards, rounds = np.array(labels), 3, 6
    folded, u = np.column_stack([X, np.ones(12)]), u / np.linalg.norm(u)
    parts = [(X[i::shards], y[i::shards]) for i in range(shards)]
    R = float(np.sqrt((folded**2).sum(axis=1).max()))
    _, counted, steps = mixed_by_hand(parts, rounds, mixing, R**2)
    lacking = np.maximum(0.0, gamma - y * (folded @ u))
    of_each = [float((lacking[i::shards] ** 2).sum()) for i in range(shards)]
    D_square = sum(share * sum(of_each) for _, _, share in steps)
    assert float(counted) <= ((R + np.sqrt(D_square)) / gamma) ** 2 * (1 + 1e-9)


def test_one_shard_mixed_is_the_perceptron(tmp_path):
    path = write(tmp_path / "one.svm", rows(60, words=False))
    models = [fit(path, mixing=mixing, max_iter=4, shuffle=False) for mixing in ("uniform", "adaptive", "none")]
    for model in models[:2]:
        assert model.coef_ == pytest.approx(models[2].coef_, rel=1e-12)
        assert model.run_.mistakes == models[2].run_.mistakes == model.run_.mixed_mistakes


def test_with_a_lead_too_weights_that_go_from_shard_to_shard_are_those_of_one_machine(tmp_path):
    generator = np.random.default_rng(0)
    X, y = generator.integers(-9, 10, (60, 3)).astype(float), np.where(generator.random(60) < 0.5, 1.0, -1.0)
    files = written(tmp_path, [(X[:20], y[:20]), (X[20:], y[20:])])
    ours = fit(files, mixing="none", max_iter=3, lead=0.5, zero_based=False)
    one = Perceptron(lead=0.5, shuffle=False, max_iter=3).fit(X, y)
    assert (ours.coef_ == one.coef_).all()
    for name in ("mistakes", "narrow", "narrow_per_epoch", "mistaken_rows", "lead"):
        assert getattr(ours.run_, name) == getattr(one.run_, name)
