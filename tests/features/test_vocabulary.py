"""Words and pairs of texts are those of a slow reading, and so are their buckets, in Python and compiled."""

import itertools
import math
import zlib
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import compute

from novikoff.engine.jit import patience
from novikoff.features.vocabulary import Vocabulary, features_by_row, words_and_pairs

TEXTS = st.lists(
    st.none()
    | st.text(max_size=30)
    | st.text("ab BA,.é-", max_size=30)
    | st.lists(st.sampled_from(["word", "alphabet", "alphabetical", "alphabetically", "a1"]), max_size=8).map(" ".join),
    max_size=8,
)


@pytest.fixture(params=[0, math.inf], ids=["compiled", "python"])
def way(request):
    with patience(request.param):
        yield


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr("novikoff.features.vocabulary.FEW_WORDS", 1)


def read_slowly(texts):
    """For every text, its words and pairs: as a regular expression splits it."""
    column = compute.split_pattern_regex(compute.utf8_lower(pa.array(texts, pa.string())), r"[^\pL\pM\pN]+")
    for parts in column.to_pylist():
        words = [word for word in parts or [] if word]
        yield words + [f"{a} {b}" for a, b in itertools.pairwise(words)]


def bucket_of(word, n_buckets):
    return zlib.crc32(word.encode()) % n_buckets


@pytest.mark.usefixtures("way")
@given(TEXTS, st.sampled_from([1, 2, 7, 1000, 2**18]))
@example(["A.b", None, "", "É é", "\x00a\x00", "a" * 50 + " b", "½ x² 中文 字"], 1000)
def test_words_and_their_buckets_are_those_of_a_slow_reading(texts, n_buckets):
    found = words_and_pairs(pa.array(texts, pa.string()), n_buckets)
    words = [bytes(found.clean[a:b]).decode() for a, b in zip(found.starts, found.stops, strict=True)]
    slow = [(row, word) for row, words in enumerate(read_slowly(texts)) for word in words]
    assert sorted(zip(found.rows.tolist(), words, strict=True)) == sorted(slow)
    assert found.buckets.tolist() == [bucket_of(word, n_buckets) for word in words]


@pytest.mark.usefixtures("way", "few_are_many")
@given(TEXTS, st.sampled_from([1, 2, 7, 1000]), st.lists(st.integers(0, 8), max_size=3), st.integers(1, 3))
def test_the_first_words_of_every_bucket_are_kept_in_whatever_parts_texts_come(texts, n_buckets, cuts, n_jobs):
    vocabulary = Vocabulary(n_buckets, n_jobs)
    ends = sorted({0, *(min(cut, len(texts)) for cut in cuts), len(texts)})
    for start, stop in itertools.pairwise(ends):
        vocabulary.add(pa.array(texts, pa.string()).slice(start, stop - start))
    slow = list(read_slowly(texts))
    known = {word for words in slow for word in words}
    buckets = sorted({bucket_of(word, n_buckets) for word in known})
    found = words_and_pairs(pa.array(texts, pa.string()), n_buckets)
    order = dict.fromkeys(bytes(found.clean[a:b]).decode() for a, b in zip(found.starts, found.stops, strict=True))
    kept = {b: tuple(word for word in order if bucket_of(word, n_buckets) == b)[:3] for b in buckets}
    assert vocabulary.words() == kept
    rows = Counter(bucket for words in slow for bucket in {bucket_of(word, n_buckets) for word in words})
    assert vocabulary.rows() == rows
    assert list(vocabulary.words()) == buckets
    assert vocabulary.occurrences == sum(len({bucket_of(word, n_buckets) for word in words}) for words in slow)


@pytest.mark.usefixtures("way")
@given(TEXTS, st.sampled_from([3, 40, 100_000]), st.integers(0, 5))
@example([" ".join(map(str, range(60)))], 100_000, 0)
def test_the_features_of_a_row_ascend_and_occur_once(texts, n_buckets, seed):
    found = words_and_pairs(pa.array(texts, pa.string()), n_buckets)
    places = np.random.default_rng(seed).integers(-1, 90_000, size=n_buckets).astype(np.int32)
    rows, features, strange = features_by_row(found, places)
    all_features = places[found.buckets].tolist()
    assert strange == all_features.count(-1)
    pairs = {(row, feature) for row, feature in zip(found.rows.tolist(), all_features, strict=True) if feature >= 0}
    assert list(zip(rows.tolist(), features.tolist(), strict=True)) == sorted(pairs)
