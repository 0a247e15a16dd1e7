"""The figures as README and docs show them between their markers, from docs/figures.json: charts, and tables below."""

import os
import re
from collections.abc import Iterator, Mapping
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


CHARTS = ROOT / "docs" / "pictures" / "figures"


def rendered(page: str, parts: Mapping[str, Any], path: Path = FIGURES) -> str:
    """A page with the charts and tables between its markers as the figures have them; `path` is where it is."""
    places = iter(range(1, page.count("<!-- figures:") + 1))
    return MARKED.sub(
        lambda found: f"{found['first']}{_shown(found['asked'], parts, path, next(places))}{found['last']}", page
    )


def draw_all(parts: Mapping[str, Any]) -> None:
    """Draw the charts of all pages anew."""
    CHARTS.mkdir(parents=True, exist_ok=True)
    for old in CHARTS.glob("*.svg"):
        old.unlink()
    for path in PAGES:
        for place, found in enumerate(MARKED.finditer(path.read_text(encoding="utf-8")), start=1):
            for name, rows in _sections(found["asked"], parts):
                draw(rows, _chart(path, place, name))


def draw(rows: list[dict[str, Any]], target: Path) -> None:
    """One bar a row, to the right where novikoff is better; the axis is logarithmic."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullLocator

    rows = [row for row in rows if row["ratio"] is not None and row["ratio"][1] > 0]
    if not rows:
        return
    factors = [_advantage(row) for row in rows]
    with plt.rc_context({"svg.hashsalt": "novikoff", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(9.5, 0.8 + 0.42 * len(rows)))
        places = range(len(rows))
        colours = ["#1f6f8b" if factor >= 1 else "#c46a3f" for factor in factors]
        axes.barh(places, [factor - 1 for factor in factors], left=1, color=colours, height=0.5)
        axes.set_xscale("log")
        axes.set_xlim(min(0.95, min(factors) / 1.1), max(2.0, max(factors) * 1.1))
        axes.axvline(1, color="#444444", linewidth=1)
        axes.set_yticks(places, [_cut(row["what"]) for row in rows])
        axes.invert_yaxis()
        axes.set_xlabel("times better than the peer (log scale)")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        for place, (row, factor) in enumerate(zip(rows, factors, strict=True)):
            said = f"{_amount(row, row['ours'])} against {_amount(row, row['peer'])}, {row['against']}"
            at = (max(factor, 1.0), place)
            axes.annotate(said, at, (4, 0), textcoords="offset points", va="center", fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(target, bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)


def _advantage(row: Mapping[str, Any]) -> float:
    """By which factor novikoff is better."""
    return row["ratio"][1] if row["better"] == "more" else 1 / row["ratio"][1]


def _cut(text: str, most: int = 58) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _sections(asked: str, parts: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What stands between markers: one chart for each benchmark, or one of chosen rows."""
    if asked == "*":
        yield from ((name, part["rows"]) for name, part in parts.items())
    else:
        yield "", [row for wish in asked.split(";") for row in _chosen(wish, parts)]


def _chart(path: Path, place: int, name: str) -> Path:
    return CHARTS / f"{path.stem.lower()}-{name or place}.svg"


def _shown(asked: str, parts: Mapping[str, Any], path: Path, place: int) -> str:
    if not parts:
        return "*Not measured yet:* `python benchmarks/all.py --data DIR`\n"
    return "".join(
        _section(name, rows, parts, os.path.relpath(_chart(path, place, name), path.parent))
        for name, rows in _sections(asked, parts)
    )


def _section(name: str, rows: list[dict[str, Any]], parts: Mapping[str, Any], chart: str) -> str:
    """A chart, and its table folded below it."""
    heading = f"\n## {name}\n\n{_said(parts[name])}\n\n" if name else ""
    picture = f"![novikoff and its peers, as a bar chart; the numbers are in the table below]({chart})\n"
    drawn = any(row["ratio"] is not None and row["ratio"][1] > 0 for row in rows)
    table = f'<details markdown="1"><summary>The numbers</summary>\n\n{_table(rows)}\n</details>\n'
    return f"{heading}{picture if drawn else ''}\n{table}"


def _chosen(wish: str, parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    name, _, words = wish.strip().partition(":")
    rows: list[dict[str, Any]] = parts.get(name.strip(), {}).get("rows", [])
    return [row for row in rows if words.strip() in f"{row['what']}, against {row['against']}"]


def _said(part: Mapping[str, Any]) -> str:
    known = ", ".join(f"{name} {number}" for name, number in part["versions"].items())
    where = f"{part['cores']} cores of {part['processor']}"
    return f"`{part['command']}` on {part['date']}, in {part['seconds']:,} s, on {where}; {known}."


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| what | novikoff | peer | novikoff is |", "|---|---|---|---|"]
    for row in rows:
        peer = f"{row['against']}: {_amount(row, row['peer'])}" if row["peer"] is not None else "-"
        lines.append(f"| {row['what']} | {_amount(row, row['ours'])} | {peer} | {_compared(row)} |")
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
