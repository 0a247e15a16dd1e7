"""Over HTTP: one shape of errors, limits, and nobody who may not call."""

import base64
import json
import re
import socket
import tempfile
import uuid

import httpx
import pandas
import pytest

import novikoff
from novikoff.keep.models import load_plain
from novikoff.serve import limits, run
from novikoff.serve.http import MOST_BYTES, MOST_LINES
from tests.serve.listening import listening

NDJSON = {"Content-Type": "application/x-ndjson"}
AS_JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def service():
    with tempfile.TemporaryDirectory() as folder, listening(folder) as (address, service):
        yield address, service


@pytest.fixture(scope="module")
def client(service):
    with httpx.Client(base_url=service[0], timeout=None) as client:
        yield client


@pytest.fixture
def model(client):
    """The path of a new model."""
    path = f"/v1/models/{uuid.uuid4().hex}"
    assert client.put(path, json={"classes": ["down", "up"]}).status_code == 201
    return path


def is_problem(answer, status, field=None):
    error = answer.json()["error"]
    assert set(error) == {"message", "field"}
    assert error["message"]
    assert (answer.status_code, error["field"]) == (status, field)
    return True


def test_predict_reveal_learn(client, model):
    learned = client.post(f"{model}/learn", json={"x": {"a": 1, "colour": "red"}, "y": "up"}).json()
    assert learned == {"seq": 1, "examples": 1, "mistakes": 1}
    said = client.post(f"{model}/predict", json={"x": {"a": 2.5}, "remember": True}).json()
    assert (said["label"], said["seq"], [score["label"] for score in said["scores"]]) == ("up", 1, ["down", "up"])
    assert client.post(f"{model}/reveal", json={"id": said["id"], "y": "down"}).json()["mistakes"] == 1
    record = client.get(f"{model}/record", params={"margin": 0.5}).json()
    assert (record["revealed"], record["wrong"], record["bound"]["margin"]) == (1, 1, 0.5)
    beyond = client.get(f"{model}/record", params={"margin": 1e-200}).json()["bound"]
    assert (beyond["on_arrival"], beyond["as_served"]) == (None, None)
    assert client.get(f"{model}/why/{said['id']}").json()["label"] == "up"
    weights = client.get(f"{model}/weights", params={"top": 1}).json()["classes"][0]["weights"]
    assert [weight["feature"] for weight in weights] == ["colour=red"]


def test_many_come_one_a_line(client, model):
    lines = "".join(json.dumps({"x": {"a": i - 5}, "y": "up" if i > 5 else "down"}) + "\n" for i in range(10))
    assert client.post(f"{model}/learn", content=lines, headers=NDJSON).json()["examples"] == 10
    asked = "".join(json.dumps({"x": {"a": i}, "remember": True}) + "\n" for i in range(3))
    answer = client.post(f"{model}/predict", content=asked, headers=NDJSON)
    assert answer.headers["content-type"] == "application/x-ndjson"
    said = [json.loads(line) for line in answer.text.splitlines()]
    labels = "".join(json.dumps({"id": each["id"], "y": "up"}) + "\n" for each in said)
    assert client.post(f"{model}/reveal", content=labels, headers=NDJSON).json()["seq"] == 13


def test_an_unknown_field_is_answered_with_those_that_there_are(client, model):
    for path, body, field, known in (
        (f"{model}/learn", {"x": {}, "label": "up"}, "label", "x, y"),
        (f"{model}/reveal", {"id": "1", "label": "up"}, "label", "id, y"),
    ):
        answer = client.post(path, json=body)
        assert is_problem(answer, 422, field)
        assert f"the fields are {known}" in answer.json()["error"]["message"]
    lines = '{"x": {}, "y": "up"}\n{"x": {}, "y": "up", "z": 1}\n'
    answer = client.post(f"{model}/learn", content=lines, headers=NDJSON)
    assert is_problem(answer, 422, "line 2: z")
    assert "unknown field `z`; the fields are x, y" in answer.json()["error"]["message"]
    assert (
        "unknown field `depth`; the fields are margin"
        in client.get(f"{model}/record?depth=1").json()["error"]["message"]
    )


def test_of_a_model_that_is_not_there_it_is_said_what_creates_it(client):
    answer = client.post("/v1/models/nobody/learn", json={"x": {}, "y": "up"})
    assert is_problem(answer, 404)
    assert "PUT /v1/models/nobody creates it" in answer.json()["error"]["message"]


def test_a_value_that_is_null_counts_as_absent(client, model):
    other = f"/v1/models/{uuid.uuid4().hex}"
    client.put(other, json={"classes": ["down", "up"]})
    with_null = [{"a": 1.0, "b": None}, {"a": None}, {"b": -2, "c": None, "d": "red"}]
    without = [{name: value for name, value in x.items() if value is not None} for x in with_null]
    for path, stream in ((model, with_null), (other, without)):
        lines = "".join(json.dumps({"x": x, "y": "up" if i % 2 else "down"}) + "\n" for i, x in enumerate(stream))
        assert client.post(f"{path}/learn", content=lines, headers=NDJSON).json()["examples"] == 3
        said = client.post(f"{path}/predict", json={"x": stream[2], "remember": True}).json()
        assert client.post(f"{path}/reveal", json={"id": said["id"], "y": "up"}).status_code == 200
        assert client.post(f"{path}/why", json={"x": stream[0]}).status_code == 200
    assert client.get(f"{model}/model").content == client.get(f"{other}/model").content
    assert client.get(f"{model}/model?seq=2").content == client.get(f"{other}/model?seq=2").content


@pytest.mark.parametrize("odd", [{"a": 2.0**470}, {"a": -(2.0**470)}, {"a": "text"}, {"a": True}, {"a": 3}, {}])
def test_an_example_of_another_kind_changes_nothing_for_those_beside_it(client, model, odd):
    """Ordinary numbers are read in a quicker way than texts, truths, and numbers that are nearly too large."""
    plain = [({"a": 1.5, "b": -1}, "up"), ({"a": -2, "b": 0.5}, "down")] * 3
    stream = [*plain[:3], (odd, "up"), *plain[3:]]
    lines = [json.dumps({"x": x, "y": y}) + "\n" for x, y in stream]
    one_by_one = f"/v1/models/{uuid.uuid4().hex}"
    client.put(one_by_one, json={"classes": ["down", "up"]})
    for line in lines:
        assert client.post(f"{one_by_one}/learn", content=line, headers=AS_JSON).status_code == 200
    assert client.post(f"{model}/learn", content="".join(lines), headers=NDJSON).json()["examples"] == len(stream)
    apart, together = (client.get(f"{path}/model") for path in (one_by_one, model))
    assert apart.status_code == 200
    assert apart.content == together.content
    too_long = json.dumps({"x": {"a": 2.0**481}, "y": "up"})
    assert is_problem(
        client.post(f"{model}/learn", content="".join(lines) + too_long, headers=NDJSON), 422, "line 8: x"
    )


@pytest.mark.parametrize(
    ("line", "status", "field"),
    [
        ('{"x": {"a": 1}, "y": "sideways"}', 422, "line 2: y"),
        ('{"x": {"a": [1]}, "y": "up"}', 422, "line 2: x"),
        ('{"x": null, "y": "up"}', 422, "line 2: x"),
        ('{"x": {"a": 1}, "y": 10000000000000000000000}', 422, "line 2: y"),
        ('{"x": {"a": 1e999}, "y": "up"}', 422, "line 2: x"),
        ('{"x": {"a": 1e300}, "y": "up"}', 422, "line 2: x"),
        ('{"x": {"a": NaN}, "y": "up"}', 400, None),
        ('{"x": {"a": 1}}', 422, "line 2"),
        ('{"x": {"a": 1}, "y": "up", "z": 1}', 422, "line 2: z"),
        ("[" * 100_000, 422, "line 2"),
        ('{"x": ' + '{"a": ' * 100_000, 422, "line 2: x"),
        ('{"x": {"a": 1}, "y": "\\ud800"}', 400, None),
        ("{", 400, None),
    ],
)
def test_a_batch_is_all_or_nothing(client, model, line, status, field):
    good = '{"x": {"a": 1}, "y": "up"}'
    answer = client.post(f"{model}/learn", content=f"{good}\n{line}\n{good}\n", headers=NDJSON)
    assert is_problem(answer, status, field)
    assert client.get(model).json()["seq"] == 0


def test_what_cannot_be_read_is_a_problem_in_the_one_shape(client, model):
    post = client.post
    assert is_problem(post(f"{model}/learn", content="{", headers=AS_JSON), 400)
    assert is_problem(post(f"{model}/learn", content=b"\xff", headers=AS_JSON), 400)
    assert is_problem(post(f"{model}/learn", content="{}", headers={"Content-Type": "text/plain"}), 415)
    assert is_problem(post(f"{model}/learn", content=" " * (MOST_BYTES + 1), headers=AS_JSON), 413)
    assert is_problem(post(f"{model}/learn", content="\n\n", headers=NDJSON), 422)
    lines = '{"x":{},"y":"up"}\n' * (MOST_LINES + 1)
    assert is_problem(post(f"{model}/learn", content=lines, headers=NDJSON), 413)
    deep = '{"x": {"a": %s}, "y": "up"}' % ("[" * 100_000 + "]" * 100_000)
    assert is_problem(post(f"{model}/learn", content=deep, headers=AS_JSON), 422, "x")
    long_name = post(f"{model}/learn", json={"x": {"x" * 10**6: 1e300}, "y": "up"})
    assert is_problem(long_name, 422, "x")
    assert len(long_name.content) < 2000
    assert is_problem(client.get("/nothing"), 404)
    assert is_problem(client.get("/v1/models/nobody"), 404)
    assert is_problem(client.get(f"{model}/why/unknown"), 404, "id")
    assert is_problem(client.get(f"{model}/record?margin=-1"), 422, "margin")
    assert is_problem(client.get(f"{model}/record?margin=nan"), 422, "margin")
    assert is_problem(client.get(f"{model}/weights?top=0"), 422, "top")
    assert is_problem(client.get(f"{model}/weights?bottom=1"), 422, "bottom")
    assert is_problem(client.get(f"{model}/model?seq=99"), 422, "seq")
    assert is_problem(client.put("/v1/models/%20", json={}), 422)
    assert is_problem(client.put(f"/v1/models/{'x' * 65}", json={}), 422)
    assert is_problem(post(f"{model}/learn", json={"x": {}, "y": "up"}, headers={"Idempotency-Key": ""}), 422,
                      "Idempotency-Key")  # fmt: skip
    patched = client.patch(model)
    assert is_problem(patched, 405)
    assert patched.headers["allow"] == "PUT, GET, DELETE"
    assert client.get(model).json()["seq"] == 0


def test_a_body_without_a_length_is_limited_too(client, model):
    def parts():
        for _ in range(MOST_BYTES // 65536 + 2):
            yield b" " * 65536

    assert is_problem(client.post(f"{model}/learn", content=parts(), headers=AS_JSON), 413)


def test_a_key_is_for_one_request(client, model):
    key = {"Idempotency-Key": "same"}
    first = client.post(f"{model}/learn", json={"x": {"a": 1}, "y": "up"}, headers=key)
    assert client.post(f"{model}/learn", json={"x": {"a": 1}, "y": "up"}, headers=key).json() == first.json()
    assert is_problem(
        client.post(f"{model}/learn", json={"x": {"a": 2}, "y": "up"}, headers=key), 422, "Idempotency-Key"
    )
    said = client.post(f"{model}/predict", json={"x": {}, "remember": True}, headers={"Idempotency-Key": "said"}).json()
    again = client.post(
        f"{model}/predict", json={"x": {}, "remember": True}, headers={"Idempotency-Key": "said"}
    ).json()
    assert said == again
    assert client.get(model).json()["seq"] == 1


def test_a_model_file_can_be_had_and_another_model_goes_on_from_it(client, model, tmp_path):
    client.post(f"{model}/learn", json={"x": {"a": 1}, "y": "up"})
    client.post(f"{model}/learn", json={"x": {"a": -1}, "y": "down"})
    for seq in (1, 2):
        (tmp_path / "m").write_bytes(client.get(f"{model}/model", params={"seq": seq}).content)
        assert load_plain(tmp_path / "m").examples == seq
    content = base64.b64encode(client.get(f"{model}/model").content).decode()
    created = client.put(f"{model}-on", json={"file": content}).json()
    assert (created["examples"], created["settings"]["classes"], created["settings"]["file"]) == (
        2,
        ["down", "up"],
        None,
    )


def test_rollback_and_deletion(client, model):
    for y in ("up", "down", "up"):
        client.post(f"{model}/learn", json={"x": {"a": 1}, "y": y})
    assert client.post(f"{model}/rollback", json={"seq": 1}).json() == {"seq": 4}
    assert client.get(model).json()["examples"] == 1
    assert client.delete(model).status_code == 204
    assert is_problem(client.get(model), 404)
    assert model.rpartition("/")[2] not in client.get("/v1/models").json()["models"]


METRIC = re.compile(r'(novikoff|process)_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?[0-9.e+-]+(inf)?')


def test_the_metrics_are_in_the_text_format_of_prometheus(client, model):
    client.post(f"{model}/learn", json={"x": {"a": 1}, "y": "up"})
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    for line in answer.text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) (novikoff|process)_\w+ .+", line) or METRIC.fullmatch(line), line
    name = model.rpartition("/")[2]
    assert f'novikoff_model_examples_total{{model="{name}"}} 1' in answer.text.splitlines()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "10.0.0.1:8000"])
def test_a_foreign_host_is_refused(client, host):
    assert is_problem(client.get("/v1/models", headers={"Host": host}), 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1"])
def test_a_foreign_origin_is_refused(client, model, origin):
    answer = client.post(f"{model}/learn", json={"x": {}, "y": "up"}, headers={"Origin": origin})
    assert is_problem(answer, 403)


def test_no_answer_is_sniffed_stored_or_read_by_another_site(client):
    for answer in (client.get("/v1/models"), client.get("/nothing"), client.get("/metrics")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_with_a_token_it_is_needed_for_all_but_the_probes():
    with tempfile.TemporaryDirectory() as folder, listening(folder, token="0123456789abcdef") as (address, _):
        for path in ("/v1/models", "/metrics", "/openapi.json"):
            assert is_problem(httpx.get(address + path[1:]), 401)
            wrong = httpx.get(address + path[1:], headers={"Authorization": "Bearer 0123456789abcdeF"})
            assert is_problem(wrong, 401)
            right = httpx.get(address + path[1:], headers={"Authorization": "Bearer 0123456789abcdef", "Host": "any"})
            assert right.status_code == 200
        for path in ("healthz", "readyz"):
            assert httpx.get(address + path).status_code == 200


def test_without_a_token_it_listens_on_this_machine_only(tmp_path):
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.org", ""):
        with pytest.raises(ValueError, match="can be reached from elsewhere"):
            run.check_address(host, None)
        run.check_address(host, "a token")
    for host in ("127.0.0.1", "::1", "localhost"):
        run.check_address(host, None)
    (tmp_path / "token").write_text("short\n")
    with pytest.raises(ValueError, match="has no token"):
        run.read_token(str(tmp_path / "token"))
    (tmp_path / "token").write_text("0123456789abcdef\n")
    assert run.read_token(str(tmp_path / "token")) == "0123456789abcdef"


def test_before_it_is_ready_only_probes_are_answered(client, service):
    service[1].ready = False
    try:
        assert is_problem(client.get("/v1/models"), 503)
        assert client.get("/v1/models").headers["retry-after"] == "1"
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
    finally:
        service[1].ready = True


def connected(service):
    host, port = re.fullmatch(r"http://([\d.]+):(\d+)/", service[0]).groups()
    return socket.create_connection((host, int(port)))


def closed(connection):
    """Whether the other side closes, however long it takes."""
    connection.settimeout(60)
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def test_slow_and_half_open_clients_hold_nobody_up_and_are_let_go(client, model, service, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS_TO_ASK", 0.2)
    monkeypatch.setattr(limits, "LOOK", 0.05)
    head = (
        f"POST {model}/learn HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
    )
    slow = [connected(service) for _ in range(60)]
    for i, connection in enumerate(slow):
        connection.sendall([b"", b"POST /v1", head.encode(), (head + '\r\n{"x"').encode()][i % 4])
    for _ in range(20):
        assert client.post(f"{model}/learn", json={"x": {"a": 1}, "y": "up"}).status_code == 200
    assert client.get(model).json()["seq"] == 20
    assert all(map(closed, slow))
    for connection in slow:
        connection.close()
    assert client.get(model).json()["seq"] == 20


def test_a_client_that_closes_before_the_answer_does_no_harm(client, model, service):
    body = json.dumps({"x": {"a": 1}, "y": "up"})
    for _ in range(20):
        with connected(service) as connection:
            head = f"POST {model}/learn HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    for _ in range(3):
        assert client.post(f"{model}/learn", json={"x": {"a": 1}, "y": "up"}).status_code == 200
    assert client.get(model).json()["examples"] >= 3


def test_a_model_that_was_learned_from_a_table_encodes_what_it_is_sent_or_is_refused(client, tmp_path):
    rows = [{"colour": "red", "doors": 2.0}, {"colour": "blue", "doors": 4.0}] * 4
    labels = ["sport", "van"] * 4
    learner = novikoff.OnlinePerceptron(scale=True)
    learner.learn_many(rows, labels)
    novikoff.save(learner, tmp_path / "online")
    put = {"file": base64.b64encode((tmp_path / "online").read_bytes()).decode()}
    assert client.put("/v1/models/of-a-table", json=put).status_code == 201
    for row in ({"colour": "blue"}, {"colour": "red", "doors": 9.0}, {"colour": "green", "doors": 3.0}):
        said = client.post("/v1/models/of-a-table/predict", json={"x": row}).json()
        scores = {score["label"]: score["score"] for score in said["scores"]}
        assert (said["label"], scores["van"]) == (learner.predict_one(row), learner.decision_one(row))
        assert client.post("/v1/models/of-a-table/learn", json={"x": row, "y": "van"}).status_code == 200
        learner.learn_one(row, "van")
    for x in ([1.0, 2.0], "red", {"colour": ["red"]}, None):
        for path, body in (("predict", {"x": x}), ("learn", {"x": x, "y": "van"})):
            answer = client.post(f"/v1/models/of-a-table/{path}", json=body)
            assert (answer.status_code, answer.json()["error"]["field"]) == (422, "x")
    novikoff.save(novikoff.Perceptron().fit(pandas.DataFrame(rows), labels), tmp_path / "table")
    put = {"file": base64.b64encode((tmp_path / "table").read_bytes()).decode()}
    answer = client.put("/v1/models/of-a-perceptron", json=put)
    assert answer.status_code == 422
    assert "learns with an OnlinePerceptron, from examples with named features" in answer.json()["error"]["message"]
