"""How many threads are used, and that work is shared among them without a difference."""

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from novikoff.engine import threads
from novikoff.engine.threads import in_turn, on_cores, over_rows, thread_count


@pytest.fixture
def four_cores(monkeypatch):
    for name in threads.LIMITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    monkeypatch.setattr(threads, "_limits_of_libraries", list)


@pytest.mark.usefixtures("four_cores")
@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 4), (1, 1), (7, 7), (-1, 4), (-2, 3), (-4, 1), (-9, 1)])
def test_numbers_of_threads_mean_what_they_mean_to_joblib(n_jobs, expected):
    assert thread_count(n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, False])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        thread_count(n_jobs)


@pytest.mark.usefixtures("four_cores")
@pytest.mark.parametrize(("text", "expected"), [("2", 2), ("3,1", 3), ("9", 4), ("", 4), ("0", 4), ("many", 4)])
@pytest.mark.parametrize("name", threads.LIMITS)
def test_limits_of_the_environment_are_respected(monkeypatch, name, text, expected):
    monkeypatch.setenv(name, text)
    assert thread_count(None) == expected
    assert thread_count(5) == 5


@pytest.mark.usefixtures("four_cores")
def test_whoever_is_inside_uses_the_threads_that_were_asked_for_outside():
    with on_cores(3):
        assert thread_count() == 3
        with on_cores(None):
            assert thread_count() == 3
        with on_cores(-1):
            assert thread_count() == 4
    assert thread_count() == 4


def test_limits_of_threadpoolctl_are_respected(monkeypatch):
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    with threadpool_limits(1):
        assert thread_count() == 1


@pytest.mark.usefixtures("four_cores")
def test_a_thread_of_joblib_has_no_other_threads():
    assert Parallel(n_jobs=2, backend="threading")(delayed(thread_count)() for _ in range(3)) == [1, 1, 1]


@given(n_rows=st.integers(0, 100), n_jobs=st.integers(1, 5), pays=st.booleans())
def test_every_row_is_worked_on_once_and_results_are_in_order(n_rows, n_jobs, pays):
    with on_cores(n_jobs):
        parts = over_rows(lambda start, stop: list(range(start, stop)), n_rows, 1e9 if pays else 1.0)
    assert [row for part in parts for row in part] == list(range(n_rows))
    if n_jobs == 1 or not pays:
        assert len(parts) == 1


def test_several_threads_take_part():
    both = threading.Barrier(2, timeout=60)
    who = in_turn([lambda: (both.wait(), threading.get_ident())[1]] * 2, 2)
    assert len(set(who)) == 2


@pytest.mark.parametrize("bad", range(3))
def test_an_error_in_any_part_is_raised_and_the_pool_goes_on(bad):
    def task(number):
        time.sleep(0)
        if number == bad:
            raise ArithmeticError(number)
        return number

    with pytest.raises(ArithmeticError):
        in_turn([lambda number=number: task(number) for number in range(3)], 3)
    assert in_turn([lambda: 1, lambda: 2], 2) == [1, 2]


def test_threads_have_the_settings_of_whoever_asks():
    with np.errstate(divide="raise"):
        settings = in_turn([lambda: np.geterr()["divide"]] * 4, 3)
    assert settings == ["raise"] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    in_turn([int] * 4, 2)
    child = os.fork()
    if child == 0:
        both = threading.Barrier(2, timeout=60)
        os._exit(0 if in_turn([both.wait] * 2, 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
