"""The whole face by linear programs, against facial reduction one obstruction at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import signs_of_products
from novikoff.prove.separable.proofs import vanishes, weakly_separates
from novikoff.prove.separable.search import faces, faces_by_programs
from novikoff.prove.separable.search.faces import Face, decide, reduce_faces
from novikoff.prove.separable.search.faces_by_programs import whole_face


def categories(seed, n_rows=40, noise=0.3):
    """A table of three columns of categories and one of numbers, with labels that a plane nearly explains."""
    random = np.random.default_rng(seed)
    columns = [np.eye(4)[random.choice(4, n_rows, p=[0.5, 0.3, 0.15, 0.05])] for _ in range(3)]
    X = np.hstack([*columns, random.standard_normal((n_rows, 1))])
    score = X @ random.standard_normal(X.shape[1])
    y = score + noise * random.standard_normal(n_rows) > np.median(score)
    return Points.of(X, np.where(y, 1, -1))


def beyond(points):
    """What facial reduction finds; None if a plane separates."""
    answer = decide(Face(points, np.arange(points.n_points)), Clock(None))
    return None if answer.obstruction is None else reduce_faces(points, answer.obstruction, Clock(None))


@settings(max_examples=60)
@given(st.integers(0, 99_999), st.sampled_from([0.1, 0.3, 1.0]))
def test_linear_programs_find_the_face_that_reduction_finds(seed, noise):
    points = categories(seed, noise=noise)
    one_by_one = beyond(points)
    found = whole_face(points, Clock(None))
    assert (found is None) == (one_by_one is None)
    if found is None:
        return
    assert vanishes(points, found.rows, found.weights)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(faces, "SMALL", 0)
        at_once = reduce_faces(points, one_by_one.obstruction, Clock(None))
    assert at_once.settled
    assert at_once.left.tolist() == one_by_one.left.tolist()
    assert (at_once.weak_separator is None) == (one_by_one.weak_separator is None) == (found.weak is None)
    if found.weak is not None:
        assert weakly_separates(points, found.weak)
        assert np.flatnonzero(signs_of_products(points, found.weak)).tolist() == at_once.left.tolist()


@pytest.mark.parametrize("scales", [(1.0, 1.0), (2.0**300, 2.0**-300), (1e-9, 1e9)])
def test_points_of_any_size_have_their_face(scales):
    X = np.array([[1.0, 0, -3], [1, 0, -1], [2, 0, 1], [0, 1, 0], [0, 0, 0.1]]) * [scales[0], 1.0, scales[1]]
    points = Points(X, np.array([1, -1, -1, 1, 1], dtype=np.int8), 0.0)
    found = whole_face(points, Clock(None))
    assert found is not None
    assert set(found.rows.tolist()) <= {0, 1, 2, 4}
    assert found.weak is not None
    assert signs_of_products(points, found.weak).tolist() == [0, 0, 0, 1, 0]
    assert vanishes(points, found.rows, found.weights)


def test_an_answer_that_is_no_solution_is_not_believed(monkeypatch):
    points = next(points for points in map(categories, range(100)) if (found := beyond(points)) and len(found.left))
    solved = faces_by_programs.solved

    def wrong(*arguments, **program):
        found = solved(*arguments, **program)
        return None if found is None else np.abs(found) + 1.0

    monkeypatch.setattr(faces_by_programs, "solved", wrong)
    found = whole_face(points, Clock(None))
    assert found is None or vanishes(points, found.rows, found.weights)
    monkeypatch.setattr(faces, "SMALL", 0)
    again = reduce_faces(points, beyond(points).obstruction, Clock(None))
    assert vanishes(points, again.obstruction.rows, again.obstruction.weights)
    assert again.weak_separator is None or weakly_separates(points, again.weak_separator)


def test_without_time_nothing_is_found():
    assert whole_face(categories(0), Clock(-1)) is None
