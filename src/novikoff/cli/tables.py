"""Files as commands open them: with labels to learn from; or with all columns, to be written out again."""

import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from novikoff.data.batches import Records
from novikoff.data.delimited import layout_of, pieces
from novikoff.data.held_out import HeldOut, Kept
from novikoff.data.reading import Reader, read
from novikoff.data.streams import Form, Source, compression
from novikoff.data.tables import NAMED_VALUES, look_like_data
from novikoff.features.columns import Numeric

if TYPE_CHECKING:
    from novikoff.cli.options import Output
    from novikoff.data.svmlight import ZeroBased
    from novikoff.features.encode import Encoding
    from novikoff.learn.model import Classifier

HEADER_BYTES = 1 << 16


def open_labelled(
    file: str, label: str | None, format: str | None, zero_based: "ZeroBased", form: Mapping[str, Any]
) -> Reader:
    """The reader of a labelled file; the label may be named by its place."""
    reader = read(file, label=label, format=format, zero_based=zero_based, **form)
    if reader.is_table and reader.label is None:
        names = ", ".join(list(reader.column_types)[:20])
        raise ValueError(f"name the column with the labels by --label; {file} has {names}")
    return with_label(reader)


def with_label(reader: Reader) -> Reader:
    """The same; a label that is a number, and no column's name, is the place of a column: 1, 2, ... or -1, -2, ..."""
    label = reader.label
    if label is None or not reader.is_text or not label.lstrip("-").isdecimal():
        return reader
    names, place = reader.layout().names, int(label)
    if label in names or not 1 <= abs(place) <= len(names):
        return reader
    return replace(reader, label=names[place - 1 if place > 0 else place])


def warn_of_the_first_line(output: "Output", reader: Reader) -> None:
    """Say that what was read as names of columns looks like data."""
    from novikoff.cli.render import listed, warn

    if reader.is_text and reader.form.header and look_like_data(names := reader.layout().names):
        warn(
            output,
            f"the first line of {reader.files[0]} was read as names of columns, but looks like data "
            f"({listed(names, 4)}); if it is, pass --no-header",
        )


def written_form(reader: Reader) -> dict[str, Any]:
    """How the table is written, where that is not as usual, for a model to remember."""
    if not reader.is_text:
        return {}
    form, decimal = reader.form, reader.layout().decimal
    usual = {"header": (form.header, True), "names": (form.names, None), "na_values": (form.na_values, ())}
    return {name: value for name, (value, default) in {**usual, "decimal": (decimal, ".")}.items() if value != default}


def remembered_form(model: "Classifier", form: Mapping[str, Any]) -> dict[str, Any]:
    """How a table is written: as the one that a model was learned from, unless something else is said."""
    names = ("header", "names", "na_values", "decimal")
    known = {name: model.parameters[name] for name in names if name in model.parameters}
    if form.get("header"):
        known.pop("names", None)
    return {**known, **form}


def encoding_of(reader: Reader, held_out: HeldOut | None, **wishes: Any) -> "Encoding | None":
    """How the records of a table become numbers, from a pass over them; those held out have no say in it."""
    if reader.is_table:
        from novikoff.features.encode import learn_encoding

        return learn_encoding(reader if held_out is None else Kept(reader, held_out), **wishes)
    lift = wishes.pop("lift", None)
    if any(wishes.values()):
        raise ValueError("svmlight text has no named columns; leave --categorical, --text, --tfidf and --ignore away")
    if lift is None:
        return None
    from novikoff.features.encode import Encoding

    return Encoding.of_numbers(max((batch.rows.n_columns for batch in reader), default=0), lift)


def open_unlabelled(file: str, format: str | None, model: "Classifier", form: Mapping[str, Any]) -> Reader:
    """A reader of all columns, in one pass. Numbers of text files come as they are written."""
    arrived, encoding = _looked_at_standard_input() if file == "-" else None, model.encoding
    reader = read(file, format=format, zero_based=counted_from(model))
    if reader.is_text:
        reader = replace(reader, form=Form(**remembered_form(model, form)))
    if not reader.is_table:
        if model.takes_a_table:
            raise ValueError(f"{file} is svmlight text, but the model was learned from a table with named columns")
        return reader
    if encoding is None or not model.takes_a_table:
        raise ValueError(f"{file} is a table, but the model was learned from numbers without names")
    if reader.formats[0] == "vw":
        return replace(reader, label=None)
    if reader.formats[0] in ("csv", "tsv"):
        return replace(reader, types=_types(_header(reader, arrived), encoding))
    return reader if arrived is None else replace(reader, types=encoding.types)


def counted_from(model: "Classifier") -> bool:
    """Whether the indices of the svmlight text that a model was learned from began with 0, and so all others do."""
    zero_based: bool = model.parameters.get("zero_based", True)
    return zero_based


def _types(names: tuple[str, ...], encoding: "Encoding") -> dict[str, str]:
    """Every column as text, but for categories, which are told apart as training told them."""
    needed = {
        name: "string" if isinstance(encoding.columns[name], Numeric) else kind for name, kind in encoding.types.items()
    }
    return dict.fromkeys(names, "string") | needed


def _looked_at_standard_input() -> bytes:
    """What has arrived there, without reading it."""
    look = getattr(sys.stdin.buffer, "peek", None)
    return b"" if look is None else look(1)


def _header(reader: Reader, arrived: bytes | None) -> tuple[str, ...]:
    """The names in the first line; none where that line has not arrived yet."""
    source = Source(reader.files[0], reader.files[0], reader.formats[0], reader.form)
    if arrived is None:
        return layout_of(source).names
    if b"\n" not in arrived or compression(arrived) is not None:
        return ()
    return pieces(io.BytesIO(arrived), source, HEADER_BYTES)[0].names


def with_points(records: Records, encoding: "Encoding | None", decimal: str | None) -> Records:
    """The same with decimal points, where numbers came as text with decimal commas."""
    if decimal != "," or encoding is None:
        return records
    import pyarrow as pa
    from pyarrow import compute

    table = records.columns
    for name, kind in encoding.columns.items():
        at = table.schema.get_field_index(name)
        if isinstance(kind, Numeric) and at >= 0 and pa.types.is_string(table.column(at).type):
            table = table.set_column(at, name, compute.replace_substring(table.column(at), ",", "."))
    return replace(records, columns=table)


def csv_names(records: Records) -> list[str]:
    """The columns that a CSV can have: not those of features with names of their own."""
    return [field.name for field in records.columns.schema if str(field.type) != NAMED_VALUES]


def csv_rows(records: Records, extra: Mapping[str, list[Any]]) -> Iterator[tuple[str, ...]]:
    """The records with further columns, row by row, as text."""
    parts = [map(as_text, records.columns.column(name).to_pylist()) for name in csv_names(records)]
    parts += [map(as_text, values) for values in extra.values()]
    return zip(*parts, strict=True)


def as_text(value: Any) -> str:
    """A value as CSV has it.

    >>> [as_text(value) for value in (None, True, 0.1, 2.0, "word")]
    ['', 'true', '0.1', '2.0', 'word']
    """
    if value is None:
        return ""
    if value is True or value is False:
        return "true" if value else "false"
    return str(value)
