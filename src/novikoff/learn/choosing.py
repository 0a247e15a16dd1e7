"""What a learner lets a share of its own training rows choose: the lead, and the number of epochs.

These rows are put aside while others are learned, and judge; then all rows are learned as they chose. What is chosen by
the training rows says nothing about new ones, so the record of such a run makes no statement about these.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.data.held_out import HeldOut
from novikoff.engine.clock import now
from novikoff.learn.epochs import MOST_LEAD, Limits, Space, Watcher, check_choices, run
from novikoff.learn.history import Stopped

Truths = NDArray[np.bool_]
Floats = NDArray[np.float64]
Lead = float | Literal["auto"]

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


def leads_within(max_epochs: int | None, shards: int = 1) -> tuple[float, float]:
    """The leads to choose from if there are so many epochs: none, and one that these epochs can make use of.

    An epoch adds an example at most once, so after E epochs its own part of its score is at most E R^2. If most
    examples do not reach the lead in time, all of them are added over and over, and that is all. A sixth of E did well
    on generated texts, for 1 to 20 epochs. Where the weights of several shards are mixed, a round adds an example by
    its share only, and what it can reach is less by as much.

    >>> leads_within(12), leads_within(3), leads_within(1000), leads_within(12, shards=4)
    ((0.0, 2.0), (0.0, 0.5), (0.0, 4.0), (0.0, 0.5))
    """
    epochs = USUAL_EPOCHS if max_epochs is None else max_epochs
    return 0.0, min(MOST_CHOSEN, epochs / EPOCHS_PER_LEAD) / shards


@dataclass(frozen=True)
class Trial:
    """Which share of the rows is learned in a trial, and for how many epochs. As many other rows judge.

    `tried` are the leads that go with so many epochs, in the place of `leads`, from which one is to be chosen.
    """

    share: float
    epochs: int
    leads: tuple[float, float]
    tried: tuple[float, float]

    @classmethod
    def within(cls, max_epochs: int | None, shards: int = 1) -> "Trial":
        """So much that trying two leads costs less than learning.

        >>> Trial.within(15)
        Trial(share=0.5, epochs=6, leads=(0.0, 2.5), tried=(0.0, 1.0))
        >>> Trial.within(1).share
        0.2
        """
        most = COST * (USUAL_EPOCHS if max_epochs is None else max_epochs)
        epochs = max(1, math.floor(most))
        return cls(0.5 * min(1.0, most), epochs, leads_within(max_epochs, shards), leads_within(epochs, shards))

    def parts(self, random_state: int | np.random.Generator | None) -> tuple[HeldOut, HeldOut | None]:
        """The rows that judge, and those that are learned, if these are not all others."""
        judging = HeldOut.share(self.share, random_state)
        upper = 2 * self.share
        return judging, HeldOut(judging.seed, upper, self.share) if upper < 1 else None


def with_fewest(errors: Mapping[float, float]) -> float:
    """The lead that made the fewest errors; of those that made equally many, the largest.

    >>> with_fewest({0.0: 30, 1.0: 20, 2.0: 20})
    2.0
    """
    return min(errors, key=lambda lead: (errors[lead], -lead))


def hurried(limits: Limits, share: float) -> Limits:
    """The same limits with a share of the time."""
    return limits if limits.time_limit is None else replace(limits, time_limit=share * limits.time_limit)


def less_time(limits: Limits, began: float) -> Limits:
    """The same limits after something that counts towards the time has been done."""
    if limits.time_limit is None:
        return limits
    # At least a moment is left, so that something is learned.
    return replace(limits, time_limit=max(limits.time_limit - (now() - began), 1e-3 * limits.time_limit))


@dataclass(frozen=True)
class Chosen:
    """What was chosen, the limits of the run that is to follow, and what its record says of it."""

    lead: float
    limits: Limits
    counts: dict[str, Any] = field(default_factory=dict)
    by_validation: bool = False

    def reason(self, stopped: Stopped) -> Stopped:
        """Why a run ended, if the number of its epochs was chosen."""
        return Stopped.VALIDATION if self.by_validation and stopped is Stopped.MAX_EPOCHS else stopped


@dataclass(frozen=True, kw_only=True)
class Chooser:
    """Examples of some space, and how they are learned, but for the lead and the number of epochs."""

    random_state: int | np.random.Generator | None
    limits: Limits

    def parted(self, part: HeldOut) -> tuple[Any, Any]:
        """The examples that are not in a part, and those that are."""
        raise NotImplementedError

    def learned(self, some: Any, lead: float, max_epochs: int | None, watch: Watcher | None = None) -> Any:
        """What is remembered after learning some examples; with a `watch`, that looks at every epoch."""
        raise NotImplementedError

    def wrong(self, memory: Any, some: Any) -> Truths:
        """Which of some examples the read-out gets wrong."""
        raise NotImplementedError

    def heft(self, some: Any) -> Floats | None:
        """By how much an error on each of some examples counts: the weight of its class, if classes have weights."""
        raise NotImplementedError

    def choose(self, lead: Lead, validation: float | None, patience: int) -> Chosen:
        """First the lead, if that is to be chosen, then the number of epochs."""
        if not isinstance(lead, str) and validation is None:
            return Chosen(float(lead), self.limits)
        began = now()
        found = replace(self, limits=hurried(self.limits, SHARE_OF_A_TRIAL))._lead() if lead == "auto" else float(lead)
        limits, counts = self.limits, dict(CHOSEN)
        if validation is not None:  # what is chosen will take about as long again
            errors = replace(self, limits=hurried(less_time(limits, began), 0.5))._errors(found, validation, patience)
            limits = replace(limits, max_epochs=int(np.argmin(errors)) + 1)
            counts["validation_errors"] = tuple(errors)
        limits = less_time(limits, began)
        return Chosen(found, limits, counts, limits.max_epochs != self.limits.max_epochs)

    def _lead(self) -> float:
        """The lead that did better on one half of the rows after some epochs on the other.

        A lead goes with a number of epochs: in the trial, which has fewer, it is smaller by as much.
        """
        trial = Trial.within(self.limits.max_epochs)
        judging_part, learned_part = trial.parts(self.random_state)
        try:
            some, judging = self.parted(judging_part)
            if learned_part is not None:
                some = self.parted(learned_part)[1]
        except ValueError:  # too few rows to put some aside
            return trial.leads[-1]
        weights, errors = self.heft(judging), dict[float, float]()
        for lead, tried in zip(trial.leads, trial.tried, strict=True):
            wrong = self.wrong(self.learned(some, tried, trial.epochs), judging)
            errors[lead] = float((wrong if weights is None else weights[wrong]).sum())
        return with_fewest(errors)

    def _errors(self, lead: float, validation: float, patience: int) -> list[int]:
        """The errors on the validation part after every epoch, until they got no fewer for so many."""
        some, judging = self.parted(HeldOut.share(validation, self.random_state))
        errors = list[int]()

        def watch(memory: Any) -> Stopped | None:
            errors.append(int(self.wrong(memory, judging).sum()))
            return Stopped.VALIDATION if len(errors) - 1 - int(np.argmin(errors)) >= patience else None

        memory = self.learned(some, lead, self.limits.max_epochs, watch)
        if not errors:  # the first epoch ended the run before it was looked at
            watch(memory)
        return errors


def run_or_raise(space: Space, limits: Limits) -> Stopped:
    """A run of which nothing is kept: Ctrl-C ends the call."""
    stopped = run(space, limits)
    if stopped is Stopped.INTERRUPTED:
        raise KeyboardInterrupt
    return stopped


def check_lead(lead: Lead) -> None:
    """Say that a lead is wrong, and what it may be."""
    if isinstance(lead, str) and lead != "auto":
        raise ValueError(f"lead={lead!r} must be a number from 0 to {MOST_LEAD:g}, in units of R^2, or 'auto'")
    if not isinstance(lead, str):
        check_choices(lead=lead)


def check_chosen(lead: Lead, validation: float | None, patience: int) -> None:
    """Say which of these is wrong, and what it may be."""
    check_lead(lead)
    if validation is not None and not (isinstance(validation, float | int) and 0 < validation < 1):
        raise ValueError(f"validation={validation!r} must be a share of the rows between 0 and 1, such as 0.1, or None")
    if isinstance(patience, bool) or int(patience) != patience or patience < 1:
        raise ValueError(f"patience={patience!r} must be a whole number of at least 1")
