"""All cores, for work that needs no order: how many threads to use, and how to share rows among them.

Kernels let other threads run, so plain threads of Python are enough. They need no compiler of their own, survive a fork
and are shared by everybody in the process. What is computed never depends on their number: every row is worked on by
itself, and only what is exact in any order (a maximum, a count) is put together from the parts.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

# To wake a thread takes as long as to look at so many numbers; below, it does not pay.
WORTH_A_THREAD = 1 << 18

# Ranges of rows for each thread: who is done sooner takes one more.
RANGES_A_THREAD = 4

# Variables of the environment that limit threads. Joblib sets them for its workers, Ray for its actors.
LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")

_asked: ContextVar[int | None] = ContextVar("n_jobs", default=None)
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


# -- how many ---------------------------------------------------------------------------------------------------------


def thread_count(n_jobs: int | None = None) -> int:
    """How many threads to use: as many as asked for; with None, as `on_cores` says, or all cores there are to use.

    Those are the cores that this process may run on, or fewer inside a worker of joblib, and under limits of
    threadpoolctl and of the environment. Negative numbers count from there: -1 is all, -2 all but one.

    >>> thread_count(3), thread_count(-1) == thread_count(None)
    (3, True)
    """
    n_jobs = _asked.get() if n_jobs is None else n_jobs
    if n_jobs is None:
        return _usable()
    check_jobs(n_jobs)
    return int(n_jobs) if n_jobs > 0 else max(1, _usable() + 1 + int(n_jobs))


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of threads."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or int(n_jobs) != n_jobs or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be a whole number of threads, -1 for all cores, -2 for all but one, "
            "or None for as many as may be used"
        )


@contextmanager
def on_cores(n_jobs: int | None) -> Iterator[None]:
    """Whatever is computed meanwhile uses so many threads; None changes nothing.

    >>> with on_cores(2):
    ...     thread_count()
    2
    """
    check_jobs(n_jobs)
    before = _asked.set(_asked.get() if n_jobs is None else n_jobs)
    try:
        yield
    finally:
        _asked.reset(before)


def _usable() -> int:
    """How many threads may run at once if nobody asks for a number."""
    limits = [value for name in LIMITS if (value := _number(os.environ.get(name, ""))) is not None]
    if _is_in_joblib():
        # Joblib tells its processes by the environment how many threads are theirs; its threads share one process.
        is_alone = threading.current_thread() is threading.main_thread()
        limits = limits if limits and is_alone else [1]
    return max(1, min([_cores(), *limits, *_limits_of_libraries()]))


def _number(text: str) -> int | None:
    first = text.split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def _cores() -> int:
    """The cores that this process may run on, and that its control group has the time of."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, _quota())


@cache
def _quota() -> int:
    """How many cores' time a container has; as many as anybody may want without a limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError):
        return sys.maxsize


def _is_in_joblib() -> bool:
    """Whether this is a task that joblib runs beside others."""
    joblib = sys.modules.get("joblib.parallel")
    return joblib is not None and (getattr(joblib.get_active_backend()[0], "nesting_level", 0) or 0) > 0


def _limits_of_libraries() -> list[int]:
    """How many threads the libraries of this process may use, as set by threadpoolctl or otherwise."""
    libraries = _controller().info()
    return [one["num_threads"] for one in libraries if one.get("threading_layer") != "disabled" and one["num_threads"]]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


# -- rows among threads -----------------------------------------------------------------------------------------------


def over_rows(work: Callable[[int, int], T], n_rows: int, numbers: float) -> list[T]:
    """Call `work(start, stop)` on ranges that cover all rows, on as many threads as pay where so many `numbers` are
    looked at in all. What it returns comes in the order of the rows; one range, if one thread is enough.

    >>> over_rows(lambda start, stop: sum(range(start, stop)), 10, numbers=10)
    [45]
    """
    threads = threads_for(numbers)
    if threads == 1 or n_rows < 2:
        return [work(0, n_rows)]
    n_ranges = min(n_rows, RANGES_A_THREAD * threads)
    ends = [n_rows * number // n_ranges for number in range(n_ranges + 1)]
    return in_turn([lambda i=i: work(ends[i], ends[i + 1]) for i in range(n_ranges)], threads)  # type: ignore[misc]


def threads_for(numbers: float) -> int:
    """How many threads pay to look at so many numbers."""
    worth = int(min(numbers // WORTH_A_THREAD, sys.maxsize))
    return 1 if worth < 2 else min(thread_count(), worth)


def in_turn(tasks: list[Callable[[], T]], threads: int) -> list[T]:
    """Do all tasks on so many threads, this one among them; each takes the next that is left.

    Results are in order; of several errors, the first in that order is raised.
    """
    results: list[Any] = [None] * len(tasks)
    failed: dict[int, Exception] = {}
    left = deque(range(len(tasks)))

    def help_out() -> None:
        while not failed:
            try:
                number = left.popleft()
            except IndexError:
                return
            try:
                results[number] = tasks[number]()
            except Exception as error:
                failed[number] = error

    helpers = [_submit(help_out) for _ in range(min(threads, len(tasks)) - 1)]
    try:
        help_out()
    finally:
        left.clear()
        for helper in helpers:
            if not helper.cancel():
                helper.result()
    if failed:  # tasks are begun in order, so none before the first that failed is missing
        raise failed[min(failed)]
    return results


def _submit(task: Callable[[], None]) -> "Future[None]":
    """Let a thread of the pool do this, under the settings of this one (such as NumPy's for errors)."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=max(64, os.cpu_count() or 1), thread_name_prefix="novikoff")
        return _pool.submit(copy_context().run, task)


def _forget_pool() -> None:
    """A child process has the pool's object, but none of its threads."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
