"""Reports: one HTML file that states what was read, learned and proved, and how to check that again.

A report is self-contained and has no scripts: it opens from a disk, can be mailed, and prints. `report.html` has the
markup and the constant text; everything that depends on the data is escaped there. Charts are the library's displays,
and are omitted if matplotlib is not installed.
"""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Examples
from novikoff.data.visible import visible
from novikoff.data.whole_file import WholeFile
from novikoff.engine.rounding import at_least, at_most, decimal_digits
from novikoff.features.encode import Encoding
from novikoff.learn.kernel.memory import KernelModel
from novikoff.learn.linear.memory import LinearModel
from novikoff.learn.model import Classifier
from novikoff.learn.run import Run
from novikoff.prove.run.follow import FollowedProof
from novikoff.prove.separable.certificate import Certificate
from novikoff.prove.separable.question import Problem
from novikoff.say import runs as say
from novikoff.say.runs import NO_WEIGHTS, READOUT_WORDS
from novikoff.say.words import counted, label_in_words, listed, radius_in_words, whole_at_most
from novikoff.show.mistakes import MistakesDisplay
from novikoff.show.proof import ProofDisplay, draw_room, draw_ruled_out
from novikoff.show.report.evidence import FOLLOWED_NUMBERS, Evidence, gather
from novikoff.show.report.picture import Columns, cut
from novikoff.show.style import ALPHA, GAMMA, MINUS, can_draw, svg, typeset

MOST_COLUMNS = MOST_CLASSES = 40
MOST_WEIGHTS = 20
MOST_ROWS = MOST_DIGITS = 24
WIDEST_TABLE = 20
LONGEST_HINT = 300


@dataclass(frozen=True)
class Names:
    """Names of files and columns, and the options with which they were read.

    `files` were read, `source` is how to refer to them (by default the first), and `label` is the column with the
    labels. `certify` and `check` are the options with which these commands read the same again, as command-line
    arguments, and `read` are those of `novikoff.data.read`.
    """

    files: tuple[str, ...] = ()
    source: str | None = None
    label: str | None = None
    certify: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    read: Mapping[str, Any] = field(default_factory=dict)
    model_file: str | None = None
    certificate_file: str | None = None

    @property
    def written(self) -> str:
        """How to refer to the files."""
        return self.source or (self.files[0] if self.files else "FILE")

    @property
    def reader(self) -> str:
        """The Python expression that reads the files again."""
        options = ({} if self.label is None else {"label": self.label}) | dict(self.read)
        return f"read({', '.join([repr(self.written), *(f'{name}={value!r}' for name, value in options.items())])})"


@dataclass(frozen=True)
class Report:
    """A page to write: its path, examples, features to draw, and names."""

    path: Path
    examples: Examples
    columns: Columns | None
    names: Names

    @property
    def needs_mistakes(self) -> bool:
        """Whether the proof will be followed, mistake by mistake."""
        return self.examples.n_entries <= FOLLOWED_NUMBERS

    def on_model(self, model: Classifier, certificate: Certificate | None, mistakes: Any, model_file: Path) -> None:
        """Write the report on a model."""
        found = gather(self.examples, model=model, certificate=certificate, mistakes=mistakes, columns=self.columns)
        self._write(fit_report(model, found, replace(self.names, model_file=str(model_file)), certificate=certificate))

    def on_certificate(self, certificate: Certificate, certificate_file: Path | None) -> None:
        """Write the report on a certificate."""
        found = gather(self.examples, certificate=certificate, columns=self.columns)
        names = replace(self.names, certificate_file=None if certificate_file is None else str(certificate_file))
        self._write(certify_report(certificate, found, names, encoding=self.examples.encoding))

    def _write(self, page: str) -> None:
        with WholeFile(self.path) as file:
            file.write(page.encode())


class Figure(NamedTuple):
    """A chart as a data URL, if matplotlib is installed; and its description as text."""

    image: str | None
    says: str
    caption: str = ""


class Section(NamedTuple):
    """A section on the proof or the theorem: one sentence, charts, facts with their names, and a table."""

    sentence: str
    figures: Sequence[Figure] = ()
    notes: Sequence[str | None] = ()
    facts: Sequence[tuple[str, str]] = ()
    head: Sequence[str] = ()
    lines: Sequence[Sequence[str]] = ()


def fit_report(
    model: Classifier, evidence: Evidence, names: Names | None = None, *, certificate: Certificate | None = None
) -> str:
    """Return the report on a model: an HTML page.

    `evidence` is what `gather` found in the training data, `certificate` is about these, and `names` has the names of
    files and columns. A certificate stored in the model is not shown: it was not checked here.
    """
    names = names or Names(label=model.parameters.get("label"))
    run = model.record
    return _rendered(
        evidence,
        names,
        certificate,
        size=(sum(evidence.counts), model.n_columns or 0),
        classes=model.classes.tolist(),
        columns=_columns(model.encoding),
        model=model,
        run=run,
        epochs=_epochs(run),
        proof=_proof(run, certificate, evidence),
        weights=_weights(model),
        model_file=None if model.certificate is None else names.model_file,
    )


def certify_report(
    certificate: Certificate, evidence: Evidence, names: Names | None = None, *, encoding: Encoding | None = None
) -> str:
    """Return the report on a certificate: an HTML page. The arguments are like those of `fit_report`.

    >>> from novikoff.prove.separable.search.certify import certify
    >>> page = certify_report(certify([[0.0], [1.0]], ["a", "b"]), Evidence((1, 1)), Names(label="letter"))
    >>> page.startswith("<!DOCTYPE html>"), "separable (proved)" in page
    (True, True)
    """
    names = names or Names()
    return _rendered(
        evidence,
        names,
        certificate,
        size=(certificate.n_rows, certificate.n_columns),
        classes=certificate.classes,
        columns=_columns(encoding),
        theorem=_theorem(certificate),
    )


def _rendered(evidence: Evidence, names: Names, certificate: Certificate | None, **parts: Any) -> str:
    return str(
        _template().render(
            parts,
            names=names,
            evidence=evidence,
            certificate=certificate,
            picture=_picture(evidence),
            proof_rows=None if certificate is None else _proof_rows(certificate, evidence.labels),
            worst=_worst(evidence.confusion, parts["classes"]),
            draws=can_draw(),
        )
    )


@cache
def _template() -> Any:
    from jinja2 import Environment
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return value if isinstance(value, Markup) else "" if value is None else visible(str(value))

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=shown)
    words = (at_least, at_most, counted, typeset, label_in_words, radius_in_words, whole_at_most, cut, shade, quoted)
    environment.filters |= {function.__name__: function for function in words}
    environment.globals |= {name: value for name, value in globals().items() if name.startswith(("MOST_", "LONGEST_"))}
    environment.globals["say"] = say
    return environment.from_string(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))


def shade(share: float) -> int:
    """Return the darkness of a table cell, from 0 to 5."""
    return int(np.searchsorted([0.0, 0.05, 0.2, 0.5, 0.8], share, side="left"))


# -- the data and the model -------------------------------------------------------------------------------------------


def _columns(encoding: Encoding | None) -> Sequence[Any]:
    return () if encoding is None else encoding.describe()


def _epochs(run: Run) -> Figure | None:
    made = run.mistakes_per_epoch
    if not made:
        return None
    which = f"{'the first ' if run.epochs > len(made) else ''}{counted(len(made), 'epoch')}"
    says = f"Mistakes of each of {which}: {listed(made, 30)}."
    end = " The last epoch made none: its weights classify every training row correctly." if made[-1] == 0 else ""
    return Figure(svg(lambda figure: MistakesDisplay.from_run(run).plot(figure.subplots())), says, says + end)


def _picture(evidence: Evidence) -> Figure | None:
    """Return the picture of the two features."""
    display = evidence.picture
    if display is None:
        return None
    shown, total = len(display.X), evidence.picture_rows
    some = f"{shown:,} of {total:,} rows, evenly spaced" if shown < total else f"All {total:,} rows"
    if display.scores is None:
        why = Problem.BINARY.no_separator.replace("plane", "line") if len(display.ringed) else "no line is known"
        says = f"{some}; {why}."
    elif display.scores.ndim == 3:
        says = f"{some}; the shades are the regions of the classes."
    else:
        says = f"{some}; the shades are the regions of the classes, and the decision changes between them."
    # All points are within the axes, and without clipping the image is half as large.
    return Figure(svg(lambda figure: display.plot(figure.subplots(), clip_on=False), (7.2, 6.4)), says)


def _weights(model: Classifier) -> dict[str, Any]:
    """Return the largest weights by name; for a kernel, the description of the model instead."""
    if isinstance(model, KernelModel):
        return {"title": "What predicts", "sentence": f"{model.in_words[0].upper()}{model.in_words[1:]}."}
    if not isinstance(model, LinearModel):
        raise TypeError(f"a report does not support the weights of a {type(model).__name__}")
    title = "The largest weights"
    if model.readout == "vote":
        return {"title": title, "sentence": f"{NO_WEIGHTS.capitalize()}."}
    found = [weight for weight in model.weights_by_name() if weight.name is not None]
    if not found:
        return {"title": title, "sentence": "All weights are 0."}
    largest = [{"name": w.name, "label": w.label, "weight": w.weight} for w in found[:MOST_WEIGHTS]]
    return {"title": title, "largest": largest, "total": len(found), "which": READOUT_WORDS[model.readout]}


def _worst(confusion: NDArray[np.int64] | None, classes: Sequence[Any]) -> dict[str, Any] | None:
    """Return, for many classes, the pairs confused most often, and the classes with most errors."""
    if confusion is None or len(classes) <= WIDEST_TABLE:
        return None
    off = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_CLASSES]
    pairs = [divmod(int(place), len(classes)) for place in order if off.flat[place] > 0]
    rows = np.argsort(-off.sum(axis=1), kind="stable")[:MOST_CLASSES].tolist()
    return {
        "pairs": [(classes[i], classes[j], int(off[i, j])) for i, j in pairs],
        "n_pairs": int(np.count_nonzero(off)),
        "classes": [(classes[i], int(confusion[i].sum()), int(off[i].sum())) for i in rows],
    }


# -- the proof along the run ------------------------------------------------------------------------------------------


def _proof(run: Run, certificate: Certificate | None, evidence: Evidence) -> Section:
    """Return what the mistakes prove: a bound on their number, or that no large margin exists."""
    if evidence.proof is not None:
        return _followed(evidence.proof, certificate)
    many = certificate is not None and certificate.problem.has_rivals
    if (
        certificate is not None
        and not run.weighted
        and (sentence := certificate.against_bound(run.mistakes, run.narrow, run.lead)) is not None
    ):
        return _last_line(f"{typeset(sentence)}.", run, certificate)
    if not run.updates:
        return Section("Without a mistake there is nothing to prove.")
    return Section(
        f"{say.made_rule_out(run)}.",
        [] if evidence.lengths is None else [_ruled_out(evidence.lengths, at_most(run.margin_at_most))],
        [
            None if evidence.allowance is None else f"Freund and Schapire (1999): {evidence.allowance}",
            "Here w is the sum of Kesler's vectors, one for each mistake." if many else None,
        ],
    )


def _ceiling(factor: float) -> str:
    """Return the upper bound of the length after k updates, each of which adds at most `factor` R^2 to ‖w‖²."""
    return "√k·R" if factor == 1 else f"√({factor:g}k)·R"


def _last_line(sentence: str, run: Run, certificate: Certificate) -> Section:
    """Return the inequality at the end of the run, from the record."""
    k, factor = run.updates, certificate.factor * (1.0 + 2.0 * run.lead)
    words = f"After the last update, k = {k:,}: the length of the weights lies between its floor and its ceiling."
    facts = [
        (f"k·{GAMMA}, at least", at_least(k * certificate.margin.lower)),
        ("‖w‖", f"{run.weights_length:.6g}"),
        (f"{_ceiling(factor)}, at most", at_most(math.sqrt(factor * k) * run.radius)),
    ]
    return Section(sentence, notes=[words], facts=facts)


def _followed(proof: FollowedProof, certificate: Certificate | None) -> Section:
    """Return the quantities of the three proofs after every mistake, a few of them as numbers."""
    many = certificate is not None and certificate.problem.has_rivals
    known = None if certificate is None or proof.lead else certificate.bound_in_words
    bound = whole_at_most(proof.bound) if known is None else typeset(known)
    display = ProofDisplay(proof)
    R, S, fourth, made = display.symbols
    verdict = "every inequality held" if proof.holds else "not every inequality held"
    sentence = f"k·{GAMMA} ≤ ⟨w,u⟩ ≤ ‖w‖ ≤ √k·{R} after every one of {counted(proof.mistakes, made)}: {verdict}."
    caption = (
        f"The floor rises faster than the ceiling, and where they have crossed, no weights are possible: the theorem "
        f"allows {bound} {made}s; {proof.mistakes:,} were made. Below, the same bound twice more: the cosine of w and "
        f"u is at most 1, and the distance {ALPHA}ₖ = ‖w {MINUS} ({S}/{GAMMA})·u‖² starts at {fourth}/{GAMMA}², falls "
        f"by at least {S} with every {made}, and cannot fall below 0."
    )
    kesler = "w is the sum of Kesler's vectors, one for each mistake, and R the length of the longest of these."
    parts = [proof.progress_floor, proof.progress, proof.length, proof.length_ceiling, proof.cosine]
    parts += [proof.distance, proof.distance_ceiling]
    rooms = [["length", "length"], ["cosine", "distance"]]

    def draw(figure: Any) -> None:
        panels = figure.subplot_mosaic(rooms, height_ratios=[3, 2])
        display.plot(np.array([panels[name] for name in ("length", "cosine", "distance")]))

    return Section(
        sentence,
        [Figure(svg(draw, (8.6, 8.4)), sentence, caption)],
        [kesler if many else None],
        head=("k", f"k·{GAMMA}", "⟨w,u⟩", "‖w‖", f"√k·{R}", "cosine", f"{ALPHA}ₖ", f"{ALPHA}₀ {MINUS} k·{S}"),
        lines=[(f"{i:,}", *(f"{part[i]:.6g}" for part in parts)) for i in proof.worth_showing(8)],
    )


def _ruled_out(lengths: Any, ceiling: str) -> Figure:
    caption = (
        "After k mistakes no separator has a margin above ‖w‖/k. Each mistake adds an example to w; when w grows more "
        "slowly than k, only ever thinner margins are left."
    )
    says = f"The margins that are not ruled out, down to {ceiling}"
    return Figure(svg(lambda figure: draw_ruled_out(figure.subplots(), lengths)), says, caption)


def _theorem(certificate: Certificate) -> Section | None:
    """Return floor and ceiling of the proof, up to where they meet, without a run."""
    if certificate.mistake_bound is None or not certificate.margin.lower:
        return None
    gamma, root = certificate.margin.lower, certificate.radius * math.sqrt(certificate.factor)
    ratio = root / gamma
    if not math.isfinite(meeting := ratio * ratio):
        return None
    sentence = f"Whatever the order of the examples, {typeset(certificate.promise or '')}."
    caption = (
        f"Every mistake adds at least {GAMMA} along the separator, but makes the weights longer only like √k. Progress "
        "is never more than length, so the run is over where the lines meet."
    )

    def draw(figure: Any) -> None:
        k = np.linspace(0.0, meeting, 300)
        ax = draw_room(figure.subplots(), k, k * gamma, np.sqrt(k) * root, _ceiling(certificate.factor))
        ax.axvline(meeting, color="black", linewidth=0.8)

    return Section(sentence, [Figure(svg(draw), sentence, caption)])


# -- the certificate, and how to check it again -----------------------------------------------------------------------


def _proof_rows(certificate: Certificate, labels: Mapping[int, Any]) -> dict[str, Any] | None:
    """Return the rows that prove inseparability, or determine the margin: number, class, rival, weight."""
    found = certificate.obstruction or certificate.support
    if found is None:
        return None
    as_points = f"these rows (the first is 0) {certificate.problem.as_points}"
    if certificate.obstruction is not None:
        title, weights = "Why nothing separates", [_whole(weight) for weight in certificate.obstruction.weights]
        words = (
            f"T{as_points[1:]}, with the bias folded in if there is one, and with these integer weights, cancel "
            f"exactly. {certificate.problem.contradiction}"
        )
    else:
        title, weights = "The rows that fix the margin", [f"{weight:.6g}" for weight in found.weights]
        words = f"No separator has a wider margin than the combination of {as_points}, with these weights, has length."
    rivals: Iterator[Any] = iter(found.rivals or ())
    lines = [
        (row, labels.get(row), next(rivals, None), weight) for row, weight in zip(found.rows, weights, strict=True)
    ]
    return {"title": title, "words": words, "lines": lines, "has_rivals": found.rivals is not None}


def _whole(weight: int) -> str:
    digits = decimal_digits(weight)
    return f"{weight:,}" if digits <= MOST_DIGITS else f"a number of {digits:,} digits"


def quoted(word: str, instead: str) -> str:
    """Quote a word for a shell; return `instead` if it could not be copied from a page.

    >>> quoted("my cars.csv", "FILE"), quoted("a" + chr(10) + "b", "FILE")
    ("'my cars.csv'", 'FILE')
    """
    return shlex.quote(word) if word.isprintable() else instead
