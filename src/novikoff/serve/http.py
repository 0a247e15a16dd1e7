"""Requests and replies, as far as every route needs them: bodies within limits, queries, one shape of errors."""

import math
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from novikoff.serve.jobs import Token
from novikoff.serve.refused import RefusedError
from novikoff.serve.service import Service
from novikoff.serve.watch import Watcher
from novikoff.web import RAW_HEADERS, problem

MOST_BYTES = 8 << 20
MOST_LINES = 10_000
LONGEST_KEY = 200

# Of the headers that keep a page to itself, those that matter where there is none; a page needs the others, too.
OWN_HEADERS = [
    (name, value)
    for name, value in RAW_HEADERS
    if name in (b"x-content-type-options", b"cache-control", b"cross-origin-resource-policy")
]
PAGE_HEADERS = tuple(header for header in RAW_HEADERS if header not in OWN_HEADERS)

JSON, NDJSON, EVENTS = b"application/json", b"application/x-ndjson", b"text/event-stream"


class Reply(NamedTuple):
    """What is answered; to a watcher, what it will be told."""

    body: bytes
    status: int = 200
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    watcher: Watcher | None = None


class Call:
    """A request: its headers, the parts of its path and its query as they are needed, and its body."""

    def __init__(
        self,
        service: Service,
        method: str,
        path: str,
        headers: list[tuple[bytes, bytes]],
        raw_path: bytes,
        raw_query: bytes,
    ) -> None:
        self.service, self.method, self.path = service, method, path
        self.body = b""
        self.headers: dict[bytes, bytes] = dict(headers)
        self.raw_path, self.raw_query = raw_path, raw_query
        self.names: list[str] = []  # what stands in the places of the path that a route leaves open
        self.stays = True  # whether the connection is for more requests

    @property
    def kind(self) -> bytes:
        """The content type, without parameters."""
        return self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()

    def one(self, decoder: Any) -> Any:
        """The body, which must be JSON of the type that the decoder wants."""
        if self.kind != JSON:
            raise RefusedError(415, "the request must be JSON: Content-Type: application/json")
        return decoded(decoder.decode, self.body)

    def many(self, decoder: Any) -> list[Any]:
        """The body, which may also have many, one a line."""
        if self.kind != NDJSON:
            return [self.one(decoder)]
        lines = decoded(decoder.decode_lines, self.body)
        if not lines:
            raise RefusedError(422, "there is not a single line in the request")
        if len(lines) > MOST_LINES:
            raise RefusedError(413, f"the request has {len(lines):,} lines; at most {MOST_LINES:,} go together")
        return lines

    @property
    def token(self) -> Token | None:
        """The idempotency key that came with the request, if one did."""
        key = self.headers.get(b"idempotency-key")
        if key is None:
            return None
        name = key.decode("latin-1")
        if not 0 < len(name) <= LONGEST_KEY:
            raise RefusedError(422, f"an Idempotency-Key has 1 to {LONGEST_KEY} characters", "Idempotency-Key")
        return Token.of(name, self.method.encode(), self.path.encode(), self.kind, self.body)

    def query(self, *known: str) -> dict[str, str]:
        """The query, in which only these names may stand."""
        pairs = parse_qsl(self.raw_query.decode("latin-1"), keep_blank_values=True)
        for name, _ in pairs:
            if name not in known:
                raise RefusedError(422, f"this takes no {name!r:.60} in the query", name[:60])
        return dict(pairs)


def decoded(decode: Any, body: Any) -> Any:
    """What a decoder makes of a body; or what is wrong with it, and where."""
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        raise RefusedError(422, message, _field(place.strip("`"))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"the request cannot be read: {error}") from None


def _field(place: str) -> str | None:
    """The place of an error in words.

    >>> _field("$[2].x[...]"), _field("$.settings.tie"), _field("$")
    ('line 3: x', 'settings.tie', None)
    """
    line = re.match(r"\$\[(\d+)\]", place)
    field = re.sub(r"^\$(\[\d+\])?\.?|\[\.\.\.\]", "", place)
    before = f"line {int(line[1]) + 1}" if line else ""
    return ": ".join(filter(None, [before, field])) or None


def whole(text: str | None, name: str, least: int, most: int) -> int | None:
    """A whole number of the query."""
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,16}", text) or not least <= int(text) <= most:
        raise RefusedError(422, f"{name}={text:.60} must be a whole number from {least} to {most}", name)
    return int(text)


def positive(text: str | None, name: str) -> float | None:
    """A positive number of the query."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1e-300 <= value <= 1e300:
        raise RefusedError(422, f"{name}={text:.60} must be a positive number", name)
    return value


def refusal(error: RefusedError) -> Reply:
    """What is answered to a request that is refused."""
    retry = () if error.retry_after is None else ((b"retry-after", str(error.retry_after).encode()),)
    return Reply(problem(error.message, error.field), error.status, headers=retry)
