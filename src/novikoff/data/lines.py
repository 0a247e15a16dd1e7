"""Tables in text with a record in every line: JSON lines, and Vowpal Wabbit's text.

JSON lines have one object a line, whose keys are the columns. A key that a line does not have is missing.

Vowpal Wabbit's lines are `label |namespace feature:value feature |other feature`. A namespace is a column that maps the
names of features to their values; the one without a name is called `|`, and the label's column `label`. A feature
without a value has 1, one with a word (`colour:red`) is the feature `colour=red`, and a scale (`|size:0.5`) multiplies
the values of its namespace. Tags are skipped. An importance other than 1 is rejected: for a perceptron, repeating an
example is not the same as scaling it.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from novikoff.data.batches import Records
from novikoff.data.delimited import LONGEST_RECORD, Piece, pieces_of
from novikoff.data.streams import FileSource, for_threads
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

# The column of labels, and the namespace without a name, in Vowpal Wabbit's text.
LABEL, UNNAMED = "label", "|"
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
NOT_FINITE = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)


def _pieces(source: FileSource) -> Iterator[Piece]:
    """Yield all lines, some at a time, but none that are all blank."""

    def end_of(text: bytes) -> int:
        end = text.rfind(b"\n") + 1
        return end if text[:end].strip() else 0

    def unclosed(line: int) -> ValueError:
        what = f"line {line} has more than {LONGEST_RECORD:,} bytes; is it a text of lines?"
        return ValueError(f"{source.name}: {what}")

    return pieces_of(source, end_of, unclosed)


def look(source: FileSource, types: dict[str, "pa.DataType"], only: Collection[str] | None) -> Iterator[Records]:
    """Yield all columns, or some, in the types inferred from each piece; `types` is updated to hold all values."""
    row = 1
    for piece, table in _parsed(source, None):
        names = [name for name in table.schema.names if only is None or name in only]
        types |= {name: _joined(types, table.schema.field(name), piece, source) for name in names}
        yield from piece.records(table.select(names), source.name, row)
        row += table.num_rows


def read_records(source: FileSource, types: Types) -> Iterator[Records]:
    """Yield the columns in `types`; at the end, raise an error for a key that no line has."""
    row, filled = 1, set[str]()
    keys: list[str] = []
    for piece, table in _parsed(source, types):
        if source.format == "jsonl":
            keys = keys or _keys(piece)
            filled.update(name for name in types if table.column(name).null_count < table.num_rows)
        yield from piece.records(table.select(list(types)), source.name, row)
        row += table.num_rows
    in_parts = source.part is not None  # other parts of the file may have the key
    for name in types if source.format == "jsonl" and not in_parts else ():
        if name not in filled and name not in keys and row > 1 and str(types[name]) != "null":
            raise ValueError(f"{source.name} has no key {name!r} in any line; {nearest(name, keys)}")


def _parsed(source: FileSource, types: Types | None) -> Iterator[tuple[Piece, "pa.Table"]]:
    """Yield all pieces, parsed in these types, or in those inferred from each."""
    parse_piece: Callable[..., pa.Table] = _parse_json if source.format == "jsonl" else _parse_vw
    return ahead(lambda piece: (piece, parse_piece(piece, source, types)), _pieces(source), source.n_jobs)


def _joined(types: Types, field: "pa.Field", piece: Piece, source: FileSource) -> "pa.DataType":
    """Return the type of a column that may have had another type in earlier pieces."""
    import pyarrow as pa

    known = types.get(field.name, pa.null())
    kind = joined_type(known, plain_type(field.type), as_text=_are_words(known, field.type))
    if kind is None or (pa.types.is_nested(field.type) and not pa.types.is_map(field.type)):
        what = f"{field.name!r} is {known} in one line and {field.type} in another"
        raise _explained(piece, source, {field.name: known}, what)
    return kind


# -- JSON lines -------------------------------------------------------------------------------------------------------


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


def _parse_json(piece: Piece, source: FileSource, types: Types | None) -> "pa.Table":
    import pyarrow as pa

    _check_text(piece, source)
    _check_cells(piece, source, len(types or ()))
    try:
        if types is None:
            table = _with_days(_as_shown(piece, source))
        else:
            table = _read_json(piece.text, pa.schema(list(types.items())))
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
            return _read_json(piece.text, _read_json(piece.text[:end]).schema, others="error")
    if piece.n_lines * piece.text.count(b":") > FEW_CELLS:
        _check_cells(piece, source, len(set(_KEY.findall(piece.text))))
    return _read_json(piece.text)


def _read_json(text: bytes, schema: "pa.Schema | None" = None, others: str = "ignore") -> "pa.Table":
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


# -- Vowpal Wabbit's text ----------------------------------------------------------------------------------------------


def _parse_vw(piece: Piece, source: FileSource, types: Types | None) -> "pa.Table":
    """Return the label, and the features of each namespace, of all lines of a piece; those in `types`, if given."""
    import pyarrow as pa

    columns = _vw_columns(piece, source)
    n_rows = len(columns[LABEL])
    for name, kind in (types or {}).items():
        if name not in columns and not pa.types.is_map(kind):
            raise ValueError(f"{source.name} has no column {name!r}; in Vowpal Wabbit's text {nearest(name, columns)}")
        columns[name] = columns[name].cast(kind) if name in columns else pa.array([[]] * n_rows, kind)
    return pa.table(columns)


def _vw_columns(piece: Piece, source: FileSource) -> dict[str, "pa.Array"]:
    import pyarrow as pa

    lines = piece.decoded(source.name).replace("\r\n", "\n").rstrip("\n").split("\n")
    labels: list[float | None] = []
    found: dict[str, tuple[list[int], list[str], list[float]]] = {}
    for row, line in enumerate(lines):
        try:
            head, bar, rest = line.partition("|")
            if not bar:
                raise ValueError("there is no |; write each example in a line, as label |namespace feature:value")
            labels.append(_label(head))
            for segment in rest.split("|"):
                first, *tokens = segment.replace("\t", " ").split(" ")
                space, scale = _space(first)
                rows, names, values = found.setdefault(space, ([], [], []))
                for token in filter(None, tokens):
                    name, value = _feature(token, scale) if ":" in token else (token, scale)
                    rows.append(row)
                    names.append(name)
                    values.append(value)
        except ValueError as error:
            raise ValueError(f"{source.name}, line {piece.line + row}: {error}") from None
    known = [label for label in labels if label is not None]
    if all(label.is_integer() and abs(label) < 2**53 for label in known):
        whole = [None if label is None else int(label) for label in labels]
        columns = {LABEL: pa.array(whole, pa.int64() if known else pa.null())}
    else:
        columns = {LABEL: pa.array(labels, pa.float64())}
    for space, (rows, names, values) in found.items():
        ends = pa.array(np.searchsorted(rows, np.arange(len(lines) + 1)).astype(np.int32))
        columns[space] = pa.MapArray.from_arrays(ends, pa.array(names, pa.string()), pa.array(values, pa.float64()))
    return columns


def _label(head: str) -> float | None:
    """Parse the text before the first bar: a label, unless the example has none, and perhaps a tag.

    A tag is the last word if it begins with an apostrophe, or directly precedes the bar.

    >>> _label("1 1.0 'news"), _label("-1 news"), _label("")
    (1.0, -1.0, None)
    """
    words = head.split()
    if words and (words[-1].startswith("'") or not head[-1].isspace()):
        words.pop()
    numbers = [float(word) if NUMBER.fullmatch(word) else math.nan for word in words]
    if not all(map(math.isfinite, numbers)) or numbers[1:] not in ([], [1.0], [1.0, 0.0]):
        raise ValueError(
            f"{' '.join(words)!r:.60} is not a label; write a number before the first |, without an importance (repeat "
            "the line) or an initial prediction, and a tag with an apostrophe or right before the bar"
        )
    return numbers[0] if numbers else None


def _space(token: str) -> tuple[str, float]:
    name, colon, scale = token.partition(":")
    if name == LABEL or (colon and not (name and NUMBER.fullmatch(scale) and math.isfinite(float(scale)))):
        raise ValueError(f"{token!r:.60} is not a namespace; write |name, other than {LABEL}, or |name:number")
    return name or UNNAMED, float(scale) if colon else 1.0


def _feature(token: str, scale: float) -> tuple[str, float]:
    name, _, written = token.partition(":")
    is_number = NUMBER.fullmatch(written)
    value = float(written) * scale if is_number else scale
    if not name or not written or ":" in written or NOT_FINITE.fullmatch(written) or not math.isfinite(value):
        raise ValueError(
            f"{token!r:.60} is not a feature; write name, name:word, or name:value with a number in the range of "
            "float64, or omit it"
        )
    return (name, value) if is_number else (f"{name}={written}", scale)
