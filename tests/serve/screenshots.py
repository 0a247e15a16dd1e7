"""Pictures of the service's page: `python -m tests.serve.screenshots` writes the one of the manual.

With a folder as its argument it writes all sizes and themes there, to look at. It needs a browser.
"""

import itertools
import sys
import tempfile
from pathlib import Path

from tests.browser import Watched, chromium
from tests.serve.listening import listening
from tests.serve.showcase import fill

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "serve.png"
SIZES = {"400": (400, 800), "900": (900, 900), "1600": (1600, 1000)}
THEMES = ("light", "dark")
EXAMPLE = "from=customer links=2 pages=3 urgent"


def opened(browser, address, size, theme):
    watched = Watched.opened(browser, address, size=size, theme=theme)
    watched.visit(f"{address}#mails")
    return watched


def photograph(watched, path):
    watched.page.fill("#example", EXAMPLE)
    watched.page.keyboard.press("Enter")
    watched.page.wait_for_selector("#said")
    watched.page.mouse.move(5, 5)
    watched.page.evaluate("document.activeElement.blur()")
    watched.page.screenshot(path=path, full_page=True)


def main(folder):
    with tempfile.TemporaryDirectory() as store, listening(store) as (address, _), chromium() as browser:
        fill(address)
        if folder is None:
            photograph(opened(browser, address, (1440, 900), "light"), PICTURE)
            return
        for size, theme in itertools.product(SIZES, THEMES):
            watched = opened(browser, address, SIZES[size], theme)
            photograph(watched, folder / f"mails_{size}_{theme}.png")
            for name in ("desks", "lamps", "not-used-yet"):
                watched.visit(f"{address}#{name}")
                watched.page.screenshot(path=folder / f"{name}_{size}_{theme}.png", full_page=True)
            sys.stderr.write("".join(f"{complaint}\n" for complaint in watched.complaints))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
