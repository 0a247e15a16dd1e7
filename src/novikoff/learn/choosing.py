"""What a learner lets a share of its own training rows choose: the lead, and the number of epochs.

These rows are put aside while others are learned, and judge; then all rows are learned as they chose. What is chosen by
the training rows says nothing about new ones, so the record of such a run makes no statement about these.
"""

import math
from collections.abc import Callable
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

# The leads to choose from, and the one that is taken unless another is clearly better.
LEADS = (0.0, 2.0)
USUAL_LEAD = 2.0

# Choosing learns at most this part of what learning does; if no limit is set to the epochs, of this many.
COST = 0.4
USUAL_EPOCHS = 10

# What the record of a run does not have if its rows had a say in how they were learned.
CHOSEN: dict[str, Any] = {"order": None, "mistaken_rows": None, "errors_elsewhere": None}


@dataclass(frozen=True)
class Trial:
    """The parts of a trial: which share of the rows is learned, for how many epochs, and which share judges."""

    learned: float
    judging: float
    epochs: int

    @classmethod
    def within(cls, max_epochs: int | None) -> "Trial":
        """So much that trying all leads costs less than learning.

        >>> Trial.within(10)
        Trial(learned=0.6, judging=0.4, epochs=2)
        >>> Trial.within(5)
        Trial(learned=0.6, judging=0.4, epochs=1)
        """
        most = COST * (USUAL_EPOCHS if max_epochs is None else max_epochs) / len(LEADS)
        epochs = max(1, math.floor(most))
        share = min(1.0, most / epochs)
        return cls(0.6 * share, 0.4 * share, epochs)


def best_lead(wrong: Callable[[float], Truths], weights: Floats | None = None) -> float:
    """The lead whose errors on the judging rows are fewest, if they are clearly fewer than those of the usual one.

    `wrong` says of every judging row whether it is wrong after learning with a lead. Rows on which two leads disagree
    are b and c; if the leads are equally good, b - c is 0 give or take the root of b + c. Rows of classes with weights
    count by these, and the root is that of the sum of their squares.

    >>> rows = np.arange(100)
    >>> best_lead(lambda lead: rows < 30 - 10 * lead), best_lead(lambda lead: rows < 5 * lead)
    (2.0, 0.0)
    """
    errors = {lead: wrong(lead) for lead in LEADS}
    usual = errors[USUAL_LEAD]
    heft = np.ones(len(usual)) if weights is None else weights
    for lead in sorted(LEADS, key=lambda lead: float(heft[errors[lead]].sum())):
        better, worse = heft[usual & ~errors[lead]], heft[errors[lead] & ~usual]
        if better.sum() - worse.sum() > math.sqrt((better**2).sum() + (worse**2).sum()):
            return lead
    return USUAL_LEAD


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
        trial = Trial.within(self.limits.max_epochs)
        seed = HeldOut.share(trial.judging, self.random_state).seed
        try:
            judging = self.parted(HeldOut(seed, trial.judging))[1]
            some = self.parted(HeldOut(seed, trial.judging + trial.learned, trial.judging))[1]
        except ValueError:  # too few rows to put some aside
            return USUAL_LEAD
        weights = self.heft(judging)
        return best_lead(lambda lead: self.wrong(self.learned(some, lead, trial.epochs), judging), weights)

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
