"""Saving and loading change nothing: not a prediction, not a record, not what is learned next."""

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff
from novikoff.keep.models import load, save
from tests.draws import draws
from tests.keep import samples

SEEDS = st.integers(0, 10**6)
FEW = settings(max_examples=draws(15))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.novikoff"


def check_the_law(model, path, inputs, learn_more, **functions):
    """Predictions, record and memory are the same after loading, and again after both have learned more."""
    save(model, path)
    loaded = load(path, **functions)
    assert type(loaded) is type(model)
    for step in (None, learn_more):
        if step is not None:
            for learner in (model, loaded):
                step(learner)
        assert samples.predictions(loaded, inputs) == samples.predictions(model, inputs)
        assert samples.memory_of(loaded) == samples.memory_of(model)
        records = [getattr(learner, "run_", None) or getattr(learner, "run", None) for learner in (model, loaded)]
        assert records[0] == records[1]
    return loaded


@FEW
@given(
    seed=SEEDS,
    readout=st.sampled_from(["average", "last", "vote"]),
    forms=st.tuples(*[st.sampled_from(list(samples.FORMS))] * 2),
    labels=st.sampled_from(list(samples.LABELS)),
    n_classes=st.sampled_from([2, 3]),
    options=st.fixed_dictionaries(
        {
            "fit_intercept": st.booleans(),
            "record_mistakes": st.booleans(),
            "tie": st.sampled_from(["mistake", "predict"]),
        }
    ),
    fits=st.booleans(),
)
def test_a_perceptron_goes_on_as_if_nothing_had_happened(seed, readout, forms, labels, n_classes, options, fits, path):
    X, y = samples.points(seed, n_classes=n_classes, labels=labels, form=forms[0])
    Z, z = samples.points(seed + 1, n_classes=n_classes, labels=labels, form=forms[1])
    model = novikoff.Perceptron(readout=readout, random_state=seed, max_iter=3, eta0=0.5, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model.fit(X, y) if fits else model.partial_fit(X, y)
    check_the_law(model, path, Z, lambda learner: learner.partial_fit(Z, z))


@FEW
@given(seed=SEEDS, readout=st.sampled_from(["average", "vote"]), n_first=st.integers(1, 2))
def test_classes_that_come_later_grow_the_same_model(seed, readout, n_first, path):
    X, y = samples.points(seed, n_classes=n_first)
    Z, z = samples.points(seed + 1, n_classes=3)
    model = novikoff.Perceptron(readout=readout).partial_fit(X, y)
    loaded = check_the_law(model, path, Z, lambda learner: learner.partial_fit(Z, z))
    assert loaded.classes_.tolist() == ["north", "south", "östlich"]


@FEW
@given(seed=SEEDS)
def test_a_warm_start_begins_from_the_loaded_weights(seed, path):
    X, y = samples.points(seed)
    model = novikoff.Perceptron(warm_start=True, random_state=seed, max_iter=2).fit(X, y)
    check_the_law(model, path, X, lambda learner: learner.fit(X, y))


@FEW
@given(
    seed=SEEDS,
    kernel=st.sampled_from(["rbf", "poly", "linear", "laplacian", "sigmoid"]),
    readout=st.sampled_from(["average", "last", "vote"]),
    form=st.sampled_from(list(samples.FORMS)),
    n_classes=st.sampled_from([2, 3]),
    budget=st.sampled_from([None, 5]),
    fits=st.booleans(),
)
def test_a_kernel_perceptron_goes_on_as_if_nothing_had_happened(
    seed, kernel, readout, form, n_classes, budget, fits, path
):
    X, y = samples.points(seed, n_classes=n_classes, form=form)
    Z, z = samples.points(seed + 1, n_classes=n_classes, form=form)
    model = novikoff.KernelPerceptron(
        kernel=kernel, readout="average" if budget else readout, random_state=seed, max_iter=2, budget=budget
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model.fit(X, y) if fits else model.partial_fit(X, y)
    check_the_law(model, path, Z, lambda learner: learner.partial_fit(Z, z))


@FEW
@given(seed=SEEDS, readout=st.sampled_from(["average", "vote"]))
def test_a_kernel_matrix_needs_no_rows(seed, readout, path):
    X, y = samples.points(seed)
    model = novikoff.KernelPerceptron(kernel="precomputed", readout=readout, random_state=0).fit(X @ X.T, y)
    check_the_law(model, path, X[:5] @ X.T, lambda learner: learner.fit(X @ X.T, y))


@FEW
@given(
    seed=SEEDS,
    n_first=st.integers(0, 3),
    readout=st.sampled_from(["average", "last", "auto"]),
    n=st.integers(3, 20),
)
def test_an_online_perceptron_goes_on_as_if_nothing_had_happened(seed, n_first, readout, n, path):
    model = novikoff.OnlinePerceptron(readout=readout)
    if n_first:
        model.learn_many(*samples.examples(seed, n, n_classes=n_first))
    more = samples.examples(seed + 1, n)
    check_the_law(model, path, more[0], lambda learner: learner.learn_many(*more))


@FEW
@given(seed=SEEDS)
def test_a_table_learned_row_by_row_stays_one(seed, path):
    """Where all examples have the same names there is a quick way, which must not change anything."""
    X, y = samples.points(seed)
    rows = [dict(zip("abc", x, strict=True)) for x in X.tolist()]
    model = novikoff.OnlinePerceptron(classes=["north", "south"])
    model.learn_many(rows, y.tolist())
    check_the_law(model, path, rows, lambda learner: learner.learn_many(rows, y.tolist()[::-1]))


@FEW
@given(
    seed=SEEDS, kind=st.sampled_from(["templates", "attributes", "numbers"]), constraint=st.sampled_from([None, "IOB2"])
)
def test_a_sequence_perceptron_labels_as_before(seed, kind, constraint, path):
    sentences, tags = samples.words(seed)
    if constraint is not None:
        tags = [["O" for _ in sentence] for sentence in sentences[1:]] + [["B-X" for _ in sentences[0]]]
        sentences = [*sentences[1:], sentences[0]]
    templates = ["w[0]", "w[-2]|w[1]", "shape(w[0])", "suffix2(lower(w[0]))|w[1]"] if kind == "templates" else None
    if kind == "numbers":
        generator = np.random.default_rng(seed)
        sentences = [generator.integers(-2, 3, (len(sentence), 2)) * 1.0 for sentence in sentences]
    model = novikoff.SequencePerceptron(templates=templates, constraint=constraint, random_state=seed, max_iter=3)
    model.fit(sentences, tags)
    save(model, path)
    loaded = load(path)
    assert samples.predictions(loaded, sentences) == samples.predictions(model, sentences)
    assert samples.memory_of(loaded) == samples.memory_of(model)
    assert loaded.heaviest() == model.heaviest()
    if kind != "numbers":
        assert loaded.prune(0.5).predict(sentences) == model.prune(0.5).predict(sentences)
        check_the_law(model, path, sentences, lambda learner: learner.prune(1.0))


@FEW
@given(seed=SEEDS, loss=st.sampled_from([None, samples.different]), record=st.booleans(), fits=st.booleans())
def test_a_structured_perceptron_goes_on_with_the_functions_it_is_given(seed, loss, record, fits, path):
    functions = {"features": samples.pair_features, "decode": samples.best_pair} | ({"loss": loss} if loss else {})
    model = novikoff.StructuredPerceptron(**functions, record_mistakes=record, random_state=seed, max_iter=3)
    model = model.fit(*samples.pairs(seed)) if fits else model.partial_fit(*samples.pairs(seed))
    more = samples.pairs(seed + 1)
    loaded = check_the_law(model, path, more[0], lambda learner: learner.partial_fit(*more), **functions)
    assert loaded.fit(*more).run_ == model.fit(*more).run_


@FEW
@given(seed=SEEDS)
def test_a_kernel_of_strings_goes_on_with_the_function_it_is_given(seed, path):
    generator = random.Random(seed)
    words = ["".join(generator.choices("abcde", k=3)) for _ in range(20)]
    model = novikoff.KernelPerceptron(kernel=samples.shared_letters, random_state=0)
    model.partial_fit(words, [word < "c" for word in words], classes=[False, True])
    more = words[::-1], [word > "b" for word in words]
    check_the_law(model, path, words, lambda m: m.partial_fit(*more), kernel=samples.shared_letters)
