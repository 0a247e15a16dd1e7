"""One function reads a certificate of any kind, and all kinds have the same shape."""

import contextlib
import fractions
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st

from novikoff import CertificateError, certify, existence, linprog, separating_ball, solve_inequalities
from novikoff.prove.certificates import KINDS, read_certificate
from novikoff.prove.separable.kernels import ExactKernel, Products

LINE, PLANE = [[0.0], [1.0], [2.0]], [[0.0, 1.0], [1.0, 1.0], [2.0, 5.0]]
# Certificates, the data that they are about, and other data.
PROVED = {
    "separation": (certify(LINE, [0, 0, 1]), (LINE, [0, 0, 1]), (LINE, [0, 1, 1])),
    "existence": (existence(LINE, [0, 0, 1]), (LINE, [0, 0, 1]), (LINE, [0, 1, 1])),
    "program": (linprog([1.0], [[-1.0]], [-2.0]).certificate, ([1.0], [[-1.0]], [-2.0]), ([5.0], [[-1.0]], [-2.0])),
    "inequalities": (solve_inequalities([[1.0], [2.0]]), ([[1.0], [2.0]],), ([[3.0], [2.0]],)),
    "ball": (separating_ball(LINE, [0, 0, 1]), (LINE, [0, 0, 1]), (LINE, [0, 1, 1])),
    "ball in the plane": (separating_ball(PLANE, [0, 0, 1]), (PLANE, [0, 0, 1]), (PLANE, [0, 1, 1])),
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


@pytest.fixture
def no_quadratic_divisors(monkeypatch):
    """Python's own greatest common divisor, which takes minutes for a megabyte, is only for short numbers."""

    def gcd(*numbers):
        is_quadratic = sum(number.bit_length() > 100_000 for number in numbers) > 1
        assert not is_quadratic
        return math.gcd(*numbers)

    monkeypatch.setattr(fractions, "math", SimpleNamespace(**{**vars(math), "gcd": gcd}))


LONG, LONGER = 7**60_000, 3**110_000 + 7**60_000


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("separation", {"vector": [str(fmpz(LONG)), str(fmpz(-2 * LONG + 1))]}),
        ("inequalities", {"x": [[str(fmpz(LONG)), "1"]]}),
        ("ball", {"center": [[str(fmpz(LONG)), str(fmpz(LONGER))]]}),
        ("ball in the plane", {"center": [[str(fmpz(LONG)), str(fmpz(LONGER))]] * 2}),
    ],
)
def test_numbers_of_any_length_are_read_and_checked_in_good_time(name, change, no_quadratic_divisors):
    certificate, data, _ = PROVED[name]
    written = json.loads(certificate.to_json())
    written["witnesses"] |= change
    read = read_certificate(json.dumps(written))
    with contextlib.suppress(CertificateError):
        read.check(*data)


def test_products_that_do_not_fit_into_memory_are_not_written_out(monkeypatch):
    monkeypatch.setattr("novikoff.prove.separable.kernels.MOST_BITS", 1000)
    found = certify([[0.0], [1.0], [2.0]], [0, 1, 0], kernel="poly", gamma=1e-300, degree=64, coef0=0.0)
    assert found.verdict.value == "undecided"


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6), st.sampled_from([1e-3, 1.0]), st.integers(1, 5))
def test_products_have_fewer_bits_than_is_believed(numbers, gamma, degree):
    for kernel in (ExactKernel("poly", gamma=gamma, degree=degree, coef0=0.5), ExactKernel("precomputed")):
        X = np.array(numbers)[:, None] if kernel.form == "poly" else np.outer(numbers, numbers)
        products = Products(kernel, X, np.ones(len(X), dtype=np.int8), 1)
        whole = products.whole(range(len(X)), range(len(X)))
        assert max(abs(value).bit_length() for row in whole for value in row) <= products.bits
        assert products.radius_square == max(whole[i][i] for i in range(len(X))) * products.scale
