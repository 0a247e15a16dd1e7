"""Texts: their words, hashed into buckets, and the kind of column for texts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from novikoff.data.tables import as_numbers, as_numpy
from novikoff.engine.buckets import (
    ONE_ROW,
    PAIRS,
    WORDS_KEPT,
    Features,
    FoundWords,
    count_words,
    features_of,
    find_words,
    room_for_words,
)
from novikoff.features.columns import NO_ROWS, Cells, ColumnEntries, ColumnKind, Gathered, missing_name, noted

if TYPE_CHECKING:
    import pyarrow as pa

    from novikoff.features.gather import Column

Numbers = NDArray[np.int32]

ASCII = 128

# A column of texts has an array with a place for every bucket.
MOST_BUCKETS = 1 << 26


def words_and_pairs(column: "pa.Array") -> FoundWords:
    """Find all occurrences of words, and of pairs of adjacent words, in a column of texts, with row and key.

    A word is a run of letters, marks and digits, in lower case; a pair is two of them with a space between. The key
    depends on the CRC-32 of its UTF-8, which is the same on every machine and in every version.

    >>> import pyarrow as pa
    >>> rows, keys, starts, stops, clean = words_and_pairs(pa.array(["A fast car!", None, "Fast, fast"]))
    >>> [(int(row), bytes(clean[a:b]).decode()) for row, a, b in zip(rows, starts, stops)]
    [(0, 'a'), (0, 'fast'), (0, 'a fast'), (0, 'car'), (0, 'fast car'), (2, 'fast'), (2, 'fast'), (2, 'fast fast')]
    """
    text, ends = _letters(column)
    found = room_for_words(int(ends[-1]) - int(ends[0]), len(ends) - 1)
    count = find_words(text, ends, found)
    rows, keys, starts, stops, clean = found
    return FoundWords(rows[:count], keys[:count], starts[:count], stops[:count], clean)


def _letters(column: "pa.Array") -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of all texts, in lower case if they are not all ASCII, and where texts end."""
    from pyarrow import compute

    column = column.fill_null("") if column.null_count else column
    text, ends = _bytes(column)
    if text.max(initial=0) < ASCII:
        return text, ends
    return _bytes(compute.replace_substring_regex(compute.utf8_lower(column), r"[^\x00-\x7F\pL\pM\pN]+", " "))


def keys_of(words: Sequence[str]) -> NDArray[np.int64]:
    """Return the keys of words: their CRC-32, and whether they are pairs.

    >>> [(key % PAIRS, key >= PAIRS) for key in keys_of(["a", "a b"]).tolist()]
    [(3904355907, False), (2154585299, True)]
    """
    return np.array([crc32(word.encode()) + PAIRS * (" " in word) for word in words], dtype=np.int64)


def features_by_row(column: "pa.Array", known: Features) -> tuple[Numbers, Numbers, Numbers, int]:
    """Return the rows and features of the words of texts, each combination once and in order, with its number of
    occurrences; and how many words have no feature."""
    found = words_and_pairs(column)
    into = np.empty(len(found.rows), dtype=np.int64)
    filled = features_of(found, known, into)
    pairs, times = np.unique(into[:filled], return_counts=True)
    rows, features = (part.astype(np.int32) for part in np.divmod(pairs, max(len(known.keys), 1)))
    return rows, features, times.astype(np.int32), len(into) - int(filled)


class KeptWords(NamedTuple):
    """Words by ascending buckets, those of a bucket in order of occurrence, and how many texts have each."""

    words: list[str]
    rows: NDArray[np.int64]

    def joined(self, other: "KeptWords", n_buckets: int) -> "KeptWords":
        """Merge those of some texts with those of later texts.

        Words that later texts did not keep, they did not count, either.
        """
        words = self.words + other.words
        keys = keys_of(words)
        keys, first, same = np.unique(keys, return_index=True, return_inverse=True)
        buckets, rows = keys % PAIRS % n_buckets, np.bincount(same, np.concatenate([self.rows, other.rows]))
        order = np.lexsort([first, keys >= PAIRS, buckets])
        begins = np.flatnonzero(np.diff(buckets[order], prepend=-1))
        place = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
        kept = order[place < WORDS_KEPT]
        kept = kept[np.lexsort([first[kept], buckets[kept]])]
        return KeptWords([words[number] for number in first[kept].tolist()], rows[kept].astype(np.int64))


def _bytes(column: "pa.Array") -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of all texts, and where each begins and ends."""
    _, ends, text = column.buffers()
    if not len(column) or text is None:
        return np.empty(0, dtype=np.uint8), np.zeros(len(column) + 1, dtype=np.int32)
    within = np.frombuffer(ends, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(text, dtype=np.uint8), within


class TextVocabulary(Gathered):
    """The words of a column of texts by bucket: the first few of each, words before pairs.

    When all texts were added, `kept` has the words.

    >>> import pyarrow as pa
    >>> vocabulary = TextVocabulary(2)
    >>> vocabulary.add_texts(pa.array(["c b a", "a b a"]))
    >>> vocabulary.close()
    >>> list(zip(vocabulary.kept.words, vocabulary.kept.rows.tolist()))
    [('b a', 2), ('c', 1), ('b', 2), ('a', 2)]
    """

    def __init__(self, n_buckets: int) -> None:
        self.n_buckets = n_buckets
        self.kept: KeptWords | None = None
        self._rows = 0
        self._slots = np.zeros((2 * n_buckets, 2 * WORDS_KEPT), dtype=np.int64)
        # The places, sizes and bytes of the words in the slots, in order of occurrence.
        self._new: list[tuple[Numbers, Numbers, NDArray[np.uint8]]] = []

    def add(self, cells: Cells) -> int:
        self.add_texts(column := cells.texts())
        return int(column.null_count)

    def add_texts(self, column: "pa.Array") -> None:
        found = words_and_pairs(column)
        places, sizes = (np.empty(len(found.rows), dtype=np.int32) for _ in range(2))
        text = np.empty(3 * len(found.clean), dtype=np.uint8)
        n_new, filled = count_words(found, self._rows, self._slots, places, sizes, text)
        self._new.append((places[:n_new].copy(), sizes[:n_new].copy(), text[:filled].copy()))
        self._rows += len(column)

    def close(self) -> None:
        """Choose the kept words, unless they were joined. What was found is no longer needed."""
        self.kept = self._chosen() if self.kept is None else self.kept
        del self._slots, self._new

    def _chosen(self) -> KeptWords:
        import pyarrow as pa

        nothing = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8)
        places, sizes, text = map(np.concatenate, zip(nothing, *self._new, strict=True))
        self._new.clear()
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        words = pa.LargeStringArray.from_buffers(len(places), pa.py_buffer(ends), pa.py_buffer(text))
        numbers = np.full(
            (self.n_buckets, 2 * WORDS_KEPT), len(places), dtype=np.int32
        )  # of the words, then of the pairs
        numbers.reshape(-1)[places] = np.arange(len(places))
        numbers[np.cumsum(numbers < len(places), axis=1, dtype=np.int8) > WORDS_KEPT] = len(places)
        numbers.sort(axis=1)
        kept = numbers[numbers < len(places)].astype(np.int64)
        slots, of_slot = np.divmod(places[kept], WORDS_KEPT)
        rows = self._slots[slots, WORDS_KEPT + of_slot] // ONE_ROW
        words = words.take(as_numbers(kept))
        return KeptWords(words.to_numpy(zero_copy_only=False).tolist(), rows)  # to_pylist would wrap every word

    def join(self, other: "TextVocabulary") -> None:
        assert other.kept is not None
        self.kept = other.kept if self.kept is None else self.kept.joined(other.kept, self.n_buckets)

    def n_entries(self, rows: int, missing: int) -> int:
        return (0 if self.kept is None else int(self.kept.rows.sum())) + missing


@dataclass(frozen=True)
class Text(ColumnKind):
    """A text has a 1 in the feature of each word, and of each pair of adjacent words, that it contains.

    `words` are those that have a feature, by bucket of their CRC-32. A bucket has a few, so that their number is
    bounded; all others are ignored. If there are `weights`, a word that occurs m times has its weight times
    1 + 1/2 + ... + 1/m instead of 1, and every text is divided by its length.
    """

    kind: ClassVar[str] = "text"
    column_roles: ClassVar[tuple[str, ...]] = ("text", "tfidf")
    no_formula: ClassVar[str | None] = "text"

    words: tuple[str, ...]
    n_buckets: int
    has_missing: bool = False
    weights: tuple[float, ...] = ()

    @classmethod
    def gathered(cls, column: "Column") -> TextVocabulary:
        return TextVocabulary(column.limits.n_buckets)

    @classmethod
    def learned(cls, column: "Column", dense: bool) -> "Text":
        assert isinstance(column.found, TextVocabulary)
        found, n_texts = column.found.kept, column.rows - column.missing
        assert found is not None
        # The inverse document frequencies of words, if requested.
        rarities = [
            1.0 + math.log((1 + n_texts) / (1 + with_it))
            for with_it in (found.rows.tolist() if column.asked == "tfidf" else ())
        ]
        return cls(tuple(found.words), column.limits.n_buckets, column.missing > 0, tuple(rarities))

    @property
    def type(self) -> str:
        return "string"

    @cached_property
    def features(self) -> Features:
        keys = keys_of(self.words)
        buckets = keys % PAIRS % self.n_buckets
        return Features(np.searchsorted(buckets, np.arange(self.n_buckets + 1)).astype(np.int32), keys)

    @property
    def size(self) -> int:
        return len(self.words) + self.has_missing

    def name(self, column: str, number: int) -> str:
        return f"{column}:{self.words[number]}" if number < len(self.words) else missing_name(column)

    def entries(self, cells: Cells) -> ColumnEntries:
        rows, features, times, unseen = features_by_row(cells.texts(), self.features)
        values, column = self._values(rows, features, times), cells.values
        missing = np.flatnonzero(as_numpy(column.is_null())).astype(np.int32) if column.null_count else NO_ROWS
        if self.has_missing and len(missing):
            rows = np.concatenate([rows, missing])
            features = np.concatenate([features, np.full(len(missing), len(self.words), dtype=np.int32)])
            values = np.concatenate([values, np.ones(len(missing))])
        return ColumnEntries(rows, features, values, unseen, 0 if self.has_missing else len(missing))

    def _values(self, rows: Numbers, features: Numbers, times: Numbers) -> NDArray[np.float64]:
        if not self.weights:
            return np.ones(len(rows))
        shares = np.cumsum(1.0 / np.arange(1, times.max(initial=0) + 1))  # about 1 + log(times), on every machine alike
        values = self._weights[features] * shares[times - 1]
        return np.asarray(values / np.sqrt(np.bincount(rows, values * values))[rows])

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return np.array(self.weights)

    def single_words(self) -> "Text":
        kept = [number for number, word in enumerate(self.words) if " " not in word]
        weights = tuple(self.weights[number] for number in kept) if self.weights else ()
        return replace(self, words=tuple(self.words[number] for number in kept), weights=weights)

    def detail(self) -> str:
        pairs = " and pairs of words" if any(" " in word for word in self.words) else ""
        return noted(f"{len(self.words):,} words{pairs}{', weighted by idf' if self.weights else ''}", self)

    def wrong(self) -> str | None:
        if not 1 <= self.n_buckets <= MOST_BUCKETS:
            return f"has n_buckets = {self.n_buckets}, not a whole number from 1 to {MOST_BUCKETS}"
        if self.weights and (len(self.weights) != len(self.words) or min(self.weights) <= 0):
            return "has weights that are not positive, or others than words"
        keys = keys_of(self.words)
        if np.any(np.diff(keys % PAIRS % self.n_buckets) < 0) or len(np.unique(keys)) < len(keys):
            return "has words whose buckets do not ascend, or one twice"
        return None
