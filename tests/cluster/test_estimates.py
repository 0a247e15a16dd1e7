"""Whether an estimate exists is the same question on shards, and has the same certificate."""

import pytest

import novikoff
from novikoff import CertificateError
from novikoff.cli.existence import read_table
from novikoff.cli.options import TableOptions
from novikoff.cli.progress import ProgressBar
from novikoff.cluster import Local, check, existence
from novikoff.cluster.estimates import table_of
from novikoff.prove.existence.certificate import Existence
from tests.cli.calling import call
from tests.cluster.files import rows, write

pytest.importorskip("formulaic")

FORMULA = "won ~ x0 + C(color)"


def tables(folder, kind="csv", n=24):
    """Three files; all rows of a color that only the second has are won."""
    for number in range(3):
        table = rows(n, number, integers=True, words=False)
        color = ["red" if x > 0 else "blue" for x in table["x1"]]
        won = [int((i * 7 + number) % 3 == 0) for i in range(n)]
        if number == 1:
            color[:2], won[:2] = ["green"] * 2, [1, 1]
        write(folder / f"{number}.{kind}", {**table, "color": color, "won": won, "weight": [0.5, 1.0] * (n // 2)})
    return str(folder / f"*.{kind}")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_the_certificate_of_shards_is_that_of_one_machine_bit_for_bit(tmp_path, kind, family):
    pattern = tables(tmp_path, kind)
    ours = existence(FORMULA, pattern, family=family, weights="weight", shard_bytes=500)
    whole = read_table(pattern, TableOptions(None, {}), ProgressBar(is_shown=False))
    theirs = novikoff.existence(FORMULA, whole, family=family, weights="weight")
    assert ours.to_json() == theirs.to_json()
    if family == "binomial":
        assert ours.fate("C(color)[T.green]") == "+inf"
    ours.check(whole)
    check(ours, pattern, shard_bytes=700)
    check(Existence.from_json(theirs.to_json()), pattern)


def test_files_whose_columns_have_other_types_are_read_as_one(tmp_path):
    write(tmp_path / "0.csv", {"x": [1, 2, 3], "y": [0, 1, 0]})
    write(tmp_path / "1.csv", {"x": [0.5, 2.5], "y": [1, 0]})
    pattern = str(tmp_path / "*.csv")
    ours = existence("y ~ x", pattern)
    assert ours.n_rows == 5
    assert ours.exists


def test_only_the_columns_that_are_named_are_sent(tmp_path):
    pattern = tables(tmp_path)
    assert list(table_of(pattern, [FORMULA, "weight"]).columns) == ["x0", "color", "won", "weight"]


def test_a_changed_row_is_noticed(tmp_path):
    pattern = tables(tmp_path)
    ours = existence(FORMULA, pattern)
    path = tmp_path / "2.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-2]]) + "\n")
    with pytest.raises(CertificateError):
        check(ours, pattern)


def test_rows_without_names_are_refused(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:2\n0 1:3\n")
    with pytest.raises(ValueError, match="a formula needs names"):
        existence("y ~ x", str(tmp_path / "rows.svm"), format="svmlight")


def test_progress_is_told_until_the_end(tmp_path):
    told = []
    existence(FORMULA, tables(tmp_path), engine=Local(), progress=told.append)
    assert told[0] == "reading"
    assert told[-1] == "proving what was found"


def test_the_command_says_the_same_on_shards(tmp_path):
    pattern = tables(tmp_path)
    line = ("certify", pattern, "--formula", FORMULA, "--weights", "weight")
    alone = call(*line, "--out", "one.json", "--json", folder=tmp_path)
    shards = call(*line, "--out", "two.json", "--json", "--cluster", "local", folder=tmp_path)
    assert alone.code == shards.code == 10
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()


def test_a_formula_that_is_evaluated_is_given_again(tmp_path):
    pattern = tables(tmp_path)
    ours = existence("won ~ exp(x0)", pattern)
    with pytest.raises(CertificateError, match="not evaluated"):
        check(ours, pattern)
    check(ours, pattern, formula="won ~ exp(x0)")
