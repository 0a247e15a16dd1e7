"""What a structured perceptron has learned, with all that it takes to predict."""

from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from typing import Any

from novikoff.learn.model import Model, NamedWeight
from novikoff.learn.run import Run
from novikoff.learn.structure.memory import FeatureWeights, StructureMemory
from novikoff.learn.structure.search import StructureSearch
from novikoff.options import Readout


@dataclass(frozen=True)
class MistakenStructures:
    """The mistaken inputs by number, in order, and what was guessed."""

    rows: list[int]
    guesses: list[Any]

    def numbered(self, numbers: Any) -> "MistakenStructures":
        """The same mistakes, their rows numbered otherwise."""
        return MistakenStructures([int(numbers[row]) for row in self.rows], self.guesses)

    def followed_by(self, more: "MistakenStructures") -> "MistakenStructures":
        return MistakenStructures(self.rows + more.rows, self.guesses + more.guesses)


@dataclass(frozen=True, eq=False)
class StructuredModel(Model):
    """The weights by feature, the functions that they are for, and how they are read out."""

    memory: StructureMemory
    search: StructureSearch
    readout: Readout = "average"
    mistakes: MistakenStructures | None = None

    @property
    def record(self) -> Run:
        """The record of the run, also while learning goes on."""
        record: Run = self.memory.recorded(self.readout) if self.run is None else self.run
        return record

    @cached_property
    def weights(self) -> FeatureWeights:
        """The weights of the read-out, by feature."""
        return self.memory.read_out(self.readout)

    @cached_property
    def deciding_weights(self) -> FeatureWeights:
        """The same, before they are divided, which is what structures are found by."""
        return self.memory.deciding_weights(self.readout)

    def weights_by_name(self) -> list[NamedWeight]:
        """The weights, the largest in size first."""
        return [NamedWeight(None, name, weight) for name, weight in self.heaviest(len(self.weights))]

    def heaviest(self, n: int) -> list[tuple[Any, float]]:
        """The n features of the largest weights, of either sign, with their weights."""
        return nsmallest(n, self.weights.items(), key=lambda item: (-abs(item[1]), repr(item[0])))
