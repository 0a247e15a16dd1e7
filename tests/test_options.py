"""Options are declared once: every way in has the declared names, defaults and ranges."""

import inspect
from dataclasses import fields

import pytest

from novikoff import KernelPerceptron, Perceptron, SequencePerceptron, StructuredPerceptron
from novikoff.cli.fit import fit
from novikoff.cli.tag import train
from novikoff.options import DECLARED, Options

ESTIMATORS = [Perceptron, KernelPerceptron, SequencePerceptron, StructuredPerceptron]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_constructors_have_the_declared_defaults(estimator):
    given = {name: value.default for name, value in inspect.signature(estimator).parameters.items()}
    declared = {name: option.default for name, option in DECLARED.items()}
    shared = given.keys() & declared.keys()
    assert len(shared) > 5
    assert {name: given[name] for name in shared} == {name: declared[name] for name in shared}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_docstrings_explain_every_parameter(estimator):
    explained = {name for line in estimator.__doc__.splitlines() for name in line.strip().split(" : ")[0].split(", ")}
    assert inspect.signature(estimator).parameters.keys() <= explained


def test_a_perceptron_has_every_option():
    assert {field.name for field in fields(Options)} <= inspect.signature(Perceptron).parameters.keys()


@pytest.mark.parametrize("command", [fit, train])
def test_commands_have_the_declared_defaults_and_help(command):
    shared = [option for option in command.params if option.name in DECLARED]
    assert len(shared) > 5
    for option in shared:
        declared = DECLARED[option.name]
        assert option.help.startswith(declared.help)
        if option.name not in ("random_state", "class_weight"):  # a command gives the same answer twice
            assert option.default == declared.default


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"readout": "best"}, "readout='best' is unknown; choose one of last, average, vote"),
        ({"max_iter": 2.5}, "max_iter=2.5 must be a whole number of at least 1, or 'auto', or None for no limit"),
        ({"max_iter": True}, "max_iter=True must be a whole number"),
        ({"lead": -1}, "lead=-1 must be a number from 0 to 1e.06, in units of R.2, or 'auto'"),
        ({"lead": "much"}, "lead='much' must be"),
        ({"min_margin": 0}, "min_margin=0 must be a positive number"),
        ({"time_limit": float("nan")}, "time_limit=nan must be a positive number"),
        ({"held_out": 1}, "held_out=1 must be a fraction of the rows between 0 and 1"),
        ({"tol": -1e-3}, "tol=-0.001 must be a number of at least 0"),
        ({"shuffle": "no"}, "shuffle='no' must be True or False"),
    ],
)
def test_what_an_option_cannot_be_is_said(given, message):
    with pytest.raises(ValueError, match=message):
        Options(**given)


def test_an_unknown_option_names_those_there_are():
    with pytest.raises(TypeError, match=r"fit\(\) has no option 'max_epochs'; the options are readout, "):
        Options.of({"max_epochs": 3})
