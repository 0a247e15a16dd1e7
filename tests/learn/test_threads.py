"""A model learned from a file is the same, bit for bit, whatever the number of threads that read it."""

import io
import threading

import numpy as np
import pytest

from novikoff.data import read, svmlight
from novikoff.features.encode import learn_encoding
from novikoff.learn.linear.files import learn_from
from tests.svmlight import write_svmlight


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(svmlight.batches, "__kwdefaults__", svmlight.batches.__kwdefaults__ | {"chunk_bytes": 2000})


@pytest.fixture(params=["svm", "csv"])
def path(request, tmp_path):
    """Rows whose numbers do not add up without rounding; the first label is alone for a while."""
    rng = np.random.default_rng(0)
    path = tmp_path / f"rows.{request.param}"
    if request.param == "svm":
        text = io.BytesIO()
        X = rng.normal(size=(300, 8)) * (rng.random((300, 8)) < 0.5)
        write_svmlight(text, np.hstack([np.zeros((300, 1)), X]), np.where(np.arange(300) < 40, 1, -1))
        path.write_bytes(text.getvalue())
    else:
        words = np.array(["quick car", "slow car", "a quick one", ""])
        rows = zip(rng.normal(size=300), rng.integers(5, size=300), words[rng.integers(4, size=300)], strict=True)
        lines = [f"{x},{k},{text},{'yes' if x + i / 300 > 0.4 else 'no'}" for i, (x, k, text) in enumerate(rows)]
        path.write_text("\n".join(["x,k,text,y", *lines]))
    return path


def learned_by(path, n_jobs, **options):
    source = read(path, label="y" if path.suffix == ".csv" else None, block_bytes=1000, n_jobs=n_jobs)
    encoding = learn_encoding(source, categorical=["k"], text=["text"]) if path.suffix == ".csv" else None
    learned = learn_from(source, encoding=encoding, **options)
    memory = learned.memory
    encoded = None if encoding is None else encoding.to_dict()
    return memory.weights.tobytes(), memory.drift.tobytes(), memory.n_columns, learned.run, encoded


@pytest.mark.parametrize("options", [{"max_iter": 1, "shuffle": False}, {"max_iter": 3, "random_state": 1}])
def test_one_two_and_three_threads_learn_the_same_model(path, options):
    one = learned_by(path, 1, **options)
    assert one[3].mistakes > 0
    assert learned_by(path, 2, **options) == one == learned_by(path, 3, **options)


def test_learning_while_reading_gives_the_model_of_the_cache(path):
    one, cached = (learned_by(path, 2, max_iter=1, shuffle=False, record_mistakes=kept) for kept in (False, True))
    assert one[:3] == cached[:3]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_or_an_interrupt_leaves_no_thread(path, error, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("novikoff.learn.linear.files.learn_once", fail)
    with pytest.raises(error):
        learned_by(path, 2, max_iter=1, shuffle=False)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("novikoff-ahead")]
