"""The linear perceptron in a file: weights, drift, counts, and the mistakes if there is to be a vote."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.data.strict_json import Fields
from novikoff.keep.expect import (
    Table,
    check_arrays,
    check_ascends,
    check_finite,
    check_within,
    ensure,
    fields,
)
from novikoff.keep.header import (
    Evidence,
    decode_class_weights,
    decode_classes,
    decode_encoding,
    decode_lead,
    decode_parameters,
    decode_run,
    encode_class_weights,
    encode_classes,
    encode_lead,
    encode_parameters,
    encode_run,
)
from novikoff.keep.layout import Arrays, Parts
from novikoff.keep.rows import rows_from_arrays, rows_table, rows_to_arrays
from novikoff.learn.linear.memory import Memory, Mixed
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.linear.vote import Ballot, Mistakes
from novikoff.options import READOUTS, TIES

LEARNER = "Perceptron"
TABLE: Table = {"weights": ("f8", "vectors", "width"), "drift": ("f8", "vectors", "width")}
VOTE: Table = {
    **{f"mistakes.{name}": ("i8", "mistakes") for name in ("rows", "times", "right", "wrong")},
    "mistakes.amounts": ("f8", "mistakes"),
}


def to_parts(model: LinearModel, evidence: Evidence) -> Parts:
    memory = model.memory
    ballot = None if not memory.ballots else Ballot.joined(memory.ballots)
    own = model.encoding is not None and model.encoding.names_features
    names = None if own or model.feature_names is None else list(model.feature_names)
    header = {
        "learner": LEARNER,
        "parameters": encode_parameters(model.parameters),
        "classes": encode_classes(model.classes),
        "feature_names": names,
        "encoding": None if model.encoding is None else model.encoding.to_dict(),
        "run": encode_run(model.record),
        **Evidence.of(model).unless(evidence).to_header(),
        "state": {
            "readout": model.readout,
            "tie": model.tie,
            "eta0": float(model.eta0),
            "fit_intercept": memory.constant == 1.0,
            "examples": memory.examples,
            "mistakes": memory.mistakes,
            "longest": memory.longest,
            "vote": None if memory.ballots is None else _kind_of_vote(ballot),
            "goes_on": model.run is None,
            "n_iter": model.n_iter,
            "classes_are_fixed": model.classes_are_fixed,
            "has_mistake_rows": model.mistake_rows is not None,
            "has_mistake_guesses": model.mistake_guesses is not None,
            "n_columns": None if memory.columns is None else memory.n_columns,
            "mixed": None if memory.mixed is None else [memory.mixed.fewer, memory.mixed.moved],
            "weighted": memory.weighted,
            **encode_lead(memory),
            **encode_class_weights(memory),
        },
    }
    arrays: Arrays = {"weights": memory.weights, "drift": memory.drift}
    if memory.columns is not None:
        arrays["columns"] = memory.columns
    if ballot is not None:
        arrays |= rows_to_arrays(ballot.support, "support")
        arrays |= {name: getattr(ballot.mistakes, name.removeprefix("mistakes.")) for name in VOTE}
    if model.mistake_rows is not None:
        arrays["mistake_rows"] = np.asarray(model.mistake_rows, dtype=np.int64)
    if model.mistake_guesses is not None:
        arrays["mistake_guesses"] = np.searchsorted(model.classes, model.mistake_guesses).astype(np.int64)
    return Parts(header, arrays)


def _kind_of_vote(ballot: Ballot | None) -> str:
    if ballot is None:
        return "no mistakes"
    return "sparse" if ballot.support.is_sparse else "dense"


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> LinearModel:
    header, arrays = fields(parts.header), parts.arrays
    state = header.part("state")
    classes = decode_classes(header, least=1)
    kind = state.optional_choice("vote", ("no mistakes", "dense", "sparse"))
    table = TABLE | ({"mistake_rows": ("i8", "all mistakes")} if state.flag("has_mistake_rows") else {})
    if state.flag("has_mistake_guesses"):
        table = table | {"mistake_guesses": ("i8", "all mistakes")}
    if state.value("n_columns") is not None:  # weights only for the columns that are named
        table = table | {"columns": ("i8", "named columns")}
    if kind in ("dense", "sparse"):
        table = table | VOTE | rows_table("support", kind == "sparse")
    n_classes = len(classes)
    sizes = {"vectors": n_classes if n_classes > 2 else 1}
    if "weights" in arrays and arrays["weights"].ndim == 2:
        sizes["named columns"] = arrays["weights"].shape[1] - 1
        sizes["columns"] = state.whole("n_columns") if "columns" in table else sizes["named columns"]
    check_arrays(arrays, table, sizes)
    encoding = decode_encoding(header)
    own = encoding is not None and encoding.names_features
    names = None if own else header.optional_texts("feature_names")
    memory = _memory(state, arrays, n_classes, kind)
    ensure(encoding is None or encoding.n_columns == memory.n_columns, "there are not as many names as features")
    ensure(names is None or len(names) == memory.n_columns, "there are not as many names as features")
    run = decode_run(header)
    counts = (memory.mistakes, memory.narrow, memory.lead, memory.examples)
    ensure((run.mistakes, run.narrow, run.lead, run.examples) == counts, "the record is that of another model")
    readout, parameters = state.choice("readout", READOUTS), decode_parameters(header, functions)
    ensure(readout != "vote" or memory.ballots is not None, "there is to be a vote, and no mistakes were kept for it")
    ensure(parameters.get("readout", readout) == readout, "the read-out of the parameters is another than the model's")
    return LinearModel(
        memory,
        classes,
        readout=readout,
        tie=state.choice("tie", TIES),
        eta0=state.number("eta0", least=0.0),
        encoding=encoding,
        feature_names=names,
        run=None if state.flag("goes_on") else run,
        **Evidence.from_header(header).to_model(),
        parameters=parameters,
        n_iter=state.whole("n_iter"),
        classes_are_fixed=state.flag("classes_are_fixed"),
        mistake_rows=arrays.get("mistake_rows"),
        mistake_guesses=classes[arrays["mistake_guesses"]] if "mistake_guesses" in arrays else None,
    )


def _memory(state: Fields, arrays: Arrays, n_classes: int, kind: str | None) -> Memory:
    check_finite(arrays, "weights", "drift")
    memory = Memory(
        arrays["weights"],
        arrays["drift"],
        n_classes,
        1.0 if state.flag("fit_intercept") else 0.0,
        state.whole("mistakes"),
        None if kind is None else [],
        examples=state.whole("examples"),
        longest=state.number("longest", least=0.0),
        columns=arrays.get("columns"),
        width=state.whole("n_columns", most=2**32) if "columns" in arrays else 0,
        mixed=_mixed(state),
        **decode_lead(state),
        class_weights=decode_class_weights(state, n_classes),
        weighted=state.flag("weighted"),
    )
    if memory.columns is not None:
        check_within(memory.columns, "columns", memory.n_columns)
        check_ascends(memory.columns, "columns", strictly=True)
    ensure(memory.weights.shape[1] >= 1, "the weights have no column for the bias")
    ensure(memory.updates <= memory.examples, "there are more mistakes than examples")
    ensure(memory.mixed is None or memory.mixed.fewer <= memory.updates, "the record of mixing makes no sense")
    if "mistake_rows" in arrays:
        check_within(arrays["mistake_rows"], "mistake_rows", 2**62)
    if "mistake_guesses" in arrays:
        check_within(arrays["mistake_guesses"], "mistake_guesses", n_classes)
    if memory.ballots is not None:
        if kind != "no mistakes":
            memory.ballots.append(_ballot(arrays, memory, kind == "sparse"))
        kept = sum(len(ballot.mistakes.rows) for ballot in memory.ballots)
        ensure(kept == memory.updates, f"{kept} mistakes were kept, but {memory.updates} were made")
    return memory


def _mixed(state: Fields) -> Mixed | None:
    """How weights were mixed, if they were."""
    if state.value("mixed") is None:
        return None
    numbers = state.each("mixed", lambda value, name: state.as_number(value, name, least=0.0))
    ensure(len(numbers) == 2, "the record of mixing makes no sense")
    return Mixed(*numbers)


def _ballot(arrays: Arrays, memory: Memory, sparse: bool) -> Ballot:
    support = rows_from_arrays(arrays, "support", sparse, memory.n_columns)
    mistakes = Mistakes(*(arrays[name] for name in VOTE))
    check_within(mistakes.rows, "mistakes.rows", support.n_rows)
    check_within(mistakes.times, "mistakes.times", memory.examples)
    check_ascends(mistakes.times, "mistakes.times", strictly=True)
    for name in ("right", "wrong"):
        check_within(getattr(mistakes, name), f"mistakes.{name}", memory.n_classes)
    ensure(bool(np.all(mistakes.right != mistakes.wrong)), "a mistake took the right class")
    check_finite(arrays, "mistakes.amounts")
    ensure(bool(np.all(mistakes.amounts > 0)), "a mistaken row was multiplied by no positive number")
    return Ballot(support, mistakes)
