"""`online`: a line in, a line out, and a model that is never lost."""

import json

import pytest

from novikoff.keep.models import load_plain
from novikoff.learn.online.perceptron import OnlinePerceptron, predict_reveal_learn
from tests.cli.calling import call

STREAM = [
    {"wings": 2, "voice": "song", "is": "bird"},
    {"wings": 0, "voice": "bark", "is": "dog"},
    {"wings": 2, "voice": "quack", "is": "bird"},
    {"wings": 0, "voice": None, "is": "dog"},
]
LINES = "".join(json.dumps(example) + "\n" for example in STREAM)


def examples():
    for example in STREAM:
        x = {name: value for name, value in example.items() if name != "is" and value is not None}
        yield x, example["is"]


def test_every_line_is_answered_by_prediction_and_mistakes(tmp_path):
    done = call("online", "--label", "is", folder=tmp_path, stdin=LINES)
    rounds = predict_reveal_learn(OnlinePerceptron(), examples())
    expected = [f"{'' if r.prediction is None else r.prediction}\t{r.mistakes}" for r in rounds]
    assert done.out.splitlines() == expected
    assert done.code == 0


def test_csv_and_json_are_the_same_stream(tmp_path):
    table = "wings,voice,is\n" + "".join(f"{e['wings']},{e['voice'] or ''},{e['is']}\n" for e in STREAM)
    from_json = call("online", "--label", "is", "--json", folder=tmp_path, stdin=LINES)
    from_csv = call("online", "--label", "is", "--json", "--input", "csv", folder=tmp_path, stdin=table)
    assert from_json.out == from_csv.out
    assert [json.loads(line)["examples"] for line in from_json.out.splitlines()] == [1, 2, 3, 4]


def test_a_line_without_a_label_is_only_predicted(tmp_path):
    done = call("online", "--label", "is", "--json", folder=tmp_path, stdin=LINES + '{"wings": 2}\n\n')
    last = json.loads(done.out.splitlines()[-1])
    assert (last["label"], last["examples"]) == (None, 4)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_label_that_no_line_has_is_an_error(tmp_path, form):
    stream = LINES if form == "json" else "wings,voice,is\n2,song,bird\n"
    done = call("online", "--label", "iz", "--input", form, "--model", "m", folder=tmp_path, stdin=stream)
    assert done.code == 1
    assert "there is no label 'iz' to learn from; there are wings, voice, is" in done.err


def test_a_model_that_has_learned_may_be_asked_only(tmp_path):
    call("online", "--label", "is", "--model", "m", folder=tmp_path, stdin=LINES)
    done = call("online", "--label", "is", "--model", "m", folder=tmp_path, stdin='{"wings": 2}\n')
    assert (done.code, done.out) == (0, "bird\t0\n")


def test_learning_goes_on_from_the_file(tmp_path):
    for _ in range(2):
        assert call("online", "--label", "is", "--model", "m", folder=tmp_path, stdin=LINES).code == 0
    straight = OnlinePerceptron()
    for x, y in [*examples(), *examples()]:
        straight.learn_one(x, y)
    model = load_plain(tmp_path / "m")
    assert (model.examples, model.mistakes, model.weights()) == (8, straight.mistakes, straight.weights())


def test_other_options_than_those_of_the_file_are_refused(tmp_path):
    call("online", "--label", "is", "--model", "m", folder=tmp_path, stdin=LINES)
    done = call("online", "--label", "is", "--model", "m", "--readout", "last", folder=tmp_path, stdin=LINES)
    assert done.code == 1
    assert "m learns with --readout auto, not --readout last" in done.err


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "this is not JSON"),
        ("[1]", "expected one JSON object per line"),
        ('{"a": [1], "is": "dog"}', "feature 'a' has the value [1]"),
        ('{"a": 1, "is": [1]}', "is not hashable"),
    ],
)
def test_a_broken_line_is_named_and_what_was_learned_is_kept(tmp_path, line, what):
    done = call("online", "--label", "is", "--model", "m", folder=tmp_path, stdin=f"{LINES}{line}\n{LINES}")
    assert done.code == 1
    assert "standard input, line 5" in done.err
    assert what in done.err
    assert load_plain(tmp_path / "m").examples == 4


def test_a_ragged_csv_line_is_named(tmp_path):
    done = call("online", "--label", "is", "--input", "csv", folder=tmp_path, stdin="a,is\n1,x\n2\n")
    assert done.code == 1
    assert "line 3: 1 values, but the first line names 2 columns" in done.err


def test_an_online_model_can_be_inspected(tmp_path):
    call("online", "--label", "is", "--model", "m", folder=tmp_path, stdin=LINES)
    out = call("inspect", "m", folder=tmp_path).out
    assert "OnlinePerceptron" in out
    assert "voice=bark" in out
