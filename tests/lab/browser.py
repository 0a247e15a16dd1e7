"""A lab that is being served, and its page."""

import contextlib
from collections.abc import Iterator

from tests.browser import Watched, served


@contextlib.contextmanager
def served_lab() -> Iterator[str]:
    """The address of a lab, served in a thread."""
    from novikoff.lab.server import make_app

    with served(make_app(), lifespan="off") as address:
        yield address


class Lab(Watched):
    """The page of a lab."""

    def scene(self, name: str) -> None:
        self.page.select_option("#scene", name)
        self.settle()

    def step_to(self, step: int) -> None:
        self.page.evaluate(
            "step => { const s = document.getElementById('step'); s.value = step; "
            "s.dispatchEvent(new Event('input', {bubbles: true})); }",
            step,
        )
        self.page.wait_for_selector(f'body[data-ready="{step}"]')
