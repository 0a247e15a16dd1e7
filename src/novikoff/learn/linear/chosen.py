"""How a linear perceptron lets a share of its rows choose the lead, or the number of epochs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Examples
from novikoff.data.held_out import HeldOut
from novikoff.learn.choosing import Chooser, run_or_raise
from novikoff.learn.epochs import Limits, Watcher
from novikoff.learn.history import Stopped
from novikoff.learn.linear.memory import Memory, decider
from novikoff.learn.linear.space import Coordinates, empty_memory


@dataclass(frozen=True, kw_only=True)
class LinearChooser(Chooser):
    """Examples, and the options of `perceptron` that are not chosen."""

    examples: Examples
    how: dict[str, Any]

    def parted(self, part: HeldOut) -> tuple[Examples, Examples]:
        return self.examples.parted(part)

    def learned(self, some: Examples, lead: float, max_epochs: int | None, watch: Watcher | None = None) -> Memory:
        how = self.how
        memory = empty_memory(some, how["fit_intercept"], how["readout"] == "vote", how["weights"])
        generator = np.random.default_rng(self.random_state) if how["shuffle"] else None
        each = watch is not None
        space = Coordinates(some, memory, how["tie"], generator, max_epochs, lead=lead, one_by_one=each)

        def look(memory: Memory) -> Stopped | None:
            self._log(space)
            return None if watch is None else watch(memory)

        limits = Limits(max_epochs, time_limit=self.limits.time_limit, watch=look if each else None)
        if run_or_raise(space, limits) is Stopped.NO_MISTAKES:
            space.forget_what_came_after()
        self._log(space)
        return memory

    def _log(self, space: Coordinates) -> None:
        """Bring the mistakes so far to the memory, if there is to be a vote."""
        space.logged()
        space.parts.clear()

    def heft(self, some: Examples) -> NDArray[np.float64] | None:
        weights = self.how["weights"]
        return None if weights is None else weights[np.concatenate([some.places_of(b.labels) for b in some.blocks()])]

    def wrong(self, memory: Memory, some: Examples) -> NDArray[np.bool_]:
        decides = decider(memory, self.how["readout"])
        return np.concatenate([decides.classes(b.rows) != some.places_of(b.labels) for b in some.blocks()])
