"""The one way to learn: hold rows out, choose lead and epochs, run the epochs, count, and record.

Estimators, readers, the command line, shards and the lab all end here. Learners differ only in the space in which
examples are added. Examples can be `parted` into those to learn and those to validate on; what else they are depends on
the space.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from novikoff.learn.choosing import choose
from novikoff.learn.epochs import Learner, Watcher, run
from novikoff.learn.run import Run, Stopped
from novikoff.options import Options, epochs_for

if TYPE_CHECKING:
    from novikoff.data.held_out import HeldOut


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

    def over(self, examples: Any, options: Options) -> "Space":
        """The same space, with what all trials and the run share: class weights, a kernel's width."""
        return self

    def learner(self, examples: Any, options: Options, start: Any = None) -> Learner:
        """A learner of the examples, from the memory `start` or a new one."""
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
    part = held_out_part(options, start)
    learned, judged = (examples, None) if part is None else examples.parted(part)
    space = space.over(learned, options)
    options = settled(options, learned.n_rows, leads=space.leads, start=start)
    chosen, of_choice = choose(learned, options, space)
    learner = space.learner(learned, chosen, start)
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
