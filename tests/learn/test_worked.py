"""A run example by example, as the notes print it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.learn.linear.notes import SHOWN_STEPS
from novikoff.learn.linear.space import perceptron

X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
Y = [-1, 1, 1, -1, -1, 1]
NUMBERS = st.integers(-3, 3)


def test_the_steps_are_those_of_the_note():
    learned = perceptron(X, Y, fit_intercept=False, shuffle=False, max_iter=1, record_mistakes=True)
    steps = learned.run.steps(X, Y, learned.mistakes.rows, fit_intercept=False)
    assert "".join(step.mark for step in steps) == "✗✓✗✓✗✓"
    assert [step.after for step in steps if step.mistake] == [(1, -2), (2, -1), (3, 1)]


@given(st.data(), st.booleans(), st.integers(1, 4), st.sampled_from(["mistake", "predict"]))
def test_every_step_is_one_of_the_lecture_and_the_last_weights_are_the_models(data, bias, epochs, tie):
    rows = data.draw(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=6))
    labels = ["no", "yes", *(data.draw(st.sampled_from(["no", "yes"])) for _ in rows[2:])]
    model = Perceptron(fit_intercept=bias, shuffle=False, max_iter=epochs, tie=tie, record_mistakes=True)
    model.fit(rows, labels)
    steps = model.run_.steps(rows, labels, model.mistake_rows_, fit_intercept=bias)
    assert len(steps) == model.run_.examples
    w = (0.0,) * (2 + bias)
    for number, step in enumerate(steps):
        x = (*rows[step.row], 1)[: 2 + bias]
        sign = 1 if step.label == "yes" else -1
        score = sum(a * b for a, b in zip(w, x, strict=True))
        wrong = score * sign <= 0 if tie == "mistake" else (score >= 0) != (sign > 0)
        expected = (number // len(rows) + 1, number % len(rows), x, labels[step.row], score, wrong, w)
        assert (step.epoch, step.row, step.x, step.label, step.score, step.mistake, step.before) == expected
        w = tuple(a + sign * b for a, b in zip(w, x, strict=True)) if wrong else w
        assert step.after == w
    assert model.set_params(readout="last").coef_[0].tolist() == list(w[:2])


def test_a_long_run_is_cut_in_print():
    model = Perceptron(shuffle=False, max_iter=20, record_mistakes=True).fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    lines = str(model.run_.steps([[0], [1], [2], [3]], [0, 1, 0, 1], model.mistake_rows_)).splitlines()
    assert len(lines) == SHOWN_STEPS + 2
    assert lines[-1] == "... (80 in all)"


def test_a_shuffled_run_cannot_be_laid_out():
    model = Perceptron(random_state=1, max_iter=3, record_mistakes=True).fit(X, Y)
    assert sorted(model.mistake_rows_[: model.run_.mistakes_per_epoch[0]]) != model.mistake_rows_.tolist()
    with pytest.raises(ValueError, match="shuffle=False"):
        model.run_.steps(X, Y, model.mistake_rows_)
    with pytest.raises(ValueError, match="3 classes"):
        model.run_.steps(X, [0, 1, 2, 0, 1, 2], model.mistake_rows_)
