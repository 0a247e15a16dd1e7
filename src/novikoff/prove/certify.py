"""Is there a separator, how wide is its margin, and the proof."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.features.spool import comes_in_batches
from novikoff.prove.certificate import (
    Bracket,
    Certificate,
    Divergence,
    Obstruction,
    Support,
    Verdict,
    facts_about,
    separable_or_undecided,
)
from novikoff.prove.clock import Clock
from novikoff.prove.faces import SMALL, Answer, Face, Whole, decide, reduce_faces
from novikoff.prove.kesler import kesler_points, rows_and_rivals
from novikoff.prove.points import Points
from novikoff.prove.products import whole_points
from novikoff.prove.proofs import as_whole_floats, places_that_vary
from novikoff.prove.rational import nearest_point_exactly
from novikoff.prove.recession import divergences

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# The signs of diverging coefficients are worked out unasked if that means looking at no more numbers than this in all.
QUICK_TO_SIGN = 10_000_000
# Up to so many coordinates in all, a bracket that floats left too wide is narrowed in rationals.
MOST_TO_REFINE = 1_000_000


def certify(
    X: Any,
    y: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    kernel: str | None = None,
    diverging: bool | None = None,
    encoding: "Encoding | None" = None,
) -> Certificate:
    """Are the data linearly separable, with what margin, how many mistakes can a perceptron make, and why?

    Parameters
    ----------
    X, y : examples and labels, dense or CSR; with more than two labels the question is separability by argmax
        (Kesler's construction). One against the rest is `certify(X, y == label)`. Or X alone: a reader (see
        `novikoff.data.read`) or another iterable of batches (X, y). They may be larger than memory: a temporary cache
        is written, and passed over a few times.
    fit_intercept : whether planes may have a bias. It is folded in: margins are those of the theorem.
    tolerance : the largest relative gap of the margin's bracket.
    time_limit : seconds after which to give up as `undecided`, with the bracket reached.
    kernel : "precomputed" if X is a kernel matrix; then everything is float64.
    diverging : whether to work out which coefficients logistic regression sends to infinity, for two classes. By
        default it is done where it is quick: each such coefficient is another question of separability. On overlapping
        data there are none.
    encoding : how the records of a table become numbers; learned from them if not given.

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
    _check_parameters(tolerance, time_limit, kernel)
    deadline = Clock(time_limit)
    if comes_in_batches(X):
        if y is not None or kernel is not None:
            raise ValueError("batches have labels of their own, and are no kernel matrix: leave y and kernel out")
        from novikoff.prove.working_set import certify_batches

        return certify_batches(X, encoding, fit_intercept, tolerance, deadline, diverging)
    if y is None:
        raise ValueError("y is missing: a matrix needs its labels; only a reader or batches have their own")
    if kernel is not None:
        from novikoff.prove.feature_space import certify_kernel

        return certify_kernel(X, y, fit_intercept=fit_intercept, tolerance=tolerance, deadline=deadline)
    rows, labels = _checked(X, y)
    problem = "binary" if len(np.unique(labels)) == 2 else "argmax"
    points = (Points.of if problem == "binary" else kesler_points)(rows, labels, fit_intercept)
    facts = facts_about(rows, labels, fit_intercept, problem)
    names = getattr(X, "columns", None)
    facts["feature_names"] = None if names is None else tuple(map(str, names))

    return certify_points(points, facts, labels, tolerance, deadline, diverging)


def certify_points(
    points: Points, facts: dict[str, Any], y: NDArray[Any], tolerance: float, deadline: Clock, diverging: bool | None
) -> Certificate:
    """The certificate of points that are in memory; `facts` are those about the data, see `facts_about`."""
    answer = decide(Face(points, np.arange(points.n_points)), deadline, tolerance)
    wanted = False if facts["problem"] == "argmax" else diverging
    if answer.vector is not None:
        return _separable(points, facts, y, answer, tolerance, deadline, wanted)
    if answer.obstruction is not None:
        return _not_separable(points, facts, y, answer, deadline, wanted)
    return _undecided(points, facts, y, answer)


def _separable(
    points: Points,
    facts: dict[str, Any],
    y: NDArray[Any],
    answer: Answer,
    tolerance: float,
    deadline: Clock,
    wanted: bool | None,
) -> Certificate:
    """The bracket by floats; by rationals if floats left it too wide and the data are small."""
    nearest = answer.nearest
    certificate = None
    if nearest is not None and nearest.lower > 0:
        certificate = _with_support(points, facts, y, as_whole_floats(nearest.separator), nearest.rows, nearest.weights)
    if certificate is None or certificate.verdict is not Verdict.SEPARABLE or _gap(certificate) > tolerance:
        certificate = _exactly(points, facts, y, answer, deadline) or certificate
    if certificate is None:
        certificate = _with_support(points, facts, y, answer.vector or [], np.zeros(1, dtype=np.int64), np.ones(1))
    everything = np.arange(points.n_points)
    signs = _signs(points, answer.vector or [], everything[:0], everything, deadline, wanted)
    return replace(certificate, divergences=signs)


def _signs(
    points: Points,
    weak: Whole,
    face: NDArray[np.int64],
    left: NDArray[np.int64],
    deadline: Clock,
    wanted: bool | None,
) -> dict[int | str, Divergence] | None:
    """The diverging coefficients, if they are wanted, or if nobody said so and it is quick."""
    if wanted is None:
        places = range(points.dimension) if len(face) == 0 else places_that_vary(points, face, deadline)
        wanted = places is not None and len(places) * len(left) * points.dimension <= QUICK_TO_SIGN
    return divergences(points, weak, face, left, deadline) if wanted else None


def _with_support(
    points: Points,
    facts: dict[str, Any],
    y: NDArray[Any],
    vector: Whole,
    numbers: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> Certificate:
    order = np.argsort(numbers)
    numbers = numbers[order]
    support = Support(*_named(facts, y, numbers, tuple(weights[order].tolist())))
    return separable_or_undecided(points, facts, vector, support, numbers)


def _exactly(
    points: Points, facts: dict[str, Any], y: NDArray[Any], answer: Answer, deadline: Clock
) -> Certificate | None:
    """The nearest point in rationals, for data that floats bracket too widely; from where floats ended."""
    nearest, exact, vector = answer.nearest, answer.exact, answer.vector
    if exact is None:
        if points.n_points * points.dimension > (SMALL if nearest is None else MOST_TO_REFINE):
            return None
        rows, _ = whole_points(points, np.arange(points.n_points))
        exact = nearest_point_exactly(rows, deadline, None if nearest is None else nearest.rows.tolist())
        vector = None if exact is None else exact.direction
    if exact is None or vector is None:
        return None
    total = sum(exact.weights)
    weights = np.array([weight / total for weight in exact.weights])
    rows_used, weights_used = np.array(exact.rows)[weights > 0], weights[weights > 0]
    certificate = _with_support(points, facts, y, vector, rows_used, weights_used)
    return certificate if certificate.verdict is Verdict.SEPARABLE else None


def _not_separable(
    points: Points, facts: dict[str, Any], y: NDArray[Any], answer: Answer, deadline: Clock, wanted: bool | None
) -> Certificate:
    assert answer.obstruction is not None
    beyond = reduce_faces(points, answer.obstruction, deadline)
    order = np.argsort(beyond.obstruction.rows)
    weights = tuple(beyond.obstruction.weights[place] for place in order)
    obstruction = Obstruction(*_named(facts, y, beyond.obstruction.rows[order], weights))
    weak = None if beyond.weak_separator is None else tuple(beyond.weak_separator)
    verdict = Verdict.OVERLAPPING if weak is None else Verdict.QUASI_SEPARABLE
    signs: dict[int | str, Divergence] | None = {}
    if weak is not None:
        signs = _signs(points, list(weak), beyond.obstruction.rows, beyond.left, deadline, wanted)
    return Certificate(
        verdict if beyond.settled else Verdict.UNDECIDED,
        "exact",
        Bracket(0.0, 0.0),
        geometric_margin=0.0,
        mistake_bound=None,
        obstruction=obstruction,
        weak_separator=weak,
        divergences=signs if beyond.settled else None,
        **facts,
    )


def _undecided(points: Points, facts: dict[str, Any], y: NDArray[Any], answer: Answer) -> Certificate:
    nearest = answer.nearest
    if nearest is None:
        margin = Bracket(0.0, math.inf)
        return Certificate(Verdict.UNDECIDED, "float64", margin, geometric_margin=0.0, mistake_bound=None, **facts)
    return _with_support(points, facts, y, as_whole_floats(nearest.separator), nearest.rows, nearest.weights)


def _named(
    facts: dict[str, Any], y: NDArray[Any], numbers: NDArray[np.int64], weights: tuple[Any, ...]
) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...] | None]:
    """Points by their rows and, with many classes, rivals."""
    if facts["problem"] == "binary":
        return tuple(int(number) for number in numbers), weights, None
    rows, rivals = rows_and_rivals(y, np.asarray(numbers))
    return rows, weights, rivals


def _gap(certificate: Certificate) -> float:
    lower, upper = certificate.margin
    return (upper - lower) / upper if upper else 0.0


def _checked(X: Any, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
    """Rows and labels as arrays; what is wrong with them is named."""
    rows = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    labels = np.asarray(y)
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} dimension(s); examples are the rows of a matrix")
    if labels.shape != (rows.shape[0],):
        raise ValueError(f"y has shape {labels.shape}, but X has {rows.shape[0]} rows: one label a row is needed")
    if rows.dtype.kind not in "biuf":
        raise ValueError(
            f"X has the type {rows.dtype}; convert it to real numbers first, for example with X.astype(float)"
        )
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    entries = rows.data if hasattr(rows, "tocsr") else rows
    if not np.isfinite(entries).all():
        row, column = _first_not_finite(rows)
        raise ValueError(
            f"X contains NaN or infinity in row {row}, column {column}; impute or drop it before certifying"
        )
    if len(np.unique(labels)) < 2:
        raise ValueError(f"y has only one class, {np.unique(labels).tolist()}; two are needed to ask for a separator")
    return rows, labels


def _first_not_finite(rows: Any) -> tuple[int, int]:
    if not hasattr(rows, "tocsr"):
        row, column = np.argwhere(~np.isfinite(rows))[0]
        return int(row), int(column)
    place = int(np.flatnonzero(~np.isfinite(rows.data))[0])
    return int(np.searchsorted(rows.indptr, place, side="right")) - 1, int(rows.indices[place])


def _check_parameters(tolerance: float, time_limit: float | None, kernel: str | None) -> None:
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance={tolerance!r} must lie between 0 and 1")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} must be a positive number of seconds, or None")
    if kernel not in (None, "precomputed"):
        raise ValueError(f'kernel={kernel!r} is unknown; pass the kernel matrix as X with kernel="precomputed"')
