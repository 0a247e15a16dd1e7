"""What `save` and `load` promise beside the law that they change nothing: types, names, evidence, errors."""

import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff
from novikoff.data.batches import Records
from novikoff.features.encode import learn_encoding
from novikoff.keep.layout import ModelFileError, write
from novikoff.keep.models import certificate_text, load, load_plain, read_header, save
from novikoff.keep.parameters import check_parameters
from novikoff.learn.chain.tagger import Tagger
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.memory import LinearModel
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.options import DECLARED, Anything
from tests.keep import samples

X, Y = samples.points(3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.novikoff"


def through(model, path, **functions):
    save(model, path)
    return load(path, **functions)


# -- what is in a file ------------------------------------------------------------------------------------------------


def test_the_header_says_what_was_learned_and_how(path):
    certificate = novikoff.certify(X, Y)
    save(novikoff.Perceptron(max_iter=4, random_state=1).fit(X, Y), path, certificate=certificate)
    header = read_header(path)
    assert (header["format"], header["novikoff"], header["learner"]) == (1, novikoff.__version__, "Perceptron")
    assert header["parameters"]["max_iter"] == 4
    assert header["classes"]["values"] == ["north", "south"]
    assert header["run"]["mistakes"] > 0
    assert json.loads(header["certificate"])["claims"]["verdict"] == certificate.verdict.value
    assert header["fingerprint"] == certificate.data_hash


def test_the_layout_is_that_of_safetensors(path):
    from safetensors.numpy import load_file

    model = through(novikoff.Perceptron().fit(X, Y), path)
    arrays = load_file(path)
    assert sorted(arrays) == ["drift", "weights"]
    assert (arrays["weights"] == model.model_.memory.weights).all()


def test_the_same_model_makes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        save(novikoff.Perceptron(random_state=0).fit(X, Y), tmp_path / name)
    save(load(tmp_path / "one"), tmp_path / "three")
    assert len({(tmp_path / name).read_bytes() for name in ("one", "two", "three")}) == 1


labels = st.sampled_from(
    [
        *(np.array(["no", "yes"]), np.array(["ja", "nein"], dtype="<U20"), np.array(["no", "yes"], dtype=object)),
        *(
            np.array([0, 1], dtype=kind)
            for kind in ("int8", "uint16", "int32", "int64", "uint64", "float32", "float64")
        ),
        *(np.array([False, True]), np.array([-(2**60), 2**62])),
    ]
)


@given(kind=labels)
def test_classes_keep_their_type_and_values(kind, tmp_path_factory):
    y = np.resize(kind, 6)
    model = novikoff.Perceptron().partial_fit(np.arange(6.0)[:, None], y, classes=kind)
    loaded = through(model, tmp_path_factory.getbasetemp() / "classes")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in loaded.classes_] == [type(label) for label in model.classes_]


def test_names_of_columns_are_kept_and_compared(path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["height", "width", "größe"])
    for model in (novikoff.Perceptron(), novikoff.KernelPerceptron(), novikoff.Paraboloid()):
        loaded = through(model.fit(frame, Y), path)
        assert loaded.feature_names_in_.tolist() == ["height", "width", "größe"]
        ask = loaded.transform if isinstance(model, novikoff.Paraboloid) else loaded.predict
        with pytest.raises(ValueError, match="feature names"):
            ask(frame[["width", "height", "größe"]])


def test_a_model_of_a_table_keeps_its_encoding(path):
    table = pa.RecordBatch.from_pydict(
        {"doors": [4, 2, 5, 2], "maker": ["a", "b", "a", None], "note": ["fast car", "slow", "fast", "slow car"]}
    )
    records = [Records(table, np.array(["family", "sport", "family", "sport"]))]
    encoding = learn_encoding(records, text=["note"])
    learned = learn_from(records, encoding=encoding, random_state=0)
    model = LinearModel.of(learned, {"readout": "average", "label": "kind"})
    save(model, path)
    plain, estimator = load_plain(path), load(path)
    assert (plain.predict(records[0]) == model.predict(records[0])).all()
    assert (estimator.predict(records) == model.predict(records[0])).all()
    assert plain.weights_by_name() == model.weights_by_name()
    assert plain.encoding == encoding
    assert plain.fingerprint == learned.fingerprint
    assert (estimator.n_iter_, estimator.run_) == (
        learned.run.epochs,
        dataclasses.replace(learned.run, scaled=encoding.why_scaled),
    )
    assert plain.record == learned.run
    save(estimator, path)
    assert load_plain(path).fingerprint == learned.fingerprint


def test_evidence_is_forgotten_when_more_is_learned(path):
    model = novikoff.Perceptron().partial_fit(X, Y)
    save(model, path, certificate=novikoff.certify(X, Y).to_json())
    loaded = load(path)
    save(loaded, path)
    assert read_header(path)["fingerprint"] == novikoff.certify(X, Y).data_hash
    for learn in (loaded.partial_fit, loaded.fit):
        save(learn(X, Y), path)
        assert read_header(path)["fingerprint"] is None
        assert read_header(path)["certificate"] is None


def test_a_loaded_model_is_an_estimator_like_any_other(path):
    model = novikoff.KernelPerceptron(kernel="poly", degree=2, gamma="auto", random_state=3).fit(X, Y)
    loaded = through(model, path)
    assert loaded.get_params() == model.get_params()
    assert (clone(loaded).fit(X, Y).decision_function(X) == model.decision_function(X)).all()


# -- functions are code, and code is not in a file --------------------------------------------------------------------


def test_a_kernel_function_is_asked_for(path):
    words, kinds = ["cat", "act", "dog", "god"], [1, 1, 0, 0]
    model = novikoff.KernelPerceptron(kernel=samples.shared_letters, shuffle=False).fit(words, kinds)
    save(model, path)
    with pytest.raises(ValueError, match=r"load\(path, kernel=shared_letters\)"):
        load(path)
    assert load(path, kernel=samples.shared_letters).predict(["taco", "good"]).tolist() == [1, 0]
    assert load_plain(path, kernel=samples.shared_letters).predict(["taco", "good"]).tolist() == [1, 0]
    save(load_plain(path, kernel=samples.shared_letters), path)
    assert load(path, kernel=samples.shared_letters).predict(["taco", "good"]).tolist() == [1, 0]
    with pytest.raises(TypeError, match="kernel='rbf' is not callable"):
        load(path, kernel="rbf")


def test_a_structured_perceptron_asks_for_its_functions(path):
    model = novikoff.StructuredPerceptron(samples.pair_features, samples.best_pair, loss=samples.different)
    save(model.fit(*samples.pairs(1)), path)
    given = {"features": samples.pair_features, "decode": samples.best_pair, "loss": samples.different}
    for name in given:
        with pytest.raises(ValueError, match=rf"{name}={given[name].__name__}"):
            load(path, **{other: given[other] for other in given if other != name})
    assert load(path, **given).weights == model.weights


def test_a_constraint_that_is_a_function_still_holds(path):
    def legal(before, after):
        return (before, after) != ("O", "I-X")

    sentences, tags = [[{"w": "a"}, {"w": "b"}], [{"w": "c"}]], [["B-X", "I-X"], ["O"]]
    model = novikoff.SequencePerceptron(templates=["w[0]"], constraint=legal, random_state=0).fit(sentences, tags)
    loaded = through(model, path)
    assert loaded.constraint is None
    assert load(path, constraint=legal).constraint is legal
    assert np.isneginf(loaded.tagger_.weights.links.table).sum() == 1
    assert loaded.predict([[{"w": "c"}, {"w": "b"}]]) == model.predict([[{"w": "c"}, {"w": "b"}]])


def test_the_mistakes_of_a_tagger_are_kept(path):
    sentences, tags = [[{"w": "a"}, {"w": "b"}], [{"w": "c"}]], [["B", "I"], ["O"]]
    model = novikoff.SequencePerceptron(templates=["w[0]"], record_mistakes=True, random_state=0).fit(sentences, tags)
    loaded = through(model, path)
    assert loaded.mistake_guesses_ == model.mistake_guesses_
    assert loaded.mistake_guesses_


@pytest.mark.parametrize("given", [{"class_weight": "balanced"}, {"sample_weight": np.linspace(0.5, 2.0, len(X))}])
def test_a_vote_of_rows_with_weights_is_kept(path, given):
    fitted = {name: value for name, value in given.items() if name == "sample_weight"}
    options = {name: value for name, value in given.items() if name not in fitted}
    model = novikoff.Perceptron(readout="vote", random_state=0, **options).fit(X, Y, **fitted)
    loaded = through(model, path)
    (ballot,) = loaded.model_.memory.ballots
    assert loaded.model_.memory.weighted
    assert len(np.unique(ballot.mistakes.amounts)) > 1
    assert samples.memory_of(loaded) == samples.memory_of(model)
    assert (loaded.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize("name", sorted(name for name in DECLARED if not isinstance(DECLARED[name].kind, Anything)))
def test_an_option_in_a_file_is_what_is_declared(name):
    for value in (DECLARED[name].default, None, "auto", "x", -1, 0, 0.5, 1, 2, True, math.inf, [], {}):
        try:
            DECLARED[name].kind.check(name, value)
        except ValueError:
            with pytest.raises(ModelFileError, match=name):
                check_parameters({name: value})
        else:
            check_parameters({name: value})


def test_functions_that_are_not_needed_are_refused(path):
    save(novikoff.Perceptron().fit(X, Y), path)
    with pytest.raises(ValueError, match="kernel= was given, but this model was learned without"):
        load(path, kernel=samples.shared_letters)
    with pytest.raises(TypeError, match="no argument 'colonel'"):
        load(path, colonel=samples.shared_letters)


# -- the plain side ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["perceptron", "vote", "kernel", "online", "sequence"])
def test_the_plain_side_does_without_scikit_learn(name, path):
    model, _ = samples.one_of_each()[name]
    save(model, path)
    code = f"""
import sys
from novikoff.keep.models import load_plain, read_header
model = load_plain({str(path)!r})
print(type(model).__name__, 'sklearn' in sys.modules, read_header({str(path)!r})['learner'])
"""
    source = Path(novikoff.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    kinds = {"vote": "LinearModel", "perceptron": "LinearModel", "kernel": "KernelModel", "sequence": "Tagger"}
    kinds["online"] = "OnlinePerceptron"
    assert done.stdout.split() == [kinds[name], "False", type(model).__name__]


def test_plain_models_are_saved_as_they_are(path):
    sentences, tags = samples.words(2)
    tagger = novikoff.SequencePerceptron(templates=["w[0]"], random_state=0).fit(sentences, tags).tagger_
    save(tagger, path)
    loaded = load_plain(path)
    assert isinstance(loaded, Tagger)
    assert loaded.label(sentences) == tagger.label(sentences)
    assert load(path).templates == ["w[0]"]
    save(novikoff.KernelPerceptron().fit(X, Y), path, fingerprint="abc")
    save(load_plain(path), path)
    assert read_header(path)["fingerprint"] == "abc"
    assert (load_plain(path).scores(X) == load(path).decision_function(X)).all()


# -- what cannot be saved ---------------------------------------------------------------------------------------------


def test_what_cannot_be_saved_is_said_with_what_can(path):
    class Mine(novikoff.Perceptron):
        pass

    for model in (Mine().fit(X, Y), {"weights": 1}):
        with pytest.raises(TypeError, match="cannot be saved; Perceptron, KernelPerceptron,"):
            save(model, path)
    for model in (novikoff.Perceptron(), novikoff.SequencePerceptron(), novikoff.Paraboloid()):
        with pytest.raises(ValueError, match="is not fitted yet"):
            save(model, path)
    with pytest.raises(ValueError, match="is not fitted yet"):
        save(novikoff.StructuredPerceptron(samples.pair_features, samples.best_pair), path)
    assert not path.exists()


def test_names_that_a_file_cannot_hold_are_named(path):
    thing = object()
    model = OnlinePerceptron()
    model.learn_many([{thing: 1.0}, {thing: 2.0}], ["a", "b"])
    with pytest.raises(ValueError, match="a feature name is or contains <object object"):
        save(model, path)
    model = OnlinePerceptron()
    model.learn_one({"x": 1.0}, frozenset(["a", 2]))
    assert through(model, path).classes == (frozenset(["a", 2]),)
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")
    model = novikoff.Perceptron().fit(X, Y)
    model.model_ = dataclasses.replace(model.model_, classes=dates)
    with pytest.raises(ValueError, match="classes_ is an array of datetime64"):
        save(model, path)


def test_weights_that_are_not_numbers_are_not_written(path):
    model = novikoff.Perceptron().fit(X, Y)
    model.model_.memory.weights[0, 0] = np.nan
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="cannot be saved: the array 'weights' contains NaN"):
        save(model, path, force=True)
    assert path.read_bytes() == b"old"


def test_a_generator_is_left_out_with_a_note(path):
    chance = np.random.default_rng(0)
    loaded = through(novikoff.Perceptron(random_state=chance).fit(X, Y), path)
    assert loaded.random_state is None
    assert "Generator" in read_header(path)["parameters"]["random_state"]["not_kept"]


def test_a_model_file_is_replaced_and_any_other_file_is_kept(path):
    save(novikoff.Perceptron().fit(X, Y), path)
    save(novikoff.Perceptron(readout="vote").fit(X, Y), path)
    assert load(path).readout == "vote"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileExistsError, match="is not a model file; choose another name"):
        save(novikoff.Perceptron().fit(X, Y), path)
    assert path.read_text() == "a,b\n1,2\n"
    save(novikoff.Perceptron().fit(X, Y), path, force=True)
    assert load(path).readout == "average"
    path.write_bytes(b"")
    save(novikoff.Perceptron().fit(X, Y), path)


def test_a_path_that_cannot_be_written_says_what_to_do(tmp_path):
    model = novikoff.Perceptron().fit(X, Y)
    with pytest.raises(OSError, match="it is a folder, so add the name of a file"):
        save(model, tmp_path)
    with pytest.raises(OSError, match="make the folder first"):
        save(model, tmp_path / "none" / "model")
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_not_there_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_too_little_memory_is_no_damage(tmp_path, monkeypatch):
    save(novikoff.Perceptron().fit([[0.0], [1.0]], [0, 1]), tmp_path / "model")

    def fails(*_, **__):
        raise MemoryError

    for place in ("novikoff.keep.layout._in_order", "novikoff.keep.codec.check_arrays"):
        with monkeypatch.context() as patch:
            patch.setattr(place, fails)
            with pytest.raises(MemoryError, match=r"model has .* bytes, and loading it takes more memory than"):
                load(tmp_path / "model")


def test_a_pipeline_says_how_its_parts_are_kept(tmp_path):
    X, y = [[0.0, 100.0], [1.0, 300.0], [2.0, 900.0]], ["a", "a", "b"]
    pipeline = make_pipeline(StandardScaler(), novikoff.Perceptron(random_state=0)).fit(X, y)
    path, other = tmp_path / "model.novikoff", tmp_path / "steps.joblib"
    with pytest.raises(TypeError, match=r"save\(pipeline\[-1\], path\) .* joblib.dump\(pipeline\[:-1\], other\)"):
        save(pipeline, path)
    save(pipeline[-1], path)
    joblib.dump(pipeline[:-1], other)
    again = make_pipeline(joblib.load(other), load(path))
    assert (again.decision_function(X) == pipeline.decision_function(X)).all()


def test_a_model_is_not_taken_for_json_whatever_the_length_of_its_header(tmp_path):
    for more in range(0, 256, 8):  # a length whose lowest byte is a blank is among these
        write(tmp_path / "model", {"format": 1, "certificate": "{}", "more": "x" * more}, {"weights": np.zeros(1)})
        assert certificate_text(tmp_path / "model") == "{}"
