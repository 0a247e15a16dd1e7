"""Panels: what a person reads. Colours only on a terminal, and none where NO_COLOR is set; rich sees to both.

Nothing is imported before something is shown. What several panels show is at the end: data, weights, verdicts.
"""

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.documents import Document
from novikoff.cli.options import Result, Rows, is_json, is_quiet

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table
    from rich.text import Text

    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate

WIDEST, NARROW = 100, 70

# As much as a pipe takes at once.
PIECE = 1 << 16
GOOD, BAD, NAME = "green", "yellow", "bold"


def show(result: Result) -> None:
    """Print the answer in JSON or as a panel, or not at all."""
    if is_quiet():
        return
    if is_json():
        click.echo(as_json(result.document))
        return
    title = " ".join(filter(None, (click.get_current_context().command_path, result.about)))
    panel, table = facts(title, result.rows()), result.table
    console().print(Visible(stacked(panel, columns(table[0], table[1:], left=len(table[0])) if table else None)))


def as_json(document: Document) -> str:
    """Return JSON on one line, in which nothing is invisible."""
    from novikoff.data.visible import visible_json

    return visible_json(json.dumps(document, ensure_ascii=False))


def json_lines(what: str, columns: Mapping[str, Sequence[Any]], first: int = 0) -> bytes:
    """Return an object a row, with its number, under the name of what it is."""
    rows = enumerate(zip(*columns.values(), strict=True), start=first)
    return "".join(as_json({what: n} | dict(zip(columns, row, strict=True))) + "\n" for n, row in rows).encode()


def visible(text: str, keep: str = "") -> str:
    """Return text in which nothing is invisible."""
    from novikoff.data.visible import visible as with_escapes

    return with_escapes(text, keep)


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


@contextlib.contextmanager
def sink(target: Path | None) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes the lines: a file that gets its name at the end, or standard output, at once."""
    if target is not None:
        from novikoff.data.whole_file import WholeFile

        with WholeFile(target) as file:
            yield file.write
        return
    stream = sys.stdout.buffer

    def write(lines: bytes) -> None:
        shown = on_a_terminal(lines.decode()).encode() if sys.stdout.isatty() else lines
        # In small pieces: a pipe that is closed in the middle of a long one may go unnoticed.
        for start in range(0, len(shown), PIECE):
            stream.write(shown[start : start + PIECE])
            stream.flush()

    yield write


def warn(what: str) -> None:
    """Print a warning on stderr, which no program reads by mistake."""
    if not is_quiet():
        click.echo(f"novikoff: {visible(what)}", err=True)


def console() -> "Console":
    """Return standard output, as wide as it is, but not so wide that lines are hard to read. Text is never markup."""
    from rich.console import Console

    found = Console(highlight=False, emoji=False, markup=False)
    found.width = min(found.width, WIDEST)
    return found


def facts(title: str, rows: Rows) -> "RenderableType":
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


def stacked(*parts: "RenderableType | None") -> "RenderableType":
    from rich.console import Group

    return Group(*(part for part in parts if part is not None))


def styled(text: str, style: str, rest: str = "") -> "Text":
    """Return text in a style, and the rest of it without."""
    from rich.text import Text

    return Text.assemble((text, style), rest)


def outcome(word: str, good: str) -> "Text":
    """Return a verdict in a word, coloured by whether it is the good one."""
    return styled(word, f"bold {GOOD if word == good else BAD}")


def solution(numbers: Sequence[tuple[str, str]], most: int = 20) -> "RenderableType | None":
    """Return the first of some numbers by name, if there are any."""
    more = f"and {len(numbers) - most:,} more; --json has all" if len(numbers) > most else None
    return stacked(columns(("", ""), numbers[:most]), more) if numbers else None


def in_words(label: Any) -> str:
    """Return a label in which nothing is invisible."""
    from novikoff.say.words import label_in_words

    return visible(label_in_words(label))


def listed(items: Sequence[Any], most: int = 12) -> str:
    """Return items with commas, not more than `most`."""
    from novikoff.say import words

    return words.listed([item if type(item) is int else in_words(item) for item in items], most)


# -- data, weights, runs and verdicts ---------------------------------------------------------------------------------


def what_was_read(data: Document) -> "RenderableType":
    """Show rows, labels, and what became of each column."""
    from novikoff.say.words import counted

    label = "" if data["label"] is None else f" {data['label']}"
    classes = [
        f"{in_words(name)} ({count:,})" for name, count in zip(data["classes"], data["class_counts"], strict=True)
    ]
    first = f"{counted(data['rows'], 'row')} of {counted(data['features'], 'feature')}; label{label}: {listed(classes)}"
    kinds: dict[str, list[str]] = {}
    for column in data["columns"]:
        kinds.setdefault(column["kind"], []).append(_with_detail(column))
    lacking = [column["name"] for column in data["columns"] if column["detail"].endswith("some are missing")]
    if lacking:
        kinds["missing"] = [f"some values of {listed(lacking, 24)}, each a feature of its own"]
    return stacked(styled(first, ""), columns(("", ""), [(kind, listed(n, 24)) for kind, n in kinds.items()], left=2))


def _with_detail(column: Document) -> str:
    if column["kind"] == "categorical":
        return f"{column['name']} ({column['detail'].partition(':')[0]})"
    return f"{column['name']} ({column['detail']})" if column["kind"] == "ignored" else column["name"]


def encoded_columns(described: list[Document]) -> "Table | None":
    """Show how each column of a table is used."""
    rows = [(column["name"], column["kind"], column["detail"]) for column in described]
    return columns(("", "", ""), rows, left=3) if rows else None


def rows_of_run(
    document: Document, run: "Run", classes: Sequence[Any], proved: Rows | None = None, hint: str = "", most: Any = None
) -> Rows:
    """Show what was learned, first what is asked first; what is `proved`, if not by the run alone; what happened.

    `hint` says how an error that was not measured can be, and `most` is the number of updates that the theorem allows.
    """
    from novikoff.say import runs as say
    from novikoff.say.certificates import weighted

    kernel = document.get("kernel")
    return [
        ("expected error", run.generalisation().with_hint(hint)),
        ("review", document.get("review", {}).get("in_words")),
        ("weights", weights(document["weights"], run, classes) if kernel is None else None),
        ("learned", kernel and kernel["in_words"]),
        *([("bound", say.made_rule_out(run))] if proved is None else proved),
        ("ended", styled(say.ending(run), GOOD if run.stopped and run.stopped.name == say.CONVERGED else BAD)),
        ("mistakes", say.made(run)),
        ("scaled", say.scales(run)),
        ("lead", say.lead(run, bool(run.leads_tried))),
        ("weighted", weighted([in_words(label) for label in classes], document.get("class_weights"), most)),
        ("validation", say.validated(run)),
        ("returned", say.returned(run)),
        ("errors", say.wrong(run)),
    ]


def weights(heaviest: list[Document], run: "Run", classes: Sequence[Any]) -> "RenderableType":
    """Show the largest weights by name, with bars, and which class they favour. Names are never cut."""
    from rich.table import Table

    from novikoff.say.runs import NO_WEIGHTS, READOUT_WORDS

    if not heaviest:
        return styled("all weights are 0" if run.readout != "vote" else NO_WEIGHTS, "")
    many, largest = heaviest[0]["class"] is not None, max(abs(weight["weight"]) for weight in heaviest)
    favour = f"; positive values favour {in_words(classes[1])!r}" if len(classes) == 2 else ", each after its class"
    size = 24 if console().width >= NARROW else 8
    table = Table.grid(padding=(0, 2))
    for place in range(4 if many else 3):
        table.add_column(**({"overflow": "fold"} if place < 1 + many else {"no_wrap": True}))
    for weight in heaviest:
        value = weight["weight"]
        bar = "━" * max(1, round(size * abs(value) / largest))
        label = [in_words(weight["class"])] if many else []
        table.add_row(*label, visible(weight["name"]), f"{value:+.4g}", styled(bar, GOOD if value > 0 else "red"))
    table.columns[-2].justify = "right"
    return stacked(styled(f"{len(heaviest)} largest of {READOUT_WORDS[run.readout]}{favour}", ""), table)


def verdict(certificate: "Certificate", of: str = "") -> "Text":
    """Show the verdict in a word and in a sentence; and of which rows, if that is to be said."""
    word = certificate.verdict.value
    rest = certificate.verdict_in_words.removeprefix(word)
    return styled(word, f"bold {GOOD if word == 'separable' else BAD}", f"{rest}: {certificate.meaning}{of}")


def certified(certificate: "Certificate | None", why_not: str | None, run: "Run") -> "RenderableType":
    """Show the verdict, and of which rows, if the run has seen fewer; or why there is none."""
    from novikoff.say.certificates import of_all_rows

    if certificate is None:
        return f"skipped: {why_not}"
    return verdict(certificate, of_all_rows(certificate.n_rows, run.held_out_rows))
