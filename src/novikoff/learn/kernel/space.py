"""The perceptron in the space of a kernel: the weights are the sum of the mistakes, so products with them are enough.

w = sum a_j phi(x_j) over the mistaken rows x_j, hence <w, phi(x)> = sum a_j K(x_j, x) (Aizerman, Braverman & Rozonoer
1964; Freund & Schapire 1999). `kernel_perceptron` is the batch algorithm, `learn_online` one pass in the order given.
Both are exactly the online algorithm, example by example, but computed in blocks: the kernel of a block against the
support rows is one matrix product, and the block's own kernel matrix serves the sequential part. From the second epoch
on, scores begin where the last epoch left them, so that only the mistakes since then cost anything.

There is no bias. A constant added to the kernel plays that role: K + 1 is the product of examples with one more
coordinate of value 1, and `poly` has its coef0.

With more than two classes each has its own binary perceptron, against the rest. They share the support rows: a row that
some class is mistaken about is kept once, with a coefficient for each class.

*Exactness.* A score is a sum of many kernel values, and the order of summation changes its last digits. Where that
could decide a mistake, the row is scored again: products in column order, their sum exact. So block sizes, and dense
and sparse rows of the same values, make the same mistakes (a user's own kernel function is taken at its word).

*With a budget*, see `novikoff.learn.kernel.budget`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.blocks import stacked
from novikoff.data.examples import Examples, check_labels, class_places
from novikoff.data.held_out import HeldOut
from novikoff.learn.choosing import Lead, check_chosen
from novikoff.learn.class_weights import ClassWeight, class_weights, multiplied_squares
from novikoff.learn.cycles import Cycle
from novikoff.learn.epochs import Limits, Watch, Watcher, check_choices, put_off_interrupt, run
from novikoff.learn.history import Readout, Run, Stopped, Tie
from novikoff.learn.kernel.budget import check_budget
from novikoff.learn.kernel.expansion import Expansion
from novikoff.learn.kernel.kernels import (
    Entries,
    GrowingArray,
    Points,
    Vectors,
    as_points,
    check_finite,
    make_kernel,
)
from novikoff.learn.kernel.memory import BudgetRule, Memory, Mistakes, Numbers
from novikoff.learn.kernel.readout import decide
from novikoff.learn.linear.memory import predicted

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


@dataclass(frozen=True)
class Learned:
    """What `kernel_perceptron` returns: the memory, the record of the run, and the mistakes in order, if asked for.

    The rest is as in the linear space: the labels, sorted, and where the examples come from.
    """

    memory: Memory
    run: Run
    mistakes: Mistakes | None
    classes: NDArray[Any]
    encoding: "Encoding | None" = None
    fingerprint: str | None = None


def kernel_perceptron(
    X: Any,
    y: ArrayLike | None = None,
    *,
    kernel: str | Callable[..., Any] = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 1.0,
    kernel_params: dict[str, Any] | None = None,
    n_classes: int = 2,
    readout: Readout = "average",
    max_epochs: int | None = 10,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = None,
    tie: Tie = "mistake",
    lead: Lead = 0.0,
    min_margin: float | None = None,
    time_limit: float | None = None,
    class_weight: ClassWeight = None,
    validation: float | None = None,
    patience: int = 3,
    budget: int | None = None,
    budget_rule: BudgetRule = "projectron",
    record_mistakes: bool = False,
    held_out: float | HeldOut | None = None,
    watch: Watcher | None = None,
    progress: Callable[[Memory], None] | None = None,
) -> Learned:
    """The batch perceptron with a kernel: epochs until one makes no mistake, or a limit is reached.

    With a `lead` an example is also added if y <w, phi(x)> is at most lead R^2, R^2 being the largest K(x, x) so far;
    every class against the rest has that lead. "auto", `validation` and `patience` are as in the linear space.

    Labels are -1 and +1, or 0, 1, ... with more than two classes. With `min_margin` it stops as soon as ||w||/k is
    below that for some class, which proves that no separator of that class has that margin. After Ctrl-C what was
    learned so far is returned, with `Stopped.INTERRUPTED` in the record. Without y, X is `Examples`, which have labels.

    With `held_out`, that share of the rows, drawn at random, has no say in anything, not even in gamma="scale", and is
    predicted in the end: the record counts the errors.

    A `class_weight` multiplies the examples of every class by a number, as in the linear space: phi(x) becomes
    c phi(x), and R^2 the largest c^2 K(x, x).

    The record counts the mistakes of all classes. Its `errors` are known only after an epoch without a mistake: else a
    look at every row would cost as much as learning did.

    XOR, which no line separates:

    >>> X = [[0, 0], [1, 1], [0, 1], [1, 0]]
    >>> learned = kernel_perceptron(X, [1, 1, -1, -1], kernel="poly", degree=2, gamma=1, readout="last")
    >>> learned.run.stopped.name, learned.run.errors
    ('NO_MISTAKES', 0)
    """
    from novikoff.learn.kernel.chosen import KernelChooser

    check_choices(readout=readout, tie=tie)
    check_chosen(lead, validation, patience)
    limits = Limits(max_epochs, min_margin, time_limit, watch, progress, readout)
    check_budget(budget, budget_rule, readout=readout, min_margin=min_margin, weighted=class_weight is not None)
    examples = X if isinstance(X, Examples) else None
    points, labels, n_classes = _points_and_labels(X, y, kernel, n_classes)
    part = HeldOut.share(held_out, random_state) if isinstance(held_out, int | float) else held_out
    kept, judged = (None, None) if part is None else part.parted(len(points))
    whole, all_labels = points, labels
    if kept is not None:
        points, labels = whole.take(kept), labels[kept]
    form = make_kernel(kernel, points, gamma=gamma, degree=degree, coef0=coef0, params=kernel_params)
    if min_margin is not None and not form.is_definite:
        raise ValueError(
            f"min_margin={min_margin} cannot be ruled out with kernel={kernel!r}: it is not positive definite"
        )
    counts = np.bincount(class_places(labels, n_classes), minlength=n_classes).tolist()
    classes = (
        examples.classes if examples is not None else np.array([-1, 1]) if n_classes == 2 else np.arange(n_classes)
    )
    weights = class_weights(class_weight, classes, counts)
    empty: dict[str, Any] = {"budget": budget, "budget_rule": budget_rule, "class_weights": weights}
    chosen = KernelChooser(
        points=points,
        labels=labels,
        kernel=form,
        n_classes=n_classes,
        readout=readout,
        tie=tie,
        shuffle=shuffle,
        empty=empty,
        random_state=random_state,
        limits=limits,
    ).choose(lead, validation, patience)
    lead, limits = chosen.lead, chosen.limits
    memory = Memory.empty(form, n_classes, vote=readout == "vote", **empty)
    prepare(memory, points, labels)
    task = (memory, points, labels, tie, np.random.default_rng(random_state), record_mistakes, shuffle)
    space = Expansion.of(*task, lead=lead)
    stopped = chosen.reason(run(space, limits))
    space.settle()
    errors = space.errors(readout) if stopped is Stopped.NO_MISTAKES else None
    scaled = gamma == "scale" and not callable(kernel) and kernel not in ("linear", "precomputed")
    encoded = scaled or (examples is not None and examples.is_encoded)
    known = space.counts() | {"errors": errors, "encoded": encoded} | space.epochs.recorded()
    known["margin_at_least"] = memory.margin_at_least(lead) if stopped is Stopped.NO_MISTAKES else 0.0
    mistakes = space.mistakes()
    if kept is not None and judged is not None:
        wrong = predicted(decide(memory, whole.take(judged), readout)) != class_places(all_labels[judged], n_classes)
        known |= {"held_out_rows": len(judged), "held_out_errors": int(wrong.sum())}
        known["cycle"], mistakes = _numbered_again(memory, kept, known["cycle"], mistakes)
    known |= {name: value for name, value in chosen.counts.items() if name != "errors_elsewhere"}
    record = memory.recorded(readout, stopped, n_rows=len(points), **known)
    source = (None, None) if examples is None else (examples.encoding, examples.fingerprint)
    return Learned(memory, record, mistakes, classes, *source)


def _points_and_labels(
    X: Any, y: ArrayLike | None, kernel: str | Callable[..., Any], n_classes: int
) -> tuple[Points, NDArray[Any], int]:
    """Examples as a kernel takes them, their inner labels, and the number of classes."""
    if y is not None:
        points = as_points(X, kernel)
        return points, check_labels(y, len(points), n_classes), n_classes
    if not isinstance(X, Examples):
        raise ValueError("y is missing: without labels, X must be Examples, which have them")
    blocks = list(X.blocks())
    points = as_points(stacked([block.rows for block in blocks]), kernel)
    return points, np.concatenate([block.labels for block in blocks]), len(X.classes)


def _numbered_again(
    memory: Memory, kept: Numbers, cycle: Cycle | None, mistakes: Mistakes | None
) -> tuple[Cycle | None, Mistakes | None]:
    """Give support rows and mistakes the numbers that they have among all rows, those held out included."""
    memory.rows = GrowingArray.of(kept[memory.rows.array])
    if memory.kept is not None:
        memory.kept = [replace(part, rows=kept[part.rows]) for part in memory.kept]
    if cycle is not None:
        cycle = replace(cycle, rows=tuple(kept[list(cycle.rows)].tolist()))
    return cycle, None if mistakes is None else replace(mistakes, rows=kept[mistakes.rows])


def learn_online(
    memory: Memory,
    X: Any,
    y: ArrayLike,
    *,
    tie: Tie = "mistake",
    lead: float = 0.0,
    random_state: int | np.random.Generator | None = None,
    record_mistakes: bool = False,
) -> Mistakes | None:
    """Learn the rows in the order given, once, into `memory`. The random state is for the budget rule `random`.

    If anything is wrong with rows or labels, `memory` is not changed; what comes out of a kernel can be wrong later, so
    hand in a `copy` to be safe. A precomputed matrix cannot be learned in parts: rows to come have no products with
    those before.
    """
    check_choices(tie=tie, lead=lead)
    if memory.kernel.form == "precomputed":
        raise ValueError(
            'kernel="precomputed" cannot learn in parts: a matrix of new rows has no products with those learned '
            "before; call fit with the whole matrix, or pass the kernel as a function"
        )
    points = as_points(X, memory.kernel.form)
    labels = check_labels(y, len(points), memory.n_classes)
    so_far = memory.longest
    prepare(memory, points, labels)
    task = (memory, points, labels, tie, np.random.default_rng(random_state), record_mistakes)
    space = Expansion.of(*task, lead=lead, so_far=so_far)
    with put_off_interrupt():
        space.learn(Watch())
        space.settle()
    return space.mistakes()


def prepare(memory: Memory, points: Points, labels: NDArray[Any]) -> None:
    """Learn what must be known of the rows before the first is visited: their width, R^2, what rounding may do."""
    n_columns: int | None = None
    if isinstance(points, Vectors):
        n_columns = points.rows.n_columns
    elif isinstance(points, Entries):
        n_columns = points.matrix.shape[1]
    if memory.examples and memory.n_columns != n_columns:
        raise ValueError(f"X has {n_columns} columns, but the support rows were learned on {memory.n_columns}")
    diagonal = memory.kernel.diagonal(points)
    check_finite(diagonal[None])
    if memory.kernel.is_definite and diagonal.min(initial=0.0) < 0:
        row = int(np.argmin(diagonal))
        raise ValueError(f"K(x, x) is {diagonal[row]:.6g} in row {row}: this is no positive semidefinite kernel")
    memory.n_columns = n_columns
    memory.doubt = max(memory.doubt, memory.kernel.doubt(points))
    squares = multiplied_squares(diagonal, memory.class_weights, class_places(labels, memory.n_classes))
    memory.longest = max(memory.longest, float(squares.max(initial=0.0)))
