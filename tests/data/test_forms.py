"""Tables as they are: without names, with other words for what is missing, with decimal commas."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data import read
from tests.cli.calling import call

IRIS = "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n6.4,?,versicolor\n6.9,3.1,versicolor\n"


def columns(path, **options):
    found = {}
    for records in read(path, **options):
        for name in records.columns.schema.names:
            found.setdefault(name, []).extend(records.columns.column(name).to_pylist())
    return found


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_table_without_names_is_read_from_its_first_line(tmp_path):
    path = written(tmp_path, IRIS)
    assert columns(path, header=False)["column 1"] == [5.1, 4.9, 7.0, 6.4, 6.9]
    assert list(columns(path, header=False, names=["a", "b", "kind"])) == ["a", "b", "kind"]
    with pytest.raises(ValueError, match="has 3 columns, but 2 names were given"):
        columns(path, header=False, names=["a", "b"])
    with pytest.raises(ValueError, match=r"names= are for a table whose first line is data; pass header=False"):
        read(path, names=["a", "b", "c"])


def test_a_mark_is_missing_among_numbers_and_a_word_among_words(tmp_path):
    path = written(tmp_path, "x,sign,both\n1,+,?\n?,-,a\n-,+,-\n2.5,-,b\n")
    assert columns(path) == {"x": [1.0, None, None, 2.5], "sign": ["+", "-", "+", "-"], "both": ["?", "a", "-", "b"]}


@given(st.lists(st.sampled_from(["1", "2.5", "?", "-", "", "x"]), min_size=1, max_size=12), st.integers(5, 40))
def test_marks_do_not_depend_on_the_blocks(tmp_path_factory, values, size):
    path = written(tmp_path_factory.mktemp("marks"), "n,x\n" + "".join(f"{i},{x}\n" for i, x in enumerate(values)))
    assert columns(path) == columns(path, block_bytes=size)
    found = columns(path)["x"]
    if "x" in values:
        assert found == [None if value == "" else value for value in values]
    else:
        assert found == [None if value in ("?", "-", "") else float(value) for value in values]


def test_further_words_mean_a_missing_value_everywhere(tmp_path):
    path = written(tmp_path, "x,w\n1,a\n-99,none\n3,b\n")
    assert columns(path, na_values=["-99", "none"]) == {"x": [1, None, 3], "w": ["a", None, "b"]}


@pytest.mark.parametrize(("decimal", "values"), [(None, [1.5, 2.25]), (",", [1.5, 2.25])])
def test_decimal_commas_between_semicolons_are_found_out(tmp_path, decimal, values):
    path = written(tmp_path, "a;b\n1,5;2\n2,25; 3\n")
    assert columns(path, decimal=decimal) == {"a": values, "b": [2, 3]}


def test_a_point_among_commas_leaves_them_words(tmp_path):
    path = written(tmp_path, "a;b\n1,5;2.5\n2,25;3\n")
    assert columns(path) == {"a": ["1,5", "2,25"], "b": [2.5, 3.0]}
    with pytest.raises(ValueError, match="must be a point or a comma"):
        read(path, decimal="x")


def test_how_text_is_written_is_not_asked_of_other_files(tmp_path):
    path = written(tmp_path, '{"a": 1}\n', "table.jsonl")
    with pytest.raises(ValueError, match="are for tables in text"):
        read(path, header=False)


# -- on the command line ----------------------------------------------------------------------------------------------


def test_a_table_without_names_is_learned_predicted_scored_and_checked(tmp_path):
    written(tmp_path, IRIS, "iris.csv")
    for words in (("--label", "-1"), ("--label", "3"), ("--names", "a,b,kind", "--label", "kind")):
        fitted = call("fit", "iris.csv", "--no-header", *words, "--json", folder=tmp_path).json
        assert (fitted["data"]["rows"], fitted["data"]["classes"]) == (5, ["setosa", "versicolor"])
        assert call("score", "iris.novikoff", "iris.csv", "--json", folder=tmp_path).json["rows"] == 5
        assert len(call("predict", "iris.novikoff", "iris.csv", folder=tmp_path).out.splitlines()) == 6
        assert call("check", "iris.novikoff", "iris.csv", folder=tmp_path).code == 0
    line = ("certify", "iris.csv", "--no-header", "--label", "-1", "--out", "c", "--force", "--quiet")
    assert call(*line, folder=tmp_path).code == 0
    assert call("check", "c", "iris.csv", "--no-header", folder=tmp_path).code == 0


def test_a_first_line_that_looks_like_data_is_a_warning(tmp_path):
    written(tmp_path, IRIS, "iris.csv")
    done = call("fit", "iris.csv", "--label", "setosa", folder=tmp_path)
    assert "was read as column names, but looks like data (5.1, 3.5, setosa); if it is, pass --no-header" in done.err
    done = call("fit", "iris.csv", "--label", "kind", folder=tmp_path)
    assert "if so, pass --no-header" in done.err
    written(tmp_path, "1,1,2\n3,4,5\n", "twice.csv")
    done = call("fit", "twice.csv", "--label", "2", folder=tmp_path)
    assert "two columns named '1', and weights are known by the names of columns" in done.err
    assert "if so, pass --no-header" in done.err


def test_what_fit_reads_predict_reads(tmp_path):
    text = "a;b;y\n1,5; 2;u\n 2,5;3;v\n-;4;u\n9,25;1;v\n"
    written(tmp_path, text, "eu.csv")
    assert call("fit", "eu.csv", "--label", "y", "--max-iter", "100", "--quiet", folder=tmp_path).code == 0
    guesses = call("score", "eu.novikoff", "eu.csv", "--json", folder=tmp_path).json["confusion"]
    predicted = guesses_of(call("predict", "eu.novikoff", "eu.csv", folder=tmp_path))
    assert predicted.count("u") == sum(line[0] for line in guesses)
    assert guesses_of(call("predict", "eu.novikoff", "-", folder=tmp_path, stdin=text)) == predicted


def guesses_of(done):
    return [line.rpartition(",")[2] for line in done.out.splitlines()]


def test_missing_values_are_shown(tmp_path):
    written(tmp_path, IRIS, "iris.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = call("fit", "iris.csv", "--no-header", "--label", "-1", folder=tmp_path).out
    assert "some values of column 2" in out
