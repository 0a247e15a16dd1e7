"""Parallel work on rows in any order: how many threads to use, and how to divide rows among them.

Kernels release the GIL, so plain Python threads are enough. They need no compiler of their own, survive a fork and are
shared by the whole process. Results never depend on their number: every row is processed separately, and only what is
exact in any order (a maximum, a count) is combined from the parts.
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

# Waking a thread takes as long as processing this many numbers; for fewer, it does not pay.
WORTH_A_THREAD = 1 << 18

# Ranges of rows per thread, so that a faster one can take more.
RANGES_A_THREAD = 4

# Environment variables that limit threads. Joblib sets them for its workers, Ray for its actors.
LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")

_asked: ContextVar[int | None] = ContextVar("n_jobs", default=None)
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


# -- how many ---------------------------------------------------------------------------------------------------------


def thread_count(n_jobs: int | None = None) -> int:
    """Return how many threads to use: `n_jobs`; if None, the number set by `on_cores`, or all usable cores.

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
    """Raise an error unless `n_jobs` is a valid number of threads."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or int(n_jobs) != n_jobs or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be a whole number of threads, -1 for all cores, -2 for all but one, "
            "or None for as many as may be used"
        )


@contextmanager
def on_cores(n_jobs: int | None) -> Iterator[None]:
    """Use this many threads in a block; None changes nothing.

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
    """Return how many threads may run at once by default."""
    limits = [value for name in LIMITS if (value := _number(os.environ.get(name, ""))) is not None]
    if _is_in_joblib():
        # Joblib limits the threads of its processes by the environment; its threads share one process.
        is_alone = threading.current_thread() is threading.main_thread()
        limits = limits if limits and is_alone else [1]
    return max(1, min([_cores(), *limits, *_limits_of_libraries()]))


def _number(text: str) -> int | None:
    first = text.split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def _cores() -> int:
    """Return the number of cores that this process may run on, within the CPU quota of its control group."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, _quota())


@cache
def _quota() -> int:
    """Return the CPU quota of a container in cores; a huge number if there is no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError):
        return sys.maxsize


def _is_in_joblib() -> bool:
    """Whether this is a task that joblib runs in parallel with others."""
    joblib = sys.modules.get("joblib.parallel")
    return joblib is not None and (getattr(joblib.get_active_backend()[0], "nesting_level", 0) or 0) > 0


def _limits_of_libraries() -> list[int]:
    """Return how many threads each library of this process may use, as set by threadpoolctl or otherwise."""
    libraries = _controller().info()
    return [one["num_threads"] for one in libraries if one.get("threading_layer") != "disabled" and one["num_threads"]]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


# -- rows among threads -----------------------------------------------------------------------------------------------


def over_rows(work: Callable[[int, int], T], n_rows: int, numbers: float) -> list[T]:
    """Call `work(start, stop)` on ranges that cover all rows, on as many threads as pay for processing this many
    `numbers` in all. Results are in the order of the rows; there is one range if one thread is enough.

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
    """Return how many threads pay for processing this many numbers."""
    worth = int(min(numbers // WORTH_A_THREAD, sys.maxsize))
    return 1 if worth < 2 else min(thread_count(), worth)


def in_turn(tasks: list[Callable[[], T]], threads: int) -> list[T]:
    """Run all tasks on this many threads, this one included; each takes the next task.

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
    if failed:  # tasks start in order, so none before the first that failed is missing
        raise failed[min(failed)]
    return results


def _submit(task: Callable[[], None]) -> "Future[None]":
    """Run a task on a thread of the pool, in the context of this one (such as NumPy's error settings)."""
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
