"""How much memory a process takes for a piece of work, measured from inside it."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass

# Freed arrays go back to the system at once, and no thread has an arena or a buffer of its own, of which a machine with
# more cores would have more.
FRUGAL = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def resident():
    """The bytes of memory that this process has written to and not given back; mapped files are not among them."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


@dataclass
class Peak:
    """How far the memory in use rose above what it was at the start."""

    growth: int = 0


@contextmanager
def watched(every=0.002):
    """Look at the memory in use every few milliseconds: reserved addresses cost nothing and are not counted."""
    start, peak, done = resident(), Peak(), threading.Event()

    def look():
        while not done.wait(every):
            peak.growth = max(peak.growth, resident() - start)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()
