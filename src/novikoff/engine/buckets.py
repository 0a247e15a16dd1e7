"""Words of texts, and pairs of neighbouring words, by the buckets into which their CRC-32 puts them.

A word is a run of letters and digits, in lower case. A pair is two words with a blank between them. To a kernel, every
byte beyond ASCII belongs to a word: whoever calls it has put blanks in place of what does not.

The checksum of a word, and that of the pair which it ends, grow with every byte. So texts are read once, and no word is
copied but into `clean`, where the words of a text stand with one blank between them, and pairs stand by themselves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import jit, part
from novikoff.engine.prefetch import touch

BLANK = ord(" ")

# So many words of a bucket are kept: those that occur first. A word that occurs often is one of them, most likely.
WORDS_KEPT = 3

# A head is so many bytes of a word, as one number. Words have two; the second is doubled, and odd if more bytes follow.
HEAD_BYTES = 7

# Where the last row stands behind the heads of a slot, then the number of rows, and how many numbers a slot has: one
# line of the cache.
LAST_ROW = 2 * WORDS_KEPT
ROWS = LAST_ROW + 1
LINE = 8

# The head of a word that is not there is like no other.
NO_WORD = 2**62

# How many occurrences ahead memory is asked for a slot.
SOON = 16

# Up to so many numbers, sorting by comparing neighbours is fastest; more are sorted by digits of so many bits.
FEW = 24
DIGIT = 9

# A byte costs Python as much as so many numbers.
BYTE = 8


def _crc_table() -> NDArray[np.int64]:
    """What each byte does to a CRC-32: that of zlib, whose polynomial is 0xEDB88320, with its lowest bit first."""
    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ 0xEDB88320, table >> 1)
    return table


def _letters() -> NDArray[np.int64]:
    """What each byte is in a word: itself in lower case, or 0 where it belongs to none."""
    letters = [
        ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else byte & 128 and byte for byte in range(256)
    ]
    return np.array(letters, dtype=np.int64)


CRC = _crc_table()
LETTERS = _letters()
ALL_ONES = 0xFFFFFFFF


class Found(NamedTuple):
    """Occurrences of words and pairs, in order: the row, the bucket, and from where to where they stand in `clean`."""

    rows: NDArray[np.int32]
    buckets: NDArray[np.int32]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    clean: NDArray[np.uint8]


def room_for_words(n_bytes: int, n_rows: int) -> Found:
    """Arrays for whatever texts may hold: a word has a byte at least, and one behind it, unless it ends a text."""
    rows, buckets, starts, stops = (np.empty(n_bytes + n_rows, dtype=np.int32) for _ in range(4))
    return Found(rows, buckets, starts, stops, np.empty(n_bytes + n_rows + 2 * HEAD_BYTES, dtype=np.uint8))


@jit(work=lambda text, ends, n_buckets, found: BYTE * (int(ends[-1]) - int(ends[0])))
def find_words(text: Any, ends: Any, n_buckets: Any, found: Any) -> Any:
    """Find the words and pairs of texts, of which the i-th is text[ends[i]:ends[i + 1]]; returns how many there are."""
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
                for crc, first in ((word, start), (pair, before)):
                    if first >= 0:
                        found.rows[count] = row
                        found.buckets[count] = (crc ^ ALL_ONES) % n_buckets
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
    """The first words of every bucket that has any, in order.

    Bucket b has the slot `slots[b]` - 1 (0: none so far), and the slot s belongs to the bucket `buckets[s]`. What is
    looked at for every occurrence is one line of the cache, `heads[s]`: the two heads of each of its words, then the
    last row in which it occurred, and the number of rows. Its k-th word has `sizes[s, k]` bytes (0: there is none), in
    `arena` from `starts[s, k]` on.
    """

    slots: NDArray[np.int32]
    buckets: NDArray[np.int64]
    heads: NDArray[np.int64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    arena: NDArray[np.uint8]


@part
def head_of(text: Any, start: Any, stop: Any) -> Any:
    """The first bytes of a word as a number, with zeros for those that it does not have."""
    head = np.int64(0)
    for place in range(start, start + HEAD_BYTES):
        head = (head << 8) | np.int64(text[place])
    beyond = 8 * (HEAD_BYTES - min(max(stop - start, 0), HEAD_BYTES))
    return (head >> beyond) << beyond


@part
def is_kept(head: Any, second: Any, text: Any, start: Any, stop: Any, kept: Any, slot: Any, place: Any) -> Any:
    """Whether a word is the one that a slot has in a place."""
    if head != kept.heads[slot, 2 * place] or second != kept.heads[slot, 2 * place + 1]:
        return False
    at, size = kept.starts[slot, place], kept.sizes[slot, place]
    if second % 2 == 1:
        if stop - start != size:
            return False
        for i in range(2 * HEAD_BYTES, size):
            if text[start + i] != kept.arena[at + i]:
                return False
    return True


@jit(work=lambda found, lowest, first_row, kept, n_slots, filled: 10 * BYTE * found.rows.size)
def keep_words(found: Any, lowest: Any, first_row: Any, kept: Any, n_slots: Any, filled: Any) -> Any:
    """Keep the first words of each bucket from the `lowest` on, as many as `kept` is for. Rows count from `first_row`.

    Returns how many slots are in use, how many bytes of the arena, and how many pairs of row and bucket are different.
    """
    different = 0
    for number in range(found.rows.size):
        soon = found.buckets[min(number + SOON, found.rows.size - 1)] - lowest
        if 0 <= soon < kept.slots.size:
            touch(kept.heads, (np.int64(kept.slots[soon]) - 1) * LINE)
        bucket, row = found.buckets[number] - lowest, first_row + found.rows[number]
        if not 0 <= bucket < kept.slots.size:
            continue
        slot = np.int64(kept.slots[bucket]) - 1
        if slot < 0:
            slot = n_slots
            n_slots += 1
            kept.slots[bucket] = slot + 1
            kept.buckets[slot] = bucket + lowest
            kept.heads[slot, LAST_ROW] = -1
            for place in range(WORDS_KEPT):
                kept.heads[slot, 2 * place] = NO_WORD
        if kept.heads[slot, LAST_ROW] != row:
            kept.heads[slot, LAST_ROW] = row
            kept.heads[slot, ROWS] += 1
            different += 1

        if kept.heads[slot, LAST_ROW - 2] != NO_WORD:
            continue
        start, stop = np.int64(found.starts[number]), np.int64(found.stops[number])
        head = head_of(found.clean, start, stop)
        second = 2 * head_of(found.clean, start + HEAD_BYTES, stop) + (stop - start > 2 * HEAD_BYTES)
        place = 0
        while kept.heads[slot, 2 * place] != NO_WORD:
            if is_kept(head, second, found.clean, start, stop, kept, slot, place):
                break
            place += 1
        if kept.heads[slot, 2 * place] == NO_WORD:
            kept.heads[slot, 2 * place] = head
            kept.heads[slot, 2 * place + 1] = second
            kept.starts[slot, place] = filled
            kept.sizes[slot, place] = stop - start
            for i in range(start, stop):
                kept.arena[filled] = found.clean[i]
                filled += 1
    return n_slots, filled, different


@jit(work=lambda kept, order, into: 2 * BYTE * order.size)
def copy_words(kept: Any, order: Any, into: Any) -> Any:
    """Copy the words of the slots in `order`, one after another; returns how many bytes they have."""
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
    """Sort values[first:stop], which are not negative."""
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


@jit(work=lambda rows, buckets, places, into_rows, into_features, scratch, counts: 10 * BYTE * rows.size)
def features_of(
    rows: Any, buckets: Any, places: Any, into_rows: Any, into_features: Any, scratch: Any, counts: Any
) -> Any:
    """The features of every row, `places[bucket]`, each once and in order; those below 0 are none.

    Rows ascend. Returns how many features there are in all, and how many occurrences are of none.
    """
    filled = strange = number = 0
    while number < rows.size:
        row, first = rows[number], filled
        while number < rows.size and rows[number] == row:
            feature = places[buckets[number]]
            if feature >= 0:
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
                filled += 1
    return filled, strange
