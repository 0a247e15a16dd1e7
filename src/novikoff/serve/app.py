"""The ASGI application: access, routing and errors.

It can be served by any server, mounted in another application, or called without a server: `async with app` starts and
stops its service where no lifespan messages are sent.
"""

import asyncio
import contextlib
import hmac
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

from novikoff.serve.api import OPEN, ROUTES, Route, openapi
from novikoff.serve.events import ENCODER
from novikoff.serve.http import CLOSE, PAGE_HEADERS, Call, DisconnectedError, Reply, refusal
from novikoff.serve.messages import ElsewhereError, RefusedError
from novikoff.serve.models import holder
from novikoff.serve.service import Service
from novikoff.web import SHARED, problem, why_foreign

PAGE = Path(__file__).with_name("page")
KINDS = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}

SECONDS_TO_CONNECT = 5.0

PASSED_ON = b"novikoff-passed-on"  # a forwarded request is not forwarded again
PASSED_HEADERS = (b"authorization", b"content-type", b"idempotency-key")


class App:
    """Answers requests to a service. Without a token it answers this machine only.

    With a `log`, it logs a line for every request: method, path, status, milliseconds.
    """

    def __init__(self, service: Service, token: str | None = None, log: TextIO | None = None) -> None:
        self.service = service
        self.token = None if token is None else f"Bearer {token}".encode()
        self.log = log
        page = page_routes()
        self.open = OPEN.union(route.path for route in page)
        self.router = Router((*ROUTES, *page, Route("GET", "/openapi.json", _openapi)))
        self._forwarder = None if service.store.lease is None else Forwarder(service.store.lease)

    async def __aenter__(self) -> "App":
        await self.service.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.service.stop()
        if self._forwarder is not None:
            await self._forwarder.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"the service speaks HTTP, not {scope['type']}")
        started = time.perf_counter()
        call = Call(self.service, scope)
        try:
            reply = await self._answer(call, receive)
        except DisconnectedError:
            return
        if self.log is not None:
            milliseconds = 1000 * (time.perf_counter() - started)
            path = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else call.raw_path
            with contextlib.suppress(OSError, ValueError):  # a log that cannot be written stops nothing
                print(f"{call.method} {path} {reply.status} {milliseconds:.1f} ms", file=self.log, flush=True)
        headers = reply.all_headers
        if b"upgrade" in call.headers:  # what comes next is not HTTP
            headers.append(CLOSE)
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if call.method == "HEAD" else reply.body})

    async def _live(self, receive: Any, send: Any) -> None:
        """Handle the lifespan: start while probes are already answered, and stop when told to."""
        await receive()
        starting = asyncio.create_task(self._start())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        starting.cancel()  # if it has not ended
        await self.__aexit__()
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        try:
            await self.service.start()
        except Exception as error:
            self.service.writer.on_failure(error)

    async def _answer(self, call: Call, receive: Any) -> Reply:
        """Reply to any request."""
        path, method = "unknown", "any"
        try:
            self._check(call)
            route, call.names = self.router.find(call)
            path, method = route.path, call.method
            if not self.service.ready and path not in self.open:
                raise RefusedError(503, "the service is not ready; the logs are being read", retry_after=1)
            if route.takes is not None:
                await call.read(receive)
            reply = await self._reply(route, call)
        except RefusedError as error:
            reply = refusal(error)
        except asyncio.CancelledError:  # the server waits no longer
            reply = refusal(RefusedError(503, "the service is shutting down", retry_after=5, closes=True))
        except DisconnectedError:
            raise
        except Exception:
            traceback.print_exc(file=sys.stderr)
            reply = Reply(problem("internal error; see the log of the service"), 500)
        self.service.requests[path, method, reply.status] += 1
        return reply

    def _check(self, call: Call) -> None:
        """Refuse callers without access, before the body is read."""
        if self.token is None:
            foreign = why_foreign(call.headers.items(), "the service")
            if foreign is not None:
                raise RefusedError(403, foreign)
        elif call.path not in self.open and not hmac.compare_digest(
            call.headers.get(b"authorization", b""), self.token
        ):
            raise RefusedError(401, "the token is missing or wrong: Authorization: Bearer ...")

    async def _reply(self, route: Route, call: Call) -> Reply:
        """Reply to a call; if another server holds its model, forward it, once."""
        try:
            if not route.of_a_model or route.by_name:
                return await route.reply(call, *call.names)
            model = await self.service.use(call.names[0])
            try:
                return await route.reply(call, model, *call.names[1:])
            finally:
                self.service.models.release(model)
        except ElsewhereError as error:
            if self._forwarder is None or error.url is None or PASSED_ON in call.headers:
                raise
            return await self._forwarder.send(error.url, call)


class Router:
    """Finds the route of a path by its pattern, in which every name is a placeholder."""

    def __init__(self, routes: tuple[Route, ...]) -> None:
        self.methods: dict[str, dict[str, Route]] = {}
        for route in routes:
            self.methods.setdefault(re.sub(r"{\w+}", "{}", route.path), {})[route.method] = route

    def find(self, call: Call) -> tuple[Route, tuple[str, ...]]:
        """Return the route of a request, and the names in its path."""
        parts, names = call.path.split("/"), []
        if call.path.startswith("/v1/models/"):  # then every second part from there is a name
            names = parts[3::2]
            parts[3::2] = ["{}" if name else "" for name in names]
        methods = self.methods.get("/".join(parts))
        if methods is None:
            raise RefusedError(404, f"there is no {call.path!r:.200}")
        method = "GET" if call.method == "HEAD" else call.method
        if method not in methods:
            allowed = ((b"allow", ", ".join(methods).encode()),)
            raise RefusedError(405, f"{method:.20} is not allowed for {call.path!r:.200}", headers=allowed)
        return methods[method], tuple(names)


class Forwarder:
    """Forwards requests to the server that holds their model, once, and returns its answers.

    The servers of a store have the same token.
    """

    def __init__(self, patience: float) -> None:
        import httpx

        self.patience = patience  # seconds, after which it asks whether the other one still holds the model
        self.client: Any = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=SECONDS_TO_CONNECT),
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )

    async def send(self, url: str, call: Call) -> Reply:
        """Return the answer of the server at `url`, as long as it holds the model."""
        import httpx

        answering = asyncio.create_task(self._request(url, call))
        try:
            while not (await asyncio.wait({answering}, timeout=self.patience))[0]:
                if await asyncio.to_thread(holder, call.service.store, call.names[0]) != url:
                    raise _unknown(url)
            answer = answering.result()
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise RefusedError(503, f"{url} holds the model and cannot be reached; send again", retry_after=1) from None
        except httpx.TransportError:
            raise _unknown(url) from None
        finally:
            answering.cancel()
        retry = answer.headers.get("retry-after")
        passed = () if retry is None else ((b"retry-after", retry.encode()),)
        return Reply(answer.content, answer.status_code, answer.headers.get("content-type", "").encode(), passed)

    async def _request(self, url: str, call: Call) -> Any:
        import httpx

        query = b"?" + call.raw_query if call.raw_query else b""
        target = httpx.URL(url).copy_with(raw_path=call.raw_path.encode() + query)
        method = "GET" if call.method == "HEAD" else call.method
        headers = [(name, call.headers[name]) for name in PASSED_HEADERS if name in call.headers]
        return await self.client.request(method, target, headers=[*headers, (PASSED_ON, b"1")], content=call.body)

    async def close(self) -> None:
        await self.client.aclose()


def _unknown(url: str) -> RefusedError:
    unknown = "the request may or may not have been applied; retry with the same Idempotency-Key"
    return RefusedError(502, f"{url} held the model and gave no answer; {unknown}")


def page_routes() -> list[Route]:
    """Return the routes of the page at /, its description of the API at /docs, their files, and the shared ones.

    They are public: without the token they show no data.
    """
    own = {f"/{path.name}": path for path in PAGE.iterdir() if path.suffix in KINDS}
    shared = {f"/shared/{path.name}": path for path in SHARED.iterdir() if path.suffix in KINDS}
    files = own | shared | {"/": PAGE / "index.html", "/docs": PAGE / "docs.html"}
    return [Route("GET", path, _answering(file)) for path, file in files.items()]


def _answering(file: Path) -> Any:
    reply = Reply(file.read_bytes(), kind=KINDS[file.suffix], headers=PAGE_HEADERS)

    async def answer(call: Call) -> Reply:
        return reply

    return answer


async def _openapi(call: Call) -> Reply:
    """This description."""
    return Reply(ENCODER.encode(openapi()))
