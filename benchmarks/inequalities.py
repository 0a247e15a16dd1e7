"""Systems Ax > 0 with tiny margins: every method, and a linear program beside it.

    python benchmarks/inequalities.py [--smoke] [--only NAME ...]

`needle` systems have a known margin, and all their solutions lie close to one axis; `skewed` ones are Gaussian rows on
one side of a plane, seen through a map with singular values from 1 down to the number given; `badly scaled` ones have
rows and columns multiplied by powers of ten. The linear program is SciPy's HiGHS, asked for Ax >= 1 with the rows
divided by their lengths; whether its answer solves the system is checked in exact arithmetic, as ours is before it is
returned.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
from timing import figure

import novikoff.prove.inequalities.search.solve
from novikoff.engine.jit import patience
from novikoff.prove.inequalities.search.solve import System, solve_inequalities
from tests.prove.inequalities.systems import badly_scaled, exponential, needle, skewed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", nargs="*", choices=[*PARTS], default=[*PARTS])
    arguments = parser.parse_args()
    with patience(0):  # compile
        solve_inequalities(needle(20, 3, 1e-3, 0))
    with threadpool_limits(1):
        for name in arguments.only:
            print(f"-- {name}")
            PARTS[name](arguments)


def timed(task):
    start = time.perf_counter()
    result = task()
    return result, time.perf_counter() - start


def all_methods(arguments):
    n, d, margin, seconds = (60, 6, 1e-3, 2) if arguments.smoke else (500, 20, 1e-5, 60)
    for name, make in (("needle", needle), ("skewed", skewed)):
        A = make(n, d, margin, 0)
        print(f"{name} {n:,} x {d}, {margin:g}, at most {seconds} s a method")
        for method in ("perceptron", "rescaled", "auto"):
            answer, spent = timed(lambda A=A, m=method: solve_inequalities(A, method=m, time_limit=seconds))
            counts = f"{answer.iterations:>11,} steps, {answer.rescalings:3} rescalings"
            print(f"  {method:16} {answer.outcome.value:10} {spent:7.3f} s {counts}")


def ask_highs(A):
    """Whether HiGHS claims a solution, and whether that solves the system."""
    rows = A / np.linalg.norm(A, axis=1, keepdims=True)
    found = linprog(np.zeros(A.shape[1]), A_ub=-rows, b_ub=-np.ones(len(A)), bounds=(None, None), method="highs")
    if found.status != 0:
        return f"says {'no solution' if found.status == 2 else 'undecided'}"
    return "solved" if System(A).is_solved_by(found.x) else "claims a vector that is no solution"


def sizes(arguments):
    wrong = right = 0
    large = [(200, 20, 1e-4), (2_000, 20, 1e-5), (500, 30, 1e-6), (200, 50, 1e-7), (2_000, 50, 1e-7)]
    for n, d, margin in [(60, 6, 1e-4)] if arguments.smoke else large:
        for name, make in (("needle", needle), ("skewed", skewed)):
            for scaling in ("", ", badly scaled"):
                A = make(n, d, margin, 1)
                A = badly_scaled(A, 1) if scaling else A
                answer, ours = timed(lambda A=A: solve_inequalities(A))
                highs, theirs = timed(lambda A=A: ask_highs(A))
                answer.check(A)
                what = f"{name} {n:,} x {d}, {margin:g}{scaling}"
                how = f"{answer.outcome.value} ({answer.method}, {answer.rescalings} rescalings)"
                print(f"  {what:44} {how:40} {ours:6.3f} s   HiGHS {highs} {theirs:6.3f} s")
                wrong += highs != "solved"
                right += bool(answer)
    asked = 4 * (1 if arguments.smoke else len(large))
    figure(
        f"systems Ax > 0 with tiny margins solved, with proof, of {asked}",
        right,
        asked - wrong,
        against="HiGHS",
        unit="systems",
        better="more",
    )


def exponentials(arguments):
    for n in (10,) if arguments.smoke else (10, 20, 30, 40, 50, 60):
        A = exponential(n)
        answer, ours = timed(lambda A=A: solve_inequalities(A))
        print(f"  n = {n}: {answer.outcome.value} by {answer.method} in {ours:.3f} s, margin {answer.margin:.1e}")


def step_lengths(arguments):
    """The rescaled perceptron with the paper's step t = 1, and with the best of 1, 2, 4, ..."""
    longest = novikoff.prove.inequalities.search.solve.STEPS
    systems = (
        {"needle": needle(60, 6, 1e-4, 2)}
        if arguments.smoke
        else {
            "needle 500 x 30, 1e-6": needle(500, 30, 1e-6, 2),
            "skewed 500 x 30, 1e-6": skewed(500, 30, 1e-6, 2),
            "exponential 20": exponential(20),
        }
    )
    for name, A in systems.items():
        for what, steps in (("t = 1", np.ones(1)), ("best t", longest)):
            novikoff.prove.inequalities.search.solve.STEPS = steps
            answer, spent = timed(lambda A=A: solve_inequalities(A, method="rescaled"))
            counts = f"{answer.rescalings} rescalings, {answer.iterations:,} steps"
            print(f"  {name}, {what}: {answer.outcome.value} in {spent:.3f} s, {counts}")
    novikoff.prove.inequalities.search.solve.STEPS = longest


PARTS = {"methods": all_methods, "sizes": sizes, "exponential": exponentials, "steps": step_lengths}

if __name__ == "__main__":
    main()
