"""Vowpal Wabbit's text means here what it means there."""

import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, load, save
from novikoff.data import read
from novikoff.data.lines import UNNAMED
from novikoff.features.examples import batches_of

NAMES = st.text("abcxyz_.019é^=", min_size=1, max_size=4)
SPACES = st.text("abcxyz_.", min_size=1, max_size=3)
NUMBERS = st.sampled_from(["1", "0", "-2", "+.5", "3.", "1e2", "-0.25E-1"])
GAPS = st.sampled_from([" ", "  ", "\t"])


@st.composite
def lines(draw):
    """An example as one may write it."""
    head = draw(st.sampled_from(["", "1 ", "-1 ", "3 1.0 ", "2 1 0 ", "1 tag", "-1 'tag ", "7 1 'x"]))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        space = draw(st.just("") | SPACES)
        scale = f":{draw(NUMBERS)}" if space and draw(st.booleans()) else ""
        features = draw(st.lists(st.tuples(GAPS, NAMES, st.just("") | NUMBERS.map(":{}".format)), max_size=4))
        end = draw(st.sampled_from(["", " "]))
        parts.append(f"|{space}{scale}" + "".join(map("".join, features)) + end)
    return head + "".join(parts)


def by_hand(line):
    """The label, and the values by namespace and name: a loop over what stands in the line."""
    head, *segments = line.split("|")
    words = head.split()
    if words and (words[-1][0] == "'" or head[-1] != " "):
        words.pop()
    values = defaultdict(float)
    for segment in segments:
        first, *tokens = re.split("[ \t]+", segment)
        space, _, scale = first.partition(":")
        for name, _, value in (token.partition(":") for token in tokens if token):
            values[space or UNNAMED, name] += float(value or 1) * float(scale or 1)
    return (float(words[0]) if words else None), {key: value for key, value in values.items() if value}


def read_back(path, block_bytes=1 << 20):
    """What the reader has of every line."""
    found = []
    for records in read(path, block_bytes=block_bytes).again(read(path).column_types):
        for row in records.columns.to_pylist():
            label, values = row.pop("label"), defaultdict(float)
            for space, pairs in row.items():
                for name, value in pairs:
                    values[space, name] += value
            found.append((label, {key: value for key, value in values.items() if value}))
    return found


@given(st.lists(lines(), min_size=1, max_size=5), st.integers(1, 60))
def test_every_line_says_what_it_says_to_a_reader_of_the_format(tmp_path_factory, written, block_bytes):
    path = tmp_path_factory.mktemp("vw") / "examples.vw"
    path.write_text("\n".join(written) + "\n")
    assert read_back(path, block_bytes) == [by_hand(line) for line in written]


@pytest.fixture(scope="module")
def vowpal():
    workspace = pytest.importorskip("vowpalwabbit").Workspace("--quiet --noconstant -b 28")
    yield workspace
    workspace.finish()


@given(lines())
def test_vowpal_wabbit_reads_the_same(tmp_path_factory, vowpal, line):
    path = tmp_path_factory.mktemp("vw") / "examples.vw"
    path.write_text(line + "\n")
    ((label, values),) = read_back(path)
    expected, found = defaultdict(float), defaultdict(float)
    for (space, name), value in values.items():
        expected[vowpal.hash_feature(name, vowpal.hash_space(" " if space == UNNAMED else space))] += value
    example = vowpal.parse(line)
    example = example[0] if isinstance(example, list) else example
    for place, value in example.iter_features():
        found[place] += value
    theirs = example.get_simplelabel_label()
    vowpal.finish_example(example)
    assert (label is None and theirs > 1e38) or label == theirs
    same = {place for place in {*expected, *found} if abs(expected[place] - found[place]) <= 1e-5 * abs(found[place])}
    assert same >= {place for place in {*expected, *found} if abs(found[place]) > 1e-6}


def test_words_as_values_are_features_of_their_own(tmp_path):
    path = tmp_path / "examples.vw"
    path.write_text("1 |car colour:red doors:2\n-1 |car colour:blue doors:4\n")
    model = Perceptron(random_state=0).fit(read(path))
    assert list(model.encoding_.feature_names) == ["car^colour=blue", "car^colour=red", "car^doors"]
    assert model.classes_.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 2 |a b", "'1 2' is not a label; write a number before the first |, without an importance"),
        ("1 1 0.5 |a b", "'1 1 0.5' is not a label"),
        ("1 1 0 0 |a b", "'1 1 0 0' is not a label"),
        ("good |a b", "'good' is not a label"),
        ("1e999 |a b", "'1e999' is not a label"),
        ("1 a b", "there is no |"),
        ("", "there is no |; write each example in a line"),
        ("1 |a :3", "':3' is not a feature; write name, name:word, or name:value"),
        ("1 |a b:", "'b:' is not a feature"),
        ("1 |a b:nan", "'b:nan' is not a feature"),
        ("1 |a b:1:2", "'b:1:2' is not a feature"),
        ("1 |a b:1e999", "'b:1e999' is not a feature"),
        ("1 |a:1e300 b:1e300", "'b:1e300' is not a feature"),
        ("1 |a:x b", "'a:x' is not a namespace"),
        ("1 |label b", "'label' is not a namespace; write |name, other than label"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, line, complaint):
    path = tmp_path / "examples.vw"
    path.write_text(f"1 |a b\n{line}\n-1 |a c\n")
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}, line 2: .*{re.escape(complaint)}"):
        list(read(path))


@given(st.text("1 |:.'ab-\t", max_size=12))
def test_any_line_is_read_or_refused_with_its_place(tmp_path_factory, line):
    path = tmp_path_factory.mktemp("vw") / "examples.vw"
    path.write_text(f"1 |a b\n{line}\n1 |a b\n")
    try:
        list(read(path))
    except ValueError as error:
        assert str(error).startswith(f"{path}, line 2: ") or "is missing" in str(error)  # noqa: PT017


def test_the_content_shows_the_format_and_a_model_remembers_the_names(tmp_path):
    path, model_file = tmp_path / "examples", tmp_path / "model.novikoff"
    path.write_text("1 'first |w good film |n length:90\n-1 |w bad film\n1 |w good |other x\n-1 |w awful\n")
    model = Perceptron(random_state=0).fit(read(path))
    save(model, model_file)
    new = tmp_path / "new.vw"
    new.write_text("|w good\n|w awful unheard of\n|elsewhere y\n")
    predicted = load(model_file).predict(read(new))
    assert predicted.tolist() == model.predict(read(new)).tolist()
    assert predicted.tolist()[:2] == [1, -1]
    assert "w^good" in model.encoding_.feature_names


def test_a_file_of_other_labels_or_tables_does_not_go_with_it(tmp_path):
    path, table = tmp_path / "a.vw", tmp_path / "a.csv"
    path.write_text("1 |a b\n")
    table.write_text("a,label\n1,2\n")
    for wrong in ({"path": [path, table]}, {"path": path, "label": "a"}):
        with pytest.raises(ValueError, match="has its labels in front"):
            read(**wrong)


def test_zeros_are_no_entries(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 |a b:0 c:1\n-1 |a c:1 c:-1 b:2\n")
    model = Perceptron(random_state=0).fit(read(path))
    rows = np.vstack([batch.rows.as_array() for batch in batches_of(read(path), model.encoding_)])
    assert rows.tolist() == [[0.0, 1.0], [2.0, 0.0]]
