"""Stores of these tests are synced thousands of times: where there is a file system in memory, they go there."""

import os
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        monkeypatch.setattr(tempfile, "tempdir", str(MEMORY))


@pytest.fixture
def folder(quick_disk):
    """A folder for a store."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)
