"""svmlight text: every line is read as a slow parser reads it, in chunks of any size, and errors name their line."""

import io
import re
import struct
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from novikoff.data import svmlight
from novikoff.data.svmlight import batches
from tests.svmlight import read_svmlight, write_svmlight

MESSY = (
    b"\xef\xbb\xbf# a file with everything\r\n"
    b"\n"
    b"+1 1:0.5 3:-2.25e-3\t7:1 # a comment with : and \x00 and \xff\n"
    b"  -1\tqid:3 2:1.00000000000000011102230246251565404236316680908203125   \r\n"
    b"2.5\n"
    b" \t \n"
    b"-0 qid:-12#close\n"
    b"1e2 0:.5 4294967295:5.#close\n"
    b"3 12345678:0 12345679:-0.0"
)


class Slow(NamedTuple):
    labels: list[float]
    rows: list[dict[int, float]]
    lines: list[int]


def read_slowly(text):
    """The format in a few lines of Python, for text that is right."""
    slow = Slow([], [], [])
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        label, *pairs = line.removesuffix(b"\r").split(b"#")[0].decode().split() or [None]
        if label is not None:
            pairs = [pair.split(":") for pair in pairs if not pair.startswith("qid")]
            slow.labels.append(float(label))
            slow.rows.append({int(index): float(value) for index, value in pairs})
            slow.lines.append(number)
    return slow


NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
LINE = re.compile(
    rb"[ \t]*(?:" + NUMBER + rb"(?:[ \t]+qid:[+-]?\d+)?(?:[ \t]+\d{1,19}:" + NUMBER + rb")*)?[ \t]*(?:#.*)?", re.DOTALL
)


def is_right(line):
    """Whether a line obeys the grammar, and its numbers are what they have to be."""
    line = line.removesuffix(b"\r")
    if not LINE.fullmatch(line):
        return False
    slow = read_slowly(line)
    indices = [int(index) for index in re.findall(rb"(\d+):", line.split(b"#")[0].replace(b"qid:", b""))]
    values = [*slow.labels, *(value for row in slow.rows for value in row.values())]
    return np.isfinite(values).all() and indices == sorted({*indices}) and max(indices, default=0) < 2**32


def bits(numbers):
    return [struct.pack("<d", number) for number in numbers]


def pieces_of(text, chunk_bytes=svmlight.CHUNK_BYTES):
    return list(batches(io.BytesIO(text), "some.svm", chunk_bytes=chunk_bytes))


def check(text, chunk_bytes=svmlight.CHUNK_BYTES):
    slow = read_slowly(text)
    row, seen = 0, 0
    for batch in pieces_of(text, chunk_bytes):
        data, indices, indptr = batch.rows.matrix
        assert (batch.file, batch.line) == ("some.svm", slow.lines[row])
        assert len(batch.labels) == batch.rows.n_rows == len(indptr) - 1 > 0
        assert batch.rows.widest == max(np.diff(indptr))
        assert bits(batch.labels) == bits(slow.labels[row : row + batch.rows.n_rows])
        for first, last in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
            assert indices[first:last].tolist() == list(slow.rows[row])
            assert bits(data[first:last]) == bits(slow.rows[row].values())
            seen = max([seen, *(index + 1 for index in slow.rows[row])])
            row += 1
        assert batch.rows.n_columns == seen
    assert row == len(slow.rows)


blanks = st.text(" \t", min_size=1, max_size=3)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-99, 99).map(str),
    st.decimals(-1000, 1000, allow_nan=False).map("{:f}".format),
)
indices = st.lists(st.one_of(st.integers(0, 50), st.integers(0, 2**32 - 1)), max_size=4, unique=True).map(sorted)
comments = st.one_of(st.just(""), st.text(max_size=10).map(lambda text: "#" + text.replace("\n", "")))


@st.composite
def lines(draw):
    """A line that is right: a row, or nothing but blanks and a comment."""
    line = draw(st.sampled_from(["", " ", "\t"]))
    if draw(st.integers(0, 4)):
        tokens = [draw(numbers), *draw(st.sampled_from([[], ["qid:7"]]))]
        tokens += [f"{index}:{draw(numbers)}" for index in draw(indices)]
        line += "".join(token + draw(blanks) for token in tokens).rstrip()
    return (line + draw(st.sampled_from(["", " "])) + draw(comments)).encode()


@st.composite
def texts(draw):
    ends = draw(st.lists(st.tuples(lines(), st.sampled_from([b"\n", b"\r\n"])), max_size=5))
    text = b"".join(line + end for line, end in ends)
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + draw(st.sampled_from([text, text[: text.rfind(b"\n")]]))


@given(texts(), st.integers(1, 200))
def test_lines_are_read_as_a_slow_parser_reads_them_in_chunks_of_any_size(text, chunk_bytes):
    check(text)
    check(text, chunk_bytes)


@given(
    texts(), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(b"0123456789+-.eE:#qid \t\r\n\x00\xff")), max_size=3)
)
def test_a_text_is_refused_at_the_first_line_that_the_grammar_refuses(text, changes):
    text = bytearray(text.removeprefix(b"\xef\xbb\xbf"))
    for place, byte in changes:
        text.insert(int(place * len(text)), byte)
    wrong = [number for number, line in enumerate(bytes(text).split(b"\n"), 1) if not is_right(line)]
    if wrong:
        with pytest.raises(ValueError, match=f"some.svm, line {wrong[0]}: "):
            pieces_of(bytes(text), 50)
    else:
        check(bytes(text), 50)


@pytest.mark.parametrize("chunk_bytes", [*range(1, 60), 1000])
def test_no_chunk_boundary_changes_a_row(chunk_bytes):
    check(MESSY, chunk_bytes)


def test_a_batch_is_not_overwritten_by_those_that_follow():
    text = b"".join(b"%d %d:%d.5\n" % (i, i, i) for i in range(500))
    for i, batch in enumerate(pieces_of(text, 5)):
        assert batch.labels.tolist() == [i]
        assert batch.rows.matrix.data.tolist() == [i + 0.5]


def test_the_kernels_cannot_write_into_a_batch():
    [batch] = pieces_of(b"1 1:1\n")
    assert [array.dtype for array in batch.rows.matrix] == [np.float64, np.uint32, np.uint32]
    assert not any(array.flags.writeable for array in batch.rows.matrix)


@pytest.mark.parametrize("text", [b"", b"\n", b"\xef\xbb\xbf", b"# nothing\n\n  \r\n#", b"\xef\xbb\xbf\r\n"])
def test_a_text_without_rows_has_no_batch(text):
    assert pieces_of(text) == pieces_of(text, 1) == []


WRONG = {
    b"1:2 3:4": "'1:2' is not a label; a line begins with one, a decimal number in the range of float64",
    b"qid:2 3:4": "'qid:2' is not a label; a line begins with one, a decimal number in the range of float64",
    b"one 1:2": "'one' is not a label; a line begins with one, a decimal number in the range of float64",
    b"nan 1:2": "'nan' is not a label; a line begins with one, a decimal number in the range of float64",
    b"1e999 1:2": "'1e999' is not a label; a line begins with one, a decimal number in the range of float64",
    b"1,2 1:2": "'1,2' is not a label; a line begins with one, a decimal number in the range of float64",
    b"1 1:2 x": "'x' is not a pair index:value",
    b"1 1:2 3": "'3' is not a pair index:value",
    b"1 1:2 :3": "':3' is not a pair index:value",
    b"1 -1:2": "'-1:2' is not a pair index:value",
    b"1 1.5:2": "'1.5:2' is not a pair index:value",
    b"1 4294967296:2": "'4294967296:2' is not a pair index:value",
    b"1 18446744073709551617:2": "'18446744073709551617:2' is not a pair index:value",
    b"1 00000000000000000001:2": "'00000000000000000001:2' is not a pair index:value",
    b"1 quid:2": "'quid:2' is misplaced or not a query",
    b"1 3:1 2:1": "index 2 comes after index 3; sort the pairs of a line by index, and keep one",
    b"1 qid:1 3:1 3:1": "index 3 comes after index 3; sort the pairs of a line by index, and keep one",
    b"1 1:": "'1:' is not a pair index:value",
    b"1 1: 2": "'1:' is not a pair index:value",
    b"1 1:two": "'1:two' is not a pair index:value",
    b"1 1:2:3": "'1:2:3' is not a pair index:value",
    b"1 1:1_0": "'1:1_0' is not a pair index:value",
    b"1 1:0x1p3": "'1:0x1p3' is not a pair index:value",
    b"1 1:-Infinity": "'1:-Infinity' is not a pair index:value",
    b"1 1:NaN#": "'1:NaN' is not a pair index:value",
    b"1 1:1e309": "'1:1e309' is not a pair index:value",
    b"1 1:17976931348623158.08e292 2:x": "'1:17976931348623158.08e292' is not a pair index:value",
    b"17976931348623158.08e292": "'17976931348623158.08e292' is not a label; a line begins with one, a decimal",
    b"1 qid:x 1:2": "'qid:x' is misplaced or not a query; write qid: and a whole number after the label",
    b"1 qid: 1:2": "'qid:' is misplaced or not a query; write qid: and a whole number after the label",
    b"1 1:2 qid:3": "'qid:3' is misplaced or not a query; write qid: and a whole number after the label",
    b"1 1:2\x00": r"'\\x00' has the control character '\\x00'",
    b"\x001 1:2": r"'\\x001' has the control character '\\x00'",
    b"1 1:2\r2:3": r"'\\r2:3' has the control character '\\r'; lines end with LF or CRLF",
    b"1\x0b1:2": r"'\\x0b1:2' has the control character '\\x0b'",
    b"1 1:\x7f": r"'1:\\x7f' has the control character '\\x7f'",
    b"1 1:\xff": r"'1:\\\\xff' is not a pair index:value",
    "1 1:٣".encode(): "'1:٣' is not a pair index:value",
    b"1 " + b"x" * 100: "'" + "x" * 57 + "...' is not a pair index:value",
}


@pytest.mark.parametrize(("line", "message"), WRONG.items())
@pytest.mark.parametrize("chunk_bytes", [1, 20, 1000])
def test_an_error_names_file_line_and_text(line, message, chunk_bytes):
    for before, number in [(b"", 1), (b"# comment\r\n\n1 1:1\n", 4)]:
        for after in [b"", b"\r\n1 1:1\nworse\n"]:
            with pytest.raises(ValueError, match=f"^some.svm, line {number}: {message}"):
                pieces_of(before + line + after, chunk_bytes)


def test_the_first_error_is_reported_even_if_it_had_to_wait():
    too_large = b"1 1:1\n1 1:17976931348623158.08e292\n1 2:1 1:1\n"
    with pytest.raises(ValueError, match=r"line 2: .* is not a pair .* in the range of float64"):
        pieces_of(too_large)


def test_batches_before_an_error_are_handed_out():
    stream = batches(io.BytesIO(b"-1 1:1\n?\n"), "some.svm", chunk_bytes=7)
    assert next(stream).labels.tolist() == [-1.0]
    with pytest.raises(ValueError, match="line 2"):
        next(stream)


def test_a_file_that_breaks_off_is_named():
    class Broken(io.BytesIO):
        def readinto(self, buffer):
            raise OSError("Input/output error")

    with pytest.raises(OSError, match=r"some.svm could not be read to its end: Input/output error"):
        list(batches(Broken(), "some.svm"))


def test_a_line_without_an_end_is_not_svmlight_text(monkeypatch):
    monkeypatch.setattr(svmlight, "LONGEST_LINE", 1000)
    assert len(pieces_of(b"1 1:1" + b" " * 900 + b"\n", 10)) == 1
    with pytest.raises(ValueError, match=re.escape("some.svm has a line of more than 1,000 bytes; is it svmlight")):
        pieces_of(b"1 1:1" + b" " * 5000, 10)


def test_a_chunk_has_a_byte_at_least():
    with pytest.raises(ValueError, match="at least 1 byte"):
        pieces_of(MESSY, 0)


def test_scikit_learn_reads_the_same(tmp_path):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((300, 40)) * (generator.random((300, 40)) < 0.2) * 10.0 ** generator.integers(-9, 9)
    path = tmp_path / "some.svm"
    dump_svmlight_file(X, generator.integers(0, 3, 300), str(path), zero_based=True, comment="made by scikit-learn")
    ours, labels = read_svmlight(path)
    theirs, their_labels = load_svmlight_file(str(path), zero_based=True)
    assert (ours != theirs).nnz == 0
    assert ours.shape == theirs.shape
    assert labels.tolist() == their_labels.tolist()


def test_many_batches_join_to_one_matrix(tmp_path):
    path = tmp_path / "large.svm"
    path.write_bytes(b"".join(b"%d %d:1 %d:0.1\n" % (i % 2, i % 9, 9 + i % 7) for i in range(200_000)))
    assert path.stat().st_size > 2 * svmlight.CHUNK_BYTES
    X, labels = read_svmlight(str(path))
    i = np.arange(200_000)
    assert X.shape == (200_000, 16)
    assert X.nnz == 400_000
    assert (X[i, i % 9] == 1).all()
    assert (X[i, 9 + i % 7] == 0.1).all()
    assert (labels == i % 2).all()


def test_the_largest_index_needs_wider_indices_in_scipy(tmp_path):
    (tmp_path / "wide.svm").write_bytes(b"1 4294967295:2\n")
    X, _ = read_svmlight(tmp_path / "wide.svm", zero_based=True)
    assert X.shape == (1, 2**32)
    assert X[0, 2**32 - 1] == 2


TEXTS = {
    b"1 1:2 3:4\n-1 2:1\n": False,
    b"1 1:2 3:4\n-1 0:1 2:1\n": True,
    b"1 1:2 # the comment 0:1 is none\n-1 2:1 10:1 20:3\n": False,
    b"# 0:1\n1 1:2\n-1 qid:0 000:1\n": True,
    b"1\n-1\n": False,
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_counts_from_one_if_no_index_is_zero(text):
    assert all(batch.rows.matrix.indices.all() for batch in batches(io.BytesIO(text), "text")) != TEXTS[text]


@pytest.mark.parametrize("zero_based", ["auto", True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_the_first_column_is_that_of_scikit_learn(tmp_path, text, zero_based):
    (tmp_path / "text.svm").write_bytes(text)
    path = str(tmp_path / "text.svm")
    if zero_based is False and TEXTS[text]:
        with pytest.raises(ValueError, match="has the index 0, but zero_based=False"):
            read_svmlight(path, zero_based=False)
        return
    ours, theirs = read_svmlight(path, zero_based=zero_based)[0], load_svmlight_file(path, zero_based=zero_based)[0]
    width = min(ours.shape[1], theirs.shape[1])  # without an entry theirs has a column nevertheless
    assert ours.toarray()[:, :width].tolist() == theirs.toarray()[:, :width].tolist()
    assert ours.shape == theirs.shape or ours.nnz == 0


rows = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3)


@given(st.lists(st.tuples(rows, st.one_of(st.integers(-5, 5), rows.map(sum)))), st.booleans())
def test_what_is_written_is_read_back_bit_for_bit(examples, sparse):
    examples = [(row, label) for row, label in examples if abs(label) < np.inf]
    X = np.array([row for row, _ in examples]).reshape(-1, 3)
    labels = [float(label) for _, label in examples]
    text = io.BytesIO()
    write_svmlight(text, csr_array(X) if sparse else X, labels)
    data, at = [], []
    for batch in pieces_of(text.getvalue(), 30):
        data += bits(batch.rows.matrix.data)
        at += batch.rows.matrix.indices.tolist()
    written = [(j, x) for row in X.tolist() for j, x in enumerate(row) if x or (not sparse and str(x) == "-0.0")]
    assert at == [j for j, _ in written]
    assert data == bits(x for _, x in written)
    assert bits(label for batch in pieces_of(text.getvalue()) for label in batch.labels) == bits(labels)
