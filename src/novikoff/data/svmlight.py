"""svmlight (LIBSVM) text, read batch by batch.

A line is `label [qid:number] index:value index:value ... [# comment]`:

- The label and the values are finite decimal numbers, parsed to exactly the float64 that Python's `float` returns.
- An index is a whole number from 0 to 2^32 - 1, and the indices of a line ascend. The column of a feature is its index,
  or one less in a file that counts from 1.
- An explicit value of 0 is kept as an entry; a query (`qid`) is checked and ignored.
- Blanks and tabs separate; lines end with LF or CRLF, optional on the last; empty lines, comments and a byte order mark
  are skipped. Any other control character outside a comment is an error.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from novikoff.data.batches import Batch
from novikoff.engine.ahead import ahead
from novikoff.engine.rows import csr_rows
from novikoff.engine.text import (
    BAD_LABEL,
    BAD_PAIR,
    BAD_QUERY,
    FINE,
    LARGEST_INDEX,
    NOT_ASCENDING,
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
    lines = n_columns = 0
    try:
        chunks = _whole_lines(stream, name, chunk_bytes)
        for batch, more_lines in ahead(lambda chunk: _parsed(chunk, name, zero_based), chunks, n_jobs):
            if batch.rows.n_rows:
                n_columns = max(n_columns, batch.rows.n_columns)
                yield replace(batch, rows=replace(batch.rows, n_columns=n_columns), line=lines + batch.line)
            lines += more_lines
    except _BadLineError as error:
        line, why = error.args
        raise ValueError(f"{name}, line {lines + line}: {why}") from None


class _BadLineError(ValueError):
    """A line of a chunk is malformed: its number in the chunk, from 1, and why."""


class TextChunk(NamedTuple):
    """Whole lines of a text, from `start` to `stop`."""

    text: bytearray
    start: int
    stop: int


def _parsed(chunk: TextChunk, name: str, zero_based: bool) -> tuple[Batch, int]:
    """Parse the examples of a chunk, and copy them out of the larger arrays they are parsed into.

    Returns them, with the line of the first, and the number of lines.
    """
    text, start, stop = chunk
    into = room_for(stop)
    parsed = parse(np.frombuffer(text, dtype=np.uint8), start, stop, into)
    _settle_what_waits(text, parsed, into)
    if parsed.error != FINE:
        raise _malformed(text, parsed.error, parsed.place)
    indices = into.indices[: parsed.entries].copy()
    if not zero_based and parsed.entries:
        if not indices.all():
            raise ValueError(f"{name} has the index 0, but zero_based=False says that it counts from 1; omit that")
        indices -= np.uint32(1)
    n_columns = int(indices.max()) + 1 if parsed.entries else 0
    rows = csr_rows(into.data[: parsed.entries].copy(), indices, into.indptr[: parsed.rows + 1].copy(), n_columns)
    return Batch(rows, into.labels[: parsed.rows].copy(), name, parsed.first + 1), parsed.lines


def _whole_lines(stream: BinaryIO, name: str, chunk_bytes: int) -> Iterator[TextChunk]:
    """Yield a text in chunks of whole lines, each in its own buffer."""
    text, filled, mark = bytearray(chunk_bytes), 0, BYTE_ORDER_MARK
    while True:
        if filled == len(text):
            if filled > LONGEST_LINE:
                raise ValueError(f"{name} has a line of more than {LONGEST_LINE:,} bytes; is it svmlight text?")
            text = text + bytearray(filled)
        count = _read(stream, name, memoryview(text)[filled:])
        if count == 0:
            break
        end = text.rfind(NEWLINE, filled, filled + count) + 1
        filled += count
        if end:
            rest = text[end:filled]
            yield TextChunk(text, len(mark) if text.startswith(mark) else 0, end)
            text, filled, mark = rest + bytearray(max(chunk_bytes - len(rest), 0)), len(rest), b""
    if filled:
        text[filled : filled + 1] = NEWLINE
        yield TextChunk(text, len(mark) if text.startswith(mark) else 0, filled + 1)


def _read(stream: Any, name: str, into: memoryview) -> int:
    try:
        return int(stream.readinto(into))
    except (OSError, EOFError) as error:
        raise OSError(f"{name} could not be read to its end: {error}") from error


def _settle_what_waits(text: bytearray, parsed: Parsed, into: Lines) -> None:
    """Parse numbers with many digits by `float`."""
    for start, stop, slot in into.waiting[: parsed.waiting].tolist():
        value = float(text[start:stop].split(b":")[-1])
        if math.isinf(value):
            raise _malformed(text, BAD_LABEL if slot < 0 else BAD_PAIR, start)
        if slot < 0:
            into.labels[-1 - slot] = value
        else:
            into.data[slot] = value


def _malformed(text: bytearray, error: int, place: int) -> _BadLineError:
    """Return an error with the line, the text and the remedy."""
    token = bytes(TOKEN.match(text, place)[0])  # type: ignore[index]
    shown = repr((token if len(token) <= 60 else token[:57] + b"...").decode(errors="backslashreplace"))
    if control := CONTROL_CHARACTER.search(token):
        why = (
            f"{shown} has the control character {control[0].decode()!r}; lines end with LF or CRLF, blanks and tabs "
            "separate, and compressed text must be decompressed first"
        )
    elif error == NOT_ASCENDING:
        previous = text[text.rfind(NEWLINE, 0, place) + 1 : place].split()[-1]
        after, index = int(previous.split(b":")[0]), int(token.split(b":")[0])
        why = f"index {index} comes after index {after}; sort the pairs of a line by index, and keep one of each"
    elif error == BAD_LABEL:
        why = (
            f"{shown} is not a label; a line begins with one, a decimal number in the range of float64, such as -2, "
            "0.5 or 1e-3"
        )
    elif error == BAD_QUERY or token.startswith(b"qid:"):
        why = f"{shown} is misplaced or not a query; write qid: and a whole number after the label, or omit it"
    else:
        why = (
            f"{shown} is not a pair index:value, with a whole number from 0 to {LARGEST_INDEX} and a decimal number in "
            "the range of float64, such as -2, 0.5 or 1e-3; impute or omit missing values, and write # before comments"
        )
    return _BadLineError(text.count(NEWLINE, 0, place) + 1, why)
