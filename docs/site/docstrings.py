"""Docstrings as Markdown: this Griffe extension writes them so that the site shows what a reader of the source sees.

Examples become blocks of code, and a product such as <w, x> does not become a tag of HTML, which a browser would hide.
Griffe understands numpydoc; parameters that are explained on their own line, as in a plain list, become one.
"""

import inspect
import re
from importlib import import_module
from itertools import pairwise
from typing import Any

from griffe import Extension, Object

CODE = re.compile(r"(`[^`\n]+`)")
FLAG = re.compile(r"\s*# doctest: .*$", re.MULTILINE)
UNDERLINED = re.compile(r"\w+\n-+(\n|$)")
PARAMETERS = "Parameters\n----------\n"


def as_markdown(docstring: str) -> str:
    """A docstring with its examples in fences, and with the signs escaped that Markdown would take for its own.

    >>> as_markdown("The margin <w, x> of `<x>`.\\n\\n>>> 1 < 2\\nTrue").splitlines()
    ['The margin &lt;w, x> of `<x>`.', '', '```pycon', '>>> 1 < 2', 'True', '```']
    """
    paragraphs = docstring.split("\n\n")
    for place, (text, following) in enumerate(pairwise(paragraphs)):
        if text.startswith(PARAMETERS) and not UNDERLINED.match(following):
            paragraphs[place] = _as_list(text)
    return "\n\n".join(map(_paragraph, paragraphs))


def _as_list(parameters: str) -> str:
    """Parameters with prose behind them are no section of numpydoc, which ends with the next section only.

    >>> print(_as_list(PARAMETERS + "tie : what a score\\n    of 0 is.\\nclasses : the labels."))
    Parameters:
    <BLANKLINE>
    - `tie`: what a score
        of 0 is.
    - `classes`: the labels.
    """
    items = re.sub(r"^([\w, ]+) : ", r"- `\1`: ", parameters.removeprefix(PARAMETERS), flags=re.MULTILINE)
    return f"Parameters:\n\n{items}"


def _paragraph(text: str) -> str:
    if text.lstrip().startswith(">>> "):
        return f"```pycon\n{FLAG.sub('', text).strip()}\n```"
    head, session, rest = text.partition("\n>>> ")
    if session:
        separate = "\n" if UNDERLINED.match(head) else "\n\n"
        return f"{_paragraph(head)}{separate}{_paragraph(session[1:] + rest)}"
    return "".join(part if CODE.match(part) else part.replace("<", "&lt;") for part in CODE.split(text))


class Docstrings(Extension):
    """Rewrites the docstring of everything that the reference shows."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None and "{options}" in obj.docstring.value:  # of which the class has the rest
            kind = getattr(import_module(obj.parent.path), obj.name)
            obj.docstring.value = inspect.cleandoc(kind.__doc__)
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
