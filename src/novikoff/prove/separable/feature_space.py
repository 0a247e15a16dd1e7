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
from novikoff.prove.separable.certificate import Certificate, Obstruction, Support, Witnesses
from novikoff.prove.separable.conclude import Data, check_weighed, conclude, make_certificate
from novikoff.prove.separable.kernels import ExactKernel, Interval, Products
from novikoff.prove.separable.proofs import as_whole_floats
from novikoff.prove.separable.question import Problem, Verdict
from novikoff.prove.separable.subject import (
    Subject,
    Table,
    check_not_rounded,
    exact_labels,
    floor_of,
    names_of,
)

# Bits of balls, increased until the claimed float is certain; after the last, it is rounded to the safe side.
# The nearest distinct floats differ by 2^-3222 under a kernel, which 8192 bits distinguish.
PRECISIONS = (128, 256, 512, 1024, 2048, 4096, 8192)


@dataclass(frozen=True, eq=False)
class InFeatureSpace(Data):
    """Examples of two classes in the feature space of a kernel."""

    products: Products
    subject: Subject

    separator, other_separator = "coefficients", "vector"

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
        subject = Subject(
            problem=Problem.KERNEL,
            fit_intercept=bool(fit_intercept),
            classes=classes,
            n_rows=int(rows.shape[0]),
            n_columns=int(rows.shape[1]),
            feature_names=names,
            table=table,
            kernel=kernel,
        ).of_rows(rows, places)
        signs = np.where(places == 1, 1, -1).astype(np.int8)
        return cls(Products(kernel, rows, signs, int(fit_intercept), clock), subject)

    @property
    def everything(self) -> range:
        return range(self.products.n_points)

    @property
    def radius_square(self) -> Fraction:
        return self.products.radius_square

    @property
    def arithmetic(self) -> str:
        return "exact" if self.products.kernel.is_rational else "balls"

    @property
    def contradicted(self) -> list[bool]:
        """Which rows are equal to one with the other label."""
        first_equals, signs = self.products.first_equals, self.products.signs.tolist()
        seen = {(first, sign) for first, sign in zip(first_equals, signs, strict=True)}
        return [(first, -sign) in seen for first, sign in zip(first_equals, signs, strict=True)]

    # -- facts --------------------------------------------------------------------------------------------------------

    def check_vector(self, vector: Sequence[int], name: str) -> None:
        if len(vector) != self.products.n_points:
            raise CertificateError(f"the {name} must be one number for each of the {self.products.n_points} rows")

    def margin_of(self, vector: Sequence[int]) -> tuple[float, int, float]:
        def margin_and_bound(square: Fraction) -> tuple[float, int, float]:
            return root_down(square), floor_of(self.radius_square / square), 0.0

        found: tuple[float, int, float] = _settled(lambda bits: self._lower_square(vector, bits), margin_and_bound, 0)
        return found

    def _lower_square(self, coefficients: Sequence[int], bits: int) -> Interval | None:
        """min_i <z_i, w>^2 / ||w||^2, if every product is positive; None if these bits do not decide it."""
        scores = self._scores(coefficients, bits)
        low, high = min(score[0] for score in scores), min(score[1] for score in scores)
        if high <= 0 or (low <= 0 and bits == PRECISIONS[-1]):
            raise CertificateError("the coefficients do not separate strictly")
        used = [j for j, value in enumerate(coefficients) if value]
        square = self.products.square(used, [coefficients[j] for j in used], bits)
        if square[1] <= 0 or (square[0] <= 0 and bits == PRECISIONS[-1]):
            raise CertificateError("this is not a valid kernel matrix: the length of a combination is not positive")
        return (low**2 / square[1], high**2 / square[0]) if low > 0 and square[0] > 0 else None

    def _scores(self, coefficients: Sequence[int], bits: int = 0) -> list[Interval]:
        """The products of a combination with every point; with 0 bits for a rational kernel."""
        used = [j for j, value in enumerate(coefficients) if value]
        return self.products.combination(self.everything, used, [coefficients[j] for j in used], bits)

    def margin_at_most(self, support: Support) -> float:
        self.check_part(support, "support")
        whole = as_whole_floats(support.weights)
        total = sum(whole) ** 2

        def square(bits: int) -> Interval:
            low, high = self.products.square(support.rows, whole, bits)
            if high < 0:
                raise CertificateError(
                    "this is not a valid kernel matrix: the squared length of a combination is negative"
                )
            return max(low, Fraction(0)) / total, high / total

        found: float = _settled(square, fraction_root_up, 1)
        return found

    def vanishes(self, obstruction: Obstruction) -> bool:
        self.check_part(obstruction, "obstruction")
        sums = self.products.combination(self.everything, obstruction.rows, obstruction.weights, bits=0)
        return not any(low for low, _ in sums)

    def side(self, vector: Sequence[int]) -> bool | None:
        scores = [low for low, _ in self._scores(vector)]
        return None if min(scores) < 0 else max(scores) > 0

    def spanned_by(self, obstruction: Obstruction, clock: Clock) -> bool:
        everything = list(self.everything)
        whole = self.products.whole(everything, everything)
        return spans([whole[row] for row in obstruction.rows], whole, self.products.clock)

    def check_part(self, part: Support | Obstruction, name: str) -> None:
        check_weighed(part, self.products.n_points, name)
        if part.rivals is not None or any(a >= b for a, b in pairwise(part.rows)):
            raise CertificateError(f"the rows of the {name} must be strictly ascending, and have no rivals")


def _settled(compute: Callable[[int], Interval | None], rounded: Callable[[Fraction], Any], safe_end: int) -> Any:
    """What both ends of an interval round to, with as many bits as necessary; else that of the safe end."""
    safe = None
    for bits in PRECISIONS:
        interval = compute(bits)
        if interval is not None:
            ends = [rounded(end) for end in interval]
            safe = ends[safe_end]
            if ends[0] == ends[1]:
                break
    return safe


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
    """The certificate that the witnesses prove; raises `CertificateError` if one of them fails or is not needed.

    For the Gaussian and the Laplacian kernel, equal points with different labels decide; margins need coefficients and
    a support.
    """
    if data.products.kernel.is_rational:
        return conclude(data, found)
    claim(found.weak_separator is None, "weak_separator", "the theorem makes it unnecessary")
    contradicted, obstruction = data.contradicted, found.obstruction
    if not any(contradicted):
        claim(obstruction is None, "obstruction", "no two equal points have different labels")
        if found.coefficients is not None:
            return conclude(data, found)
        claim(found.support is None, "support", "without coefficients it is not needed")
        return make_certificate(data, found, Verdict.SEPARABLE)
    claim(found.coefficients is None and found.support is None, "verdict", "equal points have different labels")
    if obstruction is None:
        raise CertificateError("the obstruction is missing: equal points have different labels")
    data.check_part(obstruction, "obstruction")
    balance: dict[int, int] = {}
    for row, weight in zip(obstruction.rows, obstruction.weights, strict=True):
        first = data.products.first_equals[row]
        balance[first] = balance.get(first, 0) + weight * int(data.products.signs[row])
    claim(not any(balance.values()), "obstruction", "its rows are not equal points whose labels cancel")
    verdict = Verdict.OVERLAPPING if all(contradicted) else Verdict.QUASI_SEPARABLE
    return make_certificate(data, found, verdict)
