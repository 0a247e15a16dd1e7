"""CoNLL files, as the commands of `novikoff tag` read them."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from novikoff.data.sentences import Sentences
    from novikoff.learn.chain.tagger import Tagger

Command = TypeVar("Command", bound=Callable[..., Any])

columns_option = click.option("--columns", metavar="A,B,...", help="The names of the file's columns.")
separator_option = click.option(
    "--separator", metavar="C", help='What stands between columns: one character, or "tab".  [default: blanks and tabs]'
)
comment_option = click.option("--comment", metavar="C", help="Leave out lines that begin so.")


def layout(command: Command) -> Command:
    """How the file is laid out."""
    for option in (comment_option, separator_option, columns_option):
        command = option(command)
    return command


def read_sentences(file: str, columns: tuple[str, ...], separator: str | None, comment: str | None) -> "Sentences":
    """The sentences of a file; "-" is standard input."""
    from novikoff.data.conll import read_conll
    from novikoff.data.streams import check_is_file

    if file != "-":
        check_is_file(file)
    source = sys.stdin.buffer if file == "-" else file
    sentences = read_conll(source, columns, separator=as_separator(separator), comment=comment)
    if not sentences.n_tokens:
        raise ValueError(f"{file} has no tokens")
    return sentences


def as_separator(text: str | None) -> str | None:
    return "\t" if text in ("tab", "\\t") else text


def split_names(columns: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in columns.split(",")) if columns else ()


def columns_of(tagger: "Tagger", columns: str | None, file: str, *, labelled: bool) -> tuple[str, ...]:
    """The names of a file's columns: those given, or those of the training file, perhaps without the label."""
    named = split_names(columns)
    if named or file == "-":
        return named or (*tagger.features.columns, *(["label"] if labelled else []))
    with open(file, encoding="utf-8", errors="replace") as opened:
        first = next((line for line in opened if line.strip()), "")
    known = tagger.features.columns
    return known if len(first.split()) == len(known) and not labelled else (*known, "label")
