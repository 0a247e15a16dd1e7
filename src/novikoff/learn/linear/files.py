"""Learning from files, and from anything else that comes in batches, in the memory of one block.

The first pass writes the examples, as numbers, to a temporary cache (`novikoff.data.cache`), which every epoch reads.
One epoch in the order given needs no cache: then examples are learned as they are read. Either way the model equals
that of the same rows in the same order in memory, bit for bit.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from novikoff.data.batches import Batch, Width, with_columns
from novikoff.data.examples import Examples
from novikoff.data.held_out import HeldOut
from novikoff.data.labels import LabelCodes, located_errors, sorted_classes
from novikoff.data.narrow import is_too_wide
from novikoff.engine.rows import Rows, longest_square
from novikoff.features.examples import batches_of, cached, check_there_are_two, comes_once, learned_encoding
from novikoff.features.scaling import table_scale
from novikoff.learn.class_weights import sample_weights
from novikoff.learn.epochs import Watcher
from novikoff.learn.fit import Fitted, Space, fit, held_out_part, learn_once, settled
from novikoff.learn.linear.memory import LinearMemory, LinearModel, without_first_column
from novikoff.learn.linear.space import Linear
from novikoff.learn.model import Classifier
from novikoff.learn.run import Stopped
from novikoff.options import Options

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# Default folds visit no more numbers than this; reading costs as much as this many epochs.
MOST_FOLDED, READING = 40_000_000, 10

# The number of epochs for which words and pairs of words are tried.
TRIAL_EPOCHS = 3


def learn_from(
    source: Iterable[Any],
    *,
    classes: ArrayLike | None = None,
    encoding: "Encoding | None" = None,
    cache_folder: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    start: LinearMemory | None = None,
    watch: Watcher | None = None,
    progress: Callable[[Any], None] | None = None,
    space: Space | None = None,
    folds: "Folds | None" = None,
    **options: Any,
) -> Fitted:
    """The perceptron on a reader (see `novikoff.data.read`), on any iterable of batches or of pairs (X, y), or on the
    `Examples` of a cache.

    Labels are those of the source; `classes` may name them beforehand. Records of a table need an `encoding`, which is
    learned in an extra pass, without the held-out rows, if none is given. The cache is written to a folder of its own
    in `cache_folder` (or where temporary files go), and is always removed. The `space` is `Linear` by default. With
    `folds` the record also has the errors of cross-validation; `watch` and `progress` see their runs, too.

    >>> first = ([[-1, 2], [1, 0], [1, 1]], ["blue", "red", "red"])
    >>> second = ([[-1, 0], [-1, -2], [1, -1]], ["blue", "blue", "red"])
    >>> learned = learn_from([first, second], fit_intercept=False, shuffle=False, readout="last")
    >>> learned.memory.weights.tolist(), learned.classes.tolist(), learned.run.mistakes
    ([[3.0, 1.0, 0.0]], ['blue', 'red'], 3)
    """
    asked = Options.of(options, "learn_from")
    part = held_out_part(asked, start)
    asked = replace(asked, held_out=part)
    named = None if classes is None else sorted_classes(classes)
    is_linear = isinstance(space := space or Linear(), Linear)
    scale = table_scale("auto", asked.fit_intercept or not is_linear, asked.readout)
    columns = None if folds is None or encoding is not None else {"scale": scale}
    encoding = learned_encoding(source, encoding, part, scale=scale)
    is_plain = is_linear and not any(x is not None for x in (start, watch, progress, sample_weight, folds))
    if _one_pass_will_do(asked) and is_plain and (named is not None or not comes_once(source)):
        learned = _learn_in_one_pass(source, named, encoding, settled(asked, 1))
        if learned is not None:
            return learned
    check = learnable(asked.fit_intercept)
    with cached(
        source, encoding=encoding, classes=named, check=check, folder=cache_folder, columns=columns
    ) as examples:
        n_columns = max(examples.n_columns, 0 if start is None else start.n_columns)
        weights = sample_weights(sample_weight, examples.n_rows)
        weighted = replace(examples.among(n_columns), weights=examples.weights if weights is None else weights)
        learned = fit(weighted, space, asked, start=start, watch=watch, progress=progress)
        if folds is None or learned.run.stopped is Stopped.INTERRUPTED:
            return learned
        passes = learned.run.epochs + READING if is_linear else examples.n_rows
        errors = folds.judge(weighted, passes, asked, partial(fit, space=space, watch=watch, progress=progress))
        return replace(learned, run=replace(learned.run, **errors))


@dataclass(frozen=True)
class Folds:
    """The number of parts for cross-validation; `told` is called before each.

    By default (`if_quick`), folds are skipped unless they take about a second at most, estimated by the numbers to
    visit: a clock would make records differ.
    """

    number: int = 5
    if_quick: bool = False
    told: Callable[[str], None] = field(default=lambda what: None, repr=False)

    def judge(
        self, examples: Examples, passes: int, options: Options, learn: Callable[..., Fitted]
    ) -> dict[str, tuple[int, ...]]:
        """Rows and errors of every part, as a record has them; nothing if folds are skipped or interrupted."""
        if self.if_quick and not self._are_quick(examples, passes, options):
            return {}
        rows, errors = [], []
        for number, part in enumerate(HeldOut.folds(self.number, options.random_state), start=1):
            self.told(f"learning without part {number} of {self.number}")
            try:
                with examples.without(part) as others:
                    some = replace(others, weights=examples.weights)
                    run = learn(some, options=replace(options, held_out=part, record_mistakes=False)).run
            except KeyboardInterrupt:
                return {}
            except ValueError:
                if not self.if_quick:
                    raise
                return {}  # without one part, the others are too few for these options
            if run.stopped is Stopped.INTERRUPTED:
                return {}
            rows.append(run.held_out_rows)
            errors.append(run.held_out_errors)
        return {"fold_rows": tuple(rows), "fold_errors": tuple(errors)}

    def _are_quick(self, examples: Examples, passes: int, options: Options) -> bool:
        if options.time_limit is not None or options.held_out is not None:
            return False
        return self.number * passes * examples.n_entries <= MOST_FOLDED and min(examples.counts) >= self.number


def choose_words(
    source: Iterable[Any], encoding: "Encoding", held_out: HeldOut | None, fit_intercept: bool, random_state: Any
) -> int:
    """Choose the features of texts: 1 for single words, 2 for pairs of neighbours as well.

    Half of the rows, without those held out, are learned for some epochs, and validated on the others; of equals the
    fewer features win.
    """

    def errors(tried: "Encoding") -> int:
        options = {"fit_intercept": fit_intercept, "random_state": random_state, "lead": 0.0, "max_iter": TRIAL_EPOCHS}
        with cached(source, encoding=tried, check=learnable(fit_intercept)) as examples:
            some = examples if held_out is None else examples.parted(held_out)[0]
            run = fit(some, Linear(), Options(held_out=HeldOut.share(0.5, random_state), **options)).run
            if run.stopped is Stopped.INTERRUPTED:
                raise KeyboardInterrupt
            return int(run.held_out_errors)

    single = encoding.with_single_words()
    return 1 if single is encoding or errors(single) <= errors(encoding) else 2


def model_of(learned: Fitted, parameters: Mapping[str, Any]) -> Classifier:
    """The model that was learned, in any space, with its options."""
    if not hasattr(learned.memory, "kernel"):
        return LinearModel.of(learned, parameters)
    from novikoff.learn.kernel.memory import KernelModel

    return KernelModel.of(learned, parameters)


def learnable(fit_intercept: bool) -> Callable[[Rows], Any]:
    """The check that rows can be learned from: every number is finite, and no length overflows."""
    return lambda rows: longest_square(rows, 1.0 if fit_intercept else 0.0)


# ---------------------------------------------------------------------------------------------------------------------
# In one pass
# ---------------------------------------------------------------------------------------------------------------------


def _one_pass_will_do(options: Options) -> bool:
    """Whether one pass is enough: one epoch in the order given, and nothing to keep or to stop for."""
    once = options.max_iter == 1 and not options.shuffle
    kept = options.readout == "vote" or options.record_mistakes
    limited = any(limit is not None for limit in (options.min_margin, options.time_limit, options.held_out))
    return once and not kept and not limited and not options.early_stopping and options.class_weight is None


def _learn_in_one_pass(
    source: Iterable[Any], classes: NDArray[Any] | None, encoding: "Encoding | None", options: Options
) -> Fitted | None:
    """Learn while reading; None if a class appears that was not known at the start.

    It may not be known yet whether the indices of svmlight text begin with 0: if not, the first column is empty, and is
    dropped at the end.
    """
    labels = LabelCodes(classes)
    is_undecided = encoding is None and getattr(source, "is_undecided", False)
    begin = source.undecided if is_undecided else partial(batches_of, source, encoding)  # type: ignore[attr-defined]
    batches = begin() if classes is not None else _with_two_labels(labels, begin)
    inner = labels.inner()
    memory = LinearMemory.empty(0, len(inner), fit_intercept=options.fit_intercept)
    width, stopped, entries = Width(), Stopped.MAX_ITER, 0
    try:
        for batch in batches:
            with located_errors(batch):
                codes = labels.codes(batch.labels)
                if len(labels.known) > len(inner):
                    return None
                width.add(batch.rows)
                entries += batch.rows.entries.size
                memory = _with_room_for(batch.rows, memory, entries)
                rows = with_columns(batch.rows, memory.n_columns)
                space = Linear()
                memory = learn_once(space.examples(rows, inner[codes], len(inner)), space, options, memory).history
    except KeyboardInterrupt:
        if not memory.examples:
            raise
        stopped = Stopped.INTERRUPTED
    memory = _of_width(memory, width.n_columns)
    if is_undecided and not source.counts_from_zero:  # type: ignore[attr-defined]
        memory = without_first_column(memory)
    if stopped is Stopped.MAX_ITER:
        check_there_are_two(labels, memory.examples)
        stopped = stopped if memory.updates else Stopped.NO_MISTAKES
    counts: dict[str, Any] = {
        "n_rows": memory.examples,
        "order": "given",
        "encoded": encoding is not None and encoding.is_of_table,
        "narrow_per_epoch": (memory.narrow,) if memory.narrow else (),
    }
    run = memory.recorded(options.readout, stopped, (memory.mistakes,), **counts)
    return Fitted(memory, run, labels.classes(), encoding=encoding)


def _with_two_labels(labels: LabelCodes, begin: Callable[[], Iterator[Batch]]) -> Iterator[Batch]:
    """All batches, from the first, once two labels are known: until then there is nothing to learn."""
    n_rows = 0
    for batch in (batches := begin()):
        with located_errors(batch):
            labels.codes(batch.labels)
        if len(labels.known) >= 2:
            return chain([batch], batches) if n_rows == 0 else begin()
        n_rows += batch.rows.n_rows
    check_there_are_two(labels, n_rows)
    return batches


def _with_room_for(rows: Rows, memory: LinearMemory, n_entries: int) -> LinearMemory:
    """A memory with room for the columns of rows; `n_entries` counts the entries so far.

    For sparse rows room is doubled, so that it seldom grows; but not while there are fewer entries than columns.
    """
    n_columns = max(rows.n_columns, memory.n_columns)
    if rows.is_sparse and is_too_wide(n_columns, n_entries, len(memory.weights)):
        return replace(memory.only_touched(), width=n_columns)  # learning makes room for new columns
    memory = memory if memory.columns is None else memory.over_columns(None, memory.n_columns)
    if memory.n_columns == rows.n_columns or (rows.is_sparse and memory.n_columns > rows.n_columns):
        return memory
    return _of_width(memory, max(rows.n_columns, 2 * memory.n_columns) if rows.is_sparse else rows.n_columns)


def _of_width(memory: LinearMemory, n_columns: int) -> LinearMemory:
    """The same memory with another number of columns."""
    return memory.over_columns(None, n_columns) if memory.columns is None else replace(memory, width=n_columns)
