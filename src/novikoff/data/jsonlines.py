"""Tables in JSON lines: one object a line, whose keys are the columns. A key that a line does not have is missing."""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from novikoff.data.batches import Records
from novikoff.data.delimited import LONGEST_RECORD, Piece
from novikoff.data.streams import FileSource, OpenedFile, for_threads, read_block
from novikoff.data.strict_json import DEEPEST, JSONError, check_depth, parse
from novikoff.data.tables import Types, is_number, joined_type, nearest, plain_type, read_days
from novikoff.engine.ahead import ahead

if TYPE_CHECKING:
    import pyarrow as pa

# Where each line has few of many keys, nearly all values of a table are missing: a short text could make a huge table.
# How many cells a piece may always have, and how many per byte of its text.
FEW_CELLS = 1 << 22
CELLS_A_BYTE = 8

# How much of a piece is parsed first: even with a new key in every line, that is a small table.
HEAD_BYTES = 1 << 14

_BLANK_LINE = re.compile(rb"\n[ \t\r]*+\n")
_NULL_LINE = re.compile(rb"\n[ \t\r]*+null")
_KEY = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*+:', re.DOTALL)


def pieces(file: OpenedFile) -> Iterator[Piece]:
    """Yield all lines, some at a time."""
    line, rest = 1, b""
    while more := read_block(file.stream, file.block_bytes):
        text = rest + more
        end = text.rfind(b"\n") + 1
        if text[:end].strip():
            n_lines = text.count(b"\n", 0, end)
            yield Piece(text[:end], line, n_lines)
            line += n_lines
            rest = text[end:]
        else:
            rest = text
        if len(rest) > LONGEST_RECORD:
            what = f"line {line} has more than {LONGEST_RECORD:,} bytes; is it JSON lines?"
            raise ValueError(f"{file.source.name}: {what}")
    if rest.strip():
        yield Piece(rest + b"\n", line, rest.count(b"\n") + 1)


def look(
    file: OpenedFile, types: dict[str, "pa.DataType"], only: Collection[str] | None, words: Collection[str]
) -> Iterator[Records]:
    """Yield all columns, or some, in the types inferred from each piece; `types` is updated to hold all values.

    `words` is not needed: JSON distinguishes strings from numbers.
    """
    row, source = 1, file.source
    for piece, table in ahead(lambda piece: (piece, _parse(piece, source, None)), pieces(file), file.n_jobs):
        names = [name for name in table.schema.names if only is None or name in only]
        types |= {name: _joined(types, table.schema.field(name), piece, source) for name in names}
        yield from piece.records(table.select(names), source.name, row)
        row += table.num_rows


def _joined(types: Types, field: "pa.Field", piece: Piece, source: FileSource) -> "pa.DataType":
    """Return the type of a column that may have had another type in earlier pieces."""
    import pyarrow as pa

    known = types.get(field.name, pa.null())
    kind = joined_type(known, plain_type(field.type), as_text=_are_words(known, field.type))
    if kind is None or pa.types.is_nested(field.type):
        what = f"{field.name!r} is {known} in one line and {field.type} in another"
        raise _explained(piece, source, {field.name: known}, what)
    return kind


def read_records(file: OpenedFile, types: Types) -> Iterator[Records]:
    """Yield the columns in `types`; at the end, raise an error for one that no line has."""
    row, filled, source = 1, set[str](), file.source
    keys: list[str] = []
    for piece, table in ahead(lambda piece: (piece, _parse(piece, source, types)), pieces(file), file.n_jobs):
        keys = keys or _keys(piece)
        filled.update(name for name in types if table.column(name).null_count < table.num_rows)
        yield from piece.records(table.select(list(types)), source.name, row)
        row += table.num_rows
    for name in types if source.part is None else ():  # other parts of the file may have the key
        if name not in filled and name not in keys and row > 1 and str(types[name]) != "null":
            raise ValueError(f"{source.name} has no key {name!r} in any line; {nearest(name, keys)}")


def _check_text(piece: Piece, source: FileSource) -> None:
    """Reject what makes pyarrow crash: a line nested too deep for its stack, and null instead of an object, on which it
    crashes in the first line, and which it takes for a record elsewhere.

    A line that begins with a brace has at least one; if there are few more in the whole piece, no line is deep.
    """
    text = piece.text
    null = _NULL_LINE.search(b"\n" + text) if b"null" in text else None
    if null is not None:
        before = text.count(b"\n", 0, null.start())
        raise _not_one(f"{source.name}, line {piece.line + before}", "null, not an object")
    brackets = text.count(b"{") + text.count(b"[")
    if brackets - text.count(b"\n{") <= DEEPEST:
        return
    for number, line in enumerate(text.split(b"\n")):
        if line.count(b"{") + line.count(b"[") > DEEPEST:
            try:
                check_depth(line)
            except JSONError as error:
                raise ValueError(f"{source.name}, line {piece.line + number}: {error}") from None


def _check_cells(piece: Piece, source: FileSource, n_keys: int) -> None:
    """Reject a table that is far larger than its text."""
    if piece.n_lines * n_keys > max(FEW_CELLS, CELLS_A_BYTE * len(piece.text)):
        raise ValueError(
            f"{source.name}: the {piece.n_lines:,} lines from line {piece.line} on have {n_keys:,} keys, of which each "
            "line has few; as a table they would be missing values for the most part. Write them as svmlight text or "
            "Vowpal Wabbit's, which name only what is there, or learn them one by one with novikoff online"
        )


def _parse(piece: Piece, source: FileSource, types: Types | None) -> "pa.Table":
    """Parse a piece in these types, or in those inferred from it."""
    import pyarrow as pa

    _check_text(piece, source)
    _check_cells(piece, source, len(types or ()))
    try:
        if types is None:
            table = _with_days(_as_shown(piece, source))
        else:
            table = _parsed(piece.text, pa.schema(list(types.items())))
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _explained(piece, source, types, str(error)) from None
    is_plain = table.num_rows == piece.n_lines and not _BLANK_LINE.search(b"\n" + piece.text)
    if not is_plain and table.num_rows != sum(1 for line in piece.text.split(b"\n") if line.strip()):
        raise _explained(piece, source, types, "more than one value in a line")
    return table


def _with_days(table: "pa.Table") -> "pa.Table":
    """Convert strings that are times with fractions of a second, which pyarrow leaves as strings."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            with suppress(pa.ArrowInvalid):
                table = table.set_column(place, field.name, read_days(table.column(place)))
    return table


def _as_shown(piece: Piece, source: FileSource) -> "pa.Table":
    """Parse a piece in the types inferred from it.

    If all of it fits the types of its beginning, no key is new. Otherwise the keys are counted before pyarrow makes a
    column of each.
    """
    import pyarrow as pa

    end = piece.text.rfind(b"\n", 0, HEAD_BYTES) + 1
    if 0 < end < len(piece.text):
        with suppress(pa.ArrowInvalid, UnicodeDecodeError):
            return _parsed(piece.text, _parsed(piece.text[:end]).schema, others="error")
    if piece.n_lines * piece.text.count(b":") > FEW_CELLS:
        _check_cells(piece, source, len(set(_KEY.findall(piece.text))))
    return _parsed(piece.text)


def _parsed(text: bytes, schema: "pa.Schema | None" = None, others: str = "ignore") -> "pa.Table":
    from pyarrow import json as arrow_json

    table = arrow_json.read_json(
        for_threads(text),
        arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False),
        arrow_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else others
        ),
    )
    table.validate(full=True)  # pyarrow does not check by default that strings are UTF-8
    return table


def _explained(piece: Piece, source: FileSource, types: Types | None, message: str) -> ValueError:
    """Return the error of the first malformed line of a piece; if each is valid by itself, pyarrow's message."""
    piece.decoded(source.name)
    kinds = {name: word for name, kind in (types or {}).items() if (word := _word_for(kind)) is not None}
    for number, line in enumerate(piece.text.split(b"\n"), piece.line):
        place = f"{source.name}, line {number}"
        try:
            record = parse(line) if line.strip() else {}
        except JSONError as error:
            what = str(error).removeprefix("this is not JSON: ").partition(": line ")[0]
            return _not_one(place, "more than one value" if what == "Extra data" else what)
        if not isinstance(record, dict):
            hint = "; for an array of objects: jq -c '.[]'" if isinstance(record, list) or number == 1 else ""
            return ValueError(f"{place}: not an object; JSON lines have one object per line{hint}")
        for name in record if types is None else types.keys() & record:
            value = record[name]
            if isinstance(value, dict | list):
                return _nested(place, name)
            kind = "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
            if value is not None and kinds.setdefault(name, kind) != kind:
                was = f"was a {kinds[name]} in the lines before" if types is None else f"should be a {kinds[name]}"
                return ValueError(f"{place}: {name!r} is a {kind}, but {was}; write it in one way in all lines")
    return ValueError(f"{source.name}, in or after line {piece.line}: {message}")


def _word_for(kind: "pa.DataType") -> str | None:
    """Return what JSON calls values of a type; None for the null type."""
    import pyarrow as pa

    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return "boolean" if pa.types.is_boolean(kind) else None
    return "number" if is_number(kind) else "string"


def _keys(piece: Piece) -> list[str]:
    line = next(line for line in piece.text.split(b"\n") if line.strip())
    try:
        first = json.loads(line)
    except ValueError:
        return []
    return list(first) if isinstance(first, dict) else []


def _are_words(one: "pa.DataType", other: "pa.DataType") -> bool:
    """Whether both are words: pyarrow infers times from strings, until one is not a time."""
    import pyarrow as pa

    return all(pa.types.is_string(kind) or pa.types.is_timestamp(kind) for kind in (one, other))


def _not_one(place: str, what: str) -> ValueError:
    return ValueError(f"{place}: {what}; JSON lines have one object per line")


def _nested(place: str, name: str) -> ValueError:
    return ValueError(
        f"{place}: {name!r} holds an object or an array, but a column needs one value a line; "
        f"write the parts as keys of their own, such as {name + '_1'!r}"
    )
