"""Compiled kernels are kept on disk, and forgotten when any file of the engine changes."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "novikoff"

# How many of three rows are whole, and whether the kernel that says so came from the disk.
COUNTED = """
import numpy as np
from novikoff.engine.linear import count_whole_rows
rows = np.array([[1.0], [2.0], [0.5]])
print(count_whole_rows(rows, 3), "from disk" if count_whole_rows.stats.cache_hits else "compiled")
"""


@pytest.fixture
def copy(tmp_path):
    """A package of its own, whose files may change."""
    shutil.copytree(PACKAGE, tmp_path / "lib" / "novikoff", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "lib"


def start(lib, **environment):
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    path = os.pathsep.join([str(lib), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", COUNTED], cwd=lib.parent, env={**inherited, "PYTHONPATH": path, **environment},
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
    assert text.count("if x != np.rint(x):") == 1
    access.write_text(text.replace("if x != np.rint(x):", "if x == np.rint(x):"), encoding="utf-8")
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
