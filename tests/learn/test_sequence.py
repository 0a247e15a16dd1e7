"""The sequence perceptron is Collins's loop, and Novikoff's theorem holds for it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.engine.viterbi import Links
from novikoff.features.tokens import stacked
from novikoff.learn.chain.space import sequence_perceptron
from novikoff.learn.run import Stopped
from tests.chains import OUTSIDE, joint_features, labelled_sequences, ranked_paths, score, structured_perceptron
from tests.draws import draws

SETTINGS = settings(deadline=None, max_examples=draws(40))


def arrays(sequences, layout=np.array):
    width = max(len(token) for tokens, _ in sequences for token in tokens)
    tokens = stacked([layout(np.array(tokens).reshape(-1, width)) for tokens, _ in sequences])
    return tokens, np.array([label for _, gold in sequences for label in gold], dtype=np.int64)


def by_name(weights):
    n_labels = weights.n_labels
    name = lambda label: OUTSIDE if label == n_labels else label  # noqa: E731
    named = {("emission", j, label): w for (j, label), w in np.ndenumerate(weights.emissions.table(n_labels))}
    named |= {("link", name(a), name(b)): w for (a, b), w in np.ndenumerate(weights.links.table)}
    return {key: weight for key, weight in named.items() if weight}


@given(labelled_sequences(), st.integers(1, 3), st.sampled_from([0.0, 1.0, 2.5]))
@SETTINGS
def test_the_run_is_that_of_the_lecture(data, epochs, cost):
    sequences, n_labels = data
    tokens, labels = arrays(sequences)
    learned = sequence_perceptron(tokens, labels, n_labels, shuffle=False, max_iter=epochs, cost=cost)
    history = list(structured_perceptron(sequences, n_labels, epochs, cost))[: learned.memory.examples]
    mistakes = [number % len(sequences) for number, (mistake, _, _) in enumerate(history) if mistake]
    assert learned.mistakes.rows.tolist() == mistakes
    assert sum(learned.run.mistakes_per_epoch) == learned.run.mistakes == len(mistakes)
    last = {key: weight for key, weight in history[-1][1].items() if weight}
    assert by_name(learned.memory.weights) == last
    assert learned.run.radius == pytest.approx(max(length for _, _, length in history), rel=1e-12)
    assert learned.run.radius >= max(length for _, _, length in history) * (1 - 1e-15)

    summed = by_name(learned.memory.read_out("average"))
    assert learned.memory.divisor("average") == len(history)
    for key in {*summed, *(key for _, weights, _ in history for key in weights)}:
        assert summed.get(key, 0.0) == sum(weights.get(key, 0.0) for _, weights, _ in history)


@given(labelled_sequences(), st.sampled_from([0.0, 1.0]))
@SETTINGS
def test_a_run_that_records_its_guesses_is_the_same_run(data, cost):
    sequences, n_labels = data
    tokens, labels = arrays(sequences)
    options = {"random_state": 0, "max_iter": 3, "cost": cost}
    plain = sequence_perceptron(tokens, labels, n_labels, **options)
    recorded = sequence_perceptron(tokens, labels, n_labels, record_mistakes=True, **options)
    assert plain.mistakes.guesses is None
    assert recorded.mistakes.rows.tolist() == plain.mistakes.rows.tolist()
    assert by_name(recorded.memory.weights) == by_name(plain.memory.weights)
    for number, guess in zip(recorded.mistakes.rows, recorded.mistakes.guesses, strict=True):
        gold = sequences[number][1]
        assert len(guess) == len(gold)
        assert guess.tolist() != list(gold)


@given(labelled_sequences(), st.sampled_from([0.25, 1.0]))
@SETTINGS
def test_every_update_of_a_lead_is_ahead_by_no_more_than_it_and_of_the_best_other_sequence(data, lead):
    """Rivals may be equally good, so the run is followed step by step with its own rivals."""
    sequences, n_labels = data
    tokens, labels = arrays(sequences)
    options = {"shuffle": False, "max_iter": 3, "lead": lead}
    learned = sequence_perceptron(tokens, labels, n_labels, record_mistakes=True, **options)
    updates = list(zip(learned.mistakes.rows.tolist(), learned.mistakes.guesses, strict=True))
    weights, longest, narrow = {}, 0.0, 0
    for step in range(learned.run.examples):
        row = step % len(sequences)
        words, gold = sequences[row]
        others = [pair for pair in ranked_paths(weights, words, n_labels) if pair[1] != tuple(gold)]
        ahead = score(weights, joint_features(words, gold)) - others[0][0] if others else np.inf
        if ahead > lead * longest:
            continue
        assert updates[0][0] == row
        rival = joint_features(words, tuple(updates.pop(0)[1].tolist()))
        assert score(weights, rival) == others[0][0]
        right = joint_features(words, gold)
        difference = {name: right[name] - rival[name] for name in {*right, *rival}}
        longest = max(longest, sum(value**2 for value in difference.values()))
        weights = {name: weights.get(name, 0.0) + difference.get(name, 0.0) for name in {*weights, *difference}}
        narrow += ahead > 0
    assert not updates
    assert learned.run.narrow == narrow == sum(learned.run.narrow_per_epoch)
    assert learned.run.updates == len(learned.mistakes.rows)
    assert by_name(learned.memory.weights) == {name: weight for name, weight in weights.items() if weight}
    plain = sequence_perceptron(tokens, labels, n_labels, **options)
    assert plain.mistakes.rows.tolist() == learned.mistakes.rows.tolist()


@pytest.mark.parametrize("lead", [0.5, 2.0])
def test_with_a_lead_updates_stay_within_the_bound_and_the_margin_within_its_bracket(lead):
    margin = 0.3
    tokens, labels = arrays(separable(3, 3, seed=3, margin=margin))
    learned = sequence_perceptron(tokens, labels, 3, lead=lead, max_iter=None, random_state=0)
    assert learned.run.stopped is Stopped.NO_MISTAKES
    assert learned.run.narrow > 0
    assert learned.run.updates <= (1 + 2 * lead) * (learned.run.radius / margin) ** 2
    assert learned.run.margin_at_least <= learned.run.margin_at_most


def test_a_lead_and_a_cost_exclude_each_other():
    tokens, labels = stacked([np.eye(2)]), np.array([0, 1])
    with pytest.raises(ValueError, match="choose one of them"):
        sequence_perceptron(tokens, labels, 2, lead=1.0, cost=1.0)
    assert sequence_perceptron(tokens, labels, 2, lead="auto", cost=1.0).run.lead == 0.0


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
    run = sequence_perceptron(tokens, labels, n_labels, max_iter=None, cost=cost, random_state=0, readout="last").run
    assert run.stopped is Stopped.NO_MISTAKES
    assert run.errors == run.wrong_tokens == 0
    assert run.mistakes <= (run.radius**2 + 2 * cost * length) / margin**2
    assert run.margin_at_most >= margin


def test_time_and_epochs_end_the_run(clock):
    clock.tick = 0.01
    tokens, labels = arrays([([[1.0]], [0]), ([[1.0]], [1])])
    assert sequence_perceptron(tokens, labels, 2, max_iter=3).run.stopped is Stopped.MAX_ITER
    assert sequence_perceptron(tokens, labels, 2, max_iter=None, time_limit=0.05).run.stopped is Stopped.TIME_LIMIT


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
    learned = sequence_perceptron(tokens, labels, 2, max_iter=None)
    assert learned.run.stopped is Stopped.INTERRUPTED
    assert learned.run.mistakes == learned.run.mistakes_per_epoch[0] > 0


def test_one_long_sequence_is_learned_and_labelled():
    labels = np.arange(100_000) % 3
    tokens = stacked([np.eye(3)[labels]])
    learned = sequence_perceptron(tokens, labels, 3, readout="last")
    assert learned.run.stopped is Stopped.NO_MISTAKES
    assert learned.run.wrong_tokens == 0


def test_what_spares_looking_at_links_follows_them():
    rng = np.random.default_rng(0)
    words = stacked([rng.integers(-2, 3, size=(5, 4)).astype(float) for _ in range(12)])
    links = sequence_perceptron(words, rng.integers(9, size=60), n_labels=9, random_state=0).memory.weights.links
    assert links.table.any()
    for kept, expected in zip(links, Links.of(links.table), strict=True):
        assert kept.tolist() == expected.tolist()


def test_the_record_says_what_happened_to_tokens():
    tokens, labels = arrays([([[1.0, 0.0], [0.0, 1.0]], [0, 1]), ([[0.0, 1.0]], [1])])
    run = sequence_perceptron(tokens, labels, 2, shuffle=False, readout="last").run
    assert len(run.wrong_tokens_per_epoch) == len(run.seconds_per_epoch) == run.epochs
    assert str(run).endswith("The last weights: 0 errors on 2 training sequences, 0 wrong labels on 3 tokens.")
