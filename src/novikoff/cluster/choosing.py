"""How shards choose a lead: as the rows of one machine do, by some that are put aside.

Whether a row is put aside follows from its number among all rows, and what a trial learns follows from the shards, as
every round does. So the choice is the same on any engine, and after a worker has died. With mixing="none" it is the
choice of one machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from novikoff.cluster.agreeing import Cluster
from novikoff.cluster.mixing import Mixing
from novikoff.cluster.parts import Part
from novikoff.cluster.rounds import Rounds, rounds_of
from novikoff.cluster.worker import Agreement, Learning, Worker
from novikoff.data.held_out import HeldOut
from novikoff.learn.choosing import SHARE_OF_A_TRIAL, Trial, hurried, run_or_raise, with_fewest
from novikoff.learn.epochs import Limits
from novikoff.learn.history import Readout


@dataclass(frozen=True)
class ShardedChooser:
    """Shards, and how they are learned, but for the lead."""

    cluster: Cluster
    how: Learning
    mixing: Mixing
    readout: Readout
    random_state: int

    def lead(self, limits: Limits) -> float:
        """The lead that is wrong on the fewest judging rows."""
        mixed = 1 if self.mixing == "none" else len(self.cluster.shards)
        trial = Trial.within(limits.max_epochs, mixed)
        judging_part, learned_part = trial.parts(self.random_state)
        judging = self._only(judging_part, True)
        some = self._only(judging_part, False) if learned_part is None else self._only(learned_part, True)
        if not judging.n_rows or not some.n_rows:  # too few rows to put some aside
            return trial.leads[-1]
        few = Limits(trial.epochs, time_limit=hurried(limits, SHARE_OF_A_TRIAL).time_limit)
        found = [self._errors(tried, some, judging, few) for tried in trial.tried]
        return with_fewest(dict(zip(trial.leads, found, strict=True)))

    def _errors(self, lead: float, some: Cluster, judging: Cluster, limits: Limits) -> int:
        """How many of the judging rows are wrong after some others were learned."""
        rounds = rounds_of(some, replace(self.how, lead=lead), limits, self.mixing, _nothing)
        run_or_raise(rounds, limits)
        rounds.finished()
        return int(sum(np.unpackbits(bits).sum() for bits in judging.call("errors", rounds.history, self.readout)))

    def _only(self, held_out: HeldOut, wanted: bool) -> Cluster:
        """The same shards with some of their rows."""
        part = Part(held_out, wanted, self.cluster.agreed.starts)
        sizes: Sequence[int] = self.cluster.call("apply", _size, part)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        agreed = replace(self.cluster.agreed, starts=starts, part=part)
        return replace(self.cluster, agreed=agreed, shared=self.cluster.engine.share(agreed))


def _size(worker: Worker, agreed: Agreement, part: Part) -> int:
    return part.size(worker.number)


def _nothing(rounds: Rounds) -> None:
    """A trial is not shown, and leaves no checkpoint: whoever was killed in it begins anew."""
