"""`--cluster`: the same commands on the shards of a data set, on this machine or on many.

A command with this option hands over to the one of its name in `cli/shards.py`; without it, it does as ever.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import Command

if TYPE_CHECKING:
    from novikoff.cluster.engine import Engine

ENGINES = "local|here|auto|HOST:PORT|ray://HOST:PORT"

where = click.option(
    "--cluster",
    metavar=ENGINES,
    help="Work on shards: in this process (local), on a Ray started here, on the running cluster, or on another.",
)
ROUNDS = (
    click.option(
        "--mixing",
        type=click.Choice(["uniform", "adaptive", "none"]),
        help="With --cluster: what becomes of the weights of the shards.  [default: uniform]",
    ),
    click.option("--resume", is_flag=True, help="With --cluster: go on from the checkpoint of a run that was ended."),
)


def _handing_over(name: str, *more: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Give a command --cluster and more options, with which another function does its work."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, cluster: str | None, **kwargs: Any) -> Any:
            own = {name: kwargs.pop(name) for name in ("mixing", "resume") if more}
            if cluster is not None:
                from novikoff.cli import shards

                return getattr(shards, f"{name}_on_shards")(engine_of(cluster), *args, **own, **kwargs)
            given = next((name for name, value in own.items() if value), None)
            if given is not None:
                raise ValueError(f"--{given} is for learning from shards; say where these are, too, by --cluster")
            return command(*args, **kwargs)

        for option in (*reversed(more), where):
            wrapped = option(wrapped)
        return wrapped  # type: ignore[return-value]

    return decorate


def engine_of(cluster: str) -> "Engine":
    """What runs the shards."""
    from novikoff.cluster.engine import Local
    from novikoff.cluster.on_ray import Ray

    if cluster == "local":
        return Local()
    try:
        return Ray(cluster)
    except ValueError as error:
        raise ValueError(f"--cluster {cluster}: {error}, or local for this process") from None


fit = _handing_over("fit", *ROUNDS)
certify = _handing_over("certify")
predict = _handing_over("predict")
score = _handing_over("score")
