"""Laws of an online perceptron that scales as it goes: it is the plain one on the points as they were scaled."""

import csv
import math
import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import load, save
from novikoff.features.names import RunningScales
from novikoff.learn.online.perceptron import OnlinePerceptron
from tests.draws import draws

laws = settings(deadline=None, max_examples=draws(30))

NUMBERS = st.integers(-3, 3).map(float) | st.sampled_from([0.1, 1e-3, 1998.0, 64_200.0])
EXAMPLES = st.dictionaries(st.sampled_from("abcd"), NUMBERS | st.sampled_from(["red", "blue", True, False, 7]))
STREAMS = st.lists(st.tuples(EXAMPLES, st.sampled_from("uvw")), max_size=30)
TWO = st.lists(st.tuples(EXAMPLES, st.sampled_from("uv")), max_size=30)
READOUTS = st.sampled_from(["last", "average"])


@given(stream=STREAMS | TWO, readout=READOUTS)
@laws
def test_it_learns_the_points_as_they_were_scaled_when_seen(stream, readout):
    scaled, plain = OnlinePerceptron(scale=True, readout=readout), OnlinePerceptron(readout=readout)
    for x, y in stream:
        assert scaled.predict_one(x) == plain.predict_one(scaled.scaled_one(x))
        assert scaled.decision_one(x) == plain.decision_one(scaled.scaled_one(x))
        flag = scaled.learn_one(x, y)
        assert plain.learn_one(scaled.scaled_one(x), y) == flag
    assert scaled.run == plain.run
    assert scaled.weights_by_name() == plain.weights_by_name()


@given(columns=st.lists(st.lists(NUMBERS, min_size=2, max_size=20), min_size=1, max_size=3))
@laws
def test_a_number_is_its_distance_from_the_mean_in_deviations(columns):
    scales = RunningScales()
    for name, values in enumerate(columns):
        for i, value in enumerate(values, start=1):
            point = scales.learn({name: value})
            deviation = statistics.pstdev(values[:i])
            if len(set(values[:i])) == 1:
                assert point == {name: (value > 0) - (value < 0)}
            else:
                expected = (value - statistics.fmean(values[:i])) / deviation
                assert math.isclose(point[name], expected, rel_tol=1e-6, abs_tol=1e-6)


@given(stream=TWO, powers=st.lists(st.integers(-30, 30), min_size=4, max_size=4))
@laws
def test_the_unit_of_a_column_changes_no_mistake(stream, powers):
    unit = dict(zip("abcd", (2.0**power for power in powers), strict=True))

    def converted(x):
        return {name: value * unit[name] if type(value) is float else value for name, value in x.items()}

    stream = [({name: float(v) if type(v) is int else v for name, v in x.items()}, y) for x, y in stream]
    one, other = OnlinePerceptron(scale=True), OnlinePerceptron(scale=True)
    for x, y in stream:
        assert one.learn_one(x, y) == other.learn_one(converted(x), y)
    assert one.run == other.run


@given(stream=STREAMS, data=st.data())
@laws
def test_no_order_of_the_features_matters(stream, data):
    one, other = OnlinePerceptron(scale=True), OnlinePerceptron(scale=True)
    for x, y in stream:
        order = data.draw(st.permutations(list(x)))
        assert one.learn_one(x, y) == other.learn_one({name: x[name] for name in order}, y)
    assert dict(one.to_state().scales) == dict(other.to_state().scales)


@given(stream=STREAMS, more=STREAMS)
@laws
def test_saving_in_between_changes_nothing(stream, more, tmp_path_factory):
    one, path = OnlinePerceptron(scale=True), tmp_path_factory.mktemp("models") / "scaled.novikoff"
    one.learn_many(*zip(*stream, strict=True)) if stream else None
    save(one, path)
    other = load(path)
    for x, y in more:
        assert one.predict_one(x) == other.predict_one(x)
        assert one.learn_one(x, y) == other.learn_one(x, y)
    assert one.to_state().scales == other.to_state().scales
    assert one.weights_by_name() == other.weights_by_name()


@pytest.mark.parametrize(("x", "y"), [({"a": math.nan}, "u"), ({"a": 1.0}, "z"), ({"a": 1.0}, []), ({"a": b"1"}, "u")])
def test_a_bad_example_leaves_the_scales_as_they_were(x, y):
    model = OnlinePerceptron(scale=True, classes=["u", "v"])
    model.learn_one({"a": 3.0}, "u")
    before = dict(model.to_state().scales)
    with pytest.raises((ValueError, TypeError)):
        model.learn_one(x, y)
    with pytest.raises((ValueError, TypeError)):
        model.learn_many([{"a": 5.0}, x], ["u", y])
    assert model.to_state().scales == before
    assert model.examples == 1


def test_a_value_far_from_all_that_was_learned_is_predicted_all_the_same():
    model = OnlinePerceptron(scale=True, fit_intercept=False)
    model.learn_many([{"a": 1e-200}, {"a": 2e-200}, {"a": 3e-200}], ["u", "u", "v"])
    assert model.predict_one({"a": 1e140}) == "v"
    assert math.isfinite(model.decision_one({"a": 1e140}))


@given(stream=TWO, waits=st.lists(st.integers(0, 5), min_size=30, max_size=30))
@laws
def test_what_comes_late_is_learned_as_it_was_scaled_when_served(stream, waits):
    scaled = OnlinePerceptron(scale=True, classes=["u", "v"])
    plain = OnlinePerceptron(classes=["u", "v"])
    due = []
    for now, ((x, y), wait) in enumerate(zip(stream, waits, strict=False)):
        due.append((now + wait, x, y, scaled.serve_one(x), plain.serve_one(scaled.scaled_one(x))))
        for _, x, y, served, too in [waiting for waiting in due if waiting[0] <= now]:
            assert scaled.learn_served(x, y, served) == plain.learn_served(served.point, y, too)
        due = [waiting for waiting in due if waiting[0] > now]
    assert scaled.run == plain.run
    assert scaled.waited == plain.waited


def test_what_another_example_was_served_as_is_refused():
    model = OnlinePerceptron(scale=True, classes=["u", "v"])
    served = model.serve_one({"a": 1.0})
    for wrong in (served._replace(point=None), served._replace(point={"b": 1.0})):
        with pytest.raises(ValueError, match="point"):
            model.learn_served({"a": 1.0}, "u", wrong)
    assert model.to_state().scales == {}


def test_raw_columns_no_longer_drown_each_other():
    def mistakes(scale):
        model = OnlinePerceptron(scale=scale)
        with Path("examples/cars.csv").open() as table:
            for row in csv.DictReader(table):
                y = row.pop("sport_car")
                numbers = {name: float(v) if v.replace(".", "").isdigit() else v for name, v in row.items() if v}
                model.learn_one(numbers, y)
        return model.mistakes

    assert mistakes(scale=True) * 4 < mistakes(scale=False)
