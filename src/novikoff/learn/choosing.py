"""What a learner lets a fraction of its own training rows choose: the lead, and the number of epochs.

These rows are put aside while others are learned, and judge; then all rows are learned as they chose. What is chosen by
the training rows says nothing about new ones, so the record of such a run makes no statement about these.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from novikoff.engine.clock import now
from novikoff.learn.epochs import Learner, Limits, run
from novikoff.learn.history import Stopped
from novikoff.options import Options

if TYPE_CHECKING:
    from novikoff.data.held_out import HeldOut

# What begins to learn examples with some options; with `one_by_one`, every epoch can be looked at.
Begin = Callable[[Any, Options, bool], Learner]

# A lead is chosen from none and one for so many epochs, up to a limit.
EPOCHS_PER_LEAD = 6
MOST_CHOSEN = 4.0

# Choosing learns at most this part of what learning does; if no limit is set to the epochs, of this many. Each of two
# trials has half of it, also of the time if that is limited.
COST = 0.4
SHARE_OF_A_TRIAL = COST / 2
USUAL_EPOCHS = 10

# What the record of a run does not have if its rows had a say in how they were learned.
CHOSEN: dict[str, Any] = {"order": None, "mistaken_rows": None, "errors_elsewhere": None}


def leads_within(max_iter: int | None, shards: int = 1) -> tuple[float, float]:
    """The leads to choose from if there are so many epochs: none, and one that these epochs can make use of.

    An epoch adds an example at most once, so after E epochs its own part of its score is at most E R^2. If most
    examples do not reach the lead in time, all of them are added over and over, and that is all. A sixth of E did well
    on generated texts, for 1 to 20 epochs. Where the weights of several shards are mixed, a round adds an example by
    its share only, and what it can reach is less by as much.

    >>> leads_within(12), leads_within(3), leads_within(1000), leads_within(12, shards=4)
    ((0.0, 2.0), (0.0, 0.5), (0.0, 4.0), (0.0, 0.5))
    """
    epochs = USUAL_EPOCHS if max_iter is None else max_iter
    return 0.0, min(MOST_CHOSEN, epochs / EPOCHS_PER_LEAD) / shards


@dataclass(frozen=True)
class Trial:
    """Which fraction of the rows is learned in a trial, and for how many epochs. As many other rows judge.

    `tried` are the leads that go with so many epochs, in the place of `leads`, from which one is to be chosen.
    """

    share: float
    epochs: int
    leads: tuple[float, float]
    tried: tuple[float, float]

    @classmethod
    def within(cls, max_iter: int | None, shards: int = 1) -> "Trial":
        """So much that trying two leads costs less than learning.

        >>> Trial.within(15)
        Trial(share=0.5, epochs=6, leads=(0.0, 2.5), tried=(0.0, 1.0))
        >>> Trial.within(1).share
        0.2
        """
        most = COST * (USUAL_EPOCHS if max_iter is None else max_iter)
        epochs = max(1, math.floor(most))
        return cls(0.5 * min(1.0, most), epochs, leads_within(max_iter, shards), leads_within(epochs, shards))

    def parts(self, random_state: Any) -> "tuple[HeldOut, HeldOut | None]":
        """The rows that judge, and those that are learned, if these are not all others."""
        from novikoff.data.held_out import HeldOut

        judging = HeldOut.share(self.share, random_state)
        upper = 2 * self.share
        return judging, HeldOut(judging.seed, upper, self.share) if upper < 1 else None


@dataclass(frozen=True)
class Chosen:
    """What was chosen: the options of the run that is to follow, and what its record says of it."""

    options: Options
    counts: Mapping[str, Any]
    by_validation: bool = False

    def reason(self, stopped: Stopped) -> Stopped:
        """Why a run ended, if the number of its epochs was chosen."""
        return Stopped.VALIDATION if self.by_validation and stopped is Stopped.MAX_ITER else stopped


def choose(examples: Any, options: Options, begin: Begin, shards: int = 1) -> Chosen:
    """First the lead, if that is to be chosen, then the number of epochs; each trial is a run of which nothing stays.

    Where the weights of some shards are mixed, leads are smaller.
    """
    if options.lead != "auto" and not options.early_stopping:
        return Chosen(options, {})
    began, asked, counts = now(), options, dict(CHOSEN)
    if options.lead == "auto":
        trials = _with_time(options, SHARE_OF_A_TRIAL)
        options = replace(options, lead=_lead(examples, trials, begin, shards))
    if options.early_stopping:  # what is chosen will take about as long again
        errors = _errors_by_epoch(examples, _with_time(_later(options, began), 0.5), begin)
        options = replace(options, max_iter=errors.index(min(errors)) + 1)
        counts["validation_errors"] = tuple(errors)
    return Chosen(_later(options, began), counts, options.max_iter != asked.max_iter)


def _lead(examples: Any, options: Options, begin: Begin, shards: int) -> float:
    """The lead that did better on one half of the rows after some epochs on the other.

    A lead goes with a number of epochs: in the trial, which has fewer, it is smaller by as much.
    """
    trial = Trial.within(options.max_iter, shards)
    judging_part, learned_part = trial.parts(options.random_state)
    try:
        some, judging = examples.parted(judging_part)
        if learned_part is not None:
            some = examples.parted(learned_part)[1]
    except ValueError:  # too few rows to put some aside
        return trial.leads[-1]
    errors = dict[float, float]()
    for lead, tried in zip(trial.leads, trial.tried, strict=True):
        learner = begin(some, _of_trial(options, lead=tried, max_iter=trial.epochs), False)
        run_or_raise(learner, Limits(_of_trial(options, lead=tried, max_iter=trial.epochs)))
        learner.settle()
        wrong, weights = learner.wrong(judging, options.readout), learner.error_weights(judging)
        errors[lead] = float((wrong if weights is None else weights[wrong]).sum())
    return with_fewest(errors)


def _errors_by_epoch(examples: Any, options: Options, begin: Begin) -> list[int]:
    """The errors on the validation part after every epoch, until they got no fewer for so many."""
    from novikoff.data.held_out import HeldOut

    some, judging = examples.parted(HeldOut.share(options.validation_fraction, options.random_state))
    tried = _of_trial(options, lead=options.lead, max_iter=options.max_iter)
    learner, errors = begin(some, tried, True), list[int]()

    def watch(_: Any) -> Stopped | None:
        errors.append(learner.validation_errors(judging, options.readout))
        since = len(errors) - 1 - errors.index(min(errors))
        return Stopped.VALIDATION if since >= options.n_iter_no_change else None

    run_or_raise(learner, Limits(tried, watch))
    if len(errors) < learner.epochs.begun:  # the last epoch ended the run before it was looked at
        watch(learner.history)
    return errors


def _of_trial(options: Options, **chosen: Any) -> Options:
    """The options of a run of which nothing is kept, and which is not to converge."""
    return replace(options, min_margin=None, record_mistakes=False, held_out=None, tol=None, **chosen)


def with_fewest(errors: Mapping[float, float]) -> float:
    """The lead that made the fewest errors; of those that made equally many, the largest.

    >>> with_fewest({0.0: 30, 1.0: 20, 2.0: 20})
    2.0
    """
    return min(errors, key=lambda lead: (errors[lead], -lead))


def _with_time(options: Options, share: float) -> Options:
    """The same options with a share of the time."""
    return options if options.time_limit is None else replace(options, time_limit=share * options.time_limit)


def _later(options: Options, began: float) -> Options:
    """The same options after something that counts towards the time has been done."""
    if options.time_limit is None:
        return options
    # At least a moment is left, so that something is learned.
    return replace(options, time_limit=max(options.time_limit - (now() - began), 1e-3 * options.time_limit))


def run_or_raise(learner: Learner, limits: Limits) -> Stopped:
    """A run of which nothing is kept: Ctrl-C ends the call."""
    stopped = run(learner, limits)
    if stopped is Stopped.INTERRUPTED:
        raise KeyboardInterrupt
    return stopped
