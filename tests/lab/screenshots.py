"""Pictures of the lab, at two sizes, light and dark: `python -m tests.lab.screenshots` writes those of the manual.

With a folder as its argument it writes every scene there, to look at. It needs a browser.
"""

import itertools
import sys
from pathlib import Path
from typing import Any

from tests.browser import chromium
from tests.lab.browser import Lab, served_lab

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
SIZES = {"720": (1280, 720), "1080": (1920, 1080)}
THEMES = ("light", "dark")

# The moment at which each scene is photographed, and whether with its certificate.
MOMENTS = {
    "worked": (3, False), "wide": (20, True), "thin": (150, False), "xor": (7, True), "outlier": (120, False),
    "circle": (119, True), "ring": (28, True), "shared": (20, True), "sample": (40, False), "empty": (0, False),
}  # fmt: skip

# The other pages, at a moment each.
PAGES = {"margins": "margins.html#scene=chain&n=8&phase=7", "shattering": "shattering.html"}

# Of these, docs/lab.md shows two, and both of the other pages.
IN_THE_DOCUMENTATION = {"lab_worked": ("worked", "720", "light"), "lab_xor": ("xor", "720", "dark")}


def photograph(watched: Lab, scene: str, path: Path) -> None:
    step, certificate = MOMENTS[scene]
    watched.scene(scene)
    if step:
        watched.step_to(step)
    if certificate:
        watched.page.click("#certificate")
    watched.page.mouse.move(5, 5)
    watched.page.screenshot(path=path)


def photograph_pages(browser: Any, address: str, folder: Path) -> None:
    for name, path in PAGES.items():
        watched = Lab.opened(browser, address)
        watched.visit(address + path)
        watched.page.screenshot(path=folder / f"lab_{name}.png")


def main(folder: Path | None) -> None:
    with served_lab() as address, chromium() as browser:
        photograph_pages(browser, address, folder or PICTURES)
        for size, theme in itertools.product(SIZES, THEMES):
            watched = Lab.opened(browser, address, size=SIZES[size], theme=theme)
            if folder is not None:
                for scene in MOMENTS:
                    photograph(watched, scene, folder / f"{scene}_{size}_{theme}.png")
                continue
            for name, (scene, at_size, in_theme) in IN_THE_DOCUMENTATION.items():
                if (at_size, in_theme) == (size, theme):
                    photograph(watched, scene, PICTURES / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
