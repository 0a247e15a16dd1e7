"""Files that commands write: over none that is there but models, unless told so, and found out before the work."""

import os
from pathlib import Path


def check_model_free(path: str | os.PathLike[str], force: bool) -> Path:
    """The path, if a model may be written there: a model file is replaced."""
    from novikoff.keep.layout import check_replaceable

    if not force:
        try:
            check_replaceable(path)
        except FileExistsError as error:
            raise FileExistsError(f"{error}, or pass --force to replace it") from None
    return check_free(path, force=True)


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
