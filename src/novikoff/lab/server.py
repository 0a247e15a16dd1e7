"""The lab's server: a page, and a small JSON API behind which the library does the mathematics.

It listens on the loopback address only. A page of another site cannot use it: foreign `Host` and `Origin` headers are
refused (so no name that resolves to 127.0.0.1 helps), requests must be JSON, and nothing on the page comes from
elsewhere. Whatever goes wrong is said in one shape: {"error": {"message": ..., "field": ...}}.
"""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.data import strict_json
from novikoff.lab.scenes import scenes_as_json
from novikoff.lab.script import as_csv, as_script
from novikoff.lab.state import MOST_POINTS, MOST_STEPS, State, StateError, parse_state
from novikoff.lab.table import describe_table, points_of_table
from novikoff.lab.trace import moment_as_json, run_as_json
from novikoff.learn.history import READOUT_WORDS

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PAGE = Path(__file__).with_name("page")
ADDRESS = "127.0.0.1"
OWN_NAMES = (ADDRESS, "localhost")
MOST_BYTES = 2_000_000

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


def make_app() -> "Starlette":
    """The application, without a port."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    routes = [
        Route("/api/scenes", _scenes),
        *(Route(f"/api/{name}", _answering(answer), methods=["POST"]) for name, answer in ANSWERS.items()),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    handlers: Any = {HTTPException: _http_error, StateError: _state_error, ValueError: _refused}
    handlers |= dict.fromkeys((ArithmeticError, RecursionError, MemoryError), _too_much)
    return Starlette(routes=routes, middleware=[Middleware(Guard)], exception_handlers=handlers)


# -- what is asked, and what is answered ------------------------------------------------------------------------------


def _run(document: Any) -> Any:
    return run_as_json(_state(document))


def _moment(document: Any) -> Any:
    step = document.get("step") if isinstance(document, dict) else None
    if isinstance(step, bool) or not isinstance(step, int):
        raise StateError("step", f"step={step!r} must be a whole number")
    return moment_as_json(_state(document), step)


def _take_away(document: Any) -> Any:
    state = _state(document)
    return {"csv": as_csv(state), "script": as_script(state)}


def _state(document: Any) -> State:
    if not isinstance(document, dict) or "state" not in document:
        raise StateError("state", "the request must have a state")
    return parse_state(document["state"])


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "run": _run,
    "moment": _moment,
    "take-away": _take_away,
    "table": describe_table,
    "points": points_of_table,
}


def _scenes(request: "Request") -> "Response":
    from starlette.responses import JSONResponse

    limits = {"points": MOST_POINTS, "steps": MOST_STEPS}
    return JSONResponse({"scenes": scenes_as_json(), "limits": limits, "readouts": READOUT_WORDS})


def _answering(answer: Callable[[Any], Any]) -> Any:
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    async def endpoint(request: "Request") -> "Response":
        document = await _document(request)
        return JSONResponse(await run_in_threadpool(answer, document))

    return endpoint


async def _document(request: "Request") -> Any:
    from starlette.exceptions import HTTPException

    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise HTTPException(415, "the request must be JSON: Content-Type: application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"the request is larger than {MOST_BYTES:,} bytes")
    try:
        return strict_json.parse(body, most_bytes=MOST_BYTES)
    except strict_json.JSONError as error:
        raise HTTPException(400, f"the request cannot be read: {error}") from None


# -- errors and headers -----------------------------------------------------------------------------------------------


def _problem(status: int, message: str, field: str | None = None) -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse({"error": {"message": message, "field": field}}, status_code=status, headers=HEADERS)


def _http_error(request: "Request", error: Any) -> "Response":
    return _problem(error.status_code, str(error.detail))


def _state_error(request: "Request", error: Any) -> "Response":
    return _problem(422, str(error), error.field)


def _refused(request: "Request", error: Any) -> "Response":
    """What the library itself refuses, it explains."""
    return _problem(422, str(error))


def _too_much(request: "Request", error: Any) -> "Response":
    """Numbers beyond float64, or more than there is memory for."""
    return _problem(422, f"this is more than the lab can work with ({type(error).__name__}); use smaller numbers")


class Guard:
    """Refuses what does not come from the lab's own page, and adds the headers that keep the page to itself."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin")
        if host.rpartition(":")[0] not in OWN_NAMES and host not in OWN_NAMES:
            await _problem(403, f"the lab answers to {ADDRESS} only, not to {host!r}")(scope, receive, send)
        elif origin is not None and origin != f"http://{host}":
            await _problem(403, f"the lab answers its own page only, not {origin!r}")(scope, receive, send)
        else:
            await self.app(scope, receive, _with_headers(send))


def _with_headers(send: Any) -> Any:
    async def wrapped(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}
            kept = [(name, value) for name, value in message["headers"] if name.lower() not in own]
            message = {**message, "headers": [*kept, *own.items()]}
        await send(message)

    return wrapped


# -- serving ----------------------------------------------------------------------------------------------------------


def check_installed() -> None:
    """Say how to install what the lab needs, if it is not there."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as missing:
        how = 'pip install "novikoff[lab]"'
        raise ImportError(
            f"the lab needs Starlette and uvicorn, and {missing.name} is not installed; {how}"
        ) from missing


def listen(port: int = 0) -> socket.socket:
    """A socket on the loopback address; port 0 is any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except OSError as error:
        listener.close()
        raise OSError(
            f"port {port} is taken or not allowed ({error.strerror}); leave --port out for a free one"
        ) from None
    listener.listen(64)
    return listener


def address_of(listener: socket.socket) -> str:
    return f"http://{ADDRESS}:{listener.getsockname()[1]}/"


def serve(listener: socket.socket) -> None:
    """Serve the lab until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(make_app(), log_level="warning", server_header=False, ws="none", lifespan="off")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
