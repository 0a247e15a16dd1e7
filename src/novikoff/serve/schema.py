"""The description of the API, made of the same types that check the requests."""

from typing import Any

import msgspec

from novikoff import __version__
from novikoff.serve import messages
from novikoff.serve.api import OPEN, ROUTES, Route
from novikoff.serve.events import Name

REFERENCE = "#/components/schemas/{name}"
ABOUT = "Predict, reveal, learn. The log of what was learned is the truth, and a model is its fold."
TEXTS = {
    400: "The request is no JSON.",
    401: "The token is missing or wrong.",
    403: "The request comes from elsewhere.",
    404: "There is no such thing.",
    408: "The request came too slowly.",
    409: "It contradicts what is there.",
    410: "It was trimmed from the log.",
    413: "The request is too large.",
    415: "The request is of another type.",
    422: "The request makes no sense.",
    429: "Too much waits to be written; send again later.",
    500: "The model is set aside, because its log cannot be replayed; or something went wrong.",
    502: "The server that holds the model gave no answer; it may have done it, or not.",
    503: "The service is not ready.",
}


def openapi() -> dict[str, Any]:
    """The API in OpenAPI 3.1."""
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
        "operationId": f"{route.answer.__name__}{'_v2' if route.path.startswith('/v2/health') else ''}",
        "summary": " ".join((route.answer.__doc__ or "").split()),
        "parameters": [*_names(route), *_queries(route)],
        "responses": _responses(route),
    }
    if route.takes is not None:
        content = {"application/json": {"schema": _schema(route.takes)}}
        if route.many:
            content["application/x-ndjson"] = {"schema": {"type": "string", "description": "One a line."}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _schema(given: Any) -> Any:
    return {"$ref": REFERENCE.format(name=given.__name__)}


def _names(route: Route) -> list[dict[str, Any]]:
    pattern = msgspec.json.schema(Name)["pattern"].replace("\\Z", "$")
    schemas = {"model": {"type": "string", "pattern": pattern}, "name": {"type": "string", "pattern": pattern}}
    return [
        {"name": part[1:-1], "in": "path", "required": True, "schema": schemas.get(part[1:-1], {"type": "string"})}
        for part in route.path.split("/")
        if part.startswith("{")
    ]


def _queries(route: Route) -> list[dict[str, Any]]:
    found = [
        {"name": query.name, "in": "query", "description": query.text, "schema": query.schema}
        for query in route.queries
    ]
    if route.key:
        text = "The same key and request: the same answer, learned once. Forgotten after 24 hours."
        schema = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append({"name": "Idempotency-Key", "in": "header", "description": text, "schema": schema})
    return found


def _responses(route: Route) -> dict[str, Any]:
    content: dict[str, Any] = {}
    kind = route.kind.decode().partition(";")[0]
    if route.gives is not None:
        content[kind] = {"schema": _schema(route.gives)}
        if route.gives_many:
            content["application/x-ndjson"] = {"schema": {"type": "string", "description": "One a line."}}
    elif route.status != 204:
        content[kind] = {"schema": {"type": "string"}}
    done = {"description": "Done.", **({"content": content} if content else {})}
    responses = {str(route.status): done}
    if route.status == 201 and route.method == "PUT":
        responses["200"] = {**done, "description": "It was there, with the same settings."}
    if "ready" in route.path and not route.of_a_model:
        responses["503"] = {**done, "description": "Not yet, or no longer."}
    for status in sorted(_errors(route)):
        problem = {"application/json": {"schema": _schema(messages.Error)}}
        responses.setdefault(str(status), {"description": TEXTS[status], "content": problem})
    return responses


def _errors(route: Route) -> set[int]:
    errors = {403, *route.errors}
    if route.path not in OPEN:
        errors |= {401, 503}
    if route.of_a_model:
        errors |= {500, 502}
    if route.of_a_model and route.method != "PUT":
        errors.add(404)
    if route.takes is not None:
        errors |= {400, 408, 413, 415, 422}
    if route.queries or route.key:
        errors.add(422)
    if route.method in ("POST", "PUT", "DELETE"):
        errors |= {408, 413, 429}
    return errors
