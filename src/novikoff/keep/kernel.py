"""The kernel perceptron in a file: support rows, coefficients, and the data that proofs and budgets also need.

A kernel that is a function cannot be in a file; the caller of `load` passes it.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.rows import Rows
from novikoff.keep import checks
from novikoff.keep.checks import ensure, take
from novikoff.keep.classifiers import Functions, read_classifier, write_classifier
from novikoff.keep.codec import ROWS, Codec, TypeForm
from novikoff.keep.layout import Arrays, FileParts
from novikoff.keep.parameters import needed_function
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.kernel.kernels import KERNELS, Entries, KernelFunction, Objects, Points, Vectors
from novikoff.learn.kernel.memory import KernelMemory, KernelMistakes, KernelModel

OF_ROWS = Codec({Rows: ROWS})


def to_parts(model: KernelModel) -> FileParts:
    memory = model.memory
    if memory.kept is not None:
        memory = replace(memory, kept=[KernelMistakes.joined(memory.kept)])
    return write_classifier(model, memory, _codec(None))


def from_parts(parts: FileParts, functions: Functions) -> KernelModel:
    needed_function(parts.header, "kernel", functions)
    codec = _codec(functions.get("kernel"))
    model: KernelModel = read_classifier(KernelModel, parts, functions, codec, _check)
    return model


# -- kernels and support rows ------------------------------------------------------------------------------------------


def _codec(function: Callable[..., Any] | None) -> Codec:
    """Return the codec for a kernel; `function` is the kernel if that is a function."""
    return Codec(
        {
            KernelFunction: TypeForm(_write_kernel, lambda plain, path, arrays: _read_kernel(plain, function)),
            Points: TypeForm(_write_points, _read_points),
        }
    )


def _write_kernel(kernel: KernelFunction, path: str, arrays: Arrays) -> dict[str, Any]:
    form = kernel.form if isinstance(kernel.form, str) else None
    numbers = {"gamma": float(kernel.gamma), "degree": int(kernel.degree), "coef0": float(kernel.coef0)}
    return {"form": form, **numbers, "params": encode(kernel.params, "kernel_params")}


def _read_kernel(plain: Any, function: Callable[..., Any] | None) -> KernelFunction:
    ensure(isinstance(plain, dict) and len(plain) == 5, "there is no kernel")
    form, gamma, degree, coef0 = (plain[name] for name in ("form", "gamma", "degree", "coef0"))
    ensure((form is None) == (function is not None), "the kernel of the parameters differs from the model's")
    ensure(form is None or form in KERNELS, "the kernel is unknown")
    ensure(type(gamma) is float and 0.0 < gamma < math.inf, "gamma is not positive")
    ensure(type(degree) is int and 1 <= degree <= 2**62, "the degree must be an integer of at least 1")
    ensure(type(coef0) is float and math.isfinite(coef0), "coef0 is not finite")
    params = decode(plain["params"])
    ensure(params is None or isinstance(params, dict), "kernel_params is not a dictionary")
    return KernelFunction(function or form, gamma, degree, coef0, params)


def _write_points(support: Points, path: str, arrays: Arrays) -> dict[str, Any]:
    if isinstance(support, Objects):
        arrays[f"{path}.objects"] = encode_names(support.items, "the support")
        return {"kind": "objects"}
    if isinstance(support, Entries):
        arrays[f"{path}.places"] = support.places
        return {"kind": "places"}
    return {"kind": "rows", **OF_ROWS.write_fields(support, arrays, path)}


def _read_points(plain: Any, path: str, arrays: Arrays) -> Points:
    ensure(isinstance(plain, dict) and "kind" in plain, "there is no support")
    kind, others = plain["kind"], {name: value for name, value in plain.items() if name != "kind"}
    ensure(kind in ("rows", "places", "objects"), f"the support is {kind!r:.60}")
    if kind == "rows":
        vectors: Points = OF_ROWS.read(Vectors, others, arrays, path)
        return vectors
    ensure(not others, "the support has unknown fields")
    if kind == "objects":
        return Objects(decode_names(take(arrays, f"{path}.objects", np.uint8)))
    return Entries(np.empty((0, 0)), take(arrays, f"{path}.places", np.int64))


# -- consistency ------------------------------------------------------------------------------------------------------


def _check(memory: KernelMemory, n_classes: int) -> bool:
    """Check that the parts of the memory are consistent; return whether it can vote."""
    ensure(n_classes >= 2, "classes are no list of labels")
    ensure(memory.n_classes == n_classes, "there are not as many classes as the coefficients are for")
    vectors, support = n_classes if n_classes > 2 else 1, len(memory.rows)
    for name in ("by_class", "squares"):
        checks.shape(getattr(memory, name), name, vectors)
    for name in ("coefficients", "drift"):
        checks.shape(getattr(memory, name), name, support, vectors)
    checks.shape(memory.rows, "rows", support)
    if memory.projector is not None:
        checks.shape(memory.projector, "projector", support, support)
    _check_support(memory, support)
    checks.within(memory.by_class, "by_class", memory.examples + 1)
    ensure(memory.mistakes >= 0, "there are more narrow examples than updates")
    checks.within(memory.rows, "rows", 2**62)
    ensure(memory.budget is None or memory.budget >= 1, "the budget must be an integer of at least 1")
    ensure(memory.budget is None or support <= memory.budget, "there are more support rows than the budget")
    held = support if memory.projector is not None else 0
    ensure(memory.gram.shape == (held, held), "the products of the support rows differ")
    if memory.kept is not None:
        ensure(len(memory.kept) == 1, "the mistakes are in several parts")
        _check_kept(memory, memory.kept[0], support)
    return memory.kept is not None


def _check_support(memory: KernelMemory, support: int) -> None:
    points, n_columns = memory.support, memory.n_columns
    ensure((0 if points is None else len(points)) == support, "there are not as many support rows as coefficients")
    if points is None:
        return
    of_objects, of_places = isinstance(points, Objects), isinstance(points, Entries)
    ensure(of_places == (memory.kernel.form == "precomputed"), "the support has no place")
    ensure(not of_objects or callable(memory.kernel.form), "objects need a kernel function")
    ensure((n_columns is None) == of_objects, "the number of columns is wrong")
    if isinstance(points, Entries):
        checks.shape(points.places, "support", support)
        checks.within(points.places, "support.places", n_columns or 0)
    elif isinstance(points, Vectors):
        checks.shape(points.squares, "support", support)
        ensure(points.rows.n_columns == n_columns, "the support rows have another number of columns")


def _check_kept(memory: KernelMemory, kept: KernelMistakes, support: int) -> None:
    ensure(memory.budget is None, "voting is not supported on a budget")
    ends = {"support": support, "classes": len(memory.by_class), "times": memory.examples, "rows": 2**62}
    for name, end in ends.items():
        checks.shape(getattr(kept, name), f"kept.{name}", len(kept.rows))
        checks.within(getattr(kept, name), f"kept.{name}", end)
    checks.shape(kept.signs, "kept.signs", len(kept.rows))
    checks.ascends(kept.times, "kept.times", strictly=False)
    known = [1.0] if memory.class_weights is None else memory.class_weights
    ensure(bool(np.isin(np.abs(kept.signs), known).all()), "a kept mistake has another sign than -1 and +1")
    counts = np.bincount(kept.classes, minlength=len(memory.by_class))
    ensure(np.array_equal(counts, memory.by_class), "other mistakes were kept than were made")
