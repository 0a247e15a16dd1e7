"""Attributes expand as CRFsuite expands them."""

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.features.tokens import AttributeIndex, expand
from tests.draws import draws

NAMES = st.text("abw:=\\ ", min_size=1, max_size=3)
VALUES = st.one_of(
    NAMES,
    st.booleans(),
    st.integers(-5, 5),
    st.floats(-1e3, 1e3),
    st.lists(NAMES, max_size=3),
    st.sets(NAMES, max_size=3),
    st.dictionaries(NAMES, st.one_of(NAMES, st.integers(0, 3)), max_size=2),
)
TOKENS = st.one_of(st.lists(NAMES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=4))


@given(st.lists(TOKENS, max_size=4))
@settings(deadline=None, max_examples=draws(60))
def test_attributes_expand_as_in_crfsuite(tokens):
    assert [expand(token) for token in tokens] == pycrfsuite.ItemSequence(tokens).items()


@given(st.lists(st.lists(TOKENS, max_size=3), min_size=1, max_size=4))
@settings(deadline=None, max_examples=draws(50))
def test_rows_hold_the_values_of_the_attributes(sequences):
    index, tokens = AttributeIndex.learn(sequences)
    names, rows = index.names(), tokens.rows.as_array()
    expected = [expand(token) for sequence in sequences for token in sequence]
    for row, attributes in zip(rows, expected, strict=True):
        found = {name: value for name, value in zip(names, row, strict=True) if value}
        assert found == {name: value for name, value in attributes.items() if value}
    np.testing.assert_array_equal(index.encode(sequences).rows.as_array(), rows)


def test_rare_and_unknown_attributes_are_left_out():
    index, _ = AttributeIndex.learn([[["a", "b"], ["a"]]], min_count=2)
    assert index.names() == ["a"]
    assert index.encode([[["b", "a", "z"]]]).rows.as_array().tolist() == [[1.0]]


def test_of_equal_attributes_the_last_counts_even_if_it_is_zero():
    for token in ({"a": "b", "a:b": 0}, {"a:b": 0, "a": "b"}, {"a": "b", "a:b": 2.5}, ["x", "x"]):
        index, tokens = AttributeIndex.learn([[token]])
        found = dict(zip(index.names(), tokens.rows.as_array()[0].tolist(), strict=True))
        assert found == expand(token)


def test_new_attributes_come_behind_those_that_are_known():
    index, _ = AttributeIndex.learn([[{"w": "cat"}, {"w": "cat", "n": 2}]])
    grown, tokens, moved = index.grow([[{"w": "dog", "n": 3}], [{"w": "dog"}, ["rare"]]], min_count=2)
    assert (grown.names(), moved.tolist()) == (["w:cat", "n", "w:dog"], [0, 1])
    assert tokens.rows.as_array().tolist() == [[0, 3, 1], [0, 0, 1], [0, 0, 0]]


def test_a_string_is_one_attribute():
    assert expand("cat") == expand(b"cat") == expand(["cat"])


@pytest.mark.parametrize(
    ("token", "what"),
    [
        ([1], "the attribute 1 is not a string but int"),
        ({"a": None}, "the attribute 'a' has the value None"),
        ({"a": [1]}, "the attribute 1 is not a string"),
        ({"a": float("nan")}, "only finite numbers"),
        (7, "not int"),
    ],
)
def test_a_strange_token_is_named_with_its_place(token, what):
    with pytest.raises((TypeError, ValueError), match="token 1 of sequence 0: ") as caught:
        AttributeIndex.learn([[["fine"], token]])
    assert what in str(caught.value)
