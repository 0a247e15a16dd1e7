"""The routes of the HTTP API, each a few lines.

/openapi.json is generated from their table and from the types that validate requests. /metrics has figures for a
monitor, in the text format of Prometheus.
"""

import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from novikoff import __version__
from novikoff.serve import events, messages
from novikoff.serve.events import ENCODER, Name
from novikoff.serve.http import JSON, NDJSON, Call, Reply, decoded
from novikoff.serve.messages import RefusedError
from novikoff.serve.models import FIGURES, LoadedModel, figures_of
from novikoff.serve.service import Service

OCTETS = b"application/octet-stream"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class Route(NamedTuple):
    """A method and a path, the handler, and the types of request and reply. {name} in a path stands for one name.

    The handler is a method of the service, which gets the model or the names in the path, the body, the query parameter
    and the idempotency key, as far as the route has them; or, where that is not enough, a function of the call.
    """

    method: str
    path: str
    answer: str | Callable[..., Awaitable[Reply]]
    takes: Any = None
    gives: Any = None
    status: int = 200
    many: bool = False  # also accepts many, one per line
    gives_many: bool = False  # and then returns one per line
    key: bool = False  # takes an Idempotency-Key
    by_name: bool = False  # gets the name of a model, which need not exist
    query: Any = None  # a type with the parameters
    kind: bytes = JSON

    @property
    def of_a_model(self) -> bool:
        return "{model}" in self.path

    @property
    def about(self) -> Any:
        """The handler; its docstring is the summary."""
        return getattr(Service, self.answer) if isinstance(self.answer, str) else self.answer

    async def reply(self, call: Call, *names: Any) -> Reply:
        """Reply to a call about the model or the names in its path."""
        if not isinstance(self.answer, str):
            return await self.answer(call, *names)
        given = list(names)
        if self.takes is not None:
            given.append(call.many(self.takes) if self.many else call.one(self.takes))
        if self.query is not None:
            given.extend(msgspec.structs.astuple(call.query(self.query)))
        if self.key:
            given.append(call.token)
        found = await getattr(call.service, self.answer)(*given)
        if found is None:
            return Reply(b"", 204)
        body = found if isinstance(found, bytes) else ENCODER.encode(found)
        if self.gives_many:
            return Reply(body, kind=NDJSON) if call.kind == NDJSON else Reply(body.rstrip())
        return Reply(body, self.status, self.kind)


async def create_model(call: Call, name: str) -> Reply:
    """Create a model, from parameters or from a model file; the same again changes nothing."""
    settings = call.one(events.Settings)
    decoded(lambda given: msgspec.convert(given, Name), name)
    about, is_new = await call.service.create_model(name, settings)
    return Reply(ENCODER.encode(about), 201 if is_new else 200)


async def learn(call: Call, model: LoadedModel) -> Reply:
    """Learn an example with its label. Many are learned in the order given, all or none."""
    try:
        examples = call.many(messages.PlainToLearn if model.is_plain else events.Example)
    except RefusedError:
        examples = call.many(events.Example)
        model.is_plain = False
    body = call.body if call.kind == NDJSON else None
    return Reply(await call.service.learn(model, examples, body, call.token))


async def healthz(call: Call) -> Reply:
    """Whether the process is alive."""
    return Reply(ENCODER.encode(messages.IsLive(True)))


async def readyz(call: Call) -> Reply:
    """Whether all logs have been read; 503 before that, and when the service is shutting down."""
    ready = call.service.ready
    return Reply(ENCODER.encode(messages.IsReady(ready)), 200 if ready else 503)


async def show_metrics(call: Call) -> Reply:
    """Figures for a monitor, in the text format of Prometheus."""
    names = (await call.service.list_models()).models
    return Reply(metrics(call.service, len(names)).encode(), kind=TEXT)


_OF = "/v1/models/{model}"

ROUTES = (
    Route("GET", "/v1/models", "list_models", gives=messages.ModelNames),
    Route("PUT", _OF, create_model, events.Settings, messages.About, status=201, by_name=True),
    Route("GET", _OF, "show_model", gives=messages.About),
    Route("DELETE", _OF, "delete_model", status=204, by_name=True),
    Route(
        *("POST", f"{_OF}/predict", "predict", messages.ToPredict, messages.PredictReply),
        many=True,
        gives_many=True,
        key=True,
    ),
    Route("POST", f"{_OF}/reveal", "reveal", messages.ToReveal, messages.LearnReply, many=True, key=True),
    Route("POST", f"{_OF}/learn", learn, events.Example, messages.LearnReply, many=True, key=True),
    Route("GET", f"{_OF}/record", "show_record", gives=messages.Record, query=messages.OfMargin),
    Route("GET", f"{_OF}/weights", "show_weights", gives=messages.HeaviestWeights, query=messages.Most),
    Route("GET", f"{_OF}/why/{{id}}", "show_why", gives=messages.Why, query=messages.Most),
    Route("POST", f"{_OF}/why", "explain", messages.ToExplain, messages.Why, query=messages.Most),
    Route("GET", f"{_OF}/model", "get_file", query=messages.AfterEvent, kind=OCTETS),
    Route("POST", f"{_OF}/rollback", "roll_back", events.Rollback, messages.Done, key=True),
    Route("GET", "/v1/figures", "list_figures", gives=messages.FigureList),
    Route("GET", "/healthz", healthz, gives=messages.IsLive),
    Route("GET", "/readyz", readyz, gives=messages.IsReady),
    Route("GET", "/metrics", show_metrics, kind=TEXT),
)

# Probes get an answer before the service is ready, and without a token.
OPEN = frozenset({"/healthz", "/readyz"})

# Figures


def metrics(service: Service, in_store: int) -> str:
    """Return all figures; those of a model only while it is in memory."""
    models, writer = service.models, service.writer
    figures = {name: figures_of(model.state) for name, model in models.loaded.items()}
    lines = [
        *_family("ready", "gauge", "Whether the service is ready.", {"": service.ready}),
        *_family("models", "gauge", "Models in the store.", {"": in_store}),
        *_family("models_loaded", "gauge", "Models in memory.", {"": len(models.loaded)}),
        *_family("models_set_aside", "gauge", "Models whose log cannot be replayed.", {"": len(models.aside)}),
        *_family("waiting_events", "gauge", "Events that wait to be written.", {"": writer.waiting}),
        *_family("commits_total", "counter", "Transactions that are on the disk.", {"": writer.commits}),
        *_family("commit_seconds_total", "counter", "Seconds that transactions took.", {"": writer.seconds}),
    ]
    asked = {
        f'{{route="{route}",method="{method}",status="{status}"}}': number
        for (route, method, status), number in sorted(service.requests.items())
    }
    lines += _family("requests_total", "counter", "Requests that were answered.", asked)
    for name, (kind, text, _) in FIGURES.items():
        values = {f'{{model="{model}"}}': figures[model][name] for model in sorted(figures)}
        lines += _family(f"model_{name}{'_total' if kind == 'counter' else ''}", kind, text, values)
    return "\n".join([*lines, *_of_the_process()]) + "\n"


def _of_the_process() -> list[str]:
    """Return the standard figures of a process, under the names that monitors expect."""
    seconds = {"": time.process_time()}
    lines = _family("cpu_seconds_total", "counter", "Processor seconds of the process.", seconds, "process")
    pages = Path("/proc/self/statm")
    if pages.exists():  # on Linux
        size = {"": int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")}
        lines += _family("resident_memory_bytes", "gauge", "Memory of the process.", size, "process")
    return lines


def _family(name: str, kind: str, text: str, values: Mapping[str, float], whose: str = "novikoff") -> list[str]:
    head = [f"# HELP {whose}_{name} {text}", f"# TYPE {whose}_{name} {kind}"]
    return head + [f"{whose}_{name}{labels} {float(value):.17g}" for labels, value in values.items()]


# The description

REFERENCE = "#/components/schemas/{name}"
ABOUT = "Predict, reveal, learn. The log is the source of truth; a model is the log replayed."


def openapi() -> dict[str, Any]:
    """Return the API in OpenAPI 3.1."""
    types = [given for route in ROUTES for given in (route.takes, route.gives) if given is not None]
    _, components = msgspec.json.schema_components([*types, messages.Error], ref_template=REFERENCE)
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "novikoff", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.about.__name__,
        "summary": " ".join((route.about.__doc__ or "").split()),
        "parameters": _parameters(route),
        "responses": _responses(route),
    }
    if route.takes is not None:
        operation["requestBody"] = {"required": True, "content": _content(route.takes, route.many)}
    return operation


def _content(given: Any, many: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": REFERENCE.format(name=given.__name__)}}}
    if many:
        content["application/x-ndjson"] = {"schema": {"type": "string", "description": "One a line."}}
    return content


def _parameters(route: Route) -> list[dict[str, Any]]:
    pattern = {"pattern": msgspec.json.schema(Name)["pattern"].replace("\\Z", "$")}
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", **({} if name == "id" else pattern)},
        }
        for name in names
    ]
    if route.query is not None:
        for name, schema in msgspec.json.schema(route.query)["$defs"][route.query.__name__]["properties"].items():
            found.append({"name": name, "in": "query", "description": route.query.__doc__, "schema": schema})
    if route.key:
        text = "The same key and request: the same answer, learned once. Forgotten after 24 hours."
        schema = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append({"name": "Idempotency-Key", "in": "header", "description": text, "schema": schema})
    return found


def _responses(route: Route) -> dict[str, Any]:
    kind = route.kind.decode().partition(";")[0]
    done: dict[str, Any] = {"description": "Done."}
    if route.gives is not None:
        content = _content(route.gives, route.gives_many)
        done["content"] = {kind: content.pop("application/json"), **content}
    elif route.status != 204:
        done["content"] = {kind: {"schema": {"type": "string"}}}
    responses = {str(route.status): done}
    if route.status == 201 and route.method == "PUT":
        responses["200"] = {**done, "description": "It existed already, with the same settings."}
    if route.path == "/readyz":
        responses["503"] = {**done, "description": "Not yet, or no longer."}
    responses["default"] = {"description": "Refused; nothing was changed.", "content": _content(messages.Error, False)}
    return responses
