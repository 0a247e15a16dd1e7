"""Does the maximum likelihood estimate exist? For GLMs, multinomial, ordinal, Cox and conditional models."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from novikoff.engine.clock import Clock, OutOfTimeError, check_time_limit
from novikoff.prove.exact.codec import Combination
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.existence.conclude import Estimate, EstimateClaims, EstimateWitnesses
from novikoff.prove.existence.families import cone_of, must_be_below, start_cone
from novikoff.prove.existence.inputs import likelihood_of
from novikoff.prove.existence.likelihood import Likelihood, ModelOptions
from novikoff.prove.existence.rows import Term, sums_of, with_scale
from novikoff.prove.existence.search.signs import find_signs, reach
from novikoff.prove.separable.search.face import find_face
from novikoff.prove.separable.search.scaled import ScaledRows
from novikoff.prove.separable.search.simplex import SingularError


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
    fixed_effects : mapping, data frame, array or names of columns, optional
        Labels for every row. Each level gets an indicator, in a sparse matrix; the intercept is then omitted.
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
    plain = replace(found, directions=found.directions[:1], obstruction=None, signs=())
    if plain == EstimateWitnesses():  # an empty claim needs no cone, which there may have been no time to build
        return Existence.from_claims(likelihood, EstimateClaims(Estimate.UNDECIDED), plain)
    return Existence.of(likelihood, plain)


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
    found_signs = find_signs(cone, proof, signs, clock)
    return EstimateWitnesses(
        tuple(cone.in_given_units(direction) for direction in found_signs.directions),
        None if proof.rows is None else Combination(tuple(proof.rows.tolist()), tuple(proof.weights or ())),
        tuple(found_signs.proofs),
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
