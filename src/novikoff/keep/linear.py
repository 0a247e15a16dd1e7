"""The linear perceptron in a file: weights, drift, counts, and the mistakes if there is to be a vote."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.rows import Rows
from novikoff.keep.codec import (
    OF_CLASSIFIERS,
    ROWS,
    Codec,
    check_all_taken,
    check_ascends,
    check_class_weights,
    check_lead,
    check_mistake_rows,
    check_shape,
    check_vote,
    check_within,
    ensure,
    goes_on,
    read_classes,
    read_columns,
    read_run,
    take,
    write_classifier,
)
from novikoff.keep.layout import Arrays, FileParts
from novikoff.keep.parameters import decode_parameters
from novikoff.learn.linear.memory import LinearMemory
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.linear.vote import Ballot

CODEC = Codec({Rows: ROWS})
BY_HAND = (*OF_CLASSIFIERS, "memory")


def to_parts(model: LinearModel) -> FileParts:
    memory, arrays = model.memory, Arrays()
    if memory.ballots:
        memory = replace(memory, ballots=[Ballot.joined(memory.ballots)])
    header = {
        **write_classifier(model),
        **CODEC.write_fields(model, arrays, without=BY_HAND),
        "memory": CODEC.write_fields(memory, arrays),
    }
    if model.mistake_guesses is not None:
        arrays["mistake_guesses"] = np.searchsorted(model.classes, model.mistake_guesses).astype(np.int64)
    return FileParts(header, arrays)


def from_parts(parts: FileParts, functions: Mapping[str, Callable[..., Any]]) -> LinearModel:
    header, arrays = parts.header, dict(parts.arrays)
    classes = read_classes(header, least=1)
    memory = read_memory(header["memory"], arrays, len(classes))
    guesses = take(arrays, "mistake_guesses", np.int64, may_be_none=True)
    known = CODEC.read_fields(LinearModel, header, arrays, without=BY_HAND)
    check_all_taken(arrays)
    check_mistake_rows(known["mistake_rows"])
    if guesses is not None:
        rows = known["mistake_rows"]
        check_shape(guesses, "mistake_guesses", len(guesses if rows is None else rows))
        check_within(guesses, "mistake_guesses", len(classes))
    run, parameters = read_run(header), decode_parameters(header, functions)
    counts = (memory.mistakes, memory.narrow, memory.lead, memory.examples)
    ensure((run.mistakes, run.narrow, run.lead, run.examples) == counts, "the record is that of another model")
    check_vote(known["readout"], parameters, memory.ballots is not None)
    return LinearModel(
        memory,
        classes,
        run=None if goes_on(header) else run,
        parameters=parameters,
        mistake_guesses=None if guesses is None else classes[guesses],
        **read_columns(header, memory.n_columns),
        **known,
    )


def read_memory(plain: Any, arrays: Arrays, n_classes: int) -> LinearMemory:
    """What was learned, if its parts fit together, so that neither a kernel nor a proof is led astray."""
    memory: LinearMemory = CODEC.read(LinearMemory, plain, arrays)
    ensure(memory.n_classes == n_classes, "there are not as many classes as the weights are for")
    ensure(memory.constant in (0.0, 1.0), "the constant is neither 0 nor 1")
    width = memory.weights.shape[-1]
    ensure(width >= 1, "the weights have no column for the bias")
    for name in ("weights", "drift"):
        check_shape(getattr(memory, name), name, n_classes if n_classes > 2 else 1, width)
    if memory.columns is not None:
        check_shape(memory.columns, "columns", width - 1)
        ensure(memory.width <= 2**32, "there are too many columns")
        check_within(memory.columns, "columns", memory.width)
        check_ascends(memory.columns, "columns", strictly=True)
    check_lead(memory)
    check_class_weights(memory, n_classes)
    ensure(memory.updates <= memory.examples, "there are more mistakes than examples")
    ensure(memory.mixed is None or memory.mixed.fewer <= memory.updates, "the record of mixing makes no sense")
    for ballot in memory.ballots or ():
        _check_ballot(ballot, memory)
    if memory.ballots is not None:
        kept = sum(len(ballot.mistakes.rows) for ballot in memory.ballots)
        ensure(kept == memory.updates, f"{kept} mistakes were kept, but {memory.updates} were made")
    return memory


def _check_ballot(ballot: Ballot, memory: LinearMemory) -> None:
    mistakes, n = ballot.mistakes, len(ballot.mistakes.rows)
    ensure(ballot.support.n_columns == memory.n_columns, "the rows of the vote have other columns")
    ends = {"rows": ballot.support.n_rows, "times": memory.examples}
    for name, end in {**ends, "right": memory.n_classes, "wrong": memory.n_classes}.items():
        check_shape(getattr(mistakes, name), f"mistakes.{name}", n)
        check_within(getattr(mistakes, name), f"mistakes.{name}", end)
    check_shape(mistakes.amounts, "mistakes.amounts", n)
    check_ascends(mistakes.times, "mistakes.times", strictly=True)
    ensure(bool(np.all(mistakes.right != mistakes.wrong)), "a mistake took the right class")
    ensure(bool(np.all(mistakes.amounts > 0)), "a mistaken row was multiplied by no positive number")
