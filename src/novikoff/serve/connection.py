"""A connection: HTTP/1.1 between the parser, which finds whole requests, and the application, which answers them.

uvicorn's server owns the sockets, the signals and the end. Its own connections speak ASGI, with several messages and
two writes a request, which took more processor time than all that the service does; these hand over whole requests,
and write whole answers.
"""

import asyncio
import math
from collections import deque
from heapq import nsmallest
from http import HTTPStatus
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httptools

from novikoff.serve.http import EVENTS, MOST_BYTES, OWN_HEADERS, Call, Reply, refusal
from novikoff.serve.refused import RefusedError
from novikoff.serve.watch import Watcher

if TYPE_CHECKING:
    from novikoff.serve.app import App

SECONDS_FOR_HEADERS = 30.0
SECONDS_TO_SEND = 30.0  # for a body
SECONDS_OF_SILENCE = 75.0  # between two requests
SECONDS_TO_TAKE = 30.0  # answers, with some more for long ones, at
SLOWEST = 1 << 16  # bytes a second
LOOK = 5.0  # how often, in seconds, a connection is asked whether its time is over
MOST_HEADER_BYTES = 1 << 16
MOST_WAITING = 16  # requests that were sent without waiting for answers
MOST_WAITING_BYTES = 1 << 20  # of their bodies
AT_ONCE = 1 << 12  # bytes that are parsed before the next look at how many wait

# Of the 1,024 files that a process may have open by default, some belong to the store. Beyond this, whoever comes takes
# the place of the client that has been waited for longest.
MOST_CONNECTIONS = 900

STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
COMMON_HEADERS = b"".join(b"%b: %b\r\n" % header for header in OWN_HEADERS)


class Connection(asyncio.Protocol):
    """One client, as uvicorn's server wants it: with `shutdown`, and known to its sets of connections and tasks."""

    def __init__(self, app: "App", server_state: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.app, self.state, self.loop = app, server_state, loop
        self.parser = httptools.HttpRequestParser(self)
        self.requests: deque[Call] = deque()  # whole, and not answered yet
        self.answering: asyncio.Task[None] | None = None
        self.watcher: Watcher | None = None
        self.deadline = self.taken_by = math.inf  # what is to be received, and what is to be sent
        self.waits_since = loop.time()  # for the client; math.inf while the client waits
        self.timer: asyncio.TimerHandle | None = None
        self.is_welcome = True
        self.has_begun = self.is_reading = False  # the headers of a request, its body
        self.is_ending = self.is_refused = self.is_paused = False
        self.waiting_bytes = 0  # of the requests
        self.unread = b""
        self.stays = True
        self.can_write = asyncio.Event()
        self.can_write.set()

    # -- the server ---------------------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.state.connections.add(self)
        if len(self.state.connections) > MOST_CONNECTIONS:
            self._make_room()
        self._wait(SECONDS_FOR_HEADERS)
        self._look()

    def _make_room(self) -> None:
        """Let go of those that have been waited for longest; who waits for an answer stays."""
        there = [other for other in self.state.connections if not other.transport.is_closing()]
        others = [other for other in there if other.waits_since < math.inf and other is not self]
        for other in nsmallest(len(there) - MOST_CONNECTIONS, others, key=attrgetter("waits_since")):
            other.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.state.connections.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        self.can_write.set()
        if self.watcher is not None and self.answering is not None:
            self.answering.cancel()

    def shutdown(self) -> None:
        """End after the answers that are due; who is still sending is told so."""
        self.is_ending = True
        if self.watcher is not None:
            self.watcher.tell(None)
        elif self.is_reading and not self.requests and self.answering is None:
            self._refuse(RefusedError(503, "the service is about to end", retry_after=5))
        elif self.answering is None:
            self.transport.close()

    def pause_writing(self) -> None:
        self.can_write.clear()
        self.waits_since = self.loop.time()

    def resume_writing(self) -> None:
        self.can_write.set()
        self.taken_by = math.inf
        if self.answering is not None:
            self.waits_since = math.inf

    # -- time ---------------------------------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        self.deadline = self.loop.time() + seconds

    def _look(self) -> None:
        """Let go of a client that is too slow. A timer for every request would cost more than a look now and then."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent:
            self.taken_by = math.inf
        elif self.taken_by == math.inf:
            self.taken_by = now + SECONDS_TO_TAKE + unsent / SLOWEST
        if now >= self.taken_by:
            self.transport.abort()
            return
        deadline = self.deadline if self.answering is None else math.inf  # what is due is answered first
        if now >= deadline:
            if self.is_reading:
                self._refuse(RefusedError(408, f"the request did not arrive within {SECONDS_TO_SEND:g} seconds"))
            self.transport.close()
            deadline = self.deadline = math.inf
        left = min(deadline, self.taken_by) - now
        self.timer = self.loop.call_later(min(left + 0.01, LOOK), self._look)

    # -- requests -----------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Parse what came, a little at a time: a read may hold thousands of requests, and some are enough for now."""
        text = memoryview(self.unread + data if self.unread else data)
        try:
            while text and not (self.is_refused or self.is_paused):
                some, text = text[:AT_ONCE], text[AT_ONCE:]
                self.parser.feed_data(some)
        except httptools.HttpParserUpgrade:
            self.is_ending = True  # the request is answered, and what comes next is not HTTP
            text = memoryview(b"")
        except httptools.HttpParserError:
            self._refuse(RefusedError(400, "this is no request of HTTP/1.1"))
        self.unread = b"" if self.is_refused else bytes(text)

    def on_message_begin(self) -> None:
        self.has_begun = True
        self.url, self.size = b"", 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self._wait(SECONDS_FOR_HEADERS)
        if self.answering is None:
            self.waits_since = self.loop.time()

    def on_url(self, url: bytes) -> None:
        self.url += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.is_reading:  # a trailer, which no route needs, and which must not pass for a header
            self.on_body(b"", len(name) + len(value))
            return
        self.headers.append((name.lower(), value))
        self._count(len(name) + len(value))

    def _count(self, more: int) -> None:
        self.size += more
        if self.size > MOST_HEADER_BYTES:
            self._refuse(RefusedError(431, f"the headers are longer than {MOST_HEADER_BYTES:,} bytes"))

    def on_headers_complete(self) -> None:
        self.size, self.is_reading = 0, True
        self.stays = self.parser.should_keep_alive()
        self._wait(SECONDS_TO_SEND)
        for name, value in self.headers:
            if name == b"content-length" and value.isdigit() and int(value) > MOST_BYTES:
                self._refuse_too_large()
            elif name == b"expect" and value.lower() == b"100-continue" and not self.is_refused:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        url = httptools.parse_url(self.url)
        path = url.path or b"/"
        self.call = Call(
            self.app.service,
            self.parser.get_method().decode("ascii"),
            unquote(path.decode("ascii")) if b"%" in path else path.decode("ascii"),
            self.headers,
            path,
            url.query or b"",
        )
        self.call.stays = self.stays
        self.is_welcome = self.app.why_not(self.call) is None

    def on_body(self, body: bytes, more: int = 0) -> None:
        self.size += len(body) + more
        if self.size > MOST_BYTES:
            self._refuse_too_large()
        elif self.is_welcome and not self.is_refused:  # else it is answered that it is not, whatever it sends
            self.body.append(body)

    def on_message_complete(self) -> None:
        self.has_begun = self.is_reading = False
        if self.is_refused:
            return
        call, call.body = self.call, b"".join(self.body)
        self.requests.append(call)
        self.waiting_bytes += len(call.body)
        self.deadline = math.inf
        if not self.is_paused and self._has_enough():
            self.is_paused = True
            self.transport.pause_reading()
        if self.answering is None:
            self.waits_since = math.inf
            self.answering = self.loop.create_task(self._answer())
            self.state.tasks.add(self.answering)
            self.answering.add_done_callback(self.state.tasks.discard)

    def _has_enough(self) -> bool:
        return len(self.requests) >= MOST_WAITING or self.waiting_bytes >= MOST_WAITING_BYTES

    def _refuse_too_large(self) -> None:
        self._refuse(RefusedError(413, f"the request is larger than {MOST_BYTES:,} bytes; send it in parts"))

    def _refuse(self, error: RefusedError) -> None:
        """Refuse what cannot be read to its end, and close: nobody knows where the next request would begin."""
        if self.is_refused:
            return
        self.is_refused = True
        if self.answering is None:  # else it closes after the answers that are due
            self._write(refusal(error), stays=False)
            self.transport.close()

    # -- answers ------------------------------------------------------------------------------------------------------

    async def _answer(self) -> None:
        try:
            await self._answer_all()
        finally:  # not in a callback, before which the next request may come
            self.answering = None
            self.waits_since = self.loop.time()
            if self.is_ending or self.is_refused:
                self.transport.close()
            elif not self.has_begun:
                self._wait(SECONDS_OF_SILENCE)

    async def _answer_all(self) -> None:
        while self.requests and not self.transport.is_closing():
            if not self.can_write.is_set():  # nothing is made for whoever does not take what was made before
                await self.can_write.wait()
                continue
            call = self.requests.popleft()
            self.waiting_bytes -= len(call.body)
            reply = await self._reply(call)
            if reply.watcher is not None:
                await self._stream(reply, reply.watcher)
                return
            self.state.total_requests += 1
            stays = call.stays and not self.is_ending
            self._write(reply, stays, is_head=call.method == "HEAD")
            if not stays:
                self.transport.close()
            elif self.is_paused and not self._has_enough():
                self.is_paused = False
                self.transport.resume_reading()
                self.data_received(b"")
            if self.requests:
                await asyncio.sleep(0)  # others come first: an answer that needs no disk would not let them

    async def _reply(self, call: Call) -> Reply:
        try:
            return await self.app.answer(call)
        except asyncio.CancelledError:  # the server waits no longer
            self.is_ending = True
            return refusal(RefusedError(503, "the service is about to end", retry_after=5))

    def _write(self, reply: Reply, stays: bool, is_head: bool = False) -> None:
        if self.transport.is_closing():
            return
        more = b"".join([b"%b: %b\r\n" % header for header in reply.headers]) if reply.headers else b""
        self.transport.write(
            b"%bcontent-type: %b\r\ncontent-length: %d\r\n%b%b%b\r\n%b"
            % (
                STATUS_LINES[reply.status],
                reply.kind,
                len(reply.body),
                more,
                COMMON_HEADERS,
                b"" if stays else b"connection: close\r\n",
                b"" if is_head else reply.body,
            )
        )

    async def _stream(self, reply: Reply, watcher: Watcher) -> None:
        """Send a watcher what it is told, until it goes, is too slow, or the server ends."""
        self.watcher, watcher.drop = watcher, self.transport.abort
        head = b"%bcontent-type: %b\r\ntransfer-encoding: chunked\r\nconnection: close\r\n%b\r\n"
        self.transport.write(head % (STATUS_LINES[reply.status], EVENTS, COMMON_HEADERS))
        try:
            if self.is_ending:
                watcher.tell(None)
            while (message := await watcher.messages.get()) is not None:
                self.transport.write(b"%x\r\n%b\r\n" % (len(message), message))
                await self.can_write.wait()
            self.transport.write(b"0\r\n\r\n")
        finally:
            self.app.service.watchers.leave(watcher)
            self.transport.close()
