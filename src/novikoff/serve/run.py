"""Run a service: its store, its address, who may call."""

import gc
import re
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.web import check_packages

if TYPE_CHECKING:
    from novikoff.serve.app import App
    from novikoff.serve.store import Store

LOOPBACK = ("127.0.0.1", "::1", "localhost")
SECONDS_TO_END = 10
SECONDS_OF_SILENCE = 75  # between two requests
UNSENT_BYTES = 1 << 18


def check_installed() -> None:
    """Raise an error that says how to install what the service needs, if it is missing."""
    check_packages("the service", "serve", "httptools", "msgspec", "uvicorn")


def open_store(where: str, url: str, lease: float) -> "Store":
    """Open the store in a folder, or in a database, which servers at other URLs may share."""
    if "://" not in where:
        from novikoff.serve.store import Store

        return Store(where)
    if not where.startswith(("postgresql://", "postgres://")):
        raise ValueError(f"--store {where} is neither a folder nor postgresql://USER@HOST/DATABASE")
    check_packages("a store in PostgreSQL", "postgres", "httpx", "psycopg")
    from novikoff.serve.postgres import PostgresStore

    return PostgresStore(where, url, lease)


def shown(where: str) -> str:
    """Return the name of a store without a password.

    >>> shown("postgresql://me:secret@db:5433/models?password=secret"), shown("/var/lib/novikoff")
    ('postgresql://me@db:5433/models', '/var/lib/novikoff')
    """
    return re.sub(r"\?.*|(?<=\w):[^/@]*(?=@)", "", where) if "://" in where else where


def reached_at(url: str | None, address: str, where: str) -> str:
    """Return the URL at which other servers on the store reach this one."""
    if url is not None and not re.fullmatch(r"https?://[^/?#\s]+/?", url):
        raise ValueError(f"--url {url} is not an address of a server, such as http://10.0.0.7:8151")
    if url is None and "://" in where and re.match(r"http://(0\.0\.0\.0|\[::\]):", address):
        raise ValueError(f"nobody can call {address}; set --url to where the other servers reach this one")
    return address if url is None else url


def read_token(path: str) -> str:
    """Read the token in a file: one line, of at least 16 characters that a header can have."""
    token = Path(path).read_text(encoding="utf-8").strip()
    if not re.fullmatch(r"[!-~]{16,}", token):
        raise ValueError(f"{path} has no token: one line of at least 16 ASCII characters without spaces is required")
    return token


def check_address(host: str, token: str | None) -> None:
    """Refuse to listen beyond this machine without a token."""
    if token is None and host not in LOOPBACK:
        raise ValueError(f"--host {host} can be reached from elsewhere; give a --token-file, or listen on 127.0.0.1")


def serve(listener: socket.socket, app: "App") -> None:
    """Serve until SIGTERM or Ctrl-C; what was accepted is answered first."""
    import uvicorn

    from novikoff.serve.limits import Limited

    config = uvicorn.Config(
        app,
        http=Limited,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=SECONDS_OF_SILENCE,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    # Connections inherit it. By default, the system would buffer megabytes for each client that does not read.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNSENT_BYTES)
    # The writer's thread returns from the disk many times in a transaction, and must not wait long for its turn.
    sys.setswitchinterval(0.0002)
    # What is imported lives as long as the process; collecting garbage there took a fifth of the time of a request.
    gc.freeze()
    # uvicorn shuts down gracefully on SIGTERM, and then raises the signal again; that is no failure.
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
        listener.close()
