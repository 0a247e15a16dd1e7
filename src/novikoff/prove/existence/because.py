"""Why an estimate is infinite: rows and coefficients that suffice for it, and of which none can be omitted.

Solvers call this an irreducible infeasible subsystem: a finite estimate needs positive weights of the rows of the cone
whose sum is 0 in every coefficient (Stiemke), and these conditions alone contradict each other. It is a direction in
which no further entry can be set to 0: an elementary vector (Rockafellar 1969). Among all (b, Zb) that vanish where it
does, it is unique up to its length, which a rank proves.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.document import CertificateError, claim
from novikoff.prove.existence.families import Cone, coefficients_of, cone_of
from novikoff.prove.existence.likelihood import Likelihood, ModelOptions, given_positions
from novikoff.prove.existence.rows import NullSpace, Sparse
from novikoff.say import estimates as say


@dataclass(frozen=True)
class Irreducible:
    """Coefficients J and inequalities S that suffice for an infinite estimate, and of which none can be omitted.

    An inequality z.b >= 0 of the cone comes from the outcome of a row. For `binomial`, `log-binomial`, `poisson` and
    `negative-binomial` models there is one for every row with a single outcome, so that S is a set of rows. For
    `multinomial` models there is one for every other class, for `ordinal` ones one for each threshold beside the class,
    for `cox` and `conditional` ones one for each comparison with another row; `rows` are those that they belong to.

    *Suffice*: in the model with the coefficients J only, the estimate is infinite whatever the other outcomes are. An
    unknown outcome counts as both: its inequality becomes the equation z.b = 0. So there is a direction b that is 0
    outside J, with z.b > 0 in S and z.b = 0 elsewhere.

    *Irreducible*: if one coefficient of J is omitted from the model, or the outcome of one inequality of S becomes
    unknown, there is no such direction. (Deleting a row instead would allow more directions, not fewer.)

    `rows` are labels of the frame's index, if there was one; `positions` count from 0 in the data as given.
    """

    coefficients: tuple[str, ...]
    rows: tuple[Any, ...]
    positions: tuple[int, ...]
    direction: tuple[int, ...]
    sha256: str

    def check(self, model: Any, data: Any = None, **options: Unpack[ModelOptions]) -> None:
        """Prove it again from the data as passed to `existence`; raise `CertificateError` if it is wrong."""
        from novikoff.prove.existence.inputs import likelihood_of

        likelihood = likelihood_of(model, data, **options)
        claim(self.sha256 == likelihood.sha256, "data", "the data differ from those of this set")
        names = coefficients_of(likelihood)
        known = {*self.coefficients} <= {*names} and len(self.coefficients) == len(self.direction)
        claim(known, "coefficients", "the model has no such coefficients")
        entries = dict(zip(self.coefficients, self.direction, strict=True))
        derived = irreducible(likelihood, [entries.get(name, 0) for name in names])
        for name in ("coefficients", "rows", "positions", "direction"):
            claim(getattr(self, name) == getattr(derived, name), name, f"{getattr(derived, name)!r:.200} follows")

    def __str__(self) -> str:
        return say.irreducible(self)


def irreducible(likelihood: Likelihood, direction: list[int] | tuple[int, ...]) -> Irreducible:
    """Return the set of an irreducible direction; raise CertificateError if it is reducible.

    Let J and S be where b and Zb are not 0. If the rows outside S have rank |J| - 1 in the columns of J, all vectors
    that vanish outside J and S are multiples of b, and one that vanishes in one more place is 0.
    """
    cone = cone_of(likelihood)
    signs = cone.signs(direction)
    claim(bool((signs >= 0).all() and not signs[cone.is_equation].any()), "direction", "it violates a row")
    claim(bool((signs > 0).any()), "direction", "no row is positive")
    J = np.flatnonzero(direction)
    beside = cone.whole.in_rows(np.flatnonzero(signs == 0)).in_columns(J)
    claim(NullSpace.of(beside).dimension == 1, "direction", "a row or a coefficient can be left out")
    names = coefficients_of(likelihood)
    owners = np.unique(cone.owner[signs > 0]).tolist()
    return Irreducible(
        tuple(names[j] for j in J),
        likelihood.labels_of(owners),
        given_positions(owners, likelihood.n_rows, likelihood.omitted),
        tuple(as_whole([Fraction(direction[j]) for j in J])),
        likelihood.sha256,
    )


def reduced(
    likelihood: Likelihood, directions: tuple[tuple[int, ...], ...], coefficient: int | None, clock: Clock = UNLIMITED
) -> Irreducible:
    """Return an irreducible set, with a coefficient in it if one is given, from directions of the cone.

    While another vector vanishes wherever the direction does, move along it, in fractions, until a coefficient or a row
    becomes 0. The coefficient that must stay, or else a positive row, does not change.
    """
    cone = cone_of(likelihood)
    chosen = [d for d in directions if coefficient is None or d[coefficient]]
    if not chosen:
        raise ValueError(
            "no direction is known along which this coefficient is infinite; ask existence with signs=True"
        )
    b = cone.in_units(chosen[0])
    goal = {coefficient: 1} if coefficient is not None else cone.whole.row(int(np.flatnonzero(cone.whole.times(b))[0]))
    while True:
        clock.tell(f"leaving out what is not needed, of {np.count_nonzero(b):,} coefficients")
        J = np.flatnonzero(b)
        rows = np.flatnonzero(cone.whole.times(b) == 0)
        null_space = NullSpace.of(cone.whole.in_rows(rows).in_columns(J), clock)
        if null_space.dimension == 1:
            return irreducible(likelihood, cone.in_given_units(b))
        b = _walked(cone, b, _other(null_space, J, b, goal))


def _other(null_space: NullSpace, J: Any, b: list[int], goal: Sparse) -> list[int]:
    """Return a vector that vanishes where b does, is not a multiple of b, and is orthogonal to the goal."""
    for k in range(null_space.dimension):
        inner = null_space.vector([int(i == k) for i in range(null_space.dimension)])
        u = dict(zip(J.tolist(), inner, strict=True))
        times = _product(goal, u) / _product(goal, dict(enumerate(b)))
        left = {j: value - times * b[j] for j, value in u.items()}
        if any(value != 0 for value in left.values()):
            return as_whole([left.get(j, 0) for j in range(len(b))])
    raise CertificateError("the null space has no second vector")


def _walked(cone: Cone, b: list[int], u: list[int]) -> list[int]:
    """Return b + tu for the smallest t, of either sign, that makes an entry of b, or a row along it, 0."""
    from flint import fmpq

    along = [*b, *cone.whole.times(b).tolist()], [*u, *cone.whole.times(u).tolist()]
    steps = [fmpq(-int(x), int(v)) for x, v in zip(*along, strict=True) if x and v]
    t = min(steps, key=abs)
    return as_whole([Fraction(int(t.q) * x + int(t.p) * v) for x, v in zip(b, u, strict=True)])


def _product(goal: Sparse, vector: dict[int, Any]) -> Any:
    from flint import fmpq

    return sum((value * vector.get(place, 0) for place, value in goal.items()), fmpq(0))
