"""The store in a folder: SQLite, with a write-ahead log that is synced at every commit.

One connection locks the file as long as the process lives. That excludes a second process, and avoids a bug of SQLite
before 3.51.3, by which two connections could corrupt a write-ahead log.
"""

import math
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from novikoff.serve.store import FIRST_FENCE, TABLES, Held, Store, StoreError, StoreInUseError

FILE = "novikoff.sqlite"
FORMAT = 1

MODELS = "CREATE TABLE models (model INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);"
TYPES = {
    "key": "INTEGER PRIMARY KEY",
    "int": "INTEGER",
    "real": "REAL",
    "bytes": "BLOB",
    "flag": "INTEGER",
    "compact": "WITHOUT ROWID",
}


class SqliteStore(Store):
    """A store in a folder, for one process, which holds every model."""

    lease: float | None = None
    until = math.inf

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
                for statement in (MODELS + TABLES.format(**TYPES)).split(";"):
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
            raise ValueError(f"{self.path} is not a store of novikoff, or is damaged ({error})") from error
        if version > FORMAT:
            raise ValueError(f"{self.path} has format {version}, and this version of novikoff reads up to {FORMAT}")

    def begin(self, fences: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        self._run("BEGIN IMMEDIATE")
        return ()

    def commit(self) -> None:
        self._run("COMMIT")

    def close(self) -> None:
        self.connection.close()

    def wall(self) -> float:
        return time.time()

    def hold(self, name: str) -> Held | None:
        with self.lock:
            found = self._all("SELECT model FROM models WHERE name = ?", name)
            return Held(found[0][0], self.last(found[0][0]), FIRST_FENCE) if found else None

    def renew(self) -> bool:
        return True

    def create(self, name: str) -> int | None:
        if not self._count("INSERT INTO models (name) VALUES (?) ON CONFLICT DO NOTHING", name):
            return None
        return int(self._all("SELECT last_insert_rowid()")[0][0])

    # A full disk, a disk that fails, a file that is damaged: durability can no longer be guaranteed.

    def _run(self, statement: str, *values: Any) -> None:
        self._execute(self.connection.execute, statement, values)

    def _count(self, statement: str, *values: Any) -> int:
        return self._execute(self.connection.execute, statement, values).rowcount

    def _many(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        self._execute(self.connection.executemany, statement, rows)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        with self.lock:
            return self._execute(lambda *given: self.connection.execute(*given).fetchall(), statement, values)

    def _execute(self, run: Callable[[str, Any], Any], statement: str, values: Sequence[Any]) -> Any:
        try:
            return run(statement, values)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error
