"""The one way to learn: hold rows out, choose lead and epochs, run the epochs, count, and record.

Estimators, readers, the command line, shards and the lab all end here. Learners differ only in the space in which
examples are added. Examples can be `parted` into those to learn and those to validate on; what else they are depends on
the space.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from novikoff.engine.clock import now
from novikoff.learn.epochs import Learner, Watch, Watcher, put_off_interrupt, run
from novikoff.learn.run import Run, Stopped
from novikoff.options import Options, epochs_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from novikoff.data.held_out import HeldOut


class Parted:
    """Examples in memory that can be parted, given how to take `some` of them; an error calls each a `row`."""

    row: ClassVar[str] = "row"

    @property
    def n_rows(self) -> int:
        raise NotImplementedError

    def some(self, which: "NDArray[Any]") -> Any:
        raise NotImplementedError

    def parted(self, part: "HeldOut") -> tuple[Any, Any]:
        """The examples to learn, and those held out."""
        kept, held = map(self.some, part.parted(self.n_rows, self.row))
        return kept, held


class Space:
    """The space in which examples are added: coordinates, a kernel's space, label sequences, any structure, shards.

    `record` is the class of the record; `leads` says whether the rows choose the lead if it is "auto", else that is 0.
    """

    record: ClassVar[type[Run]] = Run
    leads: ClassVar[bool] = True

    @property
    def shards(self) -> int:
        """The number of learners whose weights are mixed."""
        return 1

    def examples(self, X: Any, y: Any, classes: Any, weights: Any = None) -> Any:
        """Rows with inner labels, as this space takes them; classes, or how many there are."""
        raise NotImplementedError

    def taken(self, examples: Any, options: Options) -> Any:
        """Examples as this space takes them, checked before any are held out."""
        return examples

    def over(self, examples: Any, options: Options) -> "Space":
        """The same space, with what all trials and the run share: class weights, a kernel's width."""
        return self

    def learner(self, examples: Any, options: Options, memory: Any = None) -> Learner:
        """A learner of the examples into a memory, or a new one."""
        raise NotImplementedError


@dataclass(frozen=True)
class Fitted:
    """What was learned: the memory, the record of the run, and, if requested, its mistakes in order.

    `classes` are the labels, sorted; of two, the second is +1. `encoding` says how records became numbers, if they were
    records. `fingerprint` is a SHA-256 of the examples in order, if they came from a cache.
    """

    memory: Any
    run: Any
    classes: Any = None
    mistakes: Any = None
    encoding: Any = None
    fingerprint: str | None = None


def fit(
    examples: Any,
    space: Space,
    options: Options,
    *,
    start: Any = None,
    watch: Watcher | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Fitted:
    """Learn examples, epoch by epoch, until one makes no mistake or a limit is reached.

    Theorem (Block 1962, Novikoff 1962): with examples of length at most R that some unit vector separates with margin
    gamma, there are at most (R/gamma)^2 mistakes, in any order.

    Rows of `options.held_out` are not used for training; the errors on them are counted at the end. With `start`,
    learning continues from that memory, which is not changed. `watch` is called with the history between epochs, and
    may return a reason to stop; `progress` is called more often, and may not. Ctrl-C ends the run, not the program.
    """
    part, examples = held_out_part(options, start), space.taken(examples, options)
    learned, judged = (examples, None) if part is None else examples.parted(part)
    space = space.over(learned, options)
    options = settled(options, learned.n_rows, leads=space.leads, start=start)
    chosen, of_choice = options, dict[str, Any]()
    if options.lead == "auto" or options.early_stopping:
        chosen, of_choice = choose(learned, options, space)
    learner = space.learner(learned, chosen, None if start is None else start.copy())
    learner.one_by_one = options.tol is not None
    stopped = run(learner, chosen, watch, progress)
    if stopped is Stopped.MAX_ITER and chosen.max_iter != options.max_iter:
        stopped = Stopped.VALIDATION
    learner.settle()
    counts = learner.counts(options.readout, stopped)
    if start is not None:  # the rows may have been learned before, and say nothing about new ones
        of_the_space = {part.name for part in fields(space.record)} - {part.name for part in fields(Run)}
        counts = {name: value for name, value in counts.items() if name in of_the_space | {"errors"}}
    counts |= {**of_choice, **learner.epochs.recorded()}
    if stopped is Stopped.NO_MISTAKES:
        counts["margin_at_least"] = learner.history.margin_at_least(float(chosen.lead))
    mistakes = learner.mistakes()
    if judged is not None and part is not None:
        wrong = learner.wrong(judged, options.readout)
        counts |= {"held_out_rows": judged.n_rows, "held_out_errors": int(sum(wrong))}
        mistakes = _numbered_again(learner, part, examples.n_rows, counts, mistakes)
    record = learner.history.recorded(options.readout, stopped, n_rows=learned.n_rows, kind=space.record, **counts)
    classes, encoding, fingerprint = (getattr(examples, name, None) for name in ("classes", "encoding", "fingerprint"))
    return Fitted(learner.history.finished(), record, classes, mistakes, encoding, fingerprint)


def given_examples(space: Space, X: Any, y: Any, classes: Any) -> Any:
    """Examples as they are, or rows with their labels."""
    if y is not None:
        return space.examples(X, y, classes)
    if not hasattr(X, "n_rows"):
        raise ValueError("y is missing: without labels, X must be Examples, which have them")
    return X


def learn_once(examples: Any, space: Space, options: Options, memory: Any = None) -> Learner:
    """Learn examples once, in the order given, into a memory or a new one; Ctrl-C takes effect at the end."""
    options = replace(options, shuffle=False, max_iter=1, min_margin=None, held_out=None, early_stopping=False)
    if memory is None:
        if isinstance(options.class_weight, str):
            raise ValueError('class_weight="balanced" counts all rows; use fit, or give a number for every class')
        space = space.over(examples, options)
    else:  # which knows whether there is to be a vote
        options = replace(options, readout="last")
    learner = space.learner(space.taken(examples, options), options, memory)
    with put_off_interrupt():
        learner.learn(Watch())
        learner.settle()
    return learner


def settled(options: Options, n_rows: int, *, leads: bool = True, start: Any = None) -> Options:
    """The options with numbers instead of "auto", except for a lead that the rows choose.

    The last weights, or one pass in the order given, mean the standard perceptron, with lead 0. A run that continues
    keeps its lead.
    """
    max_iter = epochs_for(options.max_iter, n_rows)
    lead = options.lead
    if lead == "auto" and start is not None:
        lead = start.lead
    elif lead == "auto" and (not leads or options.readout == "last" or (max_iter == 1 and not options.shuffle)):
        lead = 0.0
    return replace(options, max_iter=max_iter, lead=lead)


def held_out_part(options: Options, start: Any = None) -> "HeldOut | None":
    """Which rows are held out."""
    for name, aside in (("held_out", options.held_out is not None), ("early_stopping", options.early_stopping)):
        if aside and start is not None:
            raise ValueError(f"{name} needs a new start: rows that are held out now may have been learned before")
    if options.held_out is None or hasattr(options.held_out, "which"):
        return options.held_out
    from novikoff.data.held_out import HeldOut

    return HeldOut.share(options.held_out, options.random_state)


def _numbered_again(learner: Learner, part: "HeldOut", n_rows: int, counts: dict[str, Any], mistakes: Any) -> Any:
    """Renumber the rows of the history, the cycle and the mistakes among all, those held out included."""
    kept = part.parted(n_rows)[0]
    learner.history.renumber(kept)
    if (cycle := counts["cycle"]) is not None:
        counts["cycle"] = replace(cycle, rows=tuple(kept[list(cycle.rows)].tolist()))
    return None if mistakes is None else mistakes.numbered(kept)


# ---------------------------------------------------------------------------------------------------------------------
# Choosing the lead, and the number of epochs
#
# Some rows are held out for validation while the others are learned; then all rows are learned with the choice. It is
# one of a few candidates fixed beforehand, and the record has their number: what it states about new rows holds for
# all of them.
# ---------------------------------------------------------------------------------------------------------------------

# Candidate leads: 0, these for any number of epochs, and one that grows with the epochs, up to a limit.
USUAL_LEADS = (0.25, 1.0)
EPOCHS_PER_LEAD = 6
MOST_CHOSEN = 4.0

# With fewer rows, nothing is chosen.
FEWEST_ROWS = 50

# Tables with rows x columns between these are learned quickly, and choose by folds. Smaller ones are learned before a
# compiler is loaded; they choose as large ones do, so that none is loaded.
TINY, SMALL = 1 << 13, 1 << 14
FOLDS = 5

# Larger tables validate on one half what was learned from the other, in this fraction of the epochs (without max_iter,
# of the usual number): trying three leads costs less than half of learning. Such a trial is rough, so a lead must beat
# 0 by this many standard errors.
SHARE_OF_EPOCHS = 0.3
USUAL_EPOCHS = 10
ERRORS_APART = 2.0

# All trials together take this fraction of the time limit.
SHARE_OF_TIME = 0.4


@dataclass(frozen=True)
class Trial:
    """How leads are tried: in folds, or by training on a fraction `share` of the rows and validating on as many others.

    One of `leads` is chosen; `tried` has them scaled to the `epochs` of a trial. A lead is better than none if it makes
    fewer errors, by more than `errors_apart` standard errors.
    """

    leads: tuple[float, ...]
    tried: tuple[float, ...]
    epochs: int
    share: float = 0.0
    folds: int = 0
    errors_apart: float = 0.0

    @classmethod
    def within(cls, max_iter: int | None, shards: int = 1, *, small: bool = False) -> "Trial":
        """The candidates for a number of epochs: 0, a quarter, and a larger one; trying them costs less than learning.

        An epoch adds an example at most once, so after E epochs its own part of its score is at most E R^2. If most
        examples cannot reach the lead, every epoch just adds all of them. A lead of E/6 did well on generated texts,
        for 1 to 20 epochs, and a quarter on tables. Where the weights of several shards are mixed, a round adds only a
        fraction of an example, so the largest lead is divided by their number. Small tables try one more, for the full
        number of epochs.

        >>> Trial.within(15).epochs, Trial.within(15).leads, Trial.within(15).tried
        (4, (0.0, 0.25, 2.5), (0.0, 0.25, 0.6666666666666666))
        >>> Trial.within(1000).leads, Trial.within(12, shards=4).leads, Trial.within(30, small=True).leads
        ((0.0, 0.25, 4.0), (0.0, 0.25, 0.5), (0.0, 0.25, 1.0, 4.0))
        >>> Trial.within(1).share, Trial.within(30, small=True).epochs
        (0.15, 30)
        """

        def largest(epochs: int) -> float:
            return min(MOST_CHOSEN, epochs / EPOCHS_PER_LEAD) / shards

        epochs = USUAL_EPOCHS if max_iter is None else max_iter
        usual = USUAL_LEADS if small else USUAL_LEADS[:1]
        leads = (0.0, *(lead for lead in usual if lead < largest(epochs)), largest(epochs))
        if small:
            return cls(leads, leads, epochs, folds=FOLDS)
        most = SHARE_OF_EPOCHS * epochs
        epochs = max(1, math.floor(most))
        tried = tuple(min(lead, largest(epochs)) for lead in leads)
        return cls(leads, tried, epochs, 0.5 * min(1.0, most), errors_apart=ERRORS_APART)

    @classmethod
    def of(cls, examples: Any, max_iter: int | None, shards: int = 1) -> "Trial":
        """The trial for these examples; those without columns are never small."""
        columns = getattr(examples, "n_columns", None)
        small = columns is not None and TINY < examples.n_rows * columns <= SMALL
        return cls.within(max_iter, shards, small=small)

    def parts(self, random_state: Any) -> "list[tuple[HeldOut, HeldOut | None]]":
        """The validation rows, and the training rows if these are not all others."""
        from novikoff.data.held_out import HeldOut

        if self.folds:
            return [(fold, None) for fold in HeldOut.folds(self.folds, random_state)]
        judging = HeldOut.share(self.share, random_state)
        upper = 2 * self.share
        return [(judging, HeldOut(judging.seed, upper, self.share) if upper < 1 else None)]

    def best(self, wrong: "Mapping[float, NDArray[Any]]") -> float:
        """The lead with the fewest errors, among 0 and those that are better; of equals, the smallest.

        `wrong` has, for each lead, the weight of the error on each validation row, if any. Rows that two leads get
        equally wrong do not say which is better, and the others are about as many steps of a random walk.
        """
        none, fewest = wrong[self.leads[0]], {self.leads[0]: 0.0}
        for lead in self.leads[1:]:
            fewer = none - wrong[lead]
            if fewer.sum() > self.errors_apart * math.sqrt((fewer * fewer).sum()):
                fewest[lead] = -float(fewer.sum())
        return min(fewest, key=lambda lead: (fewest[lead], lead))


def choose(examples: Any, options: Options, space: "Space") -> tuple[Options, dict[str, Any]]:
    """Return the options of the run to follow, and what its record says of the choice.

    The lead is chosen first, if it is "auto", then the number of epochs; nothing else of the trial runs is kept.
    """
    began, counts = now(), dict[str, Any]()
    if options.lead == "auto":
        lead, counts["leads_tried"] = _lead(examples, options, space)
        options = replace(options, lead=lead)
    if options.early_stopping:  # the run itself will take about as long again
        errors = _errors_by_epoch(examples, _with_time(_later(options, began), 0.5), space)
        options = replace(options, max_iter=errors.index(min(errors)) + 1)
        counts["validation_errors"] = tuple(errors)
    return _later(options, began), counts


def leads_tried(examples: Any, max_iter: int | None, shards: int = 1) -> tuple[float, ...]:
    """The leads to choose from; none if the examples are too few."""
    return () if examples.n_rows < FEWEST_ROWS else Trial.of(examples, max_iter, shards).leads


def _lead(examples: Any, options: Options, space: "Space") -> tuple[float, int]:
    """The lead that did best on validation rows, and the number of candidates: 0 if there are too few rows.

    Leads scale with the number of epochs: in a trial with fewer, they are smaller in proportion.
    """
    import numpy as np  # learners in pure Python do not need it

    if not leads_tried(examples, options.epochs, space.shards):
        return 0.0, 0
    trial = Trial.of(examples, options.epochs, space.shards)
    # Without shuffling, the result must not depend on chance.
    parts = trial.parts(0 if options.random_state is None and not options.shuffle else options.random_state)
    options = _with_time(options, SHARE_OF_TIME / (len(parts) * len(trial.leads)))
    wrong: dict[float, list[NDArray[Any]]] = {lead: [] for lead in trial.leads}
    for judging_part, learned_part in parts:
        some, judging = examples.parted(judging_part)
        if learned_part is not None:
            some = examples.parted(learned_part)[1]
        for lead, tried in zip(trial.leads, trial.tried, strict=True):
            how = _of_trial(options, lead=tried, max_iter=trial.epochs)
            learner = space.learner(some, how)
            run_or_raise(learner, how)
            learner.settle()
            wrong[lead].append(learner.wrong(judging, options.readout) * learner.error_weights(judging))
    return trial.best({lead: np.concatenate(parts) for lead, parts in wrong.items()}), len(trial.leads)


def _errors_by_epoch(examples: Any, options: Options, space: "Space") -> list[int]:
    """The validation errors after every epoch, until they have not improved for `n_iter_no_change` epochs."""
    from novikoff.data.held_out import HeldOut

    some, judging = examples.parted(HeldOut.share(options.validation_fraction, options.random_state))
    tried = _of_trial(options, lead=options.lead, max_iter=options.max_iter)
    learner, errors = space.learner(some, tried), list[int]()
    learner.one_by_one = True

    def watch(_: Any) -> Stopped | None:
        errors.append(learner.validation_errors(judging, options.readout))
        since = len(errors) - 1 - errors.index(min(errors))
        return Stopped.VALIDATION if since >= options.n_iter_no_change else None

    run_or_raise(learner, tried, watch)
    if len(errors) < learner.epochs.begun:  # the run ended before its last epoch was validated
        watch(learner.history)
    return errors


def _of_trial(options: Options, **chosen: Any) -> Options:
    """The options of a trial run, which is not kept and need not converge."""
    return replace(options, min_margin=None, record_mistakes=False, held_out=None, tol=None, **chosen)


def _with_time(options: Options, share: float) -> Options:
    return options if options.time_limit is None else replace(options, time_limit=share * options.time_limit)


def _later(options: Options, began: float) -> Options:
    if options.time_limit is None:
        return options
    # A minimum is left, so that something is learned.
    return replace(options, time_limit=max(options.time_limit - (now() - began), 1e-3 * options.time_limit))


def run_or_raise(learner: Learner, options: Options, watch: Watcher | None = None) -> None:
    """Run without keeping anything, and raise KeyboardInterrupt after Ctrl-C."""
    if run(learner, options, watch) is Stopped.INTERRUPTED:
        raise KeyboardInterrupt
