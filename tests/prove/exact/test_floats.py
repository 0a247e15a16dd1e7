"""Floats are rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two, root_down

floats = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(floats, min_size=1, max_size=6))
def test_whole_numbers_times_a_power_of_two_are_the_floats(values):
    exponent = lowest_exponent(values)
    whole = as_integers(values, exponent)
    assert [Fraction(int(n)) * power_of_two(exponent) for n in whole] == [Fraction(v) for v in values]
    assert not any(values) or any(int(n) % 2 for n in whole)


@given(st.fractions(min_value=0, max_value=10**30))
def test_root_down_is_the_largest_float_that_is_not_above(value):
    root = root_down(value)
    assert Fraction(root) ** 2 <= value < Fraction(np.nextafter(root, np.inf)) ** 2


def test_infinity_is_not_exact():
    with pytest.raises(ValueError, match="finite"):
        lowest_exponent([np.inf])
