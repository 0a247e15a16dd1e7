"""Formulas: `income ~ age + C(job)`, with fixed effects after a bar: `trade ~ distance | origin + year`.

The left side is one column, or two of successes and failures, or anything that formulaic computes. Other columns, such
as weights, are named by the options. What has such a role is not among those that a dot means.

Formulaic evaluates Python. So a formula that a file brings is never given to it: it must be one that only names
columns, in which nothing can be evaluated, and is computed here from these.

    response ~ terms | effect + effect

The response is a column, or two as `a + b` or `cbind(a, b)`. Terms are columns, `C(column)`, `.` for all columns that
have no other role, `1` and `0` or `-1` for the intercept, joined by `+`, `-`, `:` and `*`. A name that is not a word
stands between backticks. Formulaic's language has all of this and more; a formula that a person wrote may be anything.
"""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from novikoff.data.frames import as_arrow
from novikoff.data.tables import nearest
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.existence.arrays import WITH_INTERCEPT, family_named, from_arrays, plain_label, row_labels_of
from novikoff.prove.existence.likelihood import COLUMNS, Likelihood

NAME = r"`[^`]+`|[^\W\d][\w.]*"
_NAME = re.compile(rf"\s*({NAME})\s*")
_TOKEN = re.compile(rf"\s*(?:(?P<factor>C\(\s*(?:{NAME})\s*\))|(?P<name>{NAME})|(?P<mark>[.01](?![\w.])|[-+:*]))")
_BEYOND = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|[][(){}]|[~|]")
MARKS = ("+", "-", ":", "*", ".", "0", "1")
# `a * b * c` has 2^3 - 1 terms.
MOST_CROSSED = 8

# The columns that are multiplied, each by its name or as C(name), and no column for the intercept.
Term = tuple[str, ...]


class FormulaParts(NamedTuple):
    """The sides of a formula, and what stands behind its bar, as they are written."""

    left: str
    right: str
    effects: str

    @classmethod
    def of(cls, text: str) -> "FormulaParts":
        """Marks inside of quotes, brackets and backticks belong to the names and functions there.

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
    """Names between marks, without their backticks; None if it is anything else.

    >>> listed_names("origin + `first year`"), listed_names("log(x)")
    (['origin', 'first year'], None)
    """
    names, place = [], 0
    while True:
        found = _NAME.match(text, place)
        if found is None:
            return None
        names.append(found[1].strip("`"))
        place = found.end()
        if place == len(text):
            return names
        if text[place] != mark:
            return None
        place += 1


def response_columns(left: str) -> list[str] | None:
    """The columns of a response; None if it has to be computed.

    >>> response_columns("cbind(ill, well)"), response_columns("ill + well"), response_columns("I(age > 35)")
    (['ill', 'well'], ['ill', 'well'], None)
    """
    inside = re.fullmatch(r"cbind\((.*)\)", left, re.DOTALL)
    return listed_names(left) if inside is None else listed_names(inside[1], ",")


def terms_of(right: str, names: Collection[str], free: Sequence[str]) -> list[Term] | None:
    """The terms of a right side whose columns have these names, of which a dot means the free ones; None if there is
    anything else in it. Formulaic takes it apart, and evaluates nothing.

    >>> terms_of("a * C(b) - a", ["a", "b"], [])
    [(), ('C(b)',), ('a', 'C(b)')]
    >>> terms_of("0 + .", ["y", "a", "b"], ["a", "b"]), terms_of("log(a)", ["a"], [])
    ([('a',), ('b',)], None)
    """
    tokens = _tokens(right) or []
    known = {*MARKS, *names, *map(factor, names)}
    if not tokens or not all(token.strip("`") in known for token in tokens):
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


def _tokens(text: str) -> list[str] | None:
    tokens, place = list[str](), 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            return None
        inside = (found["factor"] or "")[2:-1].strip().strip("`")
        tokens.append(factor(inside) if inside else found["mark"] or found["name"])
        place = found.end()
    return tokens or None


def factor(name: str) -> str:
    """What a column is called that counts as categorical."""
    return f"C({quoted(name)})"


def quoted(name: str) -> str:
    """A name as it stands in a formula.

    >>> quoted("age"), quoted("age in years")
    ('age', '`age in years`')
    """
    return name if re.fullmatch(r"[^\W\d][\w.]*", name) else f"`{name}`"


def from_formula(
    text: str, table: Any, *, family: str | None = None, is_from_file: bool = False, **options: Any
) -> Likelihood:
    """The likelihood that a formula describes on a table; nothing is evaluated if the formula is from a file."""
    frame, names = frame_of(table)
    family = family_named(family or "binomial")
    given = {name: value for name, value in sorted(options.items()) if value is not None}
    if given.get("fit_intercept") is True:
        del given["fit_intercept"]  # as if it had not been said
    parts = FormulaParts.of(text)
    effects = _effects(parts.effects) if parts.effects else []
    if effects and given.get("fixed_effects") is not None:
        raise ValueError("fixed effects stand after a bar in the formula, or in fixed_effects=, not in both")
    wanted = effects or given.pop("fixed_effects", None) or ()
    wanted = [wanted] if isinstance(wanted, str) else wanted
    given |= {"reference": plain_label(given["reference"])} if "reference" in given else {}
    remembered: dict[str, Any] = {
        name: value for name, value in given.items() if isinstance(value, str | bool | int | float)
    }
    by_name = all(isinstance(name, str) for name in wanted)
    remembered |= {"fixed_effects": list(wanted)} if by_name and wanted and not effects else {}
    roles = {*(wanted if by_name else ())}
    for name in COLUMNS:
        if isinstance(given.get(name), str):
            roles.add(given[name])
            given[name] = _column(frame, given[name], names)
    fixed = {name: _column(frame, name, names) for name in wanted} if by_name else wanted
    has_intercept = family in WITH_INTERCEPT and not wanted and given.pop("fit_intercept", True)
    given.pop("fit_intercept", None)
    X, columns, y = _computed(parts, frame, names, roles, has_intercept, is_from_file)
    return from_arrays(
        X, y, family=family, names=columns, fit_intercept=False, fixed_effects=fixed or None,
        formula={"text": text, "options": remembered}, row_labels=row_labels_of(table), **given,
    )  # fmt: skip


def frame_of(table: Any) -> tuple[Any, list[str]]:
    """A table as a pandas frame whose columns have texts for names, and these."""
    if table is None or not hasattr(table, "columns"):
        raise ValueError("a formula needs a table, such as a pandas DataFrame, as the second argument")
    frame = table.to_pandas() if hasattr(table, "to_pandas") else table
    if any(hasattr(dtype, "pyarrow_dtype") for dtype in frame.dtypes):  # of which formulaic makes objects
        frame = as_arrow(frame).to_pandas().set_axis(frame.index)
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the table has two columns called {twice!r}; rename one of them")
    return frame.set_axis(names, axis=1), names


def _effects(text: str) -> list[str]:
    effects = listed_names(text)
    if effects is None:
        raise ValueError(f"the fixed effects {text!r:.200} are not names of columns; write 'y ~ x | origin + year'")
    return effects


def _column(frame: Any, name: str, names: list[str]) -> Any:
    if name not in names:
        raise ValueError(f"the table has no column {name!r}; {nearest(name, names)}")
    return frame[name]


def _computed(
    parts: FormulaParts, frame: Any, names: list[str], roles: Collection[str], has_intercept: bool, is_from_file: bool
) -> tuple[Any, list[str], Any]:
    """The design, the names of its columns, and the response."""
    response = response_columns(parts.left)
    is_plain = response is not None and set(response) <= set(names)
    free = [name for name in names if name not in {*roles, *(response or ())}]
    terms = terms_of(parts.right, set(names), free) if is_plain else None
    if is_from_file and terms is None:
        raise CertificateError(
            f"the formula {parts.left} ~ {parts.right:.200} does not only name columns of this table, and what a file "
            "says is not evaluated; if you know the formula, pass it: check(formula, table), or novikoff check "
            "--formula"
        )
    if terms is not None:
        matrix = _named_terms(terms, frame)
    else:
        matrix = _matrix(_formulaic(f"{parts.left} ~ {parts.right}", free, parts.right), frame, parts.right)
    if response is None or not is_plain:
        y = _matrix(_formulaic(f"0 + {parts.left}", [], parts.left), frame, parts.left).toarray().ravel()
    else:
        y = frame[response[0]] if len(response) == 1 else frame[response].to_numpy()
    return *_design(matrix, has_intercept), y


def used_columns(text: str, names: Sequence[str], options: Mapping[str, Any]) -> set[str]:
    """The columns of a table that a formula and its options use."""
    parts = FormulaParts.of(text)
    response, effects = response_columns(parts.left), listed_names(parts.effects) or []
    used = {*effects, *options.get("fixed_effects", ()), *(options[name] for name in COLUMNS if name in options)}
    free = [name for name in names if name not in {*used, *(response or ())}]
    terms = None if response is None else terms_of(parts.right, set(names), free)
    if terms is None or response is None:
        both = _formulaic(f"{parts.left} ~ {parts.right}", free, parts.right, "required_variables")
        return {*used, *map(str, both)} & set(names)
    named = {name for term in terms for name in term}
    return {*used, *response, *(name for name in names if name in named or factor(name) in named)}


def design_of(right: str, table: Any, taken: Collection[str], has_intercept: bool) -> tuple[Any, list[str]]:
    """The columns of a right side that a person wrote, in a sparse matrix, and their names; a dot means those that are
    not taken."""
    frame, names = frame_of(table)
    formula = _formulaic(right, [name for name in names if name not in taken], right)
    return _design(_matrix(formula, frame, right), has_intercept)


def _design(matrix: Any, has_intercept: bool) -> tuple[Any, list[str]]:
    from scipy.sparse import csr_array

    columns = [str(name) for name in matrix.model_spec.column_names]
    kept = [j for j, name in enumerate(columns) if name != "Intercept" or has_intercept]
    renamed = ["intercept" if columns[j] == "Intercept" else columns[j] for j in kept]
    return csr_array(matrix.__wrapped__)[:, kept], renamed


# -- formulaic --------------------------------------------------------------------------------------------------------


def _named_terms(terms: Sequence[Term], frame: Any) -> Any:
    """The matrix of terms that only name columns: formulaic looks them up, and evaluates nothing."""
    _need_formulaic()
    from formulaic import Formula
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
    return _matrix(Formula(made), pandas(columns, index=frame.index), " + ".join(":".join(t) or "1" for t in terms))


def _formulaic(text: str, free: Sequence[str], shown: str, part: str = "rhs") -> Any:
    """A part of a formula as formulaic has it, its right side if it has two; nothing is evaluated yet."""
    _need_formulaic()
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    try:
        formula = Formula(text, _context={"__formulaic_variables_available__": free})
    except (FormulaicError, ValueError) as error:
        raise ValueError(f"the formula {shown!r:.200} cannot be read: {error}") from None
    return getattr(formula, part, formula)


def _matrix(formula: Any, frame: Any, shown: str) -> Any:
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    try:
        return model_matrix(formula, frame, output="sparse", na_action="raise", context={})
    except (FormulaicError, ValueError) as error:
        hint = "; drop or fill in rows with missing values first" if "null" in str(error) else ""
        raise ValueError(f"the formula {shown!r:.200} cannot be computed on this table: {error}{hint}") from None


def _need_formulaic() -> None:
    try:
        import formulaic  # noqa: F401
    except ImportError:
        raise ImportError("formulas require formulaic; install it with: pip install 'novikoff[formula]'") from None
