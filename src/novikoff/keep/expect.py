"""What a model file must say, and the error if it does not: fields of the header, and a table of the arrays.

A table names each array with the types that it may have and its sizes. A size is a number, or a word that means the
same number wherever it stands: `{"weights": ("f8", "vectors", "width"), "drift": ("f8", "vectors", "width")}`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.strict_json import Fields
from novikoff.keep.layout import Arrays, ModelFileError

Table = dict[str, tuple[str | int, ...]]


def fields(content: Any, name: str = "the header") -> Fields:
    """A part of the header, whose fields are asked for by name and kind."""
    return Fields(content, name, ModelFileError)


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
