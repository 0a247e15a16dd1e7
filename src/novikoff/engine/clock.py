"""The clock that limits of time go by: it stands still while kernels are prepared, which happens once on a machine.

Who wants to know when that happens is among the `watchers`.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

# Called with the name of a kernel when the compiler begins to work on it; a kernel on disk needs no compiler.
watchers: list[Callable[[str], None]] = []

_stood = 0.0
_inside = threading.local()


def now() -> float:
    """Seconds since some moment, without those that it took to prepare kernels."""
    return time.monotonic() - _stood


@contextlib.contextmanager
def standing_still() -> Iterator[None]:
    """The clock stops here, and goes on afterwards."""
    global _stood
    if getattr(_inside, "already", False):
        yield
        return
    _inside.already, began = True, time.monotonic()
    try:
        yield
    finally:
        _stood += time.monotonic() - began
        _inside.already = False
