"""Files that commands write, reports among them, and models that they read.

Without --force only models are replaced, and whether a file may be written is checked before the work.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from novikoff.cli.options import TableOptions
    from novikoff.data.examples import Examples
    from novikoff.data.reading import Reader
    from novikoff.show.report.page import Report

LoadedModel = TypeVar("LoadedModel")

COMMANDS = {
    "LinearModel": "novikoff predict and novikoff score",
    "KernelModel": "novikoff predict and novikoff score",
    "Tagger": "novikoff tag run and novikoff tag score",
    "OnlinePerceptron": "novikoff online",
}

# Where the context of a command has --force.
FORCE = "novikoff.force"


def is_forced() -> bool:
    """Whether the running command was given --force."""
    return bool(click.get_current_context().meta.get(FORCE))


def out_target(out: str | None) -> Path | None:
    """Return where a file may be written, if one is requested."""
    return None if out is None else check_free(out)


def model_target(model: str | None) -> Path:
    """Return where a model may be written, by default after the file that it is learned from: a model is replaced."""
    from novikoff.keep.layout import check_replaceable

    file = click.get_current_context().params["file"]

    path = default_model(file) if model is None else Path(model)
    if not is_forced():
        try:
            check_replaceable(path)
        except FileExistsError as error:
            raise FileExistsError(f"{error}, or pass --force to replace it") from None
    return check_free(path, may_exist=True)


def save_model(model: Any, target: Path) -> None:
    """Write a model."""
    from novikoff.keep.models import save

    save(model, target, force=is_forced())


def default_model(file: str) -> Path:
    """Return the model's file: named after the table, in the folder where the command runs.

    >>> default_model("tables/cars.csv.gz").name
    'cars.novikoff'
    """
    name = Path(file).name
    for ending in (".gz", ".zst", ".zstd"):
        name = name.removesuffix(ending)
    stem = Path(name).stem.strip("-*?")
    return Path(f"{stem or 'model'}.novikoff")


def check_free(path: str | os.PathLike[str], *, may_exist: bool = False) -> Path:
    """Return the path, if a file may be written there."""
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{target} cannot be written: there is no folder {folder}; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"{target} cannot be written: it is a folder; add a file name")
    if target.is_file() and not (may_exist or is_forced()):
        raise FileExistsError(f"{target} already exists; pass --force to replace it, or choose another name")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{target} cannot be written: the folder {folder} is not writable; choose another")
    return target


def load_model(path: str, kind: type[LoadedModel]) -> LoadedModel:
    """Load the model in a file; raise an error that says which kind it is, if it is of another one."""
    from novikoff.keep.models import load_plain

    model = load_plain(path)
    if not isinstance(model, kind):
        found = type(model).__name__
        use = f"; use {COMMANDS[found]}" if found in COMMANDS else ""
        raise ValueError(f"{path} holds a {found}, not a {kind.__name__}{use}")
    return model


# -- reports ----------------------------------------------------------------------------------------------------------

# A report has the options with which another command reads the same file and answers the same question: all that were
# given, and the other command also has, except for where and how a command answers, and its time limit: that of `fit`
# is about learning.
NOT_THE_QUESTION = frozenset(("out", "report", "force", "json", "quiet", "debug", "jobs", "cluster", "time_limit"))
# A certificate of a table knows its columns, and whether there is an intercept.
KNOWN_TO_A_CERTIFICATE = frozenset(("label", "ignore", "fit_intercept"))


def report_on(
    report: str | None, examples: "Examples", file: str, reader: "Reader", table: "TableOptions"
) -> "Report | None":
    """Return the report on examples, if one is requested."""
    if report is None:
        return None
    from novikoff.cli.certify import certify
    from novikoff.cli.check import check
    from novikoff.show.report.page import Names, Report
    from novikoff.show.report.picture import columns_to_draw

    names = Names(
        files=reader.files,
        source=file,
        label=reader.label,
        certify=given_again(certify, NOT_THE_QUESTION),
        check=given_again(check, NOT_THE_QUESTION | KNOWN_TO_A_CERTIFICATE),
        read=table.read_with,
    )
    return Report(Path(report), examples, columns_to_draw(examples.encoding, examples.n_columns, examples), names)


def given_again(command: click.Command, without: frozenset[str]) -> tuple[str, ...]:
    """Return the options that the running command was given, and that another command also has, as arguments."""
    context, words = click.get_current_context(), list[str]()
    theirs = {option.name for option in command.params if isinstance(option, click.Option)} - without
    for option in context.command.params:
        if option.name not in theirs or context.get_parameter_source(option.name) is ParameterSource.DEFAULT:
            continue
        assert isinstance(option, click.Option)
        value = context.params[option.name]
        if option.is_flag:
            words.append(option.opts[0] if value else option.secondary_opts[0])
            continue
        for one in value if option.multiple else (value,):
            words += [option.opts[0], str(one).lower() if isinstance(one, bool) else str(one)]
    return tuple(words)
