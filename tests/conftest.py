"""One Hypothesis profile for all tests, kernels that are compiled, and a clock that they can set."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from novikoff.engine.jit import patience
from tests.clock import Clock

# CI draws the same examples every time, so that it fails for a change and not by chance; everybody else draws new ones,
# and keeps those that fail with @example. Kernels compile on first use, and machines are busy: there is no deadline.
settings.register_profile(
    "novikoff",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=60,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("novikoff")

# A shell that starts its job in the background has it ignore Ctrl-C, and some tests press that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def compiled_kernels():
    """Small work would be interpreted, and most tests are small; that both ways do the same is a law of its own."""
    with patience(0):
        yield


@pytest.fixture
def clock():
    """The clock of everything that has a time limit; a test may set its tick."""
    with Clock().in_place() as clock:
        yield clock
