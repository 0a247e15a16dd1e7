"""The table of laws. Each is one sentence, and holds for every learner in `learners.py` that it can concern."""

import math
import signal
import sys
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff
from novikoff import Stopped, load, save
from novikoff.data import read
from novikoff.engine.jit import patience
from tests.cli.calling import call
from tests.clock import Clock
from tests.draws import draws
from tests.laws.learners import LEARNERS, Learner, write_svmlight
from tests.laws.spaces import Plane, Problem, any_problem, epochs, lecture, mistaken, plus, separable_problem

SEEDS = st.integers(0, 2**31 - 1)

# What a law needs and a learner lacks excuses it.
NEEDS: dict[str, tuple[str, ...]] = {}


def excuse(learner: Learner, needs: tuple[str, ...]) -> str | None:
    """Why a law does not concern a learner, if it does not."""
    return next((learner.lacks[need] for need in needs if need in learner.lacks), None)


def law(*needs: str, examples: int = 10):
    """A law that concerns every learner with all that it needs."""

    def concerning(test):
        NEEDS[test.__name__] = needs
        concerned = [learner for learner in LEARNERS if excuse(learner, needs) is None]
        cells = [pytest.param(learner, id=repr(learner)) for learner in concerned]
        limited = settings(max_examples=draws(examples))(test) if hasattr(test, "hypothesis") else test
        return pytest.mark.parametrize("learner", cells)(limited)

    return concerning


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("laws") / "model.novikoff"


def drawn(data, learner):
    """Any problem, and the options that all learners share."""
    problem = data.draw(any_problem(learner.space))
    tie = data.draw(st.sampled_from(learner.ties))
    return problem, tie


def assert_close(u, v):
    """Weights are the same but for the rounding of a division."""
    for name in {*u, *v}:
        assert float(u.get(name, 0)) == pytest.approx(float(v.get(name, 0)), rel=1e-12, abs=1e-12)


def assert_same_scores(shown, expected):
    """One score an example, or one an answer, up to rounding."""
    for one, other in zip(shown, expected, strict=True):
        one, other = (list(score.values()) if isinstance(score, dict) else score for score in (one, other))
        assert np.array(one) == pytest.approx(np.array(other), rel=1e-9, abs=1e-9)


def summed(history):
    """The sum of the weights after each example."""
    total = {}
    for seen in history:
        for name, value in seen.weights.items():
            total[name] = total.get(name, 0) + value
    return {name: value for name, value in total.items() if value}


def said(learner, model, xs):
    """All that a model says: its predictions, its scores and its record, bit for bit."""
    return learner.predict(model, xs), learner.scores(model, xs), timeless(learner.run(model))


def timeless(run):
    """A record without the seconds that it took."""
    return {name: value for name, value in vars(run).items() if not name.startswith("seconds")}


# -- the theorem ------------------------------------------------------------------------------------------------------


@law(examples=15)
@given(data=st.data(), seed=SEEDS)
def test_mistakes_never_exceed_the_bound(learner, data, seed):
    """k <= (R/gamma)^2: twice that for several classes (Kesler), and that for each class against the rest."""
    problem, u = data.draw(separable_problem(learner.space))
    tie = data.draw(st.sampled_from(learner.ties))
    model = learner.fit(problem, readout="last", max_iter=None, random_state=seed, tie=tie)
    run, space = learner.run(model), learner.space
    margins = space.margin_squares(u, problem)
    assert run.mistakes <= sum(space.step * Fraction(run.radius) ** 2 / square for square in margins.values())
    assert learner.predict(model, problem.xs) == problem.ys
    assert run.stopped in (Stopped.NO_MISTAKES, None)
    assert (run.stopped is None) == ("fit" in learner.lacks)


@law(examples=15)
@given(data=st.data(), seed=SEEDS)
def test_no_margin_is_ruled_out_that_exists(learner, data, seed):
    problem, u = data.draw(separable_problem(learner.space))
    model = learner.fit(problem, max_iter=data.draw(st.integers(1, 4)), random_state=seed)
    smallest = min(learner.space.margin_squares(u, problem).values(), default=0)
    assert Fraction(min(learner.run(model).margin_at_most, 1e9)) ** 2 >= smallest


@law()
@given(data=st.data(), seed=SEEDS)
def test_the_margin_ruled_out_is_the_exact_length_of_the_weights_over_the_mistakes(learner, data, seed):
    problem, tie = drawn(data, learner)
    n = data.draw(st.integers(1, 3))
    run = learner.run(learner.fit(problem, max_iter=n, shuffle=False, tie=tie))
    space, history = learner.space, epochs(learner.space, problem, n, tie)
    added = [one for seen in history for one in seen.added]
    counts = {part: sum(part == other for other, _ in added) for part, _ in added}
    squares = {part: space.square(space.part(history[-1].weights, part)) / k**2 for part, k in counts.items()}
    if not squares:
        assert run.margin_at_most == math.inf
        return
    assert Fraction(run.margin_at_most) ** 2 >= min(squares.values())
    assert run.margin_at_most == pytest.approx(math.sqrt(min(squares.values())), rel=1e-6, abs=1e-5)
    assert run.weights_length == pytest.approx(math.sqrt(space.square(history[-1].weights)), rel=1e-9, abs=1e-6)


@law()
@given(data=st.data())
def test_the_radius_is_the_length_of_the_longest_example(learner, data):
    """Of the longest difference that was added, where examples are structures."""
    problem, tie = drawn(data, learner)
    run = learner.run(learner.fit(problem, max_iter=2, shuffle=False, tie=tie))
    steps = [step for seen in epochs(learner.space, problem, 2, tie) for _, step in seen.added]
    square = learner.space.radius_square(problem, steps)
    assert Fraction(run.radius) ** 2 >= square
    assert run.radius == pytest.approx(math.sqrt(square), rel=1e-12)


# -- the mistakes -----------------------------------------------------------------------------------------------------


@law(examples=15)
@given(data=st.data(), n=st.integers(1, 3))
def test_the_mistakes_are_those_of_the_lecture(learner, data, n):
    problem, tie = drawn(data, learner)
    model = learner.fit(problem, max_iter=n, shuffle=False, tie=tie, readout="last")
    run = learner.run(model)
    history = epochs(learner.space, problem, run.epochs if run.stopped is Stopped.CYCLE else n, tie)
    assert learner.mistakes(model) == mistaken(history)
    assert learner.weights(model) == history[-1].weights
    assert (run.mistakes, run.examples) == (len(mistaken(history)), len(history))
    if run.stopped is not None:
        rows = len(problem.ys)
        per_epoch = [len(mistaken(history[start : start + rows])) for start in range(0, len(history), rows)]
        assert run.mistakes_per_epoch == tuple(per_epoch)
        ended = Stopped.MAX_ITER if run.cycle is None else Stopped.CYCLE
        assert run.stopped is (ended if per_epoch[-1] else Stopped.NO_MISTAKES)


@law("fit", examples=15)
@given(data=st.data(), asked=st.sampled_from([{"readout": "last"}, {"min_margin": 1e-9}, {}]))
def test_weights_that_return_are_reported_with_mistakes_that_cancel_and_end_what_cannot_converge(learner, data, asked):
    problem, tie = drawn(data, learner)
    run = learner.run(learner.fit(problem, max_iter=8, shuffle=False, tie=tie, **asked))
    assert (run.stopped is Stopped.CYCLE) == (run.cycle is not None and bool(asked))
    if run.cycle is None:
        return
    rows = len(problem.ys)
    history = epochs(learner.space, problem, run.cycle.until, tie)
    between = plus(history[-1].weights, history[run.cycle.since * rows - 1].weights, -1)
    assert learner.space.square(between) == 0
    made = mistaken(history[run.cycle.since * rows :])
    assert sorted(made) == sorted(row for row, k in zip(run.cycle.rows, run.cycle.times, strict=True) for _ in range(k))
    assert str(run.cycle) in str(run)


@law()
@given(data=st.data(), seed=SEEDS)
def test_the_weights_are_the_sum_of_the_mistakes_each_of_which_was_one(learner, data, seed):
    """In whatever order the rows came."""
    problem, tie = drawn(data, learner)
    model = learner.fit(problem, max_iter=3, random_state=seed, tie=tie, readout="last")
    rows, w = learner.mistakes(model), {}
    while rows:
        seen = next(lecture(learner.space, problem, iter(rows[:1]), tie, w))
        assert seen.added
        assert rows[: len(seen.added)] == [seen.row] * len(seen.added)
        rows, w = rows[len(seen.added) :], seen.weights
    assert learner.weights(model) == w


@law("fit")
@given(data=st.data(), seed=SEEDS)
def test_an_epoch_without_a_mistake_means_that_no_row_is_a_mistake_of_the_last_weights(learner, data, seed):
    problem, _ = data.draw(separable_problem(learner.space))
    tie = data.draw(st.sampled_from(learner.ties))
    model = learner.fit(problem, max_iter=None, random_state=seed, tie=tie, readout="last")
    assert learner.run(model).stopped is Stopped.NO_MISTAKES
    w = {name: Fraction(value) for name, value in learner.weights(model).items()}
    assert not mistaken(list(lecture(learner.space, problem, iter(range(len(problem.ys))), tie, w)))


@law("partial_fit")
@given(data=st.data(), n=st.integers(1, 3))
def test_parts_are_the_whole(learner, data, n):
    """A fit in order equals as many passes of partial_fit, in portions of any size."""
    problem, tie = drawn(data, learner)
    readout = data.draw(st.sampled_from(learner.readouts))
    whole = learner.fit(problem, max_iter=n, shuffle=False, tie=tie, readout=readout)
    parts, size = learner.make(tie=tie, readout=readout), data.draw(st.integers(1, len(problem.ys)))
    for _ in range(learner.run(whole).examples // len(problem.ys)):
        for start in range(0, len(problem.ys), size):
            part = slice(start, start + size)
            learner.learn(parts, Problem(problem.xs[part], problem.ys[part]))
    one, other = learner.run(whole), learner.run(parts)
    assert learner.predict(parts, problem.xs) == learner.predict(whole, problem.xs)
    assert_same_scores(learner.scores(parts, problem.xs), learner.scores(whole, problem.xs))
    assert (other.mistakes, other.examples, other.radius) == (one.mistakes, one.examples, one.radius)
    assert other.margin_at_most == pytest.approx(one.margin_at_most, rel=1e-6, abs=1e-6)
    assert other.stopped is None
    if readout != "vote":
        assert_close(learner.weights(parts), learner.weights(whole))
    if hasattr(parts, "mistake_rows_"):
        rows = [row % len(problem.ys) for row in learner.mistakes(parts)]
        assert rows == learner.mistakes(whole)


@law("forms", examples=3)
@given(data=st.data(), seed=SEEDS)
def test_the_same_numbers_in_any_form_make_the_same_mistakes(learner, data, seed):
    """Dense or sparse, single or double, in any layout, with zeros or without, features in any order."""
    space, options = learner.space, {"tie": data.draw(st.sampled_from(learner.ties)), "random_state": seed}
    xs, ys = space.close_calls(np.random.default_rng(seed))
    singles = [space.mapped(x, single) for x in xs]
    plain = {xs: learner.fit(Problem(given, ys), **options) for xs, given in (("double", xs), ("single", singles))}
    for name, form in learner.forms().items():
        precision, given = ("single", singles) if "float32" in name else ("double", xs)
        other = Problem(form(learner.given(given)), ys)
        model = learner.fit(other, **options)
        assert learner.mistakes(model) == learner.mistakes(plain[precision]), name
        assert learner.predict(model, other.xs) == learner.predict(plain[precision], given), name
        assert_same_scores(learner.scores(model, other.xs), learner.scores(plain[precision], given))


def single(value):
    return float(np.float32(value))


@law()
@given(data=st.data(), seed=SEEDS)
def test_the_order_of_the_features_changes_no_mistake(learner, data, seed):
    """Of whole numbers; a sum of others is rounded in the order of the columns."""
    problem, tie = drawn(data, learner)
    other = Problem([learner.space.permuted(x) for x in problem.xs], problem.ys)
    models = [learner.fit(given, max_iter=3, random_state=seed, tie=tie) for given in (problem, other)]
    assert learner.mistakes(models[0]) == learner.mistakes(models[1])


@law("homogeneous", examples=8)
@given(data=st.data(), power=st.integers(-30, 30), seed=SEEDS)
def test_scaling_all_examples_by_a_power_of_two_changes_no_mistake(learner, data, power, seed):
    """Without a bias, which would not be scaled."""
    problem = learner.space.close_calls(np.random.default_rng(seed))
    scaled = Problem([learner.space.mapped(x, lambda value: value * 2.0**power) for x in problem.xs], problem.ys)
    options = {"fit_intercept": False} if learner.offers("fit_intercept") else {}
    models = [learner.fit(given, max_iter=3, random_state=seed, **options) for given in (problem, scaled)]
    assert learner.mistakes(models[0]) == learner.mistakes(models[1])
    assert learner.predict(models[0], problem.xs) == learner.predict(models[1], scaled.xs)


# -- the read-outs ----------------------------------------------------------------------------------------------------


@law()
@given(data=st.data(), n=st.integers(1, 3))
def test_the_average_is_the_mean_of_the_weights_after_each_example(learner, data, n):
    problem, tie = drawn(data, learner)
    model = learner.fit(problem, max_iter=n, shuffle=False, tie=tie, readout="average")
    history = epochs(learner.space, problem, n, tie)
    shown = {name: value * len(history) for name, value in learner.weights(model).items()}
    assert_close(shown, summed(history))


@law(examples=15)
@given(data=st.data(), n=st.integers(1, 3))
def test_every_read_out_predicts_what_exact_arithmetic_predicts(learner, data, n):
    """The last weights, their mean, or the vote of all; a score of exactly 0 is the second class, equal ones the
    first."""
    problem, tie = drawn(data, learner)
    readout = data.draw(st.sampled_from(learner.readouts))
    strangers = [*problem.xs, *data.draw(st.lists(learner.space.points(), min_size=1, max_size=4))]
    model = learner.fit(problem, max_iter=n, shuffle=False, tie=tie, readout=readout)
    past = [seen.weights for seen in epochs(learner.space, problem, n, tie)]
    past = past[-1:] if readout == "last" else past
    count = learner.space.elected if readout == "vote" else learner.space.scores
    totals = [count(x, past) for x in strangers]
    right = [max(total, key=total.__getitem__) for total in totals]
    assert learner.predict(model, strangers) == right
    expected = [learner.exact_scores(total, len(past)) for total in totals]
    scores = learner.scores(model, strangers)
    assert_same_scores(scores, expected)
    if isinstance(expected[0], float):
        assert [int(score >= 0) for score in scores] == right
    wrong = sum(one != other for one, other in zip(right, problem.ys, strict=False))
    assert learner.run(model).errors in (wrong, None)


def test_the_average_of_structures_is_not_divided_before_it_decides():
    """Found by the law above: divided, one of two structures that are equally good came out ahead."""
    learner = next(learner for learner in LEARNERS if repr(learner) == "StructuredPerceptron")
    xs = [
        ((("c", -2),), ()),
        ((), (), (("a", -2), ("b", -1), ("c", -1))),
        ((), (("a", -1), ("b", -1), ("c", 2)), (("b", -1),)),
        ((), ()),
        ((("a", 0), ("c", -1)), (("b", -2),)),
        ((("a", -1), ("b", 2), ("c", 2)), (("a", 0), ("b", 0), ("c", 1)), (("b", 0), ("a", -2), ("c", 1))),
    ]
    problem = Problem(xs, [1, 2, 2, 0, 0, 0])
    model = learner.fit(problem, max_iter=1, shuffle=False, tie="predict", readout="average")
    past = [seen.weights for seen in epochs(learner.space, problem, 1, "predict")]
    totals = [learner.space.scores(x, past) for x in xs]
    assert learner.predict(model, xs) == [max(total, key=total.__getitem__) for total in totals]


# -- the end of a run -------------------------------------------------------------------------------------------------


def ruled_out(space, history):
    """The square of the largest margin that is left after each mistake, of the part that has the smallest."""
    sums, counts, left = {}, {}, []
    for seen in history:
        for part, step in seen.added:
            sums[part], counts[part] = plus(sums.get(part, {}), step), counts.get(part, 0) + 1
        if seen.added:
            left.append(min(space.square(w) / counts[part] ** 2 for part, w in sums.items()))
    return left


@law("fit")
@given(data=st.data(), margin=st.sampled_from([0.1, 0.4, 0.7, 1.0, 1.5, 3.0]))
def test_a_margin_that_was_ruled_out_is_longer_than_the_weights_over_the_mistakes(learner, data, margin):
    problem, tie = drawn(data, learner)
    run = learner.run(learner.fit(problem, max_iter=4, shuffle=False, tie=tie, min_margin=margin))
    left = ruled_out(learner.space, epochs(learner.space, problem, 4, tie)[: run.examples])
    if run.stopped is Stopped.MARGIN_RULED_OUT:
        assert left[-1] <= Fraction(run.margin_at_most) ** 2 < Fraction(margin) ** 2
    else:
        assert not left or left[-1] >= Fraction(margin * (1 - 1e-6)) ** 2
        assert run.margin_at_most >= margin


@law("fit", "first mistake")
@given(data=st.data(), margin=st.sampled_from([0.1, 0.4, 0.7, 1.0, 1.5, 3.0]))
def test_a_run_ends_at_the_very_mistake_that_rules_the_margin_out(learner, data, margin):
    problem, tie = drawn(data, learner)
    run = learner.run(learner.fit(problem, max_iter=4, shuffle=False, tie=tie, min_margin=margin))
    left = ruled_out(learner.space, epochs(learner.space, problem, 4, tie)[: run.examples])
    earlier = left[:-1] if run.stopped is Stopped.MARGIN_RULED_OUT else left
    assert all(square >= Fraction(margin * (1 - 1e-6)) ** 2 for square in earlier)


def without_end(data, learner):
    """A problem with one example twice, under different labels."""
    problem, tie = drawn(data, learner)
    other = next(y for y in learner.space.answers(problem.xs[0]) if y != problem.ys[0])
    return Problem([*problem.xs, problem.xs[0]], [*problem.ys, other]), tie


@law("fit", examples=5)
@given(data=st.data())
def test_a_limit_of_time_is_kept_and_what_was_learned_until_then_is_right(learner, data):
    problem, tie = without_end(data, learner)
    with Clock(tick=0.01).in_place():
        model = learner.fit(problem, max_iter=10**6, shuffle=False, tie=tie, time_limit=0.05)
    assert learner.run(model).stopped is Stopped.TIME_LIMIT
    assert_honest(learner, model, problem, tie)


def assert_honest(learner, model, problem, tie):
    """The record and the weights are those of the lecture after as many examples."""
    run = learner.run(model)
    n = len(problem.ys)
    history = epochs(learner.space, problem, 1 + run.examples // n, tie)[: run.examples]
    assert learner.mistakes(model) == mistaken(history)
    assert (run.mistakes, sum(run.mistakes_per_epoch)) == (len(mistaken(history)),) * 2
    if run.readout == "last":
        assert_close(learner.weights(model), history[-1].weights if history else {})
    else:
        shown = {name: value * (len(history) or 1) for name, value in learner.weights(model).items()}
        assert_close(shown, summed(history))


@contextmanager
def ctrl_c(at):
    """Press Ctrl-C before the line of the learners' code that comes at this place; yields the lines so far."""
    lines = []

    def trace(frame, event, arg):
        if LEARN not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines.append(frame.f_lineno)
            if len(lines) == at:
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)


LEARN = str(Path(novikoff.__file__).parent / "learn")


@law("fit")
def test_whoever_is_interrupted_holds_what_was_learned_and_says_so(learner):
    """Wherever Ctrl-C is pressed: the weights are the sum of the recorded mistakes, or nothing was learned at all."""
    xs, ys = learner.space.close_calls(np.random.default_rng(0))
    problem = Problem([learner.space.mapped(x, lambda value: round(10 * value)) for x in xs[:6]], ys[:6])
    options = {"max_iter": 2, "shuffle": False, "tie": learner.ties[0]}
    model = learner.fit(problem, **options)  # whatever is done on first use only
    with ctrl_c(0) as lines:
        learner.fit_again(model, problem)
    whole = learner.run(model)
    for place in range(1 + LEARNERS.index(learner), len(lines), 17):  # another line for each learner
        model = learner.make(**options)
        with pytest.raises(KeyboardInterrupt), ctrl_c(place):
            learner.fit_again(model, problem)
        if hasattr(model, "run_"):
            assert timeless(model.run_) == timeless(whole) or model.run_.stopped is Stopped.INTERRUPTED
            assert_honest(learner, model, problem, learner.ties[0])


@law("partial_fit")
def test_whoever_is_interrupted_in_a_part_holds_what_was_learned(learner):
    """Wherever Ctrl-C is pressed: the weights are the sum of the mistakes among the examples that were counted."""
    xs, ys = learner.space.close_calls(np.random.default_rng(0))
    problem = Problem([learner.space.mapped(x, lambda value: round(10 * value)) for x in xs[:6]], ys[:6])
    options = {"tie": learner.ties[0], "readout": "last"}
    learner.learn(learner.make(**options), problem)  # whatever is done on first use only
    model = learner.make(**options)
    with ctrl_c(0) as lines:
        learner.learn(model, problem)
    for place in range(1 + LEARNERS.index(learner), len(lines), 13):
        model = learner.make(**options)
        with pytest.raises(KeyboardInterrupt), ctrl_c(place):
            learner.learn(model, problem)
        if hasattr(model, "run_") or hasattr(model, "run"):
            history = epochs(learner.space, problem, 1, learner.ties[0])[: learner.run(model).examples]
            assert_close(learner.weights(model), history[-1].weights if history else {})
            assert learner.run(model).mistakes == len(mistaken(history))


@law("fit")
def test_whoever_watches_sees_every_epoch_and_may_end_the_run(learner):
    xs, ys = learner.space.close_calls(np.random.default_rng(1))
    other = next(y for y in learner.space.answers(xs[0]) if y != ys[0])
    problem = Problem([*xs, xs[0]], [*ys, other])  # without end
    seen = []

    def watch(history):
        seen.append((history.examples, history.mistakes))
        return Stopped.VALIDATION if len(seen) == 3 else None

    model = learner.make(max_iter=None, shuffle=False)
    learner.fit_again(model, problem, watch=watch)
    run = learner.run(model)
    assert run.stopped is Stopped.VALIDATION
    assert seen[-1] == (run.examples, run.mistakes)
    assert seen == sorted(seen)


# -- models as things -------------------------------------------------------------------------------------------------


@law()
@given(data=st.data(), seed=SEEDS)
def test_saving_changes_nothing(learner, data, seed, path):
    """Not a prediction, not a score, not the record, and not what is learned next."""
    problem, tie = drawn(data, learner)
    more = data.draw(any_problem(learner.space))
    options = {"max_iter": 2, "random_state": seed, "tie": tie}
    model = learner.fit(problem, **options, readout=data.draw(st.sampled_from(learner.readouts)))
    save(model, path)
    loaded = load(path, **learner.functions())
    assert type(loaded) is type(model)
    steps = [lambda one: None]
    steps += [lambda one: learner.learn(one, more)] if "partial_fit" not in learner.lacks else []
    steps += [lambda one: learner.fit_again(one, more)] if "fit" not in learner.lacks else []
    for step in steps:
        for one in (model, loaded):
            step(one)
        assert said(learner, loaded, more.xs) == said(learner, model, more.xs)


@law(examples=8)
@given(data=st.data(), seed=SEEDS)
def test_interpreted_and_compiled_loops_learn_the_same(learner, data, seed):
    problem, tie = drawn(data, learner)
    options = {"max_iter": 3, "random_state": seed, "tie": tie}
    options["readout"] = data.draw(st.sampled_from(learner.readouts))
    compiled = learner.fit(problem, **options)
    with patience(math.inf):
        interpreted = learner.fit(problem, **options)
        assert learner.mistakes(interpreted) == learner.mistakes(compiled)
        of_interpreted = said(learner, interpreted, problem.xs)
    assert of_interpreted == said(learner, compiled, problem.xs)


@law("fit", examples=8)
@given(data=st.data(), seed=SEEDS)
def test_the_same_seed_gives_the_same_model(learner, data, seed):
    problem, tie = drawn(data, learner)
    options = {"max_iter": 3, "random_state": seed, "tie": tie}
    models = [learner.fit(problem, **options) for _ in range(2)]
    assert learner.mistakes(models[0]) == learner.mistakes(models[1])
    assert said(learner, models[0], problem.xs) == said(learner, models[1], problem.xs)


def test_the_same_seed_gives_the_same_model_on_the_command_line(tmp_path):
    problem = Plane().close_calls(np.random.default_rng(0))
    table = write_svmlight(tmp_path / "text.svm", np.array(problem.xs), problem.ys)
    model = novikoff.Perceptron(random_state=3, max_iter=3).fit(read(table))
    options = ("--random-state", 3, "--max-iter", 3, "--no-certify", "--quiet", "--model", "model")
    assert call("fit", table, *options, folder=tmp_path).code == 0
    assert load(tmp_path / "model").coef_.tolist() == model.coef_.tolist()


def test_the_same_seed_gives_the_same_tagger_on_the_command_line(tmp_path):
    chance = np.random.default_rng(0)
    words, tags = chance.choice(list("abcd"), (12, 3)).tolist(), chance.choice(["X", "Y"], (12, 3)).tolist()
    sentences = ["".join(f"{w} {t}\n" for w, t in zip(*pair, strict=True)) for pair in zip(words, tags, strict=True)]
    (tmp_path / "tags.conll").write_text("\n".join(sentences))
    (tmp_path / "templates.txt").write_text("w[0]\nw[-1]\n")
    model = novikoff.SequencePerceptron(templates=["w[0]", "w[-1]"], random_state=3, max_iter=3)
    model.fit([[{"w": word} for word in sentence] for sentence in words], tags)
    files = ("tags.conll", "--templates", "templates.txt", "--columns", "w,t", "--model", "model")
    assert call("tag", "train", *files, "--random-state", 3, "--max-iter", 3, "--quiet", folder=tmp_path).code == 0
    assert load(tmp_path / "model").state_features_ == model.state_features_


@law(examples=8)
@given(data=st.data(), seed=SEEDS)
def test_what_is_refused_leaves_the_model_as_it_was(learner, data, seed):
    problem, tie = drawn(data, learner)
    model = learner.fit(problem, max_iter=2, random_state=seed, tie=tie)
    before = said(learner, model, problem.xs)
    for attempt in learner.refused(model, problem):
        with pytest.raises(ValueError, match=r"NaN|nan|label|structure"):
            attempt()
        assert said(learner, model, problem.xs) == before


# -- the table itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_an_excuse_is_true(learner):
    """Who lacks something does not have it."""
    model = learner.make()
    offered = {
        "fit": hasattr(model, "fit"),
        "partial_fit": hasattr(model, "partial_fit") or hasattr(model, "learn_one"),
    }
    assert {name for name in offered if name in learner.lacks} == {name for name, has in offered.items() if not has}
    assert ("vote" in learner.readouts) != ("vote" in learner.lacks)
    assert {*learner.lacks} <= {"fit", "vote"} | {need for needs in NEEDS.values() for need in needs}
    if "vote" in learner.lacks:
        x = learner.space.close_calls(np.random.default_rng(0))
        with pytest.raises(ValueError, match="vote"):
            learner.fit(x, readout="vote")
