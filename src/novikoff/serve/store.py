"""Where logs, snapshots and remembered predictions are kept. A store keeps them, and decides nothing.

Who uses a store holds its lock. Whatever changes it happens between `begin` and `commit`; after `commit` it is on the
disk, and a store that cannot promise that raises `StoreError`, upon which the process must end.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from novikoff.serve.events import Row
from novikoff.serve.snapshots import Snapshot


class StoreError(RuntimeError):
    """What was written may not be on the disk, or what is on the disk cannot be read."""


class StoreInUseError(ValueError):
    """Another process has the store."""


class Remembered(NamedTuple):
    """A prediction that waits for its label: what was said, and, once it is revealed, the number of that event."""

    body: bytes
    expires: float
    revealed: int | None


class Key(NamedTuple):
    """A request that came with an idempotency key: its digest, the first event that it made, and what was answered.

    The answer to a request that learns is known only after the commit, and is written a little later; who restarts in
    between finds it by folding the log again.
    """

    digest: bytes
    first: int
    answer: bytes | None


class Store(Protocol):
    """What a service needs of a store. A model is known by its number, which no later model has."""

    lock: threading.Lock

    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def close(self) -> None: ...

    def models(self) -> list[tuple[int, str, int]]:
        """Number, name and last event of every model, the one that learned last first."""
        ...

    def create(self, name: str) -> int: ...
    def delete(self, model: int) -> None: ...
    def latest(self) -> float:
        """When the last event was written; no later one may be earlier."""
        ...

    def append(self, model: int, row: Row) -> None: ...
    def rows(self, model: int, start: int, most: int) -> list[Row]:
        """Rows of the log, at most so many, from the one that holds the event `start` on."""
        ...

    def rows_of(self, model: int, seqs: Sequence[int]) -> list[Row]:
        """The rows that hold these events."""
        ...

    def rollbacks(self, model: int) -> list[Row]: ...
    def trim(self, model: int, upto: int, before: float) -> int:
        """Delete the rows that end by the event `upto` and are older than `before`; how many they were.

        Rollbacks stay: without them nobody could say which events were taken back.
        """
        ...

    def add_snapshot(self, model: int, snapshot: Snapshot, content: bytes) -> None: ...
    def snapshots(self, model: int) -> list[Snapshot]:
        """The newest first."""
        ...

    def snapshot(self, model: int, seq: int) -> bytes | None: ...
    def delete_snapshot(self, model: int, seq: int) -> None: ...

    def add_mistakes(self, model: int, line: int, last: int, body: bytes) -> None:
        """Which events were mistakes of a line, up to the event `last`: an index of the log, made by folding it."""
        ...

    def mistakes(self, model: int, line: int, start: int, most: int) -> list[tuple[int, bytes]]:
        """Parts of the index that end at the event `start` or later, at most so many, with their ends."""
        ...

    def remember(self, model: int, predictions: Sequence[tuple[str, bytes]], expires: float) -> None: ...
    def remembered(self, model: int, name: str) -> Remembered | None: ...
    def reveal(self, model: int, names: Sequence[str], first: int) -> None:
        """Mark predictions as revealed by the events `first`, `first` + 1, ..."""
        ...

    def waiting(self, model: int) -> int:
        """How many predictions wait for their label."""
        ...

    def add_key(self, model: int, name: str, key: Key, expires: float) -> None: ...
    def answer_key(self, model: int, name: str, answer: bytes) -> None: ...
    def key(self, model: int, name: str) -> Key | None: ...

    def forget(self, now: float, most: int) -> int:
        """Delete predictions and keys whose time is over, at most so many; how many they were."""
        ...
