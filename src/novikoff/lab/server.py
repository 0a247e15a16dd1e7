"""The lab's server: a page, and a small JSON API to the library, which does the mathematics.

It listens on the loopback address only, and answers only its own page (`novikoff.web`). Requests must be JSON.
"""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.data import strict_json
from novikoff.lab.margins import answer_margins
from novikoff.lab.scenes import answer_sample, known_as_json
from novikoff.lab.script import as_csv, as_script
from novikoff.lab.shattering import answer_shattering
from novikoff.lab.state import MOST_STEPS, State, StateError, checked, parse_state
from novikoff.lab.trace import moment_as_json, run_as_json
from novikoff.options import Whole
from novikoff.web import SHARED, Guard, check_packages, problem

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PAGE = Path(__file__).with_name("page")
MOST_BYTES = 2_000_000


def make_app() -> "Starlette":
    """Return the application, without a port."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    routes = [
        Route("/api/scenes", _scenes),
        *(Route(f"/api/{name}", _answering(answer), methods=["POST"]) for name, answer in ANSWERS.items()),
        Mount("/shared", StaticFiles(directory=SHARED)),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    handlers: Any = {HTTPException: _http_error, ValueError: _refused}
    handlers |= dict.fromkeys((ArithmeticError, RecursionError, MemoryError), _too_much)
    return Starlette(routes=routes, middleware=[Middleware(Guard, who="the lab")], exception_handlers=handlers)


# -- requests and replies ---------------------------------------------------------------------------------------------


def _run(document: Any) -> Any:
    return run_as_json(_state(document))


def _moment(document: Any) -> Any:
    state = _state(document)
    return moment_as_json(state, checked("step", document.get("step"), Whole.between(0, MOST_STEPS)))


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
    "sample": answer_sample,
    "margins": answer_margins,
    "shattering": answer_shattering,
}


def _scenes(request: "Request") -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse(known_as_json())


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


# -- errors -----------------------------------------------------------------------------------------------------------


def _problem(status: int, message: str, field: str | None = None) -> "Response":
    from starlette.responses import Response

    return Response(problem(message, field), status, media_type="application/json")


def _http_error(request: "Request", error: Any) -> "Response":
    return _problem(error.status_code, str(error.detail))


def _refused(request: "Request", error: Any) -> "Response":
    """Explain what the lab or the library refuses; for a state, also where."""
    return _problem(422, str(error), getattr(error, "field", None))


def _too_much(request: "Request", error: Any) -> "Response":
    """Numbers beyond float64, or more than there is memory for."""
    return _problem(422, f"this is more than the lab can work with ({type(error).__name__}); use smaller numbers")


# -- serving ----------------------------------------------------------------------------------------------------------


def check_installed() -> None:
    """Raise an error that says how to install what the lab needs, if it is missing."""
    check_packages("the lab", "lab", "starlette", "uvicorn", "contourpy")


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
