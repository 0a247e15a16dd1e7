"""How much may be kept in memory that could be read again: what is kept saves time, and nothing depends on it."""

import contextlib
import os
from pathlib import Path

# No more than this, and no more than this share of what can still be had.
MOST_KEPT = 1 << 28
SHARE = 8


def room() -> int:
    """How many bytes may be kept now; none where nobody can tell how much memory is left."""
    left = [amount for amount in (_left_of_machine(), _left_of_group(), _left_of_addresses()) if amount is not None]
    return max(0, min(MOST_KEPT, *(amount // SHARE for amount in left))) if left else 0


def _left_of_machine() -> int | None:
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))) << 10
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _left_of_group() -> int | None:
    """What the control group of a container may have beyond what it has."""
    with contextlib.suppress(OSError, ValueError):
        most, used = (int(Path("/sys/fs/cgroup", f"memory.{name}").read_text()) for name in ("max", "current"))
        return most - used
    return None


def _left_of_addresses() -> int | None:
    """What the process may have beyond what it has, where its addresses are limited."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            return most - used
    return None
