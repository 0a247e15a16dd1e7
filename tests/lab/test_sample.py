"""Random points, and the projection in which the first pass over noisy ones is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import certify, freund_schapire_bound
from novikoff.lab.scenes import answer_sample, sample_points
from novikoff.lab.state import StateError, parse_state
from novikoff.lab.trace import run_as_json

SEEDS = st.integers(0, 50)


@given(st.integers(4, 60), SEEDS)
def test_without_noise_a_line_separates_them(count, seed):
    points = np.array(sample_points(count, 0.0, seed))
    assert certify(points[:, :2], points[:, 2].astype(int)).verdict.value == "separable"


@given(st.integers(4, 60), st.floats(0, 0.5), st.floats(0, 0.5), SEEDS)
def test_more_noise_flips_what_less_noise_flips(count, one, other, seed):
    clean, less, more = (sample_points(count, noise, seed) for noise in (0.0, min(one, other), max(one, other)))
    flipped = [{i for i, (a, b) in enumerate(zip(clean, noisy, strict=True)) if a != b} for noisy in (less, more)]
    assert flipped[0] <= flipped[1]


@pytest.mark.parametrize("change", [{"count": 3}, {"count": 201}, {"noise": 0.6}, {"noise": "much"}, {"seed": -1}])
def test_what_cannot_be_drawn_is_refused(change):
    with pytest.raises(StateError):
        answer_sample({"count": 10, "noise": 0.1, "seed": 0, **change})


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_first_pass_keeps_to_the_bound_of_the_projection(fit_intercept):
    points = sample_points(30, 0.1, 3)
    state = parse_state({"points": points, "fit_intercept": fit_intercept, "max_iter": 3})
    run = run_as_json(state)
    projection = run["proof"]["projection"]
    bound = freund_schapire_bound(state.plane, state.labels, fit_intercept=fit_intercept)
    assert projection["bound"] == bound.bound
    assert projection["dimensions"] == 2 + fit_intercept + len(points)
    made = sum(run["steps"]["mistake"][: len(points)])
    assert len(projection["length"]) == made + 1
    assert made <= bound.bound
    for low, high in (("progress_floor", "progress"), ("length", "length_ceiling"), ("distance", "distance_ceiling")):
        assert all(a <= b + 1e-9 * abs(b) for a, b in zip(projection[low], projection[high], strict=True))
