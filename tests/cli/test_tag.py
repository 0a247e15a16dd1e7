"""`tag`: taggers from CoNLL files, the same as the library's."""

import json

import pytest

from novikoff.data.sentences import read_conll
from novikoff.keep.models import load_plain
from novikoff.learn.chain.tagger import learn_tagger
from tests.cli.calling import call

TEMPLATES = ["word[0]", "lower(word[-1])", "pos[-1]", "pos[0]", "pos[1]", "pos[-1]|pos[0]", "pos[0]|pos[1]"]


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ("", {}),
        ("--constraint IOB2 --min-count 2 --cost 1", {"constraint": "IOB2", "min_count": 2, "cost": 1.0}),
        (
            "--early-stopping --validation-fraction 0.3 --n-iter-no-change 1 --readout last",
            {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 1, "readout": "last"},
        ),
        ("--no-shuffle --max-iter 1", {"shuffle": False, "max_iter": 1}),
        ("--held-out 0.4", {"held_out": 0.4}),
    ],
)
def test_the_command_learns_what_the_library_learns(folder, options, same):
    sentences = read_conll(folder / "chunks.conll")
    templates = [*TEMPLATES, "suffix2(word[0])"]
    expected = learn_tagger(sentences, sentences.column("chunk"), templates=templates, random_state=0, **same)
    line = f"tag train chunks.conll --templates templates.txt --force --quiet {options}"
    assert call(*line.split(), folder=folder).code == 0
    model = load_plain(folder / "chunks.novikoff")
    assert model.heaviest(None) == expected.heaviest(None)
    assert model.run.mistakes_per_epoch == expected.run.mistakes_per_epoch


def test_templates_are_taken_by_the_columns_or_as_crfpp_writes_them(folder):
    sentences = read_conll(folder / "chunks.conll")
    (folder / "crfpp").write_text("U00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\nB\n")
    for option, templates in (("", None), ("--templates crfpp", ["word[0]", "pos[-1]|pos[0]"])):
        line = f"tag train chunks.conll --force --quiet --model other.novikoff {option}"
        assert call(*line.split(), folder=folder).code == 0
        options = {"templates": templates, "columns": ("word", "pos"), "random_state": 0}
        expected = learn_tagger(sentences, sentences.column("chunk"), **options)
        assert load_plain(folder / "other.novikoff").heaviest(None) == expected.heaviest(None)


def test_labels_are_added_with_or_without_the_gold_ones(folder):
    text = (folder / "chunks.conll").read_text()
    bare = "".join(line.rpartition(" ")[0] + "\n" for line in text.splitlines())
    (folder / "bare.conll").write_text(bare)
    full, short = (
        call("tag", "run", "chunks.novikoff", f"{name}.conll", folder=folder).out for name in ("chunks", "bare")
    )
    assert [line.split()[-1:] for line in full.splitlines()] == [line.split()[-1:] for line in short.splitlines()]
    assert short.splitlines()[0].split()[:2] == ["The", "DT"]
    assert call("tag", "run", "chunks.novikoff", "-", folder=folder, stdin=bare).out == short


def test_json_has_one_object_a_sentence(folder):
    out = call("tag", "run", "chunks.novikoff", "chunks.conll", "--json", folder=folder).out
    answer = [json.loads(line) for line in out.splitlines()]
    assert [part["sentence"] for part in answer] == list(range(8))
    assert answer[2]["labels"] == ["B-NP", "B-VP", "B-PP", "B-NP", "O"]


def test_chunks_are_scored(folder):
    answer = call("tag", "score", "chunks.novikoff", "chunks.conll", "--json", folder=folder).json
    assert answer["accuracy"] == 1.0
    assert answer["chunks"][-1] == {
        "type": "all", "precision": 1.0, "recall": 1.0, "f1": 1.0, "gold": 34, "found": 34, "correct": 34,
    }  # fmt: skip
    out = call("tag", "score", "chunks.novikoff", "chunks.conll", "--scheme", "none", folder=folder).out
    assert "61 right (100.00%)" in out
    assert "precision" not in out


def test_the_columns_and_what_stands_between_them_can_be_said(folder):
    text = (folder / "chunks.conll").read_text().replace(" ", "\t")
    (folder / "tabs.txt").write_text("# a comment\n" + text)
    (folder / "t.txt").write_text("w[0]\np[0]\n")
    layout = ["--columns", "w,p,tag", "--separator", "tab", "--comment", "#"]
    line = ("tag", "train", "tabs.txt", "--templates", "t.txt", "--label", "tag", "--model", "tabs.novikoff", *layout)
    assert call(*line, "--quiet", folder=folder).code == 0
    scored = call("tag", "score", "tabs.novikoff", "tabs.txt", "--label", "tag", *layout, "--json", folder=folder)
    assert scored.json["tokens"] == 61


TWO = "He PRON\nruns VERB\n\nThe DET\ncat NOUN\nsleeps VERB\n\nDogs NOUN\nbark VERB\n"


def test_two_columns_need_no_names_and_plain_text_can_be_labelled(folder):
    (folder / "two.conll").write_text(TWO)
    assert call("tag", "train", "two.conll", "--quiet", folder=folder).code == 0
    run = ("tag", "run", "two.novikoff", "-")
    labelled = "The DET\ncat NOUN\nsleeps VERB\n\nHe PRON\nruns VERB\n\n"
    assert call(*run, folder=folder, stdin="The cat sleeps\nHe runs\n").out == labelled
    assert call(*run, folder=folder, stdin="The\ncat\nsleeps\n\nHe\nruns\n").out == labelled
    (folder / "one.txt").write_text("He\nruns\n")
    assert "1 columns, but 3 were expected" in call("tag", "train", "one.txt", folder=folder).err


def test_a_tagger_goes_on_with_another_file(folder):
    (folder / "first.conll").write_text(TWO)
    (folder / "more.conll").write_text("Wow INTJ\ndogs NOUN\nsleep VERB\n")
    assert call("tag", "train", "first.conll", "--quiet", folder=folder).code == 0
    line = ("tag", "train", "more.conll", "--start", "first.novikoff", "--model", "both.novikoff")
    said = words_of(call(*line, folder=folder))
    assert "in earlier calls (one bound for all)" in said
    assert "novikoff tag score on new sentences measures it" in said
    first, more = (read_conll(folder / f"{name}.conll") for name in ("first", "more"))
    expected = learn_tagger(first, first.column("label"), random_state=0)
    expected = learn_tagger(more, more.column("label"), random_state=0, start=expected)
    assert load_plain(folder / "both.novikoff").heaviest(None) == expected.heaviest(None)
    assert "--held-out needs a new start" in call(*line, "--held-out", "0.3", folder=folder).err
    assert "--folds trains from the beginning" in call(*line, "--folds", "2", folder=folder).err


def words_of(done):
    return " ".join(done.out.replace("│", " ").split())


def test_the_expected_error_is_that_of_sentences_that_were_not_learned(folder):
    line = ("tag", "train", "chunks.conll", "--templates", "templates.txt", "--force")
    said = words_of(call(*line, folder=folder))
    assert "expected error not measured (add --held-out 0.2); training error 0.0 % of the sequences" in said
    assert "met for the first time" not in said
    run = call(*line, "--held-out", "0.4", "--json", folder=folder).json["run"]
    (held_out,) = (one for one in run["new_rows"]["statements"] if one["name"] == "held out")
    said = words_of(call(*line, "--held-out", "0.4", folder=folder))
    assert f"expected error held-out error {100 * held_out['wrong']:.1f} % of the sequences, at most" in said
    said = words_of(call(*line, "--folds", "3", folder=folder))
    assert "3-fold error" in said
    assert "of the sequences, at most" in said
    assert "for models trained alike" in said


def test_folds_judge_taggers_that_were_learned_alike(folder):
    line = ("tag", "train", "chunks.conll", "--templates", "templates.txt", "--folds", "3", "--json")
    run = call(*line, folder=folder).json["run"]
    (judged,) = (one for one in run["new_rows"]["statements"] if one["name"] == "folds")
    assert 0 <= judged["wrong"] <= 1
    assert "choose one" in call(*line, "--held-out", "0.3", folder=folder).err


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("tag train nope.conll --templates templates.txt", "there is no file nope.conll"),
        ("tag train cars.csv --templates templates.txt --force", "columns, but 3 were expected"),
        ("tag train chunks.conll --templates nope.txt --force", "nope.txt: No such file"),
        ("tag train chunks.conll --templates empty.txt --force", "empty.txt has no templates"),
        ("tag train chunks.conll --templates templates.txt --model cars.csv", "cars.csv already exists"),
        ("tag score chunks.novikoff bare.conll", "2 columns, but 3 were expected"),
        ("tag run chunks.novikoff empty.txt", "empty.txt has no tokens"),
    ],
)
def test_what_is_wrong_is_said(folder, line, what):
    (folder / "empty.txt").write_text("\n")
    (folder / "bare.conll").write_text("The DT\ncat NN\n")
    done = call(*line.split(), folder=folder)
    assert done.code == 1
    assert what in done.err
