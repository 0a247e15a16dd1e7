"""The lines that check a certificate again, for a shell and for Python."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from novikoff.show.report.markup import Markup, element, section


@dataclass(frozen=True)
class Names:
    """What things are called outside of the library, and how they were read.

    `files` were read, `source` is what to write for them (by default the first), and `label` is the column with the
    labels. `certify` and `check` are the options with which these commands read the same again, as words of a command
    line, and `read` are those of `novikoff.data.read`.
    """

    files: tuple[str, ...] = ()
    source: str | None = None
    label: str | None = None
    certify: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    read: Mapping[str, Any] = field(default_factory=dict)
    model_file: str | None = None
    certificate_file: str | None = None

    @property
    def written(self) -> str:
        """What to write for the files."""
        return self.source or (self.files[0] if self.files else "FILE")


def check_section(names: Names, *, is_in_model: bool) -> Markup:
    """How to prove again what a certificate claims, which is in a model file, has a file of its own, or could have."""
    model_file = names.model_file if is_in_model else None
    python = _from_file(names) if model_file is None else _from_model(names, model_file)
    return section(
        "How to check it again",
        "The certificate is proved again from the data alone, without any of the code that found it.",
        _lines(_commands(names, model_file or names.certificate_file), "shell"),
        element("p", "Or in Python, which stays silent if every claim is true:"),
        _lines(python, "python"),
    )


def _commands(names: Names, holder: str | None) -> list[str]:
    """What a shell runs; a certificate that is in no file yet is written first."""
    file, kept = quoted(names.written, "FILE"), quoted(holder or "table.cert", "CERT")
    certify, check = ("".join(f" {quoted(word, 'COL')}" for word in words) for words in (names.certify, names.check))
    again = [] if holder else [f"novikoff certify {file}{certify} --out {kept}"]
    return [*again, f"novikoff check {kept} {file}{check}"]


def _from_model(names: Names, model_file: str) -> list[str]:
    return [
        "from novikoff import Certificate",
        "from novikoff.data import read",
        "from novikoff.keep.models import load_plain",
        "",
        f"model = load_plain({model_file!r})",
        f"Certificate.from_json(model.certificate).check({_reader(names)})",
    ]


def _from_file(names: Names) -> list[str]:
    return [
        "from pathlib import Path",
        "from novikoff import Certificate",
        "from novikoff.data import read",
        "",
        f"certificate = Certificate.from_json(Path({names.certificate_file or 'table.cert'!r}).read_text())",
        f"certificate.check({_reader(names)})",
    ]


def _reader(names: Names) -> str:
    options = ({} if names.label is None else {"label": names.label}) | dict(names.read)
    return f"read({', '.join([repr(names.written), *(f'{name}={value!r}' for name, value in options.items())])})"


def _lines(lines: Sequence[str], class_: str) -> Markup:
    parts = [part for line in lines for part in (line, Markup("\n"))]
    return element("pre", *parts[:-1], class_=class_)


def quoted(word: str, instead: str) -> str:
    """A word for a shell; what it stands for if it could not be copied from a page.

    >>> quoted("my cars.csv", "FILE"), quoted("a" + chr(10) + "b", "FILE")
    ("'my cars.csv'", 'FILE')
    """
    return shlex.quote(word) if word.isprintable() else instead
