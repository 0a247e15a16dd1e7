"""`--report` writes a page with the numbers of the answer, and nothing else changes."""

import contextlib
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.cli.calling import call, environment

FIT = ("fit", "cars.csv", "--label", "sport_car", "--force")


def page_of(path):
    return ElementTree.fromstring(path.read_text(encoding="utf-8").split("\n", 1)[1])


def words_of(path):
    return " ".join("".join(page_of(path).itertext()).split())


def test_the_report_has_the_numbers_of_the_answer(folder):
    answer = call(*FIT, "--report", "cars.html", "--json", folder=folder).json
    words = words_of(folder / "cars.html")
    for part in (
        f"{answer['run']['mistakes']} mistakes on 1,600 examples",
        f"(R/γ)² = {answer['certificate']['mistake_bound']:,}",  # noqa: RUF001
        "400 rows became examples of 20 features",
        "manufacturer=Quaky",
        "every inequality held",
        "0 of 400 rows are given another class",
    ):
        assert part in words, part


def test_a_report_changes_neither_the_model_nor_the_answer(folder):
    for options in ((), ("--readout", "vote"), ("--max-epochs", "1", "--no-shuffle")):
        without = call(*FIT, "--json", *options, folder=folder)
        before = (folder / "cars.novikoff").read_bytes()
        with_report = call(*FIT, "--json", "--report", "cars.html", *options, folder=folder)
        assert (folder / "cars.novikoff").read_bytes() == before
        assert with_report == without


def test_the_panel_says_where_the_report_is(folder):
    assert re.search(r"report +cars\.html", call(*FIT, "--report", "cars.html", folder=folder).out)
    asked = ("certify", "xor.csv", "--label", "bits", "--report", "xor.html")
    assert re.search(r"report +xor\.html", call(*asked, folder=folder).out)


def test_a_report_that_is_there_is_kept(folder):
    (folder / "cars.html").write_text("mine")
    done = call("fit", "cars.csv", "--label", "sport_car", "--model", "x", "--report", "cars.html", folder=folder)
    assert done.code == 1
    assert "cars.html is already there, and is kept" in done.err
    assert (folder / "cars.html").read_text() == "mine"
    assert not (folder / "x").exists()


def test_features_are_drawn_when_they_are_chosen(folder):
    features = ("--report-features", "weight", "maximum_speed")
    assert call(*FIT, "--report", "cars.html", *features, "--quiet", folder=folder).code == 0
    words = words_of(folder / "cars.html")
    assert "The picture" in words
    assert "The model has other features, too" in words


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--report", "x.html", "--report-features", "weight", "height"), "there is no feature 'height' to draw"),
        (("--report-features", "weight", "price"), "say where it goes, too, by --report"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_before_anything_is_learned(folder, options, why):
    done = call("fit", "cars.csv", "--label", "sport_car", "--model", "x.novikoff", *options, folder=folder)
    assert done.code == 1
    assert why in done.err
    assert not (folder / "x.novikoff").exists()


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("cars.csv --label sport_car", "separable"),
        ("xor.csv --label bits", "overlapping"),
        ("animals.csv --label class --ignore name", "separable"),
        ("six_points.svm --no-fit-intercept", "separable"),
    ],
)
def test_certify_has_a_report(folder, line, verdict):
    call("certify", *line.split(), "--report", "page.html", "--quiet", folder=folder)
    assert f"{verdict} (exact)" in words_of(folder / "page.html")


@pytest.mark.parametrize("command", ["fit", "certify", "certify --out kept.cert"])
@pytest.mark.parametrize(
    "line", ["cars.csv --label sport_car --categorical year --ignore price", "six_points.svm --no-fit-intercept"]
)
def test_the_lines_that_check_it_again_do_so(folder, command, line):
    words = [*command.split()[:1], *line.split(), *command.split()[1:], "--force", "--report", "page.html", "--quiet"]
    assert call(*words, folder=folder).code == 0
    page = page_of(folder / "page.html")
    shell, python = (page.find(f".//pre[@class='{name}']").text for name in ("shell", "python"))
    for written in shell.splitlines():
        done = call(*written.split()[1:], folder=folder)
        assert done.code == 0, done
    with contextlib.chdir(folder):
        exec(compile(python, "report", "exec"), {})
        wrong = re.sub(r"read\('[^']+'", "read('other'", python)
        (folder / "other").write_text((folder / line.split()[0]).read_text().replace("1", "2", 1))
        with pytest.raises(ValueError, match=r"."):
            exec(compile(wrong, "report", "exec"), {})


def test_names_from_a_table_cannot_break_the_page(folder):
    hostile = "</style><script>alert(1)</script>"
    (folder / "bad.csv").write_text(f"{hostile},b&amp;,y\n1,<b>x</b>,{hostile}\n2,y,<i>q\n3,<b>x</b>,<i>q\n")
    assert call("fit", "bad.csv", "--label", "y", "--report", "bad.html", "--quiet", folder=folder).code == 0
    text = (folder / "bad.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<i>" not in text
    assert hostile in words_of(folder / "bad.html")


def test_an_interrupted_certificate_leaves_a_report_without_it(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("novikoff.prove.separable.search.working_set.certify_examples", interrupted)
    assert call(*FIT, "--report", "cars.html", "--quiet", folder=folder).code == 0
    assert "not certified" in words_of(folder / "cars.html")


def test_a_report_needs_neither_scikit_learn_nor_matplotlib(folder):
    words = [*FIT, "--report", "cars.html", "--quiet"]
    program = (
        "import sys; from novikoff.cli.commands import novikoff; "
        f"novikoff.main({words!r}, standalone_mode=False); "
        "sys.exit(bool({'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment(), check=False)
    assert done.returncode == 0
    assert (folder / "cars.html").exists()
