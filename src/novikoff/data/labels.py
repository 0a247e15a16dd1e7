"""Labels as they come in files, and the classes that they turn out to be.

How many classes there are, and how they are sorted, is known only at the end of a file. Until then every label has a
code: its place in the order of first appearance, which does not depend on the batches in which the file was read.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.batches import Batch


@contextlib.contextmanager
def said_where(batch: Batch) -> Iterator[None]:
    """Let whatever is wrong with the numbers or labels of a batch be said with its place."""
    try:
        yield
    except ValueError as error:
        place = f"line {batch.line} of {batch.file}" if batch.file else f"example {batch.line}"
        raise ValueError(f"in the rows that begin with {place} as row 0: {error}") from error


def sorted_classes(classes: ArrayLike) -> NDArray[Any]:
    """Classes that were named beforehand, sorted."""
    named = np.unique(np.asarray(classes))
    if named.ndim != 1 or len(named) < 2:
        raise ValueError(f"classes={classes!r} must be a list of at least two different labels")
    return named


class Labels:
    """Codes for labels: places in `known`, which grows as labels appear, unless the classes are named and fixed.

    >>> labels = Labels()
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
        self._order = np.argsort(self.known, kind="stable")

    def classes(self) -> NDArray[Any]:
        """The labels known so far, sorted."""
        return self.known[self._order]

    def inner(self) -> NDArray[Any]:
        """What every code is inside a learner: -1 and +1 for two classes, the place among the sorted ones for more."""
        places = np.empty(len(self.known), dtype=np.int64)
        places[self._order] = np.arange(len(self.known))
        return (2 * places - 1).astype(np.int8) if len(places) == 2 else places

    def codes(self, labels: NDArray[Any] | None) -> NDArray[np.int64]:
        """The code of every label; one that was never seen before gets the next."""
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
            raise ValueError(f"labels such as {one!r} and {other!r} are of different kinds; use words or numbers only")
        try:
            places = np.searchsorted(self.known, labels, sorter=self._order).clip(max=len(self.known) - 1)
        except TypeError as error:
            raise ValueError(f"a label is missing, or of another kind than those before it ({error})") from error
        codes = self._order[places]
        return codes, np.asarray(self.known[codes] != labels, dtype=np.bool_)

    def _learn(self, labels: NDArray[Any], strange: NDArray[np.bool_]) -> None:
        """Let new labels in, in the order in which they first appear."""
        rows = np.flatnonzero(strange)
        try:
            _, first = np.unique(labels[rows], return_index=True)
        except TypeError as error:
            raise ValueError(f"a label is missing, or labels are of different kinds ({error})") from error
        new = labels[rows[np.sort(first)]]
        for row, label in zip(rows[np.sort(first)].tolist(), new.tolist(), strict=True):
            if label is None or label != label:
                raise ValueError(f"the label of row {row} is missing; leave such examples out")
            if isinstance(label, float) and not label.is_integer():
                raise ValueError(f"label {label!r} in row {row} is no class; a perceptron learns no quantities")
        self.known = np.concatenate([self.known, new]) if len(self.known) else new
        self._order = np.argsort(self.known, kind="stable")
