"""Where there is no browser, a person is told so, and CI fails."""

import pytest

from tests import browser


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_browser_tests_are_skipped_for_a_person_and_fail_in_ci(monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(browser, "NAMES", ("no-such-browser",))
    with pytest.raises(outcome, match="there is no Chromium"), browser.chromium():
        pass
