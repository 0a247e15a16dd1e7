"""HTTP as bytes: whatever a client sends, and however it is cut, it gets the answers that are due, in their order."""

import contextlib
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

from novikoff.serve import limits as wire
from novikoff.serve.http import MOST_BYTES
from tests.draws import draws
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
@settings(max_examples=draws(25))
def test_requests_may_be_cut_anywhere_and_sent_together(address, cuts):
    text = learning(1) + HEALTH + learning(2) + LAST
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    found = answers(address, *(text[i:j] for i, j in pairwise(places)))
    assert statuses(found) == [200] * 4
    seqs = [json.loads(body)["seq"] for _, _, body in (found[0], found[2])]
    assert seqs[1] == seqs[0] + 1
    assert [headers.get("connection") for _, headers, _ in found] == [None, None, None, "close"]


def test_many_requests_at_once_are_all_answered_in_their_order(address):
    n = 80
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
    monkeypatch.setattr(wire, "SECONDS_TO_ASK", 0.2)
    monkeypatch.setattr(wire, "LOOK", 0.01)
    found = []
    with service.store.lock:
        client = threading.Thread(target=lambda: found.extend(answers(address, learning(1) + b"POST /v1")))
        client.start()
        time.sleep(0.5)  # longer makes the test no weaker
    client.join()
    assert statuses(found) == [200]


def test_a_body_that_does_not_come_is_refused_and_the_connection_ends(address, monkeypatch):
    monkeypatch.setattr(wire, "SECONDS_TO_ASK", 0.2)
    monkeypatch.setattr(wire, "LOOK", 0.01)
    ((status, headers, body),) = answers(address, learning(1)[:-5])
    assert (status, headers["connection"]) == (408, "close")
    assert "did not arrive" in json.loads(body)["error"]["message"]


# -- those who do not read --------------------------------------------------------------------------------------------

STYLE = request("/page.css", method="GET")
ONE_READ = 1 << 18  # bytes that a server takes from a socket at once


def deaf(address, text):
    """A client that sends and never reads; its buffer is small, so that answers pile up on the other side."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((address.host, address.port))
    client.settimeout(0.2)
    with contextlib.suppress(TimeoutError, ConnectionError):
        client.sendall(text)
    return client


def open_connections(monkeypatch):
    """All connections that are made from now on, as the server has them."""
    made, connection_made = [], wire.Limited.connection_made

    def noted(self, transport):
        made.append(self)
        connection_made(self, transport)

    monkeypatch.setattr(wire.Limited, "connection_made", noted)
    return made


def until(condition):
    for _ in range(3000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_who_does_not_take_answers_in_time_is_let_go_and_little_is_made_for_it(address, monkeypatch):
    monkeypatch.setattr(wire, "LOOK", 0.05)
    monkeypatch.setattr(wire, "SECONDS_TO_TAKE", 2.0)
    made = open_connections(monkeypatch)
    with deaf(address, STYLE * 3000):
        assert until(lambda: made and made[0].flow.write_paused)
        largest = made[0].transport.get_write_buffer_size()
        assert len(made[0].pipeline) * len(STYLE) <= ONE_READ
        assert until(lambda: made[0].transport.is_closing())
    style = httpx.get(f"{address}page.css").content
    assert largest < (1 << 17) + 2 * len(style)


def test_a_connection_that_ends_waits_no_longer_for_who_does_not_read(address, monkeypatch):
    monkeypatch.setattr(wire, "LOOK", 0.05)
    monkeypatch.setattr(wire, "SECONDS_TO_TAKE", 2.0)
    made = open_connections(monkeypatch)
    with deaf(address, STYLE * 3000):
        assert until(lambda: made and made[0].flow.write_paused)
        made[0].loop.call_soon_threadsafe(made[0].transport.close)
        assert until(lambda: made[0] not in made[0].connections)


def test_however_many_do_not_read_others_are_served(address, monkeypatch):
    monkeypatch.setattr(wire, "MOST_CONNECTIONS", 12)
    made = open_connections(monkeypatch)
    with contextlib.ExitStack() as clients:
        for _ in range(30):
            clients.enter_context(deaf(address, STYLE * 100))
            assert statuses(answers(address, LAST)) == [200]
        assert until(lambda: statuses(answers(address, LAST)) and len(made[0].connections) <= 13)


def test_who_waits_for_an_answer_is_not_put_off_by_those_who_come(listener, monkeypatch):
    address, service = listener
    monkeypatch.setattr(wire, "MOST_CONNECTIONS", 3)
    found = []
    with service.store.lock:
        client = threading.Thread(target=lambda: found.extend(answers(address, learning(1) + LAST)))
        client.start()
        assert until(lambda: service.writer.waiting or service.writer._jobs or time.sleep(0.2) is None)
        with contextlib.ExitStack() as clients:
            for _ in range(10):
                clients.enter_context(deaf(address, b"GET /healthz"))
    client.join()
    assert statuses(found) == [200, 200]


def test_who_sends_many_requests_at_once_takes_turns_with_others(address, monkeypatch):
    made, answered, complete = open_connections(monkeypatch), [], wire.Limited.on_response_complete

    def noted(self):
        answered.append(self.client)
        complete(self)

    monkeypatch.setattr(wire.Limited, "on_response_complete", noted)
    with contextlib.ExitStack() as clients:
        sockets = [clients.enter_context(socket.create_connection((address.host, address.port))) for _ in range(2)]
        one, other = (client.getsockname() for client in sockets)
        assert until(lambda: {one, other} <= {each.client for each in made})
        held, may_go_on = threading.Event(), threading.Event()
        made[0].loop.call_soon_threadsafe(lambda: held.set() or may_go_on.wait(60))
        assert held.wait(60)
        for client in sockets:
            client.sendall(HEALTH * 100)
        may_go_on.set()
        assert until(lambda: answered.count(one) == answered.count(other) == 100)
    first, last = answered.index, lambda who: len(answered) - 1 - answered[::-1].index(who)
    assert max(first(one), first(other)) < min(last(one), last(other))


def test_large_requests_that_wait_for_answers_are_few(listener, monkeypatch):
    address, service = listener
    made = open_connections(monkeypatch)
    large = request("/v1/models/m/learn", json.dumps({"x": {"a" * 600_000: 1}, "y": "up"}).encode())
    with service.store.lock, deaf(address, large * 8):
        assert until(lambda: made and made[0].pipeline and made[0].flow.read_paused)
        time.sleep(0.2)  # longer makes the test no weaker
        assert sum(len(cycle.body) for cycle, _ in made[0].pipeline) <= ONE_READ


def test_of_who_may_not_call_no_body_is_kept(monkeypatch):
    made = open_connections(monkeypatch)
    with tempfile.TemporaryDirectory() as folder, listening(folder, token="a token of many letters") as (there, _):
        address = httpx.URL(there)
        head = request("/v1/models/m/learn", Content_Length=2_000_000, Content_Type="application/json")
        with deaf(address, head + b"x" * 1_000_000):
            assert until(lambda: made and made[-1].cycle is not None and made[-1].cycle.response_complete)
            assert len(made[-1].cycle.body) <= ONE_READ
        body = b"x" * 100_000
        assert statuses(answers(address, request("/v1/models/m/learn", body), LAST)) == [401, 200]


def test_trailers_are_no_headers_and_come_to_an_end(address, monkeypatch):
    body = json.dumps({"x": {"a": 1}, "y": "up"}).encode()
    head = request("/v1/models/m/learn", Transfer_Encoding="chunked", Content_Type="application/json")
    chunks = b"%x\r\n%b\r\n0\r\nContent-Type: text/plain\r\nIdempotency-Key: %b\r\n\r\n"
    long = chunks % (len(body), body, b"k" * 300)  # as a header, both would be refused
    assert statuses(answers(address, head, long, LAST)) == [200, 200]
    made = open_connections(monkeypatch)
    endless = b"%x\r\n%b\r\n0\r\n" % (len(body), body) + (b"A: %b\r\n" % (b"x" * 60_000)) * 150
    with deaf(address, head + endless):
        assert until(lambda: made and made[0].is_refused)


def test_a_header_that_does_not_end_is_refused_before_it_is_whole(address, monkeypatch):
    made = open_connections(monkeypatch)
    with deaf(address, b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 4_000_000):
        assert until(lambda: made and made[0].is_refused and made[0] not in made[0].connections)


def test_requests_that_are_sent_ahead_wait_outside(listener, monkeypatch):
    """Beyond one read, they stay where they are until those before them are answered."""
    address, service = listener
    made = open_connections(monkeypatch)
    with service.store.lock, deaf(address, learning(1) + HEALTH * 100_000):
        assert until(lambda: made and made[0].flow.read_paused)
        time.sleep(0.2)  # longer makes the test no weaker
        assert len(made[0].pipeline) * len(HEALTH) <= ONE_READ


def test_the_answer_to_a_request_is_never_that_to_nonsense_after_it(listener):
    address, service = listener
    cut = request("/v1/models/m/learn", Transfer_Encoding="chunked", Content_Type="application/json") + b"nonsense\r\n"
    found = []
    with service.store.lock:
        client = threading.Thread(target=lambda: found.extend(answers(address, learning(1) + HEALTH + cut)))
        client.start()
        time.sleep(0.2)  # longer makes the test no weaker
    client.join()
    assert statuses(found) == [200, 200]
