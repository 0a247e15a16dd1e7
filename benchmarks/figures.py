"""The table of figures in words: what README and docs show between their markers, from docs/figures.json."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures.json"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))

# In a page: which rows stand there. `figures: *` are all of them, `figures: cold; serve` those of two benchmarks, and
# words after a colon keep the rows that have them: `figures: certify: 20,000 x 50`.
MARKED = re.compile(
    r"(?P<first><!-- figures: (?P<asked>[^\n]+?) -->\n)(?P<table>.*?)(?P<last><!-- end of figures -->)", re.DOTALL
)

SPEEDS = ("s", "s of processor time", "ms", "µs")


def rendered(page: str, parts: Mapping[str, Any]) -> str:
    """A page with the tables between its markers as the figures have them."""
    return MARKED.sub(lambda found: f"{found['first']}{_tables(found['asked'], parts)}{found['last']}", page)


def _tables(asked: str, parts: Mapping[str, Any]) -> str:
    if not parts:
        return "*Not measured yet:* `python benchmarks/all.py --data DIR`\n"
    if asked == "*":
        return (
            "".join(f"\n## {name}\n\n{_said(part)}\n\n{_table(part['rows'], True)}" for name, part in parts.items())
            + "\n"
        )
    return _table([row for wish in asked.split(";") for row in _chosen(wish, parts)])


def _chosen(wish: str, parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    name, _, words = wish.strip().partition(":")
    rows: list[dict[str, Any]] = parts.get(name.strip(), {}).get("rows", [])
    return [row for row in rows if words.strip() in f"{row['what']}, against {row['against']}"]


def _said(part: Mapping[str, Any]) -> str:
    known = ", ".join(f"{name} {number}" for name, number in part["versions"].items())
    where = f"{part['cores']} cores of {part['processor']}"
    return f"`{part['command']}` on {part['date']}, in {part['seconds']:,} s, on {where}; {known}."


def _table(rows: list[dict[str, Any]], with_floors: bool = False) -> str:
    """One line a row; what was asked for has a column of its own, if it is wanted and anything was."""
    has_floors = with_floors and any(row["floor"] for row in rows)
    more = (" asked for |", "---|") if has_floors else ("", "")
    lines = [f"| what | novikoff | beside it | novikoff is | better |{more[0]}", f"|---|---|---|---|---|{more[1]}"]
    for row in rows:
        peer = f"{row['against']}: {_amount(row, row['peer'])}" if row["peer"] is not None else "-"
        line = (
            f"| {row['what']} | {_amount(row, row['ours'])} | {peer} | {_compared(row)} | {row['better']} is better |"
        )
        lines.append(f"{line} {row['floor'] or '-'} |" if has_floors else line)
    return "\n".join(lines) + "\n"


def _amount(row: Mapping[str, Any], value: float) -> str:
    return f"{value:.2f} %" if row["unit"] == "%" else f"{_number(value)} {row['unit']}"


def _compared(row: Mapping[str, Any]) -> str:
    """The ratio in words.

    >>> fast = {"unit": "s", "better": "less", "ours": 1.0, "peer": 4.0, "ratio": [0.2, 0.25, 0.3]}
    >>> _compared(fast), _compared({**fast, "ratio": [1.5, 2.0, 2.0]})
    ('4.0 times faster (3.3 to 5.0)', '2.0 times slower (1.5 to 2.0)')
    >>> _compared({"unit": "examples/s", "better": "more", "ratio": [2.0, 2.0, 2.0], "ours": 2.0, "peer": 1.0})
    '2.0 times faster'
    >>> _compared({"unit": "%", "better": "less", "ratio": [0.75] * 3, "ours": 15.0, "peer": 20.0})
    '5.00 points lower'
    """
    if row["ratio"] is None:
        return "-"
    low, median, high = row["ratio"]
    if row["unit"] == "%":
        apart = row["ours"] - row["peer"]
        return f"{abs(apart):.2f} points {'lower' if apart < 0 else 'higher'}"
    is_time, is_rate = row["unit"] in SPEEDS, row["unit"].endswith("/s")
    if not (is_time or is_rate):
        return f"{_number(median)} times as much"
    if is_time:
        low, median, high = 1 / high, 1 / median, 1 / low
    word = "faster" if median >= 1 else "slower"
    if median < 1:
        low, median, high = 1 / high, 1 / median, 1 / low
    around = f" ({_number(low)} to {_number(high)})" if _number(low) != _number(high) else ""
    return f"{_number(median)} times {word}{around}"


def _number(value: float) -> str:
    """Two digits that count, three from a hundred on.

    >>> [_number(value) for value in (0.0123, 0.5, 3.86, 17.2, 1234.0, 0)]
    ['0.012', '0.50', '3.9', '17', '1,234', '0']
    """
    if abs(value) >= 10 or value == 0 or isinstance(value, int):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}" if abs(value) < 0.1 else f"{value:.2f}"
