"""Does the maximum likelihood estimate exist? For GLMs, multinomial, ordinal, Cox and conditional models."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, Unpack

import numpy as np

from novikoff.engine.clock import Clock, OutOfTimeError, check_time_limit
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.codec import Combination
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.floats import power_of_two
from novikoff.prove.exact.ratios import Ratios, WholeRows
from novikoff.prove.exact.refined import WholeMatrix, mantissas_of
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.existence.conclude import EstimateWitnesses, SignProof
from novikoff.prove.existence.families import Cone, cone_of, must_be_below, start_cone
from novikoff.prove.existence.inputs import likelihood_of
from novikoff.prove.existence.likelihood import Likelihood, ModelOptions
from novikoff.prove.existence.rows import Sparse, Term, in_lowest_terms, rational, sums_of, with_scale
from novikoff.prove.separable.search.face import FaceProof, find_face
from novikoff.prove.separable.search.highs import solved_in_floats
from novikoff.prove.separable.search.scaled import ScaledRows
from novikoff.prove.separable.search.simplex import SingularError, WholeProgram, decide_exactly, decided_from

# Linear programs times their entries: beyond, signs are computed only if requested.
QUICK = 2_000_000


def existence(
    model: Any,
    data: Any = None,
    *,
    signs: bool | None = None,
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[ModelOptions],
) -> Existence:
    """Whether the maximum likelihood estimate of a model exists, which coefficients are infinite, and why.

    Pass a design X and a response y; or a formula and a table, where options name columns; or a model of statsmodels,
    fitted or not. All options after `data` are keywords. Rows with missing values are omitted, and counted.

    Parameters
    ----------
    model : array, sparse matrix, data frame, str or model
        X, or a formula such as `"income ~ age + C(job)"` (with the extra `formula`); fixed effects may follow a bar:
        `"trade ~ distance | origin + year"`. `"Surv(week, arrest) ~ age"` is a Cox model.
    data : array or data frame
        The response, or the table of the formula. For `binomial` zeros and ones, proportions, two labels, or a column
        of successes and one of failures; for `cox` the times, or columns (time, event) or (entry, time, event), where
        an event of 1 was observed, and 0 censored.
    signs : bool, optional
        Whether to compute the signs of infinite coefficients. By default, if that is quick.
    time_limit : float, optional
        Seconds after which to return what is known by then.
    progress : callable, optional
        Called with a short description of each step as it starts.

    Other Parameters
    ----------------
    family : str
        `binomial` (the default; with a logit, probit, cloglog or cauchit link), `log-binomial`, `poisson` (also PPML),
        `negative-binomial` with a given dispersion, `multinomial`, `ordinal`, `cox` or `conditional`.
    weights : array or column, optional
        Positive weights change nothing, and 0 drops a row.
    offset : array or column, optional
        It matters for `log-binomial` only.
    fixed_effects : mapping or data frame, optional
        Labels for every row, by name; in a formula they follow a bar. Each level gets an indicator, in a sparse matrix;
        the intercept is then omitted.
    strata : array or column, optional
        For `cox` and `conditional`.
    ties : str, optional
        For `cox`: `efron` (the default), `breslow` or `exact`. The answer is the same for the first two.
    reference : label, optional
        For `multinomial`: the class whose coefficients are 0. The first by default.
    success : label, optional
        For `binomial`, `log-binomial` and `conditional`: which of two labels counts as success. 1, or the second in
        order, by default.
    fit_intercept : bool
        Whether to add an intercept, if the family has one.

    Returns
    -------
    Existence
        True if the estimate exists. `print` it; `check` proves it again.

    Examples
    --------
    >>> from novikoff import existence
    >>> print(existence([[1, 30], [1, 40], [1, 50], [1, 60], [0, 30], [0, 40]], [1, 0, 1, 0, 0, 0]))
    Proved: this binomial regression has no maximum likelihood estimate; 2 of 3 coefficients are infinite.
      response           y: success is 1
      to +infinity       x0
      to -infinity       intercept
      finite             x1
      separated          2 of 6 rows (the first is 0): 4, 5
      what to do         merge rare levels; drop a column that determines the outcome; or report Firth's
                         estimate, which is finite, with profile-likelihood intervals: found.finite(),
                         or --finite (package firthmodels, pip install 'novikoff[firth]')
    """
    check_time_limit(time_limit)
    clock = Clock(time_limit, told=progress)
    clock.tell("looking at the data")
    likelihood = likelihood_of(model, data, **options)
    return certified(likelihood, signs, clock)


def certified(likelihood: Likelihood, signs: bool | None, clock: Clock) -> Existence:
    """Return the certificate; it claims only what could be derived from its witnesses in time.

    Elimination modulo a prime can be unlucky, so that the witnesses prove less than they should: then integer pivoting
    finds others.
    """
    for exactly in (False, True):
        found = find_witnesses(likelihood, signs, clock, exactly)
        clock.tell("proving what was found")
        if clock.is_over():
            break
        with suppress(OutOfTimeError, CertificateError):
            return Existence.of(likelihood, found, clock)
    return Existence.of(likelihood, replace(found, directions=found.directions[:1], obstruction=None, signs=()))


def find_witnesses(
    likelihood: Likelihood, signs: bool | None, clock: Clock, exactly: bool = False
) -> EstimateWitnesses:
    """Return witnesses of the answer, or of as much of it as was found in time; `exactly` without floats."""
    start: tuple[int, ...] | None = None
    try:
        if likelihood.family == "log-binomial":
            start, contradiction = _start(likelihood, clock)
            if start is None:
                return EstimateWitnesses(no_start=contradiction)
        clock.tell("searching for a direction")
        cone = cone_of(likelihood, clock)
        proof = find_face(ScaledRows.of_rows(cone.whole), clock, cone.is_equation, exactly=exactly)
    except (OutOfTimeError, SingularError):
        return EstimateWitnesses(start=start)
    if proof is None:
        return EstimateWitnesses(start=start)
    directions, proofs = find_signs(cone, proof, signs, clock)
    return EstimateWitnesses(
        tuple(cone.in_given_units(direction) for direction in directions),
        None if proof.rows is None else Combination(tuple(proof.rows.tolist()), tuple(proof.weights or ())),
        tuple(proofs),
        start,
    )


def _start(likelihood: Likelihood, clock: Clock) -> tuple[tuple[int, ...] | None, Combination | None]:
    """Return coefficients whose probabilities are at most 1, or rows that contradict each other. One more column
    measures by how much the rows that must be positive are."""
    cone, must = start_cone(likelihood), must_be_below(likelihood)
    rows = np.arange(len(must))
    ahead = Term(WholeMatrix.of_table([[-1]], 1), 0 * rows, must.astype(np.int64), 0 * rows + cone.size)
    whole = sums_of([Term(cone.whole, rows, 0 * rows + 1, 0 * rows), ahead], len(rows), cone.size + 1, clock)
    way, multiples = reach(ScaledRows.of_rows(whole), [0] * cone.size + [1], clock)
    if way is not None:
        return cone.in_given_units(way[:-1]), None
    used = [row for row, times in enumerate(multiples.numerators) if times]
    return None, Combination(tuple(used), tuple(with_scale([multiples.numerators[row] for row in used])[0]))


# -- the signs of infinite coefficients -------------------------------------------------------------------------------
#
# A direction of either sign, or rows that rule one sign out. All computations are in the null space of the face, which
# has few dimensions, and splits into components that no row connects. In a component of one dimension the answer is
# immediate; in larger ones a linear program gives it.


@dataclass(frozen=True, eq=False)
class _Component:
    """Free coordinates that rows connect, and these rows, by their numbers in the cone."""

    free: list[int]
    rows: dict[int, Sparse]

    @cached_property
    def _whole(self) -> tuple[ScaledRows, list[Any]]:
        """The rows as integers, and the factor of each."""
        places = {k: i for i, k in enumerate(self.free)}
        whole = in_lowest_terms(
            [{places[k]: value for k, value in row.items()} for row in self.rows.values()], len(places)
        )
        firsts = zip(whole.data[whole.indptr[:-1]].tolist(), self.rows.values(), strict=True)
        return ScaledRows.of_rows(whole), [rational(n) / next(iter(row.values())) for n, row in firsts]

    def reach(self, goal: Sparse, clock: Clock) -> tuple[Sparse | None, dict[int, Any]]:
        """Return free coordinates along which no row falls, with a positive product with the goal; or, if there are
        none, nonnegative multiples of rows that cancel the goal."""
        if len(self.free) == 1:
            (k,), (number, row) = self.free, next(iter(self.rows.items()))
            times = -rational(goal[k]) / row[k]
            return (None, {number: times}) if times > 0 else ({k: goal[k]}, {})
        rows, scales = self._whole
        target, scale = with_scale([goal.get(k, 0) for k in self.free])
        way, multiples = reach(rows, target, clock)
        if way is not None:
            return {k: rational(value) for k, value in zip(self.free, way, strict=True)}, {}
        own = zip(self.rows, multiples, scales, strict=True)
        return None, {number: rational(times) * own_scale / scale for number, times, own_scale in own if times}


def reach(rows: ScaledRows, goal: Sequence[int], clock: Clock) -> tuple[list[int] | None, Ratios]:
    """Return a vector along which no row falls, with a positive product with a goal; or, if there is none, nonnegative
    multiples of the rows that cancel the goal.

    The product is maximised in a box. If the optimum is 0, so is the dual value, and with it the multipliers of the
    box.

    >>> rows = ScaledRows.of_rows(WholeMatrix.of_table([[1, 0], [1, 1]], 2))
    >>> reach(rows, [0, -1], Clock(None)), reach(rows, [-2, -1], Clock(None))
    (([1, -1], []), (None, [Fraction(1, 1), Fraction(1, 1)]))
    """
    whole, (m, n) = rows.whole_rows, rows.matrix.shape
    if not any(goal):
        return None, Ratios([0] * m)
    table = WholeMatrix(-whole.data, whole.indices, whole.indptr, n)
    box, at_most_0 = np.ldexp(1.0, np.clip(-rows.columns, -1000, 1000)), (np.full(m, -np.inf), np.zeros(m))
    A, costs = -rows.matrix, [-value for value in goal]
    with np.errstate(over="ignore"):
        unscaled = A.copy()
        unscaled.data = np.ldexp(A.data, np.repeat(rows.rows, np.diff(A.indptr)) + rows.columns[A.indices])
    form = WholeProgram(
        WholeRows(table, [0] * m, [0] * m),
        WholeRows(table.transposed(), costs, [0] * n),
        np.append(-box, at_most_0[0]),
        np.append(box, at_most_0[1]),
        unscaled,
    )
    mantissas, exponents = mantissas_of(np.array(costs, dtype=object))
    exponents -= rows.columns
    scaled = np.ldexp(mantissas, exponents - exponents[mantissas != 0].max())
    guess = solved_in_floats(scaled, A, at_most_0, (-np.ones(n), np.ones(n)), clock)
    if clock.is_over():
        raise OutOfTimeError
    states = form.slack_basis() if guess is None else guess.states
    found = (decide_exactly if guess is None else decided_from)(form, states, clock)
    x, y = found.x or Ratios([]), found.y or Ratios([])
    if sum(map(mul, goal, x.numerators)) > 0:
        return with_scale(x.numerators)[0], Ratios([])
    return None, Ratios([-value for value in y.numerators], y.denominator)


def find_signs(
    cone: Cone, proof: FaceProof, wanted: bool | None, clock: Clock
) -> tuple[list[list[int]], list[SignProof]]:
    """Return directions, the first of which is positive wherever any is, and proofs of the signs of all diverging
    coefficients; fewer if that would take long or time runs out."""
    directions: list[list[int]] = [] if proof.weak is None else [proof.weak]
    proofs: list[SignProof] = []
    if proof.weak is None or proof.rows is None or wanted is False:
        return directions, proofs
    try:
        search = _SignSearch(cone, proof, directions, proofs, clock)
        if wanted is None and search.effort() > QUICK:
            return directions, proofs
        for number, place in enumerate(clock.through(search.open)):
            clock.tell(f"signs of coefficients, {number + 1:,} of {len(search.open):,}")
            search.settle(place, clock)
    except (OutOfTimeError, SingularError):
        pass
    return directions, proofs


class _SignSearch:
    def __init__(
        self, cone: Cone, proof: FaceProof, directions: list[list[int]], proofs: list[SignProof], clock: Clock
    ) -> None:
        assert proof.rows is not None  # else there is no search
        assert proof.weak is not None
        is_strict = np.zeros(cone.whole.n_rows, dtype=bool)
        is_strict[proof.beyond] = True
        on_the_face = np.union1d(proof.rows, np.flatnonzero(cone.is_equation))
        self.cone, self.directions, self.proofs = cone, directions, proofs
        self.null_space = cone.null_space(on_the_face, clock)
        rows, lines = cone.beyond(self.null_space, is_strict, clock)
        self.inner = dict(enumerate(self.null_space.free_numbers(proof.weak)))
        varying = (place for place in range(cone.size) if not self.null_space.is_fixed(place))
        self.open = [place for place in varying if not lines.times(self.null_space.expressions[place])]
        self.of_free = _connected(list(rows.values()), self.null_space.dimension)
        self.components = [_Component([], {}) for _ in range(max(self.of_free, default=-1) + 1)]
        for k, label in enumerate(self.of_free):
            self.components[label].free.append(k)
        for number, row in rows.items():
            self.components[self.of_free[next(iter(row))]].rows[number] = row

    def effort(self) -> int:
        """Return the total number of entries of the linear programs."""
        large = {c for c, part in enumerate(self.components) if len(part.free) > 1}
        asked = sum(any(self.of_free[k] in large for k in self.null_space.expressions[place]) for place in self.open)
        return asked * sum(len(row) for c in large for row in self.components[c].rows.values())

    def settle(self, place: int, clock: Clock) -> None:
        """For each sign that no direction has yet, find a direction or rule it out."""
        goal = self.null_space.expressions[place]
        for sign in sorted({1, -1} - {(d[place] > 0) - (d[place] < 0) for d in self.directions}):
            weights = self._ruled_out({k: sign * value for k, value in goal.items()}, clock)
            if weights is not None:
                unit = rational(power_of_two(-int(self.cone.exponents[place])))
                *whole, scale = as_whole([*(weights[row] * unit for row in sorted(weights)), Fraction(1)])
                self.proofs.append(SignProof(place, tuple(sorted(weights)), tuple(whole), scale))

    def _ruled_out(self, goal: Sparse, clock: Clock) -> dict[int, Any] | None:
        """Return multiples of rows that cancel a goal; None if a direction with a positive product was found."""
        parts: dict[int, Sparse] = {}
        for k, value in goal.items():
            parts.setdefault(self.of_free[k], {})[k] = value
        weights: dict[int, Any] = {}
        inner = self.inner
        for label, part in parts.items():
            component = self.components[label]
            way: Sparse | None = {k: inner[k] for k in component.free}
            if not _product(part, inner) > 0:
                way, multiples = component.reach(part, clock)
                weights |= multiples
            if way is not None:
                rest = abs(_product(goal, inner) - _product(part, inner))
                times = int(rest / _product(part, way)) + 1
                free = {**inner, **{k: value * times for k, value in way.items()}}
                self.directions.append(as_whole(self.null_space.vector(list(free.values()))))
                return None
        return weights


def _connected(rows: Sequence[Sparse], size: int) -> list[int]:
    """Return the component of each column."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    indptr = np.append(0, np.cumsum([len(row) for row in rows], dtype=np.int64))
    indices = np.array([k for row in rows for k in row], dtype=np.int64)
    links = csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), size))
    labels: list[int] = connected_components(links.T @ links, directed=False)[1].tolist()
    return labels


def _product(a: Sparse, b: Sparse) -> Any:
    return sum(value * b[k] for k, value in a.items() if k in b)
