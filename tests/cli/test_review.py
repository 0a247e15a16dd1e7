"""`--review`: what the library proves, on the command line."""

import csv
import json

import numpy as np
import pytest

from novikoff.data.held_out import HeldOut
from novikoff.keep.models import load_plain
from novikoff.learn.review import Review
from tests.cli.calling import call


def run(line, folder):
    return call(*line.split(), folder=folder)


@pytest.fixture
def table(tmp_path):
    chance = np.random.default_rng(0)
    a, b = chance.normal(size=(2, 1200))
    colour = chance.choice(["red", "blue"], 1200)
    label = np.where(a + (colour == "red") + 0.4 * chance.normal(size=1200) > 0, "yes", "no")
    lines = [f"{x:.4f},{y:.4f},{z},{w}\n" for x, y, z, w in zip(a, b, colour, label, strict=True)]
    for name, part in (("all", lines), ("train", lines[:700]), ("other", lines[700:])):
        (tmp_path / f"{name}.csv").write_text("".join(["a,b,colour,label\n", *part]))
    return tmp_path


@pytest.mark.parametrize("space", ["", "--kernel rbf --max-iter 2"])
def test_held_out_rows_prove_what_the_library_proves(table, space):
    line = f"fit all.csv --label label --held-out 0.4 --review 0.1 --no-certify {space}"
    shown = run(line, table)
    assert (shown.code, shown.err) == (0, "")
    model = load_plain(table / "all.novikoff")
    rows = list(csv.DictReader((table / "all.csv").open()))
    guessed = predicted(table, "all.novikoff", "all.csv")
    held = HeldOut.share(0.4, 0).which(0, len(rows))
    scores = np.abs([one["score"] for one in guessed])
    wrong = np.array([one["prediction"] != row["label"] for one, row in zip(guessed, rows, strict=True)])
    assert model.review == Review.of(scores[~held], scores[held], wrong[held], error=0.1)
    assert model.review.threshold is not None
    assert [one["review"] for one in guessed] == (scores < model.review.threshold).tolist()
    assert "at most 10 % of the accepted rows are wrong" in " ".join(shown.out.replace("│", "").split())


def test_rows_of_another_file_prove_it_too(table):
    line = (
        "fit train.csv --label label --review 0.1 --review-confidence 0.9 --review-file other.csv --json --no-certify"
    )
    document = run(line, table).json
    proved = document["review"]
    assert (proved["error"], proved["confidence"], proved["held_out"]) == (0.1, 0.9, 500)
    rows = list(csv.DictReader((table / "other.csv").open()))
    accepted = [(one, row) for one, row in zip(predicted(table, "train.novikoff", "other.csv"), rows, strict=True)]
    accepted = [(one, row) for one, row in accepted if not one["review"]]
    wrong = sum(one["prediction"] != row["label"] for one, row in accepted)
    assert (len(accepted), wrong) == (proved["accepted"], proved["wrong"])
    assert call("inspect", "train.novikoff", "--json", folder=table).json["review"] == proved
    assert "review" in call("inspect", "train.novikoff", folder=table).out


def predicted(folder, model, file):
    done = call("predict", model, file, "--review", "--json", folder=folder)
    assert (done.code, done.err) == (0, "")
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_column_says_which_rows_go_to_a_person(table):
    run("fit all.csv --label label --held-out 0.4 --review 0.1 --no-certify", table)
    done = run("predict all.novikoff other.csv --review --out out.csv --json", table)
    rows = list(csv.DictReader((table / "out.csv").open()))
    assert {row["review"] for row in rows} == {"true", "false"}
    assert done.json["to_review"] == sum(row["review"] == "true" for row in rows)
    shown = run("predict all.novikoff other.csv --review --out out.csv --force", table).out
    assert f"{done.json['to_review']} of 500 rows go to review" in shown


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fit all.csv --label label --review 0.02", "--review needs labelled rows not used in training"),
        ("fit all.csv --label label --review 0.02 --held-out 0.2 --review-file other.csv", "not both"),
        ("fit all.csv --label label --review-file other.csv", "--review-file requires --review"),
        ("fit all.csv --label label --review 0.1 --review-file ./all.csv", "is training data, so it proves nothing"),
        ("fit all.csv --label label --review 0.001 --held-out 0.2", "at least 2,995 are needed"),
        ("fit all.csv --label label --review 2", "--review"),
        ("fit all.csv --label label --held-out 0.2 --review 0.1 --cluster local", "cannot be combined with --cluster"),
        ("predict all.novikoff other.csv --review", "this model has no review"),
    ],
)
def test_a_review_that_cannot_be_made_or_used_says_why(table, line, said):
    assert run("fit all.csv --label label --no-certify --quiet", table).code == 0
    before = (table / "all.novikoff").read_bytes()
    done = run(f"{line} --force" if line.startswith("fit") else line, table)
    assert done.code != 0
    assert said in done.err
    assert (table / "all.novikoff").read_bytes() == before


def test_sentences_are_accepted_as_a_whole(tmp_path):
    chance = np.random.default_rng(0)
    text = ""
    for _ in range(500):
        tokens = chance.integers(3, size=chance.integers(1, 5))
        text += "".join(f"w{t} {'AB'[int(t == 0) ^ int(chance.random() < 0.01)]}\n" for t in tokens) + "\n"
    (tmp_path / "some.conll").write_text(text)
    line = "tag train some.conll --columns word,label --held-out 0.4 --review 0.2 --max-iter 3 --json"
    proved = run(line, tmp_path).json["review"]
    assert proved["held_out"] == load_plain(tmp_path / "some.novikoff").run.held_out_rows
    assert proved["threshold"] is not None
    lines = run("tag run some.novikoff some.conll --review", tmp_path).out.split("\n\n")
    assert all(len({token.split()[-1] for token in line.splitlines()}) <= 1 for line in lines)
    objects = run("tag run some.novikoff some.conll --review --json", tmp_path).out.splitlines()
    sent = [json.loads(line)["review"] for line in objects]
    assert [str(one).lower() for one in sent] == [line.split()[-1] for line in lines if line]
    held = HeldOut.share(0.4, 0).which(0, 500)
    assert sum(not one for one, aside in zip(sent, held, strict=True) if aside) == proved["accepted"]
    other = "tag train some.conll --columns word,label --review 0.1 --max-iter 3 --json --force --review-file"
    assert "proves nothing" in run(f"{other} some.conll", tmp_path).err
    (tmp_path / "other.conll").write_text(text)
    assert run(f"{other} other.conll", tmp_path).json["review"]["held_out"] == 500


def test_too_few_held_out_rows_are_refused_before_anything_is_learned(table, monkeypatch):
    for name in ("novikoff.cli.fit._learned", "novikoff.learn.chain.tagger.learn_tagger"):
        monkeypatch.setattr(name, None)  # which cannot be called
    (table / "some.conll").write_text("a A\n\nb B\n\n" * 50)
    for line in (
        "fit all.csv --label label --review 0.001 --held-out 0.2",
        "tag train some.conll --review 0.1 --held-out 0.2",
    ):
        done = run(line, table)
        assert "are needed" in done.err, done.err
        assert not list(table.glob("*.novikoff"))


def test_a_column_that_is_called_review_already_is_named(table):
    run("fit all.csv --label label --held-out 0.4 --review 0.1 --no-certify", table)
    lines = (table / "other.csv").read_text().splitlines()
    (table / "new.csv").write_text("\n".join([f"{lines[0]},review", *(f"{line},no" for line in lines[1:])]))
    done = run("predict all.novikoff new.csv --review", table)
    assert "has a column 'review' already; rename that column" in done.err
