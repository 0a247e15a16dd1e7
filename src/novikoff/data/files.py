"""Which files a data set has, and of which format they are."""

import glob
import os
import re
from collections.abc import Iterable
from typing import Any

from novikoff.data.places import is_elsewhere, matching
from novikoff.data.recognise import no_table
from novikoff.data.streams import (
    STANDARD_INPUT,
    PeekableStream,
    Source,
    check_is_file,
    compression,
    first_line,
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
    """From the name, or else from the first bytes."""
    name = file.lower()
    for ending in _COMPRESSIONS:
        name = name.removesuffix(ending)
    by_name = _EXTENSIONS.get(name.rpartition(".")[2])
    if stream is None and (what := no_table(file)) is not None:
        raise ValueError(f"{file} is {what}")
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
    if re.match(rb"\s*([-+]?[\d.]\S*\s(\S*\s)*\S*)?\|[^|]*\s", line):
        return "vw"
    if b"\t" in line:
        return "tsv"
    return "csv" if b"," in line or b";" in line else None
