"""Formulas: a dot takes what has no other role, nothing that a file says is evaluated, and names name one thing."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from formulaic import model_matrix

from novikoff import CertificateError, Existence, Perceptron, existence, save
from novikoff.keep import layout
from novikoff.keep.models import read_certificate
from novikoff.prove.existence.inputs import likelihood_of
from tests.mutants import survivors

TABLE = pd.DataFrame(
    {
        "dose": [0, 0, 1, 1, 1, 1],
        "age": [30.0, 40, 30, 40, 50, 60],
        "site": ["a", "b", "a", "b", "a", "c"],
        "fast": [True, False, False, True, False, True],
        "grade": pd.Categorical(["x", "y", "x", "z", "y", "x"], ["z", "y", "x", "w"]),
        "body mass": [20, 21, 20, 22, 21, 20],
        "ill": [0, 0, 1, 0, 1, 0],
    }
)


# -- what a dot takes -------------------------------------------------------------------------------------------------


def test_a_dot_does_not_take_the_response():
    table = TABLE[["dose", "age", "ill"]]
    found = existence("ill ~ .", table)
    assert found.coefficients == ("intercept", "dose", "age")
    assert found.diverging == {"intercept": "-inf", "dose": "+inf"}
    assert found.diverging == existence("ill ~ dose + age", table).diverging


ROLES = TABLE[["dose", "ill"]].assign(
    well=[2, 3, 0, 1, 0, 4], week=[1.0, 2, 2, 3, 4, 4], start=0.0, w=1.0, size=-1.0, site=list("aababb")
)


@pytest.mark.parametrize(
    ("formula", "options", "columns"),
    [
        ("cbind(ill, well) ~ .", {}, "dose week start w size site"),
        ("ill + well ~ .", {"weights": "w"}, "dose week start size site"),
        ("ill ~ . | site", {"weights": "w"}, "dose well week start size"),
        ("ill ~ . | site", {}, "dose well week start w size"),
        ("ill ~ . - week", {"family": "log-binomial", "offset": "size"}, "dose well start w site"),
        ("Surv(start, week, ill) ~ .", {"strata": "site"}, "dose well w size"),
        ("I(week > 2) ~ .", {"weights": "w"}, "dose ill well start size site"),
        ("ill ~ . + exp(age)", {"weights": "w"}, "dose well week start size site"),
    ],
)
def test_a_dot_takes_only_columns_without_another_role(formula, options, columns):
    used = likelihood_of(formula, ROLES.assign(age=1.0) if "age" in formula else ROLES, **options).columns
    taken = {name.partition("[")[0] for name in used} - {"intercept", "exp(age)", "age"}
    assert {name for name in taken if not name.startswith("site=")} == set(columns.split())


# -- the small grammar ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "right",
    ["dose + C(dose)", "0 + site", "site*age", "C(site):age - 1", "grade + fast", "C(grade)*C(fast)",
     "`body mass`:site", "age + site + age:site - age", "C(`body mass`) + 0",
     "-1 + site:grade", "1", "dose*site:age", "- 0 + site"],
)  # fmt: skip
def test_what_is_computed_without_evaluation_is_what_formulaic_computes(right):
    found, known = likelihood_of(f"ill ~ {right}", TABLE, is_from_file=True), model_matrix(right, TABLE)
    assert [name.replace("intercept", "Intercept") for name in found.columns] == list(known.columns)
    assert np.array_equal(found.X.toarray(), known.to_numpy().astype(float))


def attack(place):
    return f"__import__('pathlib').Path({str(place)!r}).touch()"


@pytest.mark.parametrize(
    "formula",
    ["ill ~ dose + {{{}}}", "ill ~ dose + I({})", "{{{}}} ~ dose", "ill ~ C({})", "ill ~ dose + C(dose, {})",
     "I({}) ~ dose | site", "ill ~ dose + log({})", "cbind(ill, {}) ~ dose", "ill ~ `dose` + {{{}}}"],
)  # fmt: skip
def test_nothing_that_a_certificate_says_is_evaluated(formula, tmp_path):
    content = json.loads(existence("ill ~ dose", TABLE).to_json())
    content["data"]["formula"]["text"] = formula.format(attack(tmp_path / "pwned"))
    (tmp_path / "evil.cert").write_text(json.dumps(content))
    save(Perceptron().fit([[0.0], [1.0]], [0, 1]), tmp_path / "evil.novikoff")
    header, arrays = layout.read(tmp_path / "evil.novikoff")
    del header["sha256"], header["transposed"]
    layout.write(tmp_path / "evil.novikoff", header | {"certificate": json.dumps(content)}, arrays)
    for name in ("evil.cert", "evil.novikoff"):
        with pytest.raises(CertificateError, match="pass it: check"):
            read_certificate(tmp_path / name).check(TABLE)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("option", ["weights", "offset", "strata", "fixed_effects", "more"])
def test_options_in_a_certificate_only_name_columns(option, tmp_path):
    content = json.loads(existence("ill ~ dose", TABLE).to_json())
    for value in (attack(tmp_path / "pwned"), [attack(tmp_path / "pwned")], {"a": 1}, 7, None):
        content["data"]["formula"]["options"] = {option: value}
        with pytest.raises(ValueError, match=r"column|certificate|meaning"):
            Existence.from_json(json.dumps(content)).check(TABLE)
    assert not (tmp_path / "pwned").exists()


def test_a_formula_that_is_evaluated_must_be_given_and_be_the_same():
    formula = "I(age > 35) ~ C(site) + dose:age"
    again = Existence.from_json(existence(formula, TABLE).to_json())
    with pytest.raises(CertificateError, match="not evaluated"):
        again.check(TABLE)
    again.check(formula, TABLE)
    with pytest.raises(CertificateError, match="formula"):
        again.check("I(age > 35) ~ C(site) + age:dose", TABLE)


def test_words_of_this_library_are_no_words_of_a_formula():
    with pytest.raises(ValueError, match="from_arrays"):
        existence("ill ~ from_arrays(dose)", TABLE)


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "family"),
    [
        (pd.DataFrame({"0|1": [0.0, 1, 2, 3, 4]}), [0, 0, 1, 1, 2], "ordinal"),
        (pd.DataFrame({"c": [0.0, 1, 2, 3], "b: c": [0.0, 1, 0, 1]}), ["z", "a", "a: b", "0"], "multinomial"),
    ],
)
def test_coefficients_that_would_have_one_name_are_refused(X, y, family):
    with pytest.raises(ValueError, match="two coefficients would be called"):
        existence(X, y, family=family)


def test_a_file_in_which_two_coefficients_have_one_name_is_refused():
    content = json.loads(existence([[0.0], [1], [2], [3]], [0, 1, 1, 2], family="ordinal").to_json())
    content["data"]["columns"] = ["0|1"]
    with pytest.raises(CertificateError, match=r"two coefficients would be called '0\|1'"):
        Existence.from_json(json.dumps(content))


# -- rows -------------------------------------------------------------------------------------------------------------


def test_separated_rows_are_those_of_the_index():
    shuffled = TABLE[["dose", "age", "ill"]].sample(frac=1, random_state=3)
    formula, arrays = existence("ill ~ dose + age", shuffled), existence(shuffled[["dose", "age"]], shuffled["ill"])
    for found in (formula, arrays):
        assert set(found.separated_rows) == {0, 1}
        assert set(shuffled.drop(index=list(found.separated_rows))["dose"]) == {1}
        assert set(shuffled.iloc[list(found.separated_positions)]["dose"]) == {0}
        assert "2 of 6 rows (by their index)" in str(found)
    assert Existence.from_json(formula.to_json()).separated_positions == formula.separated_positions
    assert existence(shuffled[["dose", "age"]].to_numpy(), shuffled["ill"].tolist()).separated_rows == (
        formula.separated_positions
    )


def test_rows_that_a_model_dropped_are_counted():
    table = TABLE[["dose", "age", "ill"]].set_axis(list("utsrqp")).astype(float)
    table.loc["t", "age"] = np.nan
    C = sm.add_constant(table[["dose", "age"]])
    with_index = sm.Logit(table["ill"], C, missing="drop"), smf.logit("ill ~ dose + age", table)
    for found in map(existence, with_index):
        assert (found.separated_rows, found.separated_positions) == (("u",), (0,))
    table = table.iloc[::-1]
    C = sm.add_constant(table[["dose", "age"]])
    plain = existence(sm.Logit(table["ill"].to_numpy(), C.to_numpy(), missing="drop"))
    assert plain.separated_rows == plain.separated_positions == (5,)
    assert existence(sm.Logit(table["ill"], C, missing="drop")).separated_rows == ("u",)


# -- odd files --------------------------------------------------------------------------------------------------------

QUESTIONS = {
    "factors and weights": ("ill ~ dose + C(site)", {"weights": "w"}),
    "fixed effects": ("well ~ dose | site", {"family": "ppml"}),
    "fixed effects and a dot": ("well ~ . - week | site", {"family": "ppml"}),
    "survival": ("Surv(start, week, ill) ~ dose", {"strata": "site", "ties": "exact"}),
    "classes": ("site ~ dose*w", {"family": "multinomial", "reference": "b", "fit_intercept": False}),
    "log link": ("cbind(ill, well) ~ dose", {"family": "log-binomial", "offset": "size"}),
    "order": ("well ~ dose", {"family": "ordinal"}),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_whatever_is_changed_in_a_file_is_refused_with_a_reason_or_says_the_same(name):
    formula, options = QUESTIONS[name]

    def read(text):
        found = Existence.from_json(text)
        found.check(ROLES)
        return found.to_json()

    text = existence(formula, ROLES, **options).to_json()
    assert read(text) == text
    assert survivors(text, read, ValueError, words=["ill", "site", "cox", "binomial", "+inf", "~"], most=400) == []
