"""Untrusted text, made safe to show: invisible characters and terminal commands are written as escapes."""

import unicodedata


def visible(text: str, keep: str = "") -> str:
    r"""Escape all invisible characters: control characters and those that change the direction of text.

    Characters to `keep` are not escaped: a panel may have several lines.

    >>> print(visible("a\nb\u202ec\udc80\x1b[2J"))
    a\nb\u202ec\udc80\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or _can_be_shown(c) else c.encode("unicode_escape").decode("ascii") for c in text)


def visible_json(text: str) -> str:
    r"""Return equivalent JSON with all invisible characters escaped as in JSON.

    >>> print(visible_json('{"a": "\u202e\x9b"}'))
    {"a": "\u202e\u009b"}
    """
    if text.isprintable():
        return text
    import json

    return "".join(c if c == "\n" or _can_be_shown(c) else json.dumps(c)[1:-1] for c in text)


def _can_be_shown(character: str) -> bool:
    """Whether it is printable, or a space, or one of the two joiners, which some languages need for spelling."""
    return character.isprintable() or unicodedata.category(character) == "Zs" or character in "\u200c\u200d"
