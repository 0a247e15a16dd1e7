"""Learning from shards on many machines, with the theorem of one."""

import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from novikoff.cluster.agreeing import Reading, started
from novikoff.cluster.checkpoint import Checkpoint, check_no_run_is_lost, read_checkpoint, take_up
from novikoff.cluster.engine import Engine, Local
from novikoff.cluster.mixing import MIXINGS, Mixing
from novikoff.cluster.rounds import Rounds, Shards
from novikoff.learn.choosing import leads_tried
from novikoff.learn.fit import fit as learn_fit
from novikoff.learn.fit import settled
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.run import Stopped
from novikoff.options import Options

if TYPE_CHECKING:
    from novikoff.estimators.perceptron import Perceptron

# What is called after every round.
Watcher = Callable[[Rounds], None]


def fit(
    source: Any,
    *,
    engine: Engine | None = None,
    mixing: Mixing = "uniform",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
    **asked: Any,
) -> "Perceptron":
    """A `Perceptron`, learned from the shards of a data set.

    What was asked for are fields of `Reading`, which say how the shards are read, and options of `novikoff.options`;
    an epoch is a round here, in which every shard is learned once.

    Parameters
    ----------
    source : files (a path, a pattern, a list of them; here, or at s3://, gs:// and the like), what `novikoff.data.read`
        makes of them, which says how a table in text is written, or a `ray.data.Dataset`.
    engine : what runs the shards: `Local()`, the default, or `Ray(address)`. Both give the same bits.
    mixing : "uniform" adds the mean of what the shards learned in a round; "adaptive" as much of its sum as the theorem
        allows; with "none" the weights go from shard to shard, which is the run of one machine, bit for bit.
    checkpoint : a file that is written after every round, and removed in the end. With `resume` the run goes on from
        it, after its driver was killed, to the same bits.
    watch : called after every round with the `Rounds` so far.
    asked : `shuffle` draws the order of a shard from `random_state`, the round and the shard; it is not for
        `mixing="none"`. A `lead` goes by the longest example of all shards; "auto" divides the lead that is tried by
        the number of shards that are mixed.

    Theorem (McDonald, Hall and Mann 2010): with examples of length at most R that some unit vector separates with
    margin gamma, K = sum over rounds and shards of mu k is at most (R/gamma)^2, where k are the mistakes of a shard in
    a round and mu its share in the weights.
    """
    own = {name: asked.pop(name) for name in READING if name in asked}
    options = _options(mixing, asked)
    shared: dict[str, Any] = {"fit_intercept": options.fit_intercept, "labels_are_shared": mixing != "none"}
    reading = Reading(**own, **shared).of(source)
    parameters: dict[str, Any] = {"label": reading.label}
    parameters |= {name: getattr(options, name) for name in (*SAME_RUN, "max_iter", "time_limit")}
    kept = _Kept(checkpoint, {name: parameters[name] for name in ("label", *SAME_RUN)} | {"mixing": mixing}, resume)
    known = kept.lead() if options.lead == "auto" else None
    with started(engine or Local(), source, reading, kept.token) as cluster:
        space = Shards(mixing, kept.watched_by(watch), kept.take_up)
        learned = learn_fit(cluster, space, options if known is None else replace(options, lead=known))
    how = settled(options, cluster.n_rows)
    if known is not None and how.lead == "auto":
        tried = leads_tried(cluster, how.epochs, space.over(cluster, options).shards)
        learned = replace(learned, run=replace(learned.run, leads_tried=len(tried)))
    if learned.run.stopped is not Stopped.INTERRUPTED:
        kept.remove()
    parameters |= {} if cluster.shards[0].is_table else {"zero_based": cluster.agreed.terms.zero_based}
    from novikoff.estimators.perceptron import Perceptron

    return Perceptron.from_model(LinearModel.of(learned, parameters))


# What of `Reading` a user says, and which options a run that goes on must have, too.
READING = (
    "label", "categorical", "text", "tfidf", "ignore", "format", "zero_based", "classes", "encoding", "shard_bytes",
    "cache_folder",
)  # fmt: skip
SAME_RUN = ("readout", "fit_intercept", "shuffle", "random_state", "tie", "lead", "min_margin")


def _options(mixing: Mixing, asked: dict[str, Any]) -> Options:
    if mixing not in MIXINGS:
        raise ValueError(f"mixing={mixing!r} is unknown; choose one of {', '.join(MIXINGS)}")
    if asked.get("readout") == "vote":
        raise ValueError('a vote needs every mistake, and shards keep theirs; choose readout="average" or "last"')
    if mixing == "none" and asked.get("shuffle"):
        raise ValueError('mixing="none" is the run of one machine in the order given; leave shuffle out')
    for name in ("class_weight", "held_out", "early_stopping", "record_mistakes", "tol"):
        if asked.get(name) not in (None, False):
            raise ValueError(f"{name}= is not supported for shards; leave it out")
    usual = {"shuffle": mixing != "none", "random_state": 0}
    given = {name: value for name, value in asked.items() if name != "shuffle" or value is not None}
    return Options.of({**usual, **given}, "fit")


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
