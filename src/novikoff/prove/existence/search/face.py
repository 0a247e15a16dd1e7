"""The face of a cone: the rows that vanish along every direction in it, found by linear programs and then proved.

HiGHS maximises the sum of some rows that span all, over the directions of the cone in a box. Rows with a positive
product are not on the face, and the question goes on without them, until the maximum is 0. Then the spanning rows are
on the face, hence all are, and the multipliers of the program say why: some rows with positive weights add up to 0.
Floats only say which rows; the weights are the solution of linear equations, and these are solved exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole, solution
from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.existence.cone import Cone
from novikoff.prove.existence.null_space import FULL, Echelon, NullSpace, Sparse
from novikoff.prove.existence.rationals import fraction, rational
from novikoff.prove.existence.whole_rows import Numbers, WholeRows
from novikoff.prove.existence.witnesses import Combination

# Of rows whose largest entry is about 1, a product or a multiplier below this is 0 as far as a program can tell.
ZERO = 1e-7
# A direction is rounded to so many bits, or to more if that is too few to prove it.
ROUNDINGS = (8, 20, 45, 90)

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Face:
    """What proves which rows vanish along every direction.

    `direction`, in the units of the whole rows, is positive on all rows that do not, and 0 on those that do; `free` are
    its free numbers in the null space of the face. The rows, equations included, with their whole weights add up to 0;
    without them it is only proved that the rows beyond are no part of the face.
    """

    is_strict: Mask
    direction: list[int] | None
    free: list[Any]
    obstruction: Combination | None
    null_space: NullSpace


def find_face(cone: Cone, clock: Clock) -> Face | None:
    """The face of a cone with its proof; None if it could not be proved. Raises OutOfTimeError."""
    found = _by_programs(cone, clock)
    if found is None:
        return None
    on_face, null_space, base, multipliers = found
    obstruction = _obstruction(cone, base, multipliers, clock)
    is_strict = ~on_face & ~cone.is_equation
    if not is_strict.any():
        return None if obstruction is None else Face(is_strict, None, [], obstruction, null_space)
    direction = _direction(cone.whole, is_strict, null_space, clock)
    return None if direction is None else Face(is_strict, *direction, obstruction, null_space)


# -- by linear programs -----------------------------------------------------------------------------------------------


def _by_programs(cone: Cone, clock: Clock) -> tuple[Mask, NullSpace, Numbers, Floats] | None:
    """The rows on the face (equations included), what is orthogonal to them, the spanning inequalities among them, and
    the multipliers of all rows that cancel the sum of these."""
    scaled = cone.whole.as_floats()[0]
    on_face = _without_one_sided_columns(cone.whole, cone.is_equation)
    while True:
        which = np.flatnonzero(on_face)
        null_space = NullSpace.of(cone.whole, which, clock)
        spanning = np.array(null_space.rows, dtype=np.int64)
        base = spanning[~cone.is_equation[spanning]]
        multipliers = np.zeros(cone.whole.n_rows)
        if len(base) == 0:
            return on_face, null_space, base, multipliers
        inequalities, equations = which[~cone.is_equation[which]], which[cone.is_equation[which]]
        goal = -np.asarray(scaled[base].sum(axis=0)).ravel()
        answer = vertex(goal, scaled[inequalities], clock, scaled[equations])
        if answer is None:
            return None
        is_beyond = scaled[inequalities] @ answer.x > ZERO
        if not is_beyond.any():
            multipliers[inequalities] = answer.ineqlin.marginals
            multipliers[equations] = answer.eqlin.marginals if len(equations) else 0.0
            return on_face, null_space, base, multipliers
        on_face[inequalities[is_beyond]] = False


def _without_one_sided_columns(whole: WholeRows, is_equation: Mask) -> Mask:
    """The rows that are left when columns that no entry forbids to grow, or to fall, have done so.

    Such are the levels of a fixed effect with one outcome only.
    """
    left = np.ones(whole.n_rows, dtype=bool)
    of_row = np.repeat(np.arange(whole.n_rows), np.diff(whole.indptr))
    is_positive = whole.data > 0
    while True:
        used = left[of_row]
        free = used & ~is_equation[of_row]
        up = np.bincount(whole.indices[free & is_positive], minlength=whole.size)
        down = np.bincount(whole.indices[free & ~is_positive], minlength=whole.size)
        fixed = np.bincount(whole.indices[used & is_equation[of_row]], minlength=whole.size)
        one_sided = (fixed == 0) & ((up == 0) != (down == 0))
        if not one_sided.any():
            return left
        left[of_row[used & one_sided[whole.indices]]] = False


def vertex(cost: Floats, inequalities: Any, clock: Clock, equations: Any = None) -> Any:
    """The least cost.b with inequalities b >= 0, equations b = 0 and b in a box; None if there is no answer."""
    sides: dict[str, Any] = {"A_ub": -inequalities, "b_ub": np.zeros(inequalities.shape[0])}
    if equations is not None and equations.shape[0]:
        sides |= {"A_eq": equations, "b_eq": np.zeros(equations.shape[0])}
    return _solved_in_time(clock, c=cost, bounds=(-1, 1), **sides)


def _inside(P: Any, clock: Clock) -> Any:
    """Some t with P t >= 1, the least in the sum of these products; None if floats find none."""
    goal = np.asarray(P.sum(axis=0)).ravel()
    return _solved_in_time(clock, c=goal, A_ub=-P, b_ub=-np.ones(P.shape[0]), bounds=(None, None))


def _solved_in_time(clock: Clock, **program: Any) -> Any:
    from scipy.optimize import linprog

    seconds = clock.left()
    if seconds == 0:
        raise OutOfTimeError
    options = {"time_limit": seconds} if np.isfinite(seconds) else {}
    result = linprog(**program, method="highs-ds", options=options)
    if result.status == 1:
        raise OutOfTimeError
    return result if result.status == 0 else None


# -- exactly ----------------------------------------------------------------------------------------------------------


def _obstruction(cone: Cone, base: Numbers, multipliers: Floats, clock: Clock) -> Combination | None:
    """Rows on the face, the spanning ones among them, with weights that add up to 0: positive but for equations."""
    if len(base) == 0:
        return Combination((), ())
    exponents = cone.whole.as_floats()[1][base]
    start = [1 << int(exponents.max() - e) for e in exponents.tolist()]
    target = {place: -value for place, value in cone.whole.combined(base.tolist(), start).items()}
    chosen = np.flatnonzero(np.abs(multipliers) > ZERO)
    chosen = chosen[np.argsort(-np.abs(multipliers[chosen]), kind="stable")].tolist()
    found = solved([cone.whole.row(row) for row in chosen], target, cone.size, clock)
    if found is None:
        return None
    weights = dict(zip(base.tolist(), map(fraction, start), strict=True))
    for i, number in found.items():
        weights[chosen[i]] = weights.get(chosen[i], 0) + fraction(number)
    rows = tuple(sorted(row for row, weight in weights.items() if weight))
    if not set(base.tolist()) <= set(rows) or any(weights[row] < 0 and not cone.is_equation[row] for row in rows):
        return None
    return Combination(rows, tuple(as_whole([weights[row] for row in rows])))


def solved(rows: Sequence[Sparse], target: Sparse, size: int, clock: Clock) -> dict[int, Any] | None:
    """How many times each of some rows gives the target; None if they do not."""
    if not target or not rows:
        return None if target else {}
    if size <= FULL:
        numbers = [in_lowest_terms([row.get(place, 0) for place in range(size)], keep=True) for row in rows]
        *right, below = in_lowest_terms([*(target.get(place, 0) for place in range(size)), 1])
        found = solution([whole for whole, _ in numbers], right, clock)
        if found is None and clock.is_over():
            raise OutOfTimeError
        scales = [scale for _, scale in numbers]
        if found is None:
            return None
        return {i: rational(n * s / below) for i, (n, s) in enumerate(zip(found, scales, strict=True))}
    counts = np.bincount([place for row in rows for place in row], minlength=size)
    echelon = Echelon(np.argsort(np.argsort(counts, kind="stable")).tolist())
    for i, row in enumerate(rows):
        if clock.is_over():
            raise OutOfTimeError
        echelon.insert(row, i)
    return echelon.combination(target)


def in_lowest_terms(values: Sequence[Any], keep: bool = False) -> Any:
    """Numbers in the same proportions as whole numbers; if asked for, also what they were multiplied by."""
    numbers = [fraction(value) for value in values]
    whole = as_whole(numbers)
    if not keep:
        return whole
    first = next((i for i, value in enumerate(numbers) if value), None)
    return whole, fraction(1) if first is None else whole[first] / numbers[first]


def _direction(
    whole: WholeRows, is_strict: Mask, null_space: NullSpace, clock: Clock
) -> tuple[list[int], list[Any]] | None:
    """A vector of the null space that is positive on all rows beyond the face, exactly, and its free numbers."""
    beyond = whole.take(np.flatnonzero(is_strict))
    P, units = projected([null_space.times(beyond.row(i)) for i in range(beyond.n_rows)], null_space.dimension)
    answer = _inside(P, clock)
    if answer is None:
        return None
    for bits in ROUNDINGS:
        free = rounded(answer.x, units, bits)
        vector = as_whole([fraction(v) for v in null_space.vector(free)])
        if (beyond.products(vector) > 0).all():
            return vector, free
    return None


def projected(rows: Sequence[Sparse], size: int, units: Numbers | None = None) -> tuple[Any, Numbers]:
    """Rows of fractions as CSR floats near 1, and the exponents of the units of the columns, if not given."""
    from scipy.sparse import csr_array

    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([k for row in rows for k in row], dtype=np.int64)
    parts = [_parts(value) for row in rows for value in row.values()]
    mantissas, exponents = np.array([m for m, _ in parts]), np.array([e for _, e in parts], dtype=np.int64)
    if units is None:
        units = np.full(size, np.iinfo(np.int64).min)
        np.maximum.at(units, indices, exponents)
        units[units == np.iinfo(np.int64).min] = 0
    shifted = exponents - units[indices]
    largest = np.zeros(len(rows), dtype=np.int64)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        largest[filled] = np.maximum.reduceat(shifted, indptr[filled])
    data = np.ldexp(mantissas, shifted - np.repeat(largest, np.diff(indptr)))
    return csr_array((data, indices, indptr), shape=(len(rows), size)), units


def _parts(value: Any) -> tuple[float, int]:
    """A mantissa near 1 and an exponent, for a number of any size."""
    exact = fraction(value)
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    scaled = exact / (1 << exponent) if exponent >= 0 else exact * (1 << -exponent)
    return float(scaled), exponent


def rounded(free: Floats, units: Numbers, bits: int) -> list[Any]:
    """Free numbers as fractions, in their own units, rounded to so many bits after the point."""
    from flint import fmpq

    values = []
    for value, unit in zip(free.tolist(), units.tolist(), strict=True):
        above, below = float(value).as_integer_ratio()
        shift = -bits - unit
        whole = ((above << bits) + below // 2) // below
        values.append(fmpq(whole << shift) if shift >= 0 else fmpq(whole, 1 << -shift))
    return values
