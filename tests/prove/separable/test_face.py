"""The face of points, against an exact linear program on small designs of every kind."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import dot, rank
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import signs_of_products
from novikoff.prove.separable.proofs import vanishes
from novikoff.prove.separable.search import face, gordan
from novikoff.prove.separable.search.gordan import decide, reduce_faces
from novikoff.prove.separable.search.scaled import Scaled
from tests.draws import draws
from tests.prove.separable.cone import can_be_positive, weakly_separates


@st.composite
def designs(draw):
    """Signed points, and rows that must vanish: degenerate, with copies and opposites, zero columns and few ranks."""
    seed, d = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 4))
    random = np.random.default_rng(seed)
    n, largest = draw(st.integers(1, 9)), draw(st.sampled_from([1, 2, 5]))
    Z = random.integers(-largest, largest + 1, (n, d)).astype(float)
    kind = draw(st.sampled_from(["plain", "one-sided", "copies", "low rank", "zero column", "quarters"]))
    if kind == "one-sided":
        b = random.integers(-2, 3, d)
        Z *= np.where(Z @ b < 0, -1.0, 1.0)[:, None]
    elif kind == "copies":
        Z = np.vstack([Z, Z[: n // 2 + 1], -Z[:1]])
    elif kind == "low rank":
        Z[:, -1] = Z[:, 0] * 2
    elif kind == "zero column":
        Z[:, 0] = 0.0
    elif kind == "quarters":
        Z /= 4
    E = random.integers(-1, 2, (draw(st.integers(0, 2)), d)).astype(float)
    return Z, E if len(E) else None


def exactly(rows):
    return [[Fraction(value) for value in row] for row in np.asarray(rows).tolist()]


def face_by_hand(Z, E):
    """A point is off the face if some weak separator is positive there."""
    points, zeros = exactly(Z), [] if E is None else exactly(E)
    return [not can_be_positive(point, points, zeros) for point in points]


def find_face(Z, E=None, form=np.asarray, clock=None):
    """As points of a form, dense or sparse, of which the last are equations."""
    E = np.zeros((0, Z.shape[1])) if E is None else E
    points = Points(form(np.vstack([Z, E])), np.ones(len(Z) + len(E), dtype=np.int8), 0.0)
    return face.find_face(Scaled.of(points), clock or Clock(None), np.arange(points.n_points) >= len(Z))


WAYS = {
    "by programs": {},
    "from few rows": {"MANY": 0},
    "by Newton's method": {"MOST_FOR_PROGRAMS": 0},
    "peeled": {"DIMENSIONS_TO_PEEL": 0},
    "in whole numbers": {"largest_sum": lambda *arguments: None},
    "peeled, in whole numbers": {"DIMENSIONS_TO_PEEL": 0, "largest_sum": lambda *arguments: None},
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=draws(40))
@given(design=designs(), is_sparse=st.booleans())
def test_the_face_and_every_proof_are_those_of_an_exact_program(way, design, is_sparse):
    Z, E = design
    with pytest.MonkeyPatch.context() as patched:
        for name, value in WAYS[way].items():
            patched.setattr(face, name, value)
        proof = find_face(Z, E, csr_array if is_sparse else np.asarray)
    assert proof is not None
    on_face = face_by_hand(Z, E)
    assert np.isin(np.arange(len(Z)), proof.beyond, invert=True).tolist() == on_face
    check_obstruction(proof, exactly(np.vstack([Z, E]) if E is not None else Z), len(Z), on_face)
    check_weak(proof.weak, exactly(Z), [] if E is None else exactly(E), on_face)


def check_obstruction(proof, rows, n_points, on_face):
    assert all(
        weight > 0 or (row >= n_points and weight) for row, weight in zip(proof.rows, proof.weights, strict=True)
    )
    for column in range(len(rows[0])):
        terms = zip(proof.rows, proof.weights, strict=True)
        assert sum(weight * rows[row][column] for row, weight in terms) == 0
    assert all(on_face[row] for row in proof.rows if row < n_points)
    span = [rows[row] for row in proof.rows] + rows[n_points:]
    on = [row for row, is_on in zip(rows, on_face, strict=False) if is_on]
    assert rank_of(span + on) == rank_of(span)


def check_weak(weak, points, zeros, on_face):
    assert (weak is None) == all(on_face)
    if weak is None:
        return
    weak = weak[:-1]
    assert [dot(point, weak) > 0 for point in points] == [not is_on for is_on in on_face]
    assert all(dot(point, weak) >= 0 for point in points)
    assert not any(dot(zero, weak) for zero in zeros)


def rank_of(rows):
    whole = [[int(value * 8) for value in row] for row in rows]
    return rank(whole) if whole else 0


@settings(max_examples=draws(40))
@given(design=designs(), seed=st.integers(0, 99))
def test_order_and_scale_of_rows_and_columns_change_no_face(design, seed):
    Z, E = design
    random = np.random.default_rng(seed)
    order, columns = random.permutation(len(Z)), random.permutation(Z.shape[1])
    scales = 2.0 ** random.integers(-20, 20, len(Z))
    plain = find_face(Z, E)
    other = find_face((Z * scales[:, None])[order][:, columns], E if E is None else E[:, columns])
    assert set(order[other.beyond].tolist()) == set(plain.beyond.tolist())


def test_a_face_without_time_is_none():
    Z = np.array([[0.0, 0, 1], [0, 1, 1], [0, 0, -1], [1, 1, -1]])
    assert find_face(Z, clock=Clock(-1)) is None


def test_all_pairs_of_many_opposites_are_one_face():
    pairs = [(i, j) for i, j in combinations(range(8), 2)]
    Z = np.zeros((2 * len(pairs) + 1, 9))
    for number, (i, j) in enumerate(pairs):
        Z[2 * number, [i, j]], Z[2 * number + 1, [i, j]] = 1.0, -1.0
    Z[-1, -1] = 1.0
    proof = find_face(Z)
    assert proof.beyond.tolist() == [2 * len(pairs)]
    assert [np.sign(value) for value in proof.weak] == [0] * 8 + [1, 0]


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
    answer = decide(points, Clock(None))
    return None if answer.obstruction is None else reduce_faces(points, answer.obstruction, Clock(None))


@settings(max_examples=draws(40))
@given(st.integers(0, 99_999), st.sampled_from([0.1, 0.3, 1.0]))
def test_floats_find_the_whole_face_that_pivots_in_whole_numbers_find(seed, noise):
    points = categories(seed, noise=noise)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gordan, "TINY", 0)
        found = beyond(points)
    if found is None:
        return
    exactly = face.find_face(Scaled.of(points), Clock(None), exactly=True)
    assert found.settled
    assert vanishes(points, found.obstruction.rows, found.obstruction.weights)
    beyond_it = [] if found.weak_separator is None else np.flatnonzero(signs_of_products(points, found.weak_separator))
    assert list(beyond_it) == exactly.beyond.tolist()
    if found.weak_separator is not None:
        assert weakly_separates(points, found.weak_separator)


@pytest.mark.parametrize("scales", [(1.0, 1.0), (2.0**300, 2.0**-300), (1e-9, 1e9)])
def test_points_of_any_size_have_their_face(scales):
    Z = np.array([[1.0, 0, -3], [-1, 0, 1], [-2, 0, -1], [0, 1, 0], [0, 0, 0.1]]) * [scales[0], 1.0, scales[1]]
    proof = find_face(Z)
    assert proof.beyond.tolist() == [3]
    check_obstruction(proof, exactly(Z), len(Z), [True, True, True, False, True])


def test_programs_and_hulls_that_lie_are_not_believed(monkeypatch):
    monkeypatch.setattr(gordan, "TINY", 0)
    points = next(
        points for points in map(categories, range(100)) if (found := beyond(points)) and found.weak_separator
    )
    first = beyond(points).obstruction
    largest_sum = face.largest_sum

    def wrong(goal, Z, E, clock):
        b, multiples = largest_sum(goal, Z, E, clock)
        return b, (np.abs(multiples) + 1.0).tolist()

    monkeypatch.setattr(face, "largest_sum", wrong)
    again = reduce_faces(points, first, Clock(None))
    assert vanishes(points, again.obstruction.rows, again.obstruction.weights)
    assert again.weak_separator is None or weakly_separates(points, again.weak_separator)


@pytest.mark.parametrize(("rows", "size"), [(3, 6), (6, 3), (4, 4)])
def test_the_largest_sum_is_that_of_the_multiples_whichever_program_is_solved(rows, size):
    """The program itself where rows are fewer than coordinates, else its dual: what the goal keeps is the same."""
    random = np.random.default_rng(0)
    for _ in range(20):
        Z, E = random.integers(-2, 3, (rows, size)).astype(float), random.integers(-1, 2, (1, size)).astype(float)
        goal = Z.sum(axis=0)
        b, multiples = face.largest_sum(goal, csr_array(Z), csr_array(E), Clock(None))
        y, z = np.array(multiples[:rows]), multiples[rows]
        assert abs(b).max() <= 1 + 1e-6
        assert (Z @ b).min() >= -1e-6
        assert abs(E @ b).max() <= 1e-6
        assert y.min() >= -1e-6
        assert abs(goal + y @ Z + z * E[0]).sum() == pytest.approx(goal @ b, abs=1e-6)
