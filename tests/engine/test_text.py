"""The numbers of the svmlight kernel are Python's, bit for bit; only numbers of more than 19 digits may wait for it."""

import math
import struct
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from novikoff.engine.text import (
    BAD_PAIR,
    FINE,
    LARGEST_POWER,
    MOST_DIGITS,
    SMALLEST_POWER,
    nearest,
    parse,
    powers_of_five,
    room_for,
)

KNOWN_TO_BE_HARD = [
    "2.2250738585072011e-308",  # just below the smallest normal number
    "2.2250738585072012e-308",
    "2.2250738585072014e-308",
    "4.9406564584124654e-324",
    "5e-324",
    "2.4703282292062327e-324",  # just below half of the smallest number: 0
    "2.4703282292062328e-324",
    "2.47032822920623272e-324",
    "1e-400",
    "1e-342",
    "18446744073709551615e-343",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "17976931348623157" + "0" * 292,
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",  # halfway, to even
    "9007199254740995",
    "9007199254740993.0000000000000000000000001",
    "9007199254740992999999999999999999e-18",
    "1e22",
    "1e23",  # the first power of ten that float64 cannot hold
    "8.5e22",
    "0.1",
    "0.30000000000000004",
    "123456789012345678901234567890",
    "7.0420557077594588669468784357561207962098443483187940792729600000e+59",
    "1448997445238699",
    "0.000000000000000000000000000000000000000000000000000000000000000000000001",
    "1000000000000000000000000000000000000000000000000000000e-54",
    "0" * 40 + "1" + "0" * 40 + "." + "0" * 40,
    "0e999999999999999999999999",
    "1e-999999999999999999999999",
    "0." + "0" * 400 + "1e401",
    "-0",
    "-0.0e5",
    ".5",
    "5.",
    "+.5E+1",
    "00012",
]

signs = st.sampled_from(["", "+", "-"])
digits = st.text("0123456789", min_size=1, max_size=25)
exponents = st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(["e", "E"]), st.integers(-400, 400)))


@st.composite
def decimals(draw):
    """Any sign, digits, point and exponent whose number does not overflow."""
    number = draw(digits)
    point = draw(st.integers(0, len(number)))
    number = draw(st.sampled_from([number, f"{number[:point]}.{number[point:]}"]))
    spelling = draw(signs) + number + draw(exponents)
    return spelling if math.isfinite(float(spelling)) else f"{number}e-400"


@st.composite
def nearly_halfway(draw):
    """The middle between two neighbours, exactly, cut off, or moved by a little, and written in one of two ways."""
    below = abs(draw(st.floats(allow_nan=False, allow_infinity=False, max_value=1e308, min_value=-1e308)))
    with localcontext(prec=1200):
        middle = (Decimal(below) + Decimal(math.nextafter(below, math.inf))) / 2
        middle += draw(st.sampled_from([0, 0, -1, 1])) * middle.scaleb(-draw(st.integers(17, 900)))
    with localcontext(prec=draw(st.sampled_from([17, 18, 19, 20, 25, 1200]))):
        middle = +middle
    return f"{middle:{draw(st.sampled_from(['e', 'f']))}}"


def parsed(text):
    into = room_for(len(text))
    return parse(np.frombuffer(text, dtype=np.uint8), 0, len(text), into), into


def bits(number):
    return struct.pack("<d", number)


def check(spellings):
    text = "".join(f"1 0:{spelling}\n" for spelling in spellings).encode()
    found, into = parsed(text)
    assert found.error == FINE
    assert found.entries == found.rows == found.lines == len(spellings)
    waiting = into.waiting[: found.waiting].tolist()
    for start, stop, slot in waiting:
        assert text[start:stop].decode() == f"0:{spellings[slot]}"
        assert sum(map(str.isdigit, spellings[slot])) > MOST_DIGITS
    for slot in {*range(len(spellings))} - {slot for *_, slot in waiting}:
        assert bits(into.data[slot]) == bits(float(spellings[slot])), spellings[slot]
    return len(waiting)


def test_the_hard_numbers_are_those_of_python():
    check(KNOWN_TO_BE_HARD)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=20, max_size=50))
def test_the_shortest_spelling_of_any_float_gives_it_back(spellings):
    check(spellings)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=20, max_size=50), st.sampled_from([15, 16, 17, 18]))
def test_all_bit_patterns_survive_a_fixed_number_of_digits(patterns, precision):
    numbers = [struct.unpack("<d", struct.pack("<Q", pattern))[0] for pattern in patterns]
    check([f"{number:.{precision}e}" for number in numbers if abs(number) < 1e308])


@given(st.lists(decimals(), min_size=20, max_size=50))
def test_any_digits_with_any_exponent_give_what_python_gives(spellings):
    check(spellings)


@given(st.lists(nearly_halfway(), min_size=1, max_size=10))
@example(["9007199254740993", "9007199254740993." + "0" * 30 + "1"])
def test_halfway_numbers_round_to_even_and_all_others_to_the_nearer_side(spellings):
    check(spellings)


@given(st.integers(0, 2**64 - 1), st.integers(-400, 400))
def test_the_nearest_float_is_that_of_exact_arithmetic(w, q):
    exact = w * Fraction(10) ** q
    try:
        expected = exact.numerator / exact.denominator  # Python divides integers with correct rounding
    except OverflowError:
        expected = math.inf
    assert nearest(np.uint64(w), q) == expected


def test_a_number_waits_if_and_only_if_it_has_more_than_19_digits():
    assert check(["1.00000000000000011102230246251565404236316680908203125", "1" * 20, "0." + "0" * 50 + "1"]) == 3
    assert check(["1." + "3" * 18, "1" * 19, "0." + "0" * 9 + "1" * 10, "1" + "0" * 18]) == 0


@pytest.mark.parametrize("spelling", ["1e309", "-1e400", "1.7976931348623159e308", "1e99999999999999999999"])
def test_a_number_that_overflows_is_an_error(spelling):
    found, _ = parsed(f"1 0:{spelling}\n".encode())
    assert (found.error, found.place) == (BAD_PAIR, 2)


@pytest.mark.parametrize("spelling", ["", ".", "+", "-", "e5", "1e", "1e+", ".e1", "--1", "+-1", "1.2.3", "1_0", "0x1"])
def test_what_is_no_number_is_an_error(spelling):
    found, _ = parsed(f"1 0:1\n1 0:{spelling}\n".encode())
    assert (found.error, found.lines, found.rows, found.entries) == (BAD_PAIR, 1, 1, 1)


def test_a_digit_is_told_from_every_other_byte_at_every_place_of_a_number():
    for other in {*range(256)} - {*b"0123456789+-.eE \t\r\n#"}:
        for place in range(18):
            found, _ = parsed(b"1 0:" + b"1" * place + bytes([other]) + b"2" * 9 + b"\n")
            assert found.error == BAD_PAIR, (other, place)


def test_the_table_has_the_leading_bits_of_every_power_of_five():
    for q, (upper, lower) in zip(range(SMALLEST_POWER, LARGEST_POWER + 1), powers_of_five().tolist(), strict=True):
        scaled = upper * 2**64 + lower
        assert 2**127 <= scaled < 2**128
        exact = Fraction(5) ** q
        scale = scaled.bit_length() - (exact.numerator.bit_length() - exact.denominator.bit_length())
        assert min(abs(scaled - exact * Fraction(2) ** (scale + shift)) for shift in (-1, 0, 1)) <= 1
