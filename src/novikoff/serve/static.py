"""The page and its files. Anybody may have them: without the token they show nothing."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from novikoff.serve.http import PAGE_HEADERS, Call, Reply
from novikoff.web import SHARED

PAGE = Path(__file__).with_name("page")
KINDS = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}


def files() -> dict[str, Callable[[Call], Awaitable[Reply]]]:
    """What answers each path: the page itself at /, its files beside it, and those of all pages in /shared."""
    own = {f"/{path.name}": path for path in PAGE.iterdir() if path.suffix in KINDS}
    shared = {f"/shared/{path.name}": path for path in SHARED.iterdir() if path.suffix in KINDS}
    return {path: _answering(file) for path, file in (own | shared | {"/": PAGE / "index.html"}).items()}


def _answering(file: Path) -> Callable[[Call], Awaitable[Reply]]:
    reply = Reply(file.read_bytes(), kind=KINDS[file.suffix], headers=PAGE_HEADERS)

    async def answer(call: Call) -> Reply:
        return reply

    return answer
