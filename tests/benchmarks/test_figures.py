"""The figures of README and docs come from one table, and from nowhere else."""

import importlib.util
import json
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


FIGURES = module("figures")
PARTS = json.loads(FIGURES.FIGURES.read_text(encoding="utf-8"))
MARKED = [page for page in FIGURES.PAGES if "<!-- figures:" in page.read_text(encoding="utf-8")]


def test_readme_and_docs_show_the_table():
    assert {page.name for page in MARKED} >= {"README.md", "figures.md", "comparison.md"}


@pytest.mark.parametrize("page", MARKED, ids=lambda page: page.name)
def test_a_page_agrees_with_the_table(page):
    text = page.read_text(encoding="utf-8")
    assert FIGURES.rendered(text, PARTS, page) == text, "python benchmarks/all.py --render writes it anew"


@pytest.mark.parametrize("page", MARKED, ids=lambda page: page.name)
def test_the_charts_of_a_page_are_there(page):
    shown = re.findall(r"\]\(([^)]*pictures/figures/[^)]*)\)", page.read_text(encoding="utf-8"))
    assert shown
    assert all((page.parent / chart).exists() for chart in shown), "python benchmarks/all.py --render draws them"


def test_no_page_has_a_comparison_of_its_own():
    """A figure such as "3.9 times faster" that is in no table was measured on another day."""
    for page in FIGURES.PAGES:
        prose = FIGURES.MARKED.sub("", page.read_text(encoding="utf-8"))
        assert not re.search(r"\d times (faster|slower)", prose), page


def test_every_row_says_what_is_better():
    for part in PARTS.values():
        assert all(row["better"] in ("less", "more") and row["what"] and row["unit"] for row in part["rows"])


def test_a_run_adds_its_rows_to_the_table_and_keeps_the_others(tmp_path, monkeypatch):
    table = tmp_path / "figures.json"
    others = {"serve": {"rows": [], "date": "2000-01-01"}, "streams": {"rows": [], "date": "2000-01-01"}}
    table.write_text(json.dumps(others))
    monkeypatch.setattr(sys, "argv", ["all.py", "--quick", "--only", "streams", "--out", str(table)])
    monkeypatch.setattr(sys, "path", [*sys.path])
    runpy.run_path(str(ROOT / "benchmarks" / "all.py"), run_name="__main__")
    found = json.loads(table.read_text())
    assert found["serve"] == others["serve"]
    assert len(found["streams"]["rows"]) == 2
    assert {"date", "processor", "cores", "versions", "command"} <= set(found["streams"])
    FIGURES.rendered("<!-- figures: streams -->\n<!-- end of figures -->", found)


def test_every_benchmark_is_run_by_the_one_command():
    run = module("all")
    assert run.ASKED.keys() <= {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    for name in run.NAMES:
        assert "--smoke" in (ROOT / "benchmarks" / f"{name}.py").read_text(), f"{name} is not a benchmark"
