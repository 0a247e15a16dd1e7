"""The clock that limits of time go by: it stands still while kernels are compiled, which happens once on a machine.

Who wants to know when that happens is among the `watchers`. Where there are none, a terminal or a notebook shows it.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

# Called with the name of a kernel when the compiler begins to work on it; a kernel on disk needs no compiler.
watchers: list[Callable[[str], None]] = []

_stood = 0.0
_announced = 0
_inside = threading.local()


def announce(kernel: str) -> None:
    """One line on stderr while the compiler works, with a count that moves."""
    global _announced
    if getattr(sys.stderr, "isatty", bool)() or "ipykernel" in sys.modules:
        _announced += 1
        sys.stderr.write(f"\rcompiling (first use only): {_announced} loops")
        sys.stderr.flush()


def wipe_announcement() -> None:
    """Take the line away, and go on counting from there."""
    if _announced and sys.stderr is not None:
        sys.stderr.write("\r" + " " * 48 + "\r")
        sys.stderr.flush()


def now() -> float:
    """Seconds since some moment, without those that it took to compile kernels."""
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
