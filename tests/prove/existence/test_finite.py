"""After an infinite estimate, a finite one: Firth's, on the same design, and the answer in frames and tables."""

import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

from novikoff import Existence, existence

TABLE = pd.DataFrame(
    {
        "dose": [0, 0, 1, 1, 1, 1, 1],
        "age": [30.0, 40, 30, 40, 50, 60, np.nan],
        "ill": [0, 0, 1, 0, 1, 0, 1],
        "week": [3.0, 5, 5.5, 8, 9, 9.5, 10],
        "seen": [1, 1, 1, 1, 0, 0, 0],
    }
)
REST = TABLE.dropna()
FIRTH = existence("ill ~ dose + age", TABLE)


def by_hand(X, penalised, start=None):
    """The maximum of a penalised log-likelihood that is written out, given the information."""

    def lost(b):
        loglik, information = penalised(X, b)
        return -(loglik + np.linalg.slogdet(information)[1] / 2)

    return minimize(lost, np.zeros(X.shape[1]), method="Nelder-Mead", options={"xatol": 1e-7, "maxiter": 5000}).x


def logistic(y, weights=1.0, offset=0.0):
    def penalised(X, b):
        p = 1 / (1 + np.exp(-(X @ b + offset)))
        loglik = np.sum(weights * (y * np.log(p) + (1 - y) * np.log1p(-p)))
        return loglik, X.T @ (X * (weights * p * (1 - p))[:, None])

    return penalised


def cox(time, event):
    def penalised(X, b):
        loglik, information = 0.0, np.zeros((X.shape[1], X.shape[1]))
        for i in np.flatnonzero(event):
            risk = X[time >= time[i]]
            share = np.exp(risk @ b)
            loglik += X[i] @ b - np.log(share.sum())
            share = share / share.sum()
            mean = share @ risk
            information += (risk * share[:, None]).T @ risk - np.outer(mean, mean)
        return loglik, information

    return penalised


def test_the_estimate_is_the_maximum_of_firths_likelihood():
    X = np.column_stack([np.ones(6), REST["dose"], REST["age"] / 10])
    known = by_hand(X, logistic(REST["ill"].to_numpy())) / [1, 1, 10]
    found = FIRTH.finite()
    np.testing.assert_allclose(found.estimate, known, rtol=1e-3, atol=1e-4)
    assert found.converged
    assert (found.lower < found.estimate).all()
    assert (found.estimate < found.upper).all()
    narrow = FIRTH.finite(level=0.8)
    assert (narrow.upper - narrow.lower < found.upper - found.lower).all()


def test_weights_counts_and_offsets_are_those_of_the_question():
    won, lost, offset = np.array([0, 3, 2, 4]), np.array([5, 2, 0, 1]), np.array([0.1, 0.5, -0.2, 0.0])
    X = np.array([[0.0], [1.0], [1.0], [1.0]])
    design = np.column_stack([np.ones(4), X])
    one = existence(X, np.column_stack([won, lost]), offset=offset, weights=[1, 2, 1, 0]).finite()
    weights = np.append(won, lost) * np.tile([1, 2, 1, 0], 2)
    known = by_hand(np.tile(design, (2, 1)), logistic(np.repeat([1, 0], 4), weights, np.tile(offset, 2)))
    np.testing.assert_allclose(one.estimate, known, rtol=1e-3)
    glm = sm.GLM(np.array([0.0, 1, 1, 0]), design, family=sm.families.Binomial(), offset=offset)
    known = by_hand(design, logistic(np.array([0, 1, 1, 0]), 1.0, offset))
    np.testing.assert_allclose(existence(glm).finite().estimate, known, rtol=1e-3)


def test_units_do_not_matter():
    found = existence("ill ~ dose + age", REST.assign(age=REST["age"] * 1e6)).finite()
    np.testing.assert_allclose(found.estimate * [1, 1, 1e6], FIRTH.finite().estimate, rtol=1e-3)


def test_a_cox_model_has_a_finite_estimate():
    found = existence("Surv(week, seen) ~ dose", TABLE)
    assert found.diverging == {"dose": "-inf"}
    known = by_hand(TABLE[["dose"]].to_numpy(float), cox(TABLE["week"].to_numpy(), TABLE["seen"].to_numpy()))
    np.testing.assert_allclose(found.finite().estimate, known, rtol=1e-3)
    with pytest.raises(ValueError, match="has no strata; R's coxphf"):
        existence("Surv(week, seen) ~ age", TABLE, strata="dose").finite()


@pytest.mark.parametrize(
    ("formula", "family", "elsewhere"),
    [
        ("ill ~ dose", "poisson", "ppmlhdfe"),
        ("ill ~ dose", "negative-binomial", "brnb"),
        ("ill ~ dose", "log-binomial", "brglmFit"),
        ("ill ~ dose", "multinomial", "brmultinom"),
        ("ill ~ dose", "ordinal", "bracl"),
    ],
)
def test_other_families_say_what_there_is(formula, family, elsewhere):
    with pytest.raises(ValueError, match=elsewhere):
        existence(formula, TABLE, family=family).finite()


def test_what_has_no_finite_estimate_says_why():
    with pytest.raises(ValueError, match="not identified"):
        existence("ill ~ dose + twice", TABLE.assign(twice=2 * TABLE["dose"])).finite()
    with pytest.raises(ValueError, match="from a file has no data"):
        Existence.from_json(FIRTH.to_json()).finite()
    with pytest.raises(ValueError, match="between 0 and 1"):
        FIRTH.finite(level=95)
    with pytest.raises(ValueError, match="all outcomes are alike"):
        existence([[1.0], [2.0]], [1, 1]).finite()


def test_without_firthmodels_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "firthmodels", None)
    with pytest.raises(ImportError, match=r"novikoff\[firth\]"):
        FIRTH.finite()
    assert "found.finite()" in str(FIRTH)


# -- frames and tables ------------------------------------------------------------------------------------------------


def test_a_frame_has_a_row_for_every_coefficient():
    frame = FIRTH.to_frame()
    assert frame["estimate"].to_dict() == {"intercept": "-inf", "dose": "+inf", "age": "finite"}
    assert list(frame.columns) == ["estimate"]
    full = FIRTH.to_frame(finite=True)
    assert list(full.columns) == ["estimate", "firth", "lower", "upper"]
    np.testing.assert_array_equal(full["firth"], FIRTH.finite().estimate)


def test_one_word_for_a_sign_that_is_not_determined():
    found = existence([[1.0, 0.0], [0.0, 1.0]], [1, 1], fit_intercept=False)
    both = existence([[1.0, 1.0], [1.0, -1.0]], [1, 1], fit_intercept=False)
    assert found.to_frame()["estimate"].tolist() == ["+inf", "+inf"]
    assert both.to_frame()["estimate"].tolist() == ["+inf", "sign undetermined"]
    for text in (str(both), repr(both.diverging)):
        assert "sign undetermined" in text


@pytest.mark.parametrize(
    ("left", "options"), [("Surv(start, week, left)", {}), ("Surv(week, left)", {"strata": "site"})]
)
def test_what_firthmodels_does_not_fit_is_not_advised(left, options):
    table = pd.DataFrame({"week": [3, 5, 5, 8, 9], "left": [1, 1, 1, 0, 0], "treated": [0, 0, 0, 1, 1]})
    table = table.assign(start=0, site="a")
    assert "found.finite()" in str(existence("Surv(week, left) ~ treated", table))
    found = existence(f"{left} ~ treated", table, **options)
    assert "R's coxphf, which has entry times and strata" in " ".join(str(found).split())
    assert "found.finite()" not in str(found)
    with pytest.raises(ValueError, match="coxphf"):
        found.finite()
