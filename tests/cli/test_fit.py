"""`fit` learns what the library learns, says what it did, and keeps what is there."""

import contextlib
import gzip
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from novikoff.cli.commands import INTERRUPTED
from novikoff.data import read
from novikoff.data.held_out import HeldOut
from novikoff.features.encode import learn_encoding
from novikoff.keep.models import load, load_plain
from novikoff.learn.linear.files import Folds, learn_from
from novikoff.learn.run import Stopped
from novikoff.say import runs as say
from tests.cli.calling import call


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ("", {}),
        ("--readout vote --max-iter 3", {"readout": "vote", "max_iter": 3}),
        (
            "--readout last --no-shuffle --no-fit-intercept",
            {"readout": "last", "shuffle": False, "fit_intercept": False},
        ),
        ("--max-iter none --tie predict --random-state 5", {"max_iter": None, "tie": "predict", "random_state": 5}),
        ("--min-margin 0.9", {"min_margin": 0.9}),
        ("--lead 0.5", {"lead": 0.5}),
        (
            "--lead auto --early-stopping --validation-fraction 0.2 --n-iter-no-change 2",
            {"lead": "auto", "early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 2},
        ),
        ("--class-weight balanced", {"class_weight": "balanced"}),
        ("--class-weight yes=2,no=0.5", {"class_weight": {"yes": 2.0, "no": 0.5}}),
    ],
)
def test_the_command_learns_what_the_library_learns(folder, options, same):
    done = call("fit", "cars.csv", "--label", "sport_car", "--force", "--quiet", *options.split(), folder=folder)
    assert done.code == 0
    reader = read(folder / "cars.csv", label="sport_car")
    expected = learn_from(reader, **{"random_state": 0, **same})
    model = load_plain(folder / "cars.novikoff")
    np.testing.assert_array_equal(model.memory.weights, expected.memory.weights)
    np.testing.assert_array_equal(model.memory.drift, expected.memory.drift)
    assert model.run == expected.run
    assert model.fingerprint == expected.fingerprint
    assert model.encoding == expected.encoding


def test_every_number_of_threads_gives_the_same_answers_and_0_is_refused(folder):
    def answers(jobs):
        call("fit", "cars.csv", "--label", "sport_car", "--force", "--quiet", "--jobs", jobs, folder=folder)
        model = ("cars.novikoff", "cars.csv")
        said = [call(name, *model, "--json", "--jobs", jobs, folder=folder) for name in ("predict", "score")]
        said.append(call("certify", "cars.csv", "--label", "sport_car", "--json", "--jobs", jobs, folder=folder))
        return [one.out for one in said]

    assert answers(1) == answers(2) == answers(-1)
    refused = call("score", "cars.novikoff", "cars.csv", "--jobs", 0, folder=folder)
    assert refused.code == 2
    assert "--jobs" in refused.err


def test_the_columns_are_what_the_options_say(folder):
    (folder / "ids.csv").write_text("id,note,extra,sport\n6,low red car,1,yes\n3,slow tractor,2,no\n6,red car,3,yes\n")
    column_roles = {"categorical": ["id"], "text": ["note"], "ignore": ["extra"]}
    options = [word for name, (column,) in column_roles.items() for word in (f"--{name}", column)]
    assert call("fit", "ids.csv", "--label", "sport", "--words", "2", *options, folder=folder).code == 0
    model = load_plain(folder / "ids.novikoff")
    assert model.encoding == learn_encoding(read(folder / "ids.csv", label="sport"), **column_roles)


def test_the_panel_says_what_was_read_and_learned_and_proved(folder):
    done = call("fit", "cars.csv", "--label", "sport_car", "--force", folder=folder)
    wanted = [
        "400 rows",
        "numeric      doors, year, engine_size",
        "categorical  manufacturer (7 values), colour (6 values)",
        "maximum_speed",
        "by epoch: 19, 5, 4, 0",
        "converged after",
        "0 errors on 400 training rows",
        "separable (proved)",
        "gamma lies between 0.175467",
        "28 mistakes made; the theorem allows (R/gamma)^2 = 2,599",
        "cars.novikoff",
    ]
    assert [part for part in wanted if part not in done.out] == []
    assert max(map(len, done.out.splitlines())) == 80
    assert done.err == ""


def in_one_line(done):
    """What a panel says, without its frame and its lines."""
    return " ".join(done.out.replace("│", " ").split())


def test_a_lead_and_a_validation_part_are_in_the_panels_of_fit_and_inspect(folder):
    asked = ("--lead", "0.5", "--max-iter", "none", "--readout", "last")
    done = call("fit", "cars.csv", "--label", "sport_car", "--force", *asked, folder=folder)
    for shown in (done, call("inspect", "cars.novikoff", folder=folder)):
        assert "narrow ones on" in in_one_line(shown)
        assert "updates unless correct by more than 0.5 R^2; the last weights separate" in in_one_line(shown)
    assert "with a lead of 0.5 the theorem allows 2 (R/gamma)^2" in in_one_line(done)
    done = call("fit", "cars.csv", "--label", "sport_car", "--force", "--early-stopping", folder=folder)
    assert "on the validation rows" in in_one_line(done)
    assert call("fit", "cars.csv", "--label", "sport_car", "--lead", "much", folder=folder).code == 2


@pytest.mark.parametrize("more", [(), ("--cluster", "local"), ("--max-iter", "1")])
def test_a_lead_that_was_chosen_is_in_the_panels_of_fit_and_inspect_also_if_it_is_none(folder, more):
    asked = ("fit", "cars.csv", "--label", "sport_car", "--force", "--lead", "auto", *more)
    shown = [call(*asked, folder=folder), call("inspect", "cars.novikoff", folder=folder)]
    chosen = call(*asked, "--json", folder=folder).json["lead_chosen"]
    assert chosen == load_plain(folder / "cars.novikoff").run.lead
    words = f"updates unless correct by more than {chosen:g} R^2" if chosen else "none"
    for one in shown:
        assert f"{words} (chosen on the validation rows)" in in_one_line(one)


def test_a_lead_that_was_chosen_is_told_apart_from_one_that_was_asked_for(folder):
    call("fit", "cars.csv", "--label", "sport_car", "--force", "--lead", "0.5", folder=folder)
    run, asked = load_plain(folder / "cars.novikoff").run, "updates unless correct by more than 0.5 R^2"
    assert say.lead(run, was_chosen=True).startswith(f"{asked} (chosen on the validation rows)")
    assert say.lead(run, was_chosen=False).startswith(asked)
    assert "chose" not in say.lead(run, was_chosen=False)


@pytest.mark.parametrize("space", [(), ("--kernel", "poly", "--degree", "2")])
def test_weights_of_classes_are_in_the_panels_of_fit_and_inspect_with_the_bound_that_holds(folder, space):
    asked = ("--label", "sport_car", "--force", "--class-weight", "yes=3", *space)
    done = call("fit", "cars.csv", *asked, "--report", "page.html", folder=folder)
    assert done.code == 0
    assert "no times 1, yes times 3; the theorem then allows 9 times as many updates" in in_one_line(done)
    assert "no times 1, yes times 3" in in_one_line(call("inspect", "cars.novikoff", folder=folder))
    answer = call("fit", "cars.csv", *asked, "--json", folder=folder).json
    assert answer["class_weights"] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("maybe=2",), "--class-weight maybe=2: no row has the label maybe; the labels are no, yes"),
        (("yes=0",), "'yes=0' must be 'balanced', or a label with a positive number"),
        (("even",), "'even' must be 'balanced', or a label with a positive number"),
        (("yes=2", "--steps", "--no-shuffle"), "--class-weight multiplies them"),
        (("yes=2", "--cluster", "local"), "--class-weight cannot be combined with --cluster"),
    ],
)
def test_weights_of_classes_that_make_no_sense_are_refused_in_the_words_of_the_command(folder, asked, said):
    done = call("fit", "cars.csv", "--label", "sport_car", "--force", "--class-weight", *asked, folder=folder)
    assert said in " ".join(done.err.split())
    assert done.code != 0


def test_the_mistakes_of_the_notes_example_are_three(folder):
    line = "fit six_points.svm --readout last --no-fit-intercept --no-shuffle --json"
    answer = call(*line.split(), folder=folder).json
    assert answer["run"]["mistakes"] == 3
    assert [(weight["name"], weight["weight"]) for weight in answer["weights"]] == [
        ("column 0", 3.0),
        ("column 1", 1.0),
    ]
    assert answer["data"]["features"] == 2
    assert answer["certificate"]["mistake_bound"] == 5


def test_the_steps_of_the_notes_example_are_shown_in_the_panel_in_json_and_in_the_report(folder):
    line = "fit six_points.svm --readout last --no-fit-intercept --no-shuffle --force --steps --report steps.html"
    done = call(*line.split(), folder=folder)
    shown = [re.split(r"\s{2,}", text.strip()) for text in done.out.splitlines() if "✗" in text]
    assert [text[-1] for text in shown] == ["(1, -2)", "(2, -1)", "(3, 1)"]
    assert (folder / "steps.html").read_text().count("<td>✗</td>") == 3
    steps = call(*line.split(), "--json", folder=folder).json["steps"]
    assert [step["row"] for step in steps if step["mistake"]] == [0, 2, 4]
    assert "add --no-shuffle" in call("fit", "six_points.svm", "--steps", folder=folder).err
    assert call("score", "six_points.novikoff", "six_points.svm", "--json", folder=folder).json["errors"] == 0


def test_an_estimator_can_be_made_of_the_model(folder):
    model = load(folder / "cars.novikoff")
    assert list(model.classes_) == ["no", "yes"]
    assert model.get_params()["random_state"] == 0


def test_a_table_can_come_compressed_and_through_a_pipe(folder):
    text = (folder / "cars.csv").read_text()
    (folder / "zipped.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert call("fit", "zipped.csv.gz", "--label", "sport_car", "--quiet", folder=folder).code == 0
    piped = ("fit", "-", "--label", "sport_car", "--model", "piped.novikoff", "--quiet")
    assert call(*piped, folder=folder, stdin=text).code == 0
    before, *after = (load_plain(folder / f"{name}.novikoff").memory.weights for name in ("cars", "zipped", "piped"))
    assert all(np.array_equal(before, weights) for weights in after)


def test_whoever_asked_for_convergence_and_did_not_get_it_is_warned(folder):
    done = call("fit", "xor.csv", "--label", "bits", "--readout", "last", folder=folder)
    assert done.code == 0
    assert "did not converge: the last of 30 epochs still made" in done.err
    assert "overlapping (proved)" in done.out


def test_without_certify_nothing_is_certified(folder):
    answer = call("fit", "cars.csv", "--label", "sport_car", "--no-certify", "--force", "--json", folder=folder).json
    assert answer["certificate"] is None
    assert load_plain(folder / "cars.novikoff").certificate is None
    assert "no separator has a margin above" in call("inspect", "cars.novikoff", folder=folder).out


def test_a_certificate_that_takes_too_long_is_undecided(folder):
    line = "fit cars.csv --label sport_car --force --json --certify-time-limit 1e-9"
    assert call(*line.split(), folder=folder).json["certificate"]["verdict"] in ("undecided", "separable")


def test_a_proof_that_is_very_long_stays_out_of_the_model(folder, monkeypatch):
    monkeypatch.setattr("novikoff.cli.fit.LONGEST_PROOF", 100)
    answer = call("fit", "cars.csv", "--label", "sport_car", "--force", "--json", folder=folder).json
    assert answer["certificate"]["verdict"] == "separable"
    assert load_plain(folder / "cars.novikoff").certificate is None


def test_a_model_is_replaced_and_any_other_file_is_kept(folder):
    line = ("fit", "cars.csv", "--label", "sport_car", "--model")
    assert call(*line, "cars.novikoff", folder=folder).code == 0
    before = (folder / "cars.csv").read_bytes()
    done = call(*line, "cars.csv", folder=folder)
    assert done.code == 1
    assert "cars.csv already exists and is not a model file; choose another name, or pass --force" in done.err
    assert (folder / "cars.csv").read_bytes() == before


def test_svmlight_has_no_columns_to_name(folder):
    done = call("fit", "six_points.svm", "--ignore", "x", "--model", "m", folder=folder)
    assert done.code == 1
    assert "svmlight text has no named columns" in done.err


def test_an_interrupt_while_certifying_loses_nothing(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("novikoff.prove.separable.search.working_set.certify_examples", interrupted)
    answer = call("fit", "cars.csv", "--label", "sport_car", "--force", "--json", folder=folder).json
    assert answer["certificate"] is None
    assert answer["run"]["stopped"] == "NO_MISTAKES"


def test_names_with_brackets_are_shown_as_they_are(folder):
    (folder / "a[bold]b.csv").write_text("x[/],y\n1,[red]p\n2,q\n")
    out = call("fit", "a[bold]b.csv", "--label", "y", folder=folder).out
    for name in ("a[bold]b.csv", "x[/]", "[red]p"):
        assert name in out


def test_what_was_learned_is_saved_before_anything_is_certified(folder, monkeypatch):
    def fails(*_, **__):
        assert load_plain(folder / "cars.novikoff").run.mistakes == 28
        raise MemoryError("Unable to allocate 49.0 GiB")

    monkeypatch.setattr("novikoff.prove.separable.search.working_set.certify_examples", fails)
    done = call("fit", "cars.csv", "--label", "sport_car", "--force", folder=folder)
    assert done.code == 0
    assert "the model is saved; the table was not certified: not enough memory for this" in done.err
    assert "certified       skipped: not enough memory for this" in done.out
    model = load_plain(folder / "cars.novikoff")
    assert (model.run.mistakes, model.certificate) == (28, None)


@pytest.mark.parametrize("error", [RuntimeError("a mistake of ours"), ValueError("what nobody thought of")])
def test_no_error_of_a_proof_loses_the_model(folder, monkeypatch, error):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("novikoff.prove.separable.search.working_set.certify_examples", fails)
    with contextlib.suppress(RuntimeError):
        call("fit", "cars.csv", "--label", "sport_car", "--force", folder=folder)
    assert load_plain(folder / "cars.novikoff").run.mistakes == 28


def test_the_certificate_comes_into_the_file_when_it_is_there(folder):
    call("fit", "cars.csv", "--label", "sport_car", "--force", folder=folder)
    assert load_plain(folder / "cars.novikoff").certificate is not None


def test_a_verdict_says_that_it_is_about_the_rows_held_out_too(folder):
    line = ("fit", "cars.csv", "--label", "sport_car", "--model", "m", "--force")
    aside = " ".join(call(*line, "--held-out", "0.3", folder=folder).out.split())
    run = load_plain(folder / "m").run
    assert run.n_rows + run.held_out_rows == 400
    assert f"(of all 400 rows, {run.held_out_rows} of which were held out)" in re.sub(r" │ │ ", " ", aside)
    assert "on all rows, the perceptron" in aside
    alone = call(*line, folder=folder).out
    assert "of all 400 rows" not in alone
    assert "on all rows" not in alone


def test_a_small_table_is_judged_by_five_folds_and_the_model_is_that_of_python(folder):
    shown = call("fit", "cars.csv", "--label", "sport_car", "--force", folder=folder).out
    asked = call("fit", "cars.csv", "--label", "sport_car", "--model", "m", "--folds", 5, "--json", folder=folder).json
    by_folds = next(one for one in asked["run"]["new_rows"]["statements"] if one["name"] == "folds")
    assert f"5-fold error {100 * by_folds['wrong']:.1f} %, at most" in shown
    assert load_plain(folder / "cars.novikoff").run.fold_rows == ()
    assert sum(load_plain(folder / "m").run.fold_rows) == 400


@pytest.mark.parametrize("words", [("--time-limit", "100"), ("--readout", "last")])
def test_what_was_not_measured_is_not_guessed(words, folder, monkeypatch):
    """Neither a clock decides whether folds are learned, nor are they where that takes long."""
    if "--time-limit" not in words:
        monkeypatch.setattr("novikoff.learn.linear.files.MOST_FOLDED", 0)
    shown = call("fit", "cars.csv", "--label", "sport_car", "--force", *words, folder=folder).out
    assert "expected error  not measured (add --held-out 0.2); training error 0.0 %" in shown
    assert "first time" not in shown
    inspected = call("inspect", "cars.novikoff", folder=folder).out
    assert "not measured; training error 0.0 %" in inspected


@pytest.mark.parametrize("remembered", [1 << 26, 0], ids=["in memory", "read again"])
def test_folds_are_the_errors_of_models_that_never_saw_a_part(folder, monkeypatch, remembered):
    monkeypatch.setattr("novikoff.features.examples.MOST_REMEMBERED", remembered)
    reader = read(folder / "cars.csv", label="sport_car")
    apart = []
    for part in HeldOut.folds(3, 0):
        encoding = learn_encoding(reader, held_out=part)
        apart.append(learn_from(reader, encoding=encoding, held_out=part, random_state=0).run)
    run = learn_from(reader, folds=Folds(3), random_state=0).run
    assert run.fold_rows == tuple(one.held_out_rows for one in apart)
    assert run.fold_errors == tuple(one.held_out_errors for one in apart)
    assert replace(run, fold_rows=(), fold_errors=()) == learn_from(reader, random_state=0).run
    done = call("fit", "cars.csv", "--label", "sport_car", "--model", "m", "--folds", 3, "--quiet", folder=folder)
    assert done.code == 0
    assert load_plain(folder / "m").run == run


@pytest.mark.parametrize("remembered", [1 << 26, 0], ids=["in memory", "read again"])
def test_folds_of_a_table_in_memory_are_those_of_its_file(folder, monkeypatch, remembered):
    monkeypatch.setattr("novikoff.features.examples.MOST_REMEMBERED", remembered)
    sources = read(pd.read_csv(folder / "cars.csv"), label="sport_car"), read(folder / "cars.csv", label="sport_car")
    of_table, of_file = (learn_from(source, folds=Folds(3), random_state=0).run for source in sources)
    assert of_table == of_file
    assert len(of_table.fold_rows) == 3


def test_an_interrupt_in_a_fold_leaves_the_model(folder):
    begun = []

    def watch(history):
        if begun:
            raise KeyboardInterrupt

    learned = learn_from(
        read(folder / "cars.csv", label="sport_car"), folds=Folds(told=begun.append), watch=watch, random_state=0
    )
    assert begun == ["learning without part 1 of 5"]
    assert (learned.run.stopped.name, learned.run.fold_rows) == ("NO_MISTAKES", ())


def test_rows_that_had_a_say_in_the_encoding_are_no_folds(folder):
    reader = read(folder / "cars.csv", label="sport_car")
    with pytest.raises(ValueError, match="the encoding of these columns was learned from all rows"):
        learn_from(reader, encoding=learn_encoding(reader), folds=Folds())


def test_folds_that_nobody_asked_for_refuse_nothing(folder):
    """A column with as many values as rows allow has too many without a fold."""
    words = [f"w{number % 21}" for number in range(42)]
    lines = [f"{word},{'no' if number < 21 else 'yes'},{number}" for number, word in enumerate(words)]
    (folder / "words.csv").write_text("\n".join(["word,label,x", *lines]) + "\n")
    done = call("fit", "words.csv", "--label", "label", folder=folder)
    assert done.code == 0
    assert "not measured" in done.out
    assert "too many to learn from" in call("fit", "words.csv", "--label", "label", "--folds", 5, folder=folder).err


def texts_where(tmp_path, decisive):
    """Texts whose class depends on a word, or on the order of two."""
    generator = np.random.default_rng(0)
    lines = ["text,label"]
    for _ in range(400):
        words, label = generator.choice(list("abcdefgh"), size=6).tolist(), bool(generator.integers(2))
        place = generator.integers(5)
        words[place : place + 2] = decisive[label]
        lines.append(f"{' '.join(words)},{'yes' if label else 'no'}")
    (tmp_path / "texts.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("decisive", "words"), [((["old", "car"], ["new", "car"]), 1), ((["not", "so"], ["so", "not"]), 2)]
)
def test_validation_rows_choose_between_words_and_pairs_of_words(tmp_path, decisive, words):
    texts_where(tmp_path, decisive)
    asked = ("fit", "texts.csv", "--label", "label", "--text", "text", "--no-certify", "--folds", "2", "--json")
    chosen = call(*asked, folder=tmp_path).json
    told = call(*asked, "--words", str(words), "--force", folder=tmp_path).json
    assert chosen["data"] == told["data"]
    assert chosen["weights"] == told["weights"]
    assert ("pairs" in chosen["data"]["columns"][0]["detail"]) == (words == 2)


def test_shards_ask_for_words_and_pairs_of_words(tmp_path):
    texts_where(tmp_path, (["old", "car"], ["new", "car"]))
    asked = ("fit", "texts.csv", "--label", "label", "--text", "text", "--cluster", "local")
    assert "add --words 2" in call(*asked, folder=tmp_path).err
    assert call(*asked, "--words", "2", folder=tmp_path).code == 0


def test_an_interrupt_while_words_are_tried_ends_the_command(tmp_path, monkeypatch):
    texts_where(tmp_path, (["old", "car"], ["new", "car"]))
    monkeypatch.setattr("novikoff.learn.linear.files.fit", interrupted_run)
    asked = ("fit", "texts.csv", "--label", "label", "--text", "text")
    assert call(*asked, folder=tmp_path).code == INTERRUPTED
    assert not (tmp_path / "texts.novikoff").exists()


def interrupted_run(examples, space, options, **_):
    return SimpleNamespace(run=SimpleNamespace(stopped=Stopped.INTERRUPTED, held_out_errors=0))
