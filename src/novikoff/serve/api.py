"""The routes: what is asked of a service over HTTP, each a few lines. The table feeds /openapi.json, too."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from novikoff import __version__
from novikoff.serve import answering, events, messages
from novikoff.serve.events import ENCODER
from novikoff.serve.http import EVENTS, NDJSON, Call, Reply, decoded, positive, whole
from novikoff.serve.infer import infer, metadata
from novikoff.serve.metrics import as_text
from novikoff.serve.models import Model
from novikoff.serve.refused import RefusedError

OCTETS = b"application/octet-stream"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class Query(NamedTuple):
    """A parameter of the query, with its schema."""

    name: str
    text: str
    schema: dict[str, Any]


class Route(NamedTuple):
    """A method and a path, who answers, and what comes and goes. {name} in a path stands for one name."""

    method: str
    path: str
    answer: Callable[..., Awaitable[Reply]]
    takes: Any = None
    gives: Any = None
    status: int = 200
    many: bool = False  # also takes many, one a line
    gives_many: bool = False  # and then answers one a line
    key: bool = False  # takes an Idempotency-Key
    by_name: bool = False  # is told the name of a model, which need not be there
    queries: tuple[Query, ...] = ()
    errors: tuple[int, ...] = ()
    kind: bytes = b"application/json"

    @property
    def of_a_model(self) -> bool:
        return "{model}" in self.path


def _json(answer: Any, status: int = 200) -> Reply:
    return Reply(ENCODER.encode(answer), status)


_SETTINGS = msgspec.json.Decoder(events.Settings)
_TO_PREDICT = msgspec.json.Decoder(messages.ToPredict)
_TO_EXPLAIN = msgspec.json.Decoder(messages.ToExplain)
_TO_REVEAL = msgspec.json.Decoder(messages.ToReveal)
_EXAMPLE = msgspec.json.Decoder(events.Example)
_SHORT_EXAMPLE = msgspec.json.Decoder(events.ShortExample)
_ROLLBACK = msgspec.json.Decoder(events.Rollback)
_CHALLENGE = msgspec.json.Decoder(events.Challenge)
_CHALLENGER = msgspec.json.Decoder(events.Challenger)
_TO_INFER = msgspec.json.Decoder(messages.ToInfer)


async def list_models(call: Call) -> Reply:
    """The names of all models."""
    return _json(messages.Names(await call.service.names()))


async def create_model(call: Call) -> Reply:
    """Create a model, from parameters or from a model file; the same again changes nothing."""
    (name,) = call.names
    settings = call.one(_SETTINGS)
    decoded(lambda given: msgspec.convert(given, events.Name), name)
    about, is_new = await call.service.create(name, settings)
    return _json(about, 201 if is_new else 200)


async def show_model(call: Call, model: Model) -> Reply:
    """How a model learns, and how far it is."""
    return _json(answering.about(model.name, model.state))


async def delete_model(call: Call) -> Reply:
    """Delete a model and its log, for good, also one that is set aside."""
    model = await call.service.use(call.names[0], even_aside=True)
    try:
        await call.service.delete(model)
    finally:
        call.service.models.release(model)
    return Reply(b"", 204)


async def predict(call: Call, model: Model) -> Reply:
    """Predict; with `remember`, keep the example until its label is revealed."""
    asked = call.many(_TO_PREDICT)
    answer = await call.service.predict(model, asked, call.token)
    return Reply(answer, kind=NDJSON) if call.kind == NDJSON else Reply(answer.rstrip())


async def reveal(call: Call, model: Model) -> Reply:
    """Reveal the label of a prediction, and learn it. Many are revealed all, or none."""
    return Reply(await call.service.reveal(model, call.many(_TO_REVEAL), call.token))


async def learn(call: Call, model: Model) -> Reply:
    """Learn an example with its label. Many are learned in the order given, all or none."""
    try:
        examples = call.many(_SHORT_EXAMPLE)
    except RefusedError:  # some are not short, or not examples
        examples = call.many(_EXAMPLE)
    body = call.body if call.kind == NDJSON else None
    return Reply(await call.service.learn(model, examples, body, call.token))


async def show_record(call: Call, model: Model) -> Reply:
    """What happened, and what it proves: mistakes, the bound, delays, drift, challengers."""
    query = call.query("margin")
    return _json(await call.service.record(model, positive(query.get("margin"), "margin")))


async def show_weights(call: Call, model: Model) -> Reply:
    """The heaviest weights, by name."""
    return _json(answering.weights(model.state, whole(call.query("top").get("top"), "top", 1, 1000) or 20))


async def show_why(call: Call, model: Model) -> Reply:
    """Why a remembered prediction was what it was: the features and the past mistakes that speak for it."""
    top = whole(call.query("top").get("top"), "top", 1, 1000) or 20
    return _json(await call.service.why(model, call.names[1], top))


async def explain(call: Call, model: Model) -> Reply:
    """Predict, and say why; nothing is remembered."""
    top = whole(call.query("top").get("top"), "top", 1, 1000) or 20
    return _json(await call.service.explain(model, call.one(_TO_EXPLAIN), top))


async def get_file(call: Call, model: Model) -> Reply:
    """A model file, for `novikoff predict` and `novikoff.load`; as the model is, or as it was after an event."""
    seq = whole(call.query("seq").get("seq"), "seq", 0, 2**53)
    return Reply(await call.service.model_file(model, seq), kind=OCTETS)


async def list_snapshots(call: Call, model: Model) -> Reply:
    """The snapshots of a model, the newest first."""
    return _json(await call.service.snapshots(model))


async def take_snapshot(call: Call, model: Model) -> Reply:
    """Take a snapshot, which is kept until the model is deleted."""
    return Reply(await call.service.snapshot(model, call.token), 201)


async def roll_back(call: Call, model: Model) -> Reply:
    """Go back to what the model was after an event. This is an event itself; nothing is erased."""
    return Reply(await call.service.roll_back(model, call.one(_ROLLBACK).seq, call.token))


async def add_challenger(call: Call, model: Model) -> Reply:
    """Let another learner learn from the same stream. It answers nothing, and is compared in the record."""
    return Reply(await call.service.challenge(model, call.one(_CHALLENGE), call.token), 201)


async def retire_challenger(call: Call, model: Model) -> Reply:
    """Let a challenger go."""
    return Reply(await call.service.retire(model, call.names[1], call.token))


async def promote(call: Call, model: Model) -> Reply:
    """Let a challenger become the model."""
    return Reply(await call.service.promote(model, call.one(_CHALLENGER).name, call.token))


async def watch(call: Call) -> Reply:
    """What changes, as it happens: server-sent events named `models`, and a comment now and then in silence.

    The data of each is Changes. Who does not read them is dropped.
    """
    return Reply(b"", kind=EVENTS, watcher=None if call.method == "HEAD" else call.service.watchers.join())


async def healthz(call: Call) -> Reply:
    """Whether the process is alive."""
    return _json(messages.IsLive(True))


async def readyz(call: Call) -> Reply:
    """Whether all logs have been read; 503 before that, and when the service is about to end."""
    ready = call.service.ready
    return _json(messages.IsReady(ready), 200 if ready else 503)


async def show_metrics(call: Call) -> Reply:
    """Figures for a monitor, in the text format of Prometheus."""
    return Reply(as_text(call.service, len(await call.service.names())).encode(), kind=TEXT)


async def server_metadata(call: Call) -> Reply:
    """Open Inference protocol: which server this is."""
    return _json(messages.ServerMetadata("novikoff", __version__, []))


async def model_metadata(call: Call, model: Model) -> Reply:
    """Open Inference protocol: the tensors of a model."""
    return _json(metadata(model.name, model.state))


async def model_ready(call: Call, model: Model) -> Reply:
    """Open Inference protocol: whether a model is ready."""
    return _json(messages.IsReady(True, model.name))


async def infer_model(call: Call, model: Model) -> Reply:
    """Open Inference protocol: predict rows, of which every feature is a tensor."""
    try:
        return _json(infer(model.name, model.state, call.one(_TO_INFER)))
    except ValueError as error:
        raise RefusedError(422, str(error), "inputs") from None


_TOP = Query("top", "how many to show", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20})
_MARGIN = Query(
    "margin",
    "the margin of which to state the bound; without it, the largest that is not ruled out",
    {"type": "number", "exclusiveMinimum": 0},
)
_SEQ = Query("seq", "the event after which", {"type": "integer", "minimum": 0, "maximum": 2**53})
_OF = "/v1/models/{model}"

ROUTES = (
    Route("GET", "/v1/models", list_models, gives=messages.Names),
    Route("PUT", _OF, create_model, events.Settings, messages.About, status=201, errors=(409,), by_name=True),
    Route("GET", _OF, show_model, gives=messages.About),
    Route("DELETE", _OF, delete_model, status=204, by_name=True),
    Route(
        "POST", f"{_OF}/predict", predict, messages.ToPredict, messages.Predicted, many=True, gives_many=True, key=True
    ),
    Route("POST", f"{_OF}/reveal", reveal, messages.ToReveal, messages.Learned, many=True, key=True, errors=(409, 410)),
    Route("POST", f"{_OF}/learn", learn, events.Example, messages.Learned, many=True, key=True, errors=(410,)),
    Route("GET", f"{_OF}/record", show_record, gives=messages.Record, queries=(_MARGIN,)),
    Route("GET", f"{_OF}/weights", show_weights, gives=messages.Weights, queries=(_TOP,)),
    Route("GET", f"{_OF}/why/{{id}}", show_why, gives=messages.Why, queries=(_TOP,), errors=(410,)),
    Route("POST", f"{_OF}/why", explain, messages.ToExplain, messages.Why, queries=(_TOP,), errors=(410,)),
    Route("GET", f"{_OF}/model", get_file, queries=(_SEQ,), errors=(410,), kind=OCTETS),
    Route("GET", f"{_OF}/snapshots", list_snapshots, gives=messages.Kept),
    Route("POST", f"{_OF}/snapshots", take_snapshot, gives=messages.Taken, status=201, key=True),
    Route("POST", f"{_OF}/rollback", roll_back, events.Rollback, messages.Done, key=True, errors=(410,)),
    Route(
        *("POST", f"{_OF}/challengers", add_challenger, events.Challenge, messages.Done),
        status=201,
        key=True,
        errors=(409, 410),
    ),
    Route("DELETE", f"{_OF}/challengers/{{name}}", retire_challenger, gives=messages.Done, key=True, errors=(410,)),
    Route("POST", f"{_OF}/promote", promote, events.Challenger, messages.Done, key=True, errors=(410,)),
    Route("GET", "/v1/events", watch, gives=messages.Changes, errors=(429,), kind=EVENTS),
    Route("GET", "/healthz", healthz, gives=messages.IsLive),
    Route("GET", "/readyz", readyz, gives=messages.IsReady),
    Route("GET", "/metrics", show_metrics, kind=TEXT),
    Route("GET", "/v2", server_metadata, gives=messages.ServerMetadata),
    Route("GET", "/v2/health/live", healthz, gives=messages.IsLive),
    Route("GET", "/v2/health/ready", readyz, gives=messages.IsReady),
    Route("GET", "/v2/models/{model}", model_metadata, gives=messages.ModelMetadata),
    Route("GET", "/v2/models/{model}/ready", model_ready, gives=messages.IsReady),
    Route("POST", "/v2/models/{model}/infer", infer_model, messages.ToInfer, messages.Inferred),
)

# Probes get an answer before the service is ready, and without a token.
OPEN = frozenset({"/healthz", "/readyz", "/v2/health/live", "/v2/health/ready"})
