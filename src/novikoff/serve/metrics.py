"""Figures for a monitor, in the text format of Prometheus."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from novikoff.serve.models import figures_of
from novikoff.serve.service import Service

OF_MODELS = {
    "events": ("counter", "Events in the log of a model."),
    "examples": ("counter", "Examples that a model has learned."),
    "mistakes": ("counter", "Mistakes of the last weights, which are the model."),
    "revealed": ("counter", "Predictions whose label has come."),
    "wrong": ("counter", "Predictions that turned out wrong."),
    "drift_window_mistakes": ("gauge", "Mistakes in the window for drift."),
    "drift_window_expected": ("gauge", "Mistakes in the window that the record before it leads one to expect."),
    "drift_alarms": ("counter", "Windows with more mistakes than chance explains."),
    "drift_last_alarm": ("gauge", "After how many examples the last alarm came; 0 if there was none."),
}


def as_text(service: Service, in_store: int) -> str:
    """All figures. A model that left memory has those of then; one that was not used since the start has none."""
    models, writer = service.models, service.writer
    figures = {**models.figures, **{name: figures_of(model.state) for name, model in models.loaded.items()}}
    lines = [
        *_family("ready", "gauge", "Whether the service is ready.", {"": service.ready}),
        *_family("models", "gauge", "Models in the store.", {"": in_store}),
        *_family("models_loaded", "gauge", "Models in memory.", {"": len(models.loaded)}),
        *_family("models_set_aside", "gauge", "Models whose log cannot be replayed.", {"": len(models.aside)}),
        *_family("waiting_events", "gauge", "Events that wait to be written.", {"": writer.waiting}),
        *_family("commits_total", "counter", "Transactions that are on the disk.", {"": writer.commits}),
        *_family("commit_seconds_total", "counter", "Seconds that transactions took.", {"": writer.seconds}),
    ]
    asked = {
        f'{{route="{route}",method="{method}",status="{status}"}}': number
        for (route, method, status), number in sorted(service.requests.items())
    }
    lines += _family("requests_total", "counter", "Requests that were answered.", asked)
    for name, (kind, text) in OF_MODELS.items():
        values = {f'{{model="{model}"}}': figures[model][name] for model in sorted(figures)}
        lines += _family(f"model_{name}{'_total' if kind == 'counter' else ''}", kind, text, values)
    return "\n".join([*lines, *_of_the_process()]) + "\n"


def _of_the_process() -> list[str]:
    """What monitors ask of every process, under the names that they know."""
    seconds = {"": time.process_time()}
    lines = _family("cpu_seconds_total", "counter", "Processor seconds of the process.", seconds, "process")
    pages = Path("/proc/self/statm")
    if pages.exists():  # on Linux
        size = {"": int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")}
        lines += _family("resident_memory_bytes", "gauge", "Memory of the process.", size, "process")
    return lines


def _family(name: str, kind: str, text: str, values: Mapping[str, float], whose: str = "novikoff") -> list[str]:
    head = [f"# HELP {whose}_{name} {text}", f"# TYPE {whose}_{name} {kind}"]
    return head + [f"{whose}_{name}{labels} {float(value):.17g}" for labels, value in values.items()]
