"""The history of a learner, and the record that every run leaves: what happened, why it stopped, what that proves.

One learning rule: on a mistake, add the example. One history: how many examples were seen, how many were mistakes, how
long the longest is, and how long the sum of the mistakes has become. From these numbers alone follow the bound and the
margins that are ruled out, in whatever space examples are added: coordinates, a kernel expansion, label sequences, any
structure. Three read-outs of the history (Freund and Schapire 1999): the last weights, their average, their vote.

With a lead tau an example is also added if it is right, but by no more than tau R^2 (Krauth and Mezard 1987). Then it
is *narrow*, and no mistake; mistakes and narrow ones are *updates*, and k counts these. Each adds at most R^2 +
2 tau R^2 to ||w||^2, so k <= (1 + 2 tau) (R/gamma)^2.
"""

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from novikoff.engine.rounding import UNIT_ROUNDOFF, at_least, down, root_up, up
from novikoff.engine.words import counted, listed, no_margin_above, radius_in_words
from novikoff.learn.cycles import Cycle

if TYPE_CHECKING:
    from novikoff.learn.linear.worked import WorkedRun
    from novikoff.learn.new_rows import Generalisation

READOUT_WORDS: dict[str, str] = {
    "last": "the last weights",
    "average": "the averaged weights",
    "vote": "the vote of all weights",
}
NO_WEIGHTS = "a vote has no weights of its own"


class Stopped(enum.Enum):
    """Why a run ended."""

    NO_MISTAKES = "an epoch made no mistake"
    MAX_ITER = "max_iter was reached"
    NO_PROGRESS = "the mistakes stopped decreasing by tol"
    MARGIN_RULED_OUT = "no separator has the margin asked for"
    TIME_LIMIT = "the time was used up"
    INTERRUPTED = "it was interrupted"
    CYCLE = "its weights returned to what they had been: there is no separator"
    VALIDATION = "the validation part got no better"

    def after(self, epochs: int) -> str:
        """When and why, in words."""
        return f"after {counted(epochs, 'epoch')} because {self.value}"


@dataclass(frozen=True)
class Run:
    """What a learner did.

    `margin_at_most` is the free fact of the proof: the sum w of k mistakes has <w, u> >= k gamma for every unit u that
    separates with margin gamma, so gamma <= ||w||/k. It needs no convergence, and it is rounded outwards (infinite
    before the first mistake). `radius` is R, the longest example seen, rounded up. With a bias both speak of the
    folded examples; with more than two classes of Kesler's margin, ||W|| = 1, whose bound is 2 (R/gamma)^2.

    `stopped` is None for a learner that goes on (`partial_fit`). `mistakes_per_epoch` is empty there; of a long run it
    has the first epochs. `errors` counts the rows that the read-out gets wrong after a `fit`; the last weights may be
    free of mistakes while their average still errs. `cycle` has mistakes that add up to 0, and so rule out every
    separator, if the weights of a run without shuffling returned.

    What a run says about new rows (`generalisation`) follows from the rest. `order` is that of the rows: "given",
    "random", or "mixed", which is random but for neighbours; None if the run did not start from zero weights, or if its
    mistakes do not count every wrong prediction. `mistaken_rows` counts the rows that decided the run, because they
    were ever mistaken (with a lead, also the narrow ones, and those that made R longer), and `errors_elsewhere` the
    errors on the others. `encoded` says that the same rows were used to turn columns into numbers. Rows that were held
    out had no say in anything; nor had each of the parts of `fold_rows` in the model that it judges.

    With a `lead`, `narrow` counts the examples that were right and learned nevertheless, and `narrow_per_epoch` those
    of every epoch; k is the number of `updates`, mistakes and narrow ones together. When an epoch makes none of either,
    every example is ahead by more than tau R^2, so the last weights separate with a margin of at least tau R^2/||w||:
    `margin_at_least`, rounded down, and 0 where nothing is known.

    If it was `weighted`, R, ||w|| and margins are those of the examples times the weights of their classes.
    If columns were `scaled`, which says why, they are those of the scaled rows. `validation_errors` counts the errors
    on the validation part after each epoch, if one chose how many there should be. `leads_tried` counts the leads from
    which the training rows chose this one; 0 if it was given, or if they were too few to choose.

    Where the weights of `shards` learners were mixed round by round, every mistake counts by its share: K =
    `mixed_mistakes` stands in the place of k, in gamma <= ||w||/K and in K <= (R/gamma)^2.
    """

    mistakes: int
    mistakes_per_epoch: tuple[int, ...]
    examples: int
    stopped: Stopped | None
    radius: float
    weights_length: float
    margin_at_most: float
    readout: str
    n_rows: int | None = None
    errors: int | None = None
    epochs: int = 0
    cycle: Cycle | None = None
    order: str | None = None
    mistaken_rows: int | None = None
    errors_elsewhere: int | None = None
    encoded: bool = False
    held_out_rows: int = 0
    held_out_errors: int | None = None
    fold_rows: tuple[int, ...] = ()
    fold_errors: tuple[int, ...] = ()
    mixed_mistakes: float | None = None
    shards: int = 0
    lead: float = 0.0
    narrow: int = 0
    narrow_per_epoch: tuple[int, ...] = ()
    margin_at_least: float = 0.0
    validation_errors: tuple[int, ...] = ()
    weighted: bool = False
    scaled: str | None = None
    leads_tried: int = 0

    def __str__(self) -> str:
        scales = "" if self.scales is None else f"Learned {self.scales}."
        parts = [
            self._what_happened(),
            "" if self.chosen is None else f"{self.chosen[0].upper()}{self.chosen[1:]}.",
            scales,
            self._what_it_proves(),
            self._what_it_gets_wrong(),
            self._what_to_expect(),
        ]
        return "\n".join(filter(None, parts))

    def _repr_html_(self) -> str:
        """The record as a notebook shows it."""
        from novikoff.learn.run_html import as_html

        return as_html(self)

    def generalisation(self, confidence: float = 0.95, *, random_order: bool | None = None) -> "Generalisation":
        """What the run says about new rows of the same kind, each bound with this confidence.

        `random_order=True` says that the rows are independent and came in an order that has nothing to do with what is
        in them, each once, which a run in the order given cannot know. `delivered` has the bound on the predictor that
        the model uses; where several compete for it, they share the confidence.

        >>> from novikoff import Perceptron
        >>> X = [[x, (7 * x) % 11] for x in range(-200, 200)]
        >>> model = Perceptron(readout="last", max_iter=None, random_state=0).fit(X, [x > 0 for x, _ in X])
        >>> print(model.run_.generalisation().in_words)
        at most 2.7 % (95 % confidence), by the training rows alone
        """
        from novikoff.learn.new_rows import generalisation

        return generalisation(self, confidence, random_order=random_order)

    def steps(self, X: Any, y: Any, mistake_rows: Any, *, fit_intercept: bool = True) -> "WorkedRun":
        """The run example by example, as the notes print it: of two classes, in the order given (`shuffle=False`).

        `mistake_rows` are the mistakes in order, which `record_mistakes=True` keeps.
        """
        from novikoff.learn.linear.worked import worked

        return worked(X, y, mistake_rows, self.updates_per_epoch, self.examples, fit_intercept)

    @property
    def updates(self) -> int:
        """k: how many examples were added, mistakes and narrow ones."""
        return self.mistakes + self.narrow

    @property
    def updates_per_epoch(self) -> tuple[int, ...]:
        """The same of every epoch that is recorded."""
        if not self.narrow_per_epoch:
            return self.mistakes_per_epoch
        return tuple(sum(both) for both in zip(self.mistakes_per_epoch, self.narrow_per_epoch, strict=True))

    @property
    def added(self) -> str:
        """How many examples were added, in words."""
        mistakes = counted(self.mistakes, "mistake")
        return f"{mistakes} and {counted(self.narrow, 'narrow one')}" if self.lead else mistakes

    @property
    def made(self) -> str:
        """The mistakes, and what else was added, in words."""
        made = f"{self.added} on {counted(self.examples, 'example')}"
        if not self.mistakes_per_epoch:
            return made
        made = f"{made}; by epoch: {listed(self.mistakes_per_epoch, 14, total=self.epochs)}"
        if not self.narrow_per_epoch:
            return made
        return f"{made}; narrow: {listed(self.narrow_per_epoch, 14, total=self.epochs)}"

    @property
    def chosen(self) -> str | None:
        """Which lead the training rows chose, in words; None if they did not."""
        if not self.leads_tried:
            return None
        return f"the training {self.row}s chose lead {self.lead:.4g}, of {counted(self.leads_tried, 'lead')} tried"

    @property
    def ending(self) -> str:
        """When and why it stopped, in words."""
        if self.stopped is None:
            return "it goes on learning"
        ending = self.stopped.after(self.epochs)
        return f"{ending}, and nothing was narrow" if self.lead and self.stopped is Stopped.NO_MISTAKES else ending

    @property
    def wrong(self) -> str | None:
        """The errors of the read-out on what was learned from, in words; None before a `fit`."""
        if self.errors is None:
            return None
        return f"{self.read_by}: {counted(self.errors, 'error')} on {counted(self.n_rows or 0, f'training {self.row}')}"

    @property
    def read_by(self) -> str:
        """What predicts."""
        return READOUT_WORDS[self.readout]

    @property
    def row(self) -> str:
        """What an example of the training data is called."""
        return "row"

    @property
    def validation_error(self) -> str:
        """What is counted on the validation part."""
        return "error"

    @property
    def ruled_out(self) -> str | None:
        """Which margins the mistakes rule out, in words; None before the first."""
        return None if math.isinf(self.margin_at_most) else no_margin_above(self.margin_at_most) + self._times_weights

    @property
    def _times_weights(self) -> str:
        return " on the examples times the weights of their classes" if self.weighted else ""

    @property
    def scales(self) -> str | None:
        """How columns were scaled, and why, in words; None if they were not."""
        return None if self.scaled is None else f"columns in standard deviations from their means: {self.scaled}"

    @property
    def returned(self) -> str | None:
        """Which mistakes cancel, in words; None if the weights are not known to have returned."""
        if self.cycle is None:
            return None
        since, until = self.cycle.since, counted(self.cycle.until, "epoch")
        return f"the weights after {until} are those after {since:,}, so no separator exists: {self.cycle}"

    @property
    def mixed(self) -> str | None:
        """What the mistakes of mixed weights count, and what the theorem allows, in words; None if none were."""
        if self.mixed_mistakes is None:
            return None
        mixed = f"the weights of {counted(self.shards, 'shard')} were mixed, and count as {self.mixed_mistakes:.6g}"
        if math.isinf(self.margin_at_most) or self.margin_at_most == 0:
            return f"{mixed} mistakes"
        formula = f"(1 + 2 * {self.lead:g}) (R/gamma)^2" if self.lead else "(R/gamma)^2"
        return f"{mixed} mistakes, of the {self.allowed_at_least:.6g} or more that {formula} allows"

    @property
    def allowed_at_least(self) -> float:
        """How many updates the theorem allows, at least, as no margin is larger than `margin_at_most`."""
        return (1.0 + 2.0 * self.lead) * (down(self.radius) / self.margin_at_most) ** 2 * (1 - 8 * UNIT_ROUNDOFF)

    @property
    def separated(self) -> str | None:
        """By how much the last weights are known to separate, in words; None if that is not known."""
        if not self.margin_at_least:
            return None
        margin = f"a margin of at least {at_least(self.margin_at_least)}"
        return f"the last weights separate the examples with {margin}{self._times_weights}"

    @property
    def made_rule_out(self) -> str | None:
        """The same after the number of mistakes that do so."""
        made = self.mixed or f"{self.added} made"
        return None if self.ruled_out is None else f"{made}; {self.ruled_out}"

    def _what_happened(self) -> str:
        if self.stopped is None:
            return f"Made {self.made} so far, and goes on learning."
        return f"Stopped {self.ending}.\nMade {self.made}."

    def _what_it_proves(self) -> str:
        if math.isinf(self.radius):
            return "The kernel is not positive definite, so there is no length R and no margin to speak of."
        longest = f"The longest example has length {radius_in_words(self.radius)}"
        if self.ruled_out is None:
            return f"{longest}."
        both = "the mistakes and the narrow ones" if self.lead else "the mistakes"
        proves = f"{longest}, the sum of {both} has length {self.weights_length:.6g},\nso {self.ruled_out}."
        if self.mixed is not None:
            proves = f"{self.mixed[0].upper()}{self.mixed[1:]}.\n{proves}"
        more = [f"{said[0].upper()}{said[1:]}." for said in (self.separated, self.returned) if said is not None]
        return "\n".join([proves, *more])

    def _what_it_gets_wrong(self) -> str:
        wrong = "" if self.wrong is None else f"{self.wrong[0].upper()}{self.wrong[1:]}."
        if not self.validation_errors:
            return wrong
        fewest = counted(min(self.validation_errors), self.validation_error)
        return f"{wrong}\nThe validation part chose {counted(self.epochs, 'epoch')}, with {fewest}."

    def _what_to_expect(self) -> str:
        known = self.generalisation()
        return f"Expected error: {known.in_words}." if known.is_known else ""


@dataclass(kw_only=True, eq=False)
class History:
    """What the proof needs of a learner's past; every memory is one, and says how its space measures.

    `longest` is R^2, or a little more. Each update lengthens ||w||^2 by at most `step_square`, and ||w||^2 is a sum of
    `terms` squares: that is all that the rounding of a bound depends on. `lead` is the largest that was asked for, and
    `narrow` counts the examples that were right and added nevertheless.
    """

    examples: int = 0
    longest: float = 0.0
    lead: float = 0.0
    narrow: int = 0

    @property
    def mistakes(self) -> int:
        """How many examples were wrong, and added."""
        raise NotImplementedError

    @property
    def updates(self) -> int:
        """k: how many examples were added."""
        return self.mistakes + self.narrow

    @property
    def weights_length(self) -> float:
        """||w||, the length of the sum of the mistakes."""
        raise NotImplementedError

    @property
    def radius(self) -> float:
        """R, rounded up."""
        return root_up(self.longest)

    @property
    def vector_square(self) -> float:
        """The largest squared length of a vector that an update adds."""
        return self.longest

    @property
    def step_square(self) -> float:
        """The most that an update adds to ||w||^2: its own square, and twice a score of at most the lead."""
        return (1.0 + 2.0 * self.lead) * self.vector_square

    @property
    def terms(self) -> int:
        return 1

    def lengths(self) -> Iterable[tuple[float, float]]:
        """Updates, and a number not below the length of their sum: once, or for each of several separate learners."""
        yield self.updates, self.weights_length * (1.0 + (self.terms + 8) * UNIT_ROUNDOFF)

    @property
    def margin_at_most(self) -> float:
        """gamma <= ||w||/k after k updates, rounded outwards; infinite before the first.

        Every addition rounds w by at most u ||w|| <= u sqrt(k) R, so k of them by at most u k sqrt(k) R.
        """
        return min((up(length / k + self.rounding(k)) for k, length in self.lengths() if k), default=math.inf)

    def rounding(self, k: float) -> float:
        """How much k additions may have rounded ||w||/k."""
        return 2.0 * UNIT_ROUNDOFF * math.sqrt(k * self.step_square)

    def margin_at_least(self, lead: float) -> float:
        """The margin of weights under which every example is ahead by more than this lead, rounded down.

        A score is off by no more than its `terms` roundings, each of at most u ||w|| ||z||.
        """
        lengths = [length for k, length in self.lengths() if k]
        if not lead or not lengths:
            return 0.0
        rounded = 4.0 * (self.terms + 8) * UNIT_ROUNDOFF * root_up(self.vector_square)
        return max(0.0, down(down(lead * self.vector_square) / up(max(lengths)) - rounded))

    def renumber(self, rows: Any) -> None:
        """Learn the numbers that rows have among all, where a memory keeps the numbers of its mistakes."""

    def finished(self) -> Any:
        """The memory as it is kept once learning has ended."""
        return self

    def recorded(
        self,
        readout: str,
        stopped: Stopped | None = None,
        per_epoch: tuple[int, ...] = (),
        *,
        kind: type[Run] = Run,
        **more: Any,
    ) -> Any:
        """The record of all this, and of whatever more is known."""
        return kind(
            mistakes=self.mistakes,
            mistakes_per_epoch=per_epoch,
            examples=self.examples,
            stopped=stopped,
            radius=self.radius,
            weights_length=self.weights_length,
            margin_at_most=self.margin_at_most,
            readout=readout,
            lead=self.lead,
            narrow=self.narrow,
            **{"epochs": len(per_epoch), **more},
        )


def why_not_converged(run: Run, readout: str, min_margin: float | None) -> str:
    """What to tell who asked for convergence, by the last weights or a margin, and did not get it; else nothing."""
    if run.stopped is Stopped.MARGIN_RULED_OUT:
        return (
            f"no separator has the margin min_margin={min_margin}: after {run.added} "
            f'{run.ruled_out}. Ask for less, or settle for readout="average", which needs no separator'
        )
    if run.stopped is Stopped.CYCLE:
        return f'{run.returned}. Settle for readout="average", which needs no separator'
    if run.stopped in (Stopped.MAX_ITER, Stopped.NO_PROGRESS) and (readout == "last" or min_margin is not None):
        whole = run.epochs == len(run.mistakes_per_epoch)
        made = counted(run.updates_per_epoch[-1], "update" if run.lead else "mistake") if whole else "mistakes"
        return (
            f"the last of {counted(run.epochs, 'epoch')} still made {made}; "
            f"{run.ruled_out}, and perhaps there is none. Raise max_iter (None: no limit), or use "
            'readout="average", which needs no separator'
        )
    return ""
