"""A ball that contains one class and excludes the other, or the proof that there is none: checked by definition.

The checks use fractions and no search. Labels are all strings, all numbers or all booleans.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.exact.algebra import quotient
from novikoff.prove.exact.codec import Label, plain_label
from novikoff.prove.exact.document import CertificateError, claim, numbers_sha256, read_proof
from novikoff.prove.exact.floats import nearest_float, root_down
from novikoff.prove.exact.given_numbers import Floats, exact_floats, matrix_of_examples
from novikoff.prove.exact.proof import Proof, check_rows, field_of, same
from novikoff.prove.separable.subject import exact_labels


class Labelled(NamedTuple):
    """Examples as a proof uses them: points, one label for each, and the two labels in order."""

    points: Floats
    labels: list[Label]
    classes: tuple[Label, Label]

    @classmethod
    def of(cls, X: Any, y: Any) -> "Labelled":
        points = matrix_of_examples(exact_floats(X, "X"))
        _, found, places = exact_labels(y, len(points))
        if len(found) != 2:
            raise ValueError(f"y has {len(found)} classes; a ball tells two apart")
        first, second = map(plain_label, found)
        return cls(points, [second if place else first for place in places.tolist()], (first, second))


class BallData(NamedTuple):
    """The examples that an answer is about: their shape, the fingerprint of numbers and labels, and the two labels."""

    rows: int
    columns: int
    sha256: str
    classes: tuple[Label, Label]

    @classmethod
    def of(cls, examples: Labelled) -> "BallData":
        points = examples.points
        fingerprint = numbers_sha256("ball", points.shape, [points], examples.labels)
        return cls(*points.shape, fingerprint, examples.classes)  # type: ignore[call-arg]


class BallClaims(NamedTuple):
    """Whether a ball contains the class `inside` and excludes the other."""

    ball: bool
    inside: Label


class BallWitnesses(NamedTuple):
    """The ball: what is inside has at most this squared distance to the center, and nothing else has."""

    center: tuple[Fraction, ...]
    radius_square: Fraction


class NoBallWitnesses(NamedTuple):
    """Rows that rule a ball out; see `NoBall`."""

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    lift_weight: Fraction


@dataclass(frozen=True, eq=False)
class _BallProof(Proof):
    """What is proved about two classes of examples."""

    about: BallData | None
    claims: BallClaims

    KIND = "ball"
    inside = field_of("claims", "inside")

    def __bool__(self) -> bool:
        return self.claims.ball

    def check(self, X: Any, y: Any) -> None:
        """Prove it again from the examples; raise `CertificateError` if it does not hold."""
        examples, claimed = Labelled.of(X, y), self.well_formed()
        if not any(same(claimed.inside, label) for label in examples.classes):
            raise CertificateError(f"the class inside, {claimed.inside!r:.60}, is not one of the two labels")
        claimed.check_claims(BallData.of(examples), lambda witnesses: claimed.conclude(examples, witnesses))

    def conclude(self, examples: Labelled, witnesses: Any) -> BallClaims:
        """Return the claims that follow from the witnesses; raise `CertificateError` if there are none."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Ball(_BallProof):
    """A ball with every example of the class `inside` in it, and no other: proved exactly.

    `center` are the nearest floats and `radius` is rounded down; `exact_center` and `exact_radius_square` are the ball
    of the proof.

    >>> ball = Ball.of([Fraction(1), Fraction(2)], Fraction(25), "red")
    >>> ball.contains([[4.0, 6.0], [9.0, 9.0]]).tolist()
    [True, False]
    """

    witnesses: BallWitnesses

    exact_center = field_of("witnesses", "center")
    exact_radius_square = field_of("witnesses", "radius_square")

    @classmethod
    def of(
        cls, center: Sequence[Fraction], radius_square: Fraction, inside: Any, about: BallData | None = None
    ) -> "Ball":
        return cls(about, BallClaims(True, inside), BallWitnesses(tuple(center), radius_square))

    @cached_property
    def center(self) -> Floats:
        return np.array([nearest_float(value) for value in self.exact_center])

    @cached_property
    def radius(self) -> float:
        return root_down(self.exact_radius_square)

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return which points lie in the ball or on its surface; exactly, since floats are rationals."""
        points = exact_floats(X, "X")
        if points.ndim != 2 or points.shape[1] != len(self.exact_center):
            raise ValueError(f"X has shape {points.shape}; the points have {len(self.exact_center)} coordinates")
        return np.array(
            [d <= self.exact_radius_square for d in distance_squares(points, self.exact_center)], dtype=bool
        )

    def __str__(self) -> str:
        center = ", ".join(f"{value:.6g}" for value in self.center)
        return f"The ball around ({center}) with radius {self.radius:.6g} holds every {self.inside!r} and nothing else."

    def conclude(self, examples: Labelled, witnesses: BallWitnesses) -> BallClaims:
        claim(len(witnesses.center) == examples.points.shape[1], "ball", "its center is a point of another space")
        distances = distance_squares(examples.points, witnesses.center)
        for i, (label, distance) in enumerate(zip(examples.labels, distances, strict=True)):
            is_in = distance <= witnesses.radius_square
            where = "in" if is_in else "outside of"
            claim(is_in == (label == self.inside), "ball", f"row {i}, which is {label!r}, lies {where} the ball")
        return BallClaims(True, self.inside)


@dataclass(frozen=True, eq=False)
class NoBall(_BallProof):
    """No ball contains the class `inside` and excludes the other: the lifted points cancel.

    The `rows`, lifted to (x, ||x||^2, 1), each times its label (-1 inside, +1 outside) and its positive weight, sum to
    -`lift_weight` times the unit vector along ||x||^2. A hyperplane with a positive coefficient there would have a
    positive product with the left side and a negative one with the right.
    """

    witnesses: NoBallWitnesses

    rows, weights = field_of("witnesses", "rows"), field_of("witnesses", "weights")
    lift_weight = field_of("witnesses", "lift_weight")

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows))
        return f"No ball holds every {self.inside!r} and nothing else: rows {rows} rule it out."

    def conclude(self, examples: Labelled, witnesses: NoBallWitnesses) -> BallClaims:
        n, d = examples.points.shape
        rows, weights, lift_weight = witnesses
        check_rows(rows, weights, n)
        claim(min(weights, default=0) > 0 and lift_weight >= 0, "no ball", "there are no weights, or not positive ones")
        total = [Fraction(0)] * (d + 2)
        for row, weight in zip(rows, weights, strict=True):
            x = [Fraction(value) for value in examples.points[row].tolist()]
            signed = -weight if examples.labels[row] == self.inside else weight
            lifted = [*x, sum((v * v for v in x), Fraction(0)), Fraction(1)]
            total = [partial + signed * value for partial, value in zip(total, lifted, strict=True)]
        wanted = [Fraction(0)] * d + [-lift_weight, Fraction(0)]
        claim(total == wanted, "no ball", "the lifted rows, times their weights, do not cancel")
        return BallClaims(False, self.inside)


def read_ball(text: str | bytes) -> Ball | NoBall:
    """Parse a proof of the kind `ball`: that there is one, or that there is none."""
    return Ball.from_json(text) if read_proof(text, "ball").part("claims").flag("ball") else NoBall.from_json(text)


def distance_squares(points: Floats, center: Sequence[Fraction]) -> Iterator[Fraction]:
    """Yield the squared distance of every point to the centre, exactly."""
    from flint import fmpq

    exact = [fmpq(c.numerator, c.denominator) for c in center]
    for x in points.tolist():
        gaps = (fmpq(*v.as_integer_ratio()) - c for v, c in zip(x, exact, strict=True))
        square = sum((gap * gap for gap in gaps), fmpq(0))
        yield quotient(int(square.p), int(square.q))
