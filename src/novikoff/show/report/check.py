"""The lines that check a certificate again, for a shell and for Python."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from novikoff.prove.separable.certificate import Certificate
from novikoff.show.report.markup import Markup, element, section


@dataclass(frozen=True)
class Names:
    """What things are called outside of the library.

    `files` were read, `source` is what to write for them (by default the first), `label` is the column with the labels,
    and `asked` are words of the command line that say how the table is read.
    """

    files: tuple[str, ...] = ()
    source: str | None = None
    label: str | None = None
    asked: tuple[str, ...] = ()
    model_file: str | None = None
    certificate_file: str | None = None

    @property
    def written(self) -> str:
        """What to write for the files."""
        return self.source or (self.files[0] if self.files else "FILE")


def check_section(certificate: Certificate, names: Names, *, is_in_model: bool) -> Markup:
    """How to prove again what a certificate claims, which is in a model file, has a file of its own, or could have."""
    model_file = names.model_file if is_in_model else None
    python = _from_file(names) if model_file is None else _from_model(names, model_file)
    return section(
        "How to check it again",
        "The certificate is proved again from the data alone, without any of the code that found it.",
        _lines(_commands(certificate, names), "shell"),
        element("p", "Or in Python, which stays silent if every claim is true:"),
        _lines(python, "python"),
    )


def _commands(certificate: Certificate, names: Names) -> list[str]:
    file, kept = quoted(names.written, "FILE"), quoted(names.certificate_file or "table.cert", "CERT")
    words = [*([] if names.label is None else ["--label", names.label]), *names.asked]
    words += [] if certificate.fit_intercept else ["--no-fit-intercept"]
    options = "".join(f" {quoted(word, 'COL')}" for word in words)
    check = f"novikoff check {kept} {file}"
    return [check] if names.certificate_file else [f"novikoff certify {file}{options} --out {kept}", check]


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
    label = "" if names.label is None else f", label={names.label!r}"
    return f"read({names.written!r}{label})"


def _lines(lines: Sequence[str], class_: str) -> Markup:
    parts = [part for line in lines for part in (line, Markup("\n"))]
    return element("pre", *parts[:-1], class_=class_)


def quoted(word: str, instead: str) -> str:
    """A word for a shell; what it stands for if it could not be copied from a page.

    >>> quoted("my cars.csv", "FILE"), quoted("a" + chr(10) + "b", "FILE")
    ("'my cars.csv'", 'FILE')
    """
    return shlex.quote(word) if word.isprintable() else instead
