"""Console blocks in the documentation are run, and tables of options are made from the commands themselves.

`python -m tests.cli.consoles docs/commands.md` writes both anew into a page.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from tests.cli.calling import ROOT, call

CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(?<=<!-- options of )([\w -]+)( -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)


def environment(folder: Path) -> dict[str, str]:
    """A shell in which `novikoff` is the command of this checkout, on a terminal of 80 columns."""
    programs = folder / ".programs"
    programs.mkdir(exist_ok=True)
    command = programs / "novikoff"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m novikoff.cli "$@"\n')
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("_NOVIKOFF", "FORCE_COLOR"))}
    path = f"{programs}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80", "PYTHONUTF8": "1"}


def run_page(text: str, folder: Path) -> str:
    """The page with every command run in its turn, and what it printed below it."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    shell = environment(folder)

    def run_block(block: re.Match[str]) -> str:
        commands = [line.removeprefix("$ ") for line in block[1].splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{printed_by(command, folder, shell)}" for command in commands)

    return CONSOLE.sub(run_block, text)


# A command, and what a page may do with it that needs no shell.
SIMPLE = re.compile(
    r"novikoff (?P<words>[^|;<>$'\"*]*?)"
    r"( < (?P<input>\w+\.\w+)| \| head -(?P<first>\d+)|(?P<code>; echo \"exit code \$\?\"))?"
)


def printed_by(command: str, folder: Path, shell: dict[str, str]) -> str:
    """What a command prints: in this process if it needs no shell, which is quicker."""
    if simple := SIMPLE.fullmatch(command):
        stdin = (folder / simple["input"]).read_text() if simple["input"] else ""
        done = call(*simple["words"].split(), folder=folder, stdin=stdin)
        if simple["first"]:
            return "".join(done.out.splitlines(keepends=True)[: int(simple["first"])]) + done.err
        return done.out + done.err + (f"exit code {done.code}\n" if simple["code"] else "")
    shown = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    ran = subprocess.run(["bash", "-c", command], cwd=folder, env=shell, text=True, check=False, **shown)
    return ran.stdout


def with_option_tables(text: str) -> str:
    """The page with the options of every command as the command has them."""
    return TABLE.sub(lambda found: f"{found[1]}{found[2]}{option_table(command_named(found[1]))}", text)


def command_named(name: str) -> click.Command:
    from novikoff.cli.commands import novikoff

    command: click.Command = novikoff
    for part in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), part)
        assert found is not None, f"there is no command {name}"
        command = found
    return command


def option_table(command: click.Command) -> str:
    options = [option for option in command.params if isinstance(option, click.Option)]
    lines = [f"| {_spelled(option)} | {_meaning(option)} |" for option in options]
    return "\n".join(["| option | meaning |", "|---|---|", *lines]) + "\n"


def _spelled(option: click.Option) -> str:
    choices = "\\|".join(option.type.choices) if isinstance(option.type, click.Choice) else None
    value = "" if option.is_flag else f" {choices or (option.metavar or '').replace('|', chr(92) + '|')}"
    return ", ".join(f"`{name}{value}`" for name in (*option.opts, *option.secondary_opts))


def _meaning(option: click.Option) -> str:
    help_text = option.help or ""
    if not option.show_default or option.default is None:
        return help_text.replace("  [", " [")
    default = option.default
    if option.secondary_opts:
        default = (option.opts if default else option.secondary_opts)[0]
    return f"{help_text} [default: {default}]"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as temporary:
            page.write_text(run_page(with_option_tables(page.read_text()), Path(temporary)))
