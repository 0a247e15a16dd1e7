"""What a model file must say, and the error if it does not: fields of the header, and a table of the arrays.

A table names each array with the types that it may have and its sizes. A size is a number, or a word that means the
same number wherever it stands: `{"weights": ("f8", "vectors", "width"), "drift": ("f8", "vectors", "width")}`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.keep.layout import Arrays, ModelFileError

Table = dict[str, tuple[str | int, ...]]


@dataclass(frozen=True)
class Fields:
    """A part of the header, whose fields are asked for by name and kind."""

    content: Mapping[str, Any]
    name: str = "the header"

    def __post_init__(self) -> None:
        if not isinstance(self.content, Mapping):
            raise ModelFileError(f"{self.name} is no object")

    def value(self, name: str) -> Any:
        if name not in self.content:
            raise ModelFileError(f"{self.name} has no {name!r}")
        return self.content[name]

    def part(self, name: str) -> "Fields":
        return Fields(self.value(name), name)

    def whole(self, name: str, least: int = 0, most: int = 2**62) -> int:
        value = self.value(name)
        if type(value) is not int or not least <= value <= most:
            raise ModelFileError(f"{name} is {_shown(value)}, not a whole number from {least} to {most}")
        return value

    def number(self, name: str, least: float = 0.0) -> float:
        """A finite float."""
        value = self.value(name)
        if type(value) is not float or not least <= value < math.inf:
            raise ModelFileError(f"{name} is {_shown(value)}, not a number of at least {least:g}")
        return value

    def flag(self, name: str) -> bool:
        value = self.value(name)
        if type(value) is not bool:
            raise ModelFileError(f"{name} is {_shown(value)}, neither true nor false")
        return value

    def text(self, name: str) -> str:
        value = self.value(name)
        if type(value) is not str:
            raise ModelFileError(f"{name} is {_shown(value)}, no text")
        return value

    def choice(self, name: str, choices: tuple[Any, ...]) -> Any:
        value = self.value(name)
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise ModelFileError(f"{name} is {_shown(value)}, none of {choices}")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.value(name) is None else self.text(name)

    def names(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, or nothing."""
        value = self.value(name)
        if value is None:
            return None
        if type(value) is not list or any(type(part) is not str for part in value):
            raise ModelFileError(f"{name} is no list of texts")
        return tuple(value)


def check_arrays(arrays: Arrays, table: Table, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes that the words of the table turn out to be, if these are its arrays, no more and no fewer."""
    known = dict(sizes)
    unlike = arrays.keys() ^ table.keys()
    if unlike:
        name = min(unlike)
        raise ModelFileError(f"the array {name!r:.60} is {'missing' if name in table else 'not expected'}")
    for name, (kinds, *shape) in table.items():
        array = arrays[name]
        if array.dtype.str[1:] not in str(kinds).split():
            raise ModelFileError(f"the array {name!r} is of the type {array.dtype}, not {kinds}")
        wanted = tuple(
            part if isinstance(part, int) else known.get(part, size)
            for part, size in zip(shape, array.shape, strict=False)
        )
        if array.shape != wanted or array.ndim != len(shape):
            raise ModelFileError(f"the array {name!r} has the shape {array.shape}, which does not fit the others")
        known.update({part: size for part, size in zip(shape, array.shape, strict=True) if isinstance(part, str)})
    return known


def check_finite(arrays: Arrays, *names: str) -> None:
    for name in names:
        if not np.isfinite(arrays[name]).all():
            raise ModelFileError(f"the array {name!r} contains NaN or an infinity, and a model has only finite numbers")


def check_within(array: NDArray[Any], name: str, end: int) -> None:
    """Whether all are at least 0, and below the end."""
    if len(array) and (int(array.min()) < 0 or int(array.max()) >= end):
        raise ModelFileError(f"the array {name!r} has numbers outside of 0 to {end - 1}")


def check_ascends(array: NDArray[Any], name: str, *, strictly: bool) -> None:
    wrong = array[1:] <= array[:-1] if strictly else array[1:] < array[:-1]
    if np.any(wrong):
        raise ModelFileError(f"the array {name!r} does not ascend")


def ensure(condition: bool, what: str) -> None:
    """Say `what` is wrong unless the condition holds."""
    if not condition:
        raise ModelFileError(what)


def _shown(value: Any) -> str:
    return f"{value!r:.60}"
