"""Words of texts, and pairs of adjacent words, hashed into buckets by their CRC-32.

A word is a run of letters and digits, in lower case. A pair is two words with a blank between them. A kernel takes
every byte beyond ASCII for part of a word: the caller has replaced those that are not by blanks.

The checksums of a word, and of the pair that it ends, are updated byte by byte. So texts are read once, and words are
copied only into `clean`, where one blank separates the words of a text, so that pairs are contiguous.

The key of a word is its CRC-32, and of a pair `PAIRS` more. The first few words and the first few pairs of each bucket
are counted, so that a table of bounded size has most of the frequent ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import jit

BLANK = ord(" ")

# How many words of a bucket are kept: the first to occur, words before pairs. A frequent one is most likely among them.
WORDS_KEPT = 3

# Keys of words are below `PAIRS`, those of pairs are not.
PAIRS = 2**32

# A slot, for the words or the pairs of a bucket, has their keys, each plus 1 (0: none), followed, for each, by the
# number of rows in which it occurred, times this, plus the last row modulo this.
ONE_ROW = 2**32

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
    """Occurrences of words and pairs, in order: the row, the key, and the position in `clean`."""

    rows: NDArray[np.int32]
    keys: NDArray[np.int64]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    clean: NDArray[np.uint8]


def room_for_words(n_bytes: int, n_rows: int) -> FoundWords:
    """Return arrays large enough for any texts: a word takes at least a byte, plus one unless it ends a text."""
    rows, starts, stops = (np.empty(n_bytes + n_rows, dtype=np.int32) for _ in range(3))
    keys = np.empty(n_bytes + n_rows, dtype=np.int64)
    return FoundWords(rows, keys, starts, stops, np.empty(n_bytes + n_rows, dtype=np.uint8))


@jit(work=lambda text, ends, found: BYTE * (int(ends[-1]) - int(ends[0])))
def find_words(text: Any, ends: Any, found: Any) -> Any:
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


@jit(work=lambda found, first_row, slots, places, sizes, text: 10 * BYTE * found.rows.size)
def count_words(found: Any, first_row: Any, slots: Any, places: Any, sizes: Any, text: Any) -> Any:
    """Count the rows of the first words, and of the first pairs, of every bucket. Rows count from `first_row`.

    Returns how many words are new, and how many bytes they have: their places among the keys of all slots are put into
    `places`, their sizes into `sizes`, and their bytes, one after another, into `text`.
    """
    n_new, filled, n_buckets = 0, 0, slots.shape[0] // 2
    for number in range(found.rows.size):
        key = found.keys[number]
        slot = 2 * ((key & ALL_ONES) % n_buckets) + (key >> 32)
        place = 0
        while place < WORDS_KEPT and slots[slot, place] != key + 1 and slots[slot, place] > 0:
            place += 1
        if place == WORDS_KEPT:
            continue
        if slots[slot, place] == 0:
            slots[slot, place] = key + 1
            places[n_new] = WORDS_KEPT * slot + place
            sizes[n_new] = found.stops[number] - found.starts[number]
            n_new += 1
            for i in range(found.starts[number], found.stops[number]):
                text[filled] = found.clean[i]
                filled += 1
        row = (np.int64(first_row) + found.rows[number]) % ONE_ROW
        seen = slots[slot, WORDS_KEPT + place]
        if seen < ONE_ROW or seen % ONE_ROW != row:
            slots[slot, WORDS_KEPT + place] = seen - seen % ONE_ROW + ONE_ROW + row
    return n_new, filled


class Features(NamedTuple):
    """The features of words: those from `firsts[b]` to `firsts[b + 1]` belong to bucket b; `keys` has their words'
    keys."""

    firsts: NDArray[np.int32]
    keys: NDArray[np.int64]


@jit(work=lambda found, features, into: 10 * BYTE * found.rows.size)
def features_of(found: Any, features: Any, into: Any) -> Any:
    """Find the feature of every occurrence that has one: its row, times the number of features, plus the feature.

    Returns how many have one.
    """
    filled, n_buckets = 0, features.firsts.size - 1
    for number in range(found.rows.size):
        key = found.keys[number]
        bucket = (key & ALL_ONES) % n_buckets
        feature, stop = features.firsts[bucket], features.firsts[bucket + 1]
        while feature < stop and features.keys[feature] != key:
            feature += 1
        if feature < stop:
            into[filled] = np.int64(found.rows[number]) * features.keys.size + feature
            filled += 1
    return filled
