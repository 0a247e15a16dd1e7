"""The commands on shards do what they do on one machine, and say what they do not do."""

import json

import pytest

from novikoff.cli.cluster import engine_of
from novikoff.cluster import Ray
from tests.cli.calling import call
from tests.cluster.conftest import needed_ray
from tests.cluster.files import write_all


@pytest.fixture
def folder(tmp_path):
    write_all(tmp_path, "csv", n=60)
    return tmp_path


def done(folder, *words, code=0):
    result = call(*words, folder=folder)
    assert result.code == code, result.err
    return result


def fitted(folder, *more):
    return done(folder, "fit", "part-*.csv", "--label", "y", "--cluster", "local", "--model", "model", *more)


def test_a_round_has_a_line_and_the_answer_says_what_was_mixed(folder):
    result = fitted(folder, "--max-iter", "3", "--lead", "0", "--json")
    lines = result.err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["round 1", "round 2", "round 3"]
    assert all("mistakes; K = " in line and "rows/s" in line for line in lines)
    run = json.loads(result.out)["run"]
    assert run["shards"] == 3
    assert run["mixed_mistakes"] == pytest.approx(run["mistakes"] / 3)
    assert not (folder / "model.checkpoint").exists()


@pytest.mark.parametrize("more", [(), ("--lead", "auto")])
def test_without_mixing_the_model_is_that_of_one_machine(folder, more):
    fitted(folder, "--mixing", "none", "--quiet", "--max-iter", "4", *more)
    alone = ("--no-shuffle", "--max-iter", "4", "--model", "alone", "--quiet", *more)
    done(folder, "fit", "part-*.csv", "--label", "y", *alone)
    ours, theirs = (json.loads(done(folder, "inspect", name, "--json").out) for name in ("model", "alone"))
    assert ours["weights"] == theirs["weights"]
    assert ours["run"] == theirs["run"]


def test_certificates_are_written_and_checked_alike(folder):
    words = ["certify", "part-*.csv", "--label", "y", "--json"]
    ours = call(*words, "--out", "proof", "--cluster", "local", folder=folder)
    theirs = call(*words, folder=folder)
    assert ours.code == theirs.code
    assert json.loads(ours.out)["certificate"] == json.loads(theirs.out)["certificate"]
    done(folder, "check", "proof", "part-*.csv")


def test_tables_without_names_and_with_commas_are_read_as_on_one_machine(tmp_path):
    lines = [f"{i % 7},5;{i % 3};{'up' if i % 7 > 3 else 'down'}\n" for i in range(60)]
    for number in range(3):
        (tmp_path / f"bare-{number}.csv").write_text("".join(lines[20 * number : 20 * (number + 1)]))
    data = ["bare-*.csv", "--label", "-1", "--no-header", "--names", "size,kind,way"]
    shards = ["--cluster", "local", "--mixing", "none", "--max-iter", "3", "--quiet", "--model", "model"]
    done(tmp_path, "fit", *data, *shards)
    done(tmp_path, "fit", *data, "--no-shuffle", "--max-iter", "3", "--quiet", "--model", "alone")
    ours, theirs = (json.loads(done(tmp_path, "inspect", name, "--json").out) for name in ("model", "alone"))
    assert ours["weights"] == theirs["weights"]
    words = ["certify", *data, "--json"]
    proofs = [call(*words, *more, folder=tmp_path) for more in ([], ["--cluster", "local"])]
    assert json.loads(proofs[0].out)["certificate"] == json.loads(proofs[1].out)["certificate"]


def test_a_run_that_was_ended_goes_on(folder, monkeypatch):
    from novikoff.cli import cluster

    whole = json.loads(fitted(folder, "--max-iter", "3", "--json").out)
    show = cluster.line_of

    def killed(rounds):
        if rounds.epochs.begun == 2:
            raise MemoryError
        return show(rounds)

    monkeypatch.setattr(cluster, "line_of", killed)
    words = ["fit", "part-*.csv", "--label", "y", "--cluster", "local", "--model", "model", "--force"]
    words += ["--max-iter", "3"]
    assert call(*words, folder=folder).code == 1
    monkeypatch.setattr(cluster, "line_of", show)
    assert "a run that can be resumed" in call(*words, folder=folder).err
    again = json.loads(done(folder, *words, "--resume", "--json").out)
    assert again["run"] == whole["run"]
    assert again["weights"] == whole["weights"]


@pytest.mark.parametrize("place", ["here", "auto", "head:6379", "10.0.0.1:6379", "[::1]:6379", "ray://head:10001"])
def test_every_place_of_ray_is_taken_as_ray_takes_it(place):
    engine = engine_of(place)
    assert isinstance(engine, Ray)
    assert engine.address == place


def test_shards_on_a_ray_that_is_started_here_are_certified_alike(folder):
    ray = needed_ray()
    words = ["certify", "part-*.csv", "--label", "y", "--json", "--cluster"]
    answers = [call(*words, place, folder=folder) for place in ("here", "local")]
    assert answers[0] == answers[1]
    assert not ray.is_initialized()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--mixing", "none"], "--mixing applies to shards only; add --cluster"),
        (["--resume"], "--resume applies to shards only"),
        (
            ["--cluster", "there"],
            "--cluster there: 'there' is not an address of a Ray cluster; use one of here, auto, HOST:PORT, "
            "ray://HOST:PORT, or local for this process",
        ),
        (["--cluster", "local", "--folds", "3"], "--folds cannot be combined with --cluster"),
        (["--cluster", "local", "--tol", "0.1"], "--tol cannot be combined with --cluster; omit one of them"),
        (["--cluster", "local", "--readout", "vote"], "a vote needs every mistake"),
        (["--cluster", "local", "--report", "page.html"], "--report cannot be combined with --cluster"),
        (["--cluster", "local", "--resume"], "there is no checkpoint model.checkpoint to resume from"),
    ],
)
def test_options_that_do_not_go_together_are_named(folder, words, error):
    result = call("fit", "part-*.csv", "--label", "y", "--model", "model", *words, folder=folder)
    assert result.code == 1
    assert error in result.err
    assert not (folder / "model").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--formula", "y ~ x0"], "--formula cannot be combined with --cluster"),
        (["--label", "y", "--diverging"], "--diverging cannot be combined with --cluster"),
    ],
)
def test_estimates_are_asked_for_on_one_machine(folder, words, error):
    result = call("certify", "part-*.csv", *words, "--cluster", "local", folder=folder)
    assert result.code == 1
    assert error in result.err
