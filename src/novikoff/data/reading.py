"""Reading a data set from files: examples in pieces, in bounded memory, as often as a learner wants to pass over them.

Tables (CSV, TSV, JSON lines, Parquet, Arrow) come as `Records`, named columns that an encoding turns into numbers;
svmlight text comes as a `Batch`, which has numbers already. Text may be compressed by gzip or zstd.
"""

import glob
import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from novikoff.data import columnar, delimited, jsonlines
from novikoff.data.batches import Batch, Records
from novikoff.data.frames import FrameReader, is_frame, read_frame
from novikoff.data.streams import (
    STANDARD_INPUT,
    PeekableStream,
    Source,
    check_is_file,
    compression,
    decompressed,
    first_line,
    need_pyarrow,
    reading,
    spooled,
    standard_input,
)
from novikoff.data.tables import BLOCK_BYTES, Block, check_label, joined_type, nearest, records_of

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight")
_EXTENSIONS = {kind: kind for kind in FORMATS} | {
    "tab": "tsv",
    "ndjson": "jsonl",
    "jsonlines": "jsonl",
    "pq": "parquet",
    "feather": "arrow",
    "ipc": "arrow",
    "arrows": "arrow",
    "svm": "svmlight",
    "libsvm": "svmlight",
}
_COMPRESSIONS = (".gz", ".zst", ".zstd")


class _Found:
    """What a reader has found out so far."""

    def __init__(self, stream: PeekableStream | None) -> None:
        self.types: dict[str, pa.DataType] | None = None
        self.stamps: dict[str, tuple[int, int]] = {}
        self.stream = stream  # standard input, until it is used
        self.spool: str | None = None


@dataclass(frozen=True)
class Reader:
    """A data set in files. Iterate over it as often as you like; each pass opens the files anew.

    `types` are the types of the columns (`{"weight": "double"}`), where they are known beforehand; then only these
    columns are read, and not the whole file first to find them out. Standard input can be passed over once if its types
    are known or it is svmlight text. Otherwise it is copied to a temporary file first.
    `watch` is called with the number of examples of every piece that was used.
    """

    files: tuple[str, ...]
    formats: tuple[str, ...]
    label: str | None = None
    types: Mapping[str, str] | None = None
    block_bytes: int = BLOCK_BYTES
    watch: Callable[[int], None] | None = field(default=None, repr=False, compare=False)
    _found: _Found = field(default_factory=lambda: _Found(None), repr=False, compare=False)

    @property
    def is_table(self) -> bool:
        """Whether there are columns with names, which need an encoding."""
        return self.formats[0] != "svmlight"

    @property
    def column_types(self) -> dict[str, str]:
        """The type of every column that is read, the label's too, by its name."""
        return {name: str(kind) for name, kind in self._types().items()}

    def __iter__(self) -> Iterator[Any]:
        return self._watched(self._records()) if self.is_table else self._watched(self._batches())

    def _watched(self, items: Iterator[Any]) -> Iterator[Any]:
        """The same, and whoever watches is told how many examples have been used."""
        for item in items:
            yield item
            if self.watch is not None:
                self.watch(item.rows.n_rows if isinstance(item, Batch) else item.columns.num_rows)

    def _records(self) -> Iterator[Records]:
        n_records = 0
        types = self._types()
        for source in self._sources():
            for block in self._blocks(source, types):
                n_records += block.columns.num_rows
                yield records_of(block, source.name, self.label)
        if n_records == 0:
            raise ValueError(f"{_named(self.files)} has column names, but no records; add at least one")

    def _batches(self) -> Iterator[Batch]:
        from novikoff.data import svmlight

        if self._stdin:
            yield from svmlight.batches(decompressed(self._used_up()), "standard input")
            return
        for source in self._sources():
            with reading(source, self._found.stamps) as stream:
                yield from svmlight.batches(stream, source.name)

    def _blocks(self, source: Source, types: Mapping[str, "pa.DataType"]) -> Iterator[Block]:
        if source.format in ("parquet", "arrow"):
            with reading(source, self._found.stamps):
                yield from columnar.read_blocks(source, types, self.block_bytes)
            return
        parser = jsonlines if source.format == "jsonl" else delimited
        if self._stdin and self._found.spool is None:
            yield from parser.read_blocks(decompressed(self._used_up()), source, types, self.block_bytes)
            return
        with reading(source, self._found.stamps) as stream:
            yield from parser.read_blocks(stream, source, types, self.block_bytes)

    def _types(self) -> dict[str, "pa.DataType"]:
        """The types of the columns to read; found out in a pass of its own, once, if nobody has told them."""
        if not self.is_table:
            raise ValueError(f"{_named(self.files)} is svmlight text, which has no named columns")
        if self._found.types is None:
            import pyarrow as pa

            told = {name: pa.type_for_alias(kind) for name, kind in (self.types or {}).items()}
            only = None if self.types is None else {self.label} - told.keys() - {None}
            self._found.types = told if only == set() else told | self._all_types(only)
        return self._found.types

    def _all_types(self, only: Any) -> dict[str, "pa.DataType"]:
        import pyarrow as pa

        types: dict[str, pa.DataType] = {}
        sources = self._sources()
        as_text = all(source.format in ("csv", "tsv") for source in sources)
        for source in sources:
            found = self._types_of(source, only)
            if only is None:
                if self.label is not None and source.format != "jsonl":
                    check_label(self.label, found, source.name)
                _check_same_columns(found, types, source, sources[0])
            for name, kind in found.items():
                known = types.get(name, kind)
                joined = joined_type(known, kind, as_text=as_text)
                if joined is None:
                    raise ValueError(f"{source.name}: column {name!r} is {kind}, but {known} in the files before it")
                types[name] = joined
        if only is not None:
            return {name: types.get(name, pa.null()) for name in only}  # one that is not there is missed when read
        if self.label is not None:
            check_label(self.label, types, _named(self.files))
        return types

    def _types_of(self, source: Source, only: Any) -> dict[str, "pa.DataType"]:
        with reading(source, self._found.stamps) as stream:
            if source.format in ("parquet", "arrow"):
                return columnar.find_types(source, only)
            parser = jsonlines if source.format == "jsonl" else delimited
            found = parser.find_types(stream, source, only, self.block_bytes)
        if not found and only is None:
            raise ValueError(f"{source.name} is empty; it has no records")
        return found

    @property
    def _stdin(self) -> bool:
        return self.files == (STANDARD_INPUT,)

    def _sources(self) -> list[Source]:
        if not self._stdin:
            return [Source(path, path, kind) for path, kind in zip(self.files, self.formats, strict=True)]
        typed = self.types is not None and (self.label is None or self.label in self.types)
        if self._found.spool is None and not (typed and self.formats[0] in ("csv", "tsv", "jsonl")):
            self._found.spool = spooled(self._used_up())
            weakref.finalize(self._found, os.unlink, self._found.spool)
        return [Source(self._found.spool or STANDARD_INPUT, "standard input", self.formats[0])]

    def _used_up(self) -> PeekableStream:
        stream, self._found.stream = self._found.stream, None
        if stream is None:
            raise ValueError("standard input can be read only once; save it to a file, and read that")
        return stream


@overload
def read(
    path: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]",
    *,
    label: str | None = None,
    format: str | None = None,
    types: Mapping[str, str] | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Reader: ...


@overload
def read(
    path: Any, *, label: str | None = None, types: Mapping[str, str] | None = None, block_bytes: int = BLOCK_BYTES
) -> FrameReader: ...


def read(
    path: Any,
    *,
    label: str | None = None,
    format: str | None = None,
    types: Mapping[str, str] | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Reader | FrameReader:
    r"""A data set from a file, a pattern such as `cars-*.csv.gz`, a list of them, or from "-", which is standard input.

    A table of pandas, polars or pyarrow may stand in place of its file, and is read in the same way.

    `label` is the column with the labels (svmlight text has them without a name). `format` is one of csv, tsv, jsonl,
    parquet, arrow and svmlight; by default it follows from the name of the file, or else from its first bytes.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "cars.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("doors,year,manufacturer,sport\n4,1997,Quaky,yes\n0,1998,General Mess,no\n")
    ...     for records in read(path, label="sport"):
    ...         print(records.columns.to_pydict(), records.labels.tolist(), records.line)
    {'doors': [4, 0], 'year': [1997, 1998], 'manufacturer': ['Quaky', 'General Mess']} ['yes', 'no'] 2
    """
    if is_frame(path):
        if format is not None:
            raise ValueError(f"format={format!r} is for files; leave it out for a table in memory")
        return read_frame(path, label=label, types=types, block_bytes=_checked_size(block_bytes))
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; {nearest(format, FORMATS).replace('columns', 'choices')}")
    _checked_size(block_bytes)
    files = _files(path)
    stream = standard_input() if files == (STANDARD_INPUT,) else None
    formats = tuple(format or _format_of(file, stream) for file in files)
    if "svmlight" in formats and set(formats) != {"svmlight"}:
        raise ValueError(f"{_named(files)}: svmlight text and tables do not make one data set; read them apart")
    if formats[0] == "svmlight" and (label is not None or types is not None):
        raise ValueError("svmlight text has its labels and numbers in their places, without names; leave label= away")
    if formats[0] != "svmlight":
        need_pyarrow()
    return Reader(files, formats, label, types, block_bytes, None, _Found(stream))


def _checked_size(block_bytes: int) -> int:
    """A size of blocks that makes sense."""
    if block_bytes < 1:
        raise ValueError(f"block_bytes is {block_bytes}, but a block has at least one byte")
    return block_bytes


def _files(path: Any) -> tuple[str, ...]:
    if not isinstance(path, (str, os.PathLike)):
        if not isinstance(path, Iterable):
            what = "a data set is a file, a list of files, or a table of pandas, polars or pyarrow"
            raise TypeError(f"{what}, not {type(path).__name__}")
        files = tuple(file for part in path for file in _files(part))
        if not files:
            raise ValueError("the list of files is empty; name at least one")
        if STANDARD_INPUT in files and len(files) > 1:
            raise ValueError("standard input ('-') cannot be one of several files")
        return files
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        return (name,)
    if glob.has_magic(name) and not os.path.exists(name):
        matches = tuple(sorted(glob.glob(name, recursive=True)))
        if not matches:
            raise FileNotFoundError(f"no file matches the pattern {name}")
        return tuple(file for file in matches if not os.path.isdir(file)) or matches
    check_is_file(name)
    return (name,)


def _format_of(file: str, stream: PeekableStream | None) -> str:
    """From the name, or else from the first bytes."""
    name = file.lower()
    for ending in _COMPRESSIONS:
        name = name.removesuffix(ending)
    by_name = _EXTENSIONS.get(name.rpartition(".")[2])
    if by_name and stream is None:
        return by_name
    if stream is None:
        with reading(Source(file, file), {}) as opened:
            head = first_line(opened)
    else:
        head = b"" if compression(stream.look(4)) else first_line(stream)
    found = _sniffed(head)
    if found is None:
        what = "standard input" if stream is not None else file
        raise ValueError(f"the format of {what} does not show; pass format= one of {', '.join(FORMATS)}")
    return found


def _sniffed(head: bytes) -> str | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    line = head.lstrip(b"\xef\xbb\xbf \r\n").partition(b"\n")[0]
    if line.startswith(b"{"):
        return "jsonl"
    if re.match(rb"[-+.\w,]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?$", line):
        return "svmlight"
    if b"\t" in line:
        return "tsv"
    return "csv" if b"," in line or b";" in line else None


def _check_same_columns(found: Any, types: Any, source: Source, first: Source) -> None:
    """Files of one data set have the same columns, in whatever order. In JSON lines any key may be missing."""
    if not types or "jsonl" in (source.format, first.format):
        return
    for name in types:
        if name not in found:
            raise ValueError(f"{source.name} has no column {name!r}, but {first.name} has; {nearest(name, found)}")
    for name in found:
        if name not in types:
            raise ValueError(f"{source.name} has a column {name!r}, but {first.name} has not; {nearest(name, types)}")


def _named(files: tuple[str, ...]) -> str:
    first = "standard input" if files[0] == STANDARD_INPUT else files[0]
    return first if len(files) == 1 else f"{first} (and {len(files) - 1} more)"
