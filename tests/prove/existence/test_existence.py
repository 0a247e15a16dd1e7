"""Whether an estimate exists: every family against an exact linear program on small designs, and by its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import certify
from novikoff.engine.clock import OutOfTimeError
from novikoff.prove.exact import modular
from novikoff.prove.exact.modular import drawn_prime
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.existence.search.existence import existence
from tests.draws import draws
from tests.prove.existence import cases
from tests.prove.existence.cases import FAMILIES


def fates(found):
    return [found.fate(name) for name in found.coefficients]


def agrees(family, seed, **asked):
    data, options, known = FAMILIES[family](np.random.default_rng(seed))
    found = existence(*data, **options, **asked)
    if known is None:
        assert found.estimate.value == "no start"
    else:
        separated, expected = known
        assert found.exists is (not separated)
        assert set(found.separated_rows) == separated
        assert fates(found) == expected
    Existence.from_json(found.to_json()).check(*data, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_agrees_with_an_exact_linear_program(family):
    for seed in range(30):
        agrees(family, seed)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=draws(15), deadline=None)
@given(seed=st.integers(10_000, 10_000_000))
def test_every_family_agrees_on_designs_that_nobody_has_seen(family, seed):
    agrees(family, seed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_thin_columns_are_eliminated_without_another_answer(family, share, monkeypatch):
    monkeypatch.setattr("novikoff.prove.existence.rows.FULL", 0)
    monkeypatch.setattr("novikoff.prove.existence.rows.FULL_SHARE", share)
    monkeypatch.setattr("novikoff.prove.existence.conclude.FEW_DIMENSIONS", 1)
    for seed in range(200, 210):
        agrees(family, seed)


# -- laws -------------------------------------------------------------------------------------------------------------


def answer(found):
    return found.estimate, set(found.separated_rows or ()), fates(found) if found.diverging is not None else None


def in_order(options, order):
    n = order.max() + 1
    return {name: np.asarray(v)[order] if np.shape(v) == (n,) else v for name, v in options.items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_order_of_rows_changes_nothing(family):
    for seed in range(300, 310):
        rng = np.random.default_rng(seed)
        (X, y), options, _ = FAMILIES[family](rng)
        order = rng.permutation(len(X))
        found, moved = existence(X, y, **options), existence(X[order], y[order], **in_order(options, order))
        assert set(order[list(moved.separated_rows or ())].tolist()) == set(found.separated_rows or ())
        assert moved.estimate == found.estimate
        assert moved.diverging == found.diverging


@pytest.mark.parametrize("family", FAMILIES)
def test_positive_scales_of_columns_change_nothing_and_negative_ones_turn_signs(family):
    turned = {"+inf": "-inf", "-inf": "+inf"}
    for seed in range(320, 330):
        (X, y), options, _ = FAMILIES[family](np.random.default_rng(seed))
        found = existence(X, y, **options)
        assert answer(existence(X * 2.0**-70, y, **options)) == answer(found)
        if found.diverging is not None and family != "ordinal":
            turned_round = {name: turned.get(sign, sign) for name, sign in found.diverging.items()}
            assert existence(-X, y, **options).diverging == turned_round or family == "log_binomial"


@pytest.mark.parametrize("family", ["binomial", "poisson", "multinomial", "ordinal"])
def test_rows_that_stand_twice_change_nothing(family):
    for seed in range(340, 350):
        (X, y), options, _ = FAMILIES[family](np.random.default_rng(seed))
        twice = np.repeat(np.arange(len(X)), 2)
        found, double = existence(X, y, **options), existence(X[twice], y[twice], **in_order(options, twice))
        assert (double.estimate, double.diverging) == (found.estimate, found.diverging)


FOUR = [[-1.0, 2.0], [-1.0, -2.0], [-2.0, -2.0], [2.0, 2.0]]


def test_four_rows_that_are_completely_separated():
    found = existence(FOUR, [0, 1, 1, 1])
    assert found.separated_rows == (0, 1, 2, 3)
    assert found.diverging == {"intercept": "+inf", "x0": "+inf", "x1": "-inf"}


def test_offsets_and_positive_weights_change_nothing():
    plain = existence(FOUR, [0, 1, 1, 1])
    given = existence(FOUR, [0, 1, 1, 1], weights=[0.1, 7, 1e-300, 2], offset=[5.0, -3.0, 0.0, 1e9])
    assert answer(given) == answer(plain)


def test_a_weight_of_0_drops_its_row():
    X, y = [[0.0], [1.0], [2.0], [0.0]], [0, 0, 1, 1]
    assert existence(X, y).estimate.value == "exists"
    found = existence(X, y, weights=[1, 1, 1, 0])
    assert found.separated_rows == (0, 1, 2)


@pytest.mark.parametrize("weights", [[1, 1, 1, -1], [1, 1, 1, float("inf")], [1, 1, 1]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="weight"):
        existence(FOUR, [0, 1, 1, 1], weights=weights)


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_one_outcome_only_sends_the_intercept_to_infinity(y):
    found = existence([[0.0], [1.0], [0.0], [1.0]], y)
    assert found.separated_rows == (0, 1, 2, 3)
    assert found.diverging["intercept"] == ("+inf" if y[0] else "-inf")


def test_counts_that_are_all_0_and_columns_of_zeros():
    found = existence([[0.0], [0.0]], [0, 0], family="poisson")
    assert found.diverging == {"intercept": "-inf", "x0": "not identified"}
    assert existence([[0.0], [0.0]], [0, 3], family="poisson").diverging == {"x0": "not identified"}
    assert existence([[0.0], [0.0]], [0, 3], family="poisson").exists is True


def test_a_rank_deficient_design_may_still_be_separated():
    X = [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]
    found = existence(X, [0, 1, 1])
    assert found.exists is False
    assert found.diverging == {"intercept": "-inf", "x0": "not identified", "x1": "not identified"}
    assert "not identified" in str(found)


def test_exact_ties_compare_cases_with_the_others_only():
    X, y = [[1.0], [2.0], [0.0]], [[1.0, 1], [1.0, 1], [2.0, 0]]
    assert existence(X, y, family="cox").exists is True
    found = existence(X, y, family="cox", ties="exact")
    assert found.diverging == {"x0": "+inf"}
    assert found.separated_rows == (2,)


def test_differences_that_floats_would_round_are_exact():
    tiny, large = 1e-30, 1e30
    X, time = [[large], [large + 0.0], [large - tiny]], [1.0, 2.0, 3.0]
    assert existence(X, time, family="cox").diverging == {"x0": "not identified"}  # float64 has no such numbers
    X = [[large], [tiny], [0.0]]
    assert existence(X, time, family="cox").diverging == {"x0": "+inf"}
    assert existence([[large], [0.0], [tiny]], time, family="cox").exists is True


def test_fixed_effects_are_indicator_columns():
    rng = np.random.default_rng(5)
    n = 60
    X, firm, year = rng.integers(0, 4, (n, 1)).astype(float), rng.integers(0, 12, n), rng.integers(0, 3, n)
    y = rng.poisson(0.2, n).astype(float)
    found = existence(X, y, family="ppml", fixed_effects={"firm": firm, "year": year})
    indicators = [firm[:, None] == np.unique(firm), year[:, None] == np.unique(year)[1:]]
    written = existence(np.hstack([X, *indicators]), y, family="ppml", fit_intercept=False)
    assert answer(found) == answer(written)
    assert found.exists is False
    lonely = {level for level in np.unique(firm) if not y[firm == level].any()}
    assert {name for name in found.diverging if name.startswith("firm=")} >= {f"firm={level}" for level in lonely}


def test_hundreds_of_levels_are_no_matter():
    rng = np.random.default_rng(6)
    n, levels = 3_000, 500
    firm, X = rng.integers(0, levels, n), rng.normal(size=(n, 2)).round(2)
    y = (rng.random(n) < 0.3).astype(float)
    found = existence(X, y, fixed_effects={"firm": firm})
    one_sided = [k for k in np.unique(firm) if len(set(y[firm == k])) == 1]
    assert set(found.diverging) == {f"firm={k}" for k in one_sided}
    assert set(found.separated_rows) == set(np.flatnonzero(np.isin(firm, one_sided)).tolist())
    found.check(X, y, fixed_effects={"firm": firm})
    present = len(np.unique(firm))
    assert f"{present - len(one_sided)} of {present} levels of firm" in str(found)


def test_time_that_is_over_claims_nothing_that_is_not_proved(clock):
    clock.tick = 10.0
    with clock.in_place():
        found = existence(FOUR, [0, 1, 1, 1], time_limit=1)
    assert found.exists is None
    assert found.diverging is None
    assert str(found).startswith("Not decided")
    found.check(FOUR, [0, 1, 1, 1])


def test_a_direction_without_an_obstruction_proves_that_something_is_infinite(monkeypatch):
    def too_late(*arguments):
        raise OutOfTimeError

    monkeypatch.setattr("novikoff.prove.separable.search.face._Search._obstruction", lambda *arguments: None)
    monkeypatch.setattr("novikoff.prove.separable.search.face.largest_product", too_late)
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1]
    found = existence(X, y)
    assert found.exists is False
    assert found.diverging is None
    assert "some coefficients are infinite" in str(found)
    with pytest.raises(ValueError, match="does not tell"):
        found.fate("x0")
    Existence.from_json(found.to_json()).check(X, y)
    assert existence(X, [0, 1, 0, 1]).exists is None


def test_signs_that_nobody_asked_for_are_not_looked_for():
    found = existence(FOUR, [0, 1, 1, 1], signs=False)
    assert set(found.diverging.values()) == {"infinite"}
    found.check(FOUR, [0, 1, 1, 1])
    assert found.fate("x0") == "infinite"
    with pytest.raises(KeyError, match="no coefficient"):
        found.fate("x9")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("most", [0, 1000])
def test_programs_and_newtons_method_find_the_same_face(family, most, monkeypatch):
    monkeypatch.setattr("novikoff.prove.separable.search.face.MOST_FOR_PROGRAMS", most)
    monkeypatch.setattr("novikoff.prove.separable.search.face.DIMENSIONS_TO_PEEL", 0)
    for seed in range(440, 450):
        agrees(family, seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_that_begin_with_few_rows_have_the_same_answer(family, monkeypatch):
    monkeypatch.setattr("novikoff.prove.separable.search.face.MANY", 0)
    for seed in range(400, 410):
        agrees(family, seed)


def test_what_has_nothing_to_say():
    assert existence([[1.0], [2.0]], [0, 1], weights=[0, 0]).diverging == dict.fromkeys(
        ["intercept", "x0"], "not identified"
    )
    assert existence(np.zeros((3, 0)), [0, 1, 0]).coefficients == ("intercept",)
    censored = existence([[1.0], [2.0]], [[3.0, 0], [4.0, 0]], family="cox")
    assert (censored.exists, censored.diverging) == (True, {"x0": "not identified"})
    alone = existence([[1.0], [2.0]], [0, 1], family="conditional", strata=[0, 1])
    assert (alone.exists, alone.diverging) == (True, {"x0": "not identified"})


def test_a_model_without_columns_is_refused():
    with pytest.raises(ValueError, match="no columns"):
        existence(np.zeros((3, 0)), [0, 1, 0], fit_intercept=False)


def test_columns_of_words_need_a_formula():
    import pandas as pd

    with pytest.raises(ValueError, match="formula"):
        existence(pd.DataFrame({"site": ["a", "b"]}), [0, 1])


# -- what floats cannot tell ------------------------------------------------------------------------------------------


def test_gaps_that_floats_do_not_see_are_decided():
    found = existence([[0.0], [1.0], [1 + 1e-8], [2.0]], [0, 0, 1, 1])
    assert found.exists is False
    assert found.separated_rows == (0, 1, 2, 3)


def in_one_decimal(rng):
    X = np.round(rng.normal(size=(int(rng.integers(6, 13)), int(rng.integers(1, 5)))) * rng.choice([1, 20]), 1)
    X[:, 0] = np.where(rng.random() < 0.3, 1.0, X[:, 0])
    return X


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_of_one_decimal_are_decided_with_all_signs(family, monkeypatch):
    monkeypatch.setattr(cases, "design", in_one_decimal)
    for seed in range(8):
        agrees(family, seed, signs=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_pivoting_in_whole_numbers_has_the_same_answer(family, monkeypatch):
    def fails(*arguments, **program):
        return None

    monkeypatch.setattr("novikoff.prove.existence.search.existence.solved_in_floats", fails)
    monkeypatch.setattr("novikoff.prove.separable.search.face._Search._in_floats", fails)
    for seed in range(300, 310):
        agrees(family, seed, signs=True)


@pytest.mark.parametrize("chosen", [0, 100])
def test_pivoting_ends_by_blands_rule(chosen, monkeypatch):
    monkeypatch.setattr("novikoff.prove.separable.search.simplex.CHOSEN", chosen)
    monkeypatch.setattr("novikoff.prove.separable.search.face._Search._in_floats", lambda search: None)
    for seed in range(400, 420):
        agrees("binomial", seed, signs=True)


@pytest.mark.parametrize("prime", [2**23 - 15, 2**23 - 21])
def test_an_unlucky_prime_changes_nothing(prime, monkeypatch):
    for module in ("exact.modular", "separable.points", "separable.proofs", "separable.search.scaled"):
        monkeypatch.setattr(f"novikoff.prove.{module}.PRIME", prime)
    X, y = [[0], [prime], [prime], [0]], [0, 1, 0, 1]
    assert existence(X, y).exists is True
    assert certify(X, y).verdict.value == "overlapping"


def test_rows_whose_difference_is_beyond_the_floats_are_compared():
    X, y, strata = [[1.7e308], [-1.7e308], [2.0**-1070], [0.0]], [1, 0, 1, 0], [0, 0, 1, 1]
    found = existence(X, y, family="conditional", strata=strata)
    assert (found.diverging, found.separated) == ({"x0": "+inf"}, (1, 3))
    found.check(X, y, strata=strata)


def test_a_check_ends_though_a_prime_divides_a_determinant(monkeypatch):
    prime, drawn = 2**62 - 57, iter([2**62 - 57])
    monkeypatch.setattr(modular, "drawn_prime", lambda: next(drawn, None) or drawn_prime())
    a, b = 2**31 - 1, divmod(prime, 2**31 - 1)
    X = [[float(a), float(b[1])], [-1.0, float(b[0])], [-float(a), -float(b[1])], [1.0, -float(b[0])]]
    found = existence(X, [1, 0, 1, 0], fit_intercept=False)
    found.check(X, [1, 0, 1, 0], fit_intercept=False)
