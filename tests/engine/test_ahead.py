"""Work that other threads do ahead comes in order, is bounded, and leaves no thread behind."""

import threading
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.engine.ahead import ahead


def workers():
    return [thread for thread in threading.enumerate() if thread.name.startswith(("novikoff-ahead", "novikoff-behind"))]


@given(st.lists(st.integers(), max_size=30), st.integers(1, 4))
def test_results_are_those_of_one_thread(items, n_jobs):
    assert list(ahead(lambda x: 3 * x + 1, items, n_jobs)) == [3 * x + 1 for x in items]
    assert not workers()


@given(st.integers(1, 4), st.integers(0, 12))
def test_few_items_are_taken_before_they_are_needed(n_jobs, used):
    taken = []
    results = ahead(lambda x: x, (taken.append(i) or i for i in range(100)), n_jobs)
    for _ in range(used):
        next(results)
    assert used <= len(taken) <= used + n_jobs + 1
    results.close()
    assert not workers()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("broken", [0, 1, 2, 7])
def test_an_error_of_the_work_comes_in_its_place(n_jobs, broken):
    results, seen = ahead(lambda x: 1 // (x - broken), range(10), n_jobs), []
    with pytest.raises(ZeroDivisionError):
        seen.extend(results)
    assert seen == [1 // (x - broken) for x in range(broken)]
    assert not workers()
    assert list(results) == []


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_an_error_of_the_items_comes_after_all_that_came_before(n_jobs, length):
    def items():
        yield from range(length)
        raise OSError("the stream has ended")

    seen = []
    with pytest.raises(OSError, match="ended"):
        seen.extend(ahead(lambda x: -x, items(), n_jobs))
    assert seen == [-x for x in range(length)]
    assert not workers()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_an_interrupt_leaves_no_thread(n_jobs):
    def items():
        yield from range(4)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(ahead(lambda x: x, items(), n_jobs))
    assert not workers()


def test_one_item_needs_no_thread():
    assert list(ahead(lambda _: threading.current_thread(), "a", 3)) == [threading.main_thread()]


def test_no_more_threads_work_than_were_asked_for_and_this_one_is_among_them():
    begun, others = threading.Barrier(3, timeout=60), set()

    def work(number):
        others.add(threading.current_thread())
        if number in (1, 2, 3):  # none of these three goes on before all three have begun
            begun.wait()
        return number

    assert list(ahead(work, range(20), 3)) == list(range(20))
    assert threading.main_thread() in others
    assert len(others) == 3


def test_the_work_has_the_settings_of_who_asked_for_it():
    setting = ContextVar("setting", default=0)
    setting.set(7)
    assert list(ahead(lambda _: setting.get(), range(5), 2)) == [7] * 5
