"""Files of templates, our own and those of CRF++, and the templates that are taken if none are given."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

OF_WORDS = ("{0}[-2]", "{0}[-1]", "{0}[0]", "{0}[1]", "{0}[2]", "{0}[-1]|{0}[0]", "{0}[0]|{0}[1]")
AFFIXES = ("prefix2({0}[0])", "prefix3({0}[0])", "suffix2({0}[0])", "suffix3({0}[0])", "shape({0}[0])")
OF_TAGS = (
    *("{0}[-2]", "{0}[-1]", "{0}[0]", "{0}[1]", "{0}[2]"),
    *("{0}[-2]|{0}[-1]", "{0}[-1]|{0}[0]", "{0}[0]|{0}[1]", "{0}[1]|{0}[2]"),
    *("{0}[-2]|{0}[-1]|{0}[0]", "{0}[-1]|{0}[0]|{0}[1]", "{0}[0]|{0}[1]|{0}[2]"),
)
OF_OTHERS = ("{0}[-1]", "{0}[0]", "{0}[1]")

# A line of CRF++: U or B, a name, and perhaps a colon with what it looks at.
CRFPP = re.compile(r"[UB]\w*(:.*)?")
LOOK = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")


def default_templates(columns: Sequence[str]) -> list[str]:
    """Templates by the columns: the first is taken for words, the second for tags.

    Of words there are neighbours, pairs, affixes and shapes, of tags neighbours, pairs and triples, of further columns
    neighbours.

    >>> templates = default_templates(("word", "pos", "lemma"))
    >>> len(templates), templates[2], templates[7], templates[12], templates[-1]
    (27, 'word[0]', 'prefix2(word[0])', 'pos[-2]', 'lemma[1]')
    """
    if not columns:
        raise ValueError(
            "there are no templates, and it is not said which columns to learn from; pass templates=, or columns= with "
            "the names of all columns but that of the labels"
        )
    kinds = (OF_WORDS + AFFIXES, OF_TAGS, *(OF_OTHERS for _ in columns[2:]))
    return [text.format(column) for column, kind in zip(columns, kinds, strict=False) for text in kind]


def read_templates(path: str | os.PathLike[str], columns: Sequence[str] = ()) -> list[str]:
    """The templates in a file, one a line, as we write them or as CRF++ does, whose columns have numbers: `columns` are
    their names. Empty lines and lines that begin with # are left out."""
    templates = translated(Path(path).read_text(encoding="utf-8").splitlines(), columns)
    if not templates:
        raise ValueError(f"{path} has no templates; write one a line, such as word[0] or pos[-1]|pos[0]")
    return templates


def translated(lines: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Templates in our own words. Lines of CRF++ name columns by number; `B` says that a label depends on the one
    before it, which it always does here.

    >>> translated(["# words", "U00:%x[-1,0]/%x[0,0]", "U01:%x[0,1]", "B", "suffix2(w[0])"], ("w", "p"))
    ['w[-1]|w[0]', 'p[0]', 'suffix2(w[0])']
    """
    stripped = (line.strip() for line in lines)
    found = [_translated(line, columns) for line in stripped if line and not line.startswith("#")]
    return list(dict.fromkeys(template for template in found if template is not None))


def _translated(line: str, columns: Sequence[str]) -> str | None:
    if not CRFPP.fullmatch(line) or not ("%x" in line or ":" in line or line == "B"):
        return line
    looks = LOOK.findall(line)
    if line.startswith("B"):
        if looks:
            raise ValueError(
                f"template {line!r}: features of two labels and a token are not there; B alone is, and is always meant"
            )
        return None
    if not looks:
        raise ValueError(f"template {line!r} looks at nothing; write %x[0,0] for the first column of the token")
    for _, column in looks:
        if int(column) >= len(columns):
            named = f"there are {', '.join(columns)}" if columns else "columns= does not name any"
            raise ValueError(f"template {line!r} looks at column {column}, counting from 0, and {named}")
    return "|".join(f"{columns[int(column)]}[{int(offset)}]" for offset, column in looks)
