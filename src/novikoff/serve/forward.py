"""Requests about a model that another server holds: they are passed on to it, once, and its answer is passed back."""

from typing import Any

from novikoff.serve.http import Call, Reply
from novikoff.serve.refused import RefusedError

SECONDS_TO_CONNECT = 5.0
SECONDS_TO_ANSWER = 60.0

PASSED_ON = b"novikoff-passed-on"  # a request that came from another server goes no further
HEADERS = (b"authorization", b"content-type", b"idempotency-key")


class Forwarder:
    """Passes requests on. The other server has the same token."""

    def __init__(self) -> None:
        import httpx

        self.client: Any = httpx.AsyncClient(
            timeout=httpx.Timeout(SECONDS_TO_ANSWER, connect=SECONDS_TO_CONNECT),
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )

    async def send(self, url: str, call: Call) -> Reply:
        """The answer of the server at `url`."""
        import httpx

        headers = [(name, call.headers[name]) for name in HEADERS if name in call.headers]
        target = httpx.URL(url).copy_with(raw_path=_target(call.scope))
        try:
            answer = await self.client.request(
                call.scope["method"], target, headers=[*headers, (PASSED_ON, b"1")], content=call.body
            )
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise RefusedError(503, f"{url} holds the model and cannot be reached; send again", retry_after=1) from None
        except httpx.TransportError:
            raise RefusedError(
                502,
                f"{url} holds the model and gave no answer; it may have done it, or not: send it again with its key",
            ) from None
        retry = answer.headers.get("retry-after")
        passed = () if retry is None else ((b"retry-after", retry.encode()),)
        return Reply(answer.content, answer.status_code, answer.headers.get("content-type", "").encode(), passed)

    async def close(self) -> None:
        await self.client.aclose()


def _target(scope: Any) -> bytes:
    path, query = scope["raw_path"], scope.get("query_string", b"")
    return bytes(path + b"?" + query if query else path)
