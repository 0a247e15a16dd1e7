"""Certificates in the feature space of a kernel: the rules for what witnesses prove there.

A separator is a combination of the points, w = sum a_j z_j, and its products with them are sums of kernel values. So
the matrix G of the products <z_i, z_j> suffices:

- the coefficients a separate if G a is positive in every row; then ||w||^2 = a.G a;
- weights l > 0 of some rows rule out every separator if G l = 0 (then ||sum l z||^2 = l.G l = 0);
- these rule out weak separators, too, if their rows of G span all rows of G.

For the Gaussian and the Laplacian kernel there is a theorem: the images of distinct points are linearly independent
(Micchelli 1986; Schoenberg 1938), so distinct points are separable with any labels. Equal points with different labels
are the only obstruction; they lie on every weak separator, while all others can be strictly on their own side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Examples
from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.algebra import spans
from novikoff.prove.exact.document import CertificateError, claim
from novikoff.prove.exact.floats import fraction_root_up, root_down
from novikoff.prove.exact.given_numbers import exact_matrix
from novikoff.prove.separable.certificate import Bracket, Certificate, Obstruction, Support, Witnesses
from novikoff.prove.separable.conclude import check_weighed, make_certificate
from novikoff.prove.separable.kernels import ExactKernel, Interval, Products
from novikoff.prove.separable.proofs import as_whole_floats
from novikoff.prove.separable.question import Problem, Verdict
from novikoff.prove.separable.subject import (
    Subject,
    Table,
    check_not_rounded,
    exact_labels,
    fingerprinted,
    floor_of,
    names_of,
)

# Bits of balls, increased until the claimed float is certain; after the last, it is rounded to the safe side.
# The nearest distinct floats differ by 2^-3222 under a kernel, which 8192 bits distinguish.
PRECISIONS = (128, 256, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True, eq=False)
class InFeatureSpace:
    """Examples of two classes in the feature space of a kernel."""

    products: Products
    subject: Subject

    @classmethod
    def of(
        cls, X: Any, y: ArrayLike | None, kernel: ExactKernel, fit_intercept: bool, clock: Clock = UNLIMITED
    ) -> "InFeatureSpace":
        """Check examples, or the matrix of a kernel, and raise ValueError naming what is wrong.

        `Examples` contain their labels, and are read into memory. Proofs about them raise OutOfTimeError if time runs
        out.
        """
        names, table = None if kernel.form == "precomputed" else names_of(X), None
        if isinstance(X, Examples):
            check_not_rounded(X.rounded)
            if X.encoding is not None:
                names, table = X.encoding.feature_names, Table(X.label, X.encoding)
            X, y = X.in_one_piece()
        given = exact_matrix(X)
        rows = np.asarray(given.toarray() if hasattr(given, "tocsr") else given, dtype=np.float64)
        if kernel.form == "precomputed":
            rows = symmetric(rows)
        _, classes, places = exact_labels(() if y is None else y, rows.shape[0])
        if len(classes) != 2:
            raise ValueError(f"y has {len(classes)} classes; with a kernel ask for one against the rest, y == label")
        about: dict[str, Any] = {
            "problem": Problem.KERNEL,
            "fit_intercept": bool(fit_intercept),
            "classes": classes,
            "n_rows": int(rows.shape[0]),
            "n_columns": int(rows.shape[1]),
            "feature_names": names,
            "table": table,
            "kernel": kernel,
        }
        subject = fingerprinted(rows, places, **about)
        signs = np.where(places == 1, 1, -1).astype(np.int8)
        return cls(Products(kernel, rows, signs, int(fit_intercept), clock), subject)

    @property
    def everything(self) -> range:
        return range(self.products.n_points)

    def scores(self, coefficients: Sequence[int], bits: int) -> list[Interval]:
        """The products of a combination with every point."""
        used = [j for j, value in enumerate(coefficients) if value]
        return self.products.combination(self.everything, used, [coefficients[j] for j in used], bits)

    @property
    def contradicted(self) -> list[bool]:
        """Which rows are equal to one with the other label."""
        first_equals, signs = self.products.first_equals, self.products.signs.tolist()
        seen = {(first, sign) for first, sign in zip(first_equals, signs, strict=True)}
        return [(first, -sign) in seen for first, sign in zip(first_equals, signs, strict=True)]


def symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """(K + K^T)/2; raises ValueError if K is not symmetric up to rounding."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a kernel matrix has as many columns as rows; this one has the shape {matrix.shape}")
    scale = float(np.abs(matrix).max(initial=0.0))
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12 * scale):
        row, column = (int(i) for i in np.unravel_index(int(np.argmax(np.abs(matrix - matrix.T))), matrix.shape))
        raise ValueError(f"the kernel matrix is not symmetric: row {row}, column {column} differs from its mirror")
    if matrix.diagonal().min(initial=0.0) < 0:
        row = int(np.argmin(matrix.diagonal()))
        raise ValueError(f"K(x, x) is negative for row {row}: the kernel is not positive semidefinite")
    return matrix if np.array_equal(matrix, matrix.T) else matrix / 2 + matrix.T / 2


# -- the rules --------------------------------------------------------------------------------------------------------


def conclude_kernel(data: InFeatureSpace, found: Witnesses) -> Certificate:
    """The certificate that the witnesses prove; raises `CertificateError` if one of them fails or is not needed."""
    claim(found.vector is None, "vector", "there are no columns in feature space")
    if not data.products.kernel.is_rational:
        return _by_theorem(data, found)
    if found.coefficients is not None:
        return _separable(data, found)
    if found.obstruction is not None:
        return _not_separable(data, found)
    claim(found.weak_separator is None, "weak_separator", "without an obstruction it is not needed")
    if found.support is None:
        return _certificate(data, found, Verdict.UNDECIDED, arithmetic="float64")
    upper = _settled(lambda bits: _upper_square(data, found.support, bits), fraction_root_up, up=True)
    return _certificate(data, found, Verdict.UNDECIDED, Bracket(0.0, upper))


def _by_theorem(data: InFeatureSpace, found: Witnesses) -> Certificate:
    """Gaussian and Laplacian: equal points with different labels decide. Margins need coefficients and a support."""
    claim(found.weak_separator is None, "weak_separator", "the theorem makes it unnecessary")
    contradicted = data.contradicted
    if not any(contradicted):
        claim(found.obstruction is None, "obstruction", "no two equal points have different labels")
        return _separable(data, found) if found.coefficients is not None else _without_margin(data, found)
    claim(found.coefficients is None and found.support is None, "verdict", "equal points have different labels")
    obstruction = found.obstruction
    if obstruction is None:
        raise CertificateError("the obstruction is missing: equal points have different labels")
    _check_part(data, obstruction, "obstruction")
    balance: dict[int, int] = {}
    for row, weight in zip(obstruction.rows, obstruction.weights, strict=True):
        first = data.products.first_equals[row]
        balance[first] = balance.get(first, 0) + weight * int(data.products.signs[row])
    claim(not any(balance.values()), "obstruction", "its rows are not equal points whose labels cancel")
    verdict = Verdict.OVERLAPPING if all(contradicted) else Verdict.QUASI_SEPARABLE
    return _certificate(data, found, verdict)


def _without_margin(data: InFeatureSpace, found: Witnesses) -> Certificate:
    claim(found.support is None, "support", "without coefficients it is not needed")
    return _certificate(data, found, Verdict.SEPARABLE)


def _separable(data: InFeatureSpace, found: Witnesses) -> Certificate:
    for name, value in (("obstruction", found.obstruction), ("weak_separator", found.weak_separator)):
        claim(value is None, name, "for this verdict it is not needed")
    claim(found.support is not None, "margin_at_most", "there is no support to prove it")
    coefficients = found.coefficients or ()
    _check_coefficients(data, coefficients, "coefficients")

    def both(square: Fraction) -> tuple[float, int]:
        return root_down(square), floor_of(radius_square / square)

    radius_square = data.products.radius_square
    lower, bound = _settled(lambda bits: _lower_square(data, coefficients, bits), both, up=False)
    upper = _settled(lambda bits: _upper_square(data, found.support, bits), fraction_root_up, up=True)
    if lower > upper:
        raise CertificateError("this is not a valid kernel matrix: it is not positive semidefinite")
    is_exact = data.products.kernel.is_rational
    return _certificate(
        data,
        found,
        Verdict.SEPARABLE,
        Bracket(lower, upper),
        arithmetic="exact" if is_exact else "balls",
        mistake_bound=bound,
    )


def _lower_square(data: InFeatureSpace, coefficients: Sequence[int], bits: int) -> Interval | None:
    """min_i <z_i, w>^2 / ||w||^2, if every product is positive; None if these bits do not decide it."""
    scores = data.scores(coefficients, bits)
    low, high = min(score[0] for score in scores), min(score[1] for score in scores)
    if high <= 0 or (low <= 0 and bits == PRECISIONS[-1]):
        raise CertificateError("the coefficients do not separate strictly")
    used = [j for j, value in enumerate(coefficients) if value]
    square = data.products.square(used, [coefficients[j] for j in used], bits)
    if square[1] <= 0 or (square[0] <= 0 and bits == PRECISIONS[-1]):
        raise CertificateError("this is not a valid kernel matrix: the length of a combination is not positive")
    return Interval.of(low**2 / square[1], high**2 / square[0]) if low > 0 and square[0] > 0 else None


def _upper_square(data: InFeatureSpace, support: Support | None, bits: int) -> Interval:
    """The squared length of a convex combination of the points."""
    assert support is not None
    _check_part(data, support, "support")
    whole = as_whole_floats(support.weights)
    low, high = data.products.square(support.rows, whole, bits)
    if high < 0:
        raise CertificateError("this is not a valid kernel matrix: the squared length of a combination is negative")
    total = sum(whole) ** 2
    return Interval.of(max(low, Fraction(0)) / total, max(high, Fraction(0)) / total)


def _settled(compute: Callable[[int], Interval | None], rounded: Callable[[Fraction], Any], *, up: bool) -> Any:
    """The float that both ends of an interval round to, with as many bits as necessary; else that of the safe end."""
    safe = None
    for bits in PRECISIONS:
        interval = compute(bits)
        if interval is not None:
            low, high = (rounded(end) for end in interval)
            safe = high if up else low
            if low == high:
                break
    return safe


def _not_separable(data: InFeatureSpace, found: Witnesses) -> Certificate:
    obstruction = found.obstruction
    assert obstruction is not None
    claim(found.support is None, "support", "for this verdict it is not needed")
    _check_part(data, obstruction, "obstruction")
    sums = data.products.combination(data.everything, obstruction.rows, obstruction.weights, bits=0)
    claim(not any(low for low, _ in sums), "verdict", "the obstruction, times its weights, does not add up to 0")
    if found.weak_separator is not None:
        _check_coefficients(data, found.weak_separator, "weak_separator")
        scores = [low for low, _ in data.scores(found.weak_separator, bits=0)]
        weak = min(scores) >= 0 and max(scores) > 0
        claim(weak, "verdict", "the weak separator has some example on its wrong side, or all of them on it")
        return _certificate(data, found, Verdict.QUASI_SEPARABLE)
    if not found.spans:
        return _certificate(data, found, Verdict.NOT_SEPARABLE)
    everything = list(data.everything)
    whole = data.products.whole(everything, everything)
    claim(
        spans([whole[row] for row in obstruction.rows], whole, data.products.clock),
        "verdict",
        "the obstruction does not span all examples",
    )
    return _certificate(data, found, Verdict.OVERLAPPING)


def _certificate(
    data: InFeatureSpace, found: Witnesses, verdict: Verdict, margin: Bracket | None = None, **claims: Any
) -> Certificate:
    return make_certificate(data.subject, data.products.radius_square, found, verdict, margin, **claims)


def _check_coefficients(data: InFeatureSpace, coefficients: Sequence[int], name: str) -> None:
    if len(coefficients) != data.products.n_points:
        raise CertificateError(f"the {name} must be one number for each of the {data.products.n_points} rows")


def _check_part(data: InFeatureSpace, part: Support | Obstruction, name: str) -> None:
    check_weighed(part, data.products.n_points, name)
    if part.rivals is not None or any(a >= b for a, b in pairwise(part.rows)):
        raise CertificateError(f"the rows of the {name} must be strictly ascending, and have no rivals")
