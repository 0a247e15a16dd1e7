"""From data and witnesses to a certificate: the rules for claims, and the only place where they are made.

`certify` ends here with what its search found, and `check` begins here with what a file contains. A witness that does
not prove its claim is an error, and so is one that no claim needs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.algebra import quotient
from novikoff.prove.exact.document import CertificateError, claim
from novikoff.prove.exact.floats import fraction_root_up, root_down
from novikoff.prove.exact.given_numbers import exact_matrix
from novikoff.prove.separable.certificate import Bracket, Certificate, Obstruction, Support, Witnesses
from novikoff.prove.separable.files import absent_margin
from novikoff.prove.separable.kesler import KeslerPoints, point_numbers
from novikoff.prove.separable.margin import radius_square
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import exact_sum, signs_of_products
from novikoff.prove.separable.proofs import Span, lower_square, spans_all, upper_square, vanishes
from novikoff.prove.separable.question import Problem, Verdict
from novikoff.prove.separable.subject import Subject, check_width, exact_labels, floor_of, names_of


class Data:
    """What proofs need of the examples that a certificate is about: here, from points in coordinates.

    Witnesses that do not fit the data raise `CertificateError`.
    """

    subject: Any
    radius_square: Any

    arithmetic: Any = "exact"
    # The witness that separates strictly, and that of other spaces.
    separator, other_separator = "vector", "coefficients"

    def all_points(self) -> Iterable[Points]:
        """One pass over all points, in blocks."""
        raise NotImplementedError

    def named(self, rows: Sequence[int], rivals: Sequence[Any] | None) -> tuple[Points, NDArray[np.int64]]:
        """Points, at least one, and the numbers among them of some rows, alone or against rivals."""
        raise NotImplementedError

    def label_of(self, rows: Sequence[int]) -> list[Any]:
        """The labels of some rows, as in the source."""
        raise NotImplementedError

    # -- facts --------------------------------------------------------------------------------------------------------

    def check_vector(self, vector: Sequence[int], name: str) -> None:
        """Check that a vector has one whole number per coordinate, and biases of 0 without an intercept."""
        dimension = folded_dimension(self.subject)
        if len(vector) != dimension:
            raise CertificateError(f"the {name} has {len(vector)} numbers, but the space has {dimension} dimensions")
        if any(vector[place] for place in places_of_no_bias(self.subject)):
            raise CertificateError(f"the {name} has a bias, but the question is about hyperplanes without an intercept")

    def margin_of(self, vector: Sequence[int]) -> tuple[float, int, float]:
        """The margin of a vector that separates, its mistake bound, and its geometric margin."""
        subject, lower = self.subject, self.lower_square(vector)
        if lower is None:
            raise CertificateError("the vector does not separate strictly")
        geometric = _geometric_margin(lower, vector) if subject.problem.has_one_plane else 0.0
        return root_down(lower), floor_of(self.radius_square * subject.factor / lower), geometric

    def lower_square(self, vector: Sequence[int]) -> Fraction | None:
        """The result of `proofs.lower_square` for all points."""
        smallest: Fraction | None = None
        vector = on_points(self.subject, vector)
        for points in self.all_points():
            square = lower_square(points, vector)
            if square is None:
                return None
            smallest = square if smallest is None else min(smallest, square)
        return smallest

    def margin_at_most(self, support: Support) -> float:
        """The upper bound of the margin that a convex combination of points gives."""
        return fraction_root_up(upper_square(*self.points_of(support, "support"), support.weights))

    def vanishes(self, obstruction: Obstruction) -> bool:
        """Whether some points, times their weights, add up to 0."""
        return vanishes(*self.points_of(obstruction, "obstruction"), obstruction.weights)

    def weakly_separates(self, vector: Sequence[int]) -> bool:
        """Whether no point is on the wrong side, and not all are on the hyperplane."""
        return self.side(vector) is True

    def side(self, vector: Sequence[int]) -> bool | None:
        """Whether some point is strictly on the right side of a vector; None if one is on the wrong side."""
        has_positive, vector = False, on_points(self.subject, vector)
        for points in self.all_points():
            signs = signs_of_products(points, vector)
            if signs.min() < 0:
                return None
            has_positive = has_positive or bool(signs.max() > 0)
        return has_positive

    def spanned_by(self, obstruction: Obstruction, clock: Clock) -> bool:
        """Whether the points of an obstruction span all others."""
        return self.lies_in(Span.of(*self.points_of(obstruction, "obstruction"), clock), clock)

    def lies_in(self, span: Span, clock: Clock = UNLIMITED) -> bool:
        """Whether all points lie in the span of some."""
        return all(span.has_all(some, clock) for some in self.all_points())

    def points_of(self, part: Support | Obstruction, name: str) -> tuple[Points, NDArray[np.int64]]:
        """The points of some rows (against some rivals), checked to be in the data, in order, and distinct."""
        subject, rows, rivals = self.subject, part.rows, part.rivals
        check_weighed(part, subject.n_rows, name)
        pairs: Sequence[Any] = rows
        if subject.problem.has_rivals:
            if rivals is None or len(rivals) != len(rows):
                raise CertificateError(f"the {name} must name a rival class for each of its rows")
            places = {(type(label), label): place for place, label in enumerate(subject.classes)}
            for row, label, rival in zip(rows, self.label_of(rows), rivals, strict=True):
                if (type(rival), rival) not in places or rival == label:
                    raise CertificateError(f"the {name} has the rival {rival!r} for row {row}, which is no other class")
            pairs = [(row, places[type(rival), rival]) for row, rival in zip(rows, rivals, strict=True)]
        elif rivals is not None:
            raise CertificateError(f"the {name} names rivals, but there are only two classes")
        if any(a >= b for a, b in pairwise(pairs)):
            raise CertificateError(f"the rows of the {name} must be strictly ascending")
        return self.named(rows, rivals)


@dataclass(frozen=True, eq=False)
class InMemory(Data):
    """Examples in memory."""

    labels: NDArray[Any]
    points: Points
    subject: Subject
    radius_square: Fraction

    @classmethod
    def of(cls, X: Any, y: ArrayLike, fit_intercept: bool) -> "InMemory":
        """Check rows and labels, and raise ValueError naming what is wrong."""
        rows = exact_matrix(X)
        check_width(int(rows.shape[1]), int(rows.nnz if hasattr(rows, "tocsr") else rows.size))
        labels, classes, places = exact_labels(y, rows.shape[0])
        subject = Subject(
            problem=Problem.of(len(classes)),
            fit_intercept=bool(fit_intercept),
            classes=classes,
            n_rows=int(rows.shape[0]),
            n_columns=int(rows.shape[1]),
            feature_names=names_of(X),
        ).of_rows(rows, places)
        if len(classes) == 2:
            points = Points(rows, np.where(places == 1, 1, -1).astype(np.int8), float(fit_intercept))
        else:
            points = KeslerPoints.of_places(rows, places, len(classes), fit_intercept)
        return cls(labels, points, subject, radius_square(rows, fit_intercept))

    def all_points(self) -> Iterable[Points]:
        return (self.points,)

    def named(self, rows: Sequence[int], rivals: Sequence[Any] | None) -> tuple[Points, NDArray[np.int64]]:
        return self.points, point_numbers(self.labels, rows, rivals)

    def label_of(self, rows: Sequence[int]) -> list[Any]:
        return list(self.labels[np.array(rows, dtype=np.int64)].tolist())


def folded_dimension(subject: Subject) -> int:
    """The length of a vector: weights and bias, for many classes those of every class in turn."""
    return (subject.n_columns + 1) * subject.problem.vectors(len(subject.classes))


def on_points(subject: Subject, vector: Sequence[int]) -> Sequence[int]:
    """A vector in the coordinates of `Points`: for Kesler's points, with a last 0 in the place of the constant."""
    return [*vector, 0] if subject.problem.has_rivals else vector


def off_points(subject: Subject, vector: Sequence[int]) -> Sequence[int]:
    """A vector from the coordinates of `Points`: for Kesler's points, without the place of the constant."""
    return vector[:-1] if subject.problem.has_rivals else vector


def conclude(data: Data, found: Witnesses, clock: Clock = UNLIMITED) -> Certificate:
    """The certificate that the witnesses prove; raises `CertificateError` if one of them fails or is not needed.

    Raises `OutOfTimeError` if time runs out for claims beyond the verdict of a separator or an obstruction.
    """
    _check_no_more(found, data.other_separator)
    if getattr(found, data.separator) is not None:
        _check_no_more(found, "obstruction", "weak_separator")
        return _separable(data, found)
    if found.obstruction is not None:
        _check_no_more(found, "support")
        return _not_separable(data, found, clock)
    _check_no_more(found, "weak_separator")
    if found.support is None:
        return make_certificate(data, found, Verdict.UNDECIDED, arithmetic="float64")
    return make_certificate(data, found, Verdict.UNDECIDED, Bracket(0.0, data.margin_at_most(found.support)))


def _check_no_more(found: Witnesses, *not_needed: str) -> None:
    for name in not_needed:
        if getattr(found, name) is not None:
            raise CertificateError(f"the witness {name} is not allowed for this verdict")


def make_certificate(
    data: Data, found: Witnesses, verdict: Verdict, margin: Bracket | None = None, **claims: Any
) -> Certificate:
    """Assemble the data, the claims that follow from the witnesses, and the witnesses."""
    if verdict is not Verdict.OVERLAPPING:
        found = found.without_span()
    elif found.obstruction is not None:
        found = replace(found, obstruction=found.obstruction._replace(spans=True))
    return Certificate(
        verdict=verdict,
        margin=absent_margin(verdict) if margin is None else margin,
        radius=fraction_root_up(data.radius_square),
        witnesses=found,
        **vars(data.subject),
        **{"arithmetic": "exact", "geometric_margin": 0.0, "mistake_bound": None, **claims},
    )


def check_weighed(part: Support | Obstruction, n_rows: int, name: str) -> None:
    """Check that a part names rows of the data, at least one, each with a positive weight."""
    if not all(type(row) is int and 0 <= row < n_rows for row in part.rows):
        raise CertificateError(f"the {name} names a row that is not among the {n_rows} rows of the data")
    if len(part.weights) != len(part.rows) or not part.rows or not min(part.weights) > 0:
        raise CertificateError(f"the {name} must have a positive weight for each of its rows, and at least one row")


def _separable(data: Data, found: Witnesses) -> Certificate:
    vector = getattr(found, data.separator)
    data.check_vector(vector, data.separator)
    if found.support is None:
        raise CertificateError("the claim margin_at_most is not true of these data: there is no support to prove it")
    lower, bound, geometric = data.margin_of(vector)
    upper = data.margin_at_most(found.support)
    if lower > upper:
        raise CertificateError("this is not a valid kernel matrix: it is not positive semidefinite")
    return make_certificate(
        data,
        found,
        Verdict.SEPARABLE,
        Bracket(lower, upper),
        arithmetic=data.arithmetic,
        geometric_margin=geometric,
        mistake_bound=bound,
    )


def _not_separable(data: Data, found: Witnesses, clock: Clock) -> Certificate:
    obstruction, weak = found.obstruction, found.weak_separator
    assert obstruction is not None
    cancels = data.vanishes(obstruction)
    claim(cancels, "verdict", "the points of the obstruction, times their weights, do not add up to 0")
    if weak is not None:
        data.check_vector(weak, "weak_separator")
        separates = data.weakly_separates(weak)
        claim(separates, "verdict", "the weak separator has some example on its wrong side, or all of them on it")
        return make_certificate(data, found, Verdict.QUASI_SEPARABLE)
    if not found.spans:
        return make_certificate(data, found, Verdict.NOT_SEPARABLE)
    claim(data.spanned_by(obstruction, clock), "verdict", "the obstruction does not span all examples")
    return make_certificate(data, found, Verdict.OVERLAPPING)


def _geometric_margin(lower: Fraction, vector: Sequence[int]) -> float:
    """The margin in the original space: the same smallest score over ||w|| without the bias."""
    square = sum(v * v for v in vector[:-1])
    if not square:
        return 0.0
    return root_down(quotient(lower.numerator * (square + vector[-1] ** 2), lower.denominator * square))


def places_of_no_bias(subject: Subject) -> range:
    """The places of the biases in a vector, which must be 0; none with an intercept."""
    last = 0 if subject.fit_intercept else folded_dimension(subject)
    return range(subject.n_columns, last, subject.n_columns + 1)


# -- a run as a certificate -------------------------------------------------------------------------------------------


def certificate_from_mistakes(X: Any, y: ArrayLike, rows: ArrayLike, fit_intercept: bool) -> Certificate:
    """See `Certificate.from_mistakes`."""
    data = InMemory.of(X, y, fit_intercept)
    if not data.subject.problem.has_one_plane:
        raise ValueError(f"y has {len(data.subject.classes)} classes; a run is a certificate for two")
    made, counts = np.unique(np.asarray(rows, dtype=np.int64), return_counts=True)
    if len(made) == 0:
        raise ValueError("a run without mistakes has weights 0 and proves nothing")
    if made[0] < 0 or made[-1] >= len(data.labels):
        raise ValueError(f"a mistake was made on row {made[0] if made[0] < 0 else made[-1]}, which X does not have")
    vector, _ = exact_sum(data.points, made, counts.tolist())
    if not any(vector):
        obstruction = Obstruction(tuple(made.tolist()), tuple(counts.tolist()), spans_all(data.points, made))
        return conclude(data, Witnesses(obstruction=obstruction))
    support = Support(tuple(made.tolist()), tuple((counts / counts.sum()).tolist()))
    separates = lower_square(data.points, vector) is not None
    return conclude(data, Witnesses(vector=tuple(vector) if separates else None, support=support))
