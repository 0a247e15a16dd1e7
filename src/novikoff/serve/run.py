"""A service that listens: which store, which address, who may call."""

import importlib.util
import re
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.serve.store import Store

LOOPBACK = ("127.0.0.1", "::1", "localhost")
SECONDS_FOR_HEADERS = 30.0
SECONDS_TO_END = 10


def check_installed() -> None:
    """Say how to install what the service needs, if it is not there."""
    for package in ("msgspec", "uvicorn"):
        if importlib.util.find_spec(package) is None:
            raise ImportError(
                f'the service needs msgspec and uvicorn, and {package} is not installed; pip install "novikoff[serve]"'
            )


def open_store(where: str, url: str, lease: float) -> "Store":
    """The store in a folder, or in a database, which servers at other URLs may share."""
    if "://" not in where:
        from novikoff.serve.sqlite import SqliteStore

        return SqliteStore(where)
    if not where.startswith(("postgresql://", "postgres://")):
        raise ValueError(f"--store {where} is neither a folder nor postgresql://USER@HOST/DATABASE")
    for package in ("httpx", "psycopg"):
        if importlib.util.find_spec(package) is None:
            raise ImportError(
                f"a store in PostgreSQL needs httpx and psycopg, and {package} is not installed; "
                'pip install "novikoff[postgres]"'
            )
    from novikoff.serve.postgres import PostgresStore

    return PostgresStore(where, url, lease)


def shown(where: str) -> str:
    """A store as it may be shown, without a password.

    >>> shown("postgresql://me:secret@db:5433/models?password=secret"), shown("/var/lib/novikoff")
    ('postgresql://me@db:5433/models', '/var/lib/novikoff')
    """
    return re.sub(r"\?.*|(?<=\w):[^/@]*(?=@)", "", where) if "://" in where else where


def reached_at(url: str | None, address: str, where: str) -> str:
    """Where other servers on the store reach this one."""
    if url is not None and not re.fullmatch(r"https?://[^/?#\s]+/?", url):
        raise ValueError(f"--url {url} is no address of a server, such as http://10.0.0.7:8151")
    if url is None and "://" in where and re.match(r"http://(0\.0\.0\.0|\[::\]):", address):
        raise ValueError(f"nobody can call {address}; say by --url where the other servers reach this one")
    return address if url is None else url


def read_token(path: str) -> str:
    """The token in a file: one line, of at least 16 characters that a header can have."""
    token = Path(path).read_text(encoding="utf-8").strip()
    if not re.fullmatch(r"[!-~]{16,}", token):
        raise ValueError(f"{path} has no token: one line of at least 16 ASCII characters, without spaces, is wanted")
    return token


def check_address(host: str, token: str | None) -> None:
    """Refuse to listen beyond this machine without a token."""
    if token is None and host not in LOOPBACK:
        raise ValueError(f"--host {host} can be reached from elsewhere; give a --token-file, or listen on 127.0.0.1")


def serve(listener: socket.socket, app: Any) -> None:
    """Serve until SIGTERM or Ctrl-C; what was accepted is answered first."""
    import uvicorn

    config = uvicorn.Config(
        app,
        http=_protocol(),
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    # uvicorn ends in good order on SIGTERM, and then raises the signal again; that is no failure.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
        listener.close()


def _protocol() -> Any:
    """uvicorn's protocol, which closes a connection whose headers do not come to an end.

    The application sees the connection, so that a stream can be dropped, and can end before the server does.
    """
    if importlib.util.find_spec("httptools") is None:
        return "auto"
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    from novikoff.serve.http import CONNECTION

    class Impatient(HttpToolsProtocol):
        late: Any = None
        before_end: Any = None

        def on_message_begin(self) -> None:
            super().on_message_begin()
            connection: Any = self
            self.scope["extensions"] = {CONNECTION: connection}

        def shutdown(self) -> None:
            super().shutdown()
            if self.before_end is not None:
                self.before_end()

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.late = self.loop.call_later(SECONDS_FOR_HEADERS, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            has_request = self.cycle is not None and not self.cycle.response_complete
            if has_request and self.late is not None:
                self.late.cancel()
                self.late = None
            elif not has_request and self.late is None:
                self.late = self.loop.call_later(SECONDS_FOR_HEADERS, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            if self.late is not None:
                self.late.cancel()
            super().connection_lost(exc)

    return Impatient
