"""When the weights of a structured perceptron return, and whether the differences added in between cancel."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from novikoff.learn.cycles import Cycle, never
from novikoff.learn.structure.memory import Memory
from novikoff.learn.structure.search import Search, same


class CountedMistakes:
    """How often each input was mistaken for each guess."""

    def __init__(self, memory: Memory, search: Search, pairs: Sequence[tuple[Any, Any]]) -> None:
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

    def cancelled(self, since: int, until: int, is_late: Callable[[], bool] = never) -> Cycle | None:
        made = [(row, guess, times) for row, guesses in sorted(self.made.items()) for guess, times in guesses]
        total: dict[Any, Fraction] = {}
        for row, guess, times in made:
            if is_late():
                return None
            x, gold = self.pairs[row]
            for structure, sign in ((gold, times), (guess, -times)):
                for feature, value in self.search.vector(x, structure, row).items():
                    total[feature] = total.get(feature, Fraction(0)) + sign * Fraction(value)
        if any(total.values()):
            return None
        rows, guesses, counts = zip(*made, strict=True)
        return Cycle(since, until, rows, counts, guesses)
