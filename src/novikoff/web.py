"""What the lab and the service share: access checks, the headers of every response, and a socket to listen on.

A page of another site cannot use a server that listens on the loopback address: foreign `Host` and `Origin` headers are
refused (so no name that resolves to 127.0.0.1 helps), and our own pages load nothing from elsewhere. All errors have
one shape: {"error": {"message": ..., "field": ...}}.
"""

import json
import socket
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ADDRESS = "127.0.0.1"
SHARED = Path(__file__).with_name("page")  # what the pages share
OWN_NAMES = (ADDRESS, "localhost", "[::1]")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def why_foreign(headers: Iterable[tuple[bytes, bytes]], who: str) -> str | None:
    """Why a request does not come from this machine, or None: a page elsewhere may have sent it."""
    given = {name: value.decode("latin-1") for name, value in headers if name in (b"host", b"origin")}
    host, origin = given.get(b"host", ""), given.get(b"origin")
    if host.rpartition(":")[0] not in OWN_NAMES and host not in OWN_NAMES:
        return f"{who} answers to {ADDRESS} only, not to {host!r}"
    if origin is not None and origin != f"http://{host}":
        return f"{who} answers its own page only, not {origin!r}"
    return None


def check_packages(who: str, extra: str, *packages: str) -> None:
    """Raise an error that says how to install what is missing."""
    for package in packages:
        if find_spec(package) is None:
            needed = f"{', '.join(packages[:-1])} and {packages[-1]}"
            raise ImportError(f'{who} needs {needed}, and {package} is not installed; pip install "novikoff[{extra}]"')


def problem(message: str, field: str | None = None) -> bytes:
    """An error in the common shape."""
    return json.dumps({"error": {"message": message, "field": field}}).encode()


class Guard:
    """Refuses requests that do not come from this machine, and adds headers that protect our pages."""

    def __init__(self, app: Any, who: str) -> None:
        self.app, self.who = app, who

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        foreign = why_foreign(scope["headers"], self.who)
        if foreign is None:
            await self.app(scope, receive, _with_headers(send))
            return
        headers = [(b"content-type", b"application/json"), *RAW_HEADERS]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": problem(foreign)})


def _with_headers(send: Any) -> Any:
    own = {name for name, _ in RAW_HEADERS}

    async def wrapped(message: Any) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message["headers"] if name.lower() not in own]
            message = {**message, "headers": [*kept, *RAW_HEADERS]}
        await send(message)

    return wrapped


def listen(port: int = 0, address: str = ADDRESS) -> socket.socket:
    """A socket bound to an address of this machine; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as error:
        listener.close()
        raise OSError(f"port {port} is taken or not allowed ({error.strerror}); choose another with --port") from None
    listener.listen(1024)
    return listener


def listen_preferably(port: int) -> socket.socket:
    """A socket at this port, or at any free one if it is taken."""
    try:
        return listen(port)
    except OSError:
        return listen()


def address_of(listener: socket.socket) -> str:
    """The address at which a socket can be reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
