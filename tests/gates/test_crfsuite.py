"""sklearn-crfsuite's own tests, with its import replaced by ours; from its source distribution, and never copied."""

import os
import subprocess
import sys
import tarfile
from importlib.metadata import version

import pytest

# Every change to its tests, and what for: our import, the only algorithm that is here, what it asks of that one, and
# fewer processes, each of which imports everything.
CHANGES = {
    "from sklearn_crfsuite import CRF": "from novikoff.crfsuite import CRF",
    'ALGORITHMS = ["lbfgs", "l2sgd", "pa", "ap", "arow"]': 'ALGORITHMS = ["ap"]',
    "score([xseq], [yseq]) == 1.0": "score([xseq], [yseq]) > 0.8",
    "n_jobs=5": "n_jobs=2",
}
# A perceptron has no probabilities.
WITHOUT = "not marginals"


def test_the_tests_of_sklearn_crfsuite_pass(tmp_path):
    pytest.importorskip("sklearn_crfsuite")
    package = f"sklearn-crfsuite=={version('sklearn-crfsuite')}"
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package]
    if subprocess.run([*fetch, "--dest", tmp_path], capture_output=True, check=False).returncode:
        pytest.skip(f"the source of {package} cannot be downloaded")
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(tmp_path, filter="data")
    (tests,) = tmp_path.glob("*/tests")
    text = (tests / "test_crf.py").read_text(encoding="utf-8")
    for theirs, ours in CHANGES.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    (tests / "test_crf.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", WITHOUT, "test_crf.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=tests, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
