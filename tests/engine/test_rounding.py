"""Bounds are rounded and printed to their safe side."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.engine.rounding import at_least, at_most, root_up

floats = st.floats(allow_nan=False, allow_infinity=False)


@given(floats, st.integers(1, 17))
def test_printed_bounds_lie_on_their_side(value, digits):
    assert Decimal(at_least(value, digits)) <= Decimal(value) <= Decimal(at_most(value, digits))


@given(floats.filter(lambda value: 1e-300 < abs(value) < 1e300), st.integers(3, 17))
def test_printed_bounds_are_close(value, digits):
    assert abs(Decimal(at_most(value, digits)) - Decimal(value)) <= abs(Decimal(value)) * Decimal(10) ** (1 - digits)


def test_infinity_is_a_bound_too():
    assert at_most(np.inf) == "inf"


@given(st.floats(0, 1e300))
def test_root_up_is_the_smallest_float_that_is_not_below(value):
    root = root_up(value)
    assert Fraction(root) ** 2 >= Fraction(value)
    assert root == 0 or Fraction(np.nextafter(root, 0)) ** 2 < Fraction(value)
