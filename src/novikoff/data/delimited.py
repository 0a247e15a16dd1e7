"""Tables in text: CSV and TSV, in blocks of whole records, each parsed by pyarrow.

A block ends at the end of a record, which is a line end outside of quotes. Because pyarrow parses one block at a time,
types are inferred block by block and joined, memory is bounded, and an error names its line.

The usual marks of a missing value (empty, NA, NaN, null, ...) have this meaning in every column; ? and - have it in
columns that are not words. Only true and false, in upper or lower case, are booleans; 0 and 1 are numbers.
"""

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.batches import Records
from novikoff.data.streams import FileSource, TableForm, for_threads, reading
from novikoff.data.tables import (
    Types,
    check_columns,
    check_no_duplicates,
    joined_type,
    plain_type,
    read_days,
)
from novikoff.engine.ahead import ahead

if TYPE_CHECKING:
    import pyarrow as pa

# Longer than any record should be. Without a limit, a quote that is never closed would swallow the whole file.
LONGEST_RECORD = 1 << 26

# These mean a missing value in a column of numbers, and are words in a column of words.
MARKS = ("?", "-")

# How much of a file is read to infer whether its numbers have decimal commas.
LOOKED_AT = 1 << 16

_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")


@dataclass(frozen=True)
class Piece:
    """Some whole records, their first line, and how many lines they have."""

    text: bytes
    line: int
    n_lines: int

    def decoded(self, file: str) -> str:
        """Return the text; raise an error that names the line if it is not UTF-8."""
        try:
            return self.text.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(file, self.line + self.text.count(b"\n", 0, error.start), error) from None

    def records(self, table: "pa.Table", file: str, row: int) -> Iterator[Records]:
        """Yield what was parsed of it; its first record is the `row`-th of all."""
        first, unit = (self.line, "line") if table.num_rows == self.n_lines else (row, "row")
        for batch in table.combine_chunks().to_batches():
            if batch.num_rows:
                yield Records(batch, None, file, first, unit)
            first += batch.num_rows


@dataclass(frozen=True)
class Layout:
    """The names of the columns and their delimiter, as the first line has them, and how values are written."""

    file: str
    names: tuple[str, ...]
    delimiter: str
    na_values: tuple[str, ...] = ()
    decimal: str = "."

    def has_marks(self, text: bytes) -> bool:
        """Whether a value may be a mark, alone in its field, which means a missing value among numbers."""
        ends = (ord(self.delimiter), _NEWLINE, _RETURN)
        characters = np.frombuffer(text, np.uint8)
        for mark in map(ord, MARKS):
            if mark in text:
                place = np.flatnonzero(characters[:-1] == mark)
                following = characters[place + 1]
                alone = place[(following == ends[0]) | (following == ends[1]) | (following == ends[2])]
                if len(alone) and np.isin(characters[np.maximum(alone - 1, 0)], (*ends, mark)).any():
                    return True
        return False


def pieces(source: FileSource) -> tuple[Layout, Iterator[Piece]]:
    """Return the layout of a file, and the pieces that follow its first line."""
    head, stream, block_bytes = b"", source.stream, source.block_bytes
    while b"\n" not in head and (more := stream.read(block_bytes)):
        head += more
        if len(head) > LONGEST_RECORD:
            raise ValueError(f"{source.name} has no line end in its first {len(head):,} bytes; is it a text file?")
    layout, end = _layout(head, source)
    if layout.delimiter == ";" and source.form.decimal is None:
        while len(head) < LOOKED_AT and (more := stream.read(block_bytes)):
            head += more
        layout = replace(layout, decimal="," if _has_decimal_commas(head[:LOOKED_AT]) else ".")

    def unclosed(line: int) -> ValueError:
        what = (
            f"the record that begins in line {line} has no end; a quote is opened and not closed, close it or double it"
        )
        return ValueError(f"{source.name}: {what}")

    line = 1 + head.count(b"\n", 0, end)
    end_of = partial(end_of_records, delimiter=layout.delimiter)
    return layout, pieces_of(source, end_of, unclosed, head[end:], line)


def layout_of(source: FileSource) -> Layout:
    """Infer the layout of a file from its beginning."""
    with reading(source, {}) as stream:
        return pieces(replace(source, stream=stream))[0]


def _has_decimal_commas(text: bytes) -> bool:
    """Whether some number between semicolons has a decimal comma, and none a decimal point."""
    value = rb"(?:^|[;\n])[ \t]*[-+]?\d+%b\d+[ \t]*(?=[;\r\n]|$)"
    return bool(re.search(value % rb",", text)) and not re.search(value % rb"\.", text)


def pieces_of(
    source: FileSource,
    end_of: Callable[[bytes], int],
    unclosed: Callable[[int], ValueError],
    text: bytes = b"",
    line: int = 1,
) -> Iterator[Piece]:
    """Yield the records of an open file, some at a time, after those in `text`, which begins with a `line`.

    `end_of` returns where the last record of a text ends, and `unclosed` an error for one that begins with a line.
    """
    while True:
        if end := end_of(text):
            n_lines = text.count(b"\n", 0, end)
            yield Piece(text[:end], line, n_lines)
            line += n_lines
        text = text[end:]
        if len(text) > LONGEST_RECORD:
            raise unclosed(line)
        more = source.stream.read(source.block_bytes)
        if not more:
            break
        text += more
    if text and end_of(text + b"\n") == len(text) + 1:
        yield Piece(text + b"\n", line, text.count(b"\n") + 1)
    elif text.strip():
        raise unclosed(line)


def end_of_records(text: bytes, delimiter: str) -> int:
    r"""Return where the last whole record ends.

    >>> end_of_records(b'a,b\n"c\nd', ",")
    4
    """
    end = text.rfind(b"\n") + 1
    if text.find(b'"', 0, end) < 0:
        return end
    characters = np.frombuffer(text, np.uint8, end)
    quotes = np.flatnonzero(characters == _QUOTE)
    # If every second quote is at the start of a value or after another quote, quotes open and close alternately.
    opening = quotes[::2]
    before = np.where(opening > 0, characters[opening - 1], _NEWLINE)
    if not np.isin(before, (ord(delimiter), _NEWLINE, _RETURN, _QUOTE)).all():
        return _end_by_grammar(text, delimiter)
    while (number := int(np.searchsorted(quotes, end))) % 2:
        end = text.rfind(b"\n", 0, quotes[number - 1]) + 1
    return end


def _end_by_grammar(text: bytes, delimiter: str) -> int:
    """Return the same for text with quotes inside unquoted values, where they are literal."""
    end = 0
    for match in _record(delimiter).finditer(text):
        if match.start() != end:
            break
        end = match.end()
    return end


@lru_cache
def _record(delimiter: str) -> re.Pattern[bytes]:
    comma = re.escape(delimiter).encode()
    plain = rb"[^" + comma + rb"\n]*+"
    value = rb'(?:"(?:[^"]++|"")*+"' + plain + rb'|(?!")' + plain + rb")"
    return re.compile(value + rb"(?:" + comma + value + rb")*+\n")


def _layout(head: bytes, source: FileSource) -> tuple[Layout, int]:
    if not head.strip():
        raise ValueError(f"{source.name} is empty; a table begins with a line of column names")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{source.name} is UTF-16, not UTF-8; convert it with: iconv -f UTF-16 -t UTF-8")
    start = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    while head[start : start + 1] in (b"\n", b"\r"):
        start += 1
    end = head.find(b"\n", start) + 1 or len(head)
    try:
        line = head[start:end].decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise _not_utf8(source.name, 1 + head.count(b"\n", 0, start), error) from None
    if "\r" in line:
        raise ValueError(f"{source.name} ends its lines with carriage returns; convert it with: tr '\\r' '\\n'")
    form = source.form
    delimiter = "\t" if source.format == "tsv" else _delimiter(line, form)
    first = next(csv.reader([line], delimiter=delimiter))
    if form.names is not None and len(form.names) != len(first):
        raise ValueError(f"{source.name} has {len(first)} columns, but {len(form.names)} names were given for them")
    given = first if form.header else form.names or [""] * len(first)
    names = tuple(name or f"column {number}" for number, name in enumerate(given, 1))
    check_no_duplicates(names, source.name)
    return Layout(source.name, names, delimiter, form.na_values, form.decimal or "."), end if form.header else start


def _delimiter(line: str, form: TableForm) -> str:
    """Return a comma; if the first line has none, a semicolon or a tab. A comma within a number is a decimal comma.

    >>> _delimiter("size;kind", TableForm()), _delimiter("0,5;red;1,25", TableForm(header=False))
    (';', ';')
    """
    decimal = form.decimal == "," or (not form.header and ";" in line)
    written = re.sub(r"(?<=\d),(?=\d)", ".", line) if decimal else line
    return next((mark for mark in ",;\t" if mark in written), ",")


def look(source: FileSource, types: dict[str, "pa.DataType"], only: Collection[str] | None) -> Iterator[Records]:
    """Yield all columns, or some, in the types inferred from each piece; `types` is updated to hold all values.

    If only the types of some columns are wanted, nothing more is read when all of these have turned out to be words.
    """
    import pyarrow as pa

    layout, texts = pieces(source)
    names = [name for name in layout.names if only is None or name in only]
    types |= dict.fromkeys(names, pa.null())
    row = 1
    parsed = ahead(lambda piece: (piece, _parse_as_shown(piece, layout, names)), texts if names else (), source.n_jobs)
    for piece, table in parsed:
        for field in table.schema:
            if pa.types.is_binary(field.type):
                piece.decoded(layout.file)
                raise ValueError(f"{layout.file}, in or after line {piece.line}: not UTF-8")
            types[field.name] = joined_type(types[field.name], plain_type(field.type), as_text=True) or pa.string()
        yield from piece.records(table, layout.file, row)
        row += table.num_rows
        if only is not None and all(map(pa.types.is_string, types.values())):
            return


def _parse_as_shown(piece: Piece, layout: Layout, names: list[str]) -> "pa.Table":
    """Parse some columns of a piece in the types inferred from it.

    Numbers such as 0x1F are words: pyarrow would parse them as integers, but not as other numbers.
    """
    import pyarrow as pa
    from pyarrow import compute

    table = _parse(piece, layout, names, None)
    whole = [field.name for field in table.schema if pa.types.is_int64(field.type)]
    if not whole or not (b"0x" in piece.text or b"0X" in piece.text):
        return table
    texts = _parse_csv(piece.text, layout, whole, _strings(whole))
    words = [name for name in whole if compute.any(compute.match_substring(texts[name], "x", ignore_case=True)).as_py()]
    return _parse(piece, layout, names, _strings(words)) if words else table


def read_records(source: FileSource, types: Types) -> Iterator[Records]:
    """Yield the columns in `types`."""
    layout, texts = pieces(source)
    check_columns(types, layout.names, source.name)
    row = 1
    for piece, table in ahead(lambda piece: (piece, _parse(piece, layout, list(types), types)), texts, source.n_jobs):
        yield from piece.records(table, layout.file, row)
        row += table.num_rows


def _parse(piece: Piece, layout: Layout, names: list[str], types: Types | None) -> "pa.Table":
    import pyarrow as pa

    try:
        if not layout.has_marks(piece.text):
            return _parse_csv(piece.text, layout, names, types)
        return _parse_with_marks(piece.text, layout, names, types)
    except pa.ArrowInvalid as error:
        stamps = [name for name in names if types and name in types and pa.types.is_timestamp(types[name])]
        with suppress(pa.ArrowInvalid, ValueError):
            if stamps:  # which may be finer than those that the type was inferred from, or have a zone
                table = _parse(piece, layout, names, {**(types or {}), **_strings(stamps)})
                return pa.table({n: read_days(table[n]) if n in stamps else table[n] for n in names})
        raise _explained(piece, layout, types, str(error)) from None


def _parse_with_marks(text: bytes, layout: Layout, names: list[str], types: Types | None) -> "pa.Table":
    import pyarrow as pa

    strings = {name for name in names if types and name in types and pa.types.is_string(types[name])}
    others = [name for name in names if name not in strings]
    found = _parse_csv(text, layout, others, types, marks=True) if others else pa.table({})
    words = strings | {field.name for field in found.schema if pa.types.is_string(field.type)}
    read = _parse_csv(text, layout, [*words], _strings(words)) if words else pa.table({})
    return pa.table({name: (read if name in words else found).column(name) for name in names})


def _parse_csv(text: bytes, layout: Layout, names: list[str], types: Types | None, *, marks: bool = False) -> Any:
    from pyarrow import csv as arrow_csv

    # One block, so that pyarrow does not split it at a line end inside quotes; threads parse separate pieces.
    return arrow_csv.read_csv(
        for_threads(text),
        arrow_csv.ReadOptions(column_names=layout.names, block_size=len(text) + 1, use_threads=False),
        arrow_csv.ParseOptions(delimiter=layout.delimiter),
        arrow_csv.ConvertOptions(
            include_columns=names,
            column_types={name: types[name] for name in names if name in types} if types else None,
            null_values=[*arrow_csv.ConvertOptions().null_values, *layout.na_values, *(MARKS if marks else ())],
            strings_can_be_null=True,
            decimal_point=layout.decimal,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
        ),
    )


def _explained(piece: Piece, layout: Layout, types: Types | None, message: str) -> ValueError:
    """Return an error with the line that pyarrow could not parse."""
    if "UTF8" in message:
        piece.decoded(layout.file)
    if wrong := re.search(r"Expected (\d+) columns, got (\d+)", message):
        found = re.search(r"Row #(\d+)", message)
        place = f"{layout.file}, line {_line_of_row(piece, layout, int(found[1]) - 1 if found else 0)}"
        hint = "a value that contains the delimiter or a quote must be quoted"
        return ValueError(f"{place}: {wrong[1]} columns, but here the number of values is {wrong[2]}; {hint}")
    if wrong := re.search(r"CSV column #(\d+): .*?conversion error to (\w+).*?: invalid value '(.*)'", message):
        name = layout.names[int(wrong[1])]
        kind = {"double": "number", "int64": "whole number", "bool": "boolean"}.get(wrong[2], wrong[2])
        column = _parse_csv(piece.text, layout, [name], _strings([name])).column(0).to_pylist()
        row = next((row for row, value in enumerate(column) if value == wrong[3]), 0)
        place = f"{layout.file}, line {_line_of_row(piece, layout, row)}"
        return ValueError(
            f"{place}: {wrong[3]!r} in the column {name!r} is not a {kind}; correct it, or leave it empty"
        )
    return ValueError(f"{layout.file}, in or after line {piece.line}: {message}")


def _strings(names: Iterable[str]) -> Types:
    import pyarrow as pa

    return {name: pa.string() for name in names}


def _line_of_row(piece: Piece, layout: Layout, row: int) -> int:
    """Return the line where a record begins; empty lines are not records."""
    records = (m for m in _record(layout.delimiter).finditer(piece.text) if m.group().strip(b"\r\n"))
    start = next((match.start() for number, match in enumerate(records) if number == row), 0)
    return piece.line + piece.text.count(b"\n", 0, start)


def _not_utf8(file: str, line: int, error: UnicodeDecodeError) -> ValueError:
    byte = error.object[error.start]
    return ValueError(
        f"{file}, line {line}: the byte 0x{byte:02x} is not UTF-8; convert the file, "
        "for example with: iconv -f WINDOWS-1252 -t UTF-8"
    )
