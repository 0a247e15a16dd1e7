"""Panels: what a person reads. Colours only on a terminal, and none where NO_COLOR is set; rich sees to both."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.documents import Document
from novikoff.cli.options import Output, Result
from novikoff.data.visible import visible, visible_json
from novikoff.say import words

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

WIDEST, NARROW = 100, 70
GOOD, BAD, NAME = "green", "yellow", "bold"


def show(output: Output, result: Result) -> None:
    """Print the answer in JSON or as a panel, or not at all."""
    if output.quiet:
        return
    if output.json:
        click.echo(as_json(result.document))
        return
    console().print(Visible(result.panel()))


def as_json(document: Document) -> str:
    """Return JSON on one line, in which nothing is invisible."""
    return visible_json(json.dumps(document, ensure_ascii=False))


@dataclass(frozen=True)
class Visible:
    """Output without invisible characters and without those that control the terminal."""

    shown: "RenderableType"

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Segment]":
        from rich.segment import Segment

        for text, style, _ in console.render(self.shown, options):
            yield Segment(visible(text, keep="\n"), style)


def on_a_terminal(text: str) -> str:
    """Return text for standard output: data as they are in a file or a pipe, but made safe for a terminal."""
    return visible(text, keep="\n\t") if sys.stdout.isatty() else text


def console() -> "Console":
    """Return standard output, as wide as it is, but not so wide that lines are hard to read. Text is never markup."""
    from rich.console import Console

    found = Console(highlight=False, emoji=False, markup=False)
    found.width = min(found.width, WIDEST)
    return found


def facts(title: str, rows: "Iterable[tuple[str, RenderableType | None]]") -> "RenderableType":
    """Return a panel of facts, each with its name; those that are None are omitted."""
    from rich.box import ROUNDED
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=NAME, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            grid.add_row(name, visible(value, keep="\n") if isinstance(value, str) else value)
    return Panel(grid, title=Text(visible(title)), title_align="left", box=ROUNDED, padding=(0, 1))


def columns(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> "Table":
    """Return a small table without lines; all but the first `left` columns are numbers."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=any(header), pad_edge=False, header_style="dim")
    for place, name in enumerate(header):
        table.add_column(visible(name), justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(visible(cell, keep="\n") for cell in row))
    return table


def outcome(word: str, good: str) -> "Text":
    """Return a verdict in a word, coloured by whether it is the good one."""
    from rich.text import Text

    return Text(word, style=f"bold {GOOD if word == good else BAD}")


def solution(numbers: Sequence[tuple[str, str]], most: int = 20) -> "RenderableType | None":
    """Return the first of some numbers by name, if there are any."""
    more = f"and {len(numbers) - most:,} more; --json has all" if len(numbers) > most else None
    return stacked(columns(("", ""), numbers[:most]), more) if numbers else None


def weights_table(weights: Sequence[Document]) -> "Table":
    """Return weights with bars; with many classes, for each the class first. Names are never cut."""
    from rich.table import Table
    from rich.text import Text

    many = any(weight["class"] is not None for weight in weights)
    largest = max((abs(weight["weight"]) for weight in weights), default=0.0) or 1.0
    size = 24 if console().width >= NARROW else 8
    table = Table.grid(padding=(0, 2))
    if many:
        table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for _ in ("weight", "bar"):
        table.add_column(no_wrap=True)
    for weight in weights:
        value = weight["weight"]
        length = max(1, round(size * abs(value) / largest))
        bar = Text("━" * length, style=GOOD if value > 0 else "red")
        label = [in_words(weight["class"])] if many else []
        table.add_row(*label, visible(weight["name"]), Text(f"{value:+.4g}", justify="right"), bar)
    return table


def in_words(label: Any) -> str:
    """Return a label in which nothing is invisible."""
    return visible(words.label_in_words(label))


def listed(items: Sequence[Any], most: int = 12) -> str:
    """Return items with commas, not more than `most`."""
    return words.listed([item if type(item) is int else in_words(item) for item in items], most)


def stacked(*parts: "RenderableType | None") -> "RenderableType":
    from rich.console import Group

    return Group(*(part for part in parts if part is not None))


def warn(output: Output, what: str) -> None:
    """Print a warning on stderr, which no program reads by mistake."""
    if not output.quiet:
        click.echo(f"novikoff: {visible(what)}", err=True)
