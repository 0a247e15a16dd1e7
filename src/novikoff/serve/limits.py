"""uvicorn's connection, with limits for which uvicorn has no settings, and that no application can set.

An application sees a request only when its headers are complete, and not whether its answer is read. So endless
headers, clients that do not read, and endless pipelined requests are handled here. uvicorn reads, starts and answers
requests.
"""

import asyncio
import math
from heapq import nsmallest
from operator import attrgetter
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from novikoff.serve.http import CLOSE, refusal
from novikoff.serve.messages import RefusedError

SECONDS_TO_ASK = 30.0  # for headers, and again for the body
SECONDS_TO_TAKE = 30.0  # to read an answer, plus the time for a long one at
SLOWEST = 1 << 16  # bytes a second
LOOK = 5.0  # how often, in seconds, a connection is checked for a timeout
MOST_HEADER_BYTES = 1 << 16

# Of the 1,024 files that a process may have open by default, the store needs some. Beyond this, a new client replaces
# the one that has kept the server waiting longest.
MOST_CONNECTIONS = 900


class Limited(HttpToolsProtocol):
    """A connection that drops a client that is too slow, or sends too much."""

    timer: asyncio.TimerHandle | None = None
    since = 0.0  # when it last became the client's turn
    taken_by = math.inf  # when what was sent must have been read
    unparsed = 0  # bytes since headers or a part of a body were complete
    is_asking = True  # headers or body are incomplete
    is_refused = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.flow = _OneReadAhead(transport, self.pipeline)
        self._turn()
        self._make_room()
        self._look()

    def _turn(self) -> None:
        self.since = self.loop.time()

    def _make_room(self) -> None:
        """Close the connections that have kept the server waiting longest; a client that waits for an answer stays."""
        surplus = len(self.connections) - MOST_CONNECTIONS
        if surplus > 0:
            others: list[Any] = [other for other in self.connections if other is not self]
            there = [other for other in others if other.is_waited_for()]
            for other in nsmallest(surplus, there, key=attrgetter("since")):
                other.transport.abort()

    def is_waited_for(self) -> bool:
        """Whether it is the client's turn: to start a request, continue it, or read an answer."""
        return self._is_idle() or self.cycle.more_body or self.flow.write_paused

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        """Drop a client that is too slow. A timer for every request would cost more than checking now and then."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent:
            self.taken_by = math.inf
        elif self.taken_by == math.inf:
            self.taken_by = now + SECONDS_TO_TAKE + unsent / SLOWEST
        if now >= self.taken_by:
            self.transport.abort()
        elif self.is_asking and now >= self.since + SECONDS_TO_ASK:
            if self._is_idle():
                self.transport.close()
            elif self.cycle.more_body:  # else what is due is answered first
                self._refuse(RefusedError(408, f"the request did not arrive within {SECONDS_TO_ASK:g} seconds"))
        self.timer = self.loop.call_later(LOOK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.timer is not None:
            self.timer.cancel()

    # The request and its size

    def data_received(self, data: bytes) -> None:
        self.unparsed += len(data)
        super().data_received(data)
        if self.unparsed > MOST_HEADER_BYTES:
            self._refuse_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.is_asking = True
        self._turn()

    def on_headers_complete(self) -> None:
        self.unparsed = 0
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MOST_HEADER_BYTES:
            self._refuse_headers()
            raise ValueError("the headers are too long")  # the parser stops
        self._turn()
        super().on_headers_complete()
        self.headers = []  # for trailers, which no route needs, and which must not pass for headers

    def on_body(self, body: bytes) -> None:
        self.unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.unparsed, self.is_asking = 0, False
        super().on_message_complete()

    # The answer

    def pause_writing(self) -> None:
        super().pause_writing()
        self._turn()

    def on_response_complete(self) -> None:
        self._turn()
        if self.is_refused and not self.pipeline:
            self.transport.close()
        super().on_response_complete()

    # What cannot be read

    def _refuse_headers(self) -> None:
        self._refuse(RefusedError(431, f"the headers are longer than {MOST_HEADER_BYTES:,} bytes"))

    def send_400_response(self, msg: str) -> None:
        self._refuse(RefusedError(400, "malformed request: not HTTP/1.1"))

    def _refuse(self, error: RefusedError) -> None:
        """Refuse a request that cannot be read to its end, and close: where the next one begins is unknown.

        Earlier requests are answered first.
        """
        if self.is_refused:
            return
        self.is_refused = True
        self.flow.pause_reading()
        is_cut = not self._is_idle() and self.cycle.more_body
        if is_cut and self.pipeline and self.pipeline[0][0] is self.cycle:
            self.pipeline.popleft()
        elif is_cut or self._is_idle():
            reply = refusal(error)
            headers = [b"%b: %b\r\n" % header for header in (*reply.all_headers, CLOSE)]
            self.transport.write(b"".join([STATUS_LINE[reply.status], *headers, b"\r\n", reply.body]))
            self.transport.close()


class _OneReadAhead(FlowControl):
    """Stops reading while pipelined requests wait."""

    def __init__(self, transport: asyncio.Transport, pipeline: Any) -> None:
        super().__init__(transport)
        self.pipeline = pipeline

    def resume_reading(self) -> None:
        if not self.pipeline:
            super().resume_reading()
