"""`certify` and `existence` say the same of the estimates, whichever way the data come in, or one refuses."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from novikoff import Certificate, CertificateError, certify, existence
from novikoff.data import read
from novikoff.features.encode import learn_encoding
from novikoff.prove.separable.search import certify as searching
from tests.cli.calling import call


def endometrial(n=30, seed=1):
    """Two measurements that overlap, and a finding that nobody without the disease has: one estimate is infinite."""
    random = np.random.default_rng(seed)
    HG = random.integers(0, 2, n)
    NV = np.where(random.random(n) < 0.4, HG, 0)
    return pd.DataFrame({"NV": NV, "PI": random.integers(0, 40, n), "EH": random.integers(10, 40, n) / 16, "HG": HG})


def factors():
    """A level of three whose rows all have one outcome."""
    return pd.DataFrame(
        {
            "group": list("aaabbbccab"),
            "age": [30, 41, 32, 43, 34, 45, 36, 47, 38, 49],
            "y": [0, 1, 0, 1, 0, 0, 1, 1, 1, 1],
        }
    )


TABLES = {"endometrial": (endometrial(), "HG", {"NV": "+inf"}), "factors": (factors(), "y", {"group[T.c]": "+inf"})}


@pytest.mark.parametrize("name", TABLES)
def test_both_commands_say_the_same(name, tmp_path):
    table, label, infinite = TABLES[name]
    table.to_csv(tmp_path / "table.csv", index=False)
    ours = call("certify", "table.csv", "--label", label, "--diverging", "--json", folder=tmp_path)
    theirs = call("certify", "table.csv", "--formula", f"{label} ~ .", "--json", folder=tmp_path)
    found, known = ours.json["certificate"]["estimates"], theirs.json["existence"]
    assert found["diverging"] == infinite
    assert {**found, "formula": None} == {**known, "formula": None}


@pytest.mark.parametrize("name", TABLES)
def test_every_way_in_has_the_same_estimates(name, tmp_path):
    table, label, infinite = TABLES[name]
    table.to_csv(tmp_path / "table.csv", index=False)
    reader = read(tmp_path / "table.csv", label=label)
    known = existence(f"{label} ~ .", table)
    for source in (reader, read(table, label=label)):
        found = certify(source, diverging=True)
        assert found.estimates.coefficients == known.coefficients
        assert found.diverging == known.diverging == infinite
        assert found.estimates.separated_positions == known.separated_positions
        again = Certificate.from_json(found.to_json())
        again.check(reader)
        assert again.diverging == infinite
    if name == "endometrial":
        X, y = table[["NV", "PI", "EH"]], table[label]
        assert certify(X, y, diverging=True).diverging == existence(X, y).diverging == infinite
        assert certify(X.to_numpy(), y, diverging=True).diverging == {"x0": "+inf"}


def test_numbers_that_are_categories_are_factors_of_the_formula(tmp_path):
    table = factors().assign(site=[7, 7, 8, 8, 9, 9, 7, 8, 9, 7])
    table.to_csv(tmp_path / "table.csv", index=False)
    reader = read(tmp_path / "table.csv", label="y")
    encoding = learn_encoding(reader, categorical=["site"], ignore=["age"])
    found, known = certify(reader, encoding=encoding, diverging=True), existence("y ~ group + C(site)", table)
    assert found.estimates.about.formula.text == "y ~ group + C(site)"
    assert (found.estimates.coefficients, found.diverging) == (known.coefficients, known.diverging)
    found.check(reader)


def test_three_classes_have_a_multinomial_regression(tmp_path):
    table = endometrial().assign(HG=lambda t: np.where(t.PI > 35, 2, t.HG))
    table.to_csv(tmp_path / "table.csv", index=False)
    found = certify(read(tmp_path / "table.csv", label="HG"), diverging=True)
    known = existence("HG ~ .", table, family="multinomial")
    assert found.diverging == known.diverging
    assert set(found.diverging) <= set(known.coefficients)


def test_estimates_are_looked_for_only_if_somebody_asks(monkeypatch):
    monkeypatch.setattr(searching, "with_estimates", None)
    monkeypatch.setattr("novikoff.prove.existence.search.existence.certified", None)
    found = certify([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert (found.estimates, found.diverging) == (None, None)


def test_the_panel_says_that_nobody_asked(tmp_path):
    endometrial().to_csv(tmp_path / "table.csv", index=False)
    out = call("certify", "table.csv", "--label", "HG", folder=tmp_path).out
    assert "infinite estimates: not requested (--diverging)" in out
    endometrial().assign(HG=[0, 1] * 15).to_csv(tmp_path / "table.csv", index=False)
    assert "infinite estimates" not in call("certify", "table.csv", "--label", "HG", folder=tmp_path).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "group"], "text"),
        (["--lift", "squares"], "lift"),
        (["--kernel", "rbf"], "kernel"),
        (["--no-fit-intercept"], "write a formula"),
    ],
)
def test_what_has_no_design_of_its_own_is_refused_and_not_guessed(options, message, tmp_path):
    factors().to_csv(tmp_path / "table.csv", index=False)
    done = call("certify", "table.csv", "--label", "y", "--diverging", *options, folder=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_missing_values_are_refused_and_said(tmp_path):
    table = endometrial()
    table.loc[3, "EH"] = np.nan
    table.to_csv(tmp_path / "table.csv", index=False)
    assert "missing values" in call("certify", "table.csv", "--label", "HG", "--diverging", folder=tmp_path).err
    assert "not computed: the column 'EH' has missing" in " ".join(
        call("certify", "table.csv", "--label", "HG", folder=tmp_path).out.replace("│", " ").split()
    )


def test_labels_that_are_shares_are_refused():
    with pytest.raises(ValueError, match="proportions"):
        certify([[0.0], [1.0], [2.0]], [0.25, 0.25, 0.5], diverging=True)


def test_a_certificate_cannot_bring_the_estimates_of_other_data(tmp_path):
    table = endometrial()
    table.to_csv(tmp_path / "table.csv", index=False)
    reader = read(tmp_path / "table.csv", label="HG")
    found = certify(reader, diverging=True)
    others = (existence("HG ~ NV + PI", table), existence("HG ~ .", table.assign(EH=1.0)), existence("NV ~ .", table))
    for other in others:
        with pytest.raises(CertificateError):
            replace(found, estimates=other).check(reader)
    content = json.loads(found.to_json())
    content["estimates"]["claims"]["diverging"] = []
    with pytest.raises(CertificateError, match="diverging"):
        Certificate.from_json(json.dumps(content)).check(reader)
