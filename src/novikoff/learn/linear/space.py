"""The perceptron of the notes: on a mistake, add the example. Nothing here needs scikit-learn.

With more than two classes Kesler's construction applies: add the example to the weights of its class, subtract it from
those of the best other class. Each such step is a binary mistake on a vector of length sqrt(2) ||x||, hence the bound
2 (R/gamma)^2, with gamma the smallest lead of the right class over another under weights with ||W|| = 1 (Frobenius).

With `lead` = tau an example is also added if it is right by no more than tau R^2, or 2 tau R^2 ahead of its rival: R is
the longest example so far, this one included. Then there are at most (1 + 2 tau) (R/gamma)^2 updates (twice as many),
and weights that leave none have a margin of at least gamma tau/(1 + 2 tau)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Examples
from novikoff.engine.rows import Rows, as_rows, longest_square
from novikoff.learn.class_weights import ExampleWeights, class_weights, sample_weights
from novikoff.learn.epochs import Watcher
from novikoff.learn.fit import Fitted, Space, fit, given_examples, learn_once
from novikoff.learn.linear.learner import LinearLearner
from novikoff.learn.linear.memory import LinearMemory, columns_to_keep
from novikoff.options import Options, Tie


@dataclass(frozen=True)
class Linear(Space):
    """The space of the linear perceptron: examples are added coordinate by coordinate.

    `weights` are the class weights, if any.
    """

    weights: ExampleWeights = None

    def examples(self, X: Any, y: Any, classes: int | NDArray[Any], weights: Any = None) -> Examples:
        known, n_classes = (None, classes) if isinstance(classes, int) else (classes, len(classes))
        examples = Examples.in_blocks([(as_rows(X, any_order=True).without_repeats(), y)], n_classes, known)
        return examples if weights is None else replace(examples, weights=weights)

    def taken(self, examples: Examples, options: Options) -> Examples:
        chooses = options.lead == "auto" or options.early_stopping or options.held_out is not None
        if chooses and isinstance(examples.parts, list) and examples.n_blocks == 1:  # holding rows out renumbers them
            longest_square(examples.block(0).rows, float(options.fit_intercept))  # raises an error that names a number
        return examples

    def over(self, examples: Examples, options: Options) -> "Linear":
        return Linear(class_weights(options.class_weight, examples.classes, examples.counts))

    def learner(self, examples: Examples, options: Options, memory: LinearMemory | None = None) -> LinearLearner:
        vote = options.readout == "vote"
        if memory is None:
            n_columns, n_classes, fit_intercept = examples.n_columns, len(examples.classes), options.fit_intercept
            columns = columns_to_keep(_rows_of(examples), n_columns, examples.n_entries, n_classes)
            memory = LinearMemory.empty(n_columns, n_classes, fit_intercept=fit_intercept, vote=vote, columns=columns)
            memory.class_weights = self.weights
            return LinearLearner(examples, memory, options)
        _check_goes_on(memory, examples.n_columns, vote, self.weights)
        return LinearLearner(examples, memory.with_room_for(_rows_of(examples)), options)


def perceptron(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_classes: int = 2,
    classes: NDArray[Any] | None = None,
    sample_weight: Any = None,
    start: LinearMemory | None = None,
    watch: Watcher | None = None,
    progress: Callable[[LinearMemory], None] | None = None,
    **options: Any,
) -> Fitted:
    """The batch perceptron: epochs until one makes no mistake. The options are those of `novikoff.options`.

    Labels are -1 and +1, or 0, 1, ... with more than two classes, which may have names, `classes`. Without y, X is
    `Examples`, which have labels; one block of them is in use at a time. With `shuffle` the blocks come in random
    order, and the rows of each, too. `start`, `watch` and `progress` are those of `fit`. `docs/theory/lead.md` has the
    proofs for a `lead`. Weights multiply examples before they are learned, and all proofs refer to the products.

    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> learned = perceptron(X, [-1, 1, 1, -1, -1, 1], fit_intercept=False, shuffle=False, readout="last")
    >>> learned.memory.weights.tolist()
    [[3.0, 1.0, 0.0]]
    >>> learned.run.mistakes, learned.run.stopped.name
    (3, 'NO_MISTAKES')
    """
    examples = given_examples(Linear(), X, y, n_classes if classes is None else classes)
    if sample_weight is not None:
        examples = replace(examples, weights=sample_weights(sample_weight, examples.n_rows))
    return fit(examples, Linear(), Options.of(options, "perceptron"), start=start, watch=watch, progress=progress)


def _rows_of(examples: Examples) -> Iterator[Rows]:
    return (block.rows for block in examples.blocks())


def learn_online(memory: LinearMemory, X: Any, y: ArrayLike, *, tie: Tie = "mistake", lead: float = 0.0) -> None:
    """Learn the rows in the order given, once, into `memory`. If anything is wrong with them, nothing is changed."""
    options = Options(tie=tie, lead=lead)
    learn_once(Linear().examples(X, y, memory.n_classes), Linear(), options, memory)


def grow(memory: LinearMemory, places: list[int], n_classes: int) -> LinearMemory:
    """The same memory with room for more classes; the old ones move to `places` in the new order.

    Two classes share one weight vector w; apart, they have -w and +w. A new class has the weights 0, now and in the
    past, so averages need no correction.
    """
    constant, columns = memory.constant == 1.0, memory.columns
    grown = LinearMemory.empty(memory.n_columns, n_classes, fit_intercept=constant, columns=columns)
    for old, new in ((memory.weights, grown.weights), (memory.drift, grown.drift)):
        if n_classes > 2 and memory.n_classes == 2:
            new[places] = np.vstack([-old, old])
        elif memory.n_classes > 2:
            new[places] = old
    if memory.ballots is not None:
        grown.ballots = [replace(part, mistakes=part.mistakes.renamed(places)) for part in memory.ballots]
    if memory.class_weights is not None:
        raise ValueError("class_weight needs to know all classes; name them by classes= on the first partial_fit")
    for name in ("examples", "mistakes", "narrow", "lead", "longest", "mixed"):
        setattr(grown, name, getattr(memory, name))
    return grown


def _check_goes_on(memory: LinearMemory, n_columns: int, vote: bool = False, weights: ExampleWeights = None) -> None:
    if n_columns != memory.n_columns:
        raise ValueError(f"X has {n_columns} columns, but the weights were learned on {memory.n_columns}")
    if weights is not None and (memory.class_weights is None or (weights != memory.class_weights).any()):
        raise ValueError("class_weight cannot change while learning goes on; start again with other weights")
    if vote and memory.ballots is None:
        raise ValueError('a vote needs all mistakes, and earlier ones were not kept: start again with readout="vote"')
