"""The files of a data set, their formats, and hints for files of the wrong kind: a model given as a table, a table as a
model, Excel."""

import glob
import os
import re
from collections.abc import Iterable
from typing import Any

from novikoff.data.streams import (
    STANDARD_INPUT,
    FileSource,
    PeekableStream,
    check_is_file,
    compression,
    is_elsewhere,
    matching,
    opened,
    reading,
)

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw")
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


def files_of(path: Any) -> tuple[str, ...]:
    if not isinstance(path, (str, os.PathLike)):
        if not isinstance(path, Iterable):
            what = "a data set is a file, a list of files, or a table of pandas, polars or pyarrow"
            raise TypeError(f"{what}, not {type(path).__name__}")
        files = tuple(file for part in path for file in files_of(part))
        if not files:
            raise ValueError("the list of files is empty; name at least one")
        if STANDARD_INPUT in files and len(files) > 1:
            raise ValueError("standard input ('-') cannot be one of several files")
        return files
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        return (name,)
    if is_elsewhere(name):
        return matching(name)
    if glob.has_magic(name) and not os.path.exists(name):
        matches = tuple(sorted(glob.glob(name, recursive=True)))
        if not matches:
            raise FileNotFoundError(f"no file matches the pattern {name}")
        return tuple(file for file in matches if not os.path.isdir(file)) or matches
    check_is_file(name)
    return (name,)


def format_of(file: str, stream: PeekableStream | None) -> str:
    """Infer the format from the name, or else from the first bytes."""
    if stream is None and (what := no_table(file)) is not None:
        raise ValueError(f"{file} is {what}")
    name = file.lower()
    for ending in _COMPRESSIONS:
        name = name.removesuffix(ending)
    found = _EXTENSIONS.get(name.rpartition(".")[2])
    if stream is not None:
        found = _sniffed(b"" if compression(stream.look(4)) else stream.look(LOOKED_AT))
    elif found is None:
        with reading(FileSource(file, file), {}) as opened:
            found = _sniffed(opened.read(LOOKED_AT))
    if found is None:
        what = "standard input" if stream is not None else file
        raise ValueError(f"the format of {what} cannot be inferred; pass format= one of {', '.join(FORMATS)}")
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
    if re.match(rb"\s*([-+]?[\d.]\S*\s(\S*\s)*\S*)?\|[^|]*\s", line):
        return "vw"
    if b"\t" in line:
        return "tsv"
    return "csv" if b"," in line or b";" in line else None


# The first bytes of files (of archives, bytes that are in them, and endings), what they are, and what to do with them.
BEGINNINGS: tuple[tuple[bytes | tuple[bytes, ...], str, str], ...] = (
    (b"\x93NUMPY", "a NumPy array", "save it as CSV, with numpy.savetxt, or read it in Python"),
    (b"\xd0\xcf\x11\xe0", "an Excel file", "save the sheet as CSV"),
    ((b"\x80\x04", b"\x80\x05"), "a pickle, which could run code", "write the table as CSV or Parquet"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file", "write the table as CSV or Parquet"),
    (b"%PDF", "a PDF", "copy its table into CSV"),
)
ZIPPED = (
    (b".npy", (".npz",), "a NumPy archive", "save its arrays as CSV, with numpy.savetxt, or read it in Python"),
    (b"[Content_Types].xml", (".xlsx", ".xlsm"), "an Excel file", "save the sheet as CSV"),
    (b"xl/", (), "an Excel file", "save the sheet as CSV"),
)
LOOKED_AT = 4096


def no_table(path: str) -> str | None:
    """Return what a file is, and what to do with it, if its first bytes show that it is not a table."""
    head = _head(path)
    if head[8:9] == b"{" and b'"novikoff"' in head:
        return "a model file, but a table is expected here; a model comes first, then the table"
    if head.lstrip().startswith(b"{") and b'"kind"' in head and b'"claims"' in head:
        return "a certificate, but a table is expected here; a certificate comes first, then the table"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        name = os.path.basename(path)
        return f"a JSON array, and one object per line is expected; make it with: jq -c '.[]' {name} > {name}l"
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "a web page; download the table itself"
    return _known(path, head)


def no_model(path: str | os.PathLike[str]) -> str | None:
    """Return what a file is, and what to do with it, if its first bytes show that it is not a model."""
    head = _head(os.fspath(path))
    if (known := _known(os.fspath(path), head)) is not None:
        return known.partition(";")[0]
    if len(head) > 8 and b"\0" not in head and all(byte >= 32 or byte in b"\t\r\n" for byte in head[:256]):
        return "text, perhaps a table; a model comes first, then the table"
    return None


def _known(path: str, head: bytes) -> str | None:
    for beginning, what, how in BEGINNINGS:
        if head.startswith(beginning):
            return f"{what}; {how}"
    if not head.startswith(b"PK\x03\x04"):
        return None
    for part, endings, what, how in ZIPPED:
        if part in head or path.lower().endswith(endings):
            return f"{what}; {how}"
    return "a ZIP archive; unpack it first"


def _head(path: str) -> bytes:
    with opened(path) as file:
        head: bytes = file.read(LOOKED_AT)
        return head
