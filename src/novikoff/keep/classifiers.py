"""Models of rows in files: the linear perceptron with the mistakes of a vote, the kernel perceptron, and a lift.

A kernel that is a function cannot be in a file; the caller of `load` passes it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.features.lift import LiftModel
from novikoff.keep.codec import (
    LARGEST,
    ArrayForm,
    Format,
    TypeForm,
    check_arrays,
    check_memory,
    declared_fields,
    ensure,
)
from novikoff.keep.layout import Arrays
from novikoff.learn.class_weights import HEAVIEST, LIGHTEST
from novikoff.learn.kernel.kernels import KERNELS, Entries, KernelFunction, Objects, Vectors
from novikoff.learn.kernel.memory import KernelMemory, KernelModel
from novikoff.learn.linear.memory import LinearModel
from novikoff.learn.linear.vote import Ballot


def _checked(model: Any, may_vote: bool) -> Any:
    """Return a classifier whose memory was checked; its classes, columns, read-out and guesses have to fit, too."""
    memory, classes, encoding, names = model.memory, model.classes, model.encoding, model.feature_names
    n_columns, readout, guesses = memory.n_columns, model.readout, model.mistake_guesses
    ensure("classes are no list of labels", classes.ndim == 1 and len(classes) >= 1)
    ensure("classes are not sorted, or not different", np.all(classes[:-1] < classes[1:]))
    check_memory(memory, model.run)
    weights = memory.class_weights
    if weights is not None:
        check_arrays(memory, class_weights=ArrayForm((len(classes),)))
        ensure("the weights of the classes make no sense", weights.min() >= LIGHTEST, weights.max() <= HEAVIEST)
    ensure("there is to be a vote, and no mistakes were kept for it", readout != "vote" or may_vote)
    same = model.parameters.get("readout", readout) == readout
    ensure("the read-out of the parameters differs from the model's", same)
    ensure("there are not as many names as features", encoding is None or encoding.n_columns == n_columns)
    if names is not None and (encoding is None or not encoding.names_features):
        ensure("there are not as many names as features", len(names) == n_columns)
    if guesses is None:
        return model
    places = {label: place for place, label in enumerate(classes.tolist())}
    return replace(model, mistake_guesses=classes[np.array([places[guess] for guess in guesses], dtype=np.int64)])


def _linear(model: LinearModel) -> LinearModel:
    memory, n_classes = model.memory, len(model.classes)
    width, ballots = memory.weights.shape[-1], memory.ballots
    ensure("there are not as many classes as the weights are for", memory.n_classes == n_classes)
    ensure("the constant is neither 0 nor 1", memory.constant in (0.0, 1.0))
    ensure("the weights have no column for the bias, or too many columns", width >= 1, memory.width <= 2**32)
    of_vectors = ArrayForm((n_classes if n_classes > 2 else 1, width))
    columns = ArrayForm((width - 1,), memory.width, strictly=True)
    check_arrays(memory, weights=of_vectors, drift=of_vectors, columns=columns)
    ensure("there are more mistakes than examples", memory.updates <= memory.examples)
    ensure("the record of mixing is invalid", memory.mixed is None or memory.mixed.fewer <= memory.updates)
    for ballot in ballots or ():
        _check_ballot(ballot, memory)
    if ballots is not None:
        kept = sum(len(ballot.mistakes.rows) for ballot in ballots)
        ensure(f"{kept} mistakes were kept, but {memory.updates} were made", kept == memory.updates)
    return _checked(model, ballots is not None)


def _check_ballot(ballot: Ballot, memory: Any) -> None:
    support, mistakes, n = ballot.support, ballot.mistakes, len(ballot.mistakes.rows)
    ensure("the rows of the vote have other columns", support.n_columns == memory.n_columns)
    of_class = ArrayForm((n,), memory.n_classes)
    check_arrays(
        mistakes,
        rows=ArrayForm((n,), support.n_rows),
        times=ArrayForm((n,), memory.examples, strictly=True),
        right=of_class,
        wrong=of_class,
        amounts=ArrayForm((n,)),
    )
    ensure("a mistake took the right class", np.all(mistakes.right != mistakes.wrong))
    ensure("a mistaken row was multiplied by no positive number", np.all(mistakes.amounts > 0))


LINEAR = Format(LinearModel, _linear)

# -- kernels ----------------------------------------------------------------------------------------------------------


def _read_kernel_form(form: Any, path: str, arrays: Arrays) -> Any:
    ensure("the kernel is unknown", form is None or (isinstance(form, str) and form in KERNELS))
    return form


def _kernel(model: KernelModel) -> KernelModel:
    memory, kernel, budget = model.memory, model.memory.kernel, model.memory.budget
    if kernel.form is None:
        memory.kernel = kernel = replace(kernel, form=model.parameters["kernel"])
    given = callable(model.parameters.get("kernel"))
    ensure("the kernel of the parameters differs from the model's", callable(kernel.form) == given)
    ensure("the numbers of the kernel make no sense", kernel.gamma > 0, kernel.degree >= 1)
    n_classes, support = len(model.classes), len(memory.rows)
    vectors, held = n_classes if n_classes > 2 else 1, support if memory.projector is not None else 0
    ensure("there are not as many classes as the coefficients are for", memory.n_classes == n_classes >= 2)
    check_arrays(
        memory,
        by_class=ArrayForm((vectors,), memory.examples + 1),
        squares=ArrayForm((vectors,)),
        coefficients=ArrayForm((support, vectors)),
        drift=ArrayForm((support, vectors)),
        rows=ArrayForm((support,), LARGEST),
        projector=ArrayForm((support, support)),
        gram=ArrayForm((held, held)),
    )
    _check_support(memory, support)
    ensure("there are more narrow examples than updates", memory.mistakes >= 0)
    ensure("there are more support rows than the budget", budget is None or max(support, 1) <= budget)
    if memory.kept is not None:
        _check_kept(memory, support)
    restored: KernelModel = _checked(model, memory.kept is not None)
    return restored


def _check_support(memory: KernelMemory, support: int) -> None:
    points, n_columns, form = memory.support, memory.n_columns, memory.kernel.form
    n_points = 0 if points is None else len(points)
    ensure("there are not as many support rows as coefficients", n_points == support)
    if points is None:
        return
    of_objects, of_places = isinstance(points, Objects), isinstance(points, Entries)
    ensure("the support has no place", of_places == (form == "precomputed"))
    ensure("objects need a kernel function", not of_objects or callable(form))
    ensure("the number of columns is wrong", (n_columns is None) == of_objects)
    if isinstance(points, Entries):
        check_arrays(points, places=ArrayForm((support,), n_columns or 0), matrix=ArrayForm((0, 0)))
    elif isinstance(points, Vectors):
        check_arrays(points, squares=ArrayForm((support,)))
        ensure("the support rows have another number of columns", points.rows.n_columns == n_columns)


def _check_kept(memory: KernelMemory, support: int) -> None:
    ensure("voting is not supported on a budget", memory.budget is None)
    ensure("the mistakes are in several parts", len(memory.kept or ()) <= 1)
    counts = np.zeros(len(memory.by_class), dtype=np.int64)
    for kept in memory.kept or ():
        n = len(kept.rows)
        check_arrays(
            kept,
            rows=ArrayForm((n,), LARGEST),
            times=ArrayForm((n,), memory.examples, ascends=True),
            classes=ArrayForm((n,), len(counts)),
            signs=ArrayForm((n,)),
            support=ArrayForm((n,), support),
        )
        known = [1.0] if memory.class_weights is None else memory.class_weights
        ensure("a kept mistake has another sign than -1 and +1", np.isin(np.abs(kept.signs), known).all())
        counts = np.bincount(kept.classes, minlength=len(counts))
    ensure("other mistakes were kept than were made", np.array_equal(counts, memory.by_class))


KERNEL = Format(
    KernelModel,
    _kernel,
    forms={
        declared_fields(KernelFunction)["form"]: TypeForm(
            lambda form, path, arrays: form if isinstance(form, str) else None, _read_kernel_form
        ),
    },
)

# -- lifts ------------------------------------------------------------------------------------------------------------


def _lift(lift: LiftModel) -> LiftModel:
    names, n_columns = lift.feature_names, lift.n_columns
    ensure("there are no columns", n_columns >= 1)
    ensure("there are not as many names as columns", names is None or len(names) == n_columns)
    return lift


LIFT = Format(LiftModel, _lift)
