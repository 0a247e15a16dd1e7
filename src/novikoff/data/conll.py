"""The CoNLL shared tasks' files: one token a line, its columns side by side, an empty line after each sentence."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from novikoff.data.sentences import Sentences, Source, check_writable, read_text, shown, write_text

# How many characters are taken apart at once.
BLOCK = 1 << 18


def read_conll(
    source: Source,
    columns: Sequence[str] = ("word", "pos", "chunk"),
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Sentences:
    """Sentences from a file, plain or gzipped, or from a stream.

    `separator` is what stands between columns: any run of blanks and tabs (None), or exactly one character, such as
    a tab, so that values may contain blanks or be empty. Lines that begin with `comment` are left out; by default none
    are, because # is a token like any other (CoNLL-2000 has it). So are -DOCSTART- lines: one-token sentences.

    >>> import io
    >>> sentences = read_conll(io.StringIO("He PRP B-NP\\nruns VBZ B-VP\\n\\nStop VB B-VP\\n"))
    >>> sentences.column("chunk")
    [['B-NP', 'B-VP'], ['B-VP']]
    """
    _check_separator(separator)
    if isinstance(columns, str) or not columns or len(set(columns)) != len(columns):
        raise ValueError(f"columns={columns!r}; name each column of the file once, as in ('word', 'pos', 'chunk')")
    text, file = read_text(source)
    kept = None
    if comment:
        lines = text.split("\n")
        kept = [number for number, line in enumerate(lines) if not line.startswith(comment)]
        text = "\n".join(lines[number] for number in kept)

    n_fields = _fields_by_line(text, separator)
    wrong = np.flatnonzero((n_fields != 0) & (n_fields != len(columns)))
    if len(wrong):
        index = int(wrong[0])
        raise ValueError(
            f"{file}, line {1 + (kept[index] if kept else index)}: {n_fields[index]} columns, but {len(columns)} were "
            f"expected ({', '.join(columns)}), in {shown(text.split(chr(10))[index])}; correct the line, or say with "
            f"columns= what the file has and with separator= what stands between (now {separator!r})"
        )
    fields = _fields(text, separator)
    values = {name: fields[index :: len(columns)] for index, name in enumerate(columns)}
    return Sentences(tuple(columns), values, _sentence_starts(n_fields > 0))


def write_conll(
    target: Source,
    sentences: Sentences,
    extra: Mapping[str, Sequence[Sequence[str]]] | None = None,
    *,
    separator: str | None = None,
) -> None:
    """Write sentences so that `read_conll`, with the same separator and the names of all columns, returns them.

    `extra` are columns to add at the right (lists by sentence), such as a tagger's predictions. With no separator a
    blank is written. A path is written to the end before it gets its name, gzipped if it ends in .gz.

    >>> import io
    >>> stream = io.StringIO()
    >>> write_conll(stream, Sentences.from_lists({"word": [["He", "runs"]]}), {"pos": [["PRP", "VBZ"]]})
    >>> stream.getvalue()
    'He PRP\\nruns VBZ\\n\\n'
    """
    _check_separator(separator)
    sentences = sentences.with_columns(extra or {})
    check_writable(
        sentences,
        forbidden="\n\r" + (" \t" if separator is None else separator),
        may_be_empty=separator is not None and len(sentences.columns) > 1,
    )
    rows = zip(*(sentences.values[name] for name in sentences.columns), strict=True)
    lines = list(map((separator or " ").join, rows))
    text = "".join("\n".join(lines[start:stop]) + "\n\n" for start, stop in sentences.bounds)
    if text.startswith("\ufeff"):
        raise ValueError("the first value begins with U+FEFF, which a reader takes for a byte order mark; remove it")
    write_text(target, text)


def _check_separator(separator: str | None) -> None:
    if separator is not None and (len(separator) != 1 or separator in "\n\r" or not separator.isascii()):
        raise ValueError(
            f"separator={separator!r}; it is one ASCII character, such as a tab, or None for any run of blanks and tabs"
        )


def _fields(text: str, separator: str | None) -> list[str]:
    """All fields, one after the other. Equal ones are one object, and so take a tenth of the memory."""
    fields: list[str] = []
    same: dict[str, str] = {}
    for first, last in _blocks(text):
        block = text[first:last]
        if separator is None:
            found = list(filter(None, block.replace("\n", " ").replace("\t", " ").split(" ")))
        else:
            lines = list(filter(None, block.split("\n")))
            found = separator.join(lines).split(separator) if lines else []
        fields.extend(map(same.setdefault, found, found))
    return fields


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where blocks of whole lines begin and end."""
    first = 0
    while first < len(text):
        last = text.find("\n", first + BLOCK) + 1 or len(text)
        yield first, last
        first = last


def _fields_by_line(text: str, separator: str | None) -> NDArray[np.int64]:
    """How many fields each line has; 0 for an empty one."""
    data = np.frombuffer(f"{text}\n".encode(errors="surrogatepass"), dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    if separator is not None:
        return np.add.reduceat(data == ord(separator), starts, dtype=np.int64) + (ends > starts)
    blank = (data == ord(" ")) | (data == ord("\t")) | (data == ord("\n"))
    begins = ~blank
    begins[1:] &= blank[:-1]
    return np.add.reduceat(begins, starts, dtype=np.int64)


def _sentence_starts(is_token: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Offsets of tokens at which sentences start, from which lines are tokens; the number of tokens last."""
    before = np.append(False, is_token[:-1])
    tokens_before = np.cumsum(is_token, dtype=np.int64) - is_token
    return np.append(tokens_before[is_token & ~before], np.int64(is_token.sum()))
