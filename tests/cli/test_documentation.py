"""Whatever a command can do is documented, and what the documentation shows is what happens."""

import re
import shlex

import click
import pytest

from tests.cli.calling import ROOT, call
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
    from novikoff.cli import ball, certify, inequalities, lp

    page = COMMANDS.read_text()
    outcomes = {lp.WORDS[status]: code for status, code in lp.CODES.items()}
    codes = (certify.CODES, certify.CODES_OF_ESTIMATES, ball.CODES, inequalities.CODES, outcomes)
    for word, code in (item for known in codes for item in known.items()):
        assert re.search(rf"^\| {code} \| {word}", page, re.MULTILINE), word


def quoted_commands():
    """The commands that pages mention in a sentence, as words."""
    # certificates.md quotes the first lines of files, which look like commands.
    pages = [page for page in (ROOT / "docs").glob("**/*.md") if page.name != "certificates.md"]
    lines = {line for page in (*pages, README) for line in re.findall(r"`novikoff ([^`]+)`", page.read_text())}
    return [shlex.split(line.replace("\n", " ")) for line in sorted(lines)]


def test_a_command_that_a_sentence_mentions_exists_with_its_options():
    for words in quoted_commands():
        path, group = [], command_named("")
        while isinstance(group, click.Group) and words[len(path) :] and not words[len(path)].startswith("-"):
            path.append(words[len(path)])
            group = command_named(" ".join(path))
        known = {name for option in group.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
        assert {word for word in words if word.startswith("--")} <= known, words


@pytest.mark.parametrize(
    "words", [words for words in quoted_commands() if {"six_points.svm", "circle.csv"} & set(words)], ids=" ".join
)
def test_a_command_that_a_sentence_mentions_does_what_it_says(words, folder):
    done = call(*words, "--force", folder=folder)
    assert done.code == 0, done
    if "six_points.svm" in words:  # as the slide of the second note has them
        assert re.findall("[✗✓]", done.out)[:6] == list("✗✓✗✓✗✓")


def test_a_ball_is_around_the_class_that_can_be_inside(folder):
    for more in ((), ("--inside", "inside")):
        done = call("ball", "circle.csv", "--label", "where", "--ignore", "z", *more, "--json", folder=folder)
        assert (done.code, done.json["inside"]) == (0, "inside")
    assert (
        call("ball", "circle.csv", "--label", "where", "--ignore", "z", "--inside", "outside", folder=folder).code == 30
    )
