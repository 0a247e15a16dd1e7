"""A ball that contains one class and excludes the other, or the proof that there is none: checked by definition.

The checks use fractions and no search. Labels are all strings, all numbers or all booleans.
"""

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import up
from novikoff.prove.exact.algebra import quotient
from novikoff.prove.exact.codec import Label, read_part, read_value, written_part
from novikoff.prove.exact.document import (
    CertificateError,
    ProofFields,
    check_fractions,
    claim,
    numbers_sha256,
    read_parts,
    written,
)
from novikoff.prove.exact.floats import nearest_float, root_down
from novikoff.prove.exact.given_numbers import Floats, exact_floats, matrix_of_examples


class Labelled(NamedTuple):
    """Examples as a proof uses them: points, one label for each, and the two labels in order."""

    points: Floats
    labels: list[Label]
    classes: tuple[Label, Label]

    @classmethod
    def of(cls, X: Any, y: Any) -> "Labelled":
        points = matrix_of_examples(exact_floats(X, "X"))
        labels = read_labels(y)
        if len(labels) != len(points):
            raise ValueError(f"y has {len(labels)} labels, but X has {len(points)} rows: one label per row is required")
        classes = sorted(set(labels))
        if len(classes) != 2:
            raise ValueError(f"y has {len(classes)} classes; a ball tells two apart")
        return cls(points, labels, (classes[0], classes[1]))

    def fingerprint(self) -> str:
        return numbers_sha256("ball", self.points.shape, [self.points], self.labels)


class BallData(NamedTuple):
    """The examples that an answer is about: their shape, the fingerprint of numbers and labels, and the two labels."""

    rows: int
    columns: int
    sha256: str
    classes: tuple[Label, Label]

    @classmethod
    def of(cls, examples: Labelled) -> "BallData":
        rows, columns = examples.points.shape
        return cls(rows, columns, examples.fingerprint(), examples.classes)


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball with every example of the class `inside` in it, and no other: proved exactly.

    `center` and `radius` are the nearest floats; `exact_center` and `exact_radius_square` are the ball of the proof.

    >>> ball = Ball.of([Fraction(1), Fraction(2)], Fraction(25), "red")
    >>> ball.contains([[4.0, 6.0], [9.0, 9.0]]).tolist()
    [True, False]
    """

    center: Floats
    radius: float
    inside: Any
    exact_center: tuple[Fraction, ...]
    exact_radius_square: Fraction
    about: BallData | None = None

    @classmethod
    def of(
        cls, center: Sequence[Fraction], radius_square: Fraction, inside: Any, about: BallData | None = None
    ) -> "Ball":
        floats = np.array([nearest_float(value) for value in center])
        return cls(floats, nearest_root(radius_square), inside, tuple(center), radius_square, about)

    def contains(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return which points lie in the ball or on its surface; exactly, since floats are rationals."""
        points = exact_floats(X, "X")
        if points.ndim != 2 or points.shape[1] != len(self.exact_center):
            raise ValueError(f"X has shape {points.shape}; the points have {len(self.exact_center)} coordinates")
        return np.array(
            [d <= self.exact_radius_square for d in distance_squares(points, self.exact_center)], dtype=bool
        )

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        center = ", ".join(f"{value:.6g}" for value in self.center)
        return f"The ball around ({center}) with radius {self.radius:.6g} holds every {self.inside!r} and nothing else."

    def check(self, X: Any, y: Any) -> None:
        """Prove it again from the examples; raise `CertificateError` if it does not hold."""
        examples = _same_examples(X, y, self.about, self.inside)
        check_fractions("center", self.exact_center, examples.points.shape[1])
        check_fractions("radius_square", (self.exact_radius_square,), 1)
        distances = distance_squares(examples.points, self.exact_center)
        for i, (label, distance) in enumerate(zip(examples.labels, distances, strict=True)):
            is_in = distance <= self.exact_radius_square
            where = "in" if is_in else "outside of"
            claim(is_in == (label == self.inside), "ball", f"row {i}, which is {label!r}, lies {where} the ball")
        derived = Ball.of(self.exact_center, self.exact_radius_square, self.inside)
        claim(np.array_equal(self.center, derived.center), "center", "these are not the nearest floats")
        claim(self.radius == derived.radius, "radius", "this is not the nearest float")

    def to_json(self) -> str:
        """Return the claims with their proof; see `docs/certificates.md`."""
        witnesses = written_part(_BallProof(self.exact_center, self.exact_radius_square))
        return _written(True, self.inside, self.about, witnesses)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Ball":
        """Parse what `to_json` wrote; raise `CertificateError` for anything else."""
        about, inside, witnesses = _read(text, True)
        return cls.of(*read_part(witnesses, _BallProof), inside, about)


@dataclass(frozen=True)
class NoBall:
    """No ball contains the class `inside` and excludes the other: the lifted points cancel.

    The rows, lifted to (x, ||x||^2, 1), each times its label (-1 inside, +1 outside) and its positive weight, sum to
    -`lift_weight` times the unit vector along ||x||^2. A hyperplane with a positive coefficient there would have a
    positive product with the left side and a negative one with the right.
    """

    inside: Any
    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    lift_weight: Fraction
    about: BallData | None = None

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        rows = ", ".join(map(str, self.rows))
        return f"No ball holds every {self.inside!r} and nothing else: rows {rows} rule it out."

    def check(self, X: Any, y: Any) -> None:
        """Prove it again from the examples; raise `CertificateError` if it does not hold."""
        examples = _same_examples(X, y, self.about, self.inside)
        n, d = examples.points.shape
        rows = self.rows
        if not isinstance(rows, tuple) or not rows or not all(type(row) is int for row in rows):
            raise CertificateError("the proof that there is no ball needs the numbers of some rows")
        if any(a >= b for a, b in itertools.pairwise(rows)) or rows[0] < 0 or rows[-1] >= n:
            raise CertificateError(f"the rows of the proof must ascend, from 0 to {n - 1}")
        check_fractions("weights", self.weights, len(rows))
        check_fractions("lift_weight", (self.lift_weight,), 1)
        claim(min(self.weights) > 0 and self.lift_weight >= 0, "no ball", "a weight is not positive")
        total = [Fraction(0)] * (d + 2)
        for row, weight in zip(rows, self.weights, strict=True):
            x = [Fraction(value) for value in examples.points[row].tolist()]
            signed = -weight if examples.labels[row] == self.inside else weight
            lifted = [*x, sum((v * v for v in x), Fraction(0)), Fraction(1)]
            total = [partial + signed * value for partial, value in zip(total, lifted, strict=True)]
        wanted = [Fraction(0)] * d + [-self.lift_weight, Fraction(0)]
        claim(total == wanted, "no ball", "the lifted rows, times their weights, do not cancel")

    def to_json(self) -> str:
        """Return the claims with their proof; see `docs/certificates.md`."""
        witnesses = written_part(_NoBallProof(self.rows, self.weights, self.lift_weight))
        return _written(False, self.inside, self.about, witnesses)

    @classmethod
    def from_json(cls, text: str | bytes) -> "NoBall":
        """Parse what `to_json` wrote; raise `CertificateError` for anything else."""
        about, inside, witnesses = _read(text, False)
        return cls(inside, *read_part(witnesses, _NoBallProof), about)


# -- examples -----------------------------------------------------------------------------------------------------


def read_labels(y: Any) -> list[Label]:
    """Return labels as JSON values: all strings, all booleans or all numbers; whole floats become integers.

    >>> read_labels(np.array([1.0, 2.0])), read_labels(["b", "a"])
    ([1, 2], ['b', 'a'])
    """
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) != 1:
        raise ValueError(f"y has shape {tuple(shape)}; one label per row is required")
    given = y.tolist() if hasattr(y, "tolist") else list(y)
    labels = [read_label(value, i) for i, value in enumerate(given)]
    kinds = {float if isinstance(label, float) else type(label) for label in labels}
    if len(kinds - {int, float}) + bool(kinds & {int, float}) > 1:
        found = ", ".join(sorted("numbers" if kind in (int, float) else kind.__name__ for kind in kinds))
        raise ValueError(f"y mixes labels of several kinds ({found}); make them all text, or all numbers")
    return labels


def read_label(value: Any, row: int | None = None) -> Label:
    """Return one label; raise ValueError for None, NaN and anything that is neither a string nor a number."""
    plain = value.item() if isinstance(value, np.generic) else value
    where = "" if row is None else f" in row {row}"
    if isinstance(plain, str | bool):
        return plain
    if isinstance(plain, int):
        return int(plain)
    if not isinstance(plain, float):
        raise ValueError(f"the label{where} is {plain!r:.60}; labels are text, numbers, or true and false")
    if not math.isfinite(plain):
        raise ValueError(f"the label{where} is {plain}; drop or repair that row")
    return int(plain) if plain.is_integer() else plain


def distance_squares(points: Floats, center: Sequence[Fraction]) -> Iterator[Fraction]:
    """Yield the squared distance of every point to the centre, exactly."""
    from flint import fmpq

    exact = [fmpq(c.numerator, c.denominator) for c in center]
    for x in points.tolist():
        gaps = (fmpq(*v.as_integer_ratio()) - c for v, c in zip(x, exact, strict=True))
        square = sum((gap * gap for gap in gaps), fmpq(0))
        yield quotient(int(square.p), int(square.q))


def _same_examples(X: Any, y: Any, about: BallData | None, inside: Any) -> Labelled:
    """Return the examples if they are those of the proof; raise CertificateError otherwise."""
    examples = Labelled.of(X, y)
    if about is None:
        raise CertificateError("this was made by hand, and does not name its data")
    found = BallData.of(examples)
    claim(_kinds(about) == _kinds(found), "data", f"it is about {about!r:.300}, and these are {found!r:.300}")
    if _kinds(inside) not in map(_kinds, found.classes):
        raise CertificateError(f"the class inside, {inside!r:.60}, is not one of the two labels")
    return examples


def _kinds(value: Any) -> Any:
    """Return a value with its type, so that 1, 1.0 and true differ."""
    return tuple(map(_kinds, value)) if isinstance(value, tuple) else (type(value), value)


# -- files --------------------------------------------------------------------------------------------------------


class _BallProof(NamedTuple):
    center: tuple[Fraction, ...]
    radius_square: Fraction


class _NoBallProof(NamedTuple):
    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    lift_weight: Fraction


def _written(is_ball: bool, inside: Any, about: BallData | None, witnesses: dict[str, Any]) -> str:
    if about is None:
        raise ValueError("this was made by hand, and does not name its data; it cannot be a proof")
    return written("ball", data=written_part(about), claims={"ball": is_ball, "inside": inside}, witnesses=witnesses)


def _read(text: str | bytes, is_ball: bool) -> tuple[BallData, Label, ProofFields]:
    data, claims, witnesses = read_parts(text, "ball")
    about = read_part(data, BallData)
    if claims.flag("ball") is not is_ball:
        claims.fail(f"says {'no ' * is_ball}ball, and is read as the contrary")
    inside = read_value(claims, claims.value("inside"), "inside", Label)
    claims.close()
    for label in (inside, *about.classes):
        if type(label) is float and label.is_integer():
            data.fail(f"has the label {label!r:.60}, which is written without a point")
    return about, inside, witnesses


def read_ball(text: str | bytes) -> Ball | NoBall:
    """Parse a proof of the kind `ball`: that there is one, or that there is none."""
    return Ball.from_json(text) if read_parts(text, "ball")[1].flag("ball") else NoBall.from_json(text)


# -- floats -------------------------------------------------------------------------------------------------------


def nearest_root(square: Fraction) -> float:
    """Return the float nearest to the square root, the smaller of two; infinite beyond their range, NaN below 0."""
    if square < 0:
        return math.nan
    below = root_down(square)
    if below == sys.float_info.max:
        return below if Fraction(below) ** 2 == square else math.inf
    return up(below) if (Fraction(below) + Fraction(up(below))) ** 2 < 4 * square else below
