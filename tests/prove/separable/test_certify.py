"""certify: every verdict against exact linear programs, every claim against the data."""

import dataclasses
import json
import math
from fractions import Fraction
from operator import mul

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from novikoff import (
    Bracket,
    Certificate,
    CertificateError,
    Perceptron,
    Separator,
    Stopped,
    Verdict,
    certify,
    margins,
    radius,
)
from novikoff.learn.linear.space import perceptron
from novikoff.prove.separable.kesler import kesler_points
from tests import exact_lp
from tests.draws import draws
from tests.examples import WORKED_X, WORKED_Y, separable, separable_integers
from tests.prove.separable.certificates import forged
from tests.tables import tables, zero_cell_table

SIGNS = {"+inf": "+", "-inf": "-", "sign undetermined": "?", "not identified": "?"}
XOR_X, XOR_Y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, -1, -1])


def both_classes(table):
    return len(set(np.asarray(table[1]).tolist())) == 2


@settings(max_examples=draws(80))
@given(tables().filter(both_classes), st.booleans())
def test_the_verdict_is_that_of_an_exact_linear_program_always(table, fit_intercept):
    X, y = table
    certificate = certify(X, y, fit_intercept=fit_intercept)
    assert certificate.verdict.value == exact_lp.verdict(X, y, fit_intercept)
    assert certificate.arithmetic == "exact"
    certificate.check(X, y)


@settings(max_examples=draws(40))
@given(tables().filter(both_classes), st.booleans())
def test_the_diverging_columns_and_their_signs_are_those_of_exact_linear_programs(table, fit_intercept):
    X, y = table
    certificate = certify(X, y, fit_intercept=fit_intercept, diverging=True)
    exists, diverging = certificate.estimates.exists, certificate.diverging
    assert exists == (certificate.verdict is Verdict.OVERLAPPING)
    found = {} if exists else {column_of(name): SIGNS[sign] for name, sign in diverging.items()}
    assert found == exact_lp.recession_signs(X, y, fit_intercept)
    assert not exists or set(diverging.values()) <= {"not identified"}
    certificate.check(X, y)


def column_of(name):
    return name if name == "intercept" else int(name.removeprefix("x"))


@given(separable_integers())
def test_the_bracket_holds_the_exact_margin(data):
    X, y, _ = data
    assume(len(np.unique(y)) == 2)
    certificate = certify(X, y)
    exact = exact_lp.margin_square(X, y)
    assert Fraction(certificate.margin.lower) ** 2 <= exact <= Fraction(certificate.margin.upper) ** 2
    assert certificate.margin.upper - certificate.margin.lower <= 1e-6 * certificate.margin.upper
    exact_bound = math.floor(Fraction(certificate.radius) ** 2 / exact)
    assert exact_bound <= certificate.mistake_bound <= exact_bound * (1 + 1e-5) + 1


@given(separable_integers(), st.sampled_from(["mistake", "predict"]), st.integers(0, 99))
def test_no_run_makes_more_mistakes_than_the_certificate_allows(data, tie, seed):
    X, y, _ = data
    assume(len(np.unique(y)) == 2)
    certificate = certify(X, y)
    run = perceptron(X, y, max_iter=None, tie=tie, random_state=seed).run
    assert run.stopped is Stopped.NO_MISTAKES
    assert run.mistakes <= certificate.mistake_bound
    assert run.margin_at_most >= certificate.margin.lower


def test_the_separator_has_unit_length_and_the_margin():
    X, y, _ = separable(np.random.default_rng(0), 500, 5, 0.2, bias=0.3)
    certificate = certify(X, y)
    assert np.linalg.norm(certificate.separator.folded) == pytest.approx(1.0)
    assert margins(X, y, certificate.separator).min() == pytest.approx(certificate.margin.lower, rel=1e-9)
    distance = (y * certificate.separator.distance(X)).min()
    assert certificate.geometric_margin == pytest.approx(distance, rel=1e-9)
    *w, b = map(Fraction, certificate.vector)
    least = min(int(sign) * (sum(map(mul, w, map(Fraction, x))) + b) for x, sign in zip(X.tolist(), y, strict=True))
    assert Fraction(certificate.geometric_margin) ** 2 * sum(v * v for v in w) <= least**2
    assert certificate.radius == radius(X)
    assert sum(certificate.support.weights) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, sparse.csc_matrix, lambda X: X.astype(np.float32), np.asfortranarray]
)
def test_any_form_of_the_data_has_the_same_certificate(form):
    X = np.random.default_rng(1).integers(-5, 6, (60, 4)).astype(float)
    for y in (np.where(X @ [1.0, 2.0, -1.0, 0.5] + 0.25 > 0, 1, -1), np.where(X[:, 0] > 0, 1, -1), np.arange(60) % 2):
        plain, other = certify(X, y), certify(form(X), y)
        assert plain.verdict is other.verdict
        assert plain.data_hash == other.data_hash
        assert plain.margin == pytest.approx(other.margin, rel=1e-5)
        plain.check(form(X), y)


# -- by hand ----------------------------------------------------------------------------------------------------------


def test_a_table_with_a_zero_cell_is_quasi_separable_and_one_estimate_is_infinite():
    X, y = zero_cell_table()
    certificate = certify(X, y, diverging=True)
    assert certificate.verdict is Verdict.QUASI_SEPARABLE
    assert set(map(column_of, certificate.diverging)) == set(exact_lp.recession_signs(X, y))
    assert certificate.diverging
    certificate.check(X, y)


def test_with_a_tie_that_predicts_a_perceptron_may_converge_on_quasi_separable_rows():
    X, y = [[0.0], [1.0]], [1, -1]
    certificate = certify(X, y, fit_intercept=False)
    assert certificate.verdict is Verdict.QUASI_SEPARABLE
    assert certificate.consequence == (
        'a perceptron that counts ties as mistakes never converges; with tie="predict" it may; '
        "logistic regression has no finite estimate"
    )
    runs = [perceptron(X, y, fit_intercept=False, tie=tie, max_iter=50).run for tie in ("mistake", "predict")]
    assert [run.stopped for run in runs] == [Stopped.MAX_ITER, Stopped.NO_MISTAKES]


def test_feature_names_are_used_if_there_are_any():
    X = pd.DataFrame({"dose": [0, 0, 1, 1, 1], "age": [1, 2, 1, 2, 3]})
    y = ["well", "well", "ill", "well", "ill"]
    certificate = certify(X, y, diverging=True)
    assert certificate.verdict is Verdict.QUASI_SEPARABLE
    assert "dose" in certificate.diverging
    assert "dose" in str(certificate)


def test_one_flipped_label_is_found_among_the_rows_that_stand_in_the_way():
    """The third note's argument against linear programs: with noise there is no solution. The perceptron goes on."""
    X, y, _ = separable(np.random.default_rng(0), 200, 2, 0.5)
    assert certify(X, y).verdict is Verdict.SEPARABLE
    deep = int(np.argmax(np.abs(X @ certify(X, y).separator.weights)))
    y[deep] = -y[deep]
    certificate = certify(X, y)
    assert certificate.verdict is Verdict.OVERLAPPING
    assert deep in certificate.obstruction.rows
    assert len(certificate.obstruction.rows) <= 4
    assert perceptron(X, y, max_iter=20, random_state=0).run.errors <= 2


def test_points_that_share_a_place_but_not_a_label_stand_in_each_others_way():
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 0.0]]), [1, -1, 1]
    certificate = certify(X, y)
    assert certificate.obstruction.rows == (0, 1)
    assert certificate.obstruction.weights == (1, 1)
    assert certificate.verdict is Verdict.QUASI_SEPARABLE


def test_a_zero_row_without_intercept_is_an_obstruction_by_itself():
    certificate = certify([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [1, 1, -1], fit_intercept=False)
    assert certificate.obstruction.rows == (0,)
    assert certificate.verdict is Verdict.QUASI_SEPARABLE


def test_coordinates_of_all_magnitudes_are_decided_exactly():
    X = np.array([[1e300, 1e-300], [1e300, -1e-300], [1.0, 3e-300], [1.0, -2e-300]])
    certificate = certify(X, [1, -1, 1, -1])
    assert certificate.verdict is Verdict.SEPARABLE
    certificate.check(X, [1, -1, 1, -1])


# -- many classes -----------------------------------------------------------------------------------------------------


@settings(max_examples=draws(40))
@given(separable_integers(n_classes=3))
def test_separable_classes_have_a_multiclass_certificate_that_bounds_the_mistakes(data):
    X, y, _ = data
    assume(len(np.unique(y)) == 3)
    certificate = certify(X, y)
    assert certificate.verdict is Verdict.SEPARABLE
    certificate.check(X, y)
    run = perceptron(X, y, n_classes=3, max_iter=None, random_state=0).run
    assert run.mistakes <= certificate.mistake_bound
    planes = certificate.separator
    assert (np.argmax(X @ planes.weights.T + planes.biases, axis=1) == y).all()


@settings(max_examples=draws(40))
@given(st.integers(0, 9_999))
def test_multiclass_verdicts_are_those_of_the_points_of_keslers_construction(seed):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-2, 3, (6, 1)).astype(float), np.array(["a", "b", "c", "a", "b", "c"])
    certificate = certify(X, y)
    points = kesler_points(X, y)
    Z = points.take(np.arange(points.n_points))[:, :-1]
    assert certificate.verdict.value == exact_lp.verdict(Z, np.ones(len(Z)), False)
    certificate.check(X, y)


def test_irises_are_separable_in_part():
    X, y = load_iris(return_X_y=True)
    whole = certify(X, y)
    assert whole.verdict is not Verdict.SEPARABLE
    assert set(whole.obstruction.rivals) <= {0, 1, 2}
    whole.check(X, y)
    one_against_the_rest = {label: certify(X, y == label).verdict for label in range(3)}
    assert one_against_the_rest[0] is Verdict.SEPARABLE
    assert one_against_the_rest[1] is Verdict.OVERLAPPING


# -- kernels ----------------------------------------------------------------------------------------------------------


def test_the_linear_kernel_gives_the_linear_margin():
    X, y, _ = separable(np.random.default_rng(3), 80, 4, 0.3)
    linear, kernel = certify(X, y, tolerance=1e-4), certify(X @ X.T, y, kernel="precomputed", tolerance=1e-4)
    assert kernel.verdict is Verdict.SEPARABLE
    assert kernel.arithmetic == "exact"
    assert kernel.margin.lower <= linear.margin.upper
    assert linear.margin.lower <= kernel.margin.upper
    assert kernel.margin == pytest.approx(linear.margin, rel=1e-3)
    kernel.check(X @ X.T, y)
    assert "feature space" in str(kernel)


def test_xor_is_separable_by_a_product():
    K = (1 + XOR_X @ XOR_X.T) ** 2
    assert certify(K, XOR_Y, kernel="precomputed").verdict is Verdict.SEPARABLE
    assert certify(XOR_X @ XOR_X.T, XOR_Y, kernel="precomputed").verdict is Verdict.OVERLAPPING


@pytest.mark.parametrize(
    ("K", "words"),
    [
        (np.ones((2, 3)), "as many columns as rows"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "row 0, column 1"),
        (np.array([[-1.0, 0.0], [0.0, 1.0]]), "negative for row 0"),
    ],
)
def test_what_is_no_kernel_is_refused(K, words):
    with pytest.raises(ValueError, match=words):
        certify(K, [1, -1], kernel="precomputed")


# -- files and checks -------------------------------------------------------------------------------------------------

CASES = {
    "separable": (WORKED_X, WORKED_Y),
    "quasi": (np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), np.array([0, 0, 1, 0, 1])),
    "overlapping": (XOR_X, XOR_Y),
    "many classes": (np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "b", "c", "b"])),
}


@pytest.mark.parametrize("case", CASES)
def test_a_certificate_survives_the_journey_through_json(case):
    X, y = CASES[case]
    certificate = certify(X, y)
    again = Certificate.from_json(certificate.to_json())
    assert dataclasses.asdict(again) == dataclasses.asdict(certificate)
    again.check(X, y)
    assert str(again) == str(certificate)
    assert "<table>" in again._repr_html_()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 99}', '{"format": 1, "verdict": "maybe"}', "null"])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(CertificateError):
        Certificate.from_json(text)


def test_other_data_are_noticed():
    certificate = certify(WORKED_X, WORKED_Y)
    other = WORKED_X.copy()
    other[0, 0] += 1e-15
    for X, y in ((other, WORKED_Y), (WORKED_X, -WORKED_Y), (WORKED_X[:, ::-1], WORKED_Y)):
        with pytest.raises(CertificateError, match="fingerprints differ"):
            certificate.check(X, y)


def refused(case, **changes):
    X, y = CASES[case]
    with pytest.raises(CertificateError) as caught:
        forged(certify(X, y), **changes).check(X, y)
    return str(caught.value)


def test_every_forged_claim_is_named():
    true = {case: certify(*CASES[case]) for case in CASES}
    margin = true["separable"].margin
    assert "margin_at_least" in refused("separable", margin=Bracket(margin.lower * 1.01, margin.upper * 1.01))
    assert "margin_at_least" in refused("separable", margin=Bracket(margin.lower * 0.9, margin.upper))
    assert "margin_at_most" in refused("separable", margin=Bracket(margin.lower, margin.lower * 0.95))
    assert "mistake_bound" in refused("separable", mistake_bound=true["separable"].mistake_bound - 1)
    assert "geometric_margin" in refused("separable", geometric_margin=2 * true["separable"].geometric_margin)
    assert "radius" in refused("separable", radius=true["separable"].radius * 0.99)
    assert "does not separate strictly" in refused("separable", vector=tuple(-v for v in true["separable"].vector))
    obstruction = true["overlapping"].obstruction
    assert "obstruction" in refused("overlapping", obstruction=obstruction._replace(weights=(1, 1, 1, 2)))
    assert "obstruction" in refused("overlapping", obstruction=obstruction._replace(weights=(0, 0, 0, 0)))
    assert "verdict" in refused("overlapping", obstruction=None)
    assert "verdict" in refused("quasi", verdict=Verdict.OVERLAPPING)
    assert "weak separator" in refused("quasi", weak_separator=tuple(-v for v in true["quasi"].weak_separator))
    lie = {"verdict": Verdict.QUASI_SEPARABLE, "weak_separator": (0, 0, 0)}
    assert "weak separator" in refused("overlapping", **lie)
    assert "verdict" in refused("separable", verdict=Verdict.OVERLAPPING)


# -- from a run -------------------------------------------------------------------------------------------------------


def test_a_perceptrons_own_run_is_a_certificate_that_brackets_the_margin():
    X, y, _ = separable(np.random.default_rng(0), 100, 3, 0.1)
    best = certify(X, y).margin
    model = Perceptron(readout="last", max_iter=None, record_mistakes=True, random_state=0).fit(X, y)
    certificate = Certificate.from_mistakes(X, y, model.mistake_rows_)
    certificate.check(X, y)
    assert certificate.verdict is Verdict.SEPARABLE
    assert 0 < certificate.margin.lower <= best.upper
    assert best.lower <= certificate.margin.upper
    assert certificate.margin.upper == pytest.approx(model.run_.margin_at_most, rel=1e-9)


def test_an_unfinished_run_still_bounds_the_margin_from_above():
    certificate = Certificate.from_mistakes(XOR_X, XOR_Y, [0, 1, 2, 3, 0, 2])
    assert certificate.verdict is Verdict.UNDECIDED
    assert certificate.margin.lower == 0
    assert 0 < certificate.margin.upper < 1
    certificate.check(XOR_X, XOR_Y)
    with pytest.raises(ValueError, match="proves nothing"):
        Certificate.from_mistakes(XOR_X, XOR_Y, [])


def test_mistakes_that_add_up_to_zero_are_an_obstruction():
    certificate = Certificate.from_mistakes(XOR_X, XOR_Y, [0, 1, 2, 3, 3, 2, 1, 0])
    assert certificate.verdict is Verdict.OVERLAPPING
    assert certificate.obstruction.weights == (2, 2, 2, 2)
    certificate.check(XOR_X, XOR_Y)


# -- limits and bad input ---------------------------------------------------------------------------------------------


def test_time_may_run_out_and_nothing_is_guessed():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((3_000, 60))
    y = np.where(X @ generator.standard_normal(60) > 0, 1, -1)
    certificate = certify(X, y, time_limit=1e-6)
    assert certificate.verdict in (Verdict.UNDECIDED, Verdict.SEPARABLE)
    assert certificate.margin.lower <= certificate.margin.upper
    certificate.check(X, y)


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        ([[1.0], [2.0]], [1, 1], {}, "only one class"),
        ([[1.0], [math.nan]], [1, -1], {}, "row 1, column 0"),
        (sparse.csr_matrix([[1.0, 0.0], [0.0, math.inf]]), [1, -1], {}, "row 1, column 1"),
        ([[1.0], [2.0]], [1], {}, "one label per row"),
        ([1.0, 2.0], [1, -1], {}, "dimension"),
        ([["a"], ["b"]], [1, -1], {}, "real numbers"),
        ([[1.0], [2.0]], [1, -1], {"tolerance": 0.0}, "tolerance=0.0"),
        ([[1.0], [2.0]], [1, -1], {"time_limit": -1}, "time_limit=-1"),
        ([[1.0], [2.0]], [1, -1], {"kernel": "rbf"}, "kernel='rbf' needs gamma="),
        ([[1.0], [2.0]], [1, -1], {"kernel": "sigmoid"}, "kernel='sigmoid' is not one of"),
        ([[1.0], [2.0]], [1, -1], {"gamma": 1.0}, "belongs to a kernel"),
        ([[2**53 + 1], [2**53]], [1, -1], {}, "row 0, column 0 of X is 9007199254740993"),
        ([[1, 0.5], [2**60 + 1, 0.5]], [1, -1], {}, "row 1, column 0 of X is 1152921504606846977"),
        (pd.DataFrame({"a": [0.5, 0.5], "id": [2**62, 2**62 + 1]}), [1, -1], {}, "row 1, column 1 of X"),
        (np.array([[2**64 - 1], [1]], dtype=np.uint64), [1, -1], {}, "row 0, column 0 of X"),
        ([[1.0], [2.0], [3.0]], [1.0, math.nan, 0.0], {}, "label of row 1 is missing"),
        ([[1.0], [2.0], [3.0]], ["a", None, "b"], {}, "row 1"),
        ([[1.0], [2.0], [3.0]], ["a", 1, "b"], {}, "row 1"),
    ],
)
def test_bad_input_is_named(X, y, options, words):
    with pytest.raises(ValueError, match=words):
        certify(X, y, **options)


def test_hostile_names_are_escaped_in_html():
    X = pd.DataFrame({"<script>alert(1)</script>": [0.0, 1.0]})
    assert "<script>" not in certify(X, ["a", "b"])._repr_html_()


def test_it_reads_as_a_paragraph():
    assert str(certify(WORKED_X, WORKED_Y, fit_intercept=False)).startswith(
        "These 6 rows of 2 columns are separable (proved): a hyperplane classifies every row correctly. The "
        "margin is gamma = 1, and the longest example has length R <= 2.23607, so a perceptron makes at "
        "most (R/gamma)^2 = 5 mistakes."
    )
    text = json.loads(certify(XOR_X, XOR_Y).to_json())
    assert text["witnesses"]["obstruction"]["weights"] == ["1", "1", "1", "1"]
    assert Separator([1.0]).bias == 0


def test_the_data_are_not_touched():
    from scipy.sparse import csr_matrix

    X = csr_matrix(([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1], [0, 2, 3, 4]), shape=(3, 2))
    X.data.flags.writeable = False
    certify(X, [0, 1, 2])
    assert X.data.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_the_time_limit_holds_also_in_exact_arithmetic(clock):
    clock.tick = 0.1
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 15)).round(3), rng.integers(30, size=300)
    start = clock.now
    certificate = certify(X, y, time_limit=0.5)
    assert clock.now - start < 10
    certificate.check(X, y)


def test_a_certificate_with_very_long_numbers_is_written_and_read():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]
    certificate = certify(X, y)
    weights = tuple(weight * 10**5000 for weight in certificate.obstruction.weights)
    long = forged(certificate, obstruction=certificate.obstruction._replace(weights=weights))
    assert Certificate.from_json(long.to_json()).obstruction.weights == weights
    long.check(X, y)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (
            [[-3, 0, 1, -3], [-3, 0, 1, -3], [0, 0, 1, -1], [1, 0, 0, 0], [1, 1, 0, 0], [-1, 3, 1, 0]],
            [1, -1, 1, 1, 1, -1],
        ),
        (
            [[0.1, -1.5, -0.4], [0.0, 0.0, -0.2], [0.0, 0.0, -0.2], [0.0, -0.2, 0.1], [0.1, -1.5, -0.4]],
            [1, -1, -1, -1, -1],
        ),
    ],
)
def test_weak_separators_have_no_bias_where_none_was_asked_for(X, y):
    found = certify(X, y, fit_intercept=False)
    assert found.verdict is Verdict.QUASI_SEPARABLE
    assert found.weak_separator[-1] == 0
    found.check(X, y)
