"""The store in PostgreSQL, which several servers can share.

Every server has a row in `servers`, which expires unless it is renewed, by the clock of the database. A model names the
server that holds it. If that has no row, or an expired one, any server may take the model, and its fence grows. A
transaction that changes models first locks their rows, if their fences are as expected: until it ends, no other server
can take them. A server that has expired is never renewed. It registers again, as a new one that holds nothing.

No server waits for another, which may hang. Where something is locked, the request is refused for now, and the sessions
of expired servers are ended, so that they release their locks.
"""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from novikoff.serve.messages import ElsewhereError, RefusedError
from novikoff.serve.run import shown
from novikoff.serve.store import FIRST_FENCE, FORMAT, TABLES, Held, Store, StoreError

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
NAMES = int.from_bytes(b"novikoff", "big")  # the advisory lock of those who create or delete models
LONGEST_WAIT = 30_000  # milliseconds; no statement should wait for a lock; one that does, fails

# A connection that is lost silently is detected within half a minute.
CONNECTION: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "novikoff",
}

MODELS = """
CREATE SCHEMA novikoff;
CREATE TABLE format (number INTEGER NOT NULL);
CREATE TABLE servers (
    server BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, url TEXT NOT NULL, expires TIMESTAMPTZ NOT NULL,
    pid INTEGER NOT NULL, backend_start TIMESTAMPTZ NOT NULL
);
CREATE TABLE models (
    model BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE, server BIGINT,
    fence BIGINT NOT NULL
);
"""
TYPES = {
    "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "int": "BIGINT",
    "real": "DOUBLE PRECISION",
    "bytes": "BYTEA",
    "compact": "",
}

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresStore(Store):
    """A store in a database, for the server that others reach at `url`."""

    def __init__(self, where: str, url: str, lease: float) -> None:
        self.lock = threading.RLock()
        self.where, self.url, self.until = shown(where), url, 0.0
        self.lease: float | None = lease
        self.server: int | None = None
        self._transaction = contextlib.ExitStack()
        self.connection = self._connect(where)
        self._leases = self._connect(where)  # so that a long transaction does not keep the lease from being renewed
        try:
            self._open()
            self.renew()
        except BaseException as error:
            self.close()
            if isinstance(error, StoreError):
                raise OSError(str(error)) from None
            raise

    def _connect(self, where: str) -> Connection:
        try:
            given = make_conninfo(**{**CONNECTION, **conninfo_to_dict(where)})
            connection = psycopg.connect(given, autocommit=True)
        except psycopg.ProgrammingError as error:
            raise ValueError(f"--store {self.where} is not an address of a database ({error})".rstrip()) from None
        except psycopg.Error as error:
            raise OSError(f"{self.where} cannot be reached ({error})") from None
        for setting in ("search_path = novikoff", "statement_timeout = 0", f"lock_timeout = {LONGEST_WAIT}"):
            connection.execute(f"SET {setting}".encode())
        return connection

    def _open(self) -> None:
        self._check("fsync", "on")
        self._check("server_encoding", "UTF8")
        if self._setting("synchronous_commit") != "remote_apply":
            self._run("SET synchronous_commit = on")
            self._check("synchronous_commit", "on")
        if not self._has_tables():
            self._create_tables()
        ((version,),) = self._all("SELECT number FROM format")
        if version > FORMAT:
            raise ValueError(f"{self.where} has format {version}, and this version of novikoff reads up to {FORMAT}")

    def _has_tables(self) -> bool:
        return bool(self._all("SELECT 1 FROM pg_tables WHERE schemaname = 'novikoff' AND tablename = 'format'"))

    def _create_tables(self) -> None:
        self._run(BEGIN)
        self._all("SELECT pg_advisory_xact_lock(?)", NAMES)
        if not self._has_tables():  # no other server was quicker
            if self._all("SELECT 1 FROM pg_namespace WHERE nspname = 'novikoff'"):
                raise ValueError(f"{self.where} has a schema novikoff that is not a store; choose another database")
            for statement in (MODELS + TABLES.format(**TYPES)).split(";")[:-1]:
                self._run(statement)
            self._run("INSERT INTO format VALUES (?)", FORMAT)
        self.commit()

    def _setting(self, name: str) -> str:
        return str(self._all("SELECT current_setting(?)", name)[0][0])

    def _check(self, setting: str, wanted: str) -> None:
        if (found := self._setting(setting)) != wanted:
            raise ValueError(f"{self.where} has {setting}={found}; it must be {wanted}, so that nothing is lost")

    # Transactions, of models that nobody else can take meanwhile

    def begin(self, fences: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        with self._or_end():
            # The statements of a transaction do not wait for each other.
            self._transaction.enter_context(self.connection.pipeline())
        self._run(BEGIN)
        if not fences:
            return set()
        numbers, known = zip(*fences, strict=True)
        held = self._all(
            "SELECT model, fence FROM models JOIN unnest(?::bigint[], ?::bigint[]) AS wanted (number, known) "
            "ON number = model AND known = fence FOR SHARE OF models SKIP LOCKED",
            *(list(numbers), list(known)),
        )
        return set(fences).difference(held)

    def commit(self) -> None:
        with self._or_end():
            done = self._execute("COMMIT")
            self._transaction.close()
        # COMMIT of a failed transaction is a rollback, and no error.
        if done.statusmessage != "COMMIT":
            raise StoreError(f"{self.where}: the transaction was not committed")

    def close(self) -> None:
        """Release what is held, if the database can still be reached."""
        with contextlib.suppress(psycopg.Error):
            if self.server is not None:
                self._leases.execute("DELETE FROM servers WHERE server = %s", [self.server])
        self._leases.close()
        self.connection.close()

    def wall(self) -> float:
        return float(self._all("SELECT extract(epoch FROM clock_timestamp())::float8")[0][0])

    # Who holds what

    def renew(self) -> bool:
        if self.connection.closed:
            raise StoreError(f"{self.where}: the connection is lost")
        sent = time.monotonic()
        with self._or_end():
            if self.server is None:
                self.server = self._register()
            elif not self._leases.execute(
                "UPDATE servers SET expires = clock_timestamp() + make_interval(secs => %s) "
                "WHERE server = %s AND expires > clock_timestamp()",
                [self.lease, self.server],
            ).rowcount:
                self.server = None
                return False
        self.until = sent + (self.lease or 0.0)  # no later than in the database, whose clock was read later
        return True

    def _register(self) -> int:
        """Register this server under a new number, and end its earlier one under the same URL."""
        self._leases.execute("UPDATE servers SET expires = '-infinity' WHERE url = %s", [self.url])
        self._leases.execute(
            "DELETE FROM servers WHERE server IN (SELECT server FROM servers WHERE expires <= clock_timestamp() "
            "AND server NOT IN (SELECT server FROM models WHERE server IS NOT NULL) FOR UPDATE SKIP LOCKED)"
        )
        found = self._leases.execute(
            "INSERT INTO servers (url, expires, pid, backend_start) "
            "SELECT %s, clock_timestamp() + make_interval(secs => %s), pid, backend_start FROM pg_stat_activity "
            "WHERE pid = %s RETURNING server",
            [self.url, self.lease, self.connection.info.backend_pid],
        ).fetchall()
        return int(found[0][0])

    def _end_expired(self) -> None:
        """End the sessions of servers that have expired and did not register again: they may hold locks."""
        self._all(
            "SELECT pg_terminate_backend(pid) FROM servers JOIN pg_stat_activity USING (pid, backend_start) "
            "WHERE pid <> pg_backend_pid() GROUP BY pid HAVING max(expires) <= clock_timestamp()"
        )

    def hold(self, name: str) -> Held | None:
        with self.lock:
            me = self.server
            found = self._all(
                "SELECT model, fence, server, url, expires > clock_timestamp() FROM models "
                "LEFT JOIN servers USING (server) WHERE name = ?",
                name,
            )
            if not found:
                return None
            model, fence, server, url, alive = found[0]
            if server != me or me is None:
                if alive:
                    raise ElsewhereError(name, url)
                fence = self._take(name, model, fence, me)
            return Held(model, self.last(model), fence)

    def _take(self, name: str, model: int, fence: int, me: int | None) -> int:
        """Take a model whose holder has ended or expired, unless another server is quicker; return its new fence."""
        if me is None:
            raise ElsewhereError(name)
        self._run(BEGIN)
        try:
            free = self._is_free(model, fence)
        except StoreError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise
            self._run("ROLLBACK")
            self._end_expired()
            raise ElsewhereError(name) from None
        if not free:
            self._run("ROLLBACK")
            raise ElsewhereError(name)
        self._run("UPDATE models SET server = ?, fence = fence + 1 WHERE model = ?", me, model)
        self.commit()
        return fence + 1

    def _is_free(self, model: int, fence: int) -> bool:
        """Whether nobody holds a model that still has this fence; if so, nobody else can take it meanwhile."""
        for (holder,) in self._all(
            "SELECT server FROM models WHERE model = ? AND fence = ? FOR UPDATE NOWAIT", model, fence
        ):
            expired = "SELECT server FROM servers WHERE server = ? AND expires <= clock_timestamp() FOR UPDATE NOWAIT"
            self._run(f"UPDATE servers SET expires = '-infinity' WHERE server IN ({expired})", holder)
            return not self._all("SELECT 1 FROM servers WHERE server = ? AND expires > '-infinity'", holder)
        return False

    def create(self, name: str) -> int | None:
        me = self.server
        if me is None:
            raise ElsewhereError(name)
        self._lock_names()
        found = self._all(
            "INSERT INTO models (name, server, fence) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING model",
            *(name, me, FIRST_FENCE),
        )
        return int(found[0][0]) if found else None

    def _own(self) -> str:
        return f"AND model IN (SELECT model FROM models WHERE server = {self.server or 0})"

    def delete(self, model: int) -> None:
        self._lock_names()
        super().delete(model)

    def _lock_names(self) -> None:
        """Let one server at a time create or delete: two that do so with the same names would wait for each other."""
        if self._all("SELECT pg_try_advisory_xact_lock(?)", NAMES) == [(False,)]:
            self._end_expired()
            raise RefusedError(503, "another server is creating or deleting a model; send again", retry_after=1)

    # After any error the state of the database is unknown: durability can no longer be guaranteed.

    @contextlib.contextmanager
    def _or_end(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise StoreError(f"{self.where}: {error}") from error

    def _execute(self, statement: str, values: Sequence[Any] = (), binary: bool = False) -> psycopg.Cursor[Any]:
        # The end of a transaction is sent as it is written.
        prepare = False if statement == "COMMIT" else None
        return self.connection.execute(statement.replace("?", "%s").encode(), values, binary=binary, prepare=prepare)

    def _run(self, statement: str, *values: Any) -> None:
        with self._or_end():
            self._execute(statement, values)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        if any(isinstance(value, str) and "\0" in value for value in values):
            return []  # no text in the database has a NUL
        with self.lock, self._or_end():
            return self._execute(statement, values, binary=True).fetchall()
