"""The bytes of a data set: from files or standard input, decompressed, and the same in every pass.

A path with `://` is remote, and opened by pyarrow (s3://, gs://, hdfs://, ...); any other is local.
"""

import fnmatch
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

# The size of a file, and the time of its last change in nanoseconds.
Stamp = tuple[int, int]


def is_elsewhere(path: str) -> bool:
    """Whether a path is on another machine, or in an object store.

    >>> is_elsewhere("s3://cars/1997.parquet"), is_elsewhere("cars/1997.parquet")
    (True, False)
    """
    return "://" in path


def opened(path: str) -> Any:
    if not is_elsewhere(path):
        return open(path, "rb", buffering=0)
    filesystem, inner = _filesystem(path)
    return filesystem.open_input_file(inner)


def stamp_of(path: str, file: Any = None) -> Stamp:
    """Return a stamp to detect whether a file has changed; if it is open, that of the open file itself."""
    if not is_elsewhere(path):
        found = os.stat(path) if file is None else os.fstat(file.fileno())
        return found.st_size, found.st_mtime_ns
    filesystem, inner = _filesystem(path)
    info = filesystem.get_file_info(inner)
    if not info.is_file:
        raise FileNotFoundError(f"there is no file {path}; check the path")
    return int(info.size), int(info.mtime_ns or 0)


def matching(pattern: str) -> tuple[str, ...]:
    """Return the remote files that match a pattern such as s3://cars/*.parquet, sorted; without a star, the path."""
    if not re.search(r"[*?\[]", pattern):
        stamp_of(pattern)
        return (pattern,)
    from pyarrow import fs

    filesystem, inner = _filesystem(pattern)
    fixed = re.split(r"[*?\[]", inner, maxsplit=1)[0].rpartition("/")[0]
    selector = fs.FileSelector(fixed, recursive="**" in inner or "/" in inner[len(fixed) + 1 :])
    prefix = pattern[: len(pattern) - len(inner)]
    found = [info.path for info in filesystem.get_file_info(selector) if info.is_file]
    files = tuple(sorted(prefix + path for path in found if fnmatch.fnmatchcase(path, inner)))
    if not files:
        raise FileNotFoundError(f"no file matches the pattern {pattern}")
    return files


def _filesystem(path: str) -> tuple[Any, str]:
    import pyarrow as pa
    from pyarrow import fs

    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(path)
        return found
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{path} cannot be read: pyarrow cannot open it ({error}); copy it to a local file") from None


class LinesOfFile(io.RawIOBase):
    """The lines of a file that begin between two offsets: however a file is split, each line is in one part."""

    def __init__(self, file: Any, first: int, last: int) -> None:
        self._file = file
        self._end = _line_from(file, last)
        self._at = _line_from(file, first)
        file.seek(self._at)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._file.read(max(min(len(buffer), self._end - self._at), 0))
        self._at += len(part)
        buffer[: len(part)] = part
        return len(part)


def _line_from(file: BinaryIO, place: int) -> int:
    """Return the start of the first line that does not begin before a place."""
    if place <= 0:
        return 0
    place -= 1
    file.seek(place)
    while piece := file.read(1 << 16):
        at = piece.find(b"\n")
        if at >= 0:
            return place + at + 1
        place += len(piece)
    return place


STANDARD_INPUT = "-"

# The first bytes of compressed data; the name of the file does not matter.
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class TableForm:
    """The text format of a table.

    Without a `header` its first line is data, and `names` are those of the columns (by default column 1, and so
    on). `na_values` are additional marks of a missing value. `decimal` is the decimal separator; None means a point,
    or, between semicolons, a comma if some number has one, and none a point.
    """

    header: bool = True
    names: tuple[str, ...] | None = None
    na_values: tuple[str, ...] = ()
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.names is not None and self.header:
            raise ValueError("names= are for a table whose first line is data; pass header=False, too")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal={self.decimal!r} must be a point or a comma")


@dataclass(frozen=True)
class FileSource:
    """A file to read: the `path` to open, its `name` in messages, and its format.

    A `part` of a file is the lines that begin between two of its bytes, or some row groups of a Parquet file. A `table`
    in memory takes the place of a file. While it is open, `stream` has its decompressed bytes; `block_bytes` of them
    make a piece, and `n_jobs` threads parse pieces.
    """

    path: str
    name: str
    format: str = ""
    form: TableForm = field(default_factory=TableForm)
    part: tuple[int, int] | None = None
    table: Any = None
    block_bytes: int = 1 << 16
    n_jobs: int | None = 1
    stream: Any = None


class PeekableStream(io.RawIOBase):
    """A stream whose first bytes can be peeked at before it is read. Closing it leaves the stream open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._head = b""

    def readable(self) -> bool:
        return True

    def look(self, size: int) -> bytes:
        """Return the first `size` bytes, or fewer if a line or the stream ends before, without consuming them."""
        while len(self._head) < size and b"\n" not in self._head and (more := self._next(size)):
            self._head += more
        return self._head[:size]

    def readinto(self, buffer: Any) -> int:
        part = self._head[: len(buffer)] or self._next(len(buffer))
        self._head = self._head[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _next(self, size: int) -> bytes:
        """Return what has arrived, so as not to wait for a pipe longer than necessary."""
        read = getattr(self._stream, "read1", self._stream.read)
        return cast(bytes, read(size))


def standard_input() -> PeekableStream:
    return PeekableStream(sys.stdin.buffer)


def compression(head: bytes) -> str | None:
    """Return the compression of data with these first bytes, or None.

    >>> compression(b"weight,fast"), compression(bytes([0x1F, 0x8B, 8]))
    (None, 'gzip')
    """
    return next((kind for magic, kind in _COMPRESSED.items() if head.startswith(magic)), None)


def decompressed(stream: Any, head: bytes) -> Any:
    """Return the stream itself, or a decompressed one if its first bytes show that it is compressed."""
    kind = compression(head)
    if kind is None:
        return stream
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), kind)


@contextmanager
def reading(source: FileSource, stamps: dict[str, Stamp]) -> Iterator[Any]:
    """Open the decompressed bytes of a file, and check at the end that the file has not changed.

    `stamps` has the size and the time of last change of every file seen so far. If a file has changed, an error while
    reading it is attributed to the change.
    """
    with opened(source.path) as file:
        _check_stamp(source, stamps, stamp_of(source.path, file))
        try:
            head = file.read(4)
            file.seek(0)
            in_lines = source.part is not None and source.format != "parquet"
            yield decompressed(LinesOfFile(file, *source.part) if in_lines else file, head)  # type: ignore[misc]
        except GeneratorExit:
            raise
        except Exception as error:
            _check_stamp(source, stamps, stamp_of(source.path, file))
            raise (_broken(source, error) if isinstance(error, OSError) else error) from None
        _check_stamp(source, stamps, stamp_of(source.path, file))


def for_threads(text: bytes) -> Any:
    """Return bytes as a stream for pyarrow's threads, which may release it a little after a call has returned.

    Bytes owned by Python would be released to Python by such a thread. If Python has exited by then, the thread is
    terminated in the middle of C++ code, and the process with it ("terminate called without an active exception"). A
    copy owned by Arrow needs no Python.
    """
    import pyarrow as pa

    own = pa.allocate_buffer(len(text))
    memoryview(own).cast("B")[:] = text
    return pa.BufferReader(own)


def spooled(stream: PeekableStream) -> str:
    """Copy a stream to a temporary file, and return its path; the caller removes it."""
    handle, path = tempfile.mkstemp(prefix="novikoff-")
    with open(handle, "wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    return path


def check_is_file(path: str) -> None:
    """Raise an error unless a path can be opened and read repeatedly."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a directory; name a file, or its files by a pattern such as {path}/*.csv")
    if not os.path.exists(path):
        folder = Path(path).parent
        near = _nearest_file(folder, Path(path).name)
        hint = f"did you mean {folder / near}?" if near else "check the path"
        raise FileNotFoundError(f"there is no file {path}; {hint}")
    if not os.path.isfile(path):
        raise OSError(f"{path} is not a regular file, and cannot be read more than once; copy it to one, or use '-'")


def _nearest_file(folder: Path, name: str) -> str | None:
    import difflib

    names = os.listdir(folder) if folder.is_dir() else []
    return next(iter(difflib.get_close_matches(name, names, n=1)), None)


def _check_stamp(source: FileSource, stamps: dict[str, Stamp], now: Stamp) -> None:
    before = stamps.setdefault(source.path, now)
    if before != now:
        was = f"it had {before[0]:,} bytes and has {now[0]:,}" if before[0] != now[0] else "its time of change differs"
        raise OSError(f"{source.name} changed while it was being read ({was}); read it again when it is complete")


def _broken(source: FileSource, error: OSError) -> OSError:
    if source.name in str(error) or error.filename:
        return error
    return OSError(f"{source.name} cannot be read to its end: {error}; the file is damaged or incomplete")
