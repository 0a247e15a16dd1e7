"""What a learner lets a share of its own training rows choose: the lead, and the number of epochs.

These rows are put aside while others are learned, and judge; then all rows are learned as they chose. What is chosen by
the training rows says nothing about new ones, so the record of such a run makes no statement about these.
"""

import math
from collections.abc import Sequence
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

# A lead is chosen from none and a share of the number of epochs, up to a limit.
LEAD_PER_EPOCH = 1 / 6
MOST_CHOSEN = 4.0

# Choosing learns at most this part of what learning does; if no limit is set to the epochs, of this many.
COST = 0.4
USUAL_EPOCHS = 10

# What the record of a run does not have if its rows had a say in how they were learned.
CHOSEN: dict[str, Any] = {"order": None, "mistaken_rows": None, "errors_elsewhere": None}


def leads_within(max_epochs: int | None) -> tuple[float, float]:
    """The leads to choose from if there are so many epochs: none, and one that these epochs can make use of.

    An epoch adds an example at most once, so after E epochs its own part of its score is at most E R^2. If most
    examples do not reach the lead in time, all of them are added over and over, and that is all. A sixth of E did well
    on generated texts, for 1 to 20 epochs.

    >>> leads_within(12), leads_within(3), leads_within(1000)
    ((0.0, 2.0), (0.0, 0.5), (0.0, 4.0))
    """
    epochs = USUAL_EPOCHS if max_epochs is None else max_epochs
    return 0.0, min(MOST_CHOSEN, LEAD_PER_EPOCH * epochs)


@dataclass(frozen=True)
class Trial:
    """Which share of the rows is learned in a trial, and for how many epochs. As many other rows judge."""

    share: float
    epochs: int

    @classmethod
    def within(cls, max_epochs: int | None) -> "Trial":
        """So much that trying two leads costs less than learning.

        >>> Trial.within(10)
        Trial(share=0.5, epochs=4)
        >>> Trial.within(1)
        Trial(share=0.2, epochs=1)
        """
        most = COST * (USUAL_EPOCHS if max_epochs is None else max_epochs)
        return cls(0.5 * min(1.0, most), max(1, math.floor(most)))


def fewest_errors(wrong: Sequence[Truths], weights: Floats | None = None) -> int:
    """Which of some learners is wrong on the fewest judging rows; of those that are equally good, the last.

    `wrong` says of every learner on which rows it is. Rows of classes with weights count by these.

    >>> rows = np.arange(100)
    >>> fewest_errors([rows < 30, rows < 20, rows >= 80])
    2
    >>> fewest_errors([rows < 30, rows < 20, rows >= 80], np.where(rows < 50, 1.0, 3.0))
    1
    """
    errors = [float((errs if weights is None else weights[errs]).sum()) for errs in wrong]
    return max(range(len(errors)), key=lambda number: (-errors[number], number))


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
        found = self._lead() if isinstance(lead, str) else float(lead)
        limits, counts = self.limits, dict(CHOSEN)
        if validation is not None:
            errors = self._errors(found, validation, patience)
            limits = replace(limits, max_epochs=int(np.argmin(errors)) + 1)
            counts["validation_errors"] = tuple(errors)
        if limits.time_limit is not None:  # at least a moment is left, so that something is learned
            limits = replace(limits, time_limit=max(limits.time_limit - (now() - began), 1e-3 * limits.time_limit))
        return Chosen(found, limits, counts, limits.max_epochs != self.limits.max_epochs)

    def _lead(self) -> float:
        """The lead that did better on one half of the rows after some epochs on the other.

        A lead goes with a number of epochs: in the trial, which has fewer, it is smaller by as much.
        """
        trial, leads = Trial.within(self.limits.max_epochs), leads_within(self.limits.max_epochs)
        seed = HeldOut.share(trial.share, self.random_state).seed
        try:
            some, judging = self.parted(HeldOut(seed, trial.share))
            if 2 * trial.share < 1:
                some = self.parted(HeldOut(seed, 2 * trial.share, trial.share))[1]
        except ValueError:  # too few rows to put some aside
            return leads[-1]
        wrong = [self.wrong(self.learned(some, lead, trial.epochs), judging) for lead in leads_within(trial.epochs)]
        return leads[fewest_errors(wrong, self.heft(judging))]

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


def run_or_raise(space: Space, limits: Limits) -> None:
    """A run of which nothing is kept: Ctrl-C ends the call."""
    if run(space, limits) is Stopped.INTERRUPTED:
        raise KeyboardInterrupt


def check_chosen(lead: Lead, validation: float | None, patience: int) -> None:
    """Say which of these is wrong, and what it may be."""
    if isinstance(lead, str) and lead != "auto":
        raise ValueError(f"lead={lead!r} must be a number from 0 to {MOST_LEAD:g}, in units of R^2, or 'auto'")
    if not isinstance(lead, str):
        check_choices(lead=lead)
    if validation is not None and not (isinstance(validation, float | int) and 0 < validation < 1):
        raise ValueError(f"validation={validation!r} must be a share of the rows between 0 and 1, such as 0.1, or None")
    if isinstance(patience, bool) or int(patience) != patience or patience < 1:
        raise ValueError(f"patience={patience!r} must be a whole number of at least 1")
