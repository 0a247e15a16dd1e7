"""The sequence perceptron is Collins's loop, and Novikoff's theorem holds for it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.features.tokens import stacked
from novikoff.learn.chain.space import sequence_perceptron
from novikoff.learn.history import Stopped
from tests.chains import OUTSIDE, labelled_sequences, ranked_paths, structured_perceptron

SETTINGS = settings(deadline=None, max_examples=40)


def arrays(sequences, layout=np.array):
    width = max(len(token) for tokens, _ in sequences for token in tokens)
    tokens = stacked([layout(np.array(tokens).reshape(-1, width)) for tokens, _ in sequences])
    return tokens, np.array([label for _, gold in sequences for label in gold], dtype=np.int64)


def by_name(weights):
    n_labels = weights.emissions.shape[1]
    name = lambda label: OUTSIDE if label == n_labels else label  # noqa: E731
    named = {("emission", j, label): w for (j, label), w in np.ndenumerate(weights.emissions)}
    named |= {("link", name(a), name(b)): w for (a, b), w in np.ndenumerate(weights.links)}
    return {key: weight for key, weight in named.items() if weight}


@given(labelled_sequences(), st.integers(1, 3), st.sampled_from([0.0, 1.0, 2.5]))
@SETTINGS
def test_the_run_is_that_of_the_lecture(data, epochs, cost):
    sequences, n_labels = data
    tokens, labels = arrays(sequences)
    learned = sequence_perceptron(tokens, labels, n_labels, shuffle=False, max_epochs=epochs, cost=cost)
    history = list(structured_perceptron(sequences, n_labels, epochs, cost))[: learned.memory.examples]
    mistakes = [number % len(sequences) for number, (mistake, _, _) in enumerate(history) if mistake]
    assert learned.mistakes.tolist() == mistakes
    assert sum(learned.run.mistakes_per_epoch) == learned.run.mistakes == len(mistakes)
    last = {key: weight for key, weight in history[-1][1].items() if weight}
    assert by_name(learned.memory.weights) == last
    assert learned.run.radius == pytest.approx(max(length for _, _, length in history), rel=1e-12)
    assert learned.run.radius >= max(length for _, _, length in history) * (1 - 1e-15)

    summed = by_name(learned.weights)
    assert learned.divisor == len(history)
    for key in {*summed, *(key for _, weights, _ in history for key in weights)}:
        assert summed.get(key, 0.0) == sum(weights.get(key, 0.0) for _, weights, _ in history)


@given(labelled_sequences(), st.sampled_from([0.0, 1.0]))
@SETTINGS
def test_a_run_that_records_its_guesses_is_the_same_run(data, cost):
    sequences, n_labels = data
    tokens, labels = arrays(sequences)
    options = {"random_state": 0, "max_epochs": 3, "cost": cost}
    plain = sequence_perceptron(tokens, labels, n_labels, **options)
    recorded = sequence_perceptron(tokens, labels, n_labels, record_mistakes=True, **options)
    assert plain.guesses is None
    assert recorded.mistakes.tolist() == plain.mistakes.tolist()
    assert by_name(recorded.memory.weights) == by_name(plain.memory.weights)
    assert len(recorded.guesses) == len(recorded.mistakes)
    for number, guess in zip(recorded.mistakes, recorded.guesses, strict=True):
        gold = sequences[number][1]
        assert len(guess) == len(gold)
        assert guess.tolist() != list(gold)


def separable(n_labels, length, seed, margin=0.5):
    """Sequences labelled by a hidden unit weight vector, with a lead of at least the margin over all others."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=3 * n_labels + (n_labels + 1) ** 2)
    hidden /= np.linalg.norm(hidden)
    emissions, links = hidden[: 3 * n_labels].reshape(3, n_labels), hidden[3 * n_labels :].reshape(n_labels + 1, -1)
    names = [*range(n_labels), OUTSIDE]
    weights = {("emission", j, label): w for (j, label), w in np.ndenumerate(emissions)}
    weights |= {("link", names[a], names[b]): w for (a, b), w in np.ndenumerate(links)}
    sequences = []
    while len(sequences) < 12:
        tokens = rng.normal(size=(length, 3)).tolist()
        (best, path), (second, _), *_ = ranked_paths(weights, tokens, n_labels)
        if best - second >= margin:
            sequences.append((tokens, list(path)))
    return sequences


@pytest.mark.parametrize(("n_labels", "length"), [(2, 2), (3, 3), (4, 3), (6, 3)])
@pytest.mark.parametrize("cost", [0.0, 0.5])
def test_mistakes_never_exceed_the_bound_however_many_label_sequences_there_are(n_labels, length, cost):
    margin = 0.3
    tokens, labels = arrays(separable(n_labels, length, seed=n_labels, margin=margin))
    run = sequence_perceptron(tokens, labels, n_labels, max_epochs=None, cost=cost, random_state=0, readout="last").run
    assert run.stopped is Stopped.NO_MISTAKES
    assert run.errors == run.wrong_tokens == 0
    assert run.mistakes <= (run.radius**2 + 2 * cost * length) / margin**2
    assert run.margin_at_most >= margin


def test_time_and_epochs_end_the_run(clock):
    clock.tick = 0.01
    tokens, labels = arrays([([[1.0]], [0]), ([[1.0]], [1])])
    assert sequence_perceptron(tokens, labels, 2, max_epochs=3).run.stopped is Stopped.MAX_EPOCHS
    assert sequence_perceptron(tokens, labels, 2, max_epochs=None, time_limit=0.05).run.stopped is Stopped.TIME_LIMIT


def test_an_interrupt_keeps_what_was_learned(monkeypatch):
    import novikoff.learn.chain.space as module

    calls = []

    def interrupted(*task):
        if calls:
            raise KeyboardInterrupt
        calls.append(task)
        return kernel(*task)

    kernel = module.sequence_epoch
    monkeypatch.setattr(module, "sequence_epoch", interrupted)
    tokens, labels = arrays([([[1.0]], [0]), ([[1.0]], [1])])
    learned = sequence_perceptron(tokens, labels, 2, max_epochs=None)
    assert learned.run.stopped is Stopped.INTERRUPTED
    assert learned.run.mistakes == learned.run.mistakes_per_epoch[0] > 0


def test_one_long_sequence_is_learned_and_labelled():
    labels = np.arange(100_000) % 3
    tokens = stacked([np.eye(3)[labels]])
    learned = sequence_perceptron(tokens, labels, 3, readout="last")
    assert learned.run.stopped is Stopped.NO_MISTAKES
    assert learned.run.wrong_tokens == 0


def test_the_record_says_what_happened_to_tokens():
    tokens, labels = arrays([([[1.0, 0.0], [0.0, 1.0]], [0, 1]), ([[0.0, 1.0]], [1])])
    run = sequence_perceptron(tokens, labels, 2, shuffle=False, readout="last").run
    assert len(run.wrong_tokens_per_epoch) == len(run.seconds_per_epoch) == run.epochs
    assert str(run).endswith("The last weights: 0 errors on 2 training sequences, 0 wrong labels on 3 tokens.")
