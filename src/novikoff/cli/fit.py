"""`novikoff fit`: learn a classifier from a table, certify the table, keep the model."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import cluster, documents, options
from novikoff.cli.commands import DONE, INTERRUPTED, in_options
from novikoff.cli.files import report_on, save_model
from novikoff.cli.options import Result, ReviewOptions, Rows, TableOptions
from novikoff.cli.progress import ProgressBar, progress
from novikoff.cli.render import certified, in_words, listed, rows_of_run, warn, what_was_read
from novikoff.cli.spaces import SpaceOptions, Uncertified, space_options_of_a_learner

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from novikoff.data.examples import Examples
    from novikoff.data.held_out import HeldOut
    from novikoff.data.reading import Reader
    from novikoff.learn.fit import Fitted
    from novikoff.learn.linear.notes import WorkedRun
    from novikoff.learn.model import Classifier
    from novikoff.learn.review import Review
    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate

SHOWN = 10
LONGEST_PROOF = 1_000_000

# A run of more steps than this is not shown step by step.
MOST_STEPS, MOST_STEP_COLUMNS = 1000, 100


@click.command()
@click.argument("file", type=options.FILE)
@options.table
@options.model
@options.report
@options.force
@options.learning("readout", "max_iter", "tol", "n_iter_no_change", "early_stopping", "validation_fraction", "shuffle")
@options.learning("random_state", "tie", "lead", random_state=0)
@options.class_weight
@options.learning("min_margin", "time_limit", "fit_intercept")
@space_options_of_a_learner
@options.learning("held_out")
@options.option("--folds", options.AT_LEAST_TWO, "N", "Estimate the error by N-fold cross-validation.")
@click.option(
    "--words", type=click.Choice(["1", "2", "auto"]), default="auto", show_default=True,
    help="Features of texts: words (1), pairs of neighbouring words as well (2), or chosen on validation rows.",
)  # fmt: skip
@options.review
@click.option("--steps", is_flag=True, help="Show every step of the run; for small tables, with --no-shuffle.")
@click.option("--certify/--no-certify", default=True, show_default=True, help="Certify the table as well.")
@options.option("--certify-time-limit", options.POSITIVE, "S", "Stop certifying after this many seconds.", 5.0)
@options.jobs
@options.answering
@cluster.fit
def fit(
    file: str,
    table: TableOptions,
    target: Path,
    report: str | None,
    folds: int | None,
    steps: bool,
    certify: bool,
    certify_time_limit: float,
    space: SpaceOptions,
    review: ReviewOptions,
    **learning: Any,
) -> Result:
    """Learn a classifier from FILE, and prove what can be proved about it.

    FILE is a table (CSV, TSV, JSON lines, Parquet, Arrow; gzip or zstd) with a column of labels, or text of svmlight or
    Vowpal Wabbit; "-" is standard input. With more than two labels the class with the best score wins. With --lift or
    --kernel the boundary is curved.

    Ctrl-C stops after the epoch that is running, and keeps the weights that it ends with.
    """
    from novikoff.data.held_out import HeldOut
    from novikoff.prove.run.search.freund_schapire import allowance
    from novikoff.say.words import looks_continuous

    learning["fit_intercept"] = fit_intercept = space.has_bias(learning["fit_intercept"])
    _check_together(steps, learning, folds, space)
    review.check(learning["held_out"], file)
    share, words, reader = learning.pop("held_out"), learning.pop("words"), table.open(file)
    held_out = None if share is None else HeldOut.share(share, learning["random_state"])
    with progress() as bar, _examples(reader, bar, table, space, held_out, words, learning) as examples:
        page = report_on(report, examples, file, reader, table)
        review.check_size(held_out, examples.n_rows)
        if question := looks_continuous(examples.classes.tolist()):
            warn(question)
        recorded = steps or (page is not None and page.needs_mistakes)
        how = {"held_out": held_out, "record_mistakes": recorded}
        learned, interrupted = _learned(examples, bar, space, learning, folds, **how)
        run, shown = learned.run, _shown(learned, {**_to_remember(reader, share), **learning}, space)
        if review.review is not None:
            shown = replace(shown, review=_reviewed(shown, examples, held_out, review, table))
        _save(shown, target, folds)  # also if certifying fails
        proof: Certificate | Uncertified = Uncertified("interrupted" if interrupted else "not requested")
        if certify and not interrupted:
            limits = {"time_limit": certify_time_limit, "progress": bar.rename}
            with bar.during("proving"):
                proof = space.certify_unasked(examples, learned, fit_intercept=fit_intercept, **limits)
        certificate = None if isinstance(proof, Uncertified) else proof
        text = "" if certificate is None else certificate.to_json()
        if 0 < len(text) <= LONGEST_PROOF:  # longer ones belong in a file of their own
            shown = replace(shown, certificate=text)
            _save(shown, target, folds)
        worked = _steps(examples, learned, fit_intercept) if steps else None
        left = allowance(examples, certificate, passes=max(1, run.epochs), fit_intercept=fit_intercept)
        left = None if run.weighted else left  # it is about unweighted examples
        if page is not None:
            page.on_model(shown, certificate, learned.mistakes, target)
    document = described(shown, reader.files, examples.counts, proof, worked, target)
    return Result(
        document,
        reader.files[0],
        lambda: rows_of(document, run, certificate, left, report),
        INTERRUPTED if interrupted else DONE,
        _warnings(proof, run, learning, interrupted),
        () if worked is None else (worked.HEADER, *worked.lines()),
    )


def _examples(
    reader: "Reader",
    bar: ProgressBar,
    table: TableOptions,
    space: SpaceOptions,
    held_out: "HeldOut | None",
    words: str,
    learning: dict[str, Any],
) -> "AbstractContextManager[Examples]":
    """Return the examples, for as long as they are needed; their encoding is looked up, or chosen, first."""
    from novikoff.features.examples import cached, learned_encoding
    from novikoff.features.scaling import table_scale
    from novikoff.learn.linear.files import choose_words, learnable

    fit_intercept = learning["fit_intercept"]
    scale = table_scale("auto", fit_intercept or space.kernel is not None, learning["readout"])
    columns = {**table.columns, "lift": space.lift, "scale": scale}
    encoding = learned_encoding(bar.over(reader, "scanning"), None, held_out, **columns)
    if encoding is not None and words != "2" and (table.text or table.tfidf):
        columns["words"] = 1
        if words == "auto":
            source, judged = bar.over(reader, "choosing words or pairs of words"), (held_out, fit_intercept)
            columns["words"] = choose_words(source, encoding, *judged, learning["random_state"])
        encoding = encoding.with_single_words() if columns["words"] == 1 else encoding
    source = bar.over(reader, "reading", bar.done or None)
    return cached(source, encoding=encoding, check=learnable(fit_intercept), columns=columns)


def _learned(
    examples: "Examples", bar: ProgressBar, space: SpaceOptions, learning: dict[str, Any], folds: int | None, **how: Any
) -> "tuple[Fitted, bool]":
    """Return what was learned, and whether that was interrupted."""
    from novikoff.learn.linear.files import Folds, learn_from

    space.check_size(examples)
    learning["class_weight"] = _by_label(learning["class_weight"], examples.classes)
    with bar.learning(examples.n_rows, learning["max_iter"]) as watched:
        learned = learn_from(
            examples,
            space=space.kernel_space,
            folds=Folds(if_quick=True, told=bar.rename) if folds is None else Folds(folds, told=bar.rename),
            watch=watched.watch,
            progress=watched.progress,
            **how,
            **learning,
        )
    bar.close()
    return learned, watched.interrupted


def _save(model: "Classifier", target: Path, folds: int | None) -> None:
    """Save the model. Folds that were not requested are shown only: the model is the one that Python learns."""
    run = model.run if folds is not None or model.run is None else replace(model.run, fold_rows=(), fold_errors=())
    save_model(replace(model, run=run), target)


def _check_together(steps: bool, learning: dict[str, Any], folds: int | None, space: SpaceOptions) -> None:
    """Refuse options that do not go together."""
    if steps and learning["shuffle"]:
        raise ValueError("--steps shows the rows in the order of the file; add --no-shuffle")
    if steps and space.kernel is not None:
        raise ValueError("--steps shows weights, and a kernel has none; omit one of them")
    if steps and learning["class_weight"] is not None:
        raise ValueError("--steps shows examples as they are, and --class-weight multiplies them; choose one")
    if space.kernel is not None and learning["fit_intercept"]:
        raise ValueError("a kernel perceptron has no intercept; use a constant in the kernel, such as --coef0 of poly")
    if learning["held_out"] is not None and (folds is not None or steps):
        raise ValueError("--held-out cannot be combined with --folds or --steps; choose one")


def _by_label(weights: Any, classes: Any) -> Any:
    """Return the class weights by the labels in the data; on the command line they are strings."""
    if not isinstance(weights, dict):
        return weights
    labels = {in_words(label): label for label in classes.tolist()}
    for name, weight in weights.items():
        if name not in labels:
            known = listed(list(labels))
            raise ValueError(f"--class-weight {name}={weight:g}: no row has the label {name}; the labels are {known}")
    return {labels[name]: weight for name, weight in weights.items()}


def _to_remember(reader: "Reader", held_out: float | None) -> dict[str, Any]:
    """Return what a model stores about its training file."""
    from novikoff.cli.tables import written_form

    known = {"label": reader.label} | ({} if held_out is None else {"held_out": held_out})
    return known | (written_form(reader) if reader.is_table else {"zero_based": reader.counts_from_zero})


def _shown(learned: "Fitted", asked: dict[str, Any], space: SpaceOptions) -> "Classifier":
    """Return the model, without the mistakes that were recorded for a report or for steps; a vote needs its own."""
    from novikoff.learn.linear.files import model_of

    if space.kernel is None:
        model = model_of(learned, asked)
        return model if asked["readout"] == "vote" else replace(model, mistake_rows=None, mistake_guesses=None)
    del asked["fit_intercept"]
    return replace(model_of(learned, {**asked, "kernel": space.kernel, **space.numbers}), mistake_rows=None)


def _reviewed(
    model: "Classifier", examples: "Examples", aside: "HeldOut | None", asked: ReviewOptions, table: TableOptions
) -> "Review":
    """Return what held-out rows, or those of another file, prove of predictions that are not reviewed."""
    from novikoff.cli.tables import open_for
    from novikoff.learn.review import review_classifier

    if aside is not None:
        return review_classifier(model, *examples.parted(aside), **asked.asked)
    assert asked.review_file is not None
    return review_classifier(model, examples, open_for(model, asked.review_file, table, labelled=True), **asked.asked)


def _steps(examples: "Examples", learned: "Fitted", fit_intercept: bool) -> "WorkedRun":
    """Return the run example by example, if it is short enough to show."""
    if learned.run.examples > MOST_STEPS or examples.n_columns > MOST_STEP_COLUMNS or learned.mistakes is None:
        raise ValueError(
            f"--steps is for runs of at most {MOST_STEPS:,} examples of at most {MOST_STEP_COLUMNS} features; omit "
            "it, or lower --max-iter (the model is saved)"
        )
    X, y = examples.in_one_piece()
    return learned.run.steps(X, y, learned.mistakes.rows, fit_intercept=fit_intercept)


def described(
    model: "Classifier",
    files: tuple[str, ...],
    counts: tuple[int, ...],
    proof: "Certificate | Uncertified",
    steps: "WorkedRun | None",
    target: Any,
) -> dict[str, Any]:
    """Describe what was read, learned and proved."""
    certificate, problem = (None, proof.why) if isinstance(proof, Uncertified) else (proof, None)
    size, label = (sum(counts), model.n_columns or 0), model.parameters.get("label")
    return documents.document(
        "fit",
        data=documents.described_data(files, label, model.encoding, size, model.classes, counts),
        run=documents.described_run(model.record),
        weights=documents.described_weights(model, SHOWN, with_bias=False),
        kernel=documents.described_kernel(model),
        certificate=documents.described_certificate(certificate),
        certificate_problem=problem,
        model=target,
        **({"lead_chosen": model.record.lead} if model.record.leads_tried else {}),
        **documents.described_model(model),
        **({} if steps is None else {"steps": [asdict(step) for step in steps]}),
    )


def rows_of(
    document: dict[str, Any],
    run: "Run",
    certificate: "Certificate | None" = None,
    left: Any = None,
    report: str | None = None,
) -> Rows:
    """Show first what is asked first: expected error, largest weights, separability and what it implies."""
    from novikoff.say import certificates as say

    proved = [
        ("certified", certified(certificate, document["certificate_problem"], run)),
        ("implies", say.consequence(certificate, run)),
        ("margin", say.margin(certificate)),
        ("bound", say.bound(certificate, run)),
        ("allowed", say.allowed(left)),
    ]
    most = None if certificate is None else certificate.update_bound(run.lead)
    return [
        ("read", what_was_read(document["data"])),
        *rows_of_run(document, run, document["data"]["classes"], proved, hint=" (add --held-out 0.2)", most=most),
        ("model", document["model"]),
        ("report", report),
    ]


def _warnings(
    proof: "Certificate | Uncertified", run: "Run", learning: dict[str, Any], interrupted: bool
) -> tuple[str, ...]:
    """Return warnings of what may be unexpected."""
    from novikoff.say.runs import why_not_converged

    failed = isinstance(proof, Uncertified) and proof.failed
    first = (f"the model is saved; the table was not certified: {proof.why}",) if failed else ()  # type: ignore[union-attr]
    name = None if run.stopped is None else run.stopped.name
    if name == "INTERRUPTED":
        complete = run.examples % (run.n_rows or 1) == 0
        when = "after the last complete epoch" if complete else "of that moment, in the middle of an epoch,"
        return (*first, f"interrupted; the weights {when} were saved")
    if interrupted:
        first = (*first, "interrupted; the model is saved, but neither cross-validated nor certified")
    why = why_not_converged(run, learning["readout"], learning["min_margin"])
    return (*first, f"did not converge: {in_options(why, fit)}") if why else first
