"""The subject of a certificate: the numbers, the labels, the table they come from, and the question.

All of it is part of the fingerprint. A proof about two of seven columns, or about another column of labels, is a true
statement about something else; so a certificate states its subject, which cannot be changed afterwards.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.labels import checked_labels
from novikoff.data.narrow import is_too_wide
from novikoff.prove.exact.document import canonical
from novikoff.prove.separable.kernels import ExactKernel
from novikoff.prove.separable.question import Problem

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


@dataclass(frozen=True, eq=False)
class Table:
    """The table that examples come from: the column of the labels, and the encoding of the others."""

    label: str | None
    encoding: "Encoding"

    def to_dict(self) -> dict[str, Any]:
        return {"label": self.label, "encoding": self.encoding.to_dict()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """The data and the question.

    `kernel` is set if `problem` is that of a kernel.
    `data_hash` is the fingerprint of the numbers, the labels and all other fields, empty until it is computed.
    """

    problem: Problem
    fit_intercept: bool
    classes: tuple[Any, ...]
    n_rows: int
    n_columns: int
    data_hash: str = ""
    feature_names: tuple[str, ...] | None = None
    table: Table | None = None
    kernel: ExactKernel | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "problem", Problem(self.problem))

    @property
    def factor(self) -> int:
        """The factor of (R/gamma)^2 in the mistake bound."""
        return self.problem.factor

    @property
    def data(self) -> dict[str, Any]:
        """The fields about the data, as values of JSON."""
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "classes": list(self.classes),
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "table": None if self.table is None else self.table.to_dict(),
        }

    @property
    def question(self) -> dict[str, Any]:
        """The fields about the question, as values of JSON."""
        return {
            "problem": self.problem.value,
            "fit_intercept": self.fit_intercept,
            "kernel": None if self.kernel is None else self.kernel.to_dict(),
        }

    def fingerprint(self) -> "Fingerprint":
        """The fingerprint, to which the rows and the labels are still to be added."""
        return Fingerprint({**self.data, **self.question})

    def of_rows(self, rows: Any, places: NDArray[np.int64]) -> "Subject":
        """The same with the fingerprint of rows in memory and the indices of their classes."""
        digest = self.fingerprint()
        digest.add(rows)
        return replace(self, data_hash=digest.with_labels([places]))


# -- names and labels -------------------------------------------------------------------------------------------------


class RoundedError(ValueError):
    """The numbers would be rounded, but proofs are about the exact numbers."""


class TooWideError(ValueError):
    """A certificate would be far larger than its examples."""


def check_not_rounded(rounded: str | None) -> None:
    """Raise RoundedError for data whose numbers were rounded."""
    if rounded is not None:
        raise RoundedError(rounded)


def check_width(n_columns: int, n_entries: int) -> None:
    """Raise TooWideError if columns far outnumber the entries: a vector has a number for each column."""
    if is_too_wide(n_columns, n_entries):
        raise TooWideError(
            f"the columns are numbered up to {n_columns - 1:,}, far more than the {n_entries:,} numbers in them, and a "
            "certificate has a number for each; number the columns without gaps"
        )


def names_of(X: Any) -> tuple[str, ...] | None:
    """The names of the columns, if the data have any."""
    names = getattr(X, "columns", None)
    return None if names is None else tuple(map(str, names))


def exact_labels(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], tuple[Any, ...], NDArray[np.int64]]:
    """The labels, the sorted classes, at least two, and the index of every label's class."""
    labels = checked_labels(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}, but X has {n_rows} rows: one label per row is required")
    classes, places = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {classes.tolist()}; two are needed to ask for a separator")
    return labels, plain_classes(classes), places.astype(np.int64)


def plain_classes(classes: NDArray[Any]) -> tuple[Any, ...]:
    """The classes as values of JSON: text, numbers or booleans."""
    plain = classes.tolist()
    for label in plain:
        if type(label) not in (str, int, float, bool):
            raise ValueError(
                f"label {label!r} is a {type(label).__name__}; a certificate names labels that are text, numbers or "
                "booleans: convert them, for example with str"
            )
    return tuple(plain)


def floor_of(value: Fraction) -> int:
    return value.numerator // value.denominator


# -- the fingerprint --------------------------------------------------------------------------------------------------

# It depends neither on the storage of the numbers nor on the size of blocks. `docs/certificates.md` defines its bytes.


BLOCK = 4096

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Fingerprint:
    """SHA-256 of a header, of every nonzero entry with its place, and of the labels; rows are added in blocks.

    Dense and CSR, float32 and float64, any order in memory, blocks of any size: the same numbers have the same
    fingerprint.

    >>> whole, parts = Fingerprint({"rows": 2}), Fingerprint({"rows": 2})
    >>> whole.add(np.array([[1, 0], [0, 2]]))
    >>> parts.add(np.array([[1, 0]])), parts.add(np.array([[0, 2]]))
    (None, None)
    >>> whole.with_labels([np.array([0, 1])]) == parts.with_labels([np.array([0]), np.array([1])])
    True
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._digest = hashlib.sha256(canonical(header).encode() + b"\n")
        self._waiting: list[Entries] = []
        self._n_waiting = 0

    def add(self, rows: Any) -> None:
        """Add the next rows, dense or CSR without repeated entries."""
        start = 0
        while start < rows.shape[0]:
            stop = min(start + BLOCK - self._n_waiting, rows.shape[0])
            block = rows[start:stop]
            self._waiting.append(_sparse_entries(block) if hasattr(block, "tocsr") else _dense_entries(block))
            self._n_waiting += stop - start
            if self._n_waiting == BLOCK:
                self._flush()
            start = stop

    def with_labels(self, places: Iterable[NDArray[Any]]) -> str:
        """The fingerprint after all rows, given the class index of every label, in blocks of any size."""
        self._flush()
        for part in places:
            self._digest.update(np.ascontiguousarray(part, dtype="<u4").data)
        return self._digest.hexdigest()

    def _flush(self) -> None:
        for parts, kind in zip(zip(*self._waiting, strict=True), ("<u8", "<u8", "<f8"), strict=False):
            for part in parts:
                self._digest.update(np.ascontiguousarray(part.astype(kind, copy=False)).data)
        self._waiting.clear()
        self._n_waiting = 0


def _sparse_entries(block: Any) -> Entries:
    rows = block.copy()
    rows.sort_indices()
    rows.eliminate_zeros()
    return np.diff(rows.indptr), rows.indices, rows.data


def _dense_entries(block: Any) -> Entries:
    present = block != 0
    return present.sum(axis=1), np.nonzero(present)[1], block[present]
