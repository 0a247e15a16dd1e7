"""A client of the service, for one model. Retries are idempotent."""

import json
import time
import uuid
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

try:
    import httpx
except ImportError as missing:
    raise ImportError('the client needs httpx; pip install "novikoff[client]"') from missing

from novikoff.serve.messages import LearnReply

NOT_NOW = (429, 502, 503)
LONGEST_PAUSE = 10.0


class ServiceError(ValueError):
    """The service refused a request and changed nothing; `status` and `field` are those of its reply."""

    def __init__(self, status: int, message: str, field: str | None) -> None:
        super().__init__(message if field is None else f"{field}: {message}")
        self.status, self.field = status, field


class Said(NamedTuple):
    """A prediction: the label, None while none is known; the score of each class; its id, if it was remembered."""

    label: Any
    scores: dict[Any, float]
    seq: int
    id: str | None


class Client:
    """Predict, reveal, learn, with a model of a service.

    Parameters
    ----------
    url : the address of the service, such as "http://127.0.0.1:8151".
    model : the name of the model.
    token : the token of the service, if it has one.
    retries : how often a request is sent again if the service is unreachable or busy. Each request that changes
        something has an idempotency key, so an example whose answer got lost is not learned again.
    timeout : how many seconds to wait for an answer.

    >>> with Client("http://127.0.0.1:8151", "mails") as mails:  # doctest: +SKIP
    ...     mails.create(classes=["later", "now"])
    ...     said = mails.predict({"from": "boss", "pages": 2}, remember=True)
    ...     mails.reveal(said.id, "now")
    """

    def __init__(
        self, url: str, model: str, *, token: str | None = None, retries: int = 8, timeout: float = 60.0
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.model, self.retries = model, retries
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)
        self._pause = 0.05

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def create(self, **settings: Any) -> dict[str, Any]:
        """Create the model with `Settings`, such as readout, scale or classes. Repeating it is no error."""
        return self._json("PUT", "", settings)

    def predict(self, x: Mapping[str, Any], *, remember: bool = False) -> Said:
        """Predict the label of an example; with `remember`, its true label can be revealed later, by id."""
        return _said(self._json("POST", "/predict", {"x": x, "remember": remember}, is_change=remember))

    def predict_many(self, examples: Iterable[Mapping[str, Any]], *, remember: bool = False) -> list[Said]:
        """Predict the labels of examples, in one request."""
        lines = _lines({"x": x, "remember": remember} for x in examples)
        reply = self._send("POST", "/predict", lines, "application/x-ndjson", is_change=remember)
        return [_said(json.loads(line)) for line in reply.text.splitlines()]

    def reveal(self, id: str, y: Hashable) -> LearnReply:
        """Reveal the label of a prediction, and learn it."""
        return LearnReply(**self._json("POST", "/reveal", {"id": id, "y": y}, is_change=True))

    def learn(self, x: Mapping[str, Any], y: Hashable) -> LearnReply:
        """Learn an example with its label."""
        return LearnReply(**self._json("POST", "/learn", {"x": x, "y": y}, is_change=True))

    def learn_many(self, examples: Iterable[Mapping[str, Any]], labels: Iterable[Hashable]) -> LearnReply:
        """Learn examples in the order given, in one request: all of them, or none."""
        lines = _lines({"x": x, "y": y} for x, y in zip(examples, labels, strict=True))
        return LearnReply(**self._send("POST", "/learn", lines, "application/x-ndjson", is_change=True).json())

    def record(self, margin: float | None = None) -> dict[str, Any]:
        """Return what happened and what it proves, with the bound for a margin."""
        return self._json("GET", "/record" if margin is None else f"/record?margin={margin!r}")

    def why(self, id: str) -> dict[str, Any]:
        """Return the features and past mistakes that contributed most to a remembered prediction."""
        return self._json("GET", f"/why/{id}")

    def file(self, seq: int | None = None) -> bytes:
        """Return a model file, which `novikoff.load` reads: of the model now, or after an event."""
        return self._send("GET", "/model" if seq is None else f"/model?seq={seq}").content

    def _json(self, method: str, path: str, content: Any = None, is_change: bool = False) -> Any:
        body = None if content is None else json.dumps(content).encode()
        return self._send(method, path, body, "application/json", is_change).json()

    def _send(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", is_change: bool = False
    ) -> httpx.Response:
        headers = {} if body is None else {"Content-Type": kind}
        if is_change:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        for attempt in range(self.retries + 1):
            try:
                reply = self._http.request(method, f"/v1/models/{self.model}{path}", content=body, headers=headers)
            except httpx.TransportError:
                if attempt == self.retries:
                    raise
                self._wait(attempt)
                continue
            if reply.status_code not in NOT_NOW or attempt == self.retries:
                break
            self._wait(attempt, float(reply.headers.get("Retry-After", 0)))
        if reply.is_success:
            return reply
        try:
            error = reply.json()["error"]
        except (ValueError, LookupError, TypeError):
            error = {"message": f"{reply.url} answered {reply.status_code}", "field": None}
        raise ServiceError(reply.status_code, error["message"], error["field"])

    def _wait(self, attempt: int, at_least: float = 0.0) -> None:
        time.sleep(min(max(self._pause * 2**attempt, at_least), LONGEST_PAUSE))


def _lines(values: Iterable[Any]) -> bytes:
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


def _said(answer: dict[str, Any]) -> Said:
    scores = {score["label"]: score["score"] for score in answer["scores"]}
    return Said(answer["label"], scores, answer["seq"], answer["id"])
