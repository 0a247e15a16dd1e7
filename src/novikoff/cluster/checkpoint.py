"""What a driver writes after every round, so that a run goes on after it was killed, to the same bits.

A file in the layout of model files (`keep/layout.py`), which has its old content or all of the new: the weights, the
numbers of the proof, the mistakes of every round, and the fingerprints of the shards, by which changed data are found.
"""

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from novikoff import __version__
from novikoff.cluster.agreeing import Cluster
from novikoff.cluster.mixing import Mixture
from novikoff.cluster.rounds import MixedRounds, PassedRounds, Rounds
from novikoff.keep.layout import Arrays, FileParts, read, write
from novikoff.learn.cycles import Cycle
from novikoff.learn.epochs import Epochs

KIND = "checkpoint of a cluster"
COUNTS = ("steps", "flawless", "unfinished", "counts", "unfinished_narrow", "narrow")
HISTORY = ("examples", "mistakes", "narrow", "lead", "longest")
LOOKOUT = ("next", "kept", "since", "looks", "patience")


class Checkpoint:
    """A file beside a run. `asked` is what a run that goes on must ask for, too."""

    def __init__(self, path: str | os.PathLike[str], asked: Mapping[str, Any], token: str) -> None:
        self.path = Path(path)
        self.asked = dict(asked)
        self.token = token

    def write(self, rounds: Rounds) -> None:
        """What is known after a round."""
        history, epochs = rounds.history, rounds.epochs
        header: dict[str, Any] = {
            "format": 1,
            "novikoff": __version__,
            "learner": KIND,
            "token": self.token,
            "asked": self.asked,
            "shards": _shards(rounds.cluster),
            "epochs": {name: getattr(epochs, name) for name in COUNTS},
            "history": {name: getattr(history, name) for name in HISTORY},
        }
        arrays: Arrays = {"weights": history.weights}
        if isinstance(rounds, MixedRounds):
            mixture = rounds.mixture
            header["mixture"] = {"counted": str(mixture.counted), "moved": mixture.moved}
            arrays["summed"] = rounds.summed
        elif isinstance(rounds, PassedRounds):
            arrays |= {"drift": history.drift, "mistaken": rounds.mistaken}
            header["cycle"] = None if epochs.cycle is None else list(vars(epochs.cycle).values())
            if rounds.counted_rows is not None:
                header["lookout"] = {name: getattr(rounds.lookout, name) for name in LOOKOUT}
                arrays["counts"] = rounds.counted_rows.counts
        write(self.path, header, arrays)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def read_checkpoint(path: str | os.PathLike[str], asked: Mapping[str, Any]) -> FileParts:
    """What a checkpoint holds, if it is one, and of a run that asked for the same."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no checkpoint {path} to resume from; start without resume")
    parts = read(path)
    header = parts.header
    if header.get("learner") != KIND:
        raise ValueError(f"{path} is not a checkpoint; name the one that the run has written")
    if header.get("novikoff") != __version__:
        raise ValueError(f"{path} was written by novikoff {header.get('novikoff')}, and this is {__version__}")
    for name, value in asked.items():
        if header["asked"].get(name) != value:
            raise ValueError(
                f"{path} is of a run with {name}={header['asked'].get(name)!r}, not {name}={value!r}; "
                "ask for the same, or begin anew"
            )
    return parts


def check_no_run_is_lost(path: str | os.PathLike[str] | None) -> None:
    """Refuse to begin where another run could go on."""
    if path is not None and os.path.exists(path):
        raise FileExistsError(f"{path} is the checkpoint of a run that can go on; resume it, or delete the file")


def take_up(rounds: Rounds, parts: FileParts) -> None:
    """Put rounds where they were when a checkpoint was written, if the shards are still the same."""
    header, arrays = parts
    _check_shards(rounds.cluster, header["shards"])
    history = rounds.history
    for name, value in header["history"].items():
        setattr(history, name, value)
    rounds.epochs = Epochs(rounds.cluster.n_rows, **{name: header["epochs"][name] for name in COUNTS})
    history.weights = arrays["weights"]
    if isinstance(rounds, MixedRounds):
        mixture = header["mixture"]
        counted = Fraction(mixture["counted"])
        rounds.mixture = Mixture(history.weights, counted, history.updates, mixture["moved"])
        rounds.summed = arrays["summed"]
        rounds.remember()
    elif isinstance(rounds, PassedRounds):
        history.drift, rounds.mistaken = arrays["drift"], arrays["mistaken"].astype(np.bool_)
        if header["cycle"] is not None:
            since, until, rows, times, rivals = header["cycle"]
            against = None if rivals is None else tuple(rivals)
            rounds.epochs.cycle = Cycle(since, until, tuple(rows), tuple(times), against)
            rounds.lookout.space = None
        if rounds.counted_rows is not None:
            rounds.counted_rows.counts[:] = arrays["counts"]
            for name in LOOKOUT:
                setattr(rounds.lookout, name, header["lookout"][name])


def _shards(cluster: Cluster) -> list[list[str]]:
    of_each = zip(cluster.shards, cluster.agreed.prepared, strict=True)
    return [[shard.name, prepared.fingerprint] for shard, prepared in of_each]


def _check_shards(cluster: Cluster, before: list[list[str]]) -> None:
    now = _shards(cluster)
    for (name, fingerprint), (old_name, old_fingerprint) in zip(now, before, strict=False):
        if name != old_name:
            raise ValueError(f"the checkpoint is of other shards: {old_name} has become {name}")
        if fingerprint != old_fingerprint:
            raise ValueError(f"{name} has changed since the checkpoint was written; begin anew")
    if len(now) != len(before):
        raise ValueError(f"the checkpoint is of {len(before)} shards, and now there are {len(now)}; begin anew")
