"""Vowpal Wabbit's text: `label |namespace feature:value feature |other feature`, one example a line.

A namespace is a column that maps the names of features to their values; the one without a name is called `|`, and the
label's column `label`. A feature without a value has 1, one with a word (`colour:red`) is the feature `colour=red`, and
a scale (`|size:0.5`) multiplies the values of its namespace. Tags are names of examples, and skipped. An importance
other than 1 is refused: a perceptron that repeats an example does something else than one that scales it.

Lines are taken apart by Arrow, all of a piece at once; what is wrong is looked for, line by line, only if something is.
"""

import math
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Records
from novikoff.data.delimited import Piece
from novikoff.data.jsonlines import pieces
from novikoff.data.streams import FileSource, OpenedFile
from novikoff.data.tables import Types, as_numpy, nearest, records_of
from novikoff.engine.ahead import ahead

if TYPE_CHECKING:
    import pyarrow as pa

LABEL, UNNAMED = "label", "|"
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
NOT_FINITE = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)
BLANKS = r"[ \t]+"


def look(
    file: OpenedFile, types: dict[str, "pa.DataType"], only: Collection[str] | None, words: Collection[str]
) -> Iterator[Records]:
    """All namespaces as each piece shows them, or some; meanwhile `types` becomes their types, and the label's."""
    import pyarrow as pa

    for records in _parsed(file, None):
        names = [name for name in records.columns.schema.names if only is None or name in only]
        for field in map(records.columns.schema.field, names):
            known = types.get(field.name, pa.null())
            types[field.name] = known if pa.types.is_null(field.type) or known == pa.float64() else field.type
        yield records_of(records.columns.select(names), records.file, records.line, True)


def read_records(file: OpenedFile, types: Types) -> Iterator[Records]:
    """The namespaces in `types`; those that a piece does not have are empty."""
    return _parsed(file, types)


def _parsed(file: OpenedFile, types: Types | None) -> Iterator[Records]:
    source = file.source

    def parsed(piece: Piece) -> Records:
        columns = _columns(piece, source)
        asked = columns if types is None else _as_asked(columns, types, source)
        return records_of(asked, source.name, piece.line, True)

    return ahead(parsed, pieces(file), file.n_jobs)


def _as_asked(columns: "pa.RecordBatch", types: Types, source: FileSource) -> "pa.RecordBatch":
    import pyarrow as pa

    found = []
    for name, kind in types.items():
        if name in columns.schema.names:
            found.append(columns.column(name).cast(kind))
        elif pa.types.is_map(kind):
            found.append(pa.array([[]] * columns.num_rows, kind))
        else:
            hint = nearest(name, columns.schema.names)
            raise ValueError(f"{source.name} has no column {name!r}; in Vowpal Wabbit's text {hint}")
    return pa.RecordBatch.from_arrays(found, names=list(types))


def _columns(piece: Piece, source: FileSource) -> "pa.RecordBatch":
    """The label, and the features of each namespace, of all lines of a piece."""
    import pyarrow as pa
    from pyarrow import compute

    text = piece.decoded(source.name).replace("\r\n", "\n").rstrip("\n")
    lines = compute.split_pattern(pa.array([text]), "\n").flatten()
    try:
        parts = compute.split_pattern(lines, "|")
        counts = as_numpy(compute.list_value_length(parts))
        if counts.min() < 2:
            raise _WrongError
        firsts = np.cumsum(counts) - counts
        flat, line_of = parts.flatten(), np.repeat(np.arange(len(lines)), counts)
        is_head = np.zeros(len(flat), dtype=np.bool_)
        is_head[firsts] = True
        labels = _labels(flat.filter(pa.array(is_head)))
        columns = {LABEL: labels, **_namespaces(flat.filter(pa.array(~is_head)), line_of[~is_head], len(lines))}
    except (_WrongError, pa.ArrowInvalid):
        for number, line in enumerate(lines.to_pylist()):
            if complaint := _complaint(line):
                raise ValueError(f"{source.name}, line {piece.line + number}: {complaint}") from None
        raise
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


class _WrongError(Exception):
    """Something is wrong in some line."""


def _labels(heads: "pa.Array") -> "pa.Array":
    """What stands before the first bar: a label, unless the example has none."""
    import pyarrow as pa

    coded = heads.dictionary_encode()
    values = [_label(head) for head in coded.dictionary.to_pylist()]
    known = [value for value in values if value is not None]
    kind = pa.int64() if all(value.is_integer() and abs(value) < 2**53 for value in known) else pa.float64()
    kind = kind if known else pa.null()
    whole = [None if value is None else int(value) if kind == pa.int64() else value for value in values]
    return pa.array(whole, kind).take(coded.indices)


def _label(head: str) -> float | None:
    words = _without_tag(head)
    numbers = [float(word) for word in words if NUMBER.fullmatch(word)]
    if len(numbers) != len(words) or not all(map(math.isfinite, numbers)):
        raise _WrongError
    if numbers[1:] not in ([], [1.0], [1.0, 0.0]):
        raise _WrongError
    return numbers[0] if numbers else None


def _without_tag(head: str) -> list[str]:
    """The words of a head. The last is a tag if it begins with an apostrophe, or if nothing stands between it and the
    bar, and is left out.

    >>> _without_tag("1 1.0 'news"), _without_tag("-1 news"), _without_tag("-1 ")
    (['1', '1.0'], ['-1'], ['-1'])
    """
    words = head.split()
    return words[:-1] if words and (words[-1].startswith("'") or not head[-1].isspace()) else words


def _namespaces(segments: "pa.Array", line_of: NDArray[Any], n_lines: int) -> dict[str, "pa.Array"]:
    """A map from names to values for every namespace, of every line."""
    import pyarrow as pa
    from pyarrow import compute

    tokens = compute.split_pattern_regex(segments, BLANKS)
    counts = as_numpy(compute.list_value_length(tokens))
    flat, segment_of = tokens.flatten(), np.repeat(np.arange(len(segments)), counts)
    firsts = np.cumsum(counts) - counts
    spaces = flat.take(pa.array(firsts)).dictionary_encode()
    named = [_space(token) for token in spaces.dictionary.to_pylist()]
    is_feature = as_numpy(compute.not_equal(flat, "")).copy()
    is_feature[firsts] = False
    segment_of = segment_of[is_feature]
    names, values = _features(flat.filter(pa.array(is_feature)))
    space_of = as_numpy(spaces.indices)[segment_of]
    with np.errstate(over="ignore"):
        values = values * np.array([scale for _, scale in named])[space_of]
    if not np.isfinite(values).all():
        raise _WrongError
    found = {}
    for name in dict.fromkeys(name for name, _ in named):
        mine = np.array([other == name for other, _ in named])[space_of]
        ends = np.searchsorted(line_of[segment_of[mine]], np.arange(n_lines + 1))
        offsets = pa.array(ends.astype(np.int32))
        found[name] = pa.MapArray.from_arrays(offsets, names.filter(pa.array(mine)), pa.array(values[mine]))
    return found


def _space(token: str) -> tuple[str, float]:
    """The name of a namespace and its scale."""
    name, colon, scale = token.partition(":")
    if (colon and (not name or not NUMBER.fullmatch(scale))) or name == LABEL:
        raise _WrongError
    return name or UNNAMED, float(scale) if colon else 1.0


def _features(tokens: "pa.Array") -> tuple["pa.Array", NDArray[np.float64]]:
    """The name and the value of every feature."""
    import pyarrow as pa
    from pyarrow import compute

    pairs = compute.split_pattern(tokens, ":", max_splits=1)
    counts = as_numpy(compute.list_value_length(pairs))
    flat, firsts = pairs.flatten(), np.cumsum(counts) - counts
    names, values, has_value = flat.take(pa.array(firsts)), np.ones(len(tokens)), counts == 2
    if compute.any(compute.equal(names, "")).as_py():
        raise _WrongError
    written = flat.take(pa.array(firsts[has_value] + 1))
    is_number = as_numpy(compute.match_substring_regex(written, f"^(?:{NUMBER.pattern})$"))
    numbers = compute.if_else(pa.array(is_number), written, "1")
    values[has_value] = as_numpy(numbers.cast(pa.float64()))
    if not is_number.all():
        words, is_word = written.to_pylist(), ~is_number
        if any(not _is_word(words[place]) for place in np.flatnonzero(is_word)):
            raise _WrongError
        joined = names.to_pylist()
        for place, word in zip(np.flatnonzero(has_value)[is_word], np.flatnonzero(is_word), strict=True):
            joined[place] = f"{joined[place]}={words[word]}"
        names = pa.array(joined, pa.string())
    return names, values


def _is_word(value: str) -> bool:
    """Whether a value that is not a number may be a word."""
    return bool(value) and ":" not in value and not NOT_FINITE.fullmatch(value)


# -- what is wrong ----------------------------------------------------------------------------------------------------


def _complaint(line: str) -> str | None:
    """What is wrong with a line, and what to do; None if nothing is."""
    head, bar, rest = line.partition("|")
    if not line.strip():
        return "this line is empty; examples of several lines are not read, so write each in one"
    if not bar:
        return "there is no |, behind which the features stand; write label |namespace feature:value"
    return _about_head(head) or next(filter(None, map(_about_segment, rest.split("|"))), None)


def _about_head(head: str) -> str | None:
    words = _without_tag(head)
    for word in words:
        if not NUMBER.fullmatch(word) or math.isinf(float(word)):
            how = "write a number before the first |, and a tag with an apostrophe or right before the bar"
            return f"{word!r:.60} is not a label; {how}"
    if len(words) > 1 and float(words[1]) != 1:
        return f"the importance {words[1]} is not 1; repeat the line, or leave the importance out"
    if len(words) > 2 and float(words[2]) != 0:
        return f"the initial prediction {words[2]} is not 0; a perceptron has none, so leave it out"
    return f"{len(words)} numbers stand before the first |; write one, the label" if len(words) > 3 else None


def _about_segment(segment: str) -> str | None:
    first, *tokens = re.split(BLANKS, segment)
    name, colon, scale = first.partition(":")
    if colon and (not name or not NUMBER.fullmatch(scale)):
        return f"{first!r:.60} is no namespace; write |name, or |name:scale with a number"
    if name == LABEL:
        return f"a namespace is called {LABEL!r}, as the column of labels is; rename it"
    factor = float(scale) if colon else 1.0
    return next(filter(None, (_about_feature(token, factor) for token in tokens if token)), None)


def _about_feature(token: str, factor: float) -> str | None:
    name, colon, value = token.partition(":")
    if not name:
        return f"{token!r:.60} has no name; features without names are not read, so write name:value"
    if ":" in value:
        return f"{token!r:.60} has two colons; write name:value"
    if colon and not NUMBER.fullmatch(value) and not _is_word(value):
        return f"the value of {token!r:.60} is missing or not finite; write a number, or leave the feature out"
    if NUMBER.fullmatch(value) and not math.isfinite(float(value) * factor):
        return f"the value of {token!r:.60} overflows float64; divide it by a power of ten"
    return None
