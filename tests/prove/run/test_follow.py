"""The proof, followed along real runs."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron, Separator, follow_proof, margins, radius
from tests.examples import WORKED_X, WORKED_Y, exponential_rows, separable, separable_integers


def run(X, y, **options):
    options = {"readout": "last", "max_epochs": None, "record_mistakes": True, "random_state": 0, **options}
    return Perceptron(**options).fit(X, y).mistake_rows_


@given(separable_integers(), st.sampled_from(["mistake", "predict"]))
def test_every_inequality_holds_on_every_separable_run(data, tie):
    X, y, W = data
    assume(len(np.unique(y)) == 2)
    proof = follow_proof(X, y, run(X, y, tie=tie), Separator(W[0, :-1], W[0, -1]))
    assert proof.holds
    assert proof.mistakes <= proof.bound


@given(st.integers(0, 9_999))
def test_rounding_raises_no_false_alarm_on_data_with_one_decimal(seed):
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (12, 3)) / 10
    w = np.array([0.3, -0.7, 0.2])
    keep = abs(X @ w) > 1e-9
    X, y = X[keep], np.where(X[keep] @ w > 0, 1, -1)
    assume(len(np.unique(y)) == 2)
    assert follow_proof(X, y, run(X, y, fit_intercept=False), Separator(w), fit_intercept=False).holds


def test_equalities_are_no_violations():
    """Copies of one point: every inequality but Cauchy's is an equality, in numbers that floats round."""
    x = np.array([[0.1, 0.7, 0.3]])
    proof = follow_proof(np.vstack([x, -x]), [1, -1], [0], Separator(x[0]), fit_intercept=False)
    assert proof.holds
    assert proof.cosine[1] == pytest.approx(1.0)
    assert proof.progress[1] == pytest.approx(proof.progress_floor[1], rel=1e-15)


def test_the_numbers_are_what_the_notes_define():
    X, y, w = separable(np.random.default_rng(0), 50, 3, 0.1)
    rows = run(X, y, fit_intercept=False)
    proof = follow_proof(X, y, rows, Separator(5 * w), fit_intercept=False)
    R, gamma = radius(X, False), margins(X, y, Separator(w), False).min()
    sums = np.vstack([np.zeros(3), np.cumsum(X[rows] * y[rows, None], axis=0)])
    k = np.arange(len(rows) + 1)
    lengths = np.linalg.norm(sums, axis=1)
    assert proof.margin == pytest.approx(gamma)
    assert proof.progress == pytest.approx(sums @ w)
    assert proof.progress_floor == pytest.approx(k * gamma)
    assert proof.length == pytest.approx(lengths)
    assert proof.length_ceiling == pytest.approx(np.sqrt(k) * R)
    assert proof.cosine[0] == 0
    assert proof.cosine[1:] == pytest.approx((sums @ w)[1:] / lengths[1:])
    assert proof.cosine_floor == pytest.approx(np.sqrt(k) * gamma / R)
    assert proof.distance == pytest.approx(((sums - R**2 / gamma * w) ** 2).sum(axis=1))
    assert proof.distance[0] == pytest.approx(R**4 / gamma**2)
    assert (proof.distance[1:] <= proof.distance[:-1] - R**2 * (1 - 1e-12)).all()
    assert proof.score_after - proof.score_before == pytest.approx((X[rows] ** 2).sum(axis=1))


def test_the_cosine_may_fall_but_its_floor_does_not():
    rows = exponential_rows(6)
    made = run(np.vstack([rows, -rows]), [1] * 6 + [-1] * 6, fit_intercept=False, shuffle=False)
    proof = follow_proof(
        np.vstack([rows, -rows]), [1] * 6 + [-1] * 6, made, Separator(2.0 ** np.arange(6)), fit_intercept=False
    )
    assert proof.holds
    assert (np.diff(proof.cosine) < 0).any()
    assert (np.diff(proof.cosine_floor) > 0).all()


def test_rows_that_were_no_mistakes_are_found_out():
    proof = follow_proof(WORKED_X, WORKED_Y, [0, 2, 2, 2, 2, 2], Separator([1.0, 0.0]), fit_intercept=False)
    assert not proof.holds
    assert proof.was_mistake.tolist() == [True, True, False, False, False, False]
    assert not proof.length_held.all()
    assert "Mistake number 3 was none" in str(proof)


def test_sparse_rows_and_other_labels_have_the_same_proof():
    X, y, w = separable(np.random.default_rng(2), 40, 3, 0.1)
    rows, names = run(X, y), np.where(y > 0, "red", "blue")
    dense = follow_proof(X, y, rows, Separator(w))
    csr = follow_proof(sparse.csr_matrix(X), names, rows, Separator(w))
    assert dense.holds
    assert csr.holds
    assert (dense.progress == csr.progress).all()


def test_a_run_without_mistakes_has_a_proof_too():
    proof = follow_proof(WORKED_X, WORKED_Y, [], Separator([1.0, 0.0]), fit_intercept=False)
    assert proof.holds
    assert proof.mistakes == 0


def test_long_runs_are_followed_in_blocks_and_shown_in_few_lines():
    rows = exponential_rows(8)
    made = run(np.vstack([rows, -rows]), [1] * 8 + [-1] * 8, fit_intercept=False, shuffle=False)
    proof = follow_proof(
        np.vstack([rows, -rows]), [1] * 8 + [-1] * 8, made, Separator(2.0 ** np.arange(8)), fit_intercept=False
    )
    assert len(made) > 3_000
    assert proof.holds
    assert len(str(proof).splitlines()) < 20


@pytest.mark.parametrize(
    ("rows", "separator", "words"),
    [
        ([6], Separator([1.0, 0.0]), "row numbers from 0 to 5"),
        ([-1], Separator([1.0, 0.0]), "row numbers from 0 to 5"),
        ([0], Separator([0.0, 1.0]), "does not separate: row 0"),
        ([0], Separator([-1.0, 0.0]), "does not separate"),
    ],
)
def test_what_cannot_be_followed_is_refused(rows, separator, words):
    with pytest.raises(ValueError, match=words):
        follow_proof(WORKED_X, WORKED_Y, rows, separator, fit_intercept=False)
