"""The application: who may call, which route answers, and what is said when something is wrong."""

import asyncio
import hmac
import sys
import traceback
from typing import Any

from novikoff.serve.api import OPEN, ROUTES, Route
from novikoff.serve.events import ENCODER
from novikoff.serve.forward import PASSED_ON, Forwarder
from novikoff.serve.http import Call, Reply, refusal
from novikoff.serve.refused import ElsewhereError, RefusedError
from novikoff.serve.service import Service
from novikoff.serve.static import files
from novikoff.web import problem, why_foreign

Key = tuple[str | None, ...]


class App:
    """Answers requests about a service. Without a token it answers this machine only.

    To the server it is an application of ASGI that lives, and gets no requests: connections call `answer`.
    """

    def __init__(self, service: Service, token: str | None = None) -> None:
        self.service = service
        self.token = None if token is None else f"Bearer {token}".encode()
        self.routes: dict[Key, dict[str, Route]] = {}
        page = [Route("GET", path, answer) for path, answer in files().items()]
        self.open = OPEN.union(route.path for route in page)
        for route in (*ROUTES, *page, Route("GET", "/openapi.json", _openapi)):
            self.routes.setdefault(_key(route.path), {})[route.method] = route
        self._starting: asyncio.Task[None] | None = None
        self._forwarder = None if service.store.lease is None else Forwarder(service.store.lease)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Start when told to, so that probes are answered meanwhile, and end when told to."""
        await receive()
        self._starting = asyncio.create_task(self._start())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if not self.service.ready:
            self._starting.cancel()
        await self.service.stop()
        if self._forwarder is not None:
            await self._forwarder.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        try:
            await self.service.start()
        except Exception as error:
            self.service.writer.on_failure(error)

    async def answer(self, call: Call) -> Reply:
        """The reply to a request, whatever it is."""
        path, route = "unknown", None
        try:
            refused = self.why_not(call)
            if refused is not None:
                raise refused
            route, call.names = self._route(call)
            path = route.path
            if not self.service.ready and path not in self.open:
                raise RefusedError(503, "the service is not ready; the logs are being read", retry_after=1)
            reply = await self._reply(route, call)
        except RefusedError as error:
            reply = refusal(error)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            reply = Reply(problem("something went wrong in the service; its log says what"), 500)
        method = call.method if route is not None else "any"
        self.service.requests[path, method, reply.status] += 1
        if reply.status == 405:
            allowed = ", ".join(self.routes[_find(self.routes, call.path)[0] or ()]).encode()
            reply = reply._replace(headers=((b"allow", allowed),))
        return reply

    def why_not(self, call: Call) -> RefusedError | None:
        """Why somebody may not call; None if they may. The body does not matter, and need not have come."""
        if self.token is None:
            foreign = why_foreign(call.headers.items(), "the service")
            return None if foreign is None else RefusedError(403, foreign)
        given = call.headers.get(b"authorization", b"")
        if call.path in self.open or hmac.compare_digest(given, self.token):
            return None
        return RefusedError(401, "the token is missing or wrong: Authorization: Bearer ...")

    def _route(self, call: Call) -> tuple[Route, list[str]]:
        key, names = _find(self.routes, call.path)
        if key is None:
            raise RefusedError(404, f"there is no {call.path!r:.200}")
        method = "GET" if call.method == "HEAD" else call.method
        route = self.routes[key].get(method)
        if route is None:
            raise RefusedError(405, f"{call.path!r:.200} does not know {method:.20}")
        return route, names

    async def _reply(self, route: Route, call: Call) -> Reply:
        try:
            return await self._own_reply(route, call)
        except ElsewhereError as error:
            if self._forwarder is None or error.url is None or PASSED_ON in call.headers:
                raise
            return await self._forwarder.send(error.url, call)

    async def _own_reply(self, route: Route, call: Call) -> Reply:
        if not route.of_a_model or route.by_name:
            return await route.answer(call)
        model = await self.service.use(call.names[0])
        try:
            return await route.answer(call, model)
        finally:
            self.service.models.release(model)


def _key(path: str) -> Key:
    return tuple(None if part.startswith("{") else part for part in path.split("/")[1:])


def _find(routes: dict[Key, Any], path: str) -> tuple[Key | None, list[str]]:
    """The key of a path among the routes, and the names in its open places, which are the third and the fifth."""
    parts = path.split("/")[1:]
    exact: Key = tuple(parts)
    if exact in routes:
        return exact, []
    key: Key = tuple(None if place in (2, 4) else part for place, part in enumerate(parts))
    return (key, parts[2::2]) if key in routes else (None, [])


async def _openapi(call: Call) -> Reply:
    """This description."""
    from novikoff.serve.schema import openapi

    return Reply(ENCODER.encode(openapi()))
