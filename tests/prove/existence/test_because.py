"""Why an estimate is infinite: rows and coefficients that suffice, of which none can be left out."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from novikoff import existence
from novikoff.prove.exact.document import CertificateError
from tests.exact_lp import over_the_cone
from tests.prove.existence import oracle

TABLE = pd.DataFrame(
    {"dose": [0, 0, 1, 1, 1, 1], "age": [30, 40, 30, 40, 50, 60], "ill": [0, 0, 1, 0, 1, 0]}, index=list("abcdef")
)


def suffices(rows, J, S):
    """Whether, with these coefficients only, and equations for all rows but these, some direction is left."""
    Z = [[Fraction(z[j]) for j in J] for z, _, _ in rows]
    equations = [z for (_, equal, owner), z in zip(rows, Z, strict=True) if equal or owner not in S]
    goals = [z for (_, equal, owner), z in zip(rows, Z, strict=True) if not equal and owner in S]
    cone = [*goals, *equations, *([-v for v in z] for z in equations)]
    return bool(J) and any(any(z) and over_the_cone(z, cone).value > 0 for z in goals)


def is_irreducible(rows, J, S):
    fewer = [(J - {j}, S) for j in J] + [(J, S - {i}) for i in S]
    return suffices(rows, sorted(J), S) and not any(suffices(rows, sorted(some), left) for some, left in fewer)


def design(rng):
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, (n, d)).astype(float) * rng.choice([1.0, 0.1, 1e17], d)
    if rng.random() < 0.3 and d > 1:
        X[:, -1] = 2 * X[:, 0]  # not identified
    return X


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_all_subsets_agree_that_none_can_be_left_out(family):
    asked = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = design(rng)
        y = rng.integers(0, 2, len(X)) if family == "binomial" else rng.poisson(0.6, len(X))
        found = existence(X, y, family=family, fit_intercept=False, signs=True)
        if found.exists:
            with pytest.raises(ValueError, match="no estimate is known to be infinite"):
                found.because()
            continue
        rows = list(
            oracle.binomial(X.tolist(), y > 0, y == 0) if family == "binomial" else oracle.poisson(X.tolist(), y)
        )
        infinite = [name for name, fate in found.diverging.items() if fate != "not identified"]
        for name in (None, *infinite):
            because = found.because(name)
            J = {found.coefficients.index(column) for column in because.coefficients}
            assert is_irreducible(rows, J, set(because.rows))
            assert name is None or name in because.coefficients
            because.check(X, y, family=family, fit_intercept=False)
            asked += 1
    assert asked > 25


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ((TABLE[["age"]], [0, 0, 1, 1, 2, 2]), {"family": "multinomial"}),
        ((TABLE[["age"]], [0, 0, 0, 1, 2, 2]), {"family": "ordinal"}),
        (("Surv(age, ill) ~ dose", TABLE), {}),
        (("ill ~ dose", TABLE.assign(site=[0, 0, 0, 1, 1, 1])), {"family": "conditional", "strata": "site"}),
    ],
)
def test_families_of_comparisons_have_irreducible_sets(data, options):
    found = existence(*data, **options)
    assert found.exists is False
    because = found.because()
    because.check(*data, **options)
    assert set(because.rows) <= set(found.separated_rows)


def test_a_set_that_is_not_irreducible_is_refused():
    found = existence("ill ~ dose + age", TABLE)
    because = found.because("dose")
    assert (set(because.coefficients), because.rows, because.positions) == ({"intercept", "dose"}, ("a", "b"), (0, 1))
    because.check("ill ~ dose + age", TABLE)
    wrong = [
        replace(because, coefficients=("intercept", "dose", "age"), direction=(-1, 1, 0)),
        replace(because, coefficients=("intercept", "doze")),
        replace(because, direction=(1, -1)),
        replace(because, direction=(0, 0)),
        replace(because, direction=(-1,)),
        replace(because, rows=("a",), positions=(0,)),
    ]
    for other in wrong:
        with pytest.raises(CertificateError):
            other.check("ill ~ dose + age", TABLE)
    with pytest.raises(CertificateError, match="the data differ"):
        because.check("ill ~ dose + age", TABLE.assign(age=1.0))


def test_a_direction_from_which_something_can_be_left_out_is_refused():
    separable = existence([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    whole = replace(
        separable.because(), coefficients=("intercept", "x0"), direction=(-3, 2)
    )  # all four rows are strict
    with pytest.raises(CertificateError, match="can be left out"):
        whole.check([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_only_an_infinite_estimate_has_a_reason():
    found = existence("ill ~ dose + age", TABLE)
    with pytest.raises(ValueError, match="'age' is finite, not infinite"):
        found.because("age")
    with pytest.raises(KeyError, match="no coefficient 'doze'"):
        found.because("doze")
    with pytest.raises(ValueError, match="from a file has no data"):
        type(found).from_json(found.to_json()).because()
