"""An ordinary application of ASGI: it is called without a server, mounted in another, and told to live and to end."""

import asyncio
import io
import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from novikoff.serve.app import App
from novikoff.serve.service import Service
from novikoff.serve.store import Store
from tests.serve.serving import run

EXAMPLE = {"x": {"a": 1.0}, "y": "up"}


def app_on(folder, **how):
    return App(Service(Store(folder)), **how)


def client_of(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1")


def test_it_is_called_without_a_server(folder):
    async def test():
        async with app_on(folder) as app, client_of(app) as client:
            assert (await client.put("/v1/models/m", json={"classes": ["down", "up"]})).status_code == 201
            assert (await client.post("/v1/models/m/learn", json=EXAMPLE)).json()["mistakes"] == 1
            assert (await client.get("/v1/models", headers={"Host": "evil.example"})).status_code == 403
            head = await client.head("/v1/models")
            assert (head.content, head.headers["content-length"]) == (b"", "16")
        async with app_on(folder) as app, client_of(app) as client:
            assert (await client.get("/v1/models/m")).json()["examples"] == 1

    run(test())


def test_it_is_mounted_in_another_application(folder):
    async def test():
        async with app_on(folder) as app, client_of(Starlette(routes=[Mount("/learning", app)])) as client:
            assert (await client.put("/learning/v1/models/m", json={})).status_code == 201
            assert (await client.post("/learning/v1/models/m/learn", json=EXAMPLE)).json()["seq"] == 1
            assert (await client.get("/v1/models/m")).status_code == 404

    run(test())


def test_it_lives_and_ends_as_a_server_tells_it(folder):
    async def test():
        app, sent, told = app_on(folder), [], asyncio.Queue()

        async def send(message):
            sent.append(message["type"])

        life = asyncio.create_task(app({"type": "lifespan", "asgi": {}}, told.get, send))
        await told.put({"type": "lifespan.startup"})
        while not app.service.ready:
            await asyncio.sleep(0.001)
        await told.put({"type": "lifespan.shutdown"})
        await life
        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
        Store(folder).close()

    run(test())


def test_whoever_goes_before_the_request_is_there_changes_nothing(folder):
    async def test():
        async with app_on(folder) as app, client_of(app) as client:
            await client.put("/v1/models/m", json={})
            scope = {
                "type": "http",
                "method": "POST",
                "path": "/v1/models/m/learn",
                "query_string": b"",
                "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
            }
            said = iter(
                [{"type": "http.request", "body": b'{"x":{},"y":1}', "more_body": True}, {"type": "http.disconnect"}]
            )
            sent = []

            async def receive():
                return next(said)

            async def send(message):
                sent.append(message)

            await app(scope, receive, send)
            assert sent == []
            assert (await client.get("/v1/models/m")).json()["seq"] == 0

    run(test())


def test_other_protocols_are_refused(folder):
    async def test():
        async with app_on(folder) as app:
            with pytest.raises(ValueError, match="speaks HTTP, not websocket"):
                await app({"type": "websocket"}, None, None)

    run(test())


def test_every_request_is_one_line_of_the_log(folder):
    async def test():
        log = io.StringIO()
        async with app_on(folder, log=log) as app, client_of(app) as client:
            await client.put("/v1/models/m", json={})
            await client.post("/v1/models/m/learn?secret=1", json=EXAMPLE)
            await client.get("/v1/models/%0Aforged")
        lines = [re.fullmatch(r"(\w+) (\S+) (\d+) \d+\.\d ms", line).groups() for line in log.getvalue().splitlines()]
        assert lines == [
            ("PUT", "/v1/models/m", "201"),
            ("POST", "/v1/models/m/learn", "200"),
            ("GET", "/v1/models/%0Aforged", "404"),
        ]

    run(test())
