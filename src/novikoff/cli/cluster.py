"""`--cluster`: learn from, or certify, the shards of a data set, on this machine or on many.

`fit` and `certify` with this option call their namesakes here.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.commands import DONE, INTERRUPTED
from novikoff.cli.files import save_model
from novikoff.cli.options import Command, Result, ReviewOptions, TableOptions, is_quiet
from novikoff.cli.progress import progress

if TYPE_CHECKING:
    from novikoff.cli.spaces import SpaceOptions
    from novikoff.cluster.engine import Engine
    from novikoff.cluster.rounds import Rounds

where = click.option(
    "--cluster",
    metavar="local|here|auto|HOST:PORT|ray://HOST:PORT",
    help="Work on shards: in this process (local), on a Ray started here, on the running cluster, or on another.",
)
ROUNDS = (
    click.option(
        "--mixing",
        type=click.Choice(["uniform", "adaptive", "none"]),
        help="With --cluster: how to combine the weights of the shards.  [default: uniform]",
    ),
    click.option("--resume", is_flag=True, help="With --cluster: resume from the checkpoint of an interrupted run."),
)

# Options that learning from shards does not support, and those that it does not need.
NOT_ON_SHARDS = ("steps", "held_out", "folds", "early_stopping", "class_weight", "tol")
NOT_NEEDED = ("certify", "certify_time_limit", "validation_fraction", "n_iter_no_change")


def _handing_over(instead: Callable[..., Any], *more: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Add --cluster and more options to a command; with them, another function does its work."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, cluster: str | None, **kwargs: Any) -> Any:
            own = {name: kwargs.pop(name) for name in ("mixing", "resume") if more}
            if cluster is not None:
                return instead(engine_of(cluster), *args, **own, **kwargs)
            given = next((name for name, value in own.items() if value), None)
            if given is not None:
                raise ValueError(f"--{given} applies to shards only; add --cluster")
            return command(*args, **kwargs)

        for option in (*reversed(more), where):
            wrapped = option(wrapped)
        return wrapped  # type: ignore[return-value]

    return decorate


def engine_of(cluster: str) -> "Engine":
    """Return the engine that runs the shards."""
    from novikoff.cluster.engine import Local, Ray

    if cluster == "local":
        return Local()
    try:
        return Ray(cluster)
    except ValueError as error:
        raise ValueError(f"--cluster {cluster}: {error}, or local for this process") from None


def _refuse(options: dict[str, Any]) -> None:
    """Refuse given options that work on one machine only."""
    for name, value in options.items():
        if value not in (None, False, (), []):
            raise ValueError(f"--{name.replace('_', '-')} cannot be combined with --cluster; omit one of them")


def fit_on_shards(
    engine: "Engine",
    *,
    file: str,
    target: Path,
    report: str | None,
    table: TableOptions,
    space: "SpaceOptions",
    review: ReviewOptions,
    mixing: str | None,
    resume: bool,
    **learning: Any,
) -> Result:
    from novikoff.cli.fit import described, rows_of
    from novikoff.cli.spaces import Uncertified
    from novikoff.cli.tables import written_form
    from novikoff.cluster.learning import fit as learn

    unsupported = {name: learning.pop(name) for name in NOT_ON_SHARDS}
    unsupported |= {"review": review.review, "review_file": review.review_file}
    _refuse({**unsupported, "report": report, **space.given})
    if learning.pop("words") != "2" and (table.text or table.tfidf):
        raise ValueError("with --cluster, texts have features for words and pairs of words; add --words 2")
    asked = {name: value for name, value in learning.items() if name not in NOT_NEEDED}
    asked["shuffle"] = None if asked["shuffle"] else False
    reader = table.open(file)
    counts: tuple[int, ...] = ()
    told = not is_quiet()

    def watch(rounds: "Rounds") -> None:
        nonlocal counts
        counts = rounds.cluster.agreed.counts
        if told:
            click.echo(line_of(rounds), err=True)

    fitted = learn(
        reader,
        engine=engine,
        mixing=mixing or "uniform",  # type: ignore[arg-type]
        checkpoint=None if mixing == "none" else target.with_name(f"{target.name}.checkpoint"),
        resume=resume,
        watch=watch,
        **asked,
        **table.columns,
    ).model_
    if reader.is_table:
        fitted = replace(fitted, parameters={**fitted.parameters, **written_form(reader)})
    save_model(fitted, target)
    document = described(fitted, reader.files, counts, Uncertified("not requested"), None, target)
    run = fitted.record
    was_interrupted = run.stopped is not None and run.stopped.name == "INTERRUPTED"
    return Result(document, reader.files[0], lambda: rows_of(document, run), INTERRUPTED if was_interrupted else DONE)


def line_of(rounds: "Rounds") -> str:
    """Return a round in one line."""
    history, made = rounds.history, rounds.epochs.counts[-1] if rounds.epochs.counts else 0
    rate = rounds.cluster.n_rows / max(rounds.seconds, 1e-9)
    k = f"K = {history.counted:,.6g}"
    if history.margin_at_most not in (0.0, float("inf")):
        allowed = (history.radius / history.margin_at_most) ** 2 * (1 if history.n_classes <= 2 else 2)
        k += f" of {allowed:,.6g} or more that the theorem allows"
    restarted = rounds.cluster.engine.restarted
    again = f"; {restarted:,} restarted" if restarted else ""
    return f"round {rounds.epochs.begun}: {made:,} mistakes; {k}; {rate:,.0f} rows/s{again}"


def certify_on_shards(
    engine: "Engine",
    *,
    file: str,
    table: TableOptions,
    asked: dict[str, Any],
    report: str | None,
    space: "SpaceOptions",
    diverging: bool | None,
    fit_intercept: bool,
    **limits: Any,
) -> Result:
    from novikoff.cli.certify import answered
    from novikoff.cluster.agreeing import started
    from novikoff.cluster.proving import certify_cluster
    from novikoff.cluster.worker import Reading

    _refuse({**asked, "diverging": diverging, "report": report, **space.given})
    reader = table.open(file)
    reading = Reading(**table.columns, fit_intercept=fit_intercept)
    with progress() as bar, bar.during("reading"), started(engine, reader, reading) as cluster:
        certificate = certify_cluster(cluster, progress=bar.rename, **limits)
        counts = cluster.agreed.counts
    return answered(certificate, reader, counts)


fit = _handing_over(fit_on_shards, *ROUNDS)
certify = _handing_over(certify_on_shards)
