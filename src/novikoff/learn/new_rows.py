"""Expected error: what a run states about new rows of the same kind.

Every statement names its predictor and its assumptions. All assume that the rows are independent draws from one source,
and that new rows come from it, too. Scaling, selecting or choosing anything by the same rows beforehand breaks that,
and no statement can detect it. What the run itself chose by its rows is accounted for: each candidate gets a part of
the doubt, which is 1 - confidence. docs/how-to/new_rows.md has the derivations.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from novikoff.engine.chances import (
    check_confidence,
    clopper_pearson,
    compressed_chance_at_most,
    mean_chance_at_most,
)
from novikoff.engine.rounding import at_most
from novikoff.say import runs as say
from novikoff.say.words import counted

if TYPE_CHECKING:
    from novikoff.learn.run import Run

INDEPENDENT = "the rows are independent draws from one source"
BY_CHANCE = f"{INDEPENDENT}, and their order is independent of their content"


@dataclass(frozen=True)
class Statement:
    """A bound on the fraction of new rows that a predictor gets wrong.

    `wrong` is the fraction counted, if it estimates the same. With `confidence` None the bound holds in expectation
    over the rows only: it estimates a number that the expected error does not exceed.
    """

    name: str
    predictor: str
    assumes: str
    at_most: float
    confidence: float | None
    wrong: float | None = None
    at_least: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}: {self.predictor}: {self.in_words}. Assumes that {self.assumes}."

    @property
    def in_words(self) -> str:
        most = f"at most {in_percent(self.at_most)}"
        known = f"{most} wrong" if self.wrong is None else f"about {about(self.wrong)} wrong, {most}"
        sure = "in expectation" if self.confidence is None else f"{100.0 * self.confidence:.6g} %"
        return f"{known} ({sure})"


def about(share: float) -> str:
    """Format a fraction that was counted.

    >>> about(0.14765), about(0.00082), about(0.0)
    ('14.8 %', '0.082 %', '0.0 %')
    """
    return f"{100.0 * share:.2g} %" if 0 < share < 0.01 else f"{100.0 * share:.1f} %"


def in_percent(share: float) -> str:
    """Format a fraction that is a bound, rounded up.

    >>> in_percent(0.04871)
    '4.9 %'
    """
    return f"{at_most(100.0 * share, 2)} %"


@dataclass(frozen=True)
class Generalisation:
    """What a run states about new rows: all `statements`, and the one on the `delivered` predictor, or `why_not`.

    `training` is the fraction of training rows that the delivered predictor gets wrong, if they were counted.
    """

    statements: tuple[Statement, ...]
    delivered: Statement | None
    why_not: str | None
    row: str = "row"
    training: float | None = None
    n_folds: int = 0

    def __str__(self) -> str:
        return "\n".join([f"Expected error: {self.in_words}.", *map(str, self.statements)])

    @property
    def folds(self) -> Statement | None:
        """The cross-validation statement, on models trained alike, if there were folds."""
        return next((statement for statement in self.statements if statement.name == "folds"), None)

    @property
    def is_known(self) -> bool:
        """Whether there is anything to report: errors on rows that were not learned, or a bound below 1/2."""
        return self._said is not None and (self._said.wrong is not None or self._said.at_most < 0.5)

    @property
    def _said(self) -> Statement | None:
        return self.folds or self.delivered

    @property
    def in_words(self) -> str:
        """What is known of the expected error of this model, and of no other."""
        return self.with_hint("")

    def with_hint(self, how: str) -> str:
        """The same, with the hint `how` to measure it if it was not measured."""
        said, each = self._said, "" if self.row == "row" else f" of the {self.row}s"
        if said is None or not self.is_known:
            training = "" if self.training is None else f"; training error {about(self.training)}{each}"
            return f"not measured{how}{training}"
        bound = f"at most {in_percent(said.at_most)} ({100.0 * (said.confidence or 0.0):.6g} % confidence)"
        if said.wrong is None:
            return f"{bound}{each}, by the training {self.row}s alone"
        if self.folds is None:
            return f"held-out error {about(said.wrong)}{each}, {bound}"
        return f"{self.n_folds}-fold error {about(said.wrong)}{each}, {bound} for models trained alike"


def generalisation(run: "Run", confidence: float = 0.95, *, random_order: bool | None = None) -> Generalisation:
    """All that follows from a record; see `Run.generalisation`."""
    check_confidence(confidence)
    doubt = 1.0 - confidence
    facts = Facts(run, run.order in ("mixed", "random") if random_order is None else random_order)
    makers = [facts.held_out, facts.folds, facts.progressive, facts.first_vote, facts.left_out, facts.compressed]
    statements = tuple(found for make in makers if (found := make(doubt)) is not None)
    # From held-out rows, if there are any; else the best of those from the training rows, each with its part of the
    # doubt, because the same rows choose the best.
    delivered = facts.held_out(doubt)
    if delivered is None:
        competing = [facts.compressed]
        competing += [facts.first_vote] if run.readout == "vote" and run.epochs == 1 else []
        parts = [make(doubt / len(competing)) for make in competing]
        best = min((part for part in parts if part is not None), key=lambda statement: statement.at_most, default=None)
        delivered = None if best is None else replace(best, confidence=confidence)
    training = None if run.errors is None or not run.n_rows else run.errors / run.n_rows
    return Generalisation(statements, delivered, facts.why_not(), run.row, training, len(run.fold_rows))


@dataclass(frozen=True)
class Facts:
    """A record, and whether the order of its rows is independent of their content."""

    run: "Run"
    random_order: bool

    @property
    def _trials(self) -> tuple[int, int] | None:
        """Mistakes and rows of the first pass, in which every row was predicted before it was learned."""
        run = self.run
        if not self.random_order or run.order is None or run.encoded:
            return None
        if run.stopped is None:  # an online learner, which sees each example once
            return (min(run.mistakes, run.examples), run.examples) if run.examples else None
        if not run.n_rows or run.examples < run.n_rows or not run.mistakes_per_epoch:
            return None
        return min(run.mistakes_per_epoch[0], run.n_rows), run.n_rows

    @property
    def _leads(self) -> int:
        """How many leads the rows chose from: each gets an equal part of the doubt (union bound)."""
        return max(1, self.run.leads_tried)

    @property
    def _ways(self) -> int:
        """How many ways to learn they chose from, in effect: E epochs get 1/(E (E + 1)) of the doubt."""
        errors = self.run.validation_errors
        epochs = errors.index(min(errors)) + 1 if errors else 0
        return self._leads * max(1, epochs * (epochs + 1))

    def held_out(self, doubt: float) -> Statement | None:
        run = self.run
        if not run.held_out_rows or run.held_out_errors is None:
            return None
        lower, upper = clopper_pearson(run.held_out_errors, run.held_out_rows, 1.0 - doubt)
        judged = f"{counted(run.held_out_errors, 'error')} on {counted(run.held_out_rows, run.row)} that were held out"
        share = run.held_out_errors / run.held_out_rows
        assumed = INDEPENDENT.replace("row", run.row)
        return Statement("held out", f"{say.read_by(run)}, by {judged}", assumed, upper, 1.0 - doubt, share, lower)

    def folds(self, doubt: float) -> Statement | None:
        """Hoelder's inequality: the product of the folds' bets, each to the power of 1/folds, has a mean of at most 1,
        however the folds depend on each other; that is a bet on 1/folds of the rows."""
        run = self.run
        if not run.fold_rows:
            return None
        folds, errors, rows = len(run.fold_rows), sum(run.fold_errors), sum(run.fold_rows)
        bound = mean_chance_at_most(errors / folds, rows / folds, doubt)
        models = f"the mean of {folds} models, each trained without one of {folds} parts and tested on it"
        return Statement("folds", models, INDEPENDENT, bound, 1.0 - doubt, errors / rows)

    def progressive(self, doubt: float) -> Statement | None:
        if self._trials is None:
            return None
        mistakes, rows = self._trials
        bound = mean_chance_at_most(mistakes, rows, doubt / self._leads)
        drawn = "weights of the first pass, drawn at random each time"
        return Statement("progressive", drawn, BY_CHANCE, bound, 1.0 - doubt, mistakes / rows)

    def first_vote(self, doubt: float) -> Statement | None:
        """Where a vote is wrong, at least half of the voters are. The vote is of the weights after each row, not before
        it, which adds one voter and takes one away."""
        if self._trials is None or self.run.row != "row":  # sequences have no vote
            return None
        mistakes, rows = self._trials
        bound = min(1.0, 2.0 * (mean_chance_at_most(mistakes, rows, doubt / self._leads) + 1.0 / rows))
        return Statement("first vote", "the vote of the first pass", BY_CHANCE, bound, 1.0 - doubt)

    def left_out(self, doubt: float) -> Statement | None:
        """In expectation only. Leaving out a row that was never mistaken would have changed nothing: so the last
        weights of all rows but one err on that one only if it was mistaken, or if they err on it now. Unless the rows
        chose anything: without one, they might have chosen otherwise, and an expectation has no doubt to divide."""
        run = self.run
        if self._ways > 1:
            return None
        if run.readout == "last" and (counts := self._compression) is not None:
            rows, kept, errors = counts
            bound = min(1.0, (kept + errors) / rows)
            return Statement("leave one out", "the last weights of a run with one row less", BY_CHANCE, bound, None)
        if self._trials is None or run.row != "row":
            return None
        mistakes, rows = self._trials
        bound = min(1.0, 2.0 * (mistakes + 1) / rows)
        return Statement("leave one out", "the vote of the first pass", BY_CHANCE, bound, None)

    @property
    def _compression(self) -> tuple[int, int, int] | None:
        """Rows, how many of them were ever mistaken, and errors on the others: where these rows determine the run."""
        run = self.run
        ended = run.stopped is not None and run.stopped.name in ("NO_MISTAKES", "MAX_ITER", "VALIDATION")
        errors = run.errors if run.errors_elsewhere is None else run.errors_elsewhere
        if not (ended and self.random_order and run.order is not None) or run.encoded:
            return None
        if run.n_rows is None or run.mistaken_rows is None or errors is None:
            return None
        return run.n_rows, run.mistaken_rows, min(errors, run.n_rows - run.mistaken_rows)

    def compressed(self, doubt: float) -> Statement | None:
        if self._compression is None:
            return None
        rows, kept, errors = self._compression
        bound = compressed_chance_at_most(rows, kept, errors, doubt / self._ways)
        given = f"{say.read_by(self.run)}, which {kept:,} of {rows:,} {self.run.row}s determine"
        return Statement("compression", given, BY_CHANCE, bound, 1.0 - doubt)

    def why_not(self) -> str | None:
        """Why the training rows give no bound for the delivered predictor."""
        run = self.run
        if run.encoded:
            return f"the encoding was learned from the same {run.row}s"
        if run.order == "given" and not self.random_order:
            return f"the {run.row}s came in the order given, which may depend on their content"
        if self._compression is not None:
            rows, kept, _ = self._compression
            were = "were mistaken or narrow" if run.lead else "were mistaken"
            return f"too many {run.row}s {were}, {kept:,} of {rows:,}"
        return f"that needs {run.row}s not used in training"
