"""Learning from shards on many machines, with the theorem of one."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.cluster.agreeing import Cluster, Reading, started
from novikoff.cluster.checkpoint import Checkpoint, check_no_run_is_lost, read_checkpoint, take_up
from novikoff.cluster.choosing import ShardedChooser
from novikoff.cluster.engine import Engine, Local
from novikoff.cluster.mixing import MIXINGS, Mixing
from novikoff.cluster.rounds import MixedRounds, PassedRounds, Rounds, rounds_of
from novikoff.cluster.shards import SHARD_BYTES
from novikoff.cluster.worker import Learning
from novikoff.engine.clock import now
from novikoff.learn.choosing import CHOSEN, Lead, check_lead, less_time
from novikoff.learn.epochs import Limits, check_choices, run
from novikoff.learn.history import Readout, Stopped, Tie
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.linear.space import Learned

if TYPE_CHECKING:
    from novikoff.data.svmlight import ZeroBased
    from novikoff.estimators.perceptron import Perceptron
    from novikoff.features.encode import Encoding

# What is called after every round.
Watcher = Callable[[Rounds], None]


def fit(
    source: Any,
    *,
    label: str | None = None,
    engine: Engine | None = None,
    rounds: int | None = 10,
    mixing: Mixing = "uniform",
    readout: Readout = "average",
    fit_intercept: bool = True,
    shuffle: bool | None = None,
    random_state: int = 0,
    tie: Tie = "mistake",
    lead: Lead = 0.0,
    min_margin: float | None = None,
    time_limit: float | None = None,
    classes: ArrayLike | None = None,
    encoding: "Encoding | None" = None,
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    tfidf: Sequence[str] = (),
    ignore: Sequence[str] = (),
    format: str | None = None,
    zero_based: "ZeroBased" = "auto",
    shard_bytes: int = SHARD_BYTES,
    cache_folder: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
) -> "Perceptron":
    """A `Perceptron`, learned from the shards of a data set.

    Parameters
    ----------
    source : files (a path, a pattern, a list of them; here, or at s3://, gs:// and the like), what `novikoff.data.read`
        makes of them, which says how a table in text is written, or a `ray.data.Dataset`.
    label : the column of a table that has the labels; by default that of the reader.
    engine : what runs the shards: `Local()`, the default, or `Ray(address)`. Both give the same bits.
    rounds : how often every shard is learned at most (None: no limit).
    mixing : "uniform" adds the mean of what the shards learned in a round; "adaptive" as much of its sum as the theorem
        allows; with "none" the weights go from shard to shard, which is the run of one machine, bit for bit.
    readout : which weights predict, "average" or "last".
    shuffle : whether a shard is learned in another order each round, drawn from `random_state`, the round and the
        shard. Not with `mixing="none"`.
    lead : by how much an example must be right so as not to be learned, in units of R^2; with mixing, R is the longest
        example of all shards. "auto" tries 0 and a sixth of `rounds`, divided by the number of shards that are
        mixed, on one half of the rows, and takes the one that is wrong on fewer of the other half. With mixing="none"
        that is the choice of one machine.
    classes : the labels, if a shard may lack some, or have one that no other has.
    encoding, categorical, text, tfidf, ignore : how columns become numbers; see `novikoff.features.encode`.
    shard_bytes : about how many bytes of a file make a shard.
    cache_folder : where nodes keep the examples of their shards; by default where temporary files go.
    checkpoint : a file that is written after every round, and removed in the end. With `resume` the run goes on from
        it, after its driver was killed, to the same bits.
    watch : called after every round with the `Rounds` so far.

    Theorem (McDonald, Hall and Mann 2010): with examples of length at most R that some unit vector separates with
    margin gamma, K = sum over rounds and shards of mu k is at most (R/gamma)^2, where k are the mistakes of a shard in
    a round and mu its share in the weights.
    """
    _check(rounds, mixing, readout, tie, shuffle, lead)
    limits = Limits(rounds, min_margin, time_limit, readout=readout)
    reading = Reading(
        label,
        {"categorical": categorical, "text": text, "tfidf": tfidf, "ignored": ignore},
        format,
        zero_based,
        classes,
        encoding,
        fit_intercept,
        shard_bytes,
        cache_folder,
        labels_are_shared=mixing != "none",
    )
    shuffled = mixing != "none" if shuffle is None else shuffle
    told = 0.0 if lead == "auto" else float(lead)
    how = Learning(tie, int(random_state) if shuffled else None, readout == "average", told)
    asked: dict[str, Any] = {
        "label": reading.of(source).label,
        "readout": readout,
        "fit_intercept": fit_intercept,
        "shuffle": shuffled,
        "random_state": random_state,
        "tie": tie,
        "lead": lead,
        "min_margin": min_margin,
    }
    kept = _Kept(checkpoint, {**asked, "mixing": mixing}, resume)
    with started(engine or Local(), source, reading, kept.token) as cluster:
        if lead == "auto":
            began, found = now(), kept.lead()
            if found is None:
                found = ShardedChooser(cluster, how, mixing, readout, int(random_state)).lead(limits)
            how, limits = replace(how, lead=found), less_time(limits, began)
        space = rounds_of(cluster, how, limits, mixing, kept.watched_by(watch))
        kept.take_up(space)
        learned = _learned(cluster, space, limits, readout, CHOSEN if lead == "auto" else {})
    if learned.run.stopped is not Stopped.INTERRUPTED:
        kept.remove()
    asked |= {"max_epochs": rounds, "time_limit": time_limit}
    asked |= {} if cluster.shards[0].is_table else {"zero_based": cluster.agreed.terms.zero_based}
    from novikoff.estimators.perceptron import Perceptron

    return Perceptron.from_model(LinearModel.of(learned, asked))


def _check(rounds: int | None, mixing: Mixing, readout: Readout, tie: Tie, shuffle: bool | None, lead: Any) -> None:
    if mixing not in MIXINGS:
        raise ValueError(f"mixing={mixing!r} is unknown; choose one of {', '.join(MIXINGS)}")
    check_choices(readout=readout, tie=tie)
    check_lead(lead)
    if readout == "vote":
        raise ValueError('a vote needs every mistake, and shards keep theirs; choose readout="average" or "last"')
    if mixing == "none" and shuffle:
        raise ValueError('mixing="none" is the run of one machine in the order given; leave shuffle out')
    if rounds is not None and (isinstance(rounds, bool) or int(rounds) != rounds or rounds < 1):
        raise ValueError(f"rounds={rounds!r} must be a whole number of at least 1, or None for no limit")


class _Kept:
    """The checkpoint of a run, if one is wanted, and what it goes on from."""

    def __init__(self, path: str | os.PathLike[str] | None, asked: dict[str, Any], resume: bool) -> None:
        if resume and path is None:
            raise ValueError("resume goes on from a checkpoint; say which, with checkpoint=")
        self._parts = read_checkpoint(path, asked) if resume and path is not None else None
        if self._parts is None:
            check_no_run_is_lost(path)
        self.token: str = secrets.token_hex(8) if self._parts is None else self._parts.header["token"]
        self._file = None if path is None else Checkpoint(path, asked, self.token)

    def watched_by(self, watch: Watcher | None) -> Watcher:
        """What is called after every round."""

        def after(rounds: Rounds) -> None:
            if self._file is not None:
                self._file.write(rounds)
            if watch is not None:
                watch(rounds)

        return after

    def lead(self) -> float | None:
        """The lead of the run that goes on, which may have been chosen."""
        return None if self._parts is None else float(self._parts.header["history"]["lead"])

    def take_up(self, space: Rounds) -> None:
        if self._parts is not None:
            take_up(space, self._parts)

    def remove(self) -> None:
        if self._file is not None:
            self._file.remove()


def _learned(cluster: Cluster, space: Rounds, limits: Limits, readout: Readout, chosen: Mapping[str, Any]) -> Learned:
    stopped = _stopped_before(space, limits) or run(space, limits)
    space.finished()
    counts = {**_counts(cluster, space, readout), **space.epochs.recorded(), **space.facts(), **chosen}
    if stopped is Stopped.NO_MISTAKES:
        counts["margin_at_least"] = space.history.margin_at_least(space.how.lead)
    record = space.history.recorded(readout, stopped, n_rows=cluster.n_rows, **counts)
    agreed = cluster.agreed
    return Learned(space.history, record, agreed.classes, None, agreed.terms.encoding, agreed.fingerprint)


def _stopped_before(space: Rounds, limits: Limits) -> Stopped | None:
    """Why a run that was taken up does not go on: its driver was killed after the last round."""
    if not space.epochs.steps:
        return None
    if space.epochs.flawless is not None:
        return Stopped.NO_MISTAKES
    if space.epochs.cycle is not None and (limits.wants_convergence or isinstance(space, MixedRounds)):
        return Stopped.CYCLE
    if limits.min_margin is not None and space.history.margin_at_most < limits.min_margin:
        return Stopped.MARGIN_RULED_OUT
    return Stopped.MAX_EPOCHS if limits.max_epochs is not None and space.epochs.begun >= limits.max_epochs else None


def _counts(cluster: Cluster, space: Rounds, readout: Readout) -> dict[str, Any]:
    """The errors of the read-out on all rows."""
    bits = cluster.call("errors", space.history, readout)
    sizes = np.diff(cluster.agreed.starts).tolist()
    wrong = [np.unpackbits(part, count=size).astype(bool) for part, size in zip(bits, sizes, strict=True)]
    counts: dict[str, Any] = {"errors": sum(int(part.sum()) for part in wrong)}
    if isinstance(space, PassedRounds):
        elsewhere: NDArray[np.bool_] = np.concatenate(wrong) & ~space.mistaken
        counts |= {"errors_elsewhere": int(elsewhere.sum()), "encoded": cluster.agreed.terms.encoding is not None}
    return counts
