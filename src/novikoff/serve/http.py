"""Requests and replies, as far as every route needs them: bodies within limits, queries, one format of errors."""

import re
from functools import cache, partial
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

import msgspec
from msgspec import inspect

from novikoff.serve.jobs import Token
from novikoff.serve.messages import RefusedError
from novikoff.serve.service import Service
from novikoff.web import RAW_HEADERS, problem

MOST_BYTES = 8 << 20
MOST_LINES = 10_000
LONGEST_KEY = 200

# Of the headers that isolate a page, those that matter for other replies; a page needs all.
OWN_HEADERS = [
    (name, value)
    for name, value in RAW_HEADERS
    if name in (b"x-content-type-options", b"cache-control", b"cross-origin-resource-policy")
]
PAGE_HEADERS = tuple(header for header in RAW_HEADERS if header not in OWN_HEADERS)
CLOSE = (b"connection", b"close")

JSON, NDJSON = b"application/json", b"application/x-ndjson"


class Reply(NamedTuple):
    body: bytes
    status: int = 200
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def all_headers(self) -> list[tuple[bytes, bytes]]:
        length = (b"content-length", b"%d" % len(self.body))
        return [(b"content-type", self.kind), length, *self.headers, *OWN_HEADERS]


decoder_of = cache(msgspec.json.Decoder)


class DisconnectedError(Exception):
    """The client disconnected before its request was complete."""


class Call:
    """An ASGI request: its path, its headers, its content type without parameters, its query, and its body."""

    def __init__(self, service: Service, scope: Any) -> None:
        self.service, self.method = service, scope["method"]
        # The paths of a mounted application are below its mount point.
        root, path = scope.get("root_path", ""), scope["path"]
        self.path: str = path[len(root) :] if root and path.startswith(root) else path
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.kind: bytes = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        self.raw_query: bytes = scope["query_string"]
        self.body = b""
        self.names: tuple[str, ...] = ()  # the values of the placeholders in the path

    @property
    def raw_path(self) -> str:
        """The path as quoted in an address, or on a line of a log."""
        return quote(self.path, safe="/-._~:@!$&'()*+,;=")

    async def read(self, receive: Any) -> None:
        """Read the body, up to a size limit; slow clients are left to the server."""
        length = self.headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > MOST_BYTES:
            raise _too_large()
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise DisconnectedError
            parts.append(message.get("body", b""))
            size, more = size + len(parts[-1]), message.get("more_body", False)
            if size > MOST_BYTES:
                raise _too_large()
        self.body = b"".join(parts)

    def one(self, wanted: Any) -> Any:
        """Return the body, which must be JSON of the wanted type."""
        if self.kind != JSON:
            raise RefusedError(415, "the request must be JSON: Content-Type: application/json")
        return decoded(decoder_of(wanted).decode, self.body, wanted)

    def many(self, wanted: Any) -> list[Any]:
        """Return the body, which may also have many, one per line."""
        if self.kind != NDJSON:
            return [self.one(wanted)]
        lines = decoded(decoder_of(wanted).decode_lines, self.body, wanted)
        if not lines:
            raise RefusedError(422, "the request has no lines")
        if len(lines) > MOST_LINES:
            most = f"at most {MOST_LINES:,} are allowed per request"
            raise RefusedError(413, f"the request has {len(lines):,} lines; {most}")
        return lines

    @property
    def token(self) -> Token | None:
        """The idempotency key of the request, if it has one."""
        key = self.headers.get(b"idempotency-key")
        if key is None:
            return None
        name = key.decode("latin-1")
        if not 0 < len(name) <= LONGEST_KEY:
            raise RefusedError(422, f"an Idempotency-Key has 1 to {LONGEST_KEY} characters", "Idempotency-Key")
        return Token.of(name, self.method.encode(), self.path.encode(), self.kind, self.body)

    def query(self, wanted: Any) -> Any:
        """Return the parameters of the query."""
        given = dict(parse_qsl(self.raw_query.decode("latin-1"), keep_blank_values=True))
        return decoded(partial(msgspec.convert, type=wanted, strict=False), given, wanted)


def _too_large() -> RefusedError:
    return RefusedError(413, f"the request is larger than {MOST_BYTES:,} bytes; send it in parts", closes=True)


def decoded(decode: Any, body: Any, wanted: Any = None) -> Any:
    """Return the decoded body; or raise an error that says what is wrong with it, and where."""
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        place = place.strip("`")
        if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", message, re.DOTALL):
            known = _fields(wanted, place)
            message += f"; the fields are {', '.join(known)}" if known else "; there are none"
            place = f"{place or '$'}.{unknown[1]:.60}"
        raise RefusedError(422, message, _field(place)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"the request cannot be read: {error}") from None


def _fields(wanted: Any, place: str) -> list[str]:
    """Return the fields of the object at a place in a request.

    >>> class Point(msgspec.Struct):
    ...     x: float
    ...     y: float
    >>> class Line(msgspec.Struct):
    ...     points: list[Point]
    >>> _fields(Line, "$[7].points[...]"), _fields(Line, "$")
    (['x', 'y'], ['points'])
    """
    kind: Any = inspect.type_info(wanted)
    for name in re.findall(r"\w+", re.sub(r"^\$(\[\d+\])?|\[[^]]*\]", "", place)):
        kind = next(field.type for field in kind.fields if field.encode_name == name)
        kind = getattr(kind, "item_type", kind)
    return [field.encode_name for field in kind.fields]


def _field(place: str) -> str | None:
    """Return the place of an error in words.

    >>> _field("$[2].x[...]"), _field("$.settings.tie"), _field("$")
    ('line 3: x', 'settings.tie', None)
    """
    line = re.match(r"\$\[(\d+)\]", place)
    field = re.sub(r"^\$(\[\d+\])?\.?|\[\.\.\.\]", "", place)
    before = f"line {int(line[1]) + 1}" if line else ""
    return ": ".join(filter(None, [before, field])) or None


def refusal(error: RefusedError) -> Reply:
    """Return the reply to a refused request."""
    retry = () if error.retry_after is None else ((b"retry-after", str(error.retry_after).encode()),)
    close = (CLOSE,) if error.closes else ()
    return Reply(problem(error.message, error.field), error.status, headers=error.headers + retry + close)
