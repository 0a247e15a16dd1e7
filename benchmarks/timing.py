"""Interleaved timings, their ratios, and rows of figures: two things measured in turn, in one run."""

import json
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from novikoff.engine.jit import patience

# The file to which rows are added, one JSON object a line; `benchmarks/all.py` names it.
ROWS = "NOVIKOFF_ROWS"


def interleaved(
    tasks: Mapping[str, Callable[[], object]], repetitions: int = 7, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Run every task once to warm up, compiled, then all of them in turn, again and again; seconds by task."""
    with patience(0):
        for task in tasks.values():
            task()
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repetitions):
        for name, task in tasks.items():
            start = clock()
            task()
            seconds[name].append(clock() - start)
    return seconds


def per_epoch(short: list[float], long: list[float], epochs: int) -> list[float]:
    """Seconds of one epoch: what `epochs` more of them cost."""
    return [max(b - a, 1e-9) / epochs for a, b in zip(short, long, strict=True)]


def show_ratio(what: str, ours: list[float], theirs: list[float]) -> float:
    """Print ours / theirs: the median over the rounds, and the range."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    median = statistics.median(ratios)
    print(f"  {what:<66} {median:7.2f}   [{min(ratios):.2f} .. {max(ratios):.2f}]")
    return median


def figure(
    what: str,
    ours: float | Sequence[float],
    peer: float | Sequence[float] | None = None,
    *,
    against: str = "",
    unit: str = "s",
    better: Literal["less", "more"] = "less",
) -> None:
    """A row of the table of figures: what was measured, ours, the peer's, and whether less or more of it is better.

    Several rounds are one figure, their median; the ratio ours / peer is the median of the rounds' ratios. The
    row is added to the file that the environment names, if it names one.
    """
    own = [ours] if isinstance(ours, int | float) else [*ours]
    theirs = [] if peer is None else [peer] if isinstance(peer, int | float) else [*peer]
    ratios = [a / b for a, b in zip(own, theirs, strict=True)] if theirs and all(theirs) else []
    found = {
        "what": what,
        "unit": unit,
        "better": better,
        "ours": statistics.median(own),
        "against": against,
        "peer": statistics.median(theirs) if theirs else None,
        "ratio": [min(ratios), statistics.median(ratios), max(ratios)] if ratios else None,
    }
    if path := os.environ.get(ROWS):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
