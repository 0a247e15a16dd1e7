"""HTTP as bytes: whatever a client sends, and however it is cut, it gets the answers that are due, in their order."""

import json
import socket
import tempfile
import threading
import time
from itertools import pairwise

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.serve import connection as wire
from novikoff.serve.http import MOST_BYTES
from tests.serve.listening import listening


@pytest.fixture(scope="module")
def listener():
    with tempfile.TemporaryDirectory() as folder, listening(folder) as (address, service):
        httpx.put(f"{address}v1/models/m", json={"classes": ["down", "up"]}).raise_for_status()
        yield httpx.URL(address), service


@pytest.fixture(scope="module")
def address(listener):
    return listener[0]


def request(path, body=b"", method="POST", version="1.1", **headers):
    lines = [f"{method} {path} HTTP/{version}", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def learning(value):
    return request("/v1/models/m/learn", json.dumps({"x": {"a": value}, "y": "up"}).encode())


HEALTH = request("/healthz", method="GET")
LAST = request("/healthz", method="GET", Connection="close")


def answers(address, *pieces):
    """All answers to these bytes, in pieces, until the server closes: status, headers, body."""
    with socket.create_connection((address.host, address.port)) as client:
        client.settimeout(60)
        for piece in pieces:
            client.sendall(piece)
        with client.makefile("rb") as stream:
            found = []
            while line := stream.readline():
                headers = {}
                while field := stream.readline().strip():
                    name, _, value = field.partition(b":")
                    headers[name.decode().lower()] = value.strip().decode()
                found.append((int(line.split()[1]), headers, stream.read(int(headers.get("content-length", 0)))))
            return found


def statuses(found):
    return [status for status, _, _ in found]


@given(cuts=st.sets(st.integers(1, 600), max_size=6))
@settings(max_examples=25)
def test_requests_may_be_cut_anywhere_and_sent_together(address, cuts):
    text = learning(1) + HEALTH + learning(2) + LAST
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    found = answers(address, *(text[i:j] for i, j in pairwise(places)))
    assert statuses(found) == [200] * 4
    seqs = [json.loads(body)["seq"] for _, _, body in (found[0], found[2])]
    assert seqs[1] == seqs[0] + 1
    assert [headers.get("connection") for _, headers, _ in found] == [None, None, None, "close"]


def test_many_requests_at_once_are_all_answered_in_their_order(address):
    n = 5 * wire.MOST_WAITING
    found = answers(address, b"".join(map(learning, range(n))) + LAST)
    assert statuses(found) == [200] * (n + 1)
    seqs = [json.loads(body)["seq"] for _, _, body in found[:n]]
    assert seqs == list(range(seqs[0], seqs[0] + n))


def test_a_body_may_come_in_chunks(address):
    body = json.dumps({"x": {"a": 1}, "y": "up"}).encode()
    head = request("/v1/models/m/learn", Transfer_Encoding="chunked", Content_Type="application/json")
    chunks = b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (body[:5], len(body) - 5, body[5:])
    assert statuses(answers(address, head, chunks, LAST)) == [200, 200]


def test_who_asks_whether_to_go_on_is_told_so(address):
    body = json.dumps({"x": {"a": 1}, "y": "up"}).encode()
    head = request("/v1/models/m/learn", body, Expect="100-continue")[: -len(body)]
    assert statuses(answers(address, head, body, LAST)) == [100, 200, 200]


def test_old_clients_and_those_who_are_done_are_let_go(address):
    for text in (request("/healthz", method="GET", version="1.0"), LAST):
        ((status, headers, _),) = answers(address, text + HEALTH)
        assert (status, headers["connection"]) == (200, "close")


def test_a_head_has_the_length_of_the_body_and_no_body(address):
    with socket.create_connection((address.host, address.port)) as client:
        client.sendall(request("/healthz", method="HEAD", Connection="close"))
        with client.makefile("rb") as stream:
            head, _, body = stream.read().partition(b"\r\n\r\n")
    assert b"200 OK" in head
    assert b"content-length: 0" not in head
    assert body == b""


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /healthz HTTP/9.9\r\n\r\n", 400),
        (b"GET \xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400),
        (request("/v1/models/m/learn", Content_Length="minus one"), 400),
        (request("/v1/models/m/learn", b"{}", Transfer_Encoding="chunked"), 400),
        (request("/healthz", method="GET", X_Long="x" * (wire.MOST_HEADER_BYTES + 1)), 431),
        (request("/" + "x" * (wire.MOST_HEADER_BYTES + 1), method="GET"), 431),
        (request("/v1/models/m/learn", Content_Length=MOST_BYTES + 1), 413),
    ],
)
def test_what_cannot_be_read_is_refused_once_and_the_connection_ends(address, text, status):
    ((found, headers, body),) = answers(address, text + HEALTH)
    assert (found, headers["connection"]) == (status, "close")
    assert json.loads(body)["error"]["message"]


def test_what_was_sent_before_nonsense_is_answered(address):
    assert statuses(answers(address, learning(1) + b"nonsense\r\n\r\n"))[:1] == [200]


def test_a_wish_to_speak_something_else_is_answered_in_http(address):
    text = request("/healthz", method="GET", Connection="Upgrade", Upgrade="websocket")
    assert statuses(answers(address, text)) == [200]


def test_a_slow_second_request_does_not_cost_the_first_its_answer(listener, monkeypatch):
    """However often the time of the second is over while the first waits for the disk."""
    address, service = listener
    monkeypatch.setattr(wire, "SECONDS_FOR_HEADERS", 0.2)
    monkeypatch.setattr(wire, "LOOK", 0.01)
    found = []
    with service.store.lock:
        client = threading.Thread(target=lambda: found.extend(answers(address, learning(1) + b"POST /v1")))
        client.start()
        time.sleep(0.5)  # longer makes the test no weaker
    client.join()
    assert statuses(found) == [200]
