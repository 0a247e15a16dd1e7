"""An application that is being served, and a browser that looks at it. What a page must not do fails the test."""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

# Milliseconds. Nothing is expected to be quick; but a page that waits for what never comes should not hang forever.
WAITING = 300_000

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextlib.contextmanager
def served(app: Any, port: int = 0, **how: Any) -> Iterator[str]:
    """The address of an application, served in a thread."""
    import uvicorn

    from novikoff.web import address_of, listen

    listener = listen(port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", **how))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser; without one a test is skipped on a person's machine, and fails where CI is set."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        message = "there is no Chromium; on Debian: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], timeout=WAITING)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, its address, and what it did that it must not do."""

    page: Any
    address: str
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def opened(
        cls, browser: Any, address: str, *, path: str = "", size: tuple[int, int] = (1280, 720), theme: str = "light"
    ) -> "Watched":
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
            accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(WAITING)
        watched = cls(context.new_page(), address)
        watched.page.on("console", lambda said: said.type in ("error", "warning") and watched.note(said.text))
        watched.page.on("pageerror", lambda error: watched.note(str(error)))
        watched.page.on(
            "request", lambda asked: asked.url.startswith((address, "blob:", "data:")) or watched.note(asked.url)
        )
        watched.visit(address + path)
        return watched

    def note(self, complaint: str) -> None:
        self.complaints.append(complaint)

    def visit(self, address: str) -> None:
        self.page.goto("about:blank")
        self.page.goto(address)
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows what was asked of it."""
        self.page.wait_for_selector("body[data-ready]")

    def number(self, name: str) -> float:
        return float(self.page.locator(f'[data-name="{name}"]').first.get_attribute("data-value"))

    def text(self, selector: str) -> str:
        return in_ascii(self.page.locator(selector).inner_text())


def in_ascii(words: str) -> str:
    """Words with hyphens for minus signs."""
    return words.replace("\N{MINUS SIGN}", "-")
