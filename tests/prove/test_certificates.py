"""One function reads a certificate of any kind, and all kinds have the same shape."""

import pytest

from novikoff import CertificateError, certify, existence, linprog, separating_ball, solve_inequalities
from novikoff.prove.certificates import KINDS, read_certificate

LINE = [[0.0], [1.0], [2.0]]
# Certificates, the data that they are about, and other data.
PROVED = {
    "separation": (certify(LINE, [0, 0, 1]), (LINE, [0, 0, 1]), (LINE, [0, 1, 1])),
    "existence": (existence(LINE, [0, 0, 1]), (LINE, [0, 0, 1]), (LINE, [0, 1, 1])),
    "program": (linprog([1.0], [[-1.0]], [-2.0]).certificate, ([1.0], [[-1.0]], [-2.0]), ([5.0], [[-1.0]], [-2.0])),
    "inequalities": (solve_inequalities([[1.0], [2.0]]), ([[1.0], [2.0]],), ([[3.0], [2.0]],)),
    "ball": (separating_ball(LINE, [0, 0, 1]), (LINE, [0, 0, 1]), (LINE, [0, 1, 1])),
    "no ball": (separating_ball(LINE, [1, 0, 1], inside=1), (LINE, [1, 0, 1]), (LINE, [1, 1, 0])),
}


@pytest.mark.parametrize("name", PROVED)
def test_a_certificate_of_any_kind_is_read_and_checked(name):
    certificate, data, others = PROVED[name]
    read = read_certificate(certificate.to_json())
    assert type(read) is type(certificate)
    read.check(*data)
    with pytest.raises(CertificateError):
        read.check(*others)


def test_every_kind_is_among_them():
    assert set(KINDS) <= {*PROVED, "ball"}


@pytest.mark.parametrize("text", ["", "{}", '{"format": 2, "kind": "rumour"}', '{"format": 1, "kind": "ball"}', "[]"])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(CertificateError):
        read_certificate(text)
