"""A certificate is claims and witnesses: whatever is changed in one is refused, or says exactly the same."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from novikoff import Certificate, CertificateError, Verdict, certify
from novikoff.prove.separable.certificate import Bracket, Obstruction, Support
from tests.mutants import survivors
from tests.prove.separable.certificates import LINE, XOR, Case, all_cases, forged

WORDS = [
    *(verdict.value for verdict in Verdict),
    *("exact", "balls", "float64", "binary", "argmax", "kernel", "+inf", "-inf", "+infinity", "finite", "intercept"),
    *("sign undetermined", "linear", "poly", "rbf", "laplacian", "precomputed"),
]


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    return all_cases(tmp_path_factory.mktemp("tables"))


NAMES = [
    "separable",
    "separable without a bias",
    "separable with names",
    "separable, with estimates",
    "quasi-separable, with estimates",
    "quasi-separable",
    "overlapping",
    "of a run",
    "not separable",
    "unknown",
    "three classes",
    "three overlapping classes",
    "three classes, with estimates",
    "of a table",
    "of a table, with estimates",
    "polynomial kernel",
    "polynomial kernel, overlapping",
    "linear kernel, quasi-separable",
    "Gaussian kernel",
    "Laplacian kernel",
    "Gaussian kernel, by theorem",
    "Gaussian kernel, quasi-separable",
    "matrix",
    "matrix, overlapping",
]


def test_there_is_a_certificate_of_every_kind(cases):
    assert list(cases) == NAMES
    kinds = {(case.certificate.problem, case.certificate.verdict) for case in cases.values()}
    assert {("binary", verdict) for verdict in Verdict} <= kinds
    decided = set(Verdict) - {Verdict.UNDECIDED, Verdict.NOT_SEPARABLE}
    assert {("kernel", verdict) for verdict in decided} <= kinds


@pytest.mark.parametrize("name", NAMES)
def test_every_change_is_refused_or_says_the_same(cases, name):
    case = cases[name]
    text = case.certificate.to_json()
    assert case.check(text) == text
    assert survivors(text, case.check, CertificateError, words=WORDS) == []


def lie(case, **changes):
    with pytest.raises(CertificateError):
        forged(case.certificate, **changes).check(*case.data)


def test_the_lies_that_an_older_checker_believed_are_refused(cases):
    separable, overlapping, quasi = cases["separable"], cases["overlapping"], cases["quasi-separable"]
    lie(separable, margin=Bracket(0.1, -1e300))
    lie(separable, margin=Bracket(0.0, math.inf))
    lie(separable, radius=-1000.0)
    lie(separable, radius=1e300)
    lie(separable, classes=(1, -1))
    lie(separable, n_rows=5)
    lie(separable, arithmetic="float64")
    lie(separable, mistake_bound=10**9)
    lie(separable, support=Support((0.9,), (1.0,)))
    lie(overlapping, margin=Bracket(3.0, 4.0))
    lie(overlapping, mistake_bound=7)
    lie(overlapping, vector=(1, 1, 1))
    estimates = cases["quasi-separable, with estimates"].certificate.estimates
    lie(quasi, estimates=estimates)  # they are of another design, without an intercept
    with_signs = cases["separable, with estimates"]
    for word in ("+infinity", "finite", "-Inf", "-inf"):
        found = with_signs.certificate.estimates
        signs = tuple((place, word) for place, _ in found.claims.diverging)
        lie(with_signs, estimates=replace(found, claims=replace(found.claims, diverging=signs)))
    without = cases["separable without a bias"]
    lie(without, vector=(*without.certificate.vector[:-1], 7))
    names = cases["separable with names"]
    lie(names, feature_names=tuple(reversed(names.certificate.feature_names)))
    assert names.certificate.feature_names == ("dose", "age")


def test_the_lie_with_a_bias_of_1e200_is_refused():
    X, y = [[100.0], [101.0]], [0, 1]
    j = json.loads(certify(X, y).to_json())
    j["question"]["fit_intercept"] = 1e200
    j["witnesses"]["vector"] = [str(2 * 10**200), "-201"]
    j["claims"].update(margin_at_least=0.49, radius=1e-100, mistake_bound="0")
    with pytest.raises(CertificateError, match="fit_intercept"):
        Certificate.from_json(json.dumps(j)).check(X, y)


def test_lies_about_kernels_are_refused(cases):
    gaussian, matrix = cases["Gaussian kernel"], cases["matrix"]
    for case in (gaussian, matrix):
        c = case.certificate
        lie(case, verdict=Verdict.OVERLAPPING, coefficients=(0,) * c.n_rows)
        lie(case, coefficients=(0,) * c.n_rows)
        lie(case, support=c.support._replace(weights=tuple(-w for w in c.support.weights)))
        lie(case, obstruction=Obstruction((0, 1), (1, 1), spans=False))
        lie(case, margin=Bracket(c.margin.lower, c.margin.upper * (1 + 1e-15)))


def test_a_certificate_of_a_table_tells_its_columns_and_cannot_be_used_for_others(cases):
    case = cases["of a table"]
    j = json.loads(case.certificate.to_json())
    assert j["data"]["table"]["label"] == "ill"
    kept = [column for column in j["data"]["table"]["encoding"]["columns"] if column["name"] == "group"]
    j["data"]["table"]["encoding"]["columns"] = kept
    with pytest.raises(CertificateError):
        case.check(json.dumps(j))
    age = next(c for c in json.loads(case.certificate.to_json())["data"]["table"]["encoding"]["columns"])
    assert age["name"] == "group"


def test_the_certificate_of_a_table_is_not_checked_against_numbers(cases):
    case = cases["of a table"]
    with pytest.raises(CertificateError, match="pass its reader"):
        case.certificate.check(np.ones((5, 3)), ["no", "no", "yes", "yes", "yes"])


def test_a_format_that_could_not_be_checked_is_refused_by_name():
    with pytest.raises(CertificateError, match=r"format 1; this version reads 2.*certify the data again"):
        Certificate.from_json('{"format": 1, "verdict": "separable"}')


# -- kernels: what may be said ----------------------------------------------------------------------------------------


def test_a_small_margin_is_never_called_overlapping():
    X = np.array([[1000.0], [1000.001]])
    assert certify(X, [0, 1]).verdict is Verdict.SEPARABLE
    found = certify(X @ X.T, [0, 1], kernel="precomputed")
    assert found.verdict in (Verdict.SEPARABLE, Verdict.UNDECIDED)
    assert certify(X, [0, 1], kernel="linear").verdict is Verdict.SEPARABLE
    if found.verdict is Verdict.UNDECIDED:
        assert "No separator has a margin above" in str(found)
    found.check(X @ X.T, [0, 1])


def test_quasi_separable_data_are_quasi_separable_through_the_linear_kernel():
    generator = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        X = generator.integers(0, 3, (6, 2)).astype(float)
        y = generator.integers(0, 2, 6)
        if len(set(y.tolist())) < 2:
            continue
        expected = certify(X, y).verdict
        for found, data in (
            (certify(X, y, kernel="linear"), X),
            (certify(X @ X.T, y, kernel="precomputed"), X @ X.T),
        ):
            assert found.verdict in (expected, Verdict.UNDECIDED)
            assert found.problem == "kernel"
            found.check(data, y)
        assert certify(X, y, kernel="linear").verdict is expected
        seen.add(expected)
    assert len(seen) == 3


def test_three_points_close_together_are_separated_by_a_gaussian():
    X = np.array([[0.0], [2.0**-14], [2.0**-13]])
    found = certify(X, [1, -1, 1], kernel="rbf", gamma=1.0, fit_intercept=False)
    assert found.verdict is Verdict.SEPARABLE
    assert "always separable" in str(found) or found.mistake_bound is not None
    found.check(X, [1, -1, 1])


def test_equal_points_with_different_labels_are_the_obstruction_of_a_gaussian():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    quasi = certify(np.vstack([X[:3], [[5.0]]]), [1, 1, -1, -1], kernel="rbf", gamma=2.0)
    assert (quasi.verdict, quasi.obstruction.rows) == (Verdict.QUASI_SEPARABLE, (0, 2))
    both = certify(X, [1, 1, -1, -1], kernel="rbf", gamma=2.0)
    assert (both.verdict, both.obstruction.rows) == (Verdict.OVERLAPPING, (0, 1, 2, 3))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_a_polynomial_kernel_has_the_verdict_of_its_monomials(degree):
    generator = np.random.default_rng(degree)
    for _ in range(12):
        X = generator.integers(-2, 3, (9, 2)).astype(float)
        y = generator.integers(0, 2, 9)
        if len(set(y.tolist())) < 2:
            continue
        monomials = np.array(
            [[math.sqrt(1) * a**i * b**j for i in range(degree + 1) for j in range(degree + 1 - i)] for a, b in X]
        )
        found = certify(X, y, kernel="poly", degree=degree, gamma=1.0, coef0=1.0, fit_intercept=False)
        assert found.verdict is certify(monomials, y, fit_intercept=False).verdict
        found.check(X, y)


def test_the_margin_under_a_gaussian_brackets_what_floats_say():
    K = np.exp(-0.5 * (LINE - LINE.T) ** 2)
    found = certify(LINE, [1, -1, 1, -1], kernel="rbf", gamma=0.5, fit_intercept=False)
    floats = certify(K, [1, -1, 1, -1], kernel="precomputed", fit_intercept=False)
    assert found.arithmetic == "balls"
    assert found.margin.lower == pytest.approx(floats.margin.lower, rel=1e-9)
    assert found.mistake_bound == floats.mistake_bound


def test_a_matrix_that_no_kernel_has_is_refused_and_a_rounded_one_claims_nothing():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="this is not a valid kernel matrix"):
        certify(K, [1, -1], kernel="precomputed", fit_intercept=False)
    K[0, 1] = K[1, 0] = 1 + 1e-12
    assert certify(K, [1, -1], kernel="precomputed", fit_intercept=False).verdict is Verdict.UNDECIDED


def test_repeated_entries_mean_their_sum_to_the_proof_too():
    from scipy.sparse import csr_array

    X = csr_array((np.array([1.0, 2.0**-60, 1.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    found = certify(X, [0, 1])
    assert found.verdict is Verdict.OVERLAPPING
    assert found.data_hash == certify(np.array([[1.0], [1.0]]), [0, 1]).data_hash
    found.check(X, [0, 1])


def test_escapes_and_depth_in_a_certificate_are_one_error(cases):
    text = cases["separable"].certificate.to_json()
    for bad in ("[" * 100_000, text[:-1] + "," + '"x":' * 3, text.replace("}", "", 1), '{"format":2,"format":2}'):
        with pytest.raises(CertificateError):
            Certificate.from_json(bad)


def test_a_case_is_its_own_data(cases):
    assert isinstance(cases["overlapping"], Case)
    assert cases["overlapping"].data[0] is XOR
