"""Work that other threads do in advance, while this one uses the results so far."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, TypeVar

from novikoff.engine.threads import thread_count

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None) -> Iterator[Result]:
    """Yield `work(item)` for all items in order, on any number of threads (`n_jobs`, as in `thread_count`).

    The items are drawn in this thread, only a few more than there are threads: so they may come from a stream, and
    memory is bounded. An error, of the work or of the items, is raised in its place, after all earlier results. The
    first item is processed here: a single item needs no threads, and what has to be compiled or inferred is ready
    before they start. All threads have ended when the iterator has, also if it is closed early.

    >>> list(ahead(lambda x: x * x, range(5), n_jobs=2))
    [0, 1, 4, 9, 16]
    """
    left = iter(items)
    for item in left:
        yield work(item)
        break
    for second in left:
        threads = thread_count(n_jobs)
        if threads == 1:
            yield work(second)
            yield from map(work, left)
        else:
            yield from _in_threads(work, second, left, threads)


def _in_threads(work: Callable[[Item], Result], first: Item, left: Iterator[Item], threads: int) -> Iterator[Result]:
    """This thread is one of them: instead of waiting for the others, it works on an item not yet started. So as many
    threads as were requested share the cores, and none waits long for another."""
    pending: deque[_AheadTask[Item, Result]] = deque()
    failed: Exception | None = None
    pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="novikoff-ahead")
    try:
        pending.append(_AheadTask(first, pool.submit(copy_context().run, work, first)))
        while pending:
            while failed is None and len(pending) <= threads:
                try:
                    item = next(left)
                except StopIteration:
                    break
                except Exception as error:  # raised after the results before it
                    failed = error
                else:
                    pending.append(_AheadTask(item, pool.submit(copy_context().run, work, item)))
            while not pending[0].result.done() and any(task.is_done_here(work) for task in pending):
                pass
            yield pending.popleft().result.result()
        if failed is not None:
            raise failed
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass
class _AheadTask(Generic[Item, Result]):
    """An item submitted to another thread, and its future result."""

    item: Item
    result: "Future[Result]"

    def is_done_here(self, work: Callable[[Item], Result]) -> bool:
        """Do the work here unless another thread has started it; return whether it was done here."""
        if not self.result.cancel():
            return False
        self.result = Future()
        try:
            self.result.set_result(work(self.item))
        except Exception as error:  # raised in its place
            self.result.set_exception(error)
        return True
