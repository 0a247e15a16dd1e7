"""Streams of examples, logs made of them, and what a learner would make of them directly."""

from hypothesis import strategies as st

from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve import events, fold
from novikoff.serve.events import Example, LogRow, Settings
from novikoff.serve.fold import to_file

VALUES = st.integers(-3, 3).map(float) | st.sampled_from([0.1, -0.3, 1e-17, 1e16, "red", "blue", True])
FEATURES = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)
LABELS = st.sampled_from(["u", "v", "w"])
EXAMPLES = st.builds(Example, FEATURES, LABELS)
STREAMS = st.lists(EXAMPLES, max_size=30)
SETTINGS = st.builds(
    Settings,
    readout=st.sampled_from(["last", "average", "auto"]),
    tie=st.sampled_from(["mistake", "predict"]),
    fit_intercept=st.booleans(),
    classes=st.sampled_from([None, ["u", "v", "w"]]),
    scale=st.booleans(),
    lead=st.sampled_from([0.0, 0.5]),
)


def learner_after(settings, examples):
    """What an online perceptron makes of the examples, without any log."""
    named = ("readout", "tie", "fit_intercept", "classes", "scale", "lead")
    learner = OnlinePerceptron(**{name: getattr(settings, name) for name in named})
    for example in examples:
        learner.learn_one(example.x, example.y)
    return learner


def created(settings):
    return LogRow(0, 1, 0.0, "create", events.encode([settings]))


def learned(first, examples):
    return LogRow(first, len(examples), 0.0, "learn", events.encode(examples))


def folded(rows):
    state = fold.start(rows[0])
    for row in rows[1:]:
        fold.apply(state, row)
    return state


def same(learner, other):
    """Whether two learners are the same, bit for bit."""
    return to_file(learner) == to_file(other)
