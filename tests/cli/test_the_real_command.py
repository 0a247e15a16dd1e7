"""The command as a shell runs it: what goes wrong is one sentence and an exit code, and nothing is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from novikoff.keep.models import load_plain
from tests.cli.calling import call, command, environment, spawn

BAD_INPUT = {
    "no such file": ("fit nope.csv --label y", "there is no file nope.csv"),
    "a label that is no column": ("fit cars.csv --label sport_cars --model m", "did you mean 'sport_car'?"),
    "no label": ("fit cars.csv --model m", "name the label column with --label"),
    "one class": ("fit one.csv --label y", "all labels are 'p'; at least two classes are required"),
    "ragged rows": ("fit ragged.csv --label y", "ragged.csv, line 3:"),
    "a truncated model": ("predict cut.novikoff cars.csv", "cut.novikoff is not a model file, or is damaged"),
    "a model for other columns": ("predict cars.novikoff animals.csv", "animals.csv has no column 'doors'"),
    "a certificate for other data": ("check cars.cert other.csv", "the data are not those that were certified"),
    "an unwritable folder": ("fit cars.csv --label sport_car --model nowhere/m", "there is no folder nowhere"),
    "an output that is there": ("certify cars.csv --label sport_car --out cars.cert", "already exists"),
    "a full disk": ("certify cars.csv --label sport_car --out /dev/full", "No space left on device"),
}


def prepare(folder):
    (folder / "one.csv").write_text("a,y\n1,p\n2,p\n")
    (folder / "ragged.csv").write_text("a,b,y\n1,2,p\n3,q\n")
    (folder / "cut.novikoff").write_bytes((folder / "cars.novikoff").read_bytes()[:-7])
    (folder / "other.csv").write_text((folder / "cars.csv").read_text().replace("Quaky", "Kestrel", 1))


@pytest.mark.parametrize("what", BAD_INPUT)
def test_bad_input_is_one_sentence_and_exit_code_1(folder, what):
    line, sentence = BAD_INPUT[what]
    if "/dev/full" in line and not os.path.exists("/dev/full"):
        pytest.skip("this system has no device that is always full")
    prepare(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run = spawn if what in ("no such file", "a full disk") else call
    done = run(*line.split(), folder=folder)
    assert done.code == 1, done
    assert sentence in done.err
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err
    assert done.out == ""
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_debug_shows_the_traceback(folder):
    done = spawn("fit", "nope.csv", "--label", "y", "--debug", folder=folder)
    assert done.code == 1
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("novikoff: there is no file nope.csv")


def test_a_command_that_is_not_understood_has_exit_code_2(folder):
    done = spawn("fti", "cars.csv", folder=folder)
    assert (done.code, done.err) == (
        2,
        "novikoff: there is no command 'fti'; did you mean 'fit'?; see novikoff --help\n",
    )


def test_an_error_is_json_too(folder):
    done = call("fit", "nope.csv", "--label", "y", "--json", folder=folder)
    assert done.json["error"]["exit_code"] == done.code == 1
    assert done.err.strip() == f"novikoff: {done.json['error']['message']}"


def test_a_broken_pipe_is_silent(folder):
    text = (folder / "cars.csv").read_text()
    header, rest = text.split("\n", 1)
    (folder / "long.csv").write_text(header + "\n" + rest * 200)
    shell = f"{' '.join(command('predict', 'cars.novikoff', 'long.csv'))} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{header},prediction\n141\n"
    assert done.stderr == ""


# The command itself; but when it has looked at the clock often enough, somebody presses Ctrl-C.
INTERRUPTED = """
import itertools, os, runpy, signal, time
looks, look = itertools.count(1), time.monotonic
def look_or_be_interrupted():
    if next(looks) == 12:
        os.kill(os.getpid(), signal.SIGINT)
    return look()
time.monotonic = look_or_be_interrupted
runpy.run_module("novikoff.cli", run_name="__main__")
"""


def test_an_interrupted_fit_keeps_the_weights_of_a_complete_epoch(folder):
    endless = "fit xor.csv --label bits --max-iter none --no-certify --model endless.novikoff"
    line, shell = [sys.executable, "-c", INTERRUPTED, *endless.split()], environment(TMPDIR=str(folder))
    done = subprocess.run(line, cwd=folder, env=shell, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "interrupted; the weights after the last complete epoch were saved" in done.stderr
    assert "interrupted" in done.stdout
    run = load_plain(folder / "endless.novikoff").run
    assert run.stopped.name == "INTERRUPTED"
    assert run.examples % 4 == 0
    assert not list(folder.glob("novikoff-*"))


def test_a_killed_command_leaves_the_old_file(folder):
    process = subprocess.Popen(
        command("predict", "cars.novikoff", "-", "--out", "cars.novikoff", "--force"),
        cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    before = (folder / "cars.novikoff").read_bytes()
    process.stdin.write((folder / "cars.csv").read_bytes())
    process.stdin.flush()
    while not list(folder.glob(".cars.novikoff.*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()  # kill -9, while the file is written
    process.wait()
    process.stdin.close()
    assert process.returncode == -signal.SIGKILL
    assert len(list(folder.glob(".cars.novikoff.*"))) == 1
    assert (folder / "cars.novikoff").read_bytes() == before


def test_the_answers_of_online_come_line_by_line_and_its_end_is_heard(tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    line = command("online", "--label", "y", "--model", "m", "--save-every", "2", "--json")
    process = subprocess.Popen(line, cwd=tmp_path, env=environment(), **pipes)
    for number, y in enumerate("pqp", start=1):
        process.stdin.write(json.dumps({"a": number, "y": y}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["examples"] == number
    assert load_plain(tmp_path / "m").examples == 2
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 130
    assert load_plain(tmp_path / "m").examples == 3
    process.communicate()


def test_predictions_come_through_a_pipe_before_it_ends(folder):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command("predict", "cars.novikoff", "-"), cwd=folder, env=environment(), **pipes)
    lines = (folder / "cars.csv").read_text().splitlines(keepends=True)
    process.stdin.write("".join(lines[:3]))
    process.stdin.flush()
    assert process.stdout.readline() == lines[0].rstrip("\n") + ",prediction\n"
    assert process.stdout.readline() == lines[1].rstrip("\n") + ",yes\n"
    process.stdin.write(lines[3])
    process.stdin.close()
    rest = process.stdout.read().splitlines()
    assert rest == [line.rstrip("\n") + ",no" for line in lines[2:4]]
    assert process.wait() == 0


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_come_only_on_a_terminal(folder, more, coloured):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    line = command("certify", "xor.csv", "--label", "bits")
    process = subprocess.Popen(line, cwd=folder, env=environment(TERM="xterm", **more), stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            part = b""
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait() == 11
    assert (b"\x1b[33m" in shown or b"\x1b[1;33m" in shown) == coloured


def test_the_shell_can_complete_commands(folder):
    def completed(words):
        asked = {"_NOVIKOFF_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return spawn(folder=folder, **asked).out.split()

    assert completed("novikoff ce") == ["plain,certify"]


# The command itself; but every kernel that is compiled, or loaded, takes an hour on its clock.
SLOW_TO_COMPILE = """
import runpy, time
from numba.core.dispatcher import Dispatcher
look, compile, hours = time.monotonic, Dispatcher.compile, 0
def compile_slowly(*args):
    global hours
    hours += 1
    return compile(*args)
Dispatcher.compile = compile_slowly
time.monotonic = lambda: look() + 3600 * hours
from novikoff.engine.jit import patience
try:
    with patience(0):
        runpy.run_module("novikoff.cli", run_name="__main__")
finally:
    assert hours > 0
"""


def test_the_first_run_on_a_machine_certifies_as_every_other(folder):
    """Its kernels have to be compiled, and that must not use up the time of the proof. Small tables need none."""
    draw, names = random.Random(0), [f"c{j}" for j in range(100)]
    rows = [[draw.randrange(-9, 10) for _ in names] for _ in range(600)]
    lines = [",".join(map(str, [*row, "yes" if sum(row) > 0 else "no"])) for row in rows if sum(row)]
    (folder / "wide.csv").write_text("\n".join([",".join([*names, "label"]), *lines]) + "\n")
    asked = ("certify", "wide.csv", "--label", "label", "--time-limit", "3000")
    line = [sys.executable, "-c", SLOW_TO_COMPILE, *asked]
    done = subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "separable (proved)" in done.stdout
