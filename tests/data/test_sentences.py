"""Files in columns: what is read, what is written, and that nothing is lost between the two."""

import gzip
import io
import os
import re
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from novikoff.data.sentences import CONLLU_COLUMNS, Sentences, read_conll, read_conllu, read_to_label, write_conll

TWO = "He PRP B-NP\nruns VBZ B-VP\n\nStop VB B-VP\n\n"
LISTS = {
    "word": [["He", "runs"], ["Stop"]],
    "pos": [["PRP", "VBZ"], ["VB"]],
    "chunk": [["B-NP", "B-VP"], ["B-VP"]],
}


def slow_sentences(text):
    """Lines and fields one by one; the fields of a line are the runs of what is neither blank nor tab."""
    sentences = [[]]
    for line in text.split("\n"):
        fields = re.findall("[^ \t]+", line)
        if fields:
            sentences[-1].append(fields)
        else:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        TWO.rstrip("\n"),
        TWO.replace("\n", "\r\n"),
        "\ufeff" + TWO,
        "\n\n\n" + TWO.replace("\n\n", "\n\n \n\t\n\n"),
        TWO.replace(" ", " \t  "),
        TWO.replace("He", "  He").replace("B-NP", "B-NP \t"),
    ],
    ids=["plain", "no newline at the end", "CRLF", "BOM", "runs of blank lines", "runs of blanks", "blanks around"],
)
def test_the_same_sentences_are_read_however_they_are_laid_out(text, tmp_path):
    path = tmp_path / "two.txt"
    path.write_bytes(text.encode())
    packed = tmp_path / "two.txt.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    expected = Sentences.from_lists(LISTS)
    for source in (path, str(path), packed, io.StringIO(text, newline=""), io.BytesIO(text.encode())):
        assert read_conll(source) == expected


@given(st.text("ab#\u00a0\u2028\u3000\x0b\x85\u00e9 \t\n", max_size=60))
def test_only_blanks_tabs_and_newlines_separate(text):
    expected = slow_sentences(text)
    widths = {len(fields) for sentence in expected for fields in sentence}
    columns = [f"c{n}" for n in range(max(widths, default=1))]
    if len(widths) > 1:
        with pytest.raises(ValueError, match=r"line \d+: \d+ columns, but"):
            read_conll(io.StringIO(text), columns)
        return
    sentences = read_conll(io.StringIO(text), columns)
    assert [list(map(list, zip(*one.values(), strict=True))) for one in sentences] == expected


def test_a_hash_is_a_token_unless_comments_are_asked_for():
    text = "# a comment\nHe PRP\n# within\nruns VBZ\n\n# #\n"
    with pytest.raises(ValueError, match="line 1: 3 columns, but 2 were expected"):
        read_conll(io.StringIO(text), ("word", "pos"))
    assert read_conll(io.StringIO(text), ("word", "pos"), comment="#").column("word") == [["He", "runs"]]
    assert read_conll(io.StringIO("# #\n"), ("word", "pos")).values["word"] == ["#"]
    assert len(read_conll(io.StringIO("-DOCSTART- -X-\n\nHe PRP\n"), ("word", "pos"))) == 2


def test_strict_tabs_keep_blanks_and_empty_values():
    sentences = read_conll(io.StringIO("New York\t\tB\n Rome \tNNP\tB\n\n"), separator="\t")
    assert sentences[0] == {"word": ["New York", " Rome "], "pos": ["", "NNP"], "chunk": ["B", "B"]}


@pytest.mark.parametrize("text", ["", "\n", "\n \n", "\ufeff"])
def test_a_file_without_tokens_has_no_sentences(text):
    sentences = read_conll(io.StringIO(text))
    assert (len(sentences), sentences.n_tokens, list(sentences)) == (0, 0, [])
    assert read_conll(io.StringIO(text.strip(" \n")), separator="\t").values["word"] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b c\n\na b\n", r"bad\.txt, line 3: 2 columns, but 3 were expected \(word, pos, chunk\), in 'a b'"),
        (b"a b c d\r\n", r"line 1: 4 columns.*columns=.*separator="),
        (b"a b c\na b c\na b\na b c d\n", r"line 3: 2 columns"),
        (b"a b c\nd\xe9j\xe0 b c\n", r"bad\.txt, line 2: the byte 0xe9 is not UTF-8.*encoding="),
    ],
)
def test_broken_lines_are_errors_with_file_and_line(content, message, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_conll(path)


def test_line_numbers_count_comments():
    with pytest.raises(ValueError, match="the stream, line 4: 2 columns"):
        read_conll(io.StringIO("# one\na b c\n# three\na b\n"), comment="#")


def test_a_gzip_file_that_is_cut_off_is_an_error_of_the_file(tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(TWO.encode())[:-9])
    with pytest.raises(OSError, match=r"cut\.gz is a gzip file that cannot be unpacked"):
        read_conll(path)


@pytest.mark.parametrize("columns", ["word", (), ("word", "word")])
def test_columns_have_one_name_each(columns):
    with pytest.raises(ValueError, match="name each column of the file once"):
        read_conll(io.StringIO(TWO), columns)


@pytest.mark.parametrize("separator", ["", "||", "\n", "\u3000"])
def test_a_separator_is_one_ascii_character(separator):
    with pytest.raises(ValueError, match="one ASCII character"):
        read_conll(io.StringIO(TWO), separator=separator)


@st.composite
def some_sentences(draw, separator):
    n_columns = draw(st.integers(1, 4))
    forbidden = "\n\r" + (" \t" if separator is None else separator)
    characters = st.characters(exclude_characters=forbidden, exclude_categories=["Cs"])
    smallest = 0 if separator and n_columns > 1 else 1
    value = st.text(st.one_of(st.sampled_from("#-\u00a0\u2028\x0b"), characters), min_size=smallest, max_size=4)
    lengths = draw(st.lists(st.integers(1, 4), max_size=5))
    column = st.tuples(*(st.lists(value, min_size=n, max_size=n) for n in lengths)).map(list)
    columns = {f"c{n}": draw(column) for n in range(n_columns)}
    assume(not lengths or not columns["c0"][0][0].startswith("\ufeff"))
    return Sentences.from_lists(columns)


@pytest.mark.parametrize("separator", [None, "\t", " ", ","])
@given(data=st.data())
def test_what_is_written_is_read_again(separator, data):
    sentences = data.draw(some_sentences(separator))
    text, binary = io.StringIO(newline=""), io.BytesIO()
    write_conll(text, sentences, separator=separator)
    write_conll(binary, sentences, separator=separator)
    assert binary.getvalue() == text.getvalue().encode()
    binary.seek(0)
    assert read_conll(binary, sentences.columns, separator=separator) == sentences


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_a_path_is_written_whole_and_leaves_nothing_beside_it(name, tmp_path):
    path = tmp_path / name
    path.write_text("old")
    path.chmod(0o640)
    write_conll(path, Sentences.from_lists(LISTS), {"guess": [["O", "O"], ["B-VP"]]})
    assert os.listdir(tmp_path) == [name]
    assert path.stat().st_mode & 0o777 == 0o640
    content = path.read_bytes()
    text = (gzip.decompress(content) if name.endswith("gz") else content).decode()
    assert text == "He PRP B-NP O\nruns VBZ B-VP O\n\nStop VB B-VP B-VP\n\n"


def test_when_writing_fails_the_old_file_stays(tmp_path, monkeypatch):
    def no_space(_):
        raise OSError("no space left")

    path = tmp_path / "out.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="no space left"):
        write_conll(path, Sentences.from_lists(LISTS))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    path, link = tmp_path / "real.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    write_conll(link, Sentences.from_lists(LISTS))
    assert link.is_symlink()
    assert path.read_text() == TWO


@pytest.mark.parametrize(
    ("lists", "separator", "message"),
    [
        ([["a"], ["b c"]], None, r"column 'word' has the value 'b c' in sentence 1 .*another separator"),
        ([["a\tb"]], "\t", r"the value 'a\\tb'"),
        ([["a", ""]], "\t", "the value ''.*not empty"),
        ([["a\r"]], "\t", r"the value 'a\\r'"),
        ([["a"], [3]], None, "the value 3 in sentence 1"),
        ([["a"], []], None, "sentence 1 .* has no tokens"),
        ([["\ufeffa"]], None, "byte order mark"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(lists, separator, message):
    stream = io.StringIO()
    with pytest.raises(ValueError, match=message):
        write_conll(stream, Sentences.from_lists({"word": lists}), separator=separator)
    assert stream.getvalue() == ""


def test_sentences_are_reached_by_number_by_column_and_by_run():
    sentences = read_conll(io.StringIO(TWO))
    assert [one["word"] for one in sentences] == LISTS["word"]
    assert {name: sentences.column(name) for name in sentences.columns} == LISTS
    assert sentences[-1] == sentences[1] == {"word": ["Stop"], "pos": ["VB"], "chunk": ["B-VP"]}
    assert sentences[1:] == Sentences.from_lists({name: lists[1:] for name, lists in LISTS.items()})
    assert sentences[::-1].column("word") == LISTS["word"][::-1]
    assert len(sentences[2:]) == len(sentences[1:0]) == 0
    assert sentences.starts.dtype == np.int64
    assert sentences != sentences[1:]
    assert repr(sentences) == "Sentences(2 sentences, 3 tokens, columns word, pos, chunk)"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s[2], IndexError, "no sentence 2: there are 2"),
        (lambda s: s.column("tag"), ValueError, "no column 'tag'; the columns are word, pos, chunk"),
        (lambda s: s.with_columns({"guess": [["O"], ["O"]]}), ValueError, "1 values in sentence 0 .* 2 tokens"),
        (lambda s: s.with_columns({"guess": [["O", "O"]]}), ValueError, "for 1 sentences, but there are 2"),
        (lambda s: Sentences(("a",), {"a": ["x"]}, np.array([0, 2])), ValueError, "1 values, but there are 2 tokens"),
        (lambda s: Sentences(("a",), {"b": []}, np.array([0])), ValueError, "name each column once"),
        (lambda s: Sentences(("a",), {"a": ["x"]}, np.array([1, 1])), ValueError, "the first is 0"),
    ],
)
def test_errors_of_access_say_what_there_is(call, error, message):
    with pytest.raises(error, match=message):
        call(read_conll(io.StringIO(TWO)))


def test_python_does_no_more_for_many_tokens_than_for_few():
    """Whatever is done for every token is done inside of strings and arrays, so that large files are read quickly."""

    def calls(n_sentences):
        counted = []
        source = io.StringIO("\n".join("word NN B-NP\n" * 25 for _ in range(n_sentences)))
        sys.setprofile(lambda frame, event, arg: counted.append(event))
        try:
            sentences = read_conll(source)
        finally:
            sys.setprofile(None)
        assert sentences.n_tokens == 25 * n_sentences
        return len(counted)

    assert calls(400) == calls(40) > 0


TREE = """# sent_id = 1
# text = vámonos al mar
1-2 vámonos _ _ _ _ _ _ _ _
1 vamos ir VERB _ Mood=Imp 0 root 0:root _
2 nos nosotros PRON _ _ 1 obj 1:obj _
3-4 al _ _ _ _ _ _ _ SpaceAfter=No
3 a a ADP _ _ 5 case 5:case _
4 el el DET _ _ 5 det 5:det _
5 mar mar NOUN _ _ 1 obl 1:obl _
5.1 _ ir VERB _ _ _ _ 1:conj _
5.2 _ ir VERB _ _ _ _ 1:conj _

0.1 _ _ _ _ _ _ _ 1:dep _
1 # # SYM _ _ _ _ _ _

""".replace(" ", "\t")
TREE = re.sub(r"^#.*", lambda comment: comment[0].replace("\t", " "), TREE, flags=re.MULTILINE)


def test_the_words_of_conllu_are_read_and_nothing_else(tmp_path):
    path = tmp_path / "tree.conllu"
    path.write_bytes(TREE.encode())
    sentences = read_conllu(path)
    assert sentences.column("form") == [["vamos", "nos", "a", "el", "mar"], ["#"]]
    assert sentences.column("upos") == [["VERB", "PRON", "ADP", "DET", "NOUN"], ["SYM"]]


def word(identifier, head="_"):
    return f"{identifier}\tform" + "\t_" * 4 + f"\t{head}" + "\t_" * 3 + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (word(1) + "2 form _ _ _ _ _ _ _ _\n", "the stream, line 2: 1 columns, but 10 were expected"),
        (word(1) + word(3), "line 2: the columns of this word are '3 form.*here the id is 2"),
        (word(1) + word(1), "line 2: .*put an empty line between sentences"),
        ("# text\n" + word(1) + "\n" + word("1-2") + word(2), "line 5: .*here the id is 1"),
        (word("01"), "the columns of this word are '01 form"),
        (word(1, ""), r"line 1: .*none is empty \(write _\)"),
    ],
)
def test_broken_conllu_is_an_error_with_file_and_line(text, message):
    with pytest.raises(ValueError, match=message):
        read_conllu(io.StringIO(text))


def test_conllu_has_ten_columns():
    assert read_conllu(io.StringIO("")).columns == CONLLU_COLUMNS
    assert len(CONLLU_COLUMNS) == 10


def test_columns_that_nobody_named_have_names_by_their_number():
    assert read_conll(io.StringIO("He PRON\n")).columns == ("word", "label")
    with pytest.raises(ValueError, match=r"3 columns, but 2 were expected \(word, label\)"):
        read_conll(io.StringIO("He PRON\nruns VERB x\n"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He runs .\n\nStop !\n", [["He", "runs", "."], ["Stop", "!"]]),
        ("He\nruns\n\nStop\n", [["He", "runs"], ["Stop"]]),
        ("He PRON\nruns VERB\n\nStop VERB\n", [["He", "runs"], ["Stop"]]),
        ("He runs\nDogs VERB\n", [["He", "runs"], ["Dogs", "VERB"]]),
        ("# a note\nHe runs .\n", [["He", "runs", "."]]),
    ],
)
def test_plain_text_is_taken_where_words_are_enough(text, words):
    assert read_to_label(io.StringIO(text), ("word",), {"PRON", "VERB"}, comment="#").column("word") == words


def test_plain_text_is_refused_where_more_columns_are_needed():
    with pytest.raises(ValueError, match="4 columns, but 3 were expected"):
        read_to_label(io.StringIO("He runs home .\n"), ("word", "pos"), {"B-NP"})
