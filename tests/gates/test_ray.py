"""Tests that need Ray do not vanish where nobody looks."""

import sys

import pytest

from novikoff.cluster import Ray
from tests.cluster.conftest import needed_ray


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_ray_tests_are_skipped_for_a_person_and_fail_in_ci(monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(outcome, match="Ray is not installed"):
        needed_ray()


def test_without_ray_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'pip install "novikoff\[cluster\]"'):
        Ray().start(None, [])
