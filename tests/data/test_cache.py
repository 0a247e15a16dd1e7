"""The cache: what goes in comes out, whatever the batches; what is not complete is removed."""

import errno
import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff.data.batches import stacked, with_columns
from novikoff.data.cache import CacheWriter
from novikoff.engine.rows import as_rows


def examples(seed, n=40, d=5, kind=np.float64):
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (n, d)) / generator.choice([1, 2, 10])
    X[generator.random((n, d)) < 0.5] = 0.0
    return X.astype(kind), generator.integers(0, 3, n)


def with_long_indices(X):
    csr = sparse.csr_array(X)
    return sparse.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), csr.shape)


FORMS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "float32": lambda X: X.astype(np.float32),
    "long": with_long_indices,
}


def write(path, X, codes, cuts=(), **sizes):
    with CacheWriter(path, **sizes) as writer:
        for start, stop in zip([0, *cuts], [*cuts, len(codes)], strict=True):
            writer.append(as_rows(X[start:stop]), codes[start:stop])
    return writer.cache


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 999), cuts=st.lists(st.integers(0, 40), max_size=6).map(sorted), rows=st.integers(1, 50))
def test_what_went_in_comes_out_whatever_the_batches(form, seed, cuts, rows, tmp_path_factory):
    X, codes = examples(seed)
    path = tmp_path_factory.mktemp("cache") / "cache"
    cache = write(path, FORMS[form](X), codes, cuts, block_rows=rows)
    assert (cache.n_rows, cache.n_columns, len(cache)) == (40, 5, -(-40 // rows))
    blocks = list(cache)
    assert (np.vstack([part.as_array() for part, _ in blocks]) == FORMS[form](X)).all()
    assert np.concatenate([part for _, part in blocks]).tolist() == codes.tolist()
    assert cache.starts.tolist() == [*range(0, 40, rows), 40]
    whole = path.read_bytes()
    write(path, FORMS[form](X), codes, block_rows=rows)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("form", FORMS)
def test_a_block_has_no_more_bytes_than_it_may_unless_one_row_has(form, tmp_path):
    X, codes = examples(0, n=100, d=30)
    X[7] = 1.0
    cache = write(tmp_path / "cache", FORMS[form](X), codes, block_bytes=300)
    sizes = [block.arrays[0][2] * (12 if block.is_sparse else 8) for block in cache.blocks]
    assert all(size <= 300 or block.n_rows == 1 for size, block in zip(sizes, cache.blocks, strict=True))
    assert (np.vstack([part.as_array() for part, _ in cache]) == FORMS[form](X)).all()


def test_values_that_float32_holds_take_half_the_room_and_others_stay(tmp_path):
    X, codes = np.array([[0.5, -3.0], [1e300, 0.1]]), np.array([0, 300])
    cache = write(tmp_path / "cache", X, codes, block_rows=1)
    kinds = [[kind for _, kind, _ in block.arrays] for block in cache.blocks]
    assert kinds == [["<f4", "|u1"], ["<f8", "<u2"]]
    assert np.vstack([part.matrix for part, _ in cache]).tolist() == X.tolist()


def test_blocks_come_through_the_one_door(tmp_path):
    """Read-only, aligned, unsigned: the types for which the kernels are compiled already."""
    X, codes = examples(1)
    rows, _ = write(tmp_path / "dense", X, codes)[0]
    assert (rows.matrix.flags.writeable, rows.matrix.flags.aligned, rows.matrix.flags.c_contiguous) == (0, 1, 1)
    rows, _ = write(tmp_path / "sparse", sparse.csr_array(X), codes)[0]
    assert [(part.dtype.kind, part.itemsize) for part in rows.matrix] == [
        ("f", rows.entries.itemsize),
        ("u", 4),
        ("u", 4),
    ]
    assert not any(part.flags.writeable for part in rows.matrix)


def test_a_batch_may_be_overwritten_once_it_was_appended(tmp_path):
    buffer, codes = np.empty((3, 2)), np.zeros(3, dtype=int)
    with CacheWriter(tmp_path / "cache") as writer:
        for value in range(4):
            buffer[:] = value
            writer.append(as_rows(buffer), codes)
    rows, _ = writer.cache[0]
    assert rows.matrix[:, 0].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_sparse_batches_may_grow_wider_and_dense_ones_may_not(tmp_path):
    narrow, wide = sparse.csr_array([[1.0, 0.0]]), sparse.csr_array([[0.0, 0.0, 2.0]])
    with CacheWriter(tmp_path / "cache", block_rows=1) as writer:
        for X in (narrow, wide):
            writer.append(as_rows(X), np.array([0]))
    cache = writer.cache
    assert [rows.as_array().tolist() for rows, _ in cache] == [[[1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]]]
    for before, after, words in ((np.ones((1, 2)), wide, "3 columns .* 2"), (wide, np.ones((1, 2)), "2 columns .* 3")):
        with CacheWriter(cache.path) as writer:
            writer.append(as_rows(before), np.array([0]))
            with pytest.raises(ValueError, match=f"rows of {words} columns"):
                writer.append(as_rows(after), np.array([0]))
    assert os.listdir(tmp_path) == ["cache"]


def test_dense_and_sparse_blocks_may_alternate(tmp_path):
    X, codes = examples(2)
    with CacheWriter(tmp_path / "cache") as writer:
        for start in range(0, 40, 10):
            writer.append(
                as_rows(X[start : start + 10] if start % 20 else sparse.csr_array(X[start : start + 10])), codes[:10]
            )
    cache = writer.cache
    assert [rows.is_sparse for rows, _ in cache] == [True, False, True, False]
    assert (stacked([rows for rows, _ in cache]).as_array() == X).all()


def test_the_fingerprint_is_of_the_examples_not_of_their_form(tmp_path):
    X, codes = examples(3)
    one = write(tmp_path / "one", X.astype(np.float32), codes)
    two = write(tmp_path / "two", X.astype(np.float32).astype(np.float64), codes, cuts=[7, 20])
    other = write(tmp_path / "other", X, codes[::-1])
    assert one.fingerprint == two.fingerprint != other.fingerprint


# -- rows of blocks ---------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 99), columns=st.integers(1, 9))
def test_columns_beyond_the_last_are_left_out(seed, columns):
    X, _ = examples(seed)
    expected = np.zeros((40, columns))
    expected[:, : min(columns, 5)] = X[:, :columns]
    rows = with_columns(as_rows(sparse.csr_array(X)), columns)
    assert (rows.as_array() == expected).all()
    assert rows.widest >= max(np.count_nonzero(expected, axis=1))
    if columns != 5:
        with pytest.raises(ValueError, match="5 columns"):
            with_columns(as_rows(X), columns)


def test_a_file_that_shrinks_behind_our_back_is_an_error(tmp_path):
    X, codes = examples(5)
    cache = write(tmp_path / "cache", X, codes)
    os.truncate(cache.path, 100)
    with pytest.raises(ValueError, match="it was truncated"):
        cache[0]


def test_an_empty_cache_has_no_blocks(tmp_path):
    with CacheWriter(tmp_path / "cache") as writer:
        pass
    assert (len(writer.cache), writer.cache.n_rows) == (0, 0)


# -- what the disk does not allow -------------------------------------------------------------------------------------


FULL_DISK = """
import resource, signal, sys
import numpy as np
from novikoff.data.cache import CacheWriter
from novikoff.engine.rows import as_rows
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    with CacheWriter(sys.argv[1]) as writer:
        for _ in range(10):
            writer.append(as_rows(np.random.default_rng(0).random((1000, 5))), np.zeros(1000, dtype=int))
except OSError as error:
    print(error.errno, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files stands for a full disk")
@pytest.mark.parametrize("room", [0, 10, 100_000, 409_000])
def test_a_full_disk_leaves_no_file(room, tmp_path):
    """Wherever it ends: at the first byte, in a block, at its end."""
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "cache"), str(room)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{errno.EFBIG} ")
    assert "could not be written" in done.stdout
    assert "another folder" in done.stdout
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(OSError, match=f"could not be written.*{folder.name}"), CacheWriter(folder / "cache"):
            pass


def test_an_interrupted_cache_leaves_no_file(tmp_path):
    def interrupted():
        with CacheWriter(tmp_path / "cache", block_rows=1) as writer:
            writer.append(as_rows(np.eye(3)), np.arange(3))
            assert len(os.listdir(tmp_path)) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == []


def test_a_failed_cache_leaves_the_one_before_it_alone(tmp_path):
    X, codes = examples(6)
    before = write(tmp_path / "cache", X, codes)
    content = before.path.read_bytes()
    with pytest.raises(ValueError, match="40 rows need as many"), CacheWriter(tmp_path / "cache") as writer:
        writer.append(as_rows(X), codes[:1])
    assert before.path.read_bytes() == content
    assert os.listdir(tmp_path) == ["cache"]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists what is mapped")
def test_a_block_is_unmapped_when_nobody_uses_it(tmp_path):
    def mappings():
        gc.collect()
        with open("/proc/self/maps") as maps:
            return sum(str(tmp_path) in line for line in maps)

    X, codes = examples(7)
    cache = write(tmp_path / "cache", X, codes, block_rows=10)
    held = [cache[number] for number in range(len(cache))]
    assert mappings() == 4
    del held
    assert mappings() == 0
