"""Options that several commands share. They have the names of the library's parameters.

Options that belong together reach a command as one value (`grouped`): how a table is read, where an answer goes.
"""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from novikoff.cli.files import FORCE, check_free, model_target, out_target
from novikoff.options import DECLARED, Choice, Declared, Flag, Fraction, Kind, Whole

if TYPE_CHECKING:
    from novikoff.data.held_out import HeldOut
    from novikoff.data.reading import Reader

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw")
FILE, PATH = click.Path(allow_dash=True), click.Path()
AT_LEAST_ONE, AT_LEAST_TWO = click.IntRange(min=1), click.IntRange(min=2)
POSITIVE, SHARE = click.FloatRange(min=0, min_open=True), click.FloatRange(0, 1, min_open=True, max_open=True)


def option(name: str, kind: Any, metavar: str | None, help_text: str, default: Any = None, **more: Any) -> Any:
    """Add an option with a value of a type, or one of some words; the default is shown if there is one."""
    kind = click.Choice(kind) if isinstance(kind, tuple) else kind
    shown = default is not None
    return click.option(name, type=kind, metavar=metavar, default=default, show_default=shown, help=help_text, **more)


def grouped(
    name: str, make: Callable[..., Any], *options: Callable[[Any], Any], names: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Group options into one value for a command: what `make` makes of these `names`, or of its parameters."""
    names = names or tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            made = make(**{option: kwargs.pop(option) for option in names if option in kwargs})
            return command(*args, **{name: made}, **kwargs)

        result: Any = wrapped
        for option in reversed(options):
            result = option(result)
        return result

    return decorate


# -- how a command answers --------------------------------------------------------------------------------------------


# The rows of a panel: each a name, and what stands beside it, as text or as rich shows it; None omits the row.
Rows = Sequence[tuple[str, Any]]


def is_quiet() -> bool:
    """Whether the running command answers only by its exit code."""
    return bool(click.get_current_context().params["quiet"])


def is_json() -> bool:
    """Whether the running command answers in JSON."""
    return bool(click.get_current_context().params["json"])


class Result(NamedTuple):
    """What a command answers: a document, the rows of a panel about a file, an exit code, warnings, the lines of a
    table below the panel, the header first, and a certificate."""

    document: dict[str, Any]
    about: str
    rows: Callable[[], Rows]
    code: int = 0
    warnings: tuple[str, ...] = ()
    table: Sequence[Sequence[str]] = ()
    certificate: Any = None

    def written(self, target: Path | None) -> "Result":
        """Write the certificate, if there is one and a file for it is requested; return the answer with its name."""
        name = None
        if target is not None and self.certificate is not None:
            from novikoff.data.whole_file import WholeFile

            with WholeFile(target) as file:
                file.write(self.certificate.to_json().encode() + b"\n")
            name = str(target)
        return self._replace(
            document={**self.document, "out": name}, rows=lambda: [*self.rows(), ("certificate", name)]
        )


def answering(command: Command) -> Command:
    """Add --json, --quiet and --debug, which every command has, and show what the command answers."""

    @click.option("--json", is_flag=True, help="Print JSON.")
    @click.option("--quiet", is_flag=True, help="Print nothing but errors; the exit code is the answer.")
    @click.option("--debug", is_flag=True, help="Show the traceback of an error.")
    @functools.wraps(command)
    def wrapped(*args: Any, json: bool, quiet: bool, debug: bool, **kwargs: Any) -> Any:
        from novikoff.cli.progress import silent

        with silent(quiet):
            may_write, target = "proof_target" in kwargs, kwargs.pop("proof_target", None)
            answer = command(*args, **kwargs)
        if not isinstance(answer, Result):
            return answer
        answer = answer.written(target) if may_write else answer
        from novikoff.cli.render import show, warn

        show(answer)
        for what in answer.warnings:
            warn(what)
        return answer.code

    return wrapped  # type: ignore[return-value]


def jobs(command: Command) -> Command:
    """Add --jobs: how many threads the command uses."""

    @click.option("--jobs", type=int, metavar="N", help="The number of threads; -1: all cores.  [default: all cores]")
    @functools.wraps(command)
    def wrapped(*args: Any, jobs: int | None, **kwargs: Any) -> Any:
        from novikoff.engine.threads import on_cores

        if jobs == 0:
            raise click.BadParameter("must not be 0; -1 is all cores", param_hint="--jobs")
        with on_cores(jobs):
            return command(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


# -- what a command writes --------------------------------------------------------------------------------------------


def out(help_text: str, name: str = "target", metavar: str = "OUT") -> Callable[[Command], Command]:
    """Add --out and --force; the command gets the `target`."""
    return grouped(name, out_target, option("--out", PATH, metavar, help_text), force)


def proof_out(help_text: str) -> Callable[[Command], Command]:
    """Add --out and --force for the certificate that the command answers with."""
    return out(help_text, "proof_target", "CERT")


force = click.option(
    "--force",
    is_flag=True,
    expose_value=False,
    callback=lambda context, option, value: context.meta.update({FORCE: value}),
    help="Replace an existing file.",
)
model = grouped(
    "target",
    model_target,
    option("--model", PATH, "OUT", "Where to write the model.  [default: FILE's name with .novikoff]"),
)
report = grouped(
    "report",
    lambda report: None if report is None else str(check_free(report)),
    option("--report", PATH, "HTML", "Write a report: one self-contained HTML page."),
)


# -- what a command reads ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableOptions:
    """How a command reads its labelled file: the options of `read` that were given, and what its columns mean."""

    read_with: dict[str, Any]
    label: str | None = None
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    tfidf: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """The given roles of columns other than the labels, by the names of an encoding's parameters."""
        return {"categorical": self.categorical, "text": self.text, "tfidf": self.tfidf, "ignore": self.ignore}

    @property
    def form(self) -> dict[str, Any]:
        """How a table is written in text, as far as that was given."""
        return {name: value for name, value in self.read_with.items() if name not in ("format", "zero_based")}

    def open(self, file: str) -> "Reader":
        """Return the reader of a labelled file; warn if the names of its columns look like data."""
        from novikoff.cli.render import listed, warn
        from novikoff.cli.tables import with_label
        from novikoff.data.reading import read
        from novikoff.data.tables import look_like_data

        reader = read(file, label=self.label, **self.read_with)
        if reader.is_table and reader.label is None:
            names = ", ".join(list(reader.column_types)[:20])
            raise ValueError(f"name the label column with --label; {file} has {names}")
        reader = with_label(reader)
        if reader.is_text and reader.form.header and look_like_data(first := reader.layout().names):
            warn(
                f"the first line of {reader.files[0]} was read as column names, but looks like data "
                f"({listed(first, 4)}); if it is, pass --no-header",
            )
        return reader


@dataclass(frozen=True)
class ReviewOptions:
    """The allowed error of the predictions that are not reviewed, its confidence, and the rows that prove it."""

    review: float | None
    review_confidence: float
    review_file: str | None

    def check(self, held_out: Any, file: str) -> None:
        """Refuse a review without rows that are not trained on, and such rows without a review."""
        if self.review is None and self.review_file is not None:
            raise ValueError("--review-file requires --review")
        if self.review is not None and (held_out is None) == (self.review_file is None):
            raise ValueError(
                "--review needs labelled rows not used in training: add --held-out 0.2, or --review-file FILE, not both"
            )
        if self.review_file is not None and Path(self.review_file).resolve() == Path(file).resolve():
            raise ValueError(f"--review-file {file} is training data, so it proves nothing; use other rows")

    @property
    def asked(self) -> dict[str, Any]:
        """What is to be proved, by the names of the library."""
        return {"error": self.review, "confidence": self.review_confidence}

    def check_size(self, held_out: "HeldOut | None", n_rows: int, row: str = "row") -> None:
        """Refuse too few held-out rows before anything is learned."""
        from novikoff.learn.review import rows_needed

        if self.review is not None and held_out is not None:
            rows_needed(int(held_out.which(0, n_rows).sum()), row=row, **self.asked)


def _column(name: str, what: str) -> Callable[[Command], Command]:
    return option(name, None, "COL", f"{what} May be repeated.", multiple=True)


label = option("--label", None, "COL", "The label column, by name or position (1, -1).")
known_label = option("--label", None, "COL", "The label column.  [default: as in training]")
categorical = _column("--categorical", "A numeric column to treat as categories, such as identifiers.")
text = _column("--text", "A free-text column: one feature per word and per pair of words.")
tfidf = _column("--tfidf", "A free-text column, weighted by tf-idf.")
ignore = _column("--ignore", "A column to ignore.")
file_format = option("--format", FORMATS, None, "The format of FILE.  [default: inferred]")
zero_based = option(
    "--zero-based", ("auto", "true", "false"), None, "Whether svmlight indices start at 0; auto: at 1, if none is 0.",
    "auto", callback=lambda context, parameter, value: {"true": True, "false": False}.get(value, value),
)  # fmt: skip


def _given(
    header: Any, names: str | None, na_values: Any, decimal: Any, format: Any, zero_based: Any = "auto"
) -> dict[str, Any]:
    """Return the options of `read` that were given."""
    said = {"header": header, "names": names and tuple(names.split(",")), "na_values": na_values, "decimal": decimal}
    said |= {"format": format, "zero_based": None if zero_based == "auto" else zero_based}
    return {name: value for name, value in said.items() if value not in (None, ())}


form = (
    option("--header/--no-header", None, None, "Treat the first line of CSV as column names.  [default: --header]"),
    option("--names", None, "A,B,...", "The names of the columns, with --no-header."),
    option("--na-values", None, "WORD", "An additional marker of missing values. May be repeated.", multiple=True),
    option("--decimal", (".", ","), None, "The decimal separator in CSV.  [default: inferred]"),
)
reading = grouped("read_with", _given, file_format, zero_based, *form)
reading_tables = grouped("read_with", _given, file_format, *form)
table = grouped("table", TableOptions, label, categorical, text, tfidf, ignore, reading)
numbers = grouped("table", TableOptions, label, ignore, reading)
proved = grouped("table", TableOptions, reading, label, ignore)
written = grouped("table", TableOptions, reading_tables)
scored = grouped("table", TableOptions, known_label, reading_tables)


# -- what is learned, and how -----------------------------------------------------------------------------------------


class OfKind(click.ParamType):  # type: ignore[type-arg]
    """What an option may be, as it is declared: a number, or a word: `none` and `auto` where these are allowed, or
    others, each with what it stands for."""

    name = "number"

    def __init__(self, kind: Kind, **words: Any) -> None:
        self.kind = kind
        allowed = {"auto": ("auto", kind.auto), "none": (None, kind.none is not None)}
        self.words = {word: value for word, (value, is_allowed) in allowed.items() if is_allowed} | words

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if not isinstance(value, str) or value in self.words:
            return self.words.get(value, value)
        try:
            number: float = int(value) if isinstance(self.kind, Whole) else float(value)
        except ValueError:
            number = math.nan
        if not self.kind.accepts(number):
            words = [f"'none' for {self.kind.none}" if word == "none" else repr(word) for word in self.words]
            words = [word for word in words if self.kind.none != "" or not word.startswith("'none'")]
            self.fail(f"{value!r} must be {', or '.join([self.kind.says, *words])}", parameter, context)
        return number


class ClassWeight(click.ParamType):  # type: ignore[type-arg]
    """`balanced`, or numbers for labels: yes=2,no=1."""

    name = "weights"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if value == "balanced":
            return value
        from novikoff.learn.class_weights import HEAVIEST, LIGHTEST

        weights = dict[str, float]()
        for part in value.split(","):
            label, _, number = part.rpartition("=")
            try:
                weights[label] = float(number)
            except ValueError:
                weights[label] = 0.0
            if not label or not LIGHTEST <= weights[label] <= HEAVIEST:
                self.fail(f"{part!r} must be 'balanced', or a label with a positive number: yes=2", parameter, context)
        return weights


class_weight = option(
    "--class-weight",
    ClassWeight(),
    "balanced|A=2,B=1",
    f"{DECLARED['class_weight'].help} balanced: rows/(classes x rows of the class).",
)


# A lead where it cannot be chosen on validation rows.
TOLD_LEAD = replace(
    DECLARED["lead"],
    kind=replace(DECLARED["lead"].kind, auto=False),
    help=DECLARED["lead"].help.replace(", and auto lets the rows choose", ""),
    default=0.0,
)


def learning(*names: str, **changed: Any) -> Callable[[Command], Command]:
    """Add options of learning, as they are declared; `changed` has other kinds, defaults or declarations by name."""

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            command = _learning_option(name, changed.get(name))(command)
        return command

    return decorate


def _learning_option(name: str, other: Any) -> Callable[[Command], Command]:
    declared = other if isinstance(other, Declared) else DECLARED[name]
    kind = other if isinstance(other, Kind) else declared.kind
    default = declared.default if other is None or isinstance(other, Kind | Declared) else other
    flag = f"--{name.replace('_', '-')}"
    if isinstance(kind, Flag):
        return option(f"{flag}/--no-{flag[2:]}", None, None, declared.help, default)
    if isinstance(kind, Choice):
        return option(flag, kind.words, None, declared.help, default)
    if name == "random_state":
        return option(flag, int, "N", declared.help, default)
    metavar = "N" if isinstance(kind, Whole) else "FRACTION" if isinstance(kind, Fraction) else "X"
    words = "|auto" * kind.auto + "|none" * bool(kind.none)
    return option(flag, OfKind(kind), metavar + words, declared.help, default)


review = grouped(
    "review",
    ReviewOptions,
    option("--review", SHARE, "ERROR", "Prove which predictions need no review, for at most this error."),
    option("--review-confidence", SHARE, "X", "The confidence of that proof.", 0.95),
    option("--review-file", FILE, "FILE", "Labelled rows for --review, if none are held out."),
)


def time_limit(help_text: str, default: float | None = None) -> Callable[[Command], Command]:
    """Add the seconds after which to stop, where nothing is learned."""
    return option("--time-limit", POSITIVE, "S", help_text, default)
