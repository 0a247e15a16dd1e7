"""Words of texts, and pairs of adjacent words, hashed into buckets by their CRC-32.

A word is a run of letters and digits, in lower case. A pair is two words with a blank between them. A kernel takes
every byte beyond ASCII for part of a word: the caller has replaced those that are not by blanks.

The checksums of a word, and of the pair that it ends, are updated byte by byte. So texts are read once, and words are
copied only into `clean`, where one blank separates the words of a text, so that pairs are contiguous.

The key of a word is its CRC-32, and whether it is a pair. A few words of each bucket are kept, so that a table of
bounded size has most of the frequent ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import jit, part

BLANK = ord(" ")

# How many words of a bucket are kept: the first to occur, words before pairs. A frequent one is most likely among them.
WORDS_KEPT = 3

# Keys of words are below `PAIRS`, those of pairs are not; `NO_WORD` is no key.
PAIRS = 2**32
NO_WORD = 2**62

# A slot has the keys of its words, followed, for each, by the number of rows in which it occurred, times this, plus the
# last row modulo this; together one cache line.
ONE_ROW = 2**32
LINE = 8

# Up to `FEW` numbers, insertion sort is fastest; for more, radix sort by digits of `DIGIT` bits.
FEW = 24
DIGIT = 10

# In plain Python, a byte takes as long as this many numbers.
BYTE = 8


def _crc_table() -> NDArray[np.int64]:
    """Return the table for the CRC-32 of zlib, whose polynomial is 0xEDB88320, lowest bit first."""
    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ 0xEDB88320, table >> 1)
    return table


def _letters() -> NDArray[np.int64]:
    """Map each byte to itself in lower case, or to 0 if it is not part of a word."""
    letters = [
        ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else byte & 128 and byte for byte in range(256)
    ]
    return np.array(letters, dtype=np.int64)


CRC = _crc_table()
LETTERS = _letters()
ALL_ONES = 0xFFFFFFFF


class FoundWords(NamedTuple):
    """Occurrences of words and pairs, in order: the row, the bucket, the key, and the position in `clean`."""

    rows: NDArray[np.int32]
    buckets: NDArray[np.int32]
    keys: NDArray[np.int64]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    clean: NDArray[np.uint8]


def room_for_words(n_bytes: int, n_rows: int) -> FoundWords:
    """Return arrays large enough for any texts: a word takes at least a byte, plus one unless it ends a text."""
    rows, buckets, starts, stops = (np.empty(n_bytes + n_rows, dtype=np.int32) for _ in range(4))
    keys = np.empty(n_bytes + n_rows, dtype=np.int64)
    return FoundWords(rows, buckets, keys, starts, stops, np.empty(n_bytes + n_rows, dtype=np.uint8))


@jit(work=lambda text, ends, n_buckets, found: BYTE * (int(ends[-1]) - int(ends[0])))
def find_words(text: Any, ends: Any, n_buckets: Any, found: Any) -> Any:
    """Find the words and pairs of texts, of which the i-th is text[ends[i]:ends[i + 1]]; return how many there are."""
    count = filled = 0
    for row in range(ends.size - 1):
        start, before = filled, -1
        word = pair = ALL_ONES
        for place in range(ends[row], ends[row + 1] + 1):
            letter = LETTERS[text[place]] if place < ends[row + 1] else 0
            if letter > 0:
                found.clean[filled] = letter
                filled += 1
                word = CRC[(word ^ letter) & 255] ^ (word >> 8)
                pair = CRC[(pair ^ letter) & 255] ^ (pair >> 8)
            elif filled > start:
                for crc, first, kind in ((word, start, 0), (pair, before, PAIRS)):
                    if first >= 0:
                        found.rows[count] = row
                        found.buckets[count] = (crc ^ ALL_ONES) % n_buckets
                        found.keys[count] = (crc ^ ALL_ONES) + kind
                        found.starts[count] = first
                        found.stops[count] = filled
                        count += 1
                found.clean[filled] = BLANK
                filled += 1
                pair = CRC[(word ^ BLANK) & 255] ^ (word >> 8)
                word = ALL_ONES
                start, before = filled, start
    return count


class Kept(NamedTuple):
    """Some words of every bucket that has any, in order of occurrence.

    Bucket b has the slot `slots[b]` - 1 (0: none so far), and the slot s belongs to the bucket `buckets[s]`. Every
    occurrence reads one cache line, `lines[s]`: the keys of the words, and in which rows they are. The k-th word has
    `sizes[s, k]` bytes (0: there is none), in `arena` from `starts[s, k]` on.
    """

    slots: NDArray[np.int32]
    buckets: NDArray[np.int64]
    lines: NDArray[np.int64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    arena: NDArray[np.uint8]


@part
def give_up_a_pair(kept: Any, slot: Any) -> Any:
    """Remove the last pair of a slot, and move the words after it; return in how many rows it was, or -1 if all are
    words."""
    place = WORDS_KEPT - 1
    while place >= 0 and kept.lines[slot, place] < PAIRS:
        place -= 1
    if place < 0:
        return -1
    rows = kept.lines[slot, WORDS_KEPT + place] // ONE_ROW
    for k in range(place, WORDS_KEPT - 1):
        kept.lines[slot, k] = kept.lines[slot, k + 1]
        kept.lines[slot, WORDS_KEPT + k] = kept.lines[slot, WORDS_KEPT + k + 1]
        kept.starts[slot, k] = kept.starts[slot, k + 1]
        kept.sizes[slot, k] = kept.sizes[slot, k + 1]
    kept.lines[slot, WORDS_KEPT - 1] = NO_WORD
    return rows


@jit(work=lambda found, lowest, first_row, kept, n_slots, filled: 10 * BYTE * found.rows.size)
def keep_words(found: Any, lowest: Any, first_row: Any, kept: Any, n_slots: Any, filled: Any) -> Any:
    """Keep some words of each bucket from the `lowest` on, as many as `kept` has room for. Rows count from `first_row`.

    If a bucket is full, a word replaces a pair. Returns how many slots are in use, how many bytes of the arena, and how
    many distinct pairs of row and kept word there are: perhaps fewer than before.
    """
    different = 0
    for number in range(found.rows.size):
        bucket = found.buckets[number] - lowest
        if not 0 <= bucket < kept.slots.size:
            continue
        slot = np.int64(kept.slots[bucket]) - 1
        if slot < 0:
            slot = n_slots
            n_slots += 1
            kept.slots[bucket] = slot + 1
            kept.buckets[slot] = bucket + lowest
            for place in range(WORDS_KEPT):
                kept.lines[slot, place] = NO_WORD

        key, place = found.keys[number], 0
        while place < WORDS_KEPT and kept.lines[slot, place] != key and kept.lines[slot, place] != NO_WORD:
            place += 1
        if place == WORDS_KEPT:
            rows = give_up_a_pair(kept, slot) if key < PAIRS else -1
            if rows < 0:
                continue
            different -= rows
            place -= 1
        if kept.lines[slot, place] == NO_WORD:
            kept.lines[slot, place] = key
            kept.lines[slot, WORDS_KEPT + place] = 0
            kept.starts[slot, place] = filled
            kept.sizes[slot, place] = found.stops[number] - found.starts[number]
            for i in range(found.starts[number], found.stops[number]):
                kept.arena[filled] = found.clean[i]
                filled += 1
        row = (np.int64(first_row) + found.rows[number]) % ONE_ROW
        seen = kept.lines[slot, WORDS_KEPT + place]
        if seen < ONE_ROW or seen % ONE_ROW != row:
            kept.lines[slot, WORDS_KEPT + place] = seen - seen % ONE_ROW + ONE_ROW + row
            different += 1
    return n_slots, filled, different


@jit(work=lambda kept, order, into: 2 * BYTE * order.size)
def copy_words(kept: Any, order: Any, into: Any) -> Any:
    """Copy the words of the slots in `order`, one after another; return how many bytes they have."""
    filled = 0
    for number in range(order.size):
        slot = order[number]
        for place in range(WORDS_KEPT):
            start = kept.starts[slot, place]
            for i in range(start, start + kept.sizes[slot, place]):
                into[filled] = kept.arena[i]
                filled += 1
    return filled


# -- the features of rows ---------------------------------------------------------------------------------------------


@part
def sort(values: Any, first: Any, stop: Any, scratch: Any, counts: Any) -> Any:
    """Sort values[first:stop], which are nonnegative."""
    if stop - first <= FEW:
        for i in range(first + 1, stop):
            value, j = values[i], i
            while j > first and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        return
    largest = 0
    for i in range(first, stop):
        largest = max(largest, values[i])
    shift = 0
    while largest >> shift > 0:
        counts[:] = 0
        for i in range(first, stop):
            counts[((values[i] >> shift) & (2**DIGIT - 1)) + 1] += 1
        for digit in range(2**DIGIT):
            counts[digit + 1] += counts[digit]
        for i in range(first, stop):
            digit = (values[i] >> shift) & (2**DIGIT - 1)
            scratch[counts[digit]] = values[i]
            counts[digit] += 1
        for i in range(first, stop):
            values[i] = scratch[i - first]
        shift += DIGIT


class Features(NamedTuple):
    """The features of words: those from `firsts[b]` to `firsts[b + 1]` belong to bucket b; `keys` has their words'
    keys."""

    firsts: NDArray[np.int32]
    keys: NDArray[np.int64]


@jit(work=lambda found, features, into_rows, into_features, times, scratch, counts: 10 * BYTE * found.rows.size)
def features_of(
    found: Any, features: Any, into_rows: Any, into_features: Any, times: Any, scratch: Any, counts: Any
) -> Any:
    """Find the features of every row, each once and in order, and how often each occurs.

    Rows ascend. Returns how many features there are in all, and how many occurrences have no feature.
    """
    filled = strange = number = 0
    rows = found.rows
    while number < rows.size:
        row, first = rows[number], filled
        while number < rows.size and rows[number] == row:
            bucket = found.buckets[number]
            feature, stop = features.firsts[bucket], features.firsts[bucket + 1]
            key = found.keys[number]
            while feature < stop and features.keys[feature] != key:
                feature += 1
            if feature < stop:
                into_features[filled] = feature
                filled += 1
            else:
                strange += 1
            number += 1
        sort(into_features, first, filled, scratch, counts)
        stop, filled = filled, first
        for i in range(first, stop):
            if i == first or into_features[i] != into_features[filled - 1]:
                into_features[filled] = into_features[i]
                into_rows[filled] = row
                times[filled] = 0
                filled += 1
            times[filled - 1] += 1
    return filled, strange
