"""The store of logs, snapshots and remembered predictions, in a folder or a database. It decides nothing.

A writer holds the lock of a store from before `begin` until after `commit`, so that nobody reads in between. After
`commit` all is on the disk; a store that cannot guarantee that raises `StoreError`, and the process must end.

A model is written by one process at a time, which holds it. Where several servers share a store, one that has not
renewed its lease for `lease` seconds, by the clock of the store, loses its models to the next that asks. A server that
takes a model gets a fence, a number that grows each time; a transaction changes a model only if its fence is still the
last one, so a server that was only slow, but thought dead, can no longer change it.
"""

import math
import sqlite3
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from novikoff.serve.events import LogRow


class StoreError(RuntimeError):
    """What was written may not be on the disk, or what is on the disk cannot be read."""


FIRST_FENCE = 1
FORMAT = 1

# Every store has these tables, with types of its own, beside a table of models.
TABLES = """
CREATE TABLE log (
    position {key}, model {int} NOT NULL, first {int} NOT NULL, size {int} NOT NULL, at {real} NOT NULL,
    kind TEXT NOT NULL, body {bytes} NOT NULL
);
CREATE UNIQUE INDEX log_first ON log (model, first);
CREATE INDEX log_rollbacks ON log (model, first) WHERE kind = 'rollback';
CREATE TABLE snapshots (
    model {int} NOT NULL, seq {int} NOT NULL, sha256 TEXT NOT NULL, mistakes {int} NOT NULL, content {bytes} NOT NULL,
    PRIMARY KEY (model, seq)
);
CREATE TABLE mistakes (
    model {int} NOT NULL, last {int} NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (model, last)
) {compact};
CREATE TABLE predictions (
    model {int} NOT NULL, name TEXT NOT NULL, expires {real} NOT NULL, revealed {int}, body {bytes} NOT NULL,
    PRIMARY KEY (model, name)
);
CREATE INDEX predictions_expire ON predictions (expires);
CREATE INDEX predictions_wait ON predictions (model) WHERE revealed IS NULL;
CREATE TABLE keys (
    model {int} NOT NULL, name TEXT NOT NULL, digest {bytes} NOT NULL, first {int} NOT NULL, size {int} NOT NULL,
    answer {bytes}, expires {real} NOT NULL, PRIMARY KEY (model, name)
);
CREATE INDEX keys_expire ON keys (expires);
"""


class Held(NamedTuple):
    """A model that this process holds: its number, its last event, and the fence against those who held it before."""

    model: int
    last: int
    fence: int


class Remembered(NamedTuple):
    """A prediction that waits for its label, with, once that is revealed, the number of its event."""

    body: bytes
    expires: float
    revealed: int | None


class Key(NamedTuple):
    """A request that came with an idempotency key: its digest, the first and the number of its events, and the answer.

    The answer to a request that learns is known only after the commit, and follows from the index of mistakes.
    """

    digest: bytes
    first: int
    size: int
    answer: bytes | None


class Snapshot(NamedTuple):
    """A state on disk: its number, the SHA-256 of its bytes, and the mistakes of its learner."""

    seq: int
    sha256: str
    mistakes: int


FILE = "novikoff.sqlite"
SQLITE_MODELS = "CREATE TABLE models (model INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);"
SQLITE_TYPES = {
    "key": "INTEGER PRIMARY KEY",
    "int": "INTEGER",
    "real": "REAL",
    "bytes": "BLOB",
    "compact": "WITHOUT ROWID",
}


class Store:
    """A store in a folder, for one process, which holds every model: a write-ahead log, synced at every commit.

    One connection locks the file as long as the process lives. That excludes a second process, and avoids a bug of
    SQLite before 3.51.3, by which two connections could corrupt a write-ahead log.

    A model is identified by its number, which is never reused. All stores run the same queries on the same tables: `?`
    stands for a value. A subclass opens another database, runs statements, and says which models this process holds.
    """

    connection: Any
    lease: float | None = None  # where other servers can have the store
    until = math.inf  # by time.monotonic(): when what is held expires, unless the lease is renewed

    def __init__(self, folder: str | Path) -> None:
        self.lock = threading.RLock()
        self.path = Path(folder) / FILE
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # One thread at a time uses the connection, though not always the same.
        self.connection = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self._open()
        except BaseException:
            self.connection.close()
            raise

    def _open(self) -> None:
        try:
            for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL", "fullfsync=ON"):
                self.connection.execute(f"PRAGMA {pragma}")
            self.connection.execute("BEGIN EXCLUSIVE")
            (version,) = self.connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in (SQLITE_MODELS + TABLES.format(**SQLITE_TYPES)).split(";"):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA user_version={FORMAT}")
            self.connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise ValueError(
                    f"{self.path.parent} is in use by another process, and one store is served by one; end the other, "
                    "or choose another --store"
                ) from None
            raise OSError(f"{self.path} cannot be opened ({error})") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is not a store of novikoff, or is damaged ({error})") from error
        if version > FORMAT:
            raise ValueError(f"{self.path} has format {version}, and this version of novikoff reads up to {FORMAT}")

    def begin(self, fences: Sequence[tuple[int, int]]) -> Collection[tuple[int, int]]:
        """Begin to change models, given with their fences; return those that another server has taken."""
        self._run("BEGIN IMMEDIATE")
        return ()

    def commit(self) -> None:
        self._run("COMMIT")

    def close(self) -> None:
        self.connection.close()

    def renew(self) -> bool:
        """Renew the lease, without the lock. False if it had expired: nothing is held until the next call."""
        return True

    def wall(self) -> float:
        return time.time()

    def hold(self, name: str) -> Held | None:
        """Hold a model for this process; None if there is none. Raise ElsewhereError if another server holds it."""
        with self.lock:
            found = self._all("SELECT model FROM models WHERE name = ?", name)
            return Held(found[0][0], self.last(found[0][0]), FIRST_FENCE) if found else None

    def create(self, name: str) -> int | None:
        """Create a model, which this process holds, and return its number; None if the name exists."""
        found = self._all("INSERT INTO models (name) VALUES (?) ON CONFLICT DO NOTHING RETURNING model", name)
        return int(found[0][0]) if found else None

    def _own(self) -> str:
        """Return a condition for what belongs to models that this process holds, if it does not hold all."""
        return ""

    # A full disk, a disk that fails, a file that is damaged: durability can no longer be guaranteed.

    def _run(self, statement: str, *values: Any) -> None:
        """Run a statement. Its failure may surface only in a later one, or in the commit."""
        self._all(statement, *values)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows that a statement finds, once nobody else holds the lock."""
        with self.lock:
            try:
                return self.connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {error}") from error

    def names(self) -> list[str]:
        return [name for (name,) in self._all("SELECT name FROM models")]

    def recent(self, most: int) -> list[str]:
        """Return the names of the models that learned last, the last one first."""
        newest = "SELECT position FROM log WHERE log.model = models.model ORDER BY first DESC LIMIT 1"
        return [name for (name,) in self._all(f"SELECT name FROM models ORDER BY ({newest}) DESC LIMIT ?", most)]

    def delete(self, model: int) -> None:
        for table in ("models", "log", "snapshots", "mistakes", "predictions", "keys"):
            self._run(f"DELETE FROM {table} WHERE model = ?", model)

    def latest(self) -> float:
        """Return when the last event was written; no later one may be earlier."""
        rows = self._all("SELECT at FROM log ORDER BY position DESC LIMIT 1")
        return float(rows[0][0]) if rows else 0.0

    # The log

    def append(self, model: int, row: LogRow) -> None:
        self._run("INSERT INTO log (model, first, size, at, kind, body) VALUES (?, ?, ?, ?, ?, ?)", model, *row)

    def rows(self, model: int, start: int, most: int) -> list[LogRow]:
        """Return rows of the log, at most so many, from the one that holds the event `start` on."""
        found = self._all(
            "SELECT first, size, at, kind, body FROM log WHERE model = ? AND first >= coalesce("
            "(SELECT max(first) FROM log WHERE model = ? AND first <= ?), ?) ORDER BY first LIMIT ?",
            *(model, model, start, start, most),
        )
        return [row for row in map(LogRow._make, found) if row.last >= start]

    def last(self, model: int) -> int:
        newest = "SELECT first + size - 1 FROM log WHERE model = ? ORDER BY first DESC LIMIT 1"
        return int(self._all(newest, model)[0][0])

    def rows_of(self, model: int, seqs: Sequence[int]) -> list[LogRow]:
        """Return the rows that hold these events."""
        found = {row.first: row for seq in seqs for row in self.rows(model, seq, 1) if row.first <= seq}
        return list(found.values())

    def rollbacks(self, model: int) -> list[LogRow]:
        where = "WHERE model = ? AND kind = 'rollback' ORDER BY first"
        return [LogRow(*row) for row in self._all(f"SELECT first, size, at, kind, body FROM log {where}", model)]

    def trim(self, model: int, upto: int, before: float) -> None:
        """Delete the rows that end by the event `upto` and are older than `before`.

        Rollbacks stay: only they show which events were taken back.
        """
        newest = self._all("SELECT max(first + size - 1) FROM log WHERE model = ? AND at < ?", model, before)[0][0]
        end = min(upto, -1 if newest is None else newest)
        self._run("DELETE FROM log WHERE model = ? AND first + size - 1 <= ? AND kind <> 'rollback'", model, end)
        self._run("DELETE FROM mistakes WHERE model = ? AND last <= ?", model, end)

    # Snapshots

    def add_snapshot(self, model: int, snapshot: Snapshot, content: bytes) -> None:
        self.delete_snapshot(model, snapshot.seq)
        self._run("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", model, *snapshot, content)

    def snapshots(self, model: int) -> list[Snapshot]:
        """Return the snapshots, the newest first."""
        where = "WHERE model = ? ORDER BY seq DESC"
        return [Snapshot(*row) for row in self._all(f"SELECT seq, sha256, mistakes FROM snapshots {where}", model)]

    def snapshot(self, model: int, seq: int) -> bytes:
        ((content,),) = self._all("SELECT content FROM snapshots WHERE model = ? AND seq = ?", model, seq)
        return bytes(content)

    def delete_snapshot(self, model: int, seq: int) -> None:
        self._run("DELETE FROM snapshots WHERE model = ? AND seq = ?", model, seq)

    # The index of mistakes

    def add_mistakes(self, model: int, last: int, body: bytes) -> None:
        """Store which events were mistakes, up to the event `last`: an index, made by folding the log."""
        replace = "ON CONFLICT (model, last) DO UPDATE SET body = excluded.body"
        self._run(f"INSERT INTO mistakes VALUES (?, ?, ?) {replace}", model, last, body)

    def mistakes(self, model: int, start: int, most: int) -> list[tuple[int, bytes]]:
        """Return parts of the index that end at the event `start` or later, at most so many, with their ends."""
        where = "WHERE model = ? AND last >= ? ORDER BY last LIMIT ?"
        return self._all(f"SELECT last, body FROM mistakes {where}", model, start, most)

    # Predictions that wait for their labels

    def remember(self, model: int, predictions: Sequence[tuple[str, bytes]], expires: float) -> None:
        for name, body in predictions:
            self._run(
                "INSERT INTO predictions (model, name, expires, body) VALUES (?, ?, ?, ?)", model, name, expires, body
            )

    def remembered(self, model: int, name: str) -> Remembered | None:
        found = self._all("SELECT body, expires, revealed FROM predictions WHERE model = ? AND name = ?", model, name)
        return Remembered(*found[0]) if found else None

    def reveal(self, model: int, names: Sequence[str], first: int) -> None:
        """Mark predictions as revealed by the events `first`, `first` + 1, ..."""
        for seq, name in enumerate(names, start=first):
            self._run("UPDATE predictions SET revealed = ? WHERE model = ? AND name = ?", seq, model, name)

    def waiting(self, model: int) -> int:
        return int(self._all("SELECT count(*) FROM predictions WHERE model = ? AND revealed IS NULL", model)[0][0])

    # Idempotency keys

    def add_key(self, model: int, name: str, key: Key, expires: float) -> None:
        self._run(
            "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model, name) DO UPDATE SET "
            "digest = excluded.digest, first = excluded.first, size = excluded.size, answer = excluded.answer, "
            "expires = excluded.expires",
            *(model, name, *key, expires),
        )

    def key(self, model: int, name: str) -> Key | None:
        found = self._all("SELECT digest, first, size, answer FROM keys WHERE model = ? AND name = ?", model, name)
        return Key(*found[0]) if found else None

    def forget(self, now: float, most: int) -> int:
        """Delete expired predictions and keys, at most so many; return how many."""
        forgotten = 0
        for table in ("predictions", "keys"):
            some = f"SELECT model, name FROM {table} WHERE expires < ? {self._own()} LIMIT ?"
            forgotten += len(self._all(f"DELETE FROM {table} WHERE (model, name) IN ({some}) RETURNING 1", now, most))
        return forgotten
