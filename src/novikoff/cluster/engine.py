"""Engines, which run shards: one small protocol, and the engine that runs them one after the other in this process.

A worker is made from its shard alone, and the results of its methods depend only on the shard and their arguments. So a
method that runs twice, or again on another machine, gives the same answer, and `Local` is the oracle for every other
engine.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from novikoff.cluster.shards import Shard

MakeWorker = Callable[[int, Shard], Any]


class Engine(Protocol):
    """Start shards, call a method on all or some of them, close."""

    @property
    def restarted(self) -> int:
        """How many workers have died and been restarted so far."""
        ...

    def start(self, make: MakeWorker, shards: Sequence[Shard]) -> None:
        """Make a worker for every shard."""
        ...

    def share(self, value: Any) -> Any:
        """Return what to pass to `call` in place of a value that is used in several calls."""
        ...

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        """Call a method on every shard, or on some; return the results in the order of the shards."""
        ...

    def close(self) -> None:
        """Stop all workers."""
        ...


class Local:
    """Runs the shards one after the other, in this process."""

    restarted = 0

    def __init__(self) -> None:
        self._workers: list[Any] = []

    def __repr__(self) -> str:
        return "Local()"

    def start(self, make: MakeWorker, shards: Sequence[Shard]) -> None:
        self._workers = [make(number, shard) for number, shard in enumerate(shards)]

    def share(self, value: Any) -> Any:
        return value

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        numbers = range(len(self._workers)) if on is None else on
        return [getattr(self._workers[number], method)(*args) for number in numbers]

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._workers = []
