"""Does the estimate exist? Data sets with known answers, and fixed effects of thousands of levels.

    python benchmarks/existence.py --data DIR [--smoke] [--only NAME ...]

`known` compares with the answers of detectseparation and ppmlhdfe on their own data sets, in DIR/separation. `effects`
has one and two fixed effects; the peer is the linear program alone, HiGHS in floats, without signs, rows or proof.
Figures are seconds of processor time.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure

from novikoff import existence
from novikoff.prove.existence.families import cone_of
from novikoff.prove.existence.inputs import likelihood_of

FORMULAS = {
    "endometrial": ("HG ~ NV + PI + EH", "binomial", {"NV": "+inf"}),
    "lizards": ("cbind(grahami, opalinus) ~ height + diameter + light + time", "binomial", {}),
    "silvapulle1981": ("y ~ ghqs", "binomial", {"intercept": "-inf", "ghqs": "+inf"}),
    "silvapulle1981, log link": ("y ~ ghqs", "log-binomial", {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000, help="how many rows fixed effects have")
    parser.add_argument("--only", nargs="*", choices=[*PARTS], default=[*PARTS])
    arguments = parser.parse_args()
    with threadpool_limits(1):
        for name in arguments.only:
            print(f"-- {name}")
            PARTS[name](arguments)


def timed(task):
    start = time.process_time()
    result = task()
    return result, time.process_time() - start


def known(arguments):
    if arguments.data is None:
        print("no --data: the known answers are skipped")
        return
    folder = arguments.data / "separation"
    for name, (formula, family, expected) in FORMULAS.items():
        table = pd.read_csv(folder / f"{name.split(',')[0]}.csv")
        found, spent = timed(lambda t=table, f=formula, a=family: existence(f, t, family=a))
        agrees = "as known" if found.diverging == expected else f"NOT as known: {found.diverging}"
        print(f"  {name:26} {len(table):5} rows {spent:6.2f} s  {agrees}")
    for path in sorted(folder.glob("poisson_*.csv")):
        table = pd.read_csv(path)
        columns = [name for name in table if name.startswith("x")] or ["1"]
        effects = [name for name in table if name.startswith("id")]
        formula = f"y ~ {' + '.join(columns)}" + (f" | {' + '.join(effects)}" if effects else "")
        found, spent = timed(lambda t=table, f=formula: existence(f, t, family="ppml"))
        is_right = list(found.separated_rows) == np.flatnonzero(table["separated"]).tolist()
        agrees = "as known" if is_right else "NOT as known"
        print(f"  {path.stem:26} {len(table):5} rows {spent:6.2f} s  {agrees}: {len(found.separated_rows)} separated")


def effects(arguments):
    rows = arguments.rows
    n, levels, others = (1_000, 400, 5) if arguments.smoke else (rows, rows // 10, rows // 200)
    rng = np.random.default_rng(0)
    X, firm, year = rng.normal(size=(n, 3)).round(2), rng.integers(0, levels, n), rng.integers(0, others, n)
    mean = X.sum(axis=1) / 2 + 1.5 * rng.normal(size=levels)[firm] - 1
    responses = {"poisson": rng.poisson(np.exp(mean)), "binomial": rng.random(n) < 1 / (1 + np.exp(-mean))}
    for family, y in responses.items():
        for name, given in (("one effect", {"firm": firm}), ("two effects", {"firm": firm, "year": year})):
            y = y.astype(float)
            found, ours = timed(lambda y=y, f=family, g=given: existence(X, y, family=f, fixed_effects=g))
            _, check = timed(lambda y=y, g=given, found=found: found.check(X, y, fixed_effects=g))
            _, bare = timed(lambda y=y, f=family, g=given: bare_program(likelihood_of(X, y, family=f, fixed_effects=g)))
            print(f"  {family}, {name}, {n:,} rows: {len(found.separated_rows):,} separated, {ours:.1f} s;", end=" ")
            print(f"check {check:.1f} s; a bare linear program {bare:.1f} s; ours / bare {ours / bare:.2f}", flush=True)
            figure(
                f"existence, {family}, {name}, {n:,} rows: signs, rows and proof",
                ours,
                bare,
                against="HiGHS, a bare linear program",
                unit="s of processor time",
            )


def bare_program(likelihood):
    """Some direction in a box, in floats."""
    cone = cone_of(likelihood)
    whole = cone.whole
    data = np.ldexp(whole.data.astype(np.float64), cone.exponents[whole.indices])
    rows = csr_array((data, whole.indices, whole.indptr), shape=(whole.n_rows, whole.n_columns))
    Z, E = rows[~cone.is_equation], rows[cone.is_equation]
    equal = {"A_eq": E, "b_eq": np.zeros(E.shape[0])} if E.shape[0] else {}
    goal = -np.asarray(Z.sum(axis=0)).ravel()
    return linprog(goal, A_ub=-Z, b_ub=np.zeros(Z.shape[0]), bounds=(-1, 1), method="highs-ds", **equal)


PARTS = {"known": known, "effects": effects}

if __name__ == "__main__":
    main()
