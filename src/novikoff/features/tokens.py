"""Sequences of tokens: the tokens of all sequences one after another, and where each sequence begins."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.missing import is_missing
from novikoff.data.sentences import Sentences
from novikoff.engine.csr import as_csr
from novikoff.engine.rows import Rows, as_rows


@dataclass(frozen=True)
class Tokens:
    """Tokens as rows of numbers; sequence i is the rows from `starts[i]` to `starts[i + 1]`."""

    rows: Rows
    starts: NDArray[np.int64]

    @property
    def n_sequences(self) -> int:
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        """The number of tokens of the longest sequence."""
        return int(np.diff(self.starts).max(initial=0))


@dataclass(frozen=True)
class Columns:
    """Tokens as named columns of strings."""

    values: Mapping[str, Sequence[str]]
    starts: NDArray[np.int64]


def starts_of(sequences: Iterable[Sequence[Any]]) -> NDArray[np.int64]:
    """Where each sequence begins, and where the last one ends."""
    lengths = np.fromiter(map(len, sequences), dtype=np.int64)
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


def by_sequence(flat: Sequence[Any], starts: NDArray[np.int64]) -> list[list[Any]]:
    """What belongs to the tokens, sequence by sequence.

    >>> by_sequence("abcde", np.array([0, 2, 2, 5]))
    [['a', 'b'], [], ['c', 'd', 'e']]
    """
    edges = starts.tolist()
    return [list(flat[first:last]) for first, last in pairwise(edges)]


def as_columns(sequences: Any, names: Sequence[str], needed: Iterable[str]) -> Columns:
    """Sequences of tokens, turned into columns.

    A token is a mapping from column to value, or a tuple whose places are `names`. Sentences that were read from a
    file are columns already.
    """
    needed = sorted(set(needed))
    if isinstance(sequences, Sentences):
        missing = [name for name in needed if name not in sequences.columns]
        if missing:
            raise ValueError(
                f"the templates need the column {missing[0]!r}, but the sentences have {', '.join(sequences.columns)}"
            )
        return Columns({name: sequences.values[name] for name in needed}, sequences.starts)
    starts = starts_of(sequences)
    tokens = [token for sequence in sequences for token in sequence]
    if tokens and not isinstance(tokens[0], Mapping):
        places = _places(names, needed)
        get = {name: (lambda token, place=place: token[place]) for name, place in places.items()}
    else:
        get = {name: (lambda token, name=name: token[name]) for name in needed}
    values = {}
    for name in needed:
        try:
            column = list(map(get[name], tokens))
        except (KeyError, IndexError, TypeError):
            raise ValueError(_what_is_missing(tokens, starts, name, get[name])) from None
        values[name] = column if all(type(value) is str for value in column) else list(map(str, column))
    return Columns(values, starts)


def _places(names: Sequence[str], needed: Sequence[str]) -> dict[str, int]:
    if not names:
        raise ValueError(
            "the tokens are tuples, so their places need names: pass columns=, for example "
            f"columns={tuple(needed)!r}, or give tokens as mappings from column to value"
        )
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"the templates need the column {missing[0]!r}, but columns={tuple(names)!r}")
    return {name: list(names).index(name) for name in needed}


def _what_is_missing(tokens: Sequence[Any], starts: NDArray[np.int64], name: str, get: Any) -> str:
    for number, token in enumerate(tokens):
        try:
            get(token)
        except (KeyError, IndexError, TypeError):
            return f"{_place(number, starts)} has no column {name!r}, which a template needs: {token!r}"
    raise AssertionError("some token has no such column")


def _place(number: int, starts: NDArray[np.int64]) -> str:
    """Which token of which sequence the token with this number is."""
    sequence = int(np.searchsorted(starts, number, side="right")) - 1
    return f"token {number - int(starts[sequence])} of sequence {sequence}"


def are_numeric(sequences: Any) -> bool:
    """Whether the sequences are arrays of numbers, one row a token."""
    if isinstance(sequences, Sentences):
        return False
    first = next((sequence for sequence in sequences if _n_rows(sequence)), None)
    return first is not None and hasattr(first, "ndim") and first.ndim == 2


def _n_rows(sequence: Any) -> int:
    return sequence.shape[0] if hasattr(sequence, "shape") and sequence.shape else len(sequence)


def stacked(sequences: Sequence[Any]) -> Tokens:
    """Arrays of numbers, one a sequence, put under each other."""
    wide = [sequence for sequence in sequences if getattr(sequence, "ndim", 1) == 2]
    widths = {sequence.shape[1] for sequence in wide}
    if len(widths) > 1:
        raise ValueError(
            f"the sequences have tokens of {', '.join(map(str, sorted(widths)))} numbers: all need as many"
        )
    for number, sequence in enumerate(sequences):
        if getattr(sequence, "ndim", 1) != 2 and _n_rows(sequence):
            raise ValueError(f"sequence {number} is no array of tokens x numbers, though others are")
    if any(hasattr(sequence, "tocsr") for sequence in wide):
        from scipy.sparse import csr_array, vstack

        # Compressed rows are stacked as they are; others would have repeated entries added up on the way.
        rows = as_rows(vstack([as_csr(part) if hasattr(part, "tocsr") else csr_array(part) for part in wide]))
    else:
        rows = as_rows(np.concatenate(wide) if wide else np.zeros((0, 0)))
    lengths = np.array([_n_rows(sequence) for sequence in sequences], dtype=np.int64)
    tokens = Tokens(rows, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]))
    if not np.isfinite(rows.entries).all():
        bad = next(row for row in range(rows.n_rows) if not np.isfinite(rows.part(row, row + 1).entries).all())
        raise ValueError(f"{_place(bad, tokens.starts)} has NaN or an infinity; replace it before learning")
    return tokens


@dataclass(frozen=True)
class Numbers:
    """Features that are numbers already: token by token as many as were learned with."""

    n_columns: int

    def encode(self, sequences: Sequence[Any]) -> Tokens:
        """The tokens, if they have as many numbers as those learned from."""
        tokens = stacked(sequences)
        if tokens.rows.n_rows and tokens.rows.n_columns != self.n_columns:
            raise ValueError(f"the tokens have {tokens.rows.n_columns} numbers, but {self.n_columns} were learned")
        return tokens

    def names(self) -> list[str]:
        """A name for every feature: its column."""
        return [f"column {number}" for number in range(self.n_columns)]


def number_labels(
    sequences: Sequence[Sequence[Hashable]], starts: NDArray[np.int64], known: Sequence[Hashable] | None = None
) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Every token's label as a number, and the labels: sorted if they can be, else in order of appearance.

    With `known` labels, one that is not among them is an error.
    """
    lengths = np.fromiter(map(len, sequences), dtype=np.int64)
    wanted = np.diff(starts)
    if len(lengths) != len(wanted):
        raise ValueError(f"X has {len(wanted)} sequences, but y has {len(lengths)}")
    if np.any(lengths != wanted):
        number = int(np.flatnonzero(lengths != wanted)[0])
        raise ValueError(f"sequence {number} has {wanted[number]} tokens, but {lengths[number]} labels")
    flat = [label for sequence in sequences for label in sequence]
    try:
        labels = _in_order(dict.fromkeys(flat)) if known is None else list(known)
    except TypeError as error:
        raise ValueError(f"a label cannot be hashed ({error}); use words, numbers or tuples of them") from None
    for label in labels:
        if label is not None and is_missing(label):
            row = next(row for row, other in enumerate(flat) if other is label)
            raise ValueError(f"the label of {_place(row, starts)} is {label!r}, which equals no label, not even itself")
    numbers = {label: number for number, label in enumerate(labels)}
    try:
        return np.fromiter(map(numbers.__getitem__, flat), dtype=np.int64, count=len(flat)), labels
    except KeyError as error:
        place = _place(flat.index(error.args[0]), starts)
        shown = ", ".join(map(str, labels[:12])) + (", ..." if len(labels) > 12 else "")
        raise ValueError(f"label {error.args[0]!r} of {place} was never learned; known are {shown}") from None


def _in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return list(labels)
