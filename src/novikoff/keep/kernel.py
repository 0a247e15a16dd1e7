"""The kernel perceptron in a file: support rows, coefficients, and the data that proofs and budgets also need.

A kernel that is a function cannot be in a file; the caller of `load` passes it.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.rows import Csr
from novikoff.keep import checks
from novikoff.keep.checks import ensure, take
from novikoff.keep.classifiers import Functions, read_classifier, write_classifier
from novikoff.keep.codec import Codec, TypeForm
from novikoff.keep.layout import Arrays, FileParts
from novikoff.keep.parameters import needed_function
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.kernel.kernels import KERNELS, GrowingArray, GrowingPoints, KernelFunction
from novikoff.learn.kernel.memory import KernelMemory, KernelMistakes
from novikoff.learn.kernel.model import KernelModel

# The arrays of support rows by their kind.
SUPPORTS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "dense": {"squares": np.float64, "rows": np.float64},
    "sparse": {"squares": np.float64, "values": np.float64, "columns": np.uint64, "pointers": np.uint64},
    "places": {"places": np.int64},
    "objects": {"objects": np.uint8},
}


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


# -- kernels and growing arrays ---------------------------------------------------------------------------------------


def _codec(function: Callable[..., Any] | None) -> Codec:
    """Return the codec for a kernel; `function` is the kernel if that is a function."""
    return Codec(
        {
            KernelFunction: TypeForm(_write_kernel, lambda plain, path, arrays: _read_kernel(plain, function)),
            GrowingArray: TypeForm(_write_growing, _read_growing),
            GrowingPoints: TypeForm(_write_points, _read_points),
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


def _write_growing(values: GrowingArray, path: str, arrays: Arrays) -> None:
    arrays[path] = values.array


def _read_growing(plain: Any, path: str, arrays: Arrays) -> GrowingArray:
    ensure(plain is None, f"{path} is not in the header")
    return GrowingArray.of(take(arrays, path, np.int64 if path == "rows" else np.float64))


def _write_points(support: GrowingPoints, path: str, arrays: Arrays) -> str:
    if support.items:
        arrays[f"{path}.objects"] = encode_names(support.items, "the support")
        return "objects"
    kind = {0: "nothing", 1: "places", 2: "dense", 4: "sparse"}[len(support.parts)]
    arrays |= {f"{path}.{name}": part.array for name, part in zip(SUPPORTS[kind], support.parts, strict=True)}
    return kind


def _read_points(kind: Any, path: str, arrays: Arrays) -> GrowingPoints:
    ensure(isinstance(kind, str) and kind in SUPPORTS, f"the support is {kind!r:.60}")
    parts = [take(arrays, f"{path}.{name}", dtype) for name, dtype in SUPPORTS[kind].items()]
    if kind == "objects":
        return GrowingPoints(items=decode_names(parts[0]))
    return GrowingPoints(list(map(GrowingArray.of, parts)))


# -- consistency ------------------------------------------------------------------------------------------------------


def _check(memory: KernelMemory, n_classes: int) -> bool:
    """Check that the parts of the memory are consistent; return whether it can vote."""
    ensure(n_classes >= 2, "classes are no list of labels")
    ensure(memory.n_classes == n_classes, "there are not as many classes as the coefficients are for")
    vectors, support = n_classes if n_classes > 2 else 1, len(memory.rows.array)
    for name in ("by_class", "squares"):
        checks.shape(getattr(memory, name), name, vectors)
    for name in ("coefficients", "drift"):
        checks.shape(getattr(memory, name).array, name, support, vectors)
    checks.shape(memory.rows.array, "rows", support)
    if memory.projector is not None:
        checks.shape(memory.projector, "projector", support, support)
    _check_support(memory, support)
    checks.within(memory.by_class, "by_class", memory.examples + 1)
    ensure(memory.mistakes >= 0, "there are more narrow examples than updates")
    checks.within(memory.rows.array, "rows", 2**62)
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
    if not points.parts and not points.items:
        ensure(support == 0, "there are not as many support rows as coefficients")
        return
    of_objects, parts = bool(points.items), [part.array for part in points.parts]
    is_function, of_places = callable(memory.kernel.form), len(parts) == 1
    ensure(of_places == (memory.kernel.form == "precomputed"), "the support has no place")
    ensure(not of_objects or is_function, "objects need a kernel function")
    ensure((n_columns is None) == of_objects, "the number of columns is wrong")
    n_points = len(points.items) if of_objects else len(parts[0])
    ensure(n_points == support, "there are not as many support rows as coefficients")
    if parts:
        checks.shape(parts[0], "support", support)
    if of_places:
        checks.within(parts[0], "support.places", n_columns or 0)
    elif len(parts) == 2:
        checks.shape(parts[1], "support.rows", support, n_columns or 0)
    elif len(parts) == 4:
        ensure(len(parts[3]) == support + 1, "there are not as many support rows as coefficients")
        checks.csr(Csr(*parts[1:]), "support", n_columns or 0)
    points.width = n_columns if len(parts) > 1 and n_columns is not None else -1


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
