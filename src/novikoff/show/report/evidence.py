"""What a report shows besides the model and the certificate, collected in a pass over the examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Examples
from novikoff.learn.kernel.kernels import as_points
from novikoff.learn.kernel.memory import KernelModel
from novikoff.learn.linear.memory import LinearModel
from novikoff.learn.linear.notes import SHOWN_STEPS, WIDEST, WorkedRun
from novikoff.learn.linear.vote import LinearMistakes
from novikoff.learn.model import Classifier
from novikoff.prove.run.bounds import FreundSchapireBound
from novikoff.prove.run.follow import FollowedProof, follow_proof
from novikoff.prove.run.search.freund_schapire import allowance
from novikoff.prove.run.steps import Steps
from novikoff.prove.separable.certificate import Certificate
from novikoff.show.boundary import BoundaryDisplay
from novikoff.show.report.picture import Columns, picture_of

Floats = NDArray[np.float64]

# The most numbers in the examples, and the most mistakes, for which the proof is followed: mistakes are summed in
# integers of any size, which takes a few seconds.
FOLLOWED_NUMBERS = 2_000_000
FOLLOWED_PRODUCTS = 5_000_000
FOLLOWED_MISTAKES = 50_000
FOLLOWED_KERNEL_ROWS = 1000

# The most rows of a certificate that are listed with their labels.
NAMED_ROWS = 24


@dataclass(frozen=True, eq=False)
class Evidence:
    """Counts, and the proof along the run.

    `counts` are examples by class, `confusion` counts rows by their class (down) and the predicted one (across), and
    `labels` are those of rows that the certificate names. `proof` is the run's, step by step; for a run on data without
    a separator there are `lengths`, ||w_k|| for k = 0, 1, ..., and `allowance`, the bound that holds there. `steps` has
    a short run in the given order, example by example.
    """

    counts: tuple[int, ...]
    confusion: NDArray[np.int64] | None = None
    labels: Mapping[int, Any] = field(default_factory=dict)
    proof: FollowedProof | None = None
    lengths: Floats | None = None
    allowance: FreundSchapireBound | None = None
    steps: WorkedRun | None = None
    picture: BoundaryDisplay | None = None
    picture_rows: int = 0
    is_section: bool = False


def gather(
    examples: Examples,
    *,
    model: Classifier | None = None,
    certificate: Certificate | None = None,
    mistakes: LinearMistakes | None = None,
    columns: Columns | None = None,
) -> Evidence:
    """Return the evidence for a report on a model, on a certificate, or on both.

    `mistakes` are those of the run, which started from weights of 0; `columns` are the two features to draw.

    >>> from novikoff.prove.separable.search.certify import certify
    >>> X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array(["same", "same", "other", "other"])
    >>> evidence = gather(Examples.of(X, y), certificate=certify(X, y))
    >>> evidence.counts, evidence.labels
    ((2, 2), {0: 'same', 1: 'same', 2: 'other', 3: 'other'})
    """
    if model is None and certificate is None:
        raise ValueError("there is nothing to report on; pass a model, a certificate, or both")
    classes, named = examples.classes, named_rows(certificate)
    confusion = np.zeros((len(classes),) * 2, dtype=np.int64)
    if model is not None:
        for block in examples.blocks():
            guessed = np.searchsorted(classes, model.decide_rows(block.rows).labels)
            np.add.at(confusion, (examples.places_of(block.labels), guessed), 1)
    ordered = sorted(named)
    labels = examples.labels_of(examples.take(np.array(ordered)).labels).tolist() if named else []
    return Evidence(
        examples.counts,
        None if model is None else confusion,
        dict(zip(ordered, labels, strict=True)),
        picture=None if columns is None else picture_of(columns, examples, named, model, certificate),
        picture_rows=examples.n_rows,
        is_section=columns is not None and not columns.are_all,
        **_run_evidence(examples, certificate, mistakes, model),
    )


def named_rows(certificate: Certificate | None) -> tuple[int, ...]:
    """Return the first rows that a certificate names: an obstruction, or those that determine the margin."""
    if certificate is None:
        return ()
    proof = certificate.obstruction or certificate.support
    return () if proof is None else tuple(dict.fromkeys(proof.rows[:NAMED_ROWS]))


def _run_evidence(
    examples: Examples, certificate: Certificate | None, mistakes: LinearMistakes | None, model: Classifier | None
) -> dict[str, Any]:
    """Return the proof along the run, or the weaker bound for inseparable data, if that is quick."""
    if model is None or mistakes is None or not 0 < len(mistakes.rows) <= FOLLOWED_MISTAKES:
        return {}
    if model.record.weighted:  # the certificate is about unweighted examples
        return {}
    if isinstance(model, KernelModel):
        return _kernel_evidence(examples, certificate, mistakes, model)
    if not isinstance(model, LinearModel):
        return {}
    n_classes = len(model.classes)
    rivals = n_classes - 1  # the vectors per row in Kesler's construction
    if rivals * examples.n_entries > FOLLOWED_NUMBERS:
        return {}
    if len(mistakes.rows) * examples.n_entries > FOLLOWED_PRODUCTS * examples.n_rows:
        return {}
    X, y = examples.in_one_piece()
    fit_intercept = model.memory.constant != 0
    guesses = model.classes[mistakes.wrong] if n_classes > 2 else None
    steps = Steps.of_rows(X, y, mistakes.rows, guesses, fit_intercept=fit_intercept, lead=model.memory.lead)
    worked = {"steps": _worked(model, X, y, mistakes)}
    if certificate is not None and certificate.vector is not None:
        return worked | {"proof": follow_proof(steps, certificate.vector)}
    passes = max(1, model.record.epochs)
    left = allowance(examples, certificate, passes=passes, fit_intercept=fit_intercept)
    return worked | {"lengths": steps.lengths, "allowance": left}


def _kernel_evidence(
    examples: Examples, certificate: Certificate | None, mistakes: Any, model: KernelModel
) -> dict[str, Any]:
    """Like `_run_evidence`, in the feature space of a kernel, from the kernel matrix; for two classes only."""
    if len(model.classes) > 2 or examples.n_rows > FOLLOWED_KERNEL_ROWS:
        return {}
    X, y = examples.in_one_piece()
    points = as_points(X, model.memory.kernel.form)
    steps = Steps.of_kernel(model.memory.kernel.between(points, points), y, mistakes.rows, lead=model.memory.lead)
    if certificate is None or certificate.coefficients is None or certificate.fit_intercept:
        return {"lengths": steps.lengths}
    return {"proof": follow_proof(steps, certificate.coefficients)}


def _worked(model: LinearModel, X: Any, y: NDArray[Any], mistakes: LinearMistakes) -> WorkedRun | None:
    run, in_order = model.record, model.parameters.get("shuffle") is False and len(model.classes) == 2
    if not in_order or run.held_out_rows or run.examples > SHOWN_STEPS or X.shape[1] > WIDEST:
        return None
    return run.steps(X, y, mistakes.rows, fit_intercept=model.memory.constant != 0)
