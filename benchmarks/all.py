"""All benchmarks, each in a process of its own, and one table of their figures that README and docs include.

    python benchmarks/all.py --data DIR                       # half an hour; close everything else first
    python benchmarks/all.py --data DIR --only cold serve     # measure these again, and leave the others as they are
    python benchmarks/all.py --render                         # measure nothing, write the pages anew

DIR holds public data sets (the first lines of each benchmark say which). The figures go to docs/figures.json, with the
date, the processor and the versions of the run that measured them, and from there between the markers of the pages. A
benchmark that fails, or that finds no peer, leaves its old rows out of the table.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figures import FIGURES, PAGES, draw_all, rendered
from timing import ROWS

FOLDER = Path(__file__).resolve().parent
PEERS = (
    "numpy",
    "scipy",
    "scikit-learn",
    "river",
    "python-crfsuite",
    "vowpalwabbit",
    "liblinear-official",
    "pyarrow",
    "dask-ml",
    "ray",
    "fastapi",
)

# What some are asked for, so that all of them take about half an hour on two cores.
ASKED = {
    "cold": ["--rounds", "3"],
    "linear": ["--only", "epochs", "fits", "text", "cores", "online"],
    "accuracy": [],
    "files": ["--rounds", "3"],
    "certify": ["--only", "program", "tables"],
    "existence": ["--only", "effects", "--rows", "20000"],
    "conll2000": ["--only", "speed"],
    "tagging": ["--rounds", "3", "--only", "chunks, 22 labels", "50 labels"],
    "inequalities": ["--only", "sizes"],
    "linprog": [],
    "mnist_voted": ["--only", "machine"],
    "streams": [],
    "serve": ["--rounds", "2", "--only", "single", "batches"],
    "cluster": ["--rounds", "5", "--only", "speed", "accuracy"],
}
HELPERS = {"all", "figures", "real_tables", "timing"}
NAMES = [*ASKED, *sorted({path.stem for path in FOLDER.glob("*.py")} - HELPERS - ASKED.keys())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with public data sets")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--quick", "--smoke", action="store_true", help="in small, to see that all of it runs")
    parser.add_argument("--out", type=Path, default=FIGURES, help="the table, to which rows are added")
    parser.add_argument("--render", action="store_true", help="write the pages anew from the table")
    arguments = parser.parse_args()
    if arguments.quick and arguments.out == FIGURES:
        parser.error("--quick measures nothing that is worth keeping; name another table with --out")
    parts = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else {}
    for name in () if arguments.render else arguments.only:
        parts.pop(name, None)
        measured = measure(name, arguments)
        if measured is not None:
            parts[name] = measured
        parts = {known: parts[known] for known in NAMES if known in parts}
        arguments.out.write_text(json.dumps(parts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.out == FIGURES:
        for page in PAGES:
            page.write_text(rendered(page.read_text(encoding="utf-8"), parts, page), encoding="utf-8")
        draw_all(parts)


def measure(name: str, arguments: argparse.Namespace) -> dict[str, object] | None:
    """The rows of a benchmark, and where and when they were measured; None if it failed or has none."""
    script = FOLDER / f"{name}.py"
    command = [sys.executable, str(script), *ASKED.get(name, [])]
    if arguments.quick:
        command.append("--smoke")
    elif arguments.data and '"--data"' in script.read_text(encoding="utf-8"):
        command += ["--data", str(arguments.data)]
    print(f"== {name}: {' '.join(command[1:])}", flush=True)
    source = os.pathsep.join(filter(None, [str(FOLDER.parent / "src"), os.environ.get("PYTHONPATH")]))
    start, before = time.monotonic(), processor_time()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows")
        rows.touch()
        done = subprocess.run(command, env={**os.environ, ROWS: str(rows), "PYTHONPATH": source}, check=False)
        found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    seconds = time.monotonic() - start
    used = processor_time() - before
    print(f"== {name}: {len(found)} rows in {seconds:.0f} s, {used:.0f} s of processor time", flush=True)
    if done.returncode != 0 or not found:
        print(
            f"== {name} ended with code {done.returncode} and {len(found)} rows: it has none in the table", flush=True
        )
        return None
    return {
        "command": f"python benchmarks/{name}.py{' --data DIR' if '--data' in command else ''}",
        "date": date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "versions": versions(),
        "seconds": round(seconds),
        "rows": found,
    }


def processor_time() -> float:
    """What all benchmarks so far have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor() -> str:
    """The name of the processor, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def versions() -> dict[str, str]:
    """Python's, and those of the peers that are installed."""
    found = {"python": platform.python_version()}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    main()
