"""Whatever a command can do is documented, and what the documentation shows is what happens."""

import re

import click
import pytest

from tests.cli.calling import ROOT
from tests.cli.consoles import CONSOLE, command_named, run_page, with_option_tables

COMMANDS = ROOT / "docs" / "commands.md"
README = ROOT / "README.md"


def all_commands(group="", path=()):
    command = command_named(" ".join(path))
    if not isinstance(command, click.Group):
        return [" ".join(path)]
    return [name for part in command.list_commands(click.Context(command)) for name in all_commands(path=(*path, part))]


def test_every_command_has_a_section_and_a_table_of_options():
    page = COMMANDS.read_text()
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    tables = re.findall(r"<!-- options of ([\w -]+) -->", page)
    assert sorted(tables) == sorted(all_commands())
    assert set(all_commands()) <= set(headings)


def test_every_option_is_documented_as_it_is():
    page = COMMANDS.read_text()
    assert with_option_tables(page) == page


def test_an_option_has_a_help_text():
    for name in all_commands():
        silent = [p.name for p in command_named(name).params if isinstance(p, click.Option) and not p.help]
        assert silent == [], name


@pytest.mark.parametrize("page", [COMMANDS, README], ids=lambda page: page.name)
def test_what_the_page_shows_is_what_the_commands_print(page, tmp_path):
    text = page.read_text()
    shown, printed = (CONSOLE.findall(version) for version in (text, run_page(text, tmp_path)))
    assert shown == printed


def test_the_codes_of_the_verdicts_are_documented():
    from novikoff.cli import ball, certify, existence, inequalities, lp

    page = COMMANDS.read_text()
    outcomes = {lp.WORDS[status]: code for status, code in lp.CODES.items()}
    proofs = [*certify.CODES.items(), *existence.CODES.items(), *ball.CODES.items(), *inequalities.CODES.items()]
    for word, code in [*proofs, *outcomes.items()]:
        assert re.search(rf"^\| {code} \| {word}", page, re.MULTILINE), word
