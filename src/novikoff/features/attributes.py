"""Attributes of tokens, as CRFsuite takes them: lists of names, or mappings from name to value.

A token is described by the attributes it has; a token that is a string has one, the word itself. In a mapping, a string
is part of the name (`{"w": "cat"}` is `w:cat`), a number or a boolean is the attribute's value, a mapping prefixes its
own attributes (`{"prev": {"w": "the"}}` is `prev:w:the`), and a list or set of strings names one attribute each. So a
token that was made for python-crfsuite or sklearn-crfsuite needs no change.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import as_rows
from novikoff.features.tokens import Tokens, is_mapping, starts_of


def expand(token: Any) -> dict[str, float]:
    """The attributes of a token with their values; of equal ones the last counts.

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
        if isinstance(value, str | bytes):
            yield f"{name}:{_name(value)}", 1.0
        elif isinstance(value, Mapping):
            yield from _expand_mapping(value, f"{name}:")
        elif isinstance(value, list | set | frozenset):
            for part in value:
                yield f"{name}:{_name(part)}", 1.0
        else:
            yield name, _number(value, name)


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    raise TypeError(f"the attribute {value!r} is no string but {type(value).__name__}; convert it with str()")


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
    """The attributes that were seen, numbered by frequency, the most frequent first."""

    numbers: dict[str, int]

    @classmethod
    def learn(cls, sequences: Sequence[Sequence[Any]], min_count: int = 1) -> tuple["AttributeIndex", Tokens]:
        """Number the attributes that occur at least so often, and give the tokens in these attributes."""
        starts = starts_of(sequences)
        expanded = _expand_all(sequences)
        numbers: dict[str, int] = {}
        found = [numbers.setdefault(name, len(numbers)) for token in expanded for name in token]
        counts = np.bincount(np.array(found, dtype=np.int64), minlength=len(numbers))
        order = np.argsort(-counts, kind="stable")
        names = list(numbers)
        index = cls({names[old]: new for new, old in enumerate(order.tolist()) if counts[old] >= min_count})
        return index, index._as_tokens(expanded, starts)

    @property
    def n_columns(self) -> int:
        return len(self.numbers)

    def encode(self, sequences: Sequence[Sequence[Any]]) -> Tokens:
        """Tokens as rows; attributes never seen are left out."""
        return self._as_tokens(_expand_all(sequences), starts_of(sequences))

    def names(self) -> list[str]:
        """Every attribute, by its number."""
        return list(self.numbers)

    def keep(self, wanted: NDArray[np.bool_]) -> "AttributeIndex":
        """Some of the attributes, numbered without gaps."""
        kept = [name for name, stay in zip(self.numbers, wanted.tolist(), strict=True) if stay]
        return AttributeIndex({name: number for number, name in enumerate(kept)})

    def _as_tokens(self, expanded: list[dict[str, float]], starts: NDArray[np.int64]) -> Tokens:
        from scipy.sparse import csr_array

        get = self.numbers.get
        known = [[(get(name, -1), value) for name, value in token.items()] for token in expanded]
        lengths = np.fromiter(map(len, known), dtype=np.int64, count=len(known))
        pairs = np.array([pair for token in known for pair in token], dtype=np.float64).reshape(-1, 2)
        token = np.repeat(np.arange(len(known)), lengths)
        seen = pairs[:, 0] >= 0
        indices, values, token = pairs[seen, 0].astype(np.int32), pairs[seen, 1], token[seen]
        if np.array_equal(values, values.astype(np.float32)):
            values = values.astype(np.float32)  # mostly ones: half the memory, and nothing is lost
        by_column = np.lexsort((indices, token))
        pointers = np.concatenate([[0], np.cumsum(np.bincount(token, minlength=len(known)))]).astype(np.int32)
        matrix = csr_array((values[by_column], indices[by_column], pointers), shape=(len(known), self.n_columns))
        return Tokens(as_rows(matrix), starts)


def _expand_all(sequences: Sequence[Sequence[Any]]) -> list[dict[str, float]]:
    expanded = []
    for number, sequence in enumerate(sequences):
        for place, token in enumerate(sequence):
            try:
                expanded.append(expand(token))
            except (TypeError, ValueError) as error:
                raise type(error)(f"token {place} of sequence {number}: {error}") from None
    return expanded
