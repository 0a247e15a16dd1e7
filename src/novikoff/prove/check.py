"""Proving a certificate again, claim by claim, from the data alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.features.spool import comes_in_batches
from novikoff.prove.certificate import (
    Certificate,
    Divergence,
    Obstruction,
    Support,
    Verdict,
    bound_from_square,
    geometric_margin,
)
from novikoff.prove.document import CertificateError
from novikoff.prove.exact import as_integers, lowest_exponent, power_of_two
from novikoff.prove.examples import examples_from
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

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


class _Data(Protocol):
    """What has to be known of the data that a certificate speaks of."""

    @property
    def n_rows(self) -> int: ...

    def matrices(self) -> Iterator[Any]:
        """All rows, perhaps in several pieces."""
        ...

    def named(self, rows: Sequence[int], rivals: Sequence[Any] | None) -> tuple[Points, NDArray[np.int64]]:
        """Points among which those of some rows, perhaps against rivals, are, and which they are."""
        ...

    def lower_square(self, vector: Sequence[int]) -> Fraction | None: ...

    def weakly_separates(self, vector: Sequence[int]) -> bool: ...

    def spans_all(self, points: Points, numbers: NDArray[np.int64]) -> bool: ...


@dataclass(frozen=True, eq=False)
class _InMemory:
    """Examples that are a matrix."""

    X: Any
    y: ArrayLike
    points: Points

    @property
    def n_rows(self) -> int:
        return int(np.shape(self.X)[0])

    def matrices(self) -> Iterator[Any]:
        yield self.X

    def named(self, rows: Sequence[int], rivals: Sequence[Any] | None) -> tuple[Points, NDArray[np.int64]]:
        numbers = np.array(rows, dtype=np.int64) if rivals is None else point_numbers(self.y, rows, rivals)
        return self.points, numbers

    def lower_square(self, vector: Sequence[int]) -> Fraction | None:
        return lower_square(self.points, vector)

    def weakly_separates(self, vector: Sequence[int]) -> bool:
        return weakly_separates(self.points, vector)

    def spans_all(self, points: Points, numbers: NDArray[np.int64]) -> bool:
        return spans_all(points, numbers)


def check_certificate(
    certificate: Certificate, X: Any, y: ArrayLike | None = None, encoding: "Encoding | None" = None
) -> None:
    """Raise `CertificateError`, naming the claim, for the first that is not true of the data."""
    if comes_in_batches(X):
        if y is not None or certificate.problem == "kernel":
            raise ValueError("batches have labels of their own, and are no kernel matrix: leave y out, or pass arrays")
        with examples_from(X, encoding, certificate.fit_intercept) as examples:
            _check_fingerprint(certificate, examples.fingerprint())
            _check_claims(certificate, examples)
        return
    if y is None:
        raise ValueError("y is missing: a matrix needs its labels; only a reader or batches have their own")
    _check_fingerprint(certificate, fingerprint(X, y))
    if certificate.problem == "kernel":
        _check_kernel(certificate, X, y)
        return
    make = kesler_points if certificate.problem == "argmax" else Points.of
    _check_claims(certificate, _InMemory(X, y, make(X, y, certificate.fit_intercept)))


def _check_fingerprint(certificate: Certificate, found: str) -> None:
    if found != certificate.data_hash:
        raise CertificateError("the data are not those that were certified: their fingerprints differ")


def _check_claims(certificate: Certificate, data: _Data) -> None:
    _check_radius(certificate, data)
    if certificate.verdict is Verdict.SEPARABLE:
        _check_lower(certificate, data)
    elif certificate.verdict is not Verdict.UNDECIDED:
        _claim(certificate.obstruction is not None, "verdict", "there is no obstruction")
    if certificate.verdict is Verdict.SEPARABLE or certificate.support is not None:
        _check_upper(certificate, data)
    if certificate.obstruction is not None:
        _check_obstruction(certificate, certificate.obstruction, data)
    _check_divergences(certificate, data)


def _check_radius(certificate: Certificate, data: _Data) -> None:
    for matrix in data.matrices():
        reached = radius(matrix, certificate.fit_intercept)
        # Two sums of the same squares may be rounded differently: exactness decides.
        holds = certificate.radius >= reached or not _is_longer(matrix, certificate)
        _claim(holds, "radius", "some example is longer")


def _is_longer(matrix: Any, certificate: Certificate) -> bool:
    """Whether a row is longer than the radius: by floats where their error bound decides, else by whole numbers."""
    rows: Any = matrix.tocsr() if hasattr(matrix, "tocsr") else np.asarray(matrix)
    claimed = certificate.radius
    constant = float(certificate.fit_intercept)
    with np.errstate(all="ignore"):
        scaled = rows * np.float64(1.0 / claimed) if claimed else rows
        squares = scaled.multiply(scaled).sum(axis=1) if hasattr(rows, "tocsr") else (scaled * scaled).sum(axis=1)
        shares = np.asarray(squares).ravel() + (constant / claimed if claimed else constant) ** 2
    for row in np.flatnonzero(~(shares < 1 - 8 * (rows.shape[1] + 8) * UNIT_ROUNDOFF)):
        x = rows[[row]]
        entries = np.append(x.data if hasattr(x, "tocsr") else x, constant)
        exponent = lowest_exponent(entries)
        if sum(v * v for v in as_integers(entries, exponent)) * power_of_two(2 * exponent) > Fraction(claimed) ** 2:
            return True
    return False


def _check_lower(certificate: Certificate, data: _Data) -> None:
    square = data.lower_square(certificate.vector or ())
    if square is None:
        raise _failure("separator", "some example is not strictly on its side")
    distance = geometric_margin(square, certificate.vector or (), certificate.problem)
    _claim(certificate.geometric_margin <= distance, "geometric_margin", f"it is {distance:.9g}")
    claimed = Fraction(certificate.margin.lower) ** 2
    _claim(claimed <= square, "margin.lower", "the separator does not have that margin")
    bound = bound_from_square(certificate.radius, square, certificate.problem)
    claimed_bound = certificate.mistake_bound
    _claim(claimed_bound is not None and claimed_bound >= bound, "mistake_bound", f"it is {bound:,}")


def _check_upper(certificate: Certificate, data: _Data) -> None:
    support = certificate.support
    if support is None or min(support.weights) <= 0:
        raise _failure("support", "it is missing, or a weight is not positive")
    if certificate.margin.upper == float("inf"):
        return
    square = upper_square(*_named(support, data), support.weights)
    _claim(Fraction(certificate.margin.upper) ** 2 >= square, "margin.upper", "the support does not prove it")


def _check_obstruction(certificate: Certificate, obstruction: Obstruction, data: _Data) -> None:
    points, numbers = _named(obstruction, data)
    _claim(vanishes(points, numbers, obstruction.weights), "obstruction", "it does not combine to 0 exactly")
    if certificate.verdict is Verdict.OVERLAPPING:
        _claim(data.spans_all(points, numbers), "verdict", "the obstruction does not span all examples")
    elif certificate.verdict is Verdict.QUASI_SEPARABLE:
        weak = certificate.weak_separator
        proved = weak is not None and data.weakly_separates(weak)
        _claim(proved, "weak_separator", "some example is on its wrong side, or all are on the plane")


def _check_divergences(certificate: Certificate, data: _Data) -> None:
    if certificate.divergences is None or certificate.verdict is Verdict.OVERLAPPING:
        return
    face = () if certificate.obstruction is None else certificate.obstruction.rows
    points, numbers = _rows_named(face, None, data)
    for place in places_that_vary(points, numbers):
        column = "intercept" if place == points.dimension - 1 else place
        listed = column in certificate.divergences
        _claim(listed, f"diverging[{certificate.name_of(column)!r}]", "it is left out, but some weak separator uses it")
    for column, divergence in certificate.divergences.items():
        place = points.dimension - 1 if column == "intercept" else column
        name = f"diverging[{certificate.name_of(column)!r}]"
        signs = {(witness[place] > 0) - (witness[place] < 0) for witness in divergence.witnesses}
        weak = all(data.weakly_separates(witness) for witness in divergence.witnesses)
        _claim(weak, name, "a witness does not separate weakly")
        if divergence.sign == "sign undetermined":
            _claim({-1, 1} <= signs, name, "the witnesses do not have both signs")
            continue
        sign = 1 if divergence.sign == "+inf" else -1
        _claim(signs == {sign}, name, "no witness has that sign")
        unit = [Fraction(0)] * points.dimension
        unit[place] = Fraction(sign * divergence.scale)
        proved = divergence.scale > 0 and _ends_in_span(divergence, unit, face, data)
        _claim(proved, name, "the other sign is not ruled out")


def _ends_in_span(divergence: Divergence, unit: Sequence[Fraction], face: tuple[int, ...], data: _Data) -> bool:
    points, numbers = _rows_named((*divergence.rows, *face), None, data)
    rows, face_numbers = np.split(numbers, [len(divergence.rows)])
    return ends_in_span(points, rows, divergence.weights, unit, face_numbers)


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


def _named(part: Support | Obstruction, data: _Data) -> tuple[Points, NDArray[np.int64]]:
    """Points, and which of them the rows (and rivals) of a part are."""
    return _rows_named(part.rows, part.rivals, data)


def _rows_named(rows: Sequence[int], rivals: Sequence[Any] | None, data: _Data) -> tuple[Points, NDArray[np.int64]]:
    if not all(0 <= row < data.n_rows for row in rows):
        raise CertificateError(f"the certificate names a row that is not among the {data.n_rows} rows of the data")
    return data.named(rows, rivals)


def _claim(holds: bool, name: str, why: str) -> None:
    if not holds:
        raise _failure(name, why)


def _failure(name: str, why: str) -> CertificateError:
    return CertificateError(f"the claim {name} is not true of these data: {why}")
