"""What is claimed of Ax > 0: written, read again, tampered with in every way, and derived by a loop in fractions."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import CertificateError, Combination, Inequalities, Outcome, solve_inequalities
from novikoff.prove.inequalities.check import SystemClaims, SystemData, SystemWitnesses, conclude
from tests.draws import draws
from tests.mutants import survivors
from tests.prove.inequalities.systems import needle

FIBONACCI = np.array([[-3416454622906707.0, 5527939700884757.0], [5527939700884757.0, -8944394323791464.0]])
SKEW = [
    [1.0000000000000004, 1.0],
    [-1.0000000000000004, -1.0000000000000004],
    [1.0000000000000004, -1.0000000000000004],
    [-1.9999999999999996, -2.0000000000000004],
]
SYSTEMS = {
    "solved": ([[1, 0], [-1, 1], [-3, 2]], {}),
    "solved in whole numbers": (FIBONACCI, {}),
    "no solution": ([[1, 0], [-1, 1], [-1, -2]], {}),
    "undecided": (needle(30, 4, 1e-9, seed=0), {"method": "perceptron", "time_limit": 1e-9}),
}
ANSWERS = {name: solve_inequalities(A, **options) for name, (A, options) in SYSTEMS.items()}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_was_written_and_read_proves_the_same(name):
    (A, _), answer = SYSTEMS[name], ANSWERS[name]
    assert name.startswith(answer.outcome.value)
    again = Inequalities.from_json(answer.to_json())
    again.check(A)
    assert again.to_json() == answer.to_json()
    assert (again.outcome, again.margin) == (answer.outcome, answer.margin)
    assert answer.x is None or (again.x.tolist() == answer.x.tolist() and again.x.dtype == answer.x.dtype)


@pytest.mark.parametrize("name", ANSWERS)
def test_no_tampered_answer_is_believed(name):
    (A, _), answer = SYSTEMS[name], ANSWERS[name]

    def read(text):
        found = Inequalities.from_json(text)
        found.check(A)
        return found.to_json()

    outcomes = [each.value for each in Outcome]
    assert survivors(answer.to_json(), read, CertificateError, words=outcomes) == []


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "change",
    [
        {"x": (Fraction(1),)},
        {"x": (math.nan, 1.0)},
        {"x": np.array([1.0, 2.0])},
        {"x": "x"},
        {"x": (Fraction(1, 3),) * 2},
        {"combination": Combination((0,), (1,))},
        {"combination": Combination((0, 0), (1, 1))},
        {"combination": ((0,), (1,))},
        {"combination": Combination((), ())},
        {"combination": Combination((0,), (0,))},
        {"combination": Combination((0,), (1.5,))},
        {"combination": Combination((99,), (1,))},
        {"combination": Combination((-1,), (1,))},
        {"margin": 0.9},
        {"margin": math.nan},
        {"margin": "0.5"},
        {"outcome": "solved"},
        {"outcome": None},
        {"rows": 1},
        {"sha256": "0" * 64},
        {"claims": None},
        {"about": None},
    ],
)
def test_an_answer_made_by_hand_is_not_believed(name, change):
    (A, _), answer = SYSTEMS[name], ANSWERS[name]
    for part in ("about", "claims", "witnesses"):
        if set(change) <= set(getattr(answer, part)._fields):
            change = {part: getattr(answer, part)._replace(**change)}
    with pytest.raises(CertificateError):
        replace(answer, **change).check(A)


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_without_witnesses_is_not_believed(outcome):
    A = np.array([[1.0, 0.0], [-1.0, 2.0]])
    empty = Inequalities(SystemData.of(A), SystemClaims(outcome))
    if outcome is Outcome.UNDECIDED:
        empty.check(A)
        return
    with pytest.raises(CertificateError, match=r"the claim outcome is .*, but the data prove"):
        empty.check(A)


# -- what leaves the function proves itself -----------------------------------------------------------------------


def test_a_system_on_the_edge_of_float64_is_answered_with_proof():
    for method in ("auto", "rescaled"):
        answer = solve_inequalities(SKEW, method=method)
        answer.check(SKEW)
        Inequalities.from_json(answer.to_json()).check(SKEW)


@given(st.data())
@settings(max_examples=draws(60))
def test_every_answer_passes_its_own_check(data):
    d, n = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    number = st.sampled_from(
        [0.0, 1.0, -1.0, 1 + 2.0**-52, 1 - 2.0**-53, -1 - 2.0**-52, 2.0**-600, -(2.0**600), 3.0, 0.1]
    )
    A = data.draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=n, max_size=n))
    options = data.draw(st.sampled_from([{}, {"method": "perceptron"}, {"method": "rescaled"}]))
    answer = solve_inequalities(A, time_limit=5, **options)
    answer.check(A)
    again = Inequalities.from_json(answer.to_json())
    again.check(A)
    assert again.to_json() == answer.to_json()


# -- the margins, by a loop in fractions --------------------------------------------------------------------------


def margin_by_hand(A, x):
    """The largest float whose square is not above that of the margin, by bisection over all floats."""
    exact = [[Fraction(a) for a in row] for row in np.asarray(A, dtype=float).tolist()]
    v = [Fraction(value) for value in x]
    square = min(sum(a * b for a, b in zip(row, v, strict=True)) ** 2 / sum(a * a for a in row) for row in exact)
    square /= sum(value * value for value in v)
    low, high = 0, 1 << 62
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(np.int64(middle).view(np.float64).item()) ** 2 <= square:
            low = middle
        else:
            high = middle
    return np.int64(low).view(np.float64).item()


@pytest.mark.parametrize("name", ["solved", "solved in whole numbers"])
def test_the_margin_is_the_largest_float_below_the_true_one(name):
    assert ANSWERS[name].margin == margin_by_hand(SYSTEMS[name][0], ANSWERS[name].x.tolist())


@given(seed=st.integers(0, 10**6), spread=st.integers(0, 300))
@settings(max_examples=draws(40))
def test_the_margin_is_exact_whatever_the_lengths_of_the_rows(seed, spread):
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(3)
    A = generator.standard_normal((12, 3))
    A *= np.sign(A @ x)[:, None] * 10.0 ** generator.integers(-spread, spread + 1, (12, 1))
    witnesses = SystemWitnesses(tuple(map(Fraction, x.tolist())))
    assert conclude(A, witnesses).margin == margin_by_hand(A, x.tolist())
