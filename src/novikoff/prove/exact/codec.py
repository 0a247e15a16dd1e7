"""Write parts of a proof as JSON and read them back: the fields of a dataclass or named tuple define the format.

An `int` counts rows or is an index, and is a JSON number; a `Whole` may be of any length, and is decimal text; a
fraction is two of these; a member of an enumeration is its value. Fields with their default value are omitted, and
rejected if present.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum, EnumType
from fractions import Fraction
from functools import cache
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
    kind = _given(kind)
    if _is_record(kind):
        return written_part(value, kind)
    if get_origin(kind) in (tuple, Sequence):
        return [written_value(each, inner) for each, inner in zip(value, _inner(kind, len(value)), strict=True)]
    if kind is Fraction:
        return fraction_pair(value)
    if kind in (Whole, Positive):
        return decimal(value)
    return value.value if isinstance(value, Enum) else value


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
    if value is None and type(None) in get_args(kind):
        return None
    kind = _given(kind)
    if _is_record(kind):
        return read_part(part.inside(value, name), kind)
    if get_origin(kind) in (tuple, Sequence):
        if type(value) is not list or len(_inner(kind, len(value))) != len(value):
            part.fail(f"has {name} = {value!r:.60}, which is not a list, or has too few or too many values")
        kinds = enumerate(zip(value, _inner(kind, len(value)), strict=True))
        return tuple(read_value(part, each, f"{name}[{i}]", inner) for i, (each, inner) in kinds)
    if get_origin(kind) is Literal or isinstance(kind, EnumType):
        choices = get_args(kind) or [each.value for each in kind]
        if type(value) is not str or value not in choices:
            part.fail(f"has {name} = {value!r:.60}, none of {', '.join(map(repr, choices))}")
        return kind(value) if isinstance(kind, EnumType) else value
    if kind in (Label, bool):
        if type(value) not in (get_args(kind) or (bool,)):
            part.fail(f"has {name} = {value!r:.60}, which is {'no label' if kind == Label else 'not true or false'}")
        return value
    readers: dict[Any, Callable[[Any, str], Any]] = {
        Whole: part.as_integer,
        Positive: part.positive,
        Fraction: part.fraction,
        int: part.as_whole,
        float: part.as_number,
        str: part.as_text,
        dict[str, Any]: lambda value, name: dict(part.inside(value, name).content),
    }
    return readers[kind](value, name)


def _inner(kind: Any, size: int) -> Sequence[Any]:
    """The kinds of the items of a list: one each for a fixed tuple, else all the same."""
    kinds = get_args(kind)
    return kinds if len(kinds) > 1 and kinds[-1] is not Ellipsis else [kinds[0]] * size


def _given(kind: Any) -> Any:
    """The kind of an optional value that is not None."""
    if type(None) in get_args(kind):
        (only,) = (each for each in get_args(kind) if each is not type(None))
        return only
    return kind
