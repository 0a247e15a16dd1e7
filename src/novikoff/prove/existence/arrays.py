"""A likelihood from arrays: every number is used exactly as given, or refused with its position."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.labels import checked_labels
from novikoff.prove.exact.given_numbers import exact_floats, exact_matrix
from novikoff.prove.existence.families import check_different, names_of
from novikoff.prove.existence.likelihood import (
    NUMBERS,
    TIES,
    Effect,
    Floats,
    Likelihood,
    ModelOptions,
    Origin,
    RowNames,
)
from novikoff.prove.existence.missing import omitted_in_all, without_missing
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


def family_named(family: str | None) -> str:
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


def from_arrays(X: Any, y: Any, options: ModelOptions, origin: Origin | None = None) -> Likelihood:
    """Return the likelihood of a family on a design X and a response y; see `existence`. Incomplete rows are omitted.

    If the origin has no labels, rows are labelled by the index of their frame.
    """
    family = family_named(options.get("family"))
    _check_options(family, options)
    X, y, options, origin = _complete(X, y, options, origin or Origin())
    design, columns = _design(X, origin.names)
    n, fixed_effects = design.shape[0], options.get("fixed_effects")
    effects: tuple[Effect, ...] = ()
    if options.get("fit_intercept", True) and family in WITH_INTERCEPT and fixed_effects is None:
        design, columns = _with_intercept(design, columns)
    if fixed_effects is not None:
        design, columns, effects = _with_effects(design, columns, fixed_effects)
    if not columns:
        raise ValueError("X has no columns, and there is no intercept: there is nothing to estimate")
    numbers = {"weight": _weights(options.get("weights"), n)}
    offset = None if options.get("offset") is None else _one_a_row(options["offset"], "offset", n)
    response, classes = _response(family, y, options, numbers["weight"])
    numbers |= response
    if family == "log-binomial":
        numbers["offset"] = np.zeros(n) if offset is None else offset
    if family == "cox":
        numbers |= _survival(numbers["time"], options.get("event"), options.get("entry"))
    if family in ("cox", "conditional") and options.get("strata") is not None:
        numbers["stratum"] = _codes(options["strata"], "strata", n)[0].astype(np.float64)
    check_different(names_of(family, columns, classes))
    return Likelihood(
        family, design, columns, numbers, classes, (options.get("ties") or "efron") if family == "cox" else None,
        effects, origin.formula, origin.omitted, RowNames.of(n, origin.row_labels, origin.omitted), offset,
    )  # fmt: skip


def _complete(X: Any, y: Any, options: ModelOptions, origin: Origin) -> tuple[Any, Any, ModelOptions, Origin]:
    """Return the input without incomplete rows, whose positions are added to those omitted before."""
    shape = getattr(X, "shape", None) or (len(X),)
    labels = [origin.row_labels, row_labels_of(X), row_labels_of(y)]
    given = {"X": X, "y": y, "labels": next((found for found in labels if found is not None), None)}
    if options.get("fixed_effects") is not None:
        options = ModelOptions(**{**options, "fixed_effects": named_effects(options["fixed_effects"])})
    left, options, rows = without_missing(given, {"X": X, "y": y}, options, shape[0])
    omitted = omitted_in_all(origin.omitted, rows, shape[0])
    return left["X"], left["y"], options, replace(origin, row_labels=left["labels"], omitted=omitted)


def row_labels_of(table: Any) -> Any:
    """Return the index of a pandas frame or series; None for anything else."""
    return table.index if hasattr(table, "iloc") and hasattr(table, "index") else None


# The families that support options not common to all.
MEANT_FOR = {"strata": ("cox", "conditional"), "event": ("cox",), "entry": ("cox",), "reference": ("multinomial",)}
MEANT_FOR["success"] = TWO_OUTCOMES


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


def _design(X: Any, names: Sequence[str] | None) -> tuple[Any, tuple[str, ...]]:
    """Return the columns of X in CSR floats, and their names."""
    from scipy.sparse import csr_array

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
    if rows.shape[0] == 0:
        raise ValueError("X has no rows")
    columns = tuple(f"x{j}" for j in range(rows.shape[1])) if names is None else tuple(names)
    if len(columns) != rows.shape[1]:
        raise ValueError(f"there are {len(columns)} names for {rows.shape[1]} columns")
    design = csr_array(rows, dtype=np.float64, copy=True)
    design.eliminate_zeros()
    design.sort_indices()
    return design, columns


def _with_intercept(design: Any, columns: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    from scipy.sparse import csr_array, hstack

    if "intercept" in columns:
        raise ValueError("a column is called 'intercept'; rename it, or pass fit_intercept=False")
    ones = csr_array(np.ones((design.shape[0], 1)))
    return csr_array(hstack([ones, design], format="csr")), ("intercept", *columns)


def _with_effects(
    design: Any, columns: tuple[str, ...], given: Mapping[str, Any]
) -> tuple[Any, tuple[str, ...], tuple[Effect, ...]]:
    """Add an indicator for every level; in all effects but the first, one level is the reference and has none."""
    from scipy.sparse import csr_array, hstack

    parts, effects, n = [design], [], design.shape[0]
    for number, (name, values) in enumerate(given.items()):
        codes, levels = _codes(values, f"the fixed effect {name!r}", n)
        first = int(number > 0)
        indicators = csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, len(levels)))[:, first:]
        effects.append(Effect(name, len(columns), len(columns) + len(levels) - first))
        columns = (*columns, *(f"{name}={level}" for level in levels[first:]))
        parts.append(indicators)
    stacked = csr_array(hstack(parts, format="csr"))
    stacked.eliminate_zeros()
    return stacked, columns, tuple(effects)


def named_effects(given: Any) -> dict[str, Any]:
    """Return fixed effects, given in any form, as labels for every row, by name."""
    if isinstance(given, Mapping):
        return {str(name): values for name, values in given.items()}
    if hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2:
        return {str(name): given[name] for name in given.columns}
    table = np.asarray(given, dtype=object)
    if table.ndim == 1 and not (len(table) and isinstance(table[0], list | tuple | np.ndarray)):
        return {str(getattr(given, "name", None) or "effect"): given}
    if not isinstance(given, list | tuple):
        return {f"effect{i}": table[:, i].tolist() for i in range(table.shape[1])}
    names = [str(getattr(values, "name", None) or f"effect{i}") for i, values in enumerate(given)]
    check_different(names)
    return dict(zip(names, given, strict=True))


# -- the response -----------------------------------------------------------------------------------------------------


def _response(
    family: str, y: Any, options: ModelOptions, weights: Floats
) -> tuple[dict[str, Floats], tuple[Any, ...] | None]:
    """Return the numbers of a response, and its labels if it has any."""
    n = len(weights)
    if family in ("binomial", "log-binomial"):
        return _binomial_response(y, n, options.get("success"))
    if family in ("multinomial", "ordinal"):
        codes, labels = _classes(y, n, weights)
        if family == "multinomial" and options.get("reference") is not None:
            codes, labels = _with_reference(codes, labels, options["reference"])
        return {"class": codes.astype(np.float64)}, labels
    if family == "conditional":
        case, classes = _two_outcomes(y, n, options.get("success"))
        return {"case": case}, classes
    numbers = _one_a_row(y, "y", n)
    if family == "cox":
        return {"time": numbers}, None
    if (numbers < 0).any():
        row = int(np.flatnonzero(numbers < 0)[0])
        raise ValueError(f"y is {numbers[row]} in row {row}; counts are not negative")
    return {"count": numbers}, None


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


def _classes(y: Any, n: int, weights: Floats) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return labels as indices among those with positive weight, in their own order if they have one."""
    order = list(y.cat.categories) if hasattr(y, "cat") else None
    order = list(y.categories) if order is None and hasattr(y, "categories") else order
    labels = checked_labels(np.asarray(y))
    _check_length(labels, "y", n)
    present = set(labels[weights > 0].tolist())
    classes = [value for value in order if value in present] if order is not None else sorted(present)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} classes; at least two are required")
    places = {value: place for place, value in enumerate(classes)}
    codes = np.array([places.get(value, 0) for value in labels.tolist()], dtype=np.int64)
    return codes, tuple(map(plain_label, classes))


def _with_reference(
    codes: NDArray[np.int64], classes: tuple[Any, ...], reference: Any
) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    first = classes.index(chosen_label("reference", reference, classes))
    order = [first, *(place for place in range(len(classes)) if place != first)]
    return np.argsort(order)[codes], tuple(classes[place] for place in order)


def _survival(time: Floats, event: Any, entry: Any) -> dict[str, Floats]:
    n = len(time)
    happened = np.ones(n) if event is None else _one_a_row(event, "event", n)
    if not np.isin(happened, (0.0, 1.0)).all():
        raise ValueError("event has values other than 0 and 1: 1 where the event was seen, 0 where it was censored")
    found = {"event": happened}
    if entry is not None:
        found["entry"] = _one_a_row(entry, "entry", n)
        late = np.flatnonzero(found["entry"] >= time)
        if len(late):
            raise ValueError(f"row {late[0]} enters at {found['entry'][late[0]]} and leaves at {time[late[0]]}")
    return found


# -- numbers of rows --------------------------------------------------------------------------------------------------


def _weights(weights: Any, n: int) -> Floats:
    if weights is None:
        return np.ones(n)
    found = _one_a_row(weights, "weights", n)
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        raise ValueError(f"the weight of row {row} is {found[row]}; weights are not negative, and 0 drops a row")
    return found


def _one_a_row(values: Any, name: str, n: int) -> Floats:
    numbers = exact_floats(np.asarray(values) if hasattr(values, "iloc") else values, name)
    numbers = numbers.ravel() if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
    _check_length(numbers, name, n)
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


def plain_label(value: Any) -> Any:
    """Return a label as JSON has it; whole floats become integers."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and math.isfinite(plain) and plain.is_integer():
        return int(plain)
    return plain if isinstance(plain, str | bool | int | float) else str(plain)
