"""Files that commands write: never over one that is there unless told so, and found out before the work is done."""

import os
from pathlib import Path


def check_free(path: str | os.PathLike[str], force: bool) -> Path:
    """The path, if a file may be written there."""
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{target} cannot be written: there is no folder {folder}; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"{target} cannot be written: it is a folder; add the name of a file")
    if target.is_file() and not force:
        raise FileExistsError(f"{target} is already there, and is kept; pass --force to replace it, or another name")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{target} cannot be written: the folder {folder} does not let you; choose another")
    return target
