"""Every page of the lab on every screen: from 360 to 1,920 pixels nothing is cut, covered or out of reach."""

import os
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("starlette", reason="the lab needs the extra novikoff[lab]")
    pytest.importorskip("playwright", reason="the browser tests need Playwright")

from tests.browser import chromium
from tests.lab.browser import Lab, served_lab

SIZES = [
    (360, 640), (400, 800), (599, 900), (768, 1024), (900, 600),
    (1024, 768), (1199, 700), (1280, 720), (1400, 900), (1920, 1080),
]  # fmt: skip

# What each page shows at its fullest.
PAGES = {
    "learn": "index.html#scene=worked&step=3",
    "long words": "index.html#scene=outlier&step=8",
    "a circle": "index.html#scene=circle&step=119",
    "sliders": "index.html#scene=sample&step=9",
    "margins": "margins.html#scene=chain&n=10&phase=3",
    "cars": "margins.html#scene=cars",
    "shattering": "shattering.html#scene=five&family=circle",
}

# What is wrong with a page at its size, in sentences.
TROUBLE = Path(__file__).with_name("trouble.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lab():
    """One page for all: it is made wider and narrower."""
    with served_lab() as address, chromium() as browser:
        watched = Lab.opened(browser, address)
        yield watched
        assert watched.complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_covered_or_out_of_reach(lab, name):
    lab.visit(lab.address + PAGES[name])
    trouble = {}
    for width, height in SIZES:
        lab.page.set_viewport_size({"width": width, "height": height})
        lab.page.wait_for_selector("body[data-ready]")
        lab.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        trouble[width] = lab.page.evaluate(TROUBLE)
    assert {width: found for width, found in trouble.items() if found} == {}


@pytest.mark.parametrize("size", [(1280, 720), (1400, 900), (1920, 1080)])
def test_in_a_lecture_room_all_is_seen_at_once(lab, size):
    lab.page.set_viewport_size({"width": size[0], "height": size[1]})
    lab.visit(f"{lab.address}index.html#scene=worked&step=3")
    assert lab.page.evaluate("document.documentElement.scrollHeight") <= size[1]


@pytest.mark.parametrize("panel", ["rules", "share", "help"])
def test_every_panel_opens_whole_on_a_phone(lab, panel):
    lab.page.set_viewport_size({"width": 360, "height": 640})
    lab.visit(lab.address)
    lab.page.click(f"#{panel}-button")
    box = lab.page.locator(f"#{panel}").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    last = lab.page.locator(f"#{panel} :is(label, button, dd)").last
    last.scroll_into_view_if_needed()
    assert last.is_visible()
    lab.page.keyboard.press("Escape")
