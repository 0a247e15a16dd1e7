"""Certificates from shards say what those of one machine say, and the same check believes them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import novikoff
from novikoff import CertificateError
from novikoff.cluster import Local, certify, check, fit
from novikoff.data import read
from novikoff.prove.separable.search import working_set
from tests.cluster.files import rows, write, write_all
from tests.draws import draws
from tests.prove.separable.certificates import forged


@pytest.fixture(params=["all rows fit", "a few rows fit"])
def memory(request, monkeypatch):
    """Whether the driver can hold all rows, or only a working set of them."""
    if request.param == "a few rows fit":
        monkeypatch.setattr(working_set, "MEMORY", 600)


def same(ours, theirs):
    """Whether two certificates have the same verdict, about the same data."""
    names = ("verdict", "arithmetic", "n_rows", "n_columns", "classes", "data_hash", "radius", "feature_names")
    for name in names:
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.margin.upper == pytest.approx(theirs.margin.upper, rel=1e-5)
    assert ours.margin.lower == pytest.approx(theirs.margin.lower, rel=1e-5)


@pytest.mark.parametrize("noise", [0.0, 3.0])
@pytest.mark.parametrize("kind", ["csv", "parquet", "svmlight"])
def test_the_certificate_of_shards_is_that_of_one_machine(tmp_path, memory, kind, noise):
    words, label = kind != "svmlight", None if kind == "svmlight" else "y"
    pattern = write_all(tmp_path, kind, noise=noise, words=words and noise > 0)
    ours = certify(pattern, label=label, shard_bytes=700)
    theirs = novikoff.certify(read(pattern, label=label))
    same(ours, theirs)
    ours.check(read(pattern, label=label))
    check(ours, pattern, shard_bytes=500)
    check(theirs, pattern)


def test_many_classes_and_no_bias(tmp_path, memory):
    for number in range(3):
        table = rows(30, number, integers=True, words=False)
        write(tmp_path / f"{number}.csv", {**table, "y": [f"class {int(x > 0) + int(x > 4)}" for x in table["x0"]]})
    pattern = str(tmp_path / "*.csv")
    for fit_intercept in (True, False):
        ours = certify(pattern, label="y", fit_intercept=fit_intercept)
        same(ours, novikoff.certify(read(pattern, label="y"), fit_intercept=fit_intercept))
        check(ours, pattern)


@settings(max_examples=draws(40))
@given(
    arrays(float, st.tuples(st.integers(4, 20), st.just(2)), elements=st.integers(-3, 3).map(float)),
    st.data(),
    st.booleans(),
)
def test_whatever_the_points_the_verdict_is_the_same(tmp_path_factory, X, data, few):
    y = np.array(data.draw(st.lists(st.sampled_from(["yes", "no"]), min_size=len(X), max_size=len(X))))
    y[:2] = "yes", "no"
    folder = tmp_path_factory.mktemp("files")
    for number in range(2):
        part = slice(number, None, 2)
        table = {"x0": X[part, 0].tolist(), "x1": X[part, 1].tolist(), "y": y[part].tolist()}
        write(folder / f"{number}.csv", table)
    pattern = str(folder / "*.csv")
    with pytest.MonkeyPatch.context() as patched:
        if few:
            patched.setattr(working_set, "MEMORY", 200)
        try:
            theirs = novikoff.certify(read(pattern, label="y"))
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).split(":")[-1][-20:].strip()):
                certify(pattern, label="y")
            return
        ours = certify(pattern, label="y")
    same(ours, theirs)
    ours.check(read(pattern, label="y"))
    check(ours, pattern)


class Twice(Local):
    """Runs everything twice, and answers as the second time."""

    def call(self, *args, **kwargs):
        super().call(*args, **kwargs)
        return super().call(*args, **kwargs)


def test_whatever_runs_twice_gives_the_same(tmp_path, memory):
    pattern = write_all(tmp_path, "csv", noise=0.0, words=False)
    ours = certify(pattern, label="y", engine=Twice())
    assert ours.to_json() == certify(pattern, label="y").to_json()
    check(ours, pattern, engine=Twice())
    for mixing in ("uniform", "adaptive", "none"):
        model, again = (fit(pattern, label="y", mixing=mixing, engine=engine) for engine in (Local(), Twice()))
        assert model.coef_.tobytes() == again.coef_.tobytes()
        assert model.run_ == again.run_


def test_a_lie_is_refused_by_the_shards(tmp_path):
    pattern = write_all(tmp_path, "csv", noise=0.0, words=False)
    certificate = certify(pattern, label="y")
    with pytest.raises(CertificateError, match="radius is"):
        check(replace(certificate, radius=certificate.radius / 2), pattern)
    with pytest.raises(CertificateError, match="does not separate strictly"):
        check(forged(certificate, vector=tuple(-v for v in certificate.vector)), pattern)
    write(tmp_path / "part-1.csv", rows(41, 7, words=False))
    with pytest.raises(CertificateError, match="the data are not those that were certified"):
        check(certificate, pattern)


def test_numbers_that_would_be_rounded_are_refused(tmp_path):
    table = rows(9, words=False)
    for number in range(2):
        write(tmp_path / f"{number}.parquet", {**table, "x0": [2**53 + 1] * 9})
    with pytest.raises(ValueError, match="whole numbers beyond 2\\^53"):
        certify(str(tmp_path / "*.parquet"), label="y")
