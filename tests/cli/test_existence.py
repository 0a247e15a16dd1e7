"""`certify --formula`: the exit code is the answer, and the certificate knows its formula."""

import pytest

from tests.cli.calling import call

PATIENTS = (
    "dose,age,ill,site,week,seen\n0,30,no,a,1,1\n0,40,no,b,2,1\n1,30,yes,a,2,0\n"
    "1,40,no,b,3,1\n1,50,yes,a,4,1\n1,60,no,b,4,0\n"
)


@pytest.fixture
def patients(tmp_path):
    (tmp_path / "patients.csv").write_text(PATIENTS)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "code", "estimate"),
    [
        (["--formula", "ill ~ dose + age"], 10, "infinite"),
        (["--formula", "ill ~ age"], 0, "exists"),
        (["--formula", "ill ~ 0 + dose", "--family", "log-binomial"], 11, "no start"),
        (["--formula", "ill ~ dose", "--no-fit-intercept"], 0, "exists"),
        (["--formula", "ill ~ dose", "--family", "conditional", "--strata", "site"], 10, "infinite"),
        (["--formula", "Surv(week, seen) ~ age", "--ties", "exact"], 0, "exists"),
        (["--formula", "Surv(week, seen) ~ age"], 0, "exists"),
        (["--formula", "site ~ age + C(dose)", "--family", "multinomial", "--reference", "b"], 0, "exists"),
    ],
)
def test_the_exit_code_is_the_answer_and_the_certificate_can_be_checked(patients, line, code, estimate):
    done = call("certify", "patients.csv", *line, "--json", "--out", "proof.cert", folder=patients)
    assert (done.code, done.json["existence"]["estimate"]) == (code, estimate)
    checked = call("check", "proof.cert", "patients.csv", "--json", folder=patients)
    assert (checked.code, checked.json["existence"]) == (0, done.json["existence"])


def test_what_a_person_reads(patients):
    done = call("certify", "patients.csv", "--formula", "ill ~ dose + age", "--out", "proof.cert", folder=patients)
    for words in ("has no maximum likelihood", "to +infinity  dose", "finite        age", "2 of 6 rows", "proof.cert"):
        assert words in done.out
    checked = call("check", "proof.cert", "patients.csv", folder=patients)
    assert "every claim holds (proved again from the data)" in checked.out


def test_firths_estimate_is_fitted_if_it_is_asked_for(patients):
    line = ["--formula", "ill ~ dose + age", "--finite"]
    done = call("certify", "patients.csv", *line, folder=patients)
    assert (done.code, "Firth's logistic regression" in done.out) == (10, True)
    found = call("certify", "patients.csv", *line, "--json", folder=patients).json["finite"]
    assert found["coefficients"] == ["intercept", "dose", "age"]
    assert found["lower"][1] < found["estimate"][1] < found["upper"][1]


def test_a_proof_is_shown_although_its_family_has_no_finite_estimate(patients):
    line = ["--formula", "week ~ dose", "--family", "poisson"]
    plain, asked = (call("certify", "patients.csv", *line, *more, folder=patients) for more in ([], ["--finite"]))
    assert (asked.code, asked.out) == (plain.code, plain.out)
    assert "ppmlhdfe" in asked.err


def test_missing_values_are_omitted_and_the_success_is_chosen(patients):
    (patients / "holes.csv").write_text(PATIENTS.replace("1,50,yes", "1,,yes"))
    line = ["--formula", "ill ~ dose + age", "--success", "no", "--out", "proof.cert"]
    done = call("certify", "holes.csv", *line, folder=patients)
    assert done.code == 10
    for words in ("ill: success is no", "1 of 6 rows with missing values", "5 rows"):
        assert words in done.out
    checked = call("check", "proof.cert", "holes.csv", folder=patients)
    assert (checked.code, "1 of 6 rows" in checked.out) == (0, True)
    assert call("check", "proof.cert", "patients.csv", folder=patients).code == 1


def test_a_certificate_holds_for_its_own_table_only(patients):
    call("certify", "patients.csv", "--formula", "ill ~ dose + age", "--out", "proof.cert", "--quiet", folder=patients)
    (patients / "other.csv").write_text(PATIENTS.replace("60", "61"))
    done = call("check", "proof.cert", "other.csv", folder=patients)
    assert done.code == 1
    assert "is about other data" in done.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--family", "poisson", "--label", "ill"], "--family requires --formula"),
        (["--formula", "ill ~ dose", "--label", "ill"], "--label cannot be combined with --formula"),
        (["--formula", "ill ~ doze"], "doze"),
        (["--formula", "ill ~ dose", "--strata", "site"], "no meaning"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(patients, line, message):
    done = call("certify", "patients.csv", *line, folder=patients)
    assert done.code == 1
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_certificate_of_arrays_is_checked_in_python(patients):
    from novikoff import existence

    (patients / "arrays.cert").write_text(existence([[1.0], [2.0]], [0, 1]).to_json())
    done = call("check", "arrays.cert", "patients.csv", folder=patients)
    assert done.code == 1
    assert "check it in Python" in done.err


def test_what_is_not_only_names_is_given_again(patients):
    formula = "I(age > 35) ~ dose + log(week)"
    call("certify", "patients.csv", "--formula", formula, "--out", "proof.cert", "--quiet", folder=patients)
    refused = call("check", "proof.cert", "patients.csv", folder=patients)
    assert refused.code == 1
    assert "--formula" in refused.err
    assert call("check", "proof.cert", "patients.csv", "--formula", formula, folder=patients).code == 0
    other = call("check", "proof.cert", "patients.csv", "--formula", "I(age > 35) ~ dose", folder=patients)
    assert (other.code, "its formula" in other.err) == (1, True)


def test_all_that_changes_the_question_is_shown(patients):
    line = ["--formula", "ill ~ dose + C(site)", "--weights", "seen", "--no-fit-intercept", "--out", "proof.cert"]
    call("certify", "patients.csv", *line, "--quiet", folder=patients)
    checked = call("check", "proof.cert", "patients.csv", folder=patients)
    for words in ("ill ~ dose + C(site) (binomial)", "ill: success is yes", "weights       seen", "intercept     none",
                  "4 of 6 are used; not used: age, week"):  # fmt: skip
        assert words in checked.out
    found = call("check", "proof.cert", "patients.csv", "--json", folder=patients).json
    assert found["columns"] == {"used": ["dose", "ill", "site", "seen"], "not_used": ["age", "week"]}
    line = ["--formula", "Surv(week, seen) ~ dose", "--strata", "site", "--ties", "exact"]
    done = call("certify", "patients.csv", *line, folder=patients)
    for words in ("strata", "ties"):
        assert f"│ {words} " in done.out
