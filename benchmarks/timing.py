"""Interleaved timings and their ratios: a figure is a ratio of two things measured in turn, in one run."""

import statistics
import time
from collections.abc import Callable, Mapping

from novikoff.engine.jit import patience


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


def show_ratio(what: str, ours: list[float], theirs: list[float], floor: str = "") -> float:
    """Print ours / theirs: the median over the rounds and the range, and the figure that was asked for."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    median = statistics.median(ratios)
    print(f"  {what:<66} {median:7.2f}   [{min(ratios):.2f} .. {max(ratios):.2f}]   {floor}")
    return median
