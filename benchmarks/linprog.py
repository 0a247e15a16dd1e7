"""linprog against HiGHS: status, objective, time, and whether the answer is proved.

    python benchmarks/linprog.py [--data DIR] [--smoke]

`--data` is a folder with `netlib/*.npz` and `netlib/infeasible/*.npz`: programs with the arrays c, A_ub, b_ub, A_eq,
b_eq and bounds (empty for x >= 0), and obj, the published optimum. Without it, programs are made up. Times are the
least of the repetitions; those of `linprog` include the exact proof, and `check` proves it again. HiGHS is expected to
be faster; a wrong answer is what neither may give.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linprog as highs
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, interleaved, show_ratio

from novikoff import linprog


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    programs = netlib(arguments.data / "netlib") if arguments.data else made_up(5 if arguments.smoke else 60)
    print(f"{'program':<12} {'size':>9}  {'ours':<22} {'HiGHS':<22} {'error':>8} {'ours':>8} {'check':>8} {'HiGHS':>8}")
    slower, disagreements = [], 0
    for name, program, published in programs:
        seconds, agree = compare(name, program, published, 1 if arguments.smoke else 3)
        slower.append(seconds)
        disagreements += not agree
    print(f"{len(slower)} programs, {disagreements} answers that differ from HiGHS's")
    where = "Netlib" if arguments.data else "made-up"
    seconds = [[pair[which] for pair in slower] for which in range(2)]
    show_ratio("seconds of linprog / HiGHS", *seconds)
    figure(f"linprog on {len(slower)} {where} programs, each answer proved", *seconds, against="HiGHS, nothing proved")
    figure(f"linprog: answers other than HiGHS's, of {len(slower)}", disagreements, unit="answers")


# HiGHS does not finish the one, nor we the other, within a minute.
UNFINISHED = ("QAP12", "MAROS-R7")


def netlib(folder):
    """Programs of the Netlib collection; the infeasible ones have no published optimum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some files were written by Python 2
        for path in [*sorted(folder.glob("*.npz")), *sorted((folder / "infeasible").glob("*.npz"))]:
            if path.stem in UNFINISHED:
                continue
            data = np.load(path, allow_pickle=True)  # bounds may have None
            bounds = data["bounds"].reshape(-1, 2) if data["bounds"].size > 1 else (0, None)
            constraints = [
                (csr_array(data[f"A_{k}"]), data[f"b_{k}"]) if data[f"b_{k}"].size else (None, None)
                for k in ("ub", "eq")
            ]
            program = (data["c"], *constraints[0], *constraints[1], bounds)
            yield path.stem.lower(), program, None if path.parent.name == "infeasible" else float(data["obj"])


def made_up(size):
    """A transport from sources to sinks, the same with one source too few, and dense inequalities."""
    generator = np.random.default_rng(0)
    k = max(3, size // 5)
    A = np.vstack([np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))])
    cost = generator.integers(1, 30, k * k).astype(float)
    yield "transport", (cost, None, None, A, np.ones(2 * k), (0, None)), None
    demand = np.append(np.ones(2 * k - 1), 2.0)
    yield "too little", (cost, None, None, A, demand, (0, None)), None
    rows = generator.standard_normal((2 * size, size))
    yield (
        "dense",
        (-generator.random(size) @ rows[:size], rows, generator.random(2 * size), None, None, (0, None)),
        None,
    )


def compare(name, program, published, repetitions):
    seconds = interleaved({"ours": lambda: linprog(*program), "highs": lambda: highs(*program)}, repetitions)
    ours, theirs = linprog(*program), highs(*program)
    start = time.perf_counter()
    if ours.certificate is not None:
        ours.certificate.check(*program)
    checked = time.perf_counter() - start
    reference = theirs.fun if published is None else published
    error = "" if ours.fun is None or reference is None else f"{relative(ours.fun, reference):.0e}"
    shape = f"{sum(len(b) for b in (program[2], program[4]) if b is not None)} x {len(program[0])}"
    best = [min(seconds["ours"]), checked, min(seconds["highs"])]
    print(
        f"{name:<12} {shape:>9}  {described(ours):<22} {described(theirs):<22} {error:>8} "
        + " ".join(f"{value:7.3f}s" for value in best)
    )
    by_rounding = ours.status == 2 and theirs.status == 0  # HiGHS has a tolerance; infeasible is proved
    agree = by_rounding or (
        ours.status == theirs.status and (ours.fun is None or relative(ours.fun, theirs.fun) < 1e-6)
    )
    return (best[0], best[2]), agree


def relative(value, reference):
    return abs(value - reference) / (1 + abs(reference))


def described(result):
    """The optimum, or the status in a word; with a star if it is proved in exact arithmetic."""
    words = {1: "limit", 2: "infeasible", 3: "unbounded", 4: "undecided"}
    certificate = result.get("certificate")
    star = " *" if certificate is not None and certificate.arithmetic == "exact" else ""
    return (f"{result.fun:.9g}" if result.status == 0 else words[result.status]) + star


if __name__ == "__main__":
    main()
