"""The page in a real browser: what a student does, and what the library says about it."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("starlette", reason="the lab needs the extra novikoff[lab]")
    pytest.importorskip("playwright", reason="the browser tests need Playwright")

import numpy as np

from novikoff import Perceptron, Steps, certify, follow_proof
from novikoff.lab.state import KNOWN
from tests.browser import chromium, in_ascii
from tests.lab.browser import Lab, served_lab

SOURCE = Path(__file__).resolve().parents[2] / "src"
POINTS = [(1.0, 1.5, 1), (-1.0, -0.5, -1), (2.0, 0.25, 1), (-1.75, 0.75, -1)]


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def address():
    with served_lab() as served:
        yield served


@pytest.fixture
def lab(browser, address):
    """A lab in the browser. No test may leave an error in the console, or send a request elsewhere."""
    watched = Lab.opened(browser, address)
    yield watched
    watched.page.context.close()
    assert watched.complaints == []


def click_at(lab, x, y):
    """Click the plane at a point, as the view from -3 to 3 has it."""
    box = lab.page.locator("#plane").bounding_box()
    unit = box["height"] / 6
    lab.page.mouse.click(box["x"] + box["width"] / 2 + x * unit, box["y"] + box["height"] / 2 - y * unit)
    lab.settle()


def place(lab, points):
    lab.scene("empty")
    for x, y, label in points:
        lab.page.keyboard.press("1" if label > 0 else "2")
        click_at(lab, x, y)


def shown_points(lab):
    marks = lab.page.locator("#plane .point")
    return [in_ascii(marks.nth(i).get_attribute("aria-label")) for i in range(marks.count())]


def test_placed_points_are_learned_and_every_number_is_the_librarys(lab):
    place(lab, POINTS)
    X, y = np.array([point[:2] for point in POINTS]), np.array([point[2] for point in POINTS])
    model = Perceptron(readout="last", shuffle=False, max_iter=100, record_mistakes=True).fit(X, y)
    certificate = certify(X, y)
    followed = follow_proof(Steps.of_rows(X, y, model.mistake_rows_), certificate.separator)

    assert lab.number("bound") == certificate.mistake_bound
    assert lab.number("margin") == certificate.margin.lower
    assert lab.number("radius") == certificate.radius
    for step in range(1, len(POINTS) + 1):
        lab.page.keyboard.press("ArrowRight")
        lab.page.wait_for_selector(f'body[data-ready="{step}"]')
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector("#converged")
    k = model.n_mistakes_
    for name in ("progress_floor", "progress", "length", "length_ceiling", "cosine", "distance"):
        assert lab.number(name) == getattr(followed, name)[k]
    assert lab.number("left") == certificate.mistake_bound - k
    weights = lab.page.locator('[data-name="weights"]').get_attribute("data-value")
    assert [float(part) for part in weights.split(",")] == [*model.coef_[0], model.intercept_[0]]


def test_the_worked_example_can_be_stepped_forth_and_back(lab):
    expected = {1: "(1, -2)", 3: "(2, -1)", 5: "(3, 1)"}
    for step, weights in expected.items():
        lab.step_to(step)
        assert f"Mistake {(step + 1) // 2}." in lab.text("#headline")
        assert lab.text("#detail").endswith(f"= {weights}")
    lab.page.keyboard.press("ArrowLeft")
    lab.page.wait_for_selector('body[data-ready="4"]')
    assert "Right." in lab.text("#headline")
    assert lab.number("length") == math.hypot(2, -1)
    lab.page.keyboard.press("Shift+ArrowLeft")
    lab.page.wait_for_selector('body[data-ready="3"]')
    assert lab.number("score") == -1.0
    lab.page.keyboard.press("Home")
    lab.page.wait_for_selector('body[data-ready="0"]')
    assert lab.number("length") == 0.0


def test_playing_goes_to_the_end_by_itself(lab):
    lab.page.select_option("#speed", "30")
    lab.page.click("#play")
    lab.page.wait_for_selector("#converged")
    assert lab.text("#count").startswith("12 of 12")


def test_an_inseparable_scene_shows_the_proof_that_there_is_no_line(lab):
    lab.scene("xor")
    assert lab.text("#verdict-title") == "Overlapping (proved)"
    assert lab.text("#combination") == "(-1, -1) + (1, 1) = (-1, 1) + (1, -1)"
    lab.page.click("#certificate")
    assert lab.page.locator("#evidence .hull").count() == 2
    assert lab.page.locator("#plane .share").all_text_contents() == ["\N{MULTIPLICATION SIGN} 1"] * 4
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector('body[data-ready="8"]')
    assert lab.text("#cycle") == "The weights came back to what they were after epoch 1: no separator exists."
    assert lab.page.locator("#weights .walk.cycle").count() == 1


def test_undo_on_an_untouched_page_changes_nothing_and_later_takes_back_one_change(lab):
    before = shown_points(lab)
    lab.page.keyboard.press("Control+z")
    lab.settle()
    assert shown_points(lab) == before
    click_at(lab, 2.0, 2.0)
    assert len(shown_points(lab)) == len(before) + 1
    lab.page.keyboard.press("Control+z")
    lab.settle()
    assert shown_points(lab) == before
    assert lab.page.input_value("#scene") == "worked"
    lab.scene("xor")
    lab.page.keyboard.press("Control+z")
    lab.settle()
    assert shown_points(lab) == before


def test_equalities_and_whole_numbers_are_shown_as_such(lab):
    lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_selector('body[data-ready="1"]')
    signs = lab.page.locator("#sandwich-numbers > span").all_text_contents()
    assert signs == ["=", "\N{LESS-THAN OR EQUAL TO}", "="]
    assert lab.page.locator("#sandwich-numbers [data-name=length_ceiling]").inner_text().startswith("2.236")
    assert {"0", "\N{VULGAR FRACTION ONE HALF}", "1"} <= set(
        lab.page.locator("#cosine .coordinate").all_text_contents()
    )
    assert {"0", "25"} <= set(lab.page.locator("#distance .coordinate").all_text_contents())


def test_folding_says_why_nothing_is_learned(lab):
    lab.page.click("#rules-button")
    lab.page.check('#rules input[name="fold_labels"]')
    lab.settle()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("End")
    lab.settle()
    assert "nothing is learned" in lab.text("#detail")


def test_rules_change_what_is_learned(lab):
    lab.scene("xor")
    lab.page.click("#rules-button")
    lab.page.check('#rules input[value="poly"]')
    lab.settle()
    assert "feature space" in lab.text("#verdict-text")
    lab.page.keyboard.press("Escape")
    lab.scene("outlier")
    lab.step_to(100)
    assert lab.page.locator("#plane path[data-boundary]").count() == 3
    lab.page.click("#rules-button")
    lab.page.check('#rules input[value="average"]')
    lab.settle()
    assert lab.page.locator("#plane path[data-boundary]").count() == 1


def test_a_lead_learns_from_what_is_right_by_too_little(lab):
    lab.scene("worked")
    lab.page.click("#rules-button")
    assert lab.text("#lead-before") == "learn unless right by more than"
    lab.page.fill("#lead", "1")
    lab.page.keyboard.press("Tab")
    lab.settle()
    assert lab.page.locator('#rules input[name="tie"]').first.is_disabled()
    assert "lead 1" in lab.text("#rules-summary")
    lab.page.keyboard.press("Escape")
    lab.step_to(2)
    assert "Right, but not by the lead: update 2" in lab.text("#headline")
    assert "with a lead of 1 makes at most" in lab.text("#verdict-text")
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector("#converged")
    assert "without a mistake or narrow example" in lab.text("#detail")
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    model = Perceptron(lead=1.0, fit_intercept=False, shuffle=False, readout="last").fit(X, [-1, 1, 1, -1, -1, 1])
    assert lab.number("length") == pytest.approx(model.run_.weights_length)
    assert lab.number("length_ceiling") == pytest.approx((3 * model.run_.updates) ** 0.5 * model.run_.radius)


def test_points_are_dragged_erased_and_brought_back(lab):
    place(lab, POINTS)
    box = lab.page.locator("#plane .point").first.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    lab.page.mouse.move(*middle)
    lab.page.mouse.down()
    lab.page.mouse.move(middle[0] - 60, middle[1] + 40, steps=4)
    lab.page.mouse.up()
    lab.settle()
    assert shown_points(lab)[0] != "red, plus, example 1 at (1, 1.5)"
    lab.page.keyboard.press("ArrowRight")  # steps, and does not move the point that was dragged
    lab.page.wait_for_selector('body[data-ready="1"]')
    lab.page.keyboard.press("3")
    click_at(lab, -1.0, -0.5)
    assert len(shown_points(lab)) == 3
    lab.page.keyboard.press("Control+z")
    lab.settle()
    assert len(shown_points(lab)) == 4


def test_everything_can_be_done_from_the_keyboard(lab):
    lab.scene("empty")
    for keys in (["n", "ArrowRight", "ArrowUp", "Escape"], ["2", "n", "ArrowLeft", "Escape"]):
        for key in keys:
            lab.page.keyboard.press(key)
            lab.settle()
    assert shown_points(lab) == ["red, plus, example 1 at (0.125, 0.125)", "blue, minus, example 2 at (-0.125, 0)"]
    lab.page.keyboard.press("n")
    lab.settle()
    lab.page.keyboard.press("Delete")
    lab.settle()
    assert len(shown_points(lab)) == 2


def test_a_shared_link_brings_the_scene_back(lab):
    place(lab, POINTS)
    lab.step_to(2)
    lab.page.click("#share-button")
    lab.page.click('[data-take="link"]')
    lab.page.wait_for_selector("#toast:not(:empty)", state="attached")
    link = lab.page.evaluate("navigator.clipboard.readText()")
    before = (shown_points(lab), lab.text("#headline"), lab.text("#verdict-text"))
    lab.visit(link)
    assert (shown_points(lab), lab.text("#headline"), lab.text("#verdict-text")) == before


def test_a_link_names_its_scene_and_knows_no_port(lab):
    lab.scene("sample")
    lab.page.evaluate(
        "const s = document.getElementById('sample-noise'); s.value = 20; s.dispatchEvent(new Event('input'))"
    )
    lab.settle()
    lab.step_to(5)
    lab.page.wait_for_url(re.compile("step=5"))
    fragment = lab.page.evaluate("location.hash")
    assert fragment.startswith("#scene=sample&step=5")
    before = shown_points(lab)
    with served_lab() as elsewhere:
        other = Lab.opened(lab.page.context.browser, elsewhere)
        other.visit(f"{elsewhere}{fragment}")
        assert shown_points(other) == before
        assert other.page.locator("#scene").input_value() == "sample"
        assert other.text("#sample-noise-shown") == "20 %"
        assert other.page.locator("#count").inner_text().startswith("5 of")
        other.page.context.close()


def test_a_letter_explains_itself_on_hover_on_focus_and_on_touch(lab):
    card = lab.page.locator("#term")
    for name in ("w", "u", "gamma", "R", "k", "alpha"):
        symbol = lab.page.locator(f'#symbols [data-term="{name}"]')
        for show in (symbol.hover, symbol.focus, symbol.click):
            show()
            assert KNOWN["symbols"][name]["called"] in card.inner_text()
            box = card.bounding_box()
            assert 0 <= box["x"] <= 1280 - box["width"]
        lab.page.keyboard.press("Escape")
        assert card.is_hidden()


def test_more_points_and_more_noise_change_the_run(lab):
    lab.scene("sample")
    assert lab.text("#sample-noise-shown") == "10 %"
    lab.page.locator("#sample-noise").fill("0")
    lab.page.wait_for_selector('#verdict-title:has-text("Separable")')
    before = shown_points(lab)
    lab.page.focus("#sample-count")
    lab.page.keyboard.press("ArrowRight")
    lab.page.locator("#plane .point").nth(len(before) + 1).wait_for()
    lab.settle()
    assert shown_points(lab)[: len(before)] == before
    assert lab.text("#verdict-title") == "Separable (proved)"
    lab.page.locator("#sample-noise").fill("10")
    lab.page.wait_for_selector('#verdict-title:has-text("Overlapping")')
    assert lab.text("#proof-title").startswith("The first pass, in")
    assert lab.page.locator("#scene").input_value() == "sample"


def test_folding_and_unit_length_move_the_points_that_are_learned(lab):
    lab.page.click("#rules-button")
    lab.page.check('#rules input[name="fold_labels"]')
    lab.settle()
    assert lab.page.locator("#plane .point.blue").count() == 0
    assert lab.page.locator("#plane .ghost").count() == 6
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector("#converged")
    assert lab.number("length") == 0.0, "where a tie predicts +, folded examples teach nothing"
    lab.page.click("#rules-button")
    lab.page.check('#rules input[value="mistake"]')
    lab.settle()
    lab.page.check('#rules input[name="unit_length"]')
    lab.settle()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector("#converged")
    assert lab.number("radius") == pytest.approx(1.0)
    lab.page.click("#rules-button")
    lab.page.check('#rules input[name="fit_intercept"][value="true"]')
    lab.settle()
    assert lab.page.locator('#rules input[name="fold_labels"]').is_disabled()


def test_the_criterion_and_the_paraboloid_can_be_turned(lab):
    lab.page.click('[data-view="criterion"]')
    lab.step_to(5)
    assert lab.number("criterion") == 0.0
    assert lab.page.locator("#weights .facet.solved").count() > 0
    lab.scene("circle")
    lab.step_to(40)
    before = lab.page.locator("#weights .mesh").first.get_attribute("points")
    box = lab.page.locator("#weights").bounding_box()
    lab.page.mouse.move(box["x"] + 60, box["y"] + 60)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + 160, box["y"] + 70, steps=3)
    lab.page.mouse.up()
    assert lab.page.locator("#weights .mesh").first.get_attribute("points") != before
    lab.page.focus("#weights")
    lab.page.keyboard.press("ArrowLeft")
    assert lab.page.locator("body").get_attribute("data-ready") == "40", "its arrows turn it, and do not step"


def test_the_subsets_of_four_points_follow_the_points(lab):
    lab.visit(f"{lab.address}shattering.html")
    assert lab.page.locator("#subsets button").count() == 16
    assert lab.page.locator("#subsets .missing").all_inner_texts() == ["no {r, s}"]
    assert "= 2\N{MIDDLE DOT}r + 2\N{MIDDLE DOT}s as points" in lab.text("#why")
    lab.page.click("#families label:nth-child(4)")
    lab.page.wait_for_selector('body[data-ready="16"]')
    lab.page.click("#families label:nth-child(1)")
    lab.page.wait_for_selector('body[data-ready="15"]')
    box = lab.page.locator("#points .corner").nth(1).bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] - 20)
    lab.page.mouse.move(*middle)
    lab.page.mouse.down()
    lab.page.mouse.move(middle[0] - 60, middle[1] + 60, steps=5)
    lab.page.mouse.up()
    lab.settle()
    assert lab.page.locator("#scene").input_value() == "custom"
    lab.page.click("#add")
    lab.page.locator("#subsets button").nth(31).wait_for()
    lab.settle()
    words = lab.text("#look-for")
    lab.visit(lab.page.url)
    assert lab.text("#look-for") == words


def test_rescaling_is_drawn_phase_by_phase(lab):
    lab.visit(f"{lab.address}margins.html#scene=chain&n=5")
    assert lab.text("#plain-words") == "341 mistakes, and the theorem allows 1,705."
    assert lab.page.locator("#slice .solutions").count() == 1
    lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_selector('body[data-ready="2"]')
    lab.page.locator("#n").fill("8")
    lab.page.wait_for_selector('#plain-words[data-value="21845"]')
    lab.page.select_option("#scene", "mended")
    lab.page.wait_for_selector('#plain-words[data-value="4015"]')
    assert lab.page.locator("#size").is_hidden()


def test_a_broken_link_shows_the_first_scene(lab):
    lab.visit(f"{lab.address}#no-such-scene")
    assert len(shown_points(lab)) == 6


def downloaded(lab, kind):
    lab.page.click("#share-button")
    with lab.page.expect_download() as wait:
        lab.page.click(f'[data-take="{kind}"]')
    return Path(wait.value.path()).read_text()


def test_a_downloaded_script_runs_and_says_the_same(lab, tmp_path):
    lab.scene("wide")
    lab.page.keyboard.press("End")
    lab.page.wait_for_selector("#converged")
    script = tmp_path / "scene.py"
    script.write_text(downloaded(lab, "script"))
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert f"mistakes: {lab.page.locator('#ticks rect').count()} " in done.stdout
    assert f"bound: {lab.number('bound'):.0f}" in done.stdout
    weights = lab.page.locator('[data-name="weights"]').get_attribute("data-value")
    assert f"the sum of the mistakes: {[float(part) for part in weights.split(',')]}" in done.stdout


def test_the_picture_and_the_points_are_downloaded(lab):
    assert downloaded(lab, "csv").splitlines()[:2] == ["x,y,label", "-1.0,2.0,-1"]
    picture = downloaded(lab, "svg")
    assert picture.startswith("<svg")
    assert "var(--" not in picture
    assert "class=" not in picture


def test_the_theme_follows_the_system_and_can_be_switched(browser, address):
    watched = Lab.opened(browser, address, theme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = watched.page.evaluate(paper)
    watched.page.click("#theme")
    assert watched.page.evaluate(paper) != dark
    watched.page.context.close()
    assert watched.complaints == []
