"""`novikoff online`: predict, reveal, learn, one example per line, over a pipe."""

import csv
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.commands import DONE, INTERRUPTED
from novikoff.cli.files import check_free, load_model
from novikoff.cli.options import is_json, is_quiet
from novikoff.cli.render import as_json, on_a_terminal

if TYPE_CHECKING:
    from novikoff.learn.online.perceptron import OnlinePerceptron

Example = dict[str, Any]


@click.command()
@options.option(
    "--label", None, "COL", "The key or column with the label. Lines without one are only predicted.", required=True
)
@options.option("--input", ("json", "csv"), None, "JSON objects, one per line, or CSV with a header line.", "json")
@options.option("--model", options.PATH, "FILE", "The model file; resumes if it exists, and is saved to it.")
@options.option("--save-every", options.AT_LEAST_ONE, "N", "Save after every N lines.", 1000)
@options.option("--readout", ("auto", "average", "last"), None, "The weights that predict.", "auto")
@options.learning("tie", "lead", "fit_intercept", lead=options.TOLD_LEAD)
@click.option("--scale", is_flag=True, help="Standardise numbers by the means and standard deviations seen so far.")
@options.answering
def online(label: str, input: str, model: str | None, save_every: int, **parameters: Any) -> int:
    """Predict, reveal, learn: read one example per line, answer each with a line at once.

    The answer has the prediction, made before the label was looked at, and the wrong predictions so far, with a tab
    between. The model is saved every N lines, and at the end, also after Ctrl-C and on SIGTERM.
    """
    from novikoff.keep.models import save

    learner, parse = _learner(model, parameters), _csv_parser(label) if input == "csv" else _parsed_json
    is_new, mistakes, before = True, 0, signal.signal(signal.SIGTERM, _end)
    try:
        for number, line in enumerate(iter(sys.stdin.readline, ""), start=1):
            try:
                x = parse(line) if line.strip() else None
                if x is None:
                    continue
                y = x.pop(label, None)
                if is_new and y is None:
                    _check_label(label, x, learner)
                prediction, is_new = learner.predict_one(x), False
                if y is not None:
                    mistakes += bool(prediction != y)
                    learner.learn_one(x, y)
            except (ValueError, TypeError) as error:
                raise ValueError(f"standard input, line {number}: {error}") from error
            if not is_quiet():
                counts = {"mistakes": mistakes, "examples": learner.examples}
                in_words = f"{'' if prediction is None else prediction}\t{mistakes}"
                reply = as_json({"prediction": prediction, "label": y, **counts}) if is_json() else in_words
                click.echo(reply if is_json() else on_a_terminal(reply))  # flushes
            if model is not None and y is not None and learner.examples % save_every == 0:
                save(learner, model)
    except (KeyboardInterrupt, SystemExit):
        return INTERRUPTED
    finally:
        if model is not None:
            save(learner, model)
        signal.signal(signal.SIGTERM, before)
    return DONE


def _end(number: int, frame: Any) -> None:
    raise SystemExit


def _learner(model: str | None, parameters: dict[str, Any]) -> "OnlinePerceptron":
    """Return the learner to resume, or a new one."""
    from novikoff.learn.online.perceptron import OnlinePerceptron

    if model is None or not Path(model).exists():
        if model is not None:
            check_free(model)
        return OnlinePerceptron(**parameters)
    learner = load_model(model, OnlinePerceptron)
    for name, value in parameters.items():
        if getattr(learner, name) != value:
            was, told = f"{name}={getattr(learner, name)!r}", f"{name}={value!r}"
            raise ValueError(f"{model} learns with {was}, not {told}; pass the same options, or another file")
    return learner


def _check_label(label: str, x: Example, learner: "OnlinePerceptron") -> None:
    """Refuse a stream that begins without a label if nothing was learned before, or if a similar name is there."""
    from difflib import get_close_matches

    from novikoff.data.tables import nearest

    if learner.examples == 0 or get_close_matches(label, map(str, x), n=1):
        hint = nearest(label, map(str, x)).replace("its columns are", "there are")
        raise ValueError(f"there is no label {label!r} to learn from; {hint}")


def _parsed_json(line: str) -> Example:
    """Return what a line has, except for what is missing."""
    from novikoff.data import strict_json

    example = strict_json.parse(line)
    if not isinstance(example, dict):
        raise ValueError('expected one JSON object per line, such as {"doors": 2, "fast": "yes"}')
    return {name: value for name, value in example.items() if value is not None}


def _csv_parser(label: str) -> Callable[[str], Example | None]:
    """Return the same for CSV, whose first line has the names."""
    names: list[str] = []

    def parse(line: str) -> Example | None:
        (values,) = csv.reader([line])
        if not names:
            names.extend(values)
            return None
        if len(values) != len(names):
            raise ValueError(f"{len(values)} values, but the first line names {len(names)} columns")
        example = dict(zip(names, values, strict=True))
        return {name: value if name == label else _as_value(value) for name, value in example.items() if value}

    return parse


def _as_value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
