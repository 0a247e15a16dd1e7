"""Labels as files have them, and the classes inferred from them.

The classes and their order are known only at the end of a file. Until then every label has a code: its place in the
order of first appearance, which does not depend on the batches in which the file was read.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.missing import is_missing

if TYPE_CHECKING:
    from novikoff.data.batches import Batch


@contextlib.contextmanager
def located_errors(batch: "Batch") -> Iterator[None]:
    """Add the place of a batch to errors about its numbers or labels."""
    try:
        yield
    except ValueError as error:
        place = f"line {batch.line} of {batch.file}" if batch.file else f"example {batch.line}"
        raise ValueError(f"in the rows that begin with {place} as row 0: {error}") from error


def checked_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """Return labels as a one-dimensional array that can be sorted; a missing one, or words among numbers, is an error.

    >>> checked_labels(["blue", "red"]).tolist()
    ['blue', 'red']
    >>> checked_labels([1, 0, float("nan")])
    Traceback (most recent call last):
    ValueError: the label of row 2 is missing (nan); omit such examples
    """
    if isinstance(y, np.ndarray) and np.any(mask := getattr(y, "mask", False)):
        raise _missing(int(np.flatnonzero(mask)[0]), "masked", name)
    try:
        labels = np.asarray(y)
    except ValueError as error:  # sequences of different lengths
        raise ValueError(f"{name} is not a list of labels: {error}") from None
    if labels.ndim != 1:
        raise ValueError(f"{name} has {labels.ndim} dimensions; it needs one label per row")
    kind = labels.dtype.kind
    if kind in "fc" or kind in "mM":
        _check_numbers(labels, name)
    elif kind == "O":
        is_numbers = _check_objects(labels.tolist(), labels, name)
        labels = np.array(labels.tolist()) if is_numbers else labels  # the same as in a list of them
    elif kind in "US" and not hasattr(y, "dtype"):  # NumPy has converted all values to strings
        _check_objects(list(y), labels, name)
    return labels


def _check_numbers(labels: NDArray[Any], name: str) -> None:
    missing = np.isnat(labels) if labels.dtype.kind in "mM" else np.isnan(labels)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise _missing(row, str(labels[row]), name)
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise ValueError(
            f"Input {name} contains infinity or a value too large for dtype({str(labels.dtype)!r}): label "
            f"{labels.tolist()[row]!r} in row {row}; name classes by finite numbers, or by words"
        )


def _check_objects(values: list[Any], labels: NDArray[Any], name: str) -> bool:
    """Raise an error if labels are missing or of several kinds; return whether they are numbers."""
    if set(map(type, values)) == {str}:
        return False
    first: dict[str, int] = {}
    for row, value in enumerate(values):
        if is_missing(value):
            raise _missing(row, repr(value), name)
        first.setdefault(_kind_of(value), row)
    if len(first) > 1:
        one, other = list(first.values())[:2]
        raise ValueError(
            f"labels such as {values[one]!r:.60} in row {one} and {values[other]!r:.60} in row {other} of {name} are "
            "of different types; use only words or only numbers"
        )
    try:
        np.unique(labels)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the labels in {name} cannot be sorted ({error}); use words or numbers") from None
    return "number" in first


def _kind_of(value: Any) -> str:
    for kind in (str, bytes):
        if isinstance(value, kind):
            return kind.__name__
    return "number" if isinstance(value, int | float | np.number | np.bool_) else type(value).__name__


def _missing(row: int, what: str, name: str) -> ValueError:
    of = "" if name == "y" else f" of {name}"
    return ValueError(f"the label of row {row}{of} is missing ({what:.60}); omit such examples")


def sorted_classes(classes: ArrayLike) -> NDArray[Any]:
    """Return classes that were given beforehand, sorted."""
    named = np.unique(checked_labels(classes, "classes"))
    if len(named) < 2:
        raise ValueError(f"classes={classes!r} must be a list of at least two different labels")
    return named


class LabelCodes:
    """Codes for labels: indices into `known`, which grows as labels appear, unless the classes are given.

    `order` has the codes in the order of the sorted classes.

    >>> labels = LabelCodes()
    >>> labels.codes(np.array(["no", "yes", "no"])).tolist(), labels.codes(np.array(["maybe", "yes"])).tolist()
    ([0, 1, 0], [2, 1])
    >>> labels.known.tolist(), labels.classes().tolist()
    (['no', 'yes', 'maybe'], ['maybe', 'no', 'yes'])
    >>> labels.inner().tolist()  # what a learner calls those labels
    [1, 2, 0]
    """

    def __init__(self, classes: NDArray[Any] | None = None) -> None:
        self.is_fixed = classes is not None
        self.known = np.empty(0) if classes is None else classes
        self.order = np.argsort(self.known, kind="stable")

    def classes(self) -> NDArray[Any]:
        return self.known[self.order]

    def inner(self) -> NDArray[Any]:
        """Return the inner label of every code: -1 and +1 for two classes, the index of the sorted class for more."""
        places = np.empty(len(self.known), dtype=np.int64)
        places[self.order] = np.arange(len(self.known))
        return (2 * places - 1).astype(np.int8) if len(places) == 2 else places

    def codes(self, labels: NDArray[Any] | None) -> NDArray[np.int64]:
        """Return the code of every label; a new one gets the next code."""
        if labels is None:
            raise ValueError("there are no labels to learn from; name their column, as in read(path, label=...)")
        codes, strange = self._look_up(labels)
        if not strange.any():
            return codes
        if self.is_fixed:
            row = int(np.flatnonzero(strange)[0])
            raise ValueError(f"label {labels.tolist()[row]!r} in row {row} is not in classes={self.known.tolist()}")
        self._learn(labels, strange)
        return self._look_up(labels)[0]

    def _look_up(self, labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if not len(self.known):
            return np.zeros(len(labels), dtype=np.int64), np.ones(len(labels), dtype=np.bool_)
        if (self.known.dtype.kind in "biuf") != (labels.dtype.kind in "biuf"):
            one, other = self.known.tolist()[0], labels.tolist()[0]
            raise ValueError(
                f"labels such as {one!r} and {other!r} are of different types; use only words or only numbers"
            )
        try:
            places = np.searchsorted(self.known, labels, sorter=self.order).clip(max=len(self.known) - 1)
        except TypeError as error:
            checked_labels(labels)
            raise ValueError(f"a label is of another kind than those before it ({error})") from error
        codes = self.order[places]
        return codes, np.asarray(self.known[codes] != labels, dtype=np.bool_)

    def _learn(self, labels: NDArray[Any], strange: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(strange)
        _, first = np.unique(checked_labels(labels)[rows], return_index=True)
        new = labels[rows[np.sort(first)]]
        for row, label in zip(rows[np.sort(first)].tolist(), new.tolist(), strict=True):
            if isinstance(label, float) and not label.is_integer():
                raise ValueError(f"label {label!r} in row {row} is continuous; only classification is supported")
        self.known = np.concatenate([self.known, new]) if len(self.known) else new
        self.order = np.argsort(self.known, kind="stable")
