"""Sentences in columns, and their files.

Sentences are stored by column, because a tagger works on columns: one flat list of strings for each, and the offsets at
which sentences start. `data/conll.py` reads and writes them.
"""

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, overload

import numpy as np
from numpy.typing import NDArray

from novikoff.data.whole_file import WholeFile

Source = str | os.PathLike[str] | IO[str] | IO[bytes]

# The lines of a sentence that are not tokens: how many tokens come before one, and the line.
Asides = tuple[tuple[int, str], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Sentences:
    """Sentences as columns.

    `values` has one flat list for each of the `columns`, over the tokens of all sentences. Sentence i has the tokens
    from `starts[i]` up to `starts[i + 1]`, so there is one more offset than sentences. `asides` has the lines of a
    CoNLL-U file that are not tokens, sentence by sentence; it is empty for other files.

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
    asides: tuple[Asides, ...] = ()

    def __post_init__(self) -> None:
        if not self.columns or set(self.columns) != set(self.values) or len(self.columns) != len(self.values):
            raise ValueError(f"columns {self.columns} and values of {tuple(self.values)}: name each column once")
        if len(self.starts) == 0 or self.starts[0] != 0 or np.any(np.diff(self.starts) < 0):
            raise ValueError("starts are offsets of tokens: the first is 0, and none is less than the one before it")
        for name, values in self.values.items():
            if len(values) != self.n_tokens:
                raise ValueError(f"column {name!r} has {len(values)} values, but there are {self.n_tokens} tokens")
        if self.asides and len(self.asides) != len(self):
            raise ValueError(f"asides of {len(self.asides)} sentences, but there are {len(self)}")

    @classmethod
    def from_lists(cls, columns: Mapping[str, Sequence[Sequence[str]]]) -> "Sentences":
        """Make sentences from columns that are lists by sentence."""
        first = next(iter(columns.values()), ())
        starts = np.cumsum([0, *map(len, first)], dtype=np.int64)
        return cls(tuple(columns), {name: _flat(name, lists, starts) for name, lists in columns.items()}, starts)

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all sentences."""
        return int(self.starts[-1])

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Where each sentence starts and stops."""
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
        """Return some of the sentences, by number."""
        bounds = self.bounds
        parts = [bounds[number] for number in numbers]
        values = {
            name: [held[i] for start, stop in parts for i in range(start, stop)] for name, held in self.values.items()
        }
        starts = np.cumsum([0, *(stop - start for start, stop in parts)], dtype=np.int64)
        return Sentences(self.columns, values, starts, tuple(self.asides[number] for number in numbers if self.asides))

    def column(self, name: str) -> list[list[str]]:
        """Return one column, as a list for each sentence."""
        if name not in self.values:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(self.columns)}")
        values = self.values[name]
        return [values[start:stop] for start, stop in self.bounds]

    def comments(self, number: int) -> list[str]:
        """Return the comment lines of one sentence of a CoNLL-U file."""
        return [line for _, line in self.asides[number] if line.startswith("#")] if self.asides else []

    def with_columns(self, columns: Mapping[str, Sequence[Sequence[str]]]) -> "Sentences":
        """Return the same sentences with additional columns (lists by sentence), or new values of existing ones."""
        new = {name: _flat(name, lists, self.starts) for name, lists in columns.items()}
        values = self.values | new
        return Sentences(tuple(values), values, self.starts, self.asides)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sentences):
            return NotImplemented
        same_tokens = self.columns == other.columns and self.values == other.values
        return same_tokens and np.array_equal(self.starts, other.starts) and self.asides == other.asides

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


def check_writable(sentences: Sentences, forbidden: str, may_be_empty: bool) -> None:
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
