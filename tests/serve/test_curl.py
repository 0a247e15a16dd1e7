"""The page of examples with curl says what the service answers."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serve.listening import listening

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "curl.md"
END = "--- end of an answer"


def examples():
    """The commands on the page, with what they print."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, "".join(f"{line}\n" for line in lines)) for command, lines in found]


def test_every_command_on_the_page_prints_what_the_page_says(folder, tmp_path):
    if shutil.which("curl") is None:
        pytest.fail("there is no curl") if os.environ.get("CI") else pytest.skip("there is no curl")
    tool = tmp_path / "novikoff"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m novikoff.cli "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    with listening(folder) as (address, _):
        script = "".join(f"{command}\necho '\n{END}'\n" for command, _ in examples())
        script = script.replace("http://127.0.0.1:8151/", address)
        done = subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
    assert done.stderr == ""
    printed = done.stdout.split(f"\n{END}\n")[:-1]
    check = doctest.OutputChecker().check_output
    others = [
        f"$ {command}\n{got}"
        for (command, wanted), got in zip(examples(), printed, strict=True)
        if not check(wanted.strip(), got.strip(), doctest.ELLIPSIS)
    ]
    assert not others, "\n".join(others)
