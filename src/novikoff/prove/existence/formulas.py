"""Formulas: `income ~ age + C(job)`, read by formulaic; fixed effects after a bar: `trade ~ distance | origin + year`.

The left side is one column, or two of successes and failures, or anything that formulaic computes. Other columns, such
as weights, are named by the options.
"""

from typing import Any

from novikoff.data.tables import nearest
from novikoff.prove.existence.arrays import WITH_INTERCEPT, family_named, from_arrays
from novikoff.prove.existence.likelihood import Likelihood

# Options that may name columns of the table.
COLUMNS = ("weights", "offset", "strata", "event", "entry")


def from_formula(text: str, table: Any, *, family: str | None = None, **options: Any) -> Likelihood:
    """The likelihood that a formula describes on a table."""
    if table is None or not hasattr(table, "columns"):
        raise ValueError("a formula needs a table, such as a pandas DataFrame, as the second argument")
    frame = table.to_pandas() if hasattr(table, "to_pandas") else table
    names = [str(name) for name in frame.columns]
    family = family_named(family or "binomial")
    given = {name: value for name, value in sorted(options.items()) if value is not None}
    if given.get("fit_intercept") is True:
        del given["fit_intercept"]  # as if it had not been said
    left, right, effects = _parts(text)
    if effects and given.get("fixed_effects") is not None:
        raise ValueError("fixed effects stand after a bar in the formula, or in fixed_effects=, not in both")
    wanted = effects or given.pop("fixed_effects", None) or ()
    wanted = [wanted] if isinstance(wanted, str) else wanted
    remembered: dict[str, Any] = {
        name: value for name, value in given.items() if isinstance(value, str | bool | int | float)
    }
    remembered |= {"fixed_effects": list(wanted)} if wanted and not effects else {}
    for name in COLUMNS:
        if isinstance(given.get(name), str):
            given[name] = _column(frame, given[name], names)
    by_name = all(isinstance(name, str) for name in wanted)
    fixed = {name: _column(frame, name, names) for name in wanted} if by_name else wanted
    has_intercept = family in WITH_INTERCEPT and not wanted and given.pop("fit_intercept", True)
    given.pop("fit_intercept", None)
    X, columns = design_of(right, frame, has_intercept)
    formula = {"text": text, "options": remembered}
    return from_arrays(
        X, _response(left, frame, names), family=family, names=columns, fit_intercept=False,
        fixed_effects=fixed or None, formula=formula, **given,
    )  # fmt: skip


def _parts(text: str) -> tuple[str, str, list[str]]:
    """The left side, the right side, and the fixed effects.

    >>> _parts("trade ~ distance | origin + year")
    ('trade', 'distance', ['origin', 'year'])
    """
    left, tilde, right = text.partition("~")
    if not tilde or not left.strip():
        raise ValueError(f"the formula {text!r:.200} has no response; write it as 'y ~ x1 + x2'")
    right, _, effects = right.partition("|")
    return left.strip(), right.strip() or "1", [name.strip() for name in effects.split("+") if name.strip()]


def _column(frame: Any, name: str, names: list[str]) -> Any:
    if name not in names:
        raise ValueError(f"the table has no column {name!r}; {nearest(name, names)}")
    return frame[name]


def _response(left: str, frame: Any, names: list[str]) -> Any:
    """One column as it is, two as counts, or what formulaic computes."""
    inside = left[len("cbind(") : -1].split(",") if left.startswith("cbind(") else left.split("+")
    plain = [part.strip() for part in inside]
    if all(part in names for part in plain):
        return frame[plain[0]] if len(plain) == 1 else frame[plain].to_numpy()
    return _computed(f"0 + {left}", frame).toarray().ravel()


def design_of(right: str, frame: Any, has_intercept: bool) -> tuple[Any, list[str]]:
    """The columns of the right side, in a sparse matrix, and their names."""
    matrix = _computed(right, frame)
    columns = [str(name) for name in matrix.model_spec.column_names]
    kept = [j for j, name in enumerate(columns) if name != "Intercept" or has_intercept]
    from scipy.sparse import csr_array

    renamed = ["intercept" if columns[j] == "Intercept" else columns[j] for j in kept]
    return csr_array(matrix.__wrapped__)[:, kept], renamed


def _computed(formula: str, frame: Any) -> Any:
    try:
        from formulaic import model_matrix
        from formulaic.errors import FormulaicError
    except ImportError:
        raise ImportError("formulas are read by formulaic; install it with: pip install 'novikoff[formula]'") from None
    try:
        return model_matrix(formula, frame, output="sparse", na_action="raise")
    except (FormulaicError, ValueError) as error:
        hint = "; drop or fill in rows with missing values first" if "null" in str(error) else ""
        raise ValueError(f"the formula {formula!r:.200} cannot be computed on this table: {error}{hint}") from None
