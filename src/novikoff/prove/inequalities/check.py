"""Proofs of claims about a system Ax > 0, checked in exact arithmetic by code that does no search.

A solution x proves itself, and its margin: the smallest <a, x>/(||a|| ||x||) over the rows a, whose square is rational.
Rows with positive weights that add up to 0 prove that there is no solution (Gordan 1873).
"""

import enum
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, at_least
from novikoff.prove.exact.algebra import dot, quotient
from novikoff.prove.exact.codec import Combination, read_part, written_part
from novikoff.prove.exact.document import (
    CertificateError,
    ProofFields,
    claim,
    fraction_pairs,
    numbers_sha256,
    read_parts,
    written,
)
from novikoff.prove.exact.floats import as_integers, lowest_exponent, nearest_float, root_down, scaled_floats
from novikoff.prove.exact.given_numbers import Floats, exact_floats
from novikoff.say.words import cancelling, counted


class Outcome(enum.Enum):
    """The outcome for a system of inequalities."""

    SOLVED = "solved"
    NO_SOLUTION = "no solution"
    UNDECIDED = "undecided"


@dataclass(frozen=True, eq=False)
class Inequalities:
    """The result for a system Ax > 0, with its proof. True if it was solved.

    `x` solves every row; it is float64, or whole numbers (dtype object) where no float64 vector was found.
    `combination` has rows and positive whole weights that add up to exactly 0, so no x solves them (Gordan).
    `margin` is that of x, rounded down, of rows and x divided by their lengths. All of this is exact, and `check`
    proves it again; `arithmetic` is `float64` only where nothing was decided.

    The rest records the search and claims nothing: `method`, `iterations` (mistakes or steps), `rescalings`,
    `potential` (log det R after every rescaling for `rescaled`, else bounds on the margin), and why it `stopped`.
    """

    outcome: Outcome
    n_rows: int
    n_columns: int
    sha256: str
    x: NDArray[Any] | None = None
    combination: Combination | None = None
    margin: float | None = None
    method: str = ""
    iterations: int = 0
    rescalings: int = 0
    potential: tuple[float, ...] = ()
    stopped: str = ""

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
        rows = counted(self.n_rows, "inequality", "inequalities")
        system = f"{rows} in {counted(self.n_columns, 'unknown')}"
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
        if (self.n_rows, self.n_columns) != rows.shape:
            other, own = (f"{n} x {d}" for n, d in (rows.shape, (self.n_rows, self.n_columns)))
            raise CertificateError(f"A is {other}, but this is about a system of {own}")
        if self.sha256 != fingerprint(rows):
            raise CertificateError("A has the right shape, but its numbers differ from those that were certified")
        outcome, margin = derived(rows, self.x, self.combination)
        claim(self.outcome is outcome, "outcome", f"{outcome.value} is what the witnesses prove")
        is_same = self.margin is margin is None or (type(self.margin) is float and self.margin == margin)
        claim(is_same, "margin", f"that of x is {margin!r}, rounded down")

    def to_json(self) -> str:
        """The claims and their proofs, without the record of the search; see `docs/certificates.md`."""
        claims: dict[str, Any] = {"outcome": self.outcome.value}
        witnesses: dict[str, Any] = {}
        if self.x is not None:
            claims["margin"] = self.margin
            witnesses["x"] = fraction_pairs([Fraction(v) for v in self.x.tolist()])
        if self.combination is not None:
            witnesses["combination"] = written_part(self.combination)
        data = {"rows": self.n_rows, "columns": self.n_columns, "sha256": self.sha256}
        return written("inequalities", data=data, claims=claims, witnesses=witnesses)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Inequalities":
        """Read what `to_json` wrote; raises `CertificateError` for anything else."""
        data, claims, witnesses = read_parts(text, "inequalities")
        outcome = Outcome(claims.choice("outcome", tuple(each.value for each in Outcome)))
        answer = cls(
            outcome,
            data.whole("rows", least=1, most=10**9),
            data.whole("columns", most=10**9),
            data.text("sha256", longest=64),
            _read_vector(witnesses) if outcome is Outcome.SOLVED else None,
            read_part(witnesses.part("combination"), Combination) if outcome is Outcome.NO_SOLUTION else None,
            claims.number("margin") if outcome is Outcome.SOLVED else None,
        )
        for part in (data, claims, witnesses):
            part.close()
        return answer


def _read_vector(fields: ProofFields) -> NDArray[Any]:
    """Read floats if all numbers are exact in float64, else whole numbers."""
    values = fields.each("x", fields.fraction)
    if all(nearest_float(value) == value for value in values):
        return np.array([float(value) for value in values])
    if any(value.denominator != 1 for value in values):
        fields.fail("has an x whose numbers must be float64 or whole numbers")
    return np.array([int(value) for value in values], dtype=object)


def read_rows(A: Any) -> Floats:
    """The rows of a system; raises ValueError if A is not one."""
    rows = exact_floats(A, "A")
    if rows.ndim != 2:
        raise ValueError(f"A has {rows.ndim} dimension(s); pass a matrix with one inequality a row")
    if len(rows) == 0:
        raise ValueError("A has no rows, so every x solves it; pass at least one inequality")
    return rows


def fingerprint(rows: Floats) -> str:
    return numbers_sha256("inequalities", rows.shape, [rows])


# -- what follows from the rows and the witnesses -----------------------------------------------------------------


def derived(rows: Floats, x: Any = None, combination: Combination | None = None) -> tuple[Outcome, float | None]:
    """The outcome that follows from the witnesses, and the margin of x, rounded down; raises `CertificateError` if one
    is invalid or two disagree.

    >>> derived(np.array([[3.0, 4.0]]), x=np.array([1.0, 0.0]))
    (<Outcome.SOLVED: 'solved'>, 0.6)
    """
    if x is not None and combination is not None:
        raise CertificateError("a solution, and a proof that there is none, cannot both be true")
    if combination is not None:
        if any(exact_sum(rows, combination)):
            raise CertificateError("the rows, times their weights, do not add up to 0")
        return Outcome.NO_SOLUTION, None
    if x is None:
        return Outcome.UNDECIDED, None
    square = margin_square(rows, as_whole_vector(x, rows.shape[1]))
    if square is None:
        raise CertificateError("x does not have a positive product with every row")
    return Outcome.SOLVED, root_down(square)


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


def exact_sum(rows: Floats, combination: Combination) -> list[int]:
    """The sum of rows times weights, up to a power of two; raises if the combination is invalid."""
    _check_combination(combination, len(rows))
    chosen = rows[list(combination.rows)]
    weights = np.array(combination.weights, dtype=object)
    return [int(v) for v in weights @ as_integers(chosen, lowest_exponent(chosen))] if chosen.size else []


def _check_combination(combination: Any, n_rows: int) -> None:
    if not isinstance(combination, Combination):
        raise CertificateError("a combination has rows and weights")
    rows, weights = combination
    if not all(isinstance(each, tuple) and all(type(v) is int for v in each) for each in (rows, weights)):
        raise CertificateError("the rows and weights of a combination are whole numbers")
    if len(rows) != len(weights) or not rows or min(weights) <= 0:
        raise CertificateError("a combination needs rows, and a positive weight for each")
    if any(a >= b for a, b in itertools.pairwise(rows)) or rows[0] < 0 or rows[-1] >= n_rows:
        raise CertificateError(f"the rows of a combination must ascend, from 0 to {n_rows - 1}")


def as_whole_vector(x: Any, dimension: int) -> list[int]:
    """Floats or whole numbers as whole numbers in the same proportions."""
    values = x.tolist() if isinstance(x, np.ndarray) and x.ndim == 1 else None
    if values is None or len(values) != dimension:
        raise CertificateError(f"x is not a vector of {dimension} numbers")
    if all(type(v) is int for v in values):
        return values
    if not all(type(v) is float and math.isfinite(v) for v in values):
        raise CertificateError("x has neither finite floats nor whole numbers")
    return [int(v) for v in as_integers(values, lowest_exponent(values))]
