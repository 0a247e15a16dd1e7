"""A process that is killed while it saves leaves the old model or the new one, whole."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from novikoff import Perceptron
from novikoff.keep.models import load, save

SAVES = """
import sys
from novikoff.keep.models import load_plain, save
one, other, target = sys.argv[1:]
models = [load_plain(one), load_plain(other)]
print("ready", flush=True)
while True:
    for model in models:
        save(model, target)
"""
KILLS = 10


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing can be killed like that here")
def test_a_killed_process_leaves_one_of_its_two_models(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    target, sources = folder / "model", [tmp_path / "one", tmp_path / "other"]
    generator = np.random.default_rng(0)
    for source in sources:
        X = generator.standard_normal((40, 100_000))
        save(Perceptron(max_epochs=1).fit(X, X[:, 0] > 0), source)
    known = {source.read_bytes() for source in sources}
    save(load(sources[0]), target)
    chance = random.Random(0)
    for kill in range(1, KILLS + 1):
        command = [sys.executable, "-c", SAVES, *map(str, sources), str(target)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0.0, 0.05))
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        load(target)
        assert target.read_bytes() in known
        left = [name for name in os.listdir(folder) if name != "model"]
        assert all(name.startswith(".model.") and name.endswith(".part") for name in left)
        assert len(left) <= kill
    assert left, "no kill came in the middle of a save, so this test has shown nothing"
