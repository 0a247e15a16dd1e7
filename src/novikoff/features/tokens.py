"""Sequences of tokens: the tokens of all sequences one after another, and where each sequence begins.

A token is described by named columns, by numbers, or by its attributes: lists of names, or mappings from name to value,
as for python-crfsuite. A token that is a string has one attribute, the word itself. In a mapping, a string is part of
the name (`{"w": "cat"}` is `w:cat`), a number or a boolean is the attribute's value, a nested mapping adds a prefix
(`{"prev": {"w": "the"}}` is `prev:w:the`), and each string of a list or set names one attribute.
"""

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.frames import as_arrow, columns_to_encode, is_frame
from novikoff.data.missing import is_missing
from novikoff.data.sentences import Sentences
from novikoff.engine.csr import as_csr
from novikoff.engine.rows import Rows, as_rows, csr_rows


@dataclass(frozen=True)
class Tokens:
    """Tokens as sparse rows of numbers; sequence i is the rows from `starts[i]` to `starts[i + 1]`."""

    rows: Rows
    starts: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.rows.as_sparse())

    @property
    def n_sequences(self) -> int:
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))


def starts_of(sequences: Iterable[Sequence[Any]]) -> NDArray[np.int64]:
    """Return where each sequence begins, and where the last one ends."""
    return np.cumsum([0, *map(len, sequences)], dtype=np.int64)


def by_sequence(flat: Sequence[Any], starts: NDArray[np.int64]) -> list[list[Any]]:
    """Split a flat list of values, one per token, by sequence.

    >>> by_sequence("abcde", np.array([0, 2, 2, 5]))
    [['a', 'b'], [], ['c', 'd', 'e']]
    """
    return [list(flat[first:last]) for first, last in pairwise(starts.tolist())]


def as_sequences(X: Any, *, numbers: bool) -> Any:
    """Convert sequences to the forms for training and prediction: `Sentences`, or a list of lists of tokens.

    A table, or an array of words, is the list of its rows; if `numbers` can be learned from, an array of them stays
    an array. What does not consist of tokens is rejected, such as a string, which would be read letter by letter.
    """
    if isinstance(X, Sentences):
        return X
    if isinstance(X, str | bytes | Mapping) or is_frame(X):
        raise ValueError(f"X is a {type(X).__name__}, not a list of sequences; for a single sequence pass [tokens]")
    return [_as_sequence(sequence, number, numbers) for number, sequence in enumerate(X)]


def _as_sequence(sequence: Any, number: int, numbers: bool) -> Any:
    if isinstance(sequence, str | bytes):
        raise ValueError(
            f"sequence {number} is the string {sequence!r}, where a list of tokens is needed: split a sentence first, "
            "as in sentence.split(), and pass a single one as [tokens]"
        )
    if isinstance(sequence, Mapping | Set):
        raise ValueError(
            f"sequence {number} is a {type(sequence).__name__}, where a list of tokens is needed, in their order; of "
            "Sentences, a single one is sentences[i : i + 1]"
        )
    if is_frame(sequence):
        return as_arrow(sequence).to_pylist() if not numbers or columns_to_encode(sequence) else np.asarray(sequence)
    if getattr(sequence, "ndim", 1) == 2:
        return sequence if numbers and sequence.dtype.kind in "biuf" else sequence.tolist()
    return sequence if isinstance(sequence, list) else list(sequence)


def is_mapping(token: Any) -> bool:
    """Whether a token has its values by name, like a dictionary, or a row of a pandas table."""
    return isinstance(token, Mapping) or (hasattr(token, "keys") and hasattr(token, "items"))


def as_columns(sequences: Any, names: Sequence[str], needed: Iterable[str]) -> Sentences:
    """Convert sequences of tokens to columns.

    A token is a mapping from column to value, a tuple or list in the order of `names`, or a string, which is the value
    of the first or only column. Sentences read from a file are columns already.
    """
    needed = sorted(set(needed))
    if isinstance(sequences, Sentences):
        missing = [name for name in needed if name not in sequences.columns]
        if missing:
            raise ValueError(
                f"the templates need the column {missing[0]!r}, but the sentences have {', '.join(sequences.columns)}"
            )
        return Sentences(tuple(needed), {name: sequences.values[name] for name in needed}, sequences.starts)
    starts = starts_of(sequences)
    tokens = [token for sequence in sequences for token in sequence]
    examples = {type(token): token for token in tokens}
    places = {} if all(map(is_mapping, examples.values())) else _places(names, needed, examples)
    values = {name: _column(name, places.get(name), tokens, examples, starts) for name in needed}
    return Sentences(tuple(needed), values, starts)


def _column(
    name: str, place: int | None, tokens: list[Any], examples: Mapping[type, Any], starts: NDArray[np.int64]
) -> list[str]:
    """Return the values of one column; how to get it from a token depends only on the token's type."""

    def one_word(token: Any) -> Any:
        return (token,)[place]  # type: ignore[index]

    def way(example: Any) -> Callable[[Any], Any]:
        return one_word if isinstance(example, str | bytes) else itemgetter(name if is_mapping(example) else place)

    get = {kind: way(example) for kind, example in examples.items()}
    values: list[Any] = []
    for token in tokens:
        try:
            values.append(get[type(token)](token))
        except (KeyError, IndexError, TypeError):
            place_of_token = _place(len(values), starts)
            raise ValueError(f"{place_of_token} has no column {name!r}, which a template needs: {token!r}") from None
    if all(type(value) is str for value in values):
        return values
    for number, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"{_place(number, starts)} has {value!r} in the column {name!r}; replace missing values")
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def _places(names: Sequence[str], needed: Sequence[str], examples: Mapping[type, Any]) -> dict[str, int]:
    """Return the position of every column in tokens that are tuples, or strings, which are the first or only column."""
    if not names and len(needed) == 1 and all(isinstance(e, str | bytes) or is_mapping(e) for e in examples.values()):
        return {needed[0]: 0}
    if not names:
        raise ValueError(
            "the tokens are tuples or strings, so their places need names: pass columns=, for example "
            f"columns={tuple(needed)!r}, or give tokens as mappings from column to value"
        )
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"the templates need the column {missing[0]!r}, but columns={tuple(names)!r}")
    return {name: list(names).index(name) for name in needed}


def _place(number: int, starts: NDArray[np.int64]) -> str:
    """Describe the place of the token with this number: which token of which sequence."""
    sequence = int(np.searchsorted(starts, number, side="right")) - 1
    return f"token {number - int(starts[sequence])} of sequence {sequence}"


def are_numeric(sequences: Any) -> bool:
    """Whether the sequences are arrays of numbers, one row per token."""
    if isinstance(sequences, Sentences):
        return False
    return getattr(next((sequence for sequence in sequences if _n_rows(sequence)), None), "ndim", 1) == 2


def _n_rows(sequence: Any) -> int:
    return sequence.shape[0] if hasattr(sequence, "shape") and sequence.shape else len(sequence)


def stacked(sequences: Sequence[Any]) -> Tokens:
    """Stack arrays of numbers, one per sequence."""
    wide = [sequence for sequence in sequences if getattr(sequence, "ndim", 1) == 2]
    widths = {sequence.shape[1] for sequence in wide}
    if len(widths) > 1:
        raise ValueError(
            f"the sequences have tokens of {', '.join(map(str, sorted(widths)))} numbers: all need the same number"
        )
    for number, sequence in enumerate(sequences):
        if getattr(sequence, "ndim", 1) != 2 and _n_rows(sequence):
            raise ValueError(f"sequence {number} is not an array of tokens x numbers, though others are")
    if any(hasattr(sequence, "tocsr") for sequence in wide):
        from scipy.sparse import csr_array, vstack

        # CSR rows are stacked as they are; other formats would sum duplicate entries in the conversion.
        rows = as_rows(vstack([as_csr(part) if hasattr(part, "tocsr") else csr_array(part) for part in wide]))
    else:
        rows = as_rows(np.concatenate(wide) if wide else np.zeros((0, 0)))
    tokens = Tokens(rows, np.cumsum([0, *map(_n_rows, sequences)], dtype=np.int64))
    if not np.isfinite(rows.entries).all():
        bad = next(row for row in range(rows.n_rows) if not np.isfinite(rows.part(row, row + 1).entries).all())
        raise ValueError(f"{_place(bad, tokens.starts)} has NaN or an infinity; replace it before learning")
    return tokens


@dataclass(frozen=True)
class Numbers:
    """Features that are numbers already: every token has as many as in training."""

    n_columns: int

    def encode(self, sequences: Sequence[Any]) -> Tokens:
        """Return the tokens; raise an error unless they have as many numbers as in training."""
        tokens = stacked(sequences)
        if tokens.rows.n_rows and tokens.rows.n_columns != self.n_columns:
            raise ValueError(f"the tokens have {tokens.rows.n_columns} numbers, but {self.n_columns} were expected")
        return tokens

    def grow(self, sequences: Sequence[Any], min_count: int = 1) -> tuple["Numbers", Tokens, NDArray[np.int64]]:
        """Return the tokens; the columns do not change."""
        return self, self.encode(sequences), np.arange(self.n_columns)

    def names(self) -> list[str]:
        return [f"column {number}" for number in range(self.n_columns)]


def number_labels(
    sequences: Sequence[Sequence[Hashable]], starts: NDArray[np.int64], known: Sequence[Hashable] | None = None
) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Return every token's label as a number, and the labels: sorted if possible, else in order of appearance.

    With `known` labels, all others are -1, so that every prediction for them is an error.
    """
    sequences = list(sequences)
    for number, labels_of_one in enumerate(sequences):
        if isinstance(labels_of_one, str | bytes):
            raise ValueError(f"the labels of sequence {number} are the string {labels_of_one!r}; pass a list of labels")
        if not hasattr(labels_of_one, "__len__"):
            raise ValueError(f"the labels of sequence {number} are {labels_of_one!r:.60}; pass a list of labels")
    lengths = np.fromiter(map(len, sequences), dtype=np.int64)
    wanted = np.diff(starts)
    if len(lengths) != len(wanted):
        raise ValueError(f"X has {len(wanted)} sequences, but y has {len(lengths)}")
    if np.any(lengths != wanted):
        number = int(np.flatnonzero(lengths != wanted)[0])
        raise ValueError(f"sequence {number} has {wanted[number]} tokens, but {lengths[number]} labels")
    flat = [label for sequence in sequences for label in sequence]
    try:
        seen = dict.fromkeys(flat)
    except TypeError as error:
        raise ValueError(f"a label is not hashable ({error}); use words, numbers or tuples of them") from None
    for label in seen:
        if label is not None and is_missing(label):
            row = next(row for row, other in enumerate(flat) if other is label)
            raise ValueError(f"the label of {_place(row, starts)} is {label!r}, which equals no label, not even itself")
    labels = in_order(seen) if known is None else list(known)
    numbers = {label: number for number, label in enumerate(labels)}
    return np.fromiter((numbers.get(label, -1) for label in flat), dtype=np.int64, count=len(flat)), labels


def in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """Sort labels, or keep their order if they cannot be sorted."""
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return list(labels)


# ---------------------------------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------------------------------


def expand(token: Any) -> dict[str, float]:
    """Return the attributes of a token with their values; of duplicates the last counts.

    >>> expand("cat")
    {'cat': 1.0}
    >>> expand(["bias", "w=cat"])
    {'bias': 1.0, 'w=cat': 1.0}
    >>> expand({"w": "cat", "length": 3, "title": False, "prev": {"w": "the"}, "ends": ["t", "at"]})
    {'w:cat': 1.0, 'length': 3.0, 'title': 0.0, 'prev:w:the': 1.0, 'ends:t': 1.0, 'ends:at': 1.0}
    """
    if is_mapping(token):
        return dict(_expand_mapping(token, ""))
    if isinstance(token, str | bytes):
        return {_name(token): 1.0}
    if isinstance(token, Iterable):
        return {_name(attribute): 1.0 for attribute in token}
    raise TypeError(f"a token is a word, a list of attributes or a mapping, not {type(token).__name__}")


def _expand_mapping(token: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, float]]:
    for key, value in token.items():
        name = prefix + _name(key)
        if isinstance(value, Mapping):
            yield from _expand_mapping(value, f"{name}:")
        elif isinstance(value, list | set | frozenset):
            for part in value:
                yield f"{name}:{_name(part)}", 1.0
        else:
            yield _expand_item(name, value)


def _expand_item(name: Any, value: Any) -> tuple[str, float]:
    """Return the attribute of one item of a mapping, and its value."""
    if isinstance(value, str | bytes):
        return f"{_name(name)}:{_name(value)}", 1.0
    return _name(name), _number(value, name)


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    raise TypeError(f"the attribute {value!r} is not a string but {type(value).__name__}; convert it with str()")


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"the attribute {name!r} has the value {value!r}, which is neither a string nor a number, a mapping, "
            "a list or a set of strings"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"the attribute {name!r} has the value {number}; only finite numbers can be learned from")
    return number


@dataclass(frozen=True)
class AttributeIndex:
    """The attributes seen in training, numbered by frequency, the most frequent first."""

    numbers: dict[str, int]

    @classmethod
    def learn(cls, sequences: Sequence[Sequence[Any]], min_count: int = 1) -> tuple["AttributeIndex", Tokens]:
        """Number the attributes that occur at least `min_count` times, and return the tokens encoded by them."""
        return cls({}).grow(sequences, min_count)[:2]

    def grow(
        self, sequences: Sequence[Sequence[Any]], min_count: int = 1
    ) -> tuple["AttributeIndex", Tokens, NDArray[np.int64]]:
        """Return the known attributes, followed by those that occur at least `min_count` times in new tokens, the
        tokens encoded by them, and the new number of every known attribute."""
        numbers, n_known = dict(self.numbers), self.n_columns
        entries = AttributeEntries(lambda name: numbers.setdefault(name, len(numbers)))
        found = entries.of(sequences)
        counts = np.bincount(entries.columns[found.entries], minlength=len(numbers))[n_known:]
        order = np.argsort(-counts, kind="stable")
        order = n_known + order[counts[order] >= min_count]
        names = list(numbers)
        kept = [*self.numbers, *(names[old] for old in order.tolist())]
        index = AttributeIndex({name: number for number, name in enumerate(kept)})
        moved = np.full(len(names), -1, dtype=np.int64)
        moved[:n_known], moved[order] = np.arange(n_known), np.arange(n_known, len(kept))
        rows = found.as_rows(moved[entries.columns], entries.values, index.n_columns)
        return index, Tokens(rows, starts_of(sequences)), moved[:n_known]

    @property
    def n_columns(self) -> int:
        return len(self.numbers)

    def encode(self, sequences: Sequence[Sequence[Any]]) -> Tokens:
        """Encode tokens as rows; attributes not seen in training are omitted."""
        entries = AttributeEntries(lambda name: self.numbers.get(name, -1))
        found = entries.of(sequences)
        return Tokens(found.as_rows(entries.columns, entries.values, self.n_columns), starts_of(sequences))

    def names(self) -> list[str]:
        return list(self.numbers)

    def keep(self, wanted: NDArray[np.bool_]) -> "AttributeIndex":
        """Return some of the attributes, renumbered without gaps."""
        kept = [name for name, stay in zip(self.numbers, wanted.tolist(), strict=True) if stay]
        return AttributeIndex({name: number for number, name in enumerate(kept)})


class AttributeEntries:
    """The distinct entries of tokens: the column and the value of an attribute.

    A corpus is repetitive, so an attribute is parsed, named and numbered where it first occurs, and from then on looked
    up in a dictionary. Items of mappings and names have separate dictionaries: a tuple among names is not an item.
    """

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number, self._columns, self._values = number, array("q"), array("d")
        self.items = _Numbered(lambda item: self._add(*_expand_item(*item)))
        self.words = _Numbered(lambda word: self._add(_name(word), 1.0))

    @property
    def columns(self) -> NDArray[np.int64]:
        return np.array(self._columns, dtype=np.int64)

    @property
    def values(self) -> NDArray[np.float64]:
        return np.array(self._values, dtype=np.float64)

    def of(self, sequences: Sequence[Sequence[Any]]) -> "EntriesOfTokens":
        """Return the entries of every token."""
        found, ends = array("q"), array("q")
        get_item, get_word, extend = self.items.__getitem__, self.words.__getitem__, found.extend
        for number, sequence in enumerate(sequences):
            for place, token in enumerate(sequence):
                try:
                    if type(token) is dict or is_mapping(token):
                        extend(map(get_item, token.items()))
                    elif isinstance(token, str | bytes):
                        found.append(get_word(token))
                    else:
                        extend(map(get_word, token))
                except (TypeError, ValueError):  # a nested value, or one that is rejected
                    del found[ends[-1] if ends else 0 :]
                    try:
                        extend(map(get_item, expand(token).items()))
                    except (TypeError, ValueError) as error:
                        raise type(error)(f"token {place} of sequence {number}: {error}") from None
                ends.append(len(found))
        return EntriesOfTokens(np.array(found, dtype=np.int64), np.array(ends, dtype=np.int64))

    def _add(self, name: str, value: float) -> int:
        self._columns.append(self._number(name))
        self._values.append(value)
        return len(self._values) - 1


class _Numbered(dict[Any, int]):
    """Numbers of keys; `number` returns that of a new key."""

    def __init__(self, number: Callable[[Any], int]) -> None:
        self._number = number

    def __missing__(self, key: Any) -> int:
        self[key] = number = self._number(key)
        return number


@dataclass(frozen=True)
class EntriesOfTokens:
    """The entries of all tokens one after another, and where those of each token end."""

    entries: NDArray[np.int64]
    ends: NDArray[np.int64]

    def as_rows(self, columns: NDArray[np.int64], values: NDArray[np.float64], n_columns: int) -> Rows:
        """Return the tokens as rows, without columns of -1, and without zeros, which add nothing to any score. Of equal
        attributes of a token, the last counts."""
        if np.array_equal(values, values.astype(np.float32)):
            values = values.astype(np.float32)  # mostly ones: half the memory, and nothing is lost
        entries, tokens = self.entries, np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        keys = tokens * (n_columns + 1) + columns[entries] + 1
        order = np.argsort(keys, kind="stable")
        order = order[np.diff(keys[order], append=-1) != 0]
        order = order[(columns[entries[order]] >= 0) & (values[entries[order]] != 0)]
        ends = np.append(0, np.cumsum(np.bincount(tokens[order], minlength=len(self.ends)))).astype(np.uint32)
        return csr_rows(values[entries[order]], columns[entries[order]].astype(np.uint32), ends, n_columns)
