"""The words of a column of texts: into which buckets they fall, and some of those that did."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.buckets import (
    DIGIT,
    LINE,
    ROWS,
    WORDS_KEPT,
    Found,
    Kept,
    copy_words,
    features_of,
    find_words,
    keep_words,
    room_for_words,
)
from novikoff.engine.threads import in_turn, thread_count

if TYPE_CHECKING:
    import pyarrow as pa

ASCII = 128

# What begins with no more words is short, and needs no threads.
FEW_WORDS = 1 << 16


def words_and_pairs(column: "pa.Array", n_buckets: int) -> Found:
    """Every occurrence of a word, or of a pair of neighbouring words, in a column of texts, with its row and bucket.

    A word is a run of letters, marks and digits, in lower case; a pair is two of them with a space between. The bucket
    follows from the CRC-32 of its UTF-8, which is the same on every machine and in every year.

    >>> import pyarrow as pa
    >>> rows, buckets, starts, stops, clean = words_and_pairs(pa.array(["A fast car!", None, "Fast, fast"]), 1000)
    >>> [(int(row), bytes(clean[a:b]).decode()) for row, a, b in zip(rows, starts, stops)]
    [(0, 'a'), (0, 'fast'), (0, 'a fast'), (0, 'car'), (0, 'fast car'), (2, 'fast'), (2, 'fast'), (2, 'fast fast')]
    """
    from pyarrow import compute

    column = column.fill_null("") if column.null_count else column
    text, ends = _bytes(column)
    if text.max(initial=0) >= ASCII:
        column = compute.replace_substring_regex(compute.utf8_lower(column), r"[^\x00-\x7F\pL\pM\pN]+", " ")
        text, ends = _bytes(column)
    found = room_for_words(int(ends[-1]) - int(ends[0]), len(column))
    count = find_words(text, ends, n_buckets, found)
    rows, buckets, starts, stops, clean = found
    return Found(rows[:count], buckets[:count], starts[:count], stops[:count], clean)


def features_by_row(found: Found, places: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """The rows and features of words, each pair once and in order, where `places` has the feature of every bucket; and
    how many words have none."""
    rows, features, scratch = (np.empty(len(found.rows), dtype=np.int32) for _ in range(3))
    counts = np.empty(2**DIGIT + 1, dtype=np.int32)
    filled, strange = features_of(found.rows, found.buckets, places, rows, features, scratch, counts)
    return rows[:filled].copy(), features[:filled].copy(), int(strange)


def _bytes(column: "pa.Array") -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The bytes of all texts, and where each begins and ends."""
    _, ends, text = column.buffers()
    if not len(column) or text is None:
        return np.empty(0, dtype=np.uint8), np.zeros(len(column) + 1, dtype=np.int32)
    within = np.frombuffer(ends, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(text, dtype=np.uint8), within


class Vocabulary:
    """Which buckets the words of texts fall into, with the words of each that occurred first.

    Threads have a share of the buckets each, and what comes out does not depend on their number.

    >>> import pyarrow as pa
    >>> vocabulary = Vocabulary(2)
    >>> vocabulary.add(pa.array(["c b a", "a b a"]))
    >>> vocabulary.occurrences, vocabulary.words()
    (4, {0: ('b a',), 1: ('c', 'b', 'c b')})
    """

    def __init__(self, n_buckets: int, n_jobs: int | None = None) -> None:
        self.n_buckets, self.n_jobs = n_buckets, n_jobs
        self.occurrences = 0
        self._rows = 0
        self._shares: list[_Share] = []

    def add(self, column: "pa.Array") -> None:
        """Let the words of some texts in."""
        found = words_and_pairs(column, self.n_buckets)
        if not self._shares:
            n_shares = min(thread_count(self.n_jobs), self.n_buckets) if len(found.rows) > FEW_WORDS else 1
            ends = [self.n_buckets * number // n_shares for number in range(n_shares + 1)]
            self._shares = [_Share(lowest, stop) for lowest, stop in pairwise(ends)]
        tasks: list[Callable[[], int]] = [partial(share.add, found, self._rows) for share in self._shares]
        self.occurrences += sum(in_turn(tasks, len(tasks)))
        self._rows += len(column)

    def words(self) -> dict[int, tuple[str, ...]]:
        """The words of each bucket, by ascending buckets."""
        return {bucket: words for share in self._shares for bucket, words in share.words()}

    def rows(self) -> dict[int, int]:
        """In how many texts each bucket occurs."""
        return {bucket: rows for share in self._shares for bucket, rows in share.rows()}


class _Share:
    """Some of the buckets: those from `lowest` to `stop`."""

    def __init__(self, lowest: int, stop: int) -> None:
        self.lowest, self.n_buckets = lowest, stop - lowest
        self.n_slots = self.filled = 0
        self.kept = _room(np.zeros(self.n_buckets, dtype=np.int32), 0, np.empty(0, dtype=np.uint8))

    def add(self, found: Found, first_row: int) -> int:
        """Let words in; returns how many pairs of row and bucket are different."""
        self._make_room(len(found.rows), 3 * len(found.clean))
        counts = keep_words(found, self.lowest, first_row, self.kept, self.n_slots, self.filled)
        self.n_slots, self.filled, different = map(int, counts)
        return different

    def words(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        import pyarrow as pa

        order = np.argsort(self.kept.buckets[: self.n_slots])
        sizes = self.kept.sizes[order]
        text = np.empty(int(sizes.sum()), dtype=np.uint8)
        copy_words(self.kept, order, text)
        ends = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        words = pa.LargeStringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(text)).to_pylist()
        stops = np.cumsum(np.count_nonzero(sizes, axis=1)).tolist()
        parts = (tuple(words[start:stop]) for start, stop in pairwise([0, *stops]))
        return zip(self.kept.buckets[order].tolist(), parts, strict=True)

    def rows(self) -> Iterator[tuple[int, int]]:
        counts = self.kept.heads[: self.n_slots, ROWS].tolist()
        return zip(self.kept.buckets[: self.n_slots].tolist(), counts, strict=True)

    def _make_room(self, n_slots: int, n_bytes: int) -> None:
        """Room for so many more buckets, and for so many more bytes."""
        kept = self.kept
        if (needed := min(self.n_slots + n_slots, self.n_buckets)) > len(kept.buckets):
            more = _room(kept.slots, min(2 * needed, self.n_buckets), kept.arena)
            for new, old in zip(more[1:-1], kept[1:-1], strict=True):
                new[: len(old)] = old
            kept = more
        if self.filled + n_bytes > len(kept.arena):
            sizes = kept.sizes[: self.n_slots]
            arena = np.empty(2 * (int(sizes.sum()) + n_bytes), dtype=np.uint8)
            self.filled = int(copy_words(kept, np.arange(self.n_slots), arena))
            kept.starts[: self.n_slots] = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
            kept = kept._replace(arena=arena)
        self.kept = kept


def _room(slots: NDArray[np.int32], count: int, arena: NDArray[np.uint8]) -> Kept:
    """Room for so many slots."""
    sizes = (count, LINE), (count, WORDS_KEPT), (count, WORDS_KEPT)
    heads, starts, lengths = (np.zeros(size, dtype=np.int64) for size in sizes)
    return Kept(slots, np.zeros(count, dtype=np.int64), heads, starts, lengths, arena)
