"""What a report shows beside the model and the certificate, gathered in a pass over the examples."""

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch
from novikoff.data.examples import Examples
from novikoff.features.fold import signs
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.linear.vote import Mistakes
from novikoff.prove.run.follow import FollowedProof, follow_proof
from novikoff.prove.run.inseparable import FreundSchapireBound
from novikoff.prove.run.search.freund_schapire import freund_schapire_bound
from novikoff.prove.separable.certificate import Certificate, as_unit
from novikoff.prove.separable.kesler import kesler_points, point_numbers
from novikoff.prove.separable.margin import Separator
from novikoff.prove.separable.question import Verdict
from novikoff.show.report.charts import Scatter
from novikoff.show.report.picture import Columns, Sketch

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]

# The proof is followed where the examples have at most so many numbers, and the mistakes at most so many coordinates.
FOLLOWED_NUMBERS = 2_000_000
FOLLOWED_COORDINATES = 4_000_000
FOLLOWED_MISTAKES = 50_000

# Beyond so many numbers the search for the best bound on overlapping data takes more than a moment.
SEARCHED_NUMBERS = 200_000

# Rows of a certificate that are named with their labels.
NAMED_ROWS = 24

BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was counted and followed.

    `counts` are examples by class, `confusion` counts rows by their class (down) and the predicted one (across), and
    `labels` are those of rows that the certificate names. `proof` is the run's, step by step; of a run on data without
    a separator there are `lengths`, ||w_k|| for k = 0, 1, ..., and `allowance`, the bound that holds there.
    """

    counts: tuple[int, ...]
    confusion: NDArray[np.int64] | None = None
    labels: Mapping[int, Any] = field(default_factory=dict)
    proof: FollowedProof | None = None
    lengths: Floats | None = None
    allowance: FreundSchapireBound | None = None
    picture: Scatter | None = None
    picture_rows: int = 0
    is_section: bool = False


def gather(
    examples: Examples,
    *,
    model: LinearModel | None = None,
    certificate: Certificate | None = None,
    mistakes: Mistakes | None = None,
    columns: Columns | None = None,
) -> Evidence:
    """The evidence for a report on a model, on a certificate, or on both.

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
    labels, words = dict[int, Any](), classes.tolist()
    sketch = None if columns is None else Sketch(columns, examples.n_rows, named)
    for block in examples.blocks():
        places = examples.places_of(block.labels)
        if model is not None:
            guessed = np.searchsorted(classes, model.predict(Batch(block.rows, None)))
            np.add.at(confusion, (places, guessed), 1)
        labels |= {row: words[places[row - block.first]] for row in named if 0 <= row - block.first < len(places)}
        if sketch is not None:
            sketch.add(block.first, block.rows, places)
    return Evidence(
        examples.counts,
        None if model is None else confusion,
        labels,
        picture=None if sketch is None else sketch.finished(classes, model, certificate),
        picture_rows=examples.n_rows,
        is_section=columns is not None and not columns.are_all,
        **_run_evidence(examples, certificate, mistakes, model),
    )


def named_rows(certificate: Certificate | None) -> tuple[int, ...]:
    """The first rows that a certificate names: those in the way of a separator, or those that fix the margin."""
    if certificate is None:
        return ()
    proof = certificate.obstruction or certificate.support
    return () if proof is None else tuple(dict.fromkeys(proof.rows[:NAMED_ROWS]))


def _run_evidence(
    examples: Examples, certificate: Certificate | None, mistakes: Mistakes | None, model: LinearModel | None
) -> dict[str, Any]:
    """The proof along the run, or what is left of it on data that nothing separates, where that is quick."""
    if model is None or mistakes is None or not 0 < len(mistakes.rows) <= FOLLOWED_MISTAKES:
        return {}
    n_classes = len(model.classes)
    rivals = n_classes - 1  # as many vectors as Kesler makes of a row
    if rivals * examples.n_entries > FOLLOWED_NUMBERS:
        return {}
    X, y = examples.in_one_piece()
    fit_intercept = model.memory.constant != 0
    steps = _Steps.of(X, y, mistakes, fit_intercept, model.classes)
    if len(np.unique(steps.rows)) * steps.Z.shape[1] > FOLLOWED_COORDINATES:
        return {}
    if certificate is not None and certificate.vector is not None:
        # The plane in floats may touch a row of a margin so tiny that only whole numbers see it.
        with contextlib.suppress(ValueError):
            return {"proof": steps.followed(certificate.vector)}
    found: dict[str, Any] = {"lengths": steps.lengths()}
    unbounded = certificate is not None and certificate.verdict in (Verdict.QUASI_SEPARABLE, Verdict.OVERLAPPING)
    if n_classes == 2 and unbounded and math.prod(X.shape) <= SEARCHED_NUMBERS:
        epochs = max(1, model.record.epochs)
        found["allowance"] = freund_schapire_bound(X, y, passes=epochs, fit_intercept=fit_intercept)
    return found


@dataclass(frozen=True, eq=False)
class _Steps:
    """The vectors that mistakes add: the rows of Z, with bias and label folded in; `rows` are the mistakes in order."""

    Z: "csr_matrix"
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, y: NDArray[Any], mistakes: Mistakes, fit_intercept: bool, classes: NDArray[Any]) -> "_Steps":
        """For many classes by Kesler's construction, in which a mistake is a row and the class taken instead."""
        from scipy.sparse import csr_matrix, diags_array, hstack

        if len(classes) > 2:
            numbers = point_numbers(y, mistakes.rows.tolist(), classes[mistakes.wrong].tolist())
            return cls(kesler_points(X, y, fit_intercept).rows, numbers)
        constant = csr_matrix(np.full((len(y), 1), float(fit_intercept)))
        folded = diags_array(signs(y).astype(np.float64)) @ hstack([csr_matrix(X, dtype=np.float64), constant])
        return cls(csr_matrix(folded), mistakes.rows)

    def followed(self, vector: tuple[int, ...]) -> FollowedProof:
        """The proof along these steps; with the labels folded in, every example is positive and has no bias."""
        u = as_unit(vector)
        plane = Separator(u if len(u) == self.Z.shape[1] else u[:-1])
        return follow_proof(self.Z, np.ones(self.Z.shape[0]), self.rows, plane, fit_intercept=False)

    def lengths(self) -> Floats:
        """||w_k|| for k = 0, 1, ..., one block of mistakes at a time."""
        distinct, which = np.unique(self.rows, return_inverse=True)
        examples = self.Z[distinct].toarray()
        w, found = np.zeros(examples.shape[1]), [np.zeros(1)]
        for start in range(0, len(which), BLOCK):
            weights = w + np.cumsum(examples[which[start : start + BLOCK]], axis=0)
            found.append(np.linalg.norm(weights, axis=1))
            w = weights[-1]
        return np.concatenate(found)
