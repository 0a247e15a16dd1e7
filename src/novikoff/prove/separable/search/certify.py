"""Certify whether data are linearly separable, with what margin, and prove it."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Examples
from novikoff.engine.clock import Clock, OutOfTimeError, check_time_limit
from novikoff.features.examples import comes_in_batches, comes_once
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.existence.regression import regression, why_none
from novikoff.prove.separable.certificate import Certificate, Obstruction, Support, Witnesses
from novikoff.prove.separable.conclude import Data, InMemory, conclude, off_points, places_of_no_bias
from novikoff.prove.separable.in_blocks import InBlocks, exactly
from novikoff.prove.separable.kernels import ExactKernel
from novikoff.prove.separable.kesler import rows_and_rivals
from novikoff.prove.separable.products import whole_points
from novikoff.prove.separable.proofs import as_whole_floats, lower_square, upper_square
from novikoff.prove.separable.question import Verdict
from novikoff.prove.separable.search.gordan import Answer, decide, reduce_faces
from novikoff.prove.separable.search.wolfe import nearest_point_exactly

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# Bytes of points up to which all are in memory; of more, a working set of about this size.
MEMORY = 256_000_000
# Coordinates in all up to which a bracket that floats left too wide is narrowed in rationals.
SMALL = 40_000


def certify(
    X: Any,
    y: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    kernel: str | None = None,
    gamma: float | None = None,
    degree: int | None = None,
    coef0: float | None = None,
    diverging: bool = False,
    encoding: "Encoding | None" = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Decide whether data are linearly separable, bound the margin and a perceptron's mistakes, and prove it.

    Parameters
    ----------
    X, y : examples and labels, dense or CSR; with more than two labels the question is separability by argmax
        (Kesler's construction). One against the rest is `certify(X, y == label)`. Or X alone: a reader (see
        `novikoff.data.read`) or another iterable of batches (X, y). They may be larger than memory: a temporary cache
        is written, and read a few times.
    fit_intercept : whether to fit an intercept. It is folded in: margins are those of the theorem.
    tolerance : the largest relative gap of the margin's bracket; a warning is issued if it is missed.
    time_limit : seconds after which to stop: `undecided`, with the bracket reached, or `not separable`, if that is
        proved but not whether the data are quasi-separable or overlapping.
    kernel, gamma, degree, coef0 : the question in the feature space of a kernel, for two classes: "linear",
        "poly" ((gamma <x, z> + coef0)^degree), "rbf" (exp(-gamma ||x - z||^2)), "laplacian"
        (exp(-gamma ||x - z||_1)), or "precomputed" if X is a kernel matrix; then all claims are about that matrix.
        A reader's rows are then read into memory, at most 10,000.
    diverging : whether to find which estimates of the regression of y on the columns are infinite, with their signs:
        the result of `existence`, as `estimates`. It may take much longer than the verdict.
    encoding : how the records of a table become numbers; learned from them if not given.
    progress : called with a short description of every step.

    Returns
    -------
    Certificate : `verdict`, `margin`, `radius`, `mistake_bound`, `separator`, `support` or `obstruction`, ...;
        it prints as a paragraph, and `check(X, y)`, or `check` of the reader, proves every claim again.

    Examples
    --------
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> certificate = certify(X, [-1, 1, 1, -1, -1, 1], fit_intercept=False)
    >>> certificate.verdict, certificate.margin, certificate.mistake_bound
    (<Verdict.SEPARABLE: 'separable'>, Bracket(lower=1.0, upper=1.0), 5)

    XOR is not separable: the four examples, times their labels, cancel.

    >>> certificate = certify([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1])
    >>> certificate.verdict.value, certificate.obstruction.weights
    ('overlapping', (1, 1, 1, 1))
    >>> certificate.check([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1])
    """
    chosen = _kernel(kernel, gamma, degree, coef0)
    check_parameters(tolerance, time_limit)
    clock = Clock(time_limit, told=progress)
    asked: dict[str, Any] = {"fit_intercept": fit_intercept, "tolerance": tolerance, "time_limit": time_limit}
    if comes_in_batches(X):
        if y is not None or (chosen is not None and chosen.form == "precomputed"):
            raise ValueError("batches contain their labels and cannot be a kernel matrix: omit y, or pass arrays")
        if diverging and comes_once(X):
            raise ValueError("infinite estimates need a second pass over the data: give them in arrays, or in a file")
        with exactly(X, encoding) as examples:
            if diverging:
                check_regression(examples, fit_intercept, chosen)
            found = _of_examples(examples, chosen, progress=progress, **asked)
            if diverging:
                found = with_estimates(found, X if found.table is not None else examples, None, clock)
    elif y is None:
        raise ValueError("y is missing: a matrix needs its labels; only a reader or batches have their own")
    elif chosen is not None:
        from novikoff.prove.separable.search.kernel import certify_kernel

        if diverging:
            raise ValueError("a kernel has no columns, and so no estimates of coefficients; leave out diverging=True")

        found = certify_kernel(X, y, chosen, progress=progress, **asked)
    else:
        data = InMemory.of(X, y, fit_intercept)
        found = concluded(data, find_witnesses(data, tolerance, clock), clock)
        if diverging:
            found = with_estimates(found, X, y, clock)
    return warned_if_wide(found, tolerance)


def check_regression(examples: Examples, fit_intercept: bool, kernel: ExactKernel | None = None) -> None:
    """Raise ValueError, before any search, for examples without a regression that fits into memory."""
    data = InBlocks(examples, fit_intercept)
    about = data.about
    why = why_none(about.classes, fit_intercept, about.table, kernel)
    if why is None and data.bytes_per_row * data.n_rows > MEMORY:
        why = f"the design of these {data.n_rows:,} rows is larger than {MEMORY / 1e6:.0f} MB"
    if why is not None:
        raise ValueError(f"infinite estimates cannot be computed: {why}")


def with_estimates(found: Certificate, X: Any, y: ArrayLike | None, clock: Clock) -> Certificate:
    """The same with the result of `existence` for the regression of the labels on the columns."""
    from novikoff.prove.existence.search.existence import certified

    clock.tell("infinite estimates")
    return replace(found, estimates=certified(regression(X, y, found), True, clock))


def _of_examples(examples: Examples, kernel: ExactKernel | None, **asked: Any) -> Certificate:
    """Certify examples in blocks; in the space of a kernel, a few that are read into memory."""
    if kernel is not None:
        from novikoff.prove.separable.search.kernel import certify_kernel

        return certify_kernel(examples, None, kernel, **asked)
    from novikoff.prove.separable.search.working_set import certify_examples

    return certify_examples(examples, **asked)


def concluded(data: Data, found: Witnesses, clock: Clock) -> Certificate:
    """The certificate, without claims that cannot be proved exactly in the available memory and time."""
    clock.tell("proving what was found")
    if not clock.is_over():
        with suppress(MemoryError, CertificateError, OutOfTimeError):
            return conclude(data, found, clock)
    return conclude(data, found.without_span())


def warned_if_wide(certificate: Certificate, tolerance: float) -> Certificate:
    """The same, with a warning if the gap of its bounds exceeds the tolerance."""
    if certificate.verdict is Verdict.SEPARABLE and certificate.margin.lower > 0 and certificate.gap > tolerance:
        warnings.warn(
            f"the bounds of the margin are {certificate.gap:.1e} apart, relatively, and {tolerance:g} was asked for; "
            "both are true, and more time may bring them closer",
            stacklevel=3,
        )
    return certificate


def find_witnesses(data: InMemory, tolerance: float, clock: Clock) -> Witnesses:
    """Witnesses that the points are separable, or that they are not, or of an upper bound on the margin."""
    columns = data.points.columns_of(np.arange(data.points.n_points))  # the others cost nothing
    points = data.points.in_columns(columns)
    answer = decide(points, clock, tolerance)
    if answer.obstruction is not None:
        return _not_separable(
            data, columns, answer if answer.settled else reduce_faces(points, answer.obstruction, clock)
        )
    return _separable(data, columns, answer, tolerance, clock)


def _separable(data: InMemory, columns: NDArray[np.int64], answer: Answer, tolerance: float, clock: Clock) -> Witnesses:
    """The bracket from floats; from rationals if it is too wide and the data are small."""
    points, nearest, vector = data.points.in_columns(columns), answer.nearest, answer.vector
    numbers, weights = np.zeros(1, dtype=np.int64), np.ones(1)
    if nearest is not None:
        numbers, weights, widest = nearest.rows, nearest.weights, as_whole_floats(nearest.separator)
        vector = widest if lower_square(points, widest) is not None else vector
    elif vector is None:
        return Witnesses()
    if vector is not None and points.n_points * points.dimension <= SMALL:
        lower, upper = lower_square(points, vector), upper_square(points, numbers, weights)
        is_wide = lower is None or lower < upper * Fraction(1 - tolerance) ** 2
        exact = nearest_point_exactly(whole_points(points)[0], clock) if is_wide else None
        if exact is not None and lower_square(points, exact.direction) is not None:
            shares = np.array([weight / sum(exact.weights) for weight in exact.weights])
            vector, numbers, weights = exact.direction, np.array(exact.rows)[shares > 0], shares[shares > 0]
    support = _support(data, numbers, weights)
    return Witnesses(vector=None if vector is None else _vector(data, columns, vector), support=support)


def _not_separable(data: InMemory, columns: NDArray[np.int64], answer: Answer) -> Witnesses:
    found, weak = answer.obstruction, answer.weak_separator
    assert found is not None
    order = np.argsort(found.rows)
    rows, rivals = _named(data, found.rows[order])
    weights = tuple(found.weights[place] for place in order)
    obstruction = Obstruction(rows, weights, spans=answer.settled and weak is None, rivals=rivals)
    return Witnesses(obstruction=obstruction, weak_separator=None if weak is None else _vector(data, columns, weak))


def _named(data: InMemory, numbers: NDArray[np.int64]) -> tuple[tuple[int, ...], tuple[Any, ...] | None]:
    """The rows of points and, with many classes, rivals."""
    return rows_and_rivals(data.labels, numbers) if data.subject.problem.has_rivals else (tuple(numbers.tolist()), None)


def _support(data: InMemory, numbers: NDArray[np.int64], weights: NDArray[np.float64]) -> Support:
    order = np.argsort(numbers)
    rows, rivals = _named(data, numbers[order])
    return Support(rows, tuple(weights[order].tolist()), rivals)


def _vector(data: InMemory, columns: NDArray[np.int64], whole: Sequence[int]) -> tuple[int, ...]:
    """A vector of the points in these columns for a certificate: with 0 for columns and biases that no point has."""
    wide = [0] * data.points.dimension
    for column, value in zip([*columns.tolist(), -1], whole, strict=True):
        wide[column] = value
    vector = list(off_points(data.subject, wide))
    for place in places_of_no_bias(data.subject):
        vector[place] = 0
    return tuple(vector)


def _kernel(form: Any, gamma: float | None, degree: int | None, coef0: float | None) -> ExactKernel | None:
    if form is not None:
        return ExactKernel(form, gamma=gamma, degree=degree, coef0=coef0)
    for name, value in (("gamma", gamma), ("degree", degree), ("coef0", coef0)):
        if value is not None:
            raise ValueError(f"{name}={value!r} belongs to a kernel; name it with kernel=, or leave {name} out")
    return None


def check_parameters(tolerance: float, time_limit: float | None) -> None:
    """Raise ValueError for an invalid tolerance or time limit."""
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance={tolerance!r} must lie between 0 and 1")
    check_time_limit(time_limit)
