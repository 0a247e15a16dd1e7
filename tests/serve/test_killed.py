"""Killed at any moment, on a full disk, on one that fails: what was acknowledged is there, and counts once."""

import contextlib
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

import httpx
import pytest

from novikoff.serve.client import Client, ServiceError
from novikoff.serve.fold import to_file
from novikoff.serve.store import FILE, Store
from novikoff.serve.writer import EXIT_CODE
from tests.serve.load import Load, Loads, examples_in_log
from tests.serve.nursery import ROOT, free_port, nursery, wait_until
from tests.serve.streams import learner_after

KILLS = 32
CLASSES = ["down", "up"]


@pytest.fixture(scope="module")
def processes():
    with nursery() as made:
        yield made


def test_killed_again_and_again_under_load_nothing_acknowledged_is_lost_and_nothing_counts_twice(processes, folder):
    port, draw = free_port(), random.Random(0)
    url = f"http://127.0.0.1:{port}"
    pid = processes.start(folder, port)
    with Client(url, "m", retries=60) as client:
        client.create(classes=CLASSES)
        loads = Loads(*[url] * 4)
        for _ in range(KILLS):
            loads.wait(draw.randint(1, 40))
            time.sleep(draw.uniform(0, 0.01))
            assert processes.kill(pid) == -signal.SIGKILL
            pid = processes.start(folder, port)
        loads.end()
        served = client.file()
    processes.kill(pid)
    loads.check(folder, served)


def learn_until_it_ends(url, folder):
    """How many examples were acknowledged before the service ended."""
    acknowledged = 0
    with Client(url, "m", retries=60) as client:
        client.create(classes=CLASSES)
        client.retries = 0
        with contextlib.suppress(httpx.TransportError):
            while True:
                client.learn({"a": 1.0, "name": str(acknowledged)}, CLASSES[acknowledged % 2])
                acknowledged += 1
    return acknowledged


@pytest.mark.parametrize("how", [{"fail_after": 20}, {"largest_file": 400_000}], ids=["failed sync", "full disk"])
def test_a_commit_that_fails_ends_the_process_and_the_next_has_all_that_was_acknowledged(processes, folder, how):
    port = free_port()
    pid = processes.start(folder, port, **how)
    acknowledged = learn_until_it_ends(f"http://127.0.0.1:{port}", folder)
    assert processes.ended(pid) == EXIT_CODE
    assert acknowledged > 10
    found, numbers, stream, learner, settings = examples_in_log(folder)
    assert [numbers[str(i)] for i in range(acknowledged)] == list(range(1, acknowledged + 1))
    assert set(found.values()) == {1}
    assert to_file(learner) == to_file(learner_after(settings, stream))
    pid = processes.start(folder, port)
    with Client(f"http://127.0.0.1:{port}", "m", retries=60) as client:
        assert client.learn({"a": 1.0, "name": "after"}, "up").seq == len(stream) + 1
    assert processes.kill(pid) == -signal.SIGKILL


@pytest.fixture
def written_ahead(processes, folder):
    """A store that was killed with all that it learned in the write-ahead log, and how many examples that is."""
    port = free_port()
    pid = processes.start(folder, port)
    with Client(f"http://127.0.0.1:{port}", "m", retries=60) as client:
        client.create(classes=CLASSES)
        for i in range(30):
            client.learn({"a": float(i), "name": str(i)}, CLASSES[i % 2])
    processes.kill(pid)
    return folder, 30


def test_a_torn_tail_of_the_write_ahead_log_takes_nothing_acknowledged_along(written_ahead):
    folder, n = written_ahead
    log = folder / f"{FILE}-wal"
    whole = log.read_bytes()
    frame = 24 + struct.unpack(">I", whole[8:12])[0]
    tails = [b"\0" * 100, os.urandom(frame), whole[-frame:], whole[-frame:-1], whole[32 : 32 + 3 * frame]]
    for tail in tails:
        copy = folder / "copy"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy"))
        (copy / f"{FILE}-wal").write_bytes(whole + tail)
        found, numbers, *_ = examples_in_log(copy)
        assert sorted(numbers.values()) == list(range(1, n + 1))
        assert set(found.values()) == {1}
        shutil.rmtree(copy)


def test_a_write_ahead_log_that_is_cut_anywhere_leaves_the_first_events_and_a_model_of_them(written_ahead):
    folder, n = written_ahead
    whole = (folder / f"{FILE}-wal").read_bytes()
    draw, lengths = random.Random(1), set()
    for _ in range(15):
        copy = folder / "copy"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy"))
        (copy / f"{FILE}-wal").write_bytes(whole[: draw.randint(len(whole) // 2, len(whole))])
        _, numbers, stream, learner, settings = examples_in_log(copy)
        assert [numbers[str(i)] for i in range(len(stream))] == list(range(1, len(stream) + 1))
        assert to_file(learner) == to_file(learner_after(settings, stream))
        lengths.add(len(stream))
        shutil.rmtree(copy)
    assert len(lengths) > 3
    assert max(lengths) <= n


def test_told_to_end_it_answers_what_it_accepted_and_ends_in_good_order(processes, folder):
    port, stop = free_port(), threading.Event()
    url = f"http://127.0.0.1:{port}"
    pid = processes.start(folder, port)
    with Client(url, "m", retries=60) as client:
        client.create(classes=CLASSES)
    loads = [Load(url, number, stop) for number in range(4)]
    for load in loads:
        load.client.retries = 0
        load.start()
    wait_until(lambda: sum(len(load.acknowledged) for load in loads) > 100)
    os.kill(pid, signal.SIGTERM)
    assert processes.ended(pid) == 0
    for load in loads:
        load.join()
        assert isinstance(load.failed, httpx.TransportError | ServiceError)
    _, numbers, stream, learner, settings = examples_in_log(folder)
    for load in loads:
        assert load.acknowledged.items() <= numbers.items()
    assert to_file(learner) == to_file(learner_after(settings, stream))


def test_a_second_process_on_one_store_refuses_to_start(folder):
    store = Store(folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "novikoff.cli", "serve", "--store", str(folder), "--port", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    store.close()
    assert done.returncode == 1
    assert "is in use by another process" in done.stderr
    assert "Traceback" not in done.stderr
