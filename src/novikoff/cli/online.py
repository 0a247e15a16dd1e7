"""`novikoff online`: predict, reveal, learn, one example per line, over a pipe."""

import csv
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.files import check_free, load_model
from novikoff.cli.options import Output

if TYPE_CHECKING:
    from novikoff.learn.online.perceptron import OnlinePerceptron

Example = dict[str, Any]


@click.command()
@click.option(
    "--label",
    metavar="COL",
    required=True,
    help="The key or column with the label. Lines without one are only predicted.",
)
@click.option(
    "--input",
    "form",
    type=click.Choice(["json", "csv"]),
    default="json",
    show_default=True,
    help="JSON objects, one per line, or CSV with a header line.",
)
@click.option(
    "--model",
    type=click.Path(),
    metavar="FILE",
    help="The model file; resumes if it exists, and is saved to it. With --server, the model's name there.",
)
@click.option(
    "--server", metavar="URL", help="Use a model of a running service (novikoff serve) instead of a local one."
)
@click.option("--token-file", type=click.Path(), metavar="FILE", help="A file with the token of the service.")
@options.number("--save-every", options.AT_LEAST_ONE, "N", "Save after every N lines.", 1000)
@click.option(
    "--readout",
    type=click.Choice(["auto", "average", "last"]),
    default="auto",
    show_default=True,
    help="The weights that predict.",
)
@options.learning("tie", "lead", "fit_intercept", lead=options.TOLD_LEAD)
@click.option("--scale", is_flag=True, help="Standardise numbers by the means and standard deviations seen so far.")
@options.answering
def online(
    label: str,
    form: str,
    model: str | None,
    server: str | None,
    token_file: str | None,
    save_every: int,
    output: Output,
    **parameters: Any,
) -> int:
    """Predict, reveal, learn: read one example per line, answer each with a line at once.

    The answer has the prediction, made before the label was looked at, and the wrong predictions so far, with a tab
    between. The model is saved every N lines, and at the end, also after Ctrl-C and on SIGTERM.
    """
    target = None if model is None or server is not None else Path(model)
    learner = _learner(target, parameters) if server is None else Remote(server, model, token_file, parameters)
    parse = _json_parser(label) if form == "json" else _csv_parser(label)
    session = Session(learner, label, target, save_every, output)
    before = signal.signal(signal.SIGTERM, _end)
    try:
        for number, line in enumerate(iter(sys.stdin.readline, ""), start=1):
            try:
                if line.strip():
                    session.play(parse(line))
            except (ValueError, TypeError) as error:
                raise ValueError(f"standard input, line {number}: {error}") from error
    except (KeyboardInterrupt, SystemExit):
        return INTERRUPTED
    finally:
        session.save()
        signal.signal(signal.SIGTERM, before)
    return DONE


def _end(number: int, frame: Any) -> None:
    raise SystemExit


class Remote:
    """A model of a service, as a learner. The service stores what it learns."""

    def __init__(self, server: str, model: str | None, token_file: str | None, parameters: dict[str, Any]) -> None:
        from novikoff.serve.client import Client
        from novikoff.serve.run import read_token

        if model is None:
            raise click.UsageError("--server needs --model, the name of the model there")
        self.client = Client(server, model, token=None if token_file is None else read_token(token_file))
        self.examples: int = self.client.create(**parameters)["examples"]

    def predict_one(self, x: Example) -> Any:
        return self.client.predict(x).label

    def learn_one(self, x: Example, y: Any) -> bool:
        learned = self.client.learn(x, y)
        self.examples += 1
        return learned.mistakes > 0


@dataclass
class Session:
    """A learner at work: its mistakes so far, and where it is saved."""

    learner: "OnlinePerceptron | Remote"
    label: str
    target: Path | None
    save_every: int
    output: Output
    mistakes: int = 0
    is_new: bool = True

    def play(self, example: tuple[Example, Any] | None) -> None:
        """Predict, reveal, learn, and print it; without a label only predict, and without an example do nothing."""
        from novikoff.learn.online.perceptron import predict_reveal_learn

        if example is None:
            return
        x, y = example
        if self.is_new and y is None:
            self._check_label(x)
        self.is_new = False
        if y is None:
            self._say(self.learner.predict_one(x), None)
            return
        (played,) = predict_reveal_learn(self.learner, [example])
        self.mistakes += played.mistakes
        self._say(played.prediction, y)
        if self.learner.examples % self.save_every == 0:
            self.save()

    def _check_label(self, x: Example) -> None:
        """Refuse a stream that begins without a label if nothing was learned before, or if a similar name is there."""
        from difflib import get_close_matches

        from novikoff.data.tables import nearest

        if self.learner.examples == 0 or get_close_matches(self.label, map(str, x), n=1):
            hint = nearest(self.label, map(str, x)).replace("its columns are", "there are")
            raise ValueError(f"there is no label {self.label!r} to learn from; {hint}")

    def _say(self, prediction: Any, truth: Any) -> None:
        from novikoff.cli.render import as_json, on_a_terminal

        if self.output.quiet:
            return
        if self.output.json:
            reply = {"prediction": prediction, "label": truth, "mistakes": self.mistakes}
            line = as_json({**reply, "examples": self.learner.examples})
        else:
            line = on_a_terminal(f"{'' if prediction is None else prediction}\t{self.mistakes}")
        click.echo(line)  # flushes

    def save(self) -> None:
        if self.target is not None:
            from novikoff.keep.models import save

            save(self.learner, self.target)


def _learner(target: Path | None, parameters: dict[str, Any]) -> "OnlinePerceptron":
    """Return the learner to resume, or a new one."""
    from novikoff.learn.online.perceptron import OnlinePerceptron

    if target is None or not target.exists():
        if target is not None:
            check_free(target, force=False)
        return OnlinePerceptron(**parameters)
    learner = load_model(str(target), OnlinePerceptron)
    for name, value in parameters.items():
        if getattr(learner, name) != value:
            was, told = f"{name}={getattr(learner, name)!r}", f"{name}={value!r}"
            raise ValueError(f"{target} learns with {was}, not {told}; pass the same options, or another file")
    return learner


def _json_parser(label: str) -> Callable[[str], tuple[Example, Any]]:
    from novikoff.data import strict_json

    def parse(line: str) -> tuple[Example, Any]:
        example = strict_json.parse(line)
        if not isinstance(example, dict):
            raise ValueError(f'expected one JSON object per line, such as {{"doors": 2, {json.dumps(label)}: "yes"}}')
        return _split(example, label)

    return parse


def _csv_parser(label: str) -> Callable[[str], tuple[Example, Any] | None]:
    names: list[str] = []

    def parse(line: str) -> tuple[Example, Any] | None:
        (values,) = csv.reader([line])
        if not names:
            names.extend(values)
            return None
        if len(values) != len(names):
            raise ValueError(f"{len(values)} values, but the first line names {len(names)} columns")
        example = dict(zip(names, values, strict=True))
        known = {name: value if name == label else _as_value(value) for name, value in example.items() if value}
        return _split(known, label)

    return parse


def _split(example: Example, label: str) -> tuple[Example, Any]:
    """Return the features and the label; what is missing is omitted."""
    return {name: value for name, value in example.items() if value is not None and name != label}, example.get(label)


def _as_value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
