"""A second checker, written from the page on certificates, agrees on all certificates and all that was done to them."""

import numpy as np
import pytest

from novikoff import CertificateError, Inequalities, ProgramCertificate
from novikoff.prove.expressivity.ball import read_ball
from novikoff.prove.programs.program import read_program
from tests.mutants import mutants
from tests.prove.expressivity.test_ball_certificates import ANSWERS as BALLS
from tests.prove.expressivity.test_ball_certificates import EXAMPLES
from tests.prove.inequalities.test_inequalities_certificates import ANSWERS, SYSTEMS
from tests.prove.programs.test_program_certificates import CERTIFICATES
from tests.second_checker_parts import Refused, check

WORDS = ["optimal", "infeasible", "unbounded", "approximate", "solved", "no solution", "undecided", "red", "blue"]


def cases():
    for name, (arguments, certificate) in CERTIFICATES.items():
        p = read_program(**arguments)
        data = [part.tolist() for part in (p.c, p.A_ub, p.b_ub, p.A_eq, p.b_eq, p.lower, p.upper)]
        yield name, certificate, data, lambda text, a=arguments: ProgramCertificate.from_json(text).check(**a)
    for name, (A, _) in SYSTEMS.items():
        data = np.asarray(A, dtype=float).tolist()
        yield name, ANSWERS[name], data, lambda text, A=A: Inequalities.from_json(text).check(A)
    for name, (X, y, _) in EXAMPLES.items():
        data = (np.asarray(X, dtype=float).tolist(), y)
        yield name, BALLS[name], data, lambda text, X=X, y=y: read_ball(text).check(X, y)


CASES = {name: rest for name, *rest in cases()}


def is_accepted(check_text, text, refusal):
    try:
        check_text(text)
    except refusal:
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_the_second_checker_accepts_what_the_first_does(name):
    certificate, data, _ = CASES[name]
    check(certificate.to_json(), data)


@pytest.mark.parametrize("name", CASES)
def test_both_checkers_agree_on_every_mutant(name):
    certificate, data, first = CASES[name]
    for what, mutant in mutants(certificate.to_json(), words=WORDS):
        by_first = is_accepted(first, mutant, CertificateError)
        by_second = is_accepted(lambda text: check(text, data), mutant, Refused)
        assert by_first == by_second, f"{what}: {mutant[:300]}"
