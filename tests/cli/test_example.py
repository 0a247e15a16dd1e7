"""`example`: what it writes is what the repository ships, and what it suggests works."""

import runpy
import shlex

import pytest

from novikoff.cli.example import SUGGESTED
from novikoff.data.samples import sample
from tests.cli.calling import ROOT, call


def test_the_database_of_cars_is_the_one_in_the_repository(tmp_path):
    assert call("example", "cars.csv", "--quiet", folder=tmp_path).code == 0
    shipped = (ROOT / "examples" / "cars.csv").read_bytes()
    assert (tmp_path / "cars.csv").read_bytes() == shipped
    assert [path.name for path in tmp_path.iterdir()] == ["cars.csv"]


def test_the_script_makes_the_database_of_cars(tmp_path):
    script = tmp_path / "make_cars.py"
    script.write_text((ROOT / "examples" / "make_cars.py").read_text())
    runpy.run_path(str(script))
    assert (tmp_path / "cars.csv").read_bytes() == (ROOT / "examples" / "cars.csv").read_bytes()


def test_the_cars_of_the_notes_are_among_them():
    lines = sample("cars.csv").splitlines()
    assert len(lines) == 401
    assert lines[1].startswith("4,1997,Quaky,")
    assert lines[1].endswith(",yes")
    assert lines[2].startswith("0,1998,General Mess,")
    assert lines[2].endswith(",no")


@pytest.mark.parametrize("name", SUGGESTED)
def test_what_is_suggested_works(folder, name):
    code = {"xor.csv": 11, "trade.csv": 10}.get(name, 0)
    words = shlex.split(SUGGESTED[name])
    assert words[1] in (name, "train")
    writes = "--force" if words[0] in ("fit", "tag") else "--quiet"
    assert call(*words, writes, folder=folder).code == code


def test_files_that_are_there_and_differ_are_kept(tmp_path):
    assert call("example", "--quiet", folder=tmp_path).code == 0
    assert call("example", "--quiet", folder=tmp_path).code == 0
    (tmp_path / "xor.csv").write_text("mine\n")
    (tmp_path / "cars.csv").unlink()
    done = call("example", folder=tmp_path)
    assert done.code == 1
    assert "xor.csv already exists" in done.err
    assert not (tmp_path / "cars.csv").exists()
    assert call("example", "--force", "--quiet", folder=tmp_path).code == 0
    assert (tmp_path / "xor.csv").read_text() != "mine\n"


def test_another_folder_can_be_named(tmp_path):
    (tmp_path / "there").mkdir()
    assert call("example", "xor.csv", "--out", "there", folder=tmp_path).code == 0
    assert (tmp_path / "there" / "xor.csv").exists()
    assert call("example", "xor.csv", "--out", "nowhere", folder=tmp_path).code == 1
