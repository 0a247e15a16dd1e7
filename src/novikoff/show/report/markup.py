"""HTML that cannot be broken by what it shows: every text is escaped, unless it is markup already.

What is made here is well-formed XML, too, so that a strict parser can vouch for it.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Any

from novikoff.data.visible import visible
from novikoff.say.words import label_in_words

# Elements that have no end tag in HTML, or are empty shapes in SVG.
EMPTY = frozenset({"circle", "line", "meta", "path", "polygon", "polyline", "rect"})
LONGEST_NAME, LONGEST_HINT = 60, 300


class Markup(str):
    """Text that is HTML already. Only this module and the charts make it."""

    __slots__ = ()


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element; what is None is left out. An underscore in an attribute's name is a hyphen, but for one at its end.

    >>> element("p", "a < b ", element("b", "&"), class_="note", id=None)
    '<p class="note">a &lt; b <b>&amp;</b></p>'
    """
    described = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in EMPTY:
        return Markup(f"<{name}{described}/>")
    return Markup(f"<{name}{described}>{joined(children)}</{name}>")


def joined(parts: Iterable[Any]) -> Markup:
    """Parts one after the other: markup as it is, everything else escaped, None not at all."""
    return Markup("".join(p if isinstance(p, Markup) else html.escape(visible(str(p))) for p in parts if p is not None))


def cut(text: str, longest: int = LONGEST_NAME) -> str:
    """Text of at most so many characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def name(text: Any, longest: int = LONGEST_NAME) -> Markup:
    """A name from the data: isolated, so that its writing direction turns nothing around it, and cut if it is long."""
    words = label_in_words(text)
    hint = cut(words, LONGEST_HINT) if len(words) > longest else None
    return element("bdi", cut(words, longest), title=hint)


def names(items: Sequence[Any], most: int = 12) -> Markup:
    """Names with commas, not more than `most`."""
    parts = [part for item in items[:most] for part in (", ", name(item))][1:]
    return joined([*parts, f", … ({len(items):,} in all)" if len(items) > most else None])


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]], *, left: int = 1, class_: str | None = None) -> Markup:
    """A table; all but the first `left` columns are numbers."""

    def line(cells: Sequence[Any], kind: str) -> Markup:
        return element(
            "tr", *(element(kind, cell, class_=None if i < left else "number") for i, cell in enumerate(cells))
        )

    head = element("thead", line(header, "th"))
    body = element("tbody", *(line(row, "td") for row in rows))
    return element("div", element("table", head, body, class_=class_), class_="wide")


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup:
    """Facts with their names; those that are None are left out."""
    told = [part for key, value in pairs if value is not None for part in (element("dt", key), element("dd", value))]
    return element("dl", *told)


def left_out(shown: int, total: int, what: str) -> Markup | None:
    """A note under a list that was cut."""
    if shown >= total:
        return None
    return element("p", f"The first {shown:,} of {total:,} {what} are shown.", class_="note")


def section(title: str, sentence: Any, *parts: Any) -> Markup:
    """A part of the report: its title, one sentence that says what one sees, and that."""
    return element("section", element("h2", title), element("p", sentence, class_="lead"), *parts)


def figure(chart: Markup, caption: Any = None) -> Markup:
    """A chart with the words below it."""
    return element("figure", chart, None if caption is None else element("figcaption", caption))
