"""The page about the API is made of the API's own description: `python -m tests.serve.api_page` writes it anew."""

from pathlib import Path

from novikoff.serve.api import openapi

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "service.md"
HEAD = """# Service

What `novikoff serve` answers ([how to use it](../how-to/serve.md)), made of its own description, which is at
`/openapi.json`. Bodies are JSON. A request with an `Idempotency-Key` is done once, and answered alike when it comes
again within 24 hours; after that the key is forgotten, and the same request is a new one. Every
error has one shape, {"error": {"message": ..., "field": ...}}, and changes nothing:

| status | meaning |
|---|---|
| 400 | The request is not JSON. |
| 401 | The token is missing or wrong. |
| 403 | The request is not from this machine or page. |
| 404 | Not found. |
| 408 | The request came too slowly. |
| 409 | It conflicts with the present state. |
| 410 | It was trimmed from the log. |
| 413 | The request is too large. |
| 415 | The request has an unsupported content type. |
| 422 | The request is invalid. |
| 429 | Too much waits to be written; send again later. |
| 500 | The model is set aside, because its log cannot be replayed; or something went wrong. |
| 502 | The server that holds the model gave no answer; it may or may not have acted. |
| 503 | The service is not ready. |

## Requests

"""


def kind(schema):
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind(part) for part in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}" if schema.get("items") else "list"
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties")
        return f"object of {kind(inside)}" if isinstance(inside, dict) and inside else "object"
    return schema.get("type", "anything")


def described(media, about):
    """What is answered, in a few words."""
    return kind(about["schema"]) if media == "application/json" else media


def operation(method, path, about):
    lines = [f"### {method.upper()} `{path}`", "", about["summary"], ""]
    queries = [parameter for parameter in about["parameters"] if parameter["in"] == "query"]
    lines += [f"- query `{parameter['name']}`: {parameter['description']}" for parameter in queries]
    body = about.get("requestBody", {}).get("content", {})
    if body:
        many = ", or many, one a line" if "application/x-ndjson" in body else ""
        lines.append(f"- takes {kind(body['application/json']['schema'])}{many}")
    for status, answer in about["responses"].items():
        if status < "300":
            content = answer.get("content", {})
            gives = described(*next(iter(content.items()))) if content else "nothing"
            lines.append(f"- {status}: {gives}")
    return [*lines, ""]


def component(name, schema):
    lines = [f"### {name}", "", *([schema["description"], ""] if "description" in schema else [])]
    lines += ["| field | type | default |", "|---|---|---|"]
    for field, about in schema.get("properties", {}).items():
        default = "required" if field in schema.get("required", []) else f"`{about.get('default')}`"
        lines.append(f"| `{field}` | {kind(about)} | {default} |")
    return [*lines, ""]


def page():
    described = openapi()
    lines = []
    for path, methods in described["paths"].items():
        for method, about in methods.items():
            lines += operation(method, path, about)
    lines += ["## Types", ""]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += component(name, schema)
    client = ["## Client", "", "::: novikoff.serve.client.Client", ""]
    return HEAD + "\n".join([*lines, *client])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
