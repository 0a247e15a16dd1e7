"""The commands on the shards of a data set: `fit`, `certify`, `predict` and `score` with --cluster."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import Output, Table

if TYPE_CHECKING:
    from novikoff.cli.spaces import Space
    from novikoff.cluster.engine import Engine
    from novikoff.cluster.rounds import Rounds
    from novikoff.cluster.worker import Worker
    from novikoff.learn.linear.model import LinearModel
    from novikoff.learn.model import Classifier

# Lines of so many shards wait to be written.
SHARDS_AT_ONCE = 16


# -- fit --------------------------------------------------------------------------------------------------------------


def fit_on_shards(
    engine: "Engine",
    *,
    file: str,
    model: str | None,
    force: bool,
    output: Output,
    table: Table,
    space: "Space",
    mixing: str | None,
    resume: bool,
    **options: Any,
) -> int:
    from novikoff.cli.errors import DONE, INTERRUPTED
    from novikoff.cli.fit import default_model, panel
    from novikoff.cli.learning import was_interrupted
    from novikoff.cli.outputs import check_model_free
    from novikoff.cli.render import answer
    from novikoff.cli.tables import written_form
    from novikoff.cluster.learning import fit as learn
    from novikoff.keep.models import save

    asked = {**_for_the_library({**options, **space.given}), **table.columns}
    reader = table.open(file, output)
    target = check_model_free(model or default_model(file), force)
    progress = Progress(output)
    fitted = learn(
        reader,
        engine=engine,
        mixing=mixing or "uniform",  # type: ignore[arg-type]
        checkpoint=target.with_name(f"{target.name}.checkpoint"),
        resume=resume,
        watch=progress.round,
        **asked,
    ).model_
    if reader.is_table:
        fitted = replace(fitted, parameters={**fitted.parameters, **written_form(reader)})
    save(fitted, target, force=force)
    document = _described("fit", reader.files, fitted, progress.counts, str(target))
    answer(output, document, lambda: panel(document, fitted.record, None, None, None))
    return INTERRUPTED if was_interrupted(fitted.record) else DONE


# What learning from shards has not, with what it is by default.
NOT_ON_SHARDS = {
    "report": None,
    "report_features": None,
    "steps": False,
    "held_out": None,
    "folds": None,
    "early_stopping": False,
    "class_weight": None,
    "tol": None,
}
NOT_NEEDED = ("certify", "certify_time_limit", "validation_fraction", "n_iter_no_change")


def _for_the_library(options: dict[str, Any]) -> dict[str, Any]:
    """The options as the library takes them; those that go with one machine only are refused."""
    left = dict(options)
    for name, usual in NOT_ON_SHARDS.items():
        if left.pop(name, usual) != usual:
            raise ValueError(f"--{name.replace('_', '-')} does not go with --cluster; leave out one of them")
    for name in NOT_NEEDED:
        left.pop(name, None)
    left["shuffle"] = None if left.get("shuffle") else False
    known = {
        "random_state",
        "tie",
        "readout",
        "lead",
        "shuffle",
        "fit_intercept",
        "max_iter",
        "min_margin",
        "time_limit",
    }
    _refuse({name: value for name, value in left.items() if name not in known})
    left["fit_intercept"] = left.get("fit_intercept") is not False
    return {name: value for name, value in left.items() if name in known}


def _described(
    command: str, files: tuple[str, ...], model: "LinearModel", counts: tuple[int, ...], target: str
) -> dict[str, Any]:
    from novikoff.cli import documents
    from novikoff.cli.fit import SHOWN

    run = model.record
    size = (run.n_rows or 0, model.memory.n_columns)
    label = model.parameters.get("label")
    return documents.document(
        command,
        data=documents.described_data(files, label, model.encoding, size, model.classes, counts),
        run=documents.described_run(run),
        weights=documents.described_weights(model, SHOWN, with_bias=False),
        kernel=None,
        certificate=None,
        certificate_problem="not asked for",
        model=target,
        **documents.described_choice(model),
    )


@dataclass
class Progress:
    """A line on stderr after every round."""

    output: Output
    counts: tuple[int, ...] = ()

    def round(self, rounds: "Rounds") -> None:
        self.counts = rounds.cluster.agreed.counts
        if not self.output.quiet:
            click.echo(line_of(rounds), err=True)


def line_of(rounds: "Rounds") -> str:
    """A round in one line."""
    history, made = rounds.history, rounds.epochs.counts[-1] if rounds.epochs.counts else 0
    rate = rounds.cluster.n_rows / max(rounds.seconds, 1e-9)
    k = f"K = {history.counted:,.6g}"
    if history.margin_at_most not in (0.0, float("inf")):
        allowed = (history.radius / history.margin_at_most) ** 2 * (1 if history.n_classes <= 2 else 2)
        k += f" of {allowed:,.6g} or more that the theorem allows"
    restarted = rounds.cluster.engine.restarted
    again = f"; {restarted:,} restarted" if restarted else ""
    return f"round {rounds.epochs.begun}: {made:,} mistakes; {k}; {rate:,.0f} rows/s{again}"


def _refuse(options: dict[str, Any]) -> None:
    """Refuse options that were given, and go with one machine only."""
    for name, value in options.items():
        if value not in (None, False, (), []):
            raise ValueError(f"--{name.replace('_', '-')} does not go with --cluster; leave one of them out")


# -- certify ----------------------------------------------------------------------------------------------------------


def certify_on_shards(
    engine: "Engine",
    *,
    file: str,
    out: str | None,
    report: str | None,
    report_features: Any,
    force: bool,
    output: Output,
    table: Table,
    space: "Space",
    fit_intercept: bool | None,
    tolerance: float,
    time_limit: float | None,
    diverging: bool | None,
    asked: dict[str, Any],
) -> int:
    from novikoff.cli import documents
    from novikoff.cli.certify import CODES, panel
    from novikoff.cli.existence import answer_formula, check_goes_together
    from novikoff.cli.outputs import check_free
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.cluster.agreeing import Reading, started
    from novikoff.cluster.proving import certify_cluster
    from novikoff.data.whole_file import WholeFile

    _refuse({"report": report, "report_features": report_features, **space.given})
    target = None if out is None else check_free(out, force)
    if check_goes_together(asked, {"label": table.label, **table.columns}):
        has_bias = fit_intercept is not False
        limits: dict[str, Any] = {"fit_intercept": has_bias, "signs": diverging, "time_limit": time_limit}
        return answer_formula(file, table, asked, target, output, engine, **limits)
    if diverging:
        raise ValueError("--diverging does not go with --cluster and --label; ask by --formula 'label ~ .' instead")
    reader = table.open(file, output)
    columns: dict[str, Any] = table.columns
    reading = Reading(**columns, fit_intercept=fit_intercept is not False)
    with progress(output.quiet) as bar, bar.during("reading"), started(engine, reader, reading) as cluster:
        limits = {"tolerance": tolerance, "time_limit": time_limit}
        certificate = certify_cluster(cluster, progress=bar.rename, **limits)
        counts = cluster.agreed.counts
    if target is not None:
        with WholeFile(target) as file_out:
            file_out.write(certificate.to_json().encode() + b"\n")
    encoding = None if certificate.table is None else certificate.table.encoding
    size = (certificate.n_rows, certificate.n_columns)
    document = documents.document(
        "certify",
        data=documents.described_data(reader.files, reader.label, encoding, size, certificate.classes, counts),
        certificate=documents.described_certificate(certificate),
        out=None if target is None else str(target),
    )
    answer(output, document, lambda: panel(document, certificate))
    return CODES[certificate.verdict.value]


# -- predict ----------------------------------------------------------------------------------------------------------


def predict_on_shards(
    engine: "Engine",
    *,
    model: str,
    file: str,
    format: str | None,
    out: str | None,
    force: bool,
    column: str,
    scores: bool,
    form: dict[str, Any],
    output: Output,
) -> None:
    from novikoff.cli import documents
    from novikoff.cli.models import load_model
    from novikoff.cli.outputs import check_free
    from novikoff.cli.predict import panel, sink, warn_of_the_unknown
    from novikoff.cli.render import answer
    from novikoff.learn.model import Classifier

    target = None if out is None else check_free(out, force)
    loaded = load_model(model, Classifier)
    predicted, unseen, missing, n_rows = Counter[str](), Counter[str](), Counter[str](), 0
    as_json = output.json and target is None
    with sink(target) as write:
        for lines, writer in _lines(engine, loaded, file, format, form, (column, scores, as_json)):
            write(lines)
            n_rows += writer.n_rows
            for total, part in ((predicted, writer.predicted), (unseen, writer.unseen), (missing, writer.missing)):
                total.update(part)
    warn_of_the_unknown(output, unseen, missing)
    if target is not None:
        document = documents.document(
            "predict", model=model, file=file, out=str(target), rows=n_rows, predicted=predicted,
            unseen=unseen, missing=missing,
        )  # fmt: skip
        answer(output, document, lambda: panel(document))


def _lines(
    engine: "Engine",
    model: "Classifier",
    file: str,
    format: str | None,
    form: dict[str, Any],
    how: tuple[str, bool, bool],
) -> Iterator[tuple[bytes, Any]]:
    """The lines of every shard, in order, and what there is to say about them: a few shards at a time.

    The rows of JSON lines are numbered, so that a shard has to wait for those before it.
    """
    from novikoff.cluster.predicting import check_kind
    from novikoff.cluster.shards import shards_of
    from novikoff.cluster.worker import Worker

    shards, first = shards_of(file, format=format), 0
    check_kind(model, shards)
    try:
        engine.start(Worker, shards)
        shared, at_once = engine.share(replace(model)), 1 if how[2] else SHARDS_AT_ONCE
        for start in range(0, len(shards), at_once):
            some = range(start, min(start + at_once, len(shards)))
            for lines, writer in engine.call("apply", None, lines_of_shard, shared, form, how, first, on=some):
                first += writer.n_rows
                yield lines, writer
    finally:
        engine.close()


def lines_of_shard(
    worker: "Worker", _: Any, model: "Classifier", form: dict[str, Any], how: tuple[str, bool, bool], first: int
) -> tuple[bytes, Any]:
    """What is to be written for a shard before which so many rows come; only the first has the names of columns."""
    from novikoff.cli.predict import Writer
    from novikoff.cli.tables import open_unlabelled

    before = max(first, min(worker.number, 1))
    shard: Any = worker.shard
    shard.check_unchanged()
    reader = replace(open_unlabelled(shard.file, shard.format, model, form), parts=(shard.part,))
    writer = Writer(model, *how, reader.form.decimal, n_rows=before)
    lines = b"".join(writer.lines(batch) for batch in reader)
    return lines, replace(writer, model=None, n_rows=writer.n_rows - before)  # type: ignore[arg-type]


# -- score ------------------------------------------------------------------------------------------------------------


def score_on_shards(
    engine: "Engine",
    *,
    model: str,
    file: str,
    label: str | None,
    format: str | None,
    form: dict[str, Any],
    output: Output,
) -> None:
    from novikoff.cli.models import load_model
    from novikoff.cli.score import answer_counts
    from novikoff.cli.tables import remembered_form, with_label
    from novikoff.cluster.predicting import score as count
    from novikoff.data.reading import read
    from novikoff.data.streams import Form
    from novikoff.learn.model import Classifier

    loaded = load_model(model, Classifier)
    reader = read(file, format=format)
    if reader.is_text:
        reader = replace(reader, form=Form(**remembered_form(loaded, form)))
    found = count(loaded, with_label(replace(reader, label=label)), engine=engine)
    known = loaded.classes.tolist()
    of_truth = zip(found.labels, found.confusion, strict=True)
    pairs = {(truth, guess): n for truth, line in of_truth for guess, n in zip(known, line, strict=True)}
    answer_counts(output, model, file, known, pairs, found.unseen, found.missing)
