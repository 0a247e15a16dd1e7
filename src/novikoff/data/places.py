"""Where files are: on this machine, or wherever pyarrow or fsspec opens them (s3://, gs://, hdfs://, ...).

A path with `://` in it is elsewhere; any other is on this machine.
"""

import fnmatch
import io
import os
import re
from typing import Any, BinaryIO, cast

# The size and the time of last change of a file, in nanoseconds.
Stamp = tuple[int, int]


def is_elsewhere(path: str) -> bool:
    """Whether a path is on another machine, or in a store of objects.

    >>> is_elsewhere("s3://cars/1997.parquet"), is_elsewhere("cars/1997.parquet")
    (True, False)
    """
    return "://" in path


def opened(path: str) -> Any:
    """A file to read bytes from, and to seek in."""
    if not is_elsewhere(path):
        return open(path, "rb", buffering=0)
    filesystem, inner = _filesystem(path)
    return filesystem.open_input_file(inner)


def stamp_of(path: str, file: Any = None) -> Stamp:
    """What tells whether a file has changed; of one that is open, that of the very file that was opened."""
    if not is_elsewhere(path):
        found = os.stat(path) if file is None else os.fstat(file.fileno())
        return found.st_size, found.st_mtime_ns
    filesystem, inner = _filesystem(path)
    info = filesystem.get_file_info(inner)
    if not info.is_file:
        raise FileNotFoundError(f"there is no file {path}; check the path")
    return int(info.size), int(info.mtime_ns or 0)


def matching(pattern: str) -> tuple[str, ...]:
    """The files elsewhere that a pattern such as s3://cars/*.parquet matches, sorted; one without a star is a file."""
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
    """What opens a path, and how it calls it there."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(path)
        return found
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        scheme, _, inner = path.partition("://")
        try:
            import fsspec
        except ImportError:
            how = f"pyarrow cannot open it ({error}), and fsspec, which might, is not installed: pip install fsspec"
            raise ValueError(f"{path} is nowhere that can be read from: {how}") from None
        try:
            return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme))), inner
        except (ImportError, ValueError) as why:
            raise ValueError(f"{path} is nowhere that can be read from: {why}") from None


class Lines(io.RawIOBase):
    """The lines of a file that begin between two of its bytes: however a file is cut, each line is in one part."""

    def __init__(self, file: Any, first: int, last: int) -> None:
        self._file = file
        self._end = _line_from(file, last)
        self._at = _line_from(file, first)
        file.seek(self._at)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._at
        part = cast(bytes, self._file.read(left if size < 0 else min(size, left))) if left > 0 else b""
        self._at += len(part)
        return part

    def readinto(self, buffer: Any) -> int:
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def _line_from(file: BinaryIO, place: int) -> int:
    """Where the first line begins that does not begin before a place."""
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
