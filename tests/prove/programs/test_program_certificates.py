"""Certificates of linear programs: written, read again, and tampered with in every way."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy.sparse import csr_array

from novikoff import CertificateError, ProgramCertificate, linprog
from novikoff.engine.clock import Clock
from novikoff.prove.programs.check import MEANINGS, ProgramClaims, ProgramWitnesses, read_program
from novikoff.prove.programs.search.linprog import solved
from tests.mutants import survivors

SMALL = {"c": [-3, -5], "A_ub": [[1, 0], [0, 2], [3, 2]], "b_ub": [4, 12, 18]}
BOXED = {"c": [1, -1], "A_eq": [[0.5, 1]], "b_eq": [2], "bounds": [(None, 4), (-1, 3)]}
NOTHING = {"c": [1, 1], "A_ub": [[1, 1], [-1, -1]], "b_ub": [1, -2], "bounds": (None, None)}
ENDLESS = {"c": [-1, 0], "A_ub": [[1, -1]], "b_ub": [0]}
ROUNDED = {"c": [1], "A_eq": [[0.1], [0.3]], "b_eq": [0.3, 0.9]}


def proved(program):
    return linprog(**program).certificate


CERTIFICATES = {
    "optimal": (SMALL, proved(SMALL)),
    "optimal, with equations and bounds": (BOXED, proved(BOXED)),
    "infeasible": (NOTHING, proved(NOTHING)),
    "unbounded": (ENDLESS, proved(ENDLESS)),
    "infeasible, by rounding": (ROUNDED, proved(ROUNDED)),
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_that_was_written_and_read_proves_the_same(name):
    program, certificate = CERTIFICATES[name]
    assert name.startswith(certificate.claim)
    again = ProgramCertificate.from_json(certificate.to_json())
    again.check(**program)
    assert again.to_json() == certificate.to_json()
    assert str(again) == str(certificate)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_no_tampered_certificate_is_believed(name):
    program, certificate = CERTIFICATES[name]

    def read(text):
        found = ProgramCertificate.from_json(text)
        found.check(**program)
        return found.to_json()

    assert survivors(certificate.to_json(), read, CertificateError, words=MEANINGS) == []


@pytest.mark.parametrize("name", CERTIFICATES)
@pytest.mark.parametrize(
    "change",
    [
        {"answer": "nonsense"},
        {"answer": ["optimal"]},
        {"x": "ab"},
        {"x": [0.0, 1.0]},
        {"x": ()},
        {"ray": [Fraction(1)]},
        {"value": Fraction(7)},
        {"value": 1.5},
        {"multipliers": ([], [], [], [])},
        {"claims": None},
        {"about": None},
    ],
)
def test_a_certificate_made_by_hand_is_not_believed(name, change):
    program, certificate = CERTIFICATES[name]
    with pytest.raises(CertificateError):
        changed(certificate, **change).check(**program)


def changed(certificate, **change):
    for part in ("claims", "witnesses"):
        if set(change) <= set(getattr(certificate, part)._fields):
            change = {part: getattr(certificate, part)._replace(**change)}
    return replace(certificate, **change)


@pytest.mark.parametrize("claim", MEANINGS)
def test_a_claim_without_witnesses_is_not_believed(claim):
    about = CERTIFICATES["optimal"][1].about
    with pytest.raises(CertificateError, match="proves none of optimal, infeasible, unbounded"):
        ProgramCertificate(about, ProgramClaims(claim), ProgramWitnesses()).check(**SMALL)


def test_the_claim_of_an_optimum_is_its_exact_value():
    assert proved(SMALL).value == -36
    assert json.loads(proved(SMALL).to_json())["claims"] == {"answer": "optimal", "value": ["-36", "1"]}
    assert "no point has a smaller cost than x, which has -36" in str(proved(SMALL))


@pytest.mark.parametrize("program", [SMALL, BOXED, NOTHING, ENDLESS])
@pytest.mark.parametrize("name", ["c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds"])
def test_another_program_is_told_from_its_fingerprint(program, name):
    other = {
        "c": {"c": [7.0, *program["c"][1:]]},
        "A_ub": {"A_ub": [[1, 1]], "b_ub": [0]},
        "b_ub": {"A_ub": [[1, -1]], "b_ub": [1]},
        "A_eq": {"A_eq": [[1, 1]], "b_eq": [1]},
        "b_eq": {"A_eq": [[0.5, 1]], "b_eq": [1]},
        "bounds": {"bounds": [(0, 7), (0, None)]},
    }
    with pytest.raises(CertificateError, match="about other data"):
        proved(program).check(**{**program, **other[name]})


@pytest.mark.parametrize(
    "arguments",
    [
        {"c": [2**53 + 1]},
        {"c": [0.5, 2**53 + 1]},
        {"c": [1], "A_ub": [[2**60 + 1]], "b_ub": [1]},
        {"c": [1], "A_eq": [[1]], "b_eq": [2**63 - 1]},
        {"c": [1], "bounds": [(0, 2**53 + 1)]},
        {"c": [Fraction(1, 3)]},
        {"c": [10**400]},
    ],
)
def test_a_number_that_float64_cannot_represent_is_refused(arguments):
    with pytest.raises(ValueError, match="which float64 cannot represent; round it first"):
        linprog(**arguments)


def test_a_repeated_entry_of_a_sparse_matrix_is_the_correctly_rounded_sum():
    """Added in the order in which it is stored, it would be 0."""
    A = csr_array(([2.0**60, 1.0, -(2.0**60)], [0, 0, 0], [0, 3]), shape=(1, 1))
    result = linprog([-1], A_ub=A, b_ub=[5])
    assert result.x.tolist() == [5]
    result.certificate.check([-1], A_ub=[[1]], b_ub=[5])


# -- the clock ----------------------------------------------------------------------------------------------------


class Counted:
    """A clock's hand that moves by one second whenever somebody looks."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return float(self.looks)


@pytest.mark.parametrize("program", [SMALL, NOTHING, ENDLESS, ROUNDED])
@pytest.mark.parametrize("seconds", [1, 2, 4, 8, 16, 32, 64, 128, 256])
def test_when_the_time_is_over_nothing_is_claimed(program, seconds):
    hand = Counted()
    result = solved(read_program(**program), Clock(seconds, now=hand))
    assert hand.looks < 2 * seconds + 100
    assert (result.status == 1) == (result.certificate is None)
    if result.certificate is not None:
        result.certificate.check(**program)
    assert result.status != 1 or (not result.success and "time_limit" in result.message)


# -- long numbers -------------------------------------------------------------------------------------------------


def test_fractions_whose_common_denominator_fills_the_memory_are_refused(monkeypatch):
    from novikoff.prove.exact import ratios

    monkeypatch.setattr(ratios, "MOST_BITS", 1000)
    long = changed(proved(SMALL), x=[Fraction(1, 3**200), Fraction(1, 5**200)])
    with pytest.raises(CertificateError, match="common denominator that is too long"):
        long.check(**SMALL)


def test_a_long_fraction_is_read_as_it_was_written():
    value = Fraction(7**60_000, 2**150_000 + 1)
    long = changed(proved(ENDLESS), x=[value, value])
    again = ProgramCertificate.from_json(long.to_json())
    assert list(again.x) == [value, value]
    again.check(**ENDLESS)
    assert hash(again.x[0]) == hash(value)
