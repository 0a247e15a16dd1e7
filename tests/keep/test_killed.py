"""A process that is killed while it saves leaves the old model or the new one, whole."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from novikoff import Perceptron
from novikoff.keep.models import load, save

# For every line that it reads, a child of it saves the model, and is killed at the next line of what writes files.
KILLED = """
import itertools, os, signal, sys
from novikoff.data import whole_file
from novikoff.keep.models import load_plain, save

def kill_at(last):
    lines = itertools.count(1)
    def at_line(frame, event, arg):
        if event == "line" and next(lines) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return at_line
    sys.settrace(lambda frame, event, arg: at_line if frame.f_code.co_filename == whole_file.__file__ else None)

source, elsewhere, target = sys.argv[1:]
model = load_plain(source)
save(model, elsewhere)  # all that it needs is imported
for last, _ in enumerate(sys.stdin, start=1):
    child = os.fork()
    if child == 0:
        kill_at(last)
        save(model, target)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be killed like that here")
def test_a_process_killed_at_any_line_leaves_one_of_the_two_models(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    target, old, new = folder / "model", tmp_path / "old", tmp_path / "new"
    generator = np.random.default_rng(0)
    for source in (old, new):
        X = generator.standard_normal((40, 10_000))
        save(Perceptron(max_iter=1).fit(X, X[:, 0] > 0), source)

    command = [sys.executable, "-c", KILLED, str(new), str(tmp_path / "elsewhere"), str(target)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    found, left = [], set()
    with subprocess.Popen(command, env=environment, **pipes) as process:
        while True:
            target.write_bytes(old.read_bytes())
            process.stdin.write("save\n")
            process.stdin.flush()
            if (code := int(process.stdout.readline())) == 0:
                break
            assert code == -signal.SIGKILL
            load(target)
            found.append("old" if target.read_bytes() == old.read_bytes() else "new")
            assert found[-1] == "old" or target.read_bytes() == new.read_bytes()
            parts = [path for path in folder.iterdir() if path != target]
            assert all(path.name.startswith(".model.") and path.name.endswith(".part") for path in parts)
            left.update(path.stat().st_size for path in parts)
        process.stdin.close()
    assert target.read_bytes() == new.read_bytes()
    assert found == sorted(found, reverse=True)
    assert {"old", "new"} == set(found)
    assert left >= {0, new.stat().st_size}, "no kill came between the first byte and the new name"
