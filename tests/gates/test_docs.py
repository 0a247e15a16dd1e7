"""The documentation is a site: it builds without a warning, leaves nothing out, and asks no other host for anything."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import novikoff
from tests.browser import Watched, chromium

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page.relative_to(ROOT / "docs") for page in (ROOT / "docs").glob("**/*.md"))

# What a browser fetches by itself. A link that a person may click is an <a>.
FETCHED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}


class Page(HTMLParser):
    """What a page fetches, what it links to, and the places that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.fetched, self.links, self.places = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.update(filter(None, [given.get("id"), given.get("name")]))
        if tag in FETCHED and given.get("rel") != "canonical":
            self.fetched.append(given.get(FETCHED[tag]) or "")
        if tag == "a":
            self.links.append(given.get("href") or "")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return folder, done


@pytest.fixture(scope="module")
def pages(build):
    folder, _ = build
    return {path.relative_to(folder): Page(path) for path in folder.glob("**/*.html") if path.name != "404.html"}


def test_the_site_builds_without_a_warning(build):
    _, done = build
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


def test_every_page_is_built_and_in_the_navigation(pages):
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"[\w/-]+\.md", navigation)
    assert sorted(map(Path, listed)) == PAGES
    assert {page.with_suffix(".html") for page in PAGES} == set(pages)


def test_every_link_leads_somewhere(build, pages):
    folder, _ = build
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"(https?|mailto):", link) or not link:
                continue
            target, _, place = link.partition("#")
            there = Path(os.path.normpath(path.parent / target)) if target else path
            there = there if there.suffix else there / "index.html"
            assert (folder / there).is_file(), f"{path} links to {link}"
            assert not place or place in pages[there].places, f"{path} links to {link}, and there is no such place"


def test_the_site_asks_no_other_host_for_anything(build, pages):
    folder, _ = build
    for path, page in pages.items():
        assert not [address for address in page.fetched if re.match(r"(https?:)?//", address)], path
    for sheet in folder.glob("**/*.css"):
        assert not re.search(r"(url\(|@import\s)[\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_every_public_name_is_in_the_reference():
    text = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    documented = {line.rpartition(".")[2] for line in re.findall(r"^::: (novikoff\.[\w.]+)$", text, re.MULTILINE)}
    assert set(novikoff.__all__) - documented == set()


def test_no_product_is_lost_as_a_tag(build):
    """A docstring may say <w, x>; a browser would take that for an unknown element, and show nothing."""
    folder, _ = build
    for path in (folder / "reference").glob("*.html"):
        assert not re.search(r"<[a-zA-Z]\w*, ", path.read_text(encoding="utf-8")), path


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def opened(browser, folder, page, **how):
    """A page of the site, from the disk."""
    return Watched.opened(browser, folder.as_uri(), path=f"/{page}", **how)


@pytest.mark.parametrize(("width", "theme"), [(400, "light"), (1000, "dark"), (1600, "light")])
def test_pages_fit_the_screen_in_light_and_dark(build, browser, width, theme):
    watched = opened(browser, build[0], "index.html", size=(width, 900), theme=theme)
    for page in ("index", "commands", "coming_from", "theory/second_note", "reference/learners", "design"):
        watched.visit(f"{watched.address}/{page}.html")
        assert watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page} at {width}"
        assert watched.page.evaluate("document.documentElement.dataset.theme") == theme
    assert watched.complaints == []


def test_every_formula_is_typeset(build, browser):
    folder, _ = build
    watched = opened(browser, folder, "index.html")
    formulas = 0
    for path in sorted(folder.glob("**/*.html")):
        if "arithmatex" in (text := path.read_text(encoding="utf-8")):
            watched.visit(path.as_uri())
            drawn = watched.page.locator(".arithmatex .katex-html").count()
            assert drawn == text.count('class="arithmatex"'), path
            formulas += drawn
    assert formulas > 50
    assert watched.complaints == []


def test_the_search_finds_pages_and_the_theme_can_be_switched(build, browser):
    watched = opened(browser, build[0], "theory/index.html")
    page = watched.page
    page.keyboard.press("/")
    page.keyboard.type("detectseparation")
    page.locator("#found a").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/coming_from.html#*")
    page.locator("button.theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert watched.complaints == []
