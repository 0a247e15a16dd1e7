"""Commands start quickly: they import only what they need, and compile nothing twice."""

import json
import subprocess
import sys

from tests.cli.calling import environment

OURS_OF_HELP = {"novikoff", "novikoff.cli", "novikoff.cli.commands"}

# What comes with an extra, or serves scikit-learn's conventions, is for those who ask for it by name.
NOT_FOR_COMMANDS = {"sklearn", "matplotlib", "polars", "starlette", "uvicorn", "river"}

STARTED = """
import json, sys
at_first = set(sys.modules)
def in_this_python(lines):
    from novikoff.cli.commands import exit_code, novikoff
    return [exit_code(novikoff, line.split()) for line in lines]
codes = in_this_python(json.loads(sys.argv[1]))
assert not any(codes), codes
print(json.dumps(sorted(set(sys.modules) - at_first)), file=sys.stderr)
"""

# A kernel that comes from Numba's cache has no pass of the compiler run on it.
COMPILED = """
import json, sys
from numba import njit
from numba.core.event import install_recorder
from novikoff.cli.commands import exit_code, novikoff
from novikoff.engine.jit import patience
with patience(0), install_recorder("numba:run_pass") as passes:
    codes = [exit_code(novikoff, line.split()) for line in json.loads(sys.argv[1])]
    of_commands = len(passes.buffer)
    njit(lambda x: x + 1)(1)
    of_a_new_kernel = len(passes.buffer) - of_commands
assert not any(codes), codes
print(json.dumps([of_commands, of_a_new_kernel]), file=sys.stderr)
"""


def last_line_of(code, *lines, folder):
    """What a program says last, after the commands ran one after the other in one process."""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(lines)],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def packages(modules):
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)


def test_help_imports_no_library_besides_click_and_nothing_of_the_commands(tmp_path):
    loaded = last_line_of(STARTED, "--help", "--version", folder=tmp_path)
    assert packages(loaded) == {"click", "novikoff"}
    assert {name for name in loaded if name.partition(".")[0] == "novikoff"} == OURS_OF_HELP


def test_help_on_a_command_imports_no_library_and_only_the_options_besides_the_command_line(tmp_path):
    loaded = last_line_of(STARTED, "fit --help", "tag train --help", folder=tmp_path)
    assert packages(loaded) == {"click", "novikoff"}
    rooms = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("novikoff.")}
    assert rooms == {"novikoff.cli", "novikoff.options"}


def test_no_command_imports_scikit_learn_or_what_comes_with_an_extra(folder):
    loaded = last_line_of(
        STARTED,
        "fit cars.csv --label sport_car --force",
        "predict cars.novikoff cars.csv",
        "score cars.novikoff cars.csv",
        "inspect cars.novikoff",
        "check cars.cert cars.csv",
        "tag train chunks.conll --templates templates.txt --force",
        "tag score chunks.novikoff chunks.conll",
        "online --label is --model new.novikoff",
        "lp bakery.mps",
        folder=folder,
    )
    assert {"numpy", "pyarrow", "rich"} <= packages(loaded)
    assert packages(loaded) & NOT_FOR_COMMANDS == set()


def test_a_small_table_is_learned_and_certified_without_a_compiler_or_any_other_heavy_library(folder):
    loaded = last_line_of(STARTED, "fit cars.csv --label sport_car --force", folder=folder)
    assert packages(loaded) & {"numba", "scipy", "pandas"} == set()


def test_the_second_fit_compiles_nothing(folder):
    line = "fit cars.csv --label sport_car --force"
    for _ in range(2):
        passes, passes_on_a_new_kernel = last_line_of(COMPILED, line, folder=folder)
    assert passes == 0 < passes_on_a_new_kernel
