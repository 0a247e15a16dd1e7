"""The index of the search as a script: a page that is opened from the disk may load scripts, but no JSON."""

import html
import json
import re
from pathlib import Path
from typing import Any


def on_post_build(config: dict[str, Any], **_: Any) -> None:
    """Called by MkDocs when all pages are written; its search plugin has written its sections by then."""
    folder = Path(config["site_dir"]) / "search"
    source = folder / "search_index.json"
    sections = json.loads(source.read_text(encoding="utf-8"))["docs"]
    source.unlink()
    (folder / "index.js").write_text(as_script(sections), encoding="utf-8")


def as_script(sections: list[dict[str, str]]) -> str:
    """A script that sets the index; titles and texts stand there in lower case, too.

    >>> as_script([{"location": "a.html#b", "title": "Bound", "text": "k <= 5", "tags": ""}]).partition(".map")[0]
    'window.SEARCH_INDEX = [{"location": "a.html#b", "title": "Bound", "text": "k <= 5"}]'
    """
    kept = [
        {"location": section["location"], "title": _plain(section["title"]), "text": _plain(section["text"])}
        for section in sections
    ]
    lower = "(s) => ({...s, lowerTitle: s.title.toLowerCase(), lowerText: s.text.toLowerCase()})"
    return f"window.SEARCH_INDEX = {json.dumps(kept, ensure_ascii=False)}.map({lower});"


def _plain(text: str) -> str:
    """Text without tags, without the signs behind headings that link to them, and with characters as they are.

    >>> _plain("<code></code>&nbsp;mistake_bound"), _plain("Theory # The library")
    ('mistake_bound', 'Theory The library')
    """
    return html.unescape(re.sub(r"<[a-z/][^>]*>", "", text)).replace(" # ", " ").strip()
