"""How a kernel perceptron lets a share of its rows choose the lead, or the number of epochs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import class_places
from novikoff.data.held_out import HeldOut
from novikoff.learn.choosing import Chooser, run_or_raise
from novikoff.learn.epochs import Limits, Watcher
from novikoff.learn.history import Stopped
from novikoff.learn.kernel.expansion import Expansion
from novikoff.learn.kernel.kernels import Kernel, Points
from novikoff.learn.kernel.memory import Memory, Numbers
from novikoff.learn.kernel.readout import decide
from novikoff.learn.kernel.space import prepare
from novikoff.learn.linear.memory import predicted


@dataclass(frozen=True, kw_only=True)
class KernelChooser(Chooser):
    """Rows, of which some are taken by their numbers, and the options of `kernel_perceptron` that are not chosen."""

    points: Points
    labels: NDArray[Any]
    kernel: Kernel
    n_classes: int
    readout: Any
    tie: Any
    shuffle: bool
    empty: dict[str, Any]

    def parted(self, part: HeldOut) -> tuple[Numbers, Numbers]:
        return part.parted(len(self.points))

    def learned(self, some: Numbers, lead: float, max_epochs: int | None, watch: Watcher | None = None) -> Memory:
        memory = Memory.empty(self.kernel, self.n_classes, vote=self.readout == "vote", **self.empty)
        points = self.points.take(some)
        prepare(memory, points, self.labels[some])
        task = (memory, points, self.labels[some], self.tie, np.random.default_rng(self.random_state), False)
        space = Expansion.of(*task, self.shuffle, lead=lead)

        def look(memory: Memory) -> Stopped | None:
            space.catch_up()  # the mistakes of the epoch are not in the memory before the next one begins
            return None if watch is None else watch(memory)

        run_or_raise(space, Limits(max_epochs, time_limit=self.limits.time_limit, watch=look if watch else None))
        space.settle()
        return memory

    def heft(self, some: Numbers) -> NDArray[np.float64] | None:
        weights = self.empty["class_weights"]
        return None if weights is None else weights[class_places(self.labels[some], self.n_classes)]

    def wrong(self, memory: Memory, some: Numbers) -> NDArray[np.bool_]:
        found = predicted(decide(memory, self.points.take(some), self.readout))
        return np.asarray(found != class_places(self.labels[some], self.n_classes))
