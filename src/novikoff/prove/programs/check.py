"""Linear programs in SciPy's form, and proofs of answers, checked in exact arithmetic without a solver.

A program minimises c.x where A_ub x <= b_ub, A_eq x = b_eq, and x is within bounds. Its numbers are floats, taken as
exact.

Multipliers are SciPy's marginals of a minimum: those of inequalities and of upper bounds are at most 0, those of lower
bounds at least 0. Every feasible x then has

    y.(A x) + lower.x + upper.x  >=  y.b + lower.l + upper.u.

If the multipliers combine the constraints to the cost, the right side is a lower bound of c.x; attained by some x, it
is the optimum. If they combine them to 0 and the right side is positive, no x is feasible (Farkas 1902).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.csr import as_csr, without_repeats
from novikoff.prove.exact.document import CertificateError, numbers_sha256
from novikoff.prove.exact.floats import nearest_float
from novikoff.prove.exact.given_numbers import exact_floats, place_in
from novikoff.prove.exact.proof import Proof, field_of
from novikoff.prove.exact.ratios import Ratios, Vector, WholeRows, common_denominator, dot
from novikoff.say.certificates import in_arithmetic
from novikoff.say.words import counted

# -- programs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise c.x where A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper, in float64.

    The matrices are CSR, without zeros and repeated entries, and with columns in order.
    """

    c: Vector
    A_ub: Any
    b_ub: Vector
    A_eq: Any
    b_eq: Vector
    lower: Vector
    upper: Vector

    @cached_property
    def rows(self) -> Any:
        """The inequalities, then the equations, in the order of the multipliers."""
        from scipy.sparse import vstack

        return vstack([self.A_ub, self.A_eq], format="csr")

    @property
    def limits(self) -> Vector:
        """The right-hand sides of `rows`."""
        return np.concatenate([self.b_ub, self.b_eq])

    @cached_property
    def constraints(self) -> Any:
        """The `rows`, and a row for every lower and every upper bound."""
        from scipy.sparse import eye_array, vstack

        unit = eye_array(len(self.c))
        return vstack([self.rows, unit, unit], format="csr")

    @property
    def bounds(self) -> Vector:
        """What the products of x with the `constraints` are compared with."""
        return np.concatenate([self.limits, self.lower, self.upper])

    @property
    def sides(self) -> NDArray[np.int64]:
        """1 where a product is at most its bound, -1 where it is at least that, 0 where it is equal."""
        n = len(self.c)
        return np.repeat([1, 0, -1, 1], [len(self.b_ub), len(self.b_eq), n, n])


def read_program(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None)
) -> Program:
    """Return SciPy's arguments as a `Program`; raise ValueError for mismatched shapes and invalid numbers.

    Floats are taken as exact fractions; an integer that float64 cannot represent is refused.

    >>> program = read_program([1, 2], A_ub=[[1, 1]], b_ub=[3], bounds=(None, 4))
    >>> program.lower.tolist(), program.upper.tolist(), program.A_eq.shape
    ([-inf, -inf], [4.0, 4.0], (0, 2))
    """
    costs = exact_floats(c, "c").ravel()
    if costs.size == 0:
        raise ValueError("c is empty: a linear program has at least one variable")
    rows_ub, limits_ub = _constraints(A_ub, b_ub, "ub", len(costs))
    rows_eq, limits_eq = _constraints(A_eq, b_eq, "eq", len(costs))
    lower, upper = _bounds(bounds, len(costs))
    return Program(costs, rows_ub, limits_ub, rows_eq, limits_eq, lower, upper)


def _constraints(A: Any, b: Any, which: str, n: int) -> tuple[Any, Vector]:
    from scipy.sparse import csr_array

    if A is None and b is None:
        return csr_array((0, n)), np.zeros(0)
    if A is None or b is None:
        given, missing = ("b", "A") if A is None else ("A", "b")
        raise ValueError(f"{given}_{which} was given without {missing}_{which}: pass both, or neither")
    matrix, limits = _matrix(A, f"A_{which}"), exact_floats(b, f"b_{which}").ravel()
    if 0 in matrix.shape and limits.size == 0:
        return csr_array((0, n)), np.zeros(0)
    if len(matrix.shape) != 2 or matrix.shape[1] != n:
        raise ValueError(f"A_{which} has shape {matrix.shape}, but c has {n} entries: A_{which} needs {n} columns")
    if len(limits) != matrix.shape[0]:
        raise ValueError(f"A_{which} has {matrix.shape[0]} rows, but b_{which} has {len(limits)} entries")
    rows = csr_array(matrix)
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows, limits


def _matrix(A: Any, name: str) -> Any:
    """Return a matrix as exact floats; a sparse one stays sparse."""
    if not hasattr(A, "tocsr"):
        return exact_floats(A, name)
    rows = without_repeats(as_csr(A))
    data = exact_floats(rows.data, name, place=place_in(rows))
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


def _bounds(bounds: Any, n: int) -> tuple[Vector, Vector]:
    """Return lower and upper bounds from one pair for all variables, or from one pair for each."""
    if bounds is None or np.size(bounds) == 0:
        return np.zeros(n), np.full(n, np.inf)
    table = np.array(bounds, dtype=object)
    if table.shape == (2,):
        table = table[None, :]
    if table.ndim != 2 or table.shape[1] != 2 or len(table) not in (1, n):
        raise ValueError(f"bounds has shape {table.shape}; give one pair (lower, upper), or {n} of them")
    missing = np.array([[value is None for value in pair] for pair in table])
    table[missing] = 0.0
    pairs = np.broadcast_to(exact_floats(table, "bounds", finite=False), (n, 2)).copy()
    missing = np.broadcast_to(missing, (n, 2))
    pairs[missing[:, 0], 0], pairs[missing[:, 1], 1] = -np.inf, np.inf
    lower, upper = pairs[:, 0].copy(), pairs[:, 1].copy()
    for values, name, impossible in ((lower, "lower", np.inf), (upper, "upper", -np.inf)):
        wrong = np.flatnonzero(np.isnan(values) | (values == impossible))
        if wrong.size:
            raise ValueError(f"the {name} bound of variable {wrong[0]} is {values[wrong[0]]}; use None for no bound")
    return lower, upper


# -- answers ------------------------------------------------------------------------------------------------------

Numbers = Sequence[Fraction]
Answer = Literal["optimal", "infeasible", "unbounded"]
MEANINGS: dict[Answer, str] = {
    "optimal": "no point has a smaller cost than x",
    "infeasible": "no point obeys all constraints",
    "unbounded": "the cost falls forever along a ray",
}


class Multipliers(NamedTuple):
    """One number for every inequality, equation, lower bound and upper bound."""

    ub: Numbers
    eq: Numbers
    lower: Numbers
    upper: Numbers


class ProgramData(NamedTuple):
    """The program of a certificate: its size, and the fingerprint of its numbers."""

    variables: int
    inequalities: int
    equations: int
    sha256: str

    @property
    def size(self) -> str:
        """The size of the program, in words."""
        inequalities = counted(self.inequalities, "inequality", "inequalities")
        return f"{counted(self.variables, 'variable')}, {inequalities} and {counted(self.equations, 'equation')}"

    @classmethod
    def of(cls, program: Program) -> "ProgramData":
        p, shape = program, (len(program.c), len(program.b_ub), len(program.b_eq))
        numbers = (p.c, _entries(p.A_ub), p.b_ub, _entries(p.A_eq), p.b_eq, p.lower, p.upper)
        return cls(*shape, numbers_sha256("program", (*shape, p.A_ub.nnz, p.A_eq.nnz), numbers))


def _entries(A: Any) -> Vector:
    """Return row, column and value of every nonzero entry, row by row."""
    entries = A.tocoo()
    return np.column_stack([entries.row, entries.col, entries.data])


class ProgramClaims(NamedTuple):
    """What is proved of a program, and its optimum if there is one."""

    answer: Answer
    value: Fraction | None = None


class ProgramWitnesses(NamedTuple):
    """An optimum and `multipliers` that combine the constraints to the cost; or multipliers that combine them to a
    contradiction; or a point and a `ray` along which the cost falls without bound."""

    x: Numbers | None = None
    multipliers: Multipliers | None = None
    ray: Numbers | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ProgramCertificate(Proof):
    """The proof of an answer, in fractions: which one, follows from what its witnesses are."""

    about: ProgramData
    claims: ProgramClaims
    witnesses: ProgramWitnesses

    KIND = "program"
    arithmetic = "exact"
    claim, value = field_of("claims", "answer"), field_of("claims", "value")
    x, multipliers, ray = (field_of("witnesses", name) for name in ProgramWitnesses._fields)

    @classmethod
    def of(cls, program: Program, **witnesses: Any) -> "ProgramCertificate":
        """Return what witnesses prove; raise `CertificateError` if that is nothing."""
        found = ProgramWitnesses(**witnesses)
        return cls(ProgramData.of(program), conclude(program, found), found).marked_well_formed()

    def __repr__(self) -> str:
        return f"ProgramCertificate({self.claim}, {self.arithmetic})"

    def __str__(self) -> str:
        cost = "" if self.value is None else f", which has {nearest_float(self.value):.12g}"
        return f"Of the program with {self.about.size} ({self.about.sha256[:12]}): {self.meaning}{cost}."

    @property
    def meaning(self) -> str:
        return MEANINGS[self.claims.answer]

    @property
    def sentence(self) -> str:
        """The claim, how it is proved, and its meaning."""
        return f"{in_arithmetic(self.claim.capitalize(), self.arithmetic)}: {self.meaning}."

    def check(
        self,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
    ) -> None:
        """Prove it again from the program as passed to `linprog`; raise `CertificateError` if it fails."""
        program = read_program(c, A_ub, b_ub, A_eq, b_eq, bounds)
        self.check_claims(ProgramData.of(program), lambda witnesses: conclude(program, witnesses))


def conclude(program: Program, witnesses: ProgramWitnesses) -> ProgramClaims:
    """Return the claims that follow from the witnesses; raise `CertificateError` if there are none."""
    n, rows = len(program.c), (len(program.b_ub), len(program.b_eq))
    x, multipliers, ray = witnesses
    sizes = [len(part) for part in (x, ray, *(multipliers or ())) if part is not None]
    claims, point, y = None, Ratios.of(x or ()), joined(multipliers or ())
    match [part is not None for part in witnesses]:
        case [True, True, False] if sizes == [n, *rows, n, n] and _is_feasible(program, point, program.bounds):
            value = dot(program.c, point)
            if dot(program.bounds, y) == value and _combines_to(program, y, program.c):
                claims = ProgramClaims("optimal", value)
        case [False, True, False] if sizes == [*rows, n, n]:
            if dot(program.bounds, y) > 0 and _combines_to(program, y, np.zeros(n)):
                claims = ProgramClaims("infeasible")
        case [True, False, True] if sizes == [n, n] and _is_feasible(program, point, program.bounds):
            along, forever = Ratios.of(ray or ()), np.where(np.isfinite(program.bounds), 0.0, np.inf)
            if dot(program.c, along) < 0 and _is_feasible(program, along, forever):
                claims = ProgramClaims("unbounded")
    if claims is None:
        raise CertificateError(f"what the certificate has proves none of {', '.join(get_args(Answer))}")
    return claims


def joined(parts: Iterable[Numbers]) -> Ratios:
    """Return numbers one after the other, over one denominator."""
    found = list(map(Ratios.of, parts))
    denominator = common_denominator(*found)
    return Ratios([value for part in found for value in part.over(denominator)], denominator)


def _is_feasible(program: Program, x: Ratios, bounds: Vector) -> bool:
    """Whether x obeys all constraints with these bounds; infinite ones are none."""
    excess, sides = WholeRows.of(program.constraints, bounds).excesses(x), program.sides
    is_wrong = ((sides * excess > 0) | ((sides == 0) & (excess != 0))).astype(bool)
    return not is_wrong[np.isfinite(bounds)].any()


def _combines_to(program: Program, multipliers: Ratios, target: Vector) -> bool:
    """Whether the signs are right, no infinite bound has a multiplier, and the combination is the target."""
    signs = program.sides * np.array(multipliers.numerators, dtype=object)
    if (signs > 0).any() or any(multipliers.numerators[row] for row in np.flatnonzero(~np.isfinite(program.bounds))):
        return False
    return not WholeRows.of(program.constraints.T.tocsr(), target).excesses(multipliers).any()
