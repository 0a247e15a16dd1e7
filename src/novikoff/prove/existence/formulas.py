"""Formulas: `income ~ age + C(job)`, with fixed effects after a bar: `trade ~ distance | origin + year`.

The left side is one column, or two of successes and failures, or anything that formulaic computes. Other columns, such
as weights, are named by the options; a dot excludes them.

Formulaic evaluates Python. So a formula from a file is never passed to it: it may only name columns, so that there is
nothing to evaluate, and is computed here from these.

    response ~ terms | effect + effect

The response is a column, two as `a + b` or `cbind(a, b)`, or `Surv(time, event)` or `Surv(entry, time, event)`. Terms
are columns, `C(column)`, `.` for all columns that have no other role, `1` and `0` or `-1` for the intercept, joined by
`+`, `-`, `:` and `*`. A name that is not an identifier is quoted in backticks. Formulaic's language has all of this but
`Surv`, and more; a formula that is not from a file may use all of it.
"""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from novikoff.data.frames import as_arrow
from novikoff.data.tables import nearest
from novikoff.prove.exact.codec import Label, plain_label
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.existence.arrays import (
    WITH_INTERCEPT,
    family_named,
    from_arrays,
    row_labels_of,
    without_missing,
)
from novikoff.prove.existence.likelihood import COLUMNS, Formula, Likelihood, ModelOptions

NAME = r"`[^`]+`|[^\W\d][\w.]*"
_TOKEN = re.compile(rf"C\(\s*(?:{NAME})\s*\)|{NAME}|[.01](?![\w.])|[-+:*]")
_BEYOND = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|[][(){}]|[~|]")
MARKS = ("+", "-", ":", "*", ".", "0", "1")
# `a * b * c` has 2^3 - 1 terms.
MOST_CROSSED = 8

# The columns that are multiplied, each by its name or as C(name); empty for the intercept.
Term = tuple[str, ...]


class FormulaParts(NamedTuple):
    """The sides of a formula, and its part after the bar, as written."""

    left: str
    right: str
    effects: str

    @classmethod
    def of(cls, text: str) -> "FormulaParts":
        """Split a formula; marks inside quotes, brackets and backticks do not count.

        >>> FormulaParts.of("trade ~ distance | origin + year")
        FormulaParts(left='trade', right='distance', effects='origin + year')
        >>> FormulaParts.of("`a|b` ~ I(x | z)")
        FormulaParts(left='`a|b`', right='I(x | z)', effects='')
        """
        depth, cuts = 0, dict[str, int]()
        for found in _BEYOND.finditer(text):
            mark = found.group()
            depth += (mark in "([{") - (mark in ")]}")
            if mark in ("~", "|") and depth == 0 and ("~" in cuts) == (mark == "|"):
                cuts.setdefault(mark, found.start())
        if "~" not in cuts or not text[: cuts["~"]].strip():
            raise ValueError(f"the formula {text!r:.200} has no response; write it as 'y ~ x1 + x2'")
        bar = cuts.get("|", len(text))
        return cls(text[: cuts["~"]].strip(), text[cuts["~"] + 1 : bar].strip() or "1", text[bar + 1 :].strip())


def listed_names(text: str, mark: str = "+") -> list[str] | None:
    """Return the names between marks, without their backticks; None if there is anything else.

    >>> listed_names("origin + `first year`"), listed_names("log(x)")
    (['origin', 'first year'], None)
    """
    if not re.fullmatch(rf"\s*(?:{NAME})\s*(?:{re.escape(mark)}\s*(?:{NAME})\s*)*", text):
        return None
    return [name.strip("`") for name in re.findall(NAME, text)]


def response_columns(left: str) -> list[str] | None:
    """Return the columns of a response; None if it must be computed.

    >>> response_columns("cbind(ill, well)"), response_columns("ill + well"), response_columns("I(age > 35)")
    (['ill', 'well'], ['ill', 'well'], None)
    """
    inside = re.fullmatch(r"(?:cbind|Surv)\s*\((.*)\)", left, re.DOTALL)
    columns = listed_names(left) if inside is None else listed_names(inside[1], ",")
    if is_survival(left) and (columns is None or len(columns) not in (2, 3)):
        raise ValueError(f"the response {left!r:.200} must be Surv(time, event) or Surv(entry, time, event) of columns")
    return columns


def is_survival(left: str) -> bool:
    return re.fullmatch(r"Surv\s*\(.*\)", left, re.DOTALL) is not None


def terms_of(right: str, names: Collection[str], free: Sequence[str]) -> list[Term] | None:
    """Return the terms of a right side with columns of these names, where a dot means the free ones; None if there is
    anything else in it. Nothing is evaluated.

    >>> terms_of("a * C(b) - a", ["a", "b"], [])
    [(), ('C(b)',), ('a', 'C(b)')]
    >>> terms_of("0 + .", ["y", "a", "b"], ["a", "b"]), terms_of("log(a)", ["a"], [])
    ([('a',), ('b',)], None)
    """
    given = _TOKEN.findall(right)
    tokens = [factor(token[2:-1].strip().strip("`")) if token.startswith("C(") else token for token in given]
    known = {*MARKS, *names, *map(factor, names)}
    if not tokens or _TOKEN.sub("", right).strip() or not all(token.strip("`") in known for token in tokens):
        return None
    sums = itertools.groupby(tokens, key=("+", "-").__contains__)
    products = [list(product) for is_sign, product in sums if not is_sign]
    if any(p.count("*") >= MOST_CROSSED or (len(p) > 1 and {"0", "1"} & {*p}) for p in products):
        return None
    if "`1`" in tokens or ("." in tokens and "1" in free):
        raise ValueError("a column is called '1', as the intercept is in a formula; rename it")
    try:
        parsed = _formulaic(" ".join(tokens), free, right)
    except ValueError:
        return None
    terms = (tuple(str(part.expr) for part in term.factors) for term in parsed)
    return [() if term == ("1",) else term for term in terms]


def factor(name: str) -> str:
    """Return the term for a categorical column."""
    return f"C({quoted(name)})"


def quoted(name: str) -> str:
    """Return a name as written in a formula.

    >>> quoted("age"), quoted("age in years")
    ('age', '`age in years`')
    """
    return name if re.fullmatch(r"[^\W\d][\w.]*", name) else f"`{name}`"


def from_formula(text: str, table: Any, options: ModelOptions, *, is_from_file: bool = False) -> Likelihood:
    """Return the likelihood that a formula describes on a table; evaluate nothing if the formula is from a file.

    Rows with a missing value in a column that is used are omitted.
    """
    frame, names = frame_of(table)
    parts, given, effects = _asked(text, options)
    plain: Any = {name: v for name, v in given.items() if name != "family" and isinstance(v, Label)}
    roles = {name: given[name] for name in COLUMNS if isinstance(given.get(name), str)}
    named = _NamedColumns.of(parts, names, {*roles.values(), *effects})
    if is_from_file and named.terms is None:
        raise CertificateError(
            f"the formula {parts.left} ~ {parts.right:.200} does not only name columns of this table, and what a file "
            "says is not evaluated; if you know the formula, pass it: check(formula, table), or novikoff check "
            "--formula"
        )
    has_intercept = given["family"] in WITH_INTERCEPT and not effects and given.get("fit_intercept", True)
    given |= {role: _column(frame, name, names) for role, name in roles.items()} | {"fit_intercept": False}
    if effects:
        given["fixed_effects"] = {name: _column(frame, name, names) for name in effects}
    used = [frame[name] for name in named.used(parts, names)]
    asked = ModelOptions(**given)  # type: ignore[typeddict-item]
    (frame, labels), asked, omitted = without_missing([frame, row_labels_of(table)], used, asked, len(frame))
    X, design, y = named.computed(parts, _settled(frame) if omitted else frame, bool(has_intercept))
    return from_arrays(X, y, asked, names=design, formula=Formula(text, plain), row_labels=labels, omitted=omitted)


def _asked(text: str, options: ModelOptions) -> tuple[FormulaParts, dict[str, Any], list[str]]:
    """Return the parts of a formula, the options with those that it implies, and its fixed effects."""
    parts = FormulaParts.of(text)
    given: dict[str, Any] = {name: value for name, value in sorted(options.items()) if value is not None}
    if given.get("fit_intercept") is True:
        del given["fit_intercept"]  # True is the default
    given |= {name: plain_label(given[name]) for name in ("reference", "success") if name in given}
    given["family"] = family_named(given.get("family") or ("cox" if is_survival(parts.left) else "binomial"))
    effects = listed_names(parts.effects) if parts.effects else []
    if effects is None or "fixed_effects" in given:
        raise ValueError("fixed effects of a formula are names of columns after a bar: 'y ~ x | origin + year'")
    if is_survival(parts.left) and given["family"] != "cox":
        raise ValueError(f"{parts.left} names times and events of a Cox model; leave out family=")
    return parts, given, effects


def frame_of(table: Any) -> tuple[Any, list[str]]:
    """Return a table as a pandas frame whose column names are strings, and these names."""
    if table is None or not hasattr(table, "columns"):
        raise ValueError("a formula needs a table, such as a pandas DataFrame, as the second argument")
    frame = table.to_pandas() if hasattr(table, "to_pandas") else table
    if any(hasattr(dtype, "pyarrow_dtype") for dtype in frame.dtypes):  # formulaic would convert these to objects
        frame = as_arrow(frame).to_pandas().set_axis(frame.index)
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the table has two columns called {twice!r}; rename one of them")
    return frame.set_axis(names, axis=1), names


def _settled(frame: Any) -> Any:
    """Return the remaining rows of a table with the types that columns would have without missing values: unused levels
    are removed, as in R, and truth values are booleans, not objects."""
    changed = {}
    for name in frame.columns:
        column = frame[name]
        if hasattr(column, "cat"):
            changed[name] = column.cat.remove_unused_categories()
        elif str(column.dtype) in ("boolean", "object") and all(type(value) in (bool, np.bool_) for value in column):
            changed[name] = column.astype(bool)
    return frame.assign(**changed) if changed else frame


def _column(frame: Any, name: str, names: list[str]) -> Any:
    if name not in names:
        raise ValueError(f"the table has no column {name!r}; {nearest(name, names)}")
    return frame[name]


class _NamedColumns(NamedTuple):
    """The columns of a table that a formula names: its response and its terms, None if computed; and those that a dot
    means."""

    response: list[str] | None
    terms: list[Term] | None
    free: list[str]
    roles: Collection[str]

    @classmethod
    def of(cls, parts: FormulaParts, names: Sequence[str], roles: Collection[str]) -> "_NamedColumns":
        response = response_columns(parts.left)
        free = [name for name in names if name not in {*roles, *(response or ())}]
        if response is None or not set(response) <= set(names):
            return cls(None, None, free, roles)
        return cls(response, terms_of(parts.right, set(names), free), free, roles)

    def used(self, parts: FormulaParts, names: Sequence[str]) -> set[str]:
        if self.terms is None:
            both = _formulaic(f"{parts.left} ~ {parts.right}", self.free, parts.right, "required_variables")
            return {*self.roles, *(self.response or ()), *map(str, both)} & set(names)
        named = {name for term in self.terms for name in term}
        of_terms = (name for name in names if name in named or factor(name) in named)
        return {*self.roles, *(self.response or ()), *of_terms}

    def computed(self, parts: FormulaParts, frame: Any, has_intercept: bool) -> tuple[Any, list[str], Any]:
        """Return the design, the names of its columns, and the response."""
        if self.terms is not None:
            matrix = _named_terms(self.terms, frame)
        else:
            matrix = _matrix(_formulaic(f"{parts.left} ~ {parts.right}", self.free, parts.right), frame, parts.right)
        if self.response is None:
            y = _matrix(_formulaic(f"0 + {parts.left}", [], parts.left), frame, parts.left).toarray().ravel()
        else:
            y = frame[self.response[0]] if len(self.response) == 1 else frame[self.response].to_numpy()
        return *_design(matrix, has_intercept), y


def used_columns(text: str, names: Sequence[str], options: Mapping[str, Any]) -> set[str]:
    """Return the columns of a table that a formula and its options use."""
    parts, given, effects = _asked(text, ModelOptions(**options))  # type: ignore[typeddict-item]
    roles = {*effects, *(given[name] for name in COLUMNS if name in given)}
    return _NamedColumns.of(parts, names, roles).used(parts, names)


def _design(matrix: Any, has_intercept: bool) -> tuple[Any, list[str]]:
    from scipy.sparse import csr_array

    columns = [str(name) for name in matrix.model_spec.column_names]
    kept = [j for j, name in enumerate(columns) if name != "Intercept" or has_intercept]
    renamed = ["intercept" if columns[j] == "Intercept" else columns[j] for j in kept]
    return csr_array(matrix.__wrapped__)[:, kept], renamed


# -- formulaic --------------------------------------------------------------------------------------------------------


def _named_terms(terms: Sequence[Term], frame: Any) -> Any:
    """Return the matrix of terms that only name columns: formulaic looks them up, and evaluates nothing."""
    _need_formulaic()
    import formulaic
    from formulaic.parser.types import Factor
    from formulaic.parser.types import Term as FormulaicTerm

    wanted = {name for term in terms for name in term}
    columns = {name: frame[name] for name in frame.columns if name in wanted}
    for name in frame.columns:
        if (as_factor := factor(name)) in wanted:
            if as_factor in frame.columns:
                raise ValueError(f"a column is called {as_factor!r}, as {name!r} is as a factor; rename it")
            columns[as_factor] = frame[name].astype("category")
    made = [
        FormulaicTerm([Factor(name, eval_method="lookup") for name in term] or [Factor("1", eval_method="literal")])
        for term in terms
    ]
    pandas = type(frame)
    return _matrix(
        formulaic.Formula(made), pandas(columns, index=frame.index), " + ".join(":".join(t) or "1" for t in terms)
    )


def _formulaic(text: str, free: Sequence[str], shown: str, part: str = "rhs") -> Any:
    """Return a part of a formula parsed by formulaic, its right side if it has two; nothing is evaluated yet."""
    _need_formulaic()
    import formulaic
    from formulaic.errors import FormulaicError

    try:
        formula = formulaic.Formula(text, _context={"__formulaic_variables_available__": free})
    except (FormulaicError, ValueError) as error:
        raise ValueError(f"the formula {shown!r:.200} cannot be read: {error}") from None
    return getattr(formula, part, formula)


def _matrix(formula: Any, frame: Any, shown: str) -> Any:
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    try:
        return model_matrix(formula, frame, output="sparse", na_action="raise", context={})
    except (FormulaicError, ValueError) as error:
        raise ValueError(f"the formula {shown!r:.200} cannot be computed on this table: {error}") from None


def _need_formulaic() -> None:
    try:
        import formulaic  # noqa: F401
    except ImportError:
        raise ImportError("formulas require formulaic; install it with: pip install 'novikoff[formula]'") from None
