"""Arrays, formulas, models of other libraries: all ask the same question, and bad input is refused with its place."""

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.sparse import csr_array
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from novikoff import Existence, existence
from novikoff.data import read
from novikoff.data.examples import Examples
from novikoff.prove.exact.document import CertificateError

TABLE = pd.DataFrame(
    {
        "dose": [0, 0, 1, 1, 1, 1],
        "age": [30, 40, 30, 40, 50, 60],
        "site": ["a", "b", "a", "b", "a", "b"],
        "ill": ["no", "no", "yes", "no", "yes", "no"],
        "well": [2, 3, 0, 1, 0, 4],
        "sick": [0, 0, 1, 2, 2, 1],
        "week": [1.0, 2.0, 2.0, 3.0, 4.0, 4.0],
        "seen": [1, 1, 0, 1, 1, 0],
        "start": [0.0, 0.0, 1.0, 0.0, 2.0, 0.0],
        "weight": [1.0, 1.0, 2.0, 0.0, 1.0, 1.0],
        "log_size": [0.0, -1.0, 0.0, 0.0, 0.0, 0.0],
    }
)
X, ILL = TABLE[["dose", "age"]], (TABLE["ill"] == "yes").astype(int)


def answer(found):
    return found.estimate, found.diverging, found.separated_rows


def test_arrays_of_all_kinds_have_one_answer():
    known = existence(X, ILL)
    values = X.to_numpy().astype(float)
    for other in (values, values.astype(np.float32), csr_array(values), np.asfortranarray(values), pl.from_pandas(X)):
        found = existence(other, ILL.to_numpy())
        assert list(found.diverging.values()) == list(known.diverging.values())
        assert found.separated_rows == known.separated_rows
    for labels in (TABLE["ill"], TABLE["ill"].tolist(), ILL.astype(bool), ILL.astype(float)):
        assert answer(existence(X, labels)) == answer(known)


@pytest.mark.parametrize(
    ("formula", "options", "arrays", "given"),
    [
        ("ill ~ dose + age", {}, (X, ILL), {}),
        ("ill ~ 0 + dose + age", {}, (X, ILL), {"fit_intercept": False}),
        ("ill ~ dose + age", {"weights": "weight"}, (X, ILL), {"weights": TABLE["weight"]}),
        ("cbind(sick, well) ~ dose", {}, (TABLE[["dose"]], TABLE[["sick", "well"]].to_numpy()), {}),
        ("sick + well ~ dose", {}, (TABLE[["dose"]], TABLE[["sick", "well"]].to_numpy()), {}),
        ("sick ~ dose", {"family": "ppml"}, (TABLE[["dose"]], TABLE["sick"]), {"family": "poisson"}),
        (
            "sick ~ dose | site",
            {"family": "ppml"},
            (TABLE[["dose"]], TABLE["sick"]),
            {"family": "ppml", "fixed_effects": {"site": TABLE["site"]}},
        ),
        (
            "ill ~ dose",
            {"family": "log-binomial", "offset": "log_size"},
            (TABLE[["dose"]], ILL),
            {"family": "log-binomial", "offset": TABLE["log_size"]},
        ),
        (
            "Surv(start, week, seen) ~ dose",
            {"strata": "site", "ties": "exact"},
            (TABLE[["dose"]], TABLE[["start", "week", "seen"]]),
            {"family": "cox", "strata": TABLE["site"], "ties": "exact"},
        ),
        (
            "ill ~ dose",
            {"family": "conditional", "strata": "site"},
            (TABLE[["dose"]], ILL),
            {"family": "conditional", "strata": TABLE["site"]},
        ),
        ("sick ~ dose", {"family": "ordinal"}, (TABLE[["dose"]], TABLE["sick"]), {"family": "ordinal"}),
        (
            "site ~ dose",
            {"family": "multinomial", "reference": "b"},
            (TABLE[["dose"]], TABLE["site"]),
            {"family": "multinomial", "reference": "b"},
        ),
    ],
)
def test_a_formula_says_what_arrays_say(formula, options, arrays, given):
    found = existence(formula, TABLE, **options)
    assert answer(found) == answer(existence(*arrays, **given))
    again = Existence.from_json(found.to_json())
    again.check(TABLE)
    again.check(formula, TABLE, **options)


def test_examples_and_files_of_numbers(tmp_path):
    known = existence(X.to_numpy(), ILL)
    assert answer(existence(Examples.of(X.to_numpy().astype(float), ILL.to_numpy()))) == answer(known)
    lines = [f"{y} 1:{x[0]} 2:{x[1]}" for x, y in zip(X.to_numpy(), ILL, strict=True)]
    (tmp_path / "six.svm").write_text("\n".join(lines) + "\n")
    found = existence(read(tmp_path / "six.svm"))
    assert found.separated_rows == known.separated_rows
    found.check(read(tmp_path / "six.svm"))
    TABLE.to_csv(tmp_path / "six.csv", index=False)
    with pytest.raises(ValueError, match="write a formula"):
        existence(read(tmp_path / "six.csv", label="ill"))


def test_a_frame_is_no_model_whatever_its_columns_are_called():
    named = X.assign(model=1, endog=TABLE["week"], exog_names=0)
    assert existence(named, ILL).coefficients == ("intercept", *named.columns)


def test_factors_and_functions_are_formulaic_s():
    found = existence("I(age > 35) ~ C(site) + dose:age", TABLE)
    assert found.coefficients == ("intercept", "C(site)[T.b]", "dose:age")
    assert existence("ill ~ dose + age", pl.from_pandas(TABLE)).diverging == existence(X, ILL).diverging


def test_ordered_classes_keep_their_order():
    order = pd.Categorical(["low", "low", "high", "mid", "high", "mid"], ["low", "mid", "high", "huge"], ordered=True)
    found = existence(X, pd.Series(order), family="ordinal")
    assert found.coefficients == ("dose", "age", "low|mid", "mid|high")


C = sm.add_constant(X)
COUNTS = TABLE["sick"]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # statsmodels warns of the link
    LOG_BINOMIAL = sm.GLM(ILL, C, family=sm.families.Binomial(sm.families.links.Log()))
MODELS = {
    "Logit": (sm.Logit(ILL, C), {}),
    "Probit": (sm.Probit(ILL, C), {}),
    "Poisson": (sm.Poisson(COUNTS, C), {"family": "poisson"}),
    "GLM": (sm.GLM(ILL, C, family=sm.families.Binomial(sm.families.links.CLogLog())), {}),
    "GLM, log": (LOG_BINOMIAL, {"family": "log-binomial"}),
    "GLM, Poisson": (sm.GLM(COUNTS, C, family=sm.families.Poisson()), {"family": "poisson"}),
    "MNLogit": (sm.MNLogit(COUNTS, C), {"family": "multinomial"}),
    "OrderedModel": (OrderedModel(COUNTS, X, distr="probit"), {"family": "ordinal"}),
    "PHReg": (
        sm.PHReg(TABLE["week"], X, status=TABLE["seen"], entry=TABLE["start"], ties="efron"),
        {"family": "cox"},
    ),
    "ConditionalLogit": (
        ConditionalLogit(ILL.to_numpy(), X.to_numpy(), groups=np.array([0, 0, 0, 1, 1, 1])),
        {"family": "conditional", "strata": [0, 0, 0, 1, 1, 1]},
    ),
}
RESPONSES = dict.fromkeys(("Poisson", "GLM, Poisson", "MNLogit", "OrderedModel"), COUNTS) | {
    "PHReg": TABLE[["start", "week", "seen"]]
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_statsmodels_says_what_its_arrays_say(name):
    model, options = MODELS[name]
    found, known = existence(model), existence(X, RESPONSES.get(name, ILL), **options)
    assert found.estimate == known.estimate
    assert found.separated_rows == known.separated_rows
    assert list(found.diverging.values()) == list(known.diverging.values())
    found.check(model)


def test_results_are_models_and_weights_count():
    result = sm.GLM(ILL, C, family=sm.families.Binomial(), freq_weights=TABLE["weight"]).fit(maxiter=2)
    assert existence(result).separated_rows == existence(X, ILL, weights=TABLE["weight"]).separated_rows


@pytest.mark.parametrize("raises", [True, False])
def test_what_statsmodels_calls_perfect_separation(raises):
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    x = np.array([1.0, 2, 3, 4, 5, 6])
    y = (x > 3).astype(float)
    model = sm.Logit(y, sm.add_constant(x))
    model.raise_on_perfect_prediction = raises
    found = existence(model)
    assert found.separated_rows == (0, 1, 2, 3, 4, 5)
    assert found.diverging == {"const": "-inf", "x1": "+inf"}
    if raises:
        with pytest.raises(PerfectSeparationError):
            model.fit(disp=0)


def test_quasi_separation_that_statsmodels_does_not_notice():
    x, y = np.array([0.0, 0, 0, 1, 1, 1]), np.array([0.0, 1, 0, 1, 1, 1])
    assert existence(sm.Probit(y, sm.add_constant(x))).diverging == {"x1": "+inf"}


def test_least_squares_are_refused_unless_a_family_is_asked_for():
    with pytest.raises(ValueError, match="least squares always have an estimate"):
        existence(sm.OLS(COUNTS, C))
    assert existence(sm.OLS(COUNTS, C), family="poisson").exists is existence(X, COUNTS, family="poisson").exists
    with pytest.raises(ValueError, match="Gamma"):
        existence(sm.GLM(COUNTS + 1, C, family=sm.families.Gamma(sm.families.links.Log())))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, ILL), {"family": "gamma"}, "gamma"),
        ((X, ILL), {"family": "Inverse Gaussian"}, "other conditions"),
        ((X, ILL), {"family": "gaussian"}, "least squares"),
        ((X, ILL), {"family": "guess"}, "there is no family 'guess'; there are binomial"),
        ((X, ILL[:3]), {}, "one value a row"),
        ((X, [0, 1, 2, 0, 1, 2]), {}, "3 different values"),
        ((X, [-1.0, 0, 1, 0, 1, 2]), {"family": "poisson"}, "y is -1.0 in row 0; counts and weights are not negative"),
        ((X, [0.5, 0, np.inf, 0, 1, 2]), {"family": "poisson"}, "finite"),
        ((X.assign(age=[30, 40, np.inf, 40, 50, 60]), ILL), {}, "row 2, column 1"),
        ((X.assign(age=np.nan), ILL), {}, "each of the 6 rows has a missing value"),
        ((X, TABLE["ill"]), {"success": "maybe"}, "success='maybe' is not among the classes no, yes"),
        ((X, TABLE[["sick", "well"]].to_numpy()), {"success": 1}, "success= chooses between two labels"),
        ((X, COUNTS), {"family": "poisson", "success": 1}, "no meaning for the family 'poisson'"),
        (("Surv(week) ~ dose", TABLE), {}, "must be Surv"),
        (("Surv(week, seen) ~ dose", TABLE), {"family": "poisson"}, "leave out family="),
        ((X, ILL), {"strata": TABLE["site"]}, "no meaning for the family 'binomial'"),
        ((X, ILL), {"family": "conditional"}, "strata="),
        ((X, TABLE["week"]), {"family": "cox", "ties": "guess"}, "efron, breslow, exact"),
        ((X, TABLE[["week", "sick"]]), {"family": "cox"}, "other than 0 and 1"),
        ((X, TABLE[["week", "week", "seen"]]), {"family": "cox"}, "row 0 enters at 1.0 and leaves at 1.0"),
        ((X, TABLE[["week"] * 4]), {"family": "cox"}, r"6 times, or the columns \(time, event\)"),
        ((X, COUNTS), {"family": "multinomial", "reference": 7}, "not among the classes 0, 1, 2"),
        ((X, [1] * 6), {"family": "ordinal"}, "at least two are required"),
        ((X, [[1, -1]] * 6), {}, "two columns of counts"),
        ((X.rename(columns={"age": "intercept"}), ILL), {}, "called 'intercept'"),
        ((np.zeros((0, 2)), []), {}, "no rows"),
        ((X,), {}, "pass the response"),
        (("dose + age", TABLE), {}, "has no response"),
        (("ill ~ doze", TABLE), {}, "doze"),
        (("ill ~ dose", TABLE), {"weights": "wait"}, "weight"),
        (("ill ~ dose | town", TABLE), {}, "no column 'town'"),
        (("ill ~ dose | site", TABLE), {"fixed_effects": "site"}, "after a bar"),
        (("ill ~ dose",), {}, "needs a table"),
        ((sm.Logit(ILL, C), TABLE), {}, "has its own data"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        existence(*arguments, **options)


def test_an_option_that_there_is_not_is_refused_by_name():
    with pytest.raises(TypeError, match="no option 'wieghts'; there are family, weights"):
        existence(X, ILL, wieghts=[1] * 6)


# -- missing values, success, survival --------------------------------------------------------------------------------

HOLES = TABLE.assign(age=[30, 40, None, 40, 50, 60], ill=["no", None, "yes", "no", "yes", "no"])


@pytest.mark.parametrize("formula", ["ill ~ dose + age", "ill ~ dose + I(age / 2)"])
def test_rows_with_missing_values_are_omitted_and_counted(formula):
    found, rest = existence(formula, HOLES), HOLES.drop(index=[1, 2])
    known = existence(formula, rest)
    assert found.omitted == (1, 2)
    assert found.n_rows == 4
    assert answer(found) == answer(known)
    assert found.separated_positions == known.separated_rows  # which are those of the whole table
    assert "2 of 6 rows with missing values" in str(found)
    assert found.sha256 != known.sha256
    again = Existence.from_json(found.to_json())
    assert again.separated_positions == found.separated_positions
    again.check(formula, HOLES)
    for other in (rest, HOLES.drop(index=[1]), HOLES.iloc[[1, 0, *range(2, 6)]]):
        with pytest.raises(CertificateError, match=r"its (rows|omitted)"):
            again.check(formula, other)


def test_arrays_frames_and_formulas_omit_the_same_rows():
    y = HOLES["ill"]
    known = existence("ill ~ dose + age", HOLES, weights="weight", offset="log_size")
    values = HOLES[["dose", "age"]].to_numpy().astype(float)
    options = {"weights": TABLE["weight"].tolist(), "offset": TABLE["log_size"].to_numpy()}
    for design in (
        HOLES[["dose", "age"]],
        values,
        values.tolist(),
        csr_array(values),
        pl.from_pandas(HOLES[["dose", "age"]]),
    ):
        for response in (y, y.tolist(), y.to_numpy(dtype=object)):
            found = existence(design, response, **options)
            assert (found.omitted, found.separated_rows) == (known.omitted, known.separated_rows)
    in_roles = TABLE.assign(site=["a", None, *"abab"], weight=[1.0, 1.0, None, 1.0, 1.0, 1.0])
    found = existence("sick ~ dose | site", in_roles, family="poisson", weights="weight")
    by_array = {"weights": in_roles["weight"], "fixed_effects": in_roles[["site"]]}
    arrays = existence(in_roles[["dose"]], in_roles["sick"], family="poisson", **by_array)
    assert answer(found) == answer(arrays)
    assert found.omitted == arrays.omitted == (1, 2)
    assert existence("sick ~ dose | site", in_roles, family="poisson", weights=in_roles["weight"]).omitted == (1, 2)


def test_what_statsmodels_drops_is_omitted_as_if_it_were_done_here():
    design = sm.add_constant(HOLES[["dose", "age"]])
    model = sm.Logit(ILL.to_numpy(), design, missing="drop")
    found, known = existence(model), existence(design, ILL.to_numpy(), fit_intercept=False)
    assert found.omitted == known.omitted == (2,)
    assert found.sha256 == known.sha256


def test_the_level_that_counts_as_success_can_be_chosen_and_is_printed():
    yes, no = existence("ill ~ dose", TABLE), existence("ill ~ dose", TABLE, success="no")
    assert "ill: success is yes" in str(yes)
    assert "ill: success is no" in str(no)
    assert (yes.diverging["dose"], no.diverging["dose"]) == ("+inf", "-inf")
    Existence.from_json(no.to_json()).check(TABLE)
    zero = existence(X, ILL, success="0")
    assert zero.diverging["dose"] == "-inf"
    assert existence(X, ILL, success=1).sha256 == existence(X, ILL).sha256


@pytest.mark.parametrize("columns", [("week", "seen"), ("start", "week", "seen")])
def test_surv_is_a_response(columns):
    left = f"Surv({', '.join(columns)})"
    found, known = existence(f"{left} ~ dose + age", TABLE), existence(X, TABLE[[*columns]], family="cox")
    assert answer(found) == answer(known)
    assert existence(f"{left} ~ .", TABLE.drop(columns=["ill", "site"])).coefficients[:2] == ("dose", "age")
    Existence.from_json(found.to_json()).check(TABLE)


def test_times_alone_are_events():
    known = existence("Surv(week, all) ~ dose", TABLE.assign(all=1))
    assert answer(existence("week ~ dose", TABLE, family="cox")) == answer(known)


def test_without_formulaic_formulas_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(ImportError, match=r"novikoff\[formula\]"):
        existence("ill ~ dose", TABLE)
