"""What a file is that is not what was wanted: a model in the place of a table, a table in that of a model, Excel."""

import os

from novikoff.data.places import opened

# What files begin with, what they are called, and what to do with them.
BEGINNINGS = (
    (b"\x93NUMPY", "a NumPy array", "save it as CSV, with numpy.savetxt, or read it in Python"),
    (b"\xd0\xcf\x11\xe0", "an Excel file", "save the sheet as CSV"),
    (b"\x80\x04", "a pickle, which could run code", "write the table as CSV or Parquet"),
    (b"\x80\x05", "a pickle, which could run code", "write the table as CSV or Parquet"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file", "write the table as CSV or Parquet"),
    (b"%PDF", "a PDF", "copy its table into CSV"),
)
ZIPPED = {
    b".npy": ("a NumPy archive", "save its arrays as CSV, with numpy.savetxt, or read it in Python"),
    b"[Content_Types].xml": ("an Excel file", "save the sheet as CSV"),
    b"xl/": ("an Excel file", "save the sheet as CSV"),
}
LOOKED_AT = 4096


def no_table(path: str) -> str | None:
    """What a file is, and what to do with it, if it begins like something that is certainly no table."""
    head = _head(path)
    if head[8:9] == b"{" and b'"novikoff"' in head:
        return "a model file, and a table is wanted here; a model comes first, then the table"
    if head.lstrip().startswith(b"{") and b'"kind"' in head and b'"claims"' in head:
        return "a certificate, and a table is wanted here; a certificate comes first, then the table"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        name = os.path.basename(path)
        return f"a JSON array, and one object a line is wanted; make it with: jq -c '.[]' {name} > {name}l"
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "a web page; download the table itself"
    return _known(path, head)


def no_model(path: str | os.PathLike[str]) -> str | None:
    """What a file is, and what to do, if it is no model file by its looks."""
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
    for part, (what, how) in ZIPPED.items():
        if part in head or path.lower().endswith((".npz",) if part == b".npy" else (".xlsx", ".xlsm")):
            return f"{what}; {how}"
    return "a ZIP archive; unpack it first"


def _head(path: str) -> bytes:
    with opened(path) as file:
        head: bytes = file.read(LOOKED_AT)
        return head
