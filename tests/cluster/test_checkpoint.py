"""A driver that was killed goes on where it was, to the same bits."""

import signal
import subprocess
import sys

import pytest

from novikoff.cluster import fit
from tests.cluster.files import rows, write, write_all


class Killed(BaseException):
    """What no program handles."""


def killed_after(number):
    """Watch a run until it has had so many rounds."""
    seen = []

    def watch(rounds):
        seen.append(rounds)
        if len(seen) == number:
            raise Killed

    return watch


@pytest.mark.parametrize("mixing", ["uniform", "adaptive"])
@pytest.mark.parametrize("number", [1, 3, 4])
@pytest.mark.parametrize("readout", ["average", "last"])
def test_a_run_that_was_killed_goes_on_to_the_same_bits(tmp_path, mixing, number, readout):
    pattern, kept = write_all(tmp_path, "csv", integers=True, words=False), tmp_path / "kept"
    options = {"label": "y", "mixing": mixing, "max_iter": 4, "readout": readout}
    whole = fit(pattern, **options)
    with pytest.raises(Killed):
        fit(pattern, **options, checkpoint=kept, watch=killed_after(number))
    assert kept.exists()
    ours = fit(pattern, **options, checkpoint=kept, resume=True)
    assert ours.coef_.tobytes() == whole.coef_.tobytes()
    assert ours.run_ == whole.run_
    assert not kept.exists()


def test_a_process_that_is_killed_leaves_a_checkpoint_that_can_be_used(tmp_path):
    pattern, kept = write_all(tmp_path, "csv"), tmp_path / "kept"
    code = (
        "import os, signal\n"
        "from novikoff.cluster import fit\n"
        "rounds = []\n"
        "def watch(_):\n"
        "    rounds.append(1)\n"
        "    if len(rounds) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"fit({pattern!r}, label='y', max_iter=4, checkpoint={str(kept)!r}, watch=watch)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    ours, whole = fit(pattern, label="y", max_iter=4, checkpoint=kept, resume=True), fit(pattern, label="y", max_iter=4)
    assert ours.coef_.tobytes() == whole.coef_.tobytes()
    assert ours.run_ == whole.run_


def test_a_checkpoint_is_for_the_same_question_about_the_same_data(tmp_path):
    pattern, kept = write_all(tmp_path, "csv", n=9), tmp_path / "kept"
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        fit(pattern, label="y", checkpoint=kept, resume=True)
    with pytest.raises(ValueError, match="a run resumes from a checkpoint"):
        fit(pattern, label="y", resume=True)
    with pytest.raises(Killed):
        fit(pattern, label="y", checkpoint=kept, watch=killed_after(1))
    with pytest.raises(FileExistsError, match="a run that can be resumed"):
        fit(pattern, label="y", checkpoint=kept)
    with pytest.raises(ValueError, match="with mixing='uniform', not mixing='adaptive'"):
        fit(pattern, label="y", mixing="adaptive", checkpoint=kept, resume=True)
    write(tmp_path / "part-1.csv", rows(10, 17))
    with pytest.raises(ValueError, match=r"part-\d\.csv has changed since the checkpoint was written"):
        fit(pattern, label="y", checkpoint=kept, resume=True)
    write(tmp_path / "part-9.csv", rows(10, 18))
    with pytest.raises(ValueError, match=r"changed|shards"):
        fit(pattern, label="y", checkpoint=kept, resume=True)
    with pytest.raises(ValueError, match="which has no checkpoint"):
        fit(pattern, label="y", mixing="none", checkpoint=kept, resume=True)
    kept.write_bytes(b"something else, which is long enough")
    with pytest.raises(ValueError, match="is not a model file"):
        fit(pattern, label="y", checkpoint=kept, resume=True)
