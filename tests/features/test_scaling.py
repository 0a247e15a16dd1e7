"""Columns that are not comparable are scaled, and everything that has one scale stays as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff.engine.rows import as_rows
from novikoff.features.numeric import Moments, statistics_of
from novikoff.features.scaling import RUN, ColumnStatistics, why_scale

CHANCE = np.random.default_rng(0)
DRAWN = CHANCE.normal(size=(200, 4))
POINTS = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]


def words(n_rows, n_words):
    """Counts of words, of which each is as frequent as its number is small."""
    chances = 1.0 / np.arange(1, n_words + 1)
    drawn = [CHANCE.choice(n_words, size, p=chances / chances.sum()) for size in CHANCE.integers(50, 400, n_rows)]
    return np.array([np.bincount(row, minlength=n_words) for row in drawn], dtype=float)


def pixels(n_rows, n_pixels):
    """Bright in the middle, and hardly ever anything else than dark at the rim."""
    shares = np.sin(np.linspace(0.001, np.pi - 0.001, n_pixels))
    return np.where(CHANCE.random((n_rows, n_pixels)) < shares, CHANCE.integers(1, 256, (n_rows, n_pixels)), 0.0)


STAY = {
    "the points of the note": POINTS,
    "the same, many times": POINTS * 10,
    "XOR": [[0, 0], [1, 1], [0, 1], [1, 0]] * 5,
    "the cars of the note": [[4, 1997, 6], [0, 1997, 3]],
    "points of the plane": CHANCE.uniform(-1, 1, (100, 2)),
    "whole numbers around 0": CHANCE.integers(-9, 10, (100, 3)),
    "normal": DRAWN,
    "normal, a bit apart": DRAWN * [1, 2, 4, 8] + [0, 1, 2, 3],
    "flags, of which some are rare": CHANCE.random((300, 20)) < np.linspace(0.001, 0.999, 20),
    "a category, one-hot": np.eye(7)[CHANCE.integers(0, 7, 100)],
    "signs": np.where(CHANCE.random((300, 20)) < np.linspace(0.01, 0.99, 20), 1, -1),
    "pixels": pixels(200, 64),
    "words": words(100, 1000),
    "a constant": np.hstack([DRAWN, np.ones((200, 1))]),
    "nothing but 0": np.zeros((20, 3)),
    "no columns": np.zeros((20, 0)),
}
SCALED = {
    "a year": (np.column_stack([CHANCE.integers(1990, 2010, 200), DRAWN]), "column 0 is "),
    "only years": ([[1990 + i % 20, 2009 - i % 7] for i in range(50)], "column 0 is between 1990 and 2009, far from 0"),
    "negative": (-CHANCE.uniform(5, 9, (50, 2)), "far from 0"),
    "a wide column": (DRAWN * [1, 1, 1, 30], "column 3 is "),
    "a narrow one": (DRAWN * [1, 1, 0.03, 1], "times as large as column 2"),
    "an age beside flags": (
        np.hstack([CHANCE.integers(18, 90, (200, 1)), np.eye(8)[CHANCE.integers(0, 8, 200)]]),
        "column 0 is ",
    ),
    "frequencies and lengths": (
        np.hstack([np.where(CHANCE.random((200, 20)) < 0.2, 0.5, 0.0), CHANCE.integers(1, 900, (200, 1))]),
        "column 20 is ",
    ),
    "huge and tiny": (DRAWN * [1e300, 1, 1, 1e-300], "column 0 is "),
}


@pytest.mark.parametrize("name", STAY)
def test_what_has_one_scale_stays_as_it_is(name):
    assert why_scale(as_rows(np.asarray(STAY[name], dtype=float))) is None


@pytest.mark.parametrize("name", SCALED)
def test_columns_that_are_not_comparable_are_scaled_and_the_record_can_say_why(name):
    X, why = SCALED[name]
    assert why in why_scale(as_rows(X))


def test_columns_are_called_by_their_names():
    X = np.column_stack([CHANCE.integers(1990, 2010, 50), CHANCE.integers(0, 5, 50)])
    said = why_scale(as_rows(X), ["year", "doors"])
    assert said.startswith("'year' is ")
    assert said.endswith(" times as large as 'doors'")


def test_sparse_rows_and_too_few_rows_stay_as_they_are():
    X = SCALED["a year"][0]
    assert why_scale(as_rows(sparse.csr_array(X))) is None
    assert why_scale(as_rows(X[:9])) is None
    assert why_scale(as_rows(X[:10])) is not None


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_decides_nothing_however_near_the_limit(seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(50, 2)) ** 3
    X[:, 1] *= 10.0 * np.sqrt(np.square(X[:, 0]).sum() / np.square(X[:, 1]).sum())
    orders = [X[generator.permutation(50)] for _ in range(5)]
    assert len({why_scale(as_rows(other)) for other in [X, np.asfortranarray(X), *orders]}) == 1


def test_numbers_that_are_not_finite_are_left_to_who_refuses_them():
    X = np.array(SCALED["a year"][0])
    for bad in (np.nan, np.inf):
        X[3, 1] = bad
        assert why_scale(as_rows(X)) is None


@pytest.mark.parametrize("n_rows", [1, 12, RUN - 1, RUN, 2 * RUN + 7])
def test_an_array_has_the_statistics_of_a_file_of_the_same_numbers_to_the_bit(n_rows):
    generator = np.random.default_rng(n_rows)
    X = generator.normal(size=(n_rows, 5)) * [1, 1e3, 0, 1e-9, 1] + [0, 1e6, 3, 0, 0]
    X[:, 4] = np.rint(X[:, 4])
    columns = [Moments() for _ in range(5)]
    for part in np.array_split(X, 3):
        for place, column in enumerate(columns):
            column.add_numbers(part[:, place])
    for column in columns:
        column.close()
    for one, other in zip(ColumnStatistics.of(X)[1:], statistics_of(columns)[1:], strict=True):
        assert np.array_equal(one, other)
