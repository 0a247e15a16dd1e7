"""Bounds on a chance, against binomial sums in fractions and against the worst that can be done to them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from novikoff.engine.chances import clopper_pearson, compressed_chance_at_most, mean_chance_at_most

SMALL = [(errors, n) for n in (1, 2, 5, 12) for errors in range(n + 1)]


def at_most_so_many(errors, n, chance):
    """The exact probability of at most so many errors."""
    return sum(math.comb(n, e) * chance**e * (1 - chance) ** (n - e) for e in range(errors + 1))


@pytest.mark.parametrize(("errors", "n"), SMALL)
def test_the_interval_of_clopper_and_pearson_ends_where_the_tails_are_half_the_doubt(errors, n):
    half = Fraction(1, 40)
    lower, upper = map(Fraction, clopper_pearson(errors, n, 0.95))
    if errors == n:
        assert upper == 1
    else:
        assert at_most_so_many(errors, n, upper) <= half * (1 + Fraction(1, 10**9))
        assert at_most_so_many(errors, n, upper * (1 - Fraction(1, 10**6))) > half
    if errors == 0:
        assert lower == 0
    else:
        assert 1 - at_most_so_many(errors - 1, n, lower) <= half * (1 + Fraction(1, 10**9))
        assert 1 - at_most_so_many(errors - 1, n, lower * (1 + Fraction(1, 10**6))) > half


@pytest.mark.parametrize("chance", [Fraction(k, 40) for k in range(41)])
def test_the_interval_misses_no_chance_more_often_than_it_may(chance):
    n = 15
    missed = 0
    for errors in range(n + 1):
        lower, upper = clopper_pearson(errors, n, 0.9)
        if not lower <= chance <= upper:
            missed += math.comb(n, errors) * chance**errors * (1 - chance) ** (n - errors)
    assert missed <= Fraction(1, 10)


def worst_case(n, bound, steps=20):
    """How often the mean of n chances can exceed a bound that depends on the number of errors, at worst.

    The chances are multiples of 1/steps, each chosen in the knowledge of all that came before: the best play against
    the bound, by dynamic programming over what is left to play.
    """
    most = n * steps
    sums = np.arange(most + 1)
    chances = np.arange(steps + 1)
    value = [(sums > bound(errors) * n * steps).astype(float) for errors in range(n + 1)]
    for played in reversed(range(n)):
        before = []
        for errors in range(played + 1):
            best = np.zeros(most + 1)
            for chance in chances:
                later = np.minimum(sums + chance, most)
                win = chance / steps * value[errors + 1][later] + (1 - chance / steps) * value[errors][later]
                best = np.maximum(best, win)
            before.append(best)
        value = before
    return value[0][0]


@pytest.mark.parametrize("n", [1, 5, 10, 20])
@pytest.mark.parametrize("doubt", [0.05, 0.2])
def test_no_choice_of_chances_beats_the_bound_on_their_mean(n, doubt):
    assert worst_case(n, lambda errors: mean_chance_at_most(errors, n, doubt)) <= doubt


def test_a_choice_of_chances_beats_the_binomial_tail():
    """So that is not used where predictors are chosen on the way."""
    assert worst_case(10, lambda errors: clopper_pearson(errors, 10, 0.9)[1], steps=40) > 0.08


def test_the_bound_on_a_mean_of_chances_is_better_than_hoeffdings_where_errors_are_rare():
    for errors, n in [(0, 100), (3, 100), (30, 1000), (100, 1000), (31, 10**5)]:
        hoeffding = errors / n + math.sqrt(math.log(20) / (2 * n))
        assert errors / n < mean_chance_at_most(errors, n, 0.05) < hoeffding


@pytest.mark.parametrize("n", [1, 2, 30])
def test_all_errors_say_nothing(n):
    assert mean_chance_at_most(n, n, 0.05) == clopper_pearson(n, n)[1] == compressed_chance_at_most(n, 0, n, 0.05) == 1


def test_bounds_rise_with_the_errors_and_with_what_determines_the_rule():
    means = [mean_chance_at_most(errors, 50, 0.05) for errors in range(51)]
    kept = [compressed_chance_at_most(200, k, 0, 0.05) for k in range(101)]
    errors = [compressed_chance_at_most(200, 5, e, 0.05) for e in range(196)]
    for bounds in (means, kept, errors):
        assert bounds == sorted(bounds)


def test_without_errors_the_compression_bound_is_the_tail_itself():
    for n, k in [(1, 0), (30, 0), (30, 4), (1000, 20)]:
        chance = compressed_chance_at_most(n, k, 0, 0.05)
        share = 0.05 / ((k + 1) * (k + 2))
        assert math.comb(n, k) * (1 - chance) ** (n - k) == pytest.approx(share, rel=1e-5)


def test_a_rule_that_all_rows_determine_is_not_bounded():
    assert compressed_chance_at_most(7, 7, 0, 0.05) == 1


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, -1, float("nan")])
def test_a_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(ValueError, match="confidence="):
        clopper_pearson(1, 2, confidence)


def test_more_errors_than_trials_are_refused():
    with pytest.raises(ValueError, match="3 errors in 2 trials"):
        clopper_pearson(3, 2)
