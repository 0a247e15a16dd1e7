"""What runs shards: one small protocol, and the engine that runs them one after the other in this process.

A worker is made of its shard alone, and what its methods return follows from the shard and from their arguments. So
a method that runs twice, or again on another machine, gives the same answer, and `Local` is the oracle for every
other engine.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from novikoff.cluster.shards import Shard

MakeWorker = Callable[[int, Shard], Any]


class Engine(Protocol):
    """Start shards, call a method on all or some of them, close."""

    @property
    def restarted(self) -> int:
        """How many workers have died so far, and were started again."""
        ...

    def start(self, make: MakeWorker, shards: Sequence[Shard]) -> None:
        """Make a worker of every shard."""
        ...

    def share(self, value: Any) -> Any:
        """What to hand to `call` in place of a value that is used in several calls."""
        ...

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        """What a method returns on every shard, or on some, in the order of the shards."""
        ...

    def close(self) -> None:
        """Let all workers go."""
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
