"""Server-sent events: what changes is told, who does not read is dropped, and nobody keeps the server from ending."""

import asyncio
import contextlib
import json
import socket
import tempfile
import time

import httpx
import pytest

from novikoff.serve import limits, watch
from novikoff.serve.messages import Changes
from novikoff.serve.watch import Watchers
from tests.serve.listening import listening
from tests.serve.showcase import create, post

EXAMPLE = {"x": {"a": 1}, "y": "up"}


@contextlib.contextmanager
def served():
    with tempfile.TemporaryDirectory() as folder, listening(folder) as (address, service):
        yield address, service


@contextlib.contextmanager
def watching(address, **how):
    """The lines of the stream."""
    with httpx.stream("GET", f"{address}v1/events", timeout=None, **how) as answer:
        answer.raise_for_status()
        yield answer.iter_lines()


def next_message(lines):
    return json.loads(next(line for line in lines if line.startswith("data: "))[6:])


def next_about(lines, name, what):
    """The first message in which something is true of a model."""
    while True:
        for model in next_message(lines)["models"]:
            if model["name"] == name and what(model["figures"]):
                return model["figures"]


def test_the_first_message_has_all_models_and_the_next_what_changes():
    with served() as (address, _):
        create(address, "one")
        create(address, "two", classes=["down", "up"])
        with watching(address) as lines:
            first = next_message(lines)
            assert [model["name"] for model in first["models"]] == ["one", "two"]
            post(address, "two/learn", EXAMPLE)
            assert next_about(lines, "two", lambda figures: figures["examples"])["mistakes"] == 1
            post(address, "two/predict", {"x": {"a": 1}, "remember": True})
            assert next_about(lines, "two", lambda figures: figures["waiting"])["waiting"] == 1
            httpx.delete(f"{address}v1/models/one").raise_for_status()
            while (message := next_message(lines))["gone"] != ["one"]:
                assert "one" not in [model["name"] for model in message["models"]]


def test_in_silence_there_is_a_sign_of_life(monkeypatch):
    monkeypatch.setattr(watch, "HEARTBEAT", 0.01)
    with served() as (address, _), watching(address) as lines:
        next_message(lines)
        assert next(line for line in lines if line).startswith(":")


def test_who_goes_is_forgotten():
    with served() as (address, service):
        with watching(address) as lines:
            next_message(lines)
            assert len(service.watchers) == 1
        while len(service.watchers):
            time.sleep(0.01)


def test_too_many_watchers_are_refused(monkeypatch):
    monkeypatch.setattr(watch, "MOST_WATCHERS", 1)
    with served() as (address, _), watching(address):
        answer = httpx.get(f"{address}v1/events")
        assert answer.status_code == 429
        assert "too many watchers" in answer.json()["error"]["message"]
        assert httpx.head(f"{address}v1/events").is_success


def test_a_stream_ends_when_the_server_does():
    with contextlib.ExitStack() as server:
        address, _ = server.enter_context(served())
        with watching(address) as lines:
            next_message(lines)
            server.close()
            assert [line for line in lines if line] == []


def test_messages_that_are_not_read_do_not_pile_up():
    async def play():
        async def news(names):
            return Changes([], sorted(names or ()))

        watchers = Watchers(None)
        watchers._news = news
        watcher = watchers.join()
        messages = watchers.messages(watcher)
        await anext(messages)
        for i in range(10_000):
            watchers.changed([f"m{i % 3}"])
        assert json.loads((await anext(messages)).partition(b"data: ")[2])["gone"] == ["m0", "m1", "m2"]
        watchers.end()
        assert [message async for message in messages] == []

    asyncio.run(play())


def test_a_client_that_does_not_read_is_dropped(monkeypatch):
    async def much(names):
        return Changes([], ["x" * 1_000_000])

    monkeypatch.setattr(watch, "GAP", 0.0)
    monkeypatch.setattr(watch, "SHARE", 1.0)
    monkeypatch.setattr(limits, "LOOK", 0.05)
    monkeypatch.setattr(limits, "SECONDS_TO_TAKE", 0.5)
    with served() as (address, service):
        create(address, "m")
        service.watchers._news = much
        url = httpx.URL(address)
        with socket.create_connection((url.host, url.port)) as lazy:
            lazy.sendall(f"GET /v1/events HTTP/1.1\r\nHost: {url.host}:{url.port}\r\n\r\n".encode())
            lazy.recv(1)
            while len(service.watchers):
                post(address, "m/learn", EXAMPLE)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_another_site_may_not_watch(headers):
    with served() as (address, _):
        assert httpx.get(f"{address}v1/events", headers=headers).status_code == 403
