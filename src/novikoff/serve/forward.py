"""Requests about a model that another server holds: they are passed on to it, once, and its answer is passed back."""

import asyncio
from typing import Any

from novikoff.serve.http import Call, Reply
from novikoff.serve.models import holder
from novikoff.serve.refused import RefusedError

SECONDS_TO_CONNECT = 5.0

PASSED_ON = b"novikoff-passed-on"  # a request that came from another server goes no further
HEADERS = (b"authorization", b"content-type", b"idempotency-key")


class Forwarder:
    """Passes requests on. The servers of a store have the same token."""

    def __init__(self, patience: float) -> None:
        import httpx

        self.patience = patience  # seconds, after which it asks whether the other one still holds the model
        self.client: Any = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=SECONDS_TO_CONNECT),
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )

    async def send(self, url: str, call: Call) -> Reply:
        """The answer of the server at `url`, as long as it holds the model."""
        import httpx

        answering = asyncio.create_task(self._request(url, call))
        try:
            while not (await asyncio.wait({answering}, timeout=self.patience))[0]:
                if await asyncio.to_thread(holder, call.service.store, call.names[0]) != url:
                    raise _unknown(url)
            answer = answering.result()
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise RefusedError(503, f"{url} holds the model and cannot be reached; send again", retry_after=1) from None
        except httpx.TransportError:
            raise _unknown(url) from None
        finally:
            answering.cancel()
        retry = answer.headers.get("retry-after")
        passed = () if retry is None else ((b"retry-after", retry.encode()),)
        return Reply(answer.content, answer.status_code, answer.headers.get("content-type", "").encode(), passed)

    async def _request(self, url: str, call: Call) -> Any:
        import httpx

        query = b"?" + call.raw_query if call.raw_query else b""
        target = httpx.URL(url).copy_with(raw_path=call.raw_path.encode() + query)
        method = "GET" if call.method == "HEAD" else call.method
        headers = [(name, call.headers[name]) for name in HEADERS if name in call.headers]
        return await self.client.request(method, target, headers=[*headers, (PASSED_ON, b"1")], content=call.body)

    async def close(self) -> None:
        await self.client.aclose()


def _unknown(url: str) -> RefusedError:
    return RefusedError(502, f"{url} held the model and gave no answer; it may have done it, or not: send again by key")
