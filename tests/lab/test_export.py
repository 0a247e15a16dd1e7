"""The lab as a folder: what the library answered, and pages that ask nobody."""

import functools
import http.server
import json
import os
import threading

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright", reason="the browser tests need Playwright")

from novikoff.lab import export as exporting
from novikoff.lab.export import PAGES, bundle, export
from novikoff.lab.scenes import SCENES
from novikoff.lab.state import parse_state
from novikoff.lab.trace import moment_as_json, run_as_json
from tests.browser import chromium
from tests.cli.calling import call
from tests.lab.browser import Lab

# Enough to see that it works; the whole takes half a minute.
SMALL = ("worked", "xor", "circle", "sample")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "SCENES", [scene for scene in SCENES if scene["name"] in SMALL])
        patch.setattr(exporting, "SIZES", range(2, 6))
        made = tmp_path_factory.mktemp("site") / "course" / "lab"
        assert all(path.is_file() for path in export(made))
        yield made


def answers_in(path):
    """What a file of answers hands over."""
    name, answers = json.loads(
        "[" + path.read_text(encoding="utf-8").removeprefix("answered(").removesuffix(");\n") + "]"
    )
    assert name == path.stem
    return answers


def test_the_answers_are_the_librarys(folder):
    state = parse_state(next(scene for scene in SCENES if scene["name"] == "worked")["state"])
    answers, run = answers_in(folder / "answers" / "scene-worked.js"), json.loads(json.dumps(run_as_json(state)))
    for part in ("steps", "labels", "stopped", "ending"):
        assert answers["run"][part] == run[part]
    assert answers["run"]["proof"]["left"] == run["proof"]["left"]
    assert len(answers["at"]) == len(run["steps"]["row"]) + 1
    for step, place in enumerate(answers["at"]):
        moment = moment_as_json(state, step)
        assert answers["moments"][place]["errors"] == moment["errors"]
        assert (answers["moments"][place]["before"] is None) == (moment["before"] is None)


def test_it_names_nothing_that_is_elsewhere(folder):
    for path in folder.rglob("*.*"):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text
        assert 'type="module"' not in text


@pytest.mark.parametrize("script", PAGES.values())
def test_no_module_is_left_in_a_script(script):
    lines = bundle(script).splitlines()
    assert not [line for line in lines if line.startswith(("import ", "export "))]


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(params=["from the disk", "from a web server"])
def site(request, folder):
    if request.param == "from the disk":
        yield f"file://{folder}/"
        return
    root = functools.partial(Silent, directory=folder.parents[1])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), root) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/course/lab/"
        server.shutdown()
        thread.join()


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *said):
        pass


def test_it_runs_without_a_server_of_its_own(browser, site):
    lab = Lab.opened(browser, f"{site}index.html")
    lab.address = site
    lab.complaints.clear()
    lab.step_to(3)
    assert lab.text("#detail").endswith("= (2, -1)")
    assert lab.number("left") == 3
    assert lab.page.locator("#rules-button").is_hidden()
    lab.scene("circle")
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector("#converged")
    lab.scene("sample")
    assert lab.text("#verdict-title") == "Overlapping (proved)"
    lab.page.locator("#sample-noise").fill("0")
    lab.page.wait_for_selector('#verdict-title:has-text("Separable")')
    lab.page.locator("#sample-noise").fill("20")
    lab.page.wait_for_selector('#verdict-title:has-text("Overlapping")')
    lab.visit(f"{site}index.html#scene=xor&step=4")
    assert lab.text("#verdict-title") == "Overlapping (proved)"
    lab.visit(f"{site}margins.html#scene=cars")
    assert lab.page.locator("#plain-words").get_attribute("data-value") == "234591"
    lab.page.select_option("#scene", "chain")
    lab.page.wait_for_selector('#plain-words[data-value="341"]')
    lab.visit(f"{site}shattering.html")
    assert "{r, s} is missing" in lab.text("#look-for")
    lab.page.click("#families label:nth-child(3)")
    lab.page.wait_for_selector('body[data-ready="13"]')
    lab.page.context.close()
    assert [said for said in lab.complaints if not said.startswith(site)] == []


def test_the_command_writes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "precomputed", lambda: iter([("known", {})]))
    done = call("lab", "--export", "site", "--json", folder=tmp_path)
    document = json.loads(done.out)
    assert document["files"] == len(list((tmp_path / "site").rglob("*.*")))
    assert (tmp_path / "site" / "index.html").is_file()
