"""A real PostgreSQL in a temporary folder, synced like any other; and an empty store in it for each test."""

import atexit
import contextlib
import functools
import glob
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from novikoff.web import listen

MEMORY = Path("/dev/shm")

# Quicker than to drop the tables, and numbers begin anew.
EMPTY = """DO $$ BEGIN
    IF to_regclass('novikoff.format') IS NOT NULL THEN
        SET LOCAL search_path = novikoff;
        DELETE FROM servers; DELETE FROM models; DELETE FROM log; DELETE FROM snapshots; DELETE FROM mistakes;
        DELETE FROM predictions; DELETE FROM keys;
        ALTER TABLE models ALTER model RESTART; ALTER TABLE servers ALTER server RESTART;
    END IF;
END $$"""


def programs():
    """The folder of PostgreSQL's programs; without them a test is skipped on a person's machine, and fails in CI."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    if (configured := shutil.which("pg_config")) is not None:
        found.append(
            subprocess.run([configured, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
        )
    whole = [folder for folder in map(Path, found) if (folder / "initdb").exists()]
    if not whole:
        message = "there is no PostgreSQL; on Debian: apt-get install postgresql"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return whole[0]


@functools.cache
def server():
    """The address of a server that lives until the tests end; as root it runs as the user postgres, since it must."""
    bin = programs()
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    parent = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if as_user:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    run = functools.partial(subprocess.run, check=True, cwd="/", stdout=subprocess.DEVNULL)
    run(
        [*as_user, bin / "initdb", "-D", data, "-U", "novikoff", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    )
    with listen() as listener:
        port = listener.getsockname()[1]
    settings = {
        "port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "on",
        "shared_buffers": "16MB", "max_connections": 60, "log_min_messages": "fatal", "log_statement": "none",
    }  # fmt: skip
    options = [f"--{name}={value}" for name, value in settings.items()]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([*as_user, bin / "postgres", "-D", data, *options], cwd="/", stdout=log, stderr=log)

    def end():
        run([*as_user, bin / "pg_ctl", "stop", "-D", data, "-m", "immediate"])
        process.wait()

    atexit.register(end)
    address = f"postgresql://novikoff@127.0.0.1:{port}/postgres"
    while not _answers(address):
        assert process.poll() is None, (folder / "log").read_text()
        time.sleep(0.02)
    return address


def _answers(address):
    import psycopg

    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def ask(address, *statements):
    """What the last of the statements finds."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def empty_store():
    """The address of a database in which there is no store."""
    address = server()
    ask(address, EMPTY)
    yield address
    ask(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'novikoff'")
