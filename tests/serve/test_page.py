"""The service's page in a real browser: it shows what the service says, as it happens, and nothing else."""

import json
import os
import re
import tempfile
import time

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright", reason="the browser tests need Playwright")

import httpx

from novikoff.serve.api import ROUTES
from novikoff.serve.app import PAGE, page_routes
from novikoff.web import SHARED
from tests.browser import Watched, chromium
from tests.serve.listening import listening
from tests.serve.showcase import create, fill, post

MARKUP = "<img src=x onerror=document.title='harmed'>"
TOKEN = "a token of the test".replace(" ", "-")
SECTIONS = ("#figures", "#mistakes", "#weights", "#try", "#drift")


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def filled():
    """The address of a service with models that a test may look at, and not change."""
    with tempfile.TemporaryDirectory() as folder, listening(folder) as (address, _):
        fill(address)
        yield address


@pytest.fixture
def address(folder):
    """The address of a service that is empty."""
    with listening(folder) as (served, _):
        yield served


class Page(Watched):
    """The page of a service. Whatever it complains about fails the test that closes it."""

    def select(self, name):
        self.visit(f"{self.address}#{name}")

    def shows(self, name, value):
        """Wait until a figure has a value."""
        self.page.wait_for_selector(f'[data-name="{name}"][data-value="{value}"]', state="attached")

    def says(self, selector, words):
        """Wait until some words are to be read."""
        self.page.locator(selector, has_text=words).wait_for()

    def try_example(self, words):
        self.page.fill("#example", words)
        self.page.click("#try-form button")

    def close(self, but=None):
        """End, without a complaint but those that were provoked."""
        self.page.context.close()
        assert [complaint for complaint in self.complaints if but is None or not re.search(but, complaint)] == []


def record_of(address, name, **query):
    return httpx.get(f"{address}v1/models/{name}/record", params=query).raise_for_status().json()


@pytest.mark.parametrize(("width", "theme"), [(400, "light"), (900, "dark"), (1600, "light")])
def test_everything_is_shown_and_nothing_is_cut_off(browser, filled, width, theme):
    page = Page.opened(browser, filled, size=(width, 900), theme=theme)
    for name in ("desks", "lamps", "mails", "not-used-yet"):
        page.select(name)
        assert page.text("#name") == name
        page.try_example("pages=3 from=customer")
        page.page.wait_for_selector("#said")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        for section in SECTIONS:
            box = page.page.locator(section).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    page.close()


def test_every_figure_is_the_services(browser, filled):
    page = Page.opened(browser, filled)
    page.select("mails")
    record = record_of(filled, "mails")
    for name in ("examples", "mistakes", "wrong", "waiting"):
        assert page.number(name) == record[name]
    assert page.number("bound") == record["bound"]["holds_for_this_model"]
    assert page.page.locator("#curve .alarm").count() >= len(record["drift"]["alarms"]) > 0
    assert page.page.locator(".alarms li").count() == len(record["drift"]["alarms"])
    weights = httpx.get(f"{filled}v1/models/mails/weights", params={"top": 12}).json()["classes"][0]["weights"]
    shown = page.page.locator("#weights .feature").all_text_contents()
    assert shown == [*(weight["feature"] for weight in weights), "(intercept)"]
    page.close()


def test_one_of_many_classes_is_chosen(browser, filled):
    page = Page.opened(browser, filled)
    page.select("desks")
    classes = httpx.get(f"{filled}v1/models/desks/weights", params={"top": 12}).json()["classes"]
    assert page.page.locator("#class option").all_text_contents() == [each["label"] for each in classes]
    for each in classes:
        page.page.select_option("#class", label=each["label"])
        assert page.page.locator("#weights .feature").first.text_content() == each["weights"][0]["feature"]
    page.close()


def test_what_is_learned_is_shown_without_a_reload(browser, address):
    page = Page.opened(browser, address)
    assert "There is no model yet" in page.text("#nothing")
    create(address, "live", classes=["down", "up"])
    page.says("#list a", "live")
    page.shows("examples", 0)
    for number in range(1, 4):
        post(address, "live/learn", {"x": {"a": 1}, "y": "up" if number % 2 else "down"})
        page.shows("examples", number)
    assert page.number("mistakes") == record_of(address, "live")["mistakes"]
    page.says("#evidence", "The mistakes so far")
    said = post(address, "live/predict", {"x": {"a": 1}, "remember": True})
    page.shows("waiting", 1)
    page.says("#list a", "1 awaited")
    post(address, "live/reveal", {"id": said[0]["id"], "y": "down"})
    page.shows("waiting", 0)
    create(address, "another")
    page.says("#list", "another")
    httpx.delete(f"{address}v1/models/live").raise_for_status()
    page.page.locator("#list a", has_text="live").wait_for(state="detached")
    page.close()


def test_a_reader_chooses_the_margin(browser, filled):
    page = Page.opened(browser, filled)
    page.select("mails")
    most = record_of(filled, "mails")["margin_at_most"]
    for margin in (most / 2, most / 10):
        page.page.fill("#margin", repr(margin))
        page.shows("bound", record_of(filled, "mails", margin=margin)["bound"]["holds_for_this_model"])
    page.page.fill("#margin", repr(2 * most))
    page.says("#evidence.ruled-out", "No weights have that margin")
    page.page.fill("#margin", "1e-200")
    page.says("#evidence", "says nothing")
    page.page.fill("#margin", "-1")
    page.says("#margin-problem", "must be a positive number")
    page.page.fill("#margin", "")
    page.shows("bound", record_of(filled, "mails")["bound"]["holds_for_this_model"])
    page.page.focus("#margin-slider")
    page.page.keyboard.press("Home")
    page.shows("bound", record_of(filled, "mails", margin=most * 10**-2.0)["bound"]["holds_for_this_model"])
    page.close()


@pytest.mark.parametrize("words", ['from="boss" pages=2 lunch=0.5', '{"from": "boss", "pages": 2, "lunch": 0.5}'])
def test_the_box_says_what_the_model_answers_and_why(browser, filled, words):
    page = Page.opened(browser, filled)
    page.select("mails")
    page.page.fill("#example", words)
    page.page.press("#example", "Enter")
    page.page.wait_for_selector("#said")
    x = {"from": "boss", "pages": 2, "lunch": 0.5}
    why = httpx.post(f"{filled}v1/models/mails/why", params={"top": 8}, json={"x": x}).json()
    assert page.text("#said").startswith(f"{why['label']}, ahead of {why['rival']} by")
    features = page.page.locator("#why-features .feature").all_text_contents()
    assert [each.split(" \N{MULTIPLICATION SIGN}")[0] for each in features] == [
        each["feature"] for each in why["features"]
    ]
    events = page.page.locator("#why-past .event").all_text_contents()
    assert [int(each.replace(",", "")) for each in events] == [each["seq"] for each in why["past"]]
    assert page.page.locator("#why-past .example").first.text_content().startswith("from=")
    page.close()


PROBLEMS = {
    "": "Write an example first",
    '{"a": 1': "This is not JSON",
    "a=1 a=2": "a is given twice",
    "a=": "a= has no value",
    '{"a": {}}': "a must be a number",
    "[1, 2]": "is not a list",
    "a=1e300": "scale it down",
}


def test_what_is_wrong_with_an_example_is_said_in_words(browser, filled):
    page = Page.opened(browser, filled)
    for words, problem in PROBLEMS.items():
        page.try_example(words)
        page.says("#try-problem", problem)
        assert page.page.get_attribute("#example", "aria-invalid") == "true"
        page.try_example("a=1")
        page.page.wait_for_selector("#said")
        assert page.text("#try-problem") == ""
    page.close(but="422")


def test_a_value_that_is_null_is_absent(browser, filled):
    page = Page.opened(browser, filled)
    page.try_example('{"pages": 2, "lunch": null}')
    page.page.wait_for_selector("#said")
    assert "lunch" not in page.text("#why-features")
    page.close()


def test_the_api_is_shown_at_docs(browser, filled):
    page = Page.opened(browser, filled, path="docs")
    page.page.wait_for_selector("#docs table")
    shown = page.page.locator(".operation h3").all_inner_texts()
    assert shown == [f"{route.method} {route.path}" for route in sorted_routes()]
    assert page.page.locator("#ToReveal td code").all_inner_texts() == ["id", "y"]
    page.close()


def sorted_routes():
    """The routes in the order of their paths' first mention."""
    places = list(dict.fromkeys(route.path for route in ROUTES))
    return sorted(ROUTES, key=lambda route: places.index(route.path))


def test_names_and_labels_are_never_more_than_text(browser, address):
    create(address, "m", classes=[MARKUP, "tame"])
    post(
        address, "m/learn", *[{"x": {MARKUP: i, "colour": MARKUP}, "y": y} for i, y in enumerate([MARKUP, "tame"] * 3)]
    )
    page = Page.opened(browser, address)
    page.try_example(json.dumps({MARKUP: 2, "colour": MARKUP}))
    page.page.wait_for_selector("#said")
    for place in ("#settings", "#weights", "#said", "#why-features", "#why-past"):
        assert MARKUP in page.text(place)
    page.select(MARKUP.replace(" ", "%20"))
    assert page.text("#nothing") == f"There is no model {MARKUP}."
    assert page.page.locator("img").count() == 0
    assert page.page.title() == "novikoff serve"
    assert httpx.put(f"{address}v1/models/{MARKUP}", json={}).status_code in (404, 422)
    page.close()


def test_the_source_parses_no_html_and_names_nothing_elsewhere():
    for file in (*PAGE.iterdir(), *SHARED.iterdir()):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), file
        assert "//" not in re.sub(r'"http://www.w3.org/2000/svg"|^\s*// .*$|; // .*$', "", text, flags=re.MULTILINE), (
            file
        )


def test_every_file_of_the_page_is_served_under_the_policy(address):
    for path in [route.path for route in page_routes()]:
        answer = httpx.get(f"{address}{path[1:]}")
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_token_is_asked_for_once_and_kept_for_the_tab(browser, folder):
    with listening(folder, token=TOKEN) as (address, _):
        page = Page.opened(browser, address)
        page.page.wait_for_selector("#token-dialog[open]")
        page.page.keyboard.type("wrong-wrong-wrong-wrong")
        page.page.keyboard.press("Enter")
        page.says("#token-problem", "not the token")
        page.page.keyboard.type(TOKEN)
        page.page.keyboard.press("Enter")
        page.says("#connection", "live")
        header = {"Authorization": f"Bearer {TOKEN}"}
        httpx.put(f"{address}v1/models/secret", json={}, headers=header).raise_for_status()
        page.shows("examples", 0)
        page.visit(address)
        assert page.text("#name") == "secret"
        assert page.page.evaluate("localStorage.length") == 0
        assert TOKEN not in page.page.content()
        page.close(but="401")


def test_a_lost_connection_comes_back_by_itself(browser, folder):
    with listening(folder) as (address, _):
        create(address, "m", classes=["down", "up"])
        page = Page.opened(browser, address)
        page.shows("examples", 0)
    page.says("#connection", "no connection")
    assert page.text("#name") == "m"
    with listening(folder, port=httpx.URL(address).port) as (again, _):
        post(again, "m/learn", {"x": {"a": 1}, "y": "up"})
        page.says("#connection", "live")
        page.shows("examples", 1)
        page.close(but="ERR_")


def test_a_tab_that_nobody_looks_at_does_not_watch(browser, folder):
    look = (
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); "
        "document.dispatchEvent(new Event('visibilitychange')); }"
    )
    with listening(folder) as (address, service):
        create(address, "m")
        page = Page.opened(browser, address)
        page.page.evaluate(look, True)
        page.says("#connection", "paused")
        asked = service.requests["/v1/figures", "GET", 200]
        post(address, "m/learn", {"x": {"a": 1}, "y": "up"})
        time.sleep(1.5)
        assert service.requests["/v1/figures", "GET", 200] <= asked + 1  # which was under way
        page.page.evaluate(look, False)
        page.shows("examples", 1)
        page.close()


def test_the_keyboard_reaches_everything_and_everything_has_a_name(browser, filled):
    page = Page.opened(browser, filled)
    nameless = page.page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, a, section, article, nav')].filter(e => "
        "!(e.labels?.length || e.ariaLabel || e.getAttribute('aria-labelledby') || e.textContent.trim()))"
        ".map(e => e.id)"
    )
    assert nameless == []
    reached = set()
    focused = "document.activeElement.id || document.activeElement.getAttribute('href')"
    while (here := page.page.evaluate(focused)) not in reached:
        reached.add(here)
        page.page.keyboard.press("Tab")
    assert {"theme", "#desks", "#mails", "margin", "margin-slider", "class", "example"} <= reached
    page.page.focus('#list a[href="#mails"]')
    page.page.keyboard.press("Enter")
    page.says("#name", "mails")
    assert page.page.get_attribute('#list a[href="#mails"]', "aria-current") == "page"
    page.close()


def test_nothing_moves_for_those_who_do_not_want_it(browser, filled):
    page = Page.opened(browser, filled)
    moves = "getComputedStyle(document.querySelector('#list small')).animationName"
    page.page.evaluate("document.querySelector('#list li').classList.add('changed')")
    assert page.page.evaluate(moves) == "changed"
    page.page.emulate_media(reduced_motion="reduce")
    assert page.page.evaluate(moves) == "none"
    page.close()


def test_a_model_is_found_among_many(browser, address):
    for number in range(12):
        create(address, f"model-{number}")
    page = Page.opened(browser, address)
    page.page.fill("#find", "-11")
    assert page.page.locator("#list a:visible").all_inner_texts()[0].startswith("model-11")
    assert page.page.locator("#list a:visible").count() == 1
    page.close()
