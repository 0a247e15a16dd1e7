"""The lab gives up a question after some seconds; on a busy machine its answers are the same, only later."""

from unittest import mock

import pytest


@pytest.fixture(autouse=True, scope="package")
def all_the_time_it_needs():
    with mock.patch("novikoff.lab.evidence.TIME_LIMIT", 3600.0):
        yield
