"""Small work is interpreted; compiled kernels are kept on disk, and forgotten when any file of the engine changes."""

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from novikoff.engine.clock import now, standing_still
from novikoff.engine.jit import jit, patience

PACKAGE = Path(__file__).parents[2] / "src" / "novikoff"

# How many of three rows are whole, and whether the kernel that says so came from the disk.
COUNTED = """
import numpy as np
from novikoff.engine.linear import count_whole_rows
rows = np.array([[1.0], [2.0], [0.5]])
kernel = count_whole_rows.compiled
print(kernel(rows, 3), "from disk" if kernel.stats.cache_hits else "compiled")
"""


@pytest.fixture
def copy(tmp_path):
    """A package of its own, whose files may change."""
    shutil.copytree(PACKAGE, tmp_path / "lib" / "novikoff", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "lib"


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


def test_a_kernel_is_compiled_again_when_what_it_calls_in_another_file_changes(copy):
    assert answer(start(copy)) == "2 compiled"
    access = copy / "novikoff" / "engine" / "access.py"
    text = access.read_text(encoding="utf-8")
    assert text.count("if X[row, j] != np.rint(X[row, j]):") == 1
    access.write_text(text.replace("if X[row, j] != np.rint(X", "if X[row, j] == np.rint(X"), encoding="utf-8")
    assert answer(start(copy)) == "0 compiled"
    assert answer(start(copy)) == "0 from disk"


def test_a_kernel_is_compiled_once_though_files_outside_the_engine_change(copy):
    assert answer(start(copy)) == "2 compiled"
    with (copy / "novikoff" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert answer(start(copy)) == "2 from disk"


def test_kernels_of_a_read_only_install_are_kept_elsewhere(copy, tmp_path):
    (
        copy / "novikoff" / "engine" / "__pycache__"
    ).touch()  # a file in place of a folder: root could write in any folder
    users = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "LOCALAPPDATA": str(tmp_path / "cache")}
    assert answer(start(copy, **users)) == "2 compiled"
    assert answer(start(copy, **users)) == "2 from disk"


def test_kernels_work_where_nothing_can_be_written(copy):
    (copy / "novikoff" / "engine" / "__pycache__").touch()
    nowhere = str(copy / "novikoff" / "__init__.py")
    users = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "LOCALAPPDATA": nowhere}
    assert answer(start(copy, **users)) == "2 compiled"


def test_kernels_work_from_a_zip_archive(copy, tmp_path):
    archive = tmp_path / "novikoff.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in copy.rglob("*.py"):
            packed.write(file, file.relative_to(copy))
    assert answer(start(archive, XDG_CACHE_HOME=str(tmp_path / "cache"), HOME=str(tmp_path))) == "2 compiled"


def test_processes_that_compile_at_once_do_not_disturb_each_other(copy):
    at_once = [start(copy) for _ in range(3)]
    assert {answer(process)[0] for process in at_once} == {"2"}
    assert answer(start(copy)) == "2 from disk"


# Which of three calls loads Numba: on few numbers, on many, and on few again.
LOADED = """
import sys
import numpy as np
from novikoff.engine.linear import count_whole_rows
few, many = np.ones((3, 1)), np.ones((2_000_000, 1))
print([(count_whole_rows(rows, len(rows)), "numba" in sys.modules) for rows in (few, many, few)])
"""


def test_numba_is_loaded_when_there_is_much_to_do_and_not_before(copy):
    process = start(copy, code=LOADED)
    assert answer(process) == str([(3, False), (2_000_000, True), (3, True)])


def test_patience_is_used_up_by_small_calls():
    @jit
    def first(numbers):
        return numbers[0]

    with patience(10):
        assert [first(np.ones(4)) for _ in range(2)] == [1.0, 1.0]
        assert not first.is_loaded
        assert first(np.ones(4)) == 1.0
        assert first.is_loaded


def test_the_clock_of_limits_stands_still_while_a_kernel_is_compiled(monkeypatch):
    seconds = iter(range(0, 1000, 100))
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    before = now()
    with standing_still(), standing_still():
        pass
    assert now() - before == 200  # two looks at the clock from outside, and none while it stood
