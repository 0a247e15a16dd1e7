"""A `ray.data.Dataset` as a source: its rows in their order, cut into shards by their number alone."""

from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate
from typing import Any

from novikoff.cluster.shards import TableShard


def shards_of_dataset(dataset: Any, shard_rows: int) -> Iterator[TableShard]:
    """Shards of about as many rows, however many blocks the data set has, which depends on the cluster."""
    if not dataset.context.execution_options.preserve_order:
        raise ValueError(
            "the data set does not keep the order of its rows, so that no two runs would see the same; before it is "
            "made, set ray.data.DataContext.get_current().execution_options.preserve_order = True"
        )
    ray = import_module("ray")
    pieces = dataset.to_arrow_refs()
    count = ray.remote(num_cpus=0)(_rows_of)
    sizes: list[int] = ray.get([count.remote(piece) for piece in pieces])
    n_rows = sum(sizes)
    if n_rows == 0:
        raise ValueError("the data set has no rows; there is nothing to learn from")
    n_shards = -(-n_rows // shard_rows)
    starts = list(accumulate(sizes, initial=0))
    for number in range(n_shards):
        first, last = n_rows * number // n_shards, n_rows * (number + 1) // n_shards
        parts = (
            (piece, max(first - start, 0), min(last - start, size))
            for piece, start, size in zip(pieces, starts, sizes, strict=False)
        )
        yield TableShard(tuple(part for part in parts if part[1] < part[2]), first)


def _rows_of(table: Any) -> int:
    return int(table.num_rows)
