"""The API: one shape of errors, limits, and nobody but the lab's own page."""

import contextlib
import json

import pytest

pytest.importorskip("starlette", reason="the lab needs the extra novikoff[lab]")

import httpx

from novikoff.lab.server import ANSWERS, MOST_BYTES, PAGE
from novikoff.web import SHARED, address_of, listen, listen_preferably
from tests.lab.browser import served_lab

STATE = {"points": [[1, 0, 1], [-1, 0, -1]]}


@pytest.fixture(scope="module")
def client():
    with served_lab() as address, httpx.Client(base_url=address, timeout=None) as client:
        yield client


def test_the_page_and_its_parts_are_served(client):
    assert "novikoff" in client.get("/").text
    assert client.get("/lab.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/lab.css").status_code == 200


def test_the_page_names_nothing_that_is_elsewhere(client):
    own, shared = ([path.name for path in folder.iterdir()] for folder in (PAGE, SHARED))
    for name in ("", *own, *(f"shared/{part}" for part in shared)):
        text = client.get(f"/{name}").text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text


def test_every_answer_carries_the_policy(client):
    for answer in (client.get("/"), client.get("/api/scenes"), client.get("/nothing"), client.post("/api/run")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_scenes_and_runs_are_answered(client):
    names = [scene["name"] for scene in client.get("/api/scenes").json()["scenes"]]
    assert {"worked", "wide", "thin", "xor", "outlier", "circle", "ring", "shared"} <= set(names)
    run = client.post("/api/run", json={"state": STATE}).json()
    assert run["certificate"]["verdict"] == "separable"
    assert client.post("/api/moment", json={"state": STATE, "step": 1}).json()["step"] == 1


def is_problem(answer, status):
    error = answer.json()["error"]
    return answer.status_code == status and set(error) == {"message", "field"} and error["message"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "10.0.0.1:8000", "[::1"])
def test_a_foreign_host_is_refused(client, host):
    assert is_problem(client.get("/", headers={"Host": host}), 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1"])
def test_a_foreign_origin_is_refused(client, origin):
    assert is_problem(client.post("/api/run", json={"state": STATE}, headers={"Origin": origin}), 403)


def test_its_own_origin_is_welcome(client):
    own = {"Origin": str(client.base_url).rstrip("/")}
    assert client.post("/api/run", json={"state": STATE}, headers=own).status_code == 200


@pytest.mark.parametrize("name", ANSWERS)
def test_nonsense_is_a_problem_in_the_one_shape(client, name):
    for body in ("[]", "{}", '{"state": 3}', "null", '{"text": 3}'):
        answer = client.post(f"/api/{name}", content=body, headers={"Content-Type": "application/json"})
        assert is_problem(answer, 422), body


def test_what_is_no_json_is_a_problem(client):
    as_json = {"Content-Type": "application/json"}
    assert is_problem(client.post("/api/run", content="{", headers=as_json), 400)
    assert is_problem(client.post("/api/run", content="{}", headers={"Content-Type": "text/plain"}), 415)
    assert is_problem(client.post("/api/run", content=" " * (MOST_BYTES + 1), headers=as_json), 413)
    assert is_problem(client.delete("/"), 405)
    assert is_problem(client.get("/api/nothing"), 404)
    assert is_problem(client.get("/%2e%2e/state.py"), 404)


DEEP = {
    "arrays": "[" * 25_000 + "]" * 25_000,
    "objects": '{"state": ' * 25_000 + "1" + "}" * 25_000,
    "a state": '{"state": {"points": ' + "[" * 25_000 + "]" * 25_000 + "}}",
    "twice": '{"state": 1, "state": 2}',
    "no number": '{"state": NaN}',
    "no text": '{"state": "\\ud8"}',
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("body", DEEP)
def test_json_that_harms_a_parser_is_a_problem_in_the_one_shape(client, name, body):
    as_json = {"Content-Type": "application/json"}
    assert is_problem(client.post(f"/api/{name}", content=DEEP[body], headers=as_json), 400)


HUGE = [10**400, -(10**400), 1e308, 5e-324, [], {}, "", "x", True, None, [[]], {"a": 1}, 2**63, -1, 0.5]
STATES = {"points": [[1, 0, 1], [-1, 0, -1]], "space": "line", "fit_intercept": True, "tie": "mistake",
          "readout": "last", "shuffle": False, "seed": 0, "max_iter": 5, "degree": 2, "gamma": 1.0,
          "view": [0, 0, 3]}  # fmt: skip


def refused_or_answered(name, document):
    """What the library says to a document: anything but a ValueError would be an answer of 500."""
    with contextlib.suppress(ValueError):
        json.dumps(ANSWERS[name](document), allow_nan=False)


@pytest.mark.parametrize("name", ["run", "moment", "take-away"])
def test_no_value_of_any_field_of_a_state_is_more_than_a_problem(name):
    for field in STATES:
        for value in HUGE:
            refused_or_answered(name, {"state": {**STATES, field: value}, "step": 1})
    for value in HUGE:
        refused_or_answered(name, {"state": STATES, "step": value})
        for place in range(3):
            point, view = [1, 0, 1], [0, 0, 3]
            point[place] = view[place] = value
            refused_or_answered(name, {"state": {**STATES, "points": [[-1, 0, -1], point]}, "step": 1})
            refused_or_answered(name, {"state": {**STATES, "view": view}, "step": 1})


def test_a_problem_names_its_field(client):
    answer = client.post("/api/run", json={"state": {"points": [[1, 2, 3]]}})
    assert answer.json()["error"]["field"] == "points[0]"


def test_it_listens_on_the_loopback_address_and_says_when_a_port_is_taken():
    listener = listen()
    try:
        assert address_of(listener).startswith("http://127.0.0.1:")
        with pytest.raises(OSError, match="is taken or not allowed"):
            listen(listener.getsockname()[1])
        other = listen_preferably(listener.getsockname()[1])
        assert address_of(other) != address_of(listener)
        other.close()
    finally:
        listener.close()
