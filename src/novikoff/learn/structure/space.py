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
from typing import Any

from novikoff.learn.epochs import Epochs, Watch
from novikoff.learn.history import Readout, Stopped
from novikoff.learn.structure.memory import Memory
from novikoff.learn.structure.returning import CountedMistakes
from novikoff.learn.structure.search import Search, same


@dataclass
class Structures:
    """Inputs with their gold structures, whose differences to the guesses are added: the space of any argmax.

    To `keep` the mistakes, `rows` has the inputs and `guesses` what was guessed. `astray` counts the search errors of
    the last epoch. `before` is the number of inputs that were learned earlier. Only those in `learned` are learned, if
    they are named; `mistaken` has those that ever were.
    """

    history: Memory
    search: Search
    pairs: list[tuple[Any, Any]]
    chance: Any = None
    keep: bool = False
    before: int = 0
    astray: int = 0
    rows: list[int] = field(default_factory=list)
    guesses: list[Any] = field(default_factory=list)
    learned: Sequence[int] | None = None
    mistaken: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.order = list(range(len(self.pairs)) if self.learned is None else self.learned)
        self.epochs = Epochs(len(self.order))
        repeats = self.chance is None and self.search.violation is None
        self.returning = CountedMistakes(self.history, self.search, self.pairs) if repeats else None

    def counts(self, readout: Readout, judged: Sequence[int]) -> dict[str, Any]:
        """What the record has to know to say something about new inputs: errors on those learned, and on those judged.

        Where a guess is not what would be predicted, or a wrong one may not count as a mistake, less is known.
        """
        weights = self.history.deciding_weights(readout)

        def wrong(row: int) -> bool:
            x, gold = self.pairs[row]
            return not same(self.search.best(weights, x, row), gold)

        errors = {row for row in self.order if wrong(row)}
        found: dict[str, Any] = {"errors": len(errors)}
        if judged:
            found |= {"held_out_rows": len(judged), "held_out_errors": sum(map(wrong, judged))}
        if self.search.loss is not None or self.search.violation is not None or self.history.search_errors:
            return found
        order = "given" if self.chance is None else "random"
        elsewhere = len(errors - self.mistaken)
        return found | {"order": order, "mistaken_rows": len(self.mistaken), "errors_elsewhere": elsewhere}

    def learn(self, watch: Watch) -> Stopped | None:
        """Decode every input once, in a new random order if there is something to shuffle with."""
        if self.chance is not None:
            self.chance.shuffle(self.order)
        self.astray = 0
        margin = watch.min_margin
        for row in self.order:
            mistake = self._learn(row, *self.pairs[row])
            if mistake and margin is not None and self.history.rules_out(margin):
                return Stopped.MARGIN_RULED_OUT
            if (stopped := watch.cut_short()) is not None:
                return stopped
        return None

    def _learn(self, row: int, x: Any, gold: Any) -> bool:
        rival = self.search.rival(self.history.weights, x, gold, row)
        mistake = self.history.learn(rival)
        self.epochs.count_one(mistake)
        if rival is None:
            return False
        if not mistake:
            self.astray += 1
            return False
        self.mistaken.add(row)
        if self.returning is not None:
            self.returning.count(row, rival.guess)
        if self.keep:
            self.rows.append(self.before + row)
            self.guesses.append(rival.guess)
        return True
