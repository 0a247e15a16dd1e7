"""`certify` and `check`: the exit code is the verdict, and a certificate holds for its own table only."""

import json
import random
import re
from dataclasses import replace

import pytest

from novikoff import certify
from novikoff.data import read
from novikoff.engine.rounding import at_most
from novikoff.features.encode import learn_encoding
from novikoff.keep.models import read_certificate
from tests.cli.calling import call

QUASI = "dose,age,ill\n0,30,no\n0,40,no\n1,30,yes\n1,40,no\n1,50,yes\n1,60,no\n"


@pytest.mark.parametrize(
    ("line", "code", "verdict"),
    [
        ("cars.csv --label sport_car", 0, "separable"),
        ("quasi.csv --label ill", 10, "quasi-separable"),
        ("xor.csv --label bits", 11, "overlapping"),
        ("circle.csv --label where --ignore z", 11, "overlapping"),
        ("circle.csv --label where", 0, "separable"),
        ("animals.csv --label class --ignore name", 0, "separable"),
        ("six_points.svm --no-fit-intercept", 0, "separable"),
    ],
)
def test_the_exit_code_is_the_verdict_and_the_certificate_can_be_checked(folder, line, code, verdict):
    (folder / "quasi.csv").write_text(QUASI)
    done = call("certify", *line.split(), "--json", "--out", "proof.cert", folder=folder)
    assert (done.code, done.json["certificate"]["verdict"]) == (code, verdict)
    checked = call("check", "proof.cert", line.split()[0], "--json", folder=folder)
    assert (checked.code, checked.json["holds"]) == (0, True)
    assert checked.json["certificate"] == done.json["certificate"]


def test_the_exit_code_of_undecided_is_12(folder, monkeypatch):
    from novikoff.prove.separable.certificate import Support, Witnesses
    from novikoff.prove.separable.search import working_set

    support = Witnesses(support=Support((0, 1), (0.5, 0.5)))
    monkeypatch.setattr(working_set, "find_witnesses", lambda *arguments: support)
    done = call("certify", "cars.csv", "--label", "sport_car", "--json", folder=folder)
    assert done.code == 12
    upper = done.json["certificate"]["margin"][1]
    done = call("certify", "cars.csv", "--label", "sport_car", folder=folder)
    assert "undecided" in done.out
    assert f"no separator has a margin above {at_most(upper)}" in done.out


def test_the_exit_code_of_not_separable_is_13(folder, monkeypatch):
    from novikoff.prove.separable.certificate import Witnesses
    from novikoff.prove.separable.search import working_set

    (folder / "quasi.csv").write_text(QUASI)
    found = Witnesses(obstruction=certify(read(folder / "quasi.csv", label="ill")).obstruction)
    monkeypatch.setattr(working_set, "find_witnesses", lambda *arguments: found)
    done = call("certify", "quasi.csv", "--label", "ill", folder=folder)
    assert done.code == 13
    assert "not separable (proved)" in done.out
    assert "quasi-separable or overlapping was not decided" in " ".join(done.out.replace("│", " ").split())


def test_a_certificate_holds_for_its_own_table_only(folder):
    text = (folder / "cars.csv").read_text()
    (folder / "other.csv").write_text(text.replace("246", "247", 1))
    done = call("check", "cars.cert", "other.csv", folder=folder)
    assert done.code == 1
    assert "the data are not those that were certified" in done.err


def test_a_certificate_with_a_false_claim_is_refused(folder):
    text = (folder / "cars.cert").read_text()
    bound = str(read_certificate(folder / "cars.cert").mistake_bound)
    (folder / "false.cert").write_text(text.replace(f'"mistake_bound": "{bound}"', '"mistake_bound": "3"'))
    done = call("check", "false.cert", "cars.csv", folder=folder)
    assert done.code == 1
    assert "bound" in done.err


@pytest.mark.parametrize("size", [0, 100, 2000])
def test_a_certificate_that_is_cut_off_is_refused(folder, size):
    (folder / "cut.cert").write_bytes((folder / "cars.cert").read_bytes()[:size])
    done = call("check", "cut.cert", "cars.csv", folder=folder)
    assert done.code == 1
    assert "cut.cert is not a certificate, or is truncated" in done.err


def test_diverging_coefficients_have_names(folder):
    (folder / "quasi.csv").write_text(QUASI)
    done = call("certify", "quasi.csv", "--label", "ill", "--diverging", folder=folder)
    assert "dose (+inf)" in done.out
    assert "ill ~ dose + age (binomial)" in done.out
    assert "row 3 + 1 x row 4 = 0" in " ".join(done.out.replace("│", " ").split())


def test_rows_that_cancel_are_named(folder):
    out = call("certify", "xor.csv", "--label", "bits", folder=folder).out
    assert "1 x row 0" in out
    assert "row 3 = 0" in out


def test_the_certificate_in_the_file_is_the_librarys(folder):
    saved = read_certificate(folder / "cars.cert")
    assert saved.table.label == "sport_car"
    saved.check(read(folder / "cars.csv", label="sport_car"))


def test_a_proof_with_very_long_numbers_can_be_checked(folder):
    assert call("certify", "xor.csv", "--label", "bits", "--out", "xor.cert", "--quiet", folder=folder).code == 11
    saved = json.loads((folder / "xor.cert").read_text())
    weights = saved["witnesses"]["obstruction"]["weights"]
    long = [weight + 5_000 * "0" for weight in weights]  # weights that cancel, times a number, cancel
    saved["witnesses"]["obstruction"]["weights"] = long
    (folder / "long.cert").write_text(json.dumps(saved))
    done = call("check", "long.cert", "xor.csv", folder=folder)
    assert (done.code, done.err) == (0, "")


def test_check_says_what_the_proof_is_about(folder):
    out = call("check", "cars.cert", "cars.csv", folder=folder).out
    for words in (
        "sport_car: no, yes",
        "manufacturer",
        "with an intercept",
        "centred at",
        "SHA-256",
        "every claim holds",
    ):
        assert words in out
    answer = call("check", "cars.cert", "cars.csv", "--json", folder=folder).json
    assert answer["data"]["label"] == "sport_car"
    assert answer["data"]["classes"] == ["no", "yes"]


def test_a_proof_about_fewer_columns_shows_that_it_is(folder):
    ignore = ("--ignore", "manufacturer", "--ignore", "colour")
    done = call("certify", "cars.csv", "--label", "sport_car", *ignore, "--out", "few.cert", folder=folder)
    assert done.code in (0, 10, 11)
    assert "not used     manufacturer, colour" in call("check", "few.cert", "cars.csv", folder=folder).out


def test_columns_that_are_not_used_are_found_in_the_file_whatever_the_certificate_says(folder):
    reader = read(folder / "cars.csv", label="sport_car")
    encoding = learn_encoding(reader, ignore=["manufacturer", "colour"])
    used = {name: kind for name, kind in encoding.columns.items() if kind.kind != "ignored"}
    few = certify(reader, encoding=replace(encoding, columns=used))  # as if the file had no other columns
    (folder / "few.cert").write_text(few.to_json())
    out = call("check", "few.cert", "cars.csv", folder=folder).out
    assert f"from {len(used)} of {len(encoding.columns)} columns" in out
    assert "not used     manufacturer, colour" in out


def test_a_certificate_in_a_model_is_claimed_until_it_is_checked(folder):
    done = call("inspect", "cars.novikoff", folder=folder)
    assert "claims separable" in done.out
    assert "novikoff check cars.novikoff FILE" in " ".join(done.out.replace("│", " ").split())
    checked = call("check", "cars.novikoff", "cars.csv", folder=folder)
    assert (checked.code, checked.err) == (0, "")
    assert "every claim holds" in checked.out


def test_whole_numbers_that_floats_would_round_are_not_certified(tmp_path):
    (tmp_path / "large.csv").write_text(f"number,y\n{2**53 + 1},a\n{2**53 + 3},b\n1,a\n")
    done = call("certify", "large.csv", "--label", "y", folder=tmp_path)
    assert done.code == 1
    assert "beyond 2^53, which float64 would round" in done.err


def test_a_table_whose_numbers_are_rounded_is_learned_but_never_certified(tmp_path):
    """Neither by fit, nor by a certificate of what the same numbers are in float64."""
    (tmp_path / "large.csv").write_text(f"number,y\n{2**53 + 1},a\n{2**53 + 3},b\n1,a\n")
    (tmp_path / "rounded.csv").write_text(f"number,y\n{float(2**53 + 1)},a\n{float(2**53 + 3)},b\n1.0,a\n")
    done = call("fit", "large.csv", "--label", "y", "--json", folder=tmp_path)
    assert (done.code, done.json["certificate"]) == (0, None)
    assert "the model is saved; the table was not certified: the column 'number'" in done.err
    call("certify", "rounded.csv", "--label", "y", "--out", "rounded.cert", folder=tmp_path)
    assert call("check", "rounded.cert", "rounded.csv", folder=tmp_path).code == 0
    done = call("check", "rounded.cert", "large.csv", folder=tmp_path)
    assert done.code == 1
    assert "beyond 2^53" in done.err


@pytest.mark.parametrize(
    "line",
    [
        "certify noise.csv --label y",
        "certify noise.csv --label y --kernel linear",
        "fit noise.csv --label y --no-shuffle --readout last",
        "inequalities noise.csv --label y",
        "ball noise.csv --label y",
    ],
)
def test_no_panel_prints_a_number_that_nobody_can_read(line, tmp_path):
    """Whole weights of an exact proof have dozens of digits; how many is enough to know."""
    chance = random.Random(0)
    rows = [",".join([*(repr(chance.gauss(0, 1)) for _ in range(4)), chance.choice("ab")]) for _ in range(40)]
    (tmp_path / "noise.csv").write_text("p,q,r,s,y\n" + "\n".join(rows) + "\n")
    assert not re.search(r"\d{12}", call(*line.split(), folder=tmp_path).out)
