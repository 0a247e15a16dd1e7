"""One certificate of every kind and verdict, with what it is checked against."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from novikoff import Certificate, certify
from novikoff.data import read
from novikoff.prove.separable.certificate import Witnesses
from novikoff.prove.separable.conclude import InMemory, conclude
from novikoff.prove.separable.question import Verdict

LINE = np.array([[0.0], [1.0], [2.0], [3.0]])
XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
QUASI = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
SIX = np.array([[-1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [-1.0, -2.0], [1.0, -1.0]])
SIX_LABELS = [-1, 1, 1, -1, -1, 1]
FRAME = pd.DataFrame({"dose": [0.0, 0.5, 1.5, 2.0], "age": [3.0, 1.0, 1.0, 3.0]})


@dataclass(frozen=True)
class Case:
    """A certificate, and the data that it is about."""

    certificate: Certificate
    data: tuple[Any, ...]

    def check(self, text: str) -> str:
        """The JSON of a certificate that is read from a text and holds for these data."""
        found = Certificate.from_json(text)
        found.check(*self.data)
        return found.to_json()


def case(X: Any, y: Any, **options: Any) -> Case:
    return Case(certify(X, y, **options), (X, y))


def not_separable(X: Any, y: Any) -> Case:
    """What is left when time runs out before the face of an obstruction is known."""
    found = certify(X, y)
    return Case(conclude(InMemory.of(X, y, True), Witnesses(obstruction=found.obstruction).without_span()), (X, y))


def unknown(X: Any, y: Any) -> Case:
    return Case(conclude(InMemory.of(X, y, True), Witnesses()), (X, y))


def theorem(X: Any, y: Any) -> Case:
    """Separable by a Gaussian, but without a margin."""
    from novikoff.prove.separable.feature_space import InFeatureSpace, conclude_kernel
    from novikoff.prove.separable.kernels import ExactKernel

    return Case(conclude_kernel(InFeatureSpace.of(X, y, ExactKernel("rbf", gamma=1.0), False), Witnesses()), (X, y))


def of_a_table(folder: Path, verdict: Verdict, **options: Any) -> Case:
    """A certificate of a table, in which a category or nothing tells the labels apart."""
    path = folder / f"trial{len(options)}.csv"
    last = "yes" if verdict is Verdict.SEPARABLE else "no"
    path.write_text(f"group,age,ill\na,30,no\na,41,no\nb,30,yes\nb,52,{last}\nb,60,yes\n")
    reader = read(path, label="ill")
    return Case(certify(reader, **options), (reader,))


def all_cases(folder: Path) -> dict[str, Case]:
    """By name."""
    poly = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0, "fit_intercept": False}
    rbf = {"kernel": "rbf", "gamma": 0.5, "fit_intercept": False}
    linear = {"kernel": "linear", "fit_intercept": True}
    twice = np.vstack([LINE, LINE[:1]])
    return {
        "separable": case(SIX, SIX_LABELS),
        "separable without a bias": case(SIX, SIX_LABELS, fit_intercept=False),
        "separable with names": case(FRAME, ["well", "well", "ill", "ill"]),
        "separable, with estimates": case(SIX, SIX_LABELS, diverging=True),
        "quasi-separable, with estimates": case(QUASI, [0, 0, 1, 0, 1], diverging=True, fit_intercept=False),
        "quasi-separable": case(QUASI, [0, 0, 1, 0, 1]),
        "overlapping": case(XOR, [1, 1, -1, -1]),
        "of a run": Case(Certificate.from_mistakes(XOR, [1, 1, -1, -1], [0, 1, 2, 3, 0]), (XOR, [1, 1, -1, -1])),
        "not separable": not_separable(XOR, [1, 1, -1, -1]),
        "unknown": unknown(XOR, [True, True, False, False]),
        "three classes": case(LINE, ["a", "b", "c", "c"]),
        "three overlapping classes": case(LINE, ["a", "b", "c", "b"]),
        "three classes, with estimates": case(LINE, ["a", "b", "c", "c"], diverging=True),
        "of a table": of_a_table(folder, Verdict.SEPARABLE),
        "of a table, with estimates": of_a_table(folder, Verdict.SEPARABLE, diverging=True),
        "polynomial kernel": case(XOR, [1, 1, -1, -1], **poly),
        "polynomial kernel, overlapping": case(LINE, [1, -1, 1, -1], **poly),
        "linear kernel, quasi-separable": case(QUASI, [0, 0, 1, 0, 1], **linear),
        "Gaussian kernel": case(LINE, [1, -1, 1, -1], **rbf),
        "Laplacian kernel": case(LINE, [1, -1, 1, -1], **{**rbf, "kernel": "laplacian"}),
        "Gaussian kernel, by theorem": theorem(LINE, [1, -1, 1, -1]),
        "Gaussian kernel, quasi-separable": case(twice, [1, -1, 1, -1, -1], **rbf),
        "matrix": case(LINE @ LINE.T + 1.0, [1, 1, -1, -1], kernel="precomputed"),
        "matrix, overlapping": case(XOR @ XOR.T, [1, 1, -1, -1], kernel="precomputed"),
    }


def forged(certificate: Certificate, **changes: Any) -> Certificate:
    """With other claims, or other witnesses."""
    own = {name: changes.pop(name) for name in list(changes) if hasattr(certificate.witnesses, name)}
    return replace(certificate, **changes, witnesses=replace(certificate.witnesses, **own))
