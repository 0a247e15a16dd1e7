"""Two ways to run a command in a test: inside of this process, which is quick, and for real."""

import io
import json
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from tests.clock import Clock

ROOT = Path(__file__).resolve().parents[2]


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def call(*args: object, folder: Path, stdin: str = "") -> Done:
    """Run a command in this process, in a folder, on a terminal of 80 columns, and with all the time it needs."""
    from novikoff.cli.commands import exit_code, novikoff

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    streams = {"stdout": out, "stderr": err, "stdin": source}
    width = mock.patch.dict(os.environ, {"COLUMNS": "80"})
    with chdir(folder), mock.patch.multiple(sys, **streams), width, Clock().in_place():
        code = exit_code(novikoff, [str(arg) for arg in args])
        out.flush()
        err.flush()
    written = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return Done(code, *written)


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "novikoff.cli", *map(str, args)]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80", "PYTHONUTF8": "1", **more}


def spawn(*args: object, folder: Path, stdin: str = "", **more: str) -> Done:
    """Run the real command."""
    done = subprocess.run(
        command(*args), cwd=folder, env=environment(**more), input=stdin, capture_output=True, text=True, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)
