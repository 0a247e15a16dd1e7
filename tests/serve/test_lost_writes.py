"""The power fails: what was written and not synced is lost, or some of it. What was acknowledged is there.

After a kill the operating system still writes what it has, so a kill says little about `fsync`. Here a library that is
loaded before the C library keeps every file as it was at its last sync (`lost_writes.c`); after a kill, blocks that
were written later are dropped, and the service goes on from what is left.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from novikoff.serve.client import Client
from novikoff.serve.store import FILE
from tests.serve.load import Loads, examples_in_log
from tests.serve.nursery import free_port, nursery

SOURCE = Path(__file__).with_name("lost_writes.c")
FAILURES = 12
BLOCK = 512
CLASSES = ["down", "up"]


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Processes whose syncs are noted."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        message = "this needs Linux and a C compiler; on Debian: apt-get install gcc libc6-dev"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    library = tmp_path_factory.mktemp("library") / "lost_writes.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    with nursery(LD_PRELOAD=str(library)) as made:
        yield made


@pytest.fixture
def disk(folder):
    (folder / "synced").mkdir()
    return folder


def fail_power(disk, draw):
    """Leave of each file what was synced, and of what was written since nothing, or any blocks."""
    keeps = draw.choice([0.0, 0.5, 0.9])
    for path in disk.iterdir():
        if path.is_dir():
            continue
        synced = disk / "synced" / path.name
        if not synced.exists():
            path.unlink()
            continue
        before, after = synced.read_bytes(), path.read_bytes()
        size = len(after) if draw.random() < keeps else len(before)
        longest = max(len(before), len(after))
        blocks = [
            (after if draw.random() < keeps else before).ljust(longest, b"\0")[start : start + BLOCK]
            for start in range(0, longest, BLOCK)
        ]
        path.write_bytes(b"".join(blocks)[:size])
        shutil.copyfile(path, synced)
    for path in (disk / "synced").iterdir():
        if not (disk / path.name).exists():
            path.unlink()


def test_when_the_power_fails_again_and_again_nothing_acknowledged_is_lost(processes, disk):
    port, draw = free_port(), random.Random(0)
    url = f"http://127.0.0.1:{port}"
    pid = processes.start(disk, port)
    with Client(url, "m", retries=60) as client:
        client.create(classes=CLASSES)
        loads = Loads(*[url] * 4)
        for _ in range(FAILURES):
            loads.wait(draw.randint(1, 200))
            assert processes.kill(pid) == -signal.SIGKILL
            fail_power(disk, draw)
            pid = processes.start(disk, port)
        loads.end()
        served = client.file()
    processes.kill(pid)
    fail_power(disk, draw)
    loads.check(disk, served)


def test_a_store_that_does_not_sync_loses_what_it_acknowledged(processes, disk):
    """Else the test above would say nothing."""
    port = free_port()
    pid = processes.start(disk, port, pragma="synchronous=OFF")
    with Client(f"http://127.0.0.1:{port}", "m", retries=60) as client:
        client.create(classes=CLASSES)
        for i in range(30):
            client.learn({"a": 1.0, "name": str(i)}, CLASSES[i % 2])
    processes.kill(pid)
    fail_power(disk, random.Random(0))
    if (disk / FILE).exists():
        with pytest.raises((IndexError, AssertionError)):
            assert len(examples_in_log(disk)[1]) == 30
