"""What strangers write into tables, models and file names cannot command a terminal: it is shown escaped."""

import io
import json

import pytest

from novikoff.cli import render
from tests.cli.calling import call

HOSTILE = "\x1b[2J\x07\x9b31m\u202e\u2066\x7fx"
ESCAPED = r"\x1b[2J\x07\x9b31m\u202e\u2066\x7fx"
INVISIBLE = [c for c in map(chr, [*range(32), *range(127, 160), 0x200E, 0x200F, 0x202A, 0x202E, 0x2066, 0x2069, 0x2028])
             if c not in "\n"]  # fmt: skip


def is_harmless(text):
    return not any(c in text for c in INVISIBLE)


@pytest.fixture
def hostile(tmp_path):
    """A table whose columns, values and labels are hostile."""
    rows = [f"{i},{i % 3}{HOSTILE},{'yes' if i % 2 else 'no'}{HOSTILE}" for i in range(12)]
    (tmp_path / "t.csv").write_text("\n".join([f"n{HOSTILE},c{HOSTILE},is{HOSTILE}", *rows]) + "\n")
    return tmp_path


def test_panels_show_names_values_and_labels_escaped(hostile):
    label = f"is{HOSTILE}"
    for arguments in (
        ["fit", "t.csv", "--label", label, "--no-certify"],
        ["inspect", "t.novikoff"],
        ["score", "t.novikoff", "t.csv"],
        ["predict", "t.novikoff", "t.csv", "--out", "p.csv"],
        ["certify", "t.csv", "--label", label],
    ):
        done = call(*arguments, folder=hostile)
        assert is_harmless(done.out), arguments
        assert is_harmless(done.err), arguments
        assert done.code != 2, done.err
    shown = "".join(call("inspect", "t.novikoff", folder=hostile).out.replace("│", "").split())
    assert ESCAPED in shown


def test_names_of_files_are_shown_escaped(hostile):
    (hostile / "t.csv").rename(hostile / f"{HOSTILE}.csv")
    done = call("fit", f"{HOSTILE}.csv", "--label", f"is{HOSTILE}", "--no-certify", folder=hostile)
    assert done.code == 0
    assert is_harmless(done.out)
    for arguments in (["fit", f"no{HOSTILE}.csv", "--label", "x"], ["predict", f"no{HOSTILE}", "x.csv"]):
        done = call(*arguments, folder=hostile)
        assert (done.code, is_harmless(done.err)) == (1, True)
        assert ESCAPED in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "t.csv", "--label", f"no{HOSTILE}"],
        ["fit", "t.csv", "--label", f"is{HOSTILE}", "--ignore", f"no{HOSTILE}"],
        ["fit", "t.csv", "--label", f"is{HOSTILE}", f"--{HOSTILE}"],
        [f"no{HOSTILE}"],
        ["fit", "broken.csv", "--label", "b"],
    ],
)
def test_errors_show_what_they_quote_escaped(hostile, arguments):
    (hostile / "broken.csv").write_text(f"a,b\n1,2\n1,2,{HOSTILE}\n")
    for debug in ([], ["--debug"]):
        done = call(*arguments, *debug, folder=hostile)
        assert done.code in (1, 2)
        assert done.err
        assert is_harmless(done.err)
        assert is_harmless(done.out)


def test_json_says_the_same_and_shows_nothing_raw(hostile):
    done = call("fit", "t.csv", "--label", f"is{HOSTILE}", "--no-certify", "--json", folder=hostile)
    assert is_harmless(done.out)
    assert done.json["data"]["label"] == f"is{HOSTILE}"
    done = call("predict", "t.novikoff", "t.csv", "--json", folder=hostile)
    assert is_harmless(done.out)
    assert json.loads(done.out.splitlines()[0])["prediction"] in (f"yes{HOSTILE}", f"no{HOSTILE}")
    done = call("fit", f"no{HOSTILE}.csv", "--json", folder=hostile)
    assert f"no{HOSTILE}.csv" in done.json["error"]["message"]


def test_data_stay_as_they_are_in_a_pipe_and_are_escaped_on_a_terminal(hostile, monkeypatch):
    call("fit", "t.csv", "--label", f"is{HOSTILE}", "--no-certify", folder=hostile)
    assert HOSTILE in call("predict", "t.novikoff", "t.csv", folder=hostile).out
    monkeypatch.setattr(io, "TextIOWrapper", type("Terminal", (io.TextIOWrapper,), {"isatty": lambda stream: True}))
    for arguments in (["predict", "t.novikoff", "t.csv"], ["online", "--label", "is"]):
        line = json.dumps({"x": 1, "is": HOSTILE})
        done = call(*arguments, folder=hostile, stdin=f"{line}\n{line}\n")
        assert is_harmless(done.out.replace("\t", ""))
        assert ESCAPED in done.out


def test_any_renderable_is_made_visible(capsys):
    from rich.text import Text

    shown = render.stacked(Text(f"a{HOSTILE}"), render.columns((HOSTILE, "b"), [(HOSTILE, "1")]), f"{HOSTILE}\nnext")
    render.console().print(render.Visible(shown))
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert "\nnext" in out
