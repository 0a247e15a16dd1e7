"""The history of a learner, which the proof needs, and the record that every run leaves of it.

One learning rule: on a mistake, add the example. One history: how many examples were seen, how many were mistakes, how
long the longest is, and how long the sum of the mistakes has become. From these numbers alone follow the bound and the
margins that are ruled out, in any space in which examples are added: coordinates, a kernel expansion, label sequences,
any structure. Three read-outs of the history (Freund and Schapire 1999): the last weights, their average, their vote.

With a lead tau an example is also added if it is right, but by no more than tau R^2 (Krauth and Mezard 1987). Then it
is *narrow*, and no mistake; mistakes and narrow ones are *updates*, and k counts these. Each adds at most R^2 +
2 tau R^2 to ||w||^2, so k <= (1 + 2 tau) (R/gamma)^2.
"""

import enum
import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from novikoff.engine.rounding import UNIT_ROUNDOFF, down, root_up, up
from novikoff.say import runs as say
from novikoff.say.words import cancelling

if TYPE_CHECKING:
    from novikoff.learn.linear.notes import WorkedRun
    from novikoff.learn.new_rows import Generalisation


class Stopped(enum.Enum):
    """Why a run ended; `novikoff.say.runs` has the sentences."""

    NO_MISTAKES = enum.auto()
    MAX_ITER = enum.auto()
    NO_PROGRESS = enum.auto()
    MARGIN_RULED_OUT = enum.auto()
    TIME_LIMIT = enum.auto()
    INTERRUPTED = enum.auto()
    CYCLE = enum.auto()
    VALIDATION = enum.auto()


@dataclass(frozen=True)
class Cycle:
    """Mistakes that add up to 0: distinct `rows`, and how many `times` each was made.

    With more than two labels a row may occur several times, each time with another of the `rivals`. The weights after
    `since` and after `until` epochs are the same.

    >>> print(Cycle(1, 2, (0, 1, 2), (1, 1, 2)))
    rows (the first is 0) cancel exactly: 1 x row 0 + 1 x row 1 + 2 x row 2 = 0
    """

    since: int
    until: int
    rows: tuple[int, ...]
    times: tuple[int, ...]
    rivals: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        return cancelling(self.rows, self.times, self.rivals)


@dataclass(frozen=True, kw_only=True)
class Happened:
    """What a run did.

    `stopped` is None for an online learner (`partial_fit`), and `mistakes_per_epoch` is empty; of a long run it has the
    first epochs. `errors` counts the rows that the read-out gets wrong after a `fit`; the last weights may be free of
    mistakes while their average still errs.

    With a `lead`, `narrow` counts the examples that were right, but were learned, and `narrow_per_epoch` those of every
    epoch. `leads_tried` counts the leads from which the training rows chose this one; 0 if it was given, or if they
    were too few to choose. `validation_errors` counts the errors on the validation part after each epoch, if it chose
    the number of epochs. Where the weights of `shards` learners were mixed in rounds, every mistake counts with its
    mixing weight, and `mixed_mistakes` adds them up.
    """

    mistakes: int
    mistakes_per_epoch: tuple[int, ...]
    examples: int
    stopped: Stopped | None
    readout: str
    n_rows: int | None = None
    errors: int | None = None
    epochs: int = 0
    lead: float = 0.0
    leads_tried: int = 0
    narrow: int = 0
    narrow_per_epoch: tuple[int, ...] = ()
    validation_errors: tuple[int, ...] = ()
    mixed_mistakes: float | None = None
    shards: int = 0

    @property
    def updates(self) -> int:
        """k: how many examples were added, mistakes and narrow ones."""
        return self.mistakes + self.narrow

    @property
    def updates_per_epoch(self) -> tuple[int, ...]:
        """The same for every epoch that is recorded."""
        if not self.narrow_per_epoch:
            return self.mistakes_per_epoch
        return tuple(sum(both) for both in zip(self.mistakes_per_epoch, self.narrow_per_epoch, strict=True))


@dataclass(frozen=True, kw_only=True)
class Proved(Happened):
    """What the run proves.

    `margin_at_most` comes with the proof: the sum w of k updates has <w, u> >= k gamma for every unit u that separates
    with margin gamma, so gamma <= ||w||/k. It needs no convergence, and it is rounded outwards (infinite before the
    first). `radius` is R, the longest example seen, rounded up. With an intercept both are those of the folded
    examples; with more than two classes of Kesler's margin, ||W|| = 1, whose bound is 2 (R/gamma)^2. For mixed weights,
    `mixed_mistakes` replaces k.

    With a lead tau, when an epoch makes no update, every example is ahead by more than tau R^2, so the last weights
    separate with a margin of at least tau R^2/||w||: `margin_at_least`, rounded down, and 0 where nothing is known.
    `cycle` has mistakes that add up to 0, and so rule out every separator, if the weights of a run without shuffling
    returned.

    If examples were `weighted`, R, ||w|| and margins are those of the weighted examples. If columns were `scaled`,
    which says why, they are those of the scaled rows.
    """

    radius: float
    weights_length: float
    margin_at_most: float
    margin_at_least: float = 0.0
    cycle: Cycle | None = None
    weighted: bool = False
    scaled: str | None = None

    @property
    def allowed_at_least(self) -> float:
        """The fewest updates that the theorem may allow, as no margin is larger than `margin_at_most`."""
        return (1.0 + 2.0 * self.lead) * (down(self.radius) / self.margin_at_most) ** 2 * (1 - 8 * UNIT_ROUNDOFF)

    @property
    def has_length(self) -> bool:
        """Whether there are lengths and margins; a kernel that is not positive definite has none."""
        return not math.isinf(self.radius)


@dataclass(frozen=True, kw_only=True)
class Run(Proved):
    """The record of a run: what happened, what that proves, and what it states about new rows.

    `order` is that of the rows: "given", "random", or "mixed", which is random but for runs of neighbours; None if the
    run did not start from zero weights, or if its mistakes do not count every wrong prediction. `mistaken_rows` counts
    the rows that determine the run: those ever mistaken (with a lead, also the narrow ones, and those that increased
    R), and `errors_elsewhere` the errors on the others. `encoded` says that the encoding was learned from the same
    rows. Rows that were held out were not used for training; nor was each part of `fold_rows` for the model that it
    tests.
    """

    order: str | None = None
    mistaken_rows: int | None = None
    errors_elsewhere: int | None = None
    encoded: bool = False
    held_out_rows: int = 0
    held_out_errors: int | None = None
    fold_rows: tuple[int, ...] = ()
    fold_errors: tuple[int, ...] = ()

    # What an example is called, and what is counted as an error on the validation part.
    row: ClassVar[str] = "row"
    validation_error: ClassVar[str] = "error"

    def __str__(self) -> str:
        return say.record(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def generalisation(self, confidence: float = 0.95, *, random_order: bool | None = None) -> "Generalisation":
        """What the run states about new rows of the same kind, each bound with this confidence.

        `random_order=True` asserts that the rows are independent, come once each, and in an order independent of their
        content, which a run in the order given cannot know. `delivered` has the bound on the predictor that the model
        uses; where several bounds compete, they share the doubt, 1 - confidence.

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
        from novikoff.learn.linear.notes import worked

        return worked(X, y, mistake_rows, self.updates_per_epoch, self.examples, fit_intercept)


@dataclass(frozen=True)
class Mistakes:
    """Mistakes in order, by row, and what else is known of each; all whole numbers, except for `FLOATS`."""

    rows: Any

    FLOATS: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        import numpy as np  # learners in pure Python do not need it

        none = {field.name: np.empty(0, np.float64 if field.name in cls.FLOATS else np.int64) for field in fields(cls)}
        columns = {name: [empty, *(getattr(part, name) for part in parts)] for name, empty in none.items()}
        return cls(**{name: np.concatenate(column) for name, column in columns.items()})

    def numbered(self, numbers: Any) -> Self:
        rows = numbers[self.rows]
        return replace(self, rows=rows.tolist() if isinstance(self.rows, list) else rows)


@dataclass(frozen=True)
class GuessedMistakes(Mistakes):
    """The same with the guess of each, a label sequence or a structure, if guesses were kept."""

    guesses: list[Any] | None = None


@dataclass(kw_only=True, eq=False)
class History:
    """What the proof needs of a learner's past; every memory is one, and defines lengths in its space.

    `longest` is R^2, or a little more. Each update lengthens ||w||^2 by at most `step_square`, and ||w||^2 is a sum of
    `terms` squares: the rounding of a bound depends on nothing else. `lead` is the largest requested, and `narrow`
    counts the examples that were right, but were added.
    """

    examples: int = 0
    longest: float = 0.0
    lead: float = 0.0
    narrow: int = 0

    @property
    def mistakes(self) -> int:
        raise NotImplementedError

    @property
    def updates(self) -> int:
        return self.mistakes + self.narrow

    @property
    def weights_length(self) -> float:
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
        """Updates, and an upper bound on the length of their sum: once, or for each of several separate learners."""
        yield self.updates, self.weights_length * (1.0 + (self.terms + 8) * UNIT_ROUNDOFF)

    @property
    def margin_at_most(self) -> float:
        """gamma <= ||w||/k after k updates, rounded outwards; infinite before the first.

        Every addition rounds w by at most u ||w|| <= u sqrt(k) R, so k of them by at most u k sqrt(k) R.
        """
        return min((up(length / k + self.rounding(k)) for k, length in self.lengths() if k), default=math.inf)

    def rounding(self, k: float) -> float:
        """A bound on the rounding error of ||w||/k after k additions."""
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
        """Renumber rows among all, where a memory keeps the rows of its mistakes."""

    def finished(self) -> Any:
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
        """The record of this history, with more fields."""
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
            **{"weighted": getattr(self, "weighted", False), "epochs": len(per_epoch), **more},
        )
