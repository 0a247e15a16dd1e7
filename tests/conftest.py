"""One Hypothesis profile for all tests, kernels that are compiled once, and a clock that they can set."""

import ast
import contextlib
import functools
import hashlib
import os
import signal
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from novikoff.engine.jit import patience
from tests.clock import Clock
from tests.draws import draws

# CI draws the same examples every time, so that it fails for a change and not by chance; everybody else draws new ones,
# and keeps those that fail with @example. Kernels compile on first use, and machines are busy: there is no deadline.
settings.register_profile(
    "novikoff",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=draws(30),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("novikoff")

# The files that take longest, longest first: at the end of a run one process would wait for them. The first compiles
# most kernels.
LONGEST = (
    "tests/laws/test_laws.py",
    "tests/cluster/test_on_ray.py",
    "tests/benchmarks/test_smoke.py",
    "tests/gates/test_wheel.py",
    "tests/gates/test_tools.py",
    "tests/lab/test_page.py",
    "tests/gates/test_docs.py",
    "tests/serve/test_page.py",
    "tests/estimators/test_kernel_perceptron.py",
    "tests/engine/test_jit.py",
    "tests/cli/test_report.py",
    "tests/laws/test_ways_in.py",
    "tests/serve/test_whatever_happens.py",
    "tests/prove/existence/test_existence.py",
    "tests/keep/test_every_field.py",
)


def pytest_xdist_auto_num_workers(config):
    """One process more than there are cores: tests of clusters, browsers and servers mostly wait for these."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


def pytest_collection_modifyitems(items):
    place = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(LONGEST)))


# Every process that a test starts imports what the tests import, and so finds the kernels that they compiled: where the
# package is installed as well, that copy would have a cache of its own.
ROOT = Path(__file__).resolve().parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(
    dict.fromkeys([str(ROOT / "src"), str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
)


# CPython counts the depth of a syntax tree once for all threads (seen in 3.11), and fails where two threads parse at
# once: pytest a traceback, say, and the thread of a server a module that it imports.
parsing, parse = threading.RLock(), ast.parse


@functools.wraps(parse)
def one_after_the_other(*arguments, **options):
    with parsing:
        return parse(*arguments, **options)


ast.parse = one_after_the_other

# A shell that starts its job in the background has it ignore Ctrl-C, and some tests press that.
signal.signal(signal.SIGINT, signal.default_int_handler)


LOCKS = Path(tempfile.gettempdir())


@contextlib.contextmanager
def alone_with(kernel):
    """While a kernel is being compiled, other processes that need it wait, and then load it from the cache."""
    try:
        import fcntl
    except ImportError:  # not a Unix
        yield
        return
    name = hashlib.sha256(f"{kernel.__code__.co_filename} {kernel.__qualname__}".encode()).hexdigest()[:16]
    with open(LOCKS / f"novikoff-tests-{os.getuid()}-{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(autouse=True, scope="session")
def compiled_kernels():
    """Small work would be interpreted, and most tests are small; that both ways do the same is a law of its own."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_it = Dispatcher.compile

    @functools.wraps(compile_it)
    def once(dispatcher, signature):
        # What is compiled within another kernel has Numba's lock already, for which a thread with ours might wait.
        inside = global_compiler_lock.is_locked()
        with contextlib.nullcontext() if inside else alone_with(dispatcher.py_func):
            return compile_it(dispatcher, signature)

    with pytest.MonkeyPatch.context() as patch, patience(0):
        patch.setattr(Dispatcher, "compile", once)
        yield


@pytest.fixture
def clock():
    """The clock of everything that has a time limit; a test may set its tick."""
    with Clock().in_place() as clock:
        yield clock


@pytest.fixture
def without_pictures(monkeypatch):
    """Drawing takes most of the time of a report, and not every test looks at what is drawn."""
    monkeypatch.setattr("novikoff.show.style.can_draw", lambda: False)
