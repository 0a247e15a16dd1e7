"""What the page for those who come from elsewhere promises is there, and what it misses out is answered."""

import inspect
import re
from pathlib import Path

import click
import pytest
from river import linear_model
from sklearn.linear_model import Perceptron as Theirs

import novikoff
from novikoff.cli.commands import novikoff as command_line
from novikoff.prove.existence.finite import FiniteEstimate
from novikoff.prove.existence.likelihood import ModelOptions

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coming_from.md").read_text(encoding="utf-8")
ROWS = [
    [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]
HERE = "\n".join(row[1] for row in ROWS)
THERE = "\n".join(row[0] for row in ROWS)
CLASSES = (
    novikoff.Perceptron, novikoff.OnlinePerceptron, novikoff.SequencePerceptron, novikoff.KernelPerceptron,
    novikoff.Run, novikoff.Existence, novikoff.Certificate,
)  # fmt: skip

# What is named in the right column, and is no name of this library.
OTHERS = {
    *(
        "StandardScaler",
        "cross_val_score",
        "flat_f1_score",
        "pipeline",
        "path",
        "X",
        "y",
        "xs",
        "ys",
        "model",
        "stream",
    ),
    *("table", "not", "None", "True", "found", "novikoff"),
}


def options(command, context=None):
    """All options of a command and of those below it."""
    context = click.Context(command, parent=context)
    found = {name for part in command.params for name in (*part.opts, *part.secondary_opts)}
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        found |= options(command.get_command(context, name), context)
    return found


def test_every_parameter_of_scikit_learns_perceptron_is_in_the_table():
    for name in (*Theirs().get_params(), "sample_weight"):
        assert f"`{name}`" in THERE or f"`{name}=" in THERE, name


@pytest.mark.parametrize("name", sorted(Theirs().get_params()))
def test_a_parameter_of_scikit_learn_is_known_or_answered(name):
    if name not in novikoff.Perceptron().get_params():
        with pytest.raises(TypeError, match=f"Perceptron has no parameter {name}: .+"):
            novikoff.Perceptron(**{name: 1})


def test_every_parameter_of_rivers_perceptron_is_in_the_table():
    for name in inspect.signature(linear_model.Perceptron).parameters:
        assert f"`{name}`" in THERE, name


def test_every_option_that_is_named_exists():
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", HERE))
    assert named <= options(command_line)


def test_every_name_of_python_that_is_named_exists():
    known = {*novikoff.__all__, *OTHERS}
    for kind in CLASSES:
        known |= {*dir(kind), *inspect.signature(kind).parameters, *getattr(kind, "__dataclass_fields__", ())}
    known |= {
        name for kind in (novikoff.existence, novikoff.Perceptron.fit) for name in inspect.signature(kind).parameters
    }
    known |= {*ModelOptions.__annotations__, *FiniteEstimate.__dataclass_fields__, "level", "finite"}
    spans = [span for span in re.findall(r"`([^`]+)`", HERE) if not re.match(r"(novikoff [a-z]|-|\.)", span)]
    for span in spans:
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"|\'[^\']*\'', "", span)):
            assert word in known, f"{word} in {span}"
