"""The client of a service."""

import tempfile

import httpx
import pytest

from novikoff.keep.models import load_plain
from novikoff.serve import Client
from novikoff.serve.client import ServiceError
from novikoff.serve.messages import LearnReply
from tests.serve.listening import listening


@pytest.fixture(scope="module")
def address():
    with tempfile.TemporaryDirectory() as folder, listening(folder) as (address, _):
        yield address


@pytest.fixture
def client(address, request):
    with Client(address, request.node.name[:60]) as client:
        client.create(classes=["down", "up"])
        yield client


def test_predict_reveal_learn(client, tmp_path):
    assert client.learn({"a": 1}, "up") == LearnReply(mistakes=1, examples=1, seq=1)
    assert client.learn_many([{"a": 1}, {"a": -3}], ["up", "down"]) == LearnReply(mistakes=0, examples=2, seq=3)
    said = client.predict({"a": 2}, remember=True)
    assert (said.label, said.seq, set(said.scores)) == ("up", 3, {"down", "up"})
    assert client.predict({"a": 2}).id is None
    assert client.reveal(said.id, "up").seq == 4
    assert [each.label for each in client.predict_many([{"a": 2}, {"a": -2}])] == ["up", "down"]
    assert client.why(said.id)["label"] == "up"
    assert client.record(margin=0.25)["bound"]["margin"] == 0.25
    (tmp_path / "m").write_bytes(client.file(seq=1))
    assert load_plain(tmp_path / "m").examples == 1


def test_what_is_refused_says_why(client):
    with pytest.raises(ServiceError, match="y: label 'sideways' is not among the classes") as refused:
        client.learn({"a": 1}, "sideways")
    assert (refused.value.status, refused.value.field) == (422, "y")
    with pytest.raises(ServiceError, match="a different model"):
        client.create(readout="last")


class Flaky(httpx.BaseTransport):
    """Loses the answer to every request the first time, and says the second time that it is busy."""

    def __init__(self, inner):
        self.inner, self.sent = inner, 0

    def handle_request(self, request):
        self.sent += 1
        if self.sent % 3 == 1:
            self.inner.handle_request(request).read()
            raise httpx.ReadError("the answer got lost")
        if self.sent % 3 == 2:
            return httpx.Response(429, headers={"Retry-After": "0"}, json={"error": {"message": "busy", "field": None}})
        return self.inner.handle_request(request)


def test_what_is_sent_again_counts_once(client):
    client._http._transport = Flaky(client._http._transport)
    client._pause = 0.0
    assert client.learn({"a": 1}, "up").seq == 1
    assert client.learn_many([{"a": 1}] * 3, ["up"] * 3).seq == 4
    said = client.predict({"a": 1}, remember=True)
    assert client.reveal(said.id, "down").seq == 5
    assert client._http._transport.sent == 12
    client.retries = 0
    with pytest.raises(httpx.ReadError):
        client.record()
