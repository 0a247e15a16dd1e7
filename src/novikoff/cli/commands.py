"""The command `novikoff`, and where its commands are: each is imported only when it runs."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from novikoff import __version__


class Lazy(NamedTuple):
    """Where a command is, as module:name, and its help in one line."""

    home: str
    purpose: str


class LazyGroup(click.Group):
    """A group whose help imports none of its commands."""

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return None
        module, _, function = self.lazy[name].home.partition(":")
        command: click.Command = getattr(import_module(module), function)
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.lazy, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(self.lazy)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", context)
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.purpose) for name, lazy in self.lazy.items()])


COMMANDS = {
    "fit": Lazy("novikoff.cli.fit:fit", "Train a classifier on a table, and prove what can be proved."),
    "predict": Lazy("novikoff.cli.predict:predict", "Add a column of predictions to a table."),
    "score": Lazy("novikoff.cli.score:score", "Count the errors of a model on a labelled table."),
    "certify": Lazy("novikoff.cli.certify:certify", "Prove that a table is separable, or that it is not."),
    "check": Lazy("novikoff.cli.check:check", "Check a saved certificate against the data."),
    "inspect": Lazy(
        "novikoff.cli.inspect:inspect", "Show what is in a model file: weights by name, the run, the proof."
    ),
    "online": Lazy("novikoff.cli.online:online", "Learn from a stream, one example per line."),
    "serve": Lazy("novikoff.cli.serve:serve", "Serve models that learn from feedback, over HTTP."),
    "tag": Lazy("novikoff.cli.tag:tag", "Label sequences: train, run and score taggers on CoNLL files."),
    "lp": Lazy("novikoff.cli.lp:lp", "Solve a linear program, with an exact proof."),
    "ball": Lazy("novikoff.cli.ball:ball", "Find a ball around one class that excludes the other."),
    "inequalities": Lazy(
        "novikoff.cli.inequalities:inequalities", "Solve a.x > 0 for every row a, or prove that there is no solution."
    ),
    "lab": Lazy("novikoff.cli.lab:lab", "Open the lab: watch the perceptron learn, in the browser."),
    "warm-up": Lazy("novikoff.cli.warm_up:warm_up", "Compile all kernels in advance."),
    "example": Lazy("novikoff.cli.example:example", "Write small example data sets."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="novikoff")
def novikoff() -> None:
    """The perceptron, with a proof for every run.

    Begin with: novikoff example, then: novikoff fit cars.csv --label sport_car
    """
