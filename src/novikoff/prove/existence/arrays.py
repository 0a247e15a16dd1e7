"""A likelihood from arrays: every number is used exactly as given, or refused with its position."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.labels import checked_labels
from novikoff.data.missing import is_missing
from novikoff.prove.exact.codec import plain_label
from novikoff.prove.exact.given_numbers import exact_floats, exact_matrix
from novikoff.prove.existence.families import check_different, names_of
from novikoff.prove.existence.likelihood import (
    COLUMNS,
    NUMBERS,
    TIES,
    Effect,
    Family,
    Floats,
    Formula,
    Likelihood,
    ModelOptions,
    given_positions,
)
from novikoff.say.estimates import TWO_OUTCOMES

# Other common names of families.
ALIASES = dict.fromkeys(("logit", "logistic", "probit", "cloglog", "cauchit"), "binomial") | {
    "ppml": "poisson",
    "negbin": "negative-binomial",
    "mnlogit": "multinomial",
    "ordered": "ordinal",
    "clogit": "conditional",
}
_OTHERS = ("gamma", "inverse-gaussian", "tweedie")
REFUSED = dict.fromkeys(_OTHERS, "its likelihood is bounded by other conditions") | {
    "gaussian": "least squares always have an estimate; it is unique unless columns are collinear"
}
# The families with an intercept.
WITH_INTERCEPT = ("binomial", "log-binomial", "poisson", "negative-binomial", "multinomial")


def family_named(family: str | None) -> Family:
    """Return the family with this name or alias.

    >>> family_named("probit"), family_named("Negative Binomial")
    ('binomial', 'negative-binomial')
    """
    if family is None:
        raise ValueError(f"pass family=: one of {', '.join(NUMBERS)}")
    name = str(family).strip().lower().replace(" ", "-").replace("_", "-")
    name = ALIASES.get(name, name)
    if name in REFUSED:
        raise ValueError(f"the family {family!r} is not one of {', '.join(NUMBERS)}: {REFUSED[name]}")
    if name not in NUMBERS:
        raise ValueError(f"there is no family {family!r}; there are {', '.join(NUMBERS)}")
    return name


def from_arrays(
    X: Any,
    y: Any,
    options: ModelOptions,
    *,
    names: Sequence[str] | None = None,
    formula: Formula | None = None,
    row_labels: Any = None,
    omitted: tuple[int, ...] = (),
) -> Likelihood:
    """Return the likelihood of a family on a design X and a response y; see `existence`. Incomplete rows are omitted.

    The design may come from a formula, with `names` of columns, and without the rows `omitted` before. Without
    `row_labels`, rows are labelled by the index of their frame.
    """
    family = family_named(options.get("family"))
    _check_options(family, options)
    if options.get("fixed_effects") is not None:
        options = ModelOptions(**{**options, "fixed_effects": _named_effects(options["fixed_effects"])})
    labels = next((found for found in (row_labels, row_labels_of(X), row_labels_of(y)) if found is not None), None)
    n_rows = (getattr(X, "shape", None) or (len(X),))[0]
    labels = None if labels is None or len(labels) != n_rows else labels
    (X, y, labels), options, rows = without_missing([X, y, labels], [X, y], options, n_rows)
    omitted = tuple(sorted((*omitted, *given_positions(rows, omitted))))
    fixed_effects = options.get("fixed_effects") or {}
    has_intercept = options.get("fit_intercept", True) and family in WITH_INTERCEPT and not fixed_effects
    design, columns, effects = _design(X, names, bool(has_intercept), fixed_effects)
    n = design.shape[0]
    weights = options.get("weights")
    numbers = {"weight": np.ones(n) if weights is None else _one_a_row(weights, "weights", n, least=0.0)}
    offset = None if options.get("offset") is None else _one_a_row(options["offset"], "offset", n)
    response, classes = _response(family, y, options, numbers["weight"])
    numbers |= response
    if family == "log-binomial":
        numbers["offset"] = np.zeros(n) if offset is None else offset
    if family in ("cox", "conditional") and options.get("strata") is not None:
        numbers["stratum"] = _codes(options["strata"], "strata", n)[0].astype(np.float64)
    check_different(names_of(family, columns, classes))
    ties: Any = (options.get("ties") or "efron") if family == "cox" else None
    return Likelihood(family, design, columns, numbers, classes, ties, effects, formula, omitted, labels, offset)


def row_labels_of(table: Any) -> Any:
    """Return the index of a pandas frame or series; None for anything else."""
    return table.index if hasattr(table, "iloc") and hasattr(table, "index") else None


# The families that support options not common to all.
MEANT_FOR = {"strata": ("cox", "conditional"), "reference": ("multinomial",), "success": TWO_OUTCOMES}


def _check_options(family: str, options: ModelOptions) -> None:
    for name, value in options.items():
        if name not in ModelOptions.__annotations__:
            known = ", ".join(ModelOptions.__annotations__)
            raise TypeError(f"existence has no option {name!r}; there are {known}, signs, time_limit and progress")
        if value is not None and family not in MEANT_FOR.get(name, (family,)):
            raise ValueError(f"{name}= has no meaning for the family {family!r}; leave it out")
    ties = options.get("ties")
    if ties is not None and (family != "cox" or ties not in TIES):
        raise ValueError(f"ties={ties!r} must be one of {', '.join(TIES)}, and belongs to the family 'cox'")
    if family == "conditional" and options.get("strata") is None:
        raise ValueError("conditional logistic regression compares the members of a stratum; name these by strata=")


# -- columns ----------------------------------------------------------------------------------------------------------


def _design(
    X: Any, names: Sequence[str] | None, has_intercept: bool, fixed_effects: Mapping[str, Any]
) -> tuple[Any, tuple[str, ...], tuple[Effect, ...]]:
    """Return the columns in CSR floats: an intercept, those of X, and an indicator for every level of an effect; in all
    effects but the first, one level is the reference and has none."""
    from scipy.sparse import csr_array, hstack

    if names is None and hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2:
        names = [str(name) for name in X.columns]
    if isinstance(X, Sequence) and len(X) == 0:
        raise ValueError("X has no rows")
    try:
        rows = exact_matrix(X)
    except ValueError as error:
        if "not an array of numbers" not in str(error):
            raise
        raise ValueError(f"{error}; or write a formula, which makes columns of words") from None
    n = rows.shape[0]
    if n == 0:
        raise ValueError("X has no rows")
    columns = [f"x{j}" for j in range(rows.shape[1])] if names is None else list(names)
    if len(columns) != rows.shape[1]:
        raise ValueError(f"there are {len(columns)} names for {rows.shape[1]} columns")
    parts, effects = [csr_array(rows, dtype=np.float64)], list[Effect]()
    if has_intercept:
        if "intercept" in columns:
            raise ValueError("a column is called 'intercept'; rename it, or pass fit_intercept=False")
        parts, columns = [csr_array(np.ones((n, 1))), *parts], ["intercept", *columns]
    for name, values in fixed_effects.items():
        codes, levels = _codes(values, f"the fixed effect {name!r}", n)
        first = int(len(effects) > 0)
        parts.append(csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, len(levels)))[:, first:])
        effects.append((name, len(columns), len(columns) + len(levels) - first))
        columns += [f"{name}={level}" for level in levels[first:]]
    if not columns:
        raise ValueError("X has no columns, and there is no intercept: there is nothing to estimate")
    design = csr_array(hstack(parts, format="csr"))
    design.eliminate_zeros()
    design.sort_indices()
    return design, tuple(columns), tuple(effects)


def _named_effects(given: Any) -> dict[str, Any]:
    """Return fixed effects, a mapping or the columns of a frame, as labels for every row, by name."""
    names = given.columns if hasattr(given, "columns") else given if isinstance(given, Mapping) else None
    if names is None:
        raise ValueError("fixed_effects must be a mapping from names to labels for every row, or a data frame")
    return {str(name): given[name] for name in names}


# -- the response -----------------------------------------------------------------------------------------------------


def _response(
    family: str, y: Any, options: ModelOptions, weights: Floats
) -> tuple[dict[str, Floats], tuple[Any, ...] | None]:
    """Return the numbers of a response, and its labels if it has any."""
    n = len(weights)
    if family in ("binomial", "log-binomial"):
        return _binomial_response(y, n, options.get("success"))
    if family in ("multinomial", "ordinal"):
        codes, labels = _classes(y, weights, options.get("reference"))
        return {"class": codes.astype(np.float64)}, labels
    if family == "conditional":
        case, classes = _two_outcomes(y, n, options.get("success"))
        return {"case": case}, classes
    if family == "cox":
        return _survival(y, n), None
    return {"count": _one_a_row(y, "y", n, least=0.0)}, None


def _binomial_response(y: Any, n: int, success: Any) -> tuple[dict[str, Floats], tuple[Any, ...] | None]:
    if np.ndim(y) == 2 and np.shape(y)[1] == 2:
        counts = exact_floats(np.asarray(y), "y")
        if counts.shape != (n, 2) or (counts < 0).any():
            raise ValueError(f"y has shape {counts.shape}; successes and failures are two columns of counts, {n} rows")
        if success is not None:
            raise ValueError("success= chooses between two labels, and y has counts: the first column is successes")
        return {"successes": counts[:, 0], "failures": counts[:, 1]}, None
    won, classes = _two_outcomes(y, n, success, shares=True)
    return {"successes": won, "failures": 1.0 - won}, classes


def _two_outcomes(y: Any, n: int, success: Any, *, shares: bool = False) -> tuple[Floats, tuple[Any, ...] | None]:
    """Return 1 for every success; and the labels, that of success last, unless they are 0 and 1."""
    labels = checked_labels(y)
    _check_length(labels, "y", n)
    if labels.dtype.kind in "biuf" and (success is None or str(plain_label(success)) == "1"):
        numbers = exact_floats(labels, "y")
        is_wrong = (numbers < 0) | (numbers > 1) if shares else ~np.isin(numbers, (0.0, 1.0))
        if not is_wrong.any():
            return numbers, None
    values = sorted(set(labels.tolist()))
    if len(values) != 2:
        kind = "zeros and ones, proportions between them," if shares else "zeros and ones"
        raise ValueError(f"y has {len(values)} different values; it needs {kind} or two labels")
    if success is not None:
        won = chosen_label("success", success, values)
        values.sort(key=lambda value: value == won)
    return (labels == values[1]).astype(np.float64), tuple(map(plain_label, values))


def chosen_label(option: str, label: Any, labels: Sequence[Any]) -> Any:
    """Return the label that an option names, which may be given as text.

    >>> chosen_label("success", "1", [0, 1])
    1
    """
    found = [
        value for value in labels if value == label or (isinstance(label, str) and str(plain_label(value)) == label)
    ]
    if not found:
        raise ValueError(f"{option}={label!r} is not among the classes {', '.join(map(str, labels[:20]))}")
    return found[0]


def _classes(y: Any, weights: Floats, reference: Any) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return labels as indices among those with positive weight, in their own order if they have one, but for a
    reference, which comes first."""
    order = list(y.cat.categories) if hasattr(y, "cat") else None
    order = list(y.categories) if order is None and hasattr(y, "categories") else order
    labels = checked_labels(np.asarray(y))
    _check_length(labels, "y", len(weights))
    present = set(labels[weights > 0].tolist())
    classes = [value for value in order if value in present] if order is not None else sorted(present)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} classes; at least two are required")
    if reference is not None:
        first = chosen_label("reference", reference, classes)
        classes.sort(key=lambda value: value != first)
    places = {value: place for place, value in enumerate(classes)}
    codes = np.array([places.get(value, 0) for value in labels.tolist()], dtype=np.int64)
    return codes, tuple(map(plain_label, classes))


def _survival(y: Any, n: int) -> dict[str, Floats]:
    """Return the numbers of times; or of columns (time, event) or (entry, time, event)."""
    table = exact_floats(np.asarray(y) if hasattr(y, "iloc") else y, "y")
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != n or table.shape[1] not in (1, 2, 3):
        raise ValueError(
            f"y has shape {np.shape(y)}; for {n} rows cox needs {n} times, or the columns (time, event) or (entry, "
            "time, event)"
        )
    names = ("time", "event") if table.shape[1] < 3 else ("entry", "time", "event")
    found = dict(zip(names, table.T, strict=False))
    time, event = found["time"], found.get("event", np.ones(n))
    if not np.isin(event, (0.0, 1.0)).all():
        raise ValueError("event has values other than 0 and 1: 1 where the event was seen, 0 where it was censored")
    late = np.flatnonzero(found.get("entry", -np.inf) >= time)
    if len(late):
        raise ValueError(f"row {late[0]} enters at {found['entry'][late[0]]} and leaves at {time[late[0]]}")
    return {**found, "event": event}


# -- numbers of rows --------------------------------------------------------------------------------------------------


def _one_a_row(values: Any, name: str, n: int, *, least: float = -np.inf) -> Floats:
    numbers = exact_floats(np.asarray(values) if hasattr(values, "iloc") else values, name)
    numbers = numbers.ravel() if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
    _check_length(numbers, name, n)
    low = np.flatnonzero(numbers < least)
    if len(low):
        raise ValueError(f"{name} is {numbers[low[0]]} in row {low[0]}; counts and weights are not negative")
    return numbers


def _check_length(values: NDArray[Any], name: str, n: int) -> None:
    if values.shape != (n,):
        raise ValueError(f"{name} has shape {values.shape}, but X has {n} rows: one value a row is needed")


def _codes(values: Any, name: str, n: int) -> tuple[NDArray[np.int64], list[Any]]:
    """Return labels as indices among the distinct ones, which are sorted."""
    labels = checked_labels(np.asarray(values), name)
    _check_length(labels, name, n)
    levels, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), [plain_label(level) for level in levels]


# -- missing values ---------------------------------------------------------------------------------------------------


def without_missing(
    given: Sequence[Any], watched: Sequence[Any], options: ModelOptions, n_rows: int
) -> tuple[list[Any], ModelOptions, tuple[int, ...]]:
    """Return the data, each with a value for each of `n_rows`, and the options, without the rows in which a watched
    value or an option is missing, as R does; and the positions of these rows. None, NaN, NaT and NA are missing."""
    effects: Mapping[str, Any] = options.get("fixed_effects") or {}
    roles = {name: options.get(name) for name in COLUMNS}
    masks = map(_is_missing, [*watched, *roles.values(), *effects.values()])
    is_incomplete = np.zeros(n_rows, dtype=bool)
    for mask in masks:
        if mask.shape == (n_rows,):  # a wrong length is refused elsewhere
            is_incomplete |= mask
    if not is_incomplete.any():
        return list(given), options, ()
    if is_incomplete.all():
        raise ValueError(f"each of the {n_rows:,} rows has a missing value; leave out the column that has none")
    kept = np.flatnonzero(~is_incomplete)
    changed: Any = {**options, **{name: _in_rows(values, kept) for name, values in roles.items()}}
    changed["fixed_effects"] = {name: _in_rows(values, kept) for name, values in effects.items()} or None
    return [_in_rows(values, kept) for values in given], changed, tuple(np.flatnonzero(is_incomplete).tolist())


def _in_rows(values: Any, rows: NDArray[np.int64]) -> Any:
    if values is None:
        return None
    if isinstance(values, list | tuple):
        return [values[row] for row in rows.tolist()]
    values = values.tocsr() if hasattr(values, "tocsr") else values
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


def _is_missing(values: Any) -> NDArray[np.bool_]:
    """Which rows have a missing value; empty for values that have no rows."""
    if values is None:
        return np.zeros(0, dtype=bool)
    if hasattr(values, "tocsr"):
        rows = values.tocsr()
        bad = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[rows.data != rows.data]
        return np.isin(np.arange(rows.shape[0]), bad)
    if hasattr(values, "isna"):
        mask = np.asarray(values.isna())
    else:
        try:  # NumPy would convert missing values in a list of strings to strings
            array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
        except ValueError:  # a ragged list
            return np.zeros(0, dtype=bool)
        mask = np.frompyfunc(is_missing, 1, 1)(array).astype(bool) if array.dtype == object else array != array
    return np.asarray(mask.any(axis=tuple(range(1, mask.ndim)))) if mask.ndim else np.zeros(0, dtype=bool)
