"""Small work is interpreted; compiled kernels are kept on disk, and forgotten when any file of the engine changes."""

import math
import os
import pickle
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numba
import numpy as np
import pytest

from novikoff.engine import clock
from novikoff.engine.clock import now, paused
from novikoff.engine.jit import Size, jit, patience

PACKAGE = Path(__file__).parents[2] / "src" / "novikoff"

# The squared length of the longest of three rows, and whether the kernel that says so came from the disk.
COUNTED = """
import numpy as np
from novikoff.engine.linear import longest_row
rows = np.array([[1.0], [2.0], [0.5]])
kernel = longest_row.compiled
print(int(kernel(rows, 3, 0.0, 0.0)[0]), "from disk" if kernel.stats.cache_hits else "compiled")
"""


def copied(folder):
    shutil.copytree(PACKAGE, folder / "lib" / "novikoff", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "lib"


@pytest.fixture
def copy(tmp_path):
    """A package of its own, whose files may change."""
    return copied(tmp_path)


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory):
    lib = copied(tmp_path_factory.mktemp("compiled"))
    assert answer(start(lib)) == "4 compiled"
    return lib


@pytest.fixture
def compiled(compiled_once, tmp_path):
    """Another such package, which has its kernel on disk; files keep their times."""
    return Path(shutil.copytree(compiled_once, tmp_path / "lib"))


def start(lib, code=COUNTED, **environment):
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    path = os.pathsep.join([str(lib), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=lib.parent, env={**inherited, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def answer(process):
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    return out.strip()


def test_a_kernel_is_compiled_again_when_what_it_calls_in_another_file_changes(compiled):
    access = compiled / "novikoff" / "engine" / "access.py"
    text = access.read_text(encoding="utf-8")
    assert text.count("total += np.float64(X[row, j])") == 1
    access.write_text(text.replace("total += np.float64(X[row", "total -= np.float64(X[row"), encoding="utf-8")
    assert answer(start(compiled)) == "0 compiled"
    assert answer(start(compiled)) == "0 from disk"


def test_a_kernel_is_compiled_once_though_files_outside_the_engine_change(compiled):
    with (compiled / "novikoff" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert answer(start(compiled)) == "4 from disk"


def test_what_an_earlier_version_kept_of_types_that_are_gone_is_compiled_again(compiled):
    for index in compiled.rglob("*.nbi"):
        index.write_bytes(pickle.dumps(numba.__version__) + b"cnovikoff.engine.access\nGone\n.")
    assert answer(start(compiled)) == "4 compiled"
    assert answer(start(compiled)) == "4 from disk"


def test_kernels_of_a_read_only_install_are_kept_elsewhere(copy, tmp_path):
    (
        copy / "novikoff" / "engine" / "__pycache__"
    ).touch()  # a file in place of a folder: root could write in any folder
    users = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "LOCALAPPDATA": str(tmp_path / "cache")}
    assert answer(start(copy, **users)) == "4 compiled"
    assert answer(start(copy, **users)) == "4 from disk"


def test_kernels_work_where_nothing_can_be_written(copy):
    (copy / "novikoff" / "engine" / "__pycache__").touch()
    nowhere = str(copy / "novikoff" / "__init__.py")
    users = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "LOCALAPPDATA": nowhere}
    assert answer(start(copy, **users)) == "4 compiled"


def test_kernels_work_from_a_zip_archive(copy, tmp_path):
    archive = tmp_path / "novikoff.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in copy.rglob("*.py"):
            packed.write(file, file.relative_to(copy))
    assert answer(start(archive, XDG_CACHE_HOME=str(tmp_path / "cache"), HOME=str(tmp_path))) == "4 compiled"


def test_processes_that_compile_at_once_do_not_disturb_each_other(copy):
    at_once = [start(copy) for _ in range(3)]
    assert {answer(process)[0] for process in at_once} == {"4"}
    assert answer(start(copy)) == "4 from disk"


# Which of three calls loads Numba: on few numbers, on many, and on few again.
LOADED = """
import sys
import numpy as np
from novikoff.engine.linear import longest_row
few, many = np.ones((3, 1)), np.ones((2_000_000, 1))
print([(longest_row(rows, len(rows), 0.0, 0.0)[1], "numba" in sys.modules) for rows in (few, many, few)])
"""


def test_numba_is_loaded_when_there_is_much_to_do_and_not_before(copy):
    process = start(copy, code=LOADED)
    assert answer(process) == str([(3, False), (2_000_000, True), (3, True)])


# What a small call does once Numba is there.
ONCE_LOADED = """
import numpy as np
from novikoff.engine.jit import _loaded
from novikoff.engine.linear import longest_row
_loaded()
print(int(longest_row(np.array([[1.0], [2.0], [0.5]]), 3, 0.0, 0.0)[0]), longest_row.is_loaded)
"""


def test_once_numba_is_loaded_kernels_on_disk_are_used_for_small_work_too(copy, compiled_once):
    assert answer(start(copy, code=ONCE_LOADED)) == "4 False"
    assert answer(start(compiled_once, code=ONCE_LOADED)) == "4 True"


def without_a_file():
    """A function that no cache can have: it has no file."""
    names = {"__name__": "nowhere"}
    exec("def first(numbers):\n    return numbers[0]", names)
    return names["first"]


def test_a_process_has_loops_that_round_differently_in_one_way_only():
    sizes = {1: Size.SMALL, 3: Size.LIGHT, 5: Size.MEDIUM, 20: Size.LARGE}
    first = jit(without_a_file(), size=lambda numbers: sizes[len(numbers)])
    with patience(1000):
        assert [first(np.ones(n)) for n in (1, 3)] == [1.0, 1.0]
        assert not first.is_loaded
        assert [first(np.ones(n)) for n in (20, 5)] == [1.0, 1.0]
        assert first.is_loaded
        assert [first._was_missing(size, (np.ones(3),)) for size in Size] == [True, True, False, False]
    with patience(math.inf):
        assert jit(without_a_file(), size=lambda numbers: Size.MEDIUM)._was_missing(Size.MEDIUM, (np.ones(3),))
    with patience(0):
        assert not jit(without_a_file(), size=lambda numbers: Size.LIGHT)._was_missing(Size.LIGHT, (np.ones(3),))


def test_small_calls_spend_the_patience_of_all_kernels_and_then_their_own(monkeypatch):
    monkeypatch.setattr("novikoff.engine.jit.OWN_PATIENCE", 5)
    first, second = jit(without_a_file()), jit(without_a_file())
    with patience(10):
        assert [first(np.ones(4)) for _ in range(3)] == [1.0, 1.0, 1.0]
        assert not first.is_loaded
        assert first(np.ones(4)) == 1.0
        assert first.is_loaded
        assert second(np.ones(4)) == 1.0
        assert not second.is_loaded


def test_the_clock_of_limits_stands_still_while_a_kernel_is_compiled(monkeypatch):
    seconds = iter(range(0, 1000, 100))
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    before = now()
    with paused(), paused():
        pass
    assert now() - before == 200  # two looks at the clock from outside, and none while it stood


def test_a_terminal_shows_how_much_was_compiled_and_then_a_clean_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(clock, "_announced", 0)
    clock.announce("one")
    clock.announce("another")
    clock.wipe_announcement()
    said = capsys.readouterr().err
    assert "compiling (first use only): 1 loop\rcompiling (first use only): 2 loops" in said
    assert said.endswith(" \r")


def test_a_file_is_told_nothing_of_compilers(capsys):
    clock.announce("one")
    assert capsys.readouterr().err == ""
