"""The command `novikoff lab`."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the lab needs the extra novikoff[lab]")

LINK = "http://127.0.0.1:9/index.html#scene=xor&step=7"
SOURCE = Path(__file__).resolve().parents[2] / "src"
RUN = """import sys
from novikoff.cli.commands import exit_code
from novikoff.cli.lab import lab
sys.exit(exit_code(lab, sys.argv[1:]))"""


def test_it_opens_a_link_says_its_address_serves_the_page_and_ends_with_ctrl_c():
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", RUN, LINK, "--no-browser", "--json"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lab:
        try:
            address = json.loads(lab.stdout.readline())["address"]
            assert address.startswith("http://127.0.0.1:")
            assert address.endswith("/index.html#scene=xor&step=7"), "a link survives a new port"
            with urllib.request.urlopen(address) as page:
                assert b"<title>novikoff lab</title>" in page.read()
        finally:
            lab.send_signal(signal.SIGINT)
        assert lab.wait() == 0
        assert lab.stderr.read() == ""
