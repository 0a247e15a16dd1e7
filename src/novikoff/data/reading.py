"""Reading a data set from files: examples in pieces, in bounded memory, in any number of passes.

Tables (CSV, TSV, JSON lines, Parquet, Arrow, Vowpal Wabbit's text) are read as `Records`, named columns that an
encoding turns into numbers; svmlight text as a `Batch`, which has numbers already. Text may be compressed by gzip or
zstd.
"""

import collections
import contextlib
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from novikoff.data import delimited, frames, lines
from novikoff.data.batches import Batch, Records
from novikoff.data.files import FORMATS, files_of, format_of
from novikoff.data.frames import is_frame, read_frame
from novikoff.data.streams import (
    STANDARD_INPUT,
    FileSource,
    PeekableStream,
    Stamp,
    TableForm,
    decompressed,
    reading,
    spooled,
    standard_input,
)
from novikoff.data.tables import (
    BLOCK_BYTES,
    Types,
    check_label,
    check_same_names,
    joined_type,
    nearest,
    type_named,
    with_labels,
    without_labels,
)
from novikoff.engine.threads import check_jobs

if TYPE_CHECKING:
    import pyarrow as pa

    from novikoff.data.svmlight import ZeroBased


# Formats that state the types of their columns.
STATED = ("parquet", "arrow", "memory")


class _FoundOut:
    """What a reader has inferred so far."""

    def __init__(self, stream: PeekableStream | None) -> None:
        self.types: dict[str, pa.DataType] | None = None
        self.stamps: dict[str, Stamp] = {}
        self.stream = stream  # standard input, until it is used
        self.spool: str | None = None
        self.zero_based: bool | None = None


@dataclass(frozen=True)
class Reader:
    """A data set in files, or in memory, created by `read`. It can be iterated over repeatedly; files are reopened.

    `types` are the types of the columns (`{"weight": "double"}`), if they are known; then only these columns are read,
    and there is no pass to infer types, unless one is None. Standard input is copied to a temporary file unless one
    pass is enough. `watch` is called with the number of examples of every piece that was used. `parts` are read instead
    of whole files (see `FileSource`). A `table` in memory may have its `labels` apart from it.
    """

    files: tuple[str, ...]
    formats: tuple[str, ...]
    label: str | None = None
    types: Mapping[str, str | None] | None = None
    block_bytes: int = BLOCK_BYTES
    zero_based: "ZeroBased" = "auto"
    form: TableForm = field(default_factory=TableForm)
    watch: Callable[[int], None] | None = field(default=None, repr=False, compare=False)
    parts: tuple[tuple[int, int] | None, ...] = ()
    n_jobs: int | None = None
    table: "pa.Table | None" = field(default=None, repr=False, compare=False)
    labels: NDArray[Any] | None = field(default=None, repr=False, compare=False)
    _found: _FoundOut = field(default_factory=lambda: _FoundOut(None), repr=False, compare=False)

    @property
    def is_table(self) -> bool:
        """Whether it has named columns, which need an encoding."""
        return self.formats[0] != "svmlight"

    @property
    def column_types(self) -> dict[str, str]:
        """The types of all columns that are read, with the label's."""
        return {name: str(kind) for name, kind in self._types().items()}

    @property
    def is_text(self) -> bool:
        """Whether it is a table in text, whose first line may name the columns."""
        return all(kind in ("csv", "tsv") for kind in self.formats)

    @property
    def stream(self) -> PeekableStream | None:
        """Standard input, if that is what is read, and nothing of it was used yet."""
        return self._found.stream

    def layout(self) -> delimited.Layout:
        """Infer the layout of the first file of a table in text from its beginning."""
        return delimited.layout_of(self._sources()[0])

    def __iter__(self) -> Iterator[Any]:
        return self._counted(self._labelled() if self.is_table else self._batches())

    def look(self) -> Iterator[Records]:
        """Make one pass over a table whose types may be unknown; it infers them.

        During it, a column has the type inferred from each piece; in JSON lines, it may appear late, or not at all.
        """
        is_typed = self.types is not None or self._found.types is not None
        return self._counted(self._labelled() if is_typed else self._as_shown())

    def again(self, names: Iterable[str]) -> Iterator[Records]:
        types = self._types()
        return self._records({name: types[name] for name in names})

    def _counted(self, items: Iterator[Any]) -> Iterator[Any]:
        """Yield the items, and call `watch` with their numbers of examples; raise an error for an empty table."""
        n_rows = 0
        for item in items:
            yield item
            size = item.rows.n_rows if isinstance(item, Batch) else item.columns.num_rows
            n_rows += size
            if self.watch is not None:
                self.watch(size)
        if n_rows == 0 and self.is_table:
            raise ValueError(f"{_named(self.files)} has column names, but no records; add at least one")

    def _labelled(self) -> Iterator[Records]:
        for records in self._records(self._types()):
            first, label = records.line - 1, self.label
            if self.formats[0] == "vw" and label is not None:  # which may have no labels, except for training
                column = records.columns.column(label)
                label = label if column.null_count < len(column) else None
            labelled = with_labels(records, label)
            if self.labels is not None:
                labelled = replace(labelled, labels=self.labels[first : first + records.columns.num_rows])
            yield labelled

    def _batches(self) -> Iterator[Batch]:
        from novikoff.data import svmlight

        zero_based = self.counts_from_zero
        for source in self._sources():
            with self._opened(source) as file:
                yield from svmlight.batches(file.stream, file.name, zero_based=zero_based, n_jobs=file.n_jobs)

    @property
    def counts_from_zero(self) -> bool:
        """Whether the indices of svmlight text begin with 0; if not given, inferred once, in a separate pass."""
        if self.zero_based != "auto":
            return self.zero_based
        if self._found.zero_based is None:
            self._sources()  # standard input has to be a file for that
            collections.deque(replace(self, watch=None).undecided(), maxlen=0)
        return bool(self._found.zero_based)

    @property
    def is_undecided(self) -> bool:
        """Whether that is not known yet, for files that can be read again."""
        return not (self.is_table or self._stdin) and self.zero_based == "auto" and self._found.zero_based is None

    def undecided(self) -> Iterator[Batch]:
        """Make one pass in which the column of a feature is its index; it infers where indices begin."""
        has_zero = False
        for batch in replace(self, zero_based=True):
            has_zero = has_zero or not batch.rows.matrix.indices.all()
            yield batch
        self._found.zero_based = has_zero

    def from_one(self) -> Iterator[Batch]:
        """Make one pass that assumes indices to begin with 1; raise an error if one is 0. At its end, this is known."""
        yield from replace(self, zero_based=False)
        self._found.zero_based = False

    def _records(self, types: Types) -> Iterator[Records]:
        for source in self._sources():
            with self._opened(source) as file:
                yield from _parser(source).read_records(file, types)

    @contextlib.contextmanager
    def _opened(self, source: FileSource) -> Iterator[FileSource]:
        """Open a file to parse; standard input by one thread, which waits for no more than it needs."""
        if self.table is not None:
            yield source
        elif source.path == STANDARD_INPUT:
            stream = self._stream_once()
            yield replace(source, stream=decompressed(stream, stream.look(4)), n_jobs=1)
        else:
            with reading(source, self._found.stamps) as stream:
                yield replace(source, stream=stream)

    def _types(self) -> dict[str, "pa.DataType"]:
        """Return the types of the columns to read; if not given, inferred once, in a separate pass."""
        if not self.is_table:
            raise ValueError(f"{_named(self.files)} is svmlight text, which has no named columns")
        if self._found.types is None:
            import pyarrow as pa

            given = {name: type_named(kind) for name, kind in (self.types or {}).items() if kind is not None}
            names = None if self.types is None else [*self.types, *([self.label] if self.label else [])]
            only = None if names is None else {name for name in names if name not in given}
            found = dict.fromkeys(only or (), pa.null())  # a missing one is reported when it is read
            if only is None or only:
                collections.deque(self._shown(found, only, with_records=False), maxlen=0)
            known = given | found
            self._found.types = known if names is None else {name: known[name] for name in names}
        return self._found.types

    def _as_shown(self) -> Iterator[Records]:
        """Yield all columns but the labels, in the types inferred from each piece."""
        types: dict[str, pa.DataType] = {}
        for records in self._shown(types, None):
            yield without_labels(records, self.label)
        self._found.types = types

    def _shown(self, types: dict[str, "pa.DataType"], only: Any, with_records: bool = True) -> Iterator[Records]:
        """Yield all columns, or some, in the types inferred from each piece; `types` is updated to hold all values.

        If only types are wanted, the records of a file that states them are not read.
        """
        import pyarrow as pa

        sources = self._sources()
        as_text = all(source.format in ("csv", "tsv") for source in sources)
        for source in sources:
            found: dict[str, pa.DataType] = {}
            with self._opened(source) as file:
                shown = _parser(source).look(file, found, only)
                for number, records in enumerate(shown if with_records or source.format not in STATED else ()):
                    if number == 0 and only is None:
                        self._check_names(found, types, source, sources[0])
                    yield records
            if only is None:
                self._check_names(found, types, source, sources[0])
            for name, kind in found.items():
                known = types.get(name, kind)
                joined = joined_type(known, kind, as_text=as_text)
                if joined is None:
                    raise ValueError(f"{source.name}: column {name!r} is {kind}, but {known} in the files before it")
                types[name] = joined
        if self.label is not None and only is None:
            check_label(self.label, types, _named(self.files))

    def _check_names(self, found: Types, types: Types, source: FileSource, first: FileSource) -> None:
        """Check that all files have the same columns, in any order. In JSON lines any key may be missing."""
        if not found:
            raise ValueError(f"{source.name} is empty; it has no records")
        if self.label is not None and source.format != "jsonl":
            check_label(self.label, found, source.name)
        if not types or not {"jsonl", "vw"}.isdisjoint((source.format, first.format)):
            return
        check_same_names(found, source.name, types, first.name)

    @property
    def _stdin(self) -> bool:
        return self.files == (STANDARD_INPUT,)

    def _sources(self) -> list[FileSource]:
        files, parts = self.files, self.parts or (None,) * len(self.files)
        names = tuple(map(named_part, files, self.formats, parts))
        if self._stdin:
            if self._found.spool is None and not self._needs_one_pass:
                self._found.spool = spooled(self._stream_once())
                weakref.finalize(self._found, os.unlink, self._found.spool)
            files, names = (self._found.spool or STANDARD_INPUT,), ("standard input",)
        each = zip(files, names, self.formats, parts, strict=True)
        return [
            FileSource(path, name, kind, self.form, part, self.table, self.block_bytes, self.n_jobs)
            for path, name, kind, part in each
        ]

    @property
    def _needs_one_pass(self) -> bool:
        """Whether nothing has to be inferred before the values are read."""
        if not self.is_table:
            return self.zero_based != "auto"
        types = self.types or {}
        typed = bool(types) and None not in types.values() and (self.label is None or self.label in types)
        return typed and self.formats[0] in ("csv", "tsv", "jsonl")

    def _stream_once(self) -> PeekableStream:
        stream, self._found.stream = self._found.stream, None
        if stream is None:
            raise ValueError("standard input can be read only once; save it to a file, and read that")
        return stream


def read(
    path: Any,
    *,
    label: str | None = None,
    format: str | None = None,
    types: Mapping[str, str | None] | None = None,
    block_bytes: int = BLOCK_BYTES,
    zero_based: "ZeroBased" = "auto",
    header: bool = True,
    names: Sequence[str] | None = None,
    na_values: Sequence[str] = (),
    decimal: str | None = None,
    n_jobs: int | None = None,
) -> Reader:
    r"""Read a data set from a file, a pattern such as `cars-*.csv.gz`, a list of them, or "-", which is standard input.

    A pandas, polars or pyarrow table may be given instead of a file, and is read in the same way.

    `label` is the column with the labels (svmlight and Vowpal Wabbit text have them in front). `format` is one of csv,
    tsv, jsonl, parquet, arrow, svmlight and vw; by default it is inferred from the name of the file, or else from its
    first bytes. `zero_based` states whether the indices of svmlight text begin with 0 (True) or with 1 (False); with
    "auto" they begin with 1 if none in the files is 0.

    For a table in text, `header=False` means that its first line is data; `names` are then its columns (by default
    column 1, column 2, ...). `na_values` are additional marks of a missing value: empty fields, NA, NaN, null and the
    like are always missing, and so are ? and - in columns that are not words. `decimal` is the decimal separator; if
    fields are separated by semicolons, the default is a comma if some number has one, and none a point.

    `n_jobs` threads parse the next pieces of text while one is used: -1 is all cores, None as many as joblib,
    threadpoolctl and the environment allow. The pieces are the same for every number.

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
            raise ValueError(f"format={format!r} is for files; omit it for a table in memory")
        return read_frame(path, label=label, types=types, block_bytes=_checked_size(block_bytes))
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; {nearest(format, FORMATS).replace('columns', 'choices')}")
    _checked_size(block_bytes)
    check_jobs(n_jobs)
    files = files_of(path)
    stream = standard_input() if files == (STANDARD_INPUT,) else None
    formats = tuple(format or format_of(file, stream) for file in files)
    if "svmlight" in formats and set(formats) != {"svmlight"}:
        raise ValueError(f"{_named(files)}: svmlight text and tables do not make one data set; read them apart")
    if formats[0] == "svmlight" and (label is not None or types is not None):
        raise ValueError("svmlight text has its labels and numbers in their places, without names; omit label=")
    if "vw" in formats and (set(formats) != {"vw"} or label not in (None, lines.LABEL)):
        raise ValueError(
            f"{_named(files)}: Vowpal Wabbit's text has its labels in front; read it alone, without label="
        )
    label = lines.LABEL if formats[0] == "vw" and types is None else label
    if zero_based not in ("auto", True, False):
        raise ValueError(f'zero_based={zero_based!r} is unknown; choose "auto", True or False')
    form = TableForm(header, None if names is None else tuple(names), tuple(na_values), decimal)
    if form != TableForm() and not set(formats) <= {"csv", "tsv"}:
        raise ValueError("header=, names=, na_values= and decimal= are for tables in text, CSV and TSV; omit them")
    found = _FoundOut(stream)
    return Reader(files, formats, label, types, block_bytes, zero_based, form, None, (), n_jobs, _found=found)


def _checked_size(block_bytes: int) -> int:
    if block_bytes < 1:
        raise ValueError(f"block_bytes is {block_bytes}, but a block has at least one byte")
    return block_bytes


def named_part(path: str, format: str, part: tuple[int, int] | None) -> str:
    """Return the name of a file, or a part of one, for messages.

    >>> named_part("cars.parquet", "parquet", (2, 4)), named_part("cars.jsonl", "jsonl", (0, 99))
    ('cars.parquet (row groups 2 to 3)', 'cars.jsonl (bytes 0 to 98)')
    """
    if part is None:
        return path
    return f"{path} ({'row groups' if format == 'parquet' else 'bytes'} {part[0]} to {part[1] - 1})"


def _parser(source: FileSource) -> Any:
    """Return the module that reads a format, with its `look` and its `read_records`."""
    return {"jsonl": lines, "vw": lines, **dict.fromkeys(STATED, frames)}.get(source.format, delimited)


def _named(files: tuple[str, ...]) -> str:
    first = "standard input" if files[0] == STANDARD_INPUT else files[0]
    return first if len(files) == 1 else f"{first} (and {len(files) - 1} more)"
