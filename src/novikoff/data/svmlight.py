"""svmlight (LIBSVM) text, read batch by batch.

A line is `label [qid:number] index:value index:value ... [# comment]`:

- The label and the values are decimal numbers, parsed to exactly the float64 that Python's `float` returns.
  They must be finite; underscores and hexadecimal digits are rejected.
- An index is a whole number from 0 to 2^32 - 1, and the indices of a line ascend. The column of a feature is its index,
  or one less in a file that counts from 1: `zero_based` says which, in scikit-learn's meaning, and by default a file
  counts from 1 if no index in it is 0.
- An explicit value of 0 is kept as an entry; a query (`qid`) is checked and ignored.
- Blanks and tabs separate; lines end with LF or CRLF, optional on the last; empty lines, comments and a byte order mark
  are skipped. Any other control character outside a comment is an error.

Every line is checked. An error names the file, the line, the text and the remedy.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch
from novikoff.engine.ahead import ahead
from novikoff.engine.rows import Rows, csr_rows
from novikoff.engine.text import (
    BAD_LABEL,
    BAD_PAIR,
    BAD_QUERY,
    FINE,
    LARGEST_INDEX,
    MOST_DIGITS,
    NOT_ASCENDING,
    PADDING,
    Lines,
    Parsed,
    parse,
    room_for,
)

# Large enough that the overhead of a batch is negligible, small enough for the cache (measured).
CHUNK_BYTES = 1 << 20

# A longer line is not svmlight text; the entries of 2^32 bytes can still be counted in 32 bits.
LONGEST_LINE = 1 << 32

# Whether indices begin with 0: yes, no, or inferred from the file.
ZeroBased = bool | Literal["auto"]

NEWLINE = b"\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TOKEN = re.compile(rb"(?:[^ \t\r\n#]|\r(?!\n))*")
CONTROL_CHARACTER = re.compile(rb"[\x00-\x1f\x7f]")
DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NOT_FINITE = re.compile(rb"[+-]?(inf|infinity|nan)", re.IGNORECASE)


def batches(
    stream: BinaryIO, name: str, *, zero_based: bool = True, chunk_bytes: int = CHUNK_BYTES, n_jobs: int | None = 1
) -> Iterator[Batch]:
    """Yield examples from svmlight text, about `chunk_bytes` of it at a time; `name` is the file's in errors.

    A batch has as many columns as are known so far: one more than the largest up to its end. `n_jobs` threads parse
    the next chunks while a batch is used.

    >>> import io
    >>> text = io.BytesIO(b"+1 1:0.5 3:2 # the first\\n-1 2:1e-3\\n")
    >>> [batch] = batches(text, "toy.svm")
    >>> batch.rows.as_array().tolist(), batch.labels.tolist()
    ([[0.0, 0.5, 0.0, 2.0], [0.0, 0.0, 0.001, 0.0]], [1.0, -1.0])
    """
    if chunk_bytes < 1:
        raise ValueError(f"chunk_bytes is {chunk_bytes}, but a chunk needs at least 1 byte; omit it")
    lowest = 0 if zero_based else 1
    lines = n_columns = 0
    for part in ahead(lambda chunk: _parsed(chunk, lowest), _whole_lines(stream, name, chunk_bytes), n_jobs):
        if isinstance(part, _Trouble):
            raise ValueError(f"{name}, line {lines + part.line}: {part.message}")
        if part.is_too_low:
            raise ValueError(f"{name} has the index 0, but zero_based=False says that it counts from 1; omit that")
        if part.rows.n_rows:
            n_columns = max(n_columns, part.rows.n_columns)
            rows = replace(part.rows, n_columns=n_columns)
            yield Batch(rows, part.labels, name, lines + part.first + 1)
        lines += part.lines


class TextChunk(NamedTuple):
    """Whole lines of a text, from `start` to `stop`, with padding for reading words."""

    text: bytearray
    start: int
    stop: int


class _ParsedChunk(NamedTuple):
    """A parsed chunk: its rows, with its own number of columns, its number of lines, and the line of the first row.

    It `is_too_low` if an index is 0 in a file that counts from 1.
    """

    rows: Rows
    labels: NDArray[np.float64]
    lines: int
    first: int
    is_too_low: bool


class _Trouble(NamedTuple):
    """An error in a chunk: its line, and the message."""

    line: int
    message: str


def _parsed(chunk: TextChunk, lowest: int) -> _ParsedChunk | _Trouble:
    """Parse the examples of a chunk, and copy them out of the larger arrays they are parsed into."""
    text, start, stop = chunk
    into = room_for(stop)
    parsed = parse(np.frombuffer(text, dtype=np.uint8), start, stop, into)
    trouble = _settle_what_waits(text, parsed, into) or _trouble(text, parsed.error, parsed.place)
    if trouble:
        place, message = trouble
        return _Trouble(text.count(NEWLINE, 0, place) + 1, message)
    indices, is_too_low = into.indices[: parsed.entries].copy(), False
    if lowest and parsed.entries:
        is_too_low = bool(indices.min() < lowest)
        indices -= np.uint32(lowest)
    n_columns = int(indices.max()) + 1 if parsed.entries else 0
    rows = csr_rows(into.data[: parsed.entries].copy(), indices, into.indptr[: parsed.rows + 1].copy(), n_columns)
    return _ParsedChunk(rows, into.labels[: parsed.rows].copy(), parsed.lines, parsed.first, is_too_low)


def counts_from_one(rows: Rows) -> bool:
    """Whether no index is 0, for rows whose columns are their indices."""
    return bool(rows.matrix.indices.all())


def _whole_lines(stream: BinaryIO, name: str, chunk_bytes: int) -> Iterator[TextChunk]:
    """Yield a text in chunks of whole lines, each in its own buffer."""
    text, filled, is_first = bytearray(chunk_bytes + PADDING), 0, True
    while True:
        if filled + PADDING == len(text):
            if filled > LONGEST_LINE:
                raise ValueError(f"{name} has a line of more than {LONGEST_LINE:,} bytes; is it svmlight text?")
            text = text[:filled] + bytearray(filled + PADDING)
        count = _read(stream, name, memoryview(text)[filled : len(text) - PADDING])
        if count == 0:
            break
        end = text.rfind(NEWLINE, filled, filled + count) + 1
        filled += count
        if end:
            rest = text[end:filled]
            yield TextChunk(text, _begin(text) if is_first else 0, end)
            text, filled, is_first = rest + bytearray(max(chunk_bytes - len(rest), 0) + PADDING), len(rest), False
    if filled:
        text[filled : filled + 1] = NEWLINE
        yield TextChunk(text, _begin(text) if is_first else 0, filled + 1)


def _begin(text: bytearray) -> int:
    """Return where a text begins: after a byte order mark."""
    return len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0


def _read(stream: Any, name: str, into: memoryview) -> int:
    try:
        return int(stream.readinto(into))
    except (OSError, EOFError) as error:
        raise OSError(f"{name} could not be read to its end: {error}") from error


def _settle_what_waits(text: bytearray, parsed: Parsed, into: Lines) -> tuple[int, str] | None:
    """Parse numbers with many digits by `float`; return the place and the message if one overflows."""
    for start, stop, slot in into.waiting[: parsed.waiting].tolist():
        value = float(text[start:stop].split(b":")[-1])
        if math.isinf(value):
            return _trouble(text, BAD_LABEL if slot < 0 else BAD_PAIR, start)
        if slot < 0:
            into.labels[-1 - slot] = value
        else:
            into.data[slot] = value
    return None


# -- what is wrong ----------------------------------------------------------------------------------------------------


def _trouble(text: bytearray, error: int, place: int) -> tuple[int, str] | None:
    """Return the place of an error and its message; None if there is none."""
    if error == FINE:
        return None
    token = bytes(TOKEN.match(text, place)[0])  # type: ignore[index]
    if control := CONTROL_CHARACTER.search(token):
        return place, (
            f"{_shown(token)} has the control character {control[0].decode()!r}; lines end with LF or CRLF, blanks and "
            "tabs separate, and compressed text must be decompressed first"
        )
    if error == NOT_ASCENDING:
        return place, _what_is_wrong_with_the_order(text[text.rfind(NEWLINE, 0, place) + 1 : place], token)
    if error == BAD_LABEL:
        return place, _what_is_wrong_with_a_label(token)
    return place, _what_is_wrong_with_a_pair(token, error == BAD_QUERY)


def _shown(token: bytes) -> str:
    return repr((token if len(token) <= 60 else token[:57] + b"...").decode(errors="backslashreplace"))


def _what_is_wrong_with_the_order(before: bytearray, token: bytes) -> str:
    previous, index = int(before.split()[-1].split(b":")[0]), int(token.split(b":")[0])
    if previous == index:
        return f"index {index} occurs twice; keep one of the two pairs"
    return f"index {index} comes after index {previous}; sort the pairs of a line by index"


def _what_is_wrong_with_a_label(token: bytes) -> str:
    if b":" in token:
        return f"the label is missing before {_shown(token)}; begin the line with one"
    if b"," in token:
        return f"{_shown(token)} are several labels; an example has one here, so write a file for each label"
    return _what_is_wrong_with_a_number(f"the label {_shown(token)}", token)


def _what_is_wrong_with_a_pair(token: bytes, in_front: bool) -> str:
    index, colon, value = token.partition(b":")
    if index == b"qid":
        if in_front:
            return f"{_shown(token)} is not a query; write qid: and a whole number, or omit it"
        return f"{_shown(token)} is misplaced; qid must follow the label"
    if not colon:
        return f"{_shown(token)} is not a pair; write index:value, or # before a comment"
    if not index.isdigit() or len(index) > MOST_DIGITS or int(index) > LARGEST_INDEX:
        return f"{_shown(token)} has no index from 0 to {LARGEST_INDEX}; number the features with whole numbers"
    return _what_is_wrong_with_a_number(f"the value of {_shown(token)}", value)


def _what_is_wrong_with_a_number(what: str, number: bytes) -> str:
    if not number:
        return f"{what} is missing; write a number, or omit the pair"
    if NOT_FINITE.fullmatch(number):
        return f"{what} is not finite; impute it, or drop the example"
    if DECIMAL.fullmatch(number):
        return f"{what} overflows float64; divide it by a power of ten"
    return f"{what} is not a decimal number such as -2, 0.5 or 1e-3"
