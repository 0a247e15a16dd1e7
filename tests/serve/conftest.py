"""Stores of these tests are synced thousands of times: where there is a file system in memory, they go there."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.serve.database import empty_store

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


class Kind(NamedTuple):
    """A kind of store: where an empty one is, anew at each call, and with how many examples laws are tested on it."""

    empty: Callable[[], Any]
    examples: int


KINDS = {"SQLite": Kind(tempfile.TemporaryDirectory, 40), "PostgreSQL": Kind(empty_store, 8)}


@pytest.fixture(params=KINDS, scope="session")
def kind(request):
    """A kind of store: in a folder, or in a database."""
    return KINDS[request.param]


@pytest.fixture
def where(kind, quick_disk):
    """Where a store can be: a folder, or a database."""
    with kind.empty() as where:
        yield where
