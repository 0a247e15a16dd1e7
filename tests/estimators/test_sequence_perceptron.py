"""SequencePerceptron: the kinds of input, read-outs, constraints, and what it says when something is wrong."""

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import novikoff
from novikoff import Sentences, SequencePerceptron
from novikoff.data.held_out import HeldOut

WORDS = [["the", "cat", "sleeps"], ["a", "dog", "barks", "loudly"], ["dogs", "bark"], [], ["sleep"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "A"], ["N", "V"], [], ["V"]]
TEMPLATES = ["w[0]", "w[-1]", "suffix1(w[0])"]


def as_mappings(sentences):
    return [[{"w": word} for word in sentence] for sentence in sentences]


def as_attributes(sentences):
    return [
        [
            [f"w[0]={word}", f"w[-1]={sentence[place - 1] if place else '_B-1'}", f"suffix1(w[0])={word[-1:]}"]
            for place, word in enumerate(sentence)
        ]
        for sentence in sentences
    ]


def fitted(X=None, y=TAGS, **options):
    X = as_mappings(WORDS) if X is None else X
    return SequencePerceptron(**{"templates": TEMPLATES, "random_state": 0, **options}).fit(X, y)


def test_every_kind_of_input_learns_the_same():
    columns = Sentences.from_lists({"w": WORDS})
    tuples = [[(word,) for word in sentence] for sentence in WORDS]
    models = [
        (fitted(), as_mappings(WORDS)),
        (fitted(columns), columns),
        (fitted(tuples, columns=("w",)), tuples),
        (fitted(as_attributes(WORDS), templates=None), as_attributes(WORDS)),
    ]
    first = models[0][0]
    one_hot, names = (
        [],
        {name: place for place, (name, _) in enumerate(sorted({(f, 0) for f, _ in first.state_features_}))},
    )
    for sentence in as_attributes(WORDS):
        rows = np.zeros((len(sentence), len(names)))
        for row, token in zip(rows, sentence, strict=True):
            row[[names[name] for name in token if name in names]] = 1.0
        one_hot.append(rows)
    for model, X in models:
        assert model.state_features_ == pytest.approx(first.state_features_)
        assert model.transition_features_ == pytest.approx(first.transition_features_)
        assert model.mistake_rows_.tolist() == first.mistake_rows_.tolist()
        assert model.predict(X) == TAGS
    numbers = fitted(one_hot, templates=None)
    assert numbers.mistake_rows_.tolist() == first.mistake_rows_.tolist()
    assert numbers.predict(one_hot) == TAGS


@pytest.mark.parametrize(
    "form",
    [
        lambda words: words,
        lambda words: tuple(words),
        lambda words: iter(words),
        lambda words: np.array(words, dtype=str),
        lambda words: np.array(words, dtype=str)[:, None],
        lambda words: pd.Series(words, index=range(7, 7 + len(words)), dtype=object),
        lambda words: [word.encode() for word in words],
        lambda words: [(word, "ignored") for word in words],
        lambda words: [[word] for word in words],
        lambda words: pd.DataFrame({"w": words, "n": 1}),
        lambda words: pa.table({"w": words}),
        lambda words: [row for _, row in pd.DataFrame({"w": words}).iterrows()],
        lambda words: [word if place % 2 else {"w": word} for place, word in enumerate(words)],
    ],
)
def test_a_string_is_one_word_in_every_form_and_by_every_way_in(form, tmp_path):
    X = [form(words) for words in WORDS if words]
    y = [tags for tags in TAGS if tags]
    expected = fitted([[{"w": word} for word in words] for words in WORDS if words], y)
    model = fitted([form(words) for words in WORDS if words], y, columns=("w", "other"))
    assert model.state_features_ == expected.state_features_
    assert model.score([form(words) for words in WORDS if words], y) == 1.0
    novikoff.save(model, tmp_path / "model.novikoff")
    for one in (model, novikoff.load(tmp_path / "model.novikoff")):
        assert one.predict_single(form(["the", "dog", "bark"])) == expected.predict_single(
            as_mappings([["the", "dog", "bark"]])[0]
        )
    assert [len(labels) for labels in model.predict(X)] == [3, 4, 2, 1]


# -- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("templates", [TEMPLATES, ["w[-1]|w[0]|w[1]"], None])
def test_sequences_in_parts_make_the_mistakes_of_the_whole(templates):
    options = {"templates": templates, "readout": "average"}
    X, y = (as_mappings(WORDS) if templates else as_attributes(WORDS)) * 3, TAGS * 3
    whole = SequencePerceptron(**options, shuffle=False, max_iter=1).fit(X, y)
    parts = SequencePerceptron(**options)
    for start in range(0, len(X), 2):
        parts.partial_fit(X[start : start + 2], y[start : start + 2], classes=list("ADNV"))
    assert parts.mistake_rows_.tolist() == whole.mistake_rows_.tolist()
    assert parts.tagger_.named_weights() == whole.tagger_.named_weights()
    assert (parts.run_.radius, parts.run_.margin_at_most) == (whole.run_.radius, whole.run_.margin_at_most)
    assert (parts.run_.stopped, parts.run_.order) == (None, "given")


def test_features_and_labels_that_are_new_are_added():
    model = fitted(warm_start=True, readout="last")
    seen, before = model.n_mistakes_, model.tagger_.features.index.names()
    model.fit(as_mappings([["wow", "dogs"]]), [["I", "N"]])
    assert model.classes_ == ["A", "D", "I", "N", "V"]
    assert model.predict(as_mappings([["wow", "dogs"]])) == [["I", "N"]]
    assert {*before, "w[0]=wow"} <= {*model.tagger_.features.index.names()}
    assert model.run_.mistakes == seen + sum(model.run_.mistakes_per_epoch)
    assert f"after {seen} in earlier calls (one bound for all)" in str(model.run_)
    assert model.run_.order is None
    assert model.partial_fit(as_mappings(WORDS), TAGS).run_.order is None


def test_a_constraint_holds_for_labels_that_come_later():
    model = SequencePerceptron(templates=["w[0]"], constraint="IOB2", max_iter=1, random_state=0)
    model.partial_fit([["a", "b"]], [["B-x", "I-x"]]).partial_fit([["c", "d"]], [["B-y", "I-y"]])
    found = pairs(model.predict([list("abcd"), list("dcba"), list("bdbd")]))
    assert all(not after.startswith("I-") or (before or "O")[2:] == after[2:] for before, after in found)


def pairs(paths):
    return [pair for path in paths for pair in zip(["O", *path], path, strict=False)]


def test_a_pruned_tagger_does_not_go_on():
    with pytest.raises(ValueError, match="this tagger cannot continue learning: it was pruned"):
        fitted().prune().partial_fit(as_mappings(WORDS), TAGS)


@pytest.mark.parametrize(
    ("change", "y", "what"),
    [
        ({"templates": ["w[0]"]}, TAGS, "the templates cannot change when learning continues"),
        ({"constraint": lambda a, b: a != b}, TAGS, "the constraint cannot change when learning continues"),
        ({"held_out": 0.5}, TAGS, "held_out needs a new start"),
        ({"early_stopping": True}, TAGS, "early_stopping needs a new start"),
    ],
)
def test_what_cannot_change_is_refused_and_leaves_the_model_as_it_was(change, y, what):
    model = fitted(warm_start=True)
    before = model.tagger_
    with pytest.raises(ValueError, match=what):
        model.set_params(**change).fit(as_mappings(WORDS), y)
    assert model.tagger_ is before


def test_labels_that_were_named_beforehand_are_fixed():
    model = SequencePerceptron(templates=TEMPLATES).partial_fit(as_mappings(WORDS), TAGS, classes=list("ADNV"))
    with pytest.raises(ValueError, match=r"label 'Q' was not in classes=\['A', 'D', 'N', 'V'\]"):
        model.partial_fit(as_mappings([["dogs"]]), [["Q"]])
    with pytest.raises(ValueError, match="differ from the labels known already"):
        model.partial_fit(as_mappings(WORDS), TAGS, classes=list("ADN"))


def test_a_tagger_from_a_file_goes_on_as_if_it_had_stayed(tmp_path):
    for options in ({}, {"readout": "last", "lead": 0.1}, {"templates": None}):
        given = as_attributes if "templates" in options else as_mappings
        model = SequencePerceptron(**{"templates": TEMPLATES, "random_state": 0, "max_iter": 2, **options})
        with warnings.catch_warnings(action="ignore"):
            model.fit(given(WORDS), TAGS)
        novikoff.save(model, tmp_path / "model")
        loaded = novikoff.load(tmp_path / "model")
        for one in (model, loaded):
            one.partial_fit(given([["the", "bird", "sings"]]), [["D", "N", "X"]])
        assert loaded.tagger_.named_weights() == model.tagger_.named_weights()
        assert loaded.run_ == model.run_


def test_sentences_have_templates_of_all_columns_but_the_labels():
    sentences = Sentences.from_lists(
        {"w": WORDS[:3], "p": TAGS[:3], "tag": [[tag.lower() for tag in t] for t in TAGS[:3]]}
    )
    model = SequencePerceptron(random_state=0).fit(sentences, sentences.column("tag"))
    assert [t.text for t in model.tagger_.features.index.templates] == novikoff.default_templates(("w", "p"))
    assert model.predict(sentences) == sentences.column("tag")
    with pytest.raises(ValueError, match="no column but that of their labels"):
        SequencePerceptron().fit(Sentences.from_lists({"tag": TAGS}), TAGS)


def test_a_string_needs_no_name_for_its_only_column():
    model = fitted(WORDS)
    assert model.state_features_ == fitted().state_features_
    assert model.predict(WORDS) == TAGS


def test_without_templates_a_string_is_one_attribute():
    model, other = (fitted(X, templates=None) for X in (WORDS, [[[word] for word in words] for words in WORDS]))
    assert model.state_features_ == other.state_features_
    assert "dog" in {feature for feature, _ in model.state_features_}
    assert model.predict([["International", "Business"]]) == other.predict([[["International"], ["Business"]]])


def test_columns_without_templates_have_the_default_ones_whatever_form_tokens_have():
    models = [
        fitted(X, templates=None, columns=columns)
        for X, columns in (
            (WORDS, ("w",)), (WORDS, "w"), (as_mappings(WORDS), ("w",)), (Sentences.from_lists({"w": WORDS}), ("w",)),
        )
    ]  # fmt: skip
    assert all(model.state_features_ == models[0].state_features_ for model in models)
    assert "shape(w[0])=x" in {feature for feature, _ in models[0].state_features_}


def test_sequences_held_out_of_a_column_of_pandas_are_taken_by_position():
    words, tags = [s for s in WORDS if s] * 5, [t for t in TAGS if t] * 5
    options = {"templates": TEMPLATES, "held_out": 0.4, "random_state": 0}
    backwards = range(len(words), 0, -1)
    of_pandas = SequencePerceptron(**options).fit(pd.Series(words, index=backwards), pd.Series(tags, index=backwards))
    assert of_pandas.state_features_ == SequencePerceptron(**options).fit(words, tags).state_features_


def test_a_label_that_was_never_learned_counts_as_wrong():
    y = [["Q", "N", "V"], *TAGS[1:]]
    assert fitted().score(WORDS, y) == 0.9
    assert fitted().score(as_mappings(WORDS), [["Q"] * len(labels) for labels in TAGS]) == 0.0


def test_a_mapping_of_crfsuite_works_unchanged():
    X = [[{"bias": 1.0, "word.lower()": word, "BOS": place == 0} for place, word in enumerate(s)] for s in WORDS]
    model = SequencePerceptron(random_state=0, readout="last").fit(X, TAGS)
    assert model.predict(X) == TAGS
    assert model.predict_single(X[0]) == TAGS[0]
    assert model.score(X, TAGS) == 1.0
    assert sorted(model.classes_) == ["A", "D", "N", "V"]


def test_features_never_seen_are_ignored():
    model = fitted()
    assert model.predict(as_mappings([["the", "zebra", "sleeps"]])) == [["D", "N", "V"]]


def test_scores_and_margins_are_those_of_the_best_two():
    model = fitted(readout="last", max_iter=None)
    for scored, best in zip(
        model.predict_with_scores(as_mappings(WORDS)), model.predict_best(as_mappings(WORDS), 2), strict=True
    ):
        assert (scored.labels, scored.score) == best[0]
        assert scored.margin == (best[0][1] - best[1][1] if len(best) > 1 else np.inf)
        assert scored.margin >= 0
    assert len(model.predict_best(as_mappings([["dog"]]), 10)[0]) == 4  # there are no more


def test_a_constraint_is_never_broken():
    labels = ["O", "B-a", "I-a", "B-b", "I-b"]
    spans = [["O"], ["B-a", "I-a", "I-a"], ["B-b", "I-b"]]
    y = [[*first, *second] for first in spans for second in spans]
    X = [[[label] for label in gold] for gold in y]
    shuffled = np.random.default_rng(0).choice(labels, size=(30, 6)).tolist()
    tokens = [[[label] for label in sequence] for sequence in shuffled]
    free, bound = (
        SequencePerceptron(constraint=constraint, random_state=0).fit(X, y).predict(tokens)
        for constraint in (None, "IOB2")
    )

    def legal(before, after):
        return not after.startswith("I-") or before[2:] == after[2:]

    assert not all(all(map(legal, ["O", *path], path)) for path in free)
    assert all(all(map(legal, ["O", *path], path)) for path in bound)

    def never_b_after_a(before, after):
        return not (before == "B-a" and after == "B-b")

    paths = SequencePerceptron(constraint=never_b_after_a, random_state=0).fit(X, y).predict(tokens)
    assert all(all(map(never_b_after_a, path, path[1:])) for path in paths)
    assert not all(all(map(never_b_after_a, path, path[1:])) for path in free)


def test_sequences_held_out_have_no_say_and_are_counted():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(3, 2)) for _ in range(60)]
    y = [[int(token[0] + 0.3 * rng.normal() > 0) for token in sequence] for sequence in X]
    held = HeldOut.share(0.3, 7).which(0, 60)
    model = SequencePerceptron(held_out=0.3, random_state=7).fit(X, y)
    other = [-1000.0 * sequence if out else sequence for sequence, out in zip(X, held, strict=True)]
    again = SequencePerceptron(held_out=0.3, random_state=7).fit(other, y)
    assert again.state_features_ == model.state_features_
    guessed = model.predict([sequence for sequence, out in zip(X, held, strict=True) if out])
    gold = [labels for labels, out in zip(y, held, strict=True) if out]
    wrong = sum(one != two for one, two in zip(guessed, gold, strict=True))
    assert (model.run_.held_out_errors, model.run_.held_out_rows) == (wrong, held.sum())
    assert not set(model.mistake_rows_.tolist()) & set(np.flatnonzero(held).tolist())
    assert "Expected error: held-out error" in str(model.run_)


def test_sentences_held_out_are_those_of_their_lists():
    words = [["the", "cat"], ["a", "dog", "barks"], ["dogs"], ["cats", "bark"], ["a", "cat"], ["the", "dog"]] * 4
    tags = [["X" if word in ("a", "the") else "Y" for word in sentence] for sentence in words]
    sentences = Sentences.from_lists({"w": words, "t": tags})
    options = {"templates": ["w[0]"], "columns": ["w"], "held_out": 0.4, "random_state": 0}
    one = SequencePerceptron(**options).fit(sentences, tags)
    other = SequencePerceptron(**options).fit([[{"w": word} for word in sentence] for sentence in words], tags)
    assert one.state_features_ == other.state_features_
    assert sentences.some([2, 0]).column("w") == [["dogs"], ["the", "cat"]]


def test_a_share_of_the_sequences_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="0 were held out by chance"):
        SequencePerceptron(held_out=0.0001, random_state=0).fit([np.eye(2)], [[0, 1]])


def test_the_validation_part_chooses_the_epochs_and_all_is_learned():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(4, 2)) for _ in range(40)]
    y = [[int(token[0] + rng.normal() > 0) for token in sequence] for sequence in X]
    model = SequencePerceptron(
        early_stopping=True, validation_fraction=0.25, n_iter_no_change=2, max_iter=20, random_state=0
    ).fit(X, y)
    errors = model.run_.validation_errors
    assert model.run_.epochs == int(np.argmin(errors)) + 1
    assert len(errors) in (model.run_.epochs + 2, 20)
    assert model.run_.n_rows == 40
    assert "chosen on the validation" in str(model.run_)


def test_pruning_drops_features_without_weight_and_nothing_else():
    model = fitted()
    before = model.predict(as_mappings(WORDS))
    n_features = model.tagger_.features.index.n_columns
    heavy = {key: weight for key, weight in model.state_features_.items() if abs(weight) > 0.4}
    assert model.prune().predict(as_mappings(WORDS)) == before
    assert model.tagger_.features.index.n_columns <= n_features
    assert model.prune(0.4).state_features_ == heavy
    assert set(model.tagger_.features.index.names()) == {feature for feature, _ in heavy}


def test_weights_are_sorted_by_size_and_can_be_asked_by_label():
    weights = fitted().heaviest(None)
    sizes = [abs(weight.weight) for weight in weights]
    assert sizes == sorted(sizes, reverse=True)
    assert fitted().heaviest(3, label="N") == [weight for weight in weights if weight.label == "N"][:3]


def test_one_label_and_sequences_of_one_token_are_fine():
    model = SequencePerceptron().fit([[["a"]], [["b"]]], [["x"], ["x"]])
    assert model.predict([[["a"], ["c"]], []]) == [["x", "x"], []]
    assert model.run_.mistakes == 0


def test_five_hundred_labels_fit_in_memory():
    rng = np.random.default_rng(0)
    y = [rng.integers(500, size=8).tolist() for _ in range(150)]
    X = [[[f"w={label}", f"half={label // 2}", "all"] for label in gold] for gold in y]
    model = SequencePerceptron(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95


def test_labels_may_be_any_hashables():
    model = SequencePerceptron(random_state=0).fit([[["a"], ["b"]]], [[(1, 2), None]])
    assert model.predict([[["a"], ["b"]]]) == [[(1, 2), None]]


def test_it_is_an_estimator():
    model = clone(SequencePerceptron(templates=TEMPLATES, cost=2.0))
    assert model.get_params()["cost"] == 2.0
    with pytest.raises(NotFittedError):
        model.predict([])
    a, b = fitted(random_state=5), fitted(random_state=5)
    assert a.state_features_ == b.state_features_


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = fitted()
    with pytest.raises(ValueError, match="sequence 0 has 3 tokens, but 1 labels"):
        model.fit(as_mappings(WORDS), [["D"], *TAGS[1:]])
    assert model.predict(as_mappings(WORDS)) == TAGS


def test_a_run_that_did_not_converge_warns_who_asked_for_it():
    with pytest.warns(ConvergenceWarning, match="SequencePerceptron did not converge"):
        SequencePerceptron(readout="last", max_iter=2).fit([[["a"]], [["a"]]], [["x"], ["y"]])


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: fitted(readout="vote"), 'readout="vote" is not supported for sequences'),
        (lambda: fitted(readout="best"), "readout='best' is unknown"),
        (lambda: fitted(templates=[]), "templates=[] must be a list"),
        (lambda: fitted(templates="w[0]"), "templates='w[0]' must be a list"),
        (lambda: fitted(templates=["p[0]"]), "token 0 of sequence 0 has no column 'p'"),
        (lambda: fitted([[("a",)]], [["x"]]), "their places need names: pass columns="),
        (lambda: fitted([[("a",)]], [["x"]], columns=("v",)), "need the column 'w', but columns=('v',)"),
        (lambda: fitted(Sentences.from_lists({"v": WORDS})), "need the column 'w', but the sentences have v"),
        (lambda: fitted(y=TAGS[1:]), "X has 5 sequences, but y has 4"),
        (lambda: fitted([], []), "0 sequences without a single token"),
        (lambda: fitted([[]], [[]]), "1 sequences without a single token"),
        (lambda: fitted(min_count=0), "min_count=0 must be"),
        (lambda: fitted(cost=-1.0), "cost=-1.0 must be"),
        (lambda: fitted(max_iter=0), "max_iter=0 must be"),
        (
            lambda: fitted(early_stopping=True, validation_fraction=1.5),
            "validation_fraction=1.5 must be a fraction",
        ),
        (
            lambda: fitted(early_stopping=True, validation_fraction=0.4, n_iter_no_change=0),
            "n_iter_no_change=0 must be",
        ),
        (lambda: fitted(constraint="IOB9"), "constraint='IOB9' is unknown"),
        (
            lambda: fitted([[("a",)]], [["I-x"]], columns="w", constraint="IOB2"),
            "token 0 in sequence 0 breaks the constraint: it is not allowed",
        ),
        (lambda: fitted(["the cat"], [["D", "N"]]), "sequence 0 is the string 'the cat'"),
        (lambda: fitted().predict_single("the cat"), "split a sentence first, as in sentence.split()"),
        (lambda: fitted().predict("the cat"), "X is a str, not a list of sequences"),
        (lambda: fitted().predict([Sentences.from_lists({"w": WORDS})[0]]), "sequence 0 is a dict"),
        (lambda: fitted().predict([{"the", "cat"}]), "sequence 0 is a set"),
        (lambda: fitted().predict(pd.DataFrame({"w": WORDS[0]})), "X is a DataFrame"),
        (lambda: fitted([["a", "b"]], ["DN"]), "the labels of sequence 0 are the string 'DN'"),
        (lambda: fitted([["a", "b"]], [["D", "N"]], templates=["w[0]|p[0]"]), "their places need names"),
        (lambda: fitted([["a"]], [["D"]], templates=["w[0]|p[0]"], columns=("w", "p")), "no column 'p'"),
        (
            lambda: fitted([[("a", None)]], [["D"]], templates=["p[0]"], columns=("w", "p")),
            "has None in the column 'p'",
        ),
        (lambda: fitted(as_attributes(WORDS), templates=None).predict(Sentences.from_lists({"w": WORDS})), "templates"),
        (lambda: fitted(y=TAGS[1:], held_out=0.5), "X has 5 sequences, but y has 4"),
        (lambda: fitted().score([], []), "there are no tokens to score"),
        (lambda: fitted().predict_best(as_mappings(WORDS), 0), "k=0 must be"),
        (lambda: fitted().heaviest(label="Q"), "label 'Q' is unknown"),
        (lambda: fitted().prune(-1), "below=-1 must be"),
        (lambda: fitted([np.eye(2)], [["x", "y"]], templates=None).predict([np.eye(3)]), "have 3 numbers, but 2"),
        (lambda: fitted([np.eye(2), np.eye(3)], [["x"] * 2, ["y"] * 3], templates=None), "tokens of 2, 3 numbers"),
        (lambda: fitted([np.eye(2), [[np.nan, 1]]], [["x"] * 2, ["y"]], templates=None), "sequence 1 is not an array"),
        (lambda: fitted([np.array([[1, np.nan]])], [["x"]], templates=None), "token 0 of sequence 0 has NaN"),
    ],
)
def test_what_is_wrong_is_said(make, what):
    with pytest.raises(ValueError, match=re.escape(what)):
        make()


def test_the_last_weights_are_the_sum_of_the_recorded_mistakes():
    words = [[{"w": word} for word in line.split()] for line in ("the cat sleeps", "a dog barks", "dogs bark")]
    tags = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    model = SequencePerceptron(templates=["w[0]", "w[-1]"], readout="last", record_mistakes=True, random_state=0)
    tagger = model.fit(words, tags).tagger_
    total = {}
    for row, guess in zip(model.mistake_rows_, model.mistake_guesses_, strict=True):
        for labels, sign in ((tags[row], 1), (guess, -1)):
            for name, value in tagger.joint_features(words[row], labels).items():
                total[name] = total.get(name, 0) + sign * value
    assert {name: value for name, value in total.items() if value} == tagger.named_weights()
