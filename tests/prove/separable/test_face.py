"""The face of points, against an exact linear program on small designs of every kind."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff.prove.exact.algebra import dot, rank
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.search import faces
from novikoff.prove.separable.search.face import find_face
from tests.prove.separable.cone import can_be_positive


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


@pytest.mark.parametrize("at_once", [False, True])
@settings(max_examples=150)
@given(design=designs(), is_sparse=st.booleans())
def test_the_face_and_every_proof_are_those_of_an_exact_program(at_once, design, is_sparse):
    Z, E = design
    form = csr_array if is_sparse else np.asarray
    with pytest.MonkeyPatch.context() as patched:
        if at_once:
            patched.setattr(faces, "SMALL_FACE", -1)
        proof = find_face(form(Z), None if E is None else form(E))
    assert proof is not None
    on_face = face_by_hand(Z, E)
    assert proof.on_face.tolist() == on_face
    check_obstruction(proof, exactly(Z), [] if E is None else exactly(E), on_face)
    check_weak(proof.weak, exactly(Z), [] if E is None else exactly(E), on_face)
    check_directions(proof, exactly(Z), [] if E is None else exactly(E))


def check_obstruction(proof, points, zeros, on_face):
    assert min(proof.weights, default=1) > 0
    assert all(proof.zero_weights)
    terms = [*((w, points[row]) for row, w in zip(proof.rows, proof.weights, strict=True))]
    terms += [(w, zeros[row]) for row, w in zip(proof.zero_rows, proof.zero_weights, strict=True)]
    for column in range(len(points[0])):
        assert sum(weight * row[column] for weight, row in terms) == 0
    assert all(on_face[row] for row in proof.rows)
    span = [points[row] for row in proof.rows] + zeros
    face = [point for point, is_on in zip(points, on_face, strict=True) if is_on]
    assert rank_of(span + face) == rank_of(span)


def check_weak(weak, points, zeros, on_face):
    assert (weak is None) == all(on_face)
    if weak is None:
        return
    assert [dot(point, weak) > 0 for point in points] == [not is_on for is_on in on_face]
    assert all(dot(point, weak) >= 0 for point in points)
    assert not any(dot(zero, weak) for zero in zeros)


def check_directions(proof, points, zeros):
    """Every column: not identified, or the signs that weak separators can have there."""
    for column in range(len(points[0])):
        unit = [Fraction(int(i == column)) for i in range(len(points[0]))]
        is_identified = rank_of([*points, *zeros, unit]) == rank_of([*points, *zeros])
        assert (column in proof.unidentified) == (not is_identified)
        if not is_identified:
            vector = proof.unidentified[column]
            assert vector[column]
            assert not any(dot(row, vector) for row in [*points, *zeros])
            continue
        signs = [s for s in (1, -1) if can_be_positive([s * v for v in unit], points, zeros)]
        expected = {(): None, (1,): "+inf", (-1,): "-inf", (1, -1): "sign undetermined"}[tuple(signs)]
        found = proof.directions.get(column)
        assert (None if found is None else found.sign) == expected


def rank_of(rows):
    whole = [[int(value * 8) for value in row] for row in rows]
    return rank(whole) if whole else 0


@settings(max_examples=40)
@given(design=designs(), seed=st.integers(0, 99))
def test_order_and_scale_of_rows_and_columns_change_no_face(design, seed):
    Z, E = design
    random = np.random.default_rng(seed)
    order, columns = random.permutation(len(Z)), random.permutation(Z.shape[1])
    scales = 2.0 ** random.integers(-20, 20, len(Z))
    plain, other = (
        find_face(Z, E),
        find_face((Z * scales[:, None])[order][:, columns], E if E is None else E[:, columns]),
    )
    assert other.on_face.tolist() == plain.on_face[order].tolist()
    places = columns.tolist()
    signs = {places[column]: direction.sign for column, direction in other.directions.items()}
    assert signs == {column: direction.sign for column, direction in plain.directions.items()}
    assert {places[column] for column in other.unidentified} == set(plain.unidentified)


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
    assert proof.on_face.tolist() == [True] * (2 * len(pairs)) + [False]
    assert {column: direction.sign for column, direction in proof.directions.items()} == {8: "+inf"}


@settings(max_examples=100)
@given(design=designs())
def test_peeling_changes_no_face(design):
    Z, _ = design
    plain = find_face(csr_array(Z))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(faces, "DIMENSIONS_TO_PEEL", 0)
        peeled = find_face(csr_array(Z))
    assert peeled.on_face.tolist() == plain.on_face.tolist()
    check_weak(peeled.weak, exactly(Z), [], plain.on_face.tolist())
    check_obstruction(peeled, exactly(Z), [], plain.on_face.tolist())
