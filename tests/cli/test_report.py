"""`--report` writes a page with the numbers of the answer, and nothing else changes."""

import contextlib
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from xml.etree import ElementTree

import pytest

from novikoff.cli.certify import certify
from novikoff.cli.check import check
from novikoff.cli.files import KNOWN_TO_A_CERTIFICATE, NOT_THE_QUESTION
from novikoff.cli.options import TableOptions, reading
from novikoff.cli.spaces import space_options
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


@pytest.mark.usefixtures("without_pictures")
def test_the_report_presents_no_error_of_the_first_pass_as_the_models(folder):
    assert call(*FIT, "--report", "cars.html", "--quiet", folder=folder).code == 0
    assert "5-fold error 1.0 %" in words_of(folder / "cars.html")
    assert call(*FIT, "--time-limit", "100", "--report", "cars.html", "--quiet", folder=folder).code == 0
    words = words_of(folder / "cars.html")
    assert "expected error" in words
    assert "not measured (add --held-out 0.2); training error 0.0 %" in words
    assert "first time" not in words
    assert call(*FIT, "--held-out", "0.3", "--report", "cars.html", "--quiet", folder=folder).code == 0
    assert "not measured" not in words_of(folder / "cars.html")


def test_a_report_changes_neither_the_model_nor_the_answer(folder):
    for options in ((), ("--readout", "vote"), ("--max-iter", "1", "--no-shuffle")):
        without = call(*FIT, "--json", *options, folder=folder)
        before = (folder / "cars.novikoff").read_bytes()
        with_report = call(*FIT, "--json", "--report", "cars.html", *options, folder=folder)
        assert (folder / "cars.novikoff").read_bytes() == before
        assert with_report == without


@pytest.mark.usefixtures("without_pictures")
def test_the_panel_says_where_the_report_is(folder):
    assert re.search(r"report +cars\.html", call(*FIT, "--report", "cars.html", folder=folder).out)
    asked = ("certify", "xor.csv", "--label", "bits", "--report", "xor.html")
    assert re.search(r"report +xor\.html", call(*asked, folder=folder).out)


@pytest.mark.usefixtures("without_pictures")
def test_a_report_that_is_there_is_kept(folder):
    (folder / "cars.html").write_text("mine")
    done = call("fit", "cars.csv", "--label", "sport_car", "--model", "x", "--report", "cars.html", folder=folder)
    assert done.code == 1
    assert "cars.html already exists" in done.err
    assert (folder / "cars.html").read_text() == "mine"
    assert not (folder / "x").exists()


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
    assert f"{verdict} (proved)" in words_of(folder / "page.html")


ODD = {
    "no header.csv": "1,2,a\n3,1,b\n0,2,a\n4,1,b\n",
    "quotes.csv": '"it\'s ""wide""",the \'y\',$HOME;x\n1,2,a\n3,1,b\n0,2,a\n4,1,b\n',
    "commas.data": "x;n;y\n1,5;7;a\n3,25;8;b\n0,5;none;a\n4,5;7;b\n",
    "points.txt": "-1 1:1 2:2\n+1 1:3\n-1 2:2\n+1 1:4 2:1\n",
    "'odd' $name.csv": "x,z,y\n1,2,a\n3,1,b\n0,2,a\n4,1,b\n",
}
QUESTIONS = [
    ["cars.csv", "--label", "sport_car", "--categorical", "year", "--ignore", "price"],
    ["six_points.svm", "--no-fit-intercept"],
    ["no header.csv", "--no-header", "--names", "wide,a long 'name',y", "--label", "y", "--ignore", "a long 'name'"],
    ["no header.csv", "--no-header", "--label", "-1"],
    ["no header.csv", "--no-header", "--label", "column 3", "--lift", "squares"],
    ["quotes.csv", "--label", "$HOME;x", "--ignore", "the 'y'", "--format", "csv"],
    ["commas.data", "--label", "3", "--format", "csv", "--decimal", ",", "--na-values", "none", "--categorical", "n"],
    ["points.txt", "--format", "svmlight", "--zero-based", "true"],
    ["'odd' $name.csv", "--label", "y", "--kernel", "rbf", "--gamma", "0.5"],
    ["'odd' $name.csv", "--label", "y", "--kernel", "poly", "--degree", "2"],
]
COMMANDS = [("fit", "certify --out kept.cert"), ("fit --held-out 0.3 --random-state 1", "certify")]
# Every question with fit and certify, in turns with and without their own options.
ASKED = [(command, question) for place, question in enumerate(QUESTIONS) for command in COMMANDS[place % 2]]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("command", "question"), ASKED)
def test_the_lines_that_check_it_again_do_so(folder, command, question):
    for name, text in ODD.items():
        (folder / name).write_text(text)
    (folder / "table.cert").unlink(missing_ok=True)
    words = [*command.split()[:1], *question, *command.split()[1:], "--force", "--report", "page.html", "--quiet"]
    done = call(*words, folder=folder)
    assert done.code == 0, done
    page = page_of(folder / "page.html")
    shell, python = (page.find(f".//pre[@class='{name}']").text for name in ("shell", "python"))
    for written in shell.splitlines():
        done = call(*shlex.split(written)[1:], folder=folder)
        assert done.code == 0, (written, done)
    with contextlib.chdir(folder):
        exec(compile(python, "report", "exec"), {})
        wrong = python.replace(repr(question[0]), "'other'")
        (folder / "other").write_text((folder / question[0]).read_text().replace("1", "2", 1))
        with pytest.raises(ValueError, match=r"."):
            exec(compile(wrong, "report", "exec"), {})


def test_the_lines_work_in_a_shell(folder):
    (folder / "'odd' $name.csv").write_text(ODD["no header.csv"])
    words = ["'odd' $name.csv", "--no-header", "--names", "$x,`y`,it's", "--label", "it's", "--report", "page.html"]
    assert call("certify", *words, "--force", "--quiet", folder=folder).code == 0
    (folder / "table.cert").unlink(missing_ok=True)
    lines = page_of(folder / "page.html").find(".//pre[@class='shell']").text
    program = f'set -e; novikoff() {{ "{sys.executable}" -m novikoff.cli "$@"; }}\n{lines}'
    done = subprocess.run(["sh", "-c", program], cwd=folder, env=environment(), check=False, capture_output=True)
    assert done.returncode == 0, done


def test_whatever_says_how_a_file_is_read_can_be_repeated():
    options = {option.name for option in own_options(reading)}
    options |= {field.name for field in fields(TableOptions)} - {"read_with"}
    about_columns = {"categorical", "text", "tfidf", "ignore", "label"}  # a certificate has these itself
    assert options <= names_of_options(certify)
    assert options - about_columns <= names_of_options(check)
    assert not (NOT_THE_QUESTION & options)
    assert names_of_options(certify) | names_of_options(check) >= (NOT_THE_QUESTION | KNOWN_TO_A_CERTIFICATE)
    space = {option.name for option in own_options(space_options)}
    assert space <= names_of_options(certify)


def own_options(decorator):
    return decorator(lambda: None).__click_params__


def names_of_options(command):
    return {option.name for option in command.params}


def test_names_from_a_table_cannot_break_the_page(folder):
    hostile = "</style><script>alert(1)</script>"
    (folder / "bad.csv").write_text(f"{hostile},b&amp;,y\n1,<b>x</b>,{hostile}\n2,y,<i>q\n3,<b>x</b>,<i>q\n")
    assert call("fit", "bad.csv", "--label", "y", "--report", "bad.html", "--quiet", folder=folder).code == 0
    text = (folder / "bad.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<i>" not in text
    assert hostile in words_of(folder / "bad.html")


@pytest.mark.usefixtures("without_pictures")
def test_an_interrupted_certificate_leaves_a_report_without_it(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("novikoff.prove.separable.search.working_set.certify_examples", interrupted)
    assert call(*FIT, "--report", "cars.html", "--quiet", folder=folder).code == 0
    assert "not certified" in words_of(folder / "cars.html")


@pytest.mark.parametrize("with_matplotlib", [True, False])
def test_a_report_needs_neither_scikit_learn_nor_matplotlib(folder, with_matplotlib):
    words = [*FIT, "--report", "cars.html", "--quiet"]
    hidden = "import novikoff.show.style as style; style.find_spec = lambda name: None; "
    program = (
        "import sys; from novikoff.cli.commands import novikoff; "
        f"{'' if with_matplotlib else hidden}"
        f"novikoff.main({words!r}, standalone_mode=False); "
        f"sys.exit('sklearn' in sys.modules or ('matplotlib' in sys.modules) != {with_matplotlib})"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment(), check=False)
    assert done.returncode == 0
    drawn = [image.get("src") for image in page_of(folder / "cars.html").iter("img")]
    assert bool(drawn) == with_matplotlib
    assert all(source.startswith("data:image/svg+xml;base64,") for source in drawn)
