"""Does the maximum likelihood estimate exist? For tables whose files are on many machines.

Shards agree on the types of their columns, read their records, and send the columns that a formula names. The driver
decides the question, so its certificate is that of one machine, bit for bit: the levels of a category, and the rows for
which no estimate exists, depend on all rows together.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from novikoff.cluster.agreeing import Reading
from novikoff.cluster.engine import Engine, Local
from novikoff.cluster.shards import SHARD_BYTES, shards_of
from novikoff.cluster.survey import PLAIN, SurveyQuery, joined_types
from novikoff.cluster.worker import Worker
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.existence.search.existence import existence as of_table


def existence(
    formula: str,
    source: Any,
    *,
    engine: Engine | None = None,
    format: str | None = None,
    shard_bytes: int = SHARD_BYTES,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Existence:
    """Return whether the maximum likelihood estimate of a formula exists on the rows of all shards, and why.

    `source`, `engine` and the options after it are those of `cluster.fit`; all others, such as `family`, `weights` or
    `time_limit`, are those of `novikoff.existence`, and name columns. The columns that the formula and the options name
    must fit into this machine's memory. The certificate is that of one machine, bit for bit; `cluster.check` proves it
    again.
    """
    if progress is not None:
        progress("reading")
    reading = Reading(format=format, shard_bytes=shard_bytes)
    table = table_of(source, [formula, *map(str, _named(options))], engine, reading)
    return of_table(formula, table, progress=progress, **options)


def check_existence(
    claimed: Existence, source: Any, engine: Engine | None, formula: str | None, reading: Reading
) -> None:
    """Prove a certificate again from the rows of all shards; nothing in it is evaluated."""
    said = claimed.about["formula"]
    if said is None:
        raise ValueError("the certificate is about arrays, not about a table; check it in Python, by its method check")
    table = table_of(source, [said["text"], *map(str, _named(said["options"]))], engine, reading)
    if formula is None:
        claimed.check(table)
    else:
        claimed.check(formula, table, **said["options"])


def _named(options: Any) -> list[Any]:
    """Return what options name: columns, among other things."""
    found: list[Any] = []
    for value in options.values():
        found += value if isinstance(value, list | tuple) else [value]
    return found


def table_of(source: Any, words: Sequence[str], engine: Engine | None = None, reading: Reading | None = None) -> Any:
    """Return the columns of all shards that some words name, as a data frame."""
    import pyarrow as pa

    engine, reading = engine or Local(), reading or Reading()
    shards = shards_of(source, format=reading.format, shard_bytes=reading.shard_bytes)
    if not shards[0].is_table:
        raise ValueError(f"{shards[0].name} has no named columns, and a formula needs names")
    try:
        engine.start(Worker, shards)
        found = engine.call("survey", SurveyQuery(None, None))
        types = joined_types(shards, [part.types for part in found])
        names = [name for name in types if is_named(name, words)]
        told = {name: kind for name, kind in types.items() if kind in PLAIN}
        tables = [table for table in engine.call("apply", None, columns_of, names, told) if table is not None]
    finally:
        engine.close()
    if not tables:
        raise ValueError(f"{shards[0].name} has no rows")
    return pa.concat_tables(tables, promote_options="default").to_pandas()


def is_named(column: str, words: Sequence[str]) -> bool:
    """Whether a formula or an option may name a column: the name occurs there, or a dot, which means all.

    >>> [name for name in ("age", "job", "page") if is_named(name, ["income ~ age + C(job)"])]
    ['age', 'job']
    >>> is_named("page", ["income ~ ."])
    True
    """
    pattern = rf"(?<!\w){re.escape(column)}(?!\w)|(?<![\w.)]) *\.(?![\w.])"
    return any(re.search(pattern, text) for text in words)


def columns_of(worker: Worker, _: Any, names: Sequence[str], types: dict[str, str]) -> Any:
    """Return some columns of a shard; None if it has no rows."""
    import pyarrow as pa

    reader: Any = worker.shard.reader(None, types)
    batches = [pa.Table.from_batches([records.columns]) for records in reader]
    whole = pa.concat_tables(batches, promote_options="default") if batches else None
    return None if whole is None else whole.select([name for name in names if name in whole.column_names])
