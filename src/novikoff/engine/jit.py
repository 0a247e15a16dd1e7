"""The one decorator of the kernels, and when a kernel that was compiled before may be used again.

Numba keeps compiled kernels on disk, and forgets those of a file that has changed; but a kernel also contains whatever
it calls in other files, and of these Numba takes no notice. Here the files of the engine stand and fall together: a
kernel from the disk counts only if none of them has changed since. So kernels may share what they have in common.

*Where* compiled kernels lie is Numba's own affair: beside the source, in the user's cache where the source is read-only
or in a zip archive, or in `NUMBA_CACHE_DIR`. If nothing can be written anywhere, every process compiles its own.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache


def jit(kernel: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a kernel that lets other threads run, and keep it on disk.

    >>> @jit
    ... def add_up(x):
    ...     total = 0.0
    ...     for value in x:
    ...         total += value
    ...     return total
    >>> import numpy as np
    >>> add_up(np.array([1.0, 2.0]))
    3.0
    """
    if kernel is None:
        return lambda kernel: jit(kernel, **options)
    dispatcher = njit(nogil=True, **options)(kernel)
    with suppress(RuntimeError):  # there is no place for a cache, and the kernel works without
        dispatcher._cache = _EngineCache(kernel)
    return dispatcher


@cache
def engine_stamp() -> str:
    """A hash of all files of the engine, their names and their contents."""
    stamp = hashlib.sha256()
    files = (file for file in resources.files("novikoff.engine").iterdir() if file.name.endswith(".py"))
    for file in sorted(files, key=lambda file: file.name):
        content = file.read_bytes()
        stamp.update(f"{file.name} {len(content)} ".encode() + content)
    return stamp.hexdigest()


class _Stamped(CompileResultCacheImpl):
    """Where a kernel is kept, under a stamp that changes with any file of the engine."""

    def __init__(self, kernel: Callable[..., Any]) -> None:
        super().__init__(kernel)
        of_this_file = self._locator.get_source_stamp
        self._locator.get_source_stamp = lambda: (of_this_file(), engine_stamp())


class _EngineCache(FunctionCache):
    _impl_class = _Stamped
