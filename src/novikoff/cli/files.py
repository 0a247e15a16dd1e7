"""Files that commands write, and models that they read.

Without --force only models are replaced, and whether a file may be written is checked before the work.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

LoadedModel = TypeVar("LoadedModel")

COMMANDS = {
    "LinearModel": "novikoff predict and novikoff score",
    "KernelModel": "novikoff predict and novikoff score",
    "Tagger": "novikoff tag run and novikoff tag score",
    "OnlinePerceptron": "novikoff online",
}


@dataclass(frozen=True)
class Target:
    """A file that may be written; with `force`, over any file."""

    path: Path
    force: bool

    def __str__(self) -> str:
        return str(self.path)

    def write(self, certificate: Any) -> None:
        """Write a certificate."""
        from novikoff.data.whole_file import WholeFile

        with WholeFile(self.path) as file:
            file.write(certificate.to_json().encode() + b"\n")

    def save(self, model: Any) -> None:
        """Write a model."""
        from novikoff.keep.models import save

        save(model, self.path, force=self.force)


def out_target(path: str | None, force: bool) -> Target | None:
    """Return where a file may be written, if one is requested."""
    return None if path is None else Target(check_free(path, force), force)


def model_target(path: str | os.PathLike[str], force: bool) -> Target:
    """Return where a model may be written: a model file is replaced."""
    from novikoff.keep.layout import check_replaceable

    if not force:
        try:
            check_replaceable(path)
        except FileExistsError as error:
            raise FileExistsError(f"{error}, or pass --force to replace it") from None
    return Target(check_free(path, force=True), force)


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


def check_free(path: str | os.PathLike[str], force: bool) -> Path:
    """Return the path, if a file may be written there."""
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{target} cannot be written: there is no folder {folder}; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"{target} cannot be written: it is a folder; add a file name")
    if target.is_file() and not force:
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
