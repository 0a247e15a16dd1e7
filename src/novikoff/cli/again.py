"""The given options, as arguments with which another command reads the same file and answers the same question.

They are taken from the command line itself, so that no option can be forgotten: what was given, and the other command
also has, is repeated, except for what is named here.
"""

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from pathlib import Path

    from novikoff.cli.options import Page, TableOptions
    from novikoff.data.examples import Examples
    from novikoff.data.reading import Reader
    from novikoff.show.report.page import Report

# Where and how a command answers, and its time limit: that of `fit` is about learning.
NOT_THE_QUESTION = {
    "out",
    "report",
    "report_features",
    "force",
    "json",
    "quiet",
    "debug",
    "jobs",
    "cluster",
    "time_limit",
}
# A certificate of a table knows its columns, and whether there is an intercept.
KNOWN_TO_A_CERTIFICATE = {"label", "ignore", "fit_intercept"}


def report_on(
    path: "Path | None", page: "Page", examples: "Examples", file: str, reader: "Reader", table: "TableOptions"
) -> "Report | None":
    """Return the requested report, if any; refuse an unknown feature before anything is learned."""
    if path is None:
        return None
    from novikoff.cli.certify import certify
    from novikoff.cli.check import check
    from novikoff.show.report.page import Names, Report
    from novikoff.show.report.picture import columns_to_draw

    columns = columns_to_draw(examples.encoding, examples.n_columns, examples, page.report_features or ())
    names = Names(
        files=reader.files,
        source=file,
        label=reader.label,
        certify=given_again(certify, NOT_THE_QUESTION),
        check=given_again(check, NOT_THE_QUESTION | KNOWN_TO_A_CERTIFICATE),
        read=table.read_with,
    )
    return Report(path, examples, columns, names)


def given_again(command: click.Command, without: set[str]) -> tuple[str, ...]:
    """Return the options that the running command was given, and that another command also has."""
    context = click.get_current_context()
    theirs = {option.name for option in command.params if isinstance(option, click.Option)} - without
    return tuple(
        word
        for option in context.command.params
        if option.name in theirs and context.get_parameter_source(option.name) is not ParameterSource.DEFAULT
        for word in words_of(option, context.params[option.name])
    )


def words_of(option: click.Parameter, value: Any) -> tuple[str, ...]:
    """Return an option with its value, as arguments of a command line.

    >>> words_of(click.Option(["--ignore"], multiple=True), ("id", "a note"))
    ('--ignore', 'id', '--ignore', 'a note')
    >>> words_of(click.Option(["--header/--no-header"]), False), words_of(click.Option(["--zero-based"]), True)
    (('--no-header',), ('--zero-based', 'true'))
    """
    assert isinstance(option, click.Option)
    if option.is_flag:
        return (option.opts[0] if value else option.secondary_opts[0],)
    values = value if option.multiple else (value,)
    return tuple(
        word
        for one in values
        for word in (option.opts[0], str(one).lower() if one is True or one is False else str(one))
    )
