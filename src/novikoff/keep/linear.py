"""The linear perceptron in a file: weights, drift, counts, and, for the voted perceptron, the mistakes."""

from dataclasses import replace

import numpy as np

from novikoff.engine.rows import Rows
from novikoff.keep import checks
from novikoff.keep.checks import ensure
from novikoff.keep.classifiers import Functions, read_classifier, write_classifier
from novikoff.keep.codec import ROWS, Codec
from novikoff.keep.layout import FileParts
from novikoff.learn.linear.memory import LinearMemory, LinearModel
from novikoff.learn.linear.vote import Ballot

CODEC = Codec({Rows: ROWS})


def to_parts(model: LinearModel) -> FileParts:
    memory = model.memory
    if memory.ballots:
        memory = replace(memory, ballots=[Ballot.joined(memory.ballots)])
    return write_classifier(model, memory, CODEC)


def from_parts(parts: FileParts, functions: Functions) -> LinearModel:
    model: LinearModel = read_classifier(LinearModel, parts, functions, CODEC, _check)
    return model


def _check(memory: LinearMemory, n_classes: int) -> bool:
    """Check that the parts of the memory are consistent; return whether it can vote."""
    ensure(memory.n_classes == n_classes, "there are not as many classes as the weights are for")
    ensure(memory.constant in (0.0, 1.0), "the constant is neither 0 nor 1")
    width = memory.weights.shape[-1]
    ensure(width >= 1, "the weights have no column for the bias")
    for name in ("weights", "drift"):
        checks.shape(getattr(memory, name), name, n_classes if n_classes > 2 else 1, width)
    if memory.columns is not None:
        checks.shape(memory.columns, "columns", width - 1)
        ensure(memory.width <= 2**32, "there are too many columns")
        checks.within(memory.columns, "columns", memory.width)
        checks.ascends(memory.columns, "columns", strictly=True)
    ensure(memory.updates <= memory.examples, "there are more mistakes than examples")
    ensure(memory.mixed is None or memory.mixed.fewer <= memory.updates, "the record of mixing is invalid")
    for ballot in memory.ballots or ():
        _check_ballot(ballot, memory)
    if memory.ballots is not None:
        kept = sum(len(ballot.mistakes.rows) for ballot in memory.ballots)
        ensure(kept == memory.updates, f"{kept} mistakes were kept, but {memory.updates} were made")
    return memory.ballots is not None


def _check_ballot(ballot: Ballot, memory: LinearMemory) -> None:
    mistakes, n = ballot.mistakes, len(ballot.mistakes.rows)
    ensure(ballot.support.n_columns == memory.n_columns, "the rows of the vote have other columns")
    ends = {"rows": ballot.support.n_rows, "times": memory.examples}
    for name, end in {**ends, "right": memory.n_classes, "wrong": memory.n_classes}.items():
        checks.shape(getattr(mistakes, name), f"mistakes.{name}", n)
        checks.within(getattr(mistakes, name), f"mistakes.{name}", end)
    checks.shape(mistakes.amounts, "mistakes.amounts", n)
    checks.ascends(mistakes.times, "mistakes.times", strictly=True)
    ensure(bool(np.all(mistakes.right != mistakes.wrong)), "a mistake took the right class")
    ensure(bool(np.all(mistakes.amounts > 0)), "a mistaken row was multiplied by no positive number")
