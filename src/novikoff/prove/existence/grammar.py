"""Formulas that only name columns: nothing in them can be evaluated, so that one may come from a file.

    response ~ terms | effect + effect

The response is a column, or two as `a + b` or `cbind(a, b)`. Terms are columns, `C(column)`, `.` for all columns that
have no other role, `1` and `0` or `-1` for the intercept, joined by `+`, `-`, `:` and `*`. A name that is not a word
stands between backticks. Formulaic's language has all of this and more; what is not here is left to it, if a person
wrote it.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

NAME = r"`[^`]+`|[^\W\d][\w.]*"
_NAME = re.compile(rf"\s*({NAME})\s*")
_TOKEN = re.compile(rf"\s*(?:(?P<factor>C\(\s*(?:{NAME})\s*\))|(?P<name>{NAME})|(?P<mark>[.01](?![\w.])|[-+:*]))")
_BEYOND = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|[][(){}]|[~|]")
# `a * b * c` has 2^3 - 1 terms.
MOST_CROSSED = 8

# The columns that are multiplied, each by its name or as C(name), and no column for the intercept.
Term = tuple[str, ...]


class Parts(NamedTuple):
    """The sides of a formula, and what stands behind its bar, as they are written."""

    left: str
    right: str
    effects: str

    @classmethod
    def of(cls, text: str) -> "Parts":
        """Marks inside of quotes, brackets and backticks belong to the names and functions there.

        >>> Parts.of("trade ~ distance | origin + year")
        Parts(left='trade', right='distance', effects='origin + year')
        >>> Parts.of("`a|b` ~ I(x | z)")
        Parts(left='`a|b`', right='I(x | z)', effects='')
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
    anything else in it.

    >>> terms_of("a * C(b) - a", ["a", "b"], [])
    [(), ('C(b)',), ('a', 'C(b)')]
    >>> terms_of("0 + .", ["y", "a", "b"], ["a", "b"]), terms_of("log(a)", ["a"], [])
    ([('a',), ('b',)], None)
    """
    tokens = _tokens(right)
    if tokens is None:
        return None
    terms: dict[Term, None] = {(): None}
    sign, product = 1, list[str]()
    for token in [*tokens, "+"]:
        if token not in ("+", "-"):
            product.append(token)
            continue
        if product:
            some = _product(product, names, free)
            if some is None:
                return None
            if product == ["0"]:  # a zero takes the intercept away
                sign, some = -sign, [()]
            terms = _with(terms, some) if sign > 0 else _without(terms, some)
            sign, product = 1, []
        sign = -sign if token == "-" else sign
    return None if tokens[-1] in ("+", "-") else list(terms)


def _tokens(text: str) -> list[str] | None:
    tokens, place = list[str](), 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            return None
        tokens.append(found["mark"] or found["factor"] or found["name"])
        place = found.end()
    return tokens or None


def _product(tokens: list[str], names: Collection[str], free: Sequence[str]) -> list[Term] | None:
    """The terms of something like `a * b:c`."""
    if tokens in (["0"], ["1"]):
        return [()]
    atoms, marks = tokens[::2], tokens[1::2]
    if len(tokens) % 2 == 0 or not set(marks) <= {":", "*"} or marks.count("*") >= MOST_CROSSED:
        return None
    crossed: list[list[Term]] = []
    for mark, atom in zip(["*", *marks], atoms, strict=True):
        some = _atom(atom, names, free)
        if some is None:
            return None
        if mark == "*":
            crossed.append(some)
        else:
            crossed[-1] = _times(crossed[-1], some)
    terms: dict[Term, None] = {}
    for some in crossed:
        terms = _with(terms, [*some, *_times(list(terms), some)])
    return list(terms)


def _atom(token: str, names: Collection[str], free: Sequence[str]) -> list[Term] | None:
    if token == ".":
        return [(name,) for name in free]
    is_factor = token.startswith("C(") and token.endswith(")")
    name = (token[2:-1].strip() if is_factor else token).strip("`")
    return [(factor(name) if is_factor else name,)] if name in names else None


def factor(name: str) -> str:
    """What a column is called that counts as categorical."""
    return f"C({quoted(name)})"


def quoted(name: str) -> str:
    """A name as it stands in a formula.

    >>> quoted("age"), quoted("age in years")
    ('age', '`age in years`')
    """
    return name if re.fullmatch(r"[^\W\d][\w.]*", name) else f"`{name}`"


def _times(some: Iterable[Term], others: Iterable[Term]) -> list[Term]:
    return [tuple(dict.fromkeys((*a, *b))) for a, b in itertools.product(some, others)]


def _with(terms: dict[Term, None], more: Iterable[Term]) -> dict[Term, None]:
    """Terms and those that are not among them yet: in which order a product is written does not matter."""
    known = {_key(term): term for term in terms}
    for term in more:
        known.setdefault(_key(term), term)
    return dict.fromkeys(known.values())


def _without(terms: dict[Term, None], some: Iterable[Term]) -> dict[Term, None]:
    gone = set(map(_key, some))
    return {term: None for term in terms if _key(term) not in gone}


def _key(term: Term) -> frozenset[str]:
    return frozenset(term)
