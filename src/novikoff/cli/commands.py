"""The command `novikoff`: where its commands are, and how an error becomes one sentence and an exit code.

0 is success, 1 an error in the input or the files, 2 a usage error, 130 Ctrl-C, and 141 a pipe whose reader has closed
it, as for any program that a signal ends. Commands whose answer has several verdicts have further codes, which they
document.
"""

import os
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from novikoff import __version__

DONE, INPUT_ERROR, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

# What a user can cause. Anything else is our bug: its traceback is shown.
EXPECTED = (ValueError, OSError, ImportError, MemoryError)

COMMANDS = {
    "fit": "Train a classifier on a table, and prove what can be proved.",
    "predict": "Add a column of predictions to a table.",
    "score": "Count the errors of a model on a labelled table.",
    "certify": "Prove that a table is separable, or that it is not.",
    "check": "Check a saved certificate against the data.",
    "inspect": "Show what is in a model file: weights by name, the run, the proof.",
    "online": "Learn from a stream, one example per line.",
    "serve": "Serve models that learn from feedback, over HTTP.",
    "tag": "Label sequences: train, run and score taggers on CoNLL files.",
    "lp": "Solve a linear program, with an exact proof.",
    "ball": "Find a ball around one class that excludes the other.",
    "inequalities": "Solve a.x > 0 for every row a, or prove that there is no solution.",
    "lab": "Open the lab: watch the perceptron learn, in the browser.",
    "warm-up": "Compile all kernels in advance.",
    "example": "Write small example data sets.",
}


class LazyGroup(click.Group):
    """A group of commands with their help in one line, each imported only when it runs.

    A command is in the module of its name, or all of a group are in one `home`.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str], home: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy, self.home = lazy, home

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return None
        python_name = name.replace("-", "_")
        command: click.Command = getattr(import_module(self.home or f"novikoff.cli.{python_name}"), python_name)
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.lazy, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(self.lazy)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", context)
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lazy.items()))


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="novikoff")
def novikoff() -> None:
    """The perceptron, with a proof for every run.

    Begin with: novikoff example, then: novikoff fit cars.csv --label sport_car
    """


# -- errors -----------------------------------------------------------------------------------------------------------


def exit_code(command: click.Command, args: list[str]) -> int:
    """Run a command, print an error as one sentence on stderr, and return the exit code."""
    sys.set_int_max_str_digits(0)  # the integers of an exact proof may have more digits than Python prints by default
    try:
        # A command returns its exit code, or nothing.
        code = command.main(args, prog_name="novikoff", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return USAGE
    except click.UsageError as error:
        about = "novikoff" if error.ctx is None else error.ctx.command_path
        return _say(args, f"{error.format_message().rstrip('.')}; see {about} --help", USAGE)
    except (click.Abort, KeyboardInterrupt):
        return _say(args, "interrupted; nothing was written", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # click exits so where a pipe is broken
        # The reader of our output has closed it. Python would report that again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except EXPECTED as error:
        if "--debug" in args:
            import traceback

            _show(traceback.format_exc())
        return _say(args, sentence(error, _command_of(command, args)), INPUT_ERROR)


def _command_of(command: click.Command, args: list[str]) -> click.Command:
    """Return the command that the arguments name, in any group."""
    for arg in args:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), arg) or command
    return command


def sentence(error: BaseException, command: click.Command | None = None) -> str:
    """Return the message of an error, in one line, with its file, and in the words of the command line.

    >>> sentence(FileNotFoundError(2, "No such file or directory", "cars.csv"))
    'cars.csv: No such file or directory'
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory for this{f' ({error})' if str(error) else ''}"
    context = click.get_current_context(silent=True)
    command = context.command if command is None and context is not None else command
    text = " ".join(str(error).split()) or type(error).__name__
    return text if command is None else in_options(text, command)


def in_options(text: str, command: click.Command) -> str:
    """Return the same with options in place of the library's parameters, where the command has such an option.

    >>> ignore = click.Option(["--ignore"], multiple=True)
    >>> in_options("leave it out with ignore=['when'], or types=...", click.Command("fit", params=[ignore]))
    'leave it out with --ignore when, or types=...'
    >>> limit = click.Option(["--max-iter"])
    >>> in_options("raise max_iter (max_iter=None: no limit)", click.Command("fit", params=[limit]))
    'raise --max-iter (--max-iter none: no limit)'
    """
    known = {option.name: option for option in command.params if isinstance(option, click.Option)}

    def replaced(found: re.Match[str]) -> str:
        option, value = known.get(found[1]), found[2]
        if option is None:
            return found[0]
        if option.is_flag or option.secondary_opts:
            return (option.secondary_opts or option.opts)[0] if value == "False" else option.opts[0]
        values = re.findall(r"""(['"])(.*?)\1""", value)
        told = [part for _, part in values] if values else [value.strip("[]")]
        return " ".join(f"{option.opts[0]} {'none' if part == 'None' else part}".rstrip() for part in told)

    def named(found: re.Match[str]) -> str:
        return known[found[0]].opts[0] if found[0] in known else found[0]

    text = re.sub(r"""(?<!['"])\b[a-z]+(_[a-z]+)+\b(?![='"])""", named, text)
    return re.sub(r"""\b([a-z_0-9]+)=(\[[^\]]*\]|'[^']*'|"[^"]*"|[^\s,;:)'"]*)""", replaced, text)


def _say(args: list[str], what: str, code: int) -> int:
    _show(f"novikoff: {what}\n")
    if "--json" in args:
        import json

        from novikoff.cli.documents import SCHEMA

        click.echo(json.dumps({"schema": SCHEMA, "error": {"message": what, "exit_code": code}}))  # in ASCII
    return code


def _show(text: str) -> None:
    """Print on stderr, without control characters for the terminal."""
    from novikoff.data.visible import visible

    click.echo(visible(text, keep="\n"), err=True, nl=False)
