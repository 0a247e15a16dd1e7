"""What shards must agree on before learning: columns, their types, categories and scaling, and indices.

Each shard surveys its own records, and the driver merges the results, in the order of the shards, into the encoding
that one machine gets from the same records, bit for bit. Sums of floats depend on where runs of additions begin
(`features/numeric.py`), so a shard gets the number of values of a column before its own. If that number was wrong,
because it was not known yet, the shard is surveyed again; so is one whose columns have other types than those of all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from novikoff.cluster.engine import Engine
from novikoff.cluster.shards import Shard
from novikoff.data.tables import check_same_names, joined_type
from novikoff.features.encode import Encoding, asked_for, settled
from novikoff.features.gather import Column, gather
from novikoff.features.numeric import Runs
from novikoff.features.scaling import RUN, TableScale

# Types that a reader can be given. Others, such as dates, are ignored, or refused where they are read.
PLAIN = ("null", "int64", "uint64", "double", "bool", "string")


@dataclass(frozen=True)
class SurveyQuery:
    """A query to a shard: the role and the type of each column, and how many of its values come before.

    Without `column_roles` only types are requested, as the encoding is known.
    """

    label: str | None
    column_roles: Mapping[str, Sequence[str]] | None
    types: Mapping[str, str] | None = None
    before: Mapping[int, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Surveyed:
    """The answer of a shard: its columns, its rows, and the types of its columns, the label's too."""

    columns: dict[str, Column]
    n_rows: int
    types: dict[str, str]


def survey(number: int, shard: Shard, query: SurveyQuery) -> Surveyed:
    """Survey all records of a shard."""
    reader: Any = shard.reader(query.label, query.types)
    if query.column_roles is None:
        return Surveyed({}, 0, reader.column_types)
    before, guess = query.before.get(number, {}), shard.rows_before or 0

    asked = {name: kind for name, kind in asked_for(query.column_roles).items() if name in (query.types or [name])}
    columns, n_rows = gather(reader, asked, before=lambda name: before.get(name, guess))
    return Surveyed(columns, n_rows, reader.column_types)


def agree_on_tables(
    engine: Engine,
    shards: Sequence[Shard],
    label: str | None,
    column_roles: Mapping[str, Sequence[str]],
    encoding: Encoding | None = None,
    scale: TableScale = "mixed",
) -> tuple[Encoding, dict[str, str]]:
    """Return how columns of all shards become numbers, and their types; a given encoding is kept."""
    query = SurveyQuery(label, None if encoding is not None else column_roles)
    found: list[Surveyed] = engine.call("survey", query)
    types = joined_types(shards, [part.types for part in found])
    told = {name: kind for name, kind in types.items() if kind in PLAIN}
    if encoding is None:
        others = [number for number, part in enumerate(found) if _differs(part, told)]
        found = _asked_again(engine, found, others, replace(query, types=told))
        before = _values_before(found)
        wrong = [i for i, part in enumerate(found) if not _began_right(part, before[i])]
        types_again = told if others else None
        found = _asked_again(engine, found, wrong, replace(query, types=types_again, before=dict(enumerate(before))))
        encoding = _joined(found, column_roles, scale)
    needed = [*encoding.types, *([] if label is None else [label])]
    return encoding, {name: types.get(name, "null") for name in needed}


def _asked_again(engine: Engine, found: list[Surveyed], which: list[int], query: SurveyQuery) -> list[Surveyed]:
    if not which:
        return found
    again = dict(zip(which, engine.call("survey", query, on=which), strict=True))
    # Columns of types that a reader cannot be given were not read again; all that is known is that they are ignored.
    return [
        part if i not in again else replace(again[i], columns={**part.columns, **again[i].columns})
        for i, part in enumerate(found)
    ]


def joined_types(shards: Sequence[Shard], found: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return types that hold the values of all shards, which have the same columns; JSON lines may lack any key."""
    import pyarrow as pa

    as_text = all(shard.format in ("csv", "tsv") for shard in shards)
    if not any(shard.format == "jsonl" for shard in shards):
        for shard, part in zip(shards, found, strict=True):
            check_same_names(part, shard.name, found[0], shards[0].name)
    types: dict[str, str] = {}
    for shard, part in zip(shards, found, strict=True):
        for name, kind in part.items():
            known = types.get(name, kind)
            if known == kind:
                types[name] = kind
                continue
            joined = joined_type(pa.type_for_alias(known), pa.type_for_alias(kind), as_text=as_text)
            if joined is None:
                raise ValueError(f"{shard.name}: column {name!r} is {kind}, but {known} in the shards before it")
            types[name] = str(joined)
    return types


def _differs(part: Surveyed, types: Mapping[str, str]) -> bool:
    return any(part.types.get(name, kind) != kind for name, kind in types.items())


def _values_before(found: Sequence[Surveyed]) -> list[dict[str, int]]:
    """Return how many numbers of each column come before those of a shard."""
    before, total = list[dict[str, int]](), dict[str, int]()
    for part in found:
        before.append(dict(total))
        for name, column in part.columns.items():
            seen = column.found.seen if isinstance(column.found, Runs) else 0
            total[name] = total.get(name, 0) + seen
    return before


def _began_right(part: Surveyed, before: Mapping[str, int]) -> bool:
    return all(
        column.found.offset % RUN == before.get(name, 0) % RUN
        for name, column in part.columns.items()
        if isinstance(column.found, Runs) and column.found.seen
    )


def _joined(found: Sequence[Surveyed], column_roles: Mapping[str, Sequence[str]], scale: TableScale) -> Encoding:
    """Return the encoding of all shards."""
    asked, n_rows, columns = asked_for(column_roles), 0, dict[str, Column]()
    for part in found:
        for name in part.columns:
            if name not in columns:  # in JSON lines a column may appear late
                columns[name] = Column(name, asked.get(name, ""), rows=n_rows, missing=n_rows)
        for name, column in columns.items():
            column.join(part.columns.get(name), part.n_rows)
        n_rows += part.n_rows
    for column in columns.values():
        column.close()
    return settled(columns, n_rows, scale)
