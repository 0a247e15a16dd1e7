"""Points from a CSV."""

import pytest

from novikoff.lab.state import MOST_POINTS, StateError
from novikoff.lab.table import describe_table, points_of_table

CARS = "doors;hp;sport\n2;300;yes\n4;90;no\n2;250;yes\n"
QUESTION = {"text": CARS, "x": "doors", "y": "hp", "label": "sport", "red": "yes", "rescale": False}


def test_columns_are_described():
    described = describe_table({"text": CARS})
    assert described["numbers"] == ["doors", "hp"]
    assert described["values"]["sport"] == ["yes", "no"]
    assert described["rows"] == 3


def test_two_columns_become_points():
    assert points_of_table(QUESTION)["points"] == [[2.0, 300.0, 1], [4.0, 90.0, -1], [2.0, 250.0, 1]]


def test_rescaled_columns_fill_the_same_box():
    points = points_of_table({**QUESTION, "rescale": True})["points"]
    for axis in (0, 1):
        values = [point[axis] for point in points]
        assert (min(values), max(values)) == (-2.5, 2.5)
        assert all((64 * value).is_integer() for value in values)


def test_rows_beyond_the_limit_are_left_out_and_counted():
    text = "x,y,c\n" + "".join(f"{i},{-i},{i % 2}\n" for i in range(MOST_POINTS + 7))
    answer = points_of_table({"text": text, "x": "x", "y": "y", "label": "c", "red": "1", "rescale": True})
    assert len(answer["points"]) == MOST_POINTS
    assert answer["left_out"] == 7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": ""}, "empty"),
        ({"text": "a,b\n1\n"}, "row 2 has 1 values"),
        ({"x": "wheels"}, "no column 'wheels'; the columns are doors, hp, sport"),
        ({"x": "sport"}, "row 2 has no number in the column 'sport'"),
        ({"red": "maybe"}, "no row has the value 'maybe'"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(change, words):
    with pytest.raises(StateError, match=words):
        points_of_table({**QUESTION, **change})
