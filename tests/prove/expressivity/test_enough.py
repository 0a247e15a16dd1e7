"""How many examples are enough: the first number that the inequality allows, and enough on the line."""

import math

import numpy as np
import pytest

from novikoff import enough_examples
from novikoff.engine.chances import compressed_chance_at_most


def chance_of_a_bad_plane(n, dimension, error):
    """2 growth(2n) 2^(-error n/2)."""
    growth = 2 * sum(math.comb(2 * n - 1, i) for i in range(dimension + 1))
    return 2 * growth * 2 ** (-error * n / 2)


@pytest.mark.parametrize("dimension", [0, 1, 3, 20])
@pytest.mark.parametrize("error", [0.05, 0.3])
def test_from_the_dimension_it_is_the_first_number_that_the_double_sample_allows(dimension, error):
    n = enough_examples(error, dimension=dimension, confidence=0.9)
    assert chance_of_a_bad_plane(n, dimension, error) <= 0.1
    assert n == math.ceil(8 / error) or chance_of_a_bad_plane(n - 1, dimension, error) > 0.1


@pytest.mark.parametrize("mistakes", [0, 1, 7, 200])
def test_from_the_margin_it_is_the_first_number_that_compression_allows(mistakes):
    n = enough_examples(0.1, mistakes=mistakes)
    assert compressed_chance_at_most(n, mistakes, 0, 0.05) <= 0.1 < compressed_chance_at_most(n - 1, mistakes, 0, 0.05)
    assert all(compressed_chance_at_most(n, fewer, 0, 0.05) <= 0.1 for fewer in range(mistakes))


def test_more_is_needed_for_fewer_errors_more_dimensions_and_more_confidence():
    assert enough_examples(0.01, dimension=2) > enough_examples(0.1, dimension=2) > enough_examples(0.1, dimension=1)
    assert enough_examples(0.1, mistakes=5, confidence=0.99) > enough_examples(0.1, mistakes=5)


def test_on_the_line_so_many_examples_leave_no_bad_threshold():
    """Points of the interval, the threshold in its middle: a threshold is consistent up to the nearest points."""
    n, chance, bad = enough_examples(0.3, dimension=1, confidence=0.6), np.random.default_rng(0), 0
    for _ in range(500):
        x = chance.random(n)
        bad += np.min(x[x >= 0.5], initial=1.0) > 0.8 or np.max(x[x < 0.5], initial=0.0) < 0.2
    assert bad / 500 <= 0.4


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (0.0, {"dimension": 2}, "error=0.0"),
        (0.1, {}, "one of them"),
        (0.1, {"dimension": 2, "mistakes": 3}, "one of them"),
        (0.1, {"dimension": -1}, "dimension=-1"),
        (0.1, {"mistakes": 1.5}, "mistakes=1.5"),
        (0.1, {"mistakes": 1, "confidence": 95}, "confidence=95"),
    ],
)
def test_what_makes_no_sense_is_refused(error, options, message):
    with pytest.raises(ValueError, match=message):
        enough_examples(error, **options)
