"""Write parts of a proof as JSON and read them back: the fields of a dataclass or named tuple define the format.

An `int` counts rows or is an index, and is a JSON number; a `Whole` may be of any length, and is decimal text; a
fraction is two of these; a member of an enumeration is its value. Fields with their default value are omitted, and
rejected if present.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import EnumType
from fractions import Fraction
from functools import cache
from itertools import repeat
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

from novikoff.prove.exact.algebra import decimal
from novikoff.prove.exact.document import ProofFields, fraction_pair

T = TypeVar("T")

Whole = Annotated[int, "decimal text"]
Positive = Annotated[int, "decimal text of a positive number"]
Label = str | bool | int | float


def plain_label(value: Any) -> Any:
    """A label as JSON has it: whole floats become integers, and what is no `Label` becomes text."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    return plain if isinstance(plain, Label) else str(plain)


class Combination(NamedTuple):
    """Indices of rows, ascending, and a nonzero whole weight for each."""

    rows: tuple[int, ...]
    weights: tuple[Whole, ...]


@cache
def _kinds(record: Any) -> Mapping[str, Any]:
    return get_type_hints(record, include_extras=True)


@cache
def _defaults(record: Any) -> Mapping[str, Any]:
    if not is_dataclass(record):
        return getattr(record, "_field_defaults", {})
    return {field.name: field.default for field in fields(record) if field.default is not MISSING}


def _is_record(kind: Any) -> bool:
    return is_dataclass(kind) or is_typeddict(kind) or hasattr(kind, "_fields")


def written_part(part: Any, record: Any = None) -> dict[str, Any]:
    """The fields of a part of a proof, as values of JSON; name the record of a typed dictionary.

    >>> written_part(Combination((0, 2), (1, 2)))
    {'rows': [0, 2], 'weights': ['1', '2']}
    """
    record = record or type(part)
    kinds, defaults = _kinds(record), _defaults(record)
    values = part if isinstance(part, dict) else {name: getattr(part, name) for name in kinds}
    has = (name for name in kinds if name in values and (name not in defaults or values[name] != defaults[name]))
    return {name: written_value(values[name], kinds[name]) for name in has}


def written_value(value: Any, kind: Any) -> Any:
    """A value of this kind, as a value of JSON."""
    return _writer(kind)(value)


@cache
def _writer(kind: Any) -> Callable[[Any], Any]:
    kind = _given(kind)
    if _is_record(kind):
        return lambda value: written_part(value, kind)
    if get_origin(kind) in (tuple, Sequence):
        fixed, kinds = _items(kind)
        writers = [_writer(each) for each in kinds]
        if fixed:
            return lambda value: [write(each) for write, each in zip(writers, value, strict=True)]
        return lambda value: [writers[0](each) for each in value]
    if isinstance(kind, EnumType):
        return lambda value: value.value
    writers_of: dict[Any, Callable[[Any], Any]] = {Fraction: fraction_pair, Whole: decimal, Positive: decimal}
    return writers_of.get(kind, lambda value: value)


def read_part(part: ProofFields, record: Callable[..., T]) -> T:
    """Read what `written_part` wrote; raises the error of the fields for anything else."""
    given, defaults = {}, _defaults(record)
    for name, kind in _kinds(record).items():
        if name not in part and (name in defaults or name in getattr(record, "__optional_keys__", ())):
            continue
        given[name] = read_value(part, part.value(name), name, kind)
        if name in defaults and given[name] == defaults[name]:
            part.fail(f"has {name} = {part.value(name)!r:.60}, which says nothing")
    part.close()
    try:
        return record(**given)
    except ValueError as error:
        part.fail(f"is wrong: {error}")


def read_value(part: ProofFields, value: Any, name: str, kind: Any) -> Any:
    """Read a value of this kind; the name is for errors."""
    return _reader(kind)(part, value, name)


@cache
def _reader(kind: Any) -> Callable[[ProofFields, Any, str], Any]:
    if type(None) in get_args(kind):
        read = _reader(_given(kind))
        return lambda part, value, name: None if value is None else read(part, value, name)
    if _is_record(kind):
        return lambda part, value, name: read_part(part.inside(value, name), kind)
    if get_origin(kind) in (tuple, Sequence):
        return _reader_of_items(*_items(kind))
    if get_origin(kind) is Literal or isinstance(kind, EnumType):
        return _reader_of_choices(kind)
    readers: dict[Any, Callable[[ProofFields, Any, str], Any]] = {
        Label: _label,
        Whole: ProofFields.as_integer,
        Positive: ProofFields.positive,
        Fraction: ProofFields.fraction,
        int: ProofFields.as_whole,
        float: ProofFields.as_number,
        str: ProofFields.as_text,
        bool: _flag,
        dict[str, Any]: lambda part, value, name: dict(part.inside(value, name).content),
    }
    return readers[kind]


def _reader_of_items(fixed: bool, kinds: Sequence[Any]) -> Callable[[ProofFields, Any, str], Any]:
    readers = [_reader(each) for each in kinds]

    def read(part: ProofFields, value: Any, name: str) -> tuple[Any, ...]:
        if type(value) is not list or (fixed and len(kinds) != len(value)):
            part.fail(f"has {name} = {value!r:.60}, which is not a list, or has too few or too many values")
        each = readers if fixed else repeat(readers[0])
        return tuple(own(part, item, f"{name}[{i}]") for i, (own, item) in enumerate(zip(each, value, strict=False)))

    return read


def _reader_of_choices(kind: Any) -> Callable[[ProofFields, Any, str], Any]:
    choices = get_args(kind) or [member.value for member in kind]

    def read(part: ProofFields, value: Any, name: str) -> Any:
        if type(value) is not str or value not in choices:
            part.fail(f"has {name} = {value!r:.60}, none of {', '.join(map(repr, choices))}")
        return kind(value) if isinstance(kind, EnumType) else value

    return read


def _label(part: ProofFields, value: Any, name: str) -> Label:
    if type(value) not in get_args(Label):
        part.fail(f"has {name} = {value!r:.60}, which is no label")
    return value


def _flag(part: ProofFields, value: Any, name: str) -> bool:
    if type(value) is not bool:
        part.fail(f"has {name} = {value!r:.60}, which is not true or false")
    return value


def _items(kind: Any) -> tuple[bool, Sequence[Any]]:
    """Whether a list has one kind per item, or all the same, and these kinds."""
    kinds = get_args(kind)
    fixed = len(kinds) > 1 and kinds[-1] is not Ellipsis
    return fixed, kinds if fixed else kinds[:1]


def _given(kind: Any) -> Any:
    """The kind of an optional value that is not None."""
    if type(None) in get_args(kind):
        (only,) = (each for each in get_args(kind) if each is not type(None))
        return only
    return kind
