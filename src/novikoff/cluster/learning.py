"""Learning from shards on many machines, with the theorem of one."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff import __version__
from novikoff.cluster.agreeing import Cluster, given, started
from novikoff.cluster.engine import Engine, Local
from novikoff.cluster.rounds import MIXINGS, Mixing, Mixture, Rounds, Shards, Watcher
from novikoff.cluster.worker import Reading
from novikoff.features.scaling import table_scale
from novikoff.keep.layout import FileParts, read, write
from novikoff.learn.epochs import Epochs
from novikoff.learn.fit import fit as learn_fit
from novikoff.learn.fit import leads_tried, settled
from novikoff.learn.linear.memory import LinearModel
from novikoff.learn.run import Stopped
from novikoff.options import Options

if TYPE_CHECKING:
    from novikoff.estimators.perceptron import Perceptron


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
    """Return a `Perceptron`, learned from the shards of a data set.

    Keywords are the fields of `Reading` that say how the shards are read, and options of `novikoff.options`;
    an epoch is a round here, in which every shard is learned once.

    Parameters
    ----------
    source : files (a path, a pattern, a list of them; here, or at s3://, gs:// and the like), a reader by
        `novikoff.data.read`, which says how a table in text is written, or a `ray.data.Dataset`.
    engine : what runs the shards: `Local()`, the default, or `Ray(address)`. Both give the same bits.
    mixing : "uniform" adds the mean of what the shards learned in a round; "adaptive" as much of its sum as the theorem
        allows; with "none" the shards send their rows, one block after the other, to the run of one machine.
    checkpoint : a file that is written after every round, and removed in the end. With `resume`, a run whose driver
        was killed continues from it, to the same bits. Not with `mixing="none"`.
    watch : called after every round with the `Rounds` so far.
    asked : `shuffle` draws the order of a shard from `random_state`, the round and the shard; not allowed with
        `mixing="none"`. A `lead` is relative to the longest example of all shards; "auto" divides the lead that is
        tried by the number of shards that are mixed.

    Theorem (McDonald, Hall and Mann 2010): with examples of length at most R that some unit vector separates with
    margin gamma, K = sum over rounds and shards of mu k is at most (R/gamma)^2, where k are the mistakes of a shard in
    a round and mu its factor in the mixture.
    """
    own = {name: asked.pop(name) for name in READING if name in asked}
    options = _options(mixing, asked)
    is_mixed = mixing != "none"
    if not is_mixed and (resume or checkpoint is not None):
        raise ValueError('mixing="none" is the run of one machine, which has no checkpoint; omit checkpoint and resume')
    scale = table_scale("auto", options.fit_intercept, options.readout)
    reading = Reading(**own, fit_intercept=options.fit_intercept, labels_are_shared=is_mixed, scale=scale)
    reading = given(source, reading)
    same = {"label": reading.label, **{name: getattr(options, name) for name in SAME_RUN}}
    kept = Checkpoint(checkpoint, {**same, "mixing": mixing}, resume)
    lead = kept.lead if options.lead == "auto" else None

    def begin(rounds: Any) -> None:
        kept.take_up(rounds)
        rounds.after = after

    def after(rounds: Any) -> None:
        kept.write(rounds)
        if watch is not None:
            watch(rounds)

    with started(engine or Local(), source, reading, kept.token) as cluster:
        how = options if lead is None else replace(options, lead=lead)
        learned = learn_fit(cluster if is_mixed else cluster.examples, Shards(cluster, mixing, begin), how)
    if lead is not None and (usual := settled(options, cluster.n_rows)).lead == "auto":
        tried = leads_tried(cluster, usual.epochs, len(cluster.shards))
        learned = replace(learned, run=replace(learned.run, leads_tried=len(tried)))
    if learned.run.stopped is not Stopped.INTERRUPTED:
        kept.remove()
    parameters = {**same, "max_iter": options.max_iter, "time_limit": options.time_limit}
    parameters |= {} if cluster.shards[0].is_table else {"zero_based": cluster.agreed.reading.zero_based}
    from novikoff.estimators.perceptron import Perceptron

    return Perceptron.from_model(LinearModel.of(learned, parameters))


# The fields of `Reading` that a user sets, and the options that must be the same when a run resumes.
READING = (
    "label", "categorical", "text", "tfidf", "ignore", "format", "zero_based", "classes", "encoding", "shard_bytes",
    "cache_folder",
)  # fmt: skip
SAME_RUN = ("readout", "fit_intercept", "shuffle", "random_state", "tie", "lead", "min_margin")

KIND = "checkpoint of a cluster"


def _options(mixing: Mixing, asked: dict[str, Any]) -> Options:
    if mixing not in MIXINGS:
        raise ValueError(f"mixing={mixing!r} is unknown; choose one of {', '.join(MIXINGS)}")
    if asked.get("readout") == "vote":
        raise ValueError('a vote needs every mistake, and shards keep theirs; choose readout="average" or "last"')
    if mixing == "none" and asked.get("shuffle"):
        raise ValueError('mixing="none" is the run of one machine in the order given; omit shuffle')
    for name in ("class_weight", "held_out", "early_stopping", "record_mistakes", "tol"):
        if asked.get(name) not in (None, False):
            raise ValueError(f"{name}= is not supported for shards; omit it")
    usual = {"shuffle": mixing != "none", "random_state": 0}
    given = {name: value for name, value in asked.items() if name != "shuffle" or value is not None}
    return Options.of({**usual, **given}, "fit")


class Checkpoint:
    """What a driver writes after every round, so that a killed run resumes to the same bits.

    A file in the layout of model files (`keep/layout.py`), replaced atomically: the weights, the numbers of the proof,
    the mistakes of every round, and the fingerprints of the shards, which detect changed data. `asked` are the options
    that must be the same when a run resumes. Without a path nothing is written.
    """

    def __init__(self, path: str | os.PathLike[str] | None, asked: Mapping[str, Any], resume: bool) -> None:
        self.path, self.asked = None if path is None else Path(path), dict(asked)
        self._parts: FileParts | None = None
        if resume:
            self._parts = self._read()
        elif self.path is not None and self.path.exists():
            raise FileExistsError(
                f"{path} is the checkpoint of a run that can be resumed; resume it, or delete the file"
            )
        self.token: str = secrets.token_hex(8) if self._parts is None else self._parts.header["token"]
        # The lead of the resumed run, which may have been chosen.
        self.lead = None if self._parts is None else float(self._parts.header["lead"])

    def _read(self) -> FileParts:
        """Return the content of the file, if it is a checkpoint of a run with the same options."""
        path = self.path
        if path is None:
            raise ValueError("a run resumes from a checkpoint; say which, with checkpoint=")
        if not path.exists():
            raise FileNotFoundError(f"there is no checkpoint {path} to resume from; start without resume")
        parts = read(path)
        header = parts.header
        if header.get("learner") != KIND:
            raise ValueError(f"{path} is not a checkpoint; name the one that the run has written")
        if header.get("novikoff") != __version__:
            raise ValueError(f"{path} was written by novikoff {header.get('novikoff')}, and this is {__version__}")
        for name, value in self.asked.items():
            if header["asked"].get(name) != value:
                raise ValueError(
                    f"{path} is of a run with {name}={header['asked'].get(name)!r}, not {name}={value!r}; "
                    "ask for the same, or start over"
                )
        return parts

    def write(self, rounds: Rounds) -> None:
        """Write what is known after a round; not after one that shows a cycle, which would show it again."""
        if self.path is None or rounds.epochs.cycle is not None:
            return
        history, mixture = rounds.history, rounds.mixture
        header: dict[str, Any] = {
            "format": 1,
            "novikoff": __version__,
            "learner": KIND,
            "token": self.token,
            "asked": self.asked,
            "shards": _shards(rounds.cluster),
            "epochs": vars(rounds.epochs),
            "lead": history.lead,
            "narrow": history.narrow,
            "counted": str(mixture.counted),
            "updates": mixture.updates,
            "moved": mixture.moved,
        }
        write(self.path, header, {"weights": mixture.weights, "summed": rounds.summed})

    def take_up(self, rounds: Rounds) -> None:
        """Restore rounds from the checkpoint, if the shards are still the same."""
        if self._parts is None:
            return
        header, arrays = self._parts
        now, before = _shards(rounds.cluster), header["shards"]
        if [name for name, _ in now] != [name for name, _ in before]:
            raise ValueError(f"the checkpoint is of {len(before)} other shards; start over")
        for (name, fingerprint), (_, known) in zip(now, before, strict=True):
            if fingerprint != known:
                raise ValueError(f"{name} has changed since the checkpoint was written; start over")
        rounds.epochs = Epochs(**header["epochs"])
        rounds.history.examples, rounds.history.narrow = rounds.epochs.steps, header["narrow"]
        counted = Fraction(header["counted"])
        rounds.mixture = Mixture(arrays["weights"], counted, header["updates"], header["moved"])
        rounds.summed = arrays["summed"]
        rounds.remember()

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _shards(cluster: Cluster) -> list[list[str]]:
    of_each = zip(cluster.shards, cluster.agreed.prepared, strict=True)
    return [[shard.name, prepared.fingerprint] for shard, prepared in of_each]
