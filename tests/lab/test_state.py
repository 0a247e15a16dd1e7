"""The state as JSON: what is read, and what is refused with which words."""

import pytest

from novikoff.lab.scenes import SCENES
from novikoff.lab.state import MOST_POINTS, MOST_STEPS, StateError, parse_state


def test_what_is_left_out_has_its_default():
    state = parse_state({"points": [[1, 2, -1]]})
    assert (state.space, state.fit_intercept, state.tie, state.readout) == ("line", True, "mistake", "last")


@pytest.mark.parametrize(
    ("document", "field", "words"),
    [
        ([], "", "JSON object"),
        ({"color": 1}, "color", "no part of a state"),
        ({"points": 3}, "points", "list of"),
        ({"points": [[1, 2]]}, "points[0]", "a point is"),
        ({"points": [[1, 2, 1], [1, 2, 0]]}, "points[1]", "-1 or +1"),
        ({"points": [[1, 2, True]]}, "points[0]", "-1 or +1"),
        ({"points": [[1e9, 2, 1]]}, "points[0]", "between"),
        ({"points": [["1", 2, 1]]}, "points[0]", "not a number"),
        ({"points": [[float("nan"), 2, 1]]}, "points[0]", "not a number"),
        ({"points": [[0, 0, 1]] * (MOST_POINTS + 1)}, "points", "at most 200"),
        ({"tie": "never"}, "tie", "choose one of mistake, predict"),
        ({"tie": ["mistake"]}, "tie", "choose one of"),
        ({"shuffle": 1}, "shuffle", "true or false"),
        ({"max_iter": 0}, "max_iter", "from 1 to"),
        ({"seed": 1.5}, "seed", "whole number"),
        ({"gamma": 0}, "gamma", "from 0.001"),
        ({"view": [0, 0, 0]}, "view", "half its height"),
    ],
)
def test_a_wrong_state_is_refused_and_the_place_is_named(document, field, words):
    with pytest.raises(StateError) as refused:
        parse_state(document)
    assert refused.value.field == field
    assert words in str(refused.value)


def test_there_are_never_more_steps_than_the_page_shows():
    state = parse_state({"points": [[0, 0, 1]] * 150, "max_iter": 5000})
    assert state.epochs * 150 <= MOST_STEPS < (state.epochs + 1) * 150


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene["name"])
def test_every_scene_is_a_state_on_the_grid_of_eighths(scene):
    state = parse_state(scene["state"])
    assert all((8 * value).is_integer() for point in state.points for value in point[:2])
