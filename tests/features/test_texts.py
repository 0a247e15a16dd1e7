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

from novikoff.engine.buckets import Features
from novikoff.engine.jit import patience
from novikoff.features.texts import TextVocabulary, features_by_row, keys_of, words_and_pairs

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


def read_slowly(texts):
    """For every text, its words and pairs: as a regular expression splits it."""
    column = compute.split_pattern_regex(compute.utf8_lower(pa.array(texts, pa.string())), r"[^\pL\pM\pN]+")
    for parts in column.to_pylist():
        words = [word for word in parts or [] if word]
        yield words + [f"{a} {b}" for a, b in itertools.pairwise(words)]


def bucket_of(word, n_buckets):
    return zlib.crc32(word.encode()) % n_buckets


@pytest.mark.usefixtures("way")
@given(TEXTS)
@example(["A.b", None, "", "É é", "\x00a\x00", "a" * 50 + " b", "½ x² 中文 字"])
def test_words_and_their_keys_are_those_of_a_slow_reading(texts):
    found = words_and_pairs(pa.array(texts, pa.string()))
    words = [bytes(found.clean[a:b]).decode() for a, b in zip(found.starts, found.stops, strict=True)]
    slow = [(row, word) for row, words in enumerate(read_slowly(texts)) for word in words]
    assert sorted(zip(found.rows.tolist(), words, strict=True)) == sorted(slow)
    assert found.keys.tolist() == keys_of(words).tolist()


def kept_slowly(texts, n_buckets):
    """Of every bucket the first three, words before pairs, and how many texts have each; and the order of all words."""
    found = words_and_pairs(pa.array(texts, pa.string()))
    order = dict.fromkeys(bytes(found.clean[a:b]).decode() for a, b in zip(found.starts, found.stops, strict=True))
    rows = Counter(word for words in read_slowly(texts) for word in set(words))
    buckets = sorted({bucket_of(word, n_buckets) for word in order})
    for bucket in buckets:
        own = [word for word in order if bucket_of(word, n_buckets) == bucket]
        best = sorted(own, key=lambda word: " " in word)[:3]
        yield from ((word, rows[word]) for word in own if word in best)


def listed(words):
    return list(zip(words.words, words.rows.tolist(), strict=True))


@pytest.mark.usefixtures("way")
@given(TEXTS, st.sampled_from([1, 2, 7, 1000]), st.lists(st.integers(0, 8), max_size=3))
@example(["a b", "c d e", "a b c d e f"], 1, [1])
def test_the_first_words_of_every_bucket_are_kept_in_whatever_parts_texts_come(texts, n_buckets, cuts):
    vocabulary = TextVocabulary(n_buckets)
    ends = sorted({0, *(min(cut, len(texts)) for cut in cuts), len(texts)})
    for start, stop in itertools.pairwise(ends):
        vocabulary.add_texts(pa.array(texts, pa.string()).slice(start, stop - start))
    slow = list(kept_slowly(texts, n_buckets))
    vocabulary.close()
    assert listed(vocabulary.kept) == slow
    assert vocabulary.n_entries(len(texts), 0) == sum(rows for _, rows in slow)


@given(TEXTS, TEXTS, st.sampled_from([1, 2, 7, 2**18]))
def test_words_of_two_parts_are_joined_to_those_of_the_whole(one, other, n_buckets):
    """Their counts, too, unless a part has not kept a word of which the whole has."""

    def words_of(texts):
        vocabulary = TextVocabulary(n_buckets)
        vocabulary.add_texts(pa.array(texts, pa.string()))
        vocabulary.close()
        return vocabulary.kept

    joined, whole = words_of(one).joined(words_of(other), n_buckets), words_of([*one, *other])
    assert joined.words == whole.words
    assert all(fewer <= rows for fewer, rows in zip(joined.rows, whole.rows, strict=True))
    if n_buckets == 2**18:
        assert joined.rows.tolist() == whole.rows.tolist()


@pytest.mark.usefixtures("way")
@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20), max_size=5))
def test_the_key_of_a_word_is_its_crc_and_whether_it_is_a_pair(words):
    pairs = [f"{a} {b}" for a, b in itertools.pairwise(words)]
    expected = [zlib.crc32(word.encode()) for word in words] + [2**32 + zlib.crc32(pair.encode()) for pair in pairs]
    assert keys_of([*words, *pairs]).tolist() == expected


@pytest.mark.usefixtures("way")
@given(TEXTS, st.sampled_from([3, 40, 100_000]), st.integers(0, 5))
@example([" ".join(map(str, range(60)))], 100_000, 0)
def test_the_features_of_a_row_ascend_and_occur_once(texts, n_buckets, seed):
    """Every word has its own, or none."""
    column = pa.array(["not", *texts], pa.string())[1:]
    found = words_and_pairs(column)
    buckets = found.keys % 2**32 % n_buckets
    by_bucket = sorted(set(zip(buckets, found.keys, strict=True)))
    known = [one for one in by_bucket if np.random.default_rng([seed, one[0], one[1]]).random() < 0.7]
    firsts = np.searchsorted([bucket for bucket, _ in known], np.arange(n_buckets + 1)).astype(np.int32)
    keys = np.array([key for _, key in known], dtype=np.int64)
    rows, features, times, strange = features_by_row(column, Features(firsts, keys))
    places = {one: place for place, one in enumerate(known)}
    pairs = list(zip(buckets.tolist(), found.keys.tolist(), strict=True))
    assert strange == sum(pair not in places for pair in pairs)
    by_row = zip(found.rows.tolist(), pairs, strict=True)
    expected = Counter((row, places[pair]) for row, pair in by_row if pair in places)
    assert list(zip(rows.tolist(), features.tolist(), strict=True)) == sorted(expected)
    assert times.tolist() == [expected[one] for one in sorted(expected)]
