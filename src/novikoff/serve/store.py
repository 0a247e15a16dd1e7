"""Where logs, snapshots and remembered predictions are kept. A store keeps them, and decides nothing.

Who uses a store holds its lock. Whatever changes it happens between `begin` and `commit`; after `commit` it is on the
disk, and a store that cannot promise that raises `StoreError`, upon which the process must end.

A model is written by one process at a time, which holds it. Where several servers share a store, one that was not heard
of for `lease` seconds, by the clock of the store, loses what it held to whoever asks next. Whoever takes a model gets a
fence, a number that grows each time; a transaction changes a model only if its fence is still the last one, so a
server that was thought dead, and was only slow, changes nothing any more.
"""

import threading
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from novikoff.serve.events import Row
from novikoff.serve.snapshots import Snapshot


class StoreError(RuntimeError):
    """What was written may not be on the disk, or what is on the disk cannot be read."""


class StoreInUseError(ValueError):
    """Another process has the store."""


FIRST_FENCE = 1


class Held(NamedTuple):
    """A model that this process holds: its number, its last event, and the fence against those who held it before."""

    model: int
    last: int
    fence: int


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
    lease: float | None  # None, if no other server can have the store
    until: float  # by time.monotonic(): what is held, is held until then, unless the lease is renewed

    def begin(self, fences: Sequence[tuple[int, int]]) -> Collection[tuple[int, int]]:
        """Begin to change models, given with their fences; which of them another server has taken, and must stay so."""
        ...

    def commit(self) -> None: ...
    def close(self) -> None:
        """Give back what is held."""
        ...

    def renew(self) -> bool:
        """Renew the lease, without the lock. False if it had expired: nothing is held any more, until the next call."""
        ...

    def wall(self) -> float:
        """The time, in seconds since 1970."""
        ...

    def names(self) -> list[str]: ...
    def recent(self, most: int) -> list[str]:
        """The names of the models that learned last, the last one first."""
        ...

    def hold(self, name: str) -> Held | None:
        """A model, to be held by this process; None if there is none. ElsewhereError, if another server holds it."""
        ...

    def create(self, name: str) -> int | None:
        """The number of a new model, which this process holds; None if there is one of that name."""
        ...

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
