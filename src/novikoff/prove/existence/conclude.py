"""Witnesses about a likelihood, and the claims that follow from them, in exact arithmetic, without any search.

Claims are derived here, both to make a certificate and to check one. A witness proves nothing until it is verified.
"""

import enum
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import UNLIMITED, Clock, OutOfTimeError
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.codec import Combination, Positive, Whole
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.floats import power_of_two
from novikoff.prove.exact.proof import check_rows
from novikoff.prove.existence.families import Cone, cone_of, must_be_below, start_cone
from novikoff.prove.existence.likelihood import Likelihood
from novikoff.prove.existence.rows import NullSpace, rational
from novikoff.say.estimates import DOWN, INFINITE, UNDETERMINED, UNIDENTIFIED, UP

Sign = Literal["+inf", "-inf", "sign undetermined", "infinite", "not identified"]


class Estimate(enum.Enum):
    """What is known of the maximum likelihood estimate."""

    EXISTS = "exists"
    INFINITE = "infinite"
    NO_START = "no start"
    UNDECIDED = "undecided"


class SignProof(NamedTuple):
    """Rows with positive weights that sum to `scale` times a signed coefficient, modulo the span of the face."""

    coefficient: int
    rows: tuple[int, ...]
    weights: tuple[Positive, ...]
    scale: Positive


@dataclass(frozen=True)
class EstimateWitnesses:
    """Directions of the cone, the first of which is positive wherever any is; the combination of rows that is 0 and
    spans the face; and the proofs of signs.

    For the log link also a `start`: coefficients and, last, their common divisor; or, as `no_start`, rows that
    contradict each other.
    """

    directions: tuple[tuple[Whole, ...], ...] = ()
    obstruction: Combination | None = None
    signs: tuple[SignProof, ...] = ()
    start: tuple[Whole, ...] | None = None
    no_start: Combination | None = None


# Up to this many dimensions, all rows are multiplied by each vector of a basis; beyond, row by row.
FEW_DIMENSIONS = 64

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class EstimateClaims:
    """What is known of the estimate, and which rows are separated and which coefficients not finite, if that is."""

    estimate: Estimate
    separated_rows: tuple[int, ...] | None = None
    diverging: tuple[tuple[int, Sign], ...] | None = None


def conclude(likelihood: Likelihood, witnesses: EstimateWitnesses, clock: Clock = UNLIMITED) -> EstimateClaims:
    """Return the claims; raise CertificateError if a witness does not prove what it should.

    Raises OutOfTimeError if there is no time for the conclusions from an obstruction.
    """
    if witnesses == EstimateWitnesses():  # nothing is claimed, and no cone needed, which may take long to build
        return EstimateClaims(Estimate.UNDECIDED)
    if likelihood.family != "log-binomial":
        _need(witnesses.start is None and witnesses.no_start is None, "start", "only the log link asks for one")
    elif witnesses.no_start is not None:
        _need(witnesses == EstimateWitnesses(no_start=witnesses.no_start), "no_start", "no other witness is allowed")
        _check_no_start(likelihood, witnesses.no_start)
        return EstimateClaims(Estimate.NO_START)
    else:
        _need(witnesses.start is not None, "start", "without one, nothing is claimed")
        _check_start(likelihood, witnesses.start or ())
    cone = cone_of(likelihood)
    is_strict = np.zeros(cone.whole.n_rows, dtype=bool)
    for number, direction in enumerate(witnesses.directions):
        if number and clock.is_over():
            raise OutOfTimeError
        signs = _signs_along(cone, direction)
        holds = (signs >= 0).all() and not signs[cone.is_equation].any()
        _need(bool(holds), "direction", f"number {number} violates a row")
        if number == 0:
            is_strict = signs > 0
            _need(bool(is_strict.any()), "direction", "no row is positive")
    if witnesses.obstruction is None:
        _need(len(witnesses.directions) <= 1 and not witnesses.signs, "obstruction", "signs need it")
        return EstimateClaims(Estimate.INFINITE if witnesses.directions else Estimate.UNDECIDED)
    null_space = _null_space_of_face(cone, witnesses.obstruction, is_strict, clock)
    return EstimateClaims(
        Estimate.INFINITE if witnesses.directions else Estimate.EXISTS,
        cone.separated_rows(is_strict),
        diverging(cone, null_space, is_strict, witnesses, clock),
    )


def _signs_along(cone: Cone, direction: tuple[int, ...]) -> NDArray[np.int8]:
    """Return the sign of every row along a direction."""
    _need(len(direction) == cone.size, "direction", f"it has {len(direction)} numbers, and needs {cone.size}")
    return cone.signs(direction)


def _null_space_of_face(cone: Cone, obstruction: Combination, is_strict: Mask, clock: Clock) -> NullSpace:
    """Return the null space of the face, after proving that all rows that are not strict lie on it.

    Stiemke: along a direction the rows of the combination are not negative and sum to 0, so each of them is 0, as is
    everything that they span together with the equations.
    """
    rows, weights = obstruction
    check_rows(rows, weights, cone.whole.n_rows)
    _need(all(w > 0 or cone.is_equation[r] for r, w in zip(rows, weights, strict=True)), "obstruction", "of its signs")
    _need(not cone.whole.combined(rows, weights), "obstruction", "it does not add up to 0")
    named = np.zeros(cone.whole.n_rows, dtype=bool)
    named[list(rows)] = True
    null_space = cone.null_space(np.flatnonzero(named | cone.is_equation), clock)
    others = np.flatnonzero(~named & ~cone.is_equation & ~is_strict)
    _need(
        _spans(null_space, cone, others, clock),
        "obstruction",
        "its rows do not span the rows that no direction separates",
    )
    return null_space


def _spans(null_space: NullSpace, cone: Cone, others: NDArray[np.int64], clock: Clock) -> bool:
    if null_space.dimension == 0 or len(others) == 0:
        return True
    part = cone.whole.in_rows(others)
    if null_space.dimension > FEW_DIMENSIONS:
        return not any(null_space.times(part.row(i)) for i in clock.through(range(part.n_rows)))
    units = [[int(i == k) for i in range(null_space.dimension)] for k in range(null_space.dimension)]
    basis = (null_space.vector(unit) for unit in clock.through(units))
    return not any(part.times(as_whole(vector)).any() for vector in basis)


# -- coefficients -----------------------------------------------------------------------------------------------------


def diverging(
    cone: Cone, null_space: NullSpace, is_strict: Mask, witnesses: EstimateWitnesses, clock: Clock = UNLIMITED
) -> tuple[tuple[int, Sign], ...]:
    """Return the coefficients that are not finite, ascending, each with what is known of its sign."""
    varying = [place for place in range(cone.size) if not null_space.is_fixed(place)]
    _, lines = cone.beyond(null_space, is_strict, clock)
    proofs = {proof.coefficient: proof for proof in witnesses.signs}
    _need([proof.coefficient for proof in witnesses.signs] == sorted(proofs), "signs", "they do not ascend")
    found: dict[int, Sign] = {}
    for place in clock.through(varying):
        if lines.times(null_space.expressions[place]):
            found[place] = UNIDENTIFIED
            continue
        ways = {(d[place] > 0) - (d[place] < 0) for d in witnesses.directions} - {0}
        found[place] = UNDETERMINED if len(ways) == 2 else INFINITE
        if place in proofs:
            _need(len(ways) == 1, "signs", f"coefficient {place} has no direction, or two")
            sign = int(ways.pop())
            _check_sign(cone, null_space, proofs.pop(place), sign)
            found[place] = UP if sign > 0 else DOWN
    _need(not proofs, "signs", "they are about coefficients that are finite or not identified")
    return tuple(found.items())


def _check_sign(cone: Cone, null_space: NullSpace, proof: SignProof, sign: int) -> None:
    """Check by Farkas' lemma: no direction has the other sign if positive multiples of rows give the coefficient."""
    check_rows(proof.rows, proof.weights, cone.whole.n_rows)
    _need(min(proof.weights, default=1) > 0 and proof.scale > 0, "signs", "a weight is not positive")
    _need(not cone.is_equation[list(proof.rows)].any(), "signs", "equations need not be named")
    total: dict[int, Any] = dict(cone.whole.combined(proof.rows, proof.weights))
    unit = rational(power_of_two(-int(cone.exponents[proof.coefficient])))
    total[proof.coefficient] = total.get(proof.coefficient, 0) - sign * proof.scale * unit
    _need(not null_space.times(total), "signs", f"the rows do not give coefficient {proof.coefficient}")


# -- the log link -----------------------------------------------------------------------------------------------------


def _check_start(likelihood: Likelihood, start: tuple[int, ...]) -> None:
    cone = start_cone(likelihood)
    signs = _signs_along(cone, start)
    _need(bool((signs >= 0).all() and (signs > 0)[must_be_below(likelihood)].all()), "start", "it violates a row")


def _check_no_start(likelihood: Likelihood, combination: Combination) -> None:
    """Check rows with positive weights that sum to 0, although one of them must be positive."""
    cone = start_cone(likelihood)
    check_rows(*combination, cone.whole.n_rows)
    _need(min(combination.weights, default=0) > 0, "no_start", "a weight is not positive")
    _need(not cone.whole.combined(*combination), "no_start", "it does not add up to 0")
    _need(bool(must_be_below(likelihood)[list(combination.rows)].any()), "no_start", "no row must be positive")


def _need(holds: bool, name: str, why: str) -> None:
    if not holds:
        raise CertificateError(f"the part {name} of the certificate proves nothing about these data: {why}")
