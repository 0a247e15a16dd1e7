"""Every field of every header, with values that do not belong there: refused when loaded, or the model works."""

import copy
import json
import os
import struct

import numpy as np
import pytest

import novikoff
from novikoff.keep import layout
from novikoff.keep.models import load, load_plain
from novikoff.keep.parameters import FunctionError
from novikoff.keep.values import decode
from tests.keep import samples
from tests.keep.test_hostile_files import FUNCTIONS, GOLDEN, GOLDEN_FOLDER, forged

GONE = object()
JUNK = [GONE, None, True, -1, 1, 2**63, 0.5, 5e-324, "x", "vote", [], ["a"], {"a": 1}, {"float": "nan"},
        {"tuple": [1, 2]}, {"function": "f"}, {"not_kept": "x"}]  # fmt: skip


def fields_of(value, path=()):
    """The path to every field, of lists to the first two."""
    if path and path[0] in ("sha256", "transposed", "format"):
        return
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, part in inside:
        yield from fields_of(part, (*path, key))


def changed(header, path, junk):
    for key in path[:-1]:
        header = header[key]
    if junk is GONE:
        del header[path[-1]]
    else:
        header[path[-1]] = copy.deepcopy(junk)


def use(model, inputs):
    """Predict, learn on, and say what happened."""
    samples.predictions(model, inputs)
    if isinstance(model, novikoff.OnlinePerceptron):
        model.learn_one(inputs[0], (*model.classes, "a")[0])
    elif isinstance(model, novikoff.Perceptron | novikoff.KernelPerceptron):
        model.partial_fit(inputs, np.resize(model.classes_, len(inputs)))
    elif isinstance(model, novikoff.SequencePerceptron):
        if model.tagger_.memory is not None:
            model.partial_fit(inputs, [[model.classes_[0]] * len(sentence) for sentence in inputs])
    elif isinstance(model, novikoff.StructuredPerceptron):
        model.partial_fit(inputs, inputs)
    return f"{model!r} {getattr(model, 'run_', '')}"


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.filterwarnings("ignore")
def test_a_field_that_makes_no_sense_is_refused_when_loaded_and_not_when_used(tmp_path, monkeypatch, name):
    path, functions = tmp_path / "model", FUNCTIONS if name.startswith("structured") else {}
    inputs = decode(json.loads((GOLDEN_FOLDER / f"{name}.json").read_text())["inputs"])
    path.write_bytes(GOLDEN[name])
    whole = layout.read(path)
    refused = 0
    for field in list(fields_of(whole.header)):
        for junk in JUNK:
            parts = copy.deepcopy(whole)
            changed(parts.header, field, junk)
            monkeypatch.setattr("novikoff.keep.models.read", lambda _, parts=parts: parts)
            try:
                model = load(path, **functions)
            except (layout.ModelFileError, FunctionError):
                refused += 1
                continue
            with np.errstate(all="ignore"):
                if field == ("n_columns",) and name.startswith("paraboloid"):
                    continue  # a lift of other columns, which refuses these
                assert use(model, inputs), (field, junk)
    assert refused > (40 if name == "paraboloid" else 50)  # which has four fields


def test_a_learning_rate_that_is_none_is_refused_when_loaded(tmp_path):
    for own in (True, False):
        for rate in (0.0, -1.0, "fast"):
            change = {"eta0": rate}
            forged(
                GOLDEN["perceptron"],
                tmp_path / "m",
                lambda header, own=own, c=change: (header if own else header["parameters"]).update(c),
            )
            with pytest.raises(layout.ModelFileError, match="eta0"):
                load(tmp_path / "m")


@pytest.mark.parametrize("change", [{"mistakes": 10**9}, {"examples": 0}, {"mistakes_per_epoch": {"tuple": [10**6]}},
                                    {"errors": 10**6}])  # fmt: skip
def test_a_record_that_cannot_be_is_refused_when_loaded(tmp_path, change):
    forged(GOLDEN["perceptron"], tmp_path / "m", lambda header: header["run"].update(change))
    with pytest.raises(layout.ModelFileError, match="record"):
        load(tmp_path / "m")


def test_a_certificate_in_a_model_is_text_that_nobody_believes(tmp_path):
    for text in ("no JSON", "[" * 100_000, '{"verdict": "separable"}'):
        forged(GOLDEN["perceptron"], tmp_path / "m", lambda header, text=text: header.update(certificate=text))
        assert load_plain(tmp_path / "m").certificate == text


def test_sizes_are_compared_before_anything_is_read(tmp_path, monkeypatch):
    path = tmp_path / "m"
    path.write_bytes(GOLDEN["perceptron"])
    os.truncate(path, 2**42)
    with pytest.raises(layout.ModelFileError, match=r"its header names .* bytes, and it has 4,398,046,511,104"):
        load(path)
    length = struct.unpack_from("<Q", GOLDEN["perceptron"])[0]
    header = json.loads(GOLDEN["perceptron"][8 : 8 + length])
    for offsets in ([0, 2**60], [0], "x", None, [0, "1"]):
        header["weights"]["data_offsets"] = offsets
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 192)
        with pytest.raises(layout.ModelFileError, match="its header"):
            load(path)
