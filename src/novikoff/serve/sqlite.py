"""The store in a folder: SQLite, with a write-ahead log that is synced at every commit.

One connection has the file to itself as long as the process lives. That makes a second process impossible, and keeps
clear of a fault of SQLite before 3.51.3, by which two connections could corrupt a write-ahead log.
"""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from novikoff.serve.events import Row
from novikoff.serve.snapshots import Snapshot
from novikoff.serve.store import Key, Remembered, StoreError, StoreInUseError

FILE = "novikoff.sqlite"
FORMAT = 1

TABLES = """
CREATE TABLE models (model INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
CREATE TABLE log (
    position INTEGER PRIMARY KEY, model INTEGER NOT NULL, first INTEGER NOT NULL, size INTEGER NOT NULL,
    at REAL NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL
);
CREATE UNIQUE INDEX log_first ON log (model, first);
CREATE INDEX log_rollbacks ON log (model, first) WHERE kind = 'rollback';
CREATE TABLE snapshots (
    model INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, sha256 TEXT NOT NULL, mistakes INTEGER NOT NULL,
    asked INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (model, seq)
);
CREATE TABLE mistakes (
    model INTEGER NOT NULL, line INTEGER NOT NULL, last INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (model, line, last)
) WITHOUT ROWID;
CREATE TABLE predictions (
    model INTEGER NOT NULL, name TEXT NOT NULL, expires REAL NOT NULL, revealed INTEGER, body BLOB NOT NULL,
    PRIMARY KEY (model, name)
);
CREATE INDEX predictions_expire ON predictions (expires);
CREATE INDEX predictions_wait ON predictions (model) WHERE revealed IS NULL;
CREATE TABLE keys (
    model INTEGER NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL, first INTEGER NOT NULL, expires REAL NOT NULL,
    answer BLOB, PRIMARY KEY (model, name)
);
CREATE INDEX keys_expire ON keys (expires);
"""


class SqliteStore:
    """A store in a folder, for one process."""

    def __init__(self, folder: str | Path) -> None:
        self.lock = threading.Lock()
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
                for statement in TABLES.split(";"):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA user_version={FORMAT}")
            self.connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise StoreInUseError(
                    f"{self.path.parent} is in use by another process, and one store is served by one; end the other, "
                    "or choose another --store"
                ) from None
            raise OSError(f"{self.path} cannot be opened ({error})") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is no store of novikoff, or is damaged ({error})") from error
        if version > FORMAT:
            raise ValueError(f"{self.path} has format {version}, and this version of novikoff reads up to {FORMAT}")

    def begin(self) -> None:
        self._run("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._run("COMMIT")

    def close(self) -> None:
        self.connection.close()

    def models(self) -> list[tuple[int, str, int]]:
        newest = "FROM log WHERE log.model = models.model ORDER BY first DESC LIMIT 1"
        return self._all(
            f"SELECT model, name, (SELECT first + size - 1 {newest}) FROM models "
            f"ORDER BY (SELECT position {newest}) DESC"
        )

    def create(self, name: str) -> int:
        return self._run("INSERT INTO models (name) VALUES (?)", name).lastrowid or 0

    def delete(self, model: int) -> None:
        for table in ("models", "log", "snapshots", "mistakes", "predictions", "keys"):
            self._run(f"DELETE FROM {table} WHERE model = ?", model)

    def latest(self) -> float:
        rows = self._all("SELECT at FROM log ORDER BY position DESC LIMIT 1")
        return float(rows[0][0]) if rows else 0.0

    # The log

    def append(self, model: int, row: Row) -> None:
        self._run("INSERT INTO log (model, first, size, at, kind, body) VALUES (?, ?, ?, ?, ?, ?)", model, *row)

    def rows(self, model: int, start: int, most: int) -> list[Row]:
        found = self._all(
            "SELECT first, size, at, kind, body FROM log WHERE model = ?1 AND first >= coalesce("
            "(SELECT max(first) FROM log WHERE model = ?1 AND first <= ?2), ?2) ORDER BY first LIMIT ?3",
            *(model, start, most),
        )
        return [row for row in map(Row._make, found) if row.last >= start]

    def rows_of(self, model: int, seqs: Sequence[int]) -> list[Row]:
        found: dict[int, Row] = {}
        for seq in seqs:
            for row in self.rows(model, seq, 1):
                if row.first <= seq:
                    found[row.first] = row
        return list(found.values())

    def rollbacks(self, model: int) -> list[Row]:
        where = "WHERE model = ? AND kind = 'rollback' ORDER BY first"
        return [Row(*row) for row in self._all(f"SELECT first, size, at, kind, body FROM log {where}", model)]

    def trim(self, model: int, upto: int, before: float) -> int:
        newest = self._all("SELECT max(first + size - 1) FROM log WHERE model = ? AND at < ?", model, before)[0][0]
        end = min(upto, -1 if newest is None else newest)
        deleted = self._run(
            "DELETE FROM log WHERE model = ? AND first + size - 1 <= ? AND kind <> 'rollback'", model, end
        ).rowcount
        self._run("DELETE FROM mistakes WHERE model = ? AND last <= ?", model, end)
        return deleted

    # Snapshots

    def add_snapshot(self, model: int, snapshot: Snapshot, content: bytes) -> None:
        self._run("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)", model, *snapshot, content)

    def snapshots(self, model: int) -> list[Snapshot]:
        columns = "seq, at, sha256, mistakes, asked"
        found = self._all(f"SELECT {columns} FROM snapshots WHERE model = ? ORDER BY seq DESC", model)
        return [Snapshot(seq, at, sha256, mistakes, bool(asked)) for seq, at, sha256, mistakes, asked in found]

    def snapshot(self, model: int, seq: int) -> bytes | None:
        found = self._all("SELECT content FROM snapshots WHERE model = ? AND seq = ?", model, seq)
        return found[0][0] if found else None

    def delete_snapshot(self, model: int, seq: int) -> None:
        self._run("DELETE FROM snapshots WHERE model = ? AND seq = ?", model, seq)

    # The index of mistakes

    def add_mistakes(self, model: int, line: int, last: int, body: bytes) -> None:
        self._run("INSERT OR REPLACE INTO mistakes VALUES (?, ?, ?, ?)", model, line, last, body)

    def mistakes(self, model: int, line: int, start: int, most: int) -> list[tuple[int, bytes]]:
        where = "WHERE model = ? AND line = ? AND last >= ? ORDER BY last LIMIT ?"
        return self._all(f"SELECT last, body FROM mistakes {where}", model, line, start, most)

    # Predictions that wait for their labels

    def remember(self, model: int, predictions: Sequence[tuple[str, bytes]], expires: float) -> None:
        statement = "INSERT INTO predictions (model, name, expires, body) VALUES (?, ?, ?, ?)"
        self._many(statement, [(model, name, expires, body) for name, body in predictions])

    def remembered(self, model: int, name: str) -> Remembered | None:
        found = self._all("SELECT body, expires, revealed FROM predictions WHERE model = ? AND name = ?", model, name)
        return Remembered(*found[0]) if found else None

    def reveal(self, model: int, names: Sequence[str], first: int) -> None:
        statement = "UPDATE predictions SET revealed = ? WHERE model = ? AND name = ?"
        self._many(statement, [(first + i, model, name) for i, name in enumerate(names)])

    def waiting(self, model: int) -> int:
        return int(self._all("SELECT count(*) FROM predictions WHERE model = ? AND revealed IS NULL", model)[0][0])

    # Idempotency keys

    def add_key(self, model: int, name: str, key: Key, expires: float) -> None:
        columns = "(model, name, digest, first, answer, expires)"
        self._run(f"INSERT OR REPLACE INTO keys {columns} VALUES (?, ?, ?, ?, ?, ?)", model, name, *key, expires)

    def answer_key(self, model: int, name: str, answer: bytes) -> None:
        self._run("UPDATE keys SET answer = ? WHERE model = ? AND name = ?", answer, model, name)

    def key(self, model: int, name: str) -> Key | None:
        found = self._all("SELECT digest, first, answer FROM keys WHERE model = ? AND name = ?", model, name)
        return Key(*found[0]) if found else None

    def forget(self, now: float, most: int) -> int:
        forgotten = 0
        for table in ("predictions", "keys"):
            some = f"SELECT rowid FROM {table} WHERE expires < ? LIMIT ?"
            forgotten += self._run(f"DELETE FROM {table} WHERE rowid IN ({some})", now, most).rowcount
        return forgotten

    # A full disk, a disk that fails, a file that is damaged: whatever it is, nothing more may be promised.

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        try:
            return self.connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error

    def _many(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        try:
            self.connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error

    def _all(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self.connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error
