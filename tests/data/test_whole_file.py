"""A file is written whole or not at all."""

import errno
import os
import stat
import subprocess
import sys
import threading

import pytest

from novikoff.data.whole_file import WholeFile


def write(path, *pieces, **options):
    with WholeFile(path, **options) as file:
        for piece in pieces:
            file.write(piece)


@pytest.mark.parametrize("sync", [True, False])
def test_pieces_become_a_file_with_nothing_beside_it(sync, tmp_path):
    write(tmp_path / "new", b"one ", memoryview(b"two"), sync=sync)
    assert (tmp_path / "new").read_bytes() == b"one two"
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, OSError])
def test_whatever_fails_in_between_the_old_file_stays(failure, tmp_path):
    def fail():
        with WholeFile(tmp_path / "file") as file:
            file.write(b"new")
            assert len(os.listdir(tmp_path)) == 2
            raise failure("of mine")

    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(failure, match=r"^of mine$"):
        fail()
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_until_it_is_complete_the_name_has_the_old_content(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with WholeFile(tmp_path / "file") as file:
        file.write(b"new" * 100_000)
        assert (tmp_path / "file").read_bytes() == b"old"
        (partial,) = set(os.listdir(tmp_path)) - {"file"}
        assert partial.startswith(".file.")
        assert partial.endswith(".part")
    assert (tmp_path / "file").read_bytes() == b"new" * 100_000


def test_file_and_folder_are_synced_before_and_after_the_rename(tmp_path, monkeypatch):
    order = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor):
        order.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    def replace(*names):
        order.append("rename")
        real_replace(*names)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    write(tmp_path / "file", b"new")
    assert order == ["file", "rename", "folder"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay_and_are_there_from_the_first_byte_on(mode, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with WholeFile(path) as file:
        file.write(b"new")
        assert {os.stat(tmp_path / name).st_mode & 0o777 for name in os.listdir(tmp_path)} == {mode}
    assert path.stat().st_mode & 0o777 == mode


def test_a_link_is_followed_also_one_that_leads_nowhere_yet(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", b"first")
    write(tmp_path / "link", b"second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"second"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe", b"through")
    reader.join(10)
    assert found == [b"through"]
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_long_name_has_room_for_its_temporary_one(tmp_path):
    name = "n" * 255
    write(tmp_path / name, b"long")
    assert (tmp_path / name).read_bytes() == b"long"


def test_the_error_says_what_to_do(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(IsADirectoryError, match="it is a folder, so add the name of a file"):
        write(tmp_path / "folder", b"")
    with pytest.raises(FileNotFoundError, match="make the folder first"):
        write(tmp_path / "none" / "file", b"")
    with pytest.raises(NotADirectoryError, match="choose another folder"):
        write(tmp_path / "file" / "file", b"")


FULL_DISK = """
import resource, signal, sys
from novikoff.data.whole_file import WholeFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with WholeFile(sys.argv[1]) as file:
        file.write(bytes(int(sys.argv[2])))
except OSError as error:
    print(error.errno, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files stands for a full disk")
@pytest.mark.parametrize("size", [1001, 1_000_000])
def test_a_full_disk_leaves_the_old_file(size, tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "file"), str(size)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{errno.EFBIG} ")
    assert "make room there" in done.stdout
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
