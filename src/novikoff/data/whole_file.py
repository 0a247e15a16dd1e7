"""Atomic writing of files: a path has its old content or all of the new.

The content is written to a temporary file beside it, with the same name, preceded by a dot and followed by `.part`. It
is synced to disk and then renamed, which is atomic. If writing fails, it is removed. Only a process that is killed (or
a machine that loses power) leaves one behind, which may be deleted.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NoReturn, Self

# File systems allow names of 255 bytes; this much of a longer one is enough to recognise it.
SHOWN_NAME = 40


class WholeFile:
    """A file to write to: `with WholeFile(path) as file: file.write(piece)`.

    Links are followed, and an existing file keeps its permissions. A pipe or a device has no content to keep, and is
    written to directly. Without `sync` the file may not survive a power failure.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with WholeFile(Path(folder, "numbers")) as file:
    ...         file.write(b"1 2 3")
    ...     Path(folder, "numbers").read_bytes(), os.listdir(folder)
    (b'1 2 3', ['numbers'])
    """

    def __init__(self, path: str | os.PathLike[str], *, sync: bool = True) -> None:
        self.path = Path(os.path.realpath(path))
        self._sync = sync
        self._partial: Path | None = None
        self._file: BinaryIO

    def __enter__(self) -> Self:
        try:
            mode = self._mode()
            if mode is not None and not stat.S_ISREG(mode):
                self._file = open(self.path, "wb")
                return self
            partial = self.path.with_name(f".{self.path.name[:SHOWN_NAME]}.{secrets.token_hex(8)}.part")
            # From the first byte on, it has the permissions of the file that it replaces.
            permissions = 0o666 if mode is None else stat.S_IMODE(mode)
            binary = getattr(os, "O_BINARY", 0)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, permissions)
            self._partial = partial
            self._file = os.fdopen(descriptor, "wb")
            if mode is not None:
                os.chmod(partial, permissions)
        except OSError as error:
            self._remove()
            self._could_not_write(error)
        return self

    def write(self, piece: Any) -> None:
        try:
            self._file.write(piece)
        except OSError as error:
            self._could_not_write(error)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as failed:
            self._could_not_write(failed)
        finally:
            with contextlib.suppress(OSError):  # the incomplete file is about to be removed
                self._file.close()
            self._remove()

    def _finish(self) -> None:
        self._file.flush()
        if self._partial is None:
            self._file.close()
            return
        if self._sync:
            os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._partial, self.path)
        self._partial = None
        if self._sync:
            _sync_folder(self.path.parent)

    def _mode(self) -> int | None:
        try:
            return os.stat(self.path).st_mode
        except FileNotFoundError:
            return None

    def _remove(self) -> None:
        if self._partial is not None:
            self._partial.unlink(missing_ok=True)

    def _could_not_write(self, error: OSError) -> NoReturn:
        if error.__cause__ is not None:
            raise error  # it was raised here
        why = error.strerror or str(error)
        how = "make room there, or choose another folder"
        if self.path.is_dir():
            how = "it is a folder, so add the name of a file"
        elif not self.path.parent.is_dir():
            how = "make the folder first, or choose another folder"
        elif not os.access(self.path.parent, os.W_OK):
            how = "get permission to write in that folder, or choose another folder"
        raise OSError(error.errno, f"the file could not be written: {why}; {how}", str(self.path)) from error


def _sync_folder(folder: Path) -> None:
    """Sync the folder, where the system supports it, so that the new name survives a power failure, too.

    Where it does not, nothing is lost: the file is complete, and after a power failure the path may have the old one.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
