"""`novikoff fit`: learn a classifier from a table, certify the table, keep the model."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import cluster, options
from novikoff.cli.errors import DONE, INTERRUPTED
from novikoff.cli.options import Output, Table
from novikoff.cli.spaces import Space, space_options
from novikoff.say import runs as say

if TYPE_CHECKING:
    from novikoff.cli.learning import Certified
    from novikoff.data.examples import Examples
    from novikoff.data.reading import Reader
    from novikoff.learn.fit import Learned
    from novikoff.learn.linear.worked import WorkedRun
    from novikoff.learn.model import Classifier
    from novikoff.learn.run import Run
    from novikoff.prove.run.bounds import FreundSchapireBound
    from novikoff.prove.separable.certificate import Certificate

SHOWN = 10
LONGEST_PROOF = 1_000_000

# A run of more steps than this is not looked at one by one.
MOST_STEPS, MOST_STEP_COLUMNS = 1000, 100


@click.command()
@click.argument("file", type=options.FILE)
@options.table
@click.option(
    "--model", type=click.Path(), metavar="OUT", help="Where to write the model.  [default: FILE's name with .novikoff]"
)
@options.report
@options.report_features
@options.force
@options.learning("readout", "max_iter", "tol", "n_iter_no_change", "early_stopping", "validation_fraction", "shuffle")
@options.learning("random_state", "tie", "lead", random_state=0)
@options.class_weight
@options.learning("min_margin", "time_limit", "fit_intercept")
@space_options
@options.number("--budget", options.AT_LEAST_ONE, "N", "The most examples that a kernel may keep.")
@options.learning("held_out")
@options.number("--folds", options.AT_LEAST_TWO, "N", "Judge by N parts: N more models, each learned without one part.")
@click.option("--steps", is_flag=True, help="Show the run example by example; for small tables, with --no-shuffle.")
@click.option("--certify/--no-certify", default=True, show_default=True, help="Whether to certify the table, too.")
@options.number(
    "--certify-time-limit", options.POSITIVE, "S", "Seconds after which the table is called undecided.", 5.0
)
@options.jobs
@options.answering
@cluster.fit
def fit(
    file: str,
    table: Table,
    model: str | None,
    report: str | None,
    report_features: tuple[str, str] | None,
    force: bool,
    steps: bool,
    certify: bool,
    certify_time_limit: float,
    output: Output,
    held_out: float | None,
    folds: int | None,
    space: Space,
    **learning: Any,
) -> int:
    """Learn a classifier from FILE, and prove what can be proved about it.

    FILE is a table (CSV, TSV, JSON lines, Parquet, Arrow; gzip or zstd) with a column of labels, or text of svmlight or
    Vowpal Wabbit; "-" is standard input. With more than two labels the class with the best score wins. With --lift or
    --kernel the boundary is curved.

    Ctrl-C stops after the epoch that is running, and keeps the weights that it ends with.
    """
    from novikoff.cli.again import names_of
    from novikoff.cli.learning import Certified, Task, was_interrupted
    from novikoff.cli.outputs import check_model_free
    from novikoff.cli.progress import progress
    from novikoff.cli.render import warn
    from novikoff.cli.tables import encoding_of
    from novikoff.data.held_out import HeldOut
    from novikoff.features.examples import cached
    from novikoff.keep.models import save
    from novikoff.learn.linear.files import learnable
    from novikoff.prove.run.search.freund_schapire import allowance
    from novikoff.show.report.writing import report_on

    learning["fit_intercept"] = space.has_bias(learning["fit_intercept"])
    _check_together(steps, learning, held_out, folds, space)
    target = check_model_free(model or default_model(file), force)
    page = options.report_path(report, report_features, force)
    aside = None if held_out is None else HeldOut.share(held_out, learning["random_state"])
    reader = table.open(file, output)
    wishes = {**table.columns, "lift": space.lift}
    task = Task(space, learning, wishes)
    with progress(output.quiet) as bar:
        encoding = encoding_of(bar.over(reader, "looking"), aside, **wishes)
        source = bar.over(reader, "reading", bar.done or None)
        with cached(source, encoding=encoding, check=learnable(learning["fit_intercept"])) as examples:
            reported = report_on(page, examples, report_features, lambda: names_of(file, reader, table))
            kept = steps or (reported is not None and reported.needs_mistakes)
            with bar.learning(examples.n_rows, learning["max_iter"]) as watched:
                learned = task.learn(examples, held_out=aside, record_mistakes=kept, **watched)
            fitted = task.model(learned, _to_remember(reader, held_out), examples.classes)
            save(fitted, target, force=force)  # whatever becomes of the rest, what was learned is there
            judged = learned.run
            if not was_interrupted(learned.run) and held_out is None:
                judged = task.judged(learned.run, bar, reader, examples, folds)
            if folds is not None:
                fitted = replace(fitted, run=judged)
                save(fitted, target, force=force)
            bar.close()
            found = Certified(why_not="interrupted" if was_interrupted(learned.run) else "not asked for")
            if certify and not was_interrupted(learned.run):
                with bar.during("proving"):
                    found = task.certificate(examples, learned, certify_time_limit, bar.rename)
            certificate = found.certificate
            if (proof := _short_proof(certificate)) is not None:
                fitted = replace(fitted, certificate=proof)
                save(fitted, target, force=force)
            laid_out = _steps(examples, learned, learning["fit_intercept"]) if steps else None
            passes = max(1, learned.run.epochs)
            left = allowance(examples, certificate, passes=passes, fit_intercept=learning["fit_intercept"])
            left = None if learned.run.weighted else left  # it speaks of the examples as they are
            if reported is not None:
                reported.on_model(replace(fitted, run=judged), certificate, learned.mistakes, target)
    _report(output, reader.files, examples.counts, replace(fitted, run=judged), found, left, laid_out, target, page)
    if found.failed:
        warn(output, f"the model is saved, but the table is not certified: {found.why_not}")
    _warn_if_it_did_not_converge(output, learned.run, learning)
    return INTERRUPTED if was_interrupted(learned.run) else DONE


def _to_remember(reader: "Reader", held_out: float | None) -> dict[str, Any]:
    """What a model knows of the file that it was learned from."""
    from novikoff.cli.tables import written_form

    known: dict[str, Any] = (
        {"label": reader.label} if held_out is None else {"label": reader.label, "held_out": held_out}
    )
    return known | (written_form(reader) if reader.is_table else {"zero_based": reader.counts_from_zero})


def _check_together(
    steps: bool, learning: dict[str, Any], held_out: float | None, folds: int | None, space: Space
) -> None:
    """Refuse options that do not go together."""
    if steps and learning["shuffle"]:
        raise ValueError("--steps shows the rows in the order of the file; add --no-shuffle")
    if steps and space.kernel is not None:
        raise ValueError("--steps shows weights, and in the space of a kernel there are none; leave out one of them")
    if steps and learning["class_weight"] is not None:
        raise ValueError("--steps shows examples as they are, and --class-weight multiplies them; choose one")
    if space.kernel is not None and learning["fit_intercept"]:
        raise ValueError("a kernel has no bias: a constant in it, such as --coef0 of poly, does the same")
    if held_out is not None and (folds is not None or steps):
        raise ValueError(
            "--held-out goes neither with --folds, another way to judge a model, nor with --steps; choose one"
        )


def _steps(examples: "Examples", learned: "Learned", fit_intercept: bool) -> "WorkedRun":
    """The run example by example, if it is short enough to be looked at."""
    if learned.run.examples > MOST_STEPS or examples.n_columns > MOST_STEP_COLUMNS or learned.mistakes is None:
        raise ValueError(
            f"--steps is for runs of at most {MOST_STEPS:,} examples of at most {MOST_STEP_COLUMNS} features; leave it "
            "out, or lower --max-iter (the model is saved)"
        )
    X, y = examples.in_one_piece()
    return learned.run.steps(X, y, learned.mistakes.rows, fit_intercept=fit_intercept)


def default_model(file: str) -> Path:
    """The model's file: named after the table, in the folder where the command runs.

    >>> default_model("tables/cars.csv.gz").name
    'cars.novikoff'
    """
    name = Path(file).name
    for ending in (".gz", ".zst", ".zstd"):
        name = name.removesuffix(ending)
    stem = Path(name).stem.strip("-*?")
    return Path(f"{stem or 'model'}.novikoff")


def _short_proof(certificate: "Certificate | None") -> str | None:
    """The certificate for the model file, unless its whole numbers are so long that it belongs in one of its own."""
    proof = "" if certificate is None else certificate.to_json()
    return proof if 0 < len(proof) <= LONGEST_PROOF else None


def _report(
    output: Output,
    files: tuple[str, ...],
    counts: tuple[int, ...],
    model: "Classifier",
    found: "Certified",
    left: "FreundSchapireBound | None",
    steps: "WorkedRun | None",
    target: Path,
    page: Path | None,
) -> None:
    from novikoff.cli import documents
    from novikoff.cli.render import answer, columns, stacked

    run, certificate = model.record, found.certificate
    size = (sum(counts), model.n_columns or 0)
    document = documents.document(
        "fit",
        data=documents.described_data(files, model.parameters["label"], model.encoding, size, model.classes, counts),
        run=documents.described_run(run),
        weights=documents.described_weights(model, SHOWN, with_bias=False),
        kernel=documents.described_kernel(model),
        certificate=documents.described_certificate(certificate),
        certificate_problem=found.why_not,
        model=str(target),
        **documents.described_choice(model),
        **documents.described_class_weights(model),
        **({} if steps is None else {"steps": [asdict(step) for step in steps]}),
    )
    shown = None if steps is None else columns(steps.HEADER, steps.lines(), left=len(steps.HEADER))
    answer(output, document, lambda: stacked(panel(document, run, certificate, left, page), shown))


def panel(
    document: dict[str, Any],
    run: "Run",
    certificate: "Certificate | None",
    left: "FreundSchapireBound | None",
    page: Path | None,
) -> Any:
    """What a person asks first, first: how good it will be, which columns matter, is it separable and so what."""
    from novikoff.cli import wording
    from novikoff.cli.render import facts

    return facts(
        f"novikoff fit {document['data']['files'][0]}",
        [
            ("read", wording.what_was_read(document["data"])),
            ("expected error", wording.expected_error(run)),
            ("learned", wording.learned(document, run, document["data"]["classes"])),
            ("certified", wording.certified(certificate, document["certificate_problem"], run)),
            ("so", wording.consequence(certificate, run)),
            ("margin", None if certificate is None else wording.margin(certificate)),
            ("bound", wording.bound(certificate, run)),
            ("allowed", wording.allowed(left)),
            ("stopped", wording.ending(run)),
            ("mistakes", say.made(run)),
            ("lead", wording.lead(run, "lead_chosen" in document)),
            (
                "weighted",
                wording.class_weights(document.get("class_weights"), document["data"]["classes"], certificate, run),
            ),
            ("validation", wording.validation(run)),
            ("returned", say.returned(run)),
            ("errors", say.wrong(run)),
            ("model", document["model"]),
            ("report", None if page is None else str(page)),
        ],
    )


def _warn_if_it_did_not_converge(output: Output, run: "Run", learning: dict[str, Any]) -> None:
    from novikoff.cli.learning import was_interrupted
    from novikoff.cli.render import warn

    asked = learning["readout"] == "last" or learning["min_margin"] is not None
    if run.stopped is None or run.stopped.name == "NO_MISTAKES":
        return
    if was_interrupted(run):
        complete = run.examples % (run.n_rows or 1) == 0
        when = "after the last complete epoch" if complete else "of that moment, in the middle of an epoch,"
        warn(output, f"interrupted; the weights {when} were saved")
    elif run.stopped.name == "CYCLE":
        hint = "; predict with --readout average, which needs none" if run.readout == "last" else ""
        warn(output, f"it did not converge: {say.why(run.stopped)}{hint}")
    elif run.stopped.name == "MARGIN_RULED_OUT":
        warn(output, f"it did not converge: {say.why(run.stopped)}; ask for less by --min-margin")
    elif asked:
        warn(
            output,
            f"it did not converge: {say.why(run.stopped)}; raise --max-iter or --time-limit if the table is separable, "
            "or predict with --readout average if it is not",
        )
