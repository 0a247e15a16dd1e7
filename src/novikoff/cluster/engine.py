"""Engines, which run shards: in this process, or as actors of Ray, on as many machines as a cluster has.

A worker is made from its shard alone, and the results of its methods depend only on the shard and their arguments. So a
method that runs twice, or again on another machine, gives the same answer, and `Local` is the oracle for every other
engine.

An actor has one shard or several. Ray restarts an actor that dies, here or on another node, and repeats the call that
it interrupted. Actors request almost no CPU, so that those of a lost node fit on the remaining nodes.
"""

import contextlib
import os
import platform
import re
import socket
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from novikoff import __version__
from novikoff.cluster.shards import Shard

MakeWorker = Callable[[int, Shard], Any]

# Enough that no actor is placed on a node without CPUs, such as a head that is to do nothing else.
PROCESSOR = 0.001

# How often a call whose answer was lost with a node is repeated.
MOST_TRIES = 100

# The forms of a cluster's address.
ADDRESSES = ("here", "auto", "HOST:PORT", "ray://HOST:PORT")
HOST_AND_PORT = re.compile(r"(?:ray://)?(\[[0-9A-Fa-f:.%]+\]|[\w.-]+):([0-9]{1,5})")

# Ray itself would wait minutes for an unreachable head.
SECONDS_TO_REACH = 10


def host_and_port(address: str) -> tuple[str, int] | None:
    """Return where the head of a cluster listens, if the address names it; refuse any other, without asking Ray.

    >>> host_and_port("head:6379"), host_and_port("ray://[::1]:10001"), host_and_port("auto")
    (('head', 6379), ('::1', 10001), None)
    """
    if address in ("here", "auto"):
        return None
    found = HOST_AND_PORT.fullmatch(address)
    if found is None or not 1 <= int(found[2]) <= 65535:
        raise ValueError(f"{address!r} is not an address of a Ray cluster; use one of {', '.join(ADDRESSES)}")
    return found[1].strip("[]"), int(found[2])


class Local:
    """Runs the shards one after the other, in this process; any class with these methods is an engine.

    `restarted` is the number of workers that have died and been restarted so far.
    """

    restarted = 0

    def __init__(self) -> None:
        self._workers: list[Any] = []

    def __repr__(self) -> str:
        return "Local()"

    def start(self, make: MakeWorker, shards: Sequence[Shard]) -> None:
        """Make a worker for every shard."""
        self._workers = [make(number, shard) for number, shard in enumerate(shards)]

    def share(self, value: Any) -> Any:
        """Return what to pass to `call` in place of a value that is used in several calls."""
        return value

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        """Call a method on every shard, or on some; return the results in the order of the shards."""
        numbers = range(len(self._workers)) if on is None else on
        return [getattr(self._workers[number], method)(*args) for number in numbers]

    def close(self) -> None:
        """Stop all workers."""
        for worker in self._workers:
            worker.close()
        self._workers = []


class Ray:
    """Runs the shards as actors of Ray.

    `address` says which cluster: "here" starts one on this machine, for this run; "auto" is the one that RAY_ADDRESS
    names, or that runs on this machine; "HOST:PORT" is the one whose head listens there, and to which this machine
    belongs; "ray://HOST:PORT" is another, through Ray's client. Without an address it is the cluster that this process
    is connected to, or else "here". `workers` is the number of actors, by default one for every processor; nothing but
    time depends on it.
    """

    def __init__(self, address: str | None = None, *, workers: int | None = None) -> None:
        self._head = None if address is None else host_and_port(address)
        self.address = address
        self.workers = workers
        self._actors: list[Any] = []
        self._seen: list[set[str]] = []  # the incarnations of each actor
        self._n_shards = 0
        self._is_ours = False

    def __repr__(self) -> str:
        return f"Ray({self.address!r})" if self.workers is None else f"Ray({self.address!r}, workers={self.workers})"

    @property
    def restarted(self) -> int:
        """How many actors have died and been restarted so far."""
        return sum(len(lives) - 1 for lives in self._seen)

    def start(self, make: MakeWorker, shards: Sequence[Shard]) -> None:
        ray = _ray()
        self._connect(ray)
        places = self._places(ray, len(shards))
        self._n_shards = len(shards)
        numbered = list(enumerate(shards))
        actor = ray.remote(max_restarts=-1, max_task_retries=-1, num_cpus=PROCESSOR)(_Actor)
        strategy = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        self._actors = [
            actor.options(scheduling_strategy=strategy(node, soft=True)).remote(make, dict(numbered[i :: len(places)]))
            for i, node in enumerate(places)
        ]
        self._seen = [set() for _ in places]
        self._check_versions(ray)

    def share(self, value: Any) -> Any:
        return _ray().put(value)

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        ray = _ray()
        numbers = range(self._n_shards) if on is None else on
        # Other objects go where all actors of a node can read them.
        with_call = (ray.ObjectRef, bool, int, float, str, type(None))
        handed = [arg if isinstance(arg, with_call) else ray.put(arg) for arg in args]
        refs = [self._ask(number, method, handed) for number in numbers]
        return [self._answer(ray, number, method, handed, ref) for number, ref in zip(numbers, refs, strict=True)]

    def close(self) -> None:
        if not self._actors and not self._is_ours:
            return
        ray = _ray()
        with contextlib.suppress(Exception):  # the first error is the one to report
            ray.get([actor.close.remote() for actor in self._actors], timeout=30)
        for actor in self._actors:
            with contextlib.suppress(Exception):
                ray.kill(actor)
        self._actors = []
        if self._is_ours:
            ray.shutdown()
            self._is_ours = False

    # -- asking -------------------------------------------------------------------------------------------------------

    def _ask(self, number: int, method: str, handed: list[Any]) -> Any:
        return self._actors[number % len(self._actors)].call.remote(method, number, *handed)

    def _answer(self, ray: Any, number: int, method: str, handed: list[Any], ref: Any) -> Any:
        """Return what an actor answers; repeat a call whose answer was lost with its node."""
        for left in reversed(range(MOST_TRIES)):
            try:
                life, answer = ray.get(ref)
            except ray.exceptions.RayError as error:
                # As a worker raised it, without the traceback of another machine.
                cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
                if not left or not isinstance(cause, ray.exceptions.ObjectLostError | ray.exceptions.RayActorError):
                    raise cause from None
                ref = self._ask(number, method, handed)
            else:
                self._seen[number % len(self._actors)].add(life)
                return answer
        raise AssertionError

    # -- the cluster --------------------------------------------------------------------------------------------------

    def _connect(self, ray: Any) -> None:
        if ray.is_initialized():
            if self.address is None or self.address == "auto":
                return
            raise ValueError(f"this process is connected to a cluster already; omit the address {self.address}")
        quiet = {"log_to_driver": False, "logging_level": "error"}
        try:
            self._reach()
            if self.address in (None, "here"):  # Ray calls it "local"; without an address it would look for a cluster
                ray.init("local", include_dashboard=False, **quiet)
            else:
                ray.init(self.address, **quiet)
        except (ConnectionError, TimeoutError, ValueError) as error:
            reason = str(error).strip().split("\n")[0]
            how = 'start one with "ray start --head", check the address, or use "here"'
            raise ConnectionError(f"there is no cluster of Ray at {self.address}: {reason}; {how}") from None
        except RuntimeError as error:
            if "ersion" not in str(error):
                raise
            raise ValueError(f"the cluster at {self.address} is another: {' '.join(str(error).split())}") from None
        self._is_ours = True

    def _reach(self) -> None:
        """Check that the address accepts connections, before Ray waits for it."""
        if self._head is not None:
            try:
                socket.create_connection(self._head, timeout=SECONDS_TO_REACH).close()
            except OSError as error:
                raise ConnectionError(error.strerror or str(error)) from None

    def _places(self, ray: Any, n_shards: int) -> list[str]:
        """Return a node for every actor: as many actors as processors, and no more than shards."""
        nodes = [(node["NodeID"], node["Resources"].get("CPU", 0.0)) for node in ray.nodes() if node["Alive"]]
        room = [node for node, processors in sorted(nodes) for _ in range(int(processors))]
        if not room:
            raise ValueError(f"the cluster at {self.address} has no CPUs; add a node")
        wanted = min(self.workers or len(room), n_shards)
        # Take the nodes in turn, so that even a few actors are on different ones.
        nodes_first = sorted(range(len(room)), key=lambda i: (room[:i].count(room[i]), room[i]))
        return [room[nodes_first[i % len(room)]] for i in range(wanted)]

    def _check_versions(self, ray: Any) -> None:
        """Refuse a node with other versions than ours: the same bits could not be guaranteed."""
        ours = versions()
        for node, theirs in ray.get([actor.about.remote() for actor in self._actors]):
            for name, version in theirs.items():
                if ours[name] != version:
                    raise ValueError(
                        f"the node {node} has {name} {version}, but this machine has {ours[name]}; install the same "
                        "version on all machines"
                    )


def versions() -> dict[str, str]:
    """Return the versions that must be the same on all machines."""
    import numba
    import ray

    python = ".".join(platform.python_version_tuple()[:2])
    packages = {"NumPy": np.__version__, "Numba": numba.__version__, "novikoff": __version__}
    return {"Python": python, "Ray": ray.__version__, **packages}


class _Actor:
    """Some shards, on some node."""

    def __init__(self, make: MakeWorker, shards: dict[int, Shard]) -> None:
        import pyarrow

        pyarrow.set_cpu_count(1)  # an actor has one CPU; Arrow would use the others' as well
        self._workers = {number: make(number, shard) for number, shard in shards.items()}

    def call(self, method: str, number: int, *args: Any) -> tuple[str, Any]:
        """Return which incarnation of the actor this is, and what a shard answers."""
        return f"{platform.node()} {os.getpid()}", getattr(self._workers[number], method)(*args)

    def about(self) -> tuple[str, dict[str, str]]:
        """Return the node, and its versions."""
        return platform.node(), versions()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()


Engine = Local | Ray


def _ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise ImportError('several machines need Ray; install it with: pip install "novikoff[cluster]"') from None
