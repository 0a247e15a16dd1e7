"""Every number that the page shows is the library's."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import KernelPerceptron, Perceptron, Steps, certify, follow_proof
from novikoff.lab.scenes import SCENES
from novikoff.lab.state import StateError, parse_state
from novikoff.lab.trace import moment_as_json, run_as_json
from tests import lecture
from tests.draws import draws

SOURCE = Path(__file__).resolve().parents[2] / "src"
SCENE = {scene["name"]: scene["state"] for scene in SCENES}


def state_of(name, **rules):
    return parse_state({**SCENE[name], **rules})


def test_the_worked_example_is_that_of_the_second_note():
    run = run_as_json(state_of("worked"))
    assert run["steps"]["mistake"][:6] == [True, False, True, False, True, False]
    assert run["weights"]["after"] == [[0, 0, 0], [1, -2, 0], [2, -1, 0], [3, 1, 0]]
    assert run["certificate"]["bound"] == 5
    assert run["proof"]["left"] == [5, 4, 3, 2]
    assert run["stopped"] == "NO_MISTAKES"


@pytest.mark.parametrize("space", ["line", "circle"])
@pytest.mark.parametrize("name", ["worked", "wide", "thin", "xor", "outlier", "ring", "shared"])
def test_steps_are_those_of_the_lectures_loop(name, space):
    state = state_of(name, space=space, max_iter=20)
    run = run_as_json(state)
    rows = run["steps"]["row"]
    seen = list(lecture.perceptron(state.rows, state.labels, rows, bias=state.fit_intercept, tie=state.tie))
    assert run["steps"]["mistake"] == [step.mistake for step in seen]
    after = np.array(run["weights"]["after"])[run["steps"]["mistakes"]]
    assert np.allclose(after, [step.weights for step in seen])


@pytest.mark.parametrize("lead", [0.25, 8.0])
@pytest.mark.parametrize("name", ["worked", "wide", "outlier", "ring"])
def test_a_lead_is_that_of_the_library_and_its_proof_is_followed(name, lead):
    state = state_of(name, lead=lead, tie="predict", space="line")
    run = run_as_json(state)
    rules = {"fit_intercept": state.fit_intercept, "shuffle": False, "max_iter": state.epochs, "lead": lead}
    model = Perceptron(readout="last", record_mistakes=True, **rules).fit(state.rows, state.labels)
    assert np.array(run["steps"]["row"])[run["steps"]["mistake"]].tolist() == model.mistake_rows_.tolist()
    assert sum(run["steps"]["narrow"]) == model.n_narrow_
    assert run["proof"]["symbols"]["root"] == "√S"
    certificate = certify(state.rows, state.labels, fit_intercept=state.fit_intercept)
    assert run["certificate"]["bound"] == certificate.update_bound(lead)
    if certificate.mistake_bound is not None:
        assert run["ending"].endswith("without a mistake or narrow example)")
        steps = {"fit_intercept": state.fit_intercept, "lead": lead}
        steps = Steps.of_rows(state.rows, state.labels, model.mistake_rows_, **steps)
        proof = follow_proof(steps, certificate.separator)
        assert proof.holds
        assert run["proof"]["length_ceiling"] == pytest.approx(proof.length_ceiling)
        assert min(run["proof"]["left"]) >= 0


@pytest.mark.parametrize("lead", [-1, 101, "much", True])
def test_a_lead_that_is_none_is_refused(lead):
    with pytest.raises(StateError, match="lead="):
        state_of("worked", lead=lead)


@pytest.mark.parametrize("tie", ["mistake", "predict"])
@pytest.mark.parametrize("name", ["worked", "thin", "outlier", "circle"])
def test_the_run_is_that_of_the_library(name, tie):
    state = state_of(name, tie=tie)
    run = run_as_json(state)
    rules = {"fit_intercept": state.fit_intercept, "tie": tie, "shuffle": False, "max_iter": state.epochs}
    model = Perceptron(readout="average", record_mistakes=True, **rules).fit(state.rows, state.labels)
    mistaken = np.array(run["steps"]["row"])[run["steps"]["mistake"]]
    assert mistaken.tolist() == model.mistake_rows_.tolist()
    assert run["stopped"] == model.run_.stopped.name
    assert run["proof"]["length"][-1] == pytest.approx(model.run_.weights_length)


@pytest.mark.parametrize("name", ["worked", "wide", "thin", "circle", "ring"])
def test_the_proof_is_that_of_follow_proof_with_the_widest_plane(name):
    state = state_of(name)
    run = run_as_json(state)
    certificate = certify(state.rows, state.labels, fit_intercept=state.fit_intercept)
    mistaken = np.array(run["steps"]["row"])[run["steps"]["mistake"]]
    steps = Steps.of_rows(state.rows, state.labels, mistaken, fit_intercept=state.fit_intercept)
    followed = follow_proof(steps, certificate.separator)
    for part in ("progress", "progress_floor", "length", "length_ceiling", "cosine", "cosine_floor", "distance"):
        assert run["proof"][part] == getattr(followed, part).tolist()
    assert run["certificate"]["bound"] == certificate.mistake_bound
    assert followed.holds


@pytest.mark.parametrize(("space", "rules"), [("poly", {"degree": 2}), ("rbf", {"gamma": 0.5})])
@pytest.mark.parametrize("name", ["xor", "circle", "ring", "wide"])
def test_with_a_kernel_the_run_is_that_of_the_kernel_perceptron(name, space, rules):
    state = state_of(name, space=space, **rules)
    run = run_as_json(state)
    kernel = {"kernel": space, "gamma": rules.get("gamma", 1.0), "degree": 2, "coef0": 1.0}
    model = KernelPerceptron(readout="last", shuffle=False, max_iter=100, record_mistakes=True, **kernel)
    model.fit(state.plane, state.labels)
    mistaken = np.array(run["steps"]["row"])[run["steps"]["mistake"]]
    assert mistaken.tolist() == model.mistake_rows_.tolist()
    assert run["proof"]["length"][-1] == pytest.approx(model.run_.weights_length)
    proof = {part: np.array(numbers) for part, numbers in run["proof"].items() if part != "margin_at_most"}
    slack = 1e-9
    assert (proof["progress_floor"] <= proof["progress"] + slack).all()
    assert (proof["progress"] <= proof["length"] + slack).all()
    assert (proof["length"] <= proof["length_ceiling"] + slack).all()
    assert (proof["distance"] <= proof["distance_ceiling"] + slack * proof["distance"][0]).all()


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("name", ["outlier", "circle"])
def test_a_read_out_at_a_moment_is_that_of_partial_fit(name, readout):
    state = state_of(name, readout=readout)
    rows = run_as_json(state)["steps"]["row"][:40]
    model = Perceptron(readout=readout, fit_intercept=state.fit_intercept, tie=state.tie)
    model.partial_fit(state.rows[rows], state.labels[rows], classes=[-1, 1])
    wrong = int((model.predict(state.rows) != state.labels).sum())
    moment = moment_as_json(state, 40)
    assert moment["errors"] == {readout: wrong}
    assert list(moment["boundaries"]) == [readout]


def test_shuffled_epochs_visit_every_point_once_and_depend_on_the_seed():
    one, other = (run_as_json(state_of("thin", shuffle=True, seed=seed))["steps"]["row"] for seed in (1, 2))
    assert sorted(one[:12]) == sorted(one[12:24]) == list(range(12))
    assert one[:24] != other[:24]


@pytest.mark.parametrize("name", ["xor", "shared", "outlier"])
def test_the_obstruction_cancels_exactly_and_the_hulls_meet_where_it_says(name):
    state = state_of(name)
    proof = run_as_json(state)["certificate"]["obstruction"]
    weights = np.array([int(weight) for weight in proof["weights"]], dtype=object)
    folded = (
        np.column_stack([state.plane, np.ones(len(state.plane))])[proof["rows"]] * state.labels[proof["rows"], None]
    )
    assert (weights @ (folded * 8).astype(int).astype(object) == 0).all()
    for label in (1, -1):
        own = state.labels[proof["rows"]] == label
        share = weights[own].astype(float) / float(sum(weights[own]))
        assert share @ state.plane[proof["rows"]][own] == pytest.approx(proof["meeting"])


def test_without_a_bias_the_folded_hull_holds_the_origin():
    state = parse_state({"points": [[1, 0, 1], [2, 0, -1], [0, 1, 1]], "fit_intercept": False})
    proof = run_as_json(state)["certificate"]["obstruction"]
    assert proof["meeting"] == [0.0, 0.0]
    assert sorted(proof["folded"]) == [[-2.0, 0.0], [1.0, 0.0]]


def test_the_solution_region_holds_the_weights_that_have_every_example_right():
    state = state_of("worked")
    region = moment_as_json(state, 12)["region"]
    middle = np.mean(region, axis=0)
    assert (state.labels * (state.plane @ middle) > 0).all()


def test_data_that_are_not_separable_have_no_solution_region():
    assert moment_as_json(state_of("shared"), 12)["region"] == []


POINT = st.tuples(st.integers(-6, 6), st.integers(-6, 6), st.sampled_from([-1, 1])).map(list)


@settings(max_examples=draws(40))
@given(
    st.lists(POINT, max_size=8),
    st.sampled_from(["line", "circle", "poly", "rbf"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["last", "average", "vote", "all"]),
)
def test_whatever_is_placed_there_is_an_answer(points, space, bias, shuffle, readout):
    rules = {"space": space, "fit_intercept": bias, "shuffle": shuffle, "readout": readout, "max_iter": 5}
    state = parse_state({"points": points, **rules})
    run = run_as_json(state)
    moment = moment_as_json(state, len(run["steps"]["row"]))
    assert (run["certificate"] is None) == (len({point[2] for point in points}) < 2)
    assert len(run["proof"]["length"]) == sum(run["steps"]["mistake"]) + 1
    assert set(moment["errors"]) == set(state.readouts)


def test_a_step_that_does_not_exist_is_refused():
    with pytest.raises(StateError, match="step 13 is not among the steps from 0 to 12"):
        moment_as_json(state_of("worked"), 13)


def test_the_lab_does_without_scikit_learn():
    code = (
        "import sys; from novikoff.lab.server import ANSWERS; from novikoff.lab.scenes import SCENES\n"
        "for scene in SCENES: ANSWERS['run']({'state': scene['state']})\n"
        "print('sklearn' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "False\n"
