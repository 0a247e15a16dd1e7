"""Exact systems in pieces: modulo a prime, then lifted."""

import itertools
from fractions import Fraction

import pytest
from flint import fmpq, fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact import modular
from novikoff.prove.exact.algebra import null_vectors, only_null_vector
from novikoff.prove.exact.modular import drawn_prime, lifted

WHOLE = st.integers(-4, 4) | st.integers(-(2**70), 2**70)


def eliminated(rows):
    """Gauss and Jordan, over fractions: the reduced rows and where they begin."""
    rows, pivots = [list(map(Fraction, row)) for row in rows], []
    for column in range(len(rows[0]) if rows else 0):
        place = next((i for i in range(len(pivots), len(rows)) if rows[i][column]), None)
        if place is None:
            continue
        rows[len(pivots)], rows[place] = rows[place], rows[len(pivots)]
        pivot = [value / rows[len(pivots)][column] for value in rows[len(pivots)]]
        rows = [[a - row[column] * b for a, b in zip(row, pivot, strict=True)] for row in rows]
        rows[len(pivots)] = pivot
        pivots.append(column)
    return rows, pivots


@given(st.data(), st.integers(1, 6))
def test_a_lifted_solution_is_the_solution(data, size):
    rows = data.draw(st.lists(st.lists(WHOLE, min_size=size + 1, max_size=size + 1), min_size=size, max_size=size))
    reduced, pivots = eliminated(rows)
    if pivots != list(range(size)):
        return
    left, right = fmpz_mat([row[:-1] for row in rows]), fmpz_mat([row[-1:] for row in rows])
    found = lifted(left, right, Clock(None))
    assert [Fraction(int(v), int(found.denominator)) for v in found.numerators.entries()] == [r[-1] for r in reduced]


@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_null_vectors_are_a_basis_of_what_is_orthogonal(data, n_rows, dimension):
    rows = data.draw(
        st.lists(st.lists(WHOLE, min_size=dimension, max_size=dimension), min_size=n_rows, max_size=n_rows)
    )
    rank = len(eliminated(rows)[1])
    normals = null_vectors(rows, dimension)
    assert all(sum(a * b for a, b in zip(row, normal, strict=True)) == 0 for row in rows for normal in normals)
    assert len(normals) == dimension - rank == len(eliminated(normals)[1] if normals else [])
    only = only_null_vector(rows, dimension, Clock(None))
    assert (only is None) == (rank != dimension - 1)
    assert only is None or any(only)
    assert only is None or all(sum(a * b for a, b in zip(row, only, strict=True)) == 0 for row in rows)


@pytest.fixture(params=[2**62 - 57, 4611686018427387847, 2**23 - 15, 2**23 - 21])
def unlucky(request, monkeypatch):
    """A prime that is drawn first: to eliminate with, or to lift from."""
    name = "small_prime" if request.param < 2**23 else "drawn_prime"
    draw = getattr(modular, name)
    drawn = itertools.chain([request.param] * 2, iter(draw, None))
    monkeypatch.setattr(modular, name, lambda: next(drawn))
    return request.param


def test_an_unlucky_prime_is_noticed(unlucky):
    p = unlucky
    assert null_vectors([[p, 0], [0, 1]], 2) == []
    assert null_vectors([[p, 1, 0], [0, 1, 0]], 3) == [[0, 0, -1]]


def test_an_unlucky_prime_solves_nothing_wrongly(unlucky):
    found = lifted(fmpz_mat([[unlucky, 0], [0, 1]]), fmpz_mat([[1], [1]]), Clock(None))
    assert [fmpq(v, found.denominator) for v in found.numerators.entries()] == [fmpq(1, unlucky), 1]


def test_no_prime_is_unlucky_for_the_same_rows_again_and_again():
    assert len({drawn_prime() for _ in range(20)}) == 20


def large_system(size):
    """Rows whose null vector has thousands of digits."""
    return [[pow(3, 7 * i * j + i + j, 2**61 - 1) for j in range(size + 1)] for i in range(size)]


@pytest.mark.parametrize("looks", [1, 5, 20])
def test_a_null_vector_is_given_up_as_soon_as_the_time_is_over(looks, monkeypatch):
    monkeypatch.setattr(modular, "STEPS_PER_SECOND", 1e30)
    ticks = itertools.count()
    clock = Clock(looks, now=lambda: next(ticks))
    with pytest.raises(OutOfTimeError):
        null_vectors(large_system(60), 61, clock)
    assert looks < next(ticks) <= looks + 3


def test_an_elimination_that_would_take_longer_than_is_left_is_not_begun():
    with pytest.raises(OutOfTimeError):
        null_vectors(large_system(40), 41, Clock(1e-6, now=lambda: 0.0))
    assert len(null_vectors(large_system(40), 41, Clock(1.0, now=lambda: 0.0))) == 1


def test_a_basis_that_does_not_fit_into_memory_is_not_written_out(monkeypatch):
    monkeypatch.setattr(modular, "MOST_DIGITS", 100)
    with pytest.raises(MemoryError, match="digits"):
        null_vectors(large_system(20), 21)


def test_large_systems_are_solved_like_small_ones():
    rows = large_system(12)
    left, right = fmpz_mat([row[:-1] for row in rows]), fmpz_mat([row[-1:] for row in rows])
    in_pieces, at_once = lifted(left, right, Clock(None)), left.solve(right)
    assert at_once * in_pieces.denominator == in_pieces.numerators
