"""`certify` and `check`: the exit code is the verdict, and a certificate holds for its own table only."""

import json

import pytest

from novikoff.cli.certificates import read_certificate
from novikoff.data import read
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
    from novikoff.prove.certificate import Bracket, Verdict
    from novikoff.prove.certify import certify

    def gives_up(X, y, **options):
        from dataclasses import replace

        found = certify(X, y, fit_intercept=True)
        return replace(found, verdict=Verdict.UNDECIDED, margin=Bracket(0.0, 0.5), mistake_bound=None, vector=None)

    monkeypatch.setattr("novikoff.prove.certify.certify", gives_up)
    done = call("certify", "cars.csv", "--label", "sport_car", folder=folder)
    assert done.code == 12
    assert "undecided" in done.out
    assert "gamma is at most 0.5" in done.out


def test_a_certificate_holds_for_its_own_table_only(folder):
    text = (folder / "cars.csv").read_text()
    (folder / "other.csv").write_text(text.replace("246", "247", 1))
    done = call("check", "cars.cert", "other.csv", folder=folder)
    assert done.code == 1
    assert "the data are not those that were certified" in done.err


def test_a_certificate_with_a_false_claim_is_refused(folder):
    text = (folder / "cars.cert").read_text()
    bound = str(read_certificate(folder / "cars.cert").certificate.mistake_bound)
    (folder / "false.cert").write_text(text.replace(f'"mistake_bound": "{bound}"', '"mistake_bound": "3"'))
    done = call("check", "false.cert", "cars.csv", folder=folder)
    assert done.code == 1
    assert "bound" in done.err


@pytest.mark.parametrize("size", [0, 100, 2000])
def test_a_certificate_that_is_cut_off_is_refused(folder, size):
    (folder / "cut.cert").write_bytes((folder / "cars.cert").read_bytes()[:size])
    done = call("check", "cut.cert", "cars.csv", folder=folder)
    assert done.code == 1
    assert "cut.cert is no certificate, or is cut off" in done.err


def test_diverging_coefficients_have_names(folder):
    (folder / "quasi.csv").write_text(QUASI)
    done = call("certify", "quasi.csv", "--label", "ill", "--diverging", folder=folder)
    assert "dose (+inf)" in done.out
    assert "3 rows (the first is 0), times labels and whole weights" in done.out
    assert "2, 3, 4" in done.out


def test_rows_that_cancel_are_named(folder):
    out = call("certify", "xor.csv", "--label", "bits", folder=folder).out
    assert "1 x row 0" in out
    assert "row 3 = 0" in out


def test_the_certificate_in_the_file_is_the_librarys(folder):
    saved = read_certificate(folder / "cars.cert")
    assert saved.label == "sport_car"
    saved.certificate.check(read(folder / "cars.csv", label="sport_car"), encoding=saved.encoding)


def test_a_proof_with_very_long_numbers_can_be_checked(folder):
    assert call("certify", "xor.csv", "--label", "bits", "--out", "xor.cert", "--quiet", folder=folder).code == 11
    saved = json.loads((folder / "xor.cert").read_text())
    rows, weights, rivals = saved["certificate"]["obstruction"]
    long = [weight + 5_000 * "0" for weight in weights]  # weights that cancel, times a number, cancel
    saved["certificate"]["obstruction"] = [rows, long, rivals]
    (folder / "long.cert").write_text(json.dumps(saved))
    done = call("check", "long.cert", "xor.csv", folder=folder)
    assert (done.code, done.err) == (0, "")
