"""Files that are cut off, damaged, foreign, or made to do harm: a clear error, no code, no more memory than needed."""

import contextlib
import copy
import hashlib
import json
import os
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from novikoff.data import strict_json
from novikoff.keep import layout
from novikoff.keep.models import load, load_plain, read_header
from novikoff.keep.parameters import FunctionError
from novikoff.keep.values import decode
from tests.draws import draws
from tests.keep import samples
from tests.memory import FRUGAL

GOLDEN_FOLDER = Path(__file__).parent / "golden"
GOLDEN = {path.stem: path.read_bytes() for path in sorted(GOLDEN_FOLDER.glob("*.novikoff"))}
FUNCTIONS = {"features": samples.pair_features, "decode": samples.best_pair}


def attempt(content, path, name=""):
    """Load what was made of a file; how much memory that took is looked at, too."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        return load(path, **(FUNCTIONS if name.startswith("structured") else {}))
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2_000_000 + 20 * len(content)


def signed(content):
    """The same bytes with a checksum that is right: an enemy can compute one, too."""
    place = content.find(b'sha256\\": \\"')
    if place < 0 or len(content) < place + 75:
        return content
    place += len(b'sha256\\": \\"')
    blank = content[:place] + b"0" * 64 + content[place + 64 :]
    return blank[:place] + hashlib.sha256(blank).hexdigest().encode() + blank[place + 64 :]


def forged(content, path, change_header=lambda header: None, change_arrays=lambda arrays: None):
    """A file in which all is as it should be, except for what is changed here."""
    path.write_bytes(content)
    header, arrays = layout.read(path)
    for name in ("sha256", "transposed"):
        del header[name]
    change_header(header)
    change_arrays(arrays)
    layout.write(path, header, arrays)
    return path.read_bytes()


def outer(header, body=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Where hostile files are put. Every learner is loaded once, so that no import counts as memory for a file."""
    path = tmp_path_factory.mktemp("hostile") / "model.novikoff"
    for name, content in GOLDEN.items():
        path.write_bytes(content)
        load(path, **(FUNCTIONS if name.startswith("structured") else {}))
    return path


# -- damage -----------------------------------------------------------------------------------------------------------


def test_our_own_forgeries_are_otherwise_right(path):
    for name, content in GOLDEN.items():
        assert signed(content) == content == forged(content, path)
        assert attempt(content, path, name) is not None


@pytest.mark.parametrize("name", GOLDEN)
def test_a_file_that_is_cut_off_anywhere_is_an_error(name, path):
    content = GOLDEN[name]
    for length in [*range(0, len(content), 97), *range(40), len(content) - 1]:
        with pytest.raises(ValueError, match=r"model\.novikoff is not a model file, or is damaged"):
            attempt(content[:length], path, name)


@given(name=st.sampled_from(list(GOLDEN)), place=st.integers(0, 10_000), byte=st.integers(1, 255))
def test_no_byte_can_change_unnoticed(name, place, byte, path):
    content = bytearray(GOLDEN[name])
    content[place % len(content)] ^= byte
    with pytest.raises(ValueError, match=r"damaged|format"):
        attempt(bytes(content), path, name)


@given(name=st.sampled_from(list(GOLDEN)), extra=st.binary(min_size=1, max_size=20))
def test_what_is_appended_is_noticed(name, extra, path):
    for content in (GOLDEN[name] + extra, signed(GOLDEN[name] + extra)):
        with pytest.raises(ValueError, match="damaged"):
            attempt(content, path, name)


# -- malice -----------------------------------------------------------------------------------------------------------


@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"\xff" * 8)
@example(content=struct.pack("<Q", 2**63) + b"{}")
@example(content=struct.pack("<Q", layout.LONGEST_HEADER) + b"{}")
@example(content=outer([]))
@example(content=outer({"__metadata__": {"novikoff": "[" * 100_000}}))
@example(content=struct.pack("<Q", 100_000) + b"[" * 100_000)
@example(content=outer({"__metadata__": {"novikoff": '{"format": 1, "sha256": "' + "0" * 64 + '"}'}}))
@example(content=outer({"__metadata__": {"novikoff": '{"format": NaN}'}}))
@example(content=outer({"__metadata__": {"novikoff": '{"format": ' + "9" * 5000 + "}"}}))
def test_any_other_bytes_are_an_error(content, path):
    with pytest.raises(ValueError, match="not a model file"):
        attempt(content, path)


@given(name=st.sampled_from(list(GOLDEN)), data=st.data())
@settings(max_examples=draws(60))
def test_changed_bytes_with_a_right_checksum_harm_nobody(name, data, path):
    content = bytearray(GOLDEN[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    loads_or_refuses(signed(bytes(content)), path, name)


def loads_or_refuses(content, path, name):
    """An error, or a model that predicts, or refuses to."""
    try:
        model = attempt(content, path, name)
    except (layout.ModelFileError, FunctionError):
        return
    inputs = decode(json.loads((GOLDEN_FOLDER / f"{name}.json").read_text())["inputs"])
    with contextlib.suppress(ValueError, TypeError, LookupError), np.errstate(all="ignore"):
        samples.predictions(model, inputs)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**62, 2**63, -(2**63), 10**30, 1e300, 5e-324, -1.0]),
    st.text(max_size=3),
    st.sampled_from(["O", "<U999999999", "|V8", "vote", "sparse", "dense", "templates", "w[99999999999]", "__class__"]),
    st.lists(st.integers(-2, 2), max_size=3),
    st.sampled_from([{}, {"tuple": [[]]}, {"dict": [[[1], 2]]}, {"array": {}}, {"scalar": ["eval", "1"]}, {"x": 1}]),
)


def change_somewhere(data, value):
    """Another value, or none, somewhere inside a value that JSON knows."""
    if isinstance(value, dict | list) and len(value) and data.draw(st.integers(0, 5)):
        key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        if data.draw(st.integers(0, 9)) == 0:
            del value[key]
        else:
            value[key] = change_somewhere(data, value[key])
        return value
    return data.draw(junk)


@given(name=st.sampled_from(list(GOLDEN)), data=st.data())
@settings(max_examples=draws(80))
def test_a_header_that_says_something_else_harms_nobody(name, data, path):
    def change(header):
        field = data.draw(st.sampled_from(sorted(header)))
        header[field] = change_somewhere(data, copy.deepcopy(header[field]))

    loads_or_refuses(forged(GOLDEN[name], path, change), path, name)


@given(name=st.sampled_from(list(GOLDEN)), data=st.data())
@settings(max_examples=draws(60))
def test_arrays_that_say_something_else_harm_nobody(name, data, path):
    def change(arrays):
        which = data.draw(st.sampled_from(sorted(arrays)))
        array = arrays[which]
        what = data.draw(st.sampled_from(["gone", "type", "shape", "value", "longer"]))
        if what == "gone":
            del arrays[which]
        elif what == "type":
            arrays[which] = array.astype(data.draw(st.sampled_from(["f4", "f8", "i8", "u8", "i4", "u1", "?"])))
        elif what == "shape":
            arrays[which] = array.reshape(data.draw(st.sampled_from([(-1, 1), (1, -1), (-1,)])))
        elif what == "longer":
            arrays[which] = np.concatenate([array, array])
        elif array.size:
            bad = [2**31, -1, 2**62, 7] if array.dtype.kind in "iu" else [np.nan, np.inf, -np.inf, 1e308]
            with np.errstate(all="ignore"):
                array.flat[data.draw(st.integers(0, array.size - 1))] = np.array(
                    data.draw(st.sampled_from(bad))
                ).astype(array.dtype)

    if name != "paraboloid":
        with np.errstate(all="ignore"):
            content = forged(GOLDEN[name], path, change_arrays=change)
        loads_or_refuses(content, path, name)


def tensors(**changes):
    """The outer header of a tiny model, with other tensors."""
    length = struct.unpack_from("<Q", GOLDEN["perceptron"])[0]
    header = json.loads(GOLDEN["perceptron"][8 : 8 + length])
    return signed(outer(header | changes, GOLDEN["perceptron"][8 + length :]))


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": {"dtype": "F64", "shape": [3, 4], "data_offsets": [0, 96]}, "drift": None},
        {"weights": {"dtype": "F64", "shape": [3, 4], "data_offsets": [0, 96]}},
        {"weights": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [96, 192]}},
        {"weights": {"dtype": "F64", "shape": [10**9], "data_offsets": [96, 8 * 10**9 + 96]}},
        {"weights": {"dtype": "F64", "shape": [0, 2**62], "data_offsets": [96, 96]}},
        {"weights": {"dtype": "F64", "shape": [-1], "data_offsets": [96, 88]}},
        {"weights": {"dtype": "F64", "shape": [1] * 60 + [12], "data_offsets": [96, 192]}},
        {"weights": {"dtype": "BF16", "shape": [48], "data_offsets": [96, 192]}},
        {"more": {"dtype": "F64", "shape": [0], "data_offsets": [192, 192]}},
    ],
)
def test_tensors_that_overlap_or_have_absurd_shapes_are_refused(changes, path):
    with pytest.raises(ValueError, match=r"model\.novikoff"):
        attempt(tensors(**changes), path)


def test_a_file_that_pretends_to_be_huge_is_refused_before_it_is_read(path):
    path.write_bytes(struct.pack("<Q", 2**40) + b"{")
    os.truncate(path, 2**42)
    try:
        with pytest.raises(ValueError, match="have no room for the header"):
            load(path)
    finally:
        path.unlink()


@pytest.mark.parametrize("nest", ["[" * 25_000, '{"a": ' * 25_000, "[" * 25_000 + "]" * 25_000])
def test_a_header_of_any_depth_is_refused_and_not_followed(path, nest):
    forms = [nest, json.dumps({"__metadata__": {"novikoff": nest}})]
    forms.append(json.dumps({"__metadata__": {"novikoff": '{"format": 1, "sha256": "", "state": ' + nest + "}"}}))
    for form in forms:
        path.write_bytes(struct.pack("<Q", len(form)) + form.encode())
        for read in (load, load_plain, read_header):
            with pytest.raises(layout.ModelFileError, match=r"header cannot be read .*nested more than 64 deep"):
                read(path)


# -- what the errors say ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [-1, 0, 2, 9, 10**30])
def test_another_format_is_refused_in_one_sentence(path, number):
    forged(GOLDEN["perceptron"], path, lambda header: header.update(format=number, novikoff="7.1.0"))
    words = (
        f"{path} is a model of format {number}, and this version of novikoff reads format 1 only; "
        "load it with the version that wrote it (7.1.0), or learn the model again"
    )
    for read in (load, load_plain, read_header):
        with pytest.raises(layout.ModelFileError) as error:
            read(path)
        assert str(error.value) == words


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (
            "perceptron",
            lambda header: header.update(learner="os.system"),
            "'os.system', which is not one of Perceptron",
        ),
        (
            "perceptron",
            lambda header: header.update(classes=None),
            "has no Perceptron that novikoff can have written",
        ),
        ("perceptron", lambda header: header["memory"].update(mistakes=10**6), "more mistakes than examples"),
        ("perceptron", lambda header: header["memory"].update(examples=-1), "examples is -1, which is negative"),
        ("perceptron", lambda header: header.pop("tie"), "the header has no field 'tie'"),
        ("vote", lambda header: header["memory"].update(mistakes=1), "mistakes were kept, but 1 were made"),
        ("perceptron", lambda header: header["memory"].pop("weighted"), "the header has no field 'weighted'"),
        ("perceptron", lambda header: header["run"].pop("epochs"), "the header has no field 'run.epochs'"),
        ("sequence", lambda header: header.pop("divisor"), "the header has no field 'divisor'"),
        ("perceptron", lambda header: header.update(more=1), "the header has the field 'more', which is unknown"),
        ("perceptron", lambda header: header["memory"].update(more=1), "the header has the field 'more'"),
        ("perceptron", lambda header: header.update(tie="both"), "tie is 'both': Invalid enum value"),
        ("structured", lambda header: header["parameters"].pop("held_out"), "the parameters are not those"),
        ("online", lambda header: header["parameters"].update(readout="vote"), "readout='vote' replays every mistake"),
        ("online", lambda header: header["memory"].update(narrow=1), "narrow examples without a lead"),
        ("sequence", lambda header: header["labels"].append("B-X"), "a label occurs twice"),
        ("sequence", lambda header: header["features"].update(index={"TemplateIndex": ["w[0]"] * 3}), "array"),
    ],
)
def test_an_error_says_what_is_wrong(name, change, words, path):
    with pytest.raises(ValueError, match=words):
        attempt(forged(GOLDEN[name], path, change), path, name)


@pytest.mark.parametrize("amount", [0.0, -1.0, np.nan, np.inf])
def test_a_mistaken_row_was_multiplied_by_a_positive_number(path, amount):
    content = forged(
        GOLDEN["vote"], path, change_arrays=lambda arrays: arrays["ballots.0.mistakes.amounts"].fill(amount)
    )
    with pytest.raises(
        layout.ModelFileError, match=r"multiplied by no positive number|amounts' contains NaN or an inf"
    ):
        attempt(content, path)


# -- more than a file holds -------------------------------------------------------------------------------------------

LONG = {"array": {"type": "<U6000000", "shape": [1], "values": ["a"]}}


@pytest.mark.parametrize("name", [name for name in GOLDEN if not name.startswith("paraboloid")])
def test_a_header_gets_no_more_memory_than_its_file_has_room_for(name, path):
    for asked in ({"scalar": ["bytes_", 10**8]}, {"scalar": ["str_", 1]}, *[LONG] * 2):
        parameters = {f"more{number}": asked for number in range(15)}
        content = forged(GOLDEN[name], path, lambda header, more=parameters: header["parameters"].update(more))
        with pytest.raises(layout.ModelFileError, match=r"cannot be made of|require arrays of 360,000,\d+ bytes"):
            attempt(content, path, name)


def test_labels_without_weights_get_no_links(path):
    labels = [f"label {number}" for number in range(20_000)]
    content = forged(GOLDEN["sequence"], path, lambda header: header.update(labels=labels))
    with pytest.raises(layout.ModelFileError, match="labels without weights"):
        attempt(content, path)


def test_two_keys_alike_among_many_are_found_at_once():
    """Looked for one by one, they took time in the square of the keys."""
    text = json.dumps({f"key {number}": number for number in range(200_000)})[:-1] + ', "key 199999": 1}'
    with pytest.raises(strict_json.JSONError, match="the key 'key 199999' occurs twice"):
        strict_json.parse(text)


def test_a_whole_number_has_few_digits_whatever_python_allows(path):
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        for digits in ("9" * 4301, "-" + "9" * 10**6):
            with pytest.raises(strict_json.JSONError, match=r"has .* digits; more than 4,300 are not allowed"):
                strict_json.parse(f'{{"text": "{"9" * 5000}", "number": {digits}}}')
        assert strict_json.parse(f'["{"9" * 5000}", {"9" * 4300}]') == ["9" * 5000, 10**4300 - 1]
        text = json.dumps({"__metadata__": {}, "a": {"data_offsets": [0, "9" * 10**6]}})
        path.write_bytes(struct.pack("<Q", len(text)) + text.encode())
        with pytest.raises(layout.ModelFileError):
            load(path)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("name", ["online", "scaled", "kernel", "perceptron", "sequence"])
def test_whatever_a_header_asks_for_takes_little_memory_and_comes_to_an_end(name):
    """In a process of its own, which gets half a gigabyte more than the whole file takes, and ten minutes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.keep.fuzz", name, "20", "512"],
        cwd=GOLDEN_FOLDER.parents[2], env=os.environ | FRUGAL, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["refused"] > 50
