"""Sentences in columns, and their files: those of the CoNLL shared tasks, plain text, and CoNLL-U.

Sentences are stored by column, because a tagger works on columns: one flat list of strings for each, and the offsets at
which sentences start. The files of the CoNLL shared tasks have one token a line, its columns side by side, and an empty
line after each sentence.
"""

import gzip
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, overload

import numpy as np
from numpy.typing import NDArray

from novikoff.data.whole_file import WholeFile

Source = str | os.PathLike[str] | IO[str] | IO[bytes]

# The default names of columns, if there are two of them, and otherwise; and those of CoNLL-U.
TWO_COLUMNS, COLUMNS = ("word", "label"), ("word", "pos", "chunk")
CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

# The lines of CoNLL-U that are not words: comments, multiword tokens (3-4) and empty nodes (5.1).
NOT_WORDS = re.compile(r"#|\d+[-.]\d+\t")

# How many characters are split at a time.
BLOCK = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class Sentences:
    """Sentences as columns.

    `values` has one flat list for each of the `columns`, over the tokens of all sentences. Sentence i has the tokens
    from `starts[i]` up to `starts[i + 1]`, so there is one more offset than sentences.

    >>> sentences = Sentences.from_lists({"word": [["He", "runs"], ["Stop"]], "pos": [["PRP", "VBZ"], ["VB"]]})
    >>> sentences
    Sentences(2 sentences, 3 tokens, columns word, pos)
    >>> sentences[0]
    {'word': ['He', 'runs'], 'pos': ['PRP', 'VBZ']}
    >>> sentences.column("pos")
    [['PRP', 'VBZ'], ['VB']]
    >>> sentences.values["word"], sentences.starts.tolist()
    (['He', 'runs', 'Stop'], [0, 2, 3])
    """

    columns: tuple[str, ...]
    values: dict[str, list[str]]
    starts: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not self.columns or set(self.columns) != set(self.values) or len(self.columns) != len(self.values):
            raise ValueError(f"columns {self.columns} and values of {tuple(self.values)}: name each column once")
        if len(self.starts) == 0 or self.starts[0] != 0 or np.any(np.diff(self.starts) < 0):
            raise ValueError("starts are offsets of tokens: the first is 0, and none is less than the one before it")
        for name, values in self.values.items():
            if len(values) != self.n_tokens:
                raise ValueError(f"column {name!r} has {len(values)} values, but there are {self.n_tokens} tokens")

    @classmethod
    def from_lists(cls, columns: Mapping[str, Sequence[Sequence[str]]]) -> "Sentences":
        first = next(iter(columns.values()), ())
        starts = np.cumsum([0, *map(len, first)], dtype=np.int64)
        return cls(tuple(columns), {name: _flat(name, lists, starts) for name, lists in columns.items()}, starts)

    @property
    def n_tokens(self) -> int:
        return int(self.starts[-1])

    @property
    def bounds(self) -> list[tuple[int, int]]:
        return list(pairwise(self.starts.tolist()))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[dict[str, list[str]]]:
        return (self[number] for number in range(len(self)))

    @overload
    def __getitem__(self, which: int) -> dict[str, list[str]]: ...
    @overload
    def __getitem__(self, which: slice) -> "Sentences": ...
    def __getitem__(self, which: int | slice) -> "dict[str, list[str]] | Sentences":
        """Return one sentence as a dictionary of its columns, or a slice of sentences."""
        if isinstance(which, slice):
            return self.some(range(*which.indices(len(self))))
        number = which + len(self) if which < 0 else which
        if not 0 <= number < len(self):
            raise IndexError(f"there is no sentence {which}: there are {len(self)}")
        start, stop = self.starts[number], self.starts[number + 1]
        return {name: self.values[name][start:stop] for name in self.columns}

    def some(self, numbers: Sequence[int]) -> "Sentences":
        bounds = self.bounds
        parts = [bounds[number] for number in numbers]
        values = {
            name: [held[i] for start, stop in parts for i in range(start, stop)] for name, held in self.values.items()
        }
        starts = np.cumsum([0, *(stop - start for start, stop in parts)], dtype=np.int64)
        return Sentences(self.columns, values, starts)

    def column(self, name: str) -> list[list[str]]:
        if name not in self.values:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(self.columns)}")
        values = self.values[name]
        return [values[start:stop] for start, stop in self.bounds]

    def with_columns(self, columns: Mapping[str, Sequence[Sequence[str]]]) -> "Sentences":
        """Return the same sentences with additional columns (lists by sentence), or new values of existing ones."""
        new = {name: _flat(name, lists, self.starts) for name, lists in columns.items()}
        values = self.values | new
        return Sentences(tuple(values), values, self.starts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sentences):
            return NotImplemented
        same_tokens = self.columns == other.columns and self.values == other.values
        return same_tokens and np.array_equal(self.starts, other.starts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Sentences({len(self):,} sentences, {self.n_tokens:,} tokens, columns {', '.join(self.columns)})"


def _flat(name: str, lists: Sequence[Sequence[str]], starts: NDArray[np.int64]) -> list[str]:
    lengths = np.diff(starts).tolist()
    if len(lists) != len(lengths):
        raise ValueError(f"column {name!r} is for {len(lists)} sentences, but there are {len(lengths)}")
    for number, (values, length) in enumerate(zip(lists, lengths, strict=True)):
        if len(values) != length:
            raise ValueError(
                f"column {name!r} has {len(values)} values in sentence {number} (counting from 0), which has {length} "
                "tokens; every token needs one value"
            )
    return list(chain.from_iterable(lists))


def read_conll(
    source: Source,
    columns: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Sentences:
    """Read sentences from a file, plain or gzipped, or from a stream.

    `columns` are the names of its columns; by default word and label if there are two, else word, pos and chunk.
    `separator` separates columns: any run of blanks and tabs (None), or exactly one character, such as a tab. Lines
    that begin with `comment` are skipped; by default none are, because # is a token like any other.

    >>> import io
    >>> sentences = read_conll(io.StringIO("He PRP B-NP\\nruns VBZ B-VP\\n\\nStop VB B-VP\\n"))
    >>> sentences.column("chunk")
    [['B-NP', 'B-VP'], ['B-VP']]
    """
    return _parsed(*read_text(source), columns, separator, _beginning(comment))


def read_conllu(source: Source) -> Sentences:
    """Read sentences from a CoNLL-U file, plain or gzipped, or from a stream: its ten columns, of words only.

    Comments, multiword tokens (3-4) and empty nodes (5.1) are skipped.

    >>> import io
    >>> line = "1 Stop stop VERB VB _ 0 root _ _".replace(" ", chr(9))
    >>> read_conllu(io.StringIO(f"# text = Stop\\n{line}\\n\\n")).column("upos")
    [['VERB']]
    """
    text, file = read_text(source)
    sentences = _parsed(text, file, CONLLU_COLUMNS, "\t", NOT_WORDS)
    ids = (str(number) for start, stop in sentences.bounds for number in range(1, stop - start + 1))
    for place, (number, word) in enumerate(zip(ids, zip(*sentences.values.values(), strict=True), strict=True)):
        if word[0] != number or "" in word:
            kept, lines = _without(NOT_WORDS, text)
            words = [at for at, line in zip(lines, kept.split("\n"), strict=True) if line]
            raise ValueError(
                f"{file}, line {1 + words[place]}: the columns of this word are {shown(' '.join(word))}; in CoNLL-U "
                f"none is empty (write _), and ids count from 1 in every sentence, so here the id is {number}; put an "
                "empty line between sentences"
            )
    return sentences


def read_to_label(
    source: Source,
    columns: Sequence[str],
    labels: Collection[str],
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Sentences:
    """Read sentences for a model with these columns and labels: from a CoNLL file, with its labels or without.

    If only words are needed, the file may be plain text: a sentence a line, or a token a line. Lines of two words are a
    word and its label if the second is always a label.

    >>> import io
    >>> read_to_label(io.StringIO("He runs .\\nStop !\\n"), ("word",), {"NOUN", "VERB"}).column("word")
    [['He', 'runs', '.'], ['Stop', '!']]
    """
    text, file = read_text(source)
    kept, _ = _without(_beginning(comment), text)
    n_fields = _fields_by_line(kept, separator)
    lengths = n_fields[n_fields > 0]
    if separator is None and len(columns) == 1 and np.any(lengths != 1):
        fields = _fields(kept, None)
        if np.any(lengths != 2) or not set(fields[1::2]) <= set(labels):
            return Sentences(tuple(columns), {columns[0]: fields}, np.append(0, np.cumsum(lengths)))
    is_bare = not len(lengths) or lengths[0] == len(columns)
    return _parsed(text, file, columns if is_bare else (*columns, "label"), separator, _beginning(comment))


def _parsed(
    text: str, file: str, columns: Sequence[str] | None, separator: str | None, skipped: re.Pattern[str] | None
) -> Sentences:
    _check_separator(separator)
    if columns is not None and (isinstance(columns, str) or not columns or len(set(columns)) != len(columns)):
        raise ValueError(f"columns={columns!r}; name each column of the file once, as in ('word', 'pos', 'chunk')")
    text, kept = _without(skipped, text)
    n_fields = _fields_by_line(text, separator)
    if columns is None:
        columns = TWO_COLUMNS if next(iter(n_fields[n_fields > 0]), 0) == 2 else COLUMNS
    wrong = np.flatnonzero((n_fields != 0) & (n_fields != len(columns)))
    if len(wrong):
        index = int(wrong[0])
        raise ValueError(
            f"{file}, line {1 + kept[index]}: {n_fields[index]} columns, but {len(columns)} were "
            f"expected ({', '.join(columns)}), in {shown(text.split(chr(10))[index])}; correct the line, or say with "
            f"columns= what the file has and with separator= the separator (now {separator!r})"
        )
    fields = _fields(text, separator)
    values = {name: fields[index :: len(columns)] for index, name in enumerate(columns)}
    return Sentences(tuple(columns), values, _sentence_starts(n_fields > 0))


def _beginning(comment: str | None) -> re.Pattern[str] | None:
    return re.compile(re.escape(comment)) if comment else None


def _without(skipped: re.Pattern[str] | None, text: str) -> tuple[str, Sequence[int]]:
    """Return a text without the lines that begin with what is skipped, and the numbers of its lines, from 0."""
    if skipped is None:
        return text, range(text.count("\n") + 1)
    lines = text.split("\n")
    kept = [number for number, line in enumerate(lines) if not skipped.match(line)]
    return "\n".join(lines[number] for number in kept), kept


def write_conll(
    target: Source,
    sentences: Sentences,
    extra: Mapping[str, Sequence[Sequence[str]]] | None = None,
    *,
    separator: str | None = None,
) -> None:
    """Write sentences so that `read_conll`, with the same separator and the names of all columns, returns them.

    `extra` are columns to add at the right (lists by sentence), such as a tagger's predictions. The default separator
    is a blank. A file gets its name only when it is complete, and is gzipped if the name ends in .gz.

    >>> import io
    >>> stream = io.StringIO()
    >>> write_conll(stream, Sentences.from_lists({"word": [["He", "runs"]]}), {"pos": [["PRP", "VBZ"]]})
    >>> stream.getvalue()
    'He PRP\\nruns VBZ\\n\\n'
    """
    _check_separator(separator)
    sentences = sentences.with_columns(extra or {})
    _check_writable(sentences, separator)
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
    """Return all fields in order. Equal ones are one object, which saves nine tenths of the memory."""
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
    """Yield where blocks of whole lines begin and end."""
    first = 0
    while first < len(text):
        last = text.find("\n", first + BLOCK) + 1 or len(text)
        yield first, last
        first = last


def _fields_by_line(text: str, separator: str | None) -> NDArray[np.int64]:
    """Return the number of fields of each line; 0 for an empty one."""
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
    """Return the token offsets at which sentences start, given which lines are tokens; the number of tokens last."""
    before = np.append(False, is_token[:-1])
    tokens_before = np.cumsum(is_token, dtype=np.int64) - is_token
    return np.append(tokens_before[is_token & ~before], np.int64(is_token.sum()))


def _check_writable(sentences: Sentences, separator: str | None) -> None:
    forbidden = "\n\r" + (" \t" if separator is None else separator)
    may_be_empty = separator is not None and len(sentences.columns) > 1
    empty = np.flatnonzero(np.diff(sentences.starts) == 0)
    if len(empty):
        raise ValueError(f"sentence {empty[0]} (counting from 0) has no tokens, and a file cannot say so; omit it")
    for name in sentences.columns:
        for value in set(sentences.values[name]):
            if not isinstance(value, str) or not (value or may_be_empty) or any(mark in value for mark in forbidden):
                token = sentences.values[name].index(value)
                number = int(np.searchsorted(sentences.starts, token, side="right")) - 1
                raise ValueError(
                    f"column {name!r} has the value {value!r} in sentence {number} (counting from 0): a value is text, "
                    f"without {', '.join(map(repr, forbidden))}{'' if may_be_empty else ', and not empty'}; replace "
                    "it, or choose another separator"
                )


def shown(line: str) -> str:
    return repr(line if len(line) <= 60 else f"{line[:60]}...")


def read_text(source: Source) -> tuple[str, str]:
    """Return the text, with \\n as line ends and without byte order mark, and a name for errors."""
    if hasattr(source, "read"):
        file, data = str(getattr(source, "name", "the stream")), source.read()
    else:
        file, data = os.fspath(source), Path(source).read_bytes()
    if isinstance(data, bytes):
        data = _decoded(data, file)
    return data.removeprefix("\ufeff").replace("\r\n", "\n"), file


def _decoded(data: bytes, file: str) -> str:
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise OSError(f"{file} is a gzip file that cannot be unpacked ({error}); it may be cut off") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{file}, line {line}: the byte 0x{data[error.start]:02x} is not UTF-8; convert the file to UTF-8, or pass "
            "a stream opened with its encoding, as in open(path, encoding='latin-1')"
        ) from error


def write_text(target: Source, text: str) -> None:
    """Write to a stream, or to a path, which keeps its old content until the new is complete."""
    if hasattr(target, "write"):
        stream: Any = target
        # Text streams have an attribute `encoding` (None for io.StringIO), byte streams have none.
        stream.write(text if hasattr(stream, "encoding") else text.encode())
        return
    data = text.encode()
    with WholeFile(target) as file:
        file.write(gzip.compress(data, mtime=0) if file.path.suffix == ".gz" else data)
