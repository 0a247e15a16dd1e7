"""The structured perceptron (Collins 2002): labels that are structures, of which there may be exponentially many.

An input x has a set of possible structures: ways to pair, to bracket, to cut or to tag it. Features turn x and a
structure y into a vector, and a decoder finds the structure of the highest score <w, features(x, y)>. It is the
perceptron of the notes on differences: where the decoder errs, features(x, gold) - features(x, guess) is an example
whose score should be positive and is not, and it is added to the weights.

Theorem: if some unit vector u scores every gold structure above each other structure of the same input by at least
gamma, and no difference is longer than R, at most (R/gamma)^2 mistakes are made. How many structures there are appears
nowhere: a mistake brings one example into the proof, the difference that was added.

With a loss, a guess is a mistake if its score plus its loss is at least gold's score. Then <w, difference> <= loss, so
a mistake adds at most R^2 + 2 max loss to ||w||^2, and still at least gamma to <w, u>. From k gamma <= ||w|| <=
sqrt(k (R^2 + 2 max loss)) follows k <= (R^2 + 2 max loss)/gamma^2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from novikoff.learn.cycles import Cycle
from novikoff.learn.epochs import Epochs, Learner, Watch
from novikoff.learn.fit import Space
from novikoff.learn.history import GuessedMistakes
from novikoff.learn.run import Stopped
from novikoff.learn.structure.memory import StructureMemory
from novikoff.learn.structure.search import StructureSearch, same
from novikoff.options import Options

if TYPE_CHECKING:
    from novikoff.data.held_out import HeldOut


@dataclass(frozen=True)
class Pairs:
    """Inputs with their gold structures, and the numbers under which errors name them."""

    pairs: Sequence[tuple[Any, Any]]
    numbers: Sequence[int]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Any]]) -> "Pairs":
        return cls(pairs, range(len(pairs)))

    @property
    def n_rows(self) -> int:
        return len(self.pairs)

    def parted(self, part: "HeldOut") -> "tuple[Pairs, Pairs]":
        """The pairs to learn from, and those to judge by."""
        kept, held = (
            Pairs([self.pairs[row] for row in rows], [self.numbers[row] for row in rows])
            for rows in part.parted(self.n_rows)
        )
        return kept, held


@dataclass(frozen=True)
class AnyStructure(Space):
    """The space of any argmax: features of structures, and the search for the best one. `chance` shuffles."""

    search: StructureSearch
    chance: Any = None
    leads = False

    def learner(self, examples: Pairs, options: Options, start: StructureMemory | None = None) -> "StructureLearner":
        return StructureLearner(start or StructureMemory(), self.search, examples, self.chance, options.record_mistakes)


@dataclass
class StructureLearner(Learner):
    """Inputs with their gold structures, whose differences to the guesses are added: the space of any argmax.

    Without `chance`, which shuffles, they come in the order given. To `keep` the mistakes, `rows` has the inputs,
    numbered from `before`, and `guesses` what was guessed; `mistaken` has those that ever were.
    """

    history: StructureMemory
    search: StructureSearch
    examples: Pairs
    chance: Any = None
    keep: bool = False
    before: int = 0
    rows: list[int] = field(default_factory=list)
    guesses: list[Any] = field(default_factory=list)
    mistaken: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pairs, self.order = self.examples.pairs, list(range(self.examples.n_rows))
        self.epochs = Epochs(len(self.order))
        repeats = self.chance is None and self.search.violation is None
        self.returning = CountedGuesses(self.history, self.search, self.pairs) if repeats else None

    def mistakes(self) -> GuessedMistakes | None:
        return GuessedMistakes(self.rows, self.guesses) if self.keep else None

    def wrong(self, examples: Pairs, readout: Any) -> list[bool]:
        weights = self.history.deciding_weights(readout)
        numbered = zip(examples.numbers, examples.pairs, strict=True)
        return [not same(self.search.best(weights, x, number), gold) for number, (x, gold) in numbered]

    def counts(self, readout: Any, stopped: Stopped) -> dict[str, Any]:
        """Where a guess is not what would be predicted, or a wrong one may not count as a mistake, less is known of new
        inputs; after Ctrl-C nobody wants to wait for a count."""
        if stopped is Stopped.INTERRUPTED:
            return {}
        wrong = self.wrong(self.examples, readout)
        errors = {row for row, is_wrong in enumerate(wrong) if is_wrong}
        found: dict[str, Any] = {"errors": len(errors)}
        if self.search.loss is not None or self.search.violation is not None or self.history.search_errors:
            return found
        order = "given" if self.chance is None else "random"
        elsewhere = len(errors - self.mistaken)
        return found | {"order": order, "mistaken_rows": len(self.mistaken), "errors_elsewhere": elsewhere}

    def learn(self, watch: Watch) -> Stopped | None:
        """Decode every input once, in a new random order if there is something to shuffle with."""
        if self.chance is not None:
            self.chance.shuffle(self.order)
        self.history.astray = 0
        margin = watch.min_margin
        for row in self.order:
            mistake = self._learn(row, *self.pairs[row])
            if mistake and margin is not None and self.history.rules_out(margin):
                return Stopped.MARGIN_RULED_OUT
            if (stopped := watch.cut_short()) is not None:
                return stopped
        return None

    def _learn(self, row: int, x: Any, gold: Any) -> bool:
        rival = self.search.rival(self.history.weights, x, gold, self.examples.numbers[row])
        mistake = self.history.learn(rival)
        self.epochs.count_one(mistake)
        if rival is None:
            return False
        if not mistake:
            self.history.astray += 1
            return False
        self.mistaken.add(row)
        if self.returning is not None:
            self.returning.count(row, rival.guess)
        if self.keep:
            self.rows.append(self.before + row)
            self.guesses.append(rival.guess)
        return True


class CountedGuesses:
    """How often each input was mistaken for each guess."""

    def __init__(self, memory: StructureMemory, search: StructureSearch, pairs: Sequence[tuple[Any, Any]]) -> None:
        self.memory, self.search, self.pairs = memory, search, pairs
        self.made: dict[int, list[tuple[Any, int]]] = {}

    def count(self, row: int, guess: Any) -> None:
        known = self.made.setdefault(row, [])
        place = next((i for i, (other, _) in enumerate(known) if same(guess, other)), len(known))
        times = known[place][1] if place < len(known) else 0
        known[place : place + 1] = [(guess, times + 1)]

    def weights_hash(self) -> int:
        return hash(frozenset((feature, weight) for feature, weight in self.memory.weights.items() if weight))

    def count_anew(self) -> None:
        self.made = {}

    def cancelled(self, since: int, until: int, watch: Watch) -> Cycle | None:
        made = [(row, guess, times) for row, guesses in sorted(self.made.items()) for guess, times in guesses]
        total: dict[Any, Fraction] = {}
        for row, guess, times in made:
            if watch.is_over():
                return None
            x, gold = self.pairs[row]
            for structure, sign in ((gold, times), (guess, -times)):
                for feature, value in self.search.vector(x, structure, row).items():
                    total[feature] = total.get(feature, Fraction(0)) + sign * Fraction(value)
        if any(total.values()):
            return None
        rows, guesses, counts = zip(*made, strict=True)
        return Cycle(since, until, rows, counts, guesses)
