"""Tables in JSON lines: one object a line, whose keys are the columns. A key that a line does not have is missing."""

import json
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from novikoff.data.batches import Records
from novikoff.data.delimited import LONGEST_RECORD, Piece
from novikoff.data.streams import Source, for_threads, read_block
from novikoff.data.strict_json import DEEPEST, JSONError, check_depth
from novikoff.data.tables import Types, joined_type, nearest, plain_type, records_of
from novikoff.engine.ahead import ahead

if TYPE_CHECKING:
    import pyarrow as pa


def pieces(stream: Any, source: Source, block_bytes: int) -> Iterator[Piece]:
    """All lines, some at a time."""
    line, rest = 1, b""
    while more := read_block(stream, block_bytes):
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
            raise ValueError(f"{source.name}: line {line} has more than {LONGEST_RECORD:,} bytes; is it JSON lines?")
    if rest.strip():
        yield Piece(rest + b"\n", line, rest.count(b"\n") + 1)


def look(
    stream: Any,
    source: Source,
    types: dict[str, "pa.DataType"],
    block_bytes: int,
    *,
    only: Collection[str] | None = None,
    words: Collection[str] = (),
    n_jobs: int | None = 1,
) -> Iterator[Records]:
    """All columns as each piece shows them, or some; meanwhile `types` becomes, for each, what holds all of its values.

    No column needs to be known to be `words`: they are written otherwise than numbers.
    """
    row = 1
    texts = pieces(stream, source, block_bytes)
    for piece, table in ahead(lambda piece: (piece, _parse(piece, source, None)), texts, n_jobs):
        names = [name for name in table.schema.names if only is None or name in only]
        types |= {name: _joined(types, table.schema.field(name), piece, source) for name in names}
        yield _records(table.select(names), piece, source, row)
        row += table.num_rows


def _joined(types: Types, field: "pa.Field", piece: Piece, source: Source) -> "pa.DataType":
    """The type of a column that was of another type, perhaps, in the pieces before."""
    import pyarrow as pa

    if pa.types.is_nested(field.type):
        line = _line_of_row(piece, _first_nested(piece, field.name))
        raise _nested(f"{source.name}, line {line}", field.name)
    known = types.get(field.name, pa.null())
    kind = joined_type(known, plain_type(field.type), as_text=_are_words(known, field.type))
    if kind is None:
        _parse(piece, source, {field.name: known})  # says in which line the type changes
        raise ValueError(f"{source.name}: {field.name!r} is {known} in one line and {field.type} in another")
    return kind


def read_records(
    stream: Any, source: Source, types: Types, block_bytes: int, n_jobs: int | None = 1
) -> Iterator[Records]:
    """The columns in `types`; one that no line has is an error, though found out only at the end."""
    row, filled = 1, set[str]()
    keys: list[str] = []
    texts = pieces(stream, source, block_bytes)
    for piece, table in ahead(lambda piece: (piece, _parse(piece, source, types)), texts, n_jobs):
        records = _records(table.select(list(types)), piece, source, row)
        keys = keys or _keys(piece)
        filled.update(name for name in types if records.columns.column(name).null_count < records.columns.num_rows)
        yield records
        row += records.columns.num_rows
    for name in types:
        if name not in filled and name not in keys and row > 1 and str(types[name]) != "null":
            raise ValueError(f"{source.name} has no key {name!r} in any line; {nearest(name, keys)}")


def _records(table: "pa.Table", piece: Piece, source: Source, row: int) -> Records:
    """What was parsed of a piece, whose first record is the `row`-th of all."""
    batch = table.combine_chunks().to_batches()[0]
    counts_lines = batch.num_rows == piece.n_lines
    return records_of(batch, source.name, piece.line if counts_lines else row, counts_lines)


def _check_depth(piece: Piece, source: Source) -> None:
    """Refuse a line that nests deeper than any parser should follow: pyarrow's own would exhaust the stack.

    A line that begins with a brace has at least one; if there are few more in the whole piece, no line is deep.
    """
    text = piece.text
    brackets = text.count(b"{") + text.count(b"[")
    if brackets - text.count(b"\n{") <= DEEPEST:
        return
    for number, line in enumerate(text.split(b"\n")):
        if line.count(b"{") + line.count(b"[") > DEEPEST:
            try:
                check_depth(line)
            except JSONError as error:
                raise ValueError(f"{source.name}, line {piece.line + number}: {error}") from None


def _parse(piece: Piece, source: Source, types: Types | None) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import json as arrow_json

    _check_depth(piece, source)
    try:
        table = arrow_json.read_json(
            for_threads(piece.text),
            arrow_json.ReadOptions(block_size=len(piece.text) + 1, use_threads=False),
            arrow_json.ParseOptions(
                explicit_schema=None if types is None else pa.schema(list(types.items())),
                unexpected_field_behavior="infer" if types is None else "ignore",
            ),
        )
        table.validate(full=True)  # pyarrow does not look by itself whether strings are UTF-8
        return table
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _explained(piece, source, str(error), typed=types is not None) from None


def _explained(piece: Piece, source: Source, message: str, *, typed: bool) -> ValueError:
    try:
        piece.text.decode()
    except UnicodeDecodeError as error:
        line = piece.line + piece.text.count(b"\n", 0, error.start)
        return ValueError(f"{source.name}, line {line}: not UTF-8; convert the file, for example with iconv")
    number = re.search(r" in row (\d+)", message)
    line = _line_of_row(piece, int(number[1]) if number else 0)
    place = f"{source.name}, line {line}"
    if changed := re.search(r"Column\(/?(.*?)\) changed from (\w+) to (\w+)", message):
        if not changed[1]:
            hint = "; for an array of objects: jq -c '.[]'" if changed[3] == "array" or line == 1 else ""
            return ValueError(f"{place}: not an object; JSON lines have one object a line{hint}")
        if changed[3] in ("object", "array"):
            return _nested(place, changed[1])
        was = f"should be a {changed[2]}" if typed else f"was a {changed[2]} in the lines before"
        return ValueError(f"{place}: {changed[1]!r} is a {changed[3]}, but {was}; write it in one way in all lines")
    reason = message.removeprefix("JSON parse error: ").split(" in row ")[0].rstrip(".")
    return ValueError(f"{place}: {reason}; JSON lines have one object a line")


def _line_of_row(piece: Piece, row: int) -> int:
    lines = [number for number, line in enumerate(piece.text.split(b"\n")) if line.strip()]
    return piece.line + (lines[row] if row < len(lines) else 0)


def _keys(piece: Piece) -> list[str]:
    line = next(line for line in piece.text.split(b"\n") if line.strip())
    try:
        first = json.loads(line)
    except ValueError:
        return []
    return list(first) if isinstance(first, dict) else []


def _are_words(one: "pa.DataType", other: "pa.DataType") -> bool:
    """Strings that look like times are times to pyarrow, until others do not."""
    import pyarrow as pa

    return all(pa.types.is_string(kind) or pa.types.is_timestamp(kind) for kind in (one, other))


def _first_nested(piece: Piece, name: str) -> int:
    lines = [json.loads(line) for line in piece.text.split(b"\n") if line.strip()]
    return next((row for row, line in enumerate(lines) if isinstance(line.get(name), (dict, list))), 0)


def _nested(place: str, name: str) -> ValueError:
    return ValueError(
        f"{place}: {name!r} holds an object or an array, but a column needs one value a line; "
        f"write the parts as keys of their own, such as {name + '_1'!r}"
    )
