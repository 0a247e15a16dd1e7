"""Certificates of existence: a second checker agrees on all of them, and on whatever is changed in them."""

import json

import numpy as np
import pytest

from novikoff import CertificateError, Existence, existence
from novikoff.prove.existence.inputs import likelihood_of
from tests import second_existence  # noqa: F401
from tests.mutants import mutants, survivors
from tests.prove.existence.cases import FAMILIES
from tests.second_checker import Refused, check

WORDS = ["exists", "infinite", "no start", "undecided", "+inf", "-inf", "sign undetermined", "not identified", "finite"]
SIX = [[1.0, 30.0], [1.0, 40.0], [1.0, 50.0], [1.0, 60.0], [0.0, 30.0], [0.0, 40.0]]
ILL = [1, 0, 1, 0, 0, 0]
TIMES = [[0, 1, 1], [0, 2, 1], [0, 2, 1], [1, 3, 0], [2, 4, 1], [0, 4, 0]]  # entry, time, event
SURVIVAL = {"family": "cox", "strata": [0, 0, 0, 0, 1, 1], "ties": "exact"}
CASES = {
    "binomial": ((SIX, ILL), {}),
    "collinear": (([[a, b, a] for a, b in SIX], ILL), {"weights": [1, 1, 2, 1, 1, 0.5]}),
    "exists": ((SIX, [1, 0, 1, 0, 0, 1]), {}),
    "log-binomial": ((SIX, ILL), {"family": "log-binomial", "offset": [0, 0, 0.5, 0, 0, 0]}),
    "no start": (([[1.0], [-1.0]], [1, 0]), {"family": "log-binomial", "fit_intercept": False}),
    "poisson": ((SIX, [3, 1, 2, 1, 0, 0]), {"family": "poisson"}),
    "multinomial": ((SIX, list("abcabc")), {"family": "multinomial", "reference": "b"}),
    "ordinal": ((SIX, [2, 1, 2, 1, 0, 0]), {"family": "ordinal"}),
    "cox": ((SIX, [row[1:] for row in TIMES]), {**SURVIVAL, "ties": None}),
    "exact ties": ((SIX, [row[1:] for row in TIMES]), SURVIVAL),
    "late entry": ((SIX, TIMES), SURVIVAL),
    "conditional": ((SIX, ILL), {"family": "conditional", "strata": list("aabbaa")}),
    "fixed effects": ((SIX, [3, 1, 2, 1, 0, 0]), {"family": "ppml", "fixed_effects": {"firm": list("aabbcc")}}),
}


def plain(data, options):
    """What the second checker takes."""
    likelihood = likelihood_of(*data, **options)
    numbers = {name: values.tolist() for name, values in likelihood.numbers.items()}
    return likelihood.header, likelihood.X.toarray().tolist(), numbers


def is_accepted(check, text, refusal):
    try:
        check(text)
    except refusal:
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_both_accept_a_certificate_and_agree_on_every_mutant_of_it(name):
    data, options = CASES[name]
    text, known = existence(*data, **options).to_json(), plain(data, options)
    check(text, known)
    checked = {}
    for what, mutant in mutants(text, words=WORDS, most=150):
        first = is_accepted(lambda text: Existence.from_json(text).check(*data, **options), mutant, CertificateError)
        checked[what] = first == is_accepted(lambda text: check(text, known), mutant, Refused)
    assert [what for what, agree in checked.items() if not agree] == []


@pytest.mark.parametrize("name", CASES)
def test_whatever_is_changed_is_refused_or_says_the_same(name):
    data, options = CASES[name]

    def read(text):
        found = Existence.from_json(text)
        found.check(*data, **options)
        return found.to_json()

    assert survivors(existence(*data, **options).to_json(), read, CertificateError, words=WORDS, most=300) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_both_accept_what_is_found_on_small_designs(family):
    for seed in range(500, 512):
        data, options, _ = FAMILIES[family](np.random.default_rng(seed))
        check(existence(*data, **options).to_json(), plain(data, options))


def test_another_response_is_refused_though_the_claims_are_true_of_it():
    data, options = CASES["poisson"]
    text = existence(*data, **options).to_json()
    other = (SIX, [4, 1, 2, 1, 0, 0])
    with pytest.raises(CertificateError, match="other data: its sha256"):
        Existence.from_json(text).check(*other, **options)
    with pytest.raises(Refused):
        check(text, plain(other, options))


def forged(name, **changes):
    """A certificate with other claims and witnesses, which keeps its fingerprint."""
    data, options = CASES[name]
    content = json.loads(existence(*data, **options).to_json())
    content["claims"] |= changes.pop("claims", {})
    content["witnesses"] |= changes
    text = json.dumps(content)
    first = is_accepted(lambda text: Existence.from_json(text).check(*data, **options), text, CertificateError)
    assert first == is_accepted(lambda text: check(text, plain(data, options)), text, Refused)
    return first


def test_a_direction_that_separates_fewer_rows_proves_nothing_about_the_others():
    zeros = {"directions": [["0", "-1", "0", "0", "0"]]}
    assert not forged("fixed effects", **zeros)
    assert not forged("exists", directions=[["0", "1", "0"]])


def test_an_obstruction_that_does_not_span_is_refused():
    assert not forged("exists", obstruction={"rows": [], "weights": []})
    assert not forged("exists", obstruction={"rows": [], "weights": []}, claims={"separated_rows": [0]})
