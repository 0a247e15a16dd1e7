"""Linear programs: against HiGHS, against exact arithmetic, and against themselves."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog as highs

from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.ratios import Ratios
from novikoff.prove.programs.check import (
    ProgramCertificate,
    ProgramClaims,
    ProgramData,
    ProgramWitnesses,
    read_program,
)
from novikoff.prove.programs.search import linprog as solver
from novikoff.prove.programs.search.linprog import linprog
from novikoff.prove.separable.search.highs import BASIC, LOWER, Guess
from novikoff.prove.separable.search.simplex import Decision
from tests.draws import draws
from tests.exact_lp import answer, maximise

INFINITY = float("inf")
WORDS = {0: "optimal", 2: "infeasible", 3: "unbounded"}


def random_program(seed, entries):
    """A small program that may be anything: zero and doubled rows, free, boxed and fixed variables, no interior."""
    generator = np.random.default_rng(seed)
    n, m_ub, m_eq = generator.integers(1, 8), generator.integers(0, 8), generator.integers(0, 4)

    def numbers(*shape):
        values = generator.integers(-3, 4, shape) if entries == "whole" else generator.standard_normal(shape)
        return values * (generator.random(shape) < 0.6)

    c, A_ub, b_ub, A_eq, b_eq = numbers(n), numbers(m_ub, n), numbers(m_ub), numbers(m_eq, n), numbers(m_eq)
    if generator.random() < 0.7:
        x = numbers(n)
        b_ub, b_eq = A_ub @ x + abs(numbers(m_ub)), A_eq @ x
    if m_eq > 1 and generator.random() < 0.4:
        A_eq[-1], b_eq[-1] = 2 * A_eq[0], 2 * b_eq[0]
    if generator.random() < 0.4:
        c = abs(numbers(n)) - A_ub.T @ abs(numbers(m_ub))
    kinds = [(0, None), (0, None), (0, None), (None, None), (None, 2), (-3, -1), (0, 2), (1, 1)]
    bounds = [kinds[k] for k in generator.integers(0, len(kinds), n)]
    return c, A_ub, b_ub, A_eq, b_eq, bounds


def violations(result, c, A_ub, b_ub, A_eq, b_eq, bounds):
    """How much x breaks the constraints, by a loop that knows nothing of the solver."""
    x = result.x
    broken = [a @ x - b for a, b in zip(A_ub, b_ub, strict=True)]
    broken += [abs(a @ x - b) for a, b in zip(A_eq, b_eq, strict=True)]
    for value, (low, high) in zip(x, bounds, strict=True):
        broken += [] if low is None else [low - value]
        broken += [] if high is None else [value - high]
    return max(broken, default=0.0)


@pytest.mark.parametrize("entries", ["whole", "float"])
@pytest.mark.parametrize("seed", range(60))
def test_the_answer_is_that_of_highs(seed, entries):
    program = random_program(seed, entries)
    ours, theirs = linprog(*program), highs(*program)
    if entries == "float" and (ours.status, theirs.status) == (2, 0):  # HiGHS has a tolerance
        assert violations(theirs, *program) < 1e-12
    else:
        assert ours.status == theirs.status
    ours.certificate.check(*program)
    assert ours.certificate.arithmetic == "exact"
    if ours.status == 0:
        assert ours.fun == pytest.approx(theirs.fun, rel=1e-7, abs=1e-7)
        assert violations(ours, *program) <= 1e-7
    else:
        assert ours.x is None
        assert ours.fun is None


@settings(deadline=None, max_examples=draws(40))
@given(st.data())
def test_the_optimum_is_exact_on_small_whole_programs(data):
    n, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    whole = st.integers(-4, 4)
    c = data.draw(st.lists(whole, min_size=n, max_size=n))
    A = data.draw(st.lists(st.lists(whole, min_size=n, max_size=n), min_size=m, max_size=m))
    b = data.draw(st.lists(st.integers(0, 6), min_size=m, max_size=m))
    result = linprog([-v for v in c], A, b)
    try:
        best = maximise(c, A, b)
    except ValueError:
        assert result.status == 3
        return
    assert result.certificate.arithmetic == "exact"
    assert sum(v * x for v, x in zip(c, result.certificate.x, strict=True)) == best.value
    y = result.certificate.multipliers.ub
    assert -sum(v * limit for v, limit in zip(y, b, strict=True)) == best.value


@pytest.mark.parametrize(
    ("method", "seed"), [*(("highs", k) for k in range(60)), *(("perceptron", k) for k in range(20))]
)
def test_the_answer_is_that_of_the_simplex_method_in_fractions(method, seed):
    program = random_program(seed, "whole")
    result = linprog(*program, method=method)
    status, value = answer(*program)
    assert (WORDS[result.status], result.certificate.value) == (status, value)
    result.certificate.check(*program)


@pytest.mark.parametrize("seed", range(20))
def test_transports_are_decided_however_degenerate(seed):
    """Every basis of such a program is degenerate, one of its equations is redundant, and some have no solution."""
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 5))
    A = np.vstack([np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))])
    b = np.ones(2 * k)
    b[-1] += seed % 4 == 0
    c = generator.integers(0, 4, k * k)
    bounds = [(0, None) if generator.random() < 0.8 else (0, 0) for _ in c]
    result = linprog(c, A_eq=A, b_eq=b, bounds=bounds)
    assert (WORDS[result.status], result.certificate.value) == answer(c, None, None, A, b, bounds)


# -- programs at the edge -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "status", "value"),
    [
        ({"c": [1]}, 0, 0),
        ({"c": [-1]}, 3, None),
        ({"c": [0], "bounds": (None, None)}, 0, 0),
        ({"c": [1], "bounds": (None, None)}, 3, None),
        ({"c": [-1], "bounds": (None, 7)}, 0, -7),
        ({"c": [2], "bounds": (3, 3)}, 0, 6),
        ({"c": [2], "bounds": (3, 3), "A_eq": [[1]], "b_eq": [3]}, 0, 6),
        ({"c": [2], "bounds": (3, 3), "A_eq": [[1]], "b_eq": [4]}, 2, None),
        ({"c": [1], "bounds": (2, 1)}, 2, None),
        ({"c": [1, 1], "A_ub": [[0, 0]], "b_ub": [0]}, 0, 0),
        ({"c": [1, 1], "A_ub": [[0, 0]], "b_ub": [-1]}, 2, None),
        ({"c": [1, 1], "A_eq": [[0, 0]], "b_eq": [1]}, 2, None),
        ({"c": [1, 2], "A_eq": [[1, 1], [2, 2], [3, 3]], "b_eq": [1, 2, 3]}, 0, 1),
        ({"c": [1, 2], "A_eq": [[1, 1], [2, 2]], "b_eq": [1, 3]}, 2, None),
        ({"c": [-1, -1], "A_ub": [[1, 1], [1, 1], [1, 1]], "b_ub": [1, 1, 1]}, 0, -1),
        ({"c": [-1, 0], "A_ub": [[1, 1], [-1, -1]], "b_ub": [1, -1]}, 0, -1),
        ({"c": [0, 0], "A_ub": [[1, -1], [-1, 1]], "b_ub": [-1, 0]}, 2, None),
        ({"c": [-1, 0], "A_ub": [[1, -1]], "b_ub": [0]}, 3, None),
        ({"c": [-1, 0], "A_ub": [[1, -1], [0, 0]], "b_ub": [0, -1]}, 2, None),
    ],
)
def test_degenerate_programs_are_decided_exactly(program, status, value):
    result = linprog(**program)
    assert result.status == status, result.message
    assert result.success == (status == 0)
    assert result.fun == value
    assert result.certificate.arithmetic == "exact"
    result.certificate.check(**program)


def test_the_simplex_methods_worst_case_is_solved():
    n = 10
    A = [[2.0 ** (i - j + 1) if j < i else float(i == j) for j in range(n)] for i in range(n)]
    result = linprog([-(2.0 ** (n - 1 - j)) for j in range(n)], A, [5.0 ** (i + 1) for i in range(n)])
    assert result.fun == -(5.0**n)


def test_numbers_of_very_different_size_are_decided_with_proof():
    generator = np.random.default_rng(5)
    for _ in range(30):
        A = generator.standard_normal((4, 4)) * 10.0 ** generator.integers(-6, 7, (4, 4))
        b, c = A @ generator.random(4) + generator.random(4), generator.standard_normal(4)
        result = linprog(c, A, b)
        assert result.certificate.arithmetic == "exact"
        result.certificate.check(c, A, b)


@pytest.mark.parametrize(
    "program",
    [
        {"c": [1], "bounds": (-1e308, 1e308)},
        {"c": [-1, 0], "A_ub": [[5e-324, 1]], "b_ub": [1e308]},
        {"c": [1e308, 1e308], "A_eq": [[1, 1]], "b_eq": [1e308]},
        {"c": [1e-320], "A_ub": [[5e-324]], "b_ub": [5e-324]},
        {"c": [-1e300, 1e-300], "A_ub": [[1e300, 1e-300], [1e-300, 1e300]], "b_ub": [1, 1]},
    ],
)
@pytest.mark.filterwarnings("error")
def test_numbers_at_the_ends_of_the_range_are_decided(program):
    result = linprog(**program)
    assert result.status == 0
    result.certificate.check(**program)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e12])
def test_the_scale_of_the_costs_does_not_matter(scale):
    assert linprog([-3 * scale, -5 * scale], [[1, 0], [0, 2], [3, 2]], [4, 12, 18]).x.tolist() == [2, 6]


def test_equations_that_rounding_made_contradictory_are_infeasible():
    """As fractions the floats 0.1 and 0.3 do not have the ratio 3."""
    program = {"c": [1], "A_eq": [[0.1], [0.3]], "b_eq": [0.3, 0.9]}
    result = linprog(**program)
    assert result.status == 2
    result.certificate.check(**program)
    assert result.x is None


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12, 1e-14, 2.0**-52])
@pytest.mark.parametrize("cost", [1.0, -1.0, 0.0])
def test_a_contradiction_is_proved_however_small(gap, cost):
    program = {"c": [cost, cost], "A_ub": [[1, 1], [-1, -1]], "b_ub": [1, -1 - gap], "bounds": (None, None)}
    result = linprog(**program)
    assert (result.status, result.certificate.arithmetic) == (2, "exact")
    result.certificate.check(**program)


@pytest.mark.parametrize("exponent", [30, 40, 50, 53])
def test_a_ray_that_ends_far_away_is_no_ray(exponent):
    """x_1 may grow until x_2 would have to be larger than its bound, and no further."""
    program = {"c": [-1, 0], "A_ub": [[2.0**-exponent, -1], [0, 1]], "b_ub": [0, 1]}
    assert linprog(**program).fun == -(2.0**exponent)


def test_the_time_limit_ends_a_search_without_an_answer():
    generator = np.random.default_rng(0)
    A = generator.standard_normal((60, 40))
    result = linprog(-A.sum(axis=0), A, np.ones(60), options={"time_limit": 1e-6})
    assert (result.status, result.success) == (1, False)
    assert result.certificate is None
    assert "time_limit" in result.message


# -- what the result has ------------------------------------------------------------------------------------------


def test_the_result_has_scipys_fields():
    program = {"c": [-1, -2], "A_ub": [[1, 1], [1, 3]], "b_ub": [4, 6], "A_eq": [[1, -1]], "b_eq": [0]}
    ours, theirs = linprog(**program), highs(**program)
    for name in ("ineqlin", "eqlin", "lower", "upper"):
        assert ours[name].residual == pytest.approx(theirs[name].residual)
        assert ours[name].marginals == pytest.approx(theirs[name].marginals)
    assert ours.slack == pytest.approx(theirs.slack)
    assert ours.con == pytest.approx(theirs.con)
    assert ours.x == pytest.approx(theirs.x)
    assert ours.pivots == 0


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_sparse_matrix_is_the_same_program_as_a_dense_one(kind):
    dense = [[1.0, 1.0, 0.0], [1.0, 3.0, 0.0]]
    result = linprog([-1, -2, 1], kind(dense), [4, 6])
    assert result.x.tolist() == [3, 1, 0]
    result.certificate.check([-1, -2, 1], dense, [4, 6])
    assert result.certificate.to_json() == linprog([-1, -2, 1], dense, [4, 6]).certificate.to_json()


def test_a_sparse_program_is_never_written_out():
    """With 20,000 rows and columns the matrix would have 3.2 GB."""
    n = 20_000
    A = sparse.eye_array(n, format="csr") + sparse.eye_array(n, k=1, format="csr")
    b = np.ones(n)
    result = linprog(np.ones(n), A_ub=-A, b_ub=-b)
    assert result.fun == n / 2
    result.certificate.check(np.ones(n), A_ub=-A, b_ub=-b)


# -- the check ----------------------------------------------------------------------------------------------------

SQUARE = {"c": [-1, -1], "A_ub": [[1, 0], [0, 1]], "b_ub": [1, 1]}


def test_a_certificate_proves_only_its_own_program():
    certificate = linprog(**SQUARE).certificate
    certificate.check(**SQUARE)
    with pytest.raises(CertificateError, match="about other data"):
        certificate.check(**{**SQUARE, "b_ub": [1, 2]})
    with pytest.raises(CertificateError):
        certificate.check(**{**SQUARE, "c": [-1, 1]})
    with pytest.raises(CertificateError):
        certificate.check(**{**SQUARE, "b_ub": [1, 0.999999]})


def test_a_farkas_vector_proves_only_its_own_program():
    program = {"c": [1, 1], "A_ub": [[1, 1], [-1, -1]], "b_ub": [1, -2]}
    certificate = linprog(**program).certificate
    certificate.check(**program)
    for other in ({"b_ub": [1, -1]}, {"A_ub": [[1, 1], [-1, -2]]}):
        with pytest.raises(CertificateError):
            certificate.check(**{**program, **other})


def test_a_ray_proves_only_its_own_program():
    program = {"c": [-1, 0], "A_ub": [[1, -1]], "b_ub": [0]}
    certificate = linprog(**program).certificate
    certificate.check(**program)
    for other in ({"c": [1, 0]}, {"A_ub": [[1, 1]]}, {"b_ub": [-100]}, {"bounds": (0, 1e9)}):
        with pytest.raises(CertificateError):
            certificate.check(**{**program, **other})


@pytest.mark.parametrize("claim", ["optimal", "infeasible", "unbounded", "nonsense"])
def test_a_certificate_without_a_proof_proves_nothing(claim):
    about = ProgramData.of(read_program(**SQUARE))
    with pytest.raises(CertificateError):
        ProgramCertificate(about, ProgramClaims(claim), ProgramWitnesses()).check(**SQUARE)


@pytest.mark.parametrize("seed", range(30))
def test_a_solver_in_floats_that_lies_is_not_believed(seed, monkeypatch):
    """Whatever basis it names, and be it none, the answer is the same."""
    program = random_program(seed, "whole")
    honest = linprog(*program)
    generator = np.random.default_rng(seed)

    def lie(read, _):
        n, m = len(read.c), len(read.limits)
        states = np.full(n + m, LOWER, dtype=np.int8)
        states[generator.permutation(n + m)[:m]] = BASIC
        return None if seed % 5 == 0 else Guess(states, np.ones(n), np.ones(m), 0, True)

    monkeypatch.setitem(solver.METHODS, "highs", lie)
    result = linprog(*program)
    result.certificate.check(*program)
    assert (result.status, result.fun) == (honest.status, honest.fun)


@pytest.mark.parametrize(
    "wrong",
    [
        Decision("optimal", x=Ratios([1, 0]), y=Ratios([-1, -1])),
        Decision("optimal", x=Ratios([1, 1]), y=Ratios([-1, 0])),
        Decision("infeasible", y=Ratios([-1, -1])),
        Decision("unbounded", x=Ratios([0, 0]), ray=Ratios([1, 0])),
    ],
)
def test_exact_pivots_that_lie_are_not_believed(wrong, monkeypatch):
    monkeypatch.setattr(solver, "decided_from", lambda *arguments: wrong)
    with pytest.raises(CertificateError, match="proves none of"):
        linprog(**SQUARE)


def test_a_certificate_prints_in_one_line():
    assert repr(linprog(**SQUARE).certificate) == "ProgramCertificate(optimal, exact)"


def test_a_slightly_wrong_optimum_is_not_called_exact():
    proof = linprog(**SQUARE).certificate
    moved = [proof.x[0] - Fraction(1, 10**30), proof.x[1]]
    with pytest.raises(CertificateError):
        replace(proof, witnesses=proof.witnesses._replace(x=moved)).check(**SQUARE)


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"c": []}, "c is empty"),
        ({"c": [1, np.nan]}, "c has the value nan in entry 1"),
        ({"c": ["a"]}, "c is not an array of numbers"),
        ({"c": [1], "A_ub": [[1, 2]], "b_ub": [1]}, r"A_ub has shape \(1, 2\), but c has 1 entries"),
        ({"c": [1], "A_ub": [[1]], "b_ub": [1, 2]}, "A_ub has 1 rows, but b_ub has 2 entries"),
        ({"c": [1], "A_ub": [[1]]}, "A_ub was given without b_ub"),
        ({"c": [1], "b_eq": [1]}, "b_eq was given without A_eq"),
        ({"c": [1], "A_eq": [[INFINITY]], "b_eq": [1]}, "A_eq has the value inf in row 0, column 0"),
        ({"c": [1], "A_ub": [[1]], "b_ub": [INFINITY]}, "b_ub has the value inf in entry 0"),
        ({"c": [1], "bounds": [(0, 1), (0, 1)]}, r"bounds has shape \(2, 2\)"),
        ({"c": [1], "bounds": [(0, np.nan)]}, "the upper bound of variable 0 is nan"),
        ({"c": [1], "bounds": [(INFINITY, None)]}, "the lower bound of variable 0 is inf"),
        ({"c": [1], "method": "simplex"}, "but this solver has only 'highs' and 'perceptron'"),
        ({"c": [1, 1], "A_ub": sparse.csr_array([[0.0, INFINITY]]), "b_ub": [1]}, "the value inf in row 0, column 1"),
        ({"c": [1], "options": {"tol": 1}}, "unknown option 'tol'"),
        ({"c": [1], "options": {"time_limit": 0}}, "positive number of seconds"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        linprog(**arguments)
