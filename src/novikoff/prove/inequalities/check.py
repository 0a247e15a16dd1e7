"""Proofs of claims about a system Ax > 0, checked in exact arithmetic by code that does no search.

A solution x proves itself, and its margin: the smallest <a, x>/(||a|| ||x||) over the rows a, whose square is rational.
Rows with positive weights that add up to 0 prove that there is no solution (Gordan 1873).
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, at_least
from novikoff.prove.exact.algebra import dot, quotient
from novikoff.prove.exact.codec import Combination
from novikoff.prove.exact.document import CertificateError, numbers_sha256
from novikoff.prove.exact.floats import as_integers, lowest_exponent, nearest_float, root_down, scaled_floats
from novikoff.prove.exact.given_numbers import Floats, exact_floats
from novikoff.prove.exact.proof import Proof, check_rows, field_of
from novikoff.prove.exact.ratios import Ratios
from novikoff.say.words import cancelling, counted


class Outcome(enum.Enum):
    """The outcome for a system of inequalities."""

    SOLVED = "solved"
    NO_SOLUTION = "no solution"
    UNDECIDED = "undecided"


class SystemData(NamedTuple):
    """The system of a proof: its shape, and the fingerprint of its numbers."""

    rows: int
    columns: int
    sha256: str

    @classmethod
    def of(cls, rows: Floats) -> "SystemData":
        return cls(*rows.shape, numbers_sha256("inequalities", rows.shape, [rows]))  # type: ignore[call-arg]


class SystemClaims(NamedTuple):
    """The outcome, and the margin of a solution, rounded down."""

    outcome: Outcome
    margin: float | None = None


class SystemWitnesses(NamedTuple):
    """A solution, all of it float64 or all of it whole; or rows with positive weights that add up to 0; or neither."""

    x: tuple[Fraction, ...] | None = None
    combination: Combination | None = None


NOTHING = SystemWitnesses()


@dataclass(frozen=True, eq=False, repr=False)
class Inequalities(Proof):
    """The result for a system Ax > 0, with its proof. True if it was solved.

    `x` solves every row; it is float64, or whole numbers (dtype object) where no float64 vector was found.
    `combination` has rows and positive whole weights that add up to exactly 0, so no x solves them (Gordan).
    `margin` is that of x, rounded down, of rows and x divided by their lengths. All of this is exact, and `check`
    proves it again; `arithmetic` is `float64` only where nothing was decided.

    The rest records the search and claims nothing: `method`, `iterations` (mistakes or steps), `rescalings`,
    `potential` (log det R after every rescaling for `rescaled`, else bounds on the margin), and why it `stopped`.
    """

    about: SystemData
    claims: SystemClaims
    witnesses: SystemWitnesses = NOTHING
    method: str = ""
    iterations: int = 0
    rescalings: int = 0
    potential: tuple[float, ...] = ()
    stopped: str = ""

    KIND = "inequalities"

    outcome, margin = field_of("claims", "outcome"), field_of("claims", "margin")
    combination = field_of("witnesses", "combination")

    @cached_property
    def x(self) -> NDArray[Any] | None:
        return None if self.witnesses.x is None else as_numbers(self.witnesses.x)

    @property
    def arithmetic(self) -> str:
        return "float64" if self.outcome is Outcome.UNDECIDED else "exact"

    def __bool__(self) -> bool:
        return self.outcome is Outcome.SOLVED

    def __str__(self) -> str:
        return " ".join(filter(None, [self._what(), self._how(), self._what_next()]))

    def __repr__(self) -> str:
        return f"<Inequalities: {self}>"

    def _what(self) -> str:
        rows = counted(self.about.rows, "inequality", "inequalities")
        system = f"{rows} in {counted(self.about.columns, 'unknown')}"
        if self.margin is not None:
            return f"Solved (proved): the solution x of {system} has margin {at_least(self.margin)}."
        if self.combination is not None:
            return f"No solution (proved): of {system}, {cancelling(*self.combination)}."
        return f"Undecided (float64): {system} may have a solution or none."

    def _how(self) -> str:
        if not self.iterations:
            return ""
        steps = counted(self.iterations, "mistake" if self.method == "perceptron" else "step")
        scaled = f" and {counted(self.rescalings, 'rescaling')}" if self.rescalings else ""
        return f"The method {self.method} took {steps}{scaled}."

    def _what_next(self) -> str:
        if self.outcome is not Outcome.UNDECIDED or not self.stopped:
            return ""
        advice = {"perceptron": 'for small margins use method="rescaled"', "rescaled": 'try method="auto"'}
        more = "give it more time" if "time" in self.stopped else advice.get(self.method, "give it more time")
        return f"It stopped because {self.stopped}; {more}."

    def check(self, A: Any) -> None:
        """Prove every claim again from the rows; raises `CertificateError` naming the first that fails."""
        rows = read_rows(A)
        self.check_claims(SystemData.of(rows), lambda witnesses: conclude(rows, witnesses))


def read_rows(A: Any) -> Floats:
    """The rows of a system; raises ValueError if A is not one."""
    rows = exact_floats(A, "A")
    if rows.ndim != 2:
        raise ValueError(f"A has {rows.ndim} dimension(s); pass a matrix with one inequality a row")
    if len(rows) == 0:
        raise ValueError("A has no rows, so every x solves it; pass at least one inequality")
    return rows


# -- what follows from the rows and the witnesses -----------------------------------------------------------------


def conclude(rows: Floats, witnesses: SystemWitnesses) -> SystemClaims:
    """The claims that follow from the witnesses; raises `CertificateError` if one is invalid or two disagree.

    >>> conclude(np.array([[3.0, 4.0]]), SystemWitnesses((Fraction(1), Fraction(0))))
    SystemClaims(outcome=<Outcome.SOLVED: 'solved'>, margin=0.6)
    """
    x, combination = witnesses
    if combination is not None:
        if x is not None or not cancels(rows, combination):
            raise CertificateError("the rows, times their weights, do not add up to 0, or something solves them")
        return SystemClaims(Outcome.NO_SOLUTION)
    if x is None:
        return SystemClaims(Outcome.UNDECIDED)
    if len(x) != rows.shape[1] or (as_numbers(x).dtype == object and any(value.denominator != 1 for value in x)):
        raise CertificateError(f"x must have {rows.shape[1]} numbers, all of them float64 or all of them whole")
    square = margin_square(rows, Ratios.of(x).numerators)
    if square is None:
        raise CertificateError("x does not have a positive product with every row")
    return SystemClaims(Outcome.SOLVED, root_down(square))


def as_numbers(x: Sequence[Fraction]) -> NDArray[Any]:
    """Floats if all numbers are exact in float64, else whole numbers."""
    floats = np.array([nearest_float(value) for value in x])
    is_exact = all(value == near for value, near in zip(x, floats.tolist(), strict=True))
    return floats if is_exact else np.array([int(value) for value in x], dtype=object)


def margin_square(rows: Floats, x: Sequence[int]) -> Fraction | None:
    """The square of the margin of x; None if x does not have a positive product with every row.

    Floats find the rows that may have the smallest product. Rows and x are scaled to length 1, so their products have
    errors of at most (d + 8) 2^-51: exact arithmetic decides among those within twice that.
    """
    if not any(x) or not rows.any(axis=1).all():
        return None
    vector = scaled_floats(x)
    shrunk = np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1))[1][:, None])
    products = (shrunk @ vector) / (np.linalg.norm(shrunk, axis=1) * np.linalg.norm(vector))
    slack = 8 * (len(x) + 8) * UNIT_ROUNDOFF
    smallest: Fraction | None = None
    for i in np.flatnonzero(products <= max(float(products.min()), 0.0) + 2 * slack):
        row = as_integers(rows[i], lowest_exponent(rows[i])).tolist()
        product = dot(row, x)
        if product <= 0:
            return None
        square = quotient(product**2, dot(row, row))
        smallest = square if smallest is None else min(smallest, square)
    assert smallest is not None  # the row with the smallest product is among them
    return quotient(smallest.numerator, smallest.denominator * dot(x, x))


def cancels(rows: Floats, combination: Combination) -> bool:
    """Whether rows, times positive weights, add up to 0; raises if the combination is invalid."""
    check_rows(*combination, len(rows))
    if min(combination.weights, default=0) <= 0:
        raise CertificateError("a combination needs rows, and a positive weight for each")
    chosen = rows[list(combination.rows)]
    weights = np.array(combination.weights, dtype=object)
    return not chosen.size or not np.any(weights @ as_integers(chosen, lowest_exponent(chosen)))
