"""Interactive sessions in pages: highlighted as such, without the flags that only the tests read."""

import re
from typing import Any

SESSION = re.compile(r"^```python\n(?=>>>)", re.MULTILINE)
FLAG = re.compile(r"[ \t]*# doctest: .*$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page.

    >>> on_page_markdown("```python\\n>>> 1  # doctest: +ELLIPSIS\\n```").splitlines()
    ['```pycon', '>>> 1', '```']
    """
    return FLAG.sub("", SESSION.sub("```pycon\n", markdown))
