"""The kernel perceptron in a file: support rows, coefficients, and what proofs and budgets need beside them.

A kernel that is a function cannot be in a file; whoever loads such a model brings it.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.data.strict_json import Fields
from novikoff.engine.rows import Csr
from novikoff.keep.expect import Table, check_arrays, check_ascends, check_finite, check_within, ensure, fields
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
    needed_function,
)
from novikoff.keep.layout import Arrays, Parts
from novikoff.keep.rows import check_csr
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.kernel.budget import BUDGET_RULES
from novikoff.learn.kernel.kernels import KERNELS, GrowingArray, GrowingPoints, Kernel
from novikoff.learn.kernel.memory import Memory, Mistakes
from novikoff.learn.kernel.model import KernelModel
from novikoff.options import READOUTS

LEARNER = "KernelPerceptron"
TABLE: Table = {
    "mistakes": ("i8", "vectors"),
    "squares": ("f8", "vectors"),
    "damage": ("f8", "vectors"),
    "coefficients": ("f8", "support", "vectors"),
    "drift": ("f8", "support", "vectors"),
    "rows": ("i8", "support"),
    "gram": ("f8", "held", "held"),
}
VOTE: Table = {
    "kept.rows": ("i8", "kept"),
    "kept.times": ("i8", "kept"),
    "kept.classes": ("i8", "kept"),
    "kept.signs": ("f8", "kept"),
    "kept.support": ("i8", "kept"),
}
SUPPORTS: dict[str, Table] = {
    "nothing": {},
    "dense": {"support.squares": ("f8", "support"), "support.rows": ("f8", "support", "columns")},
    "sparse": {
        "support.squares": ("f8", "support"),
        "support.values": ("f8", "entries"),
        "support.columns": ("u8", "entries"),
        "support.pointers": ("u8", "support + 1"),
    },
    "places": {"support.places": ("i8", "support")},
    "objects": {"support.objects": ("u1", "bytes")},
}


# ---------------------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------------------


def to_parts(model: KernelModel, evidence: Evidence) -> Parts:
    memory = model.memory
    kind, support = _support_to_arrays(memory.support)
    arrays = {
        "mistakes": memory.by_class,
        "squares": memory.squares,
        "damage": memory.damage,
        "coefficients": memory.coefficients.array,
        "drift": memory.drift.array,
        "rows": memory.rows.array,
        "gram": memory.gram,
        **support,
    }
    if memory.kept is not None:
        kept = Mistakes.joined(memory.kept)
        arrays |= {name: getattr(kept, name.removeprefix("kept.")) for name in VOTE}
    if memory.projector is not None:
        arrays["projector"] = memory.projector
    if model.mistake_rows is not None:
        arrays["mistake_rows"] = np.asarray(model.mistake_rows, dtype=np.int64)
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
        "state": _state(model, kind),
    }
    return Parts(header, arrays)


def _state(model: KernelModel, kind: str) -> dict[str, Any]:
    memory, kernel = model.memory, model.memory.kernel
    return {
        "readout": model.readout,
        "kernel": {
            "form": kernel.form if isinstance(kernel.form, str) else None,
            "gamma": kernel.gamma,
            "degree": kernel.degree,
            "coef0": kernel.coef0,
            "params": encode(kernel.params, "kernel_params"),
        },
        "support": kind,
        "n_columns": memory.n_columns,
        "examples": memory.examples,
        "passes": memory.passes,
        "longest": float(memory.longest),
        "largest": float(memory.largest),
        "doubt": float(memory.doubt),
        "budget": None if memory.budget is None else int(memory.budget),
        "budget_rule": memory.budget_rule,
        "rounds": memory.rounds,
        "since": memory.since,
        "vote": memory.kept is not None,
        "is_projected": memory.projector is not None,
        "goes_on": model.run is None,
        "n_iter": model.n_iter,
        "has_mistake_rows": model.mistake_rows is not None,
        **encode_lead(memory),
        **encode_class_weights(memory),
    }


def _support_to_arrays(support: GrowingPoints) -> tuple[str, Arrays]:
    if support.items:
        return "objects", {"support.objects": encode_names(support.items, "the support")}
    kind = {0: "nothing", 1: "places", 2: "dense", 4: "sparse"}[len(support.parts)]
    return kind, {name: part.array for name, part in zip(SUPPORTS[kind], support.parts, strict=True)}


# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> KernelModel:
    header, arrays = fields(parts.header), parts.arrays
    needed_function(header, "kernel", functions)
    state = header.part("state")
    classes = decode_classes(header)
    kind = state.choice("support", tuple(SUPPORTS))
    table = TABLE | SUPPORTS[kind]
    for name, more in (
        ("vote", VOTE),
        ("is_projected", {"projector": ("f8", "support", "support")}),
        ("has_mistake_rows", {"mistake_rows": ("i8", "all mistakes")}),
    ):
        table = table | (more if state.flag(name) else {})
    vectors = len(classes) if len(classes) > 2 else 1
    sizes = check_arrays(arrays, table, {"vectors": vectors})
    check_finite(arrays, *(name for name, array in arrays.items() if array.dtype.kind == "f"))
    memory = _memory(state, arrays, kind, functions.get("kernel"))
    memory.n_classes = len(classes)
    memory.class_weights = decode_class_weights(state, len(classes))
    _check(memory, arrays, kind, sizes)
    encoding = decode_encoding(header)
    own = encoding is not None and encoding.names_features
    names = None if own else header.optional_texts("feature_names")
    ensure(encoding is None or encoding.n_columns == memory.n_columns, "there are not as many names as features")
    ensure(names is None or len(names) == memory.n_columns, "there are not as many names as features")
    run = decode_run(header, most_mistakes=vectors)
    readout, parameters = state.choice("readout", READOUTS), decode_parameters(header, functions)
    ensure(readout != "vote" or memory.kept is not None, "there is to be a vote, and no mistakes were kept for it")
    ensure(parameters.get("readout", readout) == readout, "the read-out of the parameters is another than the model's")
    return KernelModel(
        memory,
        classes,
        readout=readout,
        encoding=encoding,
        feature_names=names,
        run=None if state.flag("goes_on") else run,
        **Evidence.from_header(header).to_model(),
        parameters=parameters,
        n_iter=state.whole("n_iter"),
        mistake_rows=arrays.get("mistake_rows"),
    )


def _memory(state: Fields, arrays: Arrays, kind: str, function: Callable[..., Any] | None) -> Memory:
    return Memory(
        _kernel(state.part("kernel"), function),
        2,
        arrays["mistakes"],
        arrays["squares"],
        GrowingArray.of(arrays["coefficients"]),
        GrowingArray.of(arrays["drift"]),
        _growing_points(arrays, kind),
        GrowingArray.of(arrays["rows"]),
        examples=state.whole("examples"),
        passes=state.whole("passes"),
        longest=state.number("longest", least=0.0),
        largest=state.number("largest", least=0.0),
        doubt=state.number("doubt", least=0.0),
        n_columns=None if state.value("n_columns") is None else state.whole("n_columns"),
        kept=[Mistakes(*(arrays[name] for name in VOTE))] if state.flag("vote") else None,
        budget=None if state.value("budget") is None else state.whole("budget", least=1),
        budget_rule=state.choice("budget_rule", tuple(BUDGET_RULES)),
        gram=arrays["gram"],
        projector=arrays.get("projector"),
        damage=arrays["damage"],
        rounds=state.whole("rounds"),
        since=state.whole("since"),
        **decode_lead(state),
    )


def _kernel(plain: Fields, function: Callable[..., Any] | None) -> Kernel:
    name = plain.optional_choice("form", KERNELS)
    ensure((name is None) == (function is not None), "the kernel of the parameters is another than that of the model")
    params = decode(plain.value("params"))
    ensure(params is None or isinstance(params, dict), "kernel_params is no dictionary")
    return Kernel(
        function or name or "",
        plain.number("gamma", least=math.ulp(0.0)),
        plain.whole("degree", least=1),
        plain.number("coef0", least=-math.inf),
        params,
    )


def _growing_points(arrays: Arrays, kind: str) -> GrowingPoints:
    if kind == "objects":
        return GrowingPoints(items=decode_names(arrays["support.objects"]))
    support = GrowingPoints([GrowingArray.of(arrays[name]) for name in SUPPORTS[kind]])
    if kind == "dense":
        support.width = arrays["support.rows"].shape[1]
    return support


def _check(memory: Memory, arrays: Arrays, kind: str, sizes: Mapping[str, int]) -> None:
    """Whether the parts fit together, so that neither a kernel nor a proof is led astray."""
    ensure(math.isfinite(memory.kernel.coef0), "coef0 is not finite")
    support = sizes["support"]
    made = {"dense": support, "sparse": support, "places": support, "objects": len(memory.support.items)}
    ensure(made.get(kind, 0) == support, "there are not as many support rows as coefficients")
    ensure((kind == "places") == (memory.kernel.form == "precomputed") or kind == "nothing", "the support has no place")
    ensure(kind != "objects" or callable(memory.kernel.form), "objects need a kernel function")
    ensure((memory.n_columns is None) == (kind == "objects") or kind == "nothing", "the number of columns is wrong")
    if kind in ("dense", "sparse"):
        memory.support.width = memory.n_columns or 0
        ensure(kind == "sparse" or sizes["columns"] == memory.n_columns, "the support rows have other columns")
    if kind == "sparse":
        ensure(sizes["support + 1"] == support + 1, "there are not as many support rows as coefficients")
        check_csr(Csr(*(arrays[name] for name in list(SUPPORTS["sparse"])[1:])), "support", memory.n_columns or 0)
    if kind == "places":
        check_within(arrays["support.places"], "support.places", memory.n_columns or 0)
    check_within(memory.by_class, "mistakes", memory.examples + 1)
    ensure(memory.mistakes >= 0, "there are more narrow examples than updates")
    check_within(memory.rows.array, "rows", 2**62)
    ensure(memory.since <= memory.examples, "the average begins after the last example")
    held = support if memory.budget is not None else 0
    ensure(sizes["held"] == held and held <= (memory.budget or 0), "the products of the support rows are not those")
    if memory.kept is not None:
        _check_kept(memory, memory.kept[0], support)


def _check_kept(memory: Memory, kept: Mistakes, support: int) -> None:
    ensure(memory.budget is None, "there is no vote on a budget")
    check_within(kept.support, "kept.support", support)
    check_within(kept.classes, "kept.classes", len(memory.by_class))
    check_within(kept.times, "kept.times", memory.examples)
    check_ascends(kept.times, "kept.times", strictly=False)
    check_within(kept.rows, "kept.rows", 2**62)
    known = [1.0] if memory.class_weights is None else memory.class_weights
    ensure(bool(np.isin(np.abs(kept.signs), known).all()), "a kept mistake has another sign than -1 and +1")
    counts = np.bincount(kept.classes, minlength=len(memory.by_class))
    ensure(np.array_equal(counts, memory.by_class), "other mistakes were kept than were made")
