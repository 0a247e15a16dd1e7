"""Templates give the features that a slow and obvious extractor gives, string for string."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff.features.templates as module
from novikoff.data.sentences import Sentences
from novikoff.features.templates import (
    TemplateIndex,
    default_templates,
    parse_template,
    read_templates,
    translated,
)
from novikoff.features.tokens import as_columns
from novikoff.learn.chain.tagger import learn_tagger
from tests.draws import draws

SETTINGS = settings(deadline=None, max_examples=draws(40))
TEMPLATES = [
    "w[0]",
    "w[-2]",
    "w[3]",
    "p[0]",
    "w[-1]|w[0]",
    "p[-2]|p[-1]|p[0]",
    "suffix2(w[0])",
    "prefix3(w[1])|p[0]",
    "shape(w[-1])|lower(w[0])|w[0]|p[2]",
    "suffix1(lower(w[0]))",
]
WORDS = st.sampled_from(["The", "the", "cat", "Cat's", "U.S.", "1,000", "", "x|y", "ÄÖ"])
SENTENCES = st.lists(
    st.lists(st.fixed_dictionaries({"w": WORDS, "p": st.sampled_from("NVD")}), max_size=5), min_size=1, max_size=6
)


def naive_value(part, sentence, place):
    function = re.fullmatch(r"(\w+)\((.+)\)", part)
    if function:
        value = naive_value(function[2], sentence, place)
        if value.startswith("_B"):
            return value
        if function[1] == "lower":
            return value.lower()
        if function[1] == "shape":
            out = ""
            for c in value:
                kind = "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
                out += kind if not out.endswith(kind) else ""
            return out
        n = int(function[1][6:])
        return value[:n] if function[1].startswith("prefix") else value[max(len(value) - n, 0) :]
    column, offset = re.fullmatch(r"(\w)\[(.+)\]", part).groups()
    at = place + int(offset)
    if at < 0:
        return f"_B-{-at}"
    if at >= len(sentence):
        return f"_B+{at - len(sentence) + 1}"
    return sentence[at][column]


def naive_features(sentences, templates):
    def written(template, sentence, place):
        return f"{template}=" + "|".join(naive_value(part, sentence, place) for part in template.split("|"))

    places = [(sentence, place) for sentence in sentences for place in range(len(sentence))]
    return [{written(template, *where) for template in templates} for where in places]


def extracted(index, tokens):
    names, matrix = index.names(), tokens.rows.as_scipy()
    assert (matrix.data == 1).all()
    return [{names[j] for j in matrix.indices[a:b]} for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)]


def learn(sentences, templates=TEMPLATES, min_count=1):
    return TemplateIndex.learn(templates, as_columns(sentences, (), {"w", "p"}), min_count)


@given(SENTENCES, st.sampled_from([1 << 21, 0]))
@SETTINGS
def test_templates_give_what_a_naive_extractor_gives(sentences, table):
    with pytest.MonkeyPatch.context() as patch:  # looked up in tables or among sorted keys: the same features
        patch.setattr(module, "TABLE", table)
        index, tokens = learn(sentences)
        assert extracted(index, tokens) == naive_features(sentences, TEMPLATES)
        again = index.encode(as_columns(sentences, (), {"w", "p"}))
    np.testing.assert_array_equal(again.rows.as_array(), tokens.rows.as_array())


@given(SENTENCES, SENTENCES, st.integers(1, 3))
@SETTINGS
def test_features_that_were_rare_or_never_seen_are_left_out(seen, new, min_count):
    index, tokens = learn(seen, min_count=min_count)
    features = naive_features(seen, TEMPLATES)
    counts = {}
    for name in (name for token in features for name in token):
        counts[name] = counts.get(name, 0) + 1
    frequent = {name for name, count in counts.items() if count >= min_count}
    assert set(index.names()) == frequent
    assert extracted(index, tokens) == [token & frequent for token in features]
    encoded = index.encode(as_columns(new, (), {"w", "p"}))
    assert extracted(index, encoded) == [token & frequent for token in naive_features(new, TEMPLATES)]


@given(SENTENCES.filter(lambda sentences: any(sentences)), st.randoms(use_true_random=False))
@SETTINGS
def test_keeping_some_features_changes_none_of_them(sentences, random):
    index, tokens = learn(sentences)
    wanted = np.array([random.random() < 0.5 for _ in range(index.n_columns)])
    kept = index.keep(wanted)
    assert kept.names() == [name for name, stays in zip(index.names(), wanted, strict=True) if stays]
    encoded = kept.encode(as_columns(sentences, (), {"w", "p"}))
    np.testing.assert_array_equal(encoded.rows.as_array(), tokens.rows.as_array()[:, wanted])


@given(SENTENCES, SENTENCES, st.randoms(use_true_random=False))
@SETTINGS
def test_an_index_that_grows_knows_what_it_knew_and_what_is_new(before, new, random):
    index = learn(before)[0]
    index = index.keep(np.array([random.random() < 0.5 for _ in range(index.n_columns)], dtype=bool))
    grown, tokens, moved = index.grow(as_columns(new, (), {"w", "p"}))
    assert [grown.names()[place] for place in moved] == index.names()
    assert extracted(grown, tokens) == naive_features(new, TEMPLATES)
    assert set(grown.names()) == set(index.names()).union(*naive_features(new, TEMPLATES))


def test_a_known_feature_stays_however_rare_it_has_become():
    index = learn([[{"w": "a", "p": "N"}] * 2], ["w[0]"], min_count=2)[0]
    grown, _, _ = index.grow(as_columns([[{"w": word, "p": "N"} for word in "abcc"]], (), {"w", "p"}), min_count=2)
    assert set(grown.names()) == {"w[0]=a", "w[0]=c"}


def test_the_most_frequent_features_come_first():
    sentences = [[{"w": word, "p": "N"} for word in ["b", "a", "a", "c", "a", "b"]]]
    assert learn(sentences, ["w[0]"])[0].names() == ["w[0]=a", "w[0]=b", "w[0]=c"]


def test_tuples_and_mappings_give_the_same_features():
    mappings = [[{"w": "the", "p": "D"}, {"w": "cat", "p": "N"}]]
    tuples = [[("the", "x", "D"), ("cat", "y", "N")]]
    a = as_columns(mappings, (), {"w", "p"})
    b = as_columns(tuples, ("w", "other", "p"), {"w", "p"})
    assert (a.values, a.starts.tolist()) == (b.values, b.starts.tolist())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("w", "'w' is not a part"),
        ("w[0]|", "'' is not a part"),
        ("w[x]", "is not a part"),
        ("stem(w[0])", "the function 'stem' is unknown"),
        ("prefix0(w[0])", "the function 'prefix0' is unknown"),
        ("prefix2(w[0]", "is not a part"),
    ],
)
def test_a_broken_template_is_named(text, what):
    with pytest.raises(ValueError, match=re.escape(what)):
        parse_template(text)


def test_templates_of_crfpp_are_ours_in_other_words(tmp_path):
    lines = "# Unigram\nU00:%x[-2,0]\n\nU05:%x[-1,0]/%x[0,0]\nU10:%x[ 0 , 1 ]\n# Bigram\nB\n"
    (tmp_path / "template").write_text(lines)
    assert read_templates(tmp_path / "template", ("w", "p", "chunk")) == ["w[-2]", "w[-1]|w[0]", "p[0]"]
    words = [[("a", "x"), ("b", "y")], [("b", "x")]]
    tags = [["1", "2"], ["1"]]
    ours, theirs = (
        learn_tagger(words, tags, templates=templates, columns=("w", "p"), random_state=0)
        for templates in (["w[-2]", "w[-1]|w[0]", "p[0]"], lines.split("\n"))
    )
    assert ours.heaviest(None) == theirs.heaviest(None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("U00:%x[0,2]", "refers to column 2, counting from 0, and there are w, p"),
        ("B01:%x[0,0]", "features of two labels and a token are not supported"),
        ("U07:", "refers to nothing"),
    ],
)
def test_a_template_of_crfpp_that_is_not_there_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        translated([line], ("w", "p"))


def test_names_that_look_like_crfpp_are_columns():
    assert translated(["U[0]", "B[-1]|U[0]"], ("U", "B")) == ["U[0]", "B[-1]|U[0]"]


def test_sentences_have_default_templates_of_the_columns_that_are_named_or_of_all_but_the_labels():
    sentences = Sentences.from_lists({"w": [["a", "b"], ["b"]], "p": [["x", "y"], ["y"]], "tag": [["1", "2"], ["2"]]})
    gold = sentences.column("tag")
    tagger = learn_tagger(sentences, gold, columns=("w", "p"), random_state=0)
    expected = learn_tagger(sentences, gold, templates=default_templates(("w", "p")), random_state=0)
    assert tagger.heaviest(None) == expected.heaviest(None)
    assert learn_tagger(sentences, gold, random_state=0).heaviest(None) == expected.heaviest(None)
    with pytest.raises(ValueError, match="pass templates=, or columns="):
        default_templates(())
