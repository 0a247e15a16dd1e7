"""Proving a certificate again, claim by claim, from the data alone."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.certificate import (
    Certificate,
    CertificateError,
    Obstruction,
    Support,
    Verdict,
    bound_from_square,
    geometric_margin,
)
from novikoff.prove.fingerprint import fingerprint
from novikoff.prove.gram import checked_gram, kernel_bracket, kernel_radius
from novikoff.prove.kesler import kesler_points, point_numbers
from novikoff.prove.margin import radius
from novikoff.prove.points import Points
from novikoff.prove.proofs import (
    ends_in_span,
    lower_square,
    places_that_vary,
    spans_all,
    upper_square,
    vanishes,
    weakly_separates,
)


def check_certificate(certificate: Certificate, X: Any, y: ArrayLike) -> None:
    """Raise `CertificateError`, naming the claim, for the first that is not true of the data."""
    if fingerprint(X, y) != certificate.data_hash:
        raise CertificateError("the data are not those that were certified: their fingerprints differ")
    if certificate.problem == "kernel":
        _check_kernel(certificate, X, y)
        return
    make = kesler_points if certificate.problem == "argmax" else Points.of
    points = make(X, y, certificate.fit_intercept)
    _claim(certificate.radius >= radius(X, certificate.fit_intercept), "radius", "some example is longer")
    if certificate.verdict is Verdict.SEPARABLE:
        _check_lower(certificate, points)
    elif certificate.verdict is not Verdict.UNDECIDED:
        _claim(certificate.obstruction is not None, "verdict", "there is no obstruction")
    if certificate.verdict is Verdict.SEPARABLE or certificate.support is not None:
        _check_upper(certificate, points, y)
    if certificate.obstruction is not None:
        _check_obstruction(certificate, certificate.obstruction, points, y)
    _check_divergences(certificate, points, y)


def _check_lower(certificate: Certificate, points: Points) -> None:
    square = lower_square(points, certificate.vector or ())
    if square is None:
        raise _failure("separator", "some example is not strictly on its side")
    distance = geometric_margin(square, certificate.vector or (), certificate.problem)
    _claim(certificate.geometric_margin <= distance, "geometric_margin", f"it is {distance:.9g}")
    claimed = Fraction(certificate.margin.lower) ** 2
    _claim(claimed <= square, "margin.lower", "the separator does not have that margin")
    bound = bound_from_square(certificate.radius, square, certificate.problem)
    claimed_bound = certificate.mistake_bound
    _claim(claimed_bound is not None and claimed_bound >= bound, "mistake_bound", f"it is {bound:,}")


def _check_upper(certificate: Certificate, points: Points, y: ArrayLike) -> None:
    support = certificate.support
    if support is None or min(support.weights) <= 0:
        raise _failure("support", "it is missing, or a weight is not positive")
    if certificate.margin.upper == float("inf"):
        return
    square = upper_square(points, _numbers(support, y), support.weights)
    _claim(Fraction(certificate.margin.upper) ** 2 >= square, "margin.upper", "the support does not prove it")


def _check_obstruction(certificate: Certificate, obstruction: Obstruction, points: Points, y: ArrayLike) -> None:
    numbers = _numbers(obstruction, y)
    _claim(vanishes(points, numbers, obstruction.weights), "obstruction", "it does not combine to 0 exactly")
    if certificate.verdict is Verdict.OVERLAPPING:
        _claim(spans_all(points, numbers), "verdict", "the obstruction does not span all examples")
    elif certificate.verdict is Verdict.QUASI_SEPARABLE:
        weak = certificate.weak_separator
        proved = weak is not None and weakly_separates(points, weak)
        _claim(proved, "weak_separator", "some example is on its wrong side, or all are on the plane")


def _check_divergences(certificate: Certificate, points: Points, y: ArrayLike) -> None:
    if certificate.divergences is None or certificate.verdict is Verdict.OVERLAPPING:
        return
    face = _numbers(certificate.obstruction, y)
    for place in places_that_vary(points, face):
        column = "intercept" if place == points.dimension - 1 else place
        listed = column in certificate.divergences
        _claim(listed, f"diverging[{certificate.name_of(column)!r}]", "it is left out, but some weak separator uses it")
    for column, divergence in certificate.divergences.items():
        place = points.dimension - 1 if column == "intercept" else column
        name = f"diverging[{certificate.name_of(column)!r}]"
        signs = {(witness[place] > 0) - (witness[place] < 0) for witness in divergence.witnesses}
        weak = all(weakly_separates(points, witness) for witness in divergence.witnesses)
        _claim(weak, name, "a witness does not separate weakly")
        if divergence.sign == "sign undetermined":
            _claim({-1, 1} <= signs, name, "the witnesses do not have both signs")
            continue
        sign = 1 if divergence.sign == "+inf" else -1
        _claim(signs == {sign}, name, "no witness has that sign")
        unit = [Fraction(0)] * points.dimension
        unit[place] = Fraction(sign * divergence.scale)
        rows = np.array(divergence.rows, dtype=np.int64)
        proved = divergence.scale > 0 and ends_in_span(points, rows, divergence.weights, unit, face)
        _claim(proved, name, "the other sign is not ruled out")


def _check_kernel(certificate: Certificate, K: ArrayLike, y: ArrayLike) -> None:
    gram, labels = checked_gram(K, y)
    constant = float(certificate.fit_intercept)
    if certificate.coefficients is None or certificate.support is None:
        raise _failure("margin", "separator or support are missing")
    weights = np.zeros(len(labels))
    weights[list(certificate.support.rows)] = certificate.support.weights
    lower, upper = kernel_bracket(gram, labels, constant, np.array(certificate.coefficients), weights)
    margin = certificate.margin
    _claim(certificate.radius >= kernel_radius(gram, constant), "radius", "some example is longer")
    _claim(margin.lower <= max(lower, 0.0), "margin.lower", "the separator does not have that margin")
    _claim(margin.upper >= upper, "margin.upper", "the support does not prove it")
    _claim((certificate.verdict is Verdict.SEPARABLE) == (lower > 0), "verdict", "the bracket says otherwise")


def _numbers(part: Support | Obstruction | None, y: ArrayLike) -> NDArray[np.int64]:
    """Which points the rows (and rivals) of a part are."""
    if part is None:
        return np.empty(0, dtype=np.int64)
    return np.array(part.rows, dtype=np.int64) if part.rivals is None else point_numbers(y, part.rows, part.rivals)


def _claim(holds: bool, name: str, why: str) -> None:
    if not holds:
        raise _failure(name, why)


def _failure(name: str, why: str) -> CertificateError:
    return CertificateError(f"the claim {name} is not true of these data: {why}")
