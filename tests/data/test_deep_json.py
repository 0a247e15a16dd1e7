"""JSON that is nested so deep that a parser would exhaust the stack: one error, with its place, before any parser."""

import subprocess
import sys
import tracemalloc

import pytest

from novikoff.data import read
from novikoff.data.strict_json import JSONError, parse
from tests.cli.calling import call, environment

DEEP = 25_000
NESTS = {
    "arrays": '{"a": 1, "b": ' + "[" * DEEP + "]" * DEEP + "}",
    "objects": '{"a": 1, "b": ' + '{"b": ' * DEEP + "1" + "}" * DEEP + "}",
    "unclosed": '{"a": 1, "b": ' + "[{" * DEEP,
    "bare": "[" * DEEP,
}
GOOD = '{"a": 1, "b": 0}\n{"a": 2, "b": 1}\n'


@pytest.mark.parametrize("nest", NESTS)
def test_a_deep_line_is_refused_with_its_file_and_line(tmp_path, nest):
    path = tmp_path / "deep.jsonl"
    path.write_text(GOOD + NESTS[nest] + "\n" + GOOD)
    with pytest.raises(ValueError, match=r"deep\.jsonl, line 3: brackets are nested more than 64 deep"):
        list(read(path, label="b"))


def test_it_is_refused_in_a_process_of_its_own(tmp_path):
    """What once was exit code 139."""
    (tmp_path / "deep.jsonl").write_text(GOOD + NESTS["arrays"] + "\n")
    for arguments in (["fit", "deep.jsonl", "--label", "b"], ["certify", "deep.jsonl", "--label", "b"]):
        done = subprocess.run(
            [sys.executable, "-m", "novikoff.cli", *arguments],
            cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done
        assert "deep.jsonl, line 3" in done.stderr
        assert "Traceback" not in done.stderr


def test_brackets_in_texts_are_no_depth(tmp_path):
    path = tmp_path / "texts.jsonl"
    texts = ['{"a": "' + "[{" * 200 + '\\"", "b": 1}', '{"a": "x", "b": 0}']
    path.write_text("\n".join(texts) + "\n")
    (records,) = list(read(path, label="b"))
    assert records.columns.num_rows == 2


def test_a_deep_line_for_the_online_learner_is_named(tmp_path):
    lines = '{"x": 1, "is": "a"}\n' + NESTS["arrays"] + "\n"
    done = call("online", "--label", "is", folder=tmp_path, stdin=lines)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "standard input, line 2: brackets are nested more than 64 deep" in done.err


@pytest.mark.parametrize("line", ['{"x": 1, "x": 2}', '{"x": NaN}', '{"x": 1e999}', '{"x": "\ud800"}', '"', "\x00"])
def test_what_is_not_strict_json_is_a_json_error(line):
    with pytest.raises(JSONError):
        parse(line)


def test_looking_for_depth_takes_no_memory_for_long_texts():
    text = '{"a": "' + "[" * 1_000_000 + '"}'
    tracemalloc.start()
    try:
        assert len(parse(text)["a"]) == 1_000_000
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
