"""A second checker, written from the page on certificates, agrees on all of them and on all that is done to them."""

import copy
import json

import numpy as np
import pytest

from novikoff import Certificate, CertificateError, Inequalities, ProgramCertificate, certify
from novikoff.prove.existence.regression import regression
from novikoff.prove.expressivity.ball import read_ball
from novikoff.prove.programs.check import read_program
from novikoff.prove.separable.certificate import Support, Witnesses
from novikoff.prove.separable.conclude import InMemory, conclude
from novikoff.prove.separable.feature_space import InFeatureSpace, conclude_kernel
from novikoff.prove.separable.kernels import ExactKernel
from tests import second_existence  # noqa: F401
from tests.mutants import mutants
from tests.prove.expressivity.test_ball_certificates import ANSWERS as BALLS
from tests.prove.expressivity.test_ball_certificates import EXAMPLES
from tests.prove.inequalities.test_inequalities_certificates import ANSWERS, SYSTEMS
from tests.prove.programs.test_program_certificates import CERTIFICATES
from tests.prove.separable.certificates import LINE, SIX, SIX_LABELS, XOR, all_cases
from tests.prove.separable.test_lies import NAMES
from tests.prove.separable.test_lies import WORDS as SEPARATION_WORDS
from tests.second_checker import Refused, check, fingerprint

WORDS = ["optimal", "infeasible", "unbounded", "solved", "no solution", "undecided", "red", "blue"]
TURNS = [1, -1, 1, -1]
GAUSSIAN = {"kernel": "rbf", "gamma": 0.5, "fit_intercept": False}


def plain(case):
    """The text of a certificate, its data in plain lists, and what reads and checks another text."""
    names = case.certificate.feature_names and [*case.certificate.feature_names]
    if len(case.data) == 2:
        X, labels = np.asarray(case.data[0]).tolist(), list(case.data[1])
    else:
        batches = [case.certificate.table.encoding.encode(records) for records in case.data[0]]
        X = [row for batch in batches for row in batch.rows.as_array().tolist()]
        labels = [label for batch in batches for label in batch.labels]
    return case.certificate.to_json(), (X, labels, names, estimates_of(case)), case.check


def estimates_of(case):
    """What the second checker takes for estimates."""
    if case.certificate.estimates is None:
        return None
    likelihood = regression(*(case.data if len(case.data) == 2 else (case.data[0], None)), case.certificate)
    numbers = {name: values.tolist() for name, values in likelihood.numbers.items()}
    return likelihood.header, likelihood.X.toarray().tolist(), numbers


def other_cases():
    for name, (arguments, certificate) in CERTIFICATES.items():
        p = read_program(**arguments)
        parts = (p.c, p.A_ub.toarray(), p.b_ub, p.A_eq.toarray(), p.b_eq, p.lower, p.upper)
        data = [part.tolist() for part in parts]
        yield name, certificate.to_json(), data, lambda text, a=arguments: ProgramCertificate.from_json(text).check(**a)
    for name, (A, _) in SYSTEMS.items():
        data = np.asarray(A, dtype=float).tolist()
        yield name, ANSWERS[name].to_json(), data, lambda text, A=A: Inequalities.from_json(text).check(A)
    for name, (X, y, _) in EXAMPLES.items():
        data = (np.asarray(X, dtype=float).tolist(), y)
        yield name, BALLS[name].to_json(), data, lambda text, X=X, y=y: read_ball(text).check(X, y)


OTHERS = {name: rest for name, *rest in other_cases()}


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    return {name: plain(case) for name, case in all_cases(tmp_path_factory.mktemp("tables")).items()}


def is_accepted(check_text, text, refusal):
    try:
        check_text(text)
    except refusal:
        return False
    return True


def disagreements(text, data, first, words, most=150):
    for what, mutant in mutants(text, words=words, most=most):
        by_first = is_accepted(first, mutant, CertificateError)
        if by_first != is_accepted(lambda text: check(text, data), mutant, Refused):
            yield f"{what}, accepted by the {'first' if by_first else 'second'} only: {mutant:.300}"


@pytest.mark.parametrize("name", NAMES)
def test_both_accept_a_separation_and_agree_on_every_mutant_of_it(cases, name):
    text, data, first = cases[name]
    check(text, data)
    assert list(disagreements(text, data, first, SEPARATION_WORDS)) == []


@pytest.mark.parametrize("name", OTHERS)
def test_both_accept_an_answer_and_agree_on_every_mutant_of_it(name):
    text, data, first = OTHERS[name]
    check(text, data)
    assert list(disagreements(text, data, first, WORDS)) == []


# -- forgeries that change several fields, and data at the ends of what floats can be ----------------------------------


def certified(X, y, **options):
    return json.loads(certify(X, y, **options).to_json())


def changed(certificate, **changes):
    """A copy with other values at `part__field`; None takes a field away."""
    certificate = copy.deepcopy(certificate)
    for path, value in changes.items():
        *parts, name = path.split("__")
        place = certificate
        for part in parts:
            place = place[part]
        place[name] = value
        if value is None:
            del place[name]
    return certificate


def both(certificate, X, y):
    """Whether the checkers accept it; they must agree."""
    text, data = json.dumps(certificate), (np.asarray(X, dtype=float).tolist(), np.asarray(y).tolist(), None)
    first = is_accepted(lambda text: Certificate.from_json(text).check(X, y), text, ValueError)
    second = is_accepted(lambda text: check(text, data), text, Refused)
    assert first == second, f"{first}, {second}: {text:.500}"
    return first


def with_new_fingerprint(certificate, X, y):
    """What a forger does who knows how fingerprints are made."""
    about = {name: certificate["data"].get(name) for name in ("rows", "columns", "classes", "feature_names", "table")}
    places = [sorted(set(y)).index(label) for label in y]
    digest = fingerprint({"kernel": None, **about, **certificate["question"]}, np.asarray(X).tolist(), places)
    return changed(certificate, data__sha256=digest)


def test_a_claim_that_says_nothing_is_refused():
    overlapping, labels = certified(XOR, [1, 1, -1, -1]), [1, 1, -1, -1]
    for name in ("margin_at_least", "margin_at_most", "geometric_margin"):
        assert not both(changed(overlapping, **{f"claims__{name}": 0.0}), XOR, labels)
    everything = {"rows": [0, 1, 2, 3], "weights": [1, 1, 1, 1]}
    claims = {"verdict": "undecided", "arithmetic": "exact", "radius": overlapping["claims"]["radius"]}
    nothing_known = changed(overlapping, witnesses={"support": everything}, claims={**claims, "margin_at_most": 0})
    assert both(nothing_known, XOR, labels)
    assert not both(changed(nothing_known, claims__margin_at_most=-0.0), XOR, labels)
    assert not both(changed(nothing_known, claims__margin_at_most=None), XOR, labels)


def test_an_obstruction_that_does_not_span_proves_no_overlap_but_that_nothing_separates():
    X, y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]), [0, 1, 0, 1]
    for options in ({}, {"kernel": "linear"}):
        honest = certified(X, y, **options)
        assert honest["claims"]["verdict"] == "quasi-separable"
        claims = {"verdict": "overlapping", "arithmetic": "exact", "radius": honest["claims"]["radius"]}
        pair = {"rows": [0, 1], "weights": ["1", "1"], "spans": True}
        forged = changed(honest, claims=claims, witnesses={"obstruction": pair})
        assert not both(forged, X, y)
        assert both(changed(forged, claims__verdict="not separable", witnesses__obstruction__spans=False), X, y)


def test_vectors_may_be_scaled_but_not_turned_and_have_no_bias_without_an_intercept():
    for fit_intercept in (True, False):
        honest = certified(SIX, SIX_LABELS, fit_intercept=fit_intercept)
        vector = honest["witnesses"]["vector"]
        assert both(
            changed(honest, witnesses__vector=[v if v == "0" else v + "0" * 50 for v in vector]), SIX, SIX_LABELS
        )
        for other in ([str(-int(v)) for v in vector], ["0", "0", "0"], vector[:-1], [*vector[:-1], "7" * 40]):
            assert not both(changed(honest, witnesses__vector=other), SIX, SIX_LABELS)


@pytest.mark.parametrize("label", ["a", "z", 1, True, None])
def test_a_rival_is_another_class(label):
    honest, labels = certified(LINE, ["a", "b", "c", "c"]), ["a", "b", "c", "c"]
    support = honest["witnesses"]["support"]
    assert both(honest, LINE, labels)
    assert not both(changed(honest, witnesses__support={**support, "rivals": [label] * 4}), LINE, labels)
    binary, two = certified(LINE, [0, 0, 1, 1]), [0, 0, 1, 1]
    support = binary["witnesses"]["support"]
    rivals = [1 - two[row] for row in support["rows"]]
    assert not both(changed(binary, witnesses__support={**support, "rivals": rivals}), LINE, two)


def test_data_at_the_ends_of_the_range_of_floats():
    tiny, largest = np.array([[5e-324], [-5e-324], [1e-323]]), np.finfo(float).max
    for fit_intercept in (True, False):
        assert both(certified(tiny, [1, 0, 1], fit_intercept=fit_intercept), tiny, [1, 0, 1])
    X = np.array([[1e308, 1e308], [-1e308, -1.7e308]])
    honest = certified(X, [1, 0])
    assert honest["claims"]["radius"] is None
    assert both(honest, X, [1, 0])
    assert not both(changed(honest, claims__radius=largest), X, [1, 0])
    X = np.full((2, 3), largest) * [[1], [-1]]
    with pytest.warns(UserWarning, match="apart"):
        honest = certified(X, [1, 0])
    assert "margin_at_most" not in honest["claims"]
    assert both(honest, X, [1, 0])
    assert not both(changed(honest, claims__margin_at_most=largest), X, [1, 0])


def test_a_margin_below_all_floats_is_claimed_as_0():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    found = conclude(InMemory.of(X, y, True), Witnesses(vector=(10**400, -1), support=Support((0, 1), (1.0, 1.0))))
    claims = json.loads(found.to_json())["claims"]
    assert (claims["margin_at_least"], "geometric_margin" in claims) == (0.0, False)
    assert both(json.loads(found.to_json()), X, y)
    assert not both(changed(json.loads(found.to_json()), claims__margin_at_least=None), X, y)


def test_labels_are_compared_with_their_types():
    for labels, others in (
        ([0.5, 1.0, 1.0, 0.5], [0.5, 1]),
        ([True, False, False, True], [0, 1]),
        ([-0.0, 1.0] * 2, [0, 1]),
    ):
        honest = certified(LINE, labels)
        assert both(honest, LINE, labels)
        forged = changed(honest, data__classes=others)
        assert not both(forged, LINE, labels)
        assert not both(with_new_fingerprint(forged, LINE, labels), LINE, labels)


@pytest.mark.parametrize(
    "kernel",
    [
        *({"form": "poly", "gamma": 1.0, "coef0": 1.0, "degree": degree} for degree in (65, 0, 2.0, True)),
        {"form": "poly", "gamma": 0.0, "coef0": 1.0, "degree": 2},
        {"form": "poly", "gamma": 1.0, "coef0": -1.0, "degree": 2},
        {"form": "poly", "gamma": 1.0, "coef0": 1.0},
        {"form": "linear", "gamma": 1.0},
        {"form": "rbf", "gamma": 0},
    ],
)
def test_a_kernel_that_there_is_not_is_refused_whatever_the_fingerprint_says(kernel):
    labels = [1, 1, -1, -1]
    honest = certified(LINE, labels, kernel="poly", degree=2, gamma=1.0, coef0=1.0, fit_intercept=False)
    assert both(changed(honest, question__kernel__gamma=1), LINE, labels)
    assert not both(changed(honest, witnesses__coefficients=["0"] * 4), LINE, labels)
    assert not both(with_new_fingerprint(changed(honest, question__kernel=kernel), LINE, labels), LINE, labels)


def test_equal_points_under_a_gaussian():
    X, y = np.vstack([LINE, LINE, [[9.0]]]), [*TURNS, *(-label for label in TURNS), 1]
    quasi, overlapping = certified(X, y, **GAUSSIAN), certified(X[:8], y[:8], **GAUSSIAN)
    pair = {"rows": [0, 4], "weights": ["3", "3"]}
    assert both(changed(quasi, witnesses__obstruction={**pair, "spans": False}), X, y)
    assert not both(changed(quasi, witnesses__obstruction={**pair, "weights": ["3", "2"], "spans": False}), X, y)
    spanning = {"witnesses__obstruction": {**pair, "spans": True}, "claims__verdict": "overlapping"}
    assert not both(changed(quasi, **spanning), X, y)
    assert both(changed(overlapping, **spanning), X[:8], y[:8])
    assert not both(changed(quasi, witnesses={}, claims__verdict="separable"), X, y)


def test_a_gaussian_separates_by_theorem_or_with_coefficients_and_a_support():
    honest = certified(LINE, TURNS, **GAUSSIAN)
    claims = {"verdict": "separable", "arithmetic": "exact", "radius": 1.0}
    assert both(changed(honest, witnesses={}, claims=claims), LINE, TURNS)
    assert not both(changed(honest, witnesses__coefficients=None, claims=claims), LINE, TURNS)
    coefficients = honest["witnesses"]["coefficients"]
    assert both(changed(honest, witnesses__coefficients=[v + "0" * 3000 for v in coefficients]), LINE, TURNS)
    for other in (["0"] * 4, ["-" + v for v in coefficients], coefficients[:3]):
        assert not both(changed(honest, witnesses__coefficients=other), LINE, TURNS)


@pytest.mark.parametrize("form", ["rbf", "laplacian"])
@pytest.mark.parametrize("apart", [2.0**-20, 2.0**-70, 1e-160, 5e-324, 3000.0, 1e300])
def test_two_points_under_a_gaussian_however_near_or_far(form, apart):
    X, y = np.array([[0.0], [apart]]), [0, 1]
    for fit_intercept in (True, False):
        space = InFeatureSpace.of(X, y, ExactKernel(form, gamma=1.0), fit_intercept)
        witnesses = Witnesses(coefficients=(1, 1), support=Support((0, 1), (1.0, 1.0)))
        found = json.loads(conclude_kernel(space, witnesses).to_json())
        assert both(found, X, y)
        wrong = float(np.nextafter(found["claims"]["margin_at_least"], 1.0))
        assert not both(changed(found, claims__margin_at_least=wrong), X, y)


def test_points_so_far_apart_that_the_margin_cannot_be_told_from_a_float():
    for gamma in (1000.0, 3000.0, 4096.0, 5000.0, 1e308):
        honest = certified(LINE, TURNS, **{**GAUSSIAN, "gamma": gamma})
        assert (honest["claims"]["margin_at_least"], honest["claims"]["mistake_bound"]) == (0.5 - 2.0**-54, "4")
        assert both(honest, LINE, TURNS)
        assert not both(changed(honest, claims__margin_at_least=0.5), LINE, TURNS)


def test_matrices_that_no_kernel_has():
    labels = [0, 1]
    question = {"problem": "kernel", "fit_intercept": False, "kernel": {"form": "precomputed"}}
    claims = {"verdict": "separable", "arithmetic": "exact", "mistake_bound": "0", "radius": 1.0}
    claims |= {"margin_at_least": 1.414213562373095, "margin_at_most": 1.4142135623730951}
    witnesses = {"coefficients": ["1", "1"], "support": {"rows": [0, 1], "weights": [0.5, 0.5]}}
    about = {"rows": 2, "columns": 2, "classes": labels, "sha256": ""}
    forged = {"format": 2, "kind": "separation", "data": about, "question": question}
    forged |= {"claims": claims, "witnesses": witnesses}
    for diagonal in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)):
        K = np.array([[diagonal[0], -5.0], [-5.0, diagonal[1]]])
        assert not both(with_new_fingerprint(forged, K, labels), K, labels)
    nothing = {"verdict": "undecided", "arithmetic": "float64", "radius": 1.0}
    assert both(with_new_fingerprint(changed(forged, witnesses={}, claims=nothing), K, labels), K, labels)


def test_a_matrix_that_is_symmetric_up_to_rounding_counts_as_its_symmetric_part():
    K, labels = LINE @ LINE.T + 1.0, [1, 1, -1, -1]
    K[0, 1] += 1e-13
    assert both(certified(K, labels, kernel="precomputed"), K, labels)
    tiny = np.array([[5e-324, 0.0], [1e-323, 1.0]])  # the half of 5e-324 is 0
    assert both(certified(tiny, [0, 1], kernel="precomputed", fit_intercept=False), tiny, [0, 1])
