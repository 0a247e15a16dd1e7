"""Values of every plain kind come back from a file as they went in."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.strict_json import parse
from novikoff.features.names import Intercept, OneHot
from novikoff.keep.layout import ModelFileError, dumped
from novikoff.keep.values import SCALARS, decode, decode_names, encode, encode_names

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.characters(categories=["Cs"])
)
numpy_scalars = st.one_of(
    st.integers(-100, 100).map(np.int8), st.floats(width=32).map(np.float32), st.booleans().map(np.bool_)
)
hashable = st.recursive(
    scalars | numpy_scalars,
    lambda parts: st.lists(parts, max_size=3).map(tuple) | st.frozensets(parts, max_size=3),
    max_leaves=8,
)
values = st.recursive(
    hashable,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(hashable, parts, max_size=3),
    max_leaves=12,
)


def through(value):
    return decode(parse(dumped(encode(value))))


def alike(one, other):
    """Equal in value and in type all the way down; NaN is like NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return alike([*one], [*other]) and alike([*one.values()], [*other.values()])
    if isinstance(one, frozenset):
        return dumped(encode(one)) == dumped(encode(other))
    if isinstance(one, float | np.floating):
        return bool(one == other and math.copysign(1, one) == math.copysign(1, other)) or bool(
            one != one and other != other
        )
    return bool(one == other)


@given(value=values)
def test_what_goes_in_comes_out(value):
    assert alike(through(value), value)


@given(names=st.lists(hashable))
def test_names_go_through_an_array(names):
    assert alike(decode_names(encode_names(names, "a name")), names)


def test_the_names_that_are_classes_stay_themselves():
    assert through(Intercept) is Intercept
    assert through(OneHot("colour", "red")) == OneHot("colour", "red")
    assert type(through(OneHot(("a", 1), "red"))) is OneHot
    assert through(("colour", "red")) != OneHot("colour", "red")


@pytest.mark.parametrize(
    "array",
    [
        *(np.array([1, 2, 3], dtype=kind) for kind in ("i1", "u8", ">i4", "f2", "f4", "f8")),
        *(np.zeros((2, 0)), np.array(5.0), np.array([["a", "bcd"]]), np.array([b"x"]), np.array([math.nan, math.inf])),
        *(np.array(["a", None, 3], dtype=object), np.array([], dtype="<U7"), np.array([True])),
    ],
)
def test_small_arrays_keep_type_shape_and_values(array):
    result = through(array)
    assert (result.dtype, result.shape) == (array.dtype.newbyteorder("="), array.shape)
    assert alike(result.tolist(), array.tolist())


@pytest.mark.parametrize(
    "value",
    [object(), random.Random(0), lambda: 0, {1, "a", (object(),)}, 1j, np.array(["2020"], dtype="M8[Y]"), range(3)],
)
def test_what_a_file_cannot_hold_is_named(value):
    with pytest.raises(ValueError, match="which a model file cannot hold"):
        encode(value, "the thing")


@pytest.mark.parametrize(
    "plain",
    [
        {"float": "1e5"},
        {"os.system": "true"},
        {"tuple": [1], "list": [2]},
        {},
        {"scalar": ["complex128", 1]},
        {"scalar": ["int8", 1000]},
        {"bytes": "?"},
        {"array": {"type": "<U99999999", "shape": [1000], "values": [""] * 1000}},
        {"array": {"type": "<i8", "shape": [2**40, 2**40], "values": []}},
        {"array": {"type": "<i8", "shape": [-1, -1], "values": [1]}},
        {"array": {"type": "i8,i8", "shape": [0], "values": []}},
        {"array": {"type": "(9999999,)f8", "shape": [1], "values": [1]}},
        {"Generator": {"dict": [["bit_generator", "eval"]]}},
        {"one_hot": [1, 2, 3]},
        {"dict": [[[1], 2]]},
    ],
)
def test_what_no_value_is_written_as_is_no_value(plain):
    with pytest.raises((ModelFileError, ValueError, TypeError, LookupError, ArithmeticError)):
        decode(plain)


def test_the_kinds_of_numpy_are_those_that_we_mean():
    assert set(SCALARS) >= {"bool", "int64", "float32", "str_"}
